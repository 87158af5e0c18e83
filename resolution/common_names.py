"""Family names that many people here have: a given name more or fewer then asks nobody to decide.

Where one Rivera is known, Sam Maria Rivera may well be Sam Rivera, and a steward should say so
before anything is used. Where many are called Rivera, the next one is most likely another person;
asking for each would make the queue grow faster than the register. Such a pair is a suggestion.
Pure; checklist C-049.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .compare import Measures
from .score import ScoredEntity
from .vetoes import VetoCode

COMMON_FROM = 3
"""Known people of one family name, among those whose names are near, from which it is common."""


def bears_a_common_name(measures_of: Iterable[Sequence[Measures]]) -> bool:
    """Whether many of the candidates, each with its measures, have the family name of a mention."""
    bearers = 0
    for measures in measures_of:
        bearers += any(row.left.core[-1] == row.right.core[-1] for row in measures)
    return bearers >= COMMON_FROM


def without_common_names(
    scores: Iterable[ScoredEntity],
    measures_of: Mapping[str, Sequence[Measures]],
    review_above: float,
) -> list[ScoredEntity]:
    """The scores, of people who differ by a given name or an initial alone at most a suggestion's.

    Only of people whom no context speaks for: a common project or an address still asks.
    """
    capped_scores: list[ScoredEntity] = []
    for score in scores:
        pair = score.pair
        names = [row for row in measures_of[score.entity_id] if row.right.original == pair.name]
        lacks_context = VetoCode.PERSON_WITHOUT_CONTEXT.value in pair.vetoes
        if pair.score > review_above and lacks_context and any(map(_differ_by_given_names, names)):
            vetoes = (*pair.vetoes, VetoCode.COMMON_NAME.value)
            pair = replace(pair, score=review_above, vetoes=vetoes)
        capped_scores.append(ScoredEntity(score.entity_id, pair))
    return capped_scores


def _differ_by_given_names(measures: Measures) -> bool:
    words = measures.words
    is_longer = bool(words.left_over) != bool(words.right_over)
    has_family_name = measures.left.core[-1] == measures.right.core[-1]
    return has_family_name and (is_longer or words.initial)
