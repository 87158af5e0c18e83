"""The beginning of an id is enough, many come in lines of their own, and help is whole."""

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tenure.faces.cli.frame import fold
from tenure.faces.cli.main import app
from tenure.tests.faces.cli.test_cli import Run, run, told

__all__ = ["run"]

WIDTH = 80


def entity_id(run: Run, name: str) -> str:
    found: str = told(run, "entities", name)["entity"]["entity_id"]
    return found


def test_the_beginning_of_an_entity_id_means_the_entity(run: Run) -> None:
    run("write", "Sam Rivera", "office", "Chicago", "--type", "person")
    run("write", "Nova", "status", "live", "--type", "project")
    beginning = entity_id(run, "Sam Rivera")[:8]

    for words in (("get", beginning, "office"), ("history", beginning, "office")):
        assert "Chicago" in run(*words).stdout
    assert run("get", f"{beginning}…", "office").stdout.startswith("Sam Rivera · office: Chicago")
    assert "office" in run("facts", beginning).stdout
    assert "Chicago" in run("timeline", beginning, "office").stdout
    assert "office = Chicago" in run("log", "--entity", beginning).stdout
    assert "Nova" not in run("diff", "--entity", beginning, "--", "-infinity", "infinity").stdout


def test_a_whole_id_is_shown_by_its_name(run: Run) -> None:
    run("write", "Sam Rivera", "office", "Chicago")
    shown = run("get", entity_id(run, "Sam Rivera"), "office").stdout
    assert shown.startswith("Sam Rivera · office: Chicago")


def test_a_beginning_that_two_ids_share_is_refused_with_both(run: Run) -> None:
    line = '{{"subject": "P{}", "slot": "title", "value": "a"}}'
    lines = (line.format(number * 7919) for number in range(1_200))
    Path("many.jsonl").write_text("\n".join(lines), encoding="utf-8")
    run("ingest", "many.jsonl")
    ids = sorted(entity["entity_id"] for entity in told(run, "entities"))
    first = next(a for a, b in itertools.pairwise(ids) if a[:4] == b[:4])

    refused = run("get", first[:4], "title", code=1).stderr
    assert f"several ids begin with {first[:4]}" in refused
    assert first in refused


def test_a_name_that_looks_like_an_id_is_still_a_name(run: Run) -> None:
    run("write", "cafe", "status", "open", "--type", "project")
    assert "open" in run("get", "cafe", "status").stdout
    assert "no entity has this name" in run("get", "beef", "status").stdout


def test_reviews_and_actions_are_named_by_the_beginning_of_their_ids(run: Run) -> None:
    for name in ("Sam Lee", "Samuel Lee"):
        run("write", name, "email", "sam@acme.example", "--type", "person")
    (case,) = told(run, "review", "list", "--kind", "all")
    assert "'Samuel Lee'" in run("review", "show", case["review_id"][:8]).stdout
    run("review", "unsure", case["review_id"][:8])

    for version in ("4.1", "4.2"):
        run("write", "Nova", "version", version, "--from", "2026-05-01T00:00:00Z")
    (action,) = told(run, "actions", "list")
    run("actions", "resolve", action["action_id"][:8], "--value", "4.2")
    assert told(run, "actions", "list") == []


def shared_beginning(first: str, second: str) -> str:
    """How far two ids are alike."""
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=True))
    return "".join(letter for letter, _ in pairs)


def test_an_object_is_named_by_the_beginning_of_its_id(run: Run) -> None:
    first = told(run, "write", "Sam Rivera", "office", "Austin")["object_id"]
    assert "Austin" in run("explain", first[:4]).stdout

    second = told(run, "write", "Nova", "status", "live")["object_id"]
    shared = shared_beginning(first, second)
    refused = run("explain", shared, code=1).stderr
    assert f"several ids begin with {shared}" in refused
    for object_id, words in ((first, "Austin"), (second, "live")):
        assert re.search(rf"{object_id}  .*{words}", refused)

    rest = second[: len(shared) + 1]
    assert second in run("reclassify", rest, "--as", "confidential").stdout
    asked = run("erase", rest, "--reason", "case 17", input="n\n", code=1).stderr
    assert f"Erase {second} (" in asked
    assert "live" in asked
    assert second in run("erase", f"{rest}…", "--reason", "case 17", "--yes").stdout
    assert told(run, "get", "Nova", "status")["status"] == "unknown"


def test_what_a_caller_may_not_see_makes_no_beginning_ambiguous(run: Run) -> None:
    secret = told(run, "write", "Nova", "status", "live", "--set", 'allow_roles=["auditor"]')
    public = told(run, "write", "Sam Rivera", "office", "Austin")["object_id"]
    shared = shared_beginning(secret["object_id"], public)
    assert "Austin" in run("--role", "member", "explain", shared).stdout
    hidden = secret["object_id"][: len(shared) + 1]
    assert "there is no object" in run("--role", "member", "explain", hidden, code=1).stderr


def test_a_tie_is_settled_by_the_beginning_of_the_object_that_is_right(run: Run) -> None:
    ids = [
        told(run, "write", "Nova", "version", version, "--from", "2026-05-01T00:00:00Z")
        for version in ("4.1", "4.2")
    ]
    (action,) = told(run, "actions", "list")
    winner = ids[1]["object_id"]
    shared = len(shared_beginning(ids[0]["object_id"], winner))
    run("actions", "resolve", action["action_id"], "--winner", winner[: shared + 1])
    assert told(run, "get", "Nova", "version")["value"] == "4.2"


