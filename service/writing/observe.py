"""Observing: raw text in, kept verbatim, with the claims that it makes.

The text becomes a passage in the speaker's narrowest scope, linked to the entities that its
names mean; each claim found in it is a write of its own that is derived from the passage, in
the same transaction.
Checklist: C-034 to C-036, C-046.
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
class Observation:
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

    def observe(self, observation: Observation) -> list[Receipt]:
        """Return the receipts: the passage first, then its claims in order of appearance.

        The passage is linked to whom its names mean, so that it is found around them.

        Raises:
            InvalidInput: for an empty text, `bad_mention`, or whatever a write would refuse.
        """
        if not observation.text.strip():
            raise InvalidInput("there is nothing to observe in an empty text", code="missing_value")
        utterance_time = self._utterance_time(observation.at)
        words = self._words_now()
        claims = self._claims(observation, utterance_time, words)
        ids = [self.backend.ids() for _ in range(len(claims) + 1)]
        writes = [
            self._passage(observation),
            *(self._claim(c, observation, ids[0]) for c in claims),
        ]
        writing = Writer(self.backend, self.principal)
        passage, *others = writing.drafts(writes, ids)
        mentioning = MentionFinder(self.backend, self.principal)
        spans = mentioning.spans(
            observation.text, passage.details.scope.scope_id, observation.mentions
        )
        return list(writing.submit([replace(passage, mentions=spans), *others]))

    def _utterance_time(self, stated_time: Moment) -> datetime:
        utterance_time = moment(
            self.backend.now_us() if stated_time is None else instant(stated_time, field="at")
        )
        if utterance_time is None:
            raise InvalidInput("at= must be a moment, not an open end", code="bad_time")
        return utterance_time

    def _claims(
        self, observation: Observation, utterance_time: datetime, words: Vocabulary
    ) -> list[Extracted]:
        if observation.speaker is None:
            return []
        extractor = self.backend.extractor or RuleExtractor()
        return [
            c
            for c in extractor.extract(observation.text, at=utterance_time)
            if c.slot in words.slots
        ]

    def _passage(self, observation: Observation) -> Write:
        speaker = observation.speaker if isinstance(observation.speaker, str) else "the speaker"
        layer = "session" if self.principal.session else "user"
        return Write(
            subject=observation.speaker,
            content=observation.text,
            object_type="retrieved_passage",
            layer=layer,
            source_origin=observation.source_origin,
            valid_from=observation.at,
            why_it_matters=observation.why_it_matters
            or f"what {speaker} said in {observation.source_origin}",
            applicable_task_types=observation.applicable_task_types,
            decay_rule=observation.decay_rule,
        )

    def _claim(self, claim: Extracted, observation: Observation, passage: str) -> Write:
        return Write(
            subject=claim.subject or observation.speaker,
            slot=claim.slot,
            value=claim.value,
            op=claim.op,
            valid_from=claim.valid_from or observation.at,
            content=observation.text[claim.start : claim.end],
            source_origin=observation.source_origin,
            confidence=claim.confidence,
            why_it_matters=observation.why_it_matters or "",
            applicable_task_types=observation.applicable_task_types,
            derived_from=(passage,),
        )
