"""What an import reports: events, transactions, refusals, and what reading its talk took."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ...schema.records import short_repr
from ...schema.write import Receipt
from ..extraction.claims import Extraction
from .refusals import RefusedLine

_MOST_WITHDRAWN = 100
_COUNTS = "events skipped definitions transactions skipped_groups reviews actions".split()
"""What a tally and its report count under one name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkTotals:
    """What reading the texts of an import took."""

    __repr__ = short_repr

    texts: int = 0
    """Texts stored now; those stored before are among the skipped events."""
    model_reads: int = 0
    """Texts that a model was asked about."""
    cache_hits: int = 0
    """Texts whose answer was kept."""
    rule_reads: int = 0
    """Texts that rules read because the model failed."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    """In the currency of the fields prices; None where no price is known."""
    refused_claims: int = 0
    """Claims that were proposed and not taken."""

    def with_text(self, extraction: Extraction) -> TalkTotals:
        """The totals with one more text."""
        is_asked = bool(extraction.tokens_in or extraction.tokens_out)
        cost = self.cost
        if extraction.cost is not None:
            cost = (cost or 0.0) + extraction.cost

        return TalkTotals(
            texts=self.texts + 1,
            model_reads=self.model_reads + is_asked,
            cache_hits=self.cache_hits + extraction.is_cached,
            rule_reads=self.rule_reads + bool(extraction.failure),
            tokens_in=self.tokens_in + extraction.tokens_in,
            tokens_out=self.tokens_out + extraction.tokens_out,
            cost=cost,
            refused_claims=self.refused_claims + len(extraction.dropped),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """What an import did."""

    __repr__ = short_repr

    events: int
    """Events written now."""
    skipped: int
    """Events that were stored before: a replay, or an idempotency key, met again."""
    definitions: int
    transactions: int
    """Transactions written now; in a replay, groups."""
    skipped_groups: int
    """Groups of a replay that were stored before."""
    outcomes: dict[str, int]
    """How many receipts had which outcome."""
    reviews: int
    actions: int
    rejected: tuple[RefusedLine, ...]
    """The refused lines; of a check the first hundred."""
    rejects_file: str | None
    seconds: float
    warnings: dict[str, int] = field(default_factory=dict[str, int])
    """How many receipts had which warning."""
    withdrew: tuple[str, ...] = ()
    """What corrections took back along with what they correct; the first hundred."""
    refused: int = 0
    """How many lines were refused."""
    checked: int | None = None
    """Of a check, which writes nothing: the lines it looked at; None of an import."""
    talk: TalkTotals | None = None
    """What reading the texts of talk took; None where there was none."""

    @property
    def rate(self) -> float:
        """Return events a second, those skipped among them."""
        return (self.events + self.skipped) / self.seconds if self.seconds else 0.0


@dataclass(slots=True)
class Tally:
    """What an import has done so far; lives for one call."""

    start_s: float = field(default_factory=time.perf_counter)
    counts: Counter[str] = field(default_factory=Counter[str])
    """By the names of the report's fields."""
    outcomes: Counter[str] = field(default_factory=Counter[str])
    warnings: Counter[str] = field(default_factory=Counter[str])
    withdrew: list[str] = field(default_factory=list[str])
    rejected: list[RefusedLine] = field(default_factory=list[RefusedLine])
    talk: TalkTotals | None = None

    def take(self, receipts: Iterable[Receipt]) -> None:
        """Count the receipts of one write."""
        for receipt in receipts:
            if receipt.replayed:
                self.counts["skipped"] += 1
                continue
            self.counts["events"] += 1
            self.outcomes[receipt.outcome.value] += 1
            self.warnings.update(receipt.warnings)
            if "withdrew" in receipt.warnings and len(self.withdrew) < _MOST_WITHDRAWN:
                self.withdrew.append(receipt.detail)
            self.counts["reviews"] += len(receipt.reviews)
            self.counts["actions"] += len(receipt.actions)

    def report(self, rejects: Path | None) -> IngestReport:
        """What stands so far; `rejects` is where refused lines were kept."""
        return IngestReport(
            **{name: self.counts[name] for name in _COUNTS},
            outcomes=dict(sorted(self.outcomes.items())),
            rejected=tuple(self.rejected),
            rejects_file=str(rejects) if rejects and self.rejected else None,
            seconds=time.perf_counter() - self.start_s,
            warnings=dict(sorted(self.warnings.items())),
            withdrew=tuple(self.withdrew),
            refused=len(self.rejected),
            talk=self.talk,
        )
