"""Commands that read: `get`, `facts`, `timeline`, `plane`, `search`, `slots`, `tools`.

Times have two axes: `--valid` is when it was true in the world, `--tx` what the store knew by then.
Without them the answer is what is true and known now.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...service.client.answer import entity_names, state_reader, value_reader
from ...service.visual.text import by_field, held_span, when
from .frame import Columns, Screen, answer, entity_of, examples, frame_of, open_memory

if TYPE_CHECKING:
    from ...schema.slots import Slot
    from ...service.client.memory import Memory

app = typer.Typer()

Valid = Annotated[
    str | None,
    typer.Option(help="True when: a date, or an instant such as 2026-06-01T00:00:00Z. [now]"),
]
Tx = Annotated[str | None, typer.Option(help="As known when. [now]")]
Entity = Annotated[str, typer.Argument(help="A name, an entity id, or its beginning.")]
SlotName = Annotated[str, typer.Argument(help="The name of a slot.")]

_UNKNOWN: Final[Mapping[str, str]] = {
    "no_value": "nothing is known of it for this time; `tenure timeline` shows every time",
    "unknown_entity": "nobody and nothing of this name is known; `tenure entities` lists names",
    "ambiguous_entity": "several have this name; ask with the id of one",
    "withheld": "there is something that this caller may not see",
}
"""Why a slot has no value, by the reason of its state."""

NO_VERSION: Final = "nothing was ever known of it; `tenure facts` shows what is known"

_CANDIDATES: Columns = {
    "op": "op",
    "status": "status",
    "origin": "source_origin",
    "level": "authority_level",
    "known from": "tx",
    "object": "object_id",
}


@app.command(
    epilog=examples(
        "tenure get 'Sam Rivera' office",
        "tenure get 'Sam Rivera' office --valid 2026-03-01T00:00:00Z",
        "tenure get 'Sam Rivera' office --valid 2026-03-01T00:00:00Z \\",
        "    --tx 2026-04-02T00:00:00Z",
    )
)
def get(
    context: typer.Context, entity: Entity, slot: SlotName, valid: Valid = None, tx: Tx = None
) -> None:
    """Show what holds: the value, since when, and from where."""
    with open_memory(context) as memory:
        view = memory.as_of(valid, tx)
        subject = entity_of(memory, entity)
        state = view.slot(subject, slot)
        text = value_reader([*(claim.value for claim in state.candidates), *state.values])
        namesakes = entity_names(memory, state.entities)
        title = entity_names(memory, [subject])[subject] if _is_id(subject) else entity
        is_unknown = state.reason == "unknown_entity"
        candidates = memory.entities.resolve(entity).candidates if is_unknown else ()

    def show(screen: Screen) -> None:
        words = ", ".join(map(text, state.values))
        screen.line(f"{title} · {slot}: {words or state.status.value}")
        if state.reason in _UNKNOWN:
            screen.line(f"  {_UNKNOWN[state.reason]}")
        else:
            reason = f" ({state.reason})" if state.reason else ""
            screen.line(f"  {state.status.value}{reason}, {held_span(state)}")

        if state.entities:
            screen.line("  it may mean: " + ", ".join(namesakes.values()))
        if candidates:
            names = dict.fromkeys(candidate.name for candidate in candidates)
            screen.line("  did you mean: " + ", ".join(names))
        if state.candidates:
            columns: Columns = {"value": lambda claim: text(claim.value), **_CANDIDATES}
            screen.table(state.candidates, columns)

    answer(context, state, show)


def nothing_of(memory: Memory, entity: str, words: str) -> str:
    """What a read of an entity says that found nothing: its words, or that nobody is known.

    A bare "none" would be believed of a misspelt name.
    """
    resolution = memory.entities.resolve(entity)
    if resolution.entity is not None:
        return words
    namesakes = dict.fromkeys(candidate.name for candidate in resolution.candidates)
    suggestion = f"\ndid you mean: {', '.join(namesakes)}" if namesakes else ""
    return f"{_UNKNOWN['unknown_entity']}{suggestion}"


def _is_id(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text) is not None


@app.command(epilog=examples("tenure facts 'Sam Rivera'"))
def facts(context: typer.Context, entity: Entity, valid: Valid = None, tx: Tx = None) -> None:
    """Show everything that holds of an entity."""
    with open_memory(context) as memory:
        states = memory.as_of(valid, tx).facts(entity_of(memory, entity))
        text = state_reader(states.values())
        missing = "" if states else nothing_of(memory, entity, "nothing is known for this time")

    columns: Columns = {
        "slot": lambda pair: pair[0],
        "value": lambda pair: text(pair[1]) or "-",
        "status": lambda pair: pair[1].status,
        "holds": lambda pair: held_span(pair[1]),
    }
    # Line by line, each fact says of which slot it is; in one object its key does.
    listing: Any = states
    if frame_of(context).by_line:
        listing = [{"slot": slot, **by_field(state)} for slot, state in states.items()]
    answer(
        context, listing, lambda screen: screen.table(states.items(), columns, placeholder=missing)
    )


@app.command(epilog=examples("tenure timeline 'Sam Rivera' office"))
def timeline(
    context: typer.Context, entity: Entity, slot: SlotName, valid: Valid = None, tx: Tx = None
) -> None:
    """Show a slot over all of valid time, as known now or by --tx."""
    with open_memory(context) as memory:
        segments = memory.as_of(valid, tx).timeline(entity_of(memory, entity), slot)
        text = state_reader(segment.state for segment in segments)
        missing = "" if segments else nothing_of(memory, entity, NO_VERSION)

    columns: Columns = {
        "from": lambda segment: when(
            segment.valid_from, missing="always", precision=segment.state.precision
        ),
        "until": lambda segment: when(segment.valid_until),
        "value": lambda segment: text(segment.state) or "-",
        "status": "state.status",
        "reason": "state.reason",
    }
    answer(context, segments, lambda screen: screen.table(segments, columns, placeholder=missing))


@app.command(
    epilog=examples("tenure search 'deployment window'", "tenure search Chicago --limit 3")
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
    with open_memory(context) as memory:
        subject = entity and entity_of(memory, entity)
        page = memory.as_of(valid, tx).search(text, limit, entity=subject, object_type=kind)

    columns: Columns = {
        "content": "object.content",
        "type": "object.object_type",
        "score": lambda hit: f"{hit.score:.3f}",
        "object": "object.object_id",
    }

    def show(screen: Screen) -> None:
        screen.table(page.hits, columns, placeholder="nothing was found")
        if page.withheld:
            screen.line("more matches, but may not be seen by this caller")

    answer(context, page, show)


_TOOLS: Columns = {
    "tool": "name",
    "version": "version",
    "offered for": lambda tool: tool.task_types or "pins alone",
    "where": "scope",
    "signed": "signed",
    "manifest": lambda tool: tool.digest[:12],
    "object": "object_id",
}


@app.command(epilog=examples("tenure tools"))
def tools(context: typer.Context) -> None:
    """List the stored tools, and whether the store signed each.

    A model may call only a signed one.
    """
    with open_memory(context) as memory:
        stored_tools = memory.vocabulary.tools()

    advice = (
        "no tool is stored; write one with: tenure write --set object_type=tool_schema "
        """--content '{"name": …, "description": …, "input_schema": …}'"""
    )
    answer(
        context, stored_tools, lambda screen: screen.table(stored_tools, _TOOLS, placeholder=advice)
    )


_SLOTS: Columns = {
    "slot": "name",
    "what it says": "description",
    "of": lambda slot: slot.subject_types or "anything",
    "holds": lambda slot: f"{slot.value_type.value}, many" if slot.many else slot.value_type,
}


@app.command(epilog=examples("tenure slots", "tenure slots allergic"))
def slots(
    context: typer.Context,
    words: Annotated[
        str, typer.Argument(metavar="[WORDS]", help="Only those whose name or sense has them.")
    ] = "",
) -> None:
    """List the slots that a claim may fill, also the tenant's own.

    "many": several values may be true together. --json tells all else about a slot.
    """
    from ...schema.slots import near_slots

    # Before the first write a store has the slots that every store begins with.
    with open_memory(context, scratch=True) as memory:
        vocabulary = memory.vocabulary.slots()

    # A word that no slot has may still be the sense of one.
    needle = words.casefold()
    neighbours = near_slots(words, vocabulary)
    matches: list[Slot] = []
    for name, slot in sorted(vocabulary.items()):
        if name in neighbours or needle in f"{name} {slot.description}".casefold():
            matches.append(slot)
    advice = "no slot has these words; define one with: tenure define slot NAME description=…"
    answer(context, matches, lambda screen: screen.table(matches, _SLOTS, placeholder=advice))


@app.command(
    epilog=examples(
        "tenure plane 'Orchid Foods' pricing_tier",
        "tenure plane 'Orchid Foods' pricing_tier --valid 2026-03-01T00:00:00Z \\",
        "    --tx 2026-03-01T00:00:00Z",
    )
)
def plane(
    context: typer.Context,
    entity: Entity,
    slot: SlotName,
    valid: Valid = None,
    tx: Tx = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw it as SVG there.")] = None,
) -> None:
    """Draw all that was believed of a slot, on both clocks.

    True time goes across, known time up.
    """
    with open_memory(context) as memory:
        picture = memory.as_of(valid, tx).plane(entity_of(memory, entity), slot)

    if svg is not None:
        from .main import write_bytes

        write_bytes(svg, picture.svg().encode())
    # Printed past the screen, which would fold its lines and so break the picture.
    answer(context, picture, lambda screen: print(picture.text(min(screen.width, 100))))
