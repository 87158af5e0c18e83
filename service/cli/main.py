"""The command line: `tenure [GLOBAL OPTIONS] COMMAND …`.

This module holds the options before the command and the order of the commands; each command
stands in a module named after what it is for, and imports what it needs when it runs. Errors
become one sentence with their code, never a traceback.
"""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from ...schema.errors import TenureError, Unavailable
from ...schema.version import VERSION
from .ending import TERMINATED, TerminatedError
from .frame import FLAGS, USAGE, Frame, examples, fail, fail_usage, frame_of, note, note_as_json

# Typer keeps the class to itself, and what it stands on is another module in each version.
_UsageError: Final[Any] = typer.BadParameter.__base__
_EPILOG = examples(
    "tenure demo",
    "tenure --store team.db write 'Sam Rivera' office Chicago",
    "tenure --store team.db get 'Sam Rivera' office --json",
    "tenure --store neo4j://localhost:7687 --tenant acme doctor",
) + (
    "\n\n\b\nExit codes:\n"
    "  0  done\n"
    "  1  refused or invalid: the message says what to do\n"
    "  2  wrong usage: --help says how\n"
    "  3  the store or a file is unavailable\n"
    "  4  doctor found something"
)


_MODULES: Final[Mapping[str, str]] = {
    "demo": "demo",
    "write": "write",
    "observe": "write",
    "ingest": "write",
    "define": "write",
    "get": "read",
    "facts": "read",
    "timeline": "read",
    "plane": "read",
    "search": "read",
    "slots": "read",
    "tools": "read",
    "history": "audit",
    "diff": "audit",
    "log": "audit",
    "explain": "audit",
    "doctor": "audit",
    "actions": "audit",
    "compile": "compile",
    "replay": "compile",
    "ablate": "envelope",
    "envelope": "envelope",
    "session": "session",
    "artifact": "artifact",
    "sweep": "operate",
    "erase": "operate",
    "reclassify": "operate",
    "migrate": "operate",
    "entities": "review",
    "merge": "review",
    "unmerge": "review",
    "review": "review",
    "resolution": "matching",
    "resolve": "review",
    "serve": "serve",
    "mcp": "mcp",
    "keys": "keys",
    "export": "transfer",
    "import": "transfer",
    "backup": "transfer",
    "restore": "transfer",
    "tenants": "transfer",
    "re-embed": "embed",
    "config": "config",
    "evaluate": "evaluate",
    "bench": "bench",
}
"""The commands in the order of `--help`, each with the module of this folder that holds it."""


class Commands(Mapping[str, Any]):
    """The commands by name; a module is imported when one of its commands is asked for."""

    def __getitem__(self, name: str) -> Any:
        module = importlib.import_module(f".{_MODULES[name]}", __package__)
        # Help texts are plain: markup would pull in rich, which costs more than most commands.
        group = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
        group.add_typer(module.app)
        return typer.main.get_group(group).commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


