"""What a decoded claim takes in memory: both stores keep some, up to a number of bytes."""

from __future__ import annotations

from sys import getsizeof
from typing import Final

from ...schema.claim import Content

CLAIMS_KIB: Final = 131_072
"""Memory for the decoded claims of a store, unless told otherwise."""
CLAIMS_IDLE_S: Final = 30.0
"""Seconds that no read asks for a decoded claim before it may leave a cache that is not full.

A writer of a growing store decodes each claim once or twice, soon after it was written. Kept until
the memory above is taken, such claims make a server grow for an hour and serve nobody.
"""
_RECORD: Final = 2_000
"""Bytes of a decoded claim beside its texts: its records, ids and marks."""


def claim_bytes(content: Content | None) -> int:
    """What a decoded claim takes in memory, by its texts."""
    if content is None:
        return _RECORD

    texts = (content.text, content.normalized_claim, content.value_json, content.terms)
    return _RECORD + sum(map(getsizeof, texts))
