"""The names that blocking keys propose, for all mentions of a group at once.

The keys of a group are counted, and the norms behind them read, by one statement each; most
mentions share their common keys with others. What is heaviest is summed here and not in SQL,
because a query can stop where no further key can lift a name among the heaviest. Weights are whole
numbers, so every store proposes the same.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import countOf
from typing import NamedTuple

from ...resolution.known import FamilyName, Lookup, worth_it
from ...resolution.postings import (
    HEAVIER_ENOUGH,
    Posting,
    heaviest,
    hit_weight,
    is_crowd,
    kth_largest,
)
from . import codec
from .codec import Line
from .sql import register as sql

Names = tuple[Lookup, Sequence[str]]
"""A look-up, and the scopes whose aliases may answer it."""
Hit = tuple[Line, int]
"""A line of an alias, and its weight."""

AT_ONCE = 16
"""Look-ups of one statement: what they share is read once, and the lists stay small."""


class _Question(NamedTuple):
    """One look-up with the keys that weigh anything, and the first names to read."""

    lookup: Lookup
    scopes: tuple[str, ...]
    postings: list[Posting[int]]
    bar: int
    """The weight of the last norm within the limit; 0 where there are fewer."""
    heavy: Mapping[int, int]
    """The weight of each norm above it, by number."""
    is_crowded: bool
    """Whether the tied norms are left out, as long as enough of the heavier are visible."""
    tied_numbers: tuple[int, ...]
    """The norms of just that weight; none of a crowd."""


class Proposals:
    """What the blocking keys of some look-ups propose, at most `AT_ONCE` together."""

    def __init__(self, db: sqlite3.Connection, tx_us: int) -> None:
        self._db = db
        self._tx_us = tx_us

    def hits(self, lookups: Sequence[Names]) -> Iterator[list[Hit]]:
        """Yield, for each look-up in order, the heaviest visible aliases that are worth it."""
        questions = self._questions(lookups)
        first_norms = self._first_norms(questions)
        lines = self._lines(questions, first_norms)

        for question, norms in zip(questions, first_norms, strict=True):
            visible_lines = lines.get(question.scopes, {})
            proposals: list[Hit] = []
            for norm, norm_weight in norms.items():
                for line in visible_lines.get(norm, ()):
                    proposals.append((line, norm_weight))

            # The heaviest norms may be those of closed aliases, or of scopes nobody asked for.
            minimum = HEAVIER_ENOUGH if question.is_crowded else question.lookup.limit
            if question.bar and len(proposals) < minimum:
                self._add_lighter(question, norms, proposals)

            yield _worth_reading(proposals, question.lookup)

    def bearers(self, family: FamilyName, scopes: Sequence[str]) -> int:
        """How many visible people have a family name, as far as its limit."""
        bound: dict[str, object] = {**family._asdict(), "tx": self._tx_us}
        bound["scopes"] = codec.list_json(scopes)
        (count,) = self._db.execute(sql.BEARERS, bound).fetchone()
        return int(count)

    def _questions(self, lookups: Sequence[Names]) -> list[_Question]:
        """The look-ups with the names behind their keys, summed as far as the limit asks."""
        counts = self._counts({key for lookup, _ in lookups for key, _ in lookup.block_keys})
        total = self._db.execute(sql.COUNT_NORMS).fetchone()[0] if counts else 0

        weights_of: list[dict[str, int]] = []
        for lookup, _ in lookups:
            weights: dict[str, int] = {}
            for key, kind_weight in lookup.block_keys:
                kind, postings = counts.get(key, ("", 0))
                if postings:
                    weight = hit_weight(kind, kind_weight, postings=postings, total=total)
                    if weight is not None:
                        weights[key] = weight
            weights_of.append(weights)

        norms_of = self._norms_behind({key for weights in weights_of for key in weights})
        questions: list[_Question] = []
        for (lookup, scopes), weights in zip(lookups, weights_of, strict=True):
            postings_of = [Posting(weight, norms_of[key]) for key, weight in weights.items()]
            postings_of.sort(key=_lightest_last)
            heavy = heaviest(postings_of, lookup.limit)
            questions.append(_question(lookup, scopes, postings_of, heavy))
        return questions

    def _counts(self, keys: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Kind and number of norms of each key that any norm carries."""
        rows = self._db.execute(sql.BLOCK_COUNTS, (codec.list_json(sorted(keys)),))
        return {key: (kind, postings) for key, kind, postings in rows}

    def _norms_behind(self, keys: Iterable[str]) -> dict[str, list[int]]:
        rows = self._db.execute(sql.POSTINGS, (codec.list_json(sorted(keys)),))
        return {key: json.loads(numbers) for key, numbers in rows}

    def _first_norms(self, questions: Sequence[_Question]) -> list[dict[str, int]]:
        """Each question's heaviest norms with their weight, as many as its limit.

        Nearly always they are enough: the lighter are read where aliases are closed or unseen.
        """
        numbers: set[int] = set()
        for question in questions:
            numbers.update(question.heavy)

        rows = self._db.execute(sql.NORMS, (codec.list_json(numbers),))
        names = {number: norm for norm, number in rows}
        norms_of: list[dict[str, int]] = []
        for question in questions:
            norms: dict[str, int] = {}
            for number, weight in question.heavy.items():
                if number in names:
                    norms[names[number]] = weight
            norms.update(self._tied_norms(question, question.lookup.limit - len(norms)))
            norms_of.append(norms)
        return norms_of

    def _tied_norms(self, question: _Question, free: int) -> dict[str, int]:
        """The norms that weigh as much as the last within the limit, as many as are free."""
        if not question.bar or free <= 0 or not question.tied_numbers:
            return {}

        # Thousands may bear one common word. Ordered by the file, only what has a place is read.
        numbers = codec.list_json(question.tied_numbers)
        norms = self._db.execute(sql.NORMS_IN_ORDER, (numbers, free))
        return {norm: question.bar for norm, _ in norms}

    def _lines(
        self, questions: Sequence[_Question], norms_of: Sequence[Mapping[str, int]]
    ) -> dict[tuple[str, ...], dict[str, list[Line]]]:
        """The open aliases of all these norms, by the scopes asked for and by norm."""
        norms_in: dict[tuple[str, ...], set[str]] = {}
        for question, norms in zip(questions, norms_of, strict=True):
            norms_in.setdefault(question.scopes, set()).update(norms)

        lines_in: dict[tuple[str, ...], dict[str, list[Line]]] = {}
        for scopes, visible_norms in norms_in.items():
            lines = lines_in.setdefault(scopes, {})
            for line in self._aliases(sorted(visible_norms), scopes):
                lines.setdefault(line[2], []).append(line)
        return lines_in

    def _add_lighter(self, question: _Question, norms: Mapping[str, int], hits: list[Hit]) -> None:
        """Read on in order of weight until there are as many aliases as the limit."""
        alike: dict[int, list[str]] = {}
        weights = heaviest(question.postings, None)
        for norm, number in self._db.execute(sql.NORMS, (codec.list_json(weights),)):
            if norm not in norms:
                alike.setdefault(weights[number], []).append(norm)

        lighter: list[tuple[str, int]] = []
        for weight in sorted(alike, reverse=True):
            for norm in sorted(alike[weight]):
                lighter.append((norm, weight))

        # A limit at a time: what is visible among the next ones is nearly always enough.
        limit = question.lookup.limit
        for position in range(0, len(lighter), limit):
            weight_of = dict(lighter[position : position + limit])
            lines = self._aliases(weight_of, question.scopes)
            for line in lines:
                hits.append((line, weight_of[line[2]]))
            if len(hits) >= limit:
                break

    def _aliases(self, norms: Iterable[str], scopes: Sequence[str]) -> list[Line]:
        scope_list = codec.list_json(scopes)
        bound = {"norms": codec.list_json(norms), "scopes": scope_list, "tx": self._tx_us}
        return self._db.execute(sql.VISIBLE_ALIASES, bound).fetchall()


