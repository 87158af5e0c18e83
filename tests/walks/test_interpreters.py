"""The README's tour, the demo and the doctor, on each newer Python that is at hand."""

# nightly, or when these change: README.md faces/cli/demo.py pyproject.toml
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tenure.tests.fetched import run_fetcher
from tenure.tests.source_tree import ROOT
from tenure.tests.wheel import built_wheel

UV = Path(sys.executable).parent / "uv"
TOUR = re.compile(r"```python\n(.*?)```\n\n```text output\n(.*?)```", re.DOTALL)
"""A block of the README, and what it prints."""


def interpreter(version: str) -> str:
    """The newest Python of a version on this machine; the test is skipped where there is none."""
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    path = str(pyenv[-1]) if pyenv else shutil.which(f"python{version}")
    if path is None:
        pytest.skip(f"Python {version} is not on this machine")
    return path


def run(*command: str | Path, folder: Path) -> str:
    """What a command prints; it fails with its errors shown."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_the_wheel_does_what_the_readme_says_on(version: str, tmp_path: Path) -> None:
    base = interpreter(version)
    wheel = built_wheel(tmp_path)
    run(UV, "venv", "--python", base, tmp_path / "env", folder=tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    install = [str(UV), "pip", "install", "--python", str(python), str(wheel)]
    run_fetcher(install, cwd=tmp_path, timeout_s=300)
    folder = tmp_path / "work"
    folder.mkdir()

    tour = (ROOT / "README.md").read_text(encoding="utf-8").partition("## A quick tour")[2]
    blocks = TOUR.findall(tour)[:4]
    program = "\n".join(code for code, _ in blocks)
    printed = run(python, "-W", "error", "-c", program, folder=folder)
    assert len(blocks) == 4
    assert printed == "".join(output for _, output in blocks)

    tenure = python.parent / "tenure"
    assert run(tenure, "demo", folder=folder)
    assert run(tenure, "--store", "team.db", "doctor", folder=folder)
