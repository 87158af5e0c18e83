"""The records of a compile: snapshot, request items, candidates, pieces and verdicts.

`gather` fills a `Snapshot` from a store and `replay` from a manifest; the ten stages read nothing
else. Its candidates are in order of (object id, row), so no store's order reaches a byte. The ids
of a request's own items are uuid5 over (tenant, section, content, occurrence). Caller text is never
stronger than the caller's ceiling; evidence and tool results are level 4 unless the caller may
state less. A `Candidate` is one record to which every stage adds. A `Piece` is what an object
contributes before it has a place in the text. The trace is the collected `Verdict`s.

Redaction comes before retrieval: an object that is masked for the caller is found by its condition
and its slot, never by its text, value or vector, so that a query cannot reveal them. With the
policy `personal = "omit"` it is left out. Checklist C-075, C-126 to C-130, C-133, C-233, C-235.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final, NamedTuple, Protocol
from uuid import NAMESPACE_URL, UUID, uuid5

from ...resolution.known import Known
from ...schema.claim import Content, Details, Version, is_turn, masked_for
from ...schema.compile_terms import (
    QUARANTINE_REASONS,
    BlockKind,
    Conversion,
    GapCode,
    Ladder,
    PriorityTier,
    Reason,
    SectionName,
    Stage,
)
from ...schema.principal import Principal
from ...schema.records import short_repr
from ...schema.values import canonical_json, whole_repr
from ...schema.vocabulary import Authority, Enforcement, ObjectType
from ...store.port.records import NOBODY, OwnIds
from ...store.port.store import Ask
from ...store.port.vectors import VectorScore
from ..request.request import (
    CompileRequest,
    Constraint,
    Evidence,
    Media,
    NamedText,
    Role,
    Tool,
    Turn,
)
from ..text.relevance import FULL, Background, micro, terms_of
from ..text.sentences import facts_of, subunits
from ..tokens.counting import TokenCounter
from .context import CompileContext

PERSON: Final = "person"
"""The kind of own subject that is not the caller, but whose wishes apply."""

_NAMESPACE: Final[UUID] = uuid5(NAMESPACE_URL, "tenure/request-item")
_WEAKEST: Final = int(Authority.RETRIEVED)

Part = Turn | Evidence | Media | Tool | Constraint | NamedText | None

_S: Final = SectionName
_TYPE_OF_SECTION: Final = {
    _S.TOOLS: ObjectType.TOOL_SCHEMA,
    _S.PINNED_KNOWLEDGE: ObjectType.RETRIEVED_PASSAGE,
    _S.HISTORY: ObjectType.RETRIEVED_PASSAGE,
    _S.EVIDENCE: ObjectType.RETRIEVED_PASSAGE,
    _S.ERRORS: ObjectType.INFERRED_BELIEF,
    _S.TASK_PROGRESS: ObjectType.IDENTITY_FACT,
}
_LEVEL_OF_ROLE: Final = {Role.USER: 2, Role.ASSISTANT: 3, Role.TOOL: 4, Role.SYSTEM: 0}
_TALK_FRESHNESS = 800_000


class Verdict(NamedTuple):
    """An object that stays out from here on, and why."""

    stage: Stage
    object_id: str
    reason: Reason
    detail: str = ""
    """Machine-readable: a finer reason, or the object that the reason points to."""
    score: int | None = None
    """Composite score in millionths, when it had one."""
    tier: str = ""

    @property
    def quarantines(self) -> bool:
        """Tell whether the object belongs under `quarantined_objects`."""
        return self.reason in QUARANTINE_REASONS


class TextChange(NamedTuple):
    """Something that was done to the text of an object."""

    object_id: str
    conversion: Conversion
    detail: str = ""


class Gap(NamedTuple):
    """Something the envelope should have held and does not."""

    code: GapCode
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One thing that a question asks."""

    __repr__ = short_repr

    subject: str
    """Canonical id, or the words of a name that means no known entity."""
    slot: str = ""
    """The slot, or empty for the subject as a whole."""
    state: str = "unknown"
    """`known`, `disputed`, `unknown`, `cut` or `withheld`."""
    object_ids: tuple[str, ...] = ()
    """What shows it, or would; never of what is withheld."""
    why: str = ""
    """Why it is not known: `no_value`, `unknown_entity`, `denied`, `over_budget` and others."""
    budget_tokens: int = 0
    """Of `cut`: a budget that shows it; 0 where none is known."""
    name: str = ""
    """The subject as a reader may see it."""
    near_names: tuple[str, ...] = ()
    """Of an unknown name: known names with a similar spelling, the most similar first."""

    @property
    def words(self) -> str:
        """What is asked, in words, with the known names that may be meant."""
        hint = f" (did you mean {' or '.join(self.near_names)}?)" if self.near_names else ""
        return f"{self.name} {self.slot.replace('_', ' ')}".strip() + hint


