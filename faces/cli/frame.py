"""The frame of a command: its global flags, its store, its tables, its answer and its errors.

Nothing is read or opened before a command needs it, so that `--help` costs nothing. Results go to
standard output, everything else to standard error. Commands that write make a missing store;
commands that read refuse it, because an empty answer from a misspelt path would be believed.

A table that does not fit the terminal becomes a few lines for each row, so no cell breaks inside a
word. Without a terminal nothing is cut, folded or coloured unless `COLUMNS` states a width, and
`rich` is not loaded. An id can be given by its first characters, as tables show it.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from importlib import import_module
from itertools import compress
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

import typer

from ...schema.errors import InvalidInput, NotFound, TenureError, Unavailable, unknown
from ...schema.vocabulary import ReviewState
from ...service.client.opening import connect_by, require_store
from ...service.visual.text import by_field, held_span, json_text, value_text, visible, when
from ...service.visual.zone import READING_ZONE, zone_named

if TYPE_CHECKING:
    from rich.console import Console

    from ...schema.entity import Review
    from ...service.client.memory import Memory
    from ...service.reading.view import Beginnings
    from ...service.settings import LoadedSettings as SettingsInForce
    from ...service.settings import Settings

_WIDE: Final = 10_000
"""Columns where there is no terminal: nothing is cut."""

_GAP: Final = 2
"""Blanks between two columns."""

_AS_TERMINAL: Final = frozenset({"COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE"})
"""Variables by which something that is no terminal asks to be treated as one."""

_PROSE: Final = 18
"""Columns that a text which wraps keeps: below, each row stands better as a block of lines."""

_PHRASES: Final = re.compile(
    r"(?:(?:from|until|on|at) )?"  # a date without its preposition says something else
    r"\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::[\d.]+)?Z)?\S*"
    r"|\S+"
)
"""What no line break may part: a word, or a moment with its date, its time and what rules it."""

Columns = Mapping[str, str | Callable[[Any], object]]
"""A table's heads, each with the attribute of a row that stands under it, or how to work it out."""

View = str | Columns | Callable[["Screen"], None]
"""How people see an answer: a sentence, the columns of its rows, or what prints it."""

EXIT_REFUSED: Final = 1
USAGE: Final = 2
UNAVAILABLE: Final = 3
FINDINGS: Final = 4

_PLUGINS: Final = "PYDANTIC_DISABLE_PLUGINS"

LOCAL_FILE: Final = "tenure.toml"
"""Settings files of the current folder. The user did not name them, so their effect is shown."""

FLAGS: Final[Mapping[str, str]] = {
    "zone": "zone",
    "store": "store",
    "tenant": "tenant",
    "user": "caller.user",
    "role": "caller.roles",
    "project": "caller.projects",
    "session": "caller.session",
    "clearance": "caller.clearance",
    "level": "caller.authority_level",
}
"""Settings by the name of the global flag that sets them."""

_PLAIN_ROLE: Final = "member"
"""Of a caller who is not the owner and has no powers."""
HTTP: Final = "tenure.faces.http.command"
MCP: Final = "tenure.faces.mcp.server"

_BEGINNING: Final = re.compile(r"[0-9a-f]{4}[0-9a-f-]{0,31}…?")
"""The beginning of an id, at least four digits of it; a whole one has 36 characters."""

_MIN_DIGITS: Final = 4
"""Characters of a beginning: fewer are a slip of the finger."""

_FINAL_STATES: Final = (ReviewState.ACCEPTED, ReviewState.REJECTED)

_MATCHES_SHOWN: Final = 8
"""How many ids a refusal lists."""


