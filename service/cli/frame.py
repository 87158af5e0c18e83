"""The frame of a command: the flags before it, the store it opens, how it answers and fails.

Nothing is read or opened before a command needs it, so that `--help` costs nothing. Results
go to standard output, everything else to standard error. A store that is not there is made
by commands that write and refused by those that read, because an empty answer from a
misspelt path would be believed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import typer

from ...schema.errors import InvalidInput, NotFound, TenureError, Unavailable
from ..visual.text import json_text, visible
from .show import Columns, Screen

if TYPE_CHECKING:
    from ...schema.principal import Principal
    from ..client.connect import Place
    from ..client.memory import Memory
    from ..settings import Auth, Settings
    from ..settings import LoadedSettings as SettingsInForce

EXIT_REFUSED: Final = 1
USAGE: Final = 2
UNAVAILABLE: Final = 3
FINDINGS: Final = 4

_PLUGINS: Final = "PYDANTIC_DISABLE_PLUGINS"

LOCAL_FILE: Final = "tenure.toml"
"""Settings that lie in the current folder: nobody named them, so what they choose is told."""

FLAGS: Final[Mapping[str, str]] = {
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
            from ..settings import load

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


def answer(
    context: typer.Context, value: Any, text: str | Callable[[Screen], None] | Columns
) -> None:
    """Print a result: as JSON when that was asked for, else as its text says.

    The text is a line, a function that prints, or the columns of a table with a row for each
    member of the value.
    """
    frame = frame_of(context)
    # JSON Lines are JSON too: this goes first.
    if frame.by_line:
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
        screen.table(value, text)


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
        NotFound: `unknown_store` for an embedded store that is not there, unless `create`.
        Unavailable: when it cannot be opened.
    """
    # A settings file that came with a folder may send what is written to a stranger's store.
    in_force = frame_of(context).settings()
    settings = in_force.settings
    if in_force.origins.get("store") == LOCAL_FILE:
        note(f"the store is {settings.store}, as {LOCAL_FILE} of this folder says")
    try:
        require_store(settings.store, settings.tenant, create=create)
    except NotFound:
        if not scratch:
            raise
        note(f"there is no store {settings.store} yet: an empty one is looked at instead")
        settings = settings.model_copy(update={"store": ":memory:"})

    memory = connect_by(settings)
    try:
        yield memory
    finally:
        memory.close()


def connect_by(settings: Settings) -> Memory:
    """Open the memory that the settings describe."""
    from ..client.connect import connect
    from ..logs import configure

    # Before the store is opened, which may have something to log.
    configure(level=settings.log.level, as_json=settings.log.format == "json")

    memory = connect(
        **place_of(settings)._asdict(),
        principal=caller(settings),
        policy=settings.policy,
        encoder=settings.encoder,
        extractor=settings.extractor,
        answers=settings.answers,
        mentions=settings.mentions,
        artifacts=settings.artifacts.url,
        artifact_bytes=settings.artifacts.max_bytes,
    )
    if settings.telemetry.otlp is not None:
        _trace(memory, settings.telemetry.otlp, content=settings.telemetry.content)
    return memory


def _trace(memory: Memory, address: str, *, content: bool) -> None:
    """Send spans of a memory to a collector.

    Raises:
        Unavailable: `extra_missing`.
    """
    try:
        from ..telemetry import otlp_provider, trace_memory
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"{error.name} is not installed; run: pip install 'tenure[otel]'",
            code="extra_missing",
        ) from error
    trace_memory(memory, otlp_provider(address), content=content)


def place_of(settings: Settings) -> Place:
    """Where the store is that the settings describe, and how to get in."""
    from ...store.port.targets import Cell, Target
    from ...store.search.cache_bounds import CacheBounds
    from ..client.connect import Place

    cells: list[Cell] = []
    for _, cell in sorted(settings.cells.items()):
        target = Target(
            uri=cell.store,
            database=cell.database or settings.database,
            auth=_credentials(cell.auth),
        )
        cells.append(Cell(target=target, tenants=frozenset(cell.tenants)))

    return Place(
        url=settings.store,
        auth=_credentials(settings.auth),
        database=settings.database,
        cells=tuple(cells),
        vector_index=settings.vector_index,
        durability=settings.durability,
        caches=CacheBounds(**settings.caches.model_dump()),
    )


def _credentials(auth: Auth) -> tuple[str, str] | None:
    if auth.password is not None:
        return auth.user or "neo4j", auth.password.get_secret_value()
    return None if auth.file is None else _credentials_in(Path(auth.file))


