"""Extraction by a model: what it proposes is checked against the text, and rules stand behind it.

The model sees the tenant's slots, the speaker, the moment and the names that the text mentions.
Every claim must quote the span it comes from: what is not verbatim in the text, names an unknown
slot, or shares no term with its quotation is dropped, so a model that invents writes nothing. When
no whole answer comes, the rules read the text, and the receipt says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from ...schema.errors import InvalidInput, Unavailable
from ...schema.values import canonical_json
from .claim_check import CheckedClaims, by_text, check_claims
from .claims import (
    ExtractedClaim,
    Extraction,
    ExtractionContext,
    TextInContext,
    fitting_claims,
)
from .prompt import instructions_of, offered_slots, request_of_several, requests_of
from .providers import BrokenAnswer, ClaimProposal, Provider
from .rules import RuleExtractor

_MOST_CLAIMS: Final = 64
"""Of a text."""
PIECE: Final = 16_000
"""Characters that are read at once."""

PARALLEL: Final = 8
"""Requests at a time: few enough for the limits of a new account."""

TEXTS_A_REQUEST: Final = 8
"""Texts of an import that share a request: the slots are told once for all of them."""


class ModelExtractor:
    """Finds claims by a model, with rules for when it fails; safe to share between threads."""

    def __init__(
        self,
        provider: Provider,
        *,
        prices: tuple[float, float] | None = None,
        parallel: int = PARALLEL,
        texts_a_request: int = TEXTS_A_REQUEST,
    ) -> None:
        """Take a provider; `prices` are those of a million tokens in and out.

        Of an import the model is asked `parallel` requests at the same time, each about up to
        `texts_a_request` texts of one speaker.

        Raises:
            InvalidInput: `bad_extractor`.
        """
        if parallel < 1 or texts_a_request < 1:
            raise InvalidInput(
                "parallel and texts_a_request are whole numbers from 1 on", code="bad_extractor"
            )
        self._provider = provider
        self._prices = prices
        self._rules = RuleExtractor()
        self.parallel = parallel
        self.texts_a_request = texts_a_request

    def extract(self, text: str, *, at: datetime) -> tuple[ExtractedClaim, ...]:
        """Find claims with no slots known: what rules find, since a model has nothing to fill."""
        return self._rules.extract(text, at=at)

    def question(self, text: str, context: ExtractionContext) -> str:
        """All that an answer depends on beside the text: who is asked, and what they are told."""
        instructions = instructions_of(text, context, offered_slots(context))
        return canonical_json([self._provider.id, instructions, context.vocabulary_version])

    def extract_in(self, text: str, context: ExtractionContext) -> Extraction:
        """Find the claims of a text, in order of appearance; never fails for the model's sake."""
        try:
            return self._propose(text, context)
        except Unavailable as failure:
            return self._by_rules(text, context, failure)

    def extract_all(self, texts: Sequence[TextInContext]) -> tuple[Extraction, ...]:
        """Find the claims of texts that one speaker said, of each in its place.

        They share a request as far as one takes them; what it took is shared out among them.
        """
        if len(texts) <= 1:
            return tuple(self.extract_in(*item) for item in texts)

        if sum(len(text) for text, _ in texts) <= PIECE:
            try:
                return self._propose_several(texts)
            except BrokenAnswer:
                pass  # what was cut for one text too many may be whole in halves
            except Unavailable as failure:
                return tuple(self._by_rules(*item, failure) for item in texts)

        middle = len(texts) // 2
        return (*self.extract_all(texts[:middle]), *self.extract_all(texts[middle:]))

    def _by_rules(self, text: str, context: ExtractionContext, failure: Unavailable) -> Extraction:
        claims = self._rules.extract(text, at=context.at)
        return Extraction(
            claims=fitting_claims(claims, context.slots),
            extractor="rules",
            failure=str(failure),
        )

    def _propose(self, text: str, context: ExtractionContext) -> Extraction:
        slots = offered_slots(context)
        proposals: list[ClaimProposal] = []
        for request in requests_of(text, context, slots, most=PIECE):
            proposals.append(self._provider.propose(*request))

        candidates: list[object] = []
        for proposal in proposals:
            candidates += proposal.claims[:_MOST_CLAIMS]

        return self._extraction(
            check_claims(candidates, text, context, slots),
            tokens_in=sum(proposal.tokens_in for proposal in proposals),
            tokens_out=sum(proposal.tokens_out for proposal in proposals),
        )

    def _propose_several(self, texts: Sequence[TextInContext]) -> tuple[Extraction, ...]:
        slots = offered_slots(texts[0].context)
        proposal = self._provider.propose(*request_of_several(texts, slots))
        candidates = by_text(proposal.claims[: _MOST_CLAIMS * len(texts)], len(texts))
        shares_in = _shares(proposal.tokens_in, len(texts))
        shares_out = _shares(proposal.tokens_out, len(texts))

        extractions: list[Extraction] = []
        for place, (text, context) in enumerate(texts):
            answer = check_claims(candidates[place], text, context, slots)
            extraction = self._extraction(
                answer, tokens_in=shares_in[place], tokens_out=shares_out[place]
            )
            extractions.append(extraction)
        return tuple(extractions)

    def _extraction(self, answer: CheckedClaims, *, tokens_in: int, tokens_out: int) -> Extraction:
        cost = None
        if self._prices is not None:
            price_in, price_out = self._prices
            cost = (tokens_in * price_in + tokens_out * price_out) / 1_000_000
        return Extraction(
            claims=answer.claims,
            extractor=self._provider.id,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            cost=cost,
            dropped=answer.refusals,
        )


def _shares(tokens: int, texts: int) -> list[int]:
    """The tokens of a request by text: whole numbers that add up to all of them."""
    share, remainder = divmod(tokens, texts)
    return [share + (place < remainder) for place in range(texts)]
