"""Opening a store: a file, a folder, memory, or Neo4j servers.

A server holds any number of tenants; `cells` sends tenants to servers of their own. Nothing
heavy is imported before it is needed: the driver of a server only when a server is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

from ...schema.artifact import MAX_BYTES
from ...schema.errors import InvalidInput, Unavailable
from ...schema.policy import DEFAULT, Policy
from ...schema.principal import OWNER, Principal, check_principal
from ...store.port.records import DATABASE, Cell, Resolve, Target, cell_map
from ...store.search.caches import DEFAULT_BOUNDS, CacheBounds
from ...store.search.caches import READERS as READERS
from ...store.transfer.artifact_files import ArtifactFiles
from ..backend.backend import Backend, Clock, Ids, uuid7, wall_clock
from ..backend.files import needs_extra
from ..backend.kept_answers import control_path
from .memory import Memory

if TYPE_CHECKING:
    from ...compiler.gathering.rerank import Reranker
    from ...resolution.bind import Scorer
    from ...resolution.extract import MentionExtractor
    from ...store.port.store import Store
    from ...store.sqlite.store import SqliteStore
    from ..encoders.encoder import Encoder
    from ..extraction.claims import Extractor

Durability = Literal["full", "normal"]
"""What a power failure may take from an embedded store: nothing, or the last moments."""

Cells = Sequence[Cell] | Resolve
"""Which tenants live on servers of their own: a list, or a function asked every time."""

_HTTP = ("https://", "http://")
_SERVER = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")


def connect(
    url: str | PathLike[str] = "memory.db",
    *,
    principal: Principal = OWNER,
    policy: Policy = DEFAULT,
    auth: tuple[str, str] | None = None,
    database: str = DATABASE,
    cells: Cells = (),
    vector_index: bool = False,
    durability: Durability = "full",
    caches: CacheBounds = DEFAULT_BOUNDS,
    encoder: Encoder | str | None = None,
    extractor: Extractor | str | None = None,
    answers: str | None = None,
    mentions: MentionExtractor | str | None = None,
    reranker: Reranker | None = None,
    scorer: Scorer | None = None,
    clock: Clock = wall_clock,
    ids: Ids = uuid7,
    tenant_key: bytes | None = None,
    artifacts: ArtifactFiles | str | None = None,
    artifact_bytes: int = MAX_BYTES,
    token: str | None = None,
) -> Memory:
    """Open a store and return the memory of its owner, or of `principal`.

    `url` is the path of a file (one tenant) or folder (a file a tenant), `:memory:`, the address of
    a Neo4j server, or, with the `token` that says who asks, of `tenure serve`. `cells` are servers
    for some tenants, or a function of the tenant; with `vector_index` the server proposes what is
    near, and answers differ. `durability` "normal" is faster; a power failure may take the last
    moments; `caches` bounds what is kept in memory. `encoder` is "onnx",
    "sentence-transformers:/folder" or an `Encoder`, else search is lexical. `extractor` finds the
    claims of texts: "openai:MODEL", "anthropic:MODEL" ("@" and an address may follow) or an
    `Extractor`, else rules; `answers` is the file of its answers. `mentions` finds further names:
    "spacy:MODEL" or a `MentionExtractor`. `reranker` scores the best again. `artifacts`: a folder
    or fsspec URL of originals.

    Raises:
        InvalidInput: `bad_encoder`, `bad_extractor`; `bad_settings`: not an option of the store.
        Unavailable: when the store cannot be opened, with what to do.
    """
    if (address := _address(url)).startswith(_HTTP):
        face = import_module("tenure.faces.remote.memory")
        return cast("Memory", face.open_remote(address, token))
    _check_options(principal, caches, answers)
    place = Place(address, auth, database, cells, vector_index, durability, caches)
    backend = Backend(
        policy=policy,
        clock=clock,
        ids=ids,
        scorer=scorer or cast("Scorer", NamesOnDemand()),
        extractor=_extractor(extractor),
        mentions=_finder(mentions),
        encoder=_encoder(encoder),
        caches=caches,
        reranker=reranker,
        tenant_key=tenant_key,
        control_path=None if address == ":memory:" else control_path(address),
        **_with_files(place, artifacts, artifact_bytes, answers),
    )
    backend.open(principal.tenant)
    return Memory(backend, principal)


def _address(url: object) -> str:
    kind = type(url).__name__
    address = fspath(cast("PathLike[str]", url)) if isinstance(url, PathLike) else url
    if not isinstance(address, str):
        raise InvalidInput(f"a store is named by a text or a path, not {kind}", code="bad_settings")
    # Either would make a store where the program happens to run, under a name nobody meant.
    if not address.strip() or address.startswith("file:"):
        raise InvalidInput(
            f"{address!r} names no store; give the path of a file or folder, such as memory.db, or "
            ":memory:",
            code="bad_settings",
        )
    return address


def _check_options(principal: object, caches: object, answers: object) -> None:
    """Refuse options of another type; `Place` and the makers of parts read the others."""
    check_principal(principal)
    if not isinstance(caches, CacheBounds):
        raise InvalidInput(
            f"caches are bounded by CacheBounds, not {type(caches).__name__}", code="bad_settings"
        )
    if not isinstance(answers, str | PathLike | None):
        raise InvalidInput(
            f"answers is the path of a file, not {type(answers).__name__}", code="bad_settings"
        )


def _with_files(
    place: Place, artifacts: ArtifactFiles | str | None, max_bytes: int, answers: str | None
) -> dict[str, Any]:
    """Open a store; where originals and answers are kept: next to an embedded one, unless told."""
    store: Store
    answers_path = None if answers is None else Path(answers).expanduser()
    if place.is_server:
        store = place.server()
    else:
        store = place.embedded_store()
        artifacts = artifacts or str(store.artifacts)
        answers_path = answers_path or store.answers

    if isinstance(artifacts, str):
        artifacts = ArtifactFiles(artifacts, max_bytes=max_bytes)
    return {"store": store, "artifacts": artifacts, "answers_path": answers_path}


class NamesOnDemand:
    """The scorer of names, loaded with the first name that must be scored.

    String distances and their tables take longer to load than most reads take in all, and a
    known name needs none of them.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(_name_scorer(), name)


