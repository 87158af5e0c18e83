"""What is asked: the items of a set in a temporary store, or a store of the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import quote

from tenure.schema.errors import TenureError
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import OPERATE
from tenure.schema.values import moment
from tenure.service.backend.backend import wall_clock
from tenure.service.backend.caller import backend_of
from tenure.service.client.memory import Memory
from tenure.service.encoders.models import claims_of
from tenure.service.writing.observe import Observation, Observer
from tenure.store.port.vectors import to16

from .baselines import Unit, units
from .question_sets import Document, Fact, QuestionSet, in_order


class Refusal(NamedTuple):
    """An item that the store did not take."""

    line: int
    id: str
    code: str
    reason: str


@dataclass(slots=True)
class SetClock:
    """The time of a temporary store: that of the item that is loaded."""

    time_us: int = field(default_factory=wall_clock)

    def __call__(self) -> int:
        """The time, microseconds UTC."""
        return self.time_us


@dataclass(slots=True)
class Corpus:
    """What a question is asked of."""

    memory: Memory
    units: list[Unit]
    objects: dict[str, tuple[str, ...]]
    """The objects of each item, the whole one first."""
    items: dict[str, str]
    """The item of each object."""

    @classmethod
    def of_store(cls, memory: Memory, model: str) -> Corpus:
        """The claims of a store, each an item of its own; privileged."""
        memory.principal.require(OPERATE)
        tenant = memory.principal.tenant
        backend_of(memory).open(tenant)

        rows: list[tuple[str, str, int | None]] = []
        objects: dict[str, tuple[str, ...]] = {}
        items: dict[str, str] = {}
        with backend_of(memory).store.reading(tenant) as reader:
            for record in claims_of(reader):
                text = record.content.normalized_claim or record.content.text
                object_id = record.claim.object_id
                rows.append((object_id, text, record.claim.tx))
                objects[object_id] = (object_id,)
                items[object_id] = object_id
        return cls(memory, units(rows, model), objects, items)

    def cosines(self, vector: Sequence[float], item_ids: Iterable[str]) -> dict[str, int]:
        """How near items are to the vector of a question; none without an encoder."""
        backend, tenant = backend_of(self.memory), self.memory.principal.tenant
        if backend.embedding is None:
            return {}

        item_of = {self.objects[item][0]: item for item in item_ids if item in self.objects}
        with backend.store.reading(tenant) as reader:
            matrix = backend.embedding.matrix(tenant, reader)
        return {
            item_of[row.object_id]: row.content for row in matrix.scores(to16(vector), [*item_of])
        }


@dataclass(slots=True)
class Loader:
    """Loads a set into its temporary store."""

    memory: Memory
    clock: SetClock
    model: str
    refusals: list[Refusal]

    def load(self, question_set: QuestionSet) -> Corpus:
        """Write the items in the order of their times, and wait until all can be found."""
        tenant = self.memory.principal.tenant
        for definition in question_set.definitions:
            backend_of(self.memory).define(tenant, dict(definition))

        timeline = in_order(question_set.items)
        objects: dict[str, tuple[str, ...]] = {}
        for at_us, group in _batches(timeline):
            if at_us is not None:
                self.clock.time_us = at_us
            for item_id, ids in self._write(group, question_set):
                objects[item_id] = ids
        self.memory.flush()

        items: dict[str, str] = {}
        for item_id, ids in objects.items():
            items.update(dict.fromkeys(ids, item_id))
        rows = [(item.id, item.line_text, at_us) for at_us, item in timeline]
        return Corpus(self.memory, units(rows, self.model), objects, items)

    def _write(
        self, group: Sequence[Document | Fact], question_set: QuestionSet
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each item that was taken, with its objects."""
        leader = group[0]
        try:
            if isinstance(leader, Document):
                yield leader.id, self._observe(leader)
                return

            facts = [item for item in group if isinstance(item, Fact)]
            receipts = self.memory.write_many([fact.write for fact in facts])
            for fact, receipt in zip(facts, receipts, strict=True):
                yield fact.id, (receipt.object_id,)
        except TenureError as error:
            # One that was refused took the others of its group along: each is tried alone.
            if len(group) > 1:
                for item in group:
                    yield from self._write([item], question_set)
                return
            line = question_set.lines[leader.id]
            self.refusals.append(Refusal(line, leader.id, error.code, str(error)))

    def _observe(self, document: Document) -> tuple[str, ...]:
        observation = Observation(
            text=document.text,
            speaker=document.speaker,
            source_origin=f"chat://{quote(document.session or 'evaluation', safe='')}",
            at=moment(self.clock.time_us),
            why_it_matters=None,
            applicable_task_types=(),
        )
        receipts = Observer(backend_of(self.memory), self.memory.principal).observe(observation)
        return tuple(receipt.object_id for receipt in receipts)


def _batches(
    timeline: Sequence[tuple[int | None, Document | Fact]],
) -> Iterator[tuple[int | None, list[Document | Fact]]]:
    """Yield a document by itself, and neighbouring facts of one time together: one write."""
    batch: list[Document | Fact] = []
    batch_us: int | None = None

    for at_us, item in timeline:
        is_like = isinstance(item, Fact) and bool(batch) and isinstance(batch[-1], Fact)
        is_full = len(batch) == DEFAULT.write.max_batch
        if batch and (not is_like or is_full or at_us != batch_us):
            yield batch_us, batch
            batch = []
        batch.append(item)
        batch_us = at_us

    if batch:
        yield batch_us, batch
