"""The guided tour: a small office's log, and what tenure makes of it.

The log (`demo_log.jsonl`) is a history in the import format, written for this tour: two people
of one name, a nickname, a move, a price that was entered late, a preference with its reason, a
planned change, a poisoned web page, a rumour, and two words of equal weight. Clock and key are
fixed, so everybody sees the same ids, the same bytes and the same digests. This module works
out the facts; `demo` prints them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.resources import files
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...schema.principal import OWNER, Principal
from ...schema.values import canonical_json
from ...schema.write import Receipt
from ...store.port.receipts import decode
from ..backend.backend import event_id
from ..backend.caller import backend_of
from ..client.connect import connect
from ..client.summaries import opening_words
from ..writing.event_lines import Event, Line, Reading, read

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

BUDGET_TOKENS: Final = 500
"""Less than all that would fit the question, so that something must stay out."""

_MINUTES: Final = """
Item 1: Orchid Foods asks whether the renewal can start before the autumn rush.
Item 2: their buyer compares our premium tier with two offers from elsewhere.
Item 3: the bakery needs delivery windows before six in the morning.
Item 4: nobody could say which day in the autumn the renewal is due.
Item 5: a new contact person will be named for the second bakery.
Item 6: the buyer repeats that a short renewal note is enough for now.
Item 7: packaging complaints from spring are settled and need no mention.
Item 8: the next call about the renewal takes place when the note is out.
"""

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
            "text": " ".join(_MINUTES.split()),
        },
    ),
    "budget_tokens": BUDGET_TOKENS,
}

_KEY: Final = bytes(range(32))


class TourEntry(NamedTuple):
    """A line of the log, and what became of it."""

    event: Event
    receipt: Receipt


@dataclass(frozen=True, slots=True)
class TourQuestion:
    """A question on two axes, in words, with its answer."""

    words: str
    valid: datetime
    tx: datetime
    answer: str


@dataclass(frozen=True, slots=True)
class TourOmission:
    """Something that is not in the envelope as truth."""

    text: str
    reason: str
    set_apart: bool
    """Quarantined rather than omitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tour:
    """Everything the tour shows."""

    entries: tuple[TourEntry, ...]
    nickname: str
    """Who Bill Nakamura is."""
    questions: tuple[TourQuestion, ...]
    reviews: tuple[Review, ...]
    titles: Mapping[str, str]
    """What is known of each candidate of a review, by entity id."""
    envelope: Envelope
    omissions: tuple[TourOmission, ...]
    after_correction: Envelope
    """The same request after a correction."""
    replay: Envelope
    """The first envelope again, after the correction."""


def log_lines() -> tuple[str, ...]:
    """The lines of the log, as they are shipped."""
    text = files("tenure.service.cli").joinpath("demo_log.jsonl").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def take_tour(store: str, *, tenant: str = OWNER.tenant) -> Tour:
    """Load the log into a new store at a path, and see what there is to see."""
    with connect(
        store,
        principal=replace(OWNER, tenant=tenant),
        clock=lambda: NOW,
        tenant_key=_KEY,
        ids=_steady_ids(),
    ) as memory:
        memory.replay_import([json.loads(line) for line in log_lines()])
        entries = _entries(memory)
        questions = _questions(memory)
        reviews = memory.reviews.list()

        # The correction comes between two compiles of one request, and the replay behind it.
        mira = memory.bind(replace(MIRA, tenant=tenant))
        envelope = mira.compile(**REQUEST)
        memory.write(
            subject="Orchid Foods",
            slot="pricing_tier",
            value="enterprise",
            op="correct",
            valid_from="2026-07-01T00:00:00Z",
            source_origin="record://billing/accounts",
        )

        view = memory.as_of()
        ids = [candidate.entity for review in reviews for candidate in review.candidates]
        return Tour(
            entries=entries,
            nickname=view.entity("Bill Nakamura").name,
            questions=questions,
            reviews=reviews,
            titles={i: str(view.value(i, "title", "nothing else is known")) for i in ids},
            envelope=envelope,
            omissions=_omissions(mira, envelope),
            after_correction=mira.compile(**REQUEST),
            replay=mira.replay(envelope.manifest),
        )


def _steady_ids() -> Callable[[], str]:
    """Object ids that are the same in every tour."""
    numbers = count(1)
    return lambda: event_id("demo", 0, next(numbers), "")


def _entries(memory: Memory) -> tuple[TourEntry, ...]:
    """The log with its receipts; a replay derives the ids from the events."""
    tenant = memory.principal.tenant
    group_sizes: dict[int, int] = {}
    events: dict[str, Event] = {}

    for number, text in enumerate(log_lines(), start=1):
        event = read(Line(number, text), Reading(replay=True))
        if not isinstance(event, Event) or event.recorded_us is None:
            continue

        # Events of one moment are told apart by their position in it.
        position = group_sizes.get(event.recorded_us, 0)
        group_sizes[event.recorded_us] = position + 1
        body = canonical_json(event.members)
        events[event_id(tenant, event.recorded_us, position, body)] = event

    with backend_of(memory).store.reading(tenant) as reader:
        receipts = {
            receipt.object_id: decode(receipt.body) for receipt in reader.receipts([*events])
        }
    return tuple(TourEntry(event, receipts[object_id]) for object_id, event in events.items())


def _questions(memory: Memory) -> tuple[TourQuestion, ...]:
    march = datetime(2026, 3, 1, tzinfo=UTC)
    next_year = datetime(2027, 2, 1, tzinfo=UTC)

    questions: list[TourQuestion] = []
    for words, valid, tx in (
        ("What is true today?", NOW, NOW),
        ("What did we believe on 1 March?", march, march),
        ("What was true on 1 March, as we know today?", march, NOW),
        ("What will be true in February 2027, as planned today?", next_year, NOW),
    ):
        answer = memory.as_of(valid, tx).value("Orchid Foods", "pricing_tier")
        questions.append(TourQuestion(words, valid, tx, answer))
    return tuple(questions)


def _omissions(memory: Memory, envelope: Envelope) -> tuple[TourOmission, ...]:
    words = opening_words(memory, envelope)
    omissions: list[TourOmission] = []

    for quarantine in envelope.trace.quarantined_objects:
        text = words[quarantine.object_id] or quarantine.object_id
        omissions.append(TourOmission(text, quarantine.reason, set_apart=True))
    for entry in envelope.trace.omitted_objects:
        text = words[entry.object_id] or entry.object_id
        omissions.append(TourOmission(text, entry.reason, set_apart=False))
    return tuple(omissions)
