"""Open a store and bind its caller as the settings describe.

The command line and the HTTP server both begin here. Imports are local, because every command
reads the settings and few of them open a store.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...schema.errors import InvalidInput, NotFound, Unavailable

if TYPE_CHECKING:
    from ...schema.principal import Principal
    from ...store.sqlite.backup import TenantFile as TenantFile
    from ...store.sqlite.store import SqliteStore
    from ..settings import Auth, Settings
    from .connect import Place
    from .memory import Memory


def connect_by(settings: Settings) -> Memory:
    """Open the memory that the settings describe."""
    from ..logs import configure
    from .connect import connect

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
    from ..backend.files import needs_extra

    with needs_extra("otel"):
        from .telemetry import otlp_provider, trace_memory
    trace_memory(memory, otlp_provider(address), content=content)


def place_of(settings: Settings) -> Place:
    """Where the store is that the settings describe, and how to get in."""
    from ...store.port.records import Cell, Target
    from ...store.search.caches import CacheBounds
    from .connect import Place

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


def copy_out(settings: Settings, file: Path, *, replace: bool = False) -> TenantFile:
    """Copy an embedded store into a file, also while it is used.

    Raises:
        Conflict: `file_exists`, unless `replace`.
        InvalidInput: `bad_settings`, for a server.
        NotFound: `unknown_store`.
        Unavailable: `file_unwritable`, `store_corrupt`.
    """
    return _copy(_embedded_store(settings).path_of(settings.tenant), file, replace=replace)


def copy_in(settings: Settings, file: Path) -> TenantFile:
    """Put a copy where the store was; a store is never overwritten.

    Raises:
        Conflict: `file_exists`.
        InvalidInput: `bad_settings`, `not_a_store`, `tenant_mismatch`.
        NotFound: `unknown_file`.
    """
    from ...store.sqlite.backup import tenant_file
    from ...store.transfer.whole_file import private_folder

    store = _embedded_store(settings, create=True)
    # Before anything is made: under the name of another tenant the copy would not open.
    if file.is_file() and tenant_file(file).tenant != settings.tenant:
        raise InvalidInput(
            f"{file} holds tenant {tenant_file(file).tenant!r}; name it with --tenant",
            code="tenant_mismatch",
        )
    target = store.path_of(settings.tenant)
    private_folder(target.parent)
    return _copy(file, target)


def _copy(source: Path, target: Path, *, replace: bool = False) -> TenantFile:
    from ...store.sqlite.backup import copy_store, tenant_file
    from ..backend.files import new_file

    with new_file(target, replace=replace) as file:
        copy_store(source, file, target.parent)
    return tenant_file(target)


def tenants_of(settings: Settings) -> list[TenantFile]:
    """The tenants of an embedded store.

    Raises:
        InvalidInput: `bad_settings`, for a server.
        NotFound: `unknown_store`.
    """
    from ...store.sqlite.backup import tenant_files

    return list(tenant_files(Path(_embedded_store(settings).url).expanduser()))


def _embedded_store(settings: Settings, *, create: bool = False) -> SqliteStore:
    """The embedded store of the settings, closed; it need not be there to `create` it."""
    if "://" in settings.store or settings.store == ":memory:":
        raise InvalidInput(
            f"{settings.store} is no file; a server is copied by its own tools, and a tenant of it "
            "by tenure export",
            code="bad_settings",
        )
    if not create and not Path(settings.store).is_dir():
        require_store(settings.store, settings.tenant)

    from ...store.sqlite.store import SqliteStore

    return SqliteStore(settings.store)
