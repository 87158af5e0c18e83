"""Choosing an extractor: what a caller names or brings, and how either is asked."""

from __future__ import annotations

from .answer_cache import AnswerCache, AnswerKey, TenantSeal
from .claims import (
    ContextualExtractor,
    Extraction,
    ExtractionContext,
    Extractor,
    PaidExtractor,
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

    claims = reader.extract(text, at=context.at)
    fitting = tuple(claim for claim in claims if claim.slot in context.slots)
    return Extraction(claims=fitting, extractor="rules")


def answer_key(
    extractor: Extractor | None, text: str, context: ExtractionContext, seal: TenantSeal
) -> AnswerKey | None:
    """What an answer about a text is kept under; None of an extractor that costs nothing."""
    if not isinstance(extractor, PaidExtractor):
        return None
    return seal.key(text, extractor.question(text, context))


def kept_extraction(
    extractor: Extractor | None,
    text: str,
    context: ExtractionContext,
    *,
    key: AnswerKey | None,
    cache: AnswerCache,
) -> Extraction:
    """The claims of a text, from what was answered before where that is kept."""
    answer = None if key is None else cache.find(key)
    if answer is not None:
        return answer

    answer = extraction(extractor, text, context)
    # An outage is not remembered: the next time asks again.
    if key is not None and not answer.failure:
        cache.keep(key, answer)
    return answer
