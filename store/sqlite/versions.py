"""Reading versions: which rows, who may see them, and what they say.

A read first finds light lines (times, look, permission set, flags), then the bodies of their
claims, from the cache where it has them. Lines that the sight does not permit are counted;
`versions` alone returns them, veiled: their content is never selected.

A point read of a slot is a race between two index orders, because none is depth-proof: a
window of the newest valid times, a window of the newest stamps, both again and larger, then
the plain range. It may stop at the first clean head, which excludes all others, unless the
slot holds several values or the head is a tie or a denial; then the deciding set is read.
At the last stamp the open heads alone are asked.

Sources: bitemporal 8 (deep slots); settled 1, 3 and 4; DESIGN 10.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from ...schema.claim import Permissions, Row, Version
from ...schema.interval import INF_US, Interval
from ...schema.principal import Sight
from ...schema.vocabulary import Status
from ..port.store import Ask, Clock, Found, Point, Related
from ..search.term_weights import common, weight
from . import codec
from .caches import Caches
from .codec import Body, Line
from .sql import core as sql

_WINDOWS: Final = (32, 160)
"""Rows looked at in one order before the other is tried: measured in bitemporal 8."""
_CHUNK: Final = 512
"""Claims whose rows are looked up together while a search is cut."""
_CLEAN: Final = Status.CLEAN.value


class _Slots(NamedTuple):
    """The slots an ask names, those of other scopes apart."""

    own: list[tuple[int, bool]]
    foreign: list[int]


class Timelines:
    """The version reads of one snapshot."""

    def __init__(
        self, db: sqlite3.Connection, caches: Caches, *, clock: Clock, erasures: int, permits: int
    ) -> None:
        self._db = db
        self._caches = caches
        self._clock = clock
        self._bodies = caches.bodies(erasures)
        self._permits = permits
        self._seen: dict[Sight, str] = {}
        self._last_scopes: tuple[Sight | None, str] = None, "[]"

    def versions(self, ask: Ask, *, sight: Sight, point: Point) -> Found:
        """Return the versions of an ask; those that permissions hide are veiled."""
        if ask.objects or ask.sources:
            return self._of_objects(ask, sight, point)
        slots = self._slots(ask, sight)
        bound = self._bound(sight, point)
        case = (ask.heads, ask.at_valid, ask.at_tx, self._now(point))
        if ask.heads and ask.at_valid and ask.at_tx and ask.subjects and ask.slots:
            lines = self._deciding(slots.own, bound, point)
        else:
            own = codec.listed(slot_id for slot_id, _ in slots.own)
            lines = self._db.execute(sql.OF_SLOTS[case], {**bound, "slots": own}).fetchall()
        foreign = 0
        if slots.foreign:
            bound["slots"] = codec.listed(slots.foreign)
            foreign = self._db.execute(sql.COUNT_OF_SLOTS[case], bound).fetchone()[0]
        return self._all(lines, point.tx_us, foreign)

    def matching(self, terms: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return heads whose claim shares a term, the most telling first, then the newest."""
        now = self._now(point)
        asked = self._telling(terms, limit, now=now)
        hits = self._hits(asked, now=now)
        bound = self._bound(sight, point)
        lines: list[Line] = []
        withheld = 0
        # one more than the limit tells whether anything was cut
        size = min(limit + 1, _CHUNK)
        while len(lines) <= limit and (chunk := [hit[0] for hit in islice(hits, size)]):
            place = {claim_id: i for i, claim_id in enumerate(chunk)}
            found = self._of_claims(chunk, bound, point)
            for line in sorted(found, key=lambda line: (place[line[1]], line[0])):
                if line[11]:
                    lines.append(line)
                elif len(lines) <= limit:
                    withheld += 1
        hits.close()
        kept = lines[:limit]
        return Found(tuple(self._built(kept, point.tx_us)), withheld, len(lines) > limit)

    def _hits(self, asked: Mapping[str, int], *, now: bool) -> sqlite3.Cursor:
        if len(asked) == 1:  # in the index's own order, so that a common term can stop early
            return self._db.execute(sql.MATCH_LIVE if now else sql.MATCH_ALL, tuple(asked))
        search = sql.MATCHES_LIVE if now else sql.MATCHES_ALL
        return self._db.execute(search, (json.dumps(asked),))

    def _telling(self, terms: Sequence[str], limit: int, *, now: bool) -> dict[str, int]:
        """Return the terms that propose with their weights; the first where all are common."""
        count, most = sql.COUNT_LIVE if now else sql.COUNT_ALL, common(limit)
        spread = {
            term: self._db.execute(count, (term, most + 1)).fetchone()[0]
            for term in (f'"{t}"' for t in dict.fromkeys(terms) if _searchable(t))
        }
        telling = {term: weight(held, most) for term, held in spread.items() if 0 < held <= most}
        return telling or dict.fromkeys(sorted(spread)[:1], 1)

    def standing(self, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Found:
        """Return the heads a compile fetches with no query."""
        within = [scope for scope in scopes if scope in sight.scopes]
        asked = {"sight": codec.listed(sight.scopes), "scopes": codec.listed(within)}
        claims = [line[0] for line in self._db.execute(sql.STANDING, asked)]
        return self._visible(self._of_claims(claims, self._bound(sight, point), point), point.tx_us)

    def around(self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int) -> Found:
        """Return clean heads about, pointing at or naming entities, the strongest of each."""
        bound = self._bound(sight, point)
        now = self._now(point)
        statements = sql.NEAR_NOW if now else sql.NEAR
        named = sql.NAMED_NOW if now else sql.NAMED
        kept: set[int] = set()
        hidden: set[int] = set()
        cut = False
        for entity_id in dict.fromkeys(entity_ids):
            bound["entity"] = entity_id
            near = {
                line[0]: (line[4], (0, *line[1:4], line[0]))
                for statement in statements
                for line in self._db.execute(statement, bound)
            }
            for line in self._db.execute(named, bound):
                near.setdefault(line[0], (line[4], (1, *line[1:4], -line[0])))
            visible = [(place, vid) for vid, (seen, place) in near.items() if seen]
            hidden.update(vid for vid, (seen, _) in near.items() if not seen)
            kept.update(vid for _, vid in heapq.nsmallest(limit, visible))
            cut = cut or len(visible) > limit
        lines = self._of_vids(kept, bound)
        return Found(tuple(self._built(lines, point.tx_us)), len(hidden), cut)

    def relations(
        self, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
    ) -> Related:
        """Return what relates entities to others by its raw ends; hubs are named apart."""
        statements = sql.RELATED_NOW if self._now(point) else sql.RELATED
        bound = self._bound(sight, point) | {"most": limit + 1}
        found: set[tuple[str, str]] = set()
        hubs: set[str] = set()
        for entity_id in dict.fromkeys(entity_ids):
            bound["entity"] = entity_id
            ends = {
                (subject, value)
                for statement in statements
                for subject, value in self._db.execute(statement, bound)
            }
            if len(ends) > limit:
                hubs.add(entity_id)
            else:
                found |= ends
        return Related(tuple(sorted(found)), tuple(sorted(hubs)))

    def changes(
        self, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str]
    ) -> Found:
        """Return rows opened or closed in (after, until]."""
        bound = self._bound(sight, Point(0, until_us)) | {"after": after_us}
        statements = (sql.BEGAN, sql.ENDED)
        if subjects:
            bound["subjects"] = codec.listed(subjects)
            statements = (sql.BEGAN_OF, sql.ENDED_OF)
        lines = {
            line[0]: line for statement in statements for line in self._db.execute(statement, bound)
        }
        return self._visible(lines.values(), until_us)

    def decaying(self, *, point: Point) -> tuple[Version, ...]:
        """Return the clean heads that have a decay rule, whoever may see them."""
        bound = self._bound(None, point)
        claims = [line[0] for line in self._db.execute(sql.DECAYING)]
        lines = (line for line in self._of_claims(claims, bound, point) if line[6] == _CLEAN)
        return tuple(self._built(sorted(lines), point.tx_us))

    # --- which lines

    def _now(self, point: Point) -> bool:
        """Tell whether the pin is the last stamp, so that open rows answer (settled 1)."""
        return point.tx_us >= self._clock.last_us

    def _slots(self, ask: Ask, sight: Sight) -> _Slots:
        bound = {
            "scopes": self._scopes(sight),
            "subjects": codec.listed(ask.subjects),
            "names": codec.listed(ask.slots),
            "keys": codec.listed(ask.keys),
        }
        if ask.keys:
            statement = sql.SLOT_IDS_OF_KEYS
        elif ask.subjects:
            statement = sql.SLOT_IDS_OF_PAIRS if ask.slots else sql.SLOT_IDS_OF_SUBJECTS
        else:
            statement = sql.SLOT_IDS_OF_NAMES if ask.slots else sql.SLOT_IDS
        found = self._db.execute(statement, bound).fetchall()
        return _Slots(
            [(slot_id, bool(many)) for slot_id, many, own in found if own],
            [slot_id for slot_id, _, own in found if not own],
        )

    def _scopes(self, sight: Sight) -> str:
        if self._last_scopes[0] is not sight:
            self._last_scopes = sight, codec.listed(sight.scopes)
        return self._last_scopes[1]

    def _deciding(
        self, slots: Iterable[tuple[int, bool]], bound: dict[str, object], point: Point
    ) -> list[Line]:
        now = self._now(point)
        lines: list[Line] = []
        for slot_id, many in slots:
            asked: dict[str, object] = {"slot": slot_id, "valid": point.valid_us, "tx": point.tx_us}
            for vid in self._race(asked, many=many, now=now):
                bound["vid"] = vid
                lines += self._db.execute(sql.OF_VID, bound)
        return lines

    def _race(self, asked: dict[str, object], *, many: bool, now: bool) -> list[int]:
        if not many:
            orders = (sql.WINDOW_OPEN,) if now else (sql.WINDOW_VALID, sql.WINDOW_TX)
            for rows in _WINDOWS:
                asked["rows"] = rows
                for order in orders:
                    first = self._db.execute(order, asked).fetchone()
                    if first is not None:
                        vid, status, deny = first
                        if status == _CLEAN and not deny:
                            return [vid]
                        return self._range(asked, now=now)
        return self._range(asked, now=now)

    def _range(self, asked: dict[str, object], *, now: bool) -> list[int]:
        statement = sql.RANGE_OPEN if now else sql.RANGE
        return [line[0] for line in self._db.execute(statement, asked)]

    def _of_objects(self, ask: Ask, sight: Sight, point: Point) -> Found:
        which = sql.CLAIM_IDS if ask.objects else sql.DERIVED_CLAIM_IDS
        found = self._db.execute(which, (codec.listed(dict.fromkeys(ask.objects or ask.sources)),))
        claims = [line[0] for line in found]
        case = (ask.heads, ask.at_valid, ask.at_tx, self._now(point))
        bound = self._bound(sight, point) | {"claims": codec.listed(claims)}
        lines = self._db.execute(sql.OF_CLAIMS[case], bound).fetchall()
        hidden = dict.fromkeys(line[1] for line in lines if not line[11])
        bodies = self._veiled(hidden) if hidden else {}
        # what may be seen is built below anyway, and kept
        bodies |= self._bodies_of(dict.fromkeys(line[1] for line in lines if line[11]))
        asked, foreign = set(ask.slots), 0
        own: list[Line] = []
        for line in lines:
            details = bodies[line[1]].details
            if ask.subjects and details.subject_id not in ask.subjects:
                continue
            if asked and details.slot not in asked:
                continue
            if details.scope.scope_id in sight.scopes:
                own.append(line)
            else:
                foreign += 1
        return self._all(own, point.tx_us, foreign)

    def _of_claims(
        self, claims: Sequence[int], bound: Mapping[str, object], point: Point
    ) -> list[Line]:
        """Return the heads of claims at a point."""
        statement = sql.OF_CLAIMS[True, True, True, self._now(point)]
        return self._db.execute(statement, {**bound, "claims": codec.listed(claims)}).fetchall()

    def _of_vids(self, vids: Iterable[int], bound: Mapping[str, object]) -> list[Line]:
        asked = {**bound, "vids": codec.listed(sorted(vids))}
        return self._db.execute(sql.OF_VIDS, asked).fetchall()

    def _bound(self, sight: Sight | None, point: Point) -> dict[str, object]:
        return {
            "permits": self._every_permit() if sight is None else self._visible_permits(sight),
            "valid": point.valid_us,
            "tx": point.tx_us,
        }

    # --- who may see them

    def _every_permit(self) -> str:
        return codec.listed(range(1, self._permits + 1))

    def _visible_permits(self, sight: Sight) -> str:
        """Return the numbers of the permission sets a sight may see, as JSON.

        Sets are only ever added, so what an earlier snapshot found is extended.
        """
        found = self._seen.get(sight)
        if found is not None:
            return found
        after, kept = self._caches.sights.get(sight) or (0, "[]")
        if after < self._permits:
            asked = {
                "scopes": codec.listed(sight.scopes),
                "tags": codec.listed(sight.tags),
                "clearance": sight.clearance,
                "after": after,
            }
            new = [line[0] for line in self._db.execute(sql.VISIBLE_PERMITS, asked)]
            kept = codec.listed([*json.loads(kept), *new])
            self._caches.sights.put(sight, (self._permits, kept))
        self._seen[sight] = kept
        return kept

    def _permissions(self, permit_id: int) -> Permissions:
        known = self._caches.permits
        if permit_id not in known:
            for line in self._db.execute(sql.PERMITS, (max(known, default=0),)):
                known[line[0]] = line[1], codec.permissions(line[2:5])
        return known[permit_id][1]

    # --- what they say

    def _visible(self, lines: Iterable[Line], tx_us: int) -> Found:
        """Return what may be seen, and count the rest."""
        found = sorted(lines)
        shown = [line for line in found if line[11]]
        return Found(tuple(self._built(shown, tx_us)), len(found) - len(shown))

    def _all(self, lines: Sequence[Line], tx_us: int, foreign: int) -> Found:
        """Return every line, what may not be seen veiled."""
        hidden = [line for line in lines if not line[11]]
        veiled = self._veiled(dict.fromkeys(line[1] for line in hidden)) if hidden else {}
        shown = self._built((line for line in lines if line[11]), tx_us)
        kept = [*shown, *(self._version(line, veiled[line[1]], tx_us) for line in hidden)]
        if len(kept) > 1:
            kept.sort(key=lambda version: version.row.vid)
        return Found(tuple(kept), len(hidden) + foreign)

    def _built(self, lines: Iterable[Line], tx_us: int) -> Iterator[Version]:
        lines = list(lines)
        bodies = self._bodies_of(dict.fromkeys(line[1] for line in lines))
        return (self._version(line, bodies[line[1]], tx_us) for line in lines)

    def _bodies_of(self, claims: Iterable[int]) -> dict[int, Body]:
        found: dict[int, Body] = {}
        missing: list[int] = []
        for claim_id in claims:
            kept = self._bodies.get(claim_id)
            if kept is None:
                missing.append(claim_id)
            else:
                found[claim_id] = kept
        if missing:
            one = len(missing) == 1
            asked = missing[0] if one else codec.listed(missing)
            for line in self._db.execute(sql.BODY if one else sql.BODIES, (asked,)):
                whole = codec.body(line)
                self._bodies.put(line[0], whole)
                found[line[0]] = whole
        return found

    def _veiled(self, claims: Iterable[int]) -> dict[int, Body]:
        lines = self._db.execute(sql.VEILED_BODIES, (codec.listed(claims),))
        return {line[0]: codec.veiled_body(line) for line in lines}

    def _version(self, line: Line, whole: Body, tx_us: int) -> Version:
        (vid, _, start, until, tx_start, tx_end, status, reason, head, continues, permit_id, seen,
         confirmed, flags) = line  # fmt: skip
        marks = flags.split() if flags else ()
        return Version(
            row=Row(
                vid,
                whole.claim,
                Interval(start, until),
                codec.look(status, reason, head),
                tx_start,
                INF_US if tx_end > tx_us else tx_end,
                continues,
            ),
            details=whole.details,
            content=whole.content,
            permissions=self._permissions(permit_id),
            visible=bool(seen),
            erased=whole.erased,
            last_confirmed_us=confirmed,
            demoted="demoted" in marks,
            stale="stale" in marks,
            confirm_due="confirm_due" in marks,
            signature=whole.signature,
        )


def _searchable(term: str) -> bool:
    """Tell whether a text can be a term: the index splits at ASCII signs and white space."""
    return bool(term) and "\x00" not in term and all(not c.isascii() or c.isalnum() for c in term)
