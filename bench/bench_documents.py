"""A folder of mixed formats, synchronised, edited for many rounds and asked.

    python bench/bench_documents.py [--files 500] [--rounds 200] [--edits 5] [--seed 7]

Each round edits, renames, deletes and adds some files and synchronises the folder. Counted are
files whose document differs from what their reader gives, words that are not in the text of the
reader, passages without the page or heading that their format has, disagreements that the doctor
finds, and runs that write although nothing changed. All of them must be 0.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path

from tenure import Memory, connect
from tenure.bench.script import options_of
from tenure.service.documents.blocks import FileReading
from tenure.service.documents.formats import read_file
from tenure.tests.service.documents.files import Shown, docx, pdf
from tenure.tests.service.documents.handbook import Handbook

SOURCE = "handbook"
PAGE_LINES = 24


def _markdown(book: Handbook) -> bytes:
    return book.markdown.encode()


def _text(book: Handbook) -> bytes:
    return book.markdown.replace("#", "").encode("utf-16")


def _html(book: Handbook) -> bytes:
    parts = ["<html><head><title>Handbook</title><script>x</script></head><body><nav>menu</nav>"]
    for title, paragraphs in book.sections:
        parts.append(f"<h2>{escape(title)}</h2>")
        parts += [f"<p>{escape(text)}</p>" for text in paragraphs]
    return "\n".join([*parts, "<p hidden>unseen words</p></body></html>"]).encode()


def _docx(book: Handbook) -> bytes:
    parts: list[tuple[str, str]] = []
    for title, paragraphs in book.sections:
        parts += [("Heading1", title), *(("", text) for text in paragraphs)]
    return docx(parts)


def _pdf(book: Handbook) -> bytes:
    pages: list[list[Shown | str]] = []
    for title, paragraphs in book.sections:
        lines: list[Shown | str] = [Shown(title, 18)]
        for text in paragraphs:
            words = text.split()
            rows = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
            lines += [Shown(rows[0], 11, 14), *rows[1:]]
        # What does not fit on a page would be text outside of it, which a reader does not see.
        pages += [lines[at : at + PAGE_LINES] for at in range(0, len(lines), PAGE_LINES)]
    return pdf(pages)


def _mail(book: Handbook) -> bytes:
    head = "From: Ana <ana@example.org>\nSubject: Handbook\nContent-Type: text/plain; charset=utf-8"
    return f"{head}\n\n{book.markdown.replace('#', '')}".encode()


def _code(book: Handbook) -> bytes:
    parts: list[str] = []
    for number, (_, paragraphs) in enumerate(book.sections):
        body = "\n".join(f"    # {text}" for text in paragraphs)
        parts.append(f"def part_{number}():\n{body}\n    return {number}\n")
    return "\n".join(parts).encode()


WRITERS: dict[str, Callable[[Handbook], bytes]] = {
    ".md": _markdown,
    ".txt": _text,
    ".html": _html,
    ".docx": _docx,
    ".pdf": _pdf,
    ".eml": _mail,
    ".py": _code,
}
HEADED = frozenset((".md", ".html", ".docx", ".pdf", ".eml", ".py"))


class Folder:
    """Files with the books that they are written from."""

    def __init__(self, root: Path, count: int, seed: int) -> None:
        self.root, self.chance = root, random.Random(seed)
        self.books: dict[str, Handbook] = {}
        self.made = 0
        for _ in range(count):
            self.add()

    def add(self) -> None:
        """Add a file of the next format."""
        suffix = list(WRITERS)[self.made % len(WRITERS)]
        path = f"part{self.made % 9}/file{self.made}{suffix}"
        self.books[path] = Handbook(self.made, sections=self.chance.randint(1, 6))
        self.made += 1
        self.write(path)

    def write(self, path: str) -> None:
        """Write a file from its book."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(WRITERS[place.suffix](self.books[path]))

    def change(self, edits: int) -> None:
        """Edit some files; rename, delete and add one now and then."""
        for path in self.chance.sample(sorted(self.books), edits):
            action = self.chance.random()
            if action < 0.7:
                self.books[path].edit()
                self.write(path)
                continue
            book = self.books.pop(path)
            if action < 0.85:
                moved = f"part{self.chance.randrange(9)}/moved{self.made}{Path(path).suffix}"
                self.made += 1
                self.books[moved] = book
                (self.root / moved).parent.mkdir(exist_ok=True)
                (self.root / path).rename(self.root / moved)
            else:
                (self.root / path).unlink()
                self.add()


def faults_of(memory: Memory, folder: Folder) -> Counter[str]:
    """What is wrong with the documents of a folder, by kind."""
    faults: Counter[str] = Counter()
    names = {view.name for view in memory.documents.list(source=SOURCE)}
    faults["documents without a file"] += len(names - {f"{SOURCE}/{path}" for path in folder.books})
    for path, book in folder.books.items():
        reading = read_file((folder.root / path).read_bytes(), path)
        faults["words lost"] += _lost_words(book, reading)
        if f"{SOURCE}/{path}" not in names:
            faults["files without a document"] += 1
            continue
        document = memory.documents.get(f"{SOURCE}/{path}")
        faults["documents that differ"] += document.text != reading.text
        suffix = Path(path).suffix
        for passage in document.passages:
            place = passage.citation
            faults["passages without a page"] += suffix == ".pdf" and not place.page
            faults["passages without a heading"] += suffix in HEADED and not place.headings
            cut = document.text[place.start :][: place.length]
            faults["passages elsewhere"] += cut != passage.text

    faults["disagreements"] += len(memory.doctor())
    return faults


def _lost_words(book: Handbook, reading: FileReading) -> int:
    words = Counter(word for _, texts in book.sections for text in texts for word in text.split())
    lost = words - Counter(reading.text.split())
    return max(0, lost.total() - reading.dropped.get("running_head", 0))


def main() -> None:
    """Run the rounds and print the figures."""
    terms = options_of(__doc__, files=500, rounds=200, edits=5, seed=7)
    with tempfile.TemporaryDirectory() as place, connect(f"{place}/m.db") as memory:
        folder = Folder(Path(place) / "files", terms.files, terms.seed)
        began = time.process_time()
        report = memory.documents.sync(folder.root, source=SOURCE)
        passages = sum(file.opened for file in report.reports)
        seconds = time.process_time() - began
        print(f"first run: {report.counts}, {passages} passages, {seconds:.1f} s of the processor")

        counts, faults, times = Counter[str](), Counter[str](), list[float]()
        for number in range(1, terms.rounds + 1):
            folder.change(terms.edits)
            began = time.process_time()
            report = memory.documents.sync(folder.root, source=SOURCE)
            times.append(time.process_time() - began)
            counts.update(report.counts)
            stamps = len(memory.log(limit=500))
            again = memory.documents.sync(folder.root, source=SOURCE)
            faults["runs that write for nothing"] += (
                again.counts.keys() != {"same"} or len(memory.log(limit=500)) != stamps
            )
            if number % 20 == 0 or number == terms.rounds:
                faults.update(faults_of(memory, folder))
                print(f"round {number}: {+faults or 'no fault'}", flush=True)

        print(f"{terms.rounds} rounds: {dict(counts)}, median {statistics.median(times):.2f} s")
        question = folder.chance.choice(sorted(folder.books.values(), key=id)).paragraph()
        envelope = memory.compile("assistant", question[:300])
        print(f"a question: {len(envelope.citations)} passages cited")
        print(f"faults: {dict(+faults) or 0}")


if __name__ == "__main__":
    main()
