"""Golden files, one folder a stage: a small world, a request, and what the stage says of it.

Each `tests/golden/<stage>/*.json` holds `title`, the world's rows by readable names, the request
and `expected`. `TENURE_GOLDEN=write` writes what came out, to be read before it is committed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenure.compiler.ir.candidate import Placed
from tenure.compiler.ir.piece import Piece
from tenure.compiler.ir.verdicts import Verdict
from tenure.compiler.request.parse import parse_request
from tenure.compiler.stages.contain import contain
from tenure.compiler.stages.convert import convert
from tenure.compiler.stages.emit import emit
from tenure.compiler.stages.gate import gate
from tenure.compiler.stages.normalize import normalize
from tenure.compiler.stages.order import order
from tenure.compiler.stages.rank import rank
from tenure.compiler.stages.rescue import rescue
from tenure.compiler.stages.resolve import resolve
from tenure.compiler.stages.validate import validate
from tenure.schema.compile_terms import Stage
from tenure.schema.principal import Principal
from tenure.schema.slots import Slot, Vocabulary
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench
from tenure.tests.source_tree import ROOT

GOLDEN = ROOT / "tests" / "golden"
FILES = sorted(GOLDEN.glob("*/*.json"))


def bench_of(case: dict[str, Any]) -> Bench:
    """Build the world of a case; times are days before or after now."""
    vocabulary = Vocabulary()
    for slot in case.get("slots", ()):
        known = vocabulary.slots.get(slot["name"]) or Slot(name=slot["name"], description="")
        stated = {
            k: tuple(sorted(v.items())) if isinstance(v, dict) else v for k, v in slot.items()
        }
        vocabulary = vocabulary.define("slot", replace(known, **stated))
    principal = {
        k: frozenset(v) if isinstance(v, list) else v
        for k, v in case.get("principal", {"user": "ann"}).items()
    }
    bench = Bench(principal=Principal(**principal), vocabulary=vocabulary)
    policy = {k: tuple(v) if isinstance(v, list) else v for k, v in case.get("policy", {}).items()}
    bench.rules(**policy)
    for each in case.get("entities", ()):
        bench.world.person(**each)
    for group in case.get("merged", ()):
        bench.world.merge(*group)
    for row in case.get("rows", ()):
        bench.world.add(**_timed({**row, "vocabulary": vocabulary}))
    return bench


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    for name in ("tx", "confirmed", "since"):
        if name in row:
            row[name] = NOW + round(row[name] * DAY)
    if "valid" in row:
        start, end = row["valid"]
        row["valid"] = (NOW + round(start * DAY), NOW + round(end * DAY))
    return row


class Names:
    """Readable names for ids: stored rows by name, request items by section and place."""

    def __init__(self, bench: Bench, placed: Iterable[Placed]) -> None:
        self.names = dict(bench.world.names)
        for each in placed:
            given = each.candidate.given
            if given is not None:
                self.names[given.object_id] = f"{given.section.value}[{given.place}]"
        self.entities = {i: e.name for i, e in bench.world.entities.items()}

    def __call__(self, object_id: str) -> str:
        return self.names.get(object_id, self.entities.get(object_id, object_id))

    def verdicts(self, verdicts: Iterable[Verdict]) -> list[list[str]]:
        return sorted(
            [self(v.object_id), v.stage.value, v.reason.value, self(v.detail)] for v in verdicts
        )


def run(case: dict[str, Any], stage: Stage) -> dict[str, Any]:
    """Run the stages up to one and return what it says."""
    bench = bench_of(case)
    setting = bench.setting(parse_request(case.get("task", "code_generation"), **case["request"]))
    normalized = normalize(bench.snapshot(setting), setting)
    resolved = resolve(normalized, setting)
    names = Names(bench, resolved.placed)
    if stage is Stage.NORMALIZE:
        return {
            "candidates": [[names(c.object_id), c.level, c.origin] for c in normalized.candidates]
        }
    if stage is Stage.RESOLVE:
        return {
            "placed": [
                [names(p.candidate.object_id), names(p.subject or ""), p.pending, p.ours]
                for p in resolved.placed
                if p.candidate.version
            ],
            "active": sorted(map(names, resolved.active)),
            "gaps": [[g.code.value, g.subject] for g in resolved.gaps],
            "verdicts": names.verdicts(resolved.verdicts),
        }
    gated = gate(resolved, setting)
    if stage is Stage.GATE:
        return {
            "passed": _stored(gated.placed, names),
            "masked": sorted(map(names, gated.masked)),
            "verdicts": names.verdicts(gated.withheld),
        }
    validated = validate(gated, setting)
    if stage is Stage.VALIDATE:
        return {
            "clean": _stored(validated.placed, names),
            "archival": _stored(validated.archival, names),
            "verdicts": names.verdicts(validated.verdicts),
        }
    ranked = rank(validated, setting)
    if stage is Stage.RANK:
        return {
            "items": [
                [names(r.placed.candidate.object_id), r.relevance, r.score, r.tier.value, r.by_task]
                for r in ranked.items
                if r.placed.candidate.version
            ],
            "passed_over": [names(r.placed.candidate.object_id) for r, _ in ranked.passed_over],
            "verdicts": names.verdicts(ranked.verdicts),
        }
    rescued = rescue(ranked, setting)
    if stage is Stage.RESCUE:
        return {
            "snippets": [
                [names(s.ranked.placed.candidate.object_id), s.text, s.affinity, names(s.beside)]
                for s in rescued.snippets
            ],
            "verdicts": names.verdicts(rescued.verdicts),
        }
    converted = convert(rescued, setting)
    if stage is Stage.CONVERT:
        return {
            "pieces": [_piece(p, names) for p in converted.pieces],
            "changes": [
                [names(c.object_id), c.conversion.value, names(c.detail)] for c in converted.changes
            ],
            "verdicts": names.verdicts(converted.verdicts),
        }
    contained = contain(converted, setting)
    if stage is Stage.CONTAIN:
        return {
            "pieces": [_piece(p, names) for p in contained.pieces],
            "isolation": [[names(i), way.value] for i, way in contained.isolation],
            "stripped": contained.stripped,
            "verdicts": names.verdicts(contained.verdicts),
        }
    ordered = order(contained, setting)
    if stage is Stage.ORDER:
        return {
            "blocks": [
                [b.section, b.kind.value, b.authority, b.origin, b.text]
                for b in ordered.assembled.blocks
            ],
            "changes": [[names(c.object_id), c.conversion.value] for c in ordered.changes],
            "verdicts": names.verdicts(ordered.verdicts),
        }
    envelope = emit(ordered, setting)
    return {
        "text": envelope.text,
        "tokens": envelope.tokens,
        "sections": [[u.name, u.stability.value, u.blocks, u.objects] for u in envelope.sections],
        "trace": _readable(envelope.trace.to_dict(), names),
    }


def _stored(placed: Iterable[Placed], names: Names) -> list[str]:
    return [names(p.candidate.object_id) for p in placed if p.candidate.version]


def _piece(piece: Piece, names: Names) -> list[Any]:
    shown = (piece.cell and f"{piece.label} | {piece.cell}") or piece.text
    return [
        names(piece.object_id),
        piece.section.value,
        piece.kind.value,
        piece.level,
        piece.ladder.compiled_as.value,
        shown,
    ]


def _readable(value: Any, names: Names) -> Any:
    if isinstance(value, dict):
        return {key: _readable(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_readable(item, names) for item in value]
    return names(value) if isinstance(value, str) else value


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_a_stage_says_what_its_golden_file_says(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    found = json.loads(json.dumps(run(case, Stage(path.parent.name))))
    if os.environ.get("TENURE_GOLDEN") == "write":
        case["expected"] = found
        text = json.dumps(case, ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
    assert found == case["expected"]


def test_every_stage_has_golden_files() -> None:
    folders: dict[str, Callable[[], int] | int] = {p.parent.name: 1 for p in FILES}
    assert set(folders) == {stage.value for stage in Stage}
