"""`tenure demo`: the guided tour, printed for people who know nothing of tenure yet."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .frame import examples, frame_of, note
from .show import answer, plain, table, value_text, when

if TYPE_CHECKING:
    from rich.console import Console

    from ...compiler.envelope.envelope import Envelope
    from ...schema.entity import Review
    from .tour import Entry, LeftOut, Tour

app = typer.Typer()

_BAR = 40
"""Characters of a full budget."""


@app.command(epilog=examples(["tenure demo", "tenure demo --keep demo.db"]))
def demo(
    context: typer.Context,
    keep: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the store under this name.")
    ] = None,
) -> None:
    """Take the guided tour: one office's log, and what becomes of it. Takes seconds."""
    from .tour import take_tour

    if keep is not None:
        _require_free(keep)
    began = time.perf_counter()
    folder: Any = (
        tempfile.TemporaryDirectory(prefix="tenure-demo-") if keep is None else nullcontext()
    )
    with folder as made:
        tour = take_tour(str(keep or Path(made) / "demo.db"))
    answer(context, _facts(tour), lambda out: _show(out, tour))
    if frame_of(context).as_json:
        return
    note(f"\n{time.perf_counter() - began:.1f} s. " + _next(keep))


def _require_free(path: Path) -> None:
    from ...schema.errors import Conflict

    if path.exists():
        raise Conflict(
            f"{path} is there already; the tour needs a new store, so name another file",
            code="file_exists",
        )


def _next(keep: Path | None) -> str:
    if keep is None:
        return "The store was temporary; keep it with: tenure demo --keep demo.db"
    return (
        f"The store is {keep}. Go on with:\n"
        f"  tenure --store {keep} timeline 'Orchid Foods' pricing_tier\n"
        f"  tenure --store {keep} history 'Sam Rivera' office\n"
        f"  tenure --store {keep} actions list"
    )


def _facts(tour: Tour) -> dict[str, Any]:
    return {
        "log": [
            {
                "recorded_at": e.event.held["recorded_at"],
                "object_id": e.receipt.object_id,
                "outcome": e.receipt.outcome,
                "text": _said(e),
                "because": _because(e),
            }
            for e in tour.entries
        ],
        "questions": [plain(q) for q in tour.questions],
        "reviews": [plain(r) for r in tour.reviews],
        "envelope": {
            "digest": tour.envelope.digest,
            "tokens": tour.envelope.tokens,
            "text": tour.envelope.text,
            "left_out": [plain(o) for o in tour.left_out],
        },
        "later_digest": tour.later.digest,
        "replay_digest": tour.again.digest,
    }


def _show(out: Console, tour: Tour) -> None:
    _intro(out)
    _chapter(out, "1  What came in, and what became of it")
    _show_log(out, tour.entries)
    out.print(
        f"\nNames are settled before anything is written: Sam Rivera is Samantha Rivera and Bill\n"
        f"Nakamura is {tour.nickname}, because the HR system says so; the two Daniel Okafors\n"
        "are two people, because their staff numbers differ."
    )
    _chapter(out, "2  One fact, two clocks")
    _show_questions(out, tour)
    _chapter(out, "3  What the machine would not decide alone")
    for review in tour.reviews:
        _show_review(out, review, tour)
    _chapter(out, "4  What an agent is given to read")
    _show_envelope(out, tour)
    _chapter(out, "5  The same bytes again")
    _show_replay(out, tour)


def _chapter(out: Console, title: str) -> None:
    out.print()
    out.print(title, style="bold cyan")
    out.print()


def _intro(out: Console) -> None:
    out.print("tenure: a guided tour", style="bold")
    out.print(
        "It is 15 July 2026 at a small supplier of flour. For half a year its agents, its\n"
        "systems and a few web pages have told tenure what they know. Mira must send a renewal\n"
        "note to a customer, Orchid Foods, and asks her agent to draft it."
    )


_OUTCOME_STYLE = {"accepted": "green", "confirmed": "green", "clipped": "yellow"}


