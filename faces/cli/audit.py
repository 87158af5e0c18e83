"""Commands for auditors and operators: `history`, `diff`, `log`, `explain`, `actions`, `doctor`.

`explain` shows what each stage of a compile did, what it costs and how good it is; `tenure compile`
and `replay` use it too. People get short tables, machines the same under `explanation`; `--html`
and `--svg` write files that a browser shows without a network.
"""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...schema.principal import TENANT_SCOPE
from ...service.backend.caller import backend_of
from ...service.client.answer import (
    ActionCard,
    action_cards,
    action_words,
    entity_names,
    object_words,
    value_reader,
)
from ...service.client.connect import READERS
from ...service.client.opening import place_of
from ...service.compilation.shown import reason_words
from ...service.visual.text import by_field, counted, when, when_text
from .commands import CallAnswer, Display, call_command, command
from .frame import (
    FINDINGS,
    Columns,
    Screen,
    action_of,
    answer,
    columns,
    frame_of,
    object_of,
    open_memory,
)
from .main import write_bytes
from .read import NO_VERSION

if TYPE_CHECKING:
    from ...schema.answers import Explanation, HistoryRow, Link
    from ...service.client.answer import Wording
    from ...service.client.memory import Memory
    from ...service.compilation.shown import Envelope, StageAccount

app = typer.Typer()


_VERSIONS = columns(
    "holds=~ known_from=tx_start known_until=tx_end|now op status reason by=actor object=object_id"
)

_DURABILITY: Final[Mapping[str, str]] = {
    "full": "on the disk when they are acknowledged",
    "normal": "on the disk within moments; a power failure may take the last ones",
    "server": "as durable as the server is set to make them",
}

_LINKS = columns("on=~ relation because=reason known_from=tx object=object_id")

actions = typer.Typer(help="Actions that wait for a decision.", no_args_is_help=True)

_PEOPLE_OF_ONE_NAME: Final = 1_000
"""People from which an equal name needs context: namesakes grow with the register, from about
0.03 % of new people at 1,000 to 2 % at 60,000."""

_SECTIONS = columns("section=name changes_with=stability blocks objects allocated tokens")
_LINEAGE = columns(
    "from=origin found_by=found became block object=object_id",
    became=lambda entry: [*entry.changes, entry.became],
    block=lambda entry: f"{entry.block} {entry.section}",
)
_LEFT_OUT = columns(
    "at_stage=stage because=reason detail object=object_id",
    detail=lambda entry: when_text(entry.detail),
)
_GAPS = columns("lacks=reason about=topic detail", detail=lambda gap: when_text(gap.detail))
_DIAGNOSIS = columns(
    "context_is=cause look_at because=why", look_at=lambda row: row.part.value.replace("_", " ")
)


@call_command(app, "history", "tenure history 'Sam Rivera' office", empty=NO_VERSION, by_name=True)
def history(page: CallAnswer) -> Display:
    """Show every version of a slot, in order of recording."""
    return _version_columns(page.value)


def _version_columns(rows: Iterable[HistoryRow]) -> Columns:
    """The columns of version rows of one slot, with their values as people read them."""
    text = value_reader(row.value for row in rows)

    def value(row: HistoryRow) -> str:
        return "erased" if row.erased else text(row.value)

    return {"value": value, **_VERSIONS}


@call_command(
    app,
    "diff",
    "tenure diff 2026-01-01T00:00:00Z 2026-06-30T00:00:00Z",
    "tenure diff -- -infinity 2026-06-30T00:00:00Z",
)
def diff(page: CallAnswer) -> Display:
    """Show what changed between two transaction times."""
    names = entity_names(page.memory, (change.entity for change in page.value))
    text = value_reader(change.value for change in page.value)
    return columns(
        "change entity slot value holds=~ status known_from=tx by=actor object=object_id",
        change=lambda change: "+" if change.kind == "opened" else "-",
        entity=lambda change: names.get(change.entity, change.entity),
        slot=lambda change: change.slot or "(text)",
        value=lambda change: text(change.value),
    )


@call_command(
    app, "log", "tenure log", "tenure log --entity 'Sam Rivera' --since 2026-06-01T00:00:00Z"
)
def log(page: CallAnswer) -> Display:
    """Show who changed what and when, newest first."""
    lines: list[str] = []
    for entry in page.value:
        lines.append(f"{when(entry.tx)}  {entry.actor}  {entry.op.replace('_', ' ')}")
        lines += [f"    {text}" for text in entry.sentences]
    return "\n".join(lines) or "nothing was changed"


