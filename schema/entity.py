"""Entities: mentions, aliases, judgements and reviews.

A mention is bound to a raw entity id before anything is written; which raw ids are one entity
is a matter of judgement rows, and the canonical id is computed from those open as of a
transaction time. Nothing here is ever rewritten: a merge is a row and can be undone.
`docs/design/resolution.md`; checklist C-046 to C-057.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, cast

from .errors import InvalidInput
from .interval import INF_US, MIN_US
from .principal import TENANT_SCOPE
from .records import short_repr
from .slots import UNKNOWN_TYPE, check_scheme
from .values import canonical_json
from .vocabulary import (
    CandidateSource,
    Decision,
    EntityState,
    JudgedBy,
    JudgementVerdict,
    ReviewState,
)

SUGGESTION: Final = "possible_same_as"
"""Reason of a case that only suggests: the entity is active and nothing waits for it."""
AUDIT: Final = "audit"
"""Reason of a case drawn at random from automatic decisions, to calibrate them."""
DOUBTED = "doubted"
"""Reason of a case about an automatic bind that a later name made ambiguous; the bind stands."""
NAMESAKES = "namesakes"
"""Reason of a case about one name that seems to be several people's."""

MAX_NAME = 300
"""Characters of a name or an alias; a reader is shown the first 120."""
MAX_IDENTIFIER = 512
"""Characters of the value of an identifier."""


