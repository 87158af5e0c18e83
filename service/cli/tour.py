"""The guided tour: a small office's log, and what tenure makes of it.

The log (`demo_log.jsonl`) is a history in the import format, written for this tour: two people
of one name, a nickname, a move, a price that was entered late, a preference with its reason, a
planned change, a poisoned web page, a rumour, and two words of equal weight. Clock and key are
fixed, so everybody sees the same ids, the same bytes and the same digests. This module works
out the facts; `cli_demo` prints them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from ...schema.principal import Principal
from ...schema.values import canonical_json
from ...schema.write import Receipt
from ...store.port.receipts import decode
from ..backend.ids import replayed
from ..client.connect import connect
from ..writing.event_lines import Event, Line, Reading, read
from .summaries import said

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...schema.entity import Review
    from ..client.memory import Memory

NOW: Final = datetime(2026, 7, 15, 9, tzinfo=UTC)
"""The day on which the tour takes place."""

MIRA: Final = Principal(
    user="mira", roles=frozenset({"analyst"}), projects=frozenset({"atlas"}), session="s-42"
)
"""Whose agent compiles the envelope."""

BUDGET_TOKENS: Final = 710
"""Less than all that would fit the question, so that something must stay out."""

REQUEST: Final[Mapping[str, Any]] = {
    "task": "analytical_reporting",
    "query": "Orchid Foods renewal: pricing tier, deadline, and Sam Rivera's office",
    "user_request": "Draft the renewal note for Orchid Foods, and say how the signed contract "
    "reaches Sam Rivera.",
    "goal": "a renewal note that Mira can send today",
    "entities": ("Orchid Foods", "Sam Rivera", "Atlas"),
    "evidence": (
        {
            "title": "minutes of the renewal call",
            "origin": "doc://minutes/2026-07-14",
            "text": " ".join(
                f"Item {number}: {what}."
                for number, what in enumerate(
                    (
                        "Orchid Foods asks whether the renewal can start before the autumn rush",
                        "their buyer compares our premium tier with two offers from elsewhere",
                        "the bakery needs delivery windows before six in the morning",
                        "nobody could say which day in the autumn the renewal is due",
                        "a new contact person will be named for the second bakery",
                        "the buyer repeats that a short renewal note is enough for now",
                        "packaging complaints from spring are settled and need no mention",
                        "the next call about the renewal takes place when the note is out",
                    ),
                    start=1,
                )
            ),
        },
    ),
    "budget_tokens": BUDGET_TOKENS,
}

_KEY: Final = bytes(range(32))


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the log, and what became of it."""

    event: Event
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class Question:
    """A question on two axes, in words, with its answer."""

    words: str
    valid: datetime
    tx: datetime
    answer: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in the envelope as truth."""

    what: str
    reason: str
    set_apart: bool
    """Quarantined rather than omitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tour:
    """Everything the tour shows."""

    entries: tuple[Entry, ...]
    nickname: str
    """Who Bill Nakamura is."""
    questions: tuple[Question, ...]
    reviews: tuple[Review, ...]
    titles: Mapping[str, str]
    """What is known of each candidate of a review, by entity id."""
    envelope: Envelope
    left_out: tuple[LeftOut, ...]
    later: Envelope
    """The same request after a correction."""
    again: Envelope
    """The replay of the first envelope, after the correction."""


def log_lines() -> tuple[str, ...]:
    """Return the lines of the log, as they are shipped."""
    text = files("tenure.service.cli").joinpath("demo_log.jsonl").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def take_tour(store: str) -> Tour:
    """Load the log into a new store at a path and return what there is to see."""
    with connect(store, clock=lambda: NOW, tenant_key=_KEY, ids=_Ids()) as memory:
        memory.replay_import([json.loads(line) for line in log_lines()])
        entries = _entries(memory)
        questions, reviews = _questions(memory), _reviews(memory)
        mira = memory.bind(MIRA)
        envelope = mira.compile(**REQUEST)
        memory.write(
            subject="Orchid Foods",
            slot="pricing_tier",
            value="enterprise",
            op="correct",
            valid_from="2026-07-01T00:00:00Z",
            source_origin="record://billing/accounts",
        )
        return Tour(
            entries=entries,
            nickname=memory.as_of().entity("Bill Nakamura").name,
            questions=questions,
            reviews=reviews,
            titles=_titles(memory, reviews),
            envelope=envelope,
            left_out=_left_out(mira, envelope),
            later=mira.compile(**REQUEST),
            again=mira.replay(envelope.manifest),
        )


class _Ids:
    """Object ids that are the same in every tour."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(self) -> str:
        self._count += 1
        return replayed("demo", 0, self._count, "")


def _entries(memory: Memory) -> tuple[Entry, ...]:
    """Return the log with its receipts; a replay derives the ids from the events."""
    tenant, places = memory.principal.tenant, dict[int, int]()
    events: list[tuple[str, Event]] = []
    for number, text in enumerate(log_lines(), start=1):
        event = read(Line(number, text), Reading(replay=True))
        if isinstance(event, Event) and event.recorded_us is not None:
            place = places.get(event.recorded_us, 0)
            places[event.recorded_us] = place + 1
            held = canonical_json(event.held)
            events.append((replayed(tenant, event.recorded_us, place, held), event))
    with memory.backend.store.reading(tenant) as reader:
        stored = {r.object_id: r for r in reader.receipts([i for i, _ in events])}
    return tuple(Entry(event, decode(stored[i].body)) for i, event in events)


def _questions(memory: Memory) -> tuple[Question, ...]:
    march = datetime(2026, 3, 1, tzinfo=UTC)
    asked = (
        ("What is true today?", NOW, NOW),
        ("What did we believe on 1 March?", march, march),
        ("What was true on 1 March, as we know today?", march, NOW),
        ("What will be true in February 2027, as planned today?", datetime(2027, 2, 1, tzinfo=UTC),
         NOW),
    )  # fmt: skip
    return tuple(
        Question(words, valid, tx, memory.as_of(valid, tx).value("Orchid Foods", "pricing_tier"))
        for words, valid, tx in asked
    )


def _reviews(memory: Memory) -> tuple[Review, ...]:
    return memory.reviews.list()


def _titles(memory: Memory, reviews: Sequence[Review]) -> dict[str, str]:
    view = memory.as_of()
    return {
        candidate.entity: str(view.value(candidate.entity, "title", "nothing else is known"))
        for review in reviews
        for candidate in review.candidates
    }


def _left_out(memory: Memory, envelope: Envelope) -> tuple[LeftOut, ...]:
    trace = envelope.trace
    found = [(o.object_id, o.reason, o.detail, True) for o in trace.quarantined_objects]
    found += [(o.object_id, o.reason, o.detail, False) for o in trace.omitted_objects]
    words = said(memory, envelope)
    return tuple(LeftOut(words[i] or i, reason, apart) for i, reason, _, apart in found)
