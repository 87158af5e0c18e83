"""Accounting: how many objects each of the ten stages met, let through and left out, and why.

An object counts once: as compiled, or with the stage whose verdict kept it out. What the gate
withheld is counted without a name, so anyone may read the account. Checklist C-104 to C-107.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ...schema.compile_terms import Stage
from .trace import Trace


class StageAccount(NamedTuple):
    """What one stage did."""

    stage: Stage
    arrivals: int
    """Objects that reached it."""
    left_out: int
    """Objects that stay out from here on, set apart or withheld ones among them."""
    reasons: tuple[tuple[str, int], ...]
    """(reason, objects), most first."""
    converted: int = 0
    """Objects whose text it changed."""


def accounting(trace: Trace) -> tuple[StageAccount, ...]:
    """Return the accounts of the ten stages in order."""
    reasons: dict[str, Counter[str]] = {stage.value: Counter() for stage in Stage}
    compiled_ids = {entry.object_id for entry in trace.compiled_objects}
    for entry in trace.left_out:
        if entry.object_id not in compiled_ids:
            reasons[entry.stage][entry.reason] += 1
    for source, count in trace.withheld.items():
        reasons[Stage.GATE.value][f"withheld ({source})"] += count
    changed_ids = len({change.object_id for change in trace.conversions})
    left = len(compiled_ids) + sum(sum(counts.values()) for counts in reasons.values())
    accounts: list[StageAccount] = []
    for stage in Stage:
        counts = reasons[stage.value]
        ranked = tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
        kept_out = sum(counts.values())
        converted = changed_ids if stage is Stage.CONVERT else 0
        accounts.append(StageAccount(stage, left, kept_out, ranked, converted))
        left -= kept_out
    return tuple(accounts)
