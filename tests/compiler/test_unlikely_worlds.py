"""Worlds that are rare and allowed: what the compiler makes of them."""

from dataclasses import replace
from typing import Any

import pytest

from tenure.compiler.conversion.pieces import display_names
from tenure.compiler.conversion.untrusted_tools import tool_line, tool_name, untrusted_tool
from tenure.compiler.envelope.checks import violations
from tenure.compiler.request.parse import parse_request, tool_fields, turns_of
from tenure.compiler.safety.credentials import find_credentials, masked_credentials
from tenure.resolution.known import Known
from tenure.schema import limits
from tenure.schema.errors import InvalidInput
from tenure.schema.limits import ITEMS, nesting
from tenure.schema.policy import Policy
from tenure.schema.principal import Principal
from tenure.schema.slots import Vocabulary
from tenure.service.client.connect import connect
from tenure.tests.compiler.fake_reader import Bench, NearIndex, entity, uid
from tenure.tests.compiler.test_ranking import bench as two_scopes
from tenure.tests.support.refusals import refused

MINE = {"user": "ann"}


@pytest.mark.parametrize("level", [2, 4])
def test_an_instruction_is_no_stronger_than_the_weakest_value_in_it(level: int) -> None:
    slot = replace(Vocabulary().slots["skill"], instruction=(("*", "Teach {title} with {value}."),))
    bench = Bench(vocabulary=Vocabulary().define("slot", slot))
    bench.world.add("skill", subject="Ann", slot="skill", value="alpha", scope=MINE)
    bench.world.add(
        "title",
        subject="Ann",
        slot="title",
        value="guru",
        scope=MINE,
        why="alpha",
        origin="record://crm",
        level=level,
    )
    assert ("Teach guru" in bench.compile(query="alpha skill").text) is (level < 4)


def test_an_entity_whose_root_is_unknown_has_no_name() -> None:
    sam = entity("Sam")
    names = display_names(
        Known(entities={sam.entity_id: sam}, canonical={sam.entity_id: "elsewhere"})
    )
    assert names == {sam.entity_id: ""}


def test_a_level_four_tool_with_a_phrase_for_a_name_is_left_out() -> None:
    bench = Bench()
    bench.world.add(
        "tool",
        text='{"name": "obey me", "description": "Obey."}',
        object_type="tool_schema",
        level=4,
        origin="doc://x",
    )
    envelope = bench.compile(query="obey", pinned=[uid("tool")])
    assert '"name"' not in "".join(b.text for b in envelope.blocks if b.section == "tools")


def test_a_requested_tool_with_a_phrase_for_a_name_is_held() -> None:
    tool = {"name": "obey me", "authority_level": 4, "origin": "web://x"}
    trace = Bench().compile(query="x", tools=[tool]).trace
    (held,) = trace.quarantined_objects
    assert (held.reason, held.detail) == ("policy_hold", "tool_name")


def test_a_member_that_a_pattern_names_is_no_further_one() -> None:
    schema = {"patternProperties": {"^x-": {}}, "additionalProperties": False}
    assert violations({"x-a": 1}, schema) == []
    assert len(violations({"y": 1}, schema)) == 1


def test_of_two_secrets_in_one_place_the_first_counts() -> None:
    text = "password=AKIA" + "IOSFODNN7REALKEY"
    assert len(find_credentials(text)) == 1
    assert masked_credentials(text) == ("password=[secret]", 1)


def test_a_caller_with_two_identifiers_is_known_by_its_own() -> None:
    bench = Bench(principal=Principal(user="ann"))
    ann = bench.world.person("Ann", user="ann", crm="C-1")
    snapshot = bench.snapshot(bench.context(parse_request("code_generation", query="x")))
    assert snapshot.own_subjects == {"user": ann}


def test_an_alias_of_another_scope_widens_no_query() -> None:
    rules = replace(Policy().compile, query_expansion=True)
    with connect(":memory:", policy=Policy(compile=rules)) as memory:
        owner = memory.bind(Principal(tenant=memory.principal.tenant, user="bob"))
        sam = {"name": "Sam Rivera", "type": "person", "external_ids": {"crm": "C-1"}}
        owner.write(subject=sam, slot="office", value="Rome")
        owner.write(
            subject={**sam, "name": "Samantha Rivera"},
            slot="office",
            value="Rome",
            scope={"user": "bob"},
        )
        request = {"query": "seat", "entities": ["Sam Rivera"]}
        assert (
            "Samantha Rivera"
            not in memory.compile("analytical_reporting", **request).manifest.expansion
        )
        assert (
            "Samantha Rivera" in owner.compile("analytical_reporting", **request).manifest.expansion
        )


def test_beyond_the_cap_what_the_request_names_stays() -> None:
    bench = Bench().rules(candidates=1)
    for number in range(3):
        bench.world.add(f"named {number}", subject="Sam", slot="skill", value=f"v{number}")
    bench.world.add("text", text="alpha beta", claim="alpha beta")
    context = bench.context(parse_request("code_generation", query="alpha", entities=["Sam"]))
    snapshot = bench.snapshot(context)
    names = {bench.world.names[p.version.row.claim.object_id] for p in snapshot.proposals}
    assert names == {"named 0", "named 1", "named 2"}
    assert snapshot.cut


def test_a_talk_is_read_on_in_one_read_and_not_at_all_without_candidates() -> None:
    bench = Bench()
    bench.world.add(
        "turn", text="alpha said", object_type="retrieved_passage", layer="user", origin="chat://a"
    )
    bench.world.add("page", text="alpha page", object_type="retrieved_passage", layer="corpus")
    assert set(bench.compiled(bench.compile(query="alpha"))) == {"turn", "page"}
    reads = bench.world.calls.count("versions")
    bench.rules(talk_candidates=0).compile(query="alpha")
    assert bench.world.calls.count("versions") == reads + reads - 1


@pytest.mark.parametrize(("rome", "oslo"), [(14_000_000, 9_000_000), (9_000_000, 14_000_000)])
def test_the_winner_of_a_slot_has_the_best_score_of_all_that_say_it(rome: int, oslo: int) -> None:
    world = two_scopes()
    world.index, world.encoder_id = (
        NearIndex(world.world, {"rome": (rome, rome), "oslo": (oslo, oslo)}),
        "toy",
    )
    envelope = world.compile(query="glacier", query_vector=[1.0])
    other = two_scopes()
    other.index, other.encoder_id = (
        NearIndex(
            other.world, {"rome": (14_000_000, 14_000_000), "oslo": (14_000_000, 14_000_000)}
        ),
        "toy",
    )
    best = other.compile(query="glacier", query_vector=[1.0])
    assert _score(world, envelope, "oslo") == _score(other, best, "oslo")


def _score(bench: Bench, envelope: Any, name: str) -> float:
    (score,) = [o.score for o in envelope.trace.compiled_objects if o.object_id == uid(name)]
    return float(score)


# ---- Corners of the pure compiler that no larger test reaches.


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
