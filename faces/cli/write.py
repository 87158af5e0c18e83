"""Commands that write: `write`, `observe`, `ingest`, `define`, `re-embed`.

Each prints the receipt of its write: the outcome, what it met, and the reviews it opened.
`re-embed` makes missing vectors.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import typer

from ...schema.errors import InvalidInput
from ...schema.limits import json_of
from ...schema.vocabulary import Outcome, ValueType
from ...service.backend.caller import backend_of
from ...service.visual.text import counted, sentence, when
from .commands import command
from .frame import EXIT_REFUSED, Columns, Screen, answer, note, note_command, open_memory
from .main import ProgressMeter, StepEnd, ending_between_steps, lines_of, meter, read_text

if TYPE_CHECKING:
    from ...schema.entity import Resolution
    from ...schema.slots import Slot
    from ...schema.write import Receipt
    from ...service.backend.words import DefinedList
    from ...service.client.memory import Memory
    from ...service.encoders.encoder import Progress
    from ...service.writing.ingest_report import IngestReport, TalkTotals

app = typer.Typer()


_TOLD_REJECTS: Final = 10
"""Refused lines that are told on the terminal; the file has all."""

_WARNINGS: Final = {
    "authority_lowered": "its origin is weaker than you are, so it was taken at the origin's level",
    "backdated": "it begins before the moment at which it became known",
    "clipped": "stronger claims hide a part of it",
    "extractor_unavailable": "the model gave no answer, so rules found the claims",
    "filler_identifier": "an identifier such as `n/a` identifies no entity, so it was left out",
    "future_dated": "it begins in the future; say --set planned=true if that is meant",
    "hidden_by_stronger": "stronger claims hide all of it",
    "long_content": "the text is long; smaller pieces are found better",
    "origin_unproven": "you may not speak for this origin, so it counts as `other`",
    "possible_same_as": "it may be a person with another known name",
    "value_normalized": "the value was written in another form",
    "withdrew": "later values of the slot are no longer shown",
}

_RELATIONS: Columns = {
    "in time": "relation",
    "this write": "verdict",
    "because": "reason",
    "object": "object_id",
}
"""How a write met what was known, behind the words of that."""


@command(
    app,
    "tenure write 'Sam Rivera' office Chicago --from 2026-06-01T00:00:00Z",
    "tenure write 'Sam Rivera' office --op delete --from 2026-09-01T00:00:00Z",
    "tenure write 'Sam Rivera' response_length short --why 'reads on a phone' \\",
    "    --set 'applicable_task_types=[\"code_generation\"]'",
    "tenure write --content 'The office closes at six.' --origin doc://handbook/7",
    "tenure write 'Sam Rivera' office Chicago --dry-run",
)
def write(
    context: typer.Context,
    subject: str | None = None,
    slot: str | None = None,
    value: str | None = None,
    *,
    op: str = "assert",
    valid_from: str | None = None,
    valid_until: str | None = None,
    content: str | None = None,
    origin: str | None = None,
    importance: str | None = None,
    kind: str | None = None,
    key: str | None = None,
    dry_run: bool = False,
    assignments: list[str] | None = None,
) -> None:
    """Write one claim, or one text, and print its receipt.

    Options:
        subject: A name or an entity id.
        slot: Its property, such as office.
        value: Text, or JSON where the slot holds no text.
        op: assert, correct, retract, delete or deny.
        valid_from (--from): The start of its validity, such as 2026-06-01T00:00:00Z. [now]
        valid_until (--until): The end of its validity. [open]
        content: The original words.
        origin: Where it comes from, a URI. [default: user://chat]
        importance (--why): Why it matters.
        kind (--type): The type of the subject, such as person.
        key: An idempotency key: a retry returns the first receipt.
        dry_run: Say what would happen; write nothing.
        assignments (--set FIELD=VALUE): Any other field of a write, such as layer=session; VALUE
            is JSON or text.
    """
    from ...service.writing.lines import checked_fields

    fields = {
        "subject": subject if kind is None or subject is None else {"name": subject, "type": kind},
        "slot": slot,
        "op": op,
        "valid_from": valid_from,
        "valid_until": valid_until,
        "content": content,
        "source_origin": origin,
        "why_it_matters": importance,
        "idempotency_key": key,
        **_fields(assignments or ()),
    }
    # What a value is, text or JSON, is known by its slot, and so by the store.
    with open_memory(context, create=not dry_run, scratch=dry_run) as memory:
        if value is not None:
            fields["value"] = _value(value, memory.vocabulary.slots().get(slot or ""))

        # Checked like a line of an import file.
        receipt = memory.write(**checked_fields(fields), dry_run=dry_run)
        names = receipt_names(memory, [receipt])
    answer(context, receipt, lambda screen: show_receipts(screen, [receipt], names))


def _fields(assignments: Sequence[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for assignment in assignments:
        name, sign, text = assignment.partition("=")
        if not sign:
            raise typer.BadParameter(f"--set {assignment!r} is not FIELD=VALUE")
        fields[name] = _json_or_text(text, name)
    return fields


def _json_or_text(text: str, field: str) -> Any:
    try:
        return json_of(text, field, code="bad_field")
    except InvalidInput as error:
        # A word is no JSON and meant as it stands; a list too deep to read is not.
        if isinstance(error.__cause__, json.JSONDecodeError):
            return text
        raise


def _value(text: str, slot: Slot | None) -> Any:
    """A value of the slot's type; text stays text unless the type is another."""
    # A badge of `007` must not become a number.
    json_types = {ValueType.INTEGER, ValueType.NUMBER, ValueType.BOOLEAN, ValueType.JSON}
    return _json_or_text(text, "value") if slot and slot.value_type in json_types else text


@command(
    app,
    "tenure observe 'I moved to the Chicago office.' --speaker 'Sam Rivera'",
    "tenure observe - --speaker 'Sam Rivera' < note.txt",
)
def observe(
    context: typer.Context,
    text: str,
    *,
    speaker: str | None = None,
    origin: str = "chat://local",
    moment: str | None = None,
    importance: str | None = None,
) -> None:
    """Store a text verbatim, and write the claims found in it.

    Options:
        text: The text; - reads standard input.
        speaker: Who said it.
        origin: Where it was said, a URI.
        moment (--at): When it was said. [now]
        importance (--why): Why it matters.
    """
    from ...service.client.answer import claim_words

    words = read_text("-") if text == "-" else text

    with open_memory(context, create=True) as memory:
        receipts = memory.observe(
            words, speaker=speaker, source_origin=origin, at=moment, why_it_matters=importance
        )
        # The first receipt is the passage's, and it is the passage that mentions.
        mentions = memory.explain(receipts[0].object_id).mentions
        names = receipt_names(memory, receipts, *[mention.entity for mention in mentions])
        claims = claim_words(memory, [receipt.object_id for receipt in receipts[1:]])

    def show(screen: Screen) -> None:
        show_receipts(screen, receipts, {**names, **claims})
        for mention in mentions:
            screen.line(f"  mentions {mention.surface!r}: {names[mention.entity]}")
        if len(receipts) == 1:
            screen.line("no claim was found in it, its words alone are kept")

    answer(context, receipts, show)


@command(
    app,
    "tenure ingest events.jsonl --check",
    "tenure ingest events.jsonl",
    "tenure ingest people.csv --map people.toml",
    "tenure ingest talk.jsonl",
    "tenure ingest history.jsonl.gz --replay",
    "tenure ingest events.jsonl --keep-going",
    "tenure ingest events.rejects.jsonl --retry",
    "zcat events.jsonl.gz | tenure ingest -",
)
def ingest(
    context: typer.Context,
    file: str,
    *,
    replay: bool = False,
    check: bool = False,
    mapping: str | None = None,
    keep_going: bool = False,
    retry: bool = False,
    ignore_external_ids: bool = False,
    restate: bool = False,
) -> None:
    """Load a file of events or talk, or report what is wrong with it.

    Without --keep-going the whole file is checked before anything is written. A replay, or
    talk, that was interrupted is simply run again. Exits with 1 when lines were refused.

    Options:
        file: JSON Lines or .csv, also .gz; - is standard input.
        replay: Load a history: every line says when it was recorded.
        check: List lines that would be refused; write nothing.
        mapping (--map FILE): Which column of a CSV fills which field.
        keep_going: Put refused lines into NAME.rejects.jsonl and continue.
        retry: FILE holds refused lines: try these again.
        ignore_external_ids: Ignore identifiers; match by names only.
        restate: Replace what each record said with the same start.
    """
    # A check needs no store: a file for one that is yet to be made can be looked at.
    opening = open_memory(context, create=not check, scratch=check)
    gauge_of_lines = meter("lines", lines_of(file))
    with opening as memory, gauge_of_lines as gauge, ending_between_steps() as step_end:
        steps = _LineSteps(gauge, step_end)
        with _telling_rest(file, steps, is_rerun=replay, writes=not check):
            report = memory.ingest(
                file,
                replay=replay,
                check=check,
                mapping=mapping,
                keep_going=keep_going,
                retry=retry,
                ignore_external_ids=ignore_external_ids,
                restate=restate,
                progress=steps.tell,
            )
    answer(context, report, lambda screen: _show_report(screen, report))

    if report.checked is None and report.rejected:
        excess = len(report.rejected) - _TOLD_REJECTS
        for reject in report.rejected[:_TOLD_REJECTS]:
            note(reject.sentence)
        if excess > 0:
            note(f"… and {excess} more")
        advice = f"load that with --retry{' and the same --map' if mapping else ''}"
        note(f"mend them in {report.rejects_file}, then {advice}")
    if report.refused:
        raise typer.Exit(EXIT_REFUSED)


@dataclass(slots=True)
class _LineSteps:
    """How far an import is: it may end where a transaction has."""

    gauge: ProgressMeter
    step_end: StepEnd
    line: int = 0
    """The last line that is stored."""

    def tell(self, line: int, _: int) -> None:
        """Say that everything up to a line is stored."""
        self.line = line
        self.gauge.tell(line)
        self.step_end.pass_by()


@contextmanager
def _telling_rest(file: str, steps: _LineSteps, *, is_rerun: bool, writes: bool) -> Generator[None]:
    """Say what an import that was broken off has stored, and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        steps.gauge.close()
        if writes:
            _tell_rest(file, steps, is_rerun=is_rerun)
        raise


def _tell_rest(file: str, steps: _LineSteps, *, is_rerun: bool) -> None:
    if not steps.line:
        note("no line is known to be stored; run it again")
        return
    if is_rerun:
        note(f"stored up to line {steps.line:,}; run it again, and what is stored is skipped")
        return

    # Amid a transaction nobody can say whether it has become durable.
    reach = "up to" if steps.step_end.is_reached else "at least up to"
    note(
        f"stored {reach} line {steps.line:,}; go on with the lines behind it. Texts of talk, and "
        "lines with a key, are skipped when they are stored already"
    )
    if Path(file).suffix in (".jsonl", ".ndjson"):
        note_command(f"tail -n +{steps.line + 1} {shlex.quote(file)} | tenure ingest -")


def _show_report(screen: Screen, report: IngestReport) -> None:
    if report.checked is not None:
        sound = report.checked - report.refused
        screen.line(
            f"{counted(report.checked, 'line')} checked in {report.seconds:.1f} s, "
            f"{sound:,} sound; nothing was written"
        )
        for reject in report.rejected:
            screen.line(reject.sentence)
        if report.refused > len(report.rejected):
            screen.line(f"… and {report.refused - len(report.rejected):,} more")
        return

    screen.line(
        f"{counted(report.events, 'event')} written in "
        f"{counted(report.transactions, 'transaction')}, "
        f"{report.seconds:.1f} s ({report.rate:,.0f} events/s)"
    )
    for outcome, count in report.outcomes.items():
        screen.line(f"  {outcome:<16}{count:>9,}")

    for withdrawal in report.withdrew:
        screen.line(f"  {withdrawal}")

    if report.skipped:
        groups = f" in {counted(report.skipped_groups, 'group')}" if report.skipped_groups else ""
        screen.line(f"{counted(report.skipped, 'event')}{groups} stored before: skipped")
    if report.talk is not None and report.talk.texts:
        screen.line(_talk_sentence(report.talk))
    if report.definitions:
        screen.line(counted(report.definitions, "definition"))

    if report.reviews or report.actions:
        reviews, actions = counted(report.reviews, "review"), counted(report.actions, "action")
        screen.line(f"opened: {reviews}, {actions}")
    if report.rejected:
        screen.line(f"{counted(len(report.rejected), 'line')} refused")


def _talk_sentence(talk: TalkTotals) -> str:
    """What reading the texts of talk took, in words."""
    parts = [f"{counted(talk.texts, 'text')} read"]
    if talk.model_reads:
        parts.append(f"{talk.model_reads:,} by the model")
        parts.append(f"{talk.tokens_in:,} tokens in, {talk.tokens_out:,} out")
    if talk.cost is not None:
        parts.append(f"cost {talk.cost:.4f}")
    if talk.cache_hits:
        parts.append(f"{talk.cache_hits:,} from kept answers")
    if talk.rule_reads:
        parts.append(f"{talk.rule_reads:,} by rules because the model failed")
    if talk.refused_claims:
        parts.append(f"{counted(talk.refused_claims, 'proposed claim')} not taken")
    return ", ".join(parts)


@command(
    app,
    "tenure define slot badge_colour description='the colour of the badge' \\",
    "    cardinality=one value_type=string 'subject_types=[\"person\"]'",
    "tenure define task_type code_review description='reviewing a change'",
)
def define(context: typer.Context, kind: str, name: str, fields: list[str] | None = None) -> None:
    """Define a slot, or another word of the tenant's vocabulary.

    A definition cannot be removed.


    Options:
        kind (WHAT): slot, task_type, role, entity_type or source_kind.
        name: Lower-case letters, digits and _.
        fields (FIELD=VALUE): Its properties; JSON or text.
    """
    with open_memory(context, create=True) as memory:
        memory.vocabulary.apply({"define": kind, "name": name, **_fields(fields or ())})

        entry: Any = None
        if kind == "slot":
            entry = memory.vocabulary.slots()[name]
        else:
            entry = memory.vocabulary.values(cast("DefinedList", kind))
        answer(context, entry, f"{kind} {name} is defined")


_DECISIONS: Final[Mapping[str, str]] = {
    "bind": "known",
    "review": "a person is asked",
    "new": "a new name",
}


def receipt_names(
    memory: Memory, receipts: Sequence[Receipt], *entity_ids: str
) -> Mapping[str, str]:
    """What the ids of receipts stand for: entities by name, objects that a write met by words."""
    from ...service.client.answer import entity_names, object_words

    ids = [receipt.entity for receipt in receipts]
    links = chain.from_iterable(receipt.relations for receipt in receipts)
    words = object_words(memory, [link.object_id for link in links])
    return {**entity_names(memory, [*ids, *entity_ids]), **words}


def show_receipts(screen: Screen, receipts: Sequence[Receipt], names: Mapping[str, str]) -> None:
    """Print receipts for people; `names` are what their ids stand for, and what objects say."""
    relations: Columns = {"it met": lambda link: names.get(link.object_id, ""), **_RELATIONS}
    for receipt in receipts:
        would = "would be" if receipt.dry_run else ""
        repeat = "(the first receipt again)" if receipt.replayed else ""
        screen.line(sentence(would, receipt.outcome.value, repeat))
        screen.line(f"  object {receipt.object_id}")
        if receipt.object_id in names:
            screen.line(f"  says {names[receipt.object_id]}")
        screen.line(f"  known from {when(receipt.tx)}")
        if receipt.outcome is Outcome.QUARANTINED and not receipt.dry_run:
            screen.line(f"  tenure explain {receipt.object_id} says why, and what to do")

        if receipt.resolution is not None:
            name = names.get(receipt.entity or "", "a new entity")
            screen.line(f"  about {name} ({_decision(receipt.resolution)})")
            screen.line(f"  entity {receipt.entity}")
        if receipt.detail:
            screen.line(f"  {receipt.detail}")
        if receipt.relations:
            screen.table(receipt.relations, relations)

        for action in receipt.actions:
            screen.line(f"  opened action {action}")
        for review in receipt.reviews:
            screen.line(f"  opened review {review}")
        for warning in receipt.warnings:
            note(f"warning: {_WARNINGS.get(warning, warning)} [{warning}]")


def _decision(resolution: Resolution) -> str:
    """How a name was taken, in words."""
    if resolution.reason == "no_candidate":
        return "a new name"
    words = _DECISIONS[resolution.decision.value]
    return f"{words}: {resolution.reason}, score {resolution.score:.2f}"


@command(
    app,
    "tenure re-embed",
    "tenure --store team.db re-embed --encoder sentence-transformers:minilm",
    name="re-embed",
)
def re_embed(context: typer.Context, *, encoder: str | None = None) -> None:
    """Make missing vectors. You can stop it and run it again.

    Options:
        encoder: onnx, or sentence-transformers: and a folder; nothing is downloaded. [default:
            the setting `encoder`, else onnx]
    """
    from ...service.encoders.choice import encoder_of
    from ...service.stewardship.operations import re_embed as run

    with open_memory(context) as memory, meter("claims") as gauge:
        # The encoder of the settings is there already: a model made twice takes its memory twice.
        choice = backend_of(memory).encoder
        if encoder is not None or choice is None:
            choice = encoder_of(encoder or "onnx")

        def tell(progress: Progress) -> None:
            gauge.tell(progress.embedded, progress.missing)

        total = run(backend_of(memory), memory.principal, choice, progress=tell).embedded

    report = {"encoder": choice.id if choice else None, "claims": total}
    answer(context, report, f"{counted(total, 'claim')} embedded")
