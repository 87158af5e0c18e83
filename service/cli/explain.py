"""Explaining an envelope: what each stage did, what it costs, and how good it is.

Used by `tenure compile` and `replay`. For people it is a set of short tables, for machines the
same under `explanation`; `--html` and `--svg` write files that a browser shows without a network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...compiler.explain.charts import plural
from .files import write_bytes
from .frame import note
from .show import listed, plain

if TYPE_CHECKING:
    from rich.console import Console

    from ...compiler.envelope.envelope import Envelope


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
Drawn = Annotated[Picture, typer.Option("--picture", help="Which picture --svg writes.")]


def write_pages(
    envelope: Envelope, *, html: Path | None, svg: Path | None, picture: Picture
) -> None:
    """Write the page and the picture that were asked for.

    Raises:
        Unavailable: `file_unwritable`.
    """
    if html is not None:
        _write(html, envelope.to_html())
    if svg is not None:
        drawn = {
            Picture.BUDGET: envelope.budget_svg,
            Picture.LINEAGE: envelope.lineage_svg,
        }
        _write(svg, drawn[picture]() + "\n")


def _write(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))
    note(f"wrote {path}")


def explanation(envelope: Envelope) -> Mapping[str, Any]:
    """Return the account of an envelope as values; what the trace holds already is not repeated."""
    found = envelope.quality
    return {
        "stages": [each._asdict() for each in envelope.stages],
        "lineage": [asdict(row) for row in envelope.lineage],
        "quality": {"metrics": found.metrics, "alerts": found.alerts, "failed": found.failed},
        "diagnosis": [each._asdict() for each in envelope.diagnosis],
    }


def show_explanation(out: Console, envelope: Envelope, said: Mapping[str, str]) -> None:
    """Print what each stage did, what the text is made of and costs, and how good it is.

    `said` is what the objects say, by id.
    """
    for head, show in (
        ("stage by stage", _stages),
        ("the text", _sections),
        ("the budget", _budget),
        ("where it came from", partial(_lineage, said=said)),
        ("left out", partial(_omitted, said=said)),
        ("gaps", _gaps),
        ("cache plan", _cache),
        ("quality", _quality),
        ("if an answer is wrong, look here first", _diagnosis),
    ):
        out.print(f"\n{head}")
        show(out, envelope)
    out.print(f"\ndigest {envelope.digest}")


def _stages(out: Console, envelope: Envelope) -> None:
    rows = [
        (
            each.stage.value,
            each.entered,
            each.left_out,
            ", ".join(f"{reason} {count}" for reason, count in each.reasons)
            or (f"{each.converted} changed" if each.converted else "-"),
        )
        for each in envelope.stages
    ]
    listed(out, ("stage", "objects in", "left out", "because"), rows)


def _sections(out: Console, envelope: Envelope) -> None:
    rows = [
        (s.name, s.stability.value, s.blocks, s.objects, s.allocated, s.tokens)
        for s in envelope.sections
    ]
    listed(out, ("section", "changes with", "blocks", "objects", "allocated", "tokens"), rows)


def _budget(out: Console, envelope: Envelope) -> None:
    budget = envelope.trace.budget
    free = int(budget["budget_tokens"]) - envelope.tokens_upper
    out.print(
        f"{envelope.tokens_upper:,} of {budget['budget_tokens']:,} tokens used, {free:,} free; "
        f"{budget['asked_tokens']:,} asked for, {budget['reserve_tokens']:,} kept for the answer"
    )
    price = float(budget["shadow_price"])
    out.print(
        f"one token more would be worth {price:g} (shadow price)"
        if price
        else "nothing was scarce (shadow price 0)"
    )
    for short in budget["compression"]:
        out.print(
            f"{short['conversion']}: {short['original_tokens']:,} tokens became "
            f"{short['compressed_tokens']:,}, fidelity {short['fidelity']:g}"
        )


def _lineage(out: Console, envelope: Envelope, *, said: Mapping[str, str]) -> None:
    rows = [
        (
            each.object_id,
            said.get(each.object_id, ""),
            each.origin,
            ", ".join(each.found),
            ", ".join((*each.changes, each.became)),
            f"{each.block} {each.section}",
        )
        for each in envelope.lineage
    ]
    listed(out, ("object", "says", "from", "found by", "became", "block"), rows)


def _omitted(out: Console, envelope: Envelope, *, said: Mapping[str, str]) -> None:
    trace = envelope.trace
    rows = [
        (o.object_id, said.get(o.object_id, ""), o.stage, o.reason, o.detail)
        for o in trace.left_out
    ]
    listed(out, ("object", "says", "at stage", "because", "detail"), rows)
    for where, count in trace.withheld.items():
        out.print(f"{plural(count, 'object')} may not be seen by this caller ({where})")


def _gaps(out: Console, envelope: Envelope) -> None:
    for gap in envelope.gaps:
        out.print(f"gap: {json.dumps(plain(gap._asdict()), ensure_ascii=False)}")
    if not envelope.gaps:
        out.print("none")


def _cache(out: Console, envelope: Envelope) -> None:
    held = envelope.trace.cache_metadata
    listed(out, ("zone", "tokens"), list(held["zones"].items()))
    for name, value in held.items():
        if isinstance(value, str | int | float):
            out.print(f"{name.replace('_', ' ')}: {value}")


def _quality(out: Console, envelope: Envelope) -> None:
    from ...compiler.trace.metrics import TARGETS, stands

    found = envelope.quality
    rows: list[Sequence[object]] = [
        (
            name,
            f"{value:g}",
            f"{TARGETS[name].least:g} to {TARGETS[name].most:g}",
            stands(name, found),
        )
        for name, value in found.metrics.items()
    ]
    listed(out, ("metric", "value", "target", "is"), rows)
    core = {**envelope.trace.metrics}
    latency = envelope.sidecar.get("compilation_latency_ms")
    if latency is not None:
        core["compilation_latency_ms"] = latency
    listed(out, ("of the compile", "value"), [(k, f"{v:g}") for k, v in core.items()])


def _diagnosis(out: Console, envelope: Envelope) -> None:
    rows = [
        (each.cause.value, each.part.value.replace("_", " "), each.why)
        for each in envelope.diagnosis
    ]
    listed(out, ("context is", "look at", "because"), rows)
