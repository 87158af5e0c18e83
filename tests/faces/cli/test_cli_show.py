"""Tables stand whole at any width, and nothing that was stored can steer a terminal."""

import json
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from tenure.faces.cli.frame import Columns, Screen
from tenure.service.visual.text import json_text, visible
from tenure.tests.faces.cli.test_cli import Run, moved, run

__all__ = ["run"]

HOSTILE = "Sam\x1b[2J\x9b31m\u202eadmin\r\x07\u2028\u200b end"
SHOWN = "Sam\\x1b[2J\\x9b31m\\u202eadmin\\x0d\\x07\\u2028\\u200b end"
COLUMNS: Columns = {"known from": "moment", "value": "value", "object": "id"}


def printed(rows: list[Any], columns: Columns, width: int) -> list[str]:
    stream = StringIO()
    Screen(Console(file=stream, width=width)).table(rows, columns)
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def row(value: str) -> Any:
    return SimpleNamespace(
        moment="2026-01-10 12:00:00Z", value=value, id="0190e3a2-7c1f-7000-8000-000000000001"
    )


def test_a_table_that_fits_stands_side_by_side() -> None:
    assert printed([row("Chicago")], COLUMNS, 200) == [
        "known from            value    object",
        "2026-01-10 12:00:00Z  Chicago  0190e3a2-7c1f-7000-8000-000000000001",
    ]


def test_a_narrow_table_wraps_between_words() -> None:
    text = "the director of the office in Chicago and of its cellar"
    lines = printed([row(text)], COLUMNS, 80)
    assert max(map(len, lines)) <= 80
    assert {word for line in lines[1:] for word in line.split()} >= set(text.split())
    assert "0190e3a2-7c1f-7000-8000-000000000001" in lines[1]


def test_a_table_that_would_break_a_word_becomes_blocks_of_lines() -> None:
    lines = printed([row("Chicago"), row("Boston")], COLUMNS, 50)
    assert lines == [
        "known from  2026-01-10 12:00:00Z",
        "value       Chicago",
        "object      0190e3a2-7c1f-7000-8000-000000000001",
        "",
        "known from  2026-01-10 12:00:00Z",
        "value       Boston",
        "object      0190e3a2-7c1f-7000-8000-000000000001",
    ]


def test_no_rows_are_said_in_words() -> None:
    assert printed([], COLUMNS, 80) == ["none"]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_controls_are_shown_and_never_sent(width: int) -> None:
    lines = printed([row(HOSTILE)], COLUMNS, width)
    for character in HOSTILE:
        if not character.isprintable():
            assert character not in "".join(lines)
    assert "Sam\\x1b[2J\\x9b31m\\u202eadmin" in " ".join(lines)
    assert visible(HOSTILE) == SHOWN


def test_json_leaves_no_control_raw_and_means_the_same() -> None:
    text = json_text({HOSTILE: [HOSTILE]}, indent=None)
    assert text.isprintable()
    assert json.loads(text) == {HOSTILE: [HOSTILE]}


def test_an_echoed_name_and_an_error_cannot_steer_the_terminal(run: Run) -> None:
    moved(run)
    asked = run("get", "Sam\x1b[2J\u202e", "office")
    refused = run("get", "Sam Rivera", "off\x1b]0;owned\x07ice", code=1)
    for text in (asked.output, refused.output):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "Sam\\x1b[2J\\u202e" in asked.stdout
    assert "\\x1b]0;owned\\x07" in refused.stderr


@pytest.mark.parametrize("columns", ["80", "200"])
def test_listings_keep_to_the_width_that_is_stated(
    run: Run, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = moved(run)
    monkeypatch.setenv("COLUMNS", columns)
    for words in (
        ("history", "Sam Rivera", "office"),
        ("timeline", "Sam Rivera", "office"),
        ("diff", "--", "-infinity", "infinity"),
        ("search", "Chicago"),
        ("explain", receipt["object_id"]),
        ("entities",),
        ("config", "show", "--all", "--origin"),
    ):
        lines = run(*words).stdout.splitlines()
        assert max(map(len, lines)) <= int(columns), words
    assert receipt["object_id"] in run("history", "Sam Rivera", "office").stdout


@pytest.mark.parametrize("value", ["Chicago", "東京 タワー", "é\u0301", HOSTILE, "long " * 60])
def test_text_that_goes_to_no_terminal_is_what_a_very_wide_one_would_show(value: str) -> None:
    plain, wide = StringIO(), StringIO()
    for screen in (Screen(stream=plain), Screen(Console(file=wide, width=10_000, highlight=False))):
        screen.line(f"{value} office\n  since today", style="bold")
        screen.table([row(value), row("Austin")], COLUMNS)
        screen.table([], COLUMNS)

    assert plain.getvalue() == wide.getvalue()


def test_a_variable_asks_for_a_terminal_where_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert Screen.of_process().width == 40

    monkeypatch.delenv("COLUMNS")
    assert Screen.of_process().width == Screen.of_process().console.width == 10_000
