"""The frame of a command: the flags before it, the store it opens, and how it fails.

Nothing is read or opened before a command needs it, so that `--help` costs nothing. Results
go to standard output, everything else to standard error. A store that is not there is made
by commands that write and refused by those that read, because an empty answer from a
misspelt path would be believed.
Exit codes: 0 done, 1 refused or invalid, 2 wrong usage, 3 unavailable, 4 `doctor` found
something. Sources: API "Command line"; ecosystem 7.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from ...schema.errors import InvalidInput, NotFound, TenureError, Unavailable

if TYPE_CHECKING:
    from ...schema.principal import Principal
    from ..client.connect import Place
    from ..client.memory import Memory
    from ..settings import Auth, Loaded, Settings

REFUSED: Final = 1
USAGE: Final = 2
UNAVAILABLE: Final = 3
FINDINGS: Final = 4

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
    config: Path | None = None

    def loaded(self) -> Loaded:
        """Return the settings in force."""
        from ..settings import load

        return load(self.flags, path=self.config)


def frame_of(context: typer.Context) -> Frame:
    """Return the frame that the flags before the command made."""
    held: Any = context.find_root().obj
    return held if isinstance(held, Frame) else Frame()


@contextmanager
def opened(context: typer.Context, *, create: bool = False) -> Generator[Memory]:
    """Open the store that the settings name, and close it after the command.

    Raises:
        NotFound: `unknown_store` for an embedded store that is not there, unless `create`.
        Unavailable: when it cannot be opened.
    """
    settings = frame_of(context).loaded().settings
    if not create:
        require_store(settings.store)
    memory = connected(settings)
    try:
        yield memory
    finally:
        memory.close()


def connected(settings: Settings) -> Memory:
    """Return the memory that the settings describe."""
    from ..client.connect import connect
    from ..logs import configure

    configure(level=settings.log.level, as_json=settings.log.format == "json")
    place = place_of(settings)
    return connect(
        **place._asdict(),
        principal=caller(settings),
        policy=settings.policy,
        encoder=settings.encoder,
        mentions=settings.mentions,
        artifacts=settings.artifacts.url,
        artifact_bytes=settings.artifacts.max_bytes,
    )


def place_of(settings: Settings) -> Place:
    """Return where the store is that the settings describe, and how to get in."""
    from ...store.port.targets import Cell, Target
    from ..client.connect import Place

    cells = tuple(
        Cell(
            target=Target(
                uri=cell.store,
                database=cell.database or settings.database,
                auth=_signed_in(cell.auth),
            ),
            tenants=frozenset(cell.tenants),
        )
        for _, cell in sorted(settings.cells.items())
    )
    return Place(
        settings.store, _signed_in(settings.auth), settings.database, cells, settings.vector_index
    )


def _signed_in(auth: Auth) -> tuple[str, str] | None:
    if auth.password is not None:
        return auth.user or "neo4j", auth.password.get_secret_value()
    return None if auth.file is None else _held_in(Path(auth.file))


def _held_in(path: Path) -> tuple[str, str]:
    """Return the user and the password of a secret's file, `user/password` in its first line."""
    try:
        line = path.read_text(encoding="utf-8").splitlines()[:1]
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(
            f"the file of the setting auth.file, {path}, cannot be read; check its path and rights",
            code="file_unreadable",
        ) from error
    user, slash, password = (line or [""])[0].partition("/")
    if not slash or not user:
        raise InvalidInput(
            f"{path}, the setting auth.file, must hold user/password in one line",
            code="bad_settings",
        )
    return user, password


def caller(settings: Settings) -> Principal:
    """Return who asks: the owner, or a caller with just the roles that were named."""
    from ...schema.principal import OWNER, Principal

    stated = settings.caller
    owner = not stated.roles
    ceiling = 0 if owner else 2
    return Principal(
        tenant=settings.tenant,
        user=stated.user,
        roles=OWNER.roles if owner else frozenset(stated.roles),
        projects=frozenset(stated.projects),
        session=stated.session,
        clearance=stated.clearance,  # type: ignore[arg-type]  # a principal parses it
        authority_level=ceiling if stated.authority_level is None else stated.authority_level,  # type: ignore[arg-type]
        source_kinds=OWNER.source_kinds if owner else frozenset(),
    )


def require_store(url: str) -> None:
    """Refuse an embedded store that is not there.

    Raises:
        NotFound: `unknown_store`.
    """
    if "://" in url or url == ":memory:" or Path(url).exists():
        return
    raise NotFound(
        f"there is no store {url}; name one with --store or TENURE_STORE, or write to it first "
        "(write, observe, ingest and import make it)",
        code="unknown_store",
    )


def fail(error: TenureError, frame: Frame) -> int:
    """Tell an error on standard error and return the exit code."""
    if frame.as_json:
        held = {
            "error": {
                "code": error.code,
                "class": type(error).__name__,
                "message": str(error),
                "data": {name: _plain(value) for name, value in sorted(error.data.items())},
            }
        }
        print(json.dumps(held, ensure_ascii=False), file=sys.stderr)
    else:
        print(f"tenure: {error} [{error.code}]", file=sys.stderr)
    return UNAVAILABLE if isinstance(error, Unavailable) else REFUSED


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def note(text: str) -> None:
    """Tell a message on standard error."""
    print(text, file=sys.stderr)


def examples(lines: Sequence[str]) -> str:
    r"""Return the closing part of a help text; the mark keeps its lines apart.

    >>> examples(["tenure doctor"])
    '\x08\nExamples:\n  tenure doctor'
    """
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)
