"""Choosing an extractor: what a caller names or brings, and how either is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...schema.errors import InvalidInput
from .answer_cache import AnswerCache, AnswerKey, TenantSeal
from .claims import (
    BatchExtractor,
    ContextualExtractor,
    Extraction,
    ExtractionContext,
    Extractor,
    PaidExtractor,
    TextInContext,
    fitting_claims,
)
from .rules import RuleExtractor


def extractor_of(choice: Extractor | str | None) -> Extractor | None:
    """The extractor that a caller names or brings; None is the rules.

    Raises:
        InvalidInput: `bad_extractor` for a name that means none.
        Unavailable: `extractor_unavailable` when its extra or its key is missing.
    """
    if not isinstance(choice, str):
        return choice
    if choice == "rules":
        return RuleExtractor()

    # A provider's SDK takes half a second to import, so it loads for those who name one.
    from .model import ModelExtractor
    from .providers import provider_named

    return ModelExtractor(provider_named(choice))


def extraction(extractor: Extractor | None, text: str, context: ExtractionContext) -> Extraction:
    """The claims of a text by an extractor, in slots that the tenant has."""
    reader = extractor or RuleExtractor()
    if isinstance(reader, ContextualExtractor):
        return reader.extract_in(text, context)

    claims = fitting_claims(reader.extract(text, at=context.at), context.slots)
    return Extraction(claims=claims, extractor="rules")


def answer_key(
    extractor: Extractor | None, text: str, context: ExtractionContext, seal: TenantSeal
) -> AnswerKey | None:
    """What an answer about a text is kept under; None of an extractor that costs nothing."""
    if not isinstance(extractor, PaidExtractor):
        return None
    return seal.key(text, extractor.question(text, context))


class TextQuestion(NamedTuple):
    """What an extractor is asked about a text that somebody said."""

    text: str
    context: ExtractionContext
    key: AnswerKey | None
    """What its answer is kept under; None where asking costs nothing."""


def kept_extractions(
    extractor: Extractor | None, questions: Sequence[TextQuestion], cache: AnswerCache
) -> list[Extraction]:
    """The claims of texts, of each in its place, from what was answered before where that is kept.

    The texts are of one speaker, who may direct through all of them or none.
    """
    extractions: dict[int, Extraction] = {}
    for place, question in enumerate(questions):
        answer = None if question.key is None else cache.find(question.key)
        if answer is not None:
            extractions[place] = answer

    new_places = [place for place in range(len(questions)) if place not in extractions]
    texts = [TextInContext(questions[place].text, questions[place].context) for place in new_places]
    answers = _answers_of(extractor, texts)

    for place, answer in zip(new_places, answers, strict=True):
        extractions[place] = answer
        key = questions[place].key
        # An outage is not remembered: the next time asks again.
        if key is not None and not answer.failure:
            cache.keep(key, answer)
    return [extractions[place] for place in range(len(questions))]


def _answers_of(
    extractor: Extractor | None, texts: Sequence[TextInContext]
) -> Sequence[Extraction]:
    if isinstance(extractor, BatchExtractor):
        answers = extractor.extract_all(texts)
        if len(answers) != len(texts):
            raise InvalidInput(
                f"{type(extractor).__name__}.extract_all gave {len(answers)} answers about "
                f"{len(texts)} texts; it must give one for each, in order",
                code="bad_extractor",
            )
        return answers

    return [extraction(extractor, text, context) for text, context in texts]
