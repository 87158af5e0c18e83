"""`tenure demo`: the guided tour, printed for people who know nothing of tenure yet."""

from __future__ import annotations

import tempfile
import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...schema.errors import Conflict
from ..visual.text import value_text
from .frame import answer, examples, frame_of, note
from .show import Columns, Screen

if TYPE_CHECKING:
    from datetime import datetime

    from ...compiler.envelope.envelope import Envelope
    from ...schema.entity import EntityCandidate, Review
    from .tour import Tour, TourEntry

app = typer.Typer()

_BAR: Final = 40
"""Characters of a full budget."""

_PROSE_WIDTH: Final = 80

_SPEAKER_WIDTH: Final = 16
"""Characters of the longest name of a speaker in the log."""

_QUOTE: Final = "  │ "
"""Stands before each line of what a model reads."""


@app.command(epilog=examples("tenure demo", "tenure demo --keep demo.db"))
def demo(
    context: typer.Context,
    keep: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the store under this name.")
    ] = None,
) -> None:
    """Take the guided tour of one office's log. Takes seconds."""
    from .tour import take_tour

    if keep is not None and keep.exists():
        raise Conflict(
            f"{keep} is there already; the tour needs a new store, so name another file",
            code="file_exists",
        )

    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="tenure-demo-") as folder:
        tour = take_tour(str(keep or Path(folder) / "demo.db"))
    seconds = time.perf_counter() - begin

    answer(context, _facts(tour), lambda screen: _show(screen, tour))
    if not frame_of(context).as_json:
        note(f"\n{seconds:.1f} s. {_next_steps(keep)}")


def _next_steps(keep: Path | None) -> str:
    if keep is None:
        return "The store was temporary; keep it with: tenure demo --keep demo.db"
    return (
        f"The store is {keep}. Go on with:\n"
        f"  tenure --store {keep} timeline 'Orchid Foods' pricing_tier\n"
        f"  tenure --store {keep} history 'Sam Rivera' office\n"
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
    _prose(
        screen,
        "It is 15 July 2026 at a small supplier of flour. For half a year its agents, its "
        "systems and a few web pages have told tenure what they know. Mira must send a renewal "
        "note to a customer, Orchid Foods, and asks her agent to draft it.",
    )

    _chapter(screen, "1  What came in, and what became of it")
    for entry in tour.entries:
        _show_entry(screen, entry)
    screen.line()
    _prose(
        screen,
        f"Names are settled before anything is written: Sam Rivera is Samantha Rivera and Bill "
        f"Nakamura is {tour.nickname}, because the HR system says so; the two Daniel Okafors "
        "are two people, because their staff numbers differ.",
    )

    _chapter(screen, "2  One fact, two clocks")
    _prose(
        screen,
        "On 1 April the billing system recorded that Orchid Foods had been premium since "
        "15 February. Nothing was overwritten, so each of these has its own answer:",
    )
    screen.line()
    screen.table(tour.questions, _QUESTIONS)

    _chapter(screen, "3  What the machine would not decide alone")
    for review in tour.reviews:
        _show_review(screen, review, tour)

    _chapter(screen, "4  What an agent is given to read")
    _show_envelope(screen, tour)

    _chapter(screen, "5  The same bytes again")
    _show_replay(screen, tour)


def _prose(screen: Screen, text: str) -> None:
    """Print a paragraph in lines that are read with ease, however wide the terminal is."""
    screen.line(textwrap.fill(text, min(screen.width, _PROSE_WIDTH)))


def _chapter(screen: Screen, title: str) -> None:
    screen.line()
    screen.line(title, style="bold cyan")
    screen.line()


def _speaker(entry: TourEntry) -> str:
    scheme, _, path = entry.event.write.source_origin.partition("://")
    host = path.partition("/")[0]
    if scheme == "record":
        return f"{host} system"
    return "a colleague" if scheme == "chat" else host


def _sentence(entry: TourEntry) -> str:
    write = entry.event.write
    if write.content:
        return write.content
    name = write.subject["name"] if isinstance(write.subject, dict) else write.subject
    return f"{name}: {(write.slot or '').replace('_', ' ')} = {value_text(write.value)}"


_BECAUSE: Final[dict[str, str]] = {
    "newer_valid_from": "begins later than what was known, so it takes over from there",
    "unresolved_tie": "as strong as another word: neither is shown, a person is asked",
    "lower_authority": "a web page does not overrule the system of record",
    "lower_trust": "from a less trusted source than what is shown",
    "injection_suspected": "hides an instruction in a page: set apart, never shown as truth",
    "ambiguous": "two people have this name: a person is asked, see 3",
    "same_identifier": "known by the identifier of its system",
    "exact": "known by this name",
    "alias": "known by this name",
    "no_candidate": "a new name",
    "possible_same_as": "the name is taken by another staff number: a person of their own",
}


def _because(entry: TourEntry) -> str:
    receipt = entry.receipt
    if receipt.outcome.value == "quarantined":
        return _BECAUSE["injection_suspected"]
    if receipt.outcome.value == "pending_review":
        return _BECAUSE["ambiguous"]

    reason = receipt.resolution.reason if receipt.resolution else ""
    if receipt.relations:
        reason = receipt.relations[0].reason
    return _BECAUSE.get(reason, reason.replace("_", " "))


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
    verdict = textwrap.fill(
        f"{margin}→ {outcome}: {_because(entry)}", width, subsequent_indent=f"{margin}  "
    )
    screen.line(verdict, style=_OUTCOME_STYLES.get(outcome))


def _moment(moment: datetime) -> str:
    """A day in the tour's own words."""
    from .tour import NOW

    return "today" if moment == NOW else f"{moment:%Y-%m-%d}"


_QUESTIONS: Columns = {
    "question": "words",
    "true when": lambda question: _moment(question.valid),
    "as known": lambda question: _moment(question.tx),
    "pricing tier": "answer",
}


def _show_review(screen: Screen, review: Review, tour: Tour) -> None:
    _prose(
        screen,
        f"Somebody said a thing about {review.mention!r}. There are two of them, told apart by "
        "their staff numbers, and the text names none. Rather than guess, tenure keeps what was "
        "said with a third, pending person and opens a review:",
    )
    screen.line()
    columns: Columns = {
        "is it": "name",
        "who is": lambda candidate: tour.titles[candidate.entity],
        "score": lambda candidate: f"{candidate.score:.2f}",
        "evidence": _evidence,
        "but": _objection,
    }
    screen.table(review.candidates, columns)
    screen.line()
    _prose(
        screen,
        f"Review {review.review_id[:8]} is {review.state.value}: a steward accepts or rejects it, "
        "and may undo that at any time.",
    )


def _evidence(candidate: EntityCandidate) -> str:
    return "; ".join(feature.detail for feature in candidate.features) or "none"


def _objection(candidate: EntityCandidate) -> str:
    vetoes = ", ".join(candidate.vetoes)
    return vetoes.replace("margin", "another fits as well")


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
        ("set apart, and never shown as truth", True),
        ("left out", False),
    ):
        screen.line(f"\nWhat was {head}:\n")
        omissions = [item for item in tour.omissions if item.set_apart is is_apart]
        screen.table(omissions, _OMISSIONS)


