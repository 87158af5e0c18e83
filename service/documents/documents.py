"""The calls of documents: put, sync, list, get, versions, compare, remove and reclassify.

A document is named by its source and path, such as `handbook/leave.md`, or by its entity id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from ...schema.claim import Version
from ...schema.document import Citation
from ...schema.values import moment, stamp_time
from ...schema.write import Moment
from ...store.port.store import Point, Reader
from ..backend.caller import Caller, argument_checks, check_fields, permissions_as_stated
from ..backend.words import ClassificationWord
from ..reading.view import pinned, point_of
from .child import ParsingChild
from .citing import citation_of, find_citations
from .keeping import DocumentKeeper
from .outline import DocumentOutline
from .records import (
    Document,
    DocumentComparison,
    DocumentPassage,
    DocumentReport,
    DocumentVersion,
    DocumentView,
    SyncReport,
)
from .state import (
    StoredVersion,
    find_owners,
    find_versions,
    load_document,
    passage_rows,
    unknown_document,
)
from .terms import PutFields, SyncFields, Terms


@argument_checks
@dataclass(frozen=True, slots=True)
class Documents(Caller):
    """The documents of one tenant, as one caller sees them."""

    def put(
        self,
        data: bytes | str,
        *,
        name: str,
        effective: Moment = None,
        url: str | None = None,
        **terms: Unpack[PutFields],
    ) -> DocumentReport:
        """Take in a file as the version of a document that holds from `effective`.

        Without `effective` the date is that of its front matter, of the words behind "effective
        from" in its first 3,000 characters, of the message, or the time of recording. Equal bytes
        write nothing. Other bytes with the same date correct that version. With `governs` the
        readers become those of all versions that are stored. With `claims`, `rules` or `model`,
        each new passage is searched for claims, which end with it. With `check` the report
        says what would happen. An export of ChatGPT, Claude, Slack or WhatsApp is observed message
        by message: `own` is the author who is the caller, `zone` and `dates` (`day` or `month`
        first) say how its times are read. `former` names documents of which it may be one under a
        new name: that of equal bytes, or of the most passages, goes on as this one.

        Raises:
            InvalidInput: a code of the table in `docs/documents.md`.
            Forbidden: `origin_not_granted`, and what a write refuses.
            Conflict: `erased`, unless `again`; `name_clash`.
        """
        check_fields(PutFields, terms, "term of a document")
        content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        stated = Terms(origin=url, **terms)
        with ParsingChild() as child:
            keeper = DocumentKeeper(self._backend, self.principal, child.read)
            return keeper.put(content, name, stated, effective)

    def sync(self, folder: str | Path, **options: Unpack[SyncFields]) -> SyncReport:
        """Bring the documents of a source to what a folder holds; run it again at will.

        The source is stated, or the `[source]` of the rules, or the folder's name. Unchanged files
        are not read. A refused file stands in the report and stops nothing. Documents whose files
        are gone end now, unless they are more than 10 and more than 30 % of the source. With
        `check` nothing is written, with `keep_original` the files are kept as artifacts. `claims`
        is that of `put`, where no rule states it.

        Raises:
            NotFound: `no_such_folder`.
            Conflict: `sync_running`.
            InvalidInput: `bad_rules`, `bad_name`.
        """
        from .sync import StoreTarget, sync_folder

        check_fields(SyncFields, options, "option of a sync")
        with ParsingChild() as child:
            target = StoreTarget(self._backend, self.principal, child.read)
            return sync_folder(target, folder, **options)

    def list(
        self, *, source: str | None = None, valid: Moment = None, tx: Moment = None
    ) -> tuple[DocumentView, ...]:
        """The documents that have a version at a point and that the caller may see, by name."""
        with self._reading() as reader:
            point = self._point(reader, valid, tx)
            entity_ids = reader.entity_ids(type="document")
            versions = find_versions(reader, entity_ids, self.principal.sight(), point)

        prefix = "" if source is None else f"{source}/"
        views = [_view(version) for version in versions if version.name.startswith(prefix)]
        return tuple(sorted(views, key=lambda view: view.name))

    def get(self, name: str, *, valid: Moment = None, tx: Moment = None) -> Document:
        """A document as of a point: its passages in order, each with its citation.

        Raises:
            NotFound: `unknown_document`, also for what the caller may not see.
        """
        with self._reading() as reader:
            point = self._point(reader, valid, tx)
            return self._document(reader, name, point)

    def versions(self, name: str) -> tuple[DocumentVersion, ...]:
        """The versions of a document as they are believed now, by the date they begin.

        Raises:
            NotFound: `unknown_document`.
        """
        with self._reading() as reader:
            stored = load_document(reader, name, self.principal.sight(), former=True)
        if not stored.versions:
            raise unknown_document(name, (view.name for view in self.list()))
        return tuple(_history(stored.versions))

    def compare(self, name: str, a: Moment, b: Moment, *, tx: Moment = None) -> DocumentComparison:
        """What the version of one date has that the version of another has not.

        Raises:
            NotFound: `unknown_document`, where none holds at one of the dates.
        """
        with self._reading() as reader:
            before = self._document(reader, name, self._point(reader, a, tx))
            after = self._document(reader, name, self._point(reader, b, tx))

        return _comparison(before, after)

    def cite(
        self, object_ids: Sequence[str], *, valid: Moment = None, tx: Moment = None
    ) -> dict[str, Citation]:
        """Where passages stand in the versions of a point, by object id; all else is left out."""
        with self._reading() as reader:
            point = self._point(reader, valid, tx)
            return dict(find_citations(reader, object_ids, self.principal.sight(), point))

    def remove(self, name: str, *, effective: Moment = None) -> DocumentReport:
        """End a document from a time on, now by default; nothing is erased.

        Raises:
            NotFound: `unknown_document`.
        """
        return DocumentKeeper(self._backend, self.principal).remove(name, effective)

    def reclassify(
        self,
        name: str,
        *,
        security_classification: ClassificationWord | None = None,
        allow_roles: Sequence[str] | None = None,
        deny_roles: Sequence[str] | None = None,
    ) -> int:
        """Change who may see a document, at all times at once; return how many objects changed.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_document`.
        """
        stated = security_classification, allow_roles, deny_roles
        words = self._words_now()
        keeper = DocumentKeeper(self._backend, self.principal)
        return keeper.reclassify(name, lambda old: permissions_as_stated(old, words, *stated))

    def _point(self, reader: Reader, valid: Moment, tx: Moment) -> Point:
        return point_of(pinned(self._backend, self.principal, reader, valid, tx))

    def _document(self, reader: Reader, name: str, point: Point) -> Document:
        sight = self.principal.sight()
        # The one version alone: a document may have hundreds.
        own_versions = find_versions(reader, find_owners(reader, name, sight), sight, point)
        if not own_versions:
            raise unknown_document(name, (view.name for view in self.list()))
        # Else the one that has the name at another time.
        version = min(own_versions, key=lambda version: version.name != name)
        shown = passage_rows(reader, list(version.outline.numbers), sight, point)
        passages: list[DocumentPassage] = []
        for entry in version.outline.entries:
            row = shown.get(entry.passage_id)
            object_id = entry.passage_id if row is None else row.row.claim.object_id
            citation = citation_of(object_id, version, entry)
            passages.append(DocumentPassage(text=_words(row), citation=citation))

        text = _joined(version.outline, passages)
        return Document(view=_view(version), passages=tuple(passages), text=text)


def _view(version: StoredVersion) -> DocumentView:
    outline = version.outline
    return DocumentView(
        id=version.entity_id,
        name=version.name,
        title=outline.title,
        effective=moment(version.start_us),
        recorded=stamp_time(version.tx_us),
        passages=len(outline.entries),
        media_type=outline.media_type,
        bytes_digest=outline.digest,
        flagged=outline.flagged,
    )


def _words(row: Version | None) -> str:
    """The words of a passage, or why they are not there."""
    if row is not None and row.erased:
        return "[erased]"
    return "[withheld]" if row is None or row.content is None else row.content.text


def _joined(outline: DocumentOutline, passages: Sequence[DocumentPassage]) -> str:
    """Headings and passages in the order of the text."""
    parts: list[tuple[int, str, str]] = []
    for heading in outline.headings:
        parts.append((heading.start, heading.title, "\n"))
    for entry, passage in zip(outline.entries, passages, strict=True):
        parts.append((entry.start, passage.text, entry.gap))
    parts.sort()
    text = "".join(words + gap for _, words, gap in parts)
    return text.removesuffix(parts[-1][2]) if parts else text


def _history(versions: Sequence[StoredVersion]) -> Iterator[DocumentVersion]:
    before: dict[str, str] = {}
    for version in versions:
        outline = version.outline
        now = {entry.passage_id: entry.key for entry in outline.entries}
        common = before.keys() & now.keys()
        yield DocumentVersion(
            title=outline.title,
            effective=moment(version.start_us),
            until=moment(version.end_us),
            recorded=stamp_time(version.tx_us),
            passages=len(now),
            kept=len(common),
            opened=len(now) - len(common),
            closed=len(before) - len(common),
            moved=sum(before[passage_id] != now[passage_id] for passage_id in common),
            dated=outline.dated,
        )
        before = now


def _comparison(before: Document, after: Document) -> DocumentComparison:
    """Passages by identity, which is what a version keeps of the one before it."""
    old = {passage.citation.passage_id: passage for passage in before.passages}
    new = {passage.citation.passage_id: passage for passage in after.passages}
    common = [new[key] for key in new if key in old]
    moved = [
        p for p in common if p.citation.headings != old[p.citation.passage_id].citation.headings
    ]
    return DocumentComparison(
        added=tuple(new[key] for key in new if key not in old),
        removed=tuple(old[key] for key in old if key not in new),
        moved=tuple(moved),
        same=len(common) - len(moved),
    )
