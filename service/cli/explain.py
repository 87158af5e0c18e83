"""Explaining an envelope: what each stage did, what it costs, and how good it is.

Used by `tenure compile` and `replay`. For people it is a set of short tables, for machines the
same under `explanation`; `--html` and `--svg` write files that a browser shows without a network.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..visual.text import by_field, counted, when_text
from .files import write_bytes
from .frame import note
from .show import Columns, Screen

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...compiler.trace.accounting import StageAccount
    from ..client.memory import Memory
    from ..client.summaries import Wording


class Picture(StrEnum):
    """Which picture `--svg` draws."""

    BUDGET = "budget"
    LINEAGE = "lineage"


Explain = Annotated[
    bool, typer.Option("--explain", help="Also say what went in, what stayed out, and why.")
]
Html = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write a page that shows it whole.")
]
Svg = Annotated[Path | None, typer.Option(metavar="FILE", help="Write a picture of it.")]
PictureChoice = Annotated[Picture, typer.Option("--picture", help="Which picture --svg writes.")]


def write_pages(
    memory: Memory, envelope: Envelope, *, html: Path | None, svg: Path | None, picture: Picture
) -> None:
    """Write the page and the picture that were asked for.

    Raises:
        Unavailable: `file_unwritable`.
    """
    if html is not None:
        from ..client.summaries import opening_words

        _write(html, envelope.to_html(words=opening_words(memory, envelope)))
    if svg is not None:
        draw = {
            Picture.BUDGET: envelope.budget_svg,
            Picture.LINEAGE: envelope.lineage_svg,
        }
        _write(svg, draw[picture]() + "\n")


def _write(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))
    note(f"wrote {path}")


def explanation(envelope: Envelope) -> Mapping[str, Any]:
    """The account of an envelope as values; what the trace holds already is not repeated."""
    quality = envelope.quality
    return {
        "stages": [by_field(stage) for stage in envelope.stages],
        "lineage": [by_field(entry) for entry in envelope.lineage],
        "quality": {
            "metrics": quality.metrics,
            "alerts": quality.alerts,
            "failed": quality.failed,
        },
        "diagnosis": [by_field(cause) for cause in envelope.diagnosis],
    }


def show_explanation(screen: Screen, envelope: Envelope, wording: Wording) -> None:
    """Print what each stage did, what the text is made of and costs, and how good it is."""

    def says(entry: Any) -> str:
        return wording.openings.get(entry.object_id, "")

    screen.line("\nstage by stage")
    screen.table(envelope.stages, _STAGES)
    screen.line("\nthe text")
    screen.table(envelope.sections, _SECTIONS)
    screen.line("\nthe budget")
    _show_budget(screen, envelope)
    screen.line("\nwhere it came from")
    screen.table(envelope.lineage, {"says": says, **_LINEAGE})

    screen.line("\nleft out")
    screen.table(envelope.trace.left_out, {"says": says, **_LEFT_OUT})
    for place, count in envelope.trace.withheld.items():
        screen.line(f"{counted(count, 'object')} may not be seen by this caller ({place})")

    screen.line("\ngaps")
    screen.table(wording.gaps, _GAPS)

    screen.line("\ncache plan")
    _show_cache(screen, envelope)
    screen.line("\nquality")
    _show_quality(screen, envelope)
    screen.line("\nif an answer is wrong, look here first")
    screen.table(envelope.diagnosis, _DIAGNOSIS)
    screen.line(f"\ndigest {envelope.digest}")


def _reasons(stage: StageAccount) -> str:
    if stage.reasons:
        return ", ".join(f"{reason} {count}" for reason, count in stage.reasons)
    return f"{stage.converted} changed" if stage.converted else "-"


_STAGES: Columns = {
    "stage": "stage",
    "objects in": "entered",
    "left out": "left_out",
    "because": _reasons,
}
_SECTIONS: Columns = {
    "section": "name",
    "changes with": "stability",
    "blocks": "blocks",
    "objects": "objects",
    "allocated": "allocated",
    "tokens": "tokens",
}
_LINEAGE: Columns = {
    "from": "origin",
    "found by": "found",
    "became": lambda entry: [*entry.changes, entry.became],
    "block": lambda entry: f"{entry.block} {entry.section}",
    "object": "object_id",
}
_LEFT_OUT: Columns = {
    "at stage": "stage",
    "because": "reason",
    "detail": lambda entry: when_text(entry.detail),
    "object": "object_id",
}
_GAPS: Columns = {"lacks": "reason", "about": "topic", "detail": lambda gap: when_text(gap.detail)}
_DIAGNOSIS: Columns = {
    "context is": "cause",
    "look at": lambda row: row.part.value.replace("_", " "),
    "because": "why",
}


def _show_budget(screen: Screen, envelope: Envelope) -> None:
    budget = envelope.trace.budget
    free = int(budget["budget_tokens"]) - envelope.tokens_upper
    screen.line(
        f"{envelope.tokens_upper:,} of {budget['budget_tokens']:,} tokens used, {free:,} free; "
        f"{budget['asked_tokens']:,} asked for, {budget['reserve_tokens']:,} kept for the answer"
    )

    price = float(budget["shadow_price"])
    if price:
        screen.line(f"one token more would be worth {price:g} (shadow price)")
    else:
        screen.line("nothing was scarce (shadow price 0)")

    for stand_in in budget["compression"]:
        screen.line(
            f"{stand_in['conversion']}: {stand_in['original_tokens']:,} tokens became "
            f"{stand_in['compressed_tokens']:,}, fidelity {stand_in['fidelity']:g}"
        )


def _show_cache(screen: Screen, envelope: Envelope) -> None:
    plan = envelope.trace.cache_metadata
    zones: Columns = {"zone": lambda pair: pair[0], "tokens": lambda pair: pair[1]}
    screen.table(plan["zones"].items(), zones)

    for name, value in plan.items():
        if isinstance(value, str | int | float):
            screen.line(f"{name.replace('_', ' ')}: {value}")


def _show_quality(screen: Screen, envelope: Envelope) -> None:
    from ...compiler.trace.metrics import stands

    quality = envelope.quality
    targets = quality.targets
    columns: Columns = {
        "metric": str,
        "value": lambda name: f"{quality.metrics[name]:g}",
        "target": lambda name: f"{targets[name].floor:g} to {targets[name].ceiling:g}",
        "is": lambda name: stands(name, quality),
    }
    screen.table(quality.metrics, columns)

    # How long it took stands outside of the envelope, whose bytes must not depend on it.
    core = {**envelope.trace.metrics}
    latency = envelope.sidecar.get("compilation_latency_ms")
    if latency is not None:
        core["compilation_latency_ms"] = latency
    figures: Columns = {"of the compile": str, "value": lambda name: f"{core[name]:g}"}
    screen.table(core, figures)