_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that are drawn as nothing."""


def is_visible(text: str) -> bool:
    """Whether a reader sees anything: format and control characters, marks and fillers are not."""
    return any(map(_is_drawn, text))


def _is_drawn(char: str) -> bool:
    category = unicodedata.category(char)
    return char not in _FILLERS and category[0] not in "ZM" and category not in ("Cc", "Cf", "Cs")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRef:
    """How a caller names an entity: a name with type, aliases and identifiers."""

    __repr__ = short_repr

    name: str
    type: str = UNKNOWN_TYPE
    aliases: tuple[str, ...] = ()
    external_ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """Identifier by scheme; one value per scheme and entity."""
    id: str = ""
    """Of an entity that an answer names: its canonical id. A call that states it reads it alone."""

    def __str__(self) -> str:
        return self.name

    def __hash__(self) -> int:
        return hash((self.id, self.name, self.type))

    def to_dict(self) -> dict[str, str]:
        """An entity that is a value, as JSON has it."""
        return {"id": self.id, "name": self.name, "type": self.type}

    def __post_init__(self) -> None:
        # Frozen, yet callers hand in lists and mappings of anything: copied once, here.
        put = object.__setattr__
        _check_lists(self.aliases, self.external_ids)
        put(self, "aliases", tuple(self.aliases))
        put(self, "external_ids", {str(k): str(v) for k, v in self.external_ids.items()})
        for name in (self.name, *self.aliases):
            check_name(name)

        for scheme, value in self.external_ids.items():
            check_scheme(scheme)
            _check_surface(value, "an identifier", most=MAX_IDENTIFIER)


class _ValueJson:
    """How pydantic writes and reads a value that may be an entity: `{id, name, type}`."""

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> Any:
        from pydantic_core import core_schema as schema

        return schema.no_info_plain_validator_function(
            self._read,
            json_schema_input_schema=schema.any_schema(),
            serialization=schema.plain_serializer_function_ser_schema(
                self._plain, return_schema=schema.any_schema()
            ),
        )

    def _plain(self, value: Any) -> Any:
        if isinstance(value, EntityRef):
            return value.to_dict()
        if isinstance(value, tuple):
            return list(map(self._plain, cast("tuple[object, ...]", value)))
        return value

    def _read(self, value: Any) -> Any:
        if isinstance(value, list):
            return list(map(self._read, cast("list[object]", value)))
        if isinstance(value, dict) and value.keys() == {"id", "name", "type"}:
            return EntityRef(**cast("dict[str, Any]", value))
        return cast("object", value)


SlotValue = Annotated[Any, _ValueJson()]
"""What a slot holds: plain Python, or an `EntityRef`."""


def _check_lists(aliases: object, external_ids: object) -> None:
    if isinstance(aliases, str | bytes) or not isinstance(aliases, Iterable):
        raise InvalidInput("aliases is a list of names", code="bad_entity", field="aliases")
    if not isinstance(external_ids, Mapping):
        raise InvalidInput(
            "external_ids is a mapping of schemes to identifiers",
            code="bad_entity",
            field="external_ids",
        )


def check_name(name: object) -> None:
    """Refuse what is no name of an entity.

    Raises:
        InvalidInput: `bad_name`.
    """
    _check_surface(name, "a name", most=MAX_NAME)


def _check_surface(text: object, kind: str, *, most: int) -> None:
    # A name of marks of width zero alone is seen by nobody, and is another one than every name.
    if not isinstance(text, str) or len(text) > most or not is_visible(text):
        shown = f"{text!r:.80}"
        size = f" ({len(text):,} characters)" if isinstance(text, str) else ""
        raise InvalidInput(
            f"{kind} has 1 to {most} visible characters, not {shown}{size}; keep longer texts "
            "in the content of a claim",
            code="bad_name",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """An entry of the register (C-053)."""

    entity_id: str
    name: str
    type: str
    state: EntityState
    scope_id: str
    """The scope of the write that created it."""
    tx_start: int
    created_by: str
    """object_id of the write that created it."""
    recorded: bool = False
    """Whether an identifier of a system of record names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A surface that names an entity, on both axes."""

    entity_id: str
    surface: str
    norm: str
    """The light exact key of the surface."""
    type: str
    scope_id: str
    ordinal: int
    """Raised for a namesake, by a resolution decision only; 0 for the first."""
    valid_from: int = MIN_US
    valid_until: int = INF_US
    tx_start: int
    tx_end: int = INF_US
    object_id: str = ""
    """The write that taught it."""
    merge_id: str | None = None
    """The accepted review that taught it; it closes with that merge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """An external id of an entity."""

    entity_id: str
    scheme: str
    value: str
    tx_start: int
    tx_end: int = INF_US
    scope_id: str = TENANT_SCOPE.scope_id
    """Who may know it: the scope of the write that taught it."""
    object_id: str = ""
    """The write that taught it; empty where an older version did not note it."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One line of evidence."""

    __repr__ = short_repr

    name: str
    score: float
    weight: float
    """Log-odds, in nats."""
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCandidate:
    """An entity a mention may mean, with the evidence for it."""

    __repr__ = short_repr

    entity: str
    """Canonical id."""
    name: str
    score: float
    """Calibrated probability, rounded to 1e-6."""
    log_odds: float
    source: CandidateSource
    features: tuple[Feature, ...] = ()
    vetoes: tuple[str, ...] = ()

    @property
    def evidence(self) -> str:
        """Features and vetoes as the canonical JSON that a judgement keeps."""
        # Arrays: some sixty features a mention, and each judgement keeps those of its candidates.
        lines = [[f.name, f.score, f.weight, f.detail] for f in self.features]
        return canonical_json({"features": lines, "vetoes": list(self.vetoes)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What was decided for one mention, and why."""

    __repr__ = short_repr

    decision: Decision
    entity: str | None
    """The raw entity id bound or created; None for an unknown entity of a dry look-up."""
    score: float
    reason: str
    """`same_identifier`, `exact`, `alias`, `scored`, `ambiguous`, `namesakes`, `no_candidate`, …

    A new entity with the reason `possible_same_as` leaves a suggestion."""
    candidates: tuple[EntityCandidate, ...] = ()
    model_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A row that says whether two raw entities are one."""

    judgement_id: str
    merge_id: str | None
    left_id: str
    """The smaller raw id."""
    right_id: str
    verdict: JudgementVerdict
    judged_by: JudgedBy
    actor: str
    score: float | None = None
    log_odds: float | None = None
    evidence: str = "{}"
    """JSON: features, vetoes, context."""
    model_version: str = ""
    reason: str
    tx_start: int
    tx_end: int = INF_US


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A case that waits for a person: is this pending entity one of the candidates?"""

    __repr__ = short_repr

    review_id: str
    entity_id: str
    """The pending raw entity."""
    mention: str
    type: str
    scope_id: str
    candidates: tuple[EntityCandidate, ...]
    reason: str
    object_id: str
    """The write that opened it."""
    state: ReviewState = ReviewState.OPEN
    version: int = 1
    """Rises with every decision; a decision on an older one is `stale_version`."""
    opened_tx: int
    decided_tx: int | None = None
    decided_by: str | None = None
    decided_entity: str | None = None
    merge_id: str | None = None
    note: str = ""

    @property
    def blocking(self) -> bool:
        """Whether an entity waits for the decision."""
        return self.reason not in (SUGGESTION, AUDIT)
