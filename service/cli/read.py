"""Commands that read: `get`, `timeline`, `facts`, `search`, `entities`.

Times are asked on two axes: `--valid` is when it was true in the world, `--tx` what the store
knew by then. Without them the answer is what is true and known now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .frame import examples, opened
from .show import answer, span, table, value_text, when

if TYPE_CHECKING:
    from rich.console import Console

    from ...schema.answers import EntityView, Segment, SlotState

app = typer.Typer()

Valid = Annotated[
    str | None, typer.Option(help="True when: an instant such as 2026-06-01T00:00:00Z. [now]")
]
Tx = Annotated[str | None, typer.Option(help="As known when. [now]")]
Entity = Annotated[str, typer.Argument(help="A name or an entity id.")]
SlotName = Annotated[str, typer.Argument(help="The name of a slot.")]


@app.command(
    epilog=examples(
        [
            "tenure get 'Sam Rivera' office",
            "tenure get 'Sam Rivera' office --valid 2026-03-01T00:00:00Z",
            "tenure get 'Sam Rivera' office --valid 2026-03-01T00:00:00Z \\",
            "    --tx 2026-04-02T00:00:00Z",
        ]
    )
)
def get(
    context: typer.Context, entity: Entity, slot: SlotName, valid: Valid = None, tx: Tx = None
) -> None:
    """Show what holds: the value, since when, and from where."""
    with opened(context) as memory:
        state = memory.as_of(valid, tx).slot(entity, slot)
        answer(context, state, lambda out: _show_state(out, f"{entity} · {slot}", state))


def _show_state(out: Console, head: str, state: SlotState) -> None:
    shown = ", ".join(value_text(v) for v in state.values) or state.status.value
    out.print(f"{head}: {shown}")
    reason = f" ({state.reason})" if state.reason else ""
    out.print(f"  {state.status.value}{reason}, {span(state.valid_from, state.valid_until)}")
    if state.entities:
        out.print("  it may mean: " + ", ".join(state.entities))
    rows = [
        (
            f"  {c.object_id}",
            value_text(c.value),
            c.op,
            c.status,
            c.source_origin,
            int(c.authority_level),
            when(c.tx),
        )
        for c in state.candidates
    ]
    if rows:
        table(out, ("  object", "value", "op", "status", "origin", "level", "known from"), rows)


@app.command(epilog=examples(["tenure facts 'Sam Rivera'"]))
def facts(context: typer.Context, entity: Entity, valid: Valid = None, tx: Tx = None) -> None:
    """Show everything that holds of an entity."""
    with opened(context) as memory:
        found = memory.as_of(valid, tx).facts(entity)
        rows = [
            (
                name,
                ", ".join(map(value_text, s.values)) or "-",
                s.status.value,
                span(s.valid_from, s.valid_until),
            )
            for name, s in found.items()
        ]
        answer(context, found, lambda out: table(out, ("slot", "value", "status", "holds"), rows))


@app.command(epilog=examples(["tenure timeline 'Sam Rivera' office"]))
def timeline(
    context: typer.Context, entity: Entity, slot: SlotName, valid: Valid = None, tx: Tx = None
) -> None:
    """Show a slot over the whole of valid time, as known now or by --tx."""
    with opened(context) as memory:
        segments = memory.as_of(valid, tx).timeline(entity, slot)
        answer(context, segments, lambda out: _show_segments(out, segments))


def _show_segments(out: Console, segments: Sequence[Segment]) -> None:
    rows = [
        (
            when(s.valid_from, missing="always"),
            when(s.valid_until),
            ", ".join(map(value_text, s.state.values)) or "-",
            s.state.status.value,
            s.state.reason,
        )
        for s in segments
    ]
    table(out, ("from", "until", "value", "status", "reason"), rows)


@app.command(
    epilog=examples(["tenure search 'deployment window'", "tenure search Chicago --limit 3"])
)
def search(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="Words to look for.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="At most so many hits.")] = 10,
    entity: Annotated[str | None, typer.Option(help="Only about this entity.")] = None,
    kind: Annotated[str | None, typer.Option("--type", help="Only objects of this type.")] = None,
    valid: Valid = None,
    tx: Tx = None,
) -> None:
    """Search what holds, best match first."""
    with opened(context) as memory:
        found = memory.as_of(valid, tx).search(text, limit, entity=entity, object_type=kind)
        rows = [
            (h.object.object_id, f"{h.score:.3f}", h.object.object_type.value, h.object.content)
            for h in found.hits
        ]

        def show(out: Console) -> None:
            table(out, ("object", "score", "type", "content"), rows)
            if found.withheld:
                out.print(f"{found.withheld} more may not be seen by this caller")

        answer(context, found, show)


def show_entities(out: Console, found: Sequence[EntityView]) -> None:
    """Print entities for people."""
    rows = [
        (
            e.entity_id,
            e.name,
            e.type,
            e.state,
            ", ".join(a for a in e.aliases if a != e.name),
            ", ".join(f"{k}={v}" for k, v in e.external_ids.items()),
        )
        for e in found
    ]
    table(out, ("id", "name", "type", "state", "also", "identifiers"), rows)
