"""Opening a store: a file, a folder, memory, or a Neo4j server.

Nothing heavy is imported before it is needed: the driver of a server only when a server is
named. Source: API "Opening"; DESIGN 6 and 9.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..resolution.bind import Scorer
from ..schema.artifact import MAX_BYTES
from ..schema.errors import Unavailable
from ..schema.policy import DEFAULT, Policy
from ..schema.principal import OWNER, Principal
from ..store.artifact_files import ArtifactFiles
from ..store.port import Store
from .backend import Backend
from .ids import Clock, Ids, uuid7, wall_clock
from .memory import Memory

if TYPE_CHECKING:
    from ..compiler.rerank import Reranker
    from ..resolution.mention import MentionExtractor
    from ..store.sqlite.store import SqliteStore
    from .encoders import Encoder
    from .extracting import Extractor

_SERVER = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")


def connect(
    url: str = "memory.db",
    *,
    principal: Principal = OWNER,
    policy: Policy = DEFAULT,
    auth: tuple[str, str] | None = None,
    database: str = "neo4j",
    encoder: Encoder | str | None = None,
    extractor: Extractor | None = None,
    mentions: MentionExtractor | str | None = None,
    reranker: Reranker | None = None,
    scorer: Scorer | None = None,
    clock: Clock = wall_clock,
    ids: Ids = uuid7,
    tenant_key: bytes | None = None,
    artifacts: ArtifactFiles | str | None = None,
    artifact_bytes: int = MAX_BYTES,
) -> Memory:
    """Open a store and return the memory of its owner, or of `principal`.

    `url` is a file (one tenant), a folder (a file a tenant), `:memory:`, or the address of a
    Neo4j server. `clock` and `ids` replace the machine's time and the random ids. `encoder` is
    "onnx", "sentence-transformers:/folder" or an object like `Encoder`; without one, search and
    compile are lexical. `extractor` finds the claims of an observed text, `mentions` names
    beyond the known ones and the rules: an object like `MentionExtractor`, or "spacy:MODEL".
    `reranker` scores the best candidates of a compile once more. `artifacts` is where originals
    are kept: a folder or a URL of fsspec, by default a folder beside an embedded store, and
    `artifact_bytes` the most that one may hold. A server keeps none unless it is told where.

    Raises:
        InvalidInput: `bad_encoder`, `bad_extractor`.
        Unavailable: when the store cannot be opened, with what to do.
    """
    chosen, finder = _encoder(encoder), _finder(mentions)
    store: Store
    if url.startswith(_SERVER):
        store, place = _server(url, auth, database), artifacts
    else:
        embedded = _embedded(url)
        store, place = embedded, artifacts or str(embedded.artifacts)
    backend = Backend(
        store=store,
        policy=policy,
        clock=clock,
        ids=ids,
        scorer=scorer or _names(),
        extractor=extractor,
        mentions=finder,
        encoder=chosen,
        reranker=reranker,
        tenant_key=tenant_key,
        artifacts=ArtifactFiles(place, max_bytes=artifact_bytes)
        if isinstance(place, str)
        else place,
    )
    backend.open(principal.tenant)
    return Memory(backend, principal)


def _names() -> Scorer:
    from ..resolution.scorer import NameScorer  # string distances load only where a store opens

    return NameScorer()


def _encoder(given: Encoder | str | None) -> Encoder | None:
    if given is None:
        return None
    from .encoder_choice import encoder_of

    return encoder_of(given)


def _finder(given: MentionExtractor | str | None) -> MentionExtractor | None:
    if not isinstance(given, str):
        return given
    from .spacy_mentions import mentions_of

    return mentions_of(given)


def _embedded(url: str) -> SqliteStore:
    from ..store.sqlite.store import SqliteStore

    return SqliteStore(url)


def _server(url: str, auth: tuple[str, str] | None, database: str) -> Store:
    try:
        module = import_module("tenure.store.neo4j.store")
    except ModuleNotFoundError as error:
        if error.name != "neo4j":
            raise
        raise Unavailable(
            "the driver for Neo4j is not installed; run: pip install 'tenure[neo4j]'",
            code="store_unreachable",
        ) from error
    store: Store = module.open_store(url, auth=auth, database=database)
    return store
