"""Reading versions: which rows, who may see them, and what they say.

Each read is one statement, the text search two. The server filters by scope, permissions and
both times; a row that the caller may not see comes back veiled (`versions`) or as a count, and
its content never leaves the server.

The text index proposes: every asked term scores a constant one, so the score *is* the number of
shared terms, and the order is exact. It is asked for a limited number of hits first; where the
cut falls inside a group of equal scores that may still be needed, it is asked without limit.
The index of live claims answers for the last stamp only, and only while no write came between.

Sources: neo4j 5 and 8; settled 1, 4 and 8; DESIGN 10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, LiteralString, NamedTuple

from ...schema.claim import Version
from ...schema.interval import INF_US, MIN_US
from ...schema.principal import Sight
from ..port import Ask, Found, Point
from . import codec
from . import statements as cypher
from .calls import Reads

_CLAUSES: Final = 512
"""Terms of one search: Lucene takes 1,024 clauses."""
_PROPOSALS: Final = 4
"""How many hits are asked for, times the limit, before all are."""
_ALL_HITS: Final = 2_000_000_000


def versions(calls: Reads, ask: Ask, *, sight: Sight, point: Point) -> Found:
    """Return the versions of an ask; those that permissions hide are veiled."""
    bound = {
        "subjects": list(dict.fromkeys(ask.subjects)),
        "names": list(dict.fromkeys(ask.slots)),
        "heads": ask.heads,
        "tx": point.tx_us,
        "after": point.tx_us if ask.at_tx else MIN_US,
        "from_max": point.valid_us if ask.at_valid else INF_US,
        "until_min": point.valid_us if ask.at_valid else MIN_US,
        **_sight(sight),
    }
    if ask.objects:
        objects = list(dict.fromkeys(ask.objects))
        records = calls.rows(cypher.OF_OBJECTS, objects=objects, **bound)
    else:
        records = calls.rows(_TEXT[bool(ask.subjects), bool(ask.slots)], **bound)
    return _all(records, sight, point.tx_us)


_TEXT: Final[Mapping[tuple[bool, bool], LiteralString]] = {
    (True, True): cypher.OF_PAIRS,
    (True, False): cypher.OF_SUBJECTS,
    (False, True): cypher.OF_NAMES,
    (False, False): cypher.OF_TENANT,
}


def _sight(sight: Sight) -> dict[str, Any]:
    return {
        "scopes": list(sight.scopes),
        "tags": list(sight.tags),
        "clearance": sight.clearance,
    }


def _at(sight: Sight, point: Point) -> dict[str, Any]:
    return {**_sight(sight), "valid": point.valid_us, "tx": point.tx_us}


def _all(records: Iterable[Mapping[str, Any]], sight: Sight, tx_us: int) -> Found:
    """Return every row of the caller's scopes, what may not be seen veiled."""
    kept: dict[int, Version] = {}
    withheld = 0
    for record in records:
        withheld += record["foreign"]
        if record["row"] is None:
            continue
        withheld += not record["seen"]
        told = codec.version(record, tx_us)
        if told.details.scope.scope_id in sight.scopes:
            kept[told.row.vid] = told
    return Found(tuple(kept[vid] for vid in sorted(kept)), withheld)


def _visible(records: Iterable[Mapping[str, Any]], tx_us: int) -> Found:
    """Return what may be seen by vid, and count the rest."""
    kept: dict[int, Version] = {}
    hidden: set[int] = set()
    for record in records:
        vid = record["row"][0]
        if record["seen"]:
            kept[vid] = codec.version(record, tx_us)
        else:
            hidden.add(vid)
    return Found(tuple(kept[vid] for vid in sorted(kept)), len(hidden))


# --- the text search


class _Hit(NamedTuple):
    """A head that shares terms."""

    vid: int
    shared: int
    seen: bool


def matching(
    calls: Reads, terms: Sequence[str], *, sight: Sight, point: Point, limit: int, last_us: int
) -> Found:
    """Return heads whose claim shares a term, most shared first, newest claim first."""
    asked = [term for term in dict.fromkeys(terms) if _searchable(term)]
    if not asked:
        return Found((), 0)
    hits: Sequence[_Hit] = ()
    if point.tx_us >= last_us:
        hits = _hits(calls, "ft_live", asked, _at(sight, point), limit)
        (clock,) = calls.rows(cypher.CLOCK)
        last_us = clock["last_us"]
    if point.tx_us < last_us:
        hits = _hits(calls, "ft_claim", asked, _at(sight, point), limit)
    return _cut(calls, hits, sight, point, limit)


def _cut(calls: Reads, hits: Sequence[_Hit], sight: Sight, point: Point, limit: int) -> Found:
    kept: list[int] = []
    withheld = 0
    for hit in hits:
        if len(kept) > limit:
            break
        if hit.seen:
            kept.append(hit.vid)
        else:
            withheld += 1
    shown = kept[:limit]
    records = calls.rows(cypher.OF_VIDS, vids=shown, **_at(sight, point)) if shown else []
    found = {record["row"][0]: codec.version(record, point.tx_us) for record in records}
    return Found(tuple(found[vid] for vid in shown), withheld, len(kept) > limit)


