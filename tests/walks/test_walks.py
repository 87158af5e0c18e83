"""Five people do their work with the README and `docs/` alone."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.tests.source_tree import ROOT
from tenure.tests.walks.conftest import Install
from tenure.tests.walks.walker import Walker, undocumented

SAMPLE = ROOT / "tests" / "data" / "events-sample.jsonl"


@pytest.fixture
def walker(request: pytest.FixtureRequest, tmp_path: Path, install: Install) -> Iterator[Walker]:
    person = Walker(install(getattr(request, "param", "")), tmp_path)
    yield person
    person.close()


def test_what_no_page_explains_is_seen() -> None:
    assert undocumented(["tenure", "--store", "a.db", "get", "Sam", "office", "--valid", "x"]) == []
    assert undocumented(["tenure", "get", "Sam", "office", "--colour"]) == ["--colour"]
    assert undocumented(["tenure", "paint", "Sam"]) == ["tenure paint Sam"]


@pytest.mark.slow
def test_an_installation_makes_a_command(install: Install, tmp_path: Path) -> None:
    command = [install("").with_name("tenure"), "--version"]
    assert subprocess.check_output(command, cwd=tmp_path, text=True).startswith("tenure")


@pytest.mark.slow
def test_an_agent_builder_gives_a_chat_a_memory(walker: Walker) -> None:
    said = "tenure --store chat.db --user ann observe"
    walker.run(f"{said} 'I moved to the Chicago office in June.' --speaker Ann")
    walker.run(f"{said} 'Please keep your answers short.' --speaker Ann")
    asked = "--task assistant --query 'Where do I work?' --budget 1000"
    context = walker.run(f"tenure --store chat.db --user ann compile {asked}")
    assert "Chicago" in context

    other = walker.run(f"tenure --store chat.db --user bob compile {asked}")
    assert "Chicago" not in other
    explained = walker.run(f"tenure --store chat.db --user ann compile {asked} --explain")
    assert "where it came from" in explained
    hook = walker.run(
        "tenure --store chat.db --user ann mcp hook", typed='{"prompt": "Where do I work?"}'
    )
    assert "Chicago" in hook


@pytest.mark.slow
def test_an_auditor_finds_what_was_believed_and_who_said_it(walker: Walker) -> None:
    (walker.folder / "congress.jsonl").write_bytes(SAMPLE.read_bytes())
    walker.run("tenure --store congress.db ingest congress.jsonl --replay")
    store = "tenure --store congress.db"
    then = walker.run(
        f"{store} get 'Joe Barton' seat --valid 1990-01-01T00:00:00Z --tx 2013-01-01T00:00:00Z"
    )
    assert "house:TX-6" in then
    assert "known from" in walker.run(f"{store} history 'Joe Barton' seat")
    assert "Joe Barton" in walker.run(f"{store} timeline 'Joe Barton' seat --grid")
    assert "Joe Barton" in walker.run(f"{store} log --entity 'Joe Barton'")
    span = "-infinity 2013-01-01T00:00:00Z"
    walker.run(f"{store} diff --entity 'Joe Barton' -- {span}")

    state = json.loads(
        walker.run(f"{store} get 'Joe Barton' seat --valid 1990-01-01T00:00:00Z --json")
    )
    object_id = state["candidates"][0]["object_id"]
    assert "why it matters" in walker.run(f"{store} explain {object_id}")
    walker.run(f"{store} compile --task analytical_reporting --query 'Joe Barton seat'")
    envelopes = json.loads(walker.run(f"{store} envelope list --json"))
    replayed = walker.run(f"{store} replay {envelopes[0]['envelope_id']}")
    assert envelopes[0]["envelope_id"] in replayed


@pytest.mark.slow
def test_a_steward_decides_who_is_who_and_takes_it_back(walker: Walker) -> None:
    store = "tenure --store team.db"
    for name in ("Sam Lee", "Samuel Lee"):
        walker.run(f"{store} write '{name}' email sam@acme.example --type person")
    assert "Samuel Lee" in walker.run(f"{store} review list")
    case = json.loads(walker.run(f"{store} review list --json"))[0]["review_id"]
    assert "Sam Lee" in walker.run(f"{store} review show {case}")
    walker.run(f"{store} review accept {case} --reason 'the same address'")
    assert "Sam Lee" in walker.run(f"{store} resolution explain 'Sam Lee'")
    walker.run(f"{store} review undo {case}")
    assert "total: p" in walker.run(f"{store} resolution score 'Sam Lee' 'Samuel Lee'")

    for name in ("Acme Bakery", "Northern Flour"):
        walker.run(f"{store} write '{name}' jurisdiction Oslo --type organization")
    union = json.loads(walker.run(f"{store} merge 'Acme Bakery' 'Northern Flour' --json"))
    firms = f"{store} entities --type organization --json"
    assert len(json.loads(walker.run(firms))) == 1
    walker.run(f"{store} unmerge {union['merge_id']} --reason 'two firms'")
    assert len(json.loads(walker.run(firms))) == 2


@pytest.mark.slow
@pytest.mark.parametrize("walker", ["server"], indirect=True)
def test_an_operator_keeps_a_store_safe(walker: Walker) -> None:
    store = "tenure --store team.db"
    walker.run(f"{store} write 'Sam Rivera' office Chicago")
    assert "ok" in walker.run(f"{store} doctor")
    assert "team.db" in walker.run(f"{store} config show --origin")
    walker.run(f"{store} backup team-backup.db")
    walker.run("tenure --store other.db restore team-backup.db")
    assert "Chicago" in walker.run("tenure --store other.db get 'Sam Rivera' office")
    walker.run(f"{store} export team.jsonl.gz")
    walker.run("tenure --store new.db import team.jsonl.gz")
    walker.run("tenure --store new.db doctor")

    made = walker.run(f"{store} --role member --user ann keys create --allow memory:read --json")
    key = json.loads(made)["key"].split("_")[1]
    assert key in walker.run(f"{store} keys list")
    walker.run(f"{store} keys revoke {key}")
    walker.run(f"{store} sweep --dry-run")
    walker.run(f"{store} erase --entity 'Sam Rivera' --reason 'case 17' --yes")
    assert "Chicago" not in walker.run(f"{store} get 'Sam Rivera' office")
    missing = walker.run("tenure --store nowhere.db get 'Sam Rivera' office", code=1)
    assert "unknown_store" in missing


@pytest.mark.slow
def test_a_data_engineer_loads_files_and_mends_what_is_refused(walker: Walker) -> None:
    store = "tenure --store team.db"
    walker.run(f"{store} define slot badge description='the colour of the badge' value_type=string")
    rows = [
        {"subject": "Sam Rivera", "slot": "badge", "value": "green"},
        {"subject": "Ann Lee", "slot": "bagde", "value": "red"},
    ]
    events = walker.folder / "events.jsonl"
    events.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    refusal = walker.run(f"{store} ingest events.jsonl", code=1)
    assert "line 2" in refusal
    assert "did you mean 'badge'?" in refusal
    assert "events.rejects.jsonl" in walker.run(f"{store} ingest events.jsonl --keep-going", code=1)

    rejects = (walker.folder / "events.rejects.jsonl").read_text(encoding="utf-8")
    mended = json.loads(json.loads(rejects)["text"]) | {"slot": "badge"}
    (walker.folder / "mended.jsonl").write_text(json.dumps(mended), encoding="utf-8")
    walker.run(f"{store} ingest mended.jsonl")
    assert "red" in walker.run(f"{store} get 'Ann Lee' badge")
    assert "badge" in walker.run(f"{store} slots badge")
    walker.run(f"{store} export team.jsonl")
