"""`tenure config`: the settings in force, and where each came from."""

from __future__ import annotations

from typing import Annotated

import typer

from .frame import examples, frame_of
from .show import answer, table, value_text

app = typer.Typer()
config = typer.Typer(help="The settings in force.", no_args_is_help=True)
app.add_typer(config, name="config")


@config.command(
    "show",
    epilog=examples(
        ["tenure config show", "TENURE_POLICY__WRITE__MAX_BATCH=500 tenure config show --origin"]
    ),
)
def show(
    context: typer.Context,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each came from.")] = False,
    every: Annotated[
        bool, typer.Option("--all", help="Also the defaults of the policy pack.")
    ] = False,
) -> None:
    """Show the settings: defaults < tenure.toml < TENURE_… variables < flags."""
    listed = [
        s
        for s in frame_of(context).loaded().listed()
        if every or s.origin != "default" or not s.key.startswith("policy.")
    ]
    held = [
        {"key": s.key, "value": s.value, **({"origin": s.origin} if origin else {})} for s in listed
    ]
    heads = ["setting", "value", *(["origin"] if origin else [])]
    rows = [(s.key, value_text(s.value), *([s.origin] if origin else [])) for s in listed]
    answer(context, held, lambda out: table(out, heads, rows))
