"""`tenure compile` states a whole request: as Python does, and with errors that say what to do."""

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure.faces.cli.compile import compile_envelope
from tenure.service.compilation.compile import RequestFields
from tenure.tests.faces.cli.test_cli import Run, moved, run

__all__ = ["run"]

ASK = ("compile", "--task", "code_generation", "--query", "office of Sam Rivera")
TOOLS = [{"name": "find_flight", "description": "Finds a flight."}, "book"]
HISTORY = [
    {"role": "user", "content": "Where is Sam?"},
    {"role": "assistant", "content": "In Chicago. ✈"},
]
OPTIONS = (
    ("--request", "Book it"), ("--hypothesis", "Sam is in Oslo"), ("--goal", "a trip"),
    ("--step", "book"), ("--acceptance", "booked"), ("--constraint", "cheap"),
    ("--constraint", "fast"), ("--entity", "Sam Rivera"), ("--for", "sam"), ("--pin", "Stay calm"),
    ("--tools", "tools.json"), ("--history", "history.json"), ("--skill", "Be brief"),
    ("--progress", "asked"), ("--error", "no seats"), ("--budget", "3000"), ("--reserve", "90"),
    ("--profile", "research"), ("--signal", "risk_weight=high"), ("--signal", "freshness=3"),
    ("--model", "claude-opus-4-8"),
)  # fmt: skip
FIELDS = {
    "user_request": "Book it", "hypothesis": "Sam is in Oslo", "goal": "a trip", "step": "book",
    "acceptance": ["booked"], "constraints": ["cheap", "fast"], "entities": ["Sam Rivera"],
    "user": "sam", "pinned": ["Stay calm"], "tools": TOOLS, "history": HISTORY,
    "skills": ["Be brief"], "progress": ["asked"], "errors": ["no seats"], "budget_tokens": 3000,
    "reserve_tokens": 90, "profile": "research", "model": "claude-opus-4-8",
    "signals": {"risk_weight": "high", "freshness": 3},
}  # fmt: skip


def test_every_field_of_a_request_has_an_option() -> None:
    # The project is that of the caller, --project before the command; nobody types a vector.
    lacking = {*RequestFields.__annotations__} - {*inspect.signature(compile_envelope).parameters}
    assert lacking == {"project", "query_vector"}


def test_a_question_is_an_argument_or_an_option_and_never_both(run: Run) -> None:
    moved(run)
    assert (
        run("compile", "Where is Sam?").stdout == run("compile", "--query", "Where is Sam?").stdout
    )
    refusal = run("compile", "Where is Sam?", "--query", "Sam", code=2)
    assert "state the question once" in refusal.stderr


def test_options_ask_what_python_asks(run: Run) -> None:
    moved(run)
    Path("tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    Path("history.json").write_text(json.dumps(HISTORY), encoding="utf-8")
    assert {*FIELDS} == {*RequestFields.__annotations__} - {
        "evidence", "project", "query_vector", "valid", "tx",
    }  # fmt: skip

    output = run("--json", *ASK, *(word for option in OPTIONS for word in option)).stdout
    fields: Any = FIELDS
    with tenure.connect("memory.db") as memory:
        envelope = memory.compile(ASK[2], ASK[4], **fields)
    assert json.loads(output)["manifest"]["request"] == envelope.manifest.to_dict()["request"]
    assert json.loads(output)["text"] == envelope.text


def test_a_list_comes_through_standard_input_too(run: Run) -> None:
    moved(run)
    result = run(*ASK, "--history", "-", input=json.dumps(HISTORY))
    assert "In Chicago. ✈" in result.stdout
    assert "In Chicago" not in run(*ASK, "--history", "-", input="[]").stdout


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"name": "book"}', "standard input holds no list; --tools takes a JSON list, such as"),
        ("", "standard input is no JSON: Expecting value"),
        ("[" * 100_000, "standard input is no JSON: it is nested too deeply"),
        (f"[{'9' * 5_000}]", "standard input holds a number beyond int64"),
    ],
)
def test_a_file_without_a_list_says_what_it_must_hold(run: Run, text: str, reason: str) -> None:
    moved(run)
    refusal = run(*ASK, "--tools", "-", input=text, code=1).stderr
    assert reason in refusal
    assert '[{"name": "find_flight"' in refusal
    assert refusal.endswith("[bad_file]\n")


@pytest.mark.parametrize(
    ("words", "exit_code", "reason"),
    [
        (("--tools", "none.json"), 1, "there is no file none.json [unknown_file]"),
        (("--tools", "."), 3, ". cannot be read: Is a directory [file_unreadable]"),
        (("--tools", "bytes.json"), 1, "bytes.json is not UTF-8 text: byte 1, on line 1"),
        (("--tools", "numbers.json"), 1, "tools[1]: give a text, a mapping or a Tool"),
        (("--tools", "-", "--history", "-"), 2, "--tools and --history cannot both read standard"),
        (("--signal", "freshness"), 2, "--signal 'freshness' is not NAME=VALUE"),
        (("--signal", "freshness=1", "--signal", "freshness=2"), 2, "'freshness' occurs twice"),
        (("--signal", "freshnes=1"), 1, "unknown signal 'freshnes': did you mean 'freshness'?"),
        (("--signal", "risk_weight=hi"), 1, "unknown risk level 'hi': did you mean 'high'?"),
        (("--signal", "freshness=nan"), 1, "[out_of_range]"),
        (("--profile", "resarch"), 1, "unknown profile 'resarch': did you mean 'research'?"),
        (("--for", " "), 1, "user: give the id of a user [bad_request]"),
        (("--reserve", "-1"), 2, "Invalid value for '--reserve'"),
    ],
)
def test_an_option_that_cannot_be_used_says_why(
    run: Run, words: tuple[str, ...], exit_code: int, reason: str
) -> None:
    moved(run)
    Path("bytes.json").write_bytes(b"\xff\xfe[]")
    Path("numbers.json").write_text('["book", 1]', encoding="utf-8")
    assert reason in run(*ASK, *words, code=exit_code).stderr
