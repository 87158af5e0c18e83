"""How much a shared blocking key weighs: integers, the same in both stores.

A hit weighs its kind times the rarity of the key, rounded to whole thousandths, so that sums
do not depend on the order of addition. Keys that nearly everything shares are skipped: they
cost much and tell nothing. `total` counts the distinct norms with keys, `postings` those that
hold this key.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

COARSE_KINDS: Final = frozenset({"prefix", "suffix", "deletion"})
"""Kinds of keys that many names share by chance."""
COARSE_LIMIT: Final = 400
"""Postings from which a key of a coarse kind is skipped."""
LIMIT: Final = 3_000
"""Postings from which any key is skipped."""


def hit_weight(kind: str, kind_weight: int, *, postings: int, total: int) -> int | None:
    """The weight of a hit in thousandths; None when the key is skipped.

    `kind_weight` is the weight of the kind in thousandths.

    >>> hit_weight("token", 4_000, postings=3, total=1_000)
    23249
    >>> hit_weight("prefix", 1_500, postings=401, total=1_000) is None
    True
    """
    if postings > (COARSE_LIMIT if kind in COARSE_KINDS else LIMIT):
        return None
    return round(kind_weight * math.log(1 + total / postings))


HEAVIER_ENOUGH: Final = 5
"""Heavier candidates beside which a crowd of equal weight is not read."""
CROWD: Final = 2
"""How many equal names stand for each place that is left, in a crowd."""


def is_crowd(*, heavier: int, equals: int, limit: int) -> bool:
    """Whether those who tie for the last places are too many to choose among.

    What hundreds share is a prefix or a common word, and the alphabet would say which of them are
    scored. Of the labelled pairs none that would reach a suggestion came in by such a place, and
    reading them is a fifth of a look-up.

    >>> is_crowd(heavier=24, equals=111, limit=50), is_crowd(heavier=24, equals=30, limit=50)
    (True, False)
    """
    return heavier >= HEAVIER_ENOUGH and equals > CROWD * (limit - heavier)


Norm = TypeVar("Norm", int, str)
"""A norm, by its number or by itself."""


class Posting(NamedTuple, Generic[Norm]):
    """A blocking key: what it weighs, and the norms that carry it."""

    weight: int
    norms: Sequence[Norm]


_LONG: Final = 32
"""Norms behind a key from which it pays to ask whether they can still matter."""


def heaviest(postings: Sequence[Posting[Norm]], limit: int | None) -> dict[Norm, int]:
    """The weight of norms: exactly of the `most` heaviest and their equals.

    `postings` come heaviest first. A norm that the keys left over cannot lift among the
    heaviest may be left out, which spares the long lists of light keys; None leaves out none.

    >>> heaviest([Posting(9, [1, 2]), Posting(1, [2, 3])], None)
    {1: 9, 2: 10, 3: 1}
    """
    weights: dict[Norm, int] = {}
    before = weights.get
    left = sum(posting.weight for posting in postings)
    settled = False
    for weight, norms in postings:
        if limit is not None and not settled and len(norms) >= _LONG:
            settled = left < kth_largest(weights.values(), limit)
        if settled:
            for norm in weights.keys() & norms:
                weights[norm] += weight
        elif len(norms) < _LONG:
            for norm in norms:
                weights[norm] = before(norm, 0) + weight
        else:
            # A key carries a norm once, and most of a long list are new: one step for these.
            known = {norm: weights[norm] + weight for norm in weights.keys() & norms}
            weights.update(dict.fromkeys(norms, weight))
            weights.update(known)
        left -= weight

    return weights


def kth_largest(values: Iterable[int], place: int) -> int:
    """The value at a place from the top, counted from 1; 0 where there are fewer.

    >>> kth_largest([3, 9, 5], 2), kth_largest([3], 2)
    (5, 0)
    """
    ordered_values = sorted(values)
    return ordered_values[-place] if len(ordered_values) >= place else 0
