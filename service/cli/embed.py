"""The command that makes vectors for what has none: `re-embed`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..backend.caller import backend_of
from ..visual.text import counted
from .frame import answer, examples, open_memory
from .progress import meter

if TYPE_CHECKING:
    from ..encoders.progress import Progress

app = typer.Typer()


@app.command(
    name="re-embed",
    epilog=examples(
        "tenure re-embed",
        "tenure --store team.db re-embed --encoder sentence-transformers:minilm",
    ),
)
def re_embed(
    context: typer.Context,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="onnx, or sentence-transformers: and a folder; nothing is downloaded. "
            "[default: the setting `encoder`, else onnx]"
        ),
    ] = None,
) -> None:
    """Make the vectors that claims lack. Stop and run it again at will."""
    from ..encoders.choice import encoder_of
    from ..stewardship.re_embed import re_embed as run

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
