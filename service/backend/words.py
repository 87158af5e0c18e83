"""Words of closed lists as a type checker knows them, and the keywords of a write.

Each union is an enum of `schema.vocabulary` and its words; a test holds the two together. At run
time a call refuses any other word itself, and names the nearest ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypedDict

from ...schema.layers import DecayRule
from ...schema.principal import Scope
from ...schema.vocabulary import (
    Cardinality,
    Classification,
    ObjectType,
    Precedence,
    RetirementRule,
    Sensitivity,
    SlotKind,
    StateLayer,
    ValueType,
)
from ...schema.write import Moment

ObjectTypeWord = (
    ObjectType
    | Literal[
        "preference",
        "identity_fact",
        "project_decision",
        "retrieved_passage",
        "policy_rule",
        "tool_schema",
        "inferred_belief",
        "actionable_constraint",
    ]
)
LayerWord = (
    StateLayer
    | Literal["session", "task", "project", "user", "tenant", "corpus", "tool", "policy", "belief"]
)
ClassificationWord = (
    Classification | Literal["public", "restricted", "confidential", "highly_restricted"]
)
RetirementWord = (
    RetirementRule
    | Literal["archive", "hard_delete", "demote_to_archival", "trigger_user_confirmation"]
)
SlotKindWord = (
    SlotKind
    | Literal[
        "attribute",
        "state",
        "measurement",
        "identifier",
        "contact",
        "preference",
        "directive",
        "decision",
        "belief",
        "hierarchy",
        "membership",
        "ownership",
        "dependency",
        "authorship",
        "location",
        "association",
        "structure",
    ]
)
ValueTypeWord = (
    ValueType
    | Literal[
        "string",
        "text",
        "integer",
        "number",
        "boolean",
        "instant",
        "date",
        "partial_date",
        "entity",
        "json",
    ]
)
CardinalityWord = Cardinality | Literal["one", "many"]
PrecedenceWord = Precedence | Literal["authority", "source_rank"]
SensitivityWord = (
    Sensitivity
    | Literal[
        "personal",
        "special_personal",
        "financial",
        "credential",
        "legal_privileged",
        "commercial_secret",
    ]
)
OpWord = Literal["assert", "correct", "retract", "delete", "deny", "restate"]

ScopeKind = Literal["session", "task", "project"]
"""What a scope that closes is."""

DefinedList = Literal["task_type", "role", "entity_type", "source_kind"]
"""The lists that a tenant extends by a name alone."""

CLOSED_LISTS: Final = frozenset(
    "ActionStatus ReviewStatus ReviewKind Remembered GraphForm ScopeKind DefinedList RequestTarget "
    "ObjectTypeWord LayerWord ClassificationWord RetirementWord SlotKindWord ValueTypeWord OpWord "
    "CardinalityWord PrecedenceWord SensitivityWord NoteWord NoteStatus ResultKind Claims".split()
)
"""Types of parameters that take a word of a closed list. A call refuses any other word itself."""


class WriteFields(TypedDict, total=False):
    """What `Memory.write` takes by keyword: the fields of a `Write` but subject, slot and value."""

    op: OpWord
    valid_from: Moment
    valid_until: Moment
    object_id: str | None
    content: str | None
    object_type: ObjectTypeWord | None
    layer: LayerWord | None
    scope: Scope | Mapping[str, str] | None
    source_origin: str
    source_authority: float | None
    confidence: float
    authority_level: int | None
    why_it_matters: str
    applicable_task_types: Sequence[str]
    behavioral_implication: str | None
    security_classification: ClassificationWord | None
    sensitivity: Sequence[SensitivityWord]
    allow_roles: Sequence[str]
    deny_roles: Sequence[str]
    decay_rule: DecayRule | Mapping[str, float] | None
    retirement_rule: RetirementWord | None
    update_path: str | None
    derived_from: Sequence[str]
    planned: bool
    enforcement: Mapping[str, Any] | None
    idempotency_key: str | None
    expected: str | None
