"""Write `docs/cli.md` from the help texts: `python tests/cli_page.py > docs/cli.md`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from typer.testing import CliRunner

HEAD = """# The command line

`tenure [GLOBAL OPTIONS] COMMAND …`: global options stand before the command, `--json`, `--jsonl`
and `-v` also behind it; `python -m tenure` does the same. Results go to standard output, messages
and progress to standard error; colours and progress only to a terminal. `--json` makes every
command answer in JSON, errors included, whose keys never change; `--jsonl` in JSON Lines, each of
many in a line of its own. Tables and messages keep to the width of the terminal, or to `COLUMNS`;
prompts and addresses stay as they are. A character that an encoding lacks is shown by its number.
A closed pipe (`| head -1`) ends a command silently with 1. `-v` shows the traceback of an error,
`tenure --install-completion` teaches a shell the commands.

Wherever a command takes the id of an entity, an object, a review, an action, a merge, an envelope
or a key, the beginning of it is enough, from four digits on; where several begin so, they are
listed with what they stand for.

Settings come from defaults, `tenure.toml`, `TENURE_…` variables and flags, the later winning;
`tenure config show --origin` says where each came from. The password of a server comes from the
environment alone (`TENURE_AUTH__USER`, `TENURE_AUTH__PASSWORD`).

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused or invalid: the sentence on standard error says what to do; see [errors](errors.md). |
| 2 | wrong usage; with `--json` the code `wrong_usage` |
| 3 | the store, a server or a file is unavailable |
| 4 | `tenure doctor` found something |
| 130 | interrupted (Ctrl-C): what was committed stays, and nothing is half-written |
| 143 | the same by SIGTERM, of `ingest`, `import`, `export`, `embed`, `sweep` and other long work |

This page is made from the help texts by `tests/cli_page.py`.
"""


def page() -> str:
    """Return the page as it must stand in `docs/`."""
    app = importlib.import_module("tenure.faces.cli.main").app
    command = importlib.import_module("typer.main").get_command(app)
    parts = [HEAD]
    for path in (("tenure",), *_paths(command)):
        help_text = CliRunner().invoke(app, [*path[1:], "--help"], prog_name="tenure").stdout
        lines = "\n".join(line.rstrip() for line in help_text.strip().splitlines())
        parts.append(f"## {' '.join(path)}\n\n```text\n{lines}\n```\n")
    return "\n".join(parts)


def _paths(command: Any, path: tuple[str, ...] = ("tenure",)) -> Iterator[tuple[str, ...]]:
    for name, child in getattr(command, "commands", {}).items():
        yield (*path, name)
        yield from _paths(child, (*path, name))


if __name__ == "__main__":
    print(page(), end="")