@call_command(
    app,
    "explain",
    "tenure explain 0190e3a2-7c1f-7000-8000-000000000001",
    "tenure explain 0190e3a2-7c1f",
)
def explain(page: CallAnswer) -> Display:
    """Show where an object comes from, and what replaced it."""
    explanation, memory = page.value, page.memory
    versions = _version_columns(explanation.rows)
    links = [link for _, links in _links(explanation) for link in links]
    words = object_words(memory, [link.object_id for link in links])
    link_columns: Columns = {"says": lambda link: words[link.object_id], **_LINKS}
    return lambda screen: _show_explanation(
        screen, explanation, versions=versions, links=link_columns
    )


def _links(explanation: Explanation) -> tuple[tuple[str, Sequence[Link]], ...]:
    """The other objects that an object has to do with, under what they are to it."""
    return (
        ("it took the place of", explanation.superseded),
        ("its place was taken by", explanation.superseded_by),
        ("it conflicts with", explanation.conflicts),
        ("the same was said by", explanation.confirmations),
        ("it was derived from", explanation.sources),
        ("derived from it", explanation.derived),
    )


def _show_explanation(
    screen: Screen, explanation: Explanation, *, versions: Columns, links: Columns
) -> None:
    subject = explanation.object
    screen.line(subject.content or subject.contradiction_status.value)
    screen.line(
        f"  {subject.object_type.value} from {subject.source_origin} ({subject.source_kind}), "
        f"level {int(subject.authority_level)}, trust {subject.source_authority:.2f}, "
        f"confidence {subject.confidence_score:.2f}"
    )
    screen.line(f"  why it matters: {subject.why_it_matters}")
    screen.line(f"  {subject.security_classification.value}, {subject.state_layer.value} layer")
    quarantine = explanation.quarantine
    if quarantine is not None:
        screen.line(f"quarantined: {reason_words(quarantine.reason)}")
        for sign in quarantine.signs:
            screen.line(f"  {sign}")
        screen.line(f"  {quarantine.remedy}")
    screen.table(explanation.rows, versions)

    for head, neighbours in _links(explanation):
        if neighbours:
            screen.line(f"{head}:")
            screen.table(neighbours, links)

    for envelope in explanation.envelopes:
        screen.line(f"compiled into envelope {envelope}")


app.add_typer(actions, name="actions")


@call_command(
    actions, "actions.list", "tenure actions list", "tenure actions list --status all", name="list"
)
def list_actions(page: CallAnswer) -> Display:
    """List conflicts to settle, due confirmations and quarantined texts."""
    queue = page.value
    # Read while the store is open: the table is printed when it is closed.
    cards = {card.action.action_id: card for card in action_cards(page.memory, queue)}
    table = columns(
        "id=action_id what=kind entity says slot objects on=~ state",
        entity=lambda action: cards[action.action_id].entity,
        says=lambda action: cards[action.action_id].words,
        objects=lambda action: action.members or action.object_id,
        state=lambda action: f"{action.outcome} by {action.closed_by}" if action.closed else "open",
    )

    def show(screen: Screen) -> None:
        screen.table(queue, table, placeholder="nothing waits for a decision")
        kinds: dict[str, None] = {}
        for card in cards.values():
            if card.action.closed:
                continue
            kinds.setdefault(card.action.kind.value)
            for suspicion in card.suspicions:
                screen.line(f"{card.action.action_id[:8]}  {suspicion}")
        for kind in kinds:
            words = action_words().get(kind, {})
            if "accept" in words:
                answers = f"--accept: {words['accept']}. --reject: {words['reject']}."
                screen.line(f"{words['heading']}: {answers}\n  {words['effect']}")

    return show


@command(
    actions,
    "tenure actions resolve a3f1… --winner 0190e3a2-7c1f-7000-8000-000000000001",
    "tenure actions resolve a3f1… --value Chicago",
    "tenure actions resolve a3f1… --accept",
    name="resolve",
)
def resolve_action(
    context: typer.Context,
    action_id: str,
    *,
    winner: str | None = None,
    value: str | None = None,
    accept: bool | None = None,
) -> None:
    """Settle an action. A conflict is settled by a correction at the caller's level.

    Options:
        action_id (ID): The id of an action, or its beginning.
        winner: The right object of a conflict.
        value: Another value for a conflict.
        accept (--accept/--reject): For any other action.
    """
    with open_memory(context) as memory:
        action = action_of(memory, action_id)
        right = winner and object_of(memory, winner)
        # Read before it is settled: what is set apart and then erased has no words any more.
        queue = [entry for entry in memory.actions.list("all") if entry.action_id == action]
        words = next(map(_action_words, action_cards(memory, queue)), action)
        receipt = memory.actions.resolve(action, winner=right, value=value, accept=accept)
        answer(context, receipt, f"{words}: {receipt.outcome}")


