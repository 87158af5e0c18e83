"""tenure as a system of the Agent Memory Benchmark, scored by the benchmark's own runner.

The benchmark hands every system structured observations and the schema of its predicates, and asks
questions of which most name their slot. Those are answered by the timeline of the slot. The others
name nothing: `search` takes the first hit of a search for the slot, as the benchmark's adapter for
memvara does; `compile` also asks a compile which slots the question asks, and answers no other.

Its package is imported from the folder that `sources` unpacked; nothing of it is copied here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import tenure
from tenure import Memory
from tenure.resolution.keys import is_id
from tenure.schema.answers import HistoryRow, SlotState

BOOK: Final[Mapping[str, Mapping[str, Any]]] = {
    "lives_in": {"synonyms": ("live", "lives", "lived", "living", "city", "residence", "based")},
    "job_title": {"synonyms": ("title", "position", "role")},
    "works_at": {
        "value_type": "entity",
        "synonyms": ("employer", "employs", "employing", "employed", "company", "works for"),
    },
    "works_on": {"value_type": "entity", "synonyms": ("project", "assigned", "staffed")},
    "plan": {"synonyms": ("subscription", "tier")},
    "datastore": {"synonyms": ("database", "store", "storage")},
    "auth_strategy": {"synonyms": ("authentication", "authenticate")},
    "deploy_region": {"synonyms": ("region", "deployed", "runs in", "hosted")},
    "owned_by": {
        "value_type": "entity",
        "synonyms": ("owns", "owned", "owner", "owning", "responsible", "team"),
    },
    "team_lead": {
        "value_type": "entity",
        "synonyms": ("lead", "leads", "led", "leader", "leading", "head of", "heads"),
    },
    "hq_city": {"synonyms": ("headquartered", "headquarters", "head office", "main office")},
    "born_in": {"constant": True, "synonyms": ("born", "birthplace", "native")},
    "favourite_editor": {"synonyms": ("editor", "edits")},
    "status": {"synonyms": ("state", "health", "healthy")},
    "speaks": {"synonyms": ("language", "languages", "speak", "spoken")},
}
"""The slots as an application defines them: what is a relation, and the words that ask for it."""

_SEARCHED: Final = 10


class TenureMemory:
    """One store in memory, with the clock of the observations."""

    version = tenure.__version__

    def __init__(self, reads: str = "search", encoder: str | None = None) -> None:
        self.name = f"tenure {reads}" + (f" {encoder}" if encoder else "")
        self._reads, self._encoder = reads, encoder
        self._now_us = 0
        self._memory: Memory | None = None
        self._many: set[str] = set()
        self._names: dict[str, str] = {}

    @property
    def memory(self) -> Memory:
        """The open store."""
        assert self._memory is not None, "reset comes first"
        return self._memory

    def reset(self, predicates: Mapping[str, Any]) -> None:
        """Open an empty store and define the published predicates as slots."""
        self.close()
        self._memory = tenure.connect(":memory:", clock=lambda: self._now_us, encoder=self._encoder)
        for name, declared in predicates.items():
            fields = {"description": name.replace("_", " "), **BOOK.get(name, {})}
            self.memory.vocabulary.define_slot(name, cardinality=declared.cardinality, **fields)
            if not declared.single_valued:
                self._many.add(name)

    def remember(self, event: Any) -> None:
        """Write one observation at the moment at which it was recorded.

        A second value from the same instant is the benchmark's correction (its rule 2).
        """
        self._now_us = max(self._now_us + 1, _microseconds(event.recorded_at))
        slot, subject = event.predicate, event.subject
        state = self.memory.as_of(event.valid_from).slot(subject, slot)
        same_start = state.object is not None and state.valid_from == event.valid_from
        corrects = slot not in self._many and same_start and self._named(state) != {event.object}
        self.memory.write(
            subject,
            slot,
            event.object,
            op="correct" if corrects else "assert",
            valid_from=event.valid_from,
            content=event.text,
            source_origin=f"user://{event.source.replace(' ', '_')}",
            confidence=event.confidence,
        )

    def query(self, ask: Any) -> Any:
        """Answer one question with a value, a set, a date or nothing."""
        from benchmarks.agent_memory.adapters.base import MemoryAnswer, wants_a_date

        self._now_us = max(self._now_us, _microseconds(ask.evaluated_at))
        slot = ask.probe or self._slot_of(ask)
        if slot is None:
            return MemoryAnswer()
        if wants_a_date(ask) or ask.category == "provenance":
            return MemoryAnswer(value=self._first_report(slot, ask))
        if ask.category == "change_detection":
            values = self._values_of(slot)
        else:
            state = self.memory.as_of(ask.at, ask.known_at).slot(*slot)
            values = tuple(sorted(self._named(state)))
        return MemoryAnswer(values[0]) if len(values) == 1 else MemoryAnswer(values=values)

    def usage(self) -> Any:
        """What is counted: no model is called."""
        from benchmarks.agent_memory.adapters.base import Usage

        return Usage(llm_calls=0, tokens=0)

    def close(self) -> None:
        """Close the store."""
        if self._memory is not None:
            self._memory.close()
            self._memory = None

    def _slot_of(self, ask: Any) -> tuple[str, str] | None:
        hits = self.memory.as_of(ask.at, ask.known_at).search(ask.question, limit=_SEARCHED).hits
        best = hits[0].object if hits else None
        if best is None or not best.canonical_entity_ids or not best.slot:
            return None
        if self._reads == "compile":
            # What a compile says that the question asks: a fact of another slot is no answer.
            envelope = self.memory.compile("assistant", ask.question, valid=ask.at)
            if best.slot not in {record.slot for record in envelope.asked}:
                return None
        return best.canonical_entity_ids[0], best.slot

    def _named(self, state: SlotState) -> set[str]:
        return {self._word(value) for value in state.values}

    def _word(self, value: Any) -> str:
        """A value as it was written: an entity by its name."""
        text = str(value)
        if is_id(text) and text not in self._names:
            self._names[text] = self.memory.as_of().entity(text).name
        return self._names.get(text, text)

    def _values_of(self, slot: tuple[str, str]) -> tuple[str, ...]:
        """Every value that the slot ever had, as believed today."""
        values: dict[str, None] = {}
        for segment in self.memory.as_of().timeline(*slot):
            for value in segment.state.values:
                values[self._word(value)] = None
        return tuple(values)

    def _first_report(self, slot: tuple[str, str], ask: Any) -> str | None:
        """The source, the start or the day of record of the first report of a value."""
        rows = [row for row in self.memory.history(*slot) if self._word(row.value) == ask.about]
        rows.sort(key=_recorded)
        if not rows:
            return None
        if ask.category == "provenance":
            return rows[0].source_origin.partition("://")[2]
        day = rows[0].valid_from if ask.category == "change_time" else rows[0].tx_start
        return day.date().isoformat() if day else None


def _recorded(row: HistoryRow) -> datetime:
    return row.tx_start


def _microseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1_000_000)


def wrong_answers(result: Any) -> Sequence[tuple[str, str, str]]:
    """The id, the answer and the right answer of each lost question."""
    return [(j.question_id, j.given or "-", j.expected) for j in result.judgements if not j.correct]
