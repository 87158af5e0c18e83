"""LangGraph: a memory as the `BaseStore` of a graph.

    graph = builder.compile(store=langgraph_store(memory.bind(principal)))

Namespaces and keys are paths of the caller's own records: which user's they are is said by the
memory that is handed in, whatever namespace a model asks for. A put takes the place of what stood
there and a delete ends it; both stay in the history. Values do not expire by themselves.
langgraph 1.2; `BaseStore` of langgraph-checkpoint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import islice
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING, Any, Final

from ...schema.errors import InvalidInput
from ...schema.values import fields_of
from .joining import joined_class
from .records import Path, Record, Records

if TYPE_CHECKING:
    from ..client.memory import Memory

_MOST_FILTERED: Final = 1_000
"""Records that a search with a filter looks at."""
_ORDERS: Final = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


def langgraph_store(memory: Memory) -> Any:
    """Return a LangGraph `BaseStore` over the records of a memory's caller.

    Raises:
        ModuleNotFoundError: without the extra `[langgraph]`.
    """
    types: Any = import_module("langgraph.store.base")
    store_type = joined_class("TenureStore", RecordStore, types.BaseStore)
    return store_type(memory, types)


class RecordStore:
    """What `BaseStore` asks for; the framework's own class adds the calls by name."""

    supports_ttl = False
    ttl_config = None

    def __init__(self, memory: Memory, types: Any) -> None:
        """Take the memory, and LangGraph's module of operations and items."""
        self._records = Records(memory, "langgraph")
        self._types = types

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Answer operations in their order; reads come before the puts, which are one write.

        Raises:
            InvalidInput: `record_set_apart`, `secret_in_content`, and what else a write refuses.
        """
        types = self._types
        results: list[Any] = []
        values: dict[Path, Any] = {}
        for op in ops:
            answer: Any = None
            if isinstance(op, types.PutOp):
                values[(*op.namespace, op.key)] = op.value
            elif isinstance(op, types.GetOp):
                record = self._records.get((*op.namespace, op.key))
                answer = None if record is None else self._entry(record, types.Item)
            elif isinstance(op, types.SearchOp):
                answer = self._search(op)
            else:
                answer = self._namespaces(op)
            results.append(answer)

        self._records.put(values)
        return results

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Answer operations on a thread, as `batch` does."""
        return await asyncio.to_thread(self.batch, [*ops])

    # --- inside

    def _search(self, op: Any) -> list[Any]:
        records: Iterable[Record]
        if op.query:
            # A filter may leave out any number of the best, so that all are asked for.
            limit = _MOST_FILTERED if op.filter else op.offset + op.limit
            records = self._records.search(op.query, limit, op.namespace_prefix)
        else:
            records = self._records.entries(op.namespace_prefix)

        if op.filter:
            records = (record for record in records if _meets(record.value, op.filter))

        page: list[Any] = []
        for record in islice(records, op.offset, op.offset + op.limit):
            page.append(self._entry(record, self._types.SearchItem, score=record.score))
        return page

    def _namespaces(self, op: Any) -> list[Path]:
        namespaces: set[Path] = set()
        for record in self._records.entries():
            namespace = record.path[:-1]
            if all(_matches(namespace, condition) for condition in op.match_conditions or ()):
                namespaces.add(namespace[: op.max_depth])
        return sorted(namespaces)[op.offset : op.offset + op.limit]

    def _entry(self, record: Record, entry_type: Any, **score: Any) -> Any:
        return entry_type(
            namespace=record.path[:-1],
            key=record.path[-1],
            value=record.value,
            created_at=record.created_at,
            updated_at=record.updated_at,
            **score,
        )


def _matches(namespace: Path, condition: Any) -> bool:
    pattern: Sequence[str] = condition.path
    if len(namespace) < len(pattern):
        return False

    part = namespace[: len(pattern)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(pattern) :]
    return all(label in ("*", word) for label, word in zip(pattern, part, strict=True))


def _meets(value: Any, condition: Any) -> bool:
    """Whether a value meets a filter: equal throughout, or as its operators say."""
    parts = fields_of(condition)
    if not parts:
        return bool(value == condition)

    operators = [name for name in parts if name.startswith("$")]
    if operators:
        return all(_compares(value, name, parts[name]) for name in operators)
    members = fields_of(value)
    return all(_meets(members.get(name), part) for name, part in parts.items())


def _compares(value: Any, operator: str, bound: Any) -> bool:
    if operator == "$eq":
        return bool(value == bound)
    if operator == "$ne":
        return bool(value != bound)
    if operator not in _ORDERS:
        raise InvalidInput(f"no filter has the operator {operator!r}", code="bad_request")
    try:
        return bool(_ORDERS[operator](float(value), float(bound)))
    except (TypeError, ValueError):
        return False
