"""The text pool: the best of thousands of lexical hits, and the turns of talk around them.

Reading the records of all hits would be most of a compile's cost. So their numbers are ranked as
the stage ranks records, by BM25, with turns of talk in windows, and only the best rows are read.

An answer often follows a few turns after the turn that shares words with the question. So the turns
around the best hits are read, the nearest first, and those of the same talk become candidates; a
short talk is read as a whole. Their number does not depend on the budget, so a larger budget ranks
the same candidates. Writes of others in between change nothing, because turns are numbered by
scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple, TypeVar

from ...schema.claim import Version
from ...schema.policy import CompilePolicy, Policy
from ...store.port.records import ScopeTurns, TextPool
from ...store.port.store import Ask, Page
from ..ir.records import Via, is_talk
from ..ranking.talk import OF_ANSWERS, B, reach_of, talk_of
from ..text.relevance import FULL, Background, bm25_weights
from .candidates import Candidates

_HITS: Final = 112
"""Found turns whose neighbours are read: the best by words, then by meaning. Looking a few turns
around many brings more of an answer than looking far around few (`bench/bench_talk.py`)."""

_FEW_TURNS: Final = 48
"""Turns of the talks that were found, below which those of the scope's other talks are read too
(`bench/bench_chats.py`)."""

TurnPlace = tuple[str, int]
"""Where a turn is: its scope, and its number there."""

K = TypeVar("K")

_ROW_TOKENS: Final = 40
"""Tokens of a budget for which a row more is read than the limit of hits: a larger budget reads on
in the same ranking."""
_BITS: Final = 48
"""Bits of the number of a row, or of a turn."""
_LENDERS: Final = 200
"""The best turns of a pool, which lift those around them."""
_TERM_SIZE: Final = 12
"""Characters of stored terms for each that a turn says: they hold its condition, too."""
_ROOM: Final = 1
"""Characters of pages a token of the budget: a quarter of it by words, and another by nearness."""


def text_limit(policy: Policy, *, beside_vectors: bool = False) -> int:
    """How many text matches are read as records."""
    rules = policy.compile
    limit = rules.text_beside_vectors if beside_vectors else rules.text_candidates
    return min(limit, policy.read.text_candidates)


def text_room(budget: int) -> int:
    """Characters of pages, behind which those of less worth come after the facts.

    A budget shows some dozens of pages whatever their worth, and weaker facts find room next to
    them.
    """
    return budget * _ROOM


def add_text(candidates: Candidates, terms: frozenset[str], *, limit: int) -> None:
    """Add what shares words with the question, and what was said around it."""
    if not terms:
        return
    reader, rules = candidates.reader, candidates.context.rules
    words = sorted(terms)
    pool = reader.text_pool(
        words,
        sight=candidates.sight,
        point=candidates.point,
        limit=max(limit + 1, rules.text_pool),
        unless=limit,
    )
    if pool is not None:
        _add_best(candidates, pool, limit=limit)
        return

    page = reader.matching(words, sight=candidates.sight, point=candidates.point, limit=limit)
    candidates.add_read("text", page, Via.TEXT)

    # Talk may tell it in words of its own. They are many, so they are asked only where the words of
    # the question find nothing at all.
    related = candidates.context.language.related_terms
    variants = () if page.versions else sorted(related(terms))
    if variants:
        wide = reader.matching(
            variants, sight=candidates.sight, point=candidates.point, limit=limit
        )
        turns = tuple(filter(is_talk, wide.versions))
        candidates.add_read("text", Page(turns, 0, wide.cut), Via.TEXT)


def _add_best(candidates: Candidates, pool: TextPool, *, limit: int) -> None:
    """Add the best of thousands of hits, and of the turns of talk around them."""
    rules, budget = candidates.context.rules, candidates.context.budget
    row_count = limit + min(rules.talk_candidates, budget // _ROW_TOKENS)
    background = background_of(pool)
    rows = best_rows(pool, background, rules, limit=row_count, room=text_room(budget))
    page = candidates.read(Ask(vids=tuple(sorted(rows.vids)), turns=turns_at(rows.neighbours)))
    candidates.background = background

    hit_vids = set(pool.vids)
    hits: list[Version] = []
    neighbours: list[Version] = []
    for version in page.versions:
        (hits if version.row.vid in hit_vids else neighbours).append(version)
    candidates.add_read("text", Page(tuple(hits), pool.withheld, cut=True), Via.TEXT)

    talks = set(map(talk_of, filter(is_talk, hits)))
    candidates.add([version for version in neighbours if is_turn_of(version, talks)], Via.TALK)


def background_of(pool: TextPool) -> Background:
    """What a pool says of the words of a question: how many hits there are, and hold each."""
    holders = dict.fromkeys(pool.terms, 0)
    for mask, count in Counter(pool.masks).items():
        for place, term in enumerate(pool.terms):
            if mask >> place & 1:
                holders[term] += count
    return Background(len(pool.vids), holders)


class BestRows(NamedTuple):
    """What is read of a pool, the best first."""

    vids: list[int]
    """Rows of hits."""
    neighbours: list[TurnPlace]
    """Turns next to hits."""


def best_rows(
    pool: TextPool, background: Background, rules: CompilePolicy, *, limit: int, room: int
) -> BestRows:
    """The rows that rank best among the hits and the turns around them.

    Behind so many characters of pages, those of less worth come last.
    """
    scores = _scores(pool, background, rules)
    best = max(scores, default=0.0)
    if not best:
        return BestRows(list(pool.vids[:limit]), [])

    line = _TurnLine(pool.scopes)
    worth: dict[int, float] = {}
    hits: dict[int, _Hit] = {}
    vids: dict[int, int] = {}
    best_turn = 0.0
    columns = zip(pool.vids, pool.scopes, pool.turns, pool.masks, pool.sizes, scores, strict=True)
    for vid, scope_id, turn, mask, size, score in columns:
        if turn:
            place = line.place(scope_id, turn)
            hits[place] = _Hit(mask, size)
            vids[place] = vid
            best_turn = max(best_turn, score)
        else:
            worth[vid] = FULL * score / best

    # The best turn is as good as its words: talk does not outgrow texts.
    turns = _worth_of_turns(hits, tuple(bm25_weights(background).values()), rules)
    highest = max(turns.values(), default=1.0) or 1.0
    for place, value in turns.items():
        # Before the first turn of a scope there is none.
        if 0 < place & ((1 << _BITS) - 1) < 1 << (_BITS - 1):
            worth[place] = FULL * value / highest * best_turn / best

    surplus_vids = _surplus_pages(pool, worth, room)
    for vid in surplus_vids:
        del worth[vid]
    rows = _best_of(worth, limit)
    return line.rows(rows + surplus_vids[: limit - len(rows)], vids)


class _Hit(NamedTuple):
    """A turn that holds words of the question: which, and how long it is."""

    mask: int
    size: int
    """In characters of its stored terms."""


class _TurnLine:
    """One line of numbers for the turns of several scopes, behind the numbers of all rows.

    So a place is an integer, as the number of a row is, and no two scopes come near each other.
    """

    def __init__(self, scopes: Iterable[str]) -> None:
        self._scopes = sorted(set(scopes))
        self._firsts = {scope_id: n << _BITS for n, scope_id in enumerate(self._scopes, 1)}

    def place(self, scope_id: str, turn: int) -> int:
        """Where a turn is on the line."""
        return self._firsts[scope_id] + turn

    def rows(self, places: Iterable[int], vids: Mapping[int, int]) -> BestRows:
        """Rows at places; `vids` says of a place on the line whose hit is there."""
        rows = BestRows([], [])
        for place in places:
            number, turn = divmod(place, 1 << _BITS)
            if not number:
                rows.vids.append(place)
            elif place in vids:
                rows.vids.append(vids[place])
            else:
                rows.neighbours.append((self._scopes[number - 1], turn))
        return rows


def _surplus_pages(pool: TextPool, worth: Mapping[int, float], room: int) -> list[int]:
    """The pages behind those that fill their room, the best first; none where no fact is left."""
    if not any(pool.is_fact):
        return []

    sizes: dict[int, int] = {}
    columns = zip(pool.vids, pool.sizes, pool.turns, pool.is_fact, strict=True)
    for vid, size, turn, is_fact in columns:
        if not (turn or is_fact):
            sizes[vid] = size

    # The rows rise, so that of equals the newest comes first.
    order = list(reversed(sizes))
    order.sort(key=worth.__getitem__, reverse=True)
    return beyond_room(order, sizes, room)


def beyond_room(order: Sequence[K], sizes: Mapping[K, int], room: int) -> list[K]:
    """What comes after that which fills the room, by the size of each.

    >>> beyond_room("abc", {"a": 3, "b": 2, "c": 1}, 4)
    ['b', 'c']
    """
    for place, key in enumerate(order):
        room -= sizes[key]
        if room < 0:
            return list(order[place:])
    return []


def _best_of(worth: Mapping[int, float], limit: int) -> list[int]:
    """The rows of most worth, of equals the newest first."""
    floor = sorted(worth.values())[-limit:][0]
    rows = sorted([vid for vid, share in worth.items() if share >= floor], reverse=True)
    rows.sort(key=worth.__getitem__, reverse=True)  # which keeps the order of equals
    return rows[:limit]


def _scores(pool: TextPool, background: Background, rules: CompilePolicy) -> list[float]:
    """The BM25 of each hit, with each word that it holds counted once."""
    weights = tuple(bm25_weights(background).values())
    average = sum(pool.sizes) / max(1, len(pool.sizes)) or 1.0
    scores: list[float] = []
    for mask, size, turn in zip(pool.masks, pool.sizes, pool.turns, strict=True):
        b = B if turn else rules.bm25_b
        scores.append(_bm25(_sum_of(mask, weights), size / average, rules.bm25_k1, b))
    return scores


def _worth_of_turns(
    hits: Mapping[int, _Hit], weights: tuple[float, ...], rules: CompilePolicy
) -> dict[int, float]:
    """Turns by their places, and the places next to them, by windows as `ranking.talk` orders them.

    Of a turn that is no hit nothing is known but the hits around it.
    """
    if not hits:
        return {}

    mean = sum(hit.size for hit in hits.values()) / len(hits) or 1.0
    own: dict[int, float] = {}
    windows: dict[int, float] = {}
    for place in {hit + step for hit in hits for step in (-1, 0, 1)}:
        members = [hits[near] for near in (place - 1, place, place + 1) if near in hits]
        mask = 0
        for hit in members:
            mask |= hit.mask
        size = sum(hit.size for hit in members) + mean * (3 - len(members))
        total = _sum_of(mask, weights)
        windows[place] = _bm25(total, size / (3 * mean), rules.bm25_k1, B)
        if place in hits:
            total = _sum_of(hits[place].mask, weights)
            own[place] = _bm25(total, hits[place].size / mean, rules.bm25_k1, B)

    best_own, best_window = max(own.values()) or 1.0, max(windows.values()) or 1.0
    reach = reach_of([hit.size // _TERM_SIZE for hit in hits.values()])
    scores: dict[int, float] = {}
    for place, window in windows.items():
        score = (own.get(place, 0.0) / best_own + window / best_window) / 2
        scores[place] = score**reach.focus
    shares = [
        reach.near_weight * max(0, 1 - step / (reach.near + 1))
        + reach.far_weight * max(0, 1 - step / (reach.far + 1))
        for step in range(1, max(reach.near, reach.far) + 1)
    ]
    worth = dict(scores)
    # What others have is too little to bring a row among the best.
    for place, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:_LENDERS]:
        for step, share in enumerate(shares, 1):
            lift = share * score
            worth[place - step] = worth.get(place - step, 0.0) + lift
            worth[place + step] = worth.get(place + step, 0.0) + lift
    return worth


@lru_cache(maxsize=4_096)  # many turns hold the same words
def _sum_of(mask: int, weights: tuple[float, ...]) -> float:
    """What the words of a mask tell together."""
    return sum(weight for place, weight in enumerate(weights) if mask >> place & 1)


def _bm25(total: float, size: float, k1: float, b: float) -> float:
    """The BM25 of a text that holds each of its words once, its size a share of the mean."""
    return total * (k1 + 1) / (1 + k1 * (1 - b + b * size))


def add_talk(candidates: Candidates) -> None:
    """Add the visible turns of the same talk next to those that text or meaning found."""
    rules = candidates.context.rules
    hits: list[Version] = []
    for version, via, _ in candidates.rows.values():
        if via & (Via.TEXT | Via.VECTOR) and is_talk(version) and len(hits) < _HITS:
            hits.append(version)
    if not hits or not rules.talk_candidates:
        return

    places = set(islice(_places_around(set(map(place_of, hits))), rules.talk_candidates))
    # Turns that are here already count as well: what people say is also about themselves.
    neighbours: list[Version] = []
    for version, _, _ in candidates.rows.values():
        if place_of(version) in places:
            neighbours.append(version)

    new_places = places.difference(map(place_of, neighbours))
    if new_places:
        candidates.reads += 1
        neighbours += candidates.read(Ask(turns=turns_at(new_places))).versions
    talks = set(map(talk_of, hits))
    turns = [version for version in neighbours if is_turn_of(version, talks)]
    if len(turns) < _FEW_TURNS:
        # A word or two led to one session: what was said in the others may answer in other words.
        turns = [version for version in neighbours if version.visible and is_talk(version)]
    candidates.add(turns, Via.TALK)


def is_turn_of(version: Version, talks: AbstractSet[tuple[str, str]]) -> bool:
    """Whether a row is a visible turn of one of some talks: numbers run through the store."""
    if not (version.visible and is_talk(version)):
        return False
    origin, scope_id = talk_of(version)
    if (origin, scope_id) in talks or (OF_ANSWERS, scope_id) in talks:
        return True
    return origin == OF_ANSWERS and any(scope_id == scope for _, scope in talks)


def _places_around(centres: AbstractSet[TurnPlace]) -> Iterator[TurnPlace]:
    """Places around centres, each once, the nearest first, without those of the centres."""
    known_places = set(centres)
    ordered_centres = sorted(centres)
    distance = 0
    while True:
        distance += 1
        for scope_id, centre in ordered_centres:
            for number in (centre - distance, centre + distance):
                place = scope_id, number
                if number > 0 and place not in known_places:
                    known_places.add(place)
                    yield place


def turns_at(places: Iterable[TurnPlace]) -> tuple[ScopeTurns, ...]:
    """Places as an ask names them, in their order.

    >>> turns_at({("tenant", 3), ("tenant", 2)})
    (ScopeTurns(scope_id='tenant', numbers=(2, 3)),)
    """
    numbers: dict[str, list[int]] = {}
    for scope_id, number in sorted(places):
        numbers.setdefault(scope_id, []).append(number)
    return tuple(ScopeTurns(scope_id, tuple(turns)) for scope_id, turns in numbers.items())


def place_of(version: Version) -> TurnPlace:
    """Where a row is; what is no turn has the number 0, which no turn has."""
    return version.details.scope.scope_id, version.turn
