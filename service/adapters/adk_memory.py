"""Google ADK: a memory as the `BaseMemoryService` of a runner.

    runner = Runner(..., memory_service=adk_memory_service(memory))

What was said in a session becomes passages of its user, with the claims that they make; an event
that was taken once is not taken again. The user is the one that the runner was called with, never
an argument of a model: a memory that is bound to a user serves that user alone, a memory that is
bound to none serves each as itself, without the roles of its owner.
google-adk 2.13.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from ...schema.answers import SearchHit
from ...schema.errors import Forbidden
from ...schema.principal import Principal
from .joining import joined_class
from .records import Records

if TYPE_CHECKING:
    from ..client.memory import Memory

_LIMIT: Final = 10
"""Memories of one search."""
_UNKNOWN_SESSION: Final = "-"


def adk_memory_service(memory: Memory) -> Any:
    """Return a memory service of ADK over a memory.

    Raises:
        ModuleNotFoundError: without the extra `[adk]`.
    """
    services: Any = import_module("google.adk.memory.base_memory_service")
    base: Any = services.BaseMemoryService
    return joined_class("TenureMemoryService", UserMemories, base)(memory)


class UserMemories:
    """What `BaseMemoryService` asks for."""

    def __init__(self, memory: Memory) -> None:
        """Take the memory of a user, or of the application."""
        self._memory = memory

    async def add_session_to_memory(self, session: Any) -> None:
        """Keep what was said in a session; what was kept before is left out."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep what some events of a session say."""
        memory = self._user_memory(user_id)
        address = (app_name, session_id or _UNKNOWN_SESSION)
        await asyncio.to_thread(_keep_events, memory, address, events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[Any],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep texts that the application states itself."""
        memory = self._user_memory(user_id)
        for entry in memories:
            text = _text(entry.content)
            if text:
                origin = _origin("agent", app_name, _UNKNOWN_SESSION)
                await asyncio.to_thread(
                    memory.observe, text, None, source_origin=origin, at=entry.timestamp
                )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> Any:
        """Return what the memory knows for a query: facts, and texts of the same application."""
        services: Any = import_module("google.adk.memory.base_memory_service")
        entries: Any = import_module("google.adk.memory.memory_entry")
        memory = self._user_memory(user_id)
        hits = await asyncio.to_thread(_hits, memory, app_name, query)
        memories = [entries.MemoryEntry.model_validate(_entry(hit)) for hit in hits]
        return services.SearchMemoryResponse(memories=memories)

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Retract a memory by the id that a search told; the history keeps it."""
        if memory_id is not None:
            memory = self._user_memory(user_id)
            await asyncio.to_thread(
                memory.write,
                op="retract",
                object_id=memory_id,
                source_origin=_origin("chat", app_name, _UNKNOWN_SESSION),
            )

    def _user_memory(self, user_id: str) -> Memory:
        """The memory as one user has it.

        Raises:
            Forbidden: `scope_not_yours`, where the memory is bound to another user.
        """
        principal = self._memory.principal
        if principal.user is None:
            return self._memory.bind(Principal(tenant=principal.tenant, user=user_id))
        if principal.user != user_id:
            raise Forbidden(
                f"this memory belongs to {principal.user!r}; hand the service one that is bound to "
                "no user, or to the user whose sessions it keeps",
                code="scope_not_yours",
            )
        return self._memory


def _keep_events(memory: Memory, address: tuple[str, str], events: Iterable[Any]) -> None:
    """Observe the events that were not observed before, in their order."""
    records = Records(memory, "adk")
    record = records.get(address)
    kept_ids: list[str] = [] if record is None else list(record.value)
    for event in events:
        text = _text(event.content)
        if not text or event.id in kept_ids:
            continue

        is_user = event.author == "user"
        origin = _origin("chat" if is_user else "agent", *address)
        message = {"role": "user" if is_user else "assistant", "content": text}
        if is_user:
            memory.observe([message], source_origin=origin, at=_time(event.timestamp))
        else:
            memory.observe(text, None, source_origin=origin, at=_time(event.timestamp))
        kept_ids.append(event.id)
        records.put({address: kept_ids})


def _hits(memory: Memory, app_name: str, query: str) -> list[SearchHit]:
    own_root = f"{quote(app_name, safe='')}/"
    hits: list[SearchHit] = []
    for hit in memory.as_of().search(query, 5 * _LIMIT).hits:
        root = hit.object.source_origin.partition("://")[2]
        if hit.object.slot == "record" or (
            hit.object.slot is None and not root.startswith(own_root)
        ):
            continue
        hits.append(hit)
    return hits[:_LIMIT]


def _entry(hit: SearchHit) -> dict[str, Any]:
    source = hit.object
    is_user = source.source_origin.startswith("chat://")
    since = source.valid_from or source.tx_start
    return {
        "id": source.object_id,
        "content": {
            "role": "user" if is_user else "model",
            "parts": [{"text": source.content}],
        },
        "author": "user" if is_user else source.source_origin.partition("://")[0],
        "timestamp": since.isoformat(),
        "custom_metadata": {
            "source": source.source_origin,
            "authority_level": int(source.authority_level),
        },
    }


def _origin(scheme: str, app_name: str, session_id: str) -> str:
    return f"{scheme}://{quote(app_name, safe='')}/{quote(session_id, safe='')}"


def _text(content: Any) -> str:
    parts = getattr(content, "parts", None) or ()
    texts: list[str] = []
    for part in parts:
        if part.text and not part.thought:
            texts.append(part.text)
    return "\n".join(texts)


def _time(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, UTC)
