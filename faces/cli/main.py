"""The command line: `tenure [GLOBAL OPTIONS] COMMAND …`.

This module has the options before the command and the order of the commands. Each command has its
own module, which imports what it needs when it runs. Errors become one sentence with their code,
never a traceback; file errors say what is wrong.

SIGTERM ends long work as Ctrl-C does, with the code of the signal, so that a service's log shows
what was stored. Progress goes to standard error, so results can be piped: a terminal gets one line
that is redrawn, anything else a line from time to time.
"""

from __future__ import annotations

import atexit
import codecs
import errno
import gc
import importlib
import json
import os
import re
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperGroup

from ...schema.errors import InvalidInput, NotFound, TenureError, Unavailable
from ...schema.limits import utf8_of
from ...schema.version import VERSION
from ...service.calls.parts import RENAMED
from .commands import group_options
from .frame import (
    FLAGS,
    USAGE,
    Frame,
    examples,
    fail,
    fail_usage,
    frame_of,
    note,
    note_as_json,
    unique_id,
)

if TYPE_CHECKING:
    from ...service.client.memory import Memory

Handler = Callable[[int, FrameType | None], None]

TERMINATED: Final = 128 + signal.SIGTERM
"""The exit code of a process that SIGTERM ended."""

_STEP_S: Final = 5.0
"""How long a step that runs may take to its end once the process was told to end."""

# Typer keeps the class to itself, and what it stands on is another module in each version.
_UsageError: Final[Any] = typer.BadParameter.__base__

_UNKNOWN_COMMAND: Final = re.compile(r"No such command '([^']+)'")

_JSON_FLAGS: Final = frozenset({"--json", "--jsonl"})

_BAR: Final = 20
"""Columns of a bar."""

_CHUNK: Final = 1 << 20

_SCAN_LIMIT: Final = 10_000
"""The newest envelopes among which the start of an id looks."""


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
    "sync": "documents",
    "document": "documents",
    "define": "write",
    "get": "read",
    "facts": "read",
    "timeline": "read",
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
    "ablate": "compile",
    "envelope": "compile",
    "session": "session",
    "artifact": "compile",
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
    "mcp": "serve",
    "keys": "serve",
    "export": "operate",
    "import": "operate",
    "backup": "operate",
    "restore": "operate",
    "tenants": "operate",
    "re-embed": "write",
    "config": "operate",
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
        self.commands: Any = self.commands or Commands()

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
            error.message = _renamed(error) or error.message
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
        """Where an option belongs that a command does not have; empty if no command has it."""
        if not any(option in parameter.opts for parameter in self.params):
            return ""
        return f"; write it before the command: tenure {option} …"


def _renamed(error: Any) -> str:
    """What to say of a command that has another name now; empty for any other error."""
    unknown = _UNKNOWN_COMMAND.match(error.message)
    words: list[str] = error.ctx.command_path.split()[1:] if error.ctx else []
    old = " ".join([*words, unknown[1]]) if unknown else ""
    return f"no command `{old}`; use `{RENAMED[old]}`" if old in RENAMED else ""


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
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_EPILOG,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"tenure {VERSION}")
        raise typer.Exit()


@group_options(app)
def options(
    context: typer.Context,
    *,
    store: str | None = None,
    tenant: str | None = None,
    as_json: bool = False,
    by_line: bool = False,
    is_verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Show the traceback of an error.")
    ] = False,
    user: str | None = None,
    role: list[str] | None = None,
    project: list[str] | None = None,
    session: str | None = None,
    clearance: str | None = None,
    level: Annotated[
        int | None,
        typer.Option(help="The caller's ceiling: the strongest level it may write, 0 to 4."),
    ] = None,
    config: Path | None = None,
    zone: str | None = None,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A bitemporal knowledge store for agents, with a context compiler.

    Write these options before the command; --json, --jsonl and -v also after it. Without --role
    the caller is the owner of the store. The password of a server comes from TENURE_AUTH__USER
    and TENURE_AUTH__PASSWORD.

    Options:
        store: A file, a folder (one file per tenant), :memory:, or the address of a server. [env:
            TENURE_STORE; default: memory.db]
        tenant: The tenant. [default: default]
        as_json (--json): Answer in JSON.
        by_line (--jsonl): Answer in JSON Lines, one item a line.
        user: Read and write as this user.
        role (ROLE): Call with only these roles, not as the owner; repeat it.
        project (PROJECT): A project of the caller; repeat it.
        session: The session of the caller.
        clearance: The highest classification the caller may read.
        config: A settings file instead of tenure.toml.
        zone: Show times and read dates in it, as in Europe/Berlin. [default: UTC]
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
        "zone": zone,
    }
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit(2)
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

    codecs.register_error("escaped", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="escaped")
    try:
        typer.main.get_command(app)(prog_name="tenure")
    finally:
        # A full disk is told here: at the end of the process Python would only show a traceback.
        with suppress(BrokenPipeError):
            sys.stdout.flush()


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """What a terminal shows that knows no █: its number, in the form that JSON has for it."""
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def _open_missing_streams() -> None:
    """Let a command run although its caller closed a stream; output to that stream is dropped."""
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
        # What is still buffered would fail again at the end, and change the exit code.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
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


