"""graphiti on its embedded graph, with a judge in the place of the model that is always right.

A real model would cost seconds and money a write and be wrong at times; what is measured here is
what remains of a write beside the model.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import warnings
from collections.abc import Coroutine, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from peer import DIMENSIONS, Fact, Peer, hash_vector

os.environ.update(GRAPHITI_TELEMETRY_ENABLED="false", EMBEDDING_DIM=str(DIMENSIONS))
warnings.simplefilter("ignore")

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver.driver import GraphProvider
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.errors import GroupsEdgesNotFoundError
from graphiti_core.graph_queries import get_fulltext_indices
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.nodes import EntityNode

GROUP = "facts"
_LISTED_FACT = re.compile(r"'idx': (\d+), 'fact': '([^']*)'")
_NEW_FACT = re.compile(r"<NEW FACT>\s*(.*?)\s*</NEW FACT>", re.DOTALL)


class HashEmbedder(EmbedderClient):
    """The vectors that every peer gets which needs some."""

    async def create(self, input_data: Any) -> list[float]:
        return hash_vector(input_data if isinstance(input_data, str) else input_data[0])

    async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
        return [hash_vector(text) for text in input_data_list]


class InOrder(CrossEncoderClient):
    """Leaves the order of a search as it is."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        return [(passage, 1.0) for passage in passages]


class PerfectJudge(LLMClient):
    """Says of two facts that they contradict when they fill one slot with two values."""

    def __init__(self) -> None:
        super().__init__(None)

    async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
        raise NotImplementedError("only the judged answers are given")

    async def generate_response(
        self, messages: list[Any], response_model: Any = None, *_: Any, **__: Any
    ) -> dict[str, Any]:
        kind = getattr(response_model, "__name__", "")
        if kind == "EdgeDuplicate":
            return judged(messages[-1].content)
        if kind == "NodeResolutions":
            return {"entity_resolutions": []}
        return {}


def judged(prompt: str) -> dict[str, list[int]]:
    """Which of the listed facts repeat the new one, and which it contradicts."""
    new = _NEW_FACT.search(prompt)
    subject, slot, value = new.group(1).split(" | ") if new else ("", "", "")
    same: list[int] = []
    against: list[int] = []
    for number, text in _LISTED_FACT.findall(prompt):
        other_subject, other_slot, other_value = text.split(" | ")
        if (other_subject, other_slot) == (subject, slot):
            (same if other_value == value else against).append(int(number))
    return {"duplicate_facts": same, "contradicted_facts": against}


class GraphitiPeer(Peer):
    """A fact is an edge from its subject to its value; `add_triplet` resolves and judges it."""

    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        self._loop = asyncio.new_event_loop()
        driver = KuzuDriver(str(folder / "graph.kuzu"))
        driver._database = GROUP
        self._graph = Graphiti(
            graph_driver=driver,
            llm_client=PerfectJudge(),
            embedder=HashEmbedder(),
            cross_encoder=InOrder(),
        )
        # `build_indices_and_constraints` makes none for this graph.
        for statement in ("INSTALL fts;", "LOAD fts;", *get_fulltext_indices(GraphProvider.KUZU)):
            with contextlib.suppress(RuntimeError):
                self._run(driver.execute_query(statement))

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)

    async def _add(self, fact: Fact) -> None:
        now = datetime.now(UTC)
        subject = EntityNode(name=fact.subject, group_id=GROUP, labels=["Entity"], created_at=now)
        value = EntityNode(name=fact.value, group_id=GROUP, labels=["Entity"], created_at=now)
        edge = EntityEdge(
            group_id=GROUP,
            source_node_uuid=subject.uuid,
            target_node_uuid=value.uuid,
            created_at=now,
            name=fact.slot.upper(),
            fact=f"{fact.subject} | {fact.slot} | {fact.value}",
            valid_at=fact.start,
            invalid_at=fact.end,
        )
        await self._graph.add_triplet(subject, edge, value)

    def write(self, fact: Fact) -> None:
        self._run(self._add(fact))

    def write_together(self, shares: Sequence[Sequence[Fact]]) -> int:
        """Write each share as a task of the event loop: it is an asynchronous library."""

        async def work(facts: Iterable[Fact]) -> int:
            refused = 0
            for fact in facts:
                try:
                    await self._add(fact)
                except Exception:  # noqa: BLE001 - whatever it raises is a refusal, and counted
                    refused += 1
            return refused

        async def together() -> int:
            return sum(await asyncio.gather(*(work(facts) for facts in shares)))

        return int(self._run(together()))

    def search(self, question: str, limit: int) -> list[str]:
        edges = self._run(self._graph.search(question, group_ids=[GROUP], num_results=limit))
        return [edge.fact for edge in edges]

    def values_at(self, subject: str, slot: str, valid: datetime, known: datetime) -> list[str]:
        """It has no such reading; this filters its edges by the times that it keeps."""
        try:
            edges = self._run(EntityEdge.get_by_group_ids(self._graph.driver, [GROUP]))
        except GroupsEdgesNotFoundError:
            return []

        prefix = f"{subject} | {slot} | "
        values = []
        for edge in edges:
            started = edge.valid_at is None or _utc(edge.valid_at) <= valid
            # An end that an invalidation set is not yet believed before that was made.
            closed = edge.expired_at is None or _utc(edge.expired_at) <= known
            ended = closed and edge.invalid_at is not None and _utc(edge.invalid_at) <= valid
            believed = _utc(edge.created_at) <= known
            if edge.fact.startswith(prefix) and started and not ended and believed:
                values.append(edge.fact.removeprefix(prefix))
        return values

    def entities(self) -> int:
        rows = self._run(
            self._graph.driver.execute_query(
                "MATCH (n:Entity)-[:RELATES_TO]->(:RelatesToNode_)"
                " RETURN count(DISTINCT n.uuid) AS subjects"
            )
        )
        return int(rows[0][0]["subjects"])

    def close(self) -> None:
        self._run(self._graph.close())
        self._loop.close()


def _utc(moment: datetime) -> datetime:
    """The graph returns times without a zone; they are UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


PEER = GraphitiPeer
