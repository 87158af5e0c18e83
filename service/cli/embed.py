"""The command that makes vectors for what has none: `re-embed`."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Self

import typer

from .frame import examples, opened
from .show import answer

if TYPE_CHECKING:
    from ..encoders.embedding import Progress

app = typer.Typer()


@app.command(
    name="re-embed",
    epilog=examples(
        [
            "tenure re-embed",
            "tenure --store team.db re-embed --encoder sentence-transformers:/models/minilm",
        ]
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
    """Make vectors for every claim that has none of an encoder; stop and run it again at will."""
    from ..encoders.choice import encoder_of
    from ..stewardship.re_embed import re_embed as run

    with opened(context) as memory, _Shown() as shown:
        own = memory.backend.encoder
        chosen = own if encoder is None and own else encoder_of(encoder or "onnx")
        done = run(memory.backend, memory.principal, chosen, progress=shown)
        held = {"encoder": chosen.id if chosen else None, "claims": done.done}
        answer(context, held, lambda out: out.print(f"{done.done} claims embedded"))


class _Shown:
    """A line on standard error that says how far it is, on a terminal only."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __call__(self, progress: Progress) -> None:
        if self._live:
            print(f"\r{progress.done} of {progress.missing} claims", end="", file=sys.stderr)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live:
            print(file=sys.stderr)
