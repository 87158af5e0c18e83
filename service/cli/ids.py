"""Ids on the command line: the beginning of one is enough, as tables show it behind a name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from ...schema.errors import InvalidInput

if TYPE_CHECKING:
    from ..client.memory import Memory

_BEGINNING: Final = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,31}…?")
"""The beginning of an id, at least four digits of it; a whole one has 36 characters."""


def entity_of(memory: Memory, text: str) -> str:
    """The entity that a name, an id or the beginning of an id means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text) or memory.entities.resolve(text).entity is not None:
        return text

    # Ids come in their order, so those that begin so are the first above the beginning itself.
    prefix = text.rstrip("…")
    page = memory.entities.list(after=prefix, limit=2)
    return _unique_id(text, [entity.entity_id for entity in page])


def review_of(memory: Memory, text: str) -> str:
    """The review that an id or its beginning means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    return _unique_id(text, [case.review_id for case in memory.reviews.list("all", kind="all")])


def action_of(memory: Memory, text: str) -> str:
    """The action that an id or its beginning means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    return _unique_id(text, [action.action_id for action in memory.actions.list("all")])


def _unique_id(text: str, ids: Iterable[str]) -> str:
    """The one id that begins so; the text itself where none does."""
    prefix = text.rstrip("…")
    matches = sorted(item for item in ids if item.startswith(prefix))
    if len(matches) > 1:
        raise InvalidInput(
            f"several ids begin with {prefix}, such as {matches[0]} and {matches[1]}; state more "
            "of it",
            code="bad_request",
        )
    return matches[0] if matches else text
