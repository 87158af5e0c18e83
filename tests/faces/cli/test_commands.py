"""Commands that are made from the table of calls: what they name, and what their help says."""

from collections.abc import Iterator
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from tenure.faces.cli.commands import MadeCommand
from tenure.faces.cli.frame import Screen, columns
from tenure.faces.cli.main import app
from tenure.service.calls.columns import request_words
from tenure.service.calls.table import BY_NAME


def made_commands(command: Any, path: str = "tenure") -> Iterator[tuple[str, Any]]:
    if isinstance(command, MadeCommand):
        yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from made_commands(child, f"{path} {name}")


MADE = dict(made_commands(typer.main.get_command(app)))


def test_a_made_command_names_a_call_of_the_table() -> None:
    calls: dict[str, Any] = {path: command.callback for path, command in MADE.items()}
    assert len(calls) >= 30
    assert {call.made.call for call in calls.values()} <= BY_NAME.keys()


@pytest.mark.parametrize("path", MADE)
def test_each_option_of_a_made_command_says_what_it_means(path: str) -> None:
    command = MADE[path]
    context = typer.Context(command)
    silent = [each.name for each in command.get_params(context) if not getattr(each, "help", "")]
    assert silent == []


def test_a_field_of_a_request_is_described_by_the_nearest_entry() -> None:
    assert request_words("reviews.list", "status") != request_words("actions.list", "status")
    assert request_words("view.facts", "valid") == request_words("compile", "valid")
    assert request_words("view.facts", "nothing_of_this_name") == ""


def test_columns_read_attributes_times_numbers_and_cells() -> None:
    row = SimpleNamespace(tx=None, score=0.25, valid_from=None, valid_until=None)
    stream = StringIO()
    table = columns("known_from=tx|never holds=~ score=score:.3f of", of=lambda _: "a cell")
    Screen(stream=stream).table([row], table)
    assert stream.getvalue().splitlines() == [
        "known from  holds   score  of",
        "never       always  0.250  a cell",
    ]
