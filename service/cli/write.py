"""Commands that write: `write`, `observe`, `ingest`, `define`, `reclassify`.

Each prints the receipt of what it did: the outcome, what it met, and what was opened for a
person to decide.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .frame import REFUSED, examples, note, opened
from .show import answer, console, table, when

if TYPE_CHECKING:
    from rich.console import Console

    from ...schema.slots import Slot
    from ...schema.write import Receipt
    from ..client.memory import Memory
    from ..writing.ingest import IngestReport

app = typer.Typer()

_From = Annotated[
    str | None,
    typer.Option("--from", help="When it begins to hold, such as 2026-06-01T00:00:00Z. [now]"),
]
_Until = Annotated[str | None, typer.Option("--until", help="When it ends to hold. [open]")]
_Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Any other field of a write, such as layer=session; VALUE is JSON or text.",
    ),
]


@app.command(
    epilog=examples(
        [
            "tenure write 'Sam Rivera' office Chicago --from 2026-06-01T00:00:00Z",
            "tenure write 'Sam Rivera' office --op delete --from 2026-09-01T00:00:00Z",
            "tenure write 'Sam Rivera' response_length short --why 'reads on a phone' \\",
            "    --set 'applicable_task_types=[\"code_generation\"]'",
            "tenure write --content 'The office closes at six.' --origin doc://handbook/7",
            "tenure write 'Sam Rivera' office Chicago --dry-run",
        ]
    )
)
def write(
    context: typer.Context,
    subject: Annotated[str | None, typer.Argument(help="A name or an entity id.")] = None,
    slot: Annotated[str | None, typer.Argument(help="What is said of the subject.")] = None,
    value: Annotated[
        str | None, typer.Argument(help="Text, or JSON where the slot holds no text.")
    ] = None,
    op: Annotated[str, typer.Option(help="assert, correct, retract, delete or deny.")] = "assert",
    valid_from: _From = None,
    valid_until: _Until = None,
    content: Annotated[str | None, typer.Option(help="The words it was said in.")] = None,
    origin: Annotated[
        str | None, typer.Option(help="Where it comes from, a URI. [default: user://chat]")
    ] = None,
    why: Annotated[str | None, typer.Option(help="Why it matters.")] = None,
    kind: Annotated[
        str | None, typer.Option("--type", help="The type of the subject, such as person.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="An idempotency key: a retry returns the first receipt.")
    ] = None,
    dry_run: Annotated[bool, typer.Option(help="Say what would happen; write nothing.")] = False,
    others: _Set = None,
) -> None:
    """Write one claim, or one text, and print its receipt."""
    given = {
        "subject": subject if kind is None or subject is None else {"name": subject, "type": kind},
        "slot": slot,
        "op": op,
        "valid_from": valid_from,
        "valid_until": valid_until,
        "content": content,
        "source_origin": origin,
        "why_it_matters": why,
        "idempotency_key": key,
        **_fields(others or ()),
    }
    with opened(context, create=not dry_run) as memory:
        if value is not None:
            given["value"] = _value(value, memory.vocabulary.slots().get(slot or ""))
        receipt = _write(memory, given, dry_run=dry_run)
        answer(context, receipt, lambda out: show_receipts(out, [receipt]))


def _write(memory: Memory, given: Mapping[str, Any], *, dry_run: bool) -> Receipt:
    """Write what the flags say, checked like a line of an import file."""
    from ..writing.event_lines import checked

    stated = checked({name: value for name, value in given.items() if value is not None})
    return memory.write(**stated, dry_run=dry_run)


def _fields(others: Sequence[str]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for other in others:
        name, sign, text = other.partition("=")
        if not sign:
            raise typer.BadParameter(f"--set {other!r} is not FIELD=VALUE")
        held[name] = _json_or_text(text)
    return held


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _value(text: str, slot: Slot | None) -> Any:
    """Return a value of the slot's type; text stays text unless the type is another."""
    from ...schema.vocabulary import ValueType

    typed = {ValueType.INTEGER, ValueType.NUMBER, ValueType.BOOLEAN, ValueType.JSON}
    return _json_or_text(text) if slot and slot.value_type in typed else text


@app.command(
    epilog=examples(
        [
            "tenure observe 'I moved to the Chicago office in June.' --speaker 'Sam Rivera'",
            "tenure observe - --speaker 'Sam Rivera' < note.txt",
        ]
    )
)
def observe(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What was said; - reads standard input.")],
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    origin: Annotated[str, typer.Option(help="Where it was said, a URI.")] = "chat://local",
    at: Annotated[str | None, typer.Option(help="When it was said. [now]")] = None,
    why: Annotated[str | None, typer.Option(help="Why it matters.")] = None,
) -> None:
    """Keep a text verbatim, and write the claims that it makes about its speaker."""
    said = sys.stdin.read() if text == "-" else text
    with opened(context, create=True) as memory:
        receipts = memory.observe(
            said, speaker=speaker, source_origin=origin, at=at, why_it_matters=why
        )
        links = memory.explain(receipts[0].object_id).mentions

        def show(out: Console) -> None:
            show_receipts(out, receipts)
            for link in links:
                out.print(f"  mentions {link.surface!r}: {link.entity}", markup=False)

        answer(context, receipts, show)


