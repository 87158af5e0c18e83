"""What shares words with the question: which of thousands of hits, and of the turns around them.

A question to years of talk has thousands of hits, and ranking them by their records is most of
what a compile would cost. So the numbers of all are ranked as the stage ranks records, by BM25 and
by what turns of talk lend to those beside them, and only the rows that come out best are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from ...schema.claim import Version
from ...schema.policy import CompilePolicy, Policy
from ...store.port.records import TextPool
from ...store.port.store import Ask, Page
from ..ir.candidate import is_talk
from ..ir.snapshot import Via
from ..text.related_words import related_words
from ..text.relevance import FULL, TALK_LENGTH, Background, bm25_weights
from .candidates import Candidates
from .talk import FARTHEST, TurnPlace, is_turn_of, lifts_of, runs_within, talk_of, turns_at

K = TypeVar("K")

_FAINTEST: Final = FARTHEST / FULL
"""Worth of a shared word, however faint: more than to stand beside one."""
_ROW_TOKENS: Final = 40
"""Tokens of a budget for which a row more is read than the limit of hits: a larger budget reads on
in the same ranking."""
_BITS: Final = 48
"""Bits of the number of a row, or of a turn."""
_ROOM: Final = 1
"""Characters of pages a token of the budget: a quarter of it by words, and another by nearness."""


def text_limit(policy: Policy, *, beside_vectors: bool = False) -> int:
    """How many text matches are read as records."""
    rules = policy.compile
    limit = rules.text_beside_vectors if beside_vectors else rules.text_candidates
    return min(limit, policy.read.text_candidates)


def text_room(budget: int) -> int:
    """Characters of pages, behind which those of less worth come after the facts.

    A budget shows some dozens of pages whatever their worth, and weaker facts find room beside
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
    variants = () if page.versions else sorted(related_words(terms))
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
    """Turns beside hits."""


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
    texts: dict[int, float] = {}
    turns: dict[int, int] = {}
    vids: dict[int, int] = {}
    columns = zip(pool.vids, pool.scopes, pool.turns, scores, strict=True)
    for vid, scope_id, turn, score in columns:
        share = score / best
        if turn:
            place = line.place(scope_id, turn)
            turns[place] = round(FULL * max(share**rules.talk_focus, min(share, _FAINTEST)))
            vids[place] = vid
        else:
            texts[vid] = FULL * share

    worth = _worth_of_turns(turns, rules, lenders=limit)
    # The best turn is as good as it was before the others lifted it: talk does not outgrow texts.
    growth = max(worth.values(), default=1) / max(turns.values(), default=1)
    for vid, share in texts.items():
        worth[vid] = share * growth

    surplus_vids = _surplus_pages(pool, worth, room)
    for vid in surplus_vids:
        del worth[vid]
    rows = _best_of(worth, limit)
    return line.rows(rows + surplus_vids[: limit - len(rows)], vids)


class _TurnLine:
    """One line of numbers for the turns of several scopes, behind the numbers of all rows.

    So a place is an integer, as the number of a row is, and no two scopes come near each other.
    """

    def __init__(self, scopes: Iterable[str]) -> None:
        self._scopes = sorted(set(scopes))
        self._firsts = {scope_id: n << _BITS for n, scope_id in enumerate(self._scopes, 1)}

    def place(self, scope_id: str, turn: int) -> int:
        """Where a turn stands on the line."""
        return self._firsts[scope_id] + turn

    def rows(self, places: Iterable[int], vids: Mapping[int, int]) -> BestRows:
        """Rows at places; `vids` says of a place on the line whose hit stands there."""
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
    """What stands behind that which fills the room, by the size of each.

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
    weights = list(bm25_weights(background).values())
    sums: dict[int, float] = {}
    for mask in set(pool.masks):
        sums[mask] = 0.0
        for place, weight in enumerate(weights):
            if mask >> place & 1:
                sums[mask] += weight

    average = sum(pool.sizes) / max(1, len(pool.sizes)) or 1.0
    k1 = rules.bm25_k1
    scores: list[float] = []
    for mask, size, turn in zip(pool.masks, pool.sizes, pool.turns, strict=True):
        b = TALK_LENGTH if turn else rules.bm25_b
        scores.append(sums[mask] * (k1 + 1) / (1 + k1 * (1 - b + b * size / average)))
    return scores


def _worth_of_turns(
    turns: Mapping[int, int], rules: CompilePolicy, *, lenders: int
) -> dict[int, float]:
    """Turns by their places, and the places around, with what they get from those beside them.

    The best `lenders` lend: what others have is too little to bring a row among the best.
    """
    if not turns:
        return {}

    lending_places = sorted(_best_of(turns, lenders))
    lifts: dict[int, int] = {}
    for part in runs_within(lending_places, 2 * rules.talk_reach):
        run = lending_places[part]
        first = max(run[0] - rules.talk_reach, 1 + (run[0] >> _BITS << _BITS))
        length = run[-1] - first + rules.talk_reach + 1
        strengths = {place - first: turns[place] for place in run}
        lifts.update(enumerate(lifts_of(strengths, length, rules), first))

    worth: dict[int, float] = {}
    for place, share in turns.items():
        worth[place] = share + lifts.get(place, 0)
    # Where as many lend as are read, a row that gets less than the least of them is not read.
    least = min(map(turns.__getitem__, lending_places))
    floor = least if len(lending_places) == lenders else 0
    for place, lift in lifts.items():
        if lift > floor and place not in turns:
            worth[place] = lift
    return worth
