"""Siblings: the other facts about a subject that the question's words led to.

Somebody who asks for a document names its title; what is wanted are its timeline and its
deliverables, which share no word with the question. So the current facts about the few subjects
whose facts cover most of the question are read too, and a subject lifts all of its facts by the
share of the question that they cover together. A subject of hundreds of facts lifts each one
less: a document is read as a whole, a person is not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

from ...schema.claim import Version
from ...store.port.store import Ask
from ..ir.candidate import Candidate
from ..ir.context import CompileContext
from ..ir.snapshot import Via
from ..text.relevance import FULL, Document, term_counts, terms_of
from .candidates import Candidates, siblings_ask
from .redaction import masks

_SUBJECTS: Final = 4
"""Subjects whose other facts are read: those that cover most of the question."""

_LEAST_COVER: Final = 0.5
"""Share of the best subject's cover from which another one is read."""


def sibling_ask(
    candidates: Candidates, terms: frozenset[str], known_subjects: Iterable[str]
) -> Ask | None:
    """The ask for the current facts about the subjects that the question's words led to."""
    if not candidates.context.rules.subject_lift:
        return None

    facts: list[tuple[str, Version]] = []
    for version, via, _ in candidates.rows.values():
        subject = version.details.subject_id
        if subject is not None and via & Via.TEXT and _is_fact(version, candidates):
            facts.append((subject, version))
    if {subject for subject, _ in facts}.issubset(known_subjects):
        return None  # as for most questions that name somebody: their words need no count

    terms_of_subject: dict[str, set[str]] = {}
    for subject, version in facts:
        terms_of_subject.setdefault(subject, set()).update(terms & _claim_terms(version))

    covers = _covers(terms, terms_of_subject)
    best = max(covers.values(), default=0.0)
    leaders: list[str] = []
    for subject, cover in covers.items():
        if cover and cover >= _LEAST_COVER * best:
            leaders.append(subject)

    # By name last: two subjects of one cover must be read in the same order on every run.
    leaders.sort(key=lambda subject: (-covers[subject], subject))
    missing = sorted(set(leaders[:_SUBJECTS]).difference(known_subjects))
    return siblings_ask(missing) if missing else None


def add_siblings(candidates: Candidates, ask: Ask, capped_ids: Sequence[str]) -> None:
    """Add the visible facts of an ask, but for those that a cap left out already.

    How many are hidden is not counted: words of the question led here, and a count would let
    them guess.
    """
    candidates.reads += 1
    surplus_ids = frozenset(capped_ids)
    for version in candidates.read(ask).versions:
        if version.visible and version.row.claim.object_id not in surplus_ids:
            candidates.add([version], Via.SIBLING)


def _is_fact(version: Version, candidates: Candidates) -> bool:
    details = version.details
    if not version.visible or version.content is None or details.slot is None:
        return False
    return not masks(details, candidates.context, candidates.own_ids)


def _claim_terms(version: Version) -> frozenset[str]:
    """The terms of what a fact says; the words of a raw text around it lead nowhere."""
    content = version.content
    return terms_of(content.normalized_claim or content.text) if content else frozenset()


def lifted_by_subject(
    candidates: Sequence[Candidate],
    relevances: Sequence[int],
    documents: Sequence[Document],
    terms: frozenset[str],
    context: CompileContext,
) -> list[int]:
    """Relevances in which every fact has a share of what the facts of its subject cover."""
    rules = context.rules
    terms_of_subject: dict[str, set[str]] = {}
    sizes: Counter[str] = Counter()
    for candidate, document in zip(candidates, documents, strict=True):
        subject = candidate.subject
        if subject is None or candidate.is_passage:
            continue

        sizes[subject] += 1
        matches = terms_of_subject.setdefault(subject, set())
        for text in document:
            matches |= terms.intersection(term_counts(text)[0])

    covers = _covers(terms, terms_of_subject)
    lifts: dict[str, int] = {}
    for subject, cover in covers.items():
        wholeness = rules.subject_facts / max(rules.subject_facts, sizes[subject])
        # The square: a subject that covers half of a question is hardly what it is about.
        lifts[subject] = round(FULL * rules.subject_lift * cover * cover * wholeness)

    results = list(relevances)
    for position, candidate in enumerate(candidates):
        if candidate.subject is not None and not candidate.is_passage:
            room = FULL - results[position]
            results[position] += room * lifts[candidate.subject] // FULL
    return results


def _covers(terms: frozenset[str], terms_of_subject: Mapping[str, set[str]]) -> dict[str, float]:
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
