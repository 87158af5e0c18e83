"""Check whether a model's output keeps the hard constraints of its envelope.

An output is the text and the calls of a response from OpenAI, Anthropic or Gemini, as JSON or as
an SDK record; output that cannot be read is an error, because a rule about tools would pass if it
saw no calls. A constraint is a JSON Schema, a provider grammar (checked as its schema), a pattern
or a policy on tool calls. A constraint that is only stated cannot be checked and is listed as such.

Output is untrusted: JSON is read to a fixed depth and with finite numbers only, patterns run with
a time-out, and the work of one check is limited. An output that reaches a limit fails its
constraint. `service.client.answer` makes the repair pass. Checklist C-039, C-167, C-210.

>>> report = check_output((), "anything")
>>> report.passed
True
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from ...schema.errors import InvalidInput
from ...schema.limits import nesting
from ...schema.records import short_repr
from ...schema.values import fields_of, items_of
from ...schema.vocabulary import Enforcement
from ..ir.records import EnforcementRule
from ..request.enforcement import MAX_DEPTH, check_enforcement, schema_of, texts
from ..request.messages import ContentKind, message_blocks

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_ROLES: Final = ("assistant", "model")
"""Who speaks in a model's message; an answer may be an object with a role of another kind."""
_CONTENT: Final = ("content", "parts", "tool_calls")
_ITEM_TYPES: Final = frozenset({"function_call", "message"})
"""Items of OpenAI's Responses that say or call something."""

Keyword = Callable[..., Iterator[Any]]
"""What checks one keyword of a schema: (validator, rule, instance, schema) to its errors."""

_MAX_VIOLATIONS: Final = 50
_MAX_WORDS: Final = 200
"""Characters of one violation: the library quotes the whole value."""
_MAX_OUTPUT: Final = 1_000_000
"""Characters of an output."""
_MAX_DIGITS: Final = 308
"""Of a number: what a float reaches."""

_STEPS: Final = 100_000
"""Keywords evaluated in one check; a schema that refers to itself could go on for ever."""
_ERROR_STEPS: Final = 100
"""What an error costs: its message quotes the value, however long that is."""
_PATTERN_STEPS: Final = 10
_QUICK_SECONDS: Final = 0.002
_SLOW_SECONDS: Final = 1.0
_SLOW_PATTERNS: Final = 4
"""Patterns of one check that may take longer than the quick time."""


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """A model's output."""

    text: str
    calls: tuple[tuple[str, str], ...]
    """(tool name, JSON of the arguments)."""
    is_readable: bool = True
    """Whether it was a text, JSON or a message. The calls of any other output are unknown."""


def model_output(raw: object) -> ModelOutput:
    """A model's output from its text, a message of a provider, or any JSON value."""
    if isinstance(raw, str):
        return ModelOutput(raw, ())

    plain = _message_of(_plain(raw))
    fields = fields_of({"output": plain} if _has_items(plain) else plain)
    is_spoken = fields.get("role") in _ROLES and not fields.keys().isdisjoint(_CONTENT)
    is_message = is_spoken or _has_items(fields.get("output"))
    if not is_message and fields.keys().isdisjoint(("text", "tool_calls")):
        text = json_text(plain)
        return ModelOutput(text, (), is_readable=bool(text))

    # A bare text and its calls are a message without a role.
    message = fields if is_message else {**fields, "content": fields.get("text")}
    try:
        blocks, _ = message_blocks(message)
    except InvalidInput:
        return ModelOutput(json_text(plain), (), is_readable=False)
    words: list[str] = []
    calls: list[tuple[str, str]] = []
    for block in blocks:
        if block.is_text:
            words.append(block.text)
        elif block.kind is ContentKind.CALL:
            is_written = isinstance(block.value, str)
            calls.append((block.name, block.value if is_written else json_text(block.value)))
    return ModelOutput("\n".join(words), tuple(calls))


