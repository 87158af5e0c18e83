"""How much of a context bears on its question: the measure behind precision and signal density.

A text bears on the question by the share of the question's content terms that stand in it, in the
turns shown beside it, or in the other facts shown of its subject; with an encoder by its cosine
where that is more. Relevance cannot say it: that is a share of the best hit, and the best of
twenty texts about something else is still the best.

Looked at are the texts that the question brought in; what stands without it, such as guidance,
rules and pinned objects, and the frames around all are left out. `bench/bench_quality.py` asks
questions of the right and of a wrong meeting, and says how well the thresholds tell them apart.

The eight quality metrics of an envelope, with their thresholds and alerts.

| metric | meaning | target by default |
|---|---|---|
| budget_utilisation | upper bound of the text by the budget B | 0.85 to 0.95; less where all fits |
| signal_density | share of tokens whose text bears on the question (`signal`) | >= 0.70 |
| provenance_coverage | share of blocks with an origin | 1.0 |
| constraint_density | share of tokens in instructions of ladder 4 and 5 | <= 0.15 |
| duplication_rate | share of five-word shingles that occur again | <= 0.05 |
| staleness_index | token-weighted share of strength that decay has taken | <= 0.20 |
| injection_surface | V of the untrusted tokens | <= 0.10 |
| compression_fidelity | token-weighted fidelity of shortened texts | >= 0.90 |

Sources: source 000, 6.11.5; checklist C-148, C-179 to C-187.

The core metrics of a compile, from its stages alone.

Without labels precision is how much a token that the question brought in bears on it (`signal`),
and recall the share of acceptance items and asked slots that have a clean object.
Latency is no part of it: it stands in the sidecar. Attribution: low recall means retrieval, low
precision compilation, conflicts entity mapping (C-113). Checklist C-103.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...schema.claim import Version
from ...schema.compile_terms import Ladder, Reason, SectionName
from ...schema.policy import QUALITY_METRICS, CompilePolicy
from ..fitting.fit import MILLION, THOUSAND
from ..ir.context import CompileContext, question
from ..ir.outputs import Passes
from ..ir.records import Piece, Verdict, freshness_of, is_talk
from ..ranking.asked import named_slots
from ..ranking.talk import runs_of
from ..render.cache_plan import RenderPlan, expected_cached_tokens
from ..safety.isolation import Isolation, injection_surface
from ..text.duplicates import shingle_list
from ..text.relevance import COSINE_FULL, FULL, terms_of

BEARING: Final = 400_000
"""Millionths from which a text bears on a question: two of five terms, as in a short question."""

_TURN_GAP: Final = 8
"""Rows between two turns of which one may say what the other leaves out."""

_QUESTION_SECTIONS: Final = frozenset({SectionName.EVIDENCE, SectionName.TURN_MEMORY})


class Bearing(NamedTuple):
    """A text that the question brought in."""

    tokens: int
    share: int
    """How much it bears on the question, in millionths."""


def bearings(passes: Passes, context: CompileContext) -> tuple[Bearing, ...]:
    """The texts that the question brought in; none where it has no content terms."""
    terms = question(context)
    if not terms:
        return ()

    pieces: list[Piece] = []
    own_terms: list[frozenset[str]] = []
    for piece in passes.pieces:
        if _is_asked(piece):
            pieces.append(piece)
            own_terms.append(terms & terms_of(f"{piece.label}\n{piece.text}"))

    # An answer may share no word with the question that the turn before it asked.
    common_terms = list(map(set, own_terms))
    for left, right in _pairs(pieces):
        common_terms[left] |= own_terms[right]
        common_terms[right] |= own_terms[left]

    vectors = passes.snapshot.vectors
    results: list[Bearing] = []
    for piece, piece_terms in zip(pieces, common_terms, strict=True):
        share = FULL * len(piece_terms) // len(terms)

        # Meaning may say more than words, never less: an encoder is no reason to find noise.
        vector = vectors.get(piece.object_id)
        if vector is not None:
            share = max(share, FULL * min(vector.content, COSINE_FULL) // COSINE_FULL)
        results.append(Bearing(context.counter.count(piece.text), share))
    return tuple(results)


def mean_bearing(texts: Sequence[Bearing]) -> float:
    """How much a token bears on the question on average, 0 to 1; 1 where there is none."""
    tokens = weight = 0
    for text in texts:
        tokens += text.tokens
        weight += text.tokens * text.share

    return round(weight / tokens / FULL, 4) if tokens else 1.0


def bearing_share(texts: Sequence[Bearing]) -> float:
    """The share of the tokens whose text bears on the question; 1 where there is none."""
    tokens = signal = 0
    for text in texts:
        tokens += text.tokens
        signal += text.tokens if text.share >= BEARING else 0

    return round(signal / tokens, 4) if tokens else 1.0


def _is_asked(piece: Piece) -> bool:
    candidate = piece.candidate
    if candidate is None or piece.required or piece.section not in _QUESTION_SECTIONS:
        return False
    return not candidate.by_task


def _pairs(pieces: Sequence[Piece]) -> Iterator[tuple[int, int]]:
    """Yield the positions of texts that are read together: turns that follow, facts of one."""
    subjects: dict[str, list[int]] = {}
    turns: dict[int, Version] = {}
    for position, piece in enumerate(pieces):
        candidate = piece.candidate
        version = candidate.version if candidate is not None else None
        if candidate is None or version is None:
            continue
        if is_talk(version):
            turns[position] = version
        elif candidate.subject:
            for neighbour in subjects.setdefault(candidate.subject, []):
                yield neighbour, position
            subjects[candidate.subject].append(position)

    # The turns of a scope are numbered in the order in which it was said, and other talk may lie
    # between them: a gap in the numbers is a gap in the reading.
    for run in runs_of(turns):
        for place, position in enumerate(run):
            turn = turns[position].turn
            for neighbour in run[place + 1 : place + 1 + _TURN_GAP]:
                if turns[neighbour].turn - turn <= _TURN_GAP:
                    yield position, neighbour


def core_metrics(
    passes: Passes, context: CompileContext, verdicts: Iterable[Verdict]
) -> dict[str, float]:
    """Return the metrics that do not depend on a clock, rounded to 4 digits."""
    decay_reasons = {Reason.DECAYED_BELOW_THRESHOLD, Reason.RETIRED}
    evictions = 0
    for verdict in verdicts:
        evictions += verdict.reason in decay_reasons

    # A name counts as a conflict where it waits for a review or means several entities.
    conflicts = 0
    for bound in (*passes.snapshot.subjects, *passes.snapshot.query_subjects):
        conflicts += bound.pending or len(bound.entities) > 1

    return {
        "context_precision": mean_bearing(bearings(passes, context)),
        "context_recall": _recall(passes, context),
        "state_decay_evictions": evictions,
        "entity_resolution_conflicts": conflicts,
    }


def _recall(passes: Passes, context: CompileContext) -> float:
    """The share of what the request needs that the context holds (C-103).

    Needed are the acceptance items, and of each entity the question names the slots it asks for;
    an entity that is named without one needs anything at all.
    """
    acceptance = context.request.acceptance
    words: set[str] = set()
    facts: set[tuple[str | None, str | None]] = set()
    for piece in passes.pieces:
        if acceptance and not piece.required:
            words |= terms_of(piece.text)
        if piece.candidate is None:
            continue

        # Without a slot: that anything is said about the subject.
        facts.add((piece.candidate.subject, None))
        if piece.candidate.version is not None:
            facts.add((piece.candidate.subject, piece.candidate.version.details.slot))

    matches = 0
    for item in acceptance:
        matches += not words.isdisjoint(terms_of(item.text))

    slots = named_slots(context) or (None,)
    for entity in passes.resolved.active:
        matches += len(facts.intersection((entity, slot) for slot in slots))

    needs = len(acceptance) + len(passes.resolved.active) * len(slots)
    return round(matches / needs, 4) if needs else 1.0


def cost_of(plan: RenderPlan, tokens: int, context: CompileContext) -> dict[str, Any]:
    """Return what an envelope costs, in tokens at the base price, and in money where stated.

    `first` is its price as a new conversation, with what is written to the provider's cache;
    `next` that of the following request, which should read the cached part.
    """
    row, cached_tokens = plan.capability, expected_cached_tokens(plan)
    # Where nothing is long enough to be cached, nothing is charged for writing it.
    write = row.write_permille[0] if cached_tokens else THOUSAND
    first = tokens - cached_tokens + cached_tokens * write / THOUSAND
    following = tokens - cached_tokens + cached_tokens * row.read_permille / THOUSAND
    metric_values: dict[str, Any] = {
        "cost_weight": context.rules.cost_weight,
        "first": round(first, 3),
        "next": round(following, 3),
    }
    if context.rules.token_price:
        per_token = context.rules.token_price / MILLION
        metric_values["price_first"] = round(first * per_token, 9)
        metric_values["price_next"] = round(following * per_token, 9)
    return metric_values


class MetricTarget(NamedTuple):
    """What a metric should be."""

    floor: float
    ceiling: float
    mandatory: bool = False
    """Whether falling short fails a safety-critical envelope."""


_MANDATORY: Final = frozenset(
    {"provenance_coverage", "staleness_index", "injection_surface", "compression_fidelity"}
)


def targets_of(rules: CompilePolicy) -> dict[str, MetricTarget]:
    """The target of each metric under a policy."""
    floors, ceilings = dict(rules.quality_floors), dict(rules.quality_ceilings)
    targets: dict[str, MetricTarget] = {}
    for name in QUALITY_METRICS:
        floor, ceiling = floors.get(name, 0.0), ceilings.get(name, 1.0)
        targets[name] = MetricTarget(floor, ceiling, name in _MANDATORY)
    return targets


_WANTING: Final = frozenset({Reason.OVER_BUDGET, Reason.SECTION_DROPPED})
"""Reasons to leave out what a better use of the budget might have held."""


class Quality(NamedTuple):
    """The metrics of an envelope."""

    metrics: Mapping[str, float]
    """Rounded to 4 digits."""
    alerts: tuple[str, ...]
    """Names of metrics outside their target, in the order of the table."""
    failed: bool
    """Whether a mandatory one is outside: a safety-critical deployment rejects the envelope."""
    targets: Mapping[str, MetricTarget]
    """Of the policy it was compiled under."""


def quality(passes: Passes, context: CompileContext) -> Quality:
    """Return the eight metrics of an assembled envelope."""
    sizes: list[tuple[Piece, int]] = []
    instruction_tokens = 0
    for piece in passes.pieces:
        size = context.counter.count(piece.text)
        sizes.append((piece, size))
        if piece.ladder >= Ladder.BEHAVIORAL_GUIDANCE and piece.candidate is not None:
            instruction_tokens += size

    total_tokens = max(1, context.counter.count(passes.ordered.assembled.text))
    blocks = passes.ordered.assembled.blocks
    metrics = {
        "budget_utilisation": _share(passes.ordered.tokens, context.budget),
        "signal_density": bearing_share(bearings(passes, context)),
        "provenance_coverage": _share(sum(block.has_origin for block in blocks), len(blocks)),
        "constraint_density": _share(instruction_tokens, total_tokens),
        "duplication_rate": _duplication(passes, context),
        "staleness_index": _stale(sizes, context),
        "injection_surface": _surface(passes, sizes, total_tokens, context.rules),
        "compression_fidelity": _fidelity(passes),
    }
    alerts: list[str] = []
    failed = False
    targets = targets_of(context.rules)
    for name, target in targets.items():
        if target.floor <= metrics[name] <= target.ceiling:
            continue

        # A budget that is not used up is a fault only where something was left out for want of it.
        has_spare = name == "budget_utilisation" and metrics[name] < target.floor
        if not has_spare or any(v.reason in _WANTING for v in passes.ordered.verdicts):
            alerts.append(name)
            failed |= target.mandatory

    return Quality(metrics, tuple(alerts), failed, targets)


def stands(name: str, quality: Quality) -> str:
    """Return in a word how a metric stands to its target, for tables."""
    if name in quality.alerts:
        return "outside"
    return "all fits" if quality.metrics[name] < quality.targets[name].floor else "within"


def _share(part: int, total_tokens: int) -> float:
    return round(part / total_tokens, 4) if total_tokens else 1.0


def _duplication(passes: Passes, context: CompileContext) -> float:
    """Return the share of shingles that an earlier piece already has."""
    known_shingles: set[tuple[str, ...]] = set()
    total = repetitions = 0
    for piece in passes.pieces:
        if piece.candidate is None:
            continue
        shingles = shingle_list(piece.text, context.rules.shingle_words)
        total += len(shingles)

        # Against earlier pieces alone: what a text repeats within itself is its own style.
        repetitions += sum(shingle in known_shingles for shingle in shingles)
        known_shingles.update(shingles)
    return round(repetitions / total, 4) if total else 0.0


def _stale(sizes: list[tuple[Piece, int]], context: CompileContext) -> float:
    aged_tokens = total = 0
    for piece, size in sizes:
        if piece.candidate is not None and piece.candidate.version is not None:
            total += size
            aged_tokens += size * (FULL - freshness_of(piece.candidate, context))
    return round(aged_tokens / total / FULL, 4) if total else 0.0


def _surface(
    passes: Passes, sizes: list[tuple[Piece, int]], total_tokens: int, rules: CompilePolicy
) -> float:
    # Untrusted text that no block isolates stands in a slot of our own template.
    ways = dict(passes.contained.isolation)
    untrusted_sizes: list[tuple[int, Isolation]] = []
    for piece, size in sizes:
        if piece.level >= 4:
            untrusted_sizes.append((size, ways.get(piece.object_id, Isolation.TYPED_SLOT)))

    strengths = {
        Isolation(isolation): round(THOUSAND * strength)
        for isolation, strength in rules.isolation_strengths
    }
    surface = injection_surface(
        untrusted_sizes, total_tokens=max(total_tokens, 1), strengths=strengths
    )
    return round(surface, 4)


def _fidelity(passes: Passes) -> float:
    total, kept_tokens = 0, 0.0
    for short in passes.ordered.shortenings:
        total += short.original_tokens
        kept_tokens += short.original_tokens * short.fidelity

    return round(kept_tokens / total, 4) if total else 1.0


def grade(fidelity: float, context: CompileContext) -> str:
    """Return `faithful`, `lossy`, or `partial` for what is only a marked part."""
    rules = context.rules
    if fidelity >= rules.fidelity_pass:
        return "faithful"
    return "lossy" if fidelity >= rules.fidelity_lossy else "partial"
