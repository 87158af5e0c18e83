"""Differences: what one envelope holds that another does not (C-177).

Objects are compared by id; one is modified when its rendered text, its section or its form
changed. Token deltas are by section, b minus a.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..trace.trace import CompiledObject
from .envelope import Envelope


@dataclass(frozen=True, slots=True)
class EnvelopeDiff:
    """The difference from envelope a to envelope b."""

    added: tuple[str, ...]
    """Object ids that only b holds, in the order of its text."""
    removed: tuple[str, ...]
    modified: tuple[str, ...]
    unchanged: int
    token_delta: int
    section_deltas: tuple[tuple[str, int], ...]
    """(section, tokens of b minus tokens of a), by name; equal ones left out."""
    utilisation: tuple[float, float]
    """Share of the budget that each uses."""
    first_change: int | None
    """Character from which the texts differ: what stands before can stay cached. None: equal."""


def diff_envelopes(a: Envelope, b: Envelope) -> EnvelopeDiff:
    """Return what changed from `a` to `b`."""
    before = {each.object_id: _looks(each) for each in a.trace.compiled_objects}
    after = {each.object_id: _looks(each) for each in b.trace.compiled_objects}
    both = [object_id for object_id in after if object_id in before]
    modified = tuple(i for i in both if before[i] != after[i])
    return EnvelopeDiff(
        added=tuple(i for i in after if i not in before),
        removed=tuple(i for i in before if i not in after),
        modified=modified,
        unchanged=len(both) - len(modified),
        token_delta=b.tokens - a.tokens,
        section_deltas=_deltas(a, b),
        utilisation=(_utilisation(a), _utilisation(b)),
        first_change=_first_change(a.text, b.text),
    )


def _looks(each: CompiledObject) -> tuple[str, str, str]:
    return each.section, each.compiled_as, each.content_hash


def _deltas(a: Envelope, b: Envelope) -> tuple[tuple[str, int], ...]:
    before = {use.name: use.tokens for use in a.sections}
    after = {use.name: use.tokens for use in b.sections}
    names = sorted(before.keys() | after.keys())
    found = ((name, after.get(name, 0) - before.get(name, 0)) for name in names)
    return tuple((name, delta) for name, delta in found if delta)


def _utilisation(envelope: Envelope) -> float:
    budget = int(envelope.trace.budget["budget_tokens"])
    return round(envelope.tokens_upper / budget, 4) if budget else 1.0


def _first_change(a: str, b: str) -> int | None:
    if a == b:
        return None
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
