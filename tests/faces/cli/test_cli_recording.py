"""What every command prints at 80 columns is what a person has read and found good."""

import importlib
import re
import shlex
from collections.abc import Iterator
from typing import Any

import pytest

from tenure.tests.cli_page import page
from tenure.tests.faces.cli.cli_recording import LEFT_OUT, WIDTH, recording
from tenure.tests.source_tree import ROOT

GOLDEN = ROOT / "tests" / "golden" / "commands.txt"
ENTITY_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
AS_IT_IS = re.compile(
    r"^\$ |^(warning|tenure|line \d+): "  # what was typed; messages of standard error
    r"|^=== |^Text between|^[A-Z]\w+ \w+ \||^\{"  # the prompt as a model gets it
    r"|[0-9a-f]{64}"  # an address is copied whole
)


@pytest.fixture(scope="module")
def record() -> tuple[str, list[str]]:
    return recording()


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    below = getattr(command, "commands", {})
    if not below:
        yield " ".join(path)
    for name, child in below.items():
        yield from leaves(child, (*path, name))


def test_every_command_prints_what_was_read(record: tuple[str, list[str]]) -> None:
    # A difference is read first; then `python -P tests/faces/cli/cli_recording.py` writes it anew.
    assert record[0] == GOLDEN.read_text(encoding="utf-8")


def test_every_command_is_recorded(record: tuple[str, list[str]]) -> None:
    app = importlib.import_module("tenure.faces.cli.main").app
    commands = set(leaves(importlib.import_module("typer.main").get_command(app)))
    lines = [" ".join(shlex.split(line)) for line in record[1]]
    missing = {name for name in commands if not any(name in line for line in lines)}
    assert missing <= set(LEFT_OUT)


def test_no_value_is_a_bare_id(record: tuple[str, list[str]]) -> None:
    values = re.findall(r"^(?:value|says|entity)\s+(.*)$", record[0], flags=re.M)
    assert len(values) > 20
    assert [value for value in values if ENTITY_ID.search(value)] == []


def test_only_prompts_messages_and_addresses_are_wider_than_the_terminal(
    record: tuple[str, list[str]],
) -> None:
    wide = [line for line in record[0].splitlines() if len(line) > WIDTH]
    assert [line for line in wide if not AS_IT_IS.search(line)] == []


# ---- `docs/cli.md` says what `--help` says.


def test_the_page_of_the_command_line_is_made_from_its_help() -> None:
    kept = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert kept == page(), "run: python tests/cli_page.py > docs/cli.md"
