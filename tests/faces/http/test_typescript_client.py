"""The TypeScript client: equal to the description, and run by Node against a real server."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.tests.faces.http.served import ALL_PERMITS
from tenure.tests.source_tree import ROOT
from tenure.tests.typescript_client import FOLDER, files, operations

COMMAND = [sys.executable, "-P", "-m", "tenure"]
DESCRIPTION = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
NODE = shutil.which("node")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The address and an owner's key of a `tenure serve`."""
    store = ["--store", str(tmp_path / "team.db")]
    process = subprocess.Popen(
        [*COMMAND, *store, "serve", "--new", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = ""
        for line in process.stdout:
            if found := re.search(r"http://127\.0\.0\.1:\d+", line):
                address = found[0]
                break
        create = [*COMMAND, *store, "--user", "olga", "--role", "owner", "keys", "create"]
        for permit in ALL_PERMITS:
            create += ["--allow", permit]
        key = subprocess.run(create, capture_output=True, text=True, check=True)
        yield {"TENURE_URL": address, "TENURE_KEY": key.stdout.split()[-1]}
    finally:
        process.terminate()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def test_the_generated_files_are_those_of_the_description() -> None:
    for name, text in files(DESCRIPTION).items():
        stored = (FOLDER / name).read_text(encoding="utf-8")
        assert stored == text, f"{name}: run python -P tests/typescript_client.py"


def test_every_call_of_the_description_has_a_method_of_its_own() -> None:
    names = [tuple(call.name) for call in operations(DESCRIPTION)]
    assert len(set(names)) == len(names) == len(DESCRIPTION["paths"]) - 1
    groups = {name[0] for name in names if len(name) == 2}
    assert groups.isdisjoint(name[0] for name in names if len(name) == 1)


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_the_client_runs_against_a_server(server: dict[str, str]) -> None:
    assert NODE is not None  # else it is skipped
    run = subprocess.run(
        [NODE, "--test", str(FOLDER / "test" / "client.test.js")],
        env=os.environ | server,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout[-6000:]
