"""Write `docs/cli.md` from the help texts: `python tests/cli_page.py > docs/cli.md`."""

import importlib
from collections.abc import Iterator
from typing import Any

from typer.testing import CliRunner

HEAD = """# The command line

Write global options before the command (`tenure [GLOBAL OPTIONS] COMMAND …`); `--json`, `--jsonl`
and `-v` also after it. `python -m tenure` does the same. Results go to standard output, messages
and progress to standard error, colours and progress only to a terminal.

- `--json` makes every command answer in JSON, including errors. Its keys never change. `--jsonl`
  writes one JSON object a line.
- Tables and messages fit the width of the terminal, or `COLUMNS`. Prompts and addresses are not
  wrapped. If the encoding lacks a character, its number is shown.
- A closed pipe (`| head -1`) ends a command silently with 1.
- `-v` shows the traceback of an error. `tenure --install-completion` installs shell completion.

The first four or more digits of an id are enough for an entity, an object, a review, an action, a
merge, an envelope or a key. If several ids match, the error lists them.

Settings come from defaults, `tenure.toml`, `TENURE_…` variables and flags; later ones win.
`tenure config show --origin` shows where each comes from. The password of a server comes only from
the environment (`TENURE_AUTH__USER`, `TENURE_AUTH__PASSWORD`).

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused or invalid: the message on standard error says what to do; see [errors](errors.md). |
| 2 | wrong usage; with `--json` the code `wrong_usage` |
| 3 | the store, a server or a file is unavailable |
| 4 | `tenure doctor` found a problem |
| 130 | interrupted (Ctrl-C): committed changes stay, and nothing is half-written |
| 143 | the same by SIGTERM, for `ingest`, `import`, `export`, `sweep` and other long work |

This page is made from the help texts by `tests/cli_page.py`.
"""


def page() -> str:
    """Return the page as it must be in `docs/`."""
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
