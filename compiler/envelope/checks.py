"""Checks: does a model's output keep the hard constraints of its envelope?

Each constraint names the code that holds the answer to it (D1): a JSON Schema, a provider
grammar (checked as the schema it was made from), patterns that must or must not occur, or a
policy on tool calls. A constraint that is only stated cannot be checked and is listed as such.

>>> report = check_output((), "anything")
>>> report.passed
True

The repair pass is `service.answering`. Sources: D1; checklist C-039, C-167, C-210.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ...schema.vocabulary import Enforcement
from ..ir.piece import Carrier
from ..json_schema import violations
from ..json_values import fields_of, items_of


@dataclass(frozen=True, slots=True)
class HardConstraint:
    """A rule of an envelope that code can check on the answer."""

    object_id: str
    text: str
    carrier: Carrier


@dataclass(frozen=True, slots=True)
class Failure:
    """A constraint that the output breaks."""

    object_id: str
    enforcement: Enforcement
    detail: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check."""

    failures: tuple[Failure, ...]
    unchecked: tuple[str, ...]
    """Object ids of constraints that are only stated."""

    @property
    def passed(self) -> bool:
        """Tell whether every constraint that can be checked holds."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class _Output:
    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    """(tool name, arguments)."""


def check_output(constraints: Iterable[HardConstraint], output: object) -> CheckReport:
    """Return which constraints an output breaks.

    `output` is the model's text, or a mapping with `text` and `tool_calls` of {name, arguments},
    or any JSON value, which is checked as the text it would be.
    """
    read = _read(output)
    failures: list[Failure] = []
    unchecked: list[str] = []
    for constraint in constraints:
        way = constraint.carrier.enforcement
        if way is Enforcement.STATED:
            unchecked.append(constraint.object_id)
            continue
        spec = json.loads(constraint.carrier.spec)
        for detail in _CHECKS[way](spec, read):
            failures.append(Failure(constraint.object_id, way, detail))
    return CheckReport(tuple(failures), tuple(unchecked))


def _read(output: object) -> _Output:
    if isinstance(output, str):
        return _Output(output, ())
    fields = fields_of(output)
    if "text" in fields or "tool_calls" in fields:
        calls = [fields_of(call) for call in items_of(fields.get("tool_calls"))]
        named = tuple((str(c.get("name", "")), _arguments(c.get("arguments"))) for c in calls)
        return _Output(str(fields.get("text") or ""), named)
    return _Output(json.dumps(output, ensure_ascii=False), ())


def _arguments(raw: object) -> Mapping[str, Any]:
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            return {}
    return fields_of(raw)


def _by_schema(spec: Mapping[str, Any], output: _Output) -> list[str]:
    schema = spec.get("schema", spec)
    try:
        value = json.loads(output.text)
    except ValueError:
        return ["the output is no JSON"]
    return violations(value, schema)


def _by_pattern(spec: Mapping[str, Any], output: _Output) -> list[str]:
    missing = [p for p in _texts(spec.get("required")) if not re.search(p, output.text)]
    present = [p for p in _texts(spec.get("forbidden")) if re.search(p, output.text)]
    return [f"required pattern not found: {p}" for p in missing] + [
        f"forbidden pattern found: {p}" for p in present
    ]


def _by_tools(spec: Mapping[str, Any], output: _Output) -> list[str]:
    allowed, denied = spec.get("allowed"), _texts(spec.get("denied"))
    schemas = fields_of(spec.get("arguments"))
    found: list[str] = []
    for name, arguments in output.calls:
        if name in denied or (allowed is not None and name not in _texts(allowed)):
            found.append(f"tool {name!r} is not allowed")
        elif name in schemas:
            found += [f"arguments of {name!r}: {v}" for v in violations(arguments, schemas[name])]
    return found


def _texts(raw: object) -> tuple[str, ...]:
    if isinstance(raw, str):
        return (raw,)
    return tuple(map(str, items_of(raw)))


_CHECKS: Final[Mapping[Enforcement, Callable[[Mapping[str, Any], _Output], list[str]]]] = {
    Enforcement.SCHEMA: _by_schema,
    Enforcement.GRAMMAR: _by_schema,
    Enforcement.PATTERN: _by_pattern,
    Enforcement.TOOL_POLICY: _by_tools,
}
