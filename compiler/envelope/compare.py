"""Compare two envelopes, and measure what an envelope is worth without some of its objects.

A diff compares objects by id (C-177). An object is modified if its rendered text, section or form
changed. Token deltas are by section, b minus a.

An ablation (C-178) takes a utility from the caller: a number for an envelope, from a benchmark or a
judge. A change is always "with" minus "without", so a positive one means that the object helps. The
excess of a pair is its change beyond the sum of the two single changes. Below zero the objects need
each other; above zero each can replace the other.

>>> worth = {frozenset(): 1.0, frozenset("a"): 0.5, frozenset("b"): 1.0, frozenset("ab"): 0.2}
>>> report = ablate(["a", "b"], lambda without: worth[without], pairs=True)
>>> report.single, report.pairs
((('a', 0.5), ('b', 0.0)), (('a', 'b', 0.3),))
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

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
    """Character from which the texts differ: what comes before can stay cached. None: equal."""


def diff_envelopes(a: Envelope, b: Envelope) -> EnvelopeDiff:
    """What changed from `a` to `b`."""
    before, after = _signatures(a), _signatures(b)
    additions: list[str] = []
    changes: list[str] = []
    # In the order of the later text, so that who reads the difference goes down the page once.
    for object_id, signature in after.items():
        if object_id not in before:
            additions.append(object_id)
        elif before[object_id] != signature:
            changes.append(object_id)

    return EnvelopeDiff(
        added=tuple(additions),
        removed=tuple(object_id for object_id in before if object_id not in after),
        modified=tuple(changes),
        unchanged=len(after) - len(additions) - len(changes),
        token_delta=b.tokens - a.tokens,
        section_deltas=_deltas(a, b),
        utilisation=(_utilisation(a), _utilisation(b)),
        first_change=_first_change(a.text, b.text),
    )


def _signatures(envelope: Envelope) -> dict[str, tuple[str, str, str]]:
    """What tells whether an object changed, by its id, in the order of the text."""
    signatures: dict[str, tuple[str, str, str]] = {}
    for row in envelope.trace.compiled_objects:
        signatures[row.object_id] = row.section, row.compiled_as, row.content_hash
    return signatures


def _deltas(a: Envelope, b: Envelope) -> tuple[tuple[str, int], ...]:
    deltas = Counter({use.name: use.tokens for use in b.sections})
    deltas.subtract({use.name: use.tokens for use in a.sections})
    return tuple(sorted((name, delta) for name, delta in deltas.items() if delta))


def _utilisation(envelope: Envelope) -> float:
    budget = int(envelope.trace.budget["budget_tokens"])
    return round(envelope.tokens_upper / budget, 4) if budget else 1.0


def _first_change(a: str, b: str) -> int | None:
    if a == b:
        return None
    # Where one text goes on behind the other, the end of the shorter one.
    for place, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return place
    return min(len(a), len(b))


@dataclass(frozen=True, slots=True)
class Ablation:
    """What was found; numbers rounded to 6 digits."""

    utility: float
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
    positive = (pair for pair in pairs if pair[2] > 0)
    return tuple(sorted(positive, key=lambda pair: (-pair[2], pair[0], pair[1])))


def ablate(
    names: Sequence[str], utility: Callable[[frozenset[str]], float], *, pairs: bool = False
) -> Ablation:
    """How the utility changes without each name, and without each pair.

    `utility` is asked for the envelope that lacks a set of names: object ids or sections.
    """
    full_utility = utility(frozenset())
    single: dict[str, float] = {}
    changes: list[tuple[str, float]] = []
    for name in names:
        single[name] = full_utility - utility(frozenset({name}))
        changes.append((name, round(single[name], 6)))

    # Only the result is rounded: an excess is a small difference of large changes.
    excesses: list[tuple[str, str, float]] = []
    for a, b in combinations(names, 2) if pairs else ():
        joint_change = full_utility - utility(frozenset({a, b}))
        excesses.append((a, b, round(joint_change - single[a] - single[b], 6)))

    return Ablation(round(full_utility, 6), tuple(changes), tuple(excesses))
