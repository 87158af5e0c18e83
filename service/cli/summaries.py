"""What objects say, in a few words each: an id alone tells a person nothing.

Stored objects are asked for as the caller may read them, so what is masked, withheld or erased
stays silent; items of a request are read from the manifest. For tables that people read: JSON
keeps to ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ...schema.errors import TenureError
from ..reading.envelopes import request_items

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ..client.memory import Memory

_MOST: Final = 60
"""Characters of a text in a table."""


def said(memory: Memory, *envelopes: Envelope) -> Mapping[str, str]:
    """Return the opening words of every object that the envelopes hold or left out, by id."""
    found: dict[str, str] = {}
    for envelope in envelopes:
        asked = request_items(envelope.manifest)
        found.update((object_id, opening(given.text)) for object_id, given in asked.items())
        stored = {each.object_id for each in envelope.manifest.candidates if each.vid}
        for object_id in stored & _named(envelope) - found.keys():
            found[object_id] = _stored(memory, object_id)
    return found


def opening(text: str) -> str:
    r"""Return the first words of a text on one line.

    >>> opening("The deploy  ended.\nIt took nine minutes, which is a little more than before.")
    'The deploy ended. It took nine minutes, which is a little…'
    """
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) <= _MOST:
        return line
    return (line[:_MOST].rpartition(" ")[0] or line[: _MOST - 1]) + "…"


def _named(envelope: Envelope) -> set[str]:
    trace = envelope.trace
    return {each.object_id for each in (*trace.compiled_objects, *trace.left_out)}


def _stored(memory: Memory, object_id: str) -> str:
    try:
        return opening(memory.rehydrate(object_id).text)
    except TenureError:  # masked, erased, or no longer to be read
        return ""
