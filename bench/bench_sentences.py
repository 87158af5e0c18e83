"""What the rules of extraction take from sentences, by language.

    python -P bench/bench_sentences.py [--missed]

`sentences_en.txt` and `sentences_de.txt` hold 120 sentences each, one a line: what is said, `->`,
and the claims in it as `[Name's ][past ]slot: word`; `maybe` before a claim that a reader may take
or leave, `nothing` where there is none. A claim is found if its slot's value holds the word; `past`
is what is denied or over. The rules were mended by the part `read`. Of the part `held out` only the
figures may be looked at, and `--missed` does not list it. Reads no data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import NamedTuple

from tenure.bench.script import options_of, print_table
from tenure.service.extraction.engine import RuleExtractor

NOW = datetime(2026, 6, 17, 9, 30, tzinfo=UTC)  # a Wednesday
LANGUAGES = ("en", "de")
PARTS = ("read", "held out")


class Sentence(NamedTuple):
    """A line of the files."""

    text: str
    claims: tuple[str, ...]


class Score(NamedTuple):
    """How a list of sentences is read."""

    expected: int
    found: int
    invented: int
    faults: tuple[str, ...]

    @property
    def precision(self) -> float:
        """The share of what was taken that is there."""
        return self.found / max(1, self.found + self.invented)

    @property
    def recall(self) -> float:
        """The share of what is there that was taken."""
        return self.found / max(1, self.expected)


def sentences(language: str, part: str) -> list[Sentence]:
    """The sentences of a part of a file."""
    lines = Path(__file__).with_name(f"sentences_{language}.txt").read_text("utf-8").splitlines()
    start = lines.index(f"# {part}") + 1
    found: list[Sentence] = []
    for line in lines[start:]:
        if line.startswith("# "):
            break
        text, _, claims = line.partition(" -> ")
        if text:
            found.append(Sentence(text, tuple(claims.split("; ")) if claims != "nothing" else ()))
    return found


def claims_of(text: str) -> Iterator[str]:
    """The claims that rules take from a sentence alone, as `[name: ][past ]slot=value`."""
    for claim in RuleExtractor().extract(text, at=NOW):
        # What ends or says more of what is known counts only where something is.
        if claim.if_known or claim.if_subject_known:
            continue
        subject = f"{claim.subject}: " if claim.subject else ""
        past = "past " if claim.op == "deny" or claim.valid_until else ""
        yield f"{subject}{past}{claim.slot}={claim.value}"


def is_found(claim: str, wanted: str) -> bool:
    """Whether a claim is the one that a line of the file asks for."""
    head, _, word = wanted.removeprefix("maybe ").partition(": ")
    name, _, slot = head.rpartition("'s ")
    past, _, slot = slot.rpartition(" ")
    start = f"{f'{name}: ' if name else ''}{'past ' if past else ''}{slot}="
    return claim.startswith(start) and word.lower() in claim.removeprefix(start).lower()


def score(rows: Sequence[Sentence]) -> Score:
    """Read sentences and compare what is taken with what is there."""
    expected = found = invented = 0
    faults: list[str] = []
    for text, wanted in rows:
        claims = list(claims_of(text))
        needed = [part for part in wanted if not part.startswith("maybe ")]
        hits = [part for part in needed if any(is_found(claim, part) for claim in claims)]
        surplus = [claim for claim in claims if not any(is_found(claim, part) for part in wanted)]
        expected, found, invented = (
            expected + len(needed), found + len(hits), invented + len(surplus),
        )  # fmt: skip
        if surplus or len(hits) < len(needed):
            faults.append(f"{text}  found {hits} of {needed}  invented {surplus}")
    return Score(expected, found, invented, tuple(faults))


def main() -> None:
    """Read all sentences and print the table; with `--missed` also what is missed or invented."""
    options = options_of(__doc__, missed=False)
    table: list[tuple[object, ...]] = []
    for language, part in product(LANGUAGES, PARTS):
        rows = sentences(language, part)
        result = score(rows)
        counts = (len(rows), result.expected, result.found, result.invented)
        shares = (f"{result.precision:.2f}", f"{result.recall:.2f}")
        table.append((language, part, *counts, *shares))
        if options.missed and part == "read":
            print("\n".join(result.faults))
    heads = "language", "part", "sentences", "claims", "found", "invented", "precision", "recall"
    print_table(*heads, rows=table, title="sentences")


if __name__ == "__main__":
    main()
