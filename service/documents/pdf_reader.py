"""The reader of PDF: text by pages and lines, headings by the file's outline or by size.

Line ends, running heads and hyphens are of the page and not of the text: they go. Where a file has
bookmarks they are its headings and no guess overrules them; a citation has its page in any case.
Hidden text, text of no size and text outside the page is dropped and counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from statistics import median
from typing import Any, Final, NamedTuple

from .blocks import (
    MAX_PAGES,
    FileBlock,
    FileBlockKind,
    FileReading,
    count_words,
    extra_module,
    refusal,
)
from .records import DocumentProblem

_LARGER: Final = 1.15
"""How much larger than the body a line is that is taken for a heading."""
_LONGEST: Final = 100
_BOLD: Final = 600
_LEADERS: Final = re.compile(r"(?:\.\s*){3,}\s*\d+\s*$")
_HYPHEN: Final = re.compile(r"(\w+)[-\u2010\u00ad]$")
_PARTED: Final = re.compile("(\\w*)\ufffe(\\w*)")
"""Where PDFium has joined two lines at a hyphen."""
_ODD: Final = str.maketrans({"\u00ad": None, "\x02": "\ufffe", "\0": None, "\ufeff": None})
_DATE: Final = re.compile(r"D:(\d{4})(\d{2})(\d{2})")
_LIGATURE: Final = re.compile("[\ufb00-\ufb06]")
_INVISIBLE: Final = 3
"""The rendering mode of text that is not painted, as below the picture of a scan."""


class _Line(NamedTuple):
    text: str
    page: int
    size: float
    is_bold: bool
    top: float
    bottom: float
    is_painted: bool


def read_pdf(data: bytes, name: str, password: str | None = None) -> FileReading:
    """The blocks of a PDF file.

    Raises:
        InvalidInput: `encrypted`, `bad_document`, `no_text`, `too_large`.
        Unavailable: `documents_extra_missing`.
    """
    pdfium: Any = extra_module("pypdfium2")
    # PDFium mends a file that ends early, by taking what it finds.
    if b"%PDF-" not in data[:1_024] or b"%%EOF" not in data[-2_048:]:
        raise refusal("bad_document", f"{name} is no PDF, or it ends early")
    try:
        with closing(pdfium.PdfDocument(data, password=password)) as document:
            return _read(pdfium, document, name)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise refusal("encrypted", f"{name} is encrypted; state its password") from error
        raise refusal("bad_document", f"{name} cannot be read as PDF: {error}") from error


def _read(pdfium: Any, document: Any, name: str) -> FileReading:
    count = len(document)
    if count > MAX_PAGES:
        raise refusal("too_large", f"{name} has {count} pages, at most {MAX_PAGES} are taken")
    pages: list[list[_Line]] = []
    drops: Counter[str] = Counter()
    problems: list[DocumentProblem] = []
    for number in range(1, count + 1):
        page = document[number - 1]
        lines = _shown(list(_lines(pdfium, page, number)), drops)
        page.close()
        pages.append(lines)
        if not lines:
            message = f"page {number} has no text: a scan must be recognised first"
            problems.append(DocumentProblem(code="no_text", message=message, page=number))

    body = median([line.size for lines in pages for line in lines] or [0.0])
    kept = _without_running(pages, body, drops)
    words = {word for lines in kept for line in lines for word in re.findall(r"\w+", line.text)}
    marks = _bookmarks(document)
    blocks = [block for lines in kept for block in _blocks(lines, marks, body, words)]
    metadata = document.get_metadata_dict()
    dates: dict[str, str] = {}
    for key, fact in (("CreationDate", "published"), ("ModDate", "modified")):
        match = _DATE.match(metadata.get(key, ""))
        if match:
            dates[fact] = "-".join(match.groups())

    title = _clean(metadata.get("Title", "")).strip()
    return FileReading(_joined(blocks), title, dates, dict(drops), tuple(problems))


def _lines(pdfium: Any, page: Any, number: int) -> Iterator[_Line]:
    """The lines of a page, each as large and as bold as both of its outermost letters.

    The number or mark of a list item may be larger than its words.
    """
    raw = pdfium.raw
    text_page = page.get_textpage()
    left, bottom, right, top = page.get_bbox()
    text = text_page.get_text_range()
    start = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        letters = [place for place, char in enumerate(line, start) if char.isalpha()]
        edges = (letters[0], letters[-1]) if letters else (start + line.find(bare[:1]),)
        start += len(line)
        if not bare:
            continue
        indices: list[int] = []
        for place in edges:
            char_index = raw.FPDFText_GetCharIndexFromTextIndex(text_page, place)
            indices.append(place if char_index < 0 else char_index)
        index = indices[0]
        box, is_painted = (0.0, 0.0, 0.0, 0.0), True
        with suppress(pdfium.PdfiumError):
            box = text_page.get_charbox(index)
            item = raw.FPDFText_GetTextObject(text_page, index)
            is_painted = not item or raw.FPDFTextObj_GetTextRenderMode(item) != _INVISIBLE

        is_outside = box[2] < left or box[0] > right or box[3] < bottom or box[1] > top
        is_bold = min(raw.FPDFText_GetFontWeight(text_page, i) for i in indices) >= _BOLD
        # The size of the font is that before the page scales it: the box says what is seen.
        size = min(raw.FPDFText_GetFontSize(text_page, i) for i in indices)
        height = box[3] - box[1]
        size = size if size > 1 and height > 0.1 else 1.4 * height
        size = 0.0 if is_outside else size
        yield _Line(_clean(bare), number, size, is_bold, box[3], box[1], is_painted)

    text_page.close()


def _shown(lines: Sequence[_Line], drops: Counter[str]) -> list[_Line]:
    """The lines of a page that a reader sees; all of them where a scan has its text below it."""
    is_scan = not any(line.is_painted for line in lines)
    shown: list[_Line] = []
    for line in lines:
        if line.size >= 1 and (line.is_painted or is_scan):
            shown.append(line)
        else:
            drops["hidden_text"] += count_words(line.text)

    return shown


def _without_running(
    pages: Sequence[list[_Line]], body: float, drops: Counter[str]
) -> list[list[_Line]]:
    """The pages without heads and feet: a first or last line that half of the pages have."""
    counts: Counter[str] = Counter()
    for lines in pages:
        counts.update({_folded(line.text) for line in (*lines[:2], *lines[-2:])})
    kept: list[list[_Line]] = []
    for lines in pages:
        rest: list[_Line] = []
        for place, line in enumerate(lines):
            is_edge = place < 2 or place >= len(lines) - 2
            # On two pages it may be a sentence that is said twice.
            count = counts[_folded(line.text)]
            is_running = count > 2 and 2 * count > len(pages)
            # A larger line is the heading of its page.
            if is_edge and is_running and line.size < _LARGER * body:
                drops["running_head"] += count_words(line.text)
            else:
                rest.append(line)

        kept.append(rest)

    return kept


def _folded(text: str) -> str:
    return re.sub(r"\d+", "#", text.casefold())


def _bookmarks(document: Any) -> dict[int, dict[str, int]] | None:
    """The levels of the titles of each page's bookmarks; None for a file without any."""
    marks: dict[int, dict[str, int]] = {}
    for mark in document.get_toc():
        target = mark.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            marks.setdefault(page + 1, {})[_title_key(mark.get_title())] = mark.level + 1

    for titles in marks.values():
        titles.pop("", None)

    return marks or None


