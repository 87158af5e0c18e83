"""Reading versions: which rows, who may see them, and what they say.

Each read is one statement. The server filters by scope, permissions and both times; a row that
the caller may not see comes back veiled (`versions`) or as a count, and its content never
leaves the server. A question is asked by its parameters and read from its records, apart, so
that `foresight` can ask many in one statement and read each as if it were alone.

The text index proposes: every asked word scores what it counts, a whole number, so the score *is*
the weight of the shared words, and the order is exact. The best proposals are looked at first;
where too few of them may be seen, all are. The index of live claims answers for the last stamp
only, and only while no write came between: the answer says for which stamp it holds.

Sources: neo4j 5 and 8; settled 1, 4 and 8; DESIGN 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, LiteralString, NamedTuple

from ...schema.claim import Version
from ...schema.interval import INF_US, MIN_US
from ...schema.principal import Sight
from ..port.store import Ask, Found, Point, Related
from ..search.term_weights import HALVINGS, common
from . import codec
from .calls import Calls, Reads
from .cypher import candidates as cypher

CLAUSES: Final = 512
"""Words of one search: Lucene takes 1,024 clauses."""
_PROPOSALS: Final = 8
"""How many hits are looked at, times the limit, before all are."""
_ALL_HITS: Final = 2_000_000_000

Records = Sequence[Mapping[str, Any]]
Question = dict[str, Any]
"""A question as a statement takes it."""

_TEXTS: Final[Mapping[str, LiteralString]] = {
    "objects": cypher.OF_OBJECTS,
    "derived": cypher.OF_DERIVED,
    "keys": cypher.OF_KEYS,
    "pairs": cypher.OF_PAIRS,
    "subjects": cypher.OF_SUBJECTS,
    "names": cypher.OF_NAMES,
    "every": cypher.OF_TENANT,
}


def kind_of(ask: Ask) -> str:
    """Return the parameter that an ask belongs to."""
    if ask.objects:
        return "objects"
    if ask.sources:
        return "derived"
    if ask.keys:
        return "keys"
    if ask.subjects:
        return "pairs" if ask.slots else "subjects"
    return "names" if ask.slots else "every"


def asked(ask: Ask, point: Point, place: int = 0) -> Question:
    """Return an ask as a statement takes it."""
    return {
        "place": place,
        "subjects": list(dict.fromkeys(ask.subjects)),
        "names": list(dict.fromkeys(ask.slots)),
        "objects": list(dict.fromkeys(ask.objects)),
        "sources": list(dict.fromkeys(ask.sources)),
        "keys": list(dict.fromkeys(ask.keys)),
        "heads": ask.heads,
        "after": point.tx_us if ask.at_tx else MIN_US,
        "from_max": point.valid_us if ask.at_valid else INF_US,
        "until_min": point.valid_us if ask.at_valid else MIN_US,
    }


def versions(calls: Reads, ask: Ask, *, sight: Sight, point: Point) -> Found:
    """Return the versions of an ask; those that permissions hide are veiled."""
    kind = kind_of(ask)
    bound = seen_at(sight, point) | {kind: [asked(ask, point)]}
    return every_row(calls, calls.rows(_TEXTS[kind], **bound), sight, point.tx_us)


def seen_at(sight: Sight, point: Point) -> dict[str, Any]:
    """Return the parameters that every read takes."""
    return {
        "scopes": list(sight.scopes),
        "tags": list(sight.tags),
        "clearance": sight.clearance,
        "valid": point.valid_us,
        "tx": point.tx_us,
    }


def _told(calls: Calls, record: Mapping[str, Any], tx_us: int) -> Iterator[Version]:
    return codec.told(record, tx_us, tenant=calls.tenant, bodies=calls.bodies)


def every_row(calls: Calls, records: Records, sight: Sight, tx_us: int) -> Found:
    """Return every row of the caller's scopes, what may not be seen veiled."""
    kept: dict[int, Version] = {}
    withheld = 0
    scopes = set(sight.scopes)
    for record in records:
        if record["claim"] is None:
            withheld += record["note"][0]
            continue
        withheld += 0 if record["seen"] else len(record["rows"])
        told = list(_told(calls, record, tx_us))
        if told[0].details.scope.scope_id in scopes:
            kept.update((version.row.vid, version) for version in told)
    return Found(tuple(kept[vid] for vid in sorted(kept)), withheld)


def visible_rows(calls: Calls, records: Records, tx_us: int) -> Found:
    """Return what may be seen by vid, and count the rest."""
    kept: dict[int, Version] = {}
    hidden: set[int] = set()
    for record in records:
        if record["seen"]:
            kept.update((version.row.vid, version) for version in _told(calls, record, tx_us))
        else:
            hidden.update(line[0] for line in record["rows"])
    return Found(tuple(kept[vid] for vid in sorted(kept)), len(hidden))


# --- the text search


class Search(NamedTuple):
    """A search for words, as it is asked."""

    terms: tuple[str, ...]
    """Sorted, each once, all of them searchable."""
    limit: int
    live: bool
    """Whether the index of live claims is asked."""
    most: int
    """How many proposals are looked at."""

    def question(self, tenant: str, place: int = 0) -> Question:
        """Return the search as a statement takes it.

        A range from a word to itself scores a constant, where a plain word scores by the corpus.
        """
        token = codec.tenant_token(tenant)
        return {
            "place": place,
            "index": "ft_live" if self.live else "ft_claim",
            "token": f'+tenant_tok:["{token}" TO "{token}"]^0',
            "clauses": [f'terms:["{term}" TO "{term}"]' for term in self.terms],
            "common": common(self.limit),
            "halvings": HALVINGS,
        }


