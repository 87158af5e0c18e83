"""`tenure compile` and `tenure replay`: an envelope for a task, and the same bytes again."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .cli_explain import (
    Drawn,
    Explain,
    Html,
    Picture,
    Svg,
    explanation,
    show_explanation,
    write_pages,
)
from .cli_files import read_text, write_bytes
from .cli_frame import examples, note, opened
from .cli_read import Tx, Valid
from .cli_show import answer, plain

if TYPE_CHECKING:
    from rich.console import Console

    from ..compiler.envelope import Envelope

app = typer.Typer()

_Texts = list[str] | None


@app.command(
    "compile",
    epilog=examples(
        [
            "tenure compile --task code_generation --query 'deployment window' --budget 2000",
            "tenure compile --task code_generation --query office --explain",
            "tenure compile --task code_generation --query office --html envelope.html",
            "tenure compile --task data_extraction --query prices --evidence page.txt \\",
            "    --manifest envelope.json",
        ]
    ),
)
def compile_envelope(
    context: typer.Context,
    task: Annotated[str, typer.Option(help="A task type, such as code_generation.")],
    query: Annotated[str, typer.Option(help="What to look for in the memory.")] = "",
    request: Annotated[str, typer.Option(help="What the user asks; verbatim.")] = "",
    budget: Annotated[int, typer.Option(min=1, help="At most so many tokens.")] = 8000,
    goal: Annotated[str | None, typer.Option(help="What it is all for.")] = None,
    step: Annotated[str | None, typer.Option(help="The step that is done now.")] = None,
    acceptance: Annotated[
        _Texts, typer.Option(metavar="TEXT", help="When it is done; repeat it.")
    ] = None,
    constraint: Annotated[
        _Texts, typer.Option(metavar="TEXT", help="What must hold; repeat it.")
    ] = None,
    entity: Annotated[
        _Texts, typer.Option(metavar="NAME", help="Who or what it is about; repeat it.")
    ] = None,
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="A text, or an artifact, as untrusted evidence; repeat it."
        ),
    ] = None,
    model: Annotated[str, typer.Option(help="The model it is meant for.")] = "generic",
    valid: Valid = None,
    tx: Tx = None,
    manifest: Annotated[
        Path | None, typer.Option(help="Keep the manifest in this file, for a replay.")
    ] = None,
    render: Annotated[
        str | None,
        typer.Option(help="Print the request for a provider: anthropic, openai, adk or text."),
    ] = None,
    explain: Explain = False,
    html: Html = None,
    svg: Svg = None,
    picture: Drawn = Picture.TREEMAP,
) -> None:
    """Compile the context of a task within a budget, and print its text."""
    given: dict[str, Any] = {
        "user_request": request,
        "goal": goal,
        "step": step,
        "acceptance": tuple(acceptance or ()),
        "constraints": tuple(constraint or ()),
        "entities": tuple(entity or ()),
        "evidence": tuple(map(_evidence, evidence or ())),
        "budget_tokens": budget,
        "model": model,
        "valid": valid,
        "tx": tx,
    }
    with opened(context) as memory:
        envelope = memory.compile(task, query, **given)
        if manifest is not None:
            write_bytes(manifest, (envelope.manifest.to_json() + "\n").encode())
        write_pages(envelope, html=html, svg=svg, picture=picture)
        _answer(context, envelope, explain=explain, render=render)


@app.command(
    epilog=examples(["tenure replay envelope.json", "tenure replay 0f5c… --explain"]),
)
def replay(
    context: typer.Context,
    manifest: Annotated[
        str, typer.Argument(help="A manifest file, - for standard input, or an envelope id.")
    ],
    explain: Explain = False,
    html: Html = None,
    svg: Svg = None,
    picture: Drawn = Picture.TREEMAP,
) -> None:
    """Print the same bytes again, whatever was written since."""
    text = manifest
    if manifest == "-":
        text = sys.stdin.read()
    elif Path(manifest).is_file():
        text = read_text(Path(manifest))
    with opened(context) as memory:
        envelope = memory.replay(text)
        write_pages(envelope, html=html, svg=svg, picture=picture)
        _answer(context, envelope, explain=explain)


def _evidence(named: str) -> Mapping[str, str]:
    if named.startswith("artifact://"):
        return {"artifact": named}
    path = Path(named)
    return {"text": read_text(path), "origin": f"file://{path.name}", "title": path.name}


def _answer(
    context: typer.Context, envelope: Envelope, *, explain: bool, render: str | None = None
) -> None:
    text = envelope.text if render is None else _rendered(envelope, render)
    held = {
        "envelope_id": envelope.envelope_id,
        "digest": envelope.digest,
        "tokens": envelope.tokens,
        "tokens_upper": envelope.tokens_upper,
        "text": text,
        "sections": envelope.sections,
        "gaps": [gap._asdict() if hasattr(gap, "_asdict") else plain(gap) for gap in envelope.gaps],
        "trace": envelope.trace.to_dict(envelope.sidecar),
        "manifest": envelope.manifest.to_dict(),
        "sidecar": dict(envelope.sidecar),
        **({"explanation": explanation(envelope)} if explain else {}),
    }

    def show(out: Console) -> None:
        print(text, end="" if text.endswith("\n") else "\n")
        if explain:
            show_explanation(out, envelope)

    answer(context, held, show)
    budget = envelope.trace.budget["budget_tokens"]
    note(
        f"{envelope.tokens:,} of {budget:,} tokens, {len(envelope.trace.compiled_objects)} objects "
        f"in, {len(envelope.trace.omitted_objects)} out; envelope {envelope.envelope_id}"
    )


def _rendered(envelope: Envelope, target: str) -> str:
    request = envelope.render(target)
    return request if isinstance(request, str) else json.dumps(request, ensure_ascii=False)
