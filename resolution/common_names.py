"""Family names that many people here have: a name that is only near then asks nobody to decide.

Where one Rivera is known, Sam Maria Rivera, Samuel Rivera or Sam Riveira may well be Sam Rivera,
and a steward should say so before anything is used. Where many are called Rivera, the next one is
most likely another person; asking for each would make the queue grow faster than the register.
Such a pair is a suggestion. How many are many is `policy.resolution.common_family_name`, of the
people that the caller may see. Pure; checklist C-049.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from anyascii import anyascii

from ..schema.entity import EntityRef
from ..schema.slots import UNKNOWN_TYPE
from .blocking import KeyKind
from .compare import Measures
from .extract import may_be_person
from .keys import alias_key
from .known import FamilyName
from .normalize import form_of
from .register import Register, Rules
from .score import ScoredEntity
from .vetoes import VetoCode

PERSON = "person"


def family_name(mention: EntityRef, limit: int) -> FamilyName | None:
    """The family name of a person, as a store finds its bearers; None of any other name.

    >>> family_name(EntityRef(name="Sam Rivera", type="person"), 5)
    FamilyName(key='t:rivera', ending=' rivera', limit=5)
    """
    is_unknown = mention.type == UNKNOWN_TYPE
    if mention.type != PERSON and not (is_unknown and may_be_person(mention.name)):
        return None
    core = form_of(mention.name, PERSON).core
    if len(core) < 2:
        return None

    # The key of a word has no accents, a stored name has.
    for word in reversed(alias_key(mention.name).split()):
        letters = [letter for letter in anyascii(word).lower() if letter.isalnum()]
        if "".join(letters) == core[-1]:
            return FamilyName(f"{KeyKind.TOKEN.value}:{core[-1]}", f" {word}", limit)
    return None


def without_common_names(
    mention: EntityRef,
    scores: Sequence[ScoredEntity],
    measures_of: Mapping[str, Sequence[Measures]],
    known: Register,
    rules: Rules,
) -> list[ScoredEntity]:
    """The scores, those of people whose names are only near at most a suggestion's.

    Only of people whom no context speaks for: a common project or an address still asks.
    """
    review_above = rules.bands.review_above
    near_ids: set[str] = set()
    for score in scores:
        pair = score.pair
        lacks_context = VetoCode.PERSON_WITHOUT_CONTEXT.value in pair.vetoes
        names = [row for row in measures_of[score.entity_id] if row.right.original == pair.name]
        is_alike = any(map(_is_written_alike, names))
        if pair.score > review_above and lacks_context and not is_alike:
            near_ids.add(score.entity_id)

    # Nobody is counted unless somebody would be asked.
    if not near_ids or not _bears_a_common_name(mention, known, rules):
        return list(scores)

    capped_scores: list[ScoredEntity] = []
    for score in scores:
        pair = score.pair
        if score.entity_id in near_ids:
            vetoes = (*pair.vetoes, VetoCode.COMMON_NAME.value)
            pair = replace(pair, score=review_above, vetoes=vetoes)
        capped_scores.append(ScoredEntity(score.entity_id, pair))
    return capped_scores


def _bears_a_common_name(mention: EntityRef, known: Register, rules: Rules) -> bool:
    """Whether many people that the caller may see have the family name of a mention."""
    limit = rules.bands.common_family_name
    family = family_name(mention, limit)
    if family is None:
        return False

    query = alias_key(mention.name), mention.type, rules.scopes
    stored_count = known.bearers_of(query)
    people_now: set[str] = set()
    for norm in known.sharing(family.key):
        if stored_count + len(people_now) >= limit:
            break
        if not norm.endswith(family.ending):
            continue
        for alias in known.named(norm):
            is_person = alias.type in (PERSON, UNKNOWN_TYPE)
            if is_person and rules.shows(alias, known):
                people_now.add(known.root(alias.entity_id))
    return stored_count + len(people_now) >= limit


def _is_written_alike(measures: Measures) -> bool:
    return measures.same_tokens or measures.same_joined
