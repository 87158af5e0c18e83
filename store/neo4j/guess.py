"""What a compile is likely to ask next, asked with the names that its reader is opened for.

Most names mean one entity, and a question holds all the words that are searched for: then the
server can tell the candidates at once, and where these are facts all that they lead to: a compile
takes one round trip, or two. Where a name says
less than its bearer is called ("Anna" of Anna Keller, or an id), the words that it lacked the last
time are taken to be those that it lacks again. Where nobody is named, whose wishes are known is
asked, too, and an only one is meant. A guess that proves wrong costs its work on the server and
nothing else: each answer is kept under its question, and what is not among them is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

from ..port.records import Names, NextReads, OpeningReads
from .calls import Reads
from .claim_cache import Generation, Lead, LeadKey, TenantClaims
from .prefetch import RIVALS, questions_of, search_of
from .versions import question, standing_bounds

MOST_MEANT: Final = 16
"""Entities that the names of a question may lead to; more are namesakes, of whom none is meant."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What will be asked, if the names mean what they seem to."""

    names: Names
    opening: OpeningReads
    reads: NextReads
    """What the opening asks beside the names, of nobody yet."""

    def questions(self, calls: Reads) -> dict[str, Any]:
        """What the opening of a reader asks beside the counters and the names."""
        # The server puts in whom the names mean and the words lead to; until then somebody stands
        # there for them.
        forecast = self._of(subjects=("",), leading=("",), centre=())
        bound = questions_of(forecast, calls.tenant, live=True)
        bound["subjects"], bound["siblings"] = bound["subjects"][:1], bound["subjects"][1:]
        rivals = self.opening.rivals
        bound["rivals"] = [question(rivals, forecast.point, RIVALS)] if rivals else []
        caller_pairs = list(map(list, self.opening.own_identifiers))
        wishes = standing_bounds(self.opening.wishes)
        return {**bound, **wishes, "own": caller_pairs, "most_meant": MOST_MEANT}

    def forecast(self, record: Mapping[str, Any], tx_us: int) -> NextReads:
        """What the opening has asked, of the entities that it found and at its stamp."""
        subjects, centre = sorted(record["subject_ids"]), record["centre_ids"]
        forecast = self._of(subjects=subjects, leading=record["leading_ids"], centre=centre)
        return replace(forecast, point=forecast.point._replace(tx_us=tx_us))

    def _of(
        self, *, subjects: Sequence[str], leading: Sequence[str], centre: Sequence[str]
    ) -> NextReads:
        asks = [replace(self.opening.slots, subjects=tuple(subjects)), *self.reads.asks]
        if self.opening.siblings is not None and leading:
            asks.append(replace(self.opening.siblings, subjects=tuple(leading)))
        walk = self.reads.walk
        return replace(
            self.reads,
            asks=tuple(asks),
            walk=walk._replace(entity_ids=tuple(centre)) if walk else None,
        )

    def note(self, leads: Sequence[Lead], terms: Sequence[str], claims: TenantClaims) -> None:
        """Remember which words were searched for beside those of the request, and for whose sake.

        Where several names led, what nobody is known to lack is put down to each that is new.
        """
        caller_leads, scopes = self.opening.own_identifiers, self.names.scopes
        keys: list[LeadKey] = [(lead, scopes) for lead in leads if lead not in caller_leads]
        known = {key: claims.words_of(key) for key in keys}
        foretold = set(chain.from_iterable(filter(None, known.values())))
        further_words = set(terms).difference(self.opening.reads.terms)
        unknown = [key for key in keys if known[key] is None]
        if unknown:
            further_words -= foretold
        elif further_words == foretold:
            return

        # Where all are known and it was wrong together, each is anew put down for all of it.
        for key in unknown or keys:
            claims.note_words(key, tuple(sorted(further_words)))


def guess_of(names: Names, claims: Generation) -> Guess | None:
    """The guess of a reader's opening; None where it is told nothing of what will be asked."""
    lookup, scopes, opening = names
    if opening is None:
        return None

    terms = set(opening.reads.terms)
    leads: tuple[Lead, ...] = (*lookup.norms, *lookup.entity_ids, *lookup.identifiers)
    for lead in leads if claims.lead_words else ():
        terms.update(claims.lead_words.get((lead, scopes), ()))
    reads = replace(opening.reads, terms=tuple(sorted(terms)))

    # A search whose words have to be counted first is left for later.
    search = search_of(reads, live=True)
    if search is None or not search.is_probed:
        reads = replace(reads, terms=())
    return Guess(names, opening, reads)
