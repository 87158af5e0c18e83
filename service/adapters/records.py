"""Records under paths: what the stores of other frameworks keep, as facts with a history.

A record is a fact about a document that only its identifier binds, so that no two paths are ever
taken for one another. It belongs to the caller's own user, else to its session: the path of a
model or a program never leads out of that. A new value takes the place of the one before, a
deletion ends it, and `memory.as_of` still answers what stood at a path at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from ...schema.context_object import ContextObject
from ...schema.entity import MAX_NAME, EntityRef
from ...schema.errors import InvalidInput
from ...schema.principal import Principal, Scope
from ...schema.vocabulary import Outcome, StateLayer
from ...schema.write import Receipt, Write

if TYPE_CHECKING:
    from ..client.memory import Memory

RECORD_SLOT: Final = "record"
_SCHEME: Final = "record"
_PAGE: Final = 500
"""Documents of one page of the register."""
_LEAST_HITS: Final = 200
"""Hits that a search asks for at least: those of other shelves are left out afterwards."""

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What stands at a path."""

    path: Path
    value: Any
    """As it was put: anything that JSON can hold."""
    object_id: str
    created_at: datetime
    """When something was first put at the path, since the last deletion."""
    updated_at: datetime
    score: float | None = None
    """Of a search; larger is better."""


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one caller under one shelf, such as `langgraph`."""

    memory: Memory
    shelf: str

    def get(self, path: Path) -> Record | None:
        """Return what stands at a path now."""
        state = self.memory.as_of().slot(self._document(path), RECORD_SLOT)
        return None if state.object is None else self._record(state.object)

    def put(self, values: Mapping[Path, Any]) -> None:
        """Put values at paths, all in one transaction; None deletes what stands there.

        Raises:
            InvalidInput: `record_set_apart`, for values that read like an order to a model: they
                wait for a steward, and their paths hold what they held. `secret_in_content`,
                `too_large` and their like; nothing was written then.
        """
        writes: list[Write] = []
        for path, value in values.items():
            record = self.get(path)
            if value is not None:
                writes.append(self._write(path, "assert", self._body(value, record)))
            elif record is not None:
                writes.append(self._write(path, "delete", None))

        receipts = self.memory.write_many(writes)
        refused_names = quarantined_names(writes, receipts)
        if refused_names:
            raise InvalidInput(
                f"{', '.join(refused_names)}: reads like an order to a model and waits for a "
                "steward; state it as a fact, or have it accepted",
                code="record_set_apart",
            )

    def entries(self, prefix: Path = ()) -> Iterator[Record]:
        """Yield the records below a prefix, by path."""
        view = self.memory.as_of()
        for _, entity_id in sorted(self._documents(prefix)):
            state = view.slot(entity_id, RECORD_SLOT)
            if state.object is not None:
                yield self._record(state.object)

    def search(self, query: str, limit: int, prefix: Path = ()) -> tuple[Record, ...]:
        """Return the records below a prefix that match a query, best first."""
        hits = self.memory.as_of().search(query, max(_LEAST_HITS, 10 * limit)).hits
        records: list[Record] = []
        for hit in hits:
            path = self._path(hit.object.external_ids)
            if hit.object.slot == RECORD_SLOT and path is not None and begins(path, prefix):
                records.append(self._record(hit.object, hit.score))
        return tuple(records[:limit])

    # --- inside

    def _documents(self, prefix: Path) -> Iterator[tuple[Path, str]]:
        last = ""
        while True:
            page = self.memory.entities.list("document", after=last, limit=_PAGE)
            for entity in page:
                path = self._path(entity.external_ids)
                if path is not None and begins(path, prefix):
                    yield path, entity.entity_id
            if len(page) < _PAGE:
                return
            last = page[-1].entity_id

    def _document(self, path: Path) -> EntityRef:
        if not path or not all(path):
            raise InvalidInput(f"{path!r} is no path of a record", code="bad_request")
        address = "/".join(map(_label_text, path))
        return EntityRef(
            name=f"{self.shelf} {'/'.join(path)}"[:MAX_NAME],
            type="document",
            external_ids={_SCHEME: self._root + address},
        )

    def _path(self, external_ids: Mapping[str, str]) -> Path | None:
        identifier = external_ids.get(_SCHEME, "")
        if not identifier.startswith(self._root):
            return None
        return tuple(map(_label, identifier.removeprefix(self._root).split("/")))

    @property
    def _root(self) -> str:
        owner = own_scope(self.memory.principal).scope_id
        return f"{_label_text(owner)}/{_label_text(self.shelf)}/"

    def _body(self, value: Any, earlier: Record | None) -> Mapping[str, Any]:
        # When a path was first written is its own to tell: the history may hold an earlier life.
        return {
            "created": None if earlier is None else earlier.created_at.isoformat(),
            "value": value,
        }

    def _write(self, path: Path, op: str, value: Any) -> Write:
        return Write(
            subject=self._document(path),
            slot=RECORD_SLOT,
            value=value,
            op=op,
            layer=own_layer(self.memory.principal),
            source_origin=f"agent://{self.shelf}",
        )

    def _record(self, source: ContextObject, score: float | None = None) -> Record:
        path = self._path(source.external_ids)
        assert path is not None  # it was found by its identifier
        updated_at = source.tx_start
        first_time = source.value["created"]
        return Record(
            path=path,
            value=source.value["value"],
            object_id=source.object_id,
            created_at=datetime.fromisoformat(first_time) if first_time else updated_at,
            updated_at=updated_at,
            score=score,
        )


def own_scope(principal: Principal) -> Scope:
    """The scope in which a caller keeps what is its own; the whole tenant for a service."""
    if principal.user is not None:
        return Scope(user=principal.user)
    return Scope(session=principal.session)


def own_layer(principal: Principal) -> str | None:
    """The layer of what a caller keeps as its own; None is the slot's."""
    if principal.user is not None:
        return StateLayer.USER.value
    return None if principal.session is None else StateLayer.SESSION.value


def quarantined_names(writes: Iterable[Write], receipts: Iterable[Receipt]) -> list[str]:
    """The names of the documents of which a value was set apart."""
    names: list[str] = []
    for write, receipt in zip(writes, receipts, strict=True):
        if receipt.outcome is Outcome.QUARANTINED and isinstance(write.subject, EntityRef):
            names.append(write.subject.name)
    return names


def begins(path: Path, prefix: Path) -> bool:
    """Whether a path is a prefix, or lies below it."""
    return path[: len(prefix)] == prefix


def _label_text(label: str) -> str:
    return label.replace("%", "%25").replace("/", "%2F")


def _label(label: str) -> str:
    return label.replace("%2F", "/").replace("%25", "%")