UNKNOWN: Final[Mapping[str, str]] = {
    "no_value": "nothing is known of it for this time; `tenure timeline` shows every time",
    "unknown_entity": "no entity has this name; `tenure entities` lists names",
    "ambiguous_entity": "several have this name; ask with the id of one",
    "withheld": "there is something that this caller may not see",
}
"""Why a slot has no value, by the reason of its state."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What stood before the command."""

    flags: Mapping[str, object] = field(default_factory=dict[str, object])
    """By dotted key; None was not given."""
    as_json: bool = False
    by_line: bool = False
    """JSON Lines: of many, each member in a line of its own."""
    config: Path | None = None
    is_verbose: bool = False

    def settings(self) -> SettingsInForce:
        """Read the settings: defaults, file, environment and flags."""
        with _without_plugins():
            from ...service.settings import load

            return load(self.flags, path=self.config)


@contextmanager
def _without_plugins() -> Generator[None]:
    """Keep pydantic from searching every installed package for plugins, as typer does.

    Where the environment already says which plugins there are, it is obeyed.
    """
    is_unsaid = _PLUGINS not in os.environ
    if is_unsaid:
        os.environ[_PLUGINS] = "1"
    try:
        yield
    finally:
        if is_unsaid:
            del os.environ[_PLUGINS]


def frame_of(context: typer.Context) -> Frame:
    """The frame that the flags before the command made."""
    frame: Any = context.find_root().obj
    return frame if isinstance(frame, Frame) else Frame()


def answer(context: typer.Context, value: Any, text: View, *, placeholder: str = "none") -> None:
    """Print a result: as JSON when that was asked for, else as its text says.

    The text is a line, a function that prints, or the columns of a table with a row for each
    member of the value.
    """
    frame = frame_of(context)
    # JSON Lines are JSON too: this goes first.
    if frame.by_line:
        # Line by line, each fact says of which slot it is; in one object its key does.
        if isinstance(value, Mapping) and isinstance(text, Mapping):
            states = cast("Mapping[str, Any]", value)
            value = [{"slot": slot, **by_field(state)} for slot, state in states.items()]
        for member in _members(value):
            print(json_text(member, indent=None))
        return
    if frame.as_json:
        print(json_text(value))
        return

    screen = Screen.of_process()
    if isinstance(text, str):
        screen.line(text)
    elif callable(text):
        text(screen)
    else:
        mapping = cast("Mapping[str, Any]", value)
        rows: Any = mapping.items() if isinstance(value, Mapping) else value
        screen.table(rows, text, placeholder=placeholder)
    zone = str(READING_ZONE.get())
    if zone != "UTC":
        screen.line(f"times in {zone}")


def _members(value: Any) -> Iterable[Any]:
    """What JSON Lines has a line for: each member of many, else the value itself.

    >>> list(_members([1, 2])), list(_members({"office": {"value": "Austin"}}))
    ([1, 2], [{'office': {'value': 'Austin'}}])
    """
    is_record = hasattr(value, "_fields")  # a named tuple is one record, not many
    if is_record or not isinstance(value, tuple | list):
        return (value,)
    return cast("Sequence[Any]", value)


@contextmanager
def open_memory(
    context: typer.Context, *, create: bool = False, scratch: bool = False
) -> Generator[Memory]:
    """Open the store that the settings name, and close it after the command.

    With `scratch` a store that is not there is an empty one in memory, and no file is made.

    Raises:
        InvalidInput: `bad_settings` for a new store of a stated tenant that may mean a folder.
        NotFound: `unknown_store` for an embedded store that is not there, unless `create`.
        Unavailable: when it cannot be opened.
    """
    # A settings file that came with a folder may send what is written to a stranger's store.
    in_force = frame_of(context).settings()
    settings = in_force.settings
    READING_ZONE.set(zone_named(settings.zone, code="bad_settings"))
    if in_force.origins.get("store") == LOCAL_FILE:
        note(f"the store is {settings.store}, as {LOCAL_FILE} of this folder says")
    is_stated = in_force.origins.get("tenant", "default") != "default"
    path = Path(settings.store)
    is_bare = not path.suffix and ":" not in settings.store and settings.store[-1:] not in "/\\"
    if create and is_stated and is_bare and not path.exists():
        raise InvalidInput(
            f"{settings.store} would be a file for tenant {settings.tenant!r} alone: did you mean "
            f"the folder {settings.store}/, or the file {settings.store}.db?",
            code="bad_settings",
        )
    try:
        require_store(settings.store, settings.tenant, create=create)
    except NotFound:
        if not scratch:
            raise
        note(f"there is no store {settings.store} yet: an empty one is looked at instead")
        settings = settings.model_copy(update={"store": ":memory:"})

    memory = connect_by(settings)
    try:
        _check_roles(memory, settings)
        yield memory
    finally:
        memory.close()


