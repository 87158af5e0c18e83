"""Choosing an extractor: what a caller names or brings, and how either is asked."""

from __future__ import annotations

from .claims import ContextualExtractor, Extraction, ExtractionContext, Extractor
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
