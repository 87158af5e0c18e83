"""Enforcement: which rules code can hold an answer to, refused when they are written.

A rule that cannot be checked is found by whoever writes it, not by the answer that it should
have held: a JSON Schema must be valid and whole (no `$ref` leaves the document, so that no check
ever fetches anything), a pattern must compile, a tool policy must name tools. The checks
themselves are `envelope.checks`.

>>> from tenure.schema.vocabulary import Enforcement
>>> check_enforcement(Enforcement.PATTERN, '{"required": "^Dear"}')
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, cast

from ...schema.errors import InvalidInput
from ...schema.limits import nesting
from ...schema.values import fields_of, items_of
from ...schema.vocabulary import Enforcement

MAX_DEPTH: Final = 64
"""Levels of lists and objects in a specification, and in an output that is checked by one."""

_MAX_SPEC: Final = 100_000
_MAX_PATTERN: Final = 2_000
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_PATTERNS: Final = frozenset({"required", "forbidden"})
_KEYS: Final[Mapping[Enforcement, frozenset[str]]] = {
    Enforcement.PATTERN: _PATTERNS,
    Enforcement.TOOL_POLICY: frozenset({"allowed", "denied", "arguments"}),
}


@lru_cache(maxsize=256)  # a compile reads the same rules again and again
def check_enforcement(enforcement: Enforcement, spec: str) -> None:
    """Refuse a specification that no answer could be checked by.

    Args:
        enforcement: The code that will hold the answer.
        spec: JSON of what it needs.

    Raises:
        InvalidInput: `bad_enforcement`, with the reason.
    """
    if enforcement is Enforcement.STATED:
        return

    if len(spec) > _MAX_SPEC or nesting(spec) > MAX_DEPTH:
        raise _refusal(
            f"at most {_MAX_SPEC} characters and {MAX_DEPTH} levels can be checked; split the rule"
        )

    try:
        document = json.loads(spec)
    except ValueError as error:
        raise _refusal(f"the specification is no JSON: {error}") from error

    if enforcement in (Enforcement.SCHEMA, Enforcement.GRAMMAR):
        _check_schema(schema_of(document))
        return

    allowed_keys = _KEYS[enforcement]
    fields = fields_of(document)
    if not isinstance(document, dict) or not fields.keys() <= allowed_keys:
        raise _refusal(
            f"{enforcement.value} takes an object with {', '.join(sorted(allowed_keys))}"
        )

    # A rule that no answer could break would be among those that code enforces.
    if not fields:
        raise _refusal(f"{enforcement.value} needs one of {', '.join(sorted(allowed_keys))}")
    for name, value in fields.items():
        _check_field(name, value)


def _check_field(name: str, value: object) -> None:
    """Refuse what would be read as no pattern, no tool and no schema at all."""
    if name == "arguments":
        if not isinstance(value, dict):
            raise _refusal("arguments is an object of schemas by the name of a tool")
        for schema in fields_of(cast("object", value)).values():
            _check_schema(schema)
        return

    items = items_of(value)
    is_list_of_texts = value == items and all(isinstance(item, str) for item in items)
    if not isinstance(value, str) and not is_list_of_texts:
        raise _refusal(f"{name} is a text or a list of texts")
    for pattern in texts(value) if name in _PATTERNS else ():
        _check_pattern(pattern)


def schema_of(spec: object) -> object:
    """The JSON Schema of a specification, which is under `schema` or is the whole of it."""
    return fields_of(spec).get("schema", spec)


def texts(raw: object) -> tuple[str, ...]:
    """The texts of a field that holds one text or a list of them."""
    if isinstance(raw, str):
        return (raw,)
    return tuple(map(str, items_of(raw)))


def _check_schema(schema: object) -> None:
    from jsonschema import SchemaError
    from jsonschema.validators import validator_for

    if not isinstance(schema, dict | bool):
        raise _refusal("a JSON Schema is an object, true or false")

    document = cast("dict[str, Any] | bool", schema)

    # The stubs know no default of None, which tells an unknown dialect.
    dialect: Any = validator_for(document, default=cast("Any", None))
    if dialect is None and "$schema" in fields_of(document):
        raise _refusal(f"{fields_of(document)['$schema']!r} is no dialect of JSON Schema")

    dialect = dialect or validator_for(True)
    try:
        dialect.check_schema(document)
    except SchemaError as error:
        raise _refusal(
            f"no valid JSON Schema at {error.json_path}: {error.message[:200]}"
        ) from error

    for rules in _objects(document):
        _check_references(rules, document)
        for pattern in _patterns(rules):
            _check_pattern(pattern)

        # The library matches these two against each other with patterns that have no time-out.
        if "unevaluatedProperties" in rules and "patternProperties" in rules:
            raise _refusal("use additionalProperties beside patternProperties")


def _check_references(rules: Mapping[str, Any], schema: object) -> None:
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    for keyword in _REFERENCES:
        target = rules.get(keyword)
        if not isinstance(target, str):
            continue
        if not target.startswith("#"):
            raise _refusal(f"{keyword} {target!r} leaves the document; put it under $defs")

        document = DRAFT202012.create_resource(cast("Any", schema))
        registry: Registry[Any] = Registry()
        try:
            registry.resolver_with_root(document).lookup(target)
        except Unresolvable as error:
            raise _refusal(f"{keyword} {target!r} names nothing in the schema") from error


def _objects(schema: object) -> Iterator[Mapping[str, Any]]:
    """Go through every object of a schema, whatever keyword it is under."""
    waiting: list[object] = [schema]
    while waiting:
        branch = waiting.pop()
        if isinstance(branch, dict):
            rules = cast("Mapping[str, Any]", branch)
            yield rules
            waiting.extend(rules.values())
        else:
            waiting.extend(items_of(branch))


def _patterns(rules: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(rules.get("pattern"), str):
        yield rules["pattern"]
    yield from fields_of(rules.get("patternProperties"))


def _check_pattern(pattern: str) -> None:
    import regex

    if len(pattern) > _MAX_PATTERN:
        raise _refusal(f"a pattern has at most {_MAX_PATTERN} characters")

    try:
        regex.compile(pattern)
    except (regex.error, OverflowError) as error:
        raise _refusal(f"no valid pattern: {pattern[:80]!r}: {error}") from error


def _refusal(reason: str) -> InvalidInput:
    return InvalidInput(f"enforcement: {reason}", code="bad_enforcement")
