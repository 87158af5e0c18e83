"""Reading versions: which rows, who may see them, and what they say; and facts about entities.

Each read is one statement. The server filters by scope, permissions and both times; a row that
the caller may not see comes back veiled (`versions`) or as a count, and its content never
leaves the server. A question is asked by its parameters and read from its records, apart, so
that `prefetch` can ask many in one statement and read each as if it were alone.

The text index proposes: every asked word scores what it counts, a whole number, so the score *is*
the weight of the shared words, and the order is exact. The best proposals are looked at first;
where too few of them may be seen, all are. The index of live claims answers for the last stamp
only, and only while no write came between: the answer says for which stamp it holds. Many hits
come as columns, without their texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

from ...resolution import clusters
from ...schema.claim import Version
from ...schema.entity import AUDIT, SUGGESTION, Entity
from ...schema.principal import Sight
from ...schema.vocabulary import JudgementVerdict, ReviewState
from ..port.records import TextPool
from ..port.store import Ask, Page, Point
from ..search.term_weights import (
    HALVINGS,
    PoolRow,
    common,
    is_searchable,
    pool_of,
    pool_weights,
    proposals,
    searched_scopes,
    visible_hits,
)
from . import codec
from .answers import ReadAnswer
from .calls import distinct

CLAUSES: Final = 512
"""Words of one search: Lucene takes 1,024 clauses."""
PROBE_CLAUSES: Final = 24
"""Words that one score can tell apart: a float of 32 bits adds so many bits exactly."""
PROBE_HITS: Final = 1_000
"""How many claims the one search brings; where there are more, words are counted first."""
_BITS: Final = [2**place for place in range(PROBE_CLAUSES)]
ALL_HITS: Final = 2_000_000_000
_ALL_ROWS: Final = 2**31 - 1
"""More rows than a slot has."""

Question = dict[str, Any]
"""A question as a statement takes it."""


def kind_of(ask: Ask) -> str:
    """The parameter that an ask belongs to."""
    if ask.objects:
        return "objects"
    if ask.sources:
        return "derived"
    if ask.keys:
        return "keys"
    if ask.vids or ask.turns:
        return "vids"
    if ask.subjects:
        return "pairs" if ask.slots else "subjects"
    return "names" if ask.slots else "every"


def question(ask: Ask, point: Point, place: int = 0) -> Question:
    """An ask as a statement takes it."""
    extras = ask.extras_of_timeline
    return {
        "place": place,
        "subjects": distinct(ask.subjects),
        "names": distinct(ask.slots),
        "objects": distinct(ask.objects),
        "sources": distinct(ask.sources),
        "keys": distinct(ask.keys),
        "vids": distinct(ask.vids),
        "turns": [[scope_id, list(numbers)] for scope_id, numbers in ask.turns],
        "heads": ask.heads,
        "facts": ask.facts,
        "extras": _ALL_ROWS if extras is None else extras,
        "at_tx": ask.at_tx,
        "at_valid": ask.at_valid,
    }


def seen_at(sight: Sight, point: Point) -> dict[str, Any]:
    """The parameters that every read takes."""
    return {
        "scopes": list(sight.scopes),
        "tags": list(sight.tags),
        "clearance": sight.clearance,
        "valid": point.valid_us,
        "tx": point.tx_us,
    }


def every_row(answers: Iterable[ReadAnswer], sight: Sight, tx_us: int) -> Page:
    """Every row of the caller's scopes, what may not be seen veiled."""
    by_vid: dict[int, Version] = {}
    withheld = 0
    scopes = set(sight.scopes)
    for answer in answers:
        if answer.note is not None:
            withheld += answer.note[0]
        for claim in answer.claims:
            withheld += 0 if claim.visible else len(claim.entry.rows)
            if claim.entry.scope_id in scopes:
                _add(by_vid, claim.versions(tx_us))

    return Page(_by_vid(by_vid), withheld)


def visible_rows(answers: Iterable[ReadAnswer], tx_us: int) -> Page:
    """What may be seen by vid, and count the rest."""
    by_vid: dict[int, Version] = {}
    hidden_vids: set[int] = set()
    for answer in answers:
        for claim in answer.claims:
            if claim.visible:
                _add(by_vid, claim.versions(tx_us))
            else:
                hidden_vids.update(line[0] for line in claim.entry.rows)

    return Page(_by_vid(by_vid), len(hidden_vids))


def _add(by_vid: dict[int, Version], members: Iterable[Version]) -> None:
    for version in members:
        by_vid[version.row.vid] = version


