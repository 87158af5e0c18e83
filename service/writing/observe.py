"""Observing: raw text in, kept verbatim, with the claims that it makes.

The text becomes a passage in the speaker's narrowest scope, linked to the entities that its names
mean. Each claim found in it is a write of its own that is derived from the passage, in the same
transaction. The choices of an import, which a caller states next to the file, are checked here too.
Checklist: C-034 to C-036, C-046.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, TypedDict
from urllib.parse import quote

from ...compiler.request.parse import read_turns
from ...compiler.request.request import Role
from ...compiler.text.directives import are_opposite, directive_of
from ...resolution.keys import is_id
from ...schema.answers import SlotState
from ...schema.claim import UNKNOWN_AUTHOR
from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput, TenureError
from ...schema.layers import LAYERS
from ...schema.principal import TENANT_SCOPE, Principal, Scope, own_identifier, write_scope
from ...schema.values import moment, stated_span
from ...schema.vocabulary import ObjectType, StateLayer
from ...schema.write import Draft, Moment, Receipt, Write
from ..backend.caller import Caller, check_fields, entity_ref, instant
from ..extraction.choice import AnswerKey, TextQuestion, answer_key, kept_extractions
from ..extraction.claims import (
    ALIAS,
    ContextualExtractor,
    ExtractedClaim,
    Extraction,
    ExtractionContext,
    PaidExtractor,
)
from ..extraction.shipped_language import shipped_language
from ..reading.mentions import MentionFinder, StatedMentions
from ..reading.view import EntityLike, pinned
from .lines import STDIN, Reading
from .refusals import REJECTS, rejects_path
from .trust import may_direct
from .withdrawal import WithdrawalReader, changed_on, is_meant, tells_of
from .write import Writer, by_author

_ANSWER_RULE: Final = "answer_rule"
_NO_SPEAKER: Final = (
    "no claims were looked for: the text has no speaker; say whose words it holds "
    "(speaker= in Python, speaker over HTTP, --speaker on the command line)"
)

Progress = Callable[[int, int], None]
"""Called after each transaction with the number of the last line and the events so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was said, by whom, where and when."""

    text: str
    speaker: EntityLike | None = None
    source_origin: str = "chat://local"
    at: Moment = None
    why_it_matters: str | None = None
    applicable_task_types: Sequence[str] = ()
    mentions: StatedMentions = ()
    layer: StateLayer = StateLayer.USER
    """Of the passage and its claims."""
    decay_rule: Mapping[str, float] | None = None
    """Of the passage; None is the rule of its type."""
    idempotency_key: str | None = None
    """Of the passage: a text that is stored under it is not observed again."""


class TextReading(NamedTuple):
    """What was found in a text, and what that is kept under."""

    extraction: Extraction
    key: AnswerKey | None


NO_CLAIMS: Final = TextReading(Extraction(claims=(), extractor="rules"), None)
"""Of a text of nobody, which an extractor is not asked about."""


@dataclass(frozen=True, slots=True)
class Observer(Caller):
    """The observe use-case of one caller."""

    def observe_all(
        self, text: str | Sequence[Mapping[str, Any]], frame: Observation
    ) -> list[Receipt]:
        """The receipts of one text or of a conversation; `frame` says all but what was said.

        A text in which a person speaks for himself is the word of the caller's user, if no other
        speaker is named: a speaker with the user's own id is the user. The first receipt says so
        where a text is nobody's.

        Raises:
            InvalidInput: what `observe` and `observe_messages` refuse.
        """
        if not isinstance(text, str):
            return self.observe_messages(text, frame)

        observation = replace(frame, text=text)
        is_other = frame.speaker not in (None, self.principal.user)
        if is_other or not _is_own_channel(frame.source_origin):
            return self.observe(observation)
        if self.principal.user is not None:
            return self.observe(replace(observation, speaker=own_entity(self.principal)))

        passage, *claims = self.observe(observation)
        detail = "; ".join(part for part in (passage.detail, _NO_SPEAKER) if part)
        return [replace(passage, detail=detail), *claims]

    def observe(
        self, observation: Observation, reading: TextReading | None = None
    ) -> list[Receipt]:
        """Return the receipts: the passage first, then its claims in order of appearance.

        The passage is linked to whom its names mean, so that it is found around them. `reading`
        is what was found in the text already.

        Raises:
            InvalidInput: for an empty text, `bad_mention`, or whatever a write would refuse.
        """
        if reading is None:
            question = self.question(observation)
            reading = NO_CLAIMS if question is None else self.read([question])[0]

        scope = self._scope(observation.layer)
        extraction_account, refusals = reading.extraction, list[str]()
        names = [claim for claim in extraction_account.claims if claim.slot == ALIAS]
        if names:
            claims_made = tuple(claim for claim in extraction_account.claims if claim not in names)
            extraction_account = replace(extraction_account, claims=claims_made)
            observation, refusals = self._also_called(observation, names, scope)
        writer = Writer(self._backend, self.principal)

        (passage,) = writer.drafts([self.passage(observation, scope)])
        finder = MentionFinder(self._backend, self.principal)
        scope_id = passage.details.scope.scope_id
        spans = finder.spans(observation.text, scope_id, observation.mentions)
        passage = replace(passage, mentions=spans)
        if reading.key is not None:
            # Before the write: what is erased right after it must not leave its answer behind.
            self._backend.answers.bind(reading.key, passage.object_id)

        claims: list[Draft] = []
        if not passage.quarantine:  # what is quarantined teaches nothing until it is accepted
            writes: list[Write] = []
            for proposal in extraction_account.claims:
                meant_claims = self._as_known(proposal, observation, scope)
                if proposal.if_subject_known and not tells_of(extraction_account.claims, proposal):
                    speaker = observation.speaker
                    reader = WithdrawalReader(self._backend, self.principal)
                    meant_claims = [
                        claim
                        for claim in meant_claims
                        if speaker is not None and reader.is_told_of(claim, speaker, scope)
                    ]
                if not meant_claims and proposal.is_withdrawal:
                    refusals.append(_nothing_known(proposal, observation.text))
                for claim in meant_claims:
                    writes.append(self._claim(claim, observation, scope, passage.object_id))
            claims, draft_refusals = _claim_drafts(writer, writes, passage)
            refusals += draft_refusals

        # Nobody who may direct others vouches for it, whatever the caller may do.
        if not self._is_own_word(observation):
            passage, *claims = [by_author(draft, UNKNOWN_AUTHOR) for draft in (passage, *claims)]

        receipts = list(writer.submit([passage, *claims]))

        account = replace(extraction_account, dropped=(*extraction_account.dropped, *refusals))
        receipts[0] = _with_account(receipts[0], account)

        return receipts

    def observe_messages(
        self, messages: Sequence[Mapping[str, Any]], frame: Observation
    ) -> list[Receipt]:
        """The receipts of a conversation, message by message; `frame` says what all share.

        Who speaks decides what a message is: the user speaks for himself, the assistant and its
        tools at the levels of their origins. Instructions of the system are no talk.

        Raises:
            InvalidInput: `bad_request` for what is no message; what `observe` refuses.
        """
        receipts: list[Receipt] = []
        for observation in self.observations(messages, frame):
            receipts += self.observe(observation)

        return receipts

    def observations(
        self, messages: Sequence[Mapping[str, Any]], frame: Observation
    ) -> list[Observation]:
        """The texts of a conversation, each with who said it and where it comes from.

        Raises:
            InvalidInput: `bad_request` for what is no message.
        """
        observations: list[Observation] = []
        for turn in chain.from_iterable(read_turns("message", [each]) for each in messages):
            observation = replace(frame, text=turn.text, mentions=())
            if turn.role is Role.SYSTEM:
                continue
            if turn.role is Role.USER:
                if frame.speaker in (None, self.principal.user):
                    observation = replace(observation, speaker=own_entity(self.principal))
            else:
                scheme = "tool" if turn.role is Role.TOOL else "agent"
                origin = f"{scheme}://{quote(turn.name or turn.role.value, safe='')}"
                observation = replace(observation, speaker=None, source_origin=origin)
            observations.append(observation)

        return observations

    def _also_called(
        self, observation: Observation, names: Sequence[ExtractedClaim], scope: Scope
    ) -> tuple[Observation, list[str]]:
        """An observation whose speaker has the names by which he wants to be called.

        A name that somebody else has is left out, and why is told.
        """
        speaker = observation.speaker
        if isinstance(speaker, Mapping):
            speaker = entity_ref(speaker)
        if isinstance(speaker, str) and not is_id(speaker):
            speaker = EntityRef(name=speaker)
        if not isinstance(speaker, EntityRef):
            return observation, [f"{ALIAS}: the speaker was not given by name"]

        reader = WithdrawalReader(self._backend, self.principal)
        aliases: list[str] = []
        refusals: list[str] = []
        for claim in names:
            if claim.op != "assert" or claim.subject is not None:
                continue
            if reader.is_free(str(claim.value), speaker, scope):
                aliases.append(str(claim.value))
            else:
                refusals.append(f"{ALIAS}: {claim.value!r} is the name of another person")
        named = replace(speaker, aliases=tuple(dict.fromkeys((*speaker.aliases, *aliases))))
        return replace(observation, speaker=named if aliases else observation.speaker), refusals

    def _is_own_word(self, observation: Observation) -> bool:
        """Whether the caller's own user said it: what others say is data, whoever passes it on."""
        speaker = observation.speaker
        if speaker is None:
            return _is_own_channel(observation.source_origin)
        if isinstance(speaker, Mapping):
            speaker = entity_ref(speaker)
        if not isinstance(speaker, EntityRef) or self.principal.user is None:
            return False

        return speaker.external_ids.get("user") == self.principal.user

    def _scope(self, layer: StateLayer) -> Scope:
        """Where a text and its claims stand: one scope, so that no claim is wider than its text.

        Raises:
            InvalidInput: `scope_missing`, for a caller without the session or project that the
                layer needs, or without user and session who may not speak to the whole tenant.
        """
        principal, profile = self.principal, LAYERS[layer]
        if profile.needs:
            layer_scope = write_scope(
                principal, layer, stated_scope=None, object_type=ObjectType.RETRIEVED_PASSAGE
            )
            return replace(layer_scope, user=principal.user)
        if principal.user:
            return Scope(user=principal.user)
        if principal.session:
            return Scope(session=principal.session)
        if may_direct(self.principal, self._backend.policy, TENANT_SCOPE):
            return TENANT_SCOPE

        raise InvalidInput(
            "what is observed belongs to a user or a session; bind a principal that has one",
            code="scope_missing",
        )

    def question(self, observation: Observation) -> TextQuestion | None:
        """What an extractor is told about a text; asks it nothing yet. None for a text of nobody.

        Raises:
            InvalidInput: for an empty text, or `bad_time`.
        """
        if not observation.text.strip():
            raise InvalidInput("there is nothing to observe in an empty text", code="missing_value")

        said_at = moment(
            self._backend.now_us()
            if observation.at is None
            else instant(observation.at, field="at")
        )
        if said_at is None:
            raise InvalidInput("at= must be a moment, not an open end", code="bad_time")
        speaker = observation.speaker
        if speaker is None:
            return None

        extractor = self._backend.extractor
        words = self._words_now()
        names: list[str] = []
        # The look-ups are worth it only where the extractor reads what they answer.
        if isinstance(extractor, ContextualExtractor):
            links = MentionFinder(self._backend, self.principal).mentions(observation.text)
            names = [link.mention.surface for link in links]

        context = ExtractionContext(
            at=said_at,
            speaker=_name_of(speaker),
            slots=words.slots,
            vocabulary_version=words.version,
            entities=tuple(dict.fromkeys(names)),
            may_direct=_is_own_channel(observation.source_origin),
        )
        key = None
        if isinstance(extractor, PaidExtractor):
            # An erasure that a crash cut short leaves answers: they go before any is looked up.
            self._backend.settled_answers(self._tenant)
            seal = self._backend.seal(self._tenant)
            key = answer_key(extractor, observation.text, context, seal)

        return TextQuestion(observation.text, context, key)

    def read(self, questions: Sequence[TextQuestion]) -> list[TextReading]:
        """The claims of texts of one speaker, of each in its place."""
        backend = self._backend
        answers = kept_extractions(backend.extractor, questions, backend.answers)

        keys = (question.key for question in questions)
        return list(map(TextReading, answers, keys))

    def _as_known(
        self, claim: ExtractedClaim, observation: Observation, scope: Scope
    ) -> Sequence[ExtractedClaim]:
        """A denial in the words of what it denies, where that is known; any other claim as it is.

        Whoever likes no westerns any more takes back the "old western movies" that he liked, and
        whoever is back somewhere was there before.
        """
        subject = claim.subject or observation.speaker
        if subject is None:
            return [claim]
        withdrawals = WithdrawalReader(self._backend, self.principal)
        if claim.is_withdrawal:
            return withdrawals.meant_claims(claim, subject, scope, observation.at)
        if claim.op != "deny":
            if claim.if_known and not withdrawals.was_known(claim, subject, scope):
                return []
            claim = self._as_changed(claim, subject, observation.at)
            return [*self._denied_rules(claim, subject, observation.at), claim]

        if claim.slot == _ANSWER_RULE:
            return list(self._denied_rules(claim, subject, observation.at))
        state = self._state(claim.slot, subject, observation.at)
        began = {str(candidate.value): candidate.valid_from for candidate in state.candidates}
        meant_claims: list[ExtractedClaim] = []
        for name in map(str, state.values):
            if is_meant(str(claim.value), name):
                day = changed_on(claim.valid_from, began.get(name))
                meant_claims.append(replace(claim, value=name, valid_from=day))
        if meant_claims or claim.if_known:
            return meant_claims
        return [claim]

    def _as_changed(
        self, claim: ExtractedClaim, subject: EntityLike, said_at: Moment
    ) -> ExtractedClaim:
        """A new value of a slot that has one, from a day on that the known one does not outlast."""
        is_bounded = claim.valid_until is not None or claim.planned
        if claim.valid_from is None or is_bounded or self._words_now().slots[claim.slot].many:
            return claim

        candidates = self._state(claim.slot, subject, said_at).candidates
        days = [changed_on(claim.valid_from, candidate.valid_from) for candidate in candidates]
        return replace(claim, valid_from=None) if None in days else claim

    def _denied_rules(
        self, claim: ExtractedClaim, subject: EntityLike, said_at: Moment
    ) -> Iterator[ExtractedClaim]:
        """The rules for answers that end: the same speaker now states or allows the opposite."""
        if claim.slot != _ANSWER_RULE:
            return
        rule = directive_of(str(claim.value), shipped_language())
        for value in map(str, self._state(claim.slot, subject, said_at).values):
            if are_opposite(rule, directive_of(value, shipped_language())):
                yield replace(claim, value=value, op="deny")

    def _state(self, slot: str, subject: EntityLike, said_at: Moment) -> SlotState:
        """What is known of a slot at the moment of speaking."""
        with self._reading() as reader:
            view = pinned(self._backend, self.principal, reader, said_at, None)
            return view.slot(subject, slot)

    def passage(self, observation: Observation, scope: Scope | None = None) -> Write:
        """The write of a text itself, without what it says.

        Raises:
            InvalidInput: `scope_missing`.
        """
        speaker = observation.speaker if isinstance(observation.speaker, str) else "the speaker"
        return Write(
            subject=observation.speaker,
            content=observation.text,
            object_type="retrieved_passage",
            layer=observation.layer.value,
            scope=scope or self._scope(observation.layer),
            source_origin=observation.source_origin,
            valid_from=observation.at,
            why_it_matters=observation.why_it_matters
            or f"what {speaker} said in {observation.source_origin}",
            applicable_task_types=observation.applicable_task_types,
            decay_rule=observation.decay_rule,
            idempotency_key=observation.idempotency_key,
        )

    def _claim(
        self, claim: ExtractedClaim, observation: Observation, scope: Scope, passage: str
    ) -> Write:
        valid_from: Moment = claim.valid_from or observation.at
        if claim.valid_from is not None and claim.precision:
            valid_from = stated_span(claim.valid_from, claim.precision)
        if claim.op == "retract":
            valid_from = None  # it never held: all of its time is taken back
        if claim.valid_until is not None and claim.valid_from is None:
            valid_from = "-infinity"  # it held before; nobody said since when

        # A layer that ends takes its claims along; else each has the layer of its own type.
        profile = LAYERS[observation.layer]
        ends = profile.needs is not None

        return Write(
            subject=claim.subject or observation.speaker,
            slot=claim.slot,
            value=claim.value,
            op=claim.op,
            valid_from=valid_from,
            valid_until=claim.valid_until,
            planned=claim.planned,
            content=observation.text[claim.start : claim.end],
            layer=observation.layer.value if ends else None,
            retirement_rule=profile.retirement.value if ends else None,
            scope=scope,
            source_origin=observation.source_origin,
            confidence=claim.confidence,
            why_it_matters=observation.why_it_matters or "",
            applicable_task_types=observation.applicable_task_types,
            derived_from=(passage,),
        )


