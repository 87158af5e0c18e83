"""What was renamed is refused with the new name: commands, and calls of the remote client."""

import pytest
from typer.testing import CliRunner

from tenure.faces.cli.main import app
from tenure.faces.http.openapi import description
from tenure.faces.remote.memory import RemoteLink, RemoteMemory
from tenure.schema.errors import InvalidInput
from tenure.service.calls.parts import RENAMED
from tenure.service.calls.table import BY_NAME

PATHS = {old: new for old, new in RENAMED.items() if old.startswith("/")}
CALLS = {old: new for old, new in RENAMED.items() if "." in old}
COMMANDS = {old: new for old, new in RENAMED.items() if old not in PATHS and old not in CALLS}


@pytest.mark.parametrize(("old", "new"), COMMANDS.items())
def test_an_old_command_is_refused_with_its_new_name(old: str, new: str) -> None:
    refusal = CliRunner().invoke(app, [*old.split(), "Sam"])
    assert (refusal.exit_code, f"no command `{old}`; use `{new}`" in refusal.output) == (2, True)
    assert CliRunner().invoke(app, [*new.split(), "--help"]).exit_code == 0


@pytest.mark.parametrize(("old", "new"), CALLS.items())
def test_an_old_call_of_the_remote_client_is_refused_with_its_new_name(old: str, new: str) -> None:
    memory = RemoteMemory(RemoteLink(None, ""))  # type: ignore[arg-type]
    part, _, method = old.partition(".")
    call = getattr(memory, part) if part == method else getattr(getattr(memory, part), method)
    with pytest.raises(InvalidInput, match=f"use `{new}`") as caught:
        call()
    assert (caught.value.code, new in BY_NAME) == ("renamed", True)


def test_only_the_new_addresses_are_described() -> None:
    addresses = description()["paths"].keys()
    assert set(PATHS.values()) <= addresses
    assert addresses.isdisjoint(PATHS)
