"""A person at a terminal who has the README, `docs/` and nothing else.

A walk runs commands in an empty folder, in a fresh environment in which the wheel was installed as
a user installs it, and nothing else. Each command is looked up before it runs: its name must have a
section in `docs/cli.md`, and each option must stand in that section or among the global ones. A
Python step is a block of a page, taken as it stands.
"""

import os
import re
import shlex
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from tenure.tests.docs_pages import blocks
from tenure.tests.source_tree import ROOT

STEP_TIMEOUT_S = 120.0
_REFERENCE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
_GLOBAL = re.split(r"^## ", _REFERENCE, flags=re.M)[1]


@dataclass(frozen=True, slots=True)
class Step:
    """A command with the seconds that it took."""

    line: str
    seconds: float


@dataclass(slots=True)
class Walker:
    """Somebody who does what the pages say, in one folder."""

    python: Path
    folder: Path
    steps: list[Step] = field(default_factory=list[Step])

    def run(self, line: str, *, code: int = 0, typed: str = "") -> str:
        """Run a command line as a shell would, and return what it printed."""
        words = shlex.split(line)
        assert words[0] == "tenure", line
        assert undocumented(words) == [], line
        command = self.python.with_name(words[0])  # the script that the installation made
        return self._run(line, [str(command), *words[1:]], code, typed)

    def block(self, page: str, number: int = 0) -> str:
        """Run a Python block of a page, the `number`th of its language, and return its output."""
        text = (ROOT / page).read_text(encoding="utf-8")
        programs = [part.text for part in blocks(text, page) if part.language == "python"]
        script = [str(self.python), "-P", "-c", programs[number]]
        return self._run(f"block {number + 1} of {page}", script, 0, "")

    def _run(self, line: str, command: list[str], code: int, typed: str) -> str:
        own_names = ("TENURE", "PYTHON")  # the checkout must not be found by any of them
        environ = {
            name: text for name, text in os.environ.items() if not name.startswith(own_names)
        }
        environ |= {"COLUMNS": "80", "NO_COLOR": "1"}

        start = time.perf_counter()
        run = subprocess.run(
            command,
            cwd=self.folder,
            env=environ,
            input=typed,
            capture_output=True,
            text=True,
            timeout=STEP_TIMEOUT_S,
            check=False,
        )
        self.steps.append(Step(line, time.perf_counter() - start))
        assert run.returncode == code, f"{line}\n{run.stdout}{run.stderr}"
        return run.stdout + run.stderr

    def table(self) -> str:
        """The walk as lines: seconds and command."""
        rows = [f"{step.seconds:5.1f} s  {step.line}" for step in self.steps]
        return "\n".join([*rows, f"{sum(step.seconds for step in self.steps):5.1f} s  in all"])


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
