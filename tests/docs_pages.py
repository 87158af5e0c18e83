"""The documentation as programs: pages, their fenced blocks, and how a block is run.

A block in `python`, `sh` or `console` is run unless its info string says `no-run`. The blocks of
one page run in order, in one empty folder; its python blocks share a namespace, and each line of
a shell block is a process of its own. A `console` block holds its output under each `$ ` line;
elsewhere a `text output` block is compared with what the block before it printed, where `...`
stands for anything.
"""

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tenure import Memory
from tenure.tests.source_tree import ROOT

RUN = frozenset({"python", "sh", "console"})
SHOWN = frozenset({"cypher", "http", "json", "jsonl", "mermaid", "sql", "text", "toml", "yaml"})
WORDS = frozenset({"no-run", "output"})
LINE_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block."""

    page: str
    line: int
    """Of the opening fence, counted from 1."""
    language: str
    words: frozenset[str]
    """What follows the language in the info string."""
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.language in RUN and "no-run" not in self.words


def pages() -> list[Path]:
    """Return the pages whose blocks are promises: the README and everything in `docs/`."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(text: str, page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    fence = re.compile(r"^(?P<mark>`{3,})(?P<info>[^`\n]*)\n(?P<text>.*?)^(?P=mark)$", re.M | re.S)
    for found in fence.finditer(text):
        language, *words = found["info"].split() or [""]
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, language, frozenset(words), found["text"])


def run_page(text: str, page: str, folder: Path) -> None:
    """Run every runnable block of a page inside `folder`; raise at the first that fails."""
    namespace: dict[str, object] = {"__name__": "docs"}
    opened: dict[int, Memory] = {}
    if not (folder / "tests").exists():
        (folder / "tests").symlink_to(ROOT / "tests")  # a page may name the sample that ships
    printed = ""
    try:
        for block in blocks(text, page):
            if "output" in block.words:
                compare(block.text, printed, block.place)
            elif not block.runs:
                printed = ""
            elif block.language == "python":
                printed = run_python(block, namespace)
                # A later block may give the name to another one.
                memories = (value for value in namespace.values() if isinstance(value, Memory))
                opened |= {id(memory): memory for memory in memories}
            else:
                printed = "".join(run_shell(block, folder))
    finally:
        # A reader's process ends with the page; this one runs the next.
        for memory in opened.values():
            memory.close()


def run_python(block: Block, namespace: dict[str, object]) -> str:
    """Run a python block in the page's namespace; a traceback shows the page's own lines."""
    code = compile("\n" * block.line + block.text, block.page, "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_shell(block: Block, folder: Path) -> Iterator[str]:
    """Run a shell block line by line, and yield what each line printed."""
    for command, expected in commands(block):
        printed = run_line(command, folder, block.place)
        if block.language == "console":
            compare(expected, printed, f"{block.place}: {command}")
        yield printed


def commands(block: Block) -> Iterator[tuple[str, str]]:
    """Yield (command, expected output); a trailing backslash continues a line."""
    joined = block.text.replace("\\\n", "")
    if block.language == "console":
        for part in re.split(r"^\$ ", joined, flags=re.M)[1:]:
            command, _, expected = part.partition("\n")
            yield command, expected
    else:
        for line in joined.splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                yield line, ""


def run_line(command: str, folder: Path, place: str) -> str:
    """Run one line in bash, with this environment's own commands first on the PATH."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=os.environ | {"PATH": path, "NO_COLOR": "1", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=LINE_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{place}: {command}\n{done.stdout}{done.stderr}"
    return done.stdout


def compare(expected: str, printed: str, place: str) -> None:
    """Compare outputs; blanks at line ends and at the end do not count, `...` is anything."""
    want, got = _trimmed(expected), _trimmed(printed)
    same = doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)
    assert same, f"{place}\nexpected:\n{want}\nprinted:\n{got}"


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
