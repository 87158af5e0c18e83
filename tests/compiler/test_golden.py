"""Golden files, one folder a stage: a small world, a request, and what the stage says of it.

Each `tests/golden/<stage>/*.json` holds `title`, the world's rows by readable names, the request
and `expected`. `TENURE_GOLDEN=write` writes what came out, to be read before it is committed.
"""

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tenure.compiler.compile import passes_of
from tenure.compiler.ir.outputs import Passes
from tenure.compiler.ir.records import Candidate, Piece, Verdict
from tenure.compiler.request.parse import parse_request
from tenure.compiler.stages.emit import emit
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

    def __init__(self, bench: Bench, candidates: Iterable[Candidate]) -> None:
        self.names = dict(bench.world.names)
        for candidate in candidates:
            item = candidate.request_item
            if item is not None:
                self.names[item.object_id] = f"{item.section.value}[{item.position}]"
        self.entities = {i: e.name for i, e in bench.world.entities.items()}

    def __call__(self, object_id: str) -> str:
        return self.names.get(object_id, self.entities.get(object_id, object_id))

    def verdicts(self, verdicts: Iterable[Verdict]) -> list[list[str]]:
        return sorted(
            [self(v.object_id), v.stage.value, v.reason.value, self(v.detail)] for v in verdicts
        )


def run(case: dict[str, Any], stage: Stage) -> dict[str, Any]:
    """Run the stages and return what one of them says."""
    bench = bench_of(case)
    context = bench.context(parse_request(case.get("task", "code_generation"), **case["request"]))
    passes = passes_of(bench.snapshot(context), context)
    names = Names(bench, passes.normalized.candidates)
    if stage is not Stage.EMIT:
        return SAYS[stage](passes, names)
    envelope = emit(passes, context)
    return {
        "text": envelope.text,
        "tokens": envelope.tokens,
        "sections": [[u.name, u.stability.value, u.blocks, u.objects] for u in envelope.sections],
        "trace": _readable(envelope.trace.to_dict(), names),
    }


def _normalized(passes: Passes, names: Names) -> dict[str, Any]:
    candidates = passes.normalized.candidates
    return {"candidates": [[names(c.object_id), c.level, c.origin] for c in candidates]}


def _resolved(passes: Passes, names: Names) -> dict[str, Any]:
    return {
        "placed": [
            [names(c.object_id), names(c.subject or ""), c.pending, c.ours]
            for c in passes.resolved.candidates
            if c.version
        ],
        "active": sorted(map(names, passes.resolved.active)),
        "gaps": [[g.code.value, g.subject] for g in passes.resolved.gaps],
        "verdicts": names.verdicts(passes.resolved.verdicts),
    }


def _gated(passes: Passes, names: Names) -> dict[str, Any]:
    return {
        "passed": _stored(passes.gated.candidates, names),
        "masked": sorted(map(names, passes.gated.masked_ids)),
        "verdicts": names.verdicts(passes.gated.refusals),
    }


def _validated(passes: Passes, names: Names) -> dict[str, Any]:
    return {
        "clean": _stored(passes.validated.candidates, names),
        "archival": _stored(passes.validated.archival, names),
        "verdicts": names.verdicts(passes.validated.verdicts),
    }


def _ranked(passes: Passes, names: Names) -> dict[str, Any]:
    return {
        "items": [
            [names(c.object_id), c.relevance, c.score, c.tier.value, c.by_task]
            for c in passes.ranked.candidates
            if c.version
        ],
        "passed_over": [names(c.object_id) for c, _ in passes.ranked.passed_over],
        "verdicts": names.verdicts(passes.ranked.verdicts),
    }


def _rescued(passes: Passes, names: Names) -> dict[str, Any]:
    return {
        "snippets": [
            [names(s.candidate.object_id), s.text, s.affinity, names(s.companion_id)]
            for s in passes.rescued.snippets
        ],
        "verdicts": names.verdicts(passes.rescued.verdicts),
    }


def _converted(passes: Passes, names: Names) -> dict[str, Any]:
    return {
        "pieces": [_piece(p, names) for p in passes.converted.pieces],
        "changes": [
            [names(c.object_id), c.conversion.value, names(c.detail)]
            for c in passes.converted.changes
        ],
        "verdicts": names.verdicts(passes.converted.verdicts),
    }


def _contained(passes: Passes, names: Names) -> dict[str, Any]:
    return {
        "pieces": [_piece(p, names) for p in passes.contained.pieces],
        "isolation": [[names(i), method.value] for i, method in passes.contained.isolation],
        "verdicts": names.verdicts(passes.contained.verdicts),
    }


def _ordered(passes: Passes, names: Names) -> dict[str, Any]:
    ordered = passes.ordered
    return {
        "blocks": [
            [b.section, b.kind.value, b.authority, b.origin, b.text]
            for b in ordered.assembled.blocks
        ],
        "changes": [[names(c.object_id), c.conversion.value] for c in ordered.changes],
        "verdicts": names.verdicts(ordered.verdicts),
    }


SAYS: dict[Stage, Callable[[Passes, Names], dict[str, Any]]] = {
    Stage.NORMALIZE: _normalized,
    Stage.RESOLVE: _resolved,
    Stage.GATE: _gated,
    Stage.VALIDATE: _validated,
    Stage.RANK: _ranked,
    Stage.RESCUE: _rescued,
    Stage.CONVERT: _converted,
    Stage.CONTAIN: _contained,
    Stage.ORDER: _ordered,
}


def _stored(candidates: Iterable[Candidate], names: Names) -> list[str]:
    return [names(candidate.object_id) for candidate in candidates if candidate.version]


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