def _show_bars(screen: Screen, envelope: Envelope, budget: int) -> None:
    for section in envelope.sections:
        bar = "█" * max(1, round(section.tokens / budget * _BAR))
        screen.line(f"  {section.name:<16}{section.tokens:>5}  {bar}", style="green")

    length = min(_BAR, round(envelope.tokens / budget * _BAR))
    bar = "█" * length + "░" * (_BAR - length)
    screen.line(f"  {'in all':<16}{envelope.tokens:>5}  {bar}", style="bold")


_REASONS: Final[dict[str, str]] = {
    "injection_suspected": "it looks like an injected instruction",
    "conflicting_claim_unresolved": "two words of equal weight; an action is open",
    "not_yet_valid": "planned: not true yet",
    "expired_valid_time": "true once, not any more",
    "over_budget": "worth less than what took its tokens",
    "below_floor": "not about the question",
}


_OMISSIONS: Columns = {
    "what": "text",
    "why": lambda item: _REASONS.get(item.reason, item.reason.replace("_", " ")),
}


def _show_replay(screen: Screen, tour: Tour) -> None:
    _prose(
        screen,
        "Then billing corrected Orchid Foods to enterprise, since 1 July already. A new compile "
        "knows it; a replay of the first envelope still gives the very bytes the agent read:",
    )
    screen.line()
    digest = tour.envelope.digest
    columns: Columns = {
        "": lambda row: row[0],
        "digest": lambda row: row[1][:16],
        "it is": lambda row: "the same" if row[1] == digest else "another",
    }
    screen.table(
        (
            ("the envelope above", digest),
            ("compiled anew", tour.after_correction.digest),
            ("replayed", tour.replay.digest),
        ),
        columns,
    )
