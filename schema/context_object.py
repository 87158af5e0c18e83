"""The context object: the canonical unit of state, with the JSON Schema of source 003.

The record carries the 29 properties of the source, the fields tenure adds, and nothing a
caller may not see. `json_schema()` is generated from the fields, so record and schema cannot
drift apart; times are ISO 8601, null for an open end.
Checklist C-001, C-013 to C-031.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import Enum
from typing import Any, Final

from .entity import EntityRef, SlotValue
from .records import short_repr
from .slots import TASK_TYPES
from .vocabulary import (
    Authority,
    Classification,
    ObjectType,
    RetirementRule,
    Sensitivity,
    StateLayer,
    Status,
)

_UUID: Final = {"type": "string", "format": "uuid"}
_TEXT: Final = {"type": "string"}
_URI: Final = {"type": "string", "format": "uri"}
_SHARE: Final = {"type": "number", "minimum": 0.0, "maximum": 1.0}
_TIME: Final = {"type": "string", "format": "date-time"}
_OPEN: Final = {"type": ["string", "null"], "format": "date-time"}
_TEXTS: Final = {"type": "array", "items": _TEXT}


def _enum(kind: type[Enum]) -> dict[str, Any]:
    return {"type": "string", "enum": [member.value for member in kind]}


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    optional = {**schema, "type": [schema["type"], "null"]}
    return {**optional, "enum": [*schema["enum"], None]} if "enum" in schema else optional


def _is(schema: dict[str, Any], *, required: bool = False, **default: Any) -> Any:
    return field(metadata={"schema": schema, "required": required}, **default)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextObject:
    """One object with its whole tenure, as a view shows it."""

    __repr__ = short_repr

    object_id: str = _is(_UUID, required=True)
    content: str | None = _is(_optional(_TEXT), required=True)
    normalized_claim: str = _is(_TEXT, required=True)
    object_type: ObjectType = _is(_enum(ObjectType), required=True)
    canonical_entity_ids: tuple[str, ...] = _is({"type": "array", "items": _UUID}, required=True)
    aliases: tuple[str, ...] = _is(_TEXTS, default=())
    source_origin: str = _is(_URI, required=True)
    source_authority: float = _is(_SHARE, required=True)
    confidence_score: float = _is(_SHARE, required=True)
    security_classification: Classification = _is(_enum(Classification), required=True)
    permission_scope: dict[str, list[str]] = _is(
        {"type": "object", "properties": {"allow_roles": _TEXTS, "deny_roles": _TEXTS}},
        required=True,
    )
    tenant_id: str = _is(_TEXT, required=True)
    user_id: str | None = _is(_optional(_TEXT), default=None)
    project_id: str | None = _is(_optional(_TEXT), default=None)
    session_id: str | None = _is(_optional(_TEXT), default=None)
    valid_from: datetime | None = _is(_OPEN, required=True)
    valid_until: datetime | None = _is(_OPEN, default=None)
    tx_start: datetime = _is(_TIME, required=True)
    tx_end: datetime | None = _is(_OPEN, default=None)
    last_confirmed: datetime | None = _is(_OPEN, default=None)
    last_used: datetime | None = _is(_OPEN, default=None)
    why_it_matters: str = _is(_TEXT, required=True)
    applicable_task_types: tuple[str, ...] = _is(
        {"type": "array", "items": {"type": "string", "examples": list(TASK_TYPES)}}, required=True
    )
    behavioral_implication: str | None = _is(_optional(_TEXT), default=None)
    contradiction_status: Status = _is(_enum(Status), required=True)
    supersession_link: str | None = _is(_optional(_UUID), default=None)
    decay_rule: dict[str, float] | None = _is(
        {
            "type": ["object", "null"],
            "properties": {
                "half_life_days": {"type": "number"},
                "minimum_threshold": {"type": "number"},
            },
        },
        default=None,
    )
    update_path: str | None = _is(_optional(_URI), default=None)
    retirement_rule: RetirementRule | None = _is(_optional(_enum(RetirementRule)), default=None)
    authority_level: Authority = _is({"type": "integer", "minimum": 0, "maximum": 4})
    state_layer: StateLayer = _is(_enum(StateLayer))
    sensitivity: tuple[Sensitivity, ...] = _is(
        {"type": "array", "items": _enum(Sensitivity)}, default=()
    )
    slot: str | None = _is(_optional(_TEXT), default=None)
    value: SlotValue = _is({}, default=None)
    external_ids: dict[str, str] = _is(
        {"type": "object", "additionalProperties": _TEXT}, default_factory=dict
    )
    derived_from: tuple[str, ...] = _is({"type": "array", "items": _UUID}, default=())
    status_reason: str = _is(_TEXT, default="")
    source_kind: str = _is(_TEXT)
    precision: str = _is({"type": "string", "enum": ["", "month", "year"]}, default="")
    """What was stated as start: a month, a year, or nothing and an instant."""

    def to_dict(self) -> dict[str, Any]:
        """The object as plain JSON values, fields in the order of the schema."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    def to_json(self) -> str:
        """The object as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


def _plain(value: Any) -> Any:
    # Z instead of +00:00: one spelling of an instant in everything that leaves the product.
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, EntityRef):
        return value.to_dict()
    if isinstance(value, tuple):
        return list(map(_plain, value))  # pyright: ignore[reportUnknownArgumentType]

    return value


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a context object (C-013)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ContextObject",
        "type": "object",
        "required": [f.name for f in fields(ContextObject) if f.metadata["required"]],
        "properties": {f.name: f.metadata["schema"] for f in fields(ContextObject)},
        "additionalProperties": False,
    }