class GuardedGroup(TyperGroup):
    """The commands: errors are told in one sentence, and some options stand behind, too."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Name the commands, in the order of `--help`."""
        return list(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; some may stand behind the command as well, where people put them."""
        try:
            return super().parse_args(ctx, _in_front(args))
        except _UsageError as error:
            as_json = bool(_JSON_FLAGS & set(args))
            raise typer.Exit(_fail_usage(error, as_json=as_json)) from error

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error of tenure becomes its sentence and an exit code."""
        try:
            return super().invoke(ctx)
        except _UsageError as error:
            # Of a command that is not there, no frame was made yet.
            as_json = bool(ctx.params.get("as_json") or ctx.params.get("by_line"))
            error.message += self._place_of(getattr(error, "option_name", ""))
            raise typer.Exit(_fail_usage(error, as_json=as_json)) from error
        except TenureError as error:
            frame = frame_of(ctx)
            if frame.is_verbose:
                traceback.print_exc()
            raise typer.Exit(fail(error, frame)) from error
        except KeyboardInterrupt as error:
            # Silence would leave open whether half of it was written.
            note("tenure: interrupted; what was committed stays, and nothing is half-written")
            if isinstance(error, TerminatedError):
                raise typer.Exit(TERMINATED) from error
            raise

    def _place_of(self, option: str) -> str:
        """Where an option belongs that a command does not have; empty for one of nobody."""
        if not any(option in parameter.opts for parameter in self.params):
            return ""
        return f"; it stands before the command: tenure {option} …"


def _fail_usage(error: Any, *, as_json: bool) -> int:
    """Tell wrong usage, in words that keep to the width as all others do."""
    message: str = error.format_message()
    if as_json:
        return fail_usage(message)

    # A group without a command shows its help, which has the width already.
    if error.show.__func__ is not _UsageError.show:
        error.show()
        return USAGE

    if error.ctx is not None:
        note(error.ctx.get_usage())
        note(f"Try '{error.ctx.command_path} --help' for help.\n")
    note(f"Error: {message}")
    return USAGE


_JSON_FLAGS: Final = frozenset({"--json", "--jsonl"})
_GLOBAL_FLAGS = (*sorted(_JSON_FLAGS), "-v", "--verbose")


def _in_front(args: list[str]) -> list[str]:
    """Put the options that may stand anywhere before the command; `--` ends what is read.

    >>> _in_front(["get", "Sam", "office", "--json", "--", "-v"])
    ['--json', 'get', 'Sam', 'office', '--', '-v']
    """
    # What stands behind `--` is text of the command, even where it looks like an option.
    end = args.index("--") if "--" in args else len(args)
    front = [word for word in args[:end] if word in _GLOBAL_FLAGS]
    words = [word for word in args[:end] if word not in _GLOBAL_FLAGS]
    return front + words + args[end:]


app = typer.Typer(
    name="tenure",
    cls=GuardedGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_EPILOG,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"tenure {VERSION}")
        raise typer.Exit


_Roles = Annotated[
    list[str] | None,
    typer.Option(metavar="ROLE", help="Ask with just these roles, not as the owner; repeat it."),
]
_Projects = Annotated[
    list[str] | None,
    typer.Option(metavar="PROJECT", help="A project of the caller; repeat it."),
]


@app.callback()
def options(
    context: typer.Context,
    store: Annotated[
        str | None,
        typer.Option(
            help="A file, a folder (a file a tenant), :memory:, or the address of a server. "
            "[env: TENURE_STORE; default: memory.db]"
        ),
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Whose data. [default: default]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
    by_line: Annotated[
        bool, typer.Option("--jsonl", help="Answer in JSON Lines: of many, one in each line.")
    ] = False,
    is_verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show the traceback of an error.")
    ] = False,
    user: Annotated[str | None, typer.Option(help="Ask and write as this user.")] = None,
    role: _Roles = None,
    project: _Projects = None,
    session: Annotated[str | None, typer.Option(help="The session of the caller.")] = None,
    clearance: Annotated[
        str | None, typer.Option(help="The highest classification the caller may read.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(help="The caller's ceiling: the strongest level it may write, 0 to 4."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A settings file instead of tenure.toml.")
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A bitemporal knowledge store for agents, with a context compiler.

    These options stand before the command, --json, --jsonl and -v also behind it. Without --role
    the caller is the owner of the store. The password of a server comes from TENURE_AUTH__USER
    and TENURE_AUTH__PASSWORD.
    """
    values = {
        "store": store,
        "tenant": tenant,
        "user": user,
        "role": tuple(role) if role else None,
        "project": tuple(project) if project else None,
        "session": session,
        "clearance": clearance,
        "level": level,
    }
    # Options that were not given stay None, and settings of a file or a variable hold.
    flags = {FLAGS[name]: value for name, value in values.items()}
    context.obj = Frame(flags, as_json or by_line, by_line, config, is_verbose)


def main() -> None:
    """Run the command line of this process."""
    sys.argv[1:] = list(map(_utf8_argument, sys.argv[1:]))
    sys.excepthook = _tell_unexpected
    _open_missing_streams()

    # A process that ends looks all its modules over for garbage, three times, before it gives the
    # memory back whole: an eighth of what `get` takes.
    atexit.register(gc.freeze)

    for stream in (sys.stdout, sys.stderr):
        # A terminal that knows no █ shows its number, and the command goes on.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    typer.main.get_command(app)(prog_name="tenure")


def _open_missing_streams() -> None:
    """Let a command run whose caller closed a stream: what is said there nobody reads."""
    # In this order, so that each takes its own number, and no store that of an output.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _utf8_argument(argument: str) -> str:
    r"""An argument as it was typed, also where the locale knows ASCII alone.

    >>> _utf8_argument("Zo" + b"\xc3\xab".decode("ascii", "surrogateescape")) == "Zo\xeb"
    True
    """
    data = argument.encode("utf-8", "surrogateescape")
    return data.decode("utf-8", "surrogateescape")


_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""What keeps an output from being written that was opened before."""


def _tell_unexpected(
    kind: type[BaseException], error: BaseException, _: TracebackType | None
) -> None:
    """Tell an error that is none of ours in one sentence too."""
    if {"-v", "--verbose"} & set(sys.argv):
        traceback.print_exception(error)
    code = "unexpected"
    message = (
        f"an unexpected {kind.__name__}: {error}. Nothing half-written stays; please report it "
        "with the command that you ran"
    )
    if isinstance(error, OSError) and error.errno in _FULL:
        code = "file_unwritable"
        message = (
            f"the output cannot be written: {error.strerror}; make room and ask again. What was "
            "committed stays"
        )
    elif isinstance(error, OSError) and error.filename is not None:
        code = "file_unreadable"
        sentence = f"{error.filename} cannot be used: {error.strerror}; check its path and rights"
        # An error of ours shortens what is longer than any path.
        message = str(Unavailable(sentence, code=code))
    if _JSON_FLAGS & set(sys.argv):
        note_as_json(code, kind.__name__, message)
    else:
        note(f"tenure: {message} [{code}]")