def _question(
    lookup: Lookup,
    scopes: Sequence[str],
    postings: list[Posting[int]],
    weights: Mapping[int, int],
) -> _Question:
    limit = lookup.limit
    bar = kth_largest(weights.values(), limit)
    # Weights below the bar may be short of a key: whoever is under it was not summed to the end.
    heavy = {number: weight for number, weight in weights.items() if weight > bar}

    # Nearly all of a thousand norms may tie. A crowd is counted in one step, and never listed.
    tied_count = countOf(weights.values(), bar)
    is_crowded = is_crowd(heavier=len(heavy), equals=tied_count, limit=limit)
    tied_numbers: tuple[int, ...] = ()
    if not is_crowded:
        tied_numbers = tuple([number for number, weight in weights.items() if weight == bar])
    return _Question(lookup, tuple(scopes), postings, bar, heavy, is_crowded, tied_numbers)


def _worth_reading(hits: list[Hit], lookup: Lookup) -> list[Hit]:
    """The heaviest within the limit, ties by alias key, without those that are not near."""
    heaviest_hits = hits
    if len(hits) > lookup.limit:
        heaviest_hits = sorted(hits, key=_by_weight)[: lookup.limit]

    norms = worth_it([(line[1], line[2]) for line, _ in heaviest_hits], lookup)
    return [hit for hit in heaviest_hits if hit[0][2] in norms]


def _by_weight(hit: Hit) -> tuple[object, ...]:
    """The place among proposals: the weight, then as `alias_order` has it."""
    (entity_id, _, norm, type, scope_id, ordinal, valid_from, *_), weight = hit
    return -weight, norm, entity_id, scope_id, type, ordinal, valid_from


def _lightest_last(posting: Posting[int]) -> int:
    return -posting.weight
