"""`tenure config`: the settings in force, and where each came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..visual.text import json_text
from .frame import answer, examples, frame_of
from .show import Columns

if TYPE_CHECKING:
    from ..settings import Setting

app = typer.Typer()
config = typer.Typer(help="The settings in force.", no_args_is_help=True)
app.add_typer(config, name="config")


def _as_typed(setting: Setting) -> str:
    """A value as a person would state it: a port has no comma."""
    if setting.value in (None, (), [], ""):
        return "-"
    return json_text(setting.value, indent=None).strip('"')


@config.command(
    "show",
    epilog=examples(
        "tenure config show", "TENURE_POLICY__WRITE__MAX_BATCH=500 tenure config show --origin"
    ),
)
def show(
    context: typer.Context,
    origin: Annotated[bool, typer.Option("--origin", help="Say where each came from.")] = False,
    with_defaults: Annotated[
        bool, typer.Option("--all", help="Also the defaults of the policy pack.")
    ] = False,
) -> None:
    """Show the settings in force.

    Defaults < tenure.toml < TENURE_… variables < flags.
    """
    columns: Columns = {"setting": "key", "value": _as_typed}
    if origin:
        columns = {**columns, "origin": "origin"}

    settings: list[Setting] = []
    entries: list[dict[str, Any]] = []
    for setting in frame_of(context).settings().listed():
        is_default = setting.origin == "default" and setting.key.startswith("policy.")
        # The pack has hundreds of them, among which those that somebody stated would drown.
        if is_default and not with_defaults:
            continue

        settings.append(setting)
        entry = {"key": setting.key, "value": setting.value}
        entries.append(entry | ({"origin": setting.origin} if origin else {}))

    answer(context, entries, lambda screen: screen.table(settings, columns))
