"""What a caller asks of a compile: one frozen value with typed items.

`CompileRequest` holds only canonical values, so that its JSON is part of the manifest and of the
envelope's identity; `request.parse` is the edge that makes one from what a caller passed.
Set-like inputs (entities, tools, evidence, pinned, skills) are kept sorted: their order in the
call never changes a byte. History, constraints, acceptance, progress and errors keep theirs.

Nothing here is trusted: which level an item gets is decided by `given` from the caller's
ceiling. Checklist C-126 to C-128, C-146, C-216.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from ...schema.errors import InvalidInput
from ...schema.limits import check_number
from ...schema.record_json import to_plain
from ...schema.records import short_repr
from ...schema.values import canonical_json, members_of
from ...schema.vocabulary import Enforcement
from .enforcement import check_enforcement

MAX_TEXT: Final = 1_000_000
"""Characters of one item; a longer text is a document to be ingested, not a request."""

MAX_ITEMS: Final = 5_000
"""Items of one list."""

VECTOR_SCALE: Final = 4_000
"""A vector is kept as whole numbers, `rint(4000 x)` of the normalised one."""


class Role(StrEnum):
    """Who spoke a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class MediaKind(StrEnum):
    """What a media item holds."""

    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    STRUCTURED = "structured"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn of the conversation, verbatim."""

    __repr__ = short_repr

    text: str
    role: Role = Role.USER
    name: str = ""
    """The tool's name, for a tool result."""
    call_id: str = ""
    """Joins a tool call to its result; the two are never parted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A retrieved text with its provenance (C-127)."""

    __repr__ = short_repr

    text: str
    origin: str = "request://evidence"
    title: str = ""
    authority_level: int | None = None
    """None: 4. A stronger level is taken only as far as the caller's own ceiling."""
    source_authority: float | None = None
    retrieved_at: str = ""
    span: str = ""
    """Where in the source the text stands, in the caller's words."""
    lineage: tuple[str, ...] = ()
    covers: tuple[str, ...] = ()
    """Acceptance items this text bears on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """A text that may take the place of a media item (C-194)."""

    __repr__ = short_repr

    text: str
    method: str = "ocr"
    """How it was made: `ocr`, `transcript`, `caption`, …"""
    utility: float | None = None
    """Worth for the task, 0 to 1; None: what the method usually keeps of the original's."""
    confidence: float | None = None
    """Of the extraction, 0 to 1; None: 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaSegment:
    """A stretch of a recording or film that can be sent without the rest (C-193)."""

    __repr__ = short_repr

    start: float
    """Seconds from the beginning."""
    end: float
    """Seconds; after the start."""
    text: str = ""
    """What is said or seen in it."""
    utility: float | None = None
    """Worth for the task, 0 to 1; None: by the words that its text shares with the request."""


class RowTest(StrEnum):
    """How a row filter compares."""

    EQUALS = "equals"
    NOT_EQUALS = "not_equals"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"
    CONTAINS = "contains"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """What the rows of a table must fulfil to matter for the task (C-193)."""

    __repr__ = short_repr

    column: str
    test: RowTest = RowTest.EQUALS
    value: str = "null"
    """Canonical JSON."""


Box = tuple[int, int, int, int]
"""A part of a picture in pixels: left, top, right, bottom; the last two are outside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A picture, recording, film or table; the envelope's text names and describes it."""

    __repr__ = short_repr

    kind: MediaKind
    uri: str = ""
    """Where the original is; a table may have none."""
    description: str = ""
    width: int = 0
    """Pixels."""
    height: int = 0
    """Pixels."""
    seconds: float = 0.0
    origin: str = "request://media"
    utility: float | None = None
    """Worth of the original for the task, 0 to 1; None: 1."""
    stand_ins: tuple[StandIn, ...] = ()
    """Texts that may replace it where they cost less and keep enough of its worth."""
    beyond_text: float = 0.0
    """How far the task needs what no text tells (layout, tone, who speaks), 0 to 1: what a
    stand-in that states no worth of its own loses."""
    regions: tuple[Box, ...] = ()
    """Of a picture: the parts that the task needs; it is cropped to them. Empty: the whole."""
    segments: tuple[MediaSegment, ...] = ()
    """Of a recording or film: what may be sent alone where the whole takes too much."""
    records: str = "[]"
    """Of a table: a canonical JSON list of objects."""
    columns: tuple[str, ...] = ()
    """Of a table: the columns that the task needs, in order; empty: all."""
    where: tuple[RowFilter, ...] = ()
    """Of a table: the rows that the task needs are those that pass every test; empty: all."""
    aggregates: tuple[str, ...] = ()
    """Of a table too large to go in whole: the columns whose count, sum, least, most and mean
    stand for the rows; empty: all columns of numbers."""
    group_by: str = ""
    """Of a table: the column by whose values the aggregates are divided; empty: one group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool the model may call (C-128)."""

    __repr__ = short_repr

    name: str
    description: str = ""
    input_schema: str = "{}"
    """Canonical JSON."""
    output_schema: str = "{}"
    """Canonical JSON."""
    protocol: str = ""
    """A word of `ToolProtocol`, or empty."""
    authorization_scope: str = ""
    timeout_class: str = ""
    """A word of `TimeoutClass`, or empty."""
    origin: str = "request://tools"
    authority_level: int | None = None
    """None: the weaker of the caller's ceiling and 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A rule for the answer and how code enforces it (C-146).

    Raises:
        InvalidInput: `bad_enforcement`, for a specification that no answer could be checked by.
    """

    __repr__ = short_repr

    text: str
    enforcement: Enforcement = Enforcement.STATED
    spec: str = "{}"
    """Canonical JSON of what the enforcement needs."""
    hard: bool = True
    positive: bool = True
    """Whether it says what to do; False: what never to do, which its label says."""
    explicit: bool = True
    """Whether somebody said it; False: it was inferred from examples, so it never binds."""
    uncertain: bool = False
    """Whether the fields of its schema may say `unknown` instead of a made-up value (C-095)."""

    def __post_init__(self) -> None:
        check_enforcement(self.enforcement, self.spec)

    @property
    def binds(self) -> bool:
        """Whether it can be a hard constraint: what was only inferred never is (C-146)."""
        return self.hard and self.explicit


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedText:
    """A short named text: a skill, a step of progress, a lesson of an error."""

    text: str
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowPin:
    """The history that goes with an envelope: a session's log up to an event.

    A reference, not the words: a manifest that repeated them would make the store of a session
    grow with the square of its length.
    """

    session: str
    """The session's scope."""
    seq: int
    digest: str
    """Of the chain of events up to that one, in hexadecimal digits."""
    policy: str
    """The digest of the window policy by which the session is run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """One compile, as asked."""

    task: str
    """A task type of the vocabulary."""
    query: str = ""
    """What is searched for; also the request when no `user_request` is given."""
    user_request: str = ""
    """The user's words, verbatim."""
    hypothesis: str = ""
    """A made-up answer of the caller's own model, searched with where the policy's `hyde` is on;
    never rendered."""
    goal: str = ""
    step: str = ""
    """What is being done now; without `acceptance` it leaves a gap."""
    acceptance: tuple[Constraint, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    entities: tuple[str, ...] = ()
    """Mentions or entity ids, sorted."""
    tools: tuple[Tool, ...] = ()
    history: tuple[Turn, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    media: tuple[Media, ...] = ()
    skills: tuple[NamedText, ...] = ()
    pinned: tuple[Evidence, ...] = ()
    pinned_ids: tuple[str, ...] = ()
    """Stored objects that the request pins, sorted."""
    progress: tuple[NamedText, ...] = ()
    errors: tuple[NamedText, ...] = ()
    project: str | None = None
    query_vector: tuple[int, ...] | None = None
    budget_tokens: int = 8_000
    reserve_tokens: int | None = None
    model: str = "generic"
    profile: str = "default"
    signals: tuple[tuple[str, float], ...] = ()
    """Signals of the allocator by name (C-227), sorted; they scale the weights of sections."""
    valid_us: int | None = None
    """None: the newest instant the store knows."""
    tx_us: int | None = None
    window: WindowPin | None = None
    """The history of the session that it is compiled for."""

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("entities", "pinned_ids"):
            put(self, name, tuple(sorted(set(getattr(self, name)))))
        for name in ("tools", "evidence", "media", "skills", "pinned"):
            put(self, name, tuple(sorted(getattr(self, name), key=_canonical)))
        _check_numbers(self)

    @property
    def wish(self) -> str:
        """The user's words: the stated request, else the query."""
        return self.user_request or self.query

    def to_json(self) -> str:
        """The request as canonical JSON, the form that a manifest pins."""
        members = members_of(self)
        if self.window is None:
            del members["window"]  # no part of the identity of what no session asked for
        vector = members.pop("query_vector")  # plain already: no number of it needs a look
        plain = {name: to_plain(member) for name, member in members.items()}
        return canonical_json({**plain, "query_vector": vector})


def quantise(vector: Sequence[float]) -> tuple[int, ...]:
    """A vector as the whole numbers that searches multiply.

    >>> quantise([3.0, 4.0])
    (2400, 3200)
    """
    length = math.sqrt(math.fsum(x * x for x in vector))
    if not vector or not math.isfinite(length) or length <= 0:
        raise bad_request("query_vector", "it must hold finite numbers that are not all zero")

    return tuple(round(VECTOR_SCALE * x / length) for x in vector)


def bad_request(path: str, reason: str) -> InvalidInput:
    """The error that names a field of the request and what is wrong with it."""
    return InvalidInput(f"{path}: {reason}", code="bad_request", field=path)


def _canonical(item: Any) -> str:
    return canonical_json(to_plain(item))


def _check_numbers(request: CompileRequest) -> None:
    for field in ("budget_tokens", "reserve_tokens"):
        tokens = getattr(request, field)
        if field == "reserve_tokens" and tokens is None:
            continue  # the policy's share is reserved
        check_number(tokens, field)
        if not isinstance(tokens, int) or tokens < 0:
            raise bad_request(field, f"give a whole number of at least 0, not {tokens}")
    if request.budget_tokens < 1:
        raise bad_request("budget_tokens", "give at least 1")

    for place, media in enumerate(request.media):
        _check_media(f"evidence[{place}]", media)

    vector = request.query_vector
    if vector is not None and any(abs(x) > VECTOR_SCALE for x in vector):
        raise bad_request(
            "query_vector", f"its whole numbers lie in -{VECTOR_SCALE} to {VECTOR_SCALE}"
        )


def _check_media(path: str, media: Media) -> None:
    if not media.uri and media.kind is not MediaKind.STRUCTURED:
        raise bad_request(f"{path}.uri", "say where the original is")

    for left, top, right, bottom in media.regions:
        if not (0 <= left < right and 0 <= top < bottom):
            raise bad_request(f"{path}.regions", "give left, top, right, bottom in pixels")

    for segment in media.segments:
        if not 0 <= segment.start < segment.end or (media.seconds and segment.end > media.seconds):
            raise bad_request(
                f"{path}.segments", "a segment starts before it ends, inside the recording"
            )
