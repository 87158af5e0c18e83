"""Claims that the passages of a document make, each quoted to its sentence.

A claim needs a subject that its sentence names: a file has no speaker, whose tastes and orders
could be meant. It derives from its passage, holds no longer than that does, and has the trust,
scope and readers of the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final

from ...schema.claim import UNKNOWN_AUTHOR
from ...schema.errors import InvalidInput, TenureError
from ...schema.values import moment
from ...schema.vocabulary import SlotKind
from ...schema.write import Draft, Write
from ..backend.caller import Caller, instant
from ..extraction.choice import TextQuestion, answer_key, kept_extractions
from ..extraction.claims import ExtractionContext
from ..writing.write import Writer, by_author

_UNTOLD: Final = frozenset((SlotKind.PREFERENCE, SlotKind.DIRECTIVE, SlotKind.STRUCTURE))


@dataclass(frozen=True, slots=True)
class ClaimFinder(Caller):
    """Finds what passages claim, by rules or by the model of the connection."""

    def drafts(
        self,
        passages: Mapping[str, str],
        head: Write,
        finder: str,
        earlier: Sequence[Draft],
    ) -> tuple[list[Draft], int]:
        """The drafts of the claims of passages, given by object id, and how many were refused.

        `head` is the write of their outline, of whose origin, readers and time they are, and whose
        date is "today"; `earlier` are the drafts of its version.

        Raises:
            InvalidInput: `bad_extractor`, where a model is asked for and none was chosen.
        """
        extractor = self._backend.extractor if finder == "model" else None
        if finder not in ("rules", "model") or (finder == "model" and extractor is None):
            raise InvalidInput(
                f"claims={finder!r} finds none: state off, rules, or model with the extractor "
                "that connect was given",
                code="bad_extractor",
            )

        words = self._words_now()
        today = moment(instant(head.valid_from, field="valid_from")) or datetime.now(UTC)
        context = ExtractionContext(at=today, slots=words.slots, vocabulary_version=words.version)
        questions: list[TextQuestion] = []
        for object_id, text in passages.items():
            key = answer_key(extractor, text, context, self._backend.seal(self._tenant))
            if key is not None:
                # Before the write: what is erased right after it leaves no answer behind.
                self._backend.answers.bind(key, object_id)
            questions.append(TextQuestion(text, context, key))

        answers = kept_extractions(extractor, questions, self._backend.answers)
        writer = Writer(self._backend, self.principal)
        drafts: list[Draft] = []
        refused = 0
        for (object_id, text), answer in zip(passages.items(), answers, strict=True):
            for claim in answer.claims:
                slot, sentence = words.slots.get(claim.slot), text[claim.start : claim.end]
                if (
                    slot is None
                    or slot.kind in _UNTOLD
                    or claim.op != "assert"
                    or claim.if_known
                    or claim.subject is None
                    or claim.subject not in sentence
                ):
                    continue
                write = replace(
                    head,
                    op="assert",
                    subject=claim.subject,
                    slot=claim.slot,
                    value=claim.value,
                    valid_from=claim.valid_from or head.valid_from,
                    valid_until=claim.valid_until or head.valid_until,
                    planned=claim.planned,
                    content=sentence.strip(),
                    confidence=claim.confidence,
                    layer=None,
                    update_path=None,
                    derived_from=(object_id,),
                )
                # What an extractor proposes may be refused, and takes no other claim along.
                try:
                    drafts += writer.drafts([write], earlier=earlier)
                except TenureError:
                    refused += 1

        return [by_author(draft, UNKNOWN_AUTHOR) for draft in drafts], refused
