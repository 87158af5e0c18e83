"""The text search of one snapshot: which claims share words with a question, and what tells most.

A search looks at the scopes of its caller alone, whose words stand in the index beside those of
the texts. How many claims hold each word there is counted first, so that a word that is everywhere
proposes nothing; the telling ones are searched together, each by its weight.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from ..port.records import TextPool
from ..search.term_weights import (
    POOL_TERMS,
    common,
    is_searchable,
    pool_weights,
    searched_scopes,
    telling_weights,
)
from ..search.text_pool import PoolRow, VisibleHits, pool_of, visible_hits
from . import codec
from .sql import text as sql

if TYPE_CHECKING:
    from ...schema.principal import Sight
    from ..search.two_generation_cache import Halves

_WORDS: Final = (1 << POOL_TERMS) - 1
"""The bits of a total that say which words are held."""


class TextAsk(NamedTuple):
    """A search for words in one snapshot."""

    terms: Sequence[str]
    limit: int
    """How many hits are wanted."""
    now: bool
    """Whether among heads that stand, or among all claims."""
    narrowing: str
    """What narrows a query of the index to the scopes of the caller; empty where nothing does."""

    def holders(self, query: str) -> str:
        """The query for the claims of these scopes that a query finds."""
        return self.narrowing + query


class Narrowing(NamedTuple):
    """What narrows the searches of a sight, as long as the file has so many permission sets."""

    permits: int
    query: str


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
    is_talk: bool
    is_fact: bool


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
        weights = {
            ask.holders(_phrase(term)): value
            for term, value in telling_weights(self._spread(ask), ask.limit).items()
        }
        if len(weights) == 1:  # in the index's own order, so that a common term can stop early
            return self._db.execute(sql.MATCH_LIVE if ask.now else sql.MATCH_ALL, tuple(weights))

        search = sql.MATCHES_LIVE if ask.now else sql.MATCHES_ALL
        return self._db.execute(search, (json.dumps(weights),))

    def pool(self, ask: TextAsk, *, bound: Mapping[str, object], unless: int) -> TextPool | None:
        """The visible ones among the first hits; None where they are at most `unless`.

        `bound` says what may be seen, and the point.
        """
        spread = self._spread(ask)
        weights = pool_weights(spread, ask.limit)
        if sum(spread[term] for term, weight in weights.items() if weight) <= unless:
            return None  # as for most questions: all that any of them could find is little

        totals = self._totals(weights, ask)
        page = visible_hits(self._places(_by_weight(totals), bound, ask), ask.limit)
        if len(page.rows) <= unless:
            return None

        masks = {claim_id: totals[claim_id] & _WORDS for _, claim_id in page.rows}
        self._add_common(masks, weights, ask)
        sizes = self._sizes_of(list(masks))
        rows = [PoolRow(vid, masks[claim_id], *sizes[claim_id]) for vid, claim_id in page.rows]
        return pool_of(VisibleHits(rows, page.withheld, page.cut), list(weights))

    def _narrowing(self, sight: Sight) -> str:
        """What narrows a query to the scopes of a sight; empty where nothing stands beside them."""
        scopes = searched_scopes(sight)
        if not scopes:
            return ""

        known = self._memory.narrowings.get(sight)
        if known is not None and known.permits == self._permits:
            return known.query

        permits = dict(self._db.execute(sql.SCOPE_PERMITS, (codec.list_json(scopes),)))
        query = ""
        if sum(permits.values()) < self._permits:
            # Where nothing stands in any of them, the word of one is as good as those of all.
            scopes_in_use = [scope for scope in scopes if permits[scope]] or scopes[:1]
            words = " OR ".join(_phrase(codec.scope_word(scope)) for scope in scopes_in_use)
            query = f"({words}) AND "
        self._memory.narrowings.put(sight, Narrowing(self._permits, query))
        return query

    def _totals(self, weights: Mapping[str, int], ask: TextAsk) -> dict[int, int]:
        """What the words that a claim holds weigh, and in the first bits which they are."""
        # Added up here: for SQLite to group and sort thousands of hits takes twice as long.
        statement = sql.HOLDERS_LIVE if ask.now else sql.HOLDERS_ALL
        totals: dict[int, int] = {}
        for place, (term, weight) in enumerate(weights.items()):
            if not weight:
                continue
            share = (weight << POOL_TERMS) | 1 << place
            for (claim_id,) in self._db.execute(statement, (ask.holders(_phrase(term)),)):
                totals[claim_id] = totals.get(claim_id, 0) + share
        return totals

    def _spread(self, ask: TextAsk) -> dict[str, int]:
        """How many claims hold each word, exact up to what is common."""
        count = sql.COUNT_LIVE if ask.now else sql.COUNT_ALL
        # Counting ends one above what is common: a word that is everywhere costs no more.
        most = common(ask.limit) + 1
        counts = self._memory.counts
        spread: dict[str, int] = {}
        for word in filter(is_searchable, dict.fromkeys(ask.terms)):
            question = WordCount(ask.holders(_phrase(word)), most, ask.now)
            holders = counts.get(question)
            if holders is None:
                (holders,) = self._db.execute(count, (question.query, most)).fetchone()
                counts.put(question, holders)
            spread[word] = holders
        return spread

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

    def _add_common(self, masks: dict[int, int], weights: Mapping[str, int], ask: TextAsk) -> None:
        """Add to `masks` which hits hold the common words: those propose nothing themselves."""
        statement = sql.HOLDERS_LIVE if ask.now else sql.HOLDERS_ALL
        any_word = " OR ".join(_phrase(term) for term, weight in weights.items() if weight)
        for place, (term, weight) in enumerate(weights.items()):
            if weight:
                continue
            query = f"{_phrase(term)} AND ({any_word})"
            for (claim_id,) in self._db.execute(statement, (ask.holders(query),)):
                if claim_id in masks:
                    masks[claim_id] |= 1 << place

    def _sizes_of(self, claims: Sequence[int]) -> dict[int, TextSize]:
        """What is known of each text: from memory where it was read before."""
        sizes = self._memory.sizes.get_many(claims)
        gaps = [claim_id for claim_id in claims if claim_id not in sizes]
        if gaps:
            lines = self._db.execute(sql.SIZES, (codec.list_json(gaps),))
            for claim_id, length, is_talk, is_fact in lines:
                sizes[claim_id] = TextSize(length, bool(is_talk), bool(is_fact))
                self._memory.sizes.put(claim_id, sizes[claim_id])
        return sizes