class Via(IntEnum):
    """How a candidate was found: bits that add up to a plain whole number."""

    TEXT = 1
    VECTOR = 2
    STANDING = 4
    SLOT = 8
    """A slot of an entity that the request names."""
    NEIGHBOUR = 16
    TEMPLATE = 32
    """A slot that an instruction template asks for."""
    RIVAL = 64
    """The head of a candidate's slot in another visible scope."""
    PINNED = 128
    TALK = 512
    """A turn that was said next to one that was found."""
    OUTDATED = 256
    """No way of finding: a passage from which claims were extracted that all ceased to hold."""
    SIBLING = 1024
    """Another fact about a subject whose facts cover the question."""
    SAYS_MORE = 2048
    """No way of finding: a passage with words that no claim which was extracted from it has."""
    CLAIMED = 4096
    """No way of finding: a passage from which claims were extracted."""


class Proposal(NamedTuple):
    """A row that may enter the envelope."""

    version: Version
    via: int
    """`Via` flags."""
    hop: int = 0
    """Steps from an entity that the request names; 0 for none."""


class Bound(NamedTuple):
    """What a mention means."""

    mention: str
    entities: tuple[str, ...]
    """Canonical ids: one when bound, several when ambiguous, none when unknown."""
    pending: bool = False
    """Whether the entity waits for a review."""


class BindMentions(Protocol):
    """Binds by entity id, identifier or exact visible alias as known at the compile's tx.

    It never scores, never creates, and answers for each mention in order.
    """

    def __call__(self, mentions: Sequence[str]) -> Sequence[Bound]:
        """Return what each mention means; unknown ones with no entities."""
        ...


class Neighbours(NamedTuple):
    """The answer of a vector search."""

    scores: Sequence[VectorScore]
    """Best first, ties by object id."""
    versions: Sequence[Version]
    """Every row of these claims, of any status, that is known at the tx."""


class VectorIndex(Protocol):
    """The exact vector search over one tenant and encoder, limited to what is visible."""

    def prefetch(self, query: Sequence[int], *, limit: int) -> Ask | None:
        """Return what `nearest` will ask the store first; None when it asks nothing."""
        ...

    def nearest(self, query: Sequence[int], *, limit: int) -> Neighbours:
        """Return the best visible claims with their rows known at the compile's tx."""
        ...

    def facts(self, query: Sequence[int], *, limit: int) -> Neighbours:
        """Return the best visible facts among the next claims behind those of `nearest`."""
        ...

    def scores(self, query: Sequence[int], object_ids: Sequence[str]) -> Sequence[VectorScore]:
        """Return the scores of these claims, as far as they have vectors."""
        ...


