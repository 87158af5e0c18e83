"""`tenure demo`: the guided tour through a small office's log, for people new to tenure.

The log (`demo_log.jsonl`) is a history in the import format, written for this tour: two people of
one name, a nickname, a move, a price that was entered late, a preference with its reason, a planned
change, a poisoned web page, a rumour, and two words of equal weight. Clock and key are fixed, so
every run shows the same ids, bytes and digests.
"""

from __future__ import annotations

import json
import tempfile
import textwrap
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import typer

from ...schema.errors import Conflict
from ...schema.principal import OWNER, Principal
from ...schema.values import canonical_json
from ...schema.write import Receipt
from ...service.backend.backend import event_id
from ...service.backend.caller import backend_of
from ...service.client.answer import opening_words
from ...service.client.connect import connect
from ...service.compilation.shown import omissions, reason_words
from ...service.reading.actors import receipts_of
from ...service.visual.text import value_text, when_text
from ...service.writing.lines import Event, Line, Reading, read
from .commands import command
from .frame import Columns, Screen, answer, frame_of, note

if TYPE_CHECKING:
    from ...schema.entity import Review
    from ...service.client.memory import Memory
    from ...service.compilation.shown import Envelope, Omission

app = typer.Typer()

_BAR: Final = 40
"""Characters of a full budget."""

_PROSE_WIDTH: Final = 80

_SPEAKER_WIDTH: Final = 16
"""Characters of the longest name of a speaker in the log."""

_QUOTE: Final = "  │ "
"""Stands before each line of what a model reads."""


@command(app, "tenure demo", "tenure demo --keep demo.db")
def demo(context: typer.Context, *, keep: Path | None = None) -> None:
    """Take the guided tour of one office's log. Takes seconds.

    Options:
        keep (FILE): Keep the store under this name.
    """
    if keep is not None and keep.exists():
        raise Conflict(
            f"{keep} is there already; the tour needs a new store, so name another file",
            code="file_exists",
        )

    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tenure-demo-") as folder:
        store = str(keep or Path(folder) / "demo.db")
        tour = take_tour(store)
        quotes = read_handbook(store)
    seconds = time.perf_counter() - begin

    facts = {**_facts(tour), "handbook": quotes}

    def show(screen: Screen) -> None:
        _show(screen, tour)
        _show_handbook(screen, quotes)

    answer(context, facts, show)
    if not frame_of(context).as_json:
        note(f"\n{seconds:.1f} s. {_next_steps(keep)}")


def _next_steps(keep: Path | None) -> str:
    if keep is None:
        return (
            "The store was temporary. Next, try:\n"
            "  tenure demo --keep demo.db   the same store in a file\n"
            "  tenure serve --demo          the same store as web pages\n"
            "  (the pages need the extra: pip install 'tenure[server]')"
        )
    return (
        f"The store is {keep}. Next, try:\n"
        f"  tenure --store {keep} timeline 'Orchid Foods' pricing_tier\n"
        f"  tenure --store {keep} history 'Sam Rivera' office\n"
        f"  tenure --store {keep} document compare handbook/leave.md 2026-03-03 2026-06-03\n"
        f"  tenure --store {keep} actions list"
    )


def _facts(tour: Tour) -> dict[str, Any]:
    log: list[dict[str, Any]] = []
    for entry in tour.entries:
        log.append(
            {
                "recorded_at": entry.event.members["recorded_at"],
                "object_id": entry.receipt.object_id,
                "outcome": entry.receipt.outcome,
                "text": _sentence(entry),
                "because": _because(entry),
            }
        )
    return {
        "log": log,
        "questions": tour.questions,
        "reviews": tour.reviews,
        "envelope": {
            "digest": tour.envelope.digest,
            "tokens": tour.envelope.tokens,
            "text": tour.envelope.text,
            "left_out": tour.omissions,
        },
        "later_digest": tour.after_correction.digest,
        "replay_digest": tour.replay.digest,
    }


def _show(screen: Screen, tour: Tour) -> None:
    screen.line("tenure: a guided tour", style="bold")
    _prose(screen, "opening")

    _chapter(screen, "1  What came in, and what became of it")
    for entry in tour.entries:
        _show_entry(screen, entry)
    screen.line()
    _prose(screen, "names", nickname=tour.nickname)

    _chapter(screen, "2  One fact, two clocks")
    _prose(screen, "clocks")
    screen.line()
    screen.table(tour.questions, _QUESTIONS)

    _chapter(screen, "3  What the machine would not decide alone")
    for review in tour.reviews:
        _show_review(screen, review, tour)

    _chapter(screen, "4  What an agent is given to read")
    _show_envelope(screen, tour)

    _chapter(screen, "5  The same bytes again")
    _show_replay(screen, tour)