def _check_roles(memory: Memory, settings: Settings) -> None:
    """Refuse a role that the tenant does not have: it opens nothing, and a slip stays unnoticed.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    if not settings.caller.roles:
        return
    policy = settings.policy
    known = (
        *(*memory.vocabulary.values("role"), _PLAIN_ROLE),
        *(*policy.write.directive_roles, *policy.compile.show_personal_to),
    )
    for role in settings.caller.roles:
        if role not in known:
            raise unknown("role", role, known)


def load_face(module: str, extra: str) -> Any:
    """Import the module of another face by its name, as no face imports another.

    Raises:
        Unavailable: `extra_missing`.
    """
    from ...service.backend.files import needs_extra

    with needs_extra(extra):
        return import_module(module)


def fail(error: TenureError, frame: Frame) -> int:
    """Tell an error on standard error, and say which exit code it has."""
    from ...service.backend.caller import error_text

    message = error_text(error)
    if frame.as_json:
        # What an error carries may be anything; what is no JSON is told as text.
        details = {name: _scalar(value) for name, value in sorted(error.data.items())}
        note_as_json(error.code, type(error).__name__, message, details)
    else:
        # The code stands behind the first line: further ones are a list, such as of refusals.
        first, line_break, further = message.partition("\n")
        note(f"tenure: {first} [{error.code}]{line_break}{further}")
    return UNAVAILABLE if isinstance(error, Unavailable) else EXIT_REFUSED


def fail_usage(message: str) -> int:
    """Tell wrong usage as JSON, where that was asked for, and say which exit code it has."""
    note_as_json("wrong_usage", "UsageError", message)
    return USAGE


def note_as_json(
    code: str, kind: str, message: str, details: Mapping[str, object] | None = None
) -> None:
    """Tell an error as JSON on standard error, in one line."""
    body = {"code": code, "class": kind, "message": message, "data": details or {}}
    print(json_text({"error": body}, indent=None), file=sys.stderr)


def _scalar(value: object) -> object:
    if isinstance(value, list):
        return cast("list[object]", value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def note(text: str) -> None:
    """Tell a message on standard error, wrapped where a terminal is or a width is stated."""
    if sys.stderr.isatty() or "COLUMNS" in os.environ:
        Screen.of_process(stderr=True).line(text)
    else:
        print(visible(text), file=sys.stderr)


def confirm(context: typer.Context, question: str, reason: str, *, yes: bool) -> None:
    """Ask before an erasure, unless `--yes` answered already.

    Raises:
        InvalidInput: `missing_reason`.
    """
    if not reason.strip():
        words = "state the reason with --reason; the tombstone keeps it"
        raise InvalidInput(words, code="missing_reason")
    if not yes and frame_of(context).as_json:
        raise typer.BadParameter("a program is not asked; state --yes with --json")
    if not yes:
        typer.confirm(question, abort=True, err=True)


def note_command(command: str) -> None:
    """Tell a command on standard error, in one line however long: it is there to be copied."""
    print(f"  {visible(command)}", file=sys.stderr)


def examples(*lines: str) -> str:
    r"""The closing part of a help text; the mark keeps its lines apart.

    >>> examples("tenure doctor")
    '\x08\nExamples:\n  tenure doctor'
    """
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Screen:
    """Where results are printed for people."""

    def __init__(self, console: Console | None = None, *, stream: TextIO | None = None) -> None:
        """Print on a console, or without one into a stream that is no terminal."""
        self._console = console
        self._stream = stream

    @property
    def console(self) -> Console:
        """The console of rich, which knows the terminal."""
        if self._console is None:
            self._console = _console(self._stream or sys.stdout, _WIDE)
        return self._console

    @property
    def width(self) -> int:
        """Columns of the terminal; as good as endless without one."""
        return _WIDE if self._console is None else self._console.width

    @classmethod
    def of_process(cls, *, stderr: bool = False) -> Screen:
        """The screen of standard output, or of standard error."""
        stream = sys.stderr if stderr else sys.stdout
        if not stream.isatty() and _AS_TERMINAL.isdisjoint(os.environ):
            return cls(stream=stream)

        width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
        return cls(_console(stream, width))

    def line(self, text: str = "", style: str | None = None) -> None:
        """Print a line of text, wrapped between words where the terminal is narrow."""
        for paragraph in visible(text).split("\n"):
            indent = paragraph[: len(paragraph) - len(paragraph.lstrip())]
            room = self.width - len(indent)
            for part in fold(paragraph, room):
                self._print((indent + part).rstrip(), style)

    def _print(self, text: str, style: str | None = None) -> None:
        if self._console is None:
            print(text, file=self._stream)
        else:
            self._console.print(text, style=style, soft_wrap=True)

    def table(self, rows: Iterable[Any], columns: Columns, *, placeholder: str = "none") -> None:
        """Print rows under heads, or as blocks of lines where they do not fit side by side."""
        heads = list(columns)
        readers = [_reader(source) for source in columns.values()]
        lines: list[list[str]] = []
        for row in rows:
            lines.append([_cell(read(row)) for read in readers])

        if not lines:
            self.line(placeholder)
            return

        # A column that is empty in every row would only make the others narrower.
        filled = [any(cells) for cells in zip(*lines, strict=True)]
        heads = [*compress(heads, filled)]
        lines = [[*compress(cells, filled)] for cells in lines]

        widths = _widths([heads, *lines], self.width)
        if widths is None:
            self._blocks(heads, lines)
        else:
            self._row(heads, widths, style="bold")
            for cells in lines:
                self._row(cells, widths)

    def _row(self, cells: Sequence[str], widths: Sequence[int], style: str | None = None) -> None:
        """Print the cells of a row side by side, over as many lines as the tallest needs."""
        columns = list(map(fold, cells, widths))
        for number in range(max(map(len, columns))):
            parts: list[str] = []
            for column, width in zip(columns, widths, strict=True):
                part = column[number] if number < len(column) else ""
                parts.append(part + " " * (width - cell_len(part)))
            self._print((" " * _GAP).join(parts).rstrip(), style)

    def _blocks(self, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
        margin = max(map(len, heads)) + _GAP

        for number, cells in enumerate(lines):
            if number:
                self.line()
            for head, cell in zip(heads, cells, strict=True):
                if cell:
                    self._block_line(head, cell, margin)

    def _block_line(self, head: str, cell: str, margin: int) -> None:
        """Print a cell beside its head; what wraps stands under its own beginning."""
        room = self.width - margin
        widest = max(map(cell_len, fold(cell, room)))
        if widest > room:
            # An address that has no room beside its head stands whole below it.
            self.line(f"{head}\n{cell}")
            return

        label = head
        for text in fold(cell, room):
            self._print(f"{label:<{margin}}{text}")
            label = ""


def fold(text: str, room: int) -> list[str]:
    """A text in lines that fit a room; no word is broken, and no moment parted from its time.

    A word that is wider than the room, such as an address, stands whole, so that it can be copied.

    >>> fold("it holds from 2026-06-01 12:05:00Z on", 24)
    ['it holds', 'from 2026-06-01 12:05:00Z', 'on']
    """
    if cell_len(text) <= room:
        return [text.strip() or ""]

    lines: list[str] = []
    line = ""
    for phrase in _PHRASES.findall(text):
        longer = f"{line} {phrase}" if line else phrase
        if line and cell_len(longer) > room:
            lines.append(line)
            line = phrase
        else:
            line = longer
    lines.append(line)
    return lines


def _console(stream: TextIO, width: int | None) -> Console:
    from rich.console import Console

    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def cell_len(text: str) -> int:
    """How many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)

    from rich.cells import cell_len as width_of

    return width_of(text)