NO_SCORES: Final[Mapping[str, int]] = MappingProxyType({})
NO_VECTORS: Final[Mapping[str, VectorScore]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What was fetched."""

    proposals: tuple[Proposal, ...]
    """In order of (object id, vid)."""
    subjects: tuple[Bound, ...] = ()
    """The request's own entities, in order."""
    query_subjects: tuple[Bound, ...] = ()
    """Mentions found in the query that name at least one entity."""
    own_subjects: Mapping[str, str] = field(default_factory=dict[str, str])
    """Canonical entity id by what it is to the caller: `user`, `project`, `tenant`; or `person`,
    another person whose wishes apply."""
    people: tuple[str, ...] = ()
    """Canonical ids of those whose wishes might apply, sorted: the request does not say whose."""
    own_ids: OwnIds = NOBODY
    """Raw ids of the entity that is the caller: personal data about it is whole."""
    expansion: tuple[str, ...] = ()
    """Other names of the named entities that were searched for, sorted."""
    known: Known = field(default_factory=Known)
    """The entities of the candidates, as known at the compile's tx."""
    vectors: Mapping[str, VectorScore] = field(default_factory=lambda: NO_VECTORS)
    rerank_scores: Mapping[str, int] = field(default_factory=lambda: NO_SCORES)
    """What a re-ranker said of the best candidates, in millionths by object id."""
    background: Background | None = None
    """The hits among which those of the proposals were chosen, where these are not all."""
    texts: Mapping[str, int] | None = None
    """Of a replay: recorded text relevance in millionths by object id."""
    gates: Mapping[tuple[str, int], str] | None = None
    """Of a replay: what the gate said of each row then, by (object id, vid); empty: it passed."""
    outranked: Mapping[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    """Of a replay: heads that a hidden row outranked then, with how they lost."""
    refused: bool = False
    """Of a replay: whether the gate refused a row then that the caller may see elsewhere."""
    withheld: tuple[tuple[str, int], ...] = ()
    """How many objects the store withheld, by source of candidates."""
    cut: bool = False
    """Whether a limit cut the candidates."""
    hubs: tuple[tuple[str, str, int], ...] = ()
    """(canonical id, slot, facts with it as their value) where not all were read, sorted."""
    withheld_slots: tuple[tuple[str, str], ...] = ()
    """Of a replay: (canonical subject, slot) that were asked and hidden then."""
    capped_ids: tuple[str, ...] = ()
    """Objects that a cap of the walk left out, sorted."""
    round_trips: int = 0
    """Calls of the reader; for the sidecar, never in the bytes."""


def root_of(known: Known, entity_id: str) -> str:
    """Return the canonical id of a raw id; itself when nothing is merged."""
    return known.canonical.get(entity_id, entity_id)


def members_of(known: Known, entity_id: str) -> tuple[str, ...]:
    """Return the raw ids of the cluster an entity belongs to, sorted."""
    # The root itself is in no row of the map when nothing is merged into it.
    root = root_of(known, entity_id)
    merged_ids = {raw for raw, top in known.canonical.items() if top == root}
    return tuple(sorted(merged_ids | {root, entity_id}))


class RequestItem(NamedTuple):
    """An item of the request."""

    section: SectionName
    level: int
    origin: str
    text: str
    """What is rendered, before containment."""
    part: Part
    """The typed part of the request it is; None for the goal, the step and the request itself."""
    object_id: str = ""
    position: int = 0
    """Its place in its list, which sequences keep."""

    @property
    def object_type(self) -> ObjectType:
        """Return what kind of context object the item is (C-015)."""
        return _TYPE_OF_SECTION.get(self.section, ObjectType.ACTIONABLE_CONSTRAINT)


def items_of_request(
    request: CompileRequest, principal: Principal, media_texts: Sequence[str]
) -> tuple[RequestItem, ...]:
    """Return the items of a request in the order of their sections' fields.

    `media_texts` are the texts of the request's media, one each (`media_plan`).
    """
    occurrences: dict[str, int] = {}
    positions: dict[SectionName, int] = {}
    items: list[RequestItem] = []
    for draft in _drafts(request, int(principal.authority_level), media_texts):
        # The whole part counts, not its text alone: two results of one text differ by their call.
        body = canonical_json([draft.text, draft.origin, whole_repr(draft.part)])
        content = hashlib.sha256(body.encode("utf-8", "backslashreplace")).hexdigest()
        key = f"{draft.section.value} {content}"
        occurrence = occurrences[key] = occurrences.get(key, 0) + 1
        name = canonical_json([principal.tenant, draft.section.value, content, occurrence])
        position = positions[draft.section] = positions.get(draft.section, -1) + 1
        object_id = str(uuid5(_NAMESPACE, name))
        items.append(draft._replace(object_id=object_id, position=position))
    return tuple(items)


def _drafts(
    request: CompileRequest, ceiling: int, media_texts: Sequence[str]
) -> Iterator[RequestItem]:
    # A larger level is weaker: what an item claims for itself can only lower its trust.
    user_level = max(ceiling, int(Authority.USER))
    for tool in request.tools:
        own_level = user_level if tool.authority_level is None else tool.authority_level
        yield RequestItem(
            _S.TOOLS,
            max(ceiling, own_level),
            tool.origin or "request://tools",
            tool_text(tool),
            tool,
        )
    for skill in request.skills:
        yield RequestItem(_S.SKILLS, ceiling, "request://skills", _with_name(skill), skill)
    if request.goal:
        yield RequestItem(_S.TASK_CONTRACT, ceiling, "request://goal", request.goal, None)
    for rule in request.constraints:
        yield RequestItem(_S.TASK_CONTRACT, ceiling, "request://constraints", rule.text, rule)
    for pin in request.pinned:
        yield _evidence(_S.PINNED_KNOWLEDGE, pin, ceiling)
    for turn in request.history:
        yield _turn(turn, ceiling)
    for evidence in request.evidence:
        yield _evidence(_S.EVIDENCE, evidence, ceiling)
    for media, text in zip(request.media, media_texts, strict=True):
        yield RequestItem(_S.EVIDENCE, _WEAKEST, media.origin, text, media)
    for lesson in request.errors:
        level = max(ceiling, int(Authority.INFERRED_MEMORY))
        yield RequestItem(_S.ERRORS, level, "request://errors", _with_name(lesson), lesson)
    for note in request.progress:
        yield RequestItem(
            _S.TASK_PROGRESS, user_level, "request://progress", _with_name(note), note
        )
    if request.step:
        yield RequestItem(
            _S.TASK_PROGRESS, user_level, "request://step", f"Now: {request.step}", None
        )
    for item in request.acceptance:
        yield RequestItem(_S.ACCEPTANCE, ceiling, "request://acceptance", item.text, item)
    if request.wish:
        yield RequestItem(_S.USER_REQUEST, user_level, "request://user", request.wish, None)


def _with_name(note: NamedText) -> str:
    return f"{note.name}: {note.text}" if note.name else note.text


def _evidence(section: SectionName, evidence: Evidence, ceiling: int) -> RequestItem:
    own_level = _WEAKEST if evidence.authority_level is None else evidence.authority_level
    level = max(ceiling, own_level)
    text = f"{evidence.title}\n{evidence.text}" if evidence.title else evidence.text
    return RequestItem(section, level, evidence.origin, text, evidence)


def _turn(turn: Turn, ceiling: int) -> RequestItem:
    level = max(ceiling, _LEVEL_OF_ROLE[turn.role])
    name = f"/{turn.name}" if turn.name else ""
    # renderers give `system://` turns a provider's system role: only who may speak so gets it
    speaker = "request" if turn.role is Role.SYSTEM and ceiling > 1 else turn.role.value
    return RequestItem(_S.HISTORY, level, f"{speaker}://history{name}", turn.text, turn)


def tool_text(tool: Tool) -> str:
    """Return a tool as canonical JSON, empty fields left out (C-305)."""
    fields = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": json.loads(tool.input_schema),
        "output_schema": json.loads(tool.output_schema),
        "protocol": tool.protocol,
        "authorization_scope": tool.authorization_scope,
        "timeout_class": tool.timeout_class,
    }
    return canonical_json({name: value for name, value in fields.items() if value})


_PASSAGE = ObjectType.RETRIEVED_PASSAGE


class Candidate(NamedTuple):
    """A stored row or an item of the request; exactly one of the two is there.

    A named tuple and no dataclass: a compile makes thousands, several times each.
    """

    object_id: str
    version: Version | None
    request_item: RequestItem | None
    via: int = 0
    """`Via` flags; 0 for an item of the request."""
    hop: int = 0
    subject: str | None = None
    """Canonical id; None for text about nobody and for items of the request."""
    pending: bool = False
    """Whether an entity that it speaks of waits for a review."""
    ours: bool = False
    """Whether it is about, or belongs to, the caller's user, session, project or tenant."""
    rivals: tuple[Candidate, ...] = ()
    """Clean heads of other scopes that it won its slot from: whoever finds them finds it."""
    score: int = 0
    """Composite, in millionths; of a `by_task` object without any look at the query."""
    relevance: int = 0
    """In millionths."""
    lexical: int = 0
    """Lexical relevance, in millionths of the best."""
    tier: PriorityTier = PriorityTier.IRRELEVANT
    by_task: bool = False
    """Whether it is on the task type alone."""
    freshness: int = FULL
    """Share of strength that decay has left, in millionths."""
    vital: bool = False
    """Whether the question must not be answered without it: what it asks for, or what limits it."""
    way: tuple[str, ...] = ()
    """Object ids of the facts that link it to the question, without which it is not shown."""

    @property
    def level(self) -> int:
        """The authority level."""
        if self.version is not None:
            return int(self.version.details.authority_level)
        return item_of(self).level

    @property
    def origin(self) -> str:
        """Where it comes from."""
        if self.version is not None:
            return self.version.details.source_origin
        return item_of(self).origin

    @property
    def is_passage(self) -> bool:
        """Whether it is text that is quoted, not a fact that is stated."""
        version = self.version
        return version is None or (
            version.details.slot is None and version.details.object_type is _PASSAGE
        )

    @property
    def is_turn(self) -> bool:
        """Whether it is what somebody said."""
        return self.version is not None and is_talk(self.version)

    @property
    def text(self) -> str:
        """What a reader would be shown of it."""
        if self.version is None:
            return item_of(self).text
        content = content_of(self.version)
        if self.is_passage:
            return content.text or content.normalized_claim
        return content.normalized_claim or content.text


def is_talk(version: Version) -> bool:
    """Tell whether a row is what somebody said: a turn of talk."""
    return is_turn(version.details)


def version_of(candidate: Candidate) -> Version:
    """The row of a candidate that the store brought."""
    assert candidate.version is not None  # callers pass stored rows only
    return candidate.version


def item_of(candidate: Candidate) -> RequestItem:
    """The item of a candidate that the request brought."""
    assert candidate.request_item is not None  # a candidate without a row has one
    return candidate.request_item


def content_of(version: Version) -> Content:
    """The content of a row that passed validation, which lets no emptied one through."""
    assert version.content is not None
    return version.content


def freshness_of(candidate: Candidate, context: CompileContext) -> int:
    """The share of strength that decay has left, in millionths."""
    version = candidate.version
    rule = version.details.decay_rule if version is not None else None
    if version is None or rule is None:
        return FULL

    anchor = version.last_confirmed_us
    age = context.point.valid_us - (version.row.claim.tx if anchor is None else anchor)
    fading = context.policy.decay.fading(version.details.object_type)
    freshness = micro(rule.strength(age, fading))
    # What was said stays said: its age may order two equal turns, and no more.
    return max(freshness, _TALK_FRESHNESS) if is_talk(version) else freshness


class EnforcementRule(NamedTuple):
    """How code enforces a hard constraint."""

    kind: Enforcement
    spec: str
    """Canonical JSON."""


class Piece(NamedTuple):
    """One object's contribution."""

    object_ids: tuple[str, ...]
    """The object itself, then those whose values its instruction consumed."""
    section: SectionName
    kind: BlockKind
    level: int
    """Of the weakest object in it."""
    origin: str
    text: str
    """What is rendered when it stands alone or as a row of its own."""
    ladder: Ladder
    tier: PriorityTier
    value: int
    """Worth for the selection, in millionths."""
    key: tuple[int, int, str]
    """Stable order inside its section."""
    label: str = ""
    """Of a fact: the entity's name, the head of its row."""
    cell: str = ""
    """Of a fact: `slot = value`."""
    required: bool = False
    alone: bool = False
    """Whether it is a block of its own: verbatim text and everything of level 4."""
    pair: str = ""
    """Turns of one tool call; never parted."""
    enforcement: EnforcementRule | None = None
    candidate: Candidate | None = None
    """What it comes from; None for what the compiler itself writes."""
    relevance: int = 0
    speaker: str = ""
    """Of a passage: whose words it holds, in one line; empty: unknown."""
    date: str = ""
    """Of a passage the day it is of, `2023-05-08`, of a fact since when it holds; or empty."""
    written_us: int = 0
    """Of a passage: the stamp it was written at; tells the order of one day."""
    shared: bool = False
    """Whether its text may stand as a line among others, in a block that they share."""

    @property
    def frame(self) -> str:
        """The kind of block that it shares with its neighbours; empty: a block of its own."""
        if self.shared:
            return "lines"
        return "" if self.alone else "rows"

    @property
    def head(self) -> str:
        """What it shares with its neighbours inside a block: a row's entity, a day and source."""
        if self.cell:
            return self.label
        return f"@ {self.date} {self.origin}" if self.shared else ""

    @property
    def scheme(self) -> str:
        """The scheme of its origin, `chat` of `chat://a`."""
        return self.origin.partition("://")[0]

    @property
    def object_id(self) -> str:
        """Return the id it goes by."""
        return self.object_ids[0]

    @property
    def item(self) -> RequestItem | None:
        """The item of the request that it comes from."""
        return None if self.candidate is None else self.candidate.request_item


@dataclass(frozen=True, slots=True)
class Short:
    """A shorter form of one piece or of several turns."""

    piece: Piece
    object_ids: tuple[str, ...]
    """What it represents."""
    conversion: Conversion
    original_tokens: int
    compressed_tokens: int
    fidelity: float
    """0 to 1, rounded to 3 digits."""


def fidelity(original: str, result: str, counter: TokenCounter) -> float:
    """Return the token-weighted share of propositions whose facts are in the result.

    A proposition without any number, name, date or negation counts as kept when its words are.
    """
    kept_tokens = total = 0
    # By tokens, so that a short aside lost weighs less than a long statement.
    for proposition in subunits(original):
        tokens = counter.count(proposition)
        facts = facts_of(proposition)
        holds = facts <= facts_of(result) if facts else proposition in result
        total += tokens
        kept_tokens += tokens if holds else 0
    return round(kept_tokens / total, 3) if total else 1.0


_BY_CONTENT = Via.TEXT | Via.VECTOR


def masks(details: Details, context: CompileContext, own_ids: OwnIds) -> bool:
    """Tell whether personal data is hidden from this caller, who is these entities."""
    # Asked of every row by several stages, and hardly any row has a label.
    if not details.sensitivity:
        return False
    roles = context.rules.show_personal_to
    is_masked = masked_for(context.principal, details, roles=roles)
    return is_masked and not own_ids.covers(details, context.principal)


def is_masked(candidate: Candidate, snapshot: Snapshot, context: CompileContext) -> bool:
    """Tell whether what a candidate says is hidden from the caller."""
    version = candidate.version
    return version is not None and masks(version.details, context, snapshot.own_ids)


def nearest_vector(
    candidate: Candidate, snapshot: Snapshot, context: CompileContext
) -> VectorScore | None:
    """Return the vector score of an object, or of what it won its slot from where that is best."""
    best = snapshot.vectors.get(candidate.object_id)
    for rival in candidate.rivals:
        score = snapshot.vectors.get(rival.object_id)
        if score is None or is_masked(rival, snapshot, context):
            continue
        if best is None or score.content > best.content:
            best = score
    return best


def public_terms(version: Version, context: CompileContext) -> frozenset[str]:
    """Return the terms by which a masked object may be found: its condition and its slot."""
    content = version.content
    reason = content.why_it_matters if content is not None else ""
    slot = context.vocabulary.slots.get(version.details.slot or "")
    return terms_of(reason) | terms_of(slot.description if slot is not None else "")


def guessed(
    proposal: Proposal,
    query_terms: frozenset[str],
    context: CompileContext,
    own_ids: OwnIds,
) -> bool:
    """Tell whether only the masked words or their vector led to an object."""
    details = proposal.version.details
    if proposal.via & ~_BY_CONTENT or not masks(details, context, own_ids):
        return False
    return query_terms.isdisjoint(public_terms(proposal.version, context))
