"""Ablation: what an envelope is worth without some of its objects (C-178).

The utility is the caller's: a number for an envelope, from a benchmark or a judge. The change
is always "with" minus "without", so a positive one means that the object helps. Of two objects
the synergy is what they are worth together beyond the sum of what each is worth alone: above
zero they need each other, below zero they say the same.

>>> worth = {frozenset(): 1.0, frozenset("a"): 0.5, frozenset("b"): 1.0, frozenset("ab"): 0.2}
>>> report = ablate(["a", "b"], lambda without: worth[without], pairs=True)
>>> report.single, report.pairs
((('a', 0.5), ('b', 0.0)), (('a', 'b', 0.3),))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True)
class Ablation:
    """What was found; numbers rounded to 6 digits."""

    whole: float
    """Utility with everything."""
    single: tuple[tuple[str, float], ...]
    """(name, change), in the given order."""
    pairs: tuple[tuple[str, str, float], ...]
    """(name, name, synergy)."""


def ablate(
    names: Sequence[str], utility: Callable[[frozenset[str]], float], *, pairs: bool = False
) -> Ablation:
    """Return how the utility changes without each name, and without each pair.

    `utility` is asked for the envelope that lacks a set of names: object ids or sections.
    """
    whole = utility(frozenset())
    single = {name: whole - utility(frozenset({name})) for name in names}
    found: list[tuple[str, str, float]] = []
    if pairs:
        for a, b in combinations(names, 2):
            together = whole - utility(frozenset({a, b}))
            found.append((a, b, round(together - single[a] - single[b], 6)))
    changes = tuple((name, round(change, 6)) for name, change in single.items())
    return Ablation(round(whole, 6), changes, tuple(found))