def search_of(terms: Sequence[str], *, limit: int, live: bool) -> Search | None:
    """Return a search; None where no text can be a word."""
    words = tuple(sorted(dict.fromkeys(term for term in terms if _searchable(term))))
    return Search(words, limit, live, _PROPOSALS * (limit + 1)) if words else None


def matching(
    calls: Reads, search: Search | None, *, sight: Sight, point: Point, first: Records | None
) -> Found:
    """Return heads whose claim shares a term, the most telling first, then the newest claim.

    `first` are the records of the search where it was asked before.
    """
    while search is not None:
        records = _ask(calls, search, sight, point) if first is None else first
        first = None
        (note,) = (record["note"] for record in records if not record["seen"])
        marks, vids, proposed, last_us = note
        if search.live and point.tx_us < last_us:  # a write came between
            search = search._replace(live=False)
        elif proposed >= search.most and sum(marks) <= search.limit:
            search = search._replace(most=_ALL_HITS)
        else:
            told = {
                v.row.vid: v for r in records if r["seen"] for v in _told(calls, r, point.tx_us)
            }
            return _cut([told[vid] for vid in vids], marks, search.limit)
    return Found((), 0)


def _ask(calls: Reads, search: Search, sight: Sight, point: Point) -> Records:
    questions = [search.question(calls.tenant)]
    bound = bounds(search) | seen_at(sight, point)
    return calls.rows(cypher.SEARCH, searches=questions, **bound)


def bounds(search: Search | None) -> dict[str, int]:
    """Return the limits of a search as a statement takes them."""
    return {
        "most": search.most if search else 0,
        "search_limit": search.limit if search else 0,
        "most_clauses": CLAUSES,
    }


def _cut(shown: Sequence[Version], marks: Sequence[bool], limit: int) -> Found:
    """Return what is shown, and count what was hidden among the hits up to the cut."""
    kept = withheld = 0
    for mark in marks:
        if kept > limit:
            break
        kept += mark
        withheld += not mark
    return Found(tuple(shown), withheld, kept > limit)


def _searchable(term: str) -> bool:
    """Tell whether a text can be a term: no ASCII sign, no white space."""
    return bool(term) and all(c.isalnum() if c.isascii() else not c.isspace() for c in term)


# --- the other sets of candidates


def standing_asked(sight: Sight, scopes: Sequence[str], place: int = 0) -> list[Question]:
    """Return the questions for what a compile fetches with no query."""
    within = [scope for scope in dict.fromkeys(scopes) if scope in sight.scopes]
    return [
        {"place": place, "object_type": name, "scopes": wide, "level": level}
        for name, wide, level in (
            ("policy_rule", list(sight.scopes), 1),
            ("tool_schema", list(sight.scopes), 4),
            ("preference", within, 4),
            ("actionable_constraint", within, 4),
            ("project_decision", within, 4),
        )
    ]


def standing(calls: Reads, *, sight: Sight, point: Point, scopes: Sequence[str]) -> Found:
    """Return the heads that a compile fetches with no query."""
    questions = standing_asked(sight, scopes)
    records = calls.rows(cypher.STANDING, standing=questions, **seen_at(sight, point))
    return visible_rows(calls, records, point.tx_us)


def around(
    calls: Reads, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
) -> Found:
    """Return clean heads about entities or pointing at them, the strongest of each."""
    question = {"place": 0, "ids": list(dict.fromkeys(entity_ids))}
    bound = seen_at(sight, point) | {"limit": limit}
    return near_rows(
        calls, calls.rows(cypher.NEIGHBOURHOOD, around=[question], **bound), point.tx_us
    )


def near_rows(calls: Calls, records: Records, tx_us: int) -> Found:
    """Return what stands around entities, and how much of it is hidden."""
    kept: dict[int, Version] = {}
    hidden: set[int] = set()
    cut = False
    for record in records:
        if record["seen"]:
            kept.update((version.row.vid, version) for version in _told(calls, record, tx_us))
        else:
            unseen, cut, _ = record["note"]
            hidden.update(vid for vids in unseen for vid in vids)
    return Found(tuple(kept[vid] for vid in sorted(kept)), len(hidden), bool(cut))


def relations(
    calls: Calls, entity_ids: Sequence[str], *, sight: Sight, point: Point, limit: int
) -> Related:
    """Return what relates entities to others by its raw ends; hubs are named apart."""
    bound = seen_at(sight, point) | {"most": limit + 1}
    asked = list(dict.fromkeys(entity_ids))
    records = calls.rows(cypher.RELATIONS, entity_ids=asked, **bound)
    found = {(s, v) for r in records if len(r["ends"]) <= limit for s, v in r["ends"]}
    hubs = {str(r["entity_id"]) for r in records if len(r["ends"]) > limit}
    return Related(tuple(sorted(found)), tuple(sorted(hubs)))


def changes(
    calls: Reads, after_us: int, until_us: int, *, sight: Sight, subjects: Sequence[str]
) -> Found:
    """Return rows opened or closed in (after, until]."""
    records = calls.rows(
        cypher.CHANGES,
        after=after_us,
        ended=min(until_us, INF_US - 1),
        subjects=list(dict.fromkeys(subjects)),
        **seen_at(sight, Point(0, until_us)),
    )
    return visible_rows(calls, records, until_us)


def decaying(calls: Calls, *, point: Point) -> Iterator[Version]:
    """Return the clean heads that have a decay rule, whoever may see them, by vid."""
    records = calls.rows(cypher.DECAYING, valid=point.valid_us, tx=point.tx_us)
    found = (version for record in records for version in _told(calls, record, point.tx_us))
    return iter(sorted(found, key=lambda version: version.row.vid))
