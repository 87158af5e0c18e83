"""How far a re-embedding is: a page of its own, because a server without numpy describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Progress(NamedTuple):
    """How far a re-embedding is, in claims."""

    embedded: int
    missing: int
    """How many had no vector when it began."""


ShowProgress = Callable[[Progress], None]
