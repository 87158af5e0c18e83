"""Taking documents in: what of a file is new, as one transaction.

The plan of a version is made from one snapshot and submitted only where no other writer changed
the document meanwhile. A version holds from its date to the next later one that is known, so that
an older one that arrives late fills its own stretch, in whatever order versions come.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar, Final, NamedTuple

from ...compiler.safety.credentials import masked_credentials
from ...compiler.safety.detect import TextChannel, bears_no_sign
from ...compiler.text.relevance import one_line
from ...resolution.identifiers import lookup_of
from ...resolution.keys import entity_id
from ...schema.claim import Permissions, Version
from ...schema.entity import EntityRef
from ...schema.errors import Conflict, Forbidden
from ...schema.interval import INF_US, Interval
from ...schema.policy import WritePolicy
from ...schema.principal import ERASE, EVERYONE_TAG, OPERATE, Scope
from ...schema.slots import kind_of
from ...schema.values import moment
from ...schema.vocabulary import Classification, Outcome
from ...schema.write import Draft, Moment, Receipt, Write
from ...store.operations.change import Mandate, reclassify
from ...store.operations.naming import add_alias
from ...store.port.store import Ask, Point, Reader, WriteTx
from ..artifacts.artifacts import Artifacts
from ..backend.caller import Caller, instant, permissions_as_stated
from ..writing.draft import is_unsuspected
from ..writing.write import Writer
from .blocks import MAX_BYTES, MAX_PASSAGES, FileReading, refusal
from .chat_keeping import ChatKeeper
from .chats import read_chats
from .claims import ClaimFinder
from .cutting import CUTTER, CutPassage, cut, plain_title
from .dating import OWN_DATES, effective_date
from .formats import read_file
from .outline import (
    Difference,
    DocumentOutline,
    OutlineEntry,
    difference,
    keyed_id,
    passage_keys,
)
from .records import DocumentReport
from .state import (
    SCHEME,
    SLOT,
    StoredDocument,
    check_clash,
    full_name,
    hidden_rows,
    load_document,
    passage_rows,
    unknown_document,
)
from .terms import Terms

MOST_FLAGGED: Final = 20
"""Flagged passages of one version that are taken in quarantine; more refuse the file."""
MOST_WRITES: Final = 10_000
"""Writes of one transaction."""
_SHARE_RENAMED: Final = 0.8
_TRIES: Final = 20
"""Plans of one put: each other writer of the same document costs one."""
OLDER_DATE: Final = "older_date"
"""The warning of a file that replaced one with a later date in its folder."""
WITHHELD_HEADING: Final = "[heading withheld]"


class _File(NamedTuple):
    """A file that was read and cut, before anything is known of what is stored."""

    name: str
    reading: FileReading
    outline: DocumentOutline
    """Without root and entries."""
    pieces: tuple[CutPassage, ...]
    """With their secrets masked."""
    day_us: int | None
    """None: the recording time."""
    masked: int
    warnings: tuple[str, ...]
    former: str = ""
    """The name of the document that goes on under this one."""
    overrules: bool = False
    """Whether it holds in place of versions with a later date."""


class DocumentWriter(Writer):
    """The writer of outlines, which submits only where nothing has changed since the plan."""

    __slots__ = ()
    outlines: ClassVar[bool] = True

    def submit_unless_changed(self, version: _Version) -> tuple[Receipt, ...]:
        """The receipts of a version; none where another writer changed its document meanwhile.

        Then nothing is written.
        """
        submission = self.submission(version.drafts, has_reader=False)
        stored, sight = version.stored_document, self.principal.sight()
        name, former = version.report.name, version.report.former

        def work(tx: WriteTx, mandate: Mandate) -> tuple[Receipt, ...]:
            tx.lock()
            if load_document(tx.reader(), stored.name, sight).stamp != stored.stamp:
                return ()
            # What it raises inside of the transaction takes the document back.
            (receipts,) = self._commit_all(tx, [submission])
            first = receipts[0]
            if first.outcome in (Outcome.REFUSED, Outcome.PENDING_REVIEW):
                raise Conflict(
                    f"{name} waits for a review of its name: {first.detail}", code="name_clash"
                )
            if former:
                # The name has the id of the outline: both are hidden from the same people.
                draft = version.drafts[0]
                scope_id, entity = draft.details.scope.scope_id, str(first.entity)
                naming = replace(mandate, operation_id=draft.object_id)
                add_alias(tx, entity, name, scope_id=scope_id, mandate=naming, scorer=None)
            return receipts

        receipts = self._operate(work)
        if receipts:
            self.embed(version.drafts, receipts)
        return receipts


class _Version(NamedTuple):
    """The writes of one version of a document, or of its end."""

    stored_document: StoredDocument
    """As it was when they were planned."""
    drafts: Sequence[Draft]
    """The outline first."""
    report: DocumentReport
    later_claims: Sequence[Draft] = ()
    """Those that do not fit into the transaction; they follow in others."""


@dataclass(frozen=True, slots=True)
class DocumentKeeper(Caller):
    """What takes documents in, ends them and changes who may see them."""

    read: Callable[..., FileReading] = read_file

    def put(
        self, content: bytes, name: str, terms: Terms, effective: Moment = None
    ) -> DocumentReport:
        """Read the bytes of a file and write them as a version, unless they are stored.

        Raises:
            TenureError: why the file is refused; nothing was written.
        """
        name = full_name(name, terms.source)
        self._check_terms(name, terms)
        if len(content) > MAX_BYTES:
            raise refusal("too_large", f"{name} has {len(content)} bytes, at most {MAX_BYTES}")
        keeper = self._as_reader(name, self._permissions(terms))
        chats = read_chats(content, name, dates=terms.dates, zone=terms.zone)
        if chats is not None:
            return ChatKeeper(self._backend, keeper.principal).observe(chats, name, terms)
        # Equal for equal bytes of one tenant, and for no others.
        digest = hmac.digest(self._backend.secret(self._tenant), content, "sha256").hex()[:32]
        stated_us = None if effective is None else instant(effective, field="effective")

        stored_document = keeper._stored(name)
        is_reclassified = terms.governs and keeper._with_readers(stored_document, terms)
        now_us = self._backend.now_us()
        same = stored_document.same(digest, stated_us, now_us)
        is_replaced = same and terms.governs and stored_document.overruled(same.start_us, now_us)
        if same is not None and not is_replaced:
            return DocumentReport(
                document=same.entity_id,
                name=name,
                title=same.outline.title,
                outcome="reclassified" if is_reclassified else "same",
                effective=moment(same.start_us),
                dated=same.outline.dated,
                kept=len(same.outline.entries),
            )

        options = {key: getattr(terms, key) for key in ("media_type", "encoding", "password")}
        file = keeper._cut(name, digest, self.read(content, name, **options), stated_us)
        if stored_document.last is None:
            file = keeper._with_former(file, terms.former)
        if file.former and terms.governs:
            # In another folder other rules hold, also for what stays of the document.
            stored_document = keeper._stored(file.former)
            keeper._with_readers(stored_document, terms)

        start_us = now_us if file.day_us is None else file.day_us
        if terms.governs and stored_document.overruled(start_us, now_us):
            if start_us < now_us and same is None and not terms.check:
                # By its own date it held until the next one.
                keeper._write(file, terms, content)
            # The folder has this file alone, so that from now on no later one is known.
            dated = "recorded" if start_us < now_us else file.outline.dated
            file = file._replace(
                day_us=max(start_us, now_us),
                outline=replace(file.outline, dated=dated),
                warnings=(*file.warnings, OLDER_DATE),
                overrules=True,
            )

        return keeper._write(file, terms, content)

    def _write(self, file: _File, terms: Terms, content: bytes) -> DocumentReport:
        """The report of a file as a version; with `check` of what it would be."""
        if terms.check:
            return self._draft(file, terms).report
        version, receipts = self._commit(file.name, lambda: self._draft(file, terms))
        for at in range(0, len(version.later_claims), MOST_WRITES):
            # Claims that do not fit follow, from passages that are there.
            claims = version.later_claims[at : at + MOST_WRITES]
            Writer(self._backend, self.principal).submit(claims)

        if terms.keep_original:
            Artifacts(self._backend, self.principal).put(
                content,
                name=file.name,
                media_type=file.reading.media_type,
                origin=f"doc://{file.name}",
                scope=terms.scope or Scope(),
                object_ids=[version.drafts[0].object_id],
                **terms.readers,
            )
        return replace(version.report, document=str(receipts[0].entity))

    def _commit(
        self, name: str, draft: Callable[[], _Version]
    ) -> tuple[_Version, tuple[Receipt, ...]]:
        """A version with its receipts, drafted again while another writer comes first."""
        writer = DocumentWriter(self._backend, self.principal)
        for _ in range(_TRIES):
            version = draft()
            receipts = writer.submit_unless_changed(version)
            if receipts:
                return version, receipts
        raise Conflict(f"{name} keeps changing under this call; try again", code="stale_version")

    def _with_former(self, file: _File, names: Sequence[str]) -> _File:
        """A file with the document whose bytes it has, else that of the most passages.

        At least four fifths of the passages of its newest version are in the file.
        """
        best, best_share = file, _SHARE_RENAMED
        for name in names:
            last = self._stored(name).last
            if last is None:
                continue
            if last.outline.digest == file.outline.digest:
                # The version is the same, and holds from when it held.
                return file._replace(former=name, day_us=last.start_us)
            entries = last.outline.entries
            keys = frozenset(self._keys(file, last.outline.root))
            share = sum(entry.key in keys for entry in entries) / max(1, len(entries))
            if share >= best_share:
                best, best_share = file._replace(former=name), share

        return best

    def remove(self, name: str, effective: Moment = None) -> DocumentReport:
        """End a document from a time on.

        Raises:
            NotFound: `unknown_document`.
        """
        keeper = self._as_reader(name) if self.principal.holds(OPERATE) else self
        stated_us = None if effective is None else instant(effective, field="effective")
        version, _ = keeper._commit(name, lambda: keeper._end(name, stated_us))
        return version.report

    def _end(self, name: str, stated_us: int | None) -> _Version:
        """The writes that end a document."""
        stored_document = self._stored(name, former=True)
        start_us = self._backend.now_us() if stated_us is None else stated_us
        ended = [version for version in stored_document.versions if version.end_us > start_us]
        if not ended:
            raise unknown_document(name)
        writes: list[Write] = []
        closed = 0
        with self._reading() as reader:
            for version in ended:
                span_us = max(start_us, version.start_us), version.end_us
                rows = self._rows_at(reader, list(version.outline.numbers), span_us[0])
                fields = _common_fields(name, Terms(), span_us)
                closed += len(rows)
                ends = [version.object_id, *(row.row.claim.object_id for row in rows.values())]
                ends += self._claims_of(reader, list(rows), span_us)
                writes += [_ending(object_id, fields) for object_id in ends]

        report = DocumentReport(
            document=ended[-1].entity_id,
            name=name,
            title=ended[-1].outline.title,
            outcome="removed",
            effective=moment(start_us),
            closed=closed,
        )
        writer = DocumentWriter(self._backend, self.principal)
        return _Version(stored_document, writer.drafts(writes), report)

    def reclassify(self, name: str, change: Callable[[Permissions], Permissions]) -> int:
        """Change who may see every object of a document; how many objects changed.

        Raises:
            NotFound: `unknown_document`.
        """
        self.principal.require(OPERATE)
        last = self._as_reader(name)._stored(name, former=True).last
        if last is None:
            raise unknown_document(name)
        entity_id = last.entity_id

        def work(tx: WriteTx, mandate: Any) -> int:
            tx.lock()
            own = {
                object_id
                for object_id, assertion in tx.assertions(tx.objects_of((entity_id,))).items()
                if assertion.details.subject_id == entity_id
                and assertion.details.slot in (None, SLOT)
            }
            # What is derived from passages of this document alone has its readers.
            derived = tx.assertions(tx.dependants(sorted(own)))
            own |= {
                object_id
                for object_id, assertion in derived.items()
                if own.issuperset(assertion.details.derived_from)
            }
            changed = 0
            for object_id, assertion in sorted(tx.assertions(sorted(own)).items()):
                permissions = change(assertion.permissions)
                if permissions != assertion.permissions:
                    reclassify(tx, object_id, permissions, mandate=mandate)
                    changed += 1

            return changed

        return self._operate(work)

    def _with_readers(self, stored_document: StoredDocument, terms: Terms) -> bool:
        """Give a stored document the readers of some terms; whether it had others."""
        if stored_document.last is None:
            return False
        permissions = self._permissions(terms)
        if all(version.permissions == permissions for version in stored_document.versions):
            return False
        if not terms.check:
            self.reclassify(stored_document.name, lambda _: permissions)
        return True

    def entity_id(self, name: str) -> str:
        """The entity of the document that has a name, else that had it, for its erasure.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_document`.
        """
        self.principal.require(ERASE)
        with self._reading() as reader:
            rows = hidden_rows(reader, name, self.principal.sight())
        rows.sort(key=lambda row: row.row.claim.tx)
        names = {str(row.details.subject_id): row.details.update_path for row in rows}
        if not names:
            raise unknown_document(name)
        return min(names, key=lambda subject_id: names[subject_id] != name)

    def _permissions(self, terms: Terms) -> Permissions:
        return permissions_as_stated(Permissions(), self._words_now(), *terms.readers.values())

    def _as_reader(self, name: str, *permissions: Permissions) -> DocumentKeeper:
        """The same keeper with the roles of a document's readers, for an operator.

        Operators keep documents for readers to whom they do not belong. Any other caller keeps
        what that caller may read.

        Raises:
            Forbidden: `not_a_reader`, also where a document of others has the name.
        """
        sight = self.principal.sight()
        with self._reading() as reader:
            rows = hidden_rows(reader, name, sight)
        readers = [*permissions, *(row.permissions for row in rows)]
        if all(permitted.admits(sight) for permitted in readers):
            return self
        if not self.principal.holds(OPERATE):
            raise Forbidden(
                f"this caller is not among the readers of {name}; state roles that the caller "
                "has, or have an operator put it",
                code="not_a_reader",
            )

        admitted = {role for permitted in readers for role in permitted.allow} - {EVERYONE_TAG}
        denied = {role for permitted in readers for role in permitted.deny}
        principal = replace(
            self.principal,
            roles=frozenset((self.principal.roles | admitted) - denied),
            clearance=Classification.HIGHLY_RESTRICTED,
        )
        return replace(self, principal=principal)

    def _stored(self, name: str, **options: bool) -> StoredDocument:
        with self._reading() as reader:
            return load_document(reader, name, self.principal.sight(), **options)

    def _claims_of(
        self, reader: Reader, passage_ids: Sequence[str], span_us: tuple[int, int]
    ) -> list[str]:
        """The claims that some passages alone make in a stretch of valid time."""
        if not passage_ids:
            return []
        ended, span = frozenset(passage_ids), Interval(*span_us)
        point = Point(span_us[0], reader.clock().last_us)
        ask = Ask(sources=tuple(passage_ids), heads=False, at_valid=False)
        claim_ids = {
            version.row.claim.object_id: None
            for version in reader.versions(ask, sight=self.principal.sight(), point=point).versions
            if version.details.slot is not None
            and version.row.interval.overlaps(span)
            and ended.issuperset(version.details.derived_from)
        }
        return list(claim_ids)

    def _rows_at(
        self, reader: Reader, passage_ids: Sequence[str], valid_us: int
    ) -> dict[str, Version]:
        point = Point(valid_us, reader.clock().last_us)
        return passage_rows(reader, passage_ids, self.principal.sight(), point)

    def _check_terms(self, name: str, terms: Terms) -> None:
        policy = self._backend.policy.write
        if is_suspicious(name, policy):
            raise refusal("bad_name", f"{name!r:.80} looks like an instruction; rename the file")
        if terms.origin is not None:
            kind = kind_of(terms.origin, self._words_now().source_kinds)
            if kind.granted and kind.name not in self.principal.source_kinds:
                raise Forbidden(
                    f"this caller may not speak for {kind.name}: leave the origin out, or have "
                    "the source kind granted",
                    code="origin_not_granted",
                )

    def _cut(self, name: str, digest: str, reading: FileReading, stated_us: int | None) -> _File:
        """A file in passages, its secrets masked and its titles scanned."""
        text, headings, pieces = cut(reading)
        if len(pieces) > MAX_PASSAGES:
            raise refusal("too_large", f"{name} makes {len(pieces)} passages; split it by chapters")
        policy, masked = self._backend.policy.write, 0
        titles = [reading.title, *(heading.title for heading in headings)]
        for number, title in enumerate(titles):
            titles[number], found = masked_credentials(title)
            masked += found
            # A title is shown beside what it is about, also where that is not set apart.
            if is_suspicious(titles[number], policy):
                titles[number] = WITHHELD_HEADING

        shown: list[CutPassage] = []
        for piece in pieces:
            words, found = masked_credentials(piece.text)
            masked += found
            shown.append(piece._replace(text=words))

        dated = effective_date(reading.dates, text, reading.sent)
        day_us = stated_us
        if day_us is None and dated.day is not None:
            day_us = instant(dated.day, field="effective")
        outline = DocumentOutline(
            root=name,
            digest=digest,
            title=titles[0],
            media_type=reading.media_type,
            reader=reading.reader,
            cutter=CUTTER,
            headings=tuple(h._replace(title=t) for h, t in zip(headings, titles[1:], strict=True)),
            dated=dated.source if stated_us is None else "stated",
        )
        warnings = (dated.warning,) if dated.warning and stated_us is None else ()
        return _File(name, reading, outline, tuple(shown), day_us, masked, warnings)

    def _plan(
        self, file: _File, terms: Terms, start_us: int
    ) -> tuple[StoredDocument, Difference, DocumentOutline, tuple[str, Write], dict[str, Write]]:
        """What a version changes where it begins: id and write of the outline, and all others."""
        named: EntityRef | str
        about: EntityRef | str
        sight = self.principal.sight()
        with self._reading() as reader:
            stored_document = load_document(reader, file.former or file.name, sight)
            covering = stored_document.at(start_us)
            # A file that was gone and is there again by its own date was never out of force.
            is_back = (
                covering is not None
                and covering is stored_document.last
                and covering.end_us <= self._backend.now_us()
                and file.outline.dated in OWN_DATES
            )
            now_us = self._backend.now_us()
            overruled = stored_document.overruled(start_us, now_us) if file.overrules else []
            end_us = INF_US if is_back else stored_document.end_from(start_us, overruled)
            span_us = start_us, end_us
            before = () if covering is None else covering.outline.entries
            if stored_document.last is None:
                root, head_id = self._new_root(reader, file.name, terms.again)
                ref = EntityRef(name=file.name, type="document", external_ids={SCHEME: root})
                tx_us = reader.clock().last_us
                known = reader.known(lookup_of([ref]), scopes=sight.scopes, tx_us=tx_us)
                check_clash(known.aliases, file.name)
                # If its outline makes an entity, the id of that binds the passages at once.
                is_named = known.identifiers or known.aliases
                about = ref if is_named else entity_id(head_id, "subject", ref.name)
                named = ref
            else:
                root, head_id = stored_document.last.outline.root, self._backend.ids()
                if file.former:
                    # So that after its erasure no file of the new name brings it back.
                    _, head_id = self._new_root(reader, file.name, again=True)
                named = about = stored_document.last.entity_id
            keys = self._keys(file, root)
            new_keys = frozenset(keys)
            leaving = [entry.passage_id for entry in before if entry.key not in new_keys]
            rows = dict(self._rows_at(reader, leaving, start_us))
            by_words: dict[str, list[str]] = {}
            for passage_id, row in rows.items():
                if row.content is not None:
                    by_words.setdefault(one_line(row.content.text), []).append(passage_id)
            words = [one_line(piece.text) for piece in file.pieces]
            diff = difference(before, list(zip(keys, words, strict=True)), by_words)
            for version in overruled:
                other_ids = version.outline.numbers.keys() - set(diff.ids) - rows.keys()
                rows.update(self._rows_at(reader, sorted(other_ids), version.start_us))
                diff = diff._replace(closed=tuple(dict.fromkeys((*diff.closed, *rows))))
            if is_back or overruled:
                again = set(range(len(keys))).difference(diff.moved)
                diff = diff._replace(opened=tuple(sorted(again)))
            written_ids = [diff.ids[number] for number in diff.written]
            old_rows = self._rows_of(reader, written_ids if stored_document.versions else ())
            is_erased = {row.row.claim.object_id: row.erased for row in old_rows}
            closed = [passage_id for passage_id in diff.closed if passage_id in rows]
            ends = [rows[passage_id].row.claim.object_id for passage_id in closed]
            ends += self._claims_of(reader, closed, span_us)

        common = _common_fields(file.name, terms, span_us)
        # The id of each write is that of its object where this opens one, else that of a change.
        writes = {self._backend.ids(): _ending(object_id, common) for object_id in ends}
        for number in diff.written:
            passage_id = diff.ids[number]
            piece = file.pieces[number]
            # The titles above a passage find it as its words do.
            path = (file.outline.title, *file.outline.paths[piece.heading])
            reason = " > ".join(dict.fromkeys(filter(None, path))) or file.name
            fields: dict[str, Any] = {**common, "content": piece.text, "why_it_matters": reason}
            if passage_id not in is_erased:
                writes[passage_id] = Write(subject=about, object_type="retrieved_passage", **fields)
            elif not is_erased[passage_id]:
                # What comes back, or moves, is one history with what it was before.
                change = Write(op="correct", object_id=passage_id, **fields)
                writes[self._backend.ids()] = change

        entries = [
            OutlineEntry(passage_id, key, *piece[1:])
            for passage_id, key, piece in zip(diff.ids, keys, file.pieces, strict=True)
        ]
        outline = replace(file.outline, root=root, entries=tuple(entries))
        verb = "correct" if covering or overruled else "assert"
        head = Write(op=verb, subject=named, slot=SLOT, **common)
        return stored_document, diff, outline, (head_id, head), writes

    def _draft(self, file: _File, terms: Terms) -> _Version:
        """The writes of a file as a version, and the report of them."""
        now_us = self._backend.now_us()
        start_us = now_us if file.day_us is None else file.day_us
        stored_document, diff, outline, (head_id, head), writes = self._plan(file, terms, start_us)
        writer = DocumentWriter(self._backend, self.principal)
        drafts = writer.drafts(list(writes.values()), list(writes)) if writes else []
        flagged = sum(bool(draft.quarantine) for draft in drafts)
        if flagged > MOST_FLAGGED and not terms.accept_flagged:
            raise refusal(
                "injection_suspected",
                f"{flagged} passages of {file.name} look like injected instructions; look at them, "
                "then put it with accept_flagged",
            )

        claims: list[Draft] = []
        refused = 0
        if terms.claims != "off":
            passages: dict[str, str] = {}
            moved = {diff.ids[number] for number in diff.moved}
            for (object_id, write), draft in zip(writes.items(), drafts, strict=True):
                passage_id = write.object_id or object_id
                # What is in quarantine claims nothing until it is accepted.
                if write.content and not draft.quarantine and passage_id not in moved:
                    passages[passage_id] = write.content
            finder = ClaimFinder(self._backend, self.principal)
            claims, refused = finder.drafts(passages, head, terms.claims, drafts)

        value = replace(outline, flagged=flagged).to_value()
        drafts = [*writer.drafts([replace(head, value=value)], [head_id]), *drafts]
        is_correction = start_us in {version.start_us for version in stored_document.versions}
        outcome = "renamed" if file.former else "corrected" if is_correction else "changed"
        report = DocumentReport(
            document=stored_document.last.entity_id if stored_document.last else "",
            name=file.name,
            former=file.former,
            title=outline.title,
            outcome=outcome if stored_document.last else "new",
            effective=moment(start_us),
            dated=outline.dated,
            kept=diff.kept,
            opened=len(diff.opened),
            closed=len(diff.closed),
            moved=len(diff.moved),
            flagged=flagged,
            masked=file.masked,
            claims=len(claims),
            claims_refused=refused,
            dropped=dict(file.reading.dropped),
            warnings=(*file.warnings, *(("planned",) if start_us > now_us else ())),
            problems=file.reading.problems,
        )
        room = MOST_WRITES - len(drafts)
        return _Version(stored_document, [*drafts, *claims[:room]], report, claims[room:])

    def _new_root(self, reader: Reader, name: str, again: bool) -> tuple[str, str]:
        """What identifies a new document, and the id of the first outline under its name.

        Where an erased document had the name, or another one had it first, it is the name with a
        number, behind an empty part that no name has.

        Raises:
            Conflict: `erased`.
        """
        for number in count():
            first_id = keyed_id(self._backend.secret(self._tenant), "document", name, number)
            rows = self._rows_of(reader, [first_id])
            if not rows:
                return f"{name}//{number}" if number else name, first_id
            if all(row.erased for row in rows) and not again:
                raise Conflict(
                    f"{name} was erased; put it with again=True to take it in once more",
                    code="erased",
                )

        raise AssertionError("a number is free")

    def _keys(self, file: _File, root: str) -> tuple[str, ...]:
        titles = ["", *(plain_title(heading.title) for heading in file.outline.headings)]
        pairs = [(titles[piece.heading], piece.text) for piece in file.pieces]
        return passage_keys(root, self._backend.secret(self._tenant), pairs)


def _common_fields(name: str, terms: Terms, span_us: tuple[int, int]) -> dict[str, Any]:
    """The fields that all writes of a version share."""
    return {
        "source_origin": terms.origin or f"doc://{name}",
        "update_path": name,
        "layer": "corpus",
        "scope": terms.scope,
        "authority_level": terms.authority_level,
        "applicable_task_types": tuple(terms.task_types),
        **terms.readers,
        "valid_from": moment(span_us[0]) or "-infinity",
        "valid_until": moment(span_us[1]),
    }


def _ending(object_id: str, common: Mapping[str, Any]) -> Write:
    names = ("source_origin", "update_path", "valid_from", "valid_until")
    return Write(op="retract", object_id=object_id, **{name: common[name] for name in names})


def is_suspicious(text: str, policy: WritePolicy) -> bool:
    """Whether a title or a name from a file looks like an injected instruction."""
    return not (bears_no_sign(text) or is_unsuspected(text, TextChannel.DOCUMENT, policy))