def test_a_merge_is_taken_back_by_the_beginning_of_its_id(run: Run) -> None:
    for name in ("Sam Lee", "Samuel Lee"):
        run("write", name, "office", "Chicago", "--type", "person")
    merge_id = told(run, "merge", "Sam Lee", "Samuel Lee")["merge_id"]
    assert "privilege" in run("--role", "member", "unmerge", merge_id[:13], code=1).stderr
    assert "2 entities again" in run("unmerge", merge_id[:13]).stdout


def test_a_key_is_named_by_the_beginning_of_its_id(run: Run) -> None:
    run("write", "Nova", "status", "live")
    made = told(run, "--user", "ann", "keys", "create", "--allow", "memory:read", "--days", "1")
    key_id = made["key"].split("_")[1]
    (key,) = told(run, "keys", "list")
    assert (key["key_id"], key["made"][:4], key["ends"][-1]) == (key_id, "2026", "Z")

    run("keys", "revoke", key_id[:3], code=1)
    assert told(run, "keys", "rotate", key_id[:4])["key"].startswith(f"tnr_{key_id}_")
    assert told(run, "keys", "revoke", key_id[:4]) == {"revoked": key_id}


@pytest.mark.parametrize("words", [("review", "show"), ("actions", "resolve")])
def test_an_id_that_there_is_not_says_how_to_list_those_there_are(
    run: Run, words: tuple[str, ...]
) -> None:
    run("write", "Nova", "status", "live")
    more = ("--value", "1") if words[0] == "actions" else ()
    assert f"`tenure {words[0]} list" in run(*words, "beef", *more, code=1).stderr


def test_json_lines_have_one_of_many_in_each_line(run: Run) -> None:
    run("write", "Sam Rivera", "office", "Chicago")
    run("write", "Sam Rivera", "title", "director")

    before, after = run("--jsonl", "entities").stdout, run("entities", "--jsonl").stdout
    assert before == after
    (entity,) = map(json.loads, after.splitlines())
    assert entity["name"] == "Sam Rivera"

    facts = [json.loads(line) for line in run("facts", "Sam Rivera", "--jsonl").stdout.splitlines()]
    assert {(fact["slot"], fact["value"]) for fact in facts} == {
        ("office", "Chicago"),
        ("title", "director"),
    }
    (state,) = map(json.loads, run("get", "Sam Rivera", "office", "--jsonl").stdout.splitlines())
    assert state["value"] == "Chicago"
    assert run("actions", "list", "--jsonl").stdout == ""


def test_an_error_in_json_lines_is_one_line_of_json(run: Run) -> None:
    run("write", "Sam Rivera", "office", "Chicago")
    refused = run("get", "Sam Rivera", "ofice", "--jsonl", code=1).stderr
    assert json.loads(refused)["error"]["code"] == "unknown_vocabulary"


def test_merging_what_is_one_already_says_so_and_names_no_merge(run: Run) -> None:
    run("write", "Sam Lee", "office", "Chicago", "--type", "person")
    said = run("merge", "Sam Lee", "Sam Lee").stdout
    assert said.startswith("they are one entity already: Sam Lee")
    assert "unmerge" not in said


def test_a_server_of_tenure_is_no_store_of_a_command(run: Run) -> None:
    refused = run("--store", "https://memory.example", "get", "Sam", "office", code=1).stderr
    assert "is a server of tenure" in refused
    assert "tenure.connect(url, token=" in refused


def test_a_date_that_there_is_not_is_never_advised(run: Run) -> None:
    refused = run("write", "Sam", "office", "a", "--from", "2026-02-30", code=1).stderr
    assert "2026-02-30T00:00:00" not in refused
    assert "no date of the calendar" in refused
    run("write", "Sam", "office", "a", "--from", "2026-02-28")


def test_an_argument_is_read_as_utf_8_where_the_locale_is_ascii(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONSAFEPATH": "1",
        "TENURE_STORE": str(tmp_path / "a.db"),
    }
    command = [sys.executable, "-m", "tenure", "write", "Zoë Müller", "office", "Zürich █"]
    subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    command[3:] = ["get", "Zoë Müller", "office", "--json"]
    asked = subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    assert r"Z\u00fcrich \u2588" in asked.stdout.decode("ascii")
    command[3:] = ["demo"]
    tour = subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True)
    assert b"\\u2588" in tour.stdout


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from commands(child, (*path, name))


def test_no_summary_of_a_command_is_cut_and_no_line_of_help_is_wider_than_80(run: Run) -> None:
    count = 0
    for path, _ in commands(typer.main.get_command(app)):
        text = run(*path, "--help", env={"COLUMNS": str(WIDTH)}).stdout
        lines = [line for line in text.splitlines() if not line.startswith("Usage:")]
        assert [line for line in lines if line.endswith("...")] == [], path
        assert max(map(len, lines)) <= WIDTH, path
        count += 1
    assert count > 60


def test_no_line_break_parts_a_date_from_its_time_or_its_preposition() -> None:
    text = "held from 2026-07-01 09:00:16Z until 2026-07-02, then no longer"
    assert fold(text, 30) == [
        "held from 2026-07-01 09:00:16Z",
        "until 2026-07-02, then no",
        "longer",
    ]
    assert fold("one artifact://sha256/0123456789 two", 12)[1] == "artifact://sha256/0123456789"
    assert fold("東京都庁舎 東京都庁舎", 12) == ["東京都庁舎", "東京都庁舎"]