def columns(text: str, **cells: Callable[[Any], object]) -> Columns:
    """The columns that a text lists, each as `head=attribute`, or as the attribute alone.

    A `_` of a head is a blank. An attribute may be one of `cells`, `~` for the time for which a row
    holds, `name|word` with the word for a moment that is not there, or `name:.3f` for a number.

    >>> list(columns("known_from=tx_start status"))
    ['known from', 'status']
    """
    table: dict[str, str | Callable[[Any], object]] = {}
    for part in text.split():
        head, _, source = part.rpartition("=")
        table[(head or source).replace("_", " ")] = cells.get(source, source)
    return table


def _reader(source: str | Callable[[Any], object]) -> Callable[[Any], object]:
    if callable(source):
        return source
    if source == "~":
        return held_span

    name, bar, missing = source.partition("|")
    if bar:
        return lambda row: when(attrgetter(name)(row), missing=missing)
    name, colon, form = source.partition(":")
    if colon:
        return lambda row: format(attrgetter(name)(row), form)
    return attrgetter(name)


def _cell(value: object) -> str:
    """A value of a table as text on one line."""
    if isinstance(value, tuple | list):
        text = ", ".join(map(_cell, cast("Sequence[object]", value)))
    elif isinstance(value, datetime):
        text = when(value)
    elif isinstance(value, Enum):
        text = str(value.value)
    elif isinstance(value, int) and not isinstance(value, bool):
        text = f"{value:,}"
    else:
        text = value_text(value)
    return visible(" ".join(text.split()))