@app.command(
    epilog=examples(
        [
            "tenure ingest events.jsonl",
            "tenure ingest history.jsonl.gz --replay",
            "tenure ingest events.jsonl --keep-going",
            "zcat events.jsonl.gz | tenure ingest -",
        ]
    )
)
def ingest(
    context: typer.Context,
    file: Annotated[str, typer.Argument(help="JSON Lines, .gz too; - is standard input.")],
    replay: Annotated[
        bool,
        typer.Option(help="Load a history: every line says when it was recorded."),
    ] = False,
    keep_going: Annotated[
        bool, typer.Option(help="Put refused lines into NAME.rejects.jsonl and go on.")
    ] = False,
    ignore_external_ids: Annotated[
        bool, typer.Option(help="Let names alone decide who is who.")
    ] = False,
) -> None:
    """Import a file of events, or stop at the first wrong line with nothing half-written.

    Without --keep-going the whole file is checked before anything is written. A replay that
    was interrupted is simply run again. Exits with 1 when lines were refused.
    """
    with opened(context, create=True) as memory, _progress() as progress:
        report = memory.ingest(
            file,
            replay=replay,
            keep_going=keep_going,
            ignore_external_ids=ignore_external_ids,
            progress=progress,
        )
    answer(context, report, lambda out: _show_report(out, report))
    for one in report.rejected[:10]:
        note(f"line {one.line}: {one.reason} [{one.code}]")
    if report.rejected:
        more = len(report.rejected) - 10
        note((f"… and {more} more; " if more > 0 else "") + f"see {report.rejects_file}")
        raise typer.Exit(REFUSED)


class _progress:
    """A line on the terminal that counts; silent anywhere else."""

    def __init__(self) -> None:
        self._status: Any = None

    def __enter__(self) -> Any:
        if not sys.stderr.isatty():
            return None
        import time

        started = time.perf_counter()
        self._status = console(stderr=True).status("checking the file")
        self._status.start()

        def tell(line: int, events: int) -> None:
            rate = events / max(time.perf_counter() - started, 1e-6)
            self._status.update(f"line {line:,}: {events:,} events, {rate:,.0f}/s")

        return tell

    def __exit__(self, *exc: object) -> None:
        if self._status is not None:
            self._status.stop()


def _show_report(out: Console, report: IngestReport) -> None:
    out.print(
        f"{counted(report.events, 'event')} written in "
        f"{counted(report.transactions, 'transaction')}, "
        f"{report.seconds:.1f} s ({report.rate:,.0f} events/s)"
    )
    for name, count in report.outcomes.items():
        out.print(f"  {name:<16}{count:>9,}")
    if report.skipped:
        where = f" in {counted(report.skipped_groups, 'group')}" if report.skipped_groups else ""
        out.print(f"{counted(report.skipped, 'event')}{where} stored before: skipped")
    if report.definitions:
        out.print(counted(report.definitions, "definition"))
    if report.reviews or report.actions:
        opened_now = f"{counted(report.reviews, 'review')}, {counted(report.actions, 'action')}"
        out.print(f"opened: {opened_now}")
    if report.rejected:
        out.print(f"{counted(len(report.rejected), 'line')} refused")


@app.command(
    epilog=examples(
        [
            "tenure define slot badge_colour description='the colour of the badge' \\",
            "    cardinality=one value_type=string 'subject_types=[\"person\"]'",
            "tenure define task_type code_review description='reviewing a change'",
        ]
    )
)
def define(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="slot, task_type, role, entity_type or source_kind.")],
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and _.")],
    fields: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIELD=VALUE]...", help="Its properties; JSON or text."),
    ] = None,
) -> None:
    """Define a slot or another word of the tenant's vocabulary; what is defined stays."""
    with opened(context, create=True) as memory:
        memory.vocabulary.apply({"define": what, "name": name, **_fields(fields or ())})
        defined: Any = (
            memory.vocabulary.slots()[name] if what == "slot" else memory.vocabulary.values(what)
        )
        answer(context, defined, lambda out: out.print(f"{what} {name} is defined"))


_WARNINGS = {
    "authority_lowered": "its origin is weaker than you are, so it was taken at the origin's level",
    "backdated": "it begins before the moment at which it became known",
    "clipped": "stronger claims hide a part of it",
    "future_dated": "it begins in the future; say --set planned=true if that is meant",
    "hidden_by_stronger": "stronger claims hide all of it",
    "long_content": "the text is long; smaller pieces are found better",
    "origin_unproven": "you may not speak for this origin, so it counts as `other`",
    "possible_same_as": "it may be somebody who is known by another name",
    "value_normalized": "the value was written in another form",
}


def show_receipts(out: Console, receipts: Sequence[Receipt]) -> None:
    """Print receipts for people."""
    for receipt in receipts:
        marks = [
            "would be" if receipt.dry_run else "",
            receipt.outcome.value,
            "(the first receipt again)" if receipt.replayed else "",
        ]
        out.print(" ".join(mark for mark in marks if mark))
        out.print(f"  object {receipt.object_id}, known from {when(receipt.tx)}")
        if receipt.resolution is not None:
            decided = receipt.resolution
            out.print(
                f"  entity {receipt.entity} ({decided.decision.value}: {decided.reason}, "
                f"score {decided.score:.2f})"
            )
        if receipt.detail:
            out.print(f"  {receipt.detail}")
        _show_met(out, receipt)
        for what, ids in (("action", receipt.actions), ("review", receipt.reviews)):
            for one in ids:
                out.print(f"  opened {what} {one}")
        for warning in receipt.warnings:
            note(f"warning: {_WARNINGS.get(warning, warning)} [{warning}]")


def _show_met(out: Console, receipt: Receipt) -> None:
    rows = [(f"  {met.object_id}", met.relation, met.verdict.value, met.reason) for met in
            receipt.relations]  # fmt: skip
    if rows:
        table(out, ("  object", "it stands", "this write", "because"), rows)


def counted(count: int, word: str) -> str:
    """Return a count with its word.

    >>> counted(1, "event"), counted(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "s")
