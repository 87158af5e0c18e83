"""Stewards at the command line: entities, cases to decide, merges and their undoing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tenure.service.cli import app

RUNNER = CliRunner()
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a command line over a store with two people of one name and a case about them."""
    monkeypatch.chdir(tmp_path)

    def person(hr: str) -> dict[str, Any]:
        return {"name": "Daniel Okafor", "type": "person", "external_ids": {"hr": hr}}

    lines = [
        {"subject": person("E-1"), "slot": "title", "value": "engineer"},
        {"subject": person("E-2"), "slot": "title", "value": "counsel"},
        {"subject": {"name": "Daniel Okafor", "type": "person"}, "slot": "office", "value": "Rome"},
    ]
    Path("events.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    def run(*words: str, code: int = 0) -> Result:
        result = RUNNER.invoke(app, list(words))
        assert result.exit_code == code, (result.output, result.exception)
        return result

    run("ingest", "events.jsonl")
    return run


def told(run: Run, *words: str) -> Any:
    return json.loads(run("--json", *words).stdout)


def case(run: Run) -> dict[str, Any]:
    (found,) = told(run, "review", "list")
    return dict(found)


def test_a_case_is_listed_and_shown_with_its_evidence(run: Run) -> None:
    found = case(run)
    assert [c["name"] for c in found["candidates"]] == ["Daniel Okafor"] * 2
    assert found["review_id"] in run("review", "list").stdout
    shown = run("review", "show", found["review_id"]).stdout
    assert "Daniel Okafor (person), open, version 1" in shown
    assert "evidence" in shown
    assert told(run, "review", "show", found["review_id"]) == found
    assert "no case is waiting" in run("review", "list", "--status", "accepted").stdout
    assert "[unknown_review]" in run("review", "show", "91bb", code=1).stderr


def test_a_case_is_accepted_and_undone(run: Run) -> None:
    found = case(run)
    chosen = found["candidates"][0]["entity"]
    done = told(run, "review", "accept", found["review_id"], "--entity", chosen, "--remember", "no")
    assert done["merge"]["canonical_id"] == chosen
    assert told(run, "get", chosen, "office")["value"] == "Rome"
    again = run("review", "accept", found["review_id"], code=1)
    assert "[already_decided]" in again.stderr
    assert "undone" in run("review", "undo", found["review_id"]).stdout
    assert told(run, "get", chosen, "office")["status"] == "unknown"


def test_a_case_is_rejected_or_left(run: Run) -> None:
    found = case(run)
    assert "unsure" in run("review", "unsure", found["review_id"]).stdout
    stale = run("review", "reject", found["review_id"], "--version", "1", code=1)
    assert "[stale_version]" in stale.stderr
    assert "rejected" in run("review", "reject", found["review_id"]).stdout
    assert told(run, "review", "list") == []


def test_a_merge_is_taken_back(run: Run) -> None:
    left, right = (c["entity"] for c in case(run)["candidates"])
    merged = told(run, "merge", left, right, "--reason", "one person, two contracts")
    assert set(merged["members"]) == {left, right}
    assert told(run, "get", left, "title")["status"] == told(run, "get", right, "title")["status"]
    assert "apart: " in run("unmerge", merged["merge_id"], "--reason", "two people").stdout
    titles = {told(run, "get", e, "title")["value"] for e in (left, right)}
    assert titles == {"engineer", "counsel"}
    refused = run("merge", left, right, "--reason", "again", code=1)
    assert "[standing_non_match]" in refused.stderr


def test_entities_are_listed_and_found(run: Run) -> None:
    listed = told(run, "entities")
    assert [e["name"] for e in listed] == ["Daniel Okafor"] * 3
    one = listed[0]["entity_id"]
    assert told(run, "entities", one)[0]["entity_id"] == one
    assert told(run, "entities", "--type", "system") == []
    assert one in run("entities").stdout
    assert "[ambiguous_entity]" in run("entities", "Daniel Okafor", code=1).stderr
    assert "[unknown_entity]" in run("entities", "Nobody", code=1).stderr


@pytest.mark.parametrize(
    "words",
    [
        ("merge", "a", "b", "--reason", "r"),
        ("unmerge", "5f0c", "--reason", "r"),
        ("review", "reject", "91bb"),
    ],
)
def test_only_a_steward_decides(run: Run, words: tuple[str, ...]) -> None:
    assert "[privilege_required]" in run("--role", "viewer", *words, code=1).stderr


def test_the_machine_is_measured(run: Run) -> None:
    figures = told(run, "bench", "--claims", "100")
    assert {f["what"] for f in figures} >= {"import", "one write", "compile"}
    assert all(f["median"] > 0 for f in figures)