@call_command(actions, "actions.undo", "tenure actions undo a3f1…", name="undo")
def undo_action(page: CallAnswer) -> Display:
    """Undo a decision: retract what it wrote, and open the action again."""
    return f"{page.value.kind.value.replace('_', ' ')}: {page.value.outcome}"


def _action_words(card: ActionCard) -> str:
    """What an action is about, in a few words."""
    kind = card.action.kind.value.replace("_", " ")
    about = f"{card.entity}, {card.action.slot}" if card.action.slot else ", ".join(card.words)
    return f"{kind} ({about})"


_CHECKS: Final = {
    "invariants": "what is stored agrees with itself: rows, clocks, chain, indices",
    "clock": "the last stamp does not lie in the future of this machine",
    "permissions": "only the owner may read the file",
}


@command(app, "tenure doctor", "tenure --store team.db doctor --json")
def doctor(context: typer.Context) -> None:
    """Check the store: invariants, clock and permissions.

    Exits with 4 if it finds a problem.
    """
    with open_memory(context) as memory:
        findings = [{"check": check, "finding": text} for check, text in _findings(memory)]
        advice = list(_advice(memory))
        backend = backend_of(memory)
        url, tenant = backend.store.url, memory.principal.tenant
        # What each cache of the store may take, and what it takes in this process.
        caches = {
            name: {"bound_bytes": backend.caches.most_bytes(name), "used_bytes": used_bytes}
            for name, used_bytes in backend.used_bytes().items()
        }

    # How durable a server is stands in its own configuration, which is not read here.
    place = place_of(frame_of(context).settings().settings)
    durability = "server" if place.is_server else place.durability
    report = {
        "store": url,
        "tenant": tenant,
        "durability": durability,
        "caches": caches,
        "checked": list(_CHECKS),
        "findings": findings,
        "advice": advice,
    }

    def show(screen: Screen) -> None:
        screen.line(f"{url}, tenant {tenant}")
        screen.line(f"  writes: {_DURABILITY[durability]}")
        sizes = (f"{name} {each['bound_bytes'] >> 20:,}" for name, each in caches.items())
        screen.line(f"  caches: {', '.join(sizes)} MiB")
        if not place.is_server:
            bounds = place.caches
            screen.line(
                f"  pages:  {bounds.writer_pages_mib} MiB for the writer,"
                f" {bounds.reader_pages_mib} for each of up to {READERS} readers"
            )

        for check, text in _CHECKS.items():
            sentences = [finding["finding"] for finding in findings if finding["check"] == check]
            screen.line(f"  {'FOUND' if sentences else 'ok   '}  {text}")
            for sentence in sentences:
                screen.line(f"         {sentence}")
        for sentence in advice:
            screen.line(f"  advice {sentence}")

    answer(context, report, show)
    # Behind the answer: a script reads the findings, and a supervisor the code alone.
    if findings:
        raise typer.Exit(FINDINGS)


def _advice(memory: Memory) -> Iterator[str]:
    """Yield what is not broken and would better be set otherwise."""
    if memory.policy.resolution.person_context_scope != TENANT_SCOPE.scope_id:
        return

    # No count: a register of millions answers as fast as one just above the limit.
    with backend_of(memory).store.reading(memory.principal.tenant) as reader:
        people = reader.entity_ids(type="person", most=_PEOPLE_OF_ONE_NAME + 1)
    if len(people) > _PEOPLE_OF_ONE_NAME:
        yield (
            f"more than {_PEOPLE_OF_ONE_NAME:,} people are known, and equal names bind in the "
            'whole tenant; set policy.resolution.person_context_scope = "project", so that a '
            "namesake needs an identifier, a project or neighbours"
        )