def _widths(lines: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Widths of columns that break no word within a room; None where there are none.

    The widest column gives way first, down to its longest word, and to no less than prose needs.
    """
    columns = list(zip(*lines, strict=True))
    widths = [max(map(cell_len, cells)) for cells in columns]
    floors = list(map(_floor, columns))
    excess = sum(widths) + _GAP * (len(columns) - 1) - room

    # A character at a time, so that the widest two end alike and none is starved for another.
    while excess > 0:
        loose = [index for index, width in enumerate(widths) if width > floors[index]]
        if not loose:
            return None
        widest = max(loose, key=lambda index: widths[index])
        widths[widest] -= 1
        excess -= 1
    return widths


def _floor(cells: Sequence[str]) -> int:
    """The least that a column of cells can do with."""
    phrases = _PHRASES.findall("\n".join(cells))
    longest_phrase = max(map(cell_len, phrases), default=0)
    # The head may wrap to its longest word, whatever stands under it.
    widest_text = max(map(cell_len, cells[1:]))
    return max(longest_phrase, min(widest_text, _PROSE))


def entity_of(memory: Memory, text: str) -> str:
    """The entity that a name, an id or the beginning of an id means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text) or memory.entities.resolve(text).entity is not None:
        return text

    from ...service.client.answer import entity_names

    # Ids come in their order, so those that begin so are the first above the beginning itself.
    prefix = text.rstrip("…")
    page = memory.entities.list(after=prefix, limit=_MATCHES_SHOWN + 1)
    ids = [entity.entity_id for entity in page if entity.entity_id.startswith(prefix)]
    return unique_id(text, ids, entity_names(memory, ids))


def nothing_of(memory: Memory, entity: str, words: str) -> str:
    """What a read of an entity says that found nothing: its words, or that the name is unknown.

    A bare "none" would be believed of a misspelt name. A read takes no name that is only near.
    """
    resolution = memory.entities.resolve(entity)
    if resolution.entity is not None and resolution.reason != "scored":
        return words
    namesakes = dict.fromkeys(candidate.name for candidate in resolution.candidates)
    suggestion = f"\ndid you mean: {', '.join(namesakes)}" if namesakes else ""
    return f"{UNKNOWN['unknown_entity']}{suggestion}"


