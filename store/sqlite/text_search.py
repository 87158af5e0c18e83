"""The text search of one snapshot: which claims share words with a question, and what tells most.

A search looks at the scopes of its caller alone, whose words are in the index next to those of
the texts. How many claims hold each word there is counted first, so that a word that is everywhere
proposes nothing; the telling ones are searched together, each by its weight.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from sys import intern
from typing import TYPE_CHECKING, Final, NamedTuple

from ..port.records import TextPool
from ..search.term_weights import (
    POOL_TERMS,
    PoolRow,
    VisibleHits,
    common,
    is_searchable,
    pool_of,
    pool_weights,
    searched_scopes,
    telling_weights,
    visible_hits,
)
from . import codec, sql

if TYPE_CHECKING:
    from ...schema.principal import Sight
    from ..search.caches import Halves

_LARGE_SCOPES: Final = 6_000
"""Texts of scopes from which on a query of the index that names them is dear: it goes through them
all, and there may be a million."""
_LOOKUPS: Final = 1_000
"""Claims that may hold a word for the scope of each to be looked up instead."""
_WORDS: Final = (1 << POOL_TERMS) - 1
"""The bits of a total that say which words are held."""


class TextAsk(NamedTuple):
    """A search for words in one snapshot."""

    terms: Sequence[str]
    limit: int
    """How many hits are wanted."""
    now: bool
    """Whether among heads that stand, or among all claims."""
    narrowing: Narrowing
    """To the scopes of the caller."""


class Narrowing(NamedTuple):
    """What narrows the searches of a sight, as long as the file has so many permission sets."""

    permits: int
    query: str
    """What comes before a query of the index; empty where nothing is next to these scopes."""
    scopes: str
    """The scopes as JSON."""
    lookup_limit: int
    """Claims that may hold a word for the scope of each to be looked up."""


class WordSpread(NamedTuple):
    """Where a word is."""

    claims: int
    """How many claims of the scopes that are searched hold it, exact up to what is common."""
    query: str
    """What finds them, and of other scopes no more than as many or a few."""


class WordCount(NamedTuple):
    """The question of how many claims hold a word."""

    query: str
    limit: int
    """Where counting ends."""
    now: bool
    """Whether of heads that stand, or of all claims."""


class TextSize(NamedTuple):
    """What never changes of a text that is ranked by numbers."""

    size: int
    """Characters of its terms."""
    scope_id: str
    turn: int
    """0 for what nobody said."""
    is_fact: bool


def _counts(spread: Mapping[str, WordSpread]) -> dict[str, int]:
    return {word: place.claims for word, place in spread.items()}


def _by_weight(totals: Mapping[int, int]) -> list[int]:
    """Claims by what their words weigh, of equals the newest first."""
    order = sorted(totals, reverse=True)
    order.sort(key=lambda claim_id: totals[claim_id] >> POOL_TERMS, reverse=True)
    return order


def _phrase(term: str) -> str:
    return f'"{term}"'


class TextMemory(NamedTuple):
    """What a snapshot may use of what other searches counted."""

    sizes: Halves[int, TextSize]
    """By claim."""
    counts: Halves[WordCount, int]
    narrowings: Halves[Sight, Narrowing]


class TextSearch:
    """The searches of one snapshot: for the hits themselves, and for the columns of many."""

    def __init__(self, db: sqlite3.Connection, memory: TextMemory, *, permits: int) -> None:
        self._db = db
        self._memory = memory
        self._permits = permits

    def ask(self, terms: Sequence[str], *, sight: Sight, limit: int, now: bool) -> TextAsk:
        """What a sight asks for: `limit` hits of terms, among what stands now or among all."""
        return TextAsk(terms, limit, now, self._narrowing(sight))

    def hits(self, ask: TextAsk) -> sqlite3.Cursor:
        """Search the numbers of claims and what the words that they share weigh, most first."""
        spread = self._spread(ask)
        weights = {
            spread[term].query: value
            for term, value in telling_weights(_counts(spread), ask.limit).items()
        }
        if len(weights) == 1:  # in the index's own order, so that a common term can stop early
            return self._db.execute(sql.MATCH[ask.now], tuple(weights))

        search = sql.MATCHES[ask.now]
        return self._db.execute(search, (json.dumps(weights),))

    def pool(self, ask: TextAsk, *, bound: Mapping[str, object], unless: int) -> TextPool | None:
        """The visible ones among the first hits; None where they are at most `unless`.

        `bound` says what may be seen, and the point.
        """
        spread = self._spread(ask)
        weights = pool_weights(_counts(spread), ask.limit)
        if sum(spread[term].claims for term, weight in weights.items() if weight) <= unless:
            return None  # as for most questions: all that any of them could find is little

        totals = self._totals(weights, spread, now=ask.now)
        page = visible_hits(self._places(_by_weight(totals), bound, ask), ask.limit)
        if len(page.rows) <= unless:
            return None

        masks = {claim_id: totals[claim_id] & _WORDS for _, claim_id in page.rows}
        self._add_common(masks, weights, now=ask.now)
        sizes = self._sizes_of(list(masks))
        rows = [PoolRow(vid, masks[claim_id], *sizes[claim_id]) for vid, claim_id in page.rows]
        return pool_of(VisibleHits(rows, page.withheld, page.cut), list(weights))

    def _narrowing(self, sight: Sight) -> Narrowing:
        """What narrows a search to the scopes of a sight."""
        known = self._memory.narrowings.get(sight)
        if known is not None and known.permits == self._permits:
            return known

        scopes = searched_scopes(sight)
        scope_list = codec.list_json(scopes)
        permits = dict(self._db.execute(sql.SCOPE_PERMITS, (scope_list,)))
        query, lookup_limit = "", 0
        if scopes and sum(permits.values()) < self._permits:
            # Where nothing is in any of them, the word of one is as good as those of all.
            scopes_in_use = [scope for scope in scopes if permits[scope]] or scopes[:1]
            words = " OR ".join(_phrase(codec.scope_word(scope)) for scope in scopes_in_use)
            texts = self._db.execute(sql.COUNT[False], (words, _LARGE_SCOPES)).fetchone()[0]
            lookup_limit = _LOOKUPS if texts == _LARGE_SCOPES else 0
            query = f"({words}) AND "
        narrowing = Narrowing(self._permits, query, scope_list, lookup_limit)
        self._memory.narrowings.put(sight, narrowing)
        return narrowing

    def _totals(
        self, weights: Mapping[str, int], spread: Mapping[str, WordSpread], *, now: bool
    ) -> dict[int, int]:
        """What the words that a claim holds weigh, and in the first bits which they are."""
        # Added up here: for SQLite to group and sort thousands of hits takes twice as long.
        statement = sql.HOLDERS[now]
        totals: dict[int, int] = {}
        for place, (term, weight) in enumerate(weights.items()):
            if not weight:
                continue
            share = (weight << POOL_TERMS) | 1 << place
            for (claim_id,) in self._db.execute(statement, (spread[term].query,)):
                totals[claim_id] = totals.get(claim_id, 0) + share
        return totals

    def _spread(self, ask: TextAsk) -> dict[str, WordSpread]:
        """Where each word of a question stands."""
        # Counting ends one above what is common: a word that is everywhere costs no more.
        limit = common(ask.limit) + 1
        count, count_few = sql.COUNT[ask.now], sql.COUNT_FEW[ask.now]
        spread: dict[str, WordSpread] = {}
        for word in filter(is_searchable, dict.fromkeys(ask.terms)):
            phrase = _phrase(word)
            query = ask.narrowing.query + phrase
            tenant_claims = self._count(WordCount(phrase, limit, ask.now), count, (phrase, limit))
            if query == phrase or not tenant_claims:
                spread[word] = WordSpread(tenant_claims, phrase)
            elif tenant_claims > ask.narrowing.lookup_limit:
                claims = self._count(WordCount(query, limit, ask.now), count, (query, limit))
                # Where the caller sees most that hold it, the others cost less than the scopes.
                spread[word] = WordSpread(claims, phrase if tenant_claims <= 2 * claims else query)
            else:
                values = phrase, ask.narrowing.scopes
                claims = self._count(WordCount(query, limit, ask.now), count_few, values)
                spread[word] = WordSpread(claims, phrase)
        return spread

    def _count(self, question: WordCount, statement: str, values: Sequence[object]) -> int:
        """The answer to a question: from memory where it was asked since the last event."""
        claims = self._memory.counts.get(question)
        if claims is None:
            claims = int(self._db.execute(statement, values).fetchone()[0])
            self._memory.counts.put(question, claims)
        return claims

    def _places(
        self, claims: Iterable[int], bound: Mapping[str, object], ask: TextAsk
    ) -> Iterator[tuple[int, int] | None]:
        """Yield row and claim of each hit in their order, None for one that may not be seen."""
        queue = iter(claims)
        while chunk := list(islice(queue, ask.limit + 1)):
            lines = self._db.execute(
                sql.POOL_LINES[ask.now], {**bound, "claims": codec.list_json(chunk)}
            )
            for vid, claim_id, is_visible in lines:
                yield (vid, claim_id) if is_visible else None

    def _add_common(self, masks: dict[int, int], weights: Mapping[str, int], *, now: bool) -> None:
        """Add to `masks` which hits hold the common words: those propose nothing themselves."""
        statement = sql.HOLDERS[now]
        any_word = " OR ".join(_phrase(term) for term, weight in weights.items() if weight)
        for place, (term, weight) in enumerate(weights.items()):
            if weight:
                continue
            query = f"{_phrase(term)} AND ({any_word})"
            for (claim_id,) in self._db.execute(statement, (query,)):
                if claim_id in masks:
                    masks[claim_id] |= 1 << place

    def _sizes_of(self, claims: Sequence[int]) -> dict[int, TextSize]:
        """What is known of each text: from memory where it was read before."""
        sizes = self._memory.sizes.get_many(claims)
        gaps = [claim_id for claim_id in claims if claim_id not in sizes]
        if gaps:
            lines = self._db.execute(sql.SIZES, (codec.list_json(gaps),))
            for claim_id, length, scope_id, turn, is_fact in lines:
                # Thousands of texts are in few scopes, whose names are kept once.
                sizes[claim_id] = TextSize(length, intern(scope_id), turn or 0, bool(is_fact))
                self._memory.sizes.put(claim_id, sizes[claim_id])
        return sizes
