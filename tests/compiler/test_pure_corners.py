"""Corners of the pure compiler that no larger test reaches."""

from __future__ import annotations

import pytest

from tenure.compiler.conversion.untrusted_tools import tool_line, tool_name, untrusted_tool
from tenure.compiler.envelope.checks import violations
from tenure.compiler.request.parse import tool_fields, turns_of
from tenure.schema import limits
from tenure.schema.errors import InvalidInput
from tenure.schema.limits import ITEMS, nesting
from tenure.tests.support.refusals import refused


@pytest.mark.parametrize(
    ("value", "broken"),
    [([1, 1.0], True), ([[1], [1.0]], True), ([{"a": 1}, {"a": 1.0}], True), ([1, 2.5], False)],
)
def test_items_are_unique_by_what_they_are_worth(value: list[object], broken: bool) -> None:
    assert bool(violations(value, {"uniqueItems": True})) is broken


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^a": {"type": "integer"}}},
        {"additionalProperties": False},
        {"uniqueItems": True},
        {"uniqueItems": False},
        {"pattern": "^a"},
    ],
)
def test_a_rule_of_another_type_says_nothing(schema: dict[str, object]) -> None:
    assert violations(7, schema) == []


def test_further_members_are_held_to_their_schema() -> None:
    schema = {"properties": {"a": {}}, "additionalProperties": {"type": "integer"}}
    assert violations({"a": "x", "b": 1}, schema) == []
    assert violations({"b": "x"}, schema) != []


def test_a_quoted_bracket_is_no_nesting() -> None:
    assert nesting(r'["\"[[[", [1]]') == 2


def test_a_value_with_too_many_items_is_refused() -> None:
    with refused(InvalidInput, "too_large"):
        limits.check_json([0] * (ITEMS + 1), "value")


def test_a_tool_without_parameters_has_no_schema() -> None:
    assert tool_fields({"type": "function", "function": {"name": "go"}}) == {"name": "go"}


def test_a_result_may_be_one_block() -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": {"type": "text", "text": "ok"}}
    (turn,) = turns_of({"role": "user", "content": [block]})
    assert turn["text"] == "ok"


def test_a_text_that_is_no_tool_has_no_name() -> None:
    assert untrusted_tool("no json") == (None, "no json")
    assert tool_name("no json") is None
    assert tool_line("two\nlines") == "two lines"
    assert tool_line('{"name": "search", "description": 7}') == "tool search"