def _by_vid(by_vid: Mapping[int, Version]) -> tuple[Version, ...]:
    return tuple(by_vid[vid] for vid in sorted(by_vid))


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
    scopes: tuple[str, ...]
    """Where it looks; none for the whole tenant."""

    @property
    def is_probed(self) -> bool:
        """Whether its words are so few that one score tells which of them a claim holds."""
        return len(self.terms) <= PROBE_CLAUSES

    def is_overtaken(self, point: Point, last_us: int) -> bool:
        """Whether a write came between the point and an answer for this stamp."""
        return self.live and point.tx_us < last_us

    def is_listed(self, answer: ReadAnswer, point: Point) -> bool:
        """Whether an answer lists every hit at the point that may be seen."""
        marks, _, proposed, last_us = answer.note
        is_all = proposed < self.most and sum(marks) <= self.limit
        return is_all and not self.is_overtaken(point, last_us)

    def page(self, answer: ReadAnswer, point: Point) -> Page | Search:
        """The most telling heads of an answer, then the newest; or how to search again."""
        marks, vids, proposed, last_us = answer.note
        if self.is_overtaken(point, last_us):
            return self._replace(live=False)
        if proposed >= self.most and sum(marks) <= self.limit:
            return self._replace(most=ALL_HITS)

        by_vid: dict[int, Version] = {}
        for claim in answer.claims:
            if claim.visible:
                _add(by_vid, claim.versions(point.tx_us))

        # What was hidden below the cut would not have been shown, so it is not counted. A hit that
        # was hidden since it was proposed is neither shown nor counted.
        count = withheld = 0
        for mark in marks:
            if count > self.limit:
                break
            count += mark
            withheld += not mark

        heads = tuple(by_vid[vid] for vid in vids if vid in by_vid)
        return Page(heads, withheld, count > self.limit)

    def question(self, tenant: str, place: int = 0) -> Question:
        """The search as a statement takes it.

        A range from a word to itself scores a constant, where a plain word scores by the corpus.
        """
        words = [codec.scope_token(tenant, scope) for scope in self.scopes]
        places = [f'tenant_tok:["{w}" TO "{w}"]^0' for w in words or [codec.tenant_token(tenant)]]
        token = f"+({' '.join(places)})"
        clauses = [f'terms:["{term}" TO "{term}"]' for term in self.terms]

        return {
            "place": place,
            "index": "ft_live" if self.live else "ft_claim",
            "token": token,
            "clauses": clauses,
            "probes": [_probe(token, clauses)] if self.is_probed else [],
            "bits": _BITS,
            "most_met": min(PROBE_HITS, common(self.limit)),
            "common": common(self.limit),
            "halvings": HALVINGS,
        }


def _probe(token: str, clauses: Sequence[str]) -> str:
    """The one search in which each word scores a bit of its own."""
    words = " ".join(f"{clause}^{bit}" for clause, bit in zip(clauses, _BITS, strict=False))
    return f"{token} +({words})"


def search_of(terms: Sequence[str], *, sight: Sight, limit: int, live: bool) -> Search | None:
    """A search; None where no text can be a word."""
    words = tuple(sorted(dict.fromkeys(term for term in terms if is_searchable(term))))
    if not words:
        return None
    return Search(words, limit, live, proposals(limit), searched_scopes(sight))


def bounds(search: Search | None) -> dict[str, int]:
    """The limits of a search as a statement takes them."""
    return {
        "most": search.most if search else 0,
        "search_limit": search.limit if search else 0,
        "most_clauses": CLAUSES,
    }


# --- the other sets of candidates


def standing_questions(sight: Sight, scopes: Sequence[str], place: int = 0) -> list[Question]:
    """The questions for what a compile fetches with no query."""
    visible = [scope for scope in dict.fromkeys(scopes) if scope in sight.scopes]
    return [
        {"place": place, "object_type": name, "scopes": wide, "level": level}
        for name, wide, level in (
            ("policy_rule", list(sight.scopes), 1),
            ("tool_schema", list(sight.scopes), 4),
            ("preference", visible, 4),
            ("actionable_constraint", visible, 4),
            ("project_decision", visible, 4),
        )
    ]


def near_rows(answer: ReadAnswer, tx_us: int) -> Page:
    """What stands around entities, and how much of it is hidden."""
    vids_of_entities, cut, _, fans_of_entities = answer.note
    by_vid: dict[int, Version] = {}
    hidden_vids = set(chain.from_iterable(vids_of_entities))
    for claim in answer.claims:
        if claim.visible:
            _add(by_vid, claim.versions(tx_us))

    fans = tuple(sorted((raw, slot, count) for raw, slot, count in chain(*fans_of_entities)))
    return Page(_by_vid(by_vid), len(hidden_vids), bool(cut), fans)