def _title_key(text: str) -> str:
    return re.sub(r"[\W\d]+", "", text.casefold())


def _blocks(
    lines: Sequence[_Line],
    marks: dict[int, dict[str, int]] | None,
    body: float,
    words: set[str],
) -> Iterator[FileBlock]:
    """Paragraphs of a page: a gap or another size ends one, and so does a heading."""
    paragraph: list[_Line] = []
    lines = _whole_titles(lines, marks, body)
    for place, line in enumerate(lines):
        level = _level(line, lines[place + 1 : place + 2], marks, body)
        if paragraph and (level or _is_apart(paragraph[-1], line)):
            yield from _paragraph(paragraph, words)
            paragraph = []
        if level:
            yield FileBlock(_whole(line.text, words), FileBlockKind.HEADING, level, line.page)
        else:
            paragraph.append(line)

    yield from _paragraph(paragraph, words)


def _whole_titles(
    lines: Sequence[_Line], marks: dict[int, dict[str, int]] | None, body: float
) -> list[_Line]:
    """The lines of a page, a title that goes on in the next line as one."""
    whole: list[_Line] = []
    for line in lines:
        last = whole[-1] if whole else line
        both = last._replace(text=f"{last.text} {line.text}", bottom=line.bottom)
        # Without bookmarks the size alone says it: two bold lines may be a paragraph.
        is_title = _level(both, (), marks, body) and (marks or line.size >= _LARGER * body)
        if whole and is_title and not _is_apart(last, line):
            whole.pop()
            line = both
        whole.append(line)

    return whole


def _is_apart(before: _Line, line: _Line) -> bool:
    height = max(before.size, line.size, 1.0)
    gap = before.bottom - line.top
    return gap > 0.8 * height or gap < -2 * height or abs(before.size - line.size) > 1


def _level(
    line: _Line,
    following: Sequence[_Line],
    marks: dict[int, dict[str, int]] | None,
    body: float,
) -> int:
    """The level of a line as a heading; 0 for none."""
    if len(line.text) > _LONGEST:
        return 0
    if marks is not None:
        return marks.get(line.page, {}).get(_title_key(line.text), 0)
    if not any(map(str.isalpha, line.text)) or _LEADERS.search(line.text):
        return 0
    if line.size >= _LARGER * body:
        return 1 if line.size >= 1.6 * body else 2
    is_alone = not following or _is_apart(line, following[0]) or not following[0].is_bold
    return 3 if line.is_bold and is_alone and not line.text.endswith((".", ",", ";")) else 0


def _paragraph(lines: Sequence[_Line], words: set[str]) -> Iterator[FileBlock]:
    """One block of some lines; a word that was parted at a line's end is whole again."""
    text = ""
    for line in lines:
        match = _HYPHEN.search(text)
        first = re.match(r"\w+", line.text)
        if match and first and match[1] + first[0] in words:
            text = text[: match.end(1)] + line.text
        else:
            text = f"{text} {line.text}" if text else line.text

    if text:
        yield FileBlock(" ".join(_whole(text, words).split()), page=lines[0].page)


def _whole(text: str, words: set[str]) -> str:
    """A text whose parted words are whole where the document has them so elsewhere."""
    return _PARTED.sub(
        lambda match: match[1] + ("" if match[1] + match[2] in words else "-") + match[2], text
    )


def _joined(blocks: Sequence[FileBlock]) -> tuple[FileBlock, ...]:
    """The blocks, a sentence that goes on over the page's end in one."""
    joined: list[FileBlock] = []
    for block in blocks:
        last = joined[-1] if joined else block
        is_next = last.kind is block.kind is FileBlockKind.PROSE and last.page + 1 == block.page
        if is_next and last.text[-1:].isalpha() and block.text[:1].islower():
            joined[-1] = last._replace(text=f"{last.text} {block.text}")
        else:
            joined.append(block)

    return tuple(joined)


def _clean(text: str) -> str:
    """A text without ligatures and the marks of PDFium."""
    return _LIGATURE.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text.translate(_ODD))
