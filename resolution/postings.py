"""How much a shared blocking key weighs: integers, the same in both stores.

A hit weighs its kind times the rarity of the key, rounded to whole thousandths, so that sums
do not depend on the order of addition. Keys that nearly everything shares are skipped: they
cost much and tell nothing. `total` counts the distinct norms with keys, `postings` those that
hold this key. Source: resolution 6.
"""

from __future__ import annotations

import math
from typing import Final

COARSE_KINDS: Final = frozenset({"prefix", "suffix", "deletion"})
"""Kinds of keys that many names share by chance."""
COARSE_LIMIT: Final = 400
"""Postings from which a key of a coarse kind is skipped."""
LIMIT: Final = 3_000
"""Postings from which any key is skipped."""


def hit_weight(kind: str, kind_weight: int, *, postings: int, total: int) -> int | None:
    """Return the weight of a hit in thousandths; None when the key is skipped.

    `kind_weight` is the weight of the kind in thousandths.

    >>> hit_weight("token", 4_000, postings=3, total=1_000)
    23249
    >>> hit_weight("prefix", 1_500, postings=401, total=1_000) is None
    True
    """
    if postings > (COARSE_LIMIT if kind in COARSE_KINDS else LIMIT):
        return None
    return round(kind_weight * math.log(1 + total / postings))