def _show_handbook(screen: Screen, quotes: tuple[HandbookQuote, ...]) -> None:
    _chapter(screen, "6  What the handbook said, and when")
    _prose(screen, "handbook", question=_story()["handbook_question"])

    for quote in quotes:
        screen.line()
        screen.line(f"  {quote.date}  {quote.text}")
        screen.line(f"{'':14}{quote.citation}", style="dim")


def _prose(screen: Screen, paragraph: str, **words: str) -> None:
    """Print a paragraph of the story in lines that are easy to read, however wide the terminal."""
    text = _story()["prose"][paragraph].format(**words)
    screen.line(textwrap.fill(text, min(screen.width, _PROSE_WIDTH)))


def _chapter(screen: Screen, title: str) -> None:
    screen.line()
    screen.line(title, style="bold cyan")
    screen.line()


def _sentence(entry: TourEntry) -> str:
    return entry.event.write.content or _fact(entry)


def _fact(entry: TourEntry) -> str:
    write = entry.event.write
    name = write.subject["name"] if isinstance(write.subject, dict) else write.subject
    if write.slot is None:
        return f"a text about {name}"
    return f"{name}, {write.slot.replace('_', ' ')} = {when_text(value_text(write.value))}"


def _because(entry: TourEntry) -> str:
    """Why a statement has its outcome; of a sentence also which fact was read in it."""
    receipt = entry.receipt
    words: Mapping[str, str] = _story()["because"]
    reason = receipt.resolution.reason if receipt.resolution else ""
    if receipt.relations:
        reason = receipt.relations[0].reason
    # A quarantine is no relation, and its reason is the same for each line of the log.
    reason = words.get(receipt.outcome.value) or words.get(reason, reason.replace("_", " "))
    return f"{_fact(entry)} ({reason})" if entry.event.write.content else reason


_OUTCOME_STYLES: Final[dict[str, str]] = {
    "accepted": "green",
    "disputed": "yellow",
    "overridden": "yellow",
    "pending review": "yellow",
    "quarantined": "red",
}


def _show_entry(screen: Screen, entry: TourEntry) -> None:
    """Print who said what and when, and below it what became of it and why.

    As a table of five columns it would break every reason into words.
    """
    head = f"{str(entry.event.members['recorded_at'])[:10]}  {_speaker(entry):<{_SPEAKER_WIDTH}}  "
    margin = " " * len(head)
    width = min(screen.width, _PROSE_WIDTH)

    screen.line(textwrap.fill(head + _sentence(entry), width, subsequent_indent=margin))
    outcome = entry.receipt.outcome.value.replace("_", " ")
    verdict = f"{margin}→ {outcome}: {_because(entry)}"
    lines = textwrap.fill(verdict, width, subsequent_indent=f"{margin}  ")
    screen.line(lines, style=_OUTCOME_STYLES.get(outcome))


def _speaker(entry: TourEntry) -> str:
    scheme, _, path = entry.event.write.source_origin.partition("://")
    host = path.partition("/")[0]
    if scheme == "record":
        return f"{host} system"
    return "a colleague" if scheme == "chat" else host


def _moment(moment: datetime) -> str:
    """A day in the tour's own words."""
    return "today" if moment == NOW else f"{moment:%Y-%m-%d}"


_QUESTIONS: Columns = {
    "question": "words",
    "true on": lambda question: _moment(question.valid),
    "known on": lambda question: _moment(question.tx),
    "pricing tier": "answer",
}


def _show_review(screen: Screen, review: Review, tour: Tour) -> None:
    _prose(screen, "namesakes", mention=review.mention)
    screen.line()
    columns: Columns = {
        "candidate": "name",
        "title": lambda candidate: tour.titles[candidate.entity],
        "score": lambda candidate: f"{candidate.score:.2f}",
        "evidence": lambda candidate: "; ".join(f.detail for f in candidate.features),
        "against": lambda candidate: ", ".join(candidate.vetoes).replace(
            "margin", "another fits as well"
        ),
    }
    screen.table(review.candidates, columns)
    screen.line()
    _prose(screen, "review", review_id=review.review_id[:8], state=review.state.value)


def _show_envelope(screen: Screen, tour: Tour) -> None:
    envelope = tour.envelope
    budget = envelope.trace.budget["budget_tokens"]
    screen.line(f"Mira's agent may spend {budget} tokens. It gets {envelope.tokens}:\n")
    _show_bars(screen, envelope, budget)

    screen.line("\nThe text itself:\n")
    room = min(screen.width, _PROSE_WIDTH) - len(_QUOTE)
    for line in envelope.text.rstrip("\n").splitlines():
        for part in textwrap.wrap(line, room) or [""]:
            screen.line(_QUOTE + part, style="dim")

    for head, is_apart in (
        ("No agent gets this as truth:", True),
        ("This was left out of the text:", False),
    ):
        screen.line(f"\n{head}\n")
        rows = [omission for omission in tour.omissions if omission.is_apart is is_apart]
        screen.table(rows, _OMISSIONS)


