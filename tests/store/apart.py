"""A server store whose tenants nobody else has: for suites that name their tenants alike."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from tenure.store.neo4j.reader import Neo4jReader
from tenure.store.neo4j.store import Neo4jStore
from tenure.store.neo4j.writer import Neo4jWriteTx
from tenure.store.port.importing import ImportJournal, ImportStep
from tenure.store.port.store import Migration, Names, Result, VectorRow


class ApartStore:
    """A store that puts a random word before every tenant, and wipes what it used."""

    def __init__(self, store: Neo4jStore, wipe: Callable[[str], None]) -> None:
        self.store = store
        self._wipe = wipe
        self._word = secrets.token_hex(6)
        self._used: set[str] = set()

    def real(self, tenant: str) -> str:
        self._used.add(f"{self._word}-{tenant}")
        return f"{self._word}-{tenant}"

    @property
    def url(self) -> str:
        return self.store.url

    @property
    def used_bytes(self) -> Mapping[str, int]:
        return self.store.used_bytes

    def ensure(self, tenant: str, *, key: bytes | None = None, at_once: bool = True) -> None:
        self.store.ensure(self.real(tenant), key=key, at_once=at_once)

    def migrate(self, tenant: str, *, dry_run: bool = False) -> Migration:
        return self.store.migrate(self.real(tenant), dry_run=dry_run)

    def reading(
        self, tenant: str, names: Callable[[], Names] | None = None
    ) -> AbstractContextManager[Neo4jReader]:
        return self.store.reading(self.real(tenant), names)

    def writing(self, tenant: str) -> AbstractContextManager[Neo4jWriteTx]:
        return self.store.writing(self.real(tenant))

    def transact(self, tenant: str, work: Callable[[Neo4jWriteTx], Result]) -> Result:
        return self.store.transact(self.real(tenant), work)

    @property
    def writes_elsewhere(self) -> bool:
        return self.store.writes_elsewhere

    def expect_import(self, tenant: str) -> None:
        self.store.expect_import(self.real(tenant))

    def import_step(self, tenant: str, step: ImportStep) -> ImportJournal | None:
        return self.store.import_step(self.real(tenant), step)

    def abort_import(self, tenant: str) -> None:
        self.store.abort_import(self.real(tenant))

    def definitions(self, tenant: str, after: int = 0) -> tuple[tuple[int, str], ...]:
        return self.store.definitions(self.real(tenant), after)

    def newest(self, tenant: str, after: int) -> tuple[int, tuple[tuple[int, str], ...]]:
        return self.store.newest(self.real(tenant), after)

    def define(self, tenant: str, *, after: int, definition: str) -> bool:
        return self.store.define(self.real(tenant), after=after, definition=definition)

    def put_vectors(self, tenant: str, rows: Sequence[VectorRow]) -> None:
        self.store.put_vectors(self.real(tenant), rows)

    def put_manifest(
        self, tenant: str, *, envelope_id: str, manifest: str, objects: Sequence[str], pack: str
    ) -> None:
        self.store.put_manifest(
            self.real(tenant),
            envelope_id=envelope_id,
            manifest=manifest,
            objects=objects,
            pack=pack,
        )

    def log_usage(self, tenant: str, object_ids: Sequence[str], *, at_us: int) -> None:
        self.store.log_usage(self.real(tenant), object_ids, at_us=at_us)

    def check(self, tenant: str) -> tuple[str, ...]:
        return self.store.check(self.real(tenant))

    def close(self) -> None:
        self.store.close()

    def wipe(self) -> None:
        for tenant in sorted(self._used):
            self._wipe(tenant)
