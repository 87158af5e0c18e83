"""Observing: raw text in, kept verbatim, with the claims that it makes.

The text becomes a passage in the speaker's narrowest scope, linked to the entities that its
names mean; each claim found in it is a write of its own that is derived from the passage, in
the same transaction.
Sources: settled 7; resolution 10; checklist C-034 to C-036, C-046.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ...schema.errors import InvalidInput
from ...schema.slots import Vocabulary
from ...schema.values import moment
from ...schema.write import Moment, Receipt, Write
from ..backend.caller import Caller
from ..backend.times import instant
from ..extraction.rules import Extracted, RuleExtractor
from ..reading.mentions import MentionFinder, Stated
from ..reading.view import Who
from .write import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What was said, by whom, where and when."""

    text: str
    speaker: Who | None
    source_origin: str
    at: Moment
    why_it_matters: str | None
    applicable_task_types: Sequence[str]
    mentions: Stated = ()
    decay_rule: Mapping[str, float] | None = None
    """Of the passage; None is the rule of its type."""


@dataclass(frozen=True, slots=True)
class Observer(Caller):
    """The observe use-case of one caller."""

    def observe(self, said: Said) -> list[Receipt]:
        """Return the receipts: the passage first, then its claims in order of appearance.

        The passage is linked to whom its names mean, so that it is found around them.

        Raises:
            InvalidInput: for an empty text, `bad_mention`, or whatever a write would refuse.
        """
        if not said.text.strip():
            raise InvalidInput("there is nothing to observe in an empty text", code="missing_value")
        heard = self._heard(said.at)
        words = self._words_now()
        found = self._claims(said, heard, words)
        ids = [self.backend.ids() for _ in range(len(found) + 1)]
        writes = [self._passage(said), *(self._claim(c, said, ids[0]) for c in found)]
        writing = Writer(self.backend, self.principal)
        passage, *claims = writing.drafts(writes, ids)
        mentioning = MentionFinder(self.backend, self.principal)
        spans = mentioning.spans(said.text, passage.details.scope.scope_id, said.mentions)
        return list(writing.submit([replace(passage, mentions=spans), *claims]))

    def _heard(self, at: Moment) -> datetime:
        found = moment(self.backend.now_us() if at is None else instant(at, what="at"))
        if found is None:
            raise InvalidInput("at= must be a moment, not an open end", code="bad_time")
        return found

    def _claims(self, said: Said, heard: datetime, words: Vocabulary) -> list[Extracted]:
        if said.speaker is None:
            return []
        extractor = self.backend.extractor or RuleExtractor()
        return [c for c in extractor.extract(said.text, at=heard) if c.slot in words.slots]

    def _passage(self, said: Said) -> Write:
        who = said.speaker if isinstance(said.speaker, str) else "the speaker"
        layer = "session" if self.principal.session else "user"
        return Write(
            subject=said.speaker,
            content=said.text,
            object_type="retrieved_passage",
            layer=layer,
            source_origin=said.source_origin,
            valid_from=said.at,
            why_it_matters=said.why_it_matters or f"what {who} said in {said.source_origin}",
            applicable_task_types=said.applicable_task_types,
            decay_rule=said.decay_rule,
        )

    def _claim(self, claim: Extracted, said: Said, passage: str) -> Write:
        return Write(
            subject=claim.subject or said.speaker,
            slot=claim.slot,
            value=claim.value,
            op=claim.op,
            valid_from=claim.valid_from or said.at,
            content=said.text[claim.start : claim.end],
            source_origin=said.source_origin,
            confidence=claim.confidence,
            why_it_matters=said.why_it_matters or "",
            applicable_task_types=said.applicable_task_types,
            derived_from=(passage,),
        )