def json_text(value: object) -> str:
    """A value as JSON; empty, which no JSON is, for one that has none."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


def _plain(raw: object) -> object:
    """A record of an SDK as the values it is written with."""
    dump = getattr(raw, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_none=True)
    if isinstance(raw, list):
        return list(map(_plain, items_of(cast("object", raw))))
    return raw


def _message_of(plain: object) -> object:
    """The message, or the items, of a whole response; anything else as it is."""
    fields = fields_of(plain)
    for choice in _mappings(fields.get("choices")):
        if fields_of(choice.get("message")):
            return choice["message"]
    for candidate in _mappings(fields.get("candidates")):
        if items_of(fields_of(candidate.get("content")).get("parts")):
            return {**candidate["content"], "role": "model"}
    return fields["output"] if _has_items(fields.get("output")) else plain


def _has_items(value: object) -> bool:
    return any(item.get("type") in _ITEM_TYPES for item in _mappings(value))


def _mappings(items: object) -> Iterable[Mapping[str, Any]]:
    return map(fields_of, items_of(items))


@dataclass(frozen=True, slots=True)
class HardConstraint:
    """A rule of an envelope that code can check on the answer."""

    __repr__ = short_repr

    object_id: str
    text: str
    enforcement: EnforcementRule


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
    unchecked_ids: tuple[str, ...]
    """Object ids of constraints that are only stated."""

    @property
    def passed(self) -> bool:
        """Whether every constraint that can be checked holds."""
        return not self.failures


class _WorkLimit(Exception):
    """A check took more work than one output is worth."""


def check_output(constraints: Iterable[HardConstraint], output: object) -> CheckReport:
    """Hold an output to its constraints.

    Args:
        constraints: The rules, in the order in which failures are listed.
        output: The model's text, a message as its provider writes it, a mapping with `text` and
            `tool_calls` of {name, arguments}, or any JSON value, which is checked as the text it
            would be.
    """
    answer = model_output(output)
    failures: list[Failure] = []
    unchecked_ids: list[str] = []

    for constraint in constraints:
        enforcement = constraint.enforcement.kind
        if enforcement is Enforcement.STATED:
            unchecked_ids.append(constraint.object_id)
            continue

        for detail in _details(constraint.enforcement, answer):
            failures.append(Failure(constraint.object_id, enforcement, detail))

    return CheckReport(tuple(failures), tuple(unchecked_ids))


def _details(rule: EnforcementRule, answer: ModelOutput) -> list[str]:
    """What one rule says about an answer; a rule that cannot be checked passes nothing."""
    try:
        check_enforcement(rule.kind, rule.spec)
        return _CHECKS[rule.kind](json.loads(rule.spec), answer)
    except InvalidInput as error:  # written before rules were refused
        return [f"the rule cannot be checked: {error}"]
    except (_WorkLimit, RecursionError):
        return ["the check was given up: the output takes too much work"]


def _by_schema(spec: Any, answer: ModelOutput) -> list[str]:
    try:
        value = _read(answer.text)
    except ValueError as error:
        return [f"the output is no JSON: {error}"]
    return violations(value, schema_of(spec))


def _read(text: str) -> object:
    """Read the JSON that a model wrote.

    Raises:
        ValueError: For what is no JSON, is too large, or holds a number that no float holds.
    """
    if len(text) > _MAX_OUTPUT:
        raise ValueError(f"it is longer than {_MAX_OUTPUT} characters")
    if nesting(text) > MAX_DEPTH:
        raise ValueError(f"it has more than {MAX_DEPTH} levels")

    return json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_float)


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError("a number has too many digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is not finite")
    return number


def _by_pattern(spec: Mapping[str, Any], answer: ModelOutput) -> list[str]:
    work = _Work()
    details: list[str] = []
    for pattern in texts(spec.get("required")):
        if not work.matches(pattern, answer.text):
            details.append(f"required pattern not found: {pattern}")

    for pattern in texts(spec.get("forbidden")):
        if work.matches(pattern, answer.text):
            details.append(f"forbidden pattern found: {pattern}")

    return details


def _by_tools(spec: Mapping[str, Any], answer: ModelOutput) -> list[str]:
    if not answer.is_readable:
        return ["the output cannot be read: give its text, or the message as its provider sent it"]

    allowed_tools = spec.get("allowed")
    denied_tools = texts(spec.get("denied"))
    schemas = fields_of(spec.get("arguments"))

    details: list[str] = []

    for name, arguments in answer.calls:
        if name in denied_tools or (allowed_tools is not None and name not in texts(allowed_tools)):
            details.append(f"tool {name!r} is not allowed")
            continue

        if name not in schemas:
            continue

        for violation in _broken_arguments(arguments, schemas[name]):
            details.append(f"arguments of {name!r}: {violation}")

    return details


def _broken_arguments(arguments: str, schema: object) -> list[str]:
    try:
        value = _read(arguments)
    except ValueError as error:
        return [f"no JSON: {error}"]

    # `required` and `properties` say nothing of a number or a list, so a schema alone lets it by.
    if not isinstance(value, dict):
        return ["they are no object"]

    return violations(cast("object", value), schema)


def violations(value: object, schema: object) -> list[str]:
    """What a JSON value breaks in a JSON Schema, in order of discovery; at most 50.

    >>> violations({"n": 1.5}, {"properties": {"n": {"type": "integer"}}})
    ["$.n: 1.5 is not of type 'integer'"]
    """
    validator = _validator(schema, _Work())
    details: list[str] = []
    for error in validator.iter_errors(cast("Any", value)):
        details.append(f"{error.json_path}: {error.message}"[:_MAX_WORDS])
        if len(details) == _MAX_VIOLATIONS:
            break

    return details


class _Work:
    """What one check may still spend."""

    def __init__(self) -> None:
        self._steps = _STEPS
        self._slow_patterns = _SLOW_PATTERNS

    def spend(self, steps: int) -> None:
        self._steps -= steps
        if self._steps < 0:
            raise _WorkLimit

    def matches(self, pattern: str, text: str) -> bool:
        """Whether a pattern occurs in a text; with backtracking that ends."""
        import regex

        self.spend(_PATTERN_STEPS)
        try:
            return regex.search(pattern, text, timeout=_QUICK_SECONDS) is not None
        except TimeoutError:
            self._slow_patterns -= 1

        if self._slow_patterns < 0:
            raise _WorkLimit

        try:
            return regex.search(pattern, text, timeout=_SLOW_SECONDS) is not None
        except TimeoutError:
            raise _WorkLimit from None


def _validator(schema: object, work: _Work) -> Validator:
    """The library's validator, with a limit to its work and with patterns that end.

    Its registry is empty, because the default one fetches what a `$ref` names.
    """
    from jsonschema import Draft202012Validator, validators
    from referencing import Registry

    library: Any = validators  # its stubs leave `extend` without types
    dialect = library.validator_for(schema, default=Draft202012Validator)
    keywords = dict(dialect.VALIDATORS) | _own_keywords(work)
    counted_keywords: dict[str, Keyword] = {}
    for name, keyword in keywords.items():
        counted_keywords[name] = _with_limit(keyword, work)

    registry: Registry[Any] = Registry()
    validator: Validator = library.extend(dialect, counted_keywords)(schema, registry=registry)
    return validator


def _with_limit(keyword: Keyword, work: _Work) -> Keyword:
    def check(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[Any]:
        work.spend(1)
        for error in keyword(validator, rule, instance, schema) or ():
            work.spend(_ERROR_STEPS)
            yield error

    return check


def _own_keywords(work: _Work) -> dict[str, Keyword]:
    """The keywords whose own way has no time-out, is quadratic, or goes through a set."""
    from jsonschema import ValidationError

    def pattern(validator: Any, rule: str, instance: Any, _: Any) -> Iterator[Any]:
        if validator.is_type(instance, "string") and not work.matches(rule, instance):
            yield ValidationError(f"it does not match {rule!r}")

    def pattern_properties(validator: Any, rule: Any, instance: Any, _: Any) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return

        for expression, subschema in rule.items():
            for name, value in instance.items():
                if work.matches(expression, name):
                    yield from validator.descend(value, subschema, path=name)

    def additional(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not validator.is_type(instance, "object"):
            return

        expressions = schema.get("patternProperties", {})
        for name, value in instance.items():
            if name in schema.get("properties", {}):
                continue
            if any(work.matches(expression, name) for expression in expressions):
                continue

            if rule is False:
                yield ValidationError(f"{name!r} is not allowed")
            else:
                yield from validator.descend(value, rule, path=name)

    def unique(validator: Any, rule: Any, instance: Any, _: Any) -> Iterator[Any]:
        if rule and validator.is_type(instance, "array"):
            keys = {json.dumps(_comparable(element), sort_keys=True) for element in instance}
            if len(keys) < len(instance):
                yield ValidationError("its items are not unique")

    return {
        "pattern": pattern,
        "patternProperties": pattern_properties,
        "additionalProperties": additional,
        "uniqueItems": unique,
    }


def _comparable(value: Any) -> Any:
    """A value whose JSON is that of its equals: 1.0 is 1 in JSON Schema."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_comparable(element) for element in cast("list[object]", value)]
    if isinstance(value, dict):
        return {
            name: _comparable(member) for name, member in cast("dict[str, object]", value).items()
        }

    return value


_CHECKS: Final[Mapping[Enforcement, Callable[[Any, ModelOutput], list[str]]]] = {
    Enforcement.SCHEMA: _by_schema,
    Enforcement.GRAMMAR: _by_schema,
    Enforcement.PATTERN: _by_pattern,
    Enforcement.TOOL_POLICY: _by_tools,
}