_OWN_WORDS: Final = ("user", "chat")
"""Schemes of origins in which a person speaks for himself."""


def _is_own_channel(source_origin: str) -> bool:
    return source_origin.partition("://")[0] in _OWN_WORDS


def own_entity(principal: Principal) -> EntityRef | None:
    """The caller as somebody who speaks: his user, or the owner of a store of his own."""
    identifier = own_identifier(principal)
    if identifier is None:
        return None

    # No run of a question's words begins with an article: nobody means this name by chance.
    name = principal.user or "the owner"
    return EntityRef(name=name, type="person", external_ids=dict([identifier]))


def _nothing_known(claim: ExtractedClaim, text: str) -> str:
    """That a withdrawal takes nothing back, in the words of its sentence."""
    quote = f"{text[claim.start : claim.end].strip()!r:.80}"
    if claim.is_unnamed:
        return f"no {claim.slot} ended by {quote}: not exactly one is known that it can mean"
    return f"nothing known to take back by {quote}"


def _name_of(speaker: EntityLike) -> str | None:
    if isinstance(speaker, EntityRef):
        return speaker.name
    return speaker if isinstance(speaker, str) else str(speaker.get("name") or "") or None


def _with_account(receipt: Receipt, outcome: Extraction) -> Receipt:
    """The receipt of a passage that says what finding its claims took."""
    account = outcome.account
    if outcome.dropped and not account:
        account = f"{len(outcome.dropped)} claims dropped: {'; '.join(outcome.dropped)}"
    if not account:
        return receipt

    warnings = receipt.warnings
    if outcome.failure:
        warnings = (*warnings, "extractor_unavailable")

    detail = "; ".join(part for part in (receipt.detail, account) if part)
    return replace(receipt, detail=detail, warnings=warnings)


