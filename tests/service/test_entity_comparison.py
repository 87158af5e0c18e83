"""Why two entities are one or two: the evidence adds up to the total, in either order."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenure import Memory, Principal, connect
from tenure.faces.cli.main import app
from tenure.schema.errors import NotFound


def said(memory: Memory, *names: str) -> None:
    for name in names:
        memory.write(subject=name, slot="office", value="Austin")


def merge(memory: Memory, *names: str) -> list[str]:
    ids = [memory.entities.get(name).entity.entity_id for name in names]
    memory.entities.merge(*ids)
    return ids


def test_start_and_evidence_add_up_to_the_total(memory: Memory) -> None:
    said(memory, "Jonathan Smythe", "Jon Smythe")
    comparison = memory.entities.compare("Jonathan Smythe", "Jon Smythe")
    weights = sum(feature.weight for feature in comparison.candidate.features)
    assert comparison.start + weights == pytest.approx(comparison.candidate.log_odds)
    assert {feature.name for feature in comparison.candidate.features} >= {"name", "short_form"}
    assert comparison.decision == "review"
    assert not comparison.are_one


def test_the_order_of_two_entities_changes_nothing_but_the_sides(memory: Memory) -> None:
    said(memory, "Jonathan Smythe", "Jon Smythe")
    one = memory.entities.compare("Jonathan Smythe", "Jon Smythe")
    other = memory.entities.compare("Jon Smythe", "Jonathan Smythe")
    assert one.candidate.score == other.candidate.score
    assert one.names == other.names[::-1]


def test_strangers_stay_two_and_members_of_a_cluster_are_one(memory: Memory) -> None:
    said(memory, "Jonathan Smythe", "Wanda Okafor")
    assert memory.entities.compare("Jonathan Smythe", "Wanda Okafor").decision == "new"
    ids = merge(memory, "Jonathan Smythe", "Wanda Okafor")
    assert memory.entities.compare(*ids).are_one


def test_two_names_of_one_entity_are_still_compared_with_each_other(memory: Memory) -> None:
    said(memory, "Jonathan Smythe", "Jon Smythe")
    apart = memory.entities.compare("Jonathan Smythe", "Jon Smythe")
    merge(memory, "Jonathan Smythe", "Jon Smythe")
    merged = memory.entities.compare("jonathan smythe", "Jon Smythe")
    assert merged.are_one
    assert merged.names == ("Jonathan Smythe", "Jon Smythe")
    assert (merged.candidate.score, merged.decision) == (apart.candidate.score, "review")


def test_what_one_part_of_an_entity_is_known_by_is_no_evidence_for_itself(memory: Memory) -> None:
    memory.write(
        subject={"name": "Jonathan Smythe", "external_ids": {"email": "jo@acme.example"}},
        slot="office",
        value="Austin",
    )
    said(memory, "Jon Smythe")
    merge(memory, "Jonathan Smythe", "Jon Smythe")
    merged = memory.entities.compare("Jonathan Smythe", "Jon Smythe")
    assert "email" not in {feature.name for feature in merged.candidate.features}


def test_a_common_neighbour_counts_for_two(memory: Memory) -> None:
    said(memory, "Jonathan Smythe", "Jon Smythe")
    alone = memory.entities.compare("Jonathan Smythe", "Jon Smythe").candidate
    for name in ("Jonathan Smythe", "Jon Smythe"):
        memory.write(subject=name, slot="employer", value="Globex")
    together = memory.entities.compare("Jonathan Smythe", "Jon Smythe").candidate
    assert together.log_odds > alone.log_odds


def test_an_entity_that_only_another_user_may_see_cannot_be_compared(memory: Memory) -> None:
    said(memory, "Jonathan Smythe")
    ann = memory.bind(Principal(tenant="default", user="ann", roles=frozenset({"steward"})))
    bob = memory.bind(Principal(tenant="default", user="bob", roles=frozenset({"steward"})))
    ann.write(subject="Jon Smythe", slot="office", value="Rome", scope={"user": "ann"})
    assert ann.entities.compare("Jonathan Smythe", "Jon Smythe").candidate.score > 0
    with pytest.raises(NotFound):
        bob.entities.compare("Jonathan Smythe", "Jon Smythe")


def test_the_commands_say_why_and_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with connect("memory.db") as memory:
        said(memory, "Jonathan Smythe", "Jon Smythe")

    def run(*words: str) -> str:
        outcome = CliRunner().invoke(app, list(words))
        assert outcome.exit_code == 0, outcome.output
        return outcome.stdout

    why = run("resolution", "score", "Jonathan Smythe", "Jon Smythe")
    assert why.count("start: what the model takes two names for") == 1
    assert "short_form" in why
    assert "total: p 0.940" in why
    assert "a person would be asked" in why
    assert "no judgement exists" in run("resolution", "explain", "Jon Smythe")
    run("merge", "Jonathan Smythe", "Jon Smythe")
    assert "they are one entity" in run("resolution", "score", "Jonathan Smythe", "Jon Smythe")
    assert "MATCH" in run("resolution", "explain", "Jon Smythe")


def test_what_resolve_shows_adds_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with connect("memory.db") as memory:
        said(memory, "Jonathan Smythe")

    def run(*words: str) -> str:
        return CliRunner().invoke(app, list(words)).stdout

    text = run("resolve", "Jon Smith", "--type", "person")
    assert "held back" in text
    *evidence, total = [float(n) for n in re.findall(r"^ +([+-]\d+\.\d\d)  ", text, re.MULTILINE)]
    assert evidence
    assert sum(evidence) == pytest.approx(total, abs=0.05), "each line is rounded"

    exact = run("resolve", "Jonathan Smythe", "--type", "person")
    assert "p 1.000" in exact
    assert "start" not in exact
    assert "total" not in exact, "an equal name is not weighed"


def test_every_comparison_starts_alike(memory: Memory) -> None:
    said(memory, "Jonathan Smythe", "Jon Smythe", "Smythe Jones")
    near = memory.entities.compare("Jonathan Smythe", "Jon Smythe")
    far = memory.entities.compare("Jonathan Smythe", "Smythe Jones")
    assert near.start == pytest.approx(far.start, abs=1e-5)
    assert near.start < 0, "most names are two"


def test_what_would_tip_the_scale_is_told(memory: Memory) -> None:
    said(memory, "Sam Lee", "Samuel Lee")
    comparison = memory.entities.compare("Sam Lee", "Samuel Lee")
    assert any("nickname_only" in tip for tip in comparison.tips)
