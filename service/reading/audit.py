"""Auditing: histories, differences of belief and explanations.

Everything here reads rows that plain questions don't show, and so carries the caller's sight
all the more: what may not be seen is left out, and its content never leaves the store.
Sources: API "Reading"; settled 7; checklist C-113.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...resolution.register import Register
from ...schema.answers import Change, Explanation, HistoryRow, Link, MentionView
from ...schema.claim import Edge, Version
from ...schema.errors import NotFound
from ...schema.interval import INF_US
from ...schema.principal import Principal
from ...schema.values import moment, stamped
from ...schema.vocabulary import EdgeKind
from ...schema.write import Moment
from ...store.port.store import Ask, Point, Reader
from ...store.timeline.state import history_row, plain_value
from ..backend.backend import Backend
from ..backend.times import instant
from .view import View, Who, find

_FAR = INF_US - 1


@dataclass(frozen=True, slots=True)
class Auditing:
    """The audit reads of one caller."""

    backend: Backend
    principal: Principal
    now: View

    def history(self, entity: Who, slot: str) -> tuple[HistoryRow, ...]:
        """Return every visible version of a slot, oldest transaction first."""
        self.backend.vocabulary(self.principal.tenant).slot(slot)
        sight = self.principal.sight()
        with self.backend.store.reading(self.principal.tenant) as reader:
            found, known = find(reader, entity, sight, self.now.point.tx_us)
            members = {m for root in found for m in known.members(root)}
            if not members:
                return ()
            ask = Ask(
                subjects=tuple(sorted(members)),
                slots=(slot,),
                heads=False,
                at_valid=False,
                at_tx=False,
            )
            versions = reader.versions(ask, sight=sight, point=self.now.point).versions
        return tuple(history_row(v) for v in _by_tx(versions) if v.visible)

    def diff(self, tx1: Moment, tx2: Moment, entity: Who | None) -> tuple[Change, ...]:
        """Return the visible changes of belief in (tx1, tx2], in order of tx."""
        after, until = instant(tx1, what="tx1"), min(instant(tx2, what="tx2"), _FAR)
        sight = self.principal.sight()
        with self.backend.store.reading(self.principal.tenant) as reader:
            subjects: tuple[str, ...] = ()
            if entity is not None:
                found, known = find(reader, entity, sight, min(until, self.now.point.tx_us))
                subjects = tuple(sorted({m for root in found for m in known.members(root)}))
                if not subjects:
                    return ()
            rows = reader.changes(after, until, sight=sight, subjects=subjects).versions
            roots = _roots(reader, rows, until)
        return tuple(sorted(_changes(rows, after, until, roots), key=_change_order))

    def explain(self, object_id: str) -> Explanation:
        """Return everything that is known of an object."""
        sight = self.principal.sight()
        with self.backend.store.reading(self.principal.tenant) as reader:
            last = reader.clock().last_us
            ask = Ask(objects=(object_id,), heads=False, at_valid=False, at_tx=False)
            found = reader.versions(ask, sight=sight, point=Point(_FAR, last)).versions
            rows = [v for v in found if v.visible]
            if not rows:
                raise NotFound(
                    f"there is no object {object_id}; take the id from a receipt or a search",
                    code="unknown_object",
                )
            edges = self._seen(reader, reader.edges([object_id], tx_us=last), object_id)
            receipts = reader.receipts([object_id])
            envelopes = reader.envelopes_of(object_id)
            mentions = _mentions(reader, rows[0], last)
        return Explanation(
            object=self.now.object(object_id),
            rows=tuple(history_row(v) for v in _by_tx(rows)),
            superseded=_links(edges, object_id, _WINS, out=True),
            superseded_by=_links(edges, object_id, _WINS, out=False),
            conflicts=_links(edges, object_id, _TIES, out=None),
            confirmations=_links(edges, object_id, _CONFIRMS, out=None),
            sources=_links(edges, object_id, _DERIVES, out=True),
            derived=_links(edges, object_id, _DERIVES, out=False),
            verdicts=tuple(v for r in receipts for v in _verdicts(r.body)),
            envelopes=envelopes,
            mentions=mentions,
        )

    def _seen(self, reader: Reader, edges: Iterable[Edge], object_id: str) -> tuple[Edge, ...]:
        """Leave out edges whose other end the caller may not see."""
        held = tuple(edges)
        others = sorted({e.src if e.dst == object_id else e.dst for e in held})
        if not others:
            return ()
        ask = Ask(objects=tuple(others), heads=False, at_valid=False, at_tx=False)
        point = Point(_FAR, reader.clock().last_us)
        found = reader.versions(ask, sight=self.principal.sight(), point=point).versions
        rowless = set(others) - {v.row.claim.object_id for v in found}
        seen = {v.row.claim.object_id for v in found if v.visible} | rowless
        return tuple(e for e in held if (e.src if e.dst == object_id else e.dst) in seen)


_WINS = frozenset({EdgeKind.SUPERSEDES, EdgeKind.OVERRIDES})
_TIES = frozenset({EdgeKind.CONFLICTS_WITH})
_CONFIRMS = frozenset({EdgeKind.CONFIRMS})
_DERIVES = frozenset({EdgeKind.DERIVED_FROM})


def _by_tx(versions: Iterable[Version]) -> list[Version]:
    return sorted(versions, key=lambda v: (v.row.tx_start, v.row.interval, v.row.vid))


def _links(
    edges: Iterable[Edge], object_id: str, kinds: frozenset[EdgeKind], *, out: bool | None
) -> tuple[Link, ...]:
    found = [
        _link(e, e.dst if e.src == object_id else e.src)
        for e in edges
        if e.kind in kinds and (out is None or (e.src == object_id) is out)
    ]
    return tuple(sorted(found, key=lambda link: (link.tx, link.object_id, link.kind)))


def _link(edge: Edge, other: str) -> Link:
    return Link(
        kind=edge.kind.value,
        object_id=other,
        reason=edge.reason,
        relation=edge.relation,
        valid_from=moment(edge.interval.start_us),
        valid_until=moment(edge.interval.end_us),
        tx=stamped(edge.tx),
        merge_id=edge.merge_id,
    )


def _mentions(reader: Reader, version: Version, tx_us: int) -> tuple[MentionView, ...]:
    links = reader.mentions([version.row.claim.object_id])
    raw = sorted({link.entity_id for link in links})
    known = Register(reader.entities(raw, tx_us=tx_us)) if raw else None
    text = version.content.text if version.content else ""
    return tuple(
        MentionView(
            start=link.start,
            end=link.end,
            surface=text[link.start : link.end],
            entity=known.root(link.entity_id),
        )
        for link in links
        if known
    )


def _verdicts(body: str) -> list[dict[str, Any]]:
    names = ("object_id", "relation", "verdict", "reason")
    return [dict(zip(names, held[:4], strict=True)) for held in json.loads(body)["relations"]]


def _roots(reader: Reader, rows: Iterable[Version], tx_us: int) -> dict[str, str]:
    raw = sorted({v.details.subject_id for v in rows if v.details.subject_id})
    known = Register(reader.entities(raw, tx_us=tx_us))
    return {e: known.root(e) for e in raw}


def _changes(
    rows: Iterable[Version], after: int, until: int, roots: dict[str, str]
) -> Iterable[Change]:
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
        tx=stamped(tx),
    )


def _change_order(change: Change) -> tuple[Any, ...]:
    start = change.valid_from.isoformat() if change.valid_from else ""
    return change.tx, change.kind, change.object_id, start
