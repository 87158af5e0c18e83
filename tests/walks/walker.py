"""A person at a terminal who has the README, `docs/` and nothing else.

A walk runs commands in an empty folder, in a fresh environment in which the wheel was installed as
a user installs it, and nothing else. Each command is looked up before it runs: its name must have a
section in `docs/cli.md`, and each option must stand in that section or among the global ones. One
process of the environment runs all commands of a walk: most of a command's time is its imports.
"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

from tenure.tests.source_tree import ROOT

_REFERENCE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
_GLOBAL = re.split(r"^## ", _REFERENCE, flags=re.M)[1]
_SHELL = """
import json, sys
from typer.testing import CliRunner
from tenure.faces.cli.main import app

for line in sys.stdin:
    words, typed = json.loads(line)
    result = CliRunner().invoke(app, words, input=typed)
    print(json.dumps([result.exit_code, result.output]), flush=True)
"""


class Walker:
    """Somebody who does what the pages say, in one folder."""

    def __init__(self, python: Path, folder: Path) -> None:
        own_names = ("TENURE", "PYTHON")  # the checkout must not be found by any of them
        environ = {
            name: text for name, text in os.environ.items() if not name.startswith(own_names)
        }
        self.folder = folder
        self._shell = subprocess.Popen(
            [str(python), "-P", "-c", _SHELL],
            cwd=folder,
            env=environ | {"COLUMNS": "80", "NO_COLOR": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, line: str, *, code: int = 0, typed: str = "") -> str:
        """Run a command line as a shell would, and return what it printed."""
        words = shlex.split(line)
        assert words[0] == "tenure", line
        assert undocumented(words) == [], line
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(json.dumps([words[1:], typed]) + "\n")
        self._shell.stdin.flush()
        exit_code, output = json.loads(self._shell.stdout.readline())
        assert exit_code == code, f"{line}\n{output}"
        return str(output)

    def close(self) -> None:
        """End the process of the commands."""
        self._shell.communicate()


def undocumented(words: list[str]) -> list[str]:
    """What of a command no page explains: its name, or options of it."""
    sections = {
        section.partition("\n")[0]: section for section in re.split(r"^## ", _REFERENCE, flags=re.M)
    }
    names = [word for word in _without_global(words) if not word.startswith("-")]
    candidates = (" ".join(names[:length]) for length in (3, 2))
    section = next((sections[name] for name in candidates if name in sections), None)
    if section is None:
        return [" ".join(words)]

    flags = {word for word in words if re.fullmatch(r"--?[a-z][a-z-]*", word)}
    return sorted(flag for flag in flags if not _explains(section + _GLOBAL, flag))


def _explains(text: str, flag: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text) is not None


def _without_global(words: list[str]) -> list[str]:
    """A command without the options before its name, and their values."""
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[1:] if rest[0] in ("--json", "-v", "--verbose") else rest[2:]
    return [words[0], *rest]
