"""A program of somebody who installed the wheel is checked strictly, and a misspelt name is seen.

The checkers read the installed package as they read any other: by its `py.typed` and its stubs.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tenure.tests.source_tree import ROOT
from tenure.tests.walks.conftest import Install

PROGRAM = (ROOT / "tests" / "walks" / "consumer.py").read_text(encoding="utf-8")
MISSPELT = {
    "memory.as_of(": "memory.asof(",
    "view.slot(": "view.slots(",
    "memory.entities.list(": "memory.entities.lst(",
    'reviews.list("open")': 'reviews.list("opne")',
    "state.status": "state.stauts",
    "envelope.tokens": "envelope.token",
    'valid_from="2026': 'valid_form="2026',
    "await memory.compile(": "memory.compile(",
    'op="assert"': 'op="asert"',
    'layer="tenant"': 'layer="tennant"',
    'render("anthropic"': 'render("antropic"',
    "max_tokens=800": "max_token=800",
    'render("text")': 'render("txt")',
    'roles=["steward"]': "roles=[1]",
    'cardinality="one"': 'cardinality="ones"',
    'value_type="string"': 'value_type="strng"',
    'note("todo"': 'note("tood"',
    'status="planned"': 'status="planed"',
}
"""What the program says, and a slip of the hand in its place."""


@pytest.fixture
def python(install: Install) -> Path:
    return install("")


def mypy(python: Path, folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    options = ["--strict", "--python-executable", str(python), "--cache-dir", str(folder / "cache")]
    return run([sys.executable, "-P", "-m", "mypy", *options, *names], folder)


def pyright(python: Path, folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}', encoding="utf-8")
    options = ["-P", "-m", "pyright", "--pythonpath", str(python)]
    return run([sys.executable, *options, *names], folder)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_checker_takes_the_program_and_no_slip_of_the_hand(
    checker: object, python: Path, tmp_path: Path
) -> None:
    assert callable(checker)
    names = [f"slip{number}.py" for number in range(len(MISSPELT))]
    for name, (word, slip) in zip(names, MISSPELT.items(), strict=True):
        assert word in PROGRAM
        (tmp_path / name).write_text(PROGRAM.replace(word, slip), encoding="utf-8")
    (tmp_path / "app.py").write_text(PROGRAM, encoding="utf-8")

    # One run for all: nearly all the time of a checker goes into what the program imports.
    report = checker(python, tmp_path, "app.py", *names)
    assert "app.py:" not in report.stdout, report.stdout
    assert [name for name in names if f"{name}:" not in report.stdout] == []


@pytest.mark.slow
def test_the_program_runs(python: Path, tmp_path: Path) -> None:
    program = run([str(python), "-P", str(ROOT / "tests" / "walks" / "consumer.py")], tmp_path)

    assert program.stdout.splitlines() == [
        "accepted clean Chicago",
        "800 True",
        "True True",
        "['Sam Rivera'] 0",
    ], program.stderr