@cache
def _name_scorer() -> Scorer:
    from ...resolution.scorer import NameScorer

    return NameScorer()


def _encoder(choice: Encoder | str | None) -> Encoder | None:
    if choice is None:
        return None
    from ..encoders.choice import encoder_of

    return encoder_of(choice)


def _extractor(choice: Extractor | str | None) -> Extractor | None:
    if not isinstance(choice, str):
        return choice
    from ..extraction.choice import extractor_of

    return extractor_of(choice)


def _finder(choice: MentionExtractor | str | None) -> MentionExtractor | None:
    if not isinstance(choice, str):
        return choice
    from ..extraction.spacy import mentions_of

    return mentions_of(choice)


class Place(NamedTuple):
    """Where a store is, and how to get in."""

    url: str
    auth: tuple[str, str] | None = None
    database: str = DATABASE
    cells: Cells = ()
    vector_index: bool = False
    durability: Durability = "full"
    caches: CacheBounds = DEFAULT_BOUNDS

    @property
    def is_server(self) -> bool:
        """Whether it is the address of a server."""
        return self.url.startswith(_SERVER)

    def open(self, *, prepare: bool = True) -> Store:
        """Open the store; without `prepare` its schema is left as it is found.

        Raises:
            InvalidInput: `bad_settings` for an option that an embedded store does not have.
            Unavailable: when it cannot be opened, with what to do.
        """
        return self.server(prepare=prepare) if self.is_server else self.embedded_store()

    def embedded_store(self) -> SqliteStore:
        """Open a file, a folder or memory.

        Raises:
            InvalidInput: `bad_settings`.
        """
        # A colon and two slashes make no file's name: it is the address of another database.
        scheme, colon, _ = self.url.partition("://")
        if colon:
            raise InvalidInput(
                f"{scheme}:// is no store of tenure: name a file, a folder or :memory:, or the "
                "address of a Neo4j server (neo4j://, bolt://) or of `tenure serve` (https://)",
                code="bad_settings",
            )

        # Refused, not ignored: who states a cell means that some tenants live elsewhere.
        for name in ("cells", "vector_index"):
            if getattr(self, name):
                raise InvalidInput(
                    f"{name} is an option of a Neo4j server, and {self.url!r} is embedded: leave"
                    " it out, or give the address of a server",
                    code="bad_settings",
                )
        if self.durability not in get_args(Durability):
            raise InvalidInput(
                f"durability is full or normal, not {self.durability!r}", code="bad_settings"
            )
        from ...store.sqlite.partition import Tuning
        from ...store.sqlite.store import SqliteStore

        try:
            return SqliteStore(self.url, Tuning(sync=self.durability, bounds=self.caches))
        except OSError as error:
            if isinstance(error, Unavailable):
                raise
            raise Unavailable(
                f"the store cannot be opened: {error.strerror or error}; check its path and rights",
                code="store_unreachable",
            ) from error

    def server(self, *, prepare: bool = True) -> Store:
        """Open the store on a server, or on the servers of a map.

        Raises:
            InvalidInput: `bad_settings` for a tenant in two cells, or a durability that only an
                embedded store has.
            Unavailable: when nothing answers, with what to do.
        """
        if self.durability != "full":
            raise InvalidInput(
                "durability is an option of an embedded store, and a server decides that itself: "
                "leave it out",
                code="bad_settings",
            )
        with needs_extra("neo4j", code="store_unreachable"):
            module = import_module("tenure.store.neo4j.store")
        default_target = Target(uri=self.url, database=self.database)
        cells = self.cells
        store: Store = module.open_store(
            self.url,
            auth=self.auth,
            database=self.database,
            resolve=cells
            if callable(cells)
            else cell_map(cells, default_target)
            if cells
            else None,
            limits=module.CallLimits(claims_kib=1_024 * self.caches.claims_mib),
            vector_index=self.vector_index,
            prepare=prepare,
        )
        return store
