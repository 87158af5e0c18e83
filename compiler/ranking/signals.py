"""The signals of relevance and their one sum.

    R = 1 - product over the signals that apply of (1 - weight x value)

in whole millionths. It rises with every signal, never passes 1, and keeps the order of the text
scores where the other signals are equal. The table says what each signal weighs; what it applies
to is in `relevances`. Checklist C-133, C-134.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from ...schema.claim import Version
from ..ir.context import CompileContext
from ..ir.records import Candidate, Snapshot, Via, content_of, is_masked, version_of
from ..text.relevance import (
    FULL,
    Document,
    lexical_by_own_terms,
    micro,
    term_counts,
    term_text,
)
from .asked import Topic
from .near import Links
from .talk import SpokenTurn, named_speaker, order_turns

WEIGHTS: Final[Mapping[str, int]] = {
    "text": FULL,
    "subject": 800_000,
    "near": 500_000,
    "asked": 700_000,
}
STANDING_ASKED: Final = 500_000
"""Least relevance of a preference or limit whose slot is asked."""


def summed(shares: Iterable[tuple[str, int]]) -> int:
    """The sum of signals, each a name of the table with its value in millionths.

    >>> summed([("text", 200_000), ("near", 1_000_000)])
    600000
    """
    rest = FULL
    for name, value in shares:
        rest = rest * (FULL - WEIGHTS[name] * value // FULL) // FULL
    return FULL - rest


def document_of(candidate: Candidate, snapshot: Snapshot, context: CompileContext) -> Document:
    """The terms a candidate is scored by: its own, its condition's and its slot's."""
    version = candidate.version
    if version is None:
        return (term_text(candidate.text),)

    content = content_of(version)
    slot = version.details.slot or ""
    definition = context.vocabulary.slots.get(slot)
    topic = f"{slot.replace('_', ' ')} {definition.description}" if definition else ""
    condition = content.why_it_matters
    # Most objects inherit the description of their slot as the condition.
    if definition is not None and condition == definition.description:
        condition = ""
    if is_masked(candidate, snapshot, context):
        return tuple(map(term_text, dict.fromkeys((condition, topic))))
    # The words of an observation around a fact lead nowhere.
    own = term_text(content.normalized_claim) if slot and content.normalized_claim else ""
    parts = (own or content.terms, term_text(condition), term_text(topic))
    return tuple(filter(None, parts))


def text_scores(
    candidates: Sequence[Candidate],
    documents: Sequence[Document],
    terms: Sequence[frozenset[str]],
    snapshot: Snapshot,
    context: CompileContext,
) -> list[int]:
    """BM25 as a share of the best; a slot's winner also by the words of what it beat.

    `terms` are those by which each candidate may be found.
    """
    rules = context.rules
    all_documents, all_terms = list(documents), list(terms)
    winners: list[int] = []
    for position, candidate in enumerate(candidates):
        for rival in candidate.rivals:
            winners.append(position)
            all_documents.append(document_of(rival, snapshot, context))
            all_terms.append(terms[position])

    scores = lexical_by_own_terms(
        all_terms,
        all_documents,
        k1=rules.bm25_k1,
        b=rules.bm25_b,
        background=snapshot.background,
    )
    own, rivals = scores[: len(candidates)], scores[len(candidates) :]
    for position, score in zip(winners, rivals, strict=True):
        own[position] = max(own[position], score)
    return own


def subject_shares(
    candidates: Sequence[Candidate],
    documents: Sequence[Document],
    terms: Sequence[frozenset[str]],
    topic: Topic,
    context: CompileContext,
) -> dict[str, int]:
    """By subject: how much of the question its facts cover together, in millionths.

    Who asks for a document names its title and wants what is in it. A subject of hundreds of
    facts gives each one less: a document is read as a whole, a person is not.
    """
    names_somebody = bool(topic.names or topic.unknown)
    sought = topic.further_terms if names_somebody else topic.terms
    terms_of_subject: dict[str, set[str]] = {}
    sizes: Counter[str] = Counter()
    for candidate, document, own in zip(candidates, documents, terms, strict=True):
        subject = candidate.subject
        if subject is None or candidate.is_passage:
            continue
        sizes[subject] += 1
        matches = terms_of_subject.setdefault(subject, set())
        for text in document:
            matches |= (own & sought).intersection(term_counts(text)[0])

    shares: dict[str, int] = {}
    for subject, cover in covers_of(sought, terms_of_subject).items():
        facts = context.rules.subject_facts
        wholeness = facts / max(facts, sizes[subject])
        # The square: a subject that covers half of a question is hardly what it is about.
        shares[subject] = round(FULL * cover * cover * wholeness)
    return shares


def turn_scores(
    candidates: Sequence[Candidate],
    cosines: Sequence[int | None],
    runs: Sequence[Sequence[int]],
    topic: Topic,
    snapshot: Snapshot,
    context: CompileContext,
) -> dict[int, int]:
    """The order of the turns of talk by their places, in millionths of the best."""
    places = [place for run in runs for place in run]
    if not places:
        return {}

    speakers = {place: _speaker_of(candidates[place], snapshot) for place in places}
    wording = f"{context.request.query}\n{context.request.user_request}"
    named = named_speaker(wording, filter(None, speakers.values()))
    related = context.language.related_terms(topic.terms).keys()
    turns: list[SpokenTurn] = []
    for place in places:
        candidate = candidates[place]
        version = version_of(candidate)
        if is_masked(candidate, snapshot, context):
            turns.append(SpokenTurn({}, 0))
            continue
        counts, size = _turn_counts(version, topic.terms, speakers[place])
        words = term_counts(content_of(version).terms)[0].keys()
        if not related.isdisjoint(words):
            for term in context.language.unspoken_terms(topic.terms, counts.keys() | words):
                counts[term] = 1
        is_question = content_of(version).text.rstrip().endswith("?")
        by_named = bool(named) and speakers[place] == named
        turns.append(SpokenTurn(counts, size, cosines[place], is_question, by_named, words))

    number = {place: position for position, place in enumerate(places)}
    numbered = [[number[place] for place in run] for run in runs]
    scores = order_turns(turns, numbered, background=snapshot.background)
    return dict(zip(places, scores, strict=True))


def _turn_counts(
    version: Version, terms: frozenset[str], speaker: str
) -> tuple[dict[str, int], int]:
    """How often a turn holds each term of the question, who says it among them, and its size.

    Stored terms hold more than what was said: a tidied copy, and the condition. Counted with them a
    turn of one word would be as long as a sentence.
    """
    content = content_of(version)
    counts, size = term_counts(content.terms)
    condition, condition_size = term_counts(term_text(content.why_it_matters))
    copies = 1 if content.normalized_claim in ("", content.text) else 2
    name, name_size = term_counts(term_text(speaker))

    held: dict[str, int] = {}
    for term in terms:
        own = (counts.get(term, 0) - condition.get(term, 0)) // copies + name.get(term, 0)
        if own > 0:
            held[term] = own
    return held, max(0, size - condition_size) // copies + name_size


def _speaker_of(candidate: Candidate, snapshot: Snapshot) -> str:
    entity = snapshot.known.entities.get(candidate.subject or "")
    return entity.name if entity is not None else ""


def standing_floor(
    candidate: Candidate, topic: Topic, context: CompileContext, *, is_wish: bool
) -> int:
    """The least relevance of a wish or a limit of whom the request is for; 0 for all else."""
    version = candidate.version
    if version is None or not (candidate.by_task or candidate.subject in topic.people):
        return 0
    slot = version.details.slot or ""
    is_heard = bool(version.details.derived_from) and not candidate.by_task
    # What was heard in talk guides the caller, and nobody whom the question only names.
    if is_heard and topic.names and slot not in topic.slots:
        return 0
    definition = context.vocabulary.slots.get(slot)
    is_limit = definition is not None and definition.limits
    if not (is_wish or is_limit):
        return 0
    return STANDING_ASKED if slot in topic.slots else micro(context.rules.wish_relevance)


def is_vital(candidate: Candidate, topic: Topic, links: Links, context: CompileContext) -> bool:
    """Whether the question asks for it, or it limits what may be answered."""
    version = candidate.version
    if version is None or not version.details.slot:
        return False
    slot = context.vocabulary.slots.get(version.details.slot)
    of_person = candidate.subject in topic.people
    if of_person and slot is not None and (slot.limits or slot.name in topic.slots):
        return True
    link = links.by_id.get(candidate.object_id)
    return candidate.object_id in links.asked and link is not None and not link.distance


def own_turns(
    candidates: Sequence[Candidate], speakers: frozenset[str], masked: Sequence[bool]
) -> dict[int, int]:
    """The turns of some speakers that no claim was made of, numbered from the oldest."""
    turns: list[int] = []
    for place, candidate in enumerate(candidates):
        is_own = candidate.subject in speakers and not candidate.via & Via.CLAIMED
        if candidate.is_turn and is_own and not masked[place]:
            turns.append(place)
    turns.sort(key=lambda place: version_of(candidates[place]).row.vid)
    return {place: number for number, place in enumerate(turns, 1)}


def covers_of(terms: frozenset[str], terms_of_subject: Mapping[str, set[str]]) -> dict[str, float]:
    """By subject: the share of the question that it covers, rare terms counting more."""
    spread = Counter(chain.from_iterable(terms_of_subject.values()))
    total = len(terms_of_subject)

    # In the order of the terms, so that sums of floats are the same on every machine.
    weights: dict[str, float] = {}
    for term in sorted(terms):
        weights[term] = math.log(1 + (total + 1) / (spread[term] + 0.5))

    total_weight = sum(weights.values()) or 1.0
    covers: dict[str, float] = {}
    for subject, matches in terms_of_subject.items():
        weight = sum(map(weights.__getitem__, sorted(matches)))
        covers[subject] = round(weight / total_weight, 9)
    return covers
