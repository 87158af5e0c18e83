"""Talk to measure with: the turns of a meeting, how plain retrieval ranks them, what is shown.

Read by `bench_talk.py`, `bench_quality.py` and whoever measures on the same turns.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tenure.compiler.text.relevance import lexical, term_text
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.terms import content_terms

MEETINGS = "data/talk/meetings.jsonl.gz"
START = datetime(2024, 1, 8, 9, tzinfo=UTC)
RUN = 4
"""Words in a row that prove that a turn's words stand in a context."""
RRF = 60
_WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(r"^\s*(?:\[\d+\]\s*)?(?:[^\s:\[\]]{1,40}(?: [^\s:\[\]]{1,40}){0,5}:\s)?")


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said."""

    id: int
    speaker: str
    text: str
    day: datetime

    @property
    def line(self) -> str:
        """The turn as a baseline shows it."""
        return f"[{self.day.date()}] {self.speaker}: {self.text}"


class ShownText:
    """The texts of a context, asked how much of a turn stands in them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.runs: set[tuple[str, ...]] = set()
        self.lines: set[tuple[str, ...]] = set()
        for text in texts:
            for line in text.splitlines():
                self.lines.add(tuple(words(line)))
                self.lines.add(tuple(words(_LABEL.sub("", line))))
            spoken = words(text)
            for first in range(len(spoken) - RUN + 1):
                self.runs.add(tuple(spoken[first : first + RUN]))

    def share(self, text: str) -> float:
        """The share of a turn's words that stand here."""
        spoken = words(text)
        if len(spoken) < RUN:
            return float(tuple(spoken) in self.lines)
        standing: set[int] = set()
        for first in range(len(spoken) - RUN + 1):
            if tuple(spoken[first : first + RUN]) in self.runs:
                standing.update(range(first, first + RUN))
        return len(standing) / len(spoken)


@dataclass(slots=True)
class Clock:
    """The time of a store: that of the turn which is written."""

    now: datetime = START

    def __call__(self) -> int:
        return round(self.now.timestamp() * 1_000_000)


def meetings(path: Path, limit: int | None) -> Iterator[dict[str, Any]]:
    """Yield the meetings of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if limit is None or number < limit:
                yield json.loads(line)


def turns_of(meeting: dict[str, Any], spread_days: int | None = None) -> list[Turn]:
    """The turns that hold a word, with the moment each was said."""
    spoken = [turn for turn in meeting["turns"] if words(turn["text"])]
    step = timedelta(minutes=1)
    if spread_days is not None:
        step = timedelta(days=spread_days) / max(1, len(spoken))

    turns: list[Turn] = []
    for number, turn in enumerate(spoken):
        turns.append(Turn(turn["id"], turn["speaker"], turn["text"], START + number * step))
    return turns


def line_sizes(turns: Sequence[Turn]) -> list[int]:
    """The tokens of the line that a baseline shows of each turn."""
    counter = counter_for("generic")
    return [counter.count(turn.line + "\n") for turn in turns]


def ranked_by_words(question: str, turns: Sequence[Turn]) -> list[int]:
    """Positions of all turns by BM25 (k1 1.2, b 0.75), best first, ties in order."""
    scores = lexical(
        content_terms(question), [(term_text(f"{t.speaker} {t.text}"),) for t in turns],
        k1=1.2, b=0.75,
    )  # fmt: skip
    return sorted(range(len(turns)), key=lambda position: (-scores[position], position))


def ranked_by_meaning(question: str, matrix: Any, encoder: Any) -> list[int]:
    """Positions of the turns by cosine, nearest first."""
    import numpy as np

    query = np.asarray(encoder.encode([question])[0], dtype=np.float32)
    scores = matrix @ (query / max(1e-9, float(np.linalg.norm(query))))
    return [int(position) for position in np.argsort(-scores, kind="stable")]


def fused(*rankings: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion of several rankings."""
    sums: Counter[int] = Counter()
    for ranking in rankings:
        for rank, position in enumerate(ranking, start=1):
            sums[position] += 1 / (RRF + rank)  # type: ignore[assignment]
    return sorted(sums, key=lambda position: (-sums[position], position))


def filled(
    ranking: Sequence[int], turns: Sequence[Turn], sizes: Sequence[int], budget: int
) -> list[str]:
    """The lines of the best turns that fit, passing over those that do not."""
    lines: list[str] = []
    for position in ranking:
        if sizes[position] <= budget:
            budget -= sizes[position]
            lines.append(turns[position].text)
    return lines


def matrix_of(turns: Sequence[Turn], encoder: Any) -> Any:
    """The unit vectors of the turns' lines."""
    import numpy as np

    rows: list[Any] = []
    for first in range(0, len(turns), 64):
        rows += list(encoder.encode([turn.line for turn in turns[first : first + 64]]))

    matrix = np.asarray(rows, dtype=np.float32)
    return matrix / np.maximum(1e-9, np.linalg.norm(matrix, axis=1, keepdims=True))
