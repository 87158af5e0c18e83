"""Citations: where the passages of an envelope stand in the versions of their documents.

Positions stand in the outline alone, so that a paragraph on page 2 rewrites no passage behind it.
All citations of an envelope are one read of the outlines that hold at its point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...compiler.trace.manifest import Manifest
from ...schema.claim import Version
from ...schema.document import Citation
from ...schema.principal import Sight
from ...schema.values import moment, stamp_time
from ...schema.vocabulary import StateLayer
from ...store.port.store import Ask, Point, Reader
from ..backend.caller import Caller
from .outline import OutlineEntry
from .state import StoredVersion, find_versions


def citation_of(object_id: str, version: StoredVersion, entry: OutlineEntry) -> Citation:
    """The citation of a passage in a version."""
    outline = version.outline
    return Citation(
        object_id=object_id,
        passage_id=entry.passage_id,
        document=version.name,
        title=outline.title,
        page=entry.page,
        headings=outline.paths[entry.heading],
        start=entry.start,
        length=entry.length,
        effective=moment(version.start_us),
        until=moment(version.end_us),
        recorded=stamp_time(version.tx_us),
    )


def find_citations(
    reader: Reader, object_ids: Iterable[str], sight: Sight, point: Point
) -> Mapping[str, Citation]:
    """The citations of those of some objects that are passages of documents, by object id."""
    rows = _rows(reader, tuple(object_ids), sight, point)
    # A claim that one passage makes is cited by its sentence there.
    derived = {
        object_id: row.details.derived_from[0]
        for object_id, row in rows.items()
        if row.details.slot is not None and len(row.details.derived_from) == 1
    }
    sources = _rows(reader, tuple(derived.values()), sight, point)
    passages: dict[str, Version] = {}
    for object_id, row in rows.items():
        passage = sources.get(derived.get(object_id, ""), row)
        if passage.details.slot is None and passage.details.layer is StateLayer.CORPUS:
            passages[object_id] = passage

    subjects = sorted({str(version.details.subject_id) for version in passages.values()})
    documents = {v.entity_id: v for v in find_versions(reader, subjects, sight, point)}
    citations: dict[str, Citation] = {}
    for object_id, version in passages.items():
        document = documents.get(str(version.details.subject_id))
        passage_id = version.row.claim.slot_key.removeprefix("text:")
        if document is None or passage_id not in document.outline.numbers:
            continue
        entry = document.outline.entries[document.outline.numbers[passage_id]]
        citation = citation_of(object_id, document, entry)
        sentence, text = rows[object_id].content, version.content
        place = text.text.find(sentence.text) if sentence and text else -1
        if object_id in derived and sentence and place >= 0:
            start, length = entry.start + place, len(sentence.text)
            citation = replace(citation, start=start, length=length)
        citations[object_id] = citation

    return citations


def _rows(
    reader: Reader, object_ids: Sequence[str], sight: Sight, point: Point
) -> dict[str, Version]:
    if not object_ids:
        return {}
    ask = Ask(objects=tuple(object_ids), heads=False)
    versions = reader.versions(ask, sight=sight, point=point).versions
    return {version.row.claim.object_id: version for version in versions if version.visible}


@dataclass(frozen=True, slots=True)
class Citer(Caller):
    """Cites what one caller may read."""

    def citations(self, manifest: Manifest, anchors: Mapping[str, str]) -> Mapping[str, Citation]:
        """The citations of an envelope as of its own point, by the numbers in its text."""
        with self._reading() as reader:
            point = Point(manifest.valid_us, manifest.tx_us)
            citations = find_citations(reader, anchors.values(), self.principal.sight(), point)

        return {number: citations[name] for number, name in anchors.items() if name in citations}
