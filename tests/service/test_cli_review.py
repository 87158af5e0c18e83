"""The steward's commands: the queue, the interactive desk, the evaluation of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tenure import EntityRef, EntityView, Memory, connect
from tenure.service.cli.desk import KEYS, Desk
from tenure.service.cli.main import app
from tenure.service.cli.show import Screen
from tenure.service.stewardship.entities import graph_text

HEAD = "pair_id,kind,name1,name2,is_match,cluster1,cluster2"


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with connect(str(tmp_path / "team.db")) as opened:
        opened.vocabulary.define_slot("noted", description="what was noted")
        for name in ("Sam Rivera", "S. Rivera"):
            opened.write(EntityRef(name=name, type="person"), "noted", name)
        yield opened


def told(store: Path, *words: str, code: int = 0) -> Any:
    result = CliRunner().invoke(app, ["--store", str(store), "--json", *words])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout) if code == 0 else result.output


def sit(memory: Memory, *keys: str) -> str:
    out = StringIO()
    pressed = iter(keys)
    Desk(memory, Screen(Console(file=out, width=200, markup=False)), lambda _: next(pressed)).run()
    return out.getvalue()


def test_without_a_terminal_the_queue_is_listed(memory: Memory, tmp_path: Path) -> None:
    found = told(tmp_path / "team.db", "review")
    assert [case["mention"] for case in found] == ["S. Rivera"]
    page = told(tmp_path / "team.db", "review", "show", found[0]["review_id"])
    assert page["impact"]["moves"] == 1


def test_a_case_is_named_by_the_name_that_waits(memory: Memory, tmp_path: Path) -> None:
    store = tmp_path / "team.db"
    told(store, "review", "accept", "S. Rivera")
    assert told(store, "review", "list") == []
    told(store, "review", "undo", "S. Rivera")
    assert [case["mention"] for case in told(store, "review", "list")] == ["S. Rivera"]

    # A second question about the same name: the first no longer says which is meant.
    told(store, "review", "reject", "S. Rivera")
    for name in ("Bo Young", "Quinn Abara"):
        memory.write(EntityRef(name=name, type="person"), "noted", name)
    first, second = [
        told(store, "review", "open", other, "Quinn Abara") for other in ("Sam Rivera", "Bo Young")
    ]
    assert first["mention"] == second["mention"]
    refusal = told(store, "review", "accept", first["mention"], code=1)
    assert f"several reviews ask about '{first['mention']}'" in refusal
    assert second["review_id"] in refusal
    assert "there is no review Nobody" in told(store, "review", "accept", "Nobody", code=1)


def test_a_case_is_decided_and_undone_by_commands(memory: Memory, tmp_path: Path) -> None:
    store = tmp_path / "team.db"
    (case,) = told(store, "review", "list")
    told(store, "review", "accept", case["review_id"])
    assert told(store, "review", "list") == []
    told(store, "review", "undo", case["review_id"])
    told(store, "review", "unsure", case["review_id"])
    told(store, "review", "reject", case["review_id"])
    assert len(told(store, "entities", "--type", "person")) == 2


def test_entities_are_merged_and_taken_apart(memory: Memory, tmp_path: Path) -> None:
    store = tmp_path / "team.db"
    (case,) = told(store, "review", "list")
    told(store, "review", "reject", case["review_id"])
    a, b = (one["entity_id"] for one in told(store, "entities"))
    refused = CliRunner().invoke(app, ["--store", str(store), "merge", a, b])
    assert (refused.exit_code, "standing_non_match" in refused.output) == (1, True)


@pytest.mark.parametrize(
    ("key", "left"), [("y", 0), ("s", 0), ("a", 0), ("n", 0), ("x", 0), ("u", 0)]
)
def test_a_key_decides(memory: Memory, key: str, left: int) -> None:
    assert "Sam Rivera" in sit(memory, key, "q")
    assert len(memory.reviews.list()) == left


def test_the_desk_explains_searches_and_undoes(memory: Memory) -> None:
    text = sit(memory, "?", "h", "o", "/", "Sam Rivera", "", "z", "q")
    assert all(what in text for what in KEYS.values())
    assert "named 'Sam Rivera'" in text
    memory.write(EntityRef(name="Sam Riviera", type="person"), "noted", "x")
    sit(memory, "n", "z", "q")
    assert len(memory.reviews.list()) == 2


def test_another_candidate_is_found_and_taken_by_its_number(memory: Memory) -> None:
    other = memory.write(EntityRef(name="Tomas Novak", type="person"), "noted", "x").entity
    assert "nobody of that name" in sit(memory, "/", "Zzyzx Qwrtp", "q")
    sit(memory, "/", "Tomas Novak", "1", "q")
    assert len(memory.as_of().entity(other).members) == 2
    assert memory.reviews.list() == ()


def test_every_key_says_what_it_has_done(memory: Memory) -> None:
    text = sit(memory, "n", "z", "s", "z", "u", "q")
    assert "different: 'S. Rivera' is S. Rivera, an entity of its own; z takes it back" in text
    assert "undone: 'S. Rivera' waits again" in text
    assert "same: 'S. Rivera' is Sam Rivera; z takes it back" in text
    assert "yes: 'S. Rivera' becomes part of 'Sam Rivera', whose id stays" in text


def test_facts_of_both_sides_stand_in_rows(memory: Memory) -> None:
    for name, office in (("Sam Rivera", "Rome"), ("S. Rivera", "Oslo")):
        memory.write(name, "office", office)
        memory.write(name, "home", "Turin")
    memory.write("Sam Rivera", "employer", "Acme")
    lines = sit(memory, "q").splitlines()
    assert "  = home      Turin      Turin" in lines
    assert "  ! office    Oslo       Rome" in lines
    assert "  + employer             Acme" in lines


def test_the_desk_goes_on_to_audits_and_suggestions(tmp_path: Path) -> None:
    with connect(str(tmp_path / "other.db")) as memory:
        memory.vocabulary.define_slot("noted", description="what was noted")
        for number in ("1", "2"):
            ref = EntityRef(name="Alan Grayson", type="person", external_ids={"bioguide": number})
            memory.write(ref, "noted", number)
        assert memory.reviews.list() == ()
        (case,) = memory.reviews.list(kind="all")

        assert case.mention in sit(memory, "k")
        assert len(memory.reviews.list(kind="all")) == 1
        sit(memory, "s", "q")
        assert len(memory.entities.list("person")) == 1


def test_a_page_that_somebody_overtook_is_read_again(memory: Memory) -> None:
    (case,) = memory.reviews.list()

    def keys() -> Iterator[str]:
        memory.reviews.reject(case.review_id)
        yield "s"
        raise AssertionError("the case has been decided, so that no key is asked for")

    pressed, out = keys(), StringIO()
    screen = Screen(Console(file=out, width=200, markup=False))
    Desk(memory, screen, lambda _: "", lambda: next(pressed)).run()
    assert "[stale_version]" in out.getvalue()
    assert out.getvalue().endswith("nothing waits\n")


def test_groups_bulk_doubts_and_the_graph_have_commands(memory: Memory, tmp_path: Path) -> None:
    store = tmp_path / "team.db"
    assert [group["cases"] for group in told(store, "review", "groups", "--by", "source")] == [1]
    shown = told(store, "review", "bulk", "reject", "--mention", "S. Rivera")
    assert [case["mention"] for case in shown] == ["S. Rivera"]
    assert len(told(store, "review", "list")) == 1
    told(store, "review", "bulk", "reject", "--mention", "S. Rivera", "--yes")
    assert told(store, "review", "list") == []
    assert told(store, "resolution", "doubtful") == []
    for name, start in (("graph.graphml", "<graphml"), ("graph.json", "{")):
        told(store, "entities", "--export", str(tmp_path / name))
        assert start in (tmp_path / name).read_text(encoding="utf-8")[:200]


def test_a_graph_is_xml_whatever_a_name_holds() -> None:
    view = EntityView(
        entity_id="e1", name="Sam\x1b[2J\x00\ufffe", type="person", state="active",
        members=("e1",), aliases=(), external_ids={},
    )  # fmt: skip
    (data,) = ElementTree.fromstring(graph_text([view], [], "graphml")).iterfind(
        ".//{*}data[@key='d0']"
    )
    assert data.text == "Sam\\x1b[2J\\x00\\xfffe"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("unmerge", "x"), "unknown_merge"),
        (("entities", "--type", "persn"), "unknown_vocabulary"),
        (("review", "list", "--status", "foo"), "known: all"),
        (("entities", "Nobody Here"), "tenure entities"),
        (("review", "bulk", "accept"), "missing_filter"),
    ],
)
def test_a_slip_says_what_to_do(
    memory: Memory, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    result = CliRunner().invoke(app, ["--store", str(tmp_path / "team.db"), *words])
    assert result.exit_code != 0
    assert says in result.output + str(result.exception)


def test_a_file_of_pairs_is_measured(tmp_path: Path) -> None:
    lines = [HEAD, "1,organization,Siemens,Siemens Aktiengesellschaft,1,a,a",
             "2,organization,Acme AG,Acme GmbH,0,b,c"]  # fmt: skip
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(lines))
    report = told(tmp_path / "x.db", "resolution", "evaluate", str(file))
    assert report["pooled"]["bind"]["right"] == report["pooled"]["bind"]["n"] == 1
    out = CliRunner().invoke(app, ["resolution", "evaluate", str(file)], env={"COLUMNS": "200"})
    assert "n < 300" in out.stdout
    told(tmp_path / "x.db", "resolution", "evaluate", str(tmp_path / "none.csv"), code=1)
    refused = CliRunner().invoke(
        app, ["resolution", "evaluate", str(file), "--refit", str(tmp_path / "m.json")]
    )
    assert (refused.exit_code, "refit_refused" in refused.output) == (1, True)


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("a,b\n1,2\n")
    assert "bad_file" in told(tmp_path / "x.db", "resolution", "evaluate", str(file), code=1)


def test_binds_are_scored_again_and_the_sound_ones_are_left(memory: Memory) -> None:
    for name in ("Order Service", "OrderService"):
        memory.write(EntityRef(name=name, type="system"), "noted", name)
    assert memory.resolution.doubtful() == ()


def test_a_stress_test_gives_every_pair_a_context(memory: Memory, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"{HEAD}\np1,person,Anna Schmidt,Anna Schmitt,no,a,b\n", encoding="utf-8")
    report = told(tmp_path / "team.db", "resolution", "evaluate", str(pairs), "--stress", "both")
    assert (report["pooled"]["bind"]["n"], report["pooled"]["review"]["n"]) == (0, 1)
    refused = told(
        tmp_path / "team.db", "resolution", "evaluate", str(pairs), "--stress", "all", code=1
    )
    assert "scope" in refused


def test_a_stress_test_says_that_it_is_one(memory: Memory, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"{HEAD}\np1,person,Anna Schmidt,Anna Schmitt,no,a,b\n", encoding="utf-8")
    words = ["--store", str(tmp_path / "team.db"), "resolution", "evaluate", str(pairs)]
    assert "stress" not in CliRunner().invoke(app, words).stdout
    assert "a stress test (scope)" in CliRunner().invoke(app, [*words, "--stress", "scope"]).stdout


def test_another_candidate_is_named_as_a_steward_would(memory: Memory, tmp_path: Path) -> None:
    memory.write(EntityRef(name="Ana Braun", type="person"), "noted", "Ana Braun")
    (case,) = memory.reviews.list()
    words = ("review", "accept", case.review_id[:8], "--entity", "Ana Braun")
    decision = told(tmp_path / "team.db", *words)
    one, other = memory.as_of().entity("Ana Braun"), memory.as_of().entity("S. Rivera")
    assert decision["canonical_id"] == one.entity_id == other.entity_id