class TerminatedError(KeyboardInterrupt):
    """SIGTERM: whatever is done on Ctrl-C is done on this, too."""


@contextmanager
def ending_by_sigterm() -> Generator[None]:
    """Let SIGTERM raise where the work stands, so that what is open is closed."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    with _handling(signal.SIGTERM, end):
        yield


@dataclass(slots=True)
class StepEnd:
    """Where work in steps may end: between two of them, so that what is stored is known exactly."""

    is_due: bool = False
    is_reached: bool = False
    """Whether the work ended so, and not amid a step."""

    def pass_by(self) -> None:
        """End here, if the process was told to.

        Raises:
            TerminatedError: it was.
        """
        if self.is_due:
            self.is_reached = True
            raise TerminatedError


@contextmanager
def ending_between_steps() -> Generator[StepEnd]:
    """Let SIGTERM end the work after the step that runs; one that takes long is broken off."""
    step_end = StepEnd()

    def break_off(_number: int, _frame: FrameType | None) -> None:
        raise TerminatedError

    def end(number: int, frame: FrameType | None) -> None:
        # Whoever says it twice does not want to wait.
        if step_end.is_due or not hasattr(signal, "setitimer"):
            break_off(number, frame)
        step_end.is_due = True
        signal.setitimer(signal.ITIMER_REAL, _STEP_S)

    alarm = getattr(signal, "SIGALRM", signal.SIGTERM)
    with _handling(alarm, break_off), _handling(signal.SIGTERM, end):
        try:
            yield step_end
        finally:
            if step_end.is_due:
                signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _handling(number: int, handler: Handler) -> Generator[None]:
    # Only the main thread of a process is asked, and only it may say who answers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    earlier_handler = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, earlier_handler)


_DRAW_EACH_S: Final = 0.1
"""Seconds between two drawings on a terminal: more often nobody sees, and it costs the work."""

_LOG_EACH_S: Final = 10.0
"""Seconds between two lines of a log; short work leaves none."""


@dataclass(slots=True)
class ProgressMeter:
    """How far a piece of long work is."""

    noun: str
    """What is counted, in the plural."""
    total: int | None = None
    is_terminal: bool = field(default_factory=lambda: sys.stderr.isatty())
    begin_s: float = field(default_factory=time.monotonic)
    last_s: float = field(default_factory=time.monotonic)
    is_drawn: bool = False

    def tell(self, count: int, total: int | None = None) -> None:
        """Say that so many are done, of so many where that is known."""
        # Some work learns only on the way how much of it there is.
        self.total = total or self.total
        now_s = time.monotonic()
        is_last = count == self.total
        pause_s = _DRAW_EACH_S if self.is_terminal else _LOG_EACH_S
        # The last drawing of a bar shows it full; a log needs no line beside the result.
        if now_s - self.last_s < pause_s and not (is_last and self.is_terminal):
            return

        self.last_s = now_s
        line = progress_line(count, self.total, now_s - self.begin_s, self.noun)
        if not self.is_terminal:
            print(line, file=sys.stderr, flush=True)
            return

        width = shutil.get_terminal_size().columns - 1
        print(f"\r{line[:width]:<{width}}", end="", file=sys.stderr, flush=True)
        self.is_drawn = True

    def close(self) -> None:
        """Leave the line of a terminal, so that what follows begins on one of its own."""
        if self.is_drawn:
            print(file=sys.stderr)


@contextmanager
def meter(noun: str, total: int | None = None) -> Generator[ProgressMeter]:
    """A meter for the time of a piece of work; what it drew is left whatever becomes of that."""
    gauge = ProgressMeter(noun, total)
    try:
        # Whoever runs long work in the background ends it by SIGTERM.
        with ending_by_sigterm():
            yield gauge
    finally:
        gauge.close()


def progress_line(count: int, total: int | None, seconds: float, noun: str) -> str:
    """How far work is, in one line.

    >>> progress_line(500, 2_000, 10, "events")
    '█████░░░░░░░░░░░░░░░  500 of 2,000 events, 50/s, 30 s left'
    >>> progress_line(500, None, 0.5, "events")
    '500 events, 1,000/s'
    """
    rate = count / max(seconds, 1e-6)
    if not total:
        return f"{count:,} {noun}, {rate:,.0f}/s"

    filled = _BAR * min(count, total) // total
    bar = "█" * filled + "░" * (_BAR - filled)
    remaining_s = (total - count) / rate if count else None
    left = "" if remaining_s is None or count >= total else f", {duration(remaining_s)} left"
    return f"{bar}  {count:,} of {total:,} {noun}, {rate:,.0f}/s{left}"


def duration(seconds: float) -> str:
    """A time that people wait, in the two units that matter.

    >>> duration(0.4), duration(75), duration(7_260)
    ('1 s', '1 min 15 s', '2 h 1 min')
    """
    whole = max(1, round(seconds))
    minutes, rest_s = divmod(whole, 60)
    hours, minutes_of_hour = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_of_hour} min"
    return f"{minutes} min {rest_s} s" if minutes else f"{rest_s} s"


def lines_of(file: str) -> int | None:
    """How many lines a plain file has; None for a pipe, a packed file, or one that is not there."""
    path = Path(file)
    if file == "-" or path.suffix == ".gz" or not path.is_file():
        return None

    # In pieces: a file of gigabytes must not be in memory for the sake of a bar.
    count = 0
    with path.open("rb") as data:
        while chunk := data.read(_CHUNK):
            count += chunk.count(b"\n")
    return count


MOST_BYTES: Final = 1 << 30
"""Of a file that is read whole; a larger one has no end, or belongs elsewhere."""


def read_bytes(file: Path | str) -> bytes:
    """Read the bytes of a file, or of standard input for `-`.

    Raises:
        InvalidInput: `too_large`, so that a device without an end fills no memory.
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
    """
    try:
        if file == "-":
            data = sys.stdin.buffer.read(MOST_BYTES + 1)
        else:
            with Path(file).open("rb") as source:
                data = source.read(MOST_BYTES + 1)
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {file}", code="unknown_file") from error
    except OSError as error:
        raise Unavailable(
            f"{file} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error
    if len(data) > MOST_BYTES:
        raise InvalidInput(
            f"{file} has more than {MOST_BYTES:,} bytes; store it in parts", code="too_large"
        )
    return data


def read_text(file: Path | str) -> str:
    """Read the text of a file, or of standard input for `-`.

    Raises:
        InvalidInput: `bad_file`, for one that is no UTF-8; and what `read_bytes` raises.
    """
    name = "standard input" if file == "-" else str(file)
    return utf8_of(read_bytes(file), name, code="bad_file")


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file that its owner alone may read, and say whether it replaced an earlier one.

    Raises:
        Conflict: `file_exists`, for a link or a device.
        Unavailable: `file_unwritable`.
    """
    from ...service.backend.files import new_file

    deed = "replaced" if path.exists() else "wrote"
    with new_file(path, replace=True) as file:
        file.write(data)
    note(f"{deed} {path}, {len(data):,} bytes")


def envelope_named(memory: Memory, reference: str) -> str:
    """Find a manifest or an id by what names it: a file, `-`, an id, or its beginning.

    Raises:
        InvalidInput: `bad_request`, when several envelopes begin so.
    """
    # A file goes before an id: one that is called like an id was put there on purpose.
    if reference == "-" or Path(reference).is_file():
        return read_text(reference)

    prefix = reference.rstrip("…").lower()
    if not re.fullmatch(r"[0-9a-f]{4,63}", prefix):
        return reference

    words: dict[str, str] = {}
    for stored in memory.envelopes.list(_SCAN_LIMIT):
        words[stored.envelope_id] = f"{stored.task}: {stored.query}" if stored.task else "erased"
    match = unique_id(prefix, words, words)
    return reference if match == prefix else match
