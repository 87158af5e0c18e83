"""The steward's commands: the queue, the interactive desk, the evaluation of a file."""

import json
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner

from tenure import EntityRef, EntityView, Memory, connect
from tenure.faces.cli.frame import Screen
from tenure.faces.cli.main import app
from tenure.faces.cli.review import KEYS, Desk
from tenure.schema.errors import Unavailable
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
    assert "no entity has that name" in sit(memory, "/", "Zzyzx Qwrtp", "q")
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


def test_equal_candidates_are_chosen_by_number_and_never_by_default(tmp_path: Path) -> None:
    with connect(":memory:") as memory:
        for number, title in (("3301", "welder"), ("3302", "planner")):
            person = {"name": "Erik Vance", "type": "person", "external_ids": {"hr": number}}
            memory.write(person, "title", title)
        receipt = memory.write({"name": "Erik Vance", "type": "person"}, "office", "Bergen")
        (case,) = memory.reviews.list()
        second = case.candidates[1].entity
        assert "press the number of one" in sit(memory, "y", "2", "q")
        assert memory.reviews.get(case.review_id).review.decided_entity == second
        assert memory.as_of().value(second, "office") == "Bergen"
        assert receipt.reviews == (case.review_id,)


def test_groups_bulk_doubts_and_the_graph_have_commands(memory: Memory, tmp_path: Path) -> None:
    store = tmp_path / "team.db"
    assert [group["cases"] for group in told(store, "review", "groups", "--by", "source")] == [1]
    shown = told(store, "review", "decide-all", "reject", "--mention", "S. Rivera")
    assert [case["mention"] for case in shown] == ["S. Rivera"]
    assert len(told(store, "review", "list")) == 1
    told(store, "review", "decide-all", "reject", "--mention", "S. Rivera", "--yes")
    assert told(store, "review", "list") == []
    assert told(store, "resolution", "audit") == []
    for name, start in (("graph.graphml", "<graphml"), ("graph.json", "{")):
        told(store, "entities", "--export", str(tmp_path / name))
        assert start in (tmp_path / name).read_text(encoding="utf-8")[:200]


def test_a_graph_is_xml_whatever_a_name_holds() -> None:
    view = EntityView(
        entity_id="e1", name="Sam\x1b[2J\x00\ufffe", type="person", state="active",
        members=("e1",), aliases=(), external_ids={},
    )  # fmt: skip
    texts = [
        data.text
        for data in ElementTree.fromstring(graph_text([view], [], "graphml")).iterfind(".//{*}data")
    ]
    assert "Sam\\x1b[2J\\x00\\xfffe" in texts


def test_an_export_of_the_graph_names_the_extra_that_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(Unavailable, match=r"tenure\[graph\]") as refused:
        graph_text([], [], "graphml")
    assert refused.value.code == "extra_missing"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("unmerge", "x"), "unknown_merge"),
        (("entities", "--type", "persn"), "unknown_vocabulary"),
        (("review", "list", "--status", "foo"), "known: all"),
        (("entities", "Nobody Here"), "tenure entities"),
        (("review", "decide-all", "accept"), "missing_filter"),
    ],
)
def test_a_slip_says_what_to_do(
    memory: Memory, tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    result = CliRunner().invoke(app, ["--store", str(tmp_path / "team.db"), *words])
    assert result.exit_code != 0
    assert says in result.output + str(result.exception)


def test_another_candidate_is_named_as_a_steward_would(memory: Memory, tmp_path: Path) -> None:
    memory.write(EntityRef(name="Ana Braun", type="person"), "noted", "Ana Braun")
    (case,) = memory.reviews.list()
    words = ("review", "accept", case.review_id[:8], "--entity", "Ana Braun")
    decision = told(tmp_path / "team.db", *words)
    one, other = memory.as_of().entity("Ana Braun"), memory.as_of().entity("S. Rivera")
    assert decision["canonical_id"] == one.entity_id == other.entity_id
