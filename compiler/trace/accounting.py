"""Accounting: how many objects each of the ten stages met, let through and left out, and why.

An object counts once: as compiled, or with the stage whose verdict kept it out. What the gate
withheld is counted without a name, so anyone may read the account. Checklist C-104 to C-107.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

from ...schema.compile_terms import Stage
from .trace import Trace


class StageAccount(NamedTuple):
    """What one stage did."""

    stage: Stage
    entered: int
    """Objects that reached it."""
    left_out: int
    """Objects that stay out from here on, set apart or withheld ones among them."""
    reasons: tuple[tuple[str, int], ...]
    """(reason, objects), most first."""
    converted: int = 0
    """Objects whose text it changed."""


def accounting(trace: Trace) -> tuple[StageAccount, ...]:
    """Return the accounts of the ten stages in order."""
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    compiled_ids = {entry.object_id for entry in trace.compiled_objects}
    for entry in trace.left_out:
        # A source that was cut is told as left out, too, although a part of it stands.
        if entry.object_id not in compiled_ids:
            reasons[entry.stage][entry.reason] += 1

    for source, count in trace.withheld.items():
        reasons[Stage.GATE.value][f"withheld ({source})"] += count

    # Backwards: what the last stage let through is what stands, and each stage before it met
    # that and what the later ones left out.
    changed_ids = {change.object_id for change in trace.conversions}
    arrivals = len(compiled_ids)
    accounts: list[StageAccount] = []
    for stage in reversed(Stage):
        counts = reasons[stage.value]
        ranked = tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
        arrivals += counts.total()
        converted = len(changed_ids) if stage is Stage.CONVERT else 0
        accounts.append(StageAccount(stage, arrivals, counts.total(), ranked, converted))

    return tuple(reversed(accounts))
