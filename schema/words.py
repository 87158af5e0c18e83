"""The words that calls take where the list is short: an editor offers them, a checker reads them.

What a caller passes without a checker is read by the call itself, which names the known words.
"""

from __future__ import annotations

from typing import Literal

ActionStatus = Literal["open", "closed", "all"]
"""Which entries of the queue of actions."""

ReviewStatus = Literal["open", "unsure", "accepted", "rejected", "undone", "all"]
"""Which cases of the queue of reviews; `open` has undone ones, too."""

ReviewKind = Literal["blocking", "possible_same_as", "audit", "all"]
"""Cases that a write waits for, look-alikes that are suggested, samples of decided ones."""

Remembered = Literal["scope", "all", "no"]
"""Where a name goes on to mean what a steward decided."""

GraphForm = Literal["graphml", "json"]
"""In what an entity graph is written."""
