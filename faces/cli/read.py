"""Commands that read: `get`, `facts`, `timeline`, `search`, `slots`, `tools`.

Times have two axes: `--valid` is when it was true in the world, `--tx` what the store knew by then.
Without them the answer is what is true and known now.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from ...service.client.answer import entity_names, state_reader, value_reader
from ...service.visual.text import held_span, when
from .commands import CallAnswer, Display, call_command, command
from .frame import UNKNOWN, Columns, Screen, answer, columns, entity_of, nothing_of, open_memory

if TYPE_CHECKING:
    from ...schema.answers import Segment
    from ...schema.slots import Slot
    from ...service.visual.plane import TimePlane

app = typer.Typer()


NO_VERSION: Final = "nothing was ever known of it; `tenure facts` shows what is known"

_CANDIDATES = columns(
    "op status origin=source_origin level=authority_level known_from=tx object=object_id"
)


@command(
    app,
    "tenure get 'Sam Rivera' office",
    "tenure get 'Sam Rivera' office --valid 2026-03-01T00:00:00Z",
    "tenure get 'Sam Rivera' office --valid 2026-03-01T00:00:00Z \\",
    "    --tx 2026-04-02T00:00:00Z",
)
def get(
    context: typer.Context,
    entity: str,
    slot: str,
    *,
    valid: str | None = None,
    tx: str | None = None,
) -> None:
    """Show the current value, its start and its source."""
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
        if state.reason in UNKNOWN:
            screen.line(f"  {UNKNOWN[state.reason]}")
        else:
            reason = f" ({state.reason})" if state.reason else ""
            screen.line(f"  {state.status.value}{reason}, {held_span(state)}")

        if state.entities:
            screen.line("  it may mean: " + ", ".join(namesakes.values()))
        if candidates:
            names = dict.fromkeys(candidate.name for candidate in candidates)
            screen.line("  did you mean: " + ", ".join(names))
        if state.candidates:
            candidate_columns: Columns = {
                "value": lambda claim: text(claim.value),
                **_CANDIDATES,
            }
            screen.table(state.candidates, candidate_columns)

    answer(context, state, show)


def _is_id(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text) is not None


@call_command(
    app,
    "view.facts",
    "tenure facts 'Sam Rivera'",
    empty="nothing is known for this time",
    by_name=True,
)
def facts(page: CallAnswer) -> Display:
    """Show all current facts about an entity."""
    text = state_reader(page.value.values())
    return {
        "slot": lambda pair: pair[0],
        "value": lambda pair: text(pair[1]) or "-",
        "status": lambda pair: pair[1].status,
        "holds": lambda pair: held_span(pair[1]),
    }


@command(
    app,
    "tenure timeline 'Sam Rivera' office",
    "tenure timeline 'Orchid Foods' pricing_tier --grid",
    "tenure timeline 'Orchid Foods' pricing_tier --grid --tx 2026-03-01T00:00:00Z",
)
def timeline(
    context: typer.Context,
    entity: str,
    slot: str,
    *,
    grid: bool = False,
    svg: Path | None = None,
    valid: str | None = None,
    tx: str | None = None,
) -> None:
    """Show the timeline of a slot, as known now or at --tx.

    Options:
        grid: Draw everything that was ever believed: valid time across, known time up.
        svg (FILE): Write the grid as SVG there.
    """
    with open_memory(context) as memory:
        view, subject = memory.as_of(valid, tx), entity_of(memory, entity)
        if grid or svg is not None:
            _draw_grid(context, view.plane(subject, slot), svg)
            return
        segments = view.timeline(subject, slot)
        text = state_reader(segment.state for segment in segments)
        placeholder = "" if segments else nothing_of(memory, entity, NO_VERSION)

    table = columns(
        "from until=valid_until|open value status=state.status reason=state.reason",
        value=lambda segment: text(segment.state) or "-",
        **{"from": _start},
    )
    answer(context, segments, table, placeholder=placeholder)


def _start(segment: Segment) -> str:
    return when(segment.valid_from, missing="always", precision=segment.state.precision)


def _draw_grid(context: typer.Context, picture: TimePlane, svg: Path | None) -> None:
    if svg is not None:
        from .main import write_bytes

        write_bytes(svg, picture.svg().encode())
    # Printed past the screen, which would fold its lines and so break the picture.
    answer(context, picture, lambda screen: print(picture.text(min(screen.width, 100))))


@call_command(
    app, "view.search", "tenure search 'deployment window'", "tenure search Chicago --limit 3"
)
def search(page: CallAnswer) -> Display:
    """Search current facts and texts, best match first."""

    def show(screen: Screen) -> None:
        screen.table(page.value.hits, _HITS, placeholder="nothing was found")
        if page.value.withheld:
            screen.line("more matches, but may not be seen by this caller")

    return show


_HITS = columns(
    "content=object.content type=object.object_type score=score:.3f object=object.object_id"
)


@call_command(
    app,
    "vocabulary.tools",
    "tenure tools",
    empty="no tool is stored; write one with: tenure write --set object_type=tool_schema "
    """--content '{"name": …, "description": …, "input_schema": …}'""",
)
def tools(_: CallAnswer) -> Display:
    """List the stored tools, and whether the store signed each.

    A model may call only a signed one.
    """
    return columns(
        "tool=name version offered_for where=scope signed manifest object=object_id",
        offered_for=lambda tool: tool.task_types or "pins alone",
        manifest=lambda tool: tool.digest[:12],
    )


_SLOTS = columns(
    "slot=name what_it_says=description of holds",
    of=lambda slot: slot.subject_types or "anything",
    holds=lambda slot: f"{slot.value_type.value}, many" if slot.many else slot.value_type,
)


@command(app, "tenure slots", "tenure slots allergic")
def slots(context: typer.Context, words: str = "") -> None:
    """List the slots of the vocabulary, also the tenant's own.

    "many": several values may be true together. --json shows all properties of a slot.


    Options:
        words ([WORDS]): Words of a slot's name or description.
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
    answer(context, matches, _SLOTS, placeholder=advice)
