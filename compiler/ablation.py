"""Ablation: what an envelope is worth without some of its objects (C-178).

The utility is the caller's: a number for an envelope, from a benchmark or a judge. The change
is always "with" minus "without", so a positive one means that the object helps. Of two
objects the excess is what goes with both beyond the sum of what goes with each: below zero they
need each other (without one the other is worth nothing, and is counted twice), above zero either
stands in for the other (only without both is anything lost). Source 000 prints the same number
with the two words exchanged.

>>> worth = {frozenset(): 1.0, frozenset("a"): 0.5, frozenset("b"): 1.0, frozenset("ab"): 0.2}
>>> report = ablate(["a", "b"], lambda without: worth[without], pairs=True)
>>> report.single, report.pairs
((('a', 0.5), ('b', 0.0)), (('a', 'b', 0.3),))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
    """(name, name, excess), in the given order."""

    @property
    def ranked(self) -> tuple[tuple[str, float], ...]:
        """Return (name, change), what helps most first: weights are set by this order."""
        return tuple(sorted(self.single, key=lambda pair: (-pair[1], pair[0])))

    @property
    def synergies(self) -> tuple[tuple[str, str, float], ...]:
        """Return (name, name, strength) of pairs that need each other, strongest first."""
        return _strongest((a, b, -excess) for a, b, excess in self.pairs)

    @property
    def redundancies(self) -> tuple[tuple[str, str, float], ...]:
        """Return (name, name, strength) of pairs that say the same in part, strongest first."""
        return _strongest(self.pairs)


def _strongest(pairs: Iterable[tuple[str, str, float]]) -> tuple[tuple[str, str, float], ...]:
    kept = (pair for pair in pairs if pair[2] > 0)
    return tuple(sorted(kept, key=lambda pair: (-pair[2], pair[0], pair[1])))


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