def _credentials_in(path: Path) -> tuple[str, str]:
    """The user and the password of a secret's file, `user/password` in its first line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(
            f"the file of the setting auth.file, {path}, cannot be read; check its path and rights",
            code="file_unreadable",
        ) from error

    user, slash, password = (lines[0] if lines else "").partition("/")
    if not slash or not user:
        raise InvalidInput(
            f"{path}, the setting auth.file, must hold user/password in one line",
            code="bad_settings",
        )
    return user, password


def caller(settings: Settings) -> Principal:
    """Who asks: the owner, or a caller with just the roles that were named."""
    from ...schema.principal import OWNER, Principal

    # Whoever names roles wants to see what these see: nothing of the owner's is added to them.
    asker = settings.caller
    is_owner = not asker.roles
    ceiling = asker.authority_level
    if ceiling is None:
        ceiling = 0 if is_owner else 2
    default_clearance = "highly_restricted" if is_owner else "restricted"

    return Principal(
        tenant=settings.tenant,
        user=asker.user,
        roles=OWNER.roles if is_owner else frozenset(asker.roles),
        projects=frozenset(asker.projects),
        session=asker.session,
        clearance=default_clearance if asker.clearance is None else asker.clearance,  # type: ignore[arg-type]  # a principal parses it
        authority_level=ceiling,  # type: ignore[arg-type]
        source_kinds=OWNER.source_kinds if is_owner else frozenset(),
    )


def require_store(url: str, tenant: str, *, create: bool = False) -> None:
    """Refuse an embedded store, or a tenant of a folder, that is not there, unless `create`.

    Raises:
        NotFound: `unknown_store`, `unknown_tenant`.
        InvalidInput: `bad_settings`, for the address of a tenure server, or none.
    """
    if url.startswith(("http://", "https://")):
        raise InvalidInput(
            f"{url} is a server of tenure, and commands open a store themselves; name the store "
            "that it serves, or ask it over its pages, /v1 or tenure.connect(url, token=…)",
            code="bad_settings",
        )
    # Whether a server is there is known by asking it, which opening does.
    if "://" in url or url == ":memory:":
        return
    if not url.strip():
        raise InvalidInput(
            "the store has no name; name a file or a folder, the current one as . (a dot)",
            code="bad_settings",
        )
    path = Path(url).expanduser()
    if create and not path.is_file():
        return
    if not path.exists():
        raise NotFound(
            f"there is no store {url}; name one with --store or TENURE_STORE, or write to it "
            "first (write, observe, ingest, import and serve --new make it)",
            code="unknown_store",
        )

    if path.is_dir():
        from ...store.sqlite.store import SqliteStore

        if not SqliteStore(url).path_of(tenant).is_file():
            raise NotFound(
                f"{url} holds no tenant {tenant!r}; name one with --tenant or TENURE_TENANT, or "
                "write to it first",
                code="unknown_tenant",
            )
        return

    _require_tenant(path, tenant)


def _require_tenant(path: Path, tenant: str) -> None:
    """Refuse the file of another tenant in words that help on a command line.

    Raises:
        NotFound: `unknown_tenant`.
    """
    from ...store.sqlite.backup import tenant_file

    try:
        holder = tenant_file(path).tenant
    except InvalidInput:  # opening it tells what is wrong with the file
        return
    if holder != tenant:
        raise NotFound(
            f"{path} is the store of tenant {holder!r}, not of {tenant!r}; name it with --tenant, "
            "or name a folder as the store, which has a file for each tenant",
            code="unknown_tenant",
        )


def fail(error: TenureError, frame: Frame) -> int:
    """Tell an error on standard error, and say which exit code it has."""
    if frame.as_json:
        # What an error carries may be anything; what is no JSON is told as text.
        details = {name: _scalar(value) for name, value in sorted(error.data.items())}
        note_as_json(error.code, type(error).__name__, str(error), details)
    else:
        # The code stands behind the first line: further ones are a list, such as of refusals.
        first, line_break, further = str(error).partition("\n")
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


def note_command(command: str) -> None:
    """Tell a command on standard error, in one line however long: it is there to be copied."""
    print(f"  {visible(command)}", file=sys.stderr)


def examples(*lines: str) -> str:
    r"""The closing part of a help text; the mark keeps its lines apart.

    >>> examples("tenure doctor")
    '\x08\nExamples:\n  tenure doctor'
    """
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
