"""Auditor: histories, differences of belief and explanations.

Everything here reads rows that plain questions don't show, and so carries the caller's access
all the more: what may not be seen is left out, and its content never leaves the store.
Checklist: C-113.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ...compiler.trace.manifest import stored_manifest
from ...resolution.register import Register
from ...schema.answers import Change, Explanation, HistoryRow, Link, MentionView
from ...schema.claim import Assertion, Edge, Look, Row, Version
from ...schema.context_object import ContextObject
from ...schema.interval import INF_US, Interval
from ...schema.principal import AUDIT, Sight
from ...schema.values import micros, moment, stamp_time
from ...schema.vocabulary import ActionKind, EdgeKind, Op, Status
from ...schema.write import Moment
from ...store.commit.effects import action_id
from ...store.port.store import Ask, Point, Reader
from ...store.timeline.state import history_row, plain_value
from ..backend.caller import FAR_US, Caller, instant, unknown_object
from .context_objects import ObjectShaper, visible_object_ids, visible_rows
from .log import TransactionLog
from .masking import MASK, Mask
from .quarantine import quarantine_of
from .signatures import may_open
from .view import EntityLike, View, find, point_of, words_of


class Dossier(NamedTuple):
    """What was ever said of an entity."""

    history: Mapping[str, tuple[HistoryRow, ...]]
    """Every version, by slot."""
    envelopes: tuple[str, ...]
    """The ids of those that held any of it and that the caller may open, oldest first."""


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
            versions = visible_rows(self._mask.over(reader, page.versions))
            return self._rows_with_actors(reader, versions)

    def dossier(self, entity: EntityLike, slots: Iterable[str]) -> Dossier:
        """Every visible version of some slots of an entity, and who was given any of them."""
        access = self.principal.sight()
        # A slot without any row stands in the answer too, in the order that was asked for.
        rows_of: dict[str, list[Version]] = {slot: [] for slot in slots}
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
                history[slot] = self._rows_with_actors(reader, rows)
            envelopes = self._openable(reader, reader.envelopes_of(list(object_ids)))

        return Dossier(history, envelopes)

    def _rows_with_actors(
        self, reader: Reader, versions: Sequence[Version]
    ) -> tuple[HistoryRow, ...]:
        """Versions as rows of a history, each with who made it."""
        ordered = sorted(versions, key=_tx_order)
        actors = self._log.actors(reader, map(_tx_start, ordered))

        history: list[HistoryRow] = []
        for version in ordered:
            history.append(history_row(version, actors.get(version.row.tx_start, "")))
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
            roots = _roots(reader, versions, until_us)
            changes = sorted(_changes(versions, after_us, until_us, roots), key=_change_order)
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
            withdrawn = None if versions else self._withdrawn(reader, object_id, last_us)
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
            superseded=_links(edges, object_id, _WINS, out=True),
            superseded_by=_links(edges, object_id, _WINS, out=False),
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
        """The object that stands for one without a row, if it may be seen; else itself.

        What was confirmed stands for a confirmation, and what was taken back for the retraction.
        Where two came in one write, the first may be the one without a row.
        """
        assertion = reader.assertions([object_id]).get(object_id)
        if assertion is None or not assertion.is_visible(self.principal.sight()):
            return object_id

        standing_ids: list[str] = []
        takes_back = assertion.claim.op in (Op.RETRACT, Op.DELETE)
        for edge in reader.edges([object_id], tx_us=tx_us):
            # What a fact had displaced before it was itself taken back does not stand for it.
            is_told = edge.kind in _WINS and (takes_back or edge.dst == object_id)
            if is_told or edge.kind in _CONFIRMS:
                standing_ids.append(_far_end(edge, object_id))
        visible = visible_object_ids(self._rows_of(reader, standing_ids))
        return min(visible, default=object_id)

    def _withdrawn(self, reader: Reader, object_id: str, tx_us: int) -> Version | None:
        """A claim that the write which made it also took back, as a version that nobody believed.

        `object_id` is either of the two, and has no row; None where it may not be seen.
        """
        # Of a fact the edge that leads to it, of a retraction those that lead from it.
        reasons: dict[str, str] = {}
        for edge in reader.edges([object_id], tx_us=tx_us):
            if edge.kind in _WINS:
                reasons[edge.dst] = edge.reason
        claim_ids = [object_id] if object_id in reasons else sorted(reasons)
        for claim_id, assertion in sorted(reader.assertions(claim_ids).items()):
            if assertion.is_visible(self.principal.sight()):
                return _unbelieved(assertion, reasons[claim_id])
        return None

    def _unbelieved_object(self, reader: Reader, version: Version) -> ContextObject:
        point = Point(version.row.interval.start_us, reader.clock().last_us)
        return ObjectShaper(reader, [version], caller=self.principal, point=point)(version)

    def _visible_verdicts(self, reader: Reader, object_id: str) -> tuple[dict[str, Any], ...]:
        """What the write met, without the claims that the caller may not see."""
        verdicts: list[dict[str, Any]] = []
        for receipt in reader.receipts([object_id]):
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
            elif not self.principal.roles.isdisjoint(AUDIT.roles):
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


def _unbelieved(assertion: Assertion, reason: str) -> Version:
    """A claim as a version that ended when it began."""
    claim = assertion.claim
    row = Row(
        vid=0,
        claim=claim,
        interval=claim.interval,
        look=Look(Status.OVERRIDDEN, reason, head=False),
        tx_start=claim.tx,
        tx_end=claim.tx,
    )
    return Version(
        row=row,
        details=assertion.details,
        content=assertion.content,
        permissions=assertion.permissions,
        visible=True,
    )


def _open_question(versions: Iterable[Version]) -> str:
    """The action that asks what becomes of an object that is set apart; empty for any other."""
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


_WINS = frozenset({EdgeKind.SUPERSEDES, EdgeKind.OVERRIDES})
_TIES = frozenset({EdgeKind.CONFLICTS_WITH})
_CONFIRMS = frozenset({EdgeKind.CONFIRMS})
_DERIVES = frozenset({EdgeKind.DERIVED_FROM})


def _tx_start(version: Version) -> int:
    return version.row.tx_start


def _tx_order(version: Version) -> tuple[int, Interval, int]:
    row = version.row
    return row.tx_start, row.interval, row.vid


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
    links = reader.mentions([version.row.claim.object_id])
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


def _roots(reader: Reader, rows: Iterable[Version], tx_us: int) -> dict[str, str]:
    subjects = sorted({row.details.subject_id or "" for row in rows} - {""})
    register = Register(reader.entities(subjects, tx_us=tx_us))
    return {subject: register.root(subject) for subject in subjects}


def _changes(
    rows: Iterable[Version], after: int, until: int, roots: dict[str, str]
) -> Iterable[Change]:
    # A row that came and went within the span is told twice: both were changes.
    for version in rows:
        if after < version.row.tx_start <= until:
            yield _change("opened", version, version.row.tx_start, roots)
        if after < version.row.tx_end <= until:
            yield _change("closed", version, version.row.tx_end, roots)


def _change(kind: str, version: Version, tx: int, roots: dict[str, str]) -> Change:
    subject = version.details.subject_id
    return Change(
        kind=kind,
        entity=roots.get(subject) if subject else None,
        slot=version.details.slot,
        value=plain_value(version),
        valid_from=moment(version.row.interval.start_us),
        valid_until=moment(version.row.interval.end_us),
        status=version.row.look.status.value,
        object_id=version.row.claim.object_id,
        tx=stamp_time(tx),
    )


def _change_order(change: Change) -> tuple[Any, ...]:
    start = change.valid_from.isoformat() if change.valid_from else ""
    return change.tx, change.kind, change.object_id, start
