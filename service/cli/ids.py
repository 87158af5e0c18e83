"""Ids on the command line: the beginning of one is enough, as tables show it behind a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from ...schema.errors import InvalidInput
from ...schema.vocabulary import ReviewState
from ..backend.caller import backend_of
from ..client.summaries import entity_names, opening_of

if TYPE_CHECKING:
    from ...schema.entity import Review
    from ..client.memory import Memory
    from ..reading.beginnings import Beginnings

_BEGINNING: Final = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,31}…?")
"""The beginning of an id, at least four digits of it; a whole one has 36 characters."""

_LEAST: Final = 4
"""Characters of a beginning: fewer are a slip of the finger."""

_FINAL_STATES: Final = (ReviewState.ACCEPTED, ReviewState.REJECTED)

_SHOWN: Final = 8
"""How many ids a refusal lists."""


def entity_of(memory: Memory, text: str) -> str:
    """The entity that a name, an id or the beginning of an id means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text) or memory.entities.resolve(text).entity is not None:
        return text

    # Ids come in their order, so those that begin so are the first above the beginning itself.
    prefix = text.rstrip("…")
    page = memory.entities.list(after=prefix, limit=_SHOWN + 1)
    ids = [entity.entity_id for entity in page if entity.entity_id.startswith(prefix)]
    return unique_id(text, ids, entity_names(memory, ids))


def object_of(memory: Memory, text: str) -> str:
    """The object that an id or its beginning means; what else names one stays as it is.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    # One more than is shown tells whether there are others.
    ids = _beginnings(memory).objects(text.rstrip("…"), limit=_SHOWN + 1)
    return unique_id(text, ids, {object_id: opening_of(memory, object_id) for object_id in ids})


def merge_of(memory: Memory, text: str) -> str:
    """The merge that an id or its beginning means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
        Forbidden: `privilege_required`.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    return unique_id(text, _beginnings(memory).merges(text.rstrip("…")))


def _beginnings(memory: Memory) -> Beginnings:
    from ..reading.beginnings import Beginnings

    return Beginnings(backend_of(memory), memory.principal)


def review_of(memory: Memory, text: str) -> str:
    """The review that an id, its beginning or the name that waits for a decision means.

    Raises:
        InvalidInput: `bad_request`, when several are meant.
    """
    # Decided cases too: `undo` takes the id of one.
    cases = memory.reviews.list("all", kind="all")
    if not _BEGINNING.fullmatch(text):
        return _review_about(text, cases)
    return unique_id(
        text,
        [case.review_id for case in cases],
        {case.review_id: f"{case.mention}, {case.state}" for case in cases},
    )


def _review_about(name: str, cases: Iterable[Review]) -> str:
    """The one review that asks about a name, those that wait first; the name where none does."""
    namesakes = [case for case in cases if case.mention == name]
    waiting = [case for case in namesakes if case.state not in _FINAL_STATES]
    reviews = waiting or namesakes
    if len(reviews) < 2:
        return reviews[0].review_id if reviews else name

    lines = [f"  {case.review_id}  {case.state.value}" for case in reviews[:_SHOWN]]
    raise InvalidInput(
        "\n".join((f"several reviews ask about {name!r}; state the id of one", *lines)),
        code="bad_request",
    )


def action_of(memory: Memory, text: str) -> str:
    """The action that an id or its beginning means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    queue = memory.actions.list("all")
    return unique_id(
        text,
        [action.action_id for action in queue],
        {action.action_id: f"{action.kind.value} {action.slot or ''}" for action in queue},
    )


def unique_id(text: str, ids: Iterable[str], words: Mapping[str, str] | None = None) -> str:
    """The one id that begins so; the text itself where none does.

    `words` say in a line what an id stands for, so that a refusal can be chosen from.

    Raises:
        InvalidInput: `bad_request`, with the ids, when several begin so.

    >>> unique_id("4f0c…", ["4f0c2a9b", "91ab77de"]), unique_id("beef", ["4f0c2a9b"])
    ('4f0c2a9b', 'beef')
    """
    # Tables print the sign behind a shortened id, and people copy it along.
    prefix = text.rstrip("…")
    matches: list[str] = []
    if len(prefix) >= _LEAST:
        matches = sorted(item for item in ids if item.startswith(prefix))
    if len(matches) < 2:
        return matches[0] if matches else text

    names = words or {}
    lines: list[str] = []
    for match in matches[:_SHOWN]:
        lines.append(f"  {match}  {names.get(match, '')}".rstrip())
    if len(matches) > _SHOWN:
        lines.append("  …")
    raise InvalidInput(
        "\n".join(
            (f"several ids begin with {prefix}; state more of the one that is meant", *lines)
        ),
        code="bad_request",
    )