def _hits(
    calls: Reads, index: str, terms: Sequence[str], bound: Mapping[str, Any], limit: int
) -> list[_Hit]:
    if len(terms) > _CLAUSES:
        return _joined(calls, index, terms, bound)
    most = _PROPOSALS * (limit + 1)
    hits, lowest = _search(calls, index, terms, bound, most)
    if lowest is not None and sum(hit.seen and hit.shared > lowest for hit in hits) <= limit:
        hits, _ = _search(calls, index, terms, bound, _ALL_HITS)
    return [hit for hit in hits if hit.vid]


def _search(
    calls: Reads, index: str, terms: Sequence[str], bound: Mapping[str, Any], most: int
) -> tuple[list[_Hit], int | None]:
    """Return hits in order, and the score at which the search cut them, if it did."""
    lucene = _lucene(codec.tenant_token(calls.tenant), terms)
    (record,) = calls.rows(cypher.HITS, index=index, lucene=lucene, most=most, **bound)
    scores = [round(score) for score in record["scores"]]
    hits = list(map(_Hit, record["vids"], scores, record["seen"]))
    proposed = len(set(record["object_ids"]))
    return hits, min(scores) if proposed >= most else None


def _joined(calls: Reads, index: str, terms: Sequence[str], bound: Mapping[str, Any]) -> list[_Hit]:
    """Search for more terms than one search takes, and add up what they share."""
    shared: dict[int, int] = {}
    seen: dict[int, bool] = {}
    for at in range(0, len(terms), _CLAUSES):
        hits, _ = _search(calls, index, terms[at : at + _CLAUSES], bound, _ALL_HITS)
        for hit in hits:
            shared[hit.vid] = shared.get(hit.vid, 0) + hit.shared
            seen[hit.vid] = hit.seen
    shared.pop(0, None)
    order = sorted(shared, key=lambda vid: (-shared[vid], -vid))
    return [_Hit(vid, shared[vid], seen[vid]) for vid in order]


def _lucene(token: str, terms: Iterable[str]) -> str:
    """Return a query in which each shared term scores one, and the tenant is a must.

    A range from a term to itself scores a constant, where a plain term scores by the corpus.
    """
    wanted = " ".join(f'terms:["{term}" TO "{term}"]' for term in terms)
    return f'+tenant_tok:["{token}" TO "{token}"]^0 +({wanted})'


def _searchable(term: str) -> bool:
    """Tell whether a text can be a term: no ASCII sign, no white space."""
    return bool(term) and all(c.isalnum() if c.isascii() else not c.isspace() for c in term)


# --- the other sets of candidates


def standing(calls: Reads, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Found:
    """Return the heads that a compile fetches with no query."""
    within = [scope for scope in dict.fromkeys(scopes) if scope in sight.scopes]
    asked = [
        {"object_type": name, "scopes": wide, "level": level}
        for name, wide, level in (
            ("policy_rule", list(sight.scopes), 1),
            ("tool_schema", list(sight.scopes), 4),
            ("preference", within, 4),
            ("actionable_constraint", within, 4),
            ("project_decision", within, 4),
        )
    ]
    return _visible(calls.rows(cypher.STANDING, standing=asked, **_at(sight, point)), point.tx_us)


def around(
    calls: Reads, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
) -> Found:
    """Return clean heads about entities or pointing at them, the strongest of each."""
    asked = list(dict.fromkeys(entity_ids))
    bound = _at(sight, point)
    kept: dict[int, Version] = {}
    hidden: set[int] = set()
    cut = False
    for record in calls.rows(cypher.AROUND, entity_ids=asked, limit=limit, **bound):
        cut = cut or bool(record["cut"])
        hidden.update(vid for vids in record["hidden"] for vid in vids)
        if record["seen"]:
            kept[record["row"][0]] = codec.version(record, point.tx_us)
    return Found(tuple(kept[vid] for vid in sorted(kept)), len(hidden), cut)


def changes(
    calls: Reads, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str]
) -> Found:
    """Return rows opened or closed in (after, until]."""
    records = calls.rows(
        cypher.CHANGES,
        after=after_us,
        tx=until_us,
        ended=min(until_us, INF_US - 1),
        subjects=list(dict.fromkeys(subjects)),
        **_sight(sight),
    )
    return _visible(records, until_us)


def decaying(calls: Reads, *, point: Point) -> Iterator[Version]:
    """Yield the clean heads that have a decay rule, whoever may see them, by vid."""
    records = calls.rows(cypher.DECAYING, valid=point.valid_us, tx=point.tx_us)
    records.sort(key=lambda record: int(record["row"][0]))
    return (codec.version(record, point.tx_us) for record in records)