Properties = Mapping[str, Any]
"""What a node has, as stored."""
TaughtName = Sequence[Any]
"""An alias as stored, with what its teacher may say; None without such a claim."""
TaughtIdentifier = Sequence[Any]
"""An identifier as stored, with who stated it; None without such a claim."""


@dataclass(slots=True)
class EntityFacts:
    """An entity with all that ever identified and judged it, as stored."""

    entity: Entity
    identifiers: list[TaughtIdentifier] = field(default_factory=list[TaughtIdentifier])
    judgements: list[Properties] = field(default_factory=list[Properties])
    names: list[TaughtName] = field(default_factory=list[TaughtName])
    cases: list[Properties] = field(default_factory=list[Properties])

    def case(self, tx_us: int) -> clusters.PendingCase | None:
        """How its blocking case stood at a tx."""
        newest: Properties | None = None
        for case in self.cases:
            decided_tx = case["decided_tx"]
            written_tx = case["opened_tx"] if decided_tx is None else decided_tx
            if written_tx > tx_us or case["reason"] in (SUGGESTION, AUDIT):
                continue
            if newest is None or int(case["version"]) > int(newest["version"]):
                newest = case

        if newest is None:
            return None
        return clusters.PendingCase(
            ReviewState(newest["state"]), newest["decided_entity"] is not None
        )

    def matches(self, tx_us: int) -> set[str]:
        """The entities that were one with it at a tx."""
        ends: set[str] = set()
        for judgement in self.judgements:
            if judgement["verdict"] == JudgementVerdict.MATCH.value and is_open(judgement, tx_us):
                ends |= {judgement["left_id"], judgement["right_id"]}
        return ends


class _EntityRows(NamedTuple):
    """What stands about entities as a statement lists it: of all of them, kind by kind."""

    entities: Sequence[Properties]
    identifiers: Sequence[TaughtIdentifier]
    judgements: Sequence[tuple[str, Properties]]
    """Each with the entity that it is about."""
    names: Sequence[TaughtName]
    cases: Sequence[Properties]


def entity_facts(records: Sequence[Sequence[Any]]) -> dict[str, EntityFacts]:
    """What a statement says of entities, by their ids."""
    rows = _EntityRows._make(records)
    facts: dict[str, EntityFacts] = {}
    for properties in rows.entities:
        facts[properties["entity_id"]] = EntityFacts(codec.entity(properties))
    for identifier in rows.identifiers:
        facts[identifier[0]["entity_id"]].identifiers.append(identifier)
    for entity_id, judgement in rows.judgements:
        facts[entity_id].judgements.append(judgement)
    for name in rows.names:
        facts[name[0]["entity_id"]].names.append(name)
    for case in rows.cases:
        facts[case["entity_id"]].cases.append(case)
    return facts


def is_open(row: Properties, tx_us: int) -> bool:
    """Whether a row was open at a tx."""
    return bool(row["tx_start"] <= tx_us < row["tx_end"])


class PoolAnswer(NamedTuple):
    """What a search answered that met more than a page, and no more than one call can tell."""

    rows: Sequence[Sequence[Any]]
    """Of all hits, best first; a bit for each word of the search in the order of its terms."""
    holders: Sequence[int]
    """How many claims hold each of these words."""
    last_us: int
    """The stamp that it holds for."""


def pool_of_answer(
    answer: PoolAnswer, search: Search, *, limit: int, unless: int
) -> TextPool | None:
    """The columns that a search brought; None where hits that may be seen are at most `unless`."""
    visible = visible_hits(map(pool_row, answer.rows), limit)
    if len(visible.rows) <= unless:
        return None

    words = list(pool_weights(dict(zip(search.terms, answer.holders, strict=True)), limit))
    # The bits of a pool stand in the order of its words, the rarest first.
    bits = [(1 << search.terms.index(word), 1 << place) for place, word in enumerate(words)]
    masks: dict[int, int] = {}
    for mask in {row.mask for row in visible.rows}:
        masks[mask] = sum(bit for bit_of_term, bit in bits if mask & bit_of_term)
    rows = [row._replace(mask=masks[row.mask]) for row in visible.rows]
    return pool_of(visible._replace(rows=rows), words)


def pool_row(columns: Sequence[Any]) -> PoolRow | None:
    """A hit as a statement returns it; None for one that is hidden, of which nothing is told."""
    return PoolRow(*columns) if columns else None
