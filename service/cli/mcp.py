"""`tenure mcp`: the memory as tools of an agent, and what connects a client to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ...schema.errors import Unavailable
from .files import read_standard_input
from .frame import FLAGS, answer, examples, frame_of, open_memory

if TYPE_CHECKING:
    from ..mcp.install import FileChange
    from .show import Screen

app = typer.Typer()
mcp = typer.Typer(
    invoke_without_command=True,
    epilog=examples("tenure --store team.db mcp", "tenure mcp install claude-code"),
)
app.add_typer(mcp, name="mcp")


@mcp.callback()
def options(
    context: typer.Context,
    compat: Annotated[
        str | None,
        typer.Option(metavar="memory-server", help="Answer to the names of that server instead."),
    ] = None,
) -> None:
    """Serve the memory to an agent over MCP, on standard streams.

    Who asks is the caller of the settings; no tool takes a user or a tenant.
    """
    if context.invoked_subcommand is not None:
        return
    if compat not in (None, "memory-server"):
        raise typer.BadParameter("only memory-server is known", param_hint="--compat")

    try:
        from ..mcp.server import build_server
    except ModuleNotFoundError as error:
        # Only the extra is told as missing; a module of ours that is not there is a fault.
        if error.name is None or not error.name.startswith("mcp"):
            raise
        raise Unavailable(
            "the protocol is not installed; run: pip install 'tenure[mcp]'", code="extra_missing"
        ) from error

    with open_memory(context, create=True) as memory:
        build_server(lambda: memory, compat=compat is not None).run("stdio")


@mcp.command(epilog=examples("tenure --store team.db mcp install claude-code --yes"))
def install(
    context: typer.Context,
    client: Annotated[str, typer.Argument(help="claude-code, codex or vscode.")],
    folder: Annotated[Path, typer.Option(help="The project.")] = Path(),
    yes: Annotated[bool, typer.Option("--yes", help="Write it, instead of showing it.")] = False,
) -> None:
    """Connect a client of this project: server entry and hooks."""
    from ..mcp.install import install_changes

    changes = install_changes(client, folder, _stated_options(context))
    if yes:
        for change in changes:
            change.write()
    answer(context, changes, _change_list(changes, written=yes))


def _change_list(changes: tuple[FileChange, ...], *, written: bool) -> Callable[[Screen], None]:
    def show(screen: Screen) -> None:
        for change in changes:
            verb = "wrote" if written else "would make" if change.is_new else "would change"
            screen.line(f"{verb} {change.path}")
            if not written:
                screen.line(change.text)
        if not written:
            screen.line("nothing is written yet; add --yes")

    return show


def _stated_options(context: typer.Context) -> list[str]:
    """The options before the command, for the client to repeat; a path of a store is absolute."""
    # The client starts the server in a folder of its own, where a relative path is another store.
    names = {key: flag for flag, key in FLAGS.items()}
    words: list[str] = []
    settings = frame_of(context).settings().settings
    flags = {"store": settings.store, **frame_of(context).flags}
    for key, value in flags.items():
        if value is None or key not in names:
            continue
        values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
        for text in map(str, values):
            is_path = key == "store" and "://" not in text and text != ":memory:"
            words += [
                f"--{names[key]}",
                str(Path(text).expanduser().absolute()) if is_path else text,
            ]
    return words


@mcp.command(epilog=examples('echo \'{"prompt": "Where does Sam work?"}\' | tenure mcp hook'))
def hook(context: typer.Context) -> None:
    """Answer a client's hook: compile for its prompt, then keep it."""
    from ..mcp.hook import answer_turn

    with open_memory(context, create=True) as memory:
        print(answer_turn(memory, read_standard_input()))
