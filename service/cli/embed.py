"""The command that makes vectors for what has none: `re-embed`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ..backend.caller import backend_of
from .frame import answer, examples, open_memory

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

    with open_memory(context) as memory, _counter() as progress:
        choice = backend_of(memory).encoder
        if encoder is not None or choice is None:
            choice = encoder_of(encoder or "onnx")

        total = run(backend_of(memory), memory.principal, choice, progress=progress).embedded

    report = {"encoder": choice.id if choice else None, "claims": total}
    answer(context, report, f"{total} claims embedded")


@contextmanager
def _counter() -> Generator[Callable[[Progress], None]]:
    """A line on standard error that says how far it is, on a terminal only."""
    is_terminal = sys.stderr.isatty()

    def show(progress: Progress) -> None:
        if is_terminal:
            print(f"\r{progress.embedded} of {progress.missing} claims", end="", file=sys.stderr)

    yield show
    if is_terminal:
        print(file=sys.stderr)
