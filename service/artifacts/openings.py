"""What objects say, in their first words: an id alone tells a person nothing.

A stored object is read as the caller may read it today, so what is masked, withheld or erased
stays silent; an item of a request is read from the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...schema.errors import TenureError
from ..backend.caller import Caller
from ..reading.envelopes import request_items
from ..visual.text import opening
from .artifacts import Artifacts

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope


@dataclass(frozen=True, slots=True)
class Openings(Caller):
    """The opening words of objects, as one caller may read them."""

    def words(self, envelope: Envelope) -> Mapping[str, str]:
        """The opening words of every object that an envelope holds or left out, by id."""
        words: dict[str, str] = {}
        for object_id, item in request_items(envelope.manifest).items():
            words[object_id] = opening(item.text)

        # Candidates that no account of the trace names are of no use to a reader.
        trace = envelope.trace
        listed_ids = {entry.object_id for entry in (*trace.compiled_objects, *trace.left_out)}
        stored_ids = {entry.object_id for entry in envelope.manifest.candidates if entry.vid}
        for object_id in (stored_ids & listed_ids) - words.keys():
            words[object_id] = self.of(object_id)
        return words

    def of(self, object_id: str) -> str:
        """The first words of a stored object; none where the caller may not read it today."""
        try:
            return opening(Artifacts(self._backend, self.principal).rehydrate(object_id).text)
        except TenureError:  # masked, erased, no longer to be read, or the store was closed
            return ""
