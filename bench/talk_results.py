"""What the questions about talk come to, by method, and the file from which a run goes on."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Counts:
    """What the questions of a meeting, or of all, come to by one method; lists by budget."""

    recall: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))
    tokens: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """(Tokens of the envelope, tokens of what it says)."""
    causes: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    labels: list[bool] = field(default_factory=list)
    """Of each turn of evidence that is shown: whether who and when stand with it."""
    seconds: list[float] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        """Count what another holds, too."""
        for budget, shares in other.recall.items():
            self.recall[budget] += shares
        for budget, pairs in other.tokens.items():
            self.tokens[budget] += pairs
        for budget, causes in other.causes.items():
            self.causes[budget] += causes
        self.labels += other.labels
        self.seconds += other.seconds

    def as_json(self) -> dict[str, Any]:
        """The counts as a line of the results file holds them."""
        return {
            "recall": self.recall,
            "tokens": self.tokens,
            "causes": self.causes,
            "labels": self.labels,
            "seconds": self.seconds,
        }

    @classmethod
    def of_json(cls, line: dict[str, Any]) -> Counts:
        """The counts that a line holds; JSON made texts of the budgets."""
        counts = cls(labels=line["labels"], seconds=line["seconds"])
        for budget, shares in line["recall"].items():
            counts.recall[int(budget)] = shares
        for budget, pairs in line["tokens"].items():
            counts.tokens[int(budget)] = [(used, inside) for used, inside in pairs]
        for budget, causes in line["causes"].items():
            counts.causes[int(budget)] = Counter(causes)
        return counts


class Results:
    """The counts by method, kept in a file from which a later run goes on."""

    def __init__(self, path: Path | None, settings: dict[str, Any]) -> None:
        self.path = path
        self.settings = settings
        """By method: what its counts rest on; counts of other settings are passed over."""
        self.counts: dict[tuple[str, str], Counts] = {}
        if path is None or not path.is_file():
            return

        for text in path.read_text(encoding="utf-8").splitlines():
            # A run that was stopped while it wrote leaves half a line; it is asked again.
            if not text.endswith("}"):
                continue
            line = json.loads(text)
            if line["settings"] == settings.get(line["method"]):
                self.counts[line["meeting"], line["method"]] = Counts.of_json(line)

    def take(self, meeting: str, method: str, counts: Counts) -> None:
        """Keep the counts of one meeting by one method."""
        self.counts[meeting, method] = counts
        if self.path is None:
            return

        line = {"meeting": meeting, "method": method, "settings": self.settings[method]}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line | counts.as_json()) + "\n")

    def total(self, method: str) -> Counts:
        """The counts of all meetings by one method."""
        total = Counts()
        for (_, name), counts in self.counts.items():
            if name == method:
                total.add(counts)
        return total


def shares_of_frame(total: Counts, budgets: Sequence[int]) -> tuple[list[float], list[float]]:
    """The mean tokens used, and the percent of them that is frame."""
    used: list[float] = []
    frame: list[float] = []
    for budget in budgets:
        tokens = sum(tokens for tokens, _ in total.tokens[budget])
        inside = sum(inside for _, inside in total.tokens[budget])
        used.append(tokens / max(1, len(total.tokens[budget])))
        frame.append(100 * (1 - inside / max(1, tokens)))
    return used, frame
