"""Every text that was found says where it comes from, and how it was found."""

import pytest

from tenure.schema.errors import InvalidInput
from tenure.schema.values import iso
from tenure.tests.compiler.fake_reader import Bench, uid
from tenure.tests.support.refusals import refused


def test_evidence_carries_the_six_fields() -> None:
    bench = Bench()
    given = {
        "text": "alpha is a letter",
        "origin": "doc://abc/1",
        "retrieved_at": "2026-01-02T00:00:00Z",
        "source_authority": 0.7,
        "span": "page 3",
        "lineage": ["first question"],
    }
    (found,) = bench.compile(query="alpha letter", evidence=[given]).trace.provenance
    assert found[1:] == (
        "doc://abc/1",
        "2026-01-02T00:00:00Z",
        4,
        0.7,
        found.relevance,
        "page 3",
        ("request", "first question"),
        "",
    )
    assert 0 < found.relevance <= 1


def test_a_stored_object_says_when_it_was_recorded_and_how_it_was_found() -> None:
    bench = Bench()
    bench.world.add("fact", subject="Sam", slot="office", value="alpha hall", trust=0.8)
    bench.world.add("style", subject="Ann", slot="code_style", value="x", scope={"user": "ann"})
    envelope = bench.compile(query="alpha office", entities=["Sam"])
    found = {each.object_id: each for each in envelope.trace.provenance}
    fact = found[uid("fact")]
    assert fact.retrieved_at == iso(bench.world.rows[0].row.claim.tx)
    assert fact.lineage == ("text", "slot", "neighbour")
    assert (fact.source, fact.source_authority, fact.memory) == ("user://chat", 0.8, "semantic")
    assert found[uid("style")].memory == "procedural"
    assert found[uid("style")].relevance == 0.0


def test_a_picture_has_the_provenance_of_its_message() -> None:
    picture = {"kind": "image", "uri": "a.png", "width": 28, "height": 28}
    (found,) = Bench().compile(query="x", evidence=[picture]).trace.provenance
    assert (found.source, found.lineage) == ("request://media", ("request",))


def test_level_four_text_without_any_source_is_refused() -> None:
    envelope = Bench().compile(query="alpha", evidence=[{"text": "alpha", "origin": ""}])
    assert [o.reason for o in envelope.trace.omitted_objects] == ["provenance_missing"]
    assert envelope.trace.provenance == ()


def test_the_layers_of_the_budget_add_up_with_what_is_free() -> None:
    envelope = Bench().compile(query="alpha", evidence=["alpha beta"], history=["hello"])
    layers = envelope.trace.budget["layers"]
    assert layers["conversation"] > 0 < layers["evidence"]
    assert layers["slack"] == 8_000 - envelope.tokens_upper
    assert sum(layers.values()) == pytest.approx(8_000, abs=10)


def test_a_tool_speaks_a_known_protocol_and_has_a_known_pace() -> None:
    tool = {"name": "find", "protocol": "mcp", "timeout_class": "slow"}
    assert '"protocol":"mcp"' in Bench().compile(query="x", tools=[tool]).text
    assert Bench().compile(query="x", tools=[{**tool, "protocol": ""}]).manifest.valid
    for name, word in (("protocol", "smtp"), ("timeout_class", "soon")):
        with refused(InvalidInput, "unknown_vocabulary"):
            Bench().compile(query="x", tools=[{**tool, name: word}])
