"""`tenure envelope …` and `tenure ablate`: compiled envelopes found again, compared, weighed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .files import envelope_named
from .frame import examples, opened
from .show import answer, listed, plain, table, when
from .summaries import said

if TYPE_CHECKING:
    from rich.console import Console

    from ...compiler.envelope.compare import Ablation, EnvelopeDiff
    from ...compiler.envelope.envelope import Envelope
    from ..reading.envelopes import StoredEnvelope

app = typer.Typer()
envelope = typer.Typer(help="Compiled envelopes, found again.", no_args_is_help=True)
app.add_typer(envelope, name="envelope")

_Time = Annotated[str | None, typer.Option(metavar="TIME", help="A transaction time, ISO 8601.")]


@envelope.command(
    "list",
    epilog=examples(
        ["tenure envelope list", "tenure envelope list --task code_generation --since 2026-06-01Z"]
    ),
)
def list_envelopes(
    context: typer.Context,
    object_id: Annotated[
        str | None, typer.Option("--object", metavar="ID", help="Those that hold it.")
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
    with opened(context) as memory:
        found = memory.envelopes.list(
            limit, object_id=object_id, session=in_session, task=task, since=since, until=until
        )
    held = [{k: v for k, v in plain(each).items() if k != "manifest"} for each in found]
    answer(context, held, lambda out: _show_list(out, found))


def _show_list(out: Console, found: Sequence[StoredEnvelope]) -> None:
    rows = [
        (each.envelope_id, "erased", "", "", "", "")
        if each.erased
        else (
            each.envelope_id,
            when(each.tx),
            each.task,
            each.query,
            f"{each.tokens:,}",
            each.objects,
        )
        for each in found
    ]
    heads = "id", "compiled at", "task", "query", "tokens", "objects"
    listed(out, heads, rows, none="no envelope was found")


@envelope.command(
    "diff",
    epilog=examples(["tenure envelope diff 0f5c… 91ab…", "tenure envelope diff before.json 91ab…"]),
)
def diff_envelopes(
    context: typer.Context,
    before: Annotated[
        str, typer.Argument(help="A manifest file, or an envelope id, which may be shortened.")
    ],
    after: Annotated[str, typer.Argument(help="The one to compare it with.")],
) -> None:
    """Say what one envelope holds that another does not, and what the change costs."""
    from ...compiler.envelope.compare import diff_envelopes as compare

    with opened(context) as memory:
        a, b = (memory.replay(envelope_named(memory, each)) for each in (before, after))
        found, words = compare(a, b), said(memory, a, b)
    answer(context, found, lambda out: _show_diff(out, found, (a, b), words))


def _show_diff(
    out: Console,
    found: EnvelopeDiff,
    pair: tuple[Envelope, Envelope],
    words: Mapping[str, str],
) -> None:
    held = {o.object_id: o for each in pair for o in each.trace.compiled_objects}
    rows = [
        (
            sign,
            object_id,
            words.get(object_id, ""),
            held[object_id].section,
            held[object_id].source_origin,
        )
        for sign, ids in (("+", found.added), ("-", found.removed), ("~", found.modified))
        for object_id in ids
    ]
    if rows:
        table(out, ("", "object", "says", "section", "from"), rows)
    out.print(
        f"{len(found.added)} added, {len(found.removed)} removed, {len(found.modified)} modified, "
        f"{found.unchanged} unchanged"
    )
    deltas: list[Sequence[object]] = [(name, f"{delta:+,}") for name, delta in found.section_deltas]
    if deltas:
        table(out, ("section", "tokens"), [*deltas, ("all", f"{found.token_delta:+,}")])
    before, after = found.utilisation
    out.print(f"budget used: {before:.1%} before, {after:.1%} after")
    if found.first_change is None:
        out.print("the texts are the same")
    else:
        out.print(f"the first {found.first_change:,} characters are the same and may stay cached")


@app.command(
    epilog=examples(
        [
            "tenure ablate --task code_generation --query office --expect Chicago",
            "tenure ablate --task code_generation --query office --expect Chicago --pairs",
            "tenure ablate --task code_generation --query office --expect Chicago --sections",
        ]
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
    """Compile without each object in turn, and say what it is worth.

    The worth of an envelope is the share of the expected texts that it holds.
    """
    from ..client.ablate import ablate as weigh

    request: dict[str, Any] = {
        "task": task,
        "query": query,
        "budget_tokens": budget,
        "entities": tuple(entity or ()),
    }
    with opened(context) as memory:
        whole = memory.compile(**request)
        left = [s.name for s in whole.sections] if sections else None
        found = weigh(memory, request, utility=_holds(expect), objects=left, pairs=pairs)
        words = None if sections else said(memory, whole)
    answer(context, found, lambda out: _show_ablation(out, found, words))


def _holds(expected: Sequence[str]) -> Callable[[Envelope], float]:
    """Return the share of expected texts that an envelope holds, whatever their case."""
    wanted = [text.casefold() for text in expected]

    def share(found: Envelope) -> float:
        text = found.text.casefold()
        return sum(each in text for each in wanted) / len(wanted)

    return share


_NO_WORDS: Mapping[str, str] = {}


def _show_ablation(out: Console, found: Ablation, words: Mapping[str, str] | None) -> None:
    """Print what each object is worth, with its words, or each section."""
    out.print(f"with everything: {found.whole:g}")
    what, held = "section" if words is None else "object", words or _NO_WORDS
    if found.single and words is None:
        table(out, (what, "is worth"), [(name, f"{change:+g}") for name, change in found.ranked])
    elif found.single:
        rows = [(name, held.get(name, ""), f"{change:+g}") for name, change in found.ranked]
        table(out, (what, "says", "is worth"), rows)
    for head, ranked in (("synergy", found.synergies), ("redundancy", found.redundancies)):
        pairs = [(held.get(a) or a, held.get(b) or b, f"{worth:+g}") for a, b, worth in ranked]
        if pairs:
            table(out, (what, "and", head), pairs)
    if found.pairs and not found.synergies and not found.redundancies:
        out.print("no two of them depend on each other")
