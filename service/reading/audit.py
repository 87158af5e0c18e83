"""Audit: the log of a tenant, histories, differences of belief, explanations and quarantine.

These reads show rows that ordinary questions hide, so all carry the caller's access: hidden content
never leaves the store. The log names objects by id; a hidden object has no sentence, and hides who
wrote it.

The store records that a text was quarantined, but not for which words. So the detectors scan it
again, and a reviewer sees today's findings. A text that the reader may not see whole is scanned as
the reader sees it, so no quote leaks. Checklist: C-113.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...compiler.safety.detect import TextChannel, scan
from ...compiler.trace.manifest import stored_manifest
from ...resolution.register import Register
from ...schema.answers import (
    AttackSign,
    Change,
    Explanation,
    HistoryRow,
    Link,
    LogEntry,
    MentionView,
    Quarantine,
)
from ...schema.claim import Edge, Version
from ...schema.context_object import ContextObject
from ...schema.entity import EntityRef
from ...schema.interval import INF_US, MIN_US
from ...schema.principal import AUDIT, Sight
from ...schema.values import micros, moment, stamp_time
from ...schema.vocabulary import ActionKind, EdgeKind, Op, Status
from ...schema.write import Moment
from ...store.commit.work import action_id
from ...store.port.store import Ask, Point, Reader, TxEvent
from ...store.port.tables import EVENTS, MENTIONS, RECEIPTS
from ...store.timeline.state import history_row, plain_value
from ..backend.caller import FAR_US, Caller, instant, unknown_object
from .actors import WRITES, ActorReader
from .entities import entity_views
from .envelopes import may_open
from .objects import (
    MASK,
    WINS,
    Mask,
    ObjectShaper,
    shown_value,
    values_as_said,
    visible_object_ids,
    visible_rows,
)
from .view import EntityLike, View, find, point_of, words_of

_SENTENCES: Final = 20
"""Of one transaction; a bulk import would fill screens."""

_TEXT_LIMIT: Final = 80

_VERBS: Final = {
    Op.ASSERT: "",
    Op.CORRECT: "corrected ",
    Op.RETRACT: "retracted ",
    Op.DELETE: "deleted ",
    Op.DENY: "denied ",
}

_REMEDY = (
    "it is not shown as a fact until a steward decides: tenure actions resolve {id} --accept "
    "accepts it, --reject rejects it (memory.actions.resolve with accept=True or False)"
)

_TIES = frozenset({EdgeKind.CONFLICTS_WITH})
_CONFIRMS = frozenset({EdgeKind.CONFIRMS})
_DERIVES = frozenset({EdgeKind.DERIVED_FROM})


@dataclass(frozen=True, slots=True)
class TransactionLog(ActorReader):
    """The audit log as one caller may read it."""

    def entries(
        self, since: Moment, until: Moment, entity: EntityLike | None, limit: int
    ) -> tuple[LogEntry, ...]:
        """The newest transactions in (since, until], newest first: the caller's own, or all."""
        after_us = MIN_US if since is None else instant(since, field="since")
        until_us = FAR_US if until is None else min(instant(until, field="until"), FAR_US)

        with self._reading() as reader:
            if entity is None:
                actor = None if self.principal.holds(AUDIT) else self._actor
                events = reader.events_in(after_us, until_us, actor=actor, limit=max(0, limit))
                return self._entries(reader, events)

            access = self.principal.sight()
            roots, register = find(reader, entity, access, reader.clock().last_us)
            members = register.members_of(roots)
            if not members:
                return ()
            events = self._events_about(reader, members, (after_us, until_us), max(0, limit))
            return self._entries(reader, events, about=members)

    def _events_about(
        self, reader: Reader, members: Collection[str], span: tuple[int, int], limit: int
    ) -> tuple[TxEvent, ...]:
        """The newest events that changed what is believed of an entity, newest first."""
        access = self.principal.sight()
        page = reader.changes(*span, sight=access, subjects=sorted(members))
        stamps: set[int] = set()
        for version in visible_rows(page.versions):
            stamps |= {version.row.tx_start, version.row.tx_end}

        # A row that was opened in the span may have been closed behind it, or be open still.
        stamps_within = sorted(stamp for stamp in stamps if span[0] < stamp <= span[1])
        events = reader.find(EVENTS, "tx", stamps_within)
        if not self.principal.holds(AUDIT):
            events = tuple(event for event in events if event.actor == self._actor)

        return tuple(reversed(events[-limit:]))

    def _entries(
        self, reader: Reader, events: Sequence[TxEvent], *, about: Collection[str] = ()
    ) -> tuple[LogEntry, ...]:
        """The entries of events; with raw ids of an entity, of what was said `about` it alone."""
        visible = self._visible_rows_by_object(reader, events)
        if about:
            # A transaction of many facts, such as of an import, is told as far as it is meant.
            visible = {
                object_id: rows
                for object_id, rows in visible.items()
                if rows[0].details.subject_id in about
            }
        names, own_names = self._entity_names(reader, events, visible)

        entries: list[LogEntry] = []
        for event in events:
            sentences = _sentences(event, visible, names, own_names)
            # Callers without a user share one name, so that what is hidden is not their own.
            if not sentences and self.principal.user is None and not self.principal.holds(AUDIT):
                continue
            entries.append(
                LogEntry(
                    tx=stamp_time(event.tx),
                    actor=event.actor,
                    op=event.op,
                    sentences=sentences,
                    objects=tuple(item for item in event.object_ids if item in visible),
                )
            )

        return tuple(entries)

    def _entity_names(
        self, reader: Reader, events: Sequence[TxEvent], visible: Mapping[str, list[Version]]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The names of subjects as they are called now, and of entities before they were merged.

        Both by raw id.
        """
        words = self._words_now()
        subjects: set[str] = set()
        operands: set[str] = set()
        for rows in visible.values():
            details = rows[0].details
            subjects |= {details.subject_id or ""} - {""}
            if details.slot is not None and words.slot(details.slot).relates:
                operands.add(str(plain_value(rows[0])))

        for event in events:
            if event.op not in WRITES:
                operands.update(event.object_ids)

        ids = sorted(subjects | operands)
        if not ids:
            return {}, {}

        tx_us = reader.clock().last_us
        known = reader.entities(ids, tx_us=tx_us)
        register = Register(known)
        roots = {raw_id: register.root(raw_id) for raw_id in ids}
        known_roots = [root for root in dict.fromkeys(roots.values()) if root in known.entities]
        views = entity_views(reader, known, known_roots, self.principal.sight(), tx_us)

        # The subject of a visible object may be named; any other entity by a visible name alone.
        nameable = set(map(register.root, subjects))
        by_root: dict[str, str] = {}
        for view in views:
            if view.aliases or view.entity_id in nameable:
                by_root[view.entity_id] = view.name

        names = {raw_id: by_root[root] for raw_id, root in roots.items() if root in by_root}

        # A merge of two must not read as one name said twice; only a name that may be read is told.
        aliases = {view.entity_id: view.aliases for view in views}
        own_names: dict[str, str] = {}
        for raw_id in names:
            own_name = known.entities[raw_id].name
            is_readable = own_name in aliases[roots[raw_id]]
            own_names[raw_id] = own_name if is_readable else names[raw_id]
        return names, own_names


def _sentences(
    event: TxEvent,
    visible: Mapping[str, list[Version]],
    names: Mapping[str, str],
    own_names: Mapping[str, str],
) -> tuple[str, ...]:
    sentences: list[str] = []
    for item in event.object_ids:
        if item in visible:
            version = visible[item][0]
            is_own = version.row.claim.object_id == item
            sentences.append(("" if is_own else "took back ") + _sentence(version, names))
        elif item in own_names:
            sentences.append(own_names[item])

    # One value for each of many terms reads alike: it is told once, with their number.
    lines: list[str] = []
    for sentence, count in Counter(sentences).items():
        lines.append(sentence if count == 1 else f"{sentence} ({count:,} times)")

    surplus = len(lines) - _SENTENCES
    if surplus > 0:
        lines[_SENTENCES:] = [f"and {surplus:,} more"]

    return tuple(lines)


def _sentence(version: Version, names: Mapping[str, str]) -> str:
    """What an object says, in a few words."""
    details, claim = version.details, version.row.claim
    subject = names.get(details.subject_id or "", "")
    verb = _VERBS[claim.op]

    if version.erased:
        return f"{subject}: (erased)".removeprefix(": ")
    if details.slot is None:
        text = " ".join((version.content.text if version.content else "").split())
        opening = text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 1] + "…"
        return f"{subject}: {verb}{opening}".removeprefix(": ")

    value = plain_value(version)
    slot = details.slot.replace("_", " ")
    shown_value = names.get(str(value), value)
    return f"{subject}: {verb}{slot}" + ("" if value is None else f" = {shown_value}")


def signs_of(item: ContextObject) -> tuple[AttackSign, ...]:
    """What the detectors see in the texts of an object today, phrases first; each sign once."""
    texts = (
        item.content,
        item.normalized_claim,
        item.why_it_matters,
        item.behavioral_implication,
    )
    # What is longer than its channel allows was refused, so the widest channel is asked: by the
    # limit of another, a long document would be called too long.
    findings = scan("\n".join(dict.fromkeys(filter(None, texts))), TextChannel.DOCUMENT)

    signs: list[AttackSign] = []
    for finding in findings:
        signs.append(AttackSign(attack=finding.attack, code=finding.code, detail=finding.detail))
    return tuple(signs)


def quarantine_of(item: ContextObject, action_id: str) -> Quarantine:
    """Why an object is quarantined; `action_id` is the entry of the queue that asks about it."""
    return Quarantine(
        reason=item.status_reason,
        signs=signs_of(item),
        action_id=action_id,
        remedy=_REMEDY.format(id=action_id),
    )


@dataclass(frozen=True, slots=True)
class Auditor(Caller):
    """The audit reads of one caller."""

    now: View

    @property
    def _mask(self) -> Mask:
        return Mask(self.principal, self._backend.policy)

    @property
    def _log(self) -> TransactionLog:
        return TransactionLog(self._backend, self.principal)

    def history(self, entity: EntityLike, slot: str) -> tuple[HistoryRow, ...]:
        """Every visible version of a slot, oldest transaction first."""
        words_of(self.now).slot(slot)
        access = self.principal.sight()
        with self._reading() as reader:
            members = _members(reader, entity, access, point_of(self.now).tx_us)
            if not members:
                return ()
            ask = Ask(subjects=members, slots=(slot,), heads=False, at_valid=False, at_tx=False)
            page = reader.versions(ask, sight=access, point=point_of(self.now))
            rows = page.versions
            versions = [*visible_rows(self._mask.over(reader, rows))]
            # What its own transaction took back has no row, and is history all the same.
            rowless = set(reader.objects_of(members))
            rowless -= {row.row.claim.object_id for row in rows}
            for object_id, version in self._log.find_withdrawn(reader, rowless).items():
                claim, details = version.row.claim, version.details
                is_here = details.slot == slot and details.subject_id in members
                if is_here and claim.object_id == object_id:
                    versions.append(version)
            return self._rows_with_actors(reader, versions)

    def dossier(
        self, entity: EntityLike
    ) -> tuple[Mapping[str, tuple[HistoryRow, ...]], tuple[str, ...]]:
        """Every visible version of an entity's facts by slot, and who was given any of them.

        The second part has the ids of envelopes that the caller may open, oldest first.
        """
        access = self.principal.sight()
        rows_of: dict[str, list[Version]] = {slot: [] for slot in words_of(self.now).slots}
        with self._reading() as reader:
            members = _members(reader, entity, access, point_of(self.now).tx_us)
            ask = Ask(
                subjects=members, slots=tuple(rows_of), heads=False, at_valid=False, at_tx=False
            )
            page = reader.versions(ask, sight=access, point=point_of(self.now))
            versions = visible_rows(self._mask.over(reader, page.versions))
            object_ids: dict[str, None] = {}
            for version in versions:
                object_ids[version.row.claim.object_id] = None
                if version.details.slot is not None:
                    rows_of[version.details.slot].append(version)

            history: dict[str, tuple[HistoryRow, ...]] = {}
            for slot, rows in rows_of.items():
                if rows:
                    history[slot] = self._rows_with_actors(reader, rows)
            envelopes = self._openable(reader, reader.envelopes_of(list(object_ids)))

        return history, envelopes

    def _rows_with_actors(
        self, reader: Reader, versions: Sequence[Version]
    ) -> tuple[HistoryRow, ...]:
        """Versions as rows of a history, each with who made it."""
        ordered = sorted(versions, key=lambda v: (v.row.tx_start, v.row.interval, v.row.vid))
        actors = self._log.actors(reader, [version.row.tx_start for version in ordered])

        values = values_as_said(reader, ordered, self.principal.sight())
        history: list[HistoryRow] = []
        for version in ordered:
            actor = actors.get(version.row.tx_start, "")
            history.append(history_row(version, shown_value(version, values), actor))
        return tuple(history)

    def diff(self, tx1: Moment, tx2: Moment, entity: EntityLike | None) -> tuple[Change, ...]:
        """The visible changes of belief in (tx1, tx2], in order of tx."""
        after_us, until_us = instant(tx1, field="tx1"), min(instant(tx2, field="tx2"), FAR_US)
        access = self.principal.sight()
        with self._reading() as reader:
            subjects: tuple[str, ...] = ()
            # Without subjects the store answers for the whole tenant, so that a name which means
            # nobody must end here.
            if entity is not None:
                known_at = min(until_us, point_of(self.now).tx_us)
                subjects = _members(reader, entity, access, known_at)
                if not subjects:
                    return ()
            page = reader.changes(after_us, until_us, sight=access, subjects=subjects)
            versions = self._mask.over(reader, page.versions)
            subject_ids = sorted({row.details.subject_id or "" for row in versions} - {""})
            register = Register(reader.entities(subject_ids, tx_us=until_us))
            values = values_as_said(reader, versions, access)
            unsorted_changes = _changes(versions, after_us, until_us, register, values)
            changes = sorted(unsorted_changes, key=_change_order)
            stamps = [micros(change.tx) for change in changes]
            actors = self._log.actors(reader, stamps)

        signed_changes: list[Change] = []
        for change, stamp in zip(changes, stamps, strict=True):
            signed_changes.append(replace(change, actor=actors[stamp]))
        return tuple(signed_changes)

    def explain(self, object_id: str) -> Explanation:
        """Everything that is known of an object.

        A write that said again what stood has no row of its own: its id leads to what stood, among
        whose confirmations it is. That of a retraction leads to what it took back, and that of what
        another line of the same write replaced to what replaced it. What the same write took back
        was never believed: it is told as a claim that was withdrawn when it was written.

        Raises:
            NotFound: `unknown_object`, also for what the caller may not see.
        """
        # The rows come first: they refuse a hidden object before anything else is read of it.
        with self._reading() as reader:
            last_us = reader.clock().last_us
            versions = self._rows_of(reader, [object_id])
            if not versions:
                object_id = self._standing(reader, object_id, last_us)
                versions = self._rows_of(reader, [object_id])
            # An object without a row: its write also took it back, so nobody believed it.
            withdrawn = (
                None if versions else self._log.find_withdrawn(reader, {object_id}).get(object_id)
            )
            visible_versions = [withdrawn] if withdrawn else visible_rows(versions)
            if not visible_versions:
                raise unknown_object(object_id)

            rows = self._mask.over(reader, visible_versions)
            object_id = rows[0].row.claim.object_id
            edges = self._visible_edges(reader, reader.edges([object_id], tx_us=last_us), object_id)
            verdicts = self._visible_verdicts(reader, object_id)
            envelopes = self._openable(reader, reader.envelopes_of([object_id]))
            mentions = _mentions(reader, rows[0], last_us)
            history = self._rows_with_actors(reader, rows)
            subject = self._unbelieved_object(reader, rows[0]) if withdrawn else None

        subject = subject or self.now.object(object_id)
        question_id = _open_question(rows)
        return Explanation(
            object=subject,
            rows=history,
            superseded=_links(edges, object_id, WINS, out=True),
            superseded_by=_links(edges, object_id, WINS, out=False),
            conflicts=_links(edges, object_id, _TIES, out=None),
            confirmations=_links(edges, object_id, _CONFIRMS, out=None),
            sources=_links(edges, object_id, _DERIVES, out=True),
            derived=_links(edges, object_id, _DERIVES, out=False),
            verdicts=verdicts,
            envelopes=envelopes,
            mentions=mentions,
            quarantine=quarantine_of(subject, question_id) if question_id else None,
        )

    def _standing(self, reader: Reader, object_id: str, tx_us: int) -> str:
        """The object that represents one without a row, if it may be seen; else itself.

        The confirmed object represents a confirmation, and the retracted one a retraction.
        Where two came in one write, the first may be the one without a row.
        """
        assertion = reader.assertions([object_id]).get(object_id)
        if assertion is None or not assertion.is_visible(self.principal.sight()):
            return object_id

        standing_ids: list[str] = []
        takes_back = assertion.claim.op in (Op.RETRACT, Op.DELETE)
        for edge in reader.edges([object_id], tx_us=tx_us):
            # What a fact had displaced before it was itself taken back does not stand for it.
            is_told = edge.kind in WINS and (takes_back or edge.dst == object_id)
            if is_told or edge.kind in _CONFIRMS:
                standing_ids.append(_far_end(edge, object_id))
        visible = visible_object_ids(self._rows_of(reader, standing_ids))
        return min(visible, default=object_id)

    def _unbelieved_object(self, reader: Reader, version: Version) -> ContextObject:
        point = Point(version.row.interval.start_us, reader.clock().last_us)
        return ObjectShaper(reader, [version], caller=self.principal, point=point)(version)

    def _visible_verdicts(self, reader: Reader, object_id: str) -> tuple[dict[str, Any], ...]:
        """What the write met, without the claims that the caller may not see."""
        verdicts: list[dict[str, Any]] = []
        for receipt in reader.find(RECEIPTS, "object_id", [object_id]):
            verdicts += _verdicts(receipt.body)

        rival_ids = sorted({verdict["object_id"] for verdict in verdicts})
        visible = visible_object_ids(self._rows_of(reader, rival_ids))

        return tuple(verdict for verdict in verdicts if verdict["object_id"] in visible)

    def _openable(self, reader: Reader, envelope_ids: Sequence[str]) -> tuple[str, ...]:
        """The envelopes that the caller may open; of an erased one only an auditor learns."""
        openable: list[str] = []
        for envelope_id in envelope_ids:
            text = reader.manifest(envelope_id)
            if text:
                if may_open(self.principal, stored_manifest(text)):
                    openable.append(envelope_id)
            elif self.principal.holds(AUDIT):
                openable.append(envelope_id)

        return tuple(openable)

    def _visible_edges(
        self, reader: Reader, edges: Iterable[Edge], object_id: str
    ) -> tuple[Edge, ...]:
        """Leave out edges whose other end the caller may not see."""
        edges_by_end: dict[str, list[Edge]] = {}
        for edge in edges:
            edges_by_end.setdefault(_far_end(edge, object_id), []).append(edge)

        rows = self._rows_of(reader, sorted(edges_by_end))
        hidden_ends = {row.row.claim.object_id for row in rows} - visible_object_ids(rows)

        # An operation such as a merge has an id and no row; it hides nothing.
        visible_edges: list[Edge] = []
        for end, edges_of_end in edges_by_end.items():
            if end not in hidden_ends:
                visible_edges += edges_of_end
        return tuple(visible_edges)


def _open_question(versions: Iterable[Version]) -> str:
    """The action that asks what becomes of an object that is quarantined; empty for any other."""
    for version in versions:
        row = version.row
        is_open = row.look.status is Status.QUARANTINED and row.tx_end == INF_US
        if is_open and not version.erased:
            claim = row.claim
            return action_id(claim.object_id, ActionKind.REVIEW_QUARANTINE, claim.interval)
    return ""


def _far_end(edge: Edge, object_id: str) -> str:
    return edge.dst if edge.src == object_id else edge.src


def _members(reader: Reader, entity: EntityLike, access: Sight, tx_us: int) -> tuple[str, ...]:
    """The raw ids of the entities that a name may mean, sorted."""
    roots, register = find(reader, entity, access, tx_us)
    return tuple(sorted(register.members_of(roots)))


def _links(
    edges: Iterable[Edge], object_id: str, kinds: frozenset[EdgeKind], *, out: bool | None
) -> tuple[Link, ...]:
    links: list[Link] = []
    for edge in edges:
        outgoing = edge.src == object_id
        if edge.kind in kinds and (out is None or outgoing is out):
            links.append(_link(edge, _far_end(edge, object_id)))

    return tuple(sorted(links, key=lambda link: (link.tx, link.object_id, link.kind)))


def _link(edge: Edge, object_id: str) -> Link:
    return Link(
        kind=edge.kind.value,
        object_id=object_id,
        reason=edge.reason,
        relation=edge.relation,
        valid_from=moment(edge.interval.start_us),
        valid_until=moment(edge.interval.end_us),
        tx=stamp_time(edge.tx),
        merge_id=edge.merge_id,
    )


def _mentions(reader: Reader, version: Version, tx_us: int) -> tuple[MentionView, ...]:
    links = reader.find(MENTIONS, "object_id", [version.row.claim.object_id])
    if not links:
        return ()

    entity_ids = sorted({link.entity_id for link in links})
    register = Register(reader.entities(entity_ids, tx_us=tx_us))
    text = version.content.text if version.content else ""
    # The places are those of the text that was masked: cut out of the mask they would be nonsense,
    # and whom it names is part of what is hidden.
    if text == MASK:
        return ()

    mentions: list[MentionView] = []
    for link in links:
        surface = text[link.start : link.end]
        root = register.root(link.entity_id)
        mentions.append(MentionView(start=link.start, end=link.end, surface=surface, entity=root))

    return tuple(mentions)


def _verdicts(body: str) -> list[dict[str, Any]]:
    # The receipt of an erased write is kept without its words.
    if not body:
        return []

    # A receipt keeps a relation by position, and these four come first.
    names = ("object_id", "relation", "verdict", "reason")
    verdicts: list[dict[str, Any]] = []
    for relation in json.loads(body)["relations"]:
        verdicts.append(dict(zip(names, relation[:4], strict=True)))
    return verdicts


def _changes(
    rows: Iterable[Version],
    after: int,
    until: int,
    register: Register,
    values: Mapping[str, EntityRef],
) -> Iterable[Change]:
    # A row that came and went within the span is told twice: both were changes.
    for version in rows:
        value = shown_value(version, values)
        if after < version.row.tx_start <= until:
            yield _change("opened", version, version.row.tx_start, value, register)
        if after < version.row.tx_end <= until:
            yield _change("closed", version, version.row.tx_end, value, register)


def _change(kind: str, version: Version, tx: int, value: Any, register: Register) -> Change:
    subject = version.details.subject_id
    return Change(
        kind=kind,
        entity=register.root(subject) if subject else None,
        slot=version.details.slot,
        value=value,
        valid_from=moment(version.row.interval.start_us),
        valid_until=moment(version.row.interval.end_us),
        status=version.row.look.status.value,
        object_id=version.row.claim.object_id,
        tx=stamp_time(tx),
    )


def _change_order(change: Change) -> tuple[Any, ...]:
    start = change.valid_from.isoformat() if change.valid_from else ""
    return change.tx, change.kind, change.object_id, start
