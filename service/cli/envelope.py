"""`tenure envelope …` and `tenure ablate`: compiled envelopes found again, compared, weighed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..client.summaries import opening_words
from .files import envelope_named
from .frame import answer, examples, open_memory
from .ids import object_of
from .show import Columns, Screen

if TYPE_CHECKING:
    from ...compiler.envelope.compare import Ablation, EnvelopeDiff
    from ...compiler.envelope.envelope import Envelope

app = typer.Typer()
envelope = typer.Typer(help="Compiled envelopes, found again.", no_args_is_help=True)
app.add_typer(envelope, name="envelope")

_Time = Annotated[str | None, typer.Option(metavar="TIME", help="A transaction time, ISO 8601.")]


@envelope.command(
    "list",
    epilog=examples(
        "tenure envelope list",
        "tenure envelope list --task code_generation --since 2026-06-01T00:00:00Z",
    ),
)
def list_envelopes(
    context: typer.Context,
    object_id: Annotated[
        str | None,
        typer.Option("--object", metavar="ID", help="Those that hold this object."),
    ] = None,
    in_session: Annotated[
        str | None, typer.Option("--in-session", metavar="ID", help="Those of a session.")
    ] = None,
    task: Annotated[str | None, typer.Option(help="Those of a task type.")] = None,
    since: _Time = None,
    until: _Time = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many.")] = 20,
) -> None:
    """List the envelopes that were compiled, newest first."""
    with open_memory(context) as memory:
        target = object_id and object_of(memory, object_id)
        envelopes = memory.envelopes.list(
            limit, object_id=target, session=in_session, task=task, since=since, until=until
        )

    # The manifest is the whole request, and `replay` takes the id alone.
    listing = [asdict(replace(envelope, manifest=None)) for envelope in envelopes]
    for entry in listing:
        del entry["manifest"]

    placeholder = "no envelope was found"
    answer(
        context,
        listing,
        lambda screen: screen.table(envelopes, _ENVELOPES, placeholder=placeholder),
    )


_ENVELOPES: Columns = {
    "compiled at": lambda row: "erased" if row.erased else row.tx,
    "task": "task",
    "query": "query",
    "tokens": lambda row: "" if row.erased else row.tokens,
    "objects": lambda row: "" if row.erased else row.objects,
    "id": "envelope_id",
}


@envelope.command(
    "diff",
    epilog=examples("tenure envelope diff 0f5c… 91ab…", "tenure envelope diff before.json 91ab…"),
)
def diff_envelopes(
    context: typer.Context,
    before: Annotated[
        str, typer.Argument(help="A manifest file, or an envelope id, which may be shortened.")
    ],
    after: Annotated[str, typer.Argument(help="The one to compare it with.")],
) -> None:
    """Compare two envelopes, and say what the change costs."""
    from ...compiler.envelope.compare import diff_envelopes as compare

    with open_memory(context) as memory:
        first = memory.replay(envelope_named(memory, before))
        second = memory.replay(envelope_named(memory, after))
        difference = compare(first, second)
        words = opening_words(memory, first, second)

    answer(
        context, difference, lambda screen: _show_diff(screen, difference, (first, second), words)
    )


def _show_diff(
    screen: Screen,
    difference: EnvelopeDiff,
    pair: tuple[Envelope, Envelope],
    words: Mapping[str, str],
) -> None:
    signs: dict[str, str] = {}
    for sign, ids in (
        ("+", difference.added),
        ("-", difference.removed),
        ("~", difference.modified),
    ):
        signs |= dict.fromkeys(ids, sign)

    # The later envelope says where an object stands now that both hold.
    entries = {entry.object_id: entry for side in pair for entry in side.trace.compiled_objects}
    columns: Columns = {
        "change": lambda object_id: signs[object_id],
        "says": lambda object_id: words.get(object_id, ""),
        "section": lambda object_id: entries[object_id].section,
        "from": lambda object_id: entries[object_id].source_origin,
        "object": str,
    }
    if signs:
        screen.table(signs, columns)
        screen.line()
    screen.line(
        f"{len(difference.added)} added, {len(difference.removed)} removed, "
        f"{len(difference.modified)} modified, {difference.unchanged} unchanged"
    )

    if difference.section_deltas:
        deltas = [*difference.section_deltas, ("all", difference.token_delta)]
        screen.table(deltas, {"section": _first, "tokens": lambda row: f"{row[1]:+,}"})

    before, after = difference.utilisation
    screen.line(f"budget used: {before:.1%} before, {after:.1%} after")
    if difference.first_change is None:
        screen.line("the texts are the same")
    else:
        prefix = f"{difference.first_change:,} characters"
        screen.line(f"the first {prefix} are the same and may stay cached")


def _first(row: Sequence[object]) -> object:
    return row[0]


@app.command(
    epilog=examples(
        "tenure ablate --task assistant --query office --expect Chicago",
        "tenure ablate --task assistant --query office --expect Chicago --pairs",
        "tenure ablate --task assistant --query office --expect Chicago --sections",
    )
)
def ablate(
    context: typer.Context,
    task: Annotated[str, typer.Option(help="A task type, such as code_generation.")],
    expect: Annotated[
        list[str], typer.Option(metavar="TEXT", help="What the envelope should hold; repeat it.")
    ],
    query: Annotated[str, typer.Option(help="What to look for in the memory.")] = "",
    budget: Annotated[int, typer.Option(min=1, help="At most so many tokens.")] = 8000,
    entity: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Who it is about; repeat it.")
    ] = None,
    sections: Annotated[
        bool, typer.Option("--sections", help="Leave out sections instead of objects.")
    ] = False,
    pairs: Annotated[bool, typer.Option("--pairs", help="Also leave out every two.")] = False,
) -> None:
    """Compile without each object in turn: what is it worth?

    The worth of an envelope is the share of the expected texts that it holds.
    """
    from ..client.ablate import ablate as weigh

    request: dict[str, Any] = {
        "task": task,
        "query": query,
        "budget_tokens": budget,
        "entities": tuple(entity or ()),
    }
    with open_memory(context) as memory:
        envelope = memory.compile(**request)
        names = [section.name for section in envelope.sections] if sections else None
        ablation = weigh(memory, request, utility=_share_of(expect), objects=names, pairs=pairs)
        words = None if sections else opening_words(memory, envelope)

    answer(context, ablation, lambda screen: _show_ablation(screen, ablation, words))


def _share_of(texts: Sequence[str]) -> Callable[[Envelope], float]:
    """How to tell the share of expected texts that an envelope holds, whatever their case."""
    needles = [text.casefold() for text in texts]

    def share(envelope: Envelope) -> float:
        haystack = envelope.text.casefold()
        return sum(text in haystack for text in needles) / len(needles)

    return share


def _show_ablation(screen: Screen, ablation: Ablation, words: Mapping[str, str] | None) -> None:
    """Print what each object is worth, with its words, or each section where there are none."""
    screen.line(f"with everything it is worth {ablation.utility:g}")

    columns: Columns = {"section": _first, "is worth": _change}
    if words is not None:
        columns = {
            "says": lambda row: words.get(row[0], ""),
            "is worth": _change,
            "object": _first,
        }
    if ablation.single:
        screen.table(ablation.ranked, columns)

    text_of = words or {}
    for head, pairs in (("synergy", ablation.synergies), ("redundancy", ablation.redundancies)):
        if pairs:
            screen.table(
                pairs,
                {
                    "one": lambda row: text_of.get(row[0]) or row[0],
                    "and": lambda row: text_of.get(row[1]) or row[1],
                    head: _change,
                },
            )
    if ablation.pairs and not ablation.synergies and not ablation.redundancies:
        screen.line("no two of them depend on each other")


def _change(row: Sequence[object]) -> str:
    return f"{row[-1]:+g}"