def object_of(memory: Memory, text: str) -> str:
    """The object that an id or its beginning means; what else names one stays as it is.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    from ...service.client.answer import opening_of

    # One more than is shown tells whether there are others.
    ids = _beginnings(memory).objects(text.rstrip("…"), limit=_MATCHES_SHOWN + 1)
    return unique_id(text, ids, {object_id: opening_of(memory, object_id) for object_id in ids})


def merge_of(memory: Memory, text: str) -> str:
    """The merge that an id or its beginning means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
        Forbidden: `privilege_required`.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    return unique_id(text, _beginnings(memory).merges(text.rstrip("…")))


def _beginnings(memory: Memory) -> Beginnings:
    from ...service.backend.caller import backend_of
    from ...service.reading.view import Beginnings

    return Beginnings(backend_of(memory), memory.principal)


def review_of(memory: Memory, text: str) -> str:
    """The review that an id, its beginning or the name that waits for a decision means.

    Raises:
        InvalidInput: `bad_request`, when several are meant.
    """
    # Decided cases too: `undo` takes the id of one.
    cases = memory.reviews.list("all", kind="all")
    if not _BEGINNING.fullmatch(text):
        return _review_about(text, cases)
    return unique_id(
        text,
        [case.review_id for case in cases],
        {case.review_id: f"{case.mention}, {case.state}" for case in cases},
    )


def _review_about(name: str, cases: Iterable[Review]) -> str:
    """The one review that asks about a name, those that wait first; the name where none does."""
    namesakes = [case for case in cases if case.mention == name]
    waiting = [case for case in namesakes if case.state not in _FINAL_STATES]
    reviews = waiting or namesakes
    if len(reviews) < 2:
        return reviews[0].review_id if reviews else name

    lines = [f"  {case.review_id}  {case.state.value}" for case in reviews[:_MATCHES_SHOWN]]
    raise InvalidInput(
        "\n".join((f"several reviews ask about {name!r}; state the id of one", *lines)),
        code="bad_request",
    )


def action_of(memory: Memory, text: str) -> str:
    """The action that an id or its beginning means.

    Raises:
        InvalidInput: `bad_request`, when several ids begin so.
    """
    if not _BEGINNING.fullmatch(text):
        return text
    queue = memory.actions.list("all")
    return unique_id(
        text,
        [action.action_id for action in queue],
        {action.action_id: f"{action.kind.value} {action.slot or ''}" for action in queue},
    )


def unique_id(text: str, ids: Iterable[str], words: Mapping[str, str] | None = None) -> str:
    """The one id that begins so; the text itself where none does.

    `words` say in a line what an id stands for, so that a refusal can be chosen from.

    Raises:
        InvalidInput: `bad_request`, with the ids, when several begin so.

    >>> unique_id("4f0c…", ["4f0c2a9b", "91ab77de"]), unique_id("beef", ["4f0c2a9b"])
    ('4f0c2a9b', 'beef')
    """
    # Tables print the sign behind a shortened id, and people copy it along.
    prefix = text.rstrip("…")
    matches: list[str] = []
    if len(prefix) >= _MIN_DIGITS:
        matches = sorted(item for item in ids if item.startswith(prefix))
    if len(matches) < 2:
        return matches[0] if matches else text

    names = words or {}
    lines = [f"  {match}  {names.get(match, '')}".rstrip() for match in matches[:_MATCHES_SHOWN]]
    if len(matches) > _MATCHES_SHOWN:
        lines.append("  …")
    raise InvalidInput(
        "\n".join(
            (f"several ids begin with {prefix}; state more of the one that is meant", *lines)
        ),
        code="bad_request",
    )