def _findings(memory: Memory) -> Iterator[tuple[str, str]]:
    backend = backend_of(memory)
    for sentence in memory.doctor():
        yield "invariants", sentence

    with backend.store.reading(memory.principal.tenant) as reader:
        lead_s = (reader.clock().last_us - time.time_ns() // 1_000) / 1_000_000
    if lead_s > memory.policy.write.skew_limit_s:
        yield (
            "clock",
            f"the last stamp is {lead_s:,.0f} s ahead of this machine's clock; new writes are "
            "stamped after it. Set the clock, or check what was replayed",
        )

    # The address of a server is no path that exists, so that nothing is said of its files.
    path = Path(backend.store.url).expanduser()
    if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o077:
        yield "permissions", f"others may open {path}; run: chmod go= {path}"


class Picture(StrEnum):
    """Which picture `--svg` draws."""

    BUDGET = "budget"
    LINEAGE = "lineage"


PictureChoice = Annotated[Picture, typer.Option("--picture", help="Which picture --svg writes.")]


def write_pages(
    memory: Memory, envelope: Envelope, *, html: Path | None, svg: Path | None, picture: Picture
) -> None:
    """Write the page and the picture that were asked for.

    Raises:
        Unavailable: `file_unwritable`.
    """
    if html is not None:
        from ...service.client.answer import opening_words

        write_bytes(html, envelope.to_html(words=opening_words(memory, envelope)).encode())
    if svg is not None:
        draw = envelope.budget_svg if picture is Picture.BUDGET else envelope.lineage_svg
        write_bytes(svg, f"{draw()}\n".encode())


def explanation(envelope: Envelope) -> Mapping[str, Any]:
    """The account of an envelope as values; what the trace holds already is not repeated."""
    quality = envelope.quality
    return {
        "stages": [by_field(stage) for stage in envelope.stages],
        "lineage": [by_field(entry) for entry in envelope.lineage],
        "quality": {
            "metrics": quality.metrics,
            "alerts": quality.alerts,
            "failed": quality.failed,
        },
        "diagnosis": [by_field(cause) for cause in envelope.diagnosis],
    }


def show_explanation(screen: Screen, envelope: Envelope, wording: Wording) -> None:
    """Print what each stage did, what the text is made of and costs, and how good it is."""

    def says(entry: Any) -> str:
        return wording.openings.get(entry.object_id, "")

    screen.line("\nstage by stage")
    screen.table(envelope.stages, _STAGES)
    screen.line("\nthe text")
    screen.table(envelope.sections, _SECTIONS)
    screen.line("\nthe budget")
    _show_budget(screen, envelope)
    screen.line("\nwhere it came from")
    screen.table(envelope.lineage, {"says": says, **_LINEAGE})

    screen.line("\nleft out")
    screen.table(envelope.trace.left_out, {"says": says, **_LEFT_OUT})
    for place, count in envelope.trace.withheld.items():
        screen.line(f"{counted(count, 'object')} may not be seen by this caller ({place})")

    screen.line("\ngaps")
    screen.table(wording.gaps, _GAPS)

    screen.line("\ncache plan")
    _show_cache(screen, envelope)
    screen.line("\nquality")
    _show_quality(screen, envelope)
    screen.line("\nif an answer is wrong, look here first")
    screen.table(envelope.diagnosis, _DIAGNOSIS)
    screen.line(f"\ndigest {envelope.digest}")


def _reasons(stage: StageAccount) -> str:
    if stage.reasons:
        return ", ".join(f"{reason} {count}" for reason, count in stage.reasons)
    return f"{stage.converted} changed" if stage.converted else "-"


_STAGES = columns("stage objects_in=entered left_out because=reasons", reasons=_reasons)


def _show_budget(screen: Screen, envelope: Envelope) -> None:
    budget = envelope.trace.budget
    free = int(budget["budget_tokens"]) - envelope.tokens_upper
    screen.line(
        f"{envelope.tokens_upper:,} of {budget['budget_tokens']:,} tokens used, {free:,} free; "
        f"{budget['asked_tokens']:,} asked for, {budget['reserve_tokens']:,} kept for the answer"
    )

    price = float(budget["shadow_price"])
    if price:
        screen.line(f"one token more would be worth {price:g} (shadow price)")
    else:
        screen.line("nothing was scarce (shadow price 0)")

    for stand_in in budget["compression"]:
        screen.line(
            f"{stand_in['conversion']}: {stand_in['original_tokens']:,} tokens became "
            f"{stand_in['compressed_tokens']:,}, fidelity {stand_in['fidelity']:g}"
        )


def _show_cache(screen: Screen, envelope: Envelope) -> None:
    plan = envelope.trace.cache_metadata
    zones: Columns = {"zone": lambda pair: pair[0], "tokens": lambda pair: pair[1]}
    screen.table(plan["zones"].items(), zones)

    for name, value in plan.items():
        if isinstance(value, str | int | float):
            screen.line(f"{name.replace('_', ' ')}: {value}")


def _show_quality(screen: Screen, envelope: Envelope) -> None:
    from ...service.compilation.shown import stands

    quality = envelope.quality
    targets = quality.targets
    columns: Columns = {
        "metric": str,
        "value": lambda name: f"{quality.metrics[name]:g}",
        "target": lambda name: f"{targets[name].floor:g} to {targets[name].ceiling:g}",
        "is": lambda name: stands(name, quality),
    }
    screen.table(quality.metrics, columns)

    # How long it took stands outside of the envelope, whose bytes must not depend on it.
    core = {**envelope.trace.metrics}
    latency = envelope.sidecar.get("compilation_latency_ms")
    if latency is not None:
        core["compilation_latency_ms"] = latency
    figures: Columns = {"of the compile": str, "value": lambda name: f"{core[name]:g}"}
    screen.table(core, figures)