def _show_log(out: Console, entries: Sequence[Entry]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("told on", "by", "what was said", "outcome", "because"):
        grid.add_column(head, overflow="fold")
    for entry in entries:
        outcome = entry.receipt.outcome.value
        grid.add_row(
            Text(str(entry.event.held["recorded_at"])[:10]),
            Text(_speaker(entry)),
            Text(_said(entry)),
            Text(outcome.replace("_", " "), style=_OUTCOME_STYLE.get(outcome, "red")),
            Text(_because(entry)),
        )
    out.print(grid)


def _speaker(entry: Entry) -> str:
    scheme, _, rest = entry.event.write.source_origin.partition("://")
    place = rest.partition("/")[0]
    return {"record": f"{place} system", "chat": "a colleague", "https": place}.get(scheme, place)


def _said(entry: Entry) -> str:
    write = entry.event.write
    if write.content:
        return write.content
    name = write.subject["name"] if isinstance(write.subject, dict) else write.subject
    return f"{name}: {(write.slot or '').replace('_', ' ')} = {value_text(write.value)}"


_BECAUSE: dict[str, str] = {
    "newer_valid_from": "begins later than what was known, so it takes over from there",
    "unresolved_tie": "as strong as another word: neither is shown, a person is asked",
    "lower_authority": "a web page does not overrule the system of record",
    "lower_trust": "from a less trusted source than what is shown",
    "injection_suspected": "hides an instruction in a page: set apart, never shown as truth",
    "ambiguous": "two people have this name: a person is asked, see 3",
    "same_identifier": "known by the identifier of its system",
    "exact": "known by this name",
    "alias": "known by this name",
    "no_candidate": "nobody of this name was known",
}


def _because(entry: Entry) -> str:
    receipt, resolution = entry.receipt, entry.receipt.resolution
    if receipt.outcome.value == "quarantined":
        return _BECAUSE["injection_suspected"]
    if receipt.outcome.value == "pending_review":
        return _BECAUSE["ambiguous"]
    if receipt.relations:
        reason = receipt.relations[0].reason
        return _BECAUSE.get(reason, reason.replace("_", " "))
    reason = resolution.reason if resolution is not None else ""
    return _BECAUSE.get(reason, reason.replace("_", " "))


def _show_questions(out: Console, tour: Tour) -> None:
    out.print(
        "On 1 April the billing system recorded that Orchid Foods had been premium since\n"
        "15 February. Nothing was overwritten, so each of these has its own answer:\n"
    )
    rows = [(q.words, when(q.valid), when(q.tx), q.answer) for q in tour.questions]
    table(out, ("question", "true when", "as known when", "pricing tier"), rows)


def _show_review(out: Console, review: Review, tour: Tour) -> None:
    out.print(
        f"Somebody said a thing about {review.mention!r}. There are two of them, told apart by\n"
        "their staff numbers, and the text names none. Rather than guess, tenure keeps what was\n"
        "said with a third, pending person and opens a review:\n"
    )
    rows = [
        (
            c.name,
            tour.titles[c.entity],
            f"{c.score:.2f}",
            _evidence(c.features),
            _but(c.vetoes),
        )
        for c in review.candidates
    ]
    table(out, ("is it", "who is", "score", "evidence", "but"), rows)
    out.print(
        f"\nreview {review.review_id}, {review.state.value}: a steward accepts or rejects\n"
        "it, and may undo that later."
    )


def _evidence(features: Sequence[Any]) -> str:
    return "; ".join(f.detail for f in features) or "none"


def _but(vetoes: Sequence[str]) -> str:
    return ", ".join("another fits as well" if v == "margin" else v for v in vetoes)


def _show_envelope(out: Console, tour: Tour) -> None:
    envelope = tour.envelope
    budget = envelope.trace.budget["budget_tokens"]
    out.print(f"Mira's agent may spend {budget} tokens. It gets {envelope.tokens}:\n")
    _show_bars(out, envelope, budget)
    out.print("\nThe text itself:\n")
    out.print(_quoted(envelope.text), style="dim")
    _show_left_out(out, "set apart, and never shown as truth", tour.left_out, apart=True)
    _show_left_out(out, "left out", tour.left_out, apart=False)


def _show_bars(out: Console, envelope: Envelope, budget: int) -> None:
    from rich.text import Text

    for section in envelope.sections:
        filled = max(1, round(section.tokens / budget * _BAR))
        line = Text(f"  {section.name:<16}{section.tokens:>5}  ")
        line.append("█" * filled, style="green")
        out.print(line)
    used = min(_BAR, round(envelope.tokens / budget * _BAR))
    total = Text(f"  {'in all':<16}{envelope.tokens:>5}  ", style="bold")
    total.append("█" * used, style="cyan")
    total.append("░" * (_BAR - used), style="dim")
    out.print(total)


def _quoted(text: str) -> str:
    return "\n".join(f"  │ {line}" for line in text.rstrip("\n").splitlines())


_REASONS: dict[str, str] = {
    "injection_suspected": "it looks like an injected instruction",
    "conflicting_claim_unresolved": "two words of equal weight; an action is open",
    "not_yet_valid": "planned: not true yet",
    "expired_valid_time": "true once, not any more",
    "over_budget": "worth less than what took its tokens",
    "below_floor": "not about the question",
}


def _show_left_out(out: Console, head: str, found: Sequence[LeftOut], *, apart: bool) -> None:
    out.print(f"\nWhat was {head}:\n")
    rows = [
        (_short(o.what), _REASONS.get(o.reason, o.reason.replace("_", " ")))
        for o in found
        if o.set_apart is apart
    ]
    table(out, ("  what", "why"), [(f"  {what}", why) for what, why in rows])


def _short(text: str, limit: int = 72) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _same(digest: str, first: str) -> str:
    return "the same" if digest == first else "another"


def _show_replay(out: Console, tour: Tour) -> None:
    out.print(
        "Then billing corrected Orchid Foods to enterprise, since 1 July already. A new compile\n"
        "knows it; a replay of the first envelope still gives the very bytes the agent read:\n"
    )
    first = tour.envelope.digest
    rows = [
        ("the envelope above", first[:16], ""),
        ("compiled anew", tour.later.digest[:16], _same(tour.later.digest, first)),
        ("replayed", tour.again.digest[:16], _same(tour.again.digest, first)),
    ]
    table(out, ("  ", "digest", ""), [(f"  {a}", b, c) for a, b, c in rows])