def _show_bars(screen: Screen, envelope: Envelope, budget: int) -> None:
    for section in envelope.sections:
        bar = "█" * max(1, round(section.tokens / budget * _BAR))
        name = section.name.replace("_", " ")
        screen.line(f"  {name:<16}{section.tokens:>5}  {bar}", style="green")

    length = min(_BAR, round(envelope.tokens / budget * _BAR))
    bar = "█" * length + "░" * (_BAR - length)
    screen.line(f"  {'total':<16}{envelope.tokens:>5}  {bar}", style="bold")


_OMISSIONS: Columns = {
    "what": "words",
    "why": lambda omission: reason_words(omission.reason),
}


def _show_replay(screen: Screen, tour: Tour) -> None:
    _prose(screen, "replay")
    screen.line()
    digest = tour.envelope.digest
    columns: Columns = {
        "": lambda row: row[0],
        "digest": lambda row: row[1][:16],
        "bytes": lambda row: "the same" if row[1] == digest else "different",
    }
    screen.table(
        (
            ("the text above", digest),
            ("compiled again", tour.after_correction.digest),
            ("replayed", tour.replay.digest),
        ),
        columns,
    )


NOW: Final = datetime(2026, 7, 15, 9, tzinfo=UTC)
"""The day on which the tour takes place."""

MIRA: Final = Principal(
    user="mira", roles=frozenset({"analyst"}), projects=frozenset({"atlas"}), session="s-42"
)
"""Whose agent compiles the envelope."""

_KEY: Final = bytes(range(32))


class HandbookQuote(NamedTuple):
    """What the handbook said on a date, and where."""

    date: str
    text: str
    citation: str


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
    omissions: tuple[Omission, ...]
    after_correction: Envelope
    """The same request after a correction."""
    replay: Envelope
    """The first envelope again, after the correction."""


@cache
def _story() -> Mapping[str, Any]:
    """The words of the tour."""
    text = files("tenure.faces.cli").joinpath("demo_story.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def log_lines() -> tuple[str, ...]:
    """The lines of the log, as they are shipped."""
    text = files("tenure.faces.cli").joinpath("demo_log.jsonl").read_text(encoding="utf-8")
    return tuple(text.splitlines())


def take_tour(store: str, *, tenant: str = OWNER.tenant) -> Tour:
    """Load the log into a new store at a path, and see what there is to see."""
    numbers = count(1)
    with connect(
        store,
        principal=replace(OWNER, tenant=tenant),
        clock=lambda: NOW,
        tenant_key=_KEY,
        # Object ids that are the same in every tour.
        ids=lambda: event_id("demo", 0, next(numbers), ""),
    ) as memory:
        memory.replay_import([json.loads(line) for line in log_lines()])
        entries = _entries(memory)
        questions = _questions(memory)
        reviews = memory.reviews.list()

        # The correction comes between two compiles of one request, and the replay behind it.
        mira = memory.bind(replace(MIRA, tenant=tenant))
        envelope = mira.compile(**_story()["request"])
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
            omissions=omissions(envelope, opening_words(mira, envelope)),
            after_correction=mira.compile(**_story()["request"]),
            replay=mira.replay(envelope.manifest),
        )


def read_handbook(store: str, *, tenant: str = OWNER.tenant) -> tuple[HandbookQuote, ...]:
    """Take in a handbook of three files in two versions, and ask it one question on two dates."""
    story = _story()
    quotes: list[HandbookQuote] = []
    principal = replace(OWNER, tenant=tenant)
    with connect(store, principal=principal, clock=lambda: NOW, tenant_key=_KEY) as memory:
        for words in story["handbook_versions"]:
            for name, text in story["handbook"].items():
                memory.documents.put(
                    text.format_map(words),
                    name=name,
                    source="handbook",
                    effective=words["effective"],
                )

        for date in ("2026-03-03", "2026-06-03"):
            envelope = memory.compile("assistant", story["handbook_question"], valid=date)
            for citation in envelope.citations.values():
                if citation.headings[-1:] == ("Parental leave",):
                    words_said = memory.rehydrate(citation.object_id).data.decode()
                    quotes.append(HandbookQuote(date, words_said, str(citation)))
    return tuple(quotes)


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
        receipts = receipts_of(reader, [*events])
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