def _claim_drafts(
    writer: Writer, writes: Sequence[Write], passage: Draft
) -> tuple[list[Draft], list[str]]:
    """The drafts of claims that rest on a passage, and why claims were refused."""
    try:
        return writer.drafts(writes, earlier=[passage]), []
    except TenureError:
        pass  # what a model proposed may be refused; it takes none of the others along

    claims: list[Draft] = []
    refusals: list[str] = []
    for write in writes:
        try:
            claims += writer.drafts([write], earlier=[passage])
        except TenureError as refusal:
            refusals.append(f"{write.slot}: {refusal.code}")

    return claims, refusals


@dataclass(frozen=True, slots=True)
class Choices:
    """How an import is to be made."""

    reading: Reading = field(default_factory=Reading)
    keep_going: bool = False
    check: bool = False
    """Look at every line and write nothing."""
    retry: bool = False
    """The file holds the rejects of an import before."""
    mapping: str | Path | Mapping[str, Any] | None = None
    """Which column of a table fills which field."""
    rejects: Path | None = None
    """Where refused lines go."""
    progress: Progress | None = None


class IngestFields(TypedDict, total=False):
    """What may be stated of an import next to its file."""

    replay: bool
    keep_going: bool
    check: bool
    retry: bool
    mapping: str | Path | Mapping[str, Any] | None
    ignore_external_ids: bool
    restate: bool
    progress: Progress | None


def choices_of(path: str | Path, fields: IngestFields) -> Choices:
    """How a file is to be imported.

    Raises:
        InvalidInput: `bad_settings` for wishes that exclude each other; `unknown_vocabulary`,
            `bad_field`.
    """
    check_fields(IngestFields, fields, "option of an import")
    replay, retry = fields.get("replay", False), fields.get("retry", False)
    if retry and (replay or str(path) == STDIN):
        raise InvalidInput(
            "a retry takes a file NAME.rejects.jsonl; a history is loaded in its order: mend its "
            "file and load it again, what is stored is skipped",
            code="bad_settings",
        )

    if not retry and str(path).endswith(REJECTS):
        raise InvalidInput(
            f"{path} holds lines that were refused: mend them there and load it with --retry "
            "(retry=True), without the mapping",
            code="bad_settings",
        )

    # A retry goes on past a refusal: what is refused again stays in the rejects.
    return Choices(
        reading=Reading(
            replay, fields.get("ignore_external_ids", False), fields.get("restate", False)
        ),
        keep_going=fields.get("keep_going", False) or retry,
        check=fields.get("check", False),
        retry=retry,
        mapping=fields.get("mapping"),
        rejects=rejects_path(path),
        progress=fields.get("progress"),
    )
