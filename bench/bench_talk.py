"""Evidence of real talk in a context: tenure beside BM25, dense and hybrid, counted by one counter.

    python -P bench/bench_talk.py [--meetings 8] [--questions 8] [--budget 1000 2000 4000 8000]
                                  [--encoder onnx] [--spread-days 365] [--ablation]
                                  [--policy FILE] [--json FILE]

Each meeting of `talk/meetings.jsonl.gz` is a store of its own; its turns are observed in order, a
minute apart or, with `--spread-days`, evenly over so many days with all questions asked on the
last. Turns without a word are left out, of the units and of the evidence. A turn counts by the
share of its words that stands in the context's history, evidence or memory: runs of four words that
are found there, or the whole of a shorter turn as a line of its own. The baselines fill the same
budget with lines `[date] who: text`, best first, passing over what does not fit; their budget holds
lines alone, tenure's the whole envelope. Printed are the recall by budget, the share of the tokens
that is frame, and for the turns that tenure left out the stage and reason, and whether they would
have fitted. `--ablation` asks again without each part of the ranking and prints what it brings.

The folder that TENURE_SHARED names holds the data; without it the script says so and stops.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import tenure
from tenure.compiler.text.relevance import lexical, term_text
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.policy import DEFAULT, Policy
from tenure.schema.terms import content_terms
from tenure.service.settings import load

FILE = "data/talk/meetings.jsonl.gz"
START = datetime(2024, 1, 8, 9, tzinfo=UTC)
RUN = 4
"""Words in a row that prove that a turn's words stand in a context."""
SHOWN_SECTIONS = frozenset({"history", "evidence", "memory", "turn_memory", "pinned_knowledge"})
RRF = 60
_WORD = re.compile(r"[^\W_]+")
_LABEL = re.compile(r"^\s*(?:\[\d+\]\s*)?(?:[^\s:\[\]]{1,40}(?: [^\s:\[\]]{1,40}){0,5}:\s)?")


ABLATIONS: dict[str, dict[str, Any]] = {
    "turns lift their neighbours": {"talk_lift": 0.0},
    "turns around found ones": {"talk_candidates": 0},
    "words beside meaning": {"lexical_weight": 0.0},
    "meaning beside words": {"lexical_weight": 1.0},
    "freshness": {"freshness_weight": 0.0},
    "authority": {"authority_weight": 0.0},
    "nearness in the graph": {"graph_weight": 0.0},
    "facts of one subject": {"subject_lift": 0.0},
}
"""Parts of the ranking, each with the numbers of a policy that leaves it out."""
NEEDS_ENCODER = frozenset({"words beside meaning", "meaning beside words"})


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said."""

    id: int
    speaker: str
    text: str
    day: datetime

    @property
    def line(self) -> str:
        """The turn as a baseline shows it."""
        return f"[{self.day.date()}] {self.speaker}: {self.text}"


class ShownText:
    """The texts of a context, asked how much of a turn stands in them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.runs: set[tuple[str, ...]] = set()
        self.lines: set[tuple[str, ...]] = set()
        for text in texts:
            for line in text.splitlines():
                self.lines.add(tuple(words(line)))
                self.lines.add(tuple(words(_LABEL.sub("", line))))
            spoken = words(text)
            for first in range(len(spoken) - RUN + 1):
                self.runs.add(tuple(spoken[first : first + RUN]))

    def share(self, text: str) -> float:
        """The share of a turn's words that stand here."""
        spoken = words(text)
        if len(spoken) < RUN:
            return float(tuple(spoken) in self.lines)
        standing: set[int] = set()
        for first in range(len(spoken) - RUN + 1):
            if tuple(spoken[first : first + RUN]) in self.runs:
                standing.update(range(first, first + RUN))
        return len(standing) / len(spoken)


@dataclass(slots=True)
class Clock:
    """The time of a store: that of the turn which is written."""

    now: datetime = START

    def __call__(self) -> int:
        return round(self.now.timestamp() * 1_000_000)


@dataclass(slots=True)
class Tally:
    """What all questions of a run come to."""

    recall: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    tokens: dict[int, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    """By budget: (tokens of the envelope, tokens of what it says)."""
    without: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    """By part of the ranking that is left out, and budget: the recall."""
    causes: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: list[float] = field(default_factory=list)


def meetings(path: Path, limit: int | None) -> Iterator[dict[str, Any]]:
    """Yield the meetings of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if limit is None or number < limit:
                yield json.loads(line)


def turns_of(meeting: dict[str, Any], spread_days: int | None) -> list[Turn]:
    """The turns that hold a word, with the moment each was said."""
    spoken = [turn for turn in meeting["turns"] if words(turn["text"])]
    step = timedelta(minutes=1)
    if spread_days is not None:
        step = timedelta(days=spread_days) / max(1, len(spoken))
    return [
        Turn(turn["id"], turn["speaker"], turn["text"], START + number * step)
        for number, turn in enumerate(spoken)
    ]


def ranked_by_words(question: str, turns: Sequence[Turn]) -> list[int]:
    """Positions of all turns by BM25 (k1 1.2, b 0.75), best first, ties in order."""
    scores = lexical(
        content_terms(question), [(term_text(f"{t.speaker} {t.text}"),) for t in turns],
        k1=1.2, b=0.75,
    )  # fmt: skip
    return sorted(range(len(turns)), key=lambda position: (-scores[position], position))


def ranked_by_meaning(question: str, matrix: Any, encoder: Any) -> list[int]:
    """Positions of the turns by cosine, nearest first."""
    import numpy as np

    query = np.asarray(encoder.encode([question])[0], dtype=np.float32)
    scores = matrix @ (query / max(1e-9, float(np.linalg.norm(query))))
    return [int(position) for position in np.argsort(-scores, kind="stable")]


def fused(*rankings: Sequence[int]) -> list[int]:
    """Reciprocal rank fusion of several rankings."""
    sums: Counter[int] = Counter()
    for ranking in rankings:
        for rank, position in enumerate(ranking, start=1):
            sums[position] += 1 / (RRF + rank)  # type: ignore[assignment]
    return sorted(sums, key=lambda position: (-sums[position], position))


def filled(
    ranking: Sequence[int], turns: Sequence[Turn], sizes: Sequence[int], budget: int
) -> list[str]:
    """The lines of the best turns that fit, passing over those that do not."""
    lines: list[str] = []
    for position in ranking:
        if sizes[position] <= budget:
            budget -= sizes[position]
            lines.append(turns[position].text)
    return lines


def shown_texts(envelope: tenure.Envelope) -> list[str]:
    """The texts of the sections in which talk stands."""
    texts: list[str] = []
    for block in tenure.parse_envelope(envelope.text):
        if block.section in SHOWN_SECTIONS:
            pieces = getattr(block, "pieces", ())
            texts += [piece.text for piece in pieces] if pieces else [block.text]
    return texts


def content_tokens(envelope: tenure.Envelope) -> int:
    """The tokens of what an envelope says, with who said it; the rest is its frame."""
    lines: list[str] = []
    for block in tenure.parse_envelope(envelope.text):
        for piece in block.pieces:
            lines.append(f"{piece.who}: {piece.text}" if piece.who else piece.text)
        if not block.pieces and block.section != "system_policy":
            lines.append(block.text)
    return counter_for("generic").count("\n".join(lines))


def matrix_of(turns: Sequence[Turn], encoder: Any) -> Any:
    """The unit vectors of the turns' lines."""
    import numpy as np

    rows: list[Any] = []
    for first in range(0, len(turns), 64):
        rows += list(encoder.encode([turn.line for turn in turns[first : first + 64]]))
    matrix = np.asarray(rows, dtype=np.float32)
    return matrix / np.maximum(1e-9, np.linalg.norm(matrix, axis=1, keepdims=True))


def ask_meeting(
    meeting: dict[str, Any], options: argparse.Namespace, tally: Tally, encoder: Any
) -> None:
    """Load one meeting, ask its questions and count what stood in each context."""
    turns = turns_of(meeting, options.spread_days)
    by_id = {turn.id: turn for turn in turns}
    counter = counter_for("generic")
    sizes = [counter.count(turn.line + "\n") for turn in turns]
    matrix = matrix_of(turns, encoder) if encoder else None
    clock = Clock()

    with tempfile.TemporaryDirectory() as folder:
        memory = tenure.connect(
            str(Path(folder) / "talk.db"), clock=clock, encoder=encoder, policy=options.pack
        )
        objects: dict[int, str] = {}
        for turn in turns:
            clock.now = turn.day
            receipts = memory.observe(
                turn.text, turn.speaker, at=turn.day,
                source_origin=f"chat://{meeting['conversation']}",
            )  # fmt: skip
            objects[turn.id] = receipts[0].object_id
        memory.flush()
        clock.now = START + timedelta(days=options.spread_days or 1)
        variants = {
            part: tenure.connect(
                str(Path(folder) / "talk.db"), clock=clock, encoder=encoder, policy=policy
            )
            for part, policy in ablated(options, encoder).items()
        }

        for question in meeting["questions"][: options.questions]:
            evidence = [by_id[number] for number in question["evidence"] if number in by_id]
            if not evidence:
                continue
            rankings = {"bm25": ranked_by_words(question["question"], turns)}
            if encoder:
                rankings["dense"] = ranked_by_meaning(question["question"], matrix, encoder)
                rankings["hybrid"] = fused(rankings["bm25"], rankings["dense"])
            for budget in options.budget:
                for method, ranking in rankings.items():
                    context = ShownText(filled(ranking, turns, sizes, budget))
                    tally.recall[method, budget].append(mean(evidence, context))

                began = time.perf_counter()
                envelope = memory.compile(options.task, question["question"], budget_tokens=budget)
                tally.seconds.append(time.perf_counter() - began)
                texts = shown_texts(envelope)
                context = ShownText(texts)
                tally.recall["tenure", budget].append(mean(evidence, context))
                tally.tokens[budget].append((envelope.tokens, content_tokens(envelope)))
                explain(envelope, evidence, objects, context, budget, tally.causes[budget])
                for part, variant in variants.items():
                    envelope = variant.compile(
                        options.task, question["question"], budget_tokens=budget
                    )
                    context = ShownText(shown_texts(envelope))
                    tally.without[part, budget].append(mean(evidence, context))

        for store in (memory, *variants.values()):
            store.close()


def ablated(options: argparse.Namespace, encoder: Any) -> dict[str, Policy]:
    """The policies that each leave one part of the ranking out, where they are asked for."""
    policies: dict[str, Policy] = {}
    for part, numbers in ABLATIONS.items():
        if options.ablation and (encoder or part not in NEEDS_ENCODER):
            rules = replace(options.pack.compile, **numbers)
            policies[part] = replace(options.pack, compile=rules)
    return policies


def mean(evidence: Sequence[Turn], context: ShownText) -> float:
    """The mean share of the turns of evidence that stands in a context."""
    return statistics.fmean(context.share(turn.text) for turn in evidence)


def explain(
    envelope: tenure.Envelope,
    evidence: Sequence[Turn],
    objects: dict[int, str],
    context: ShownText,
    budget: int,
    causes: Counter[str],
) -> None:
    """Count why turns of evidence stayed out, and whether each would have fitted."""
    omitted = {omission.object_id: omission for omission in envelope.trace.omitted_objects}
    free = budget - envelope.tokens_upper
    for turn in evidence:
        if context.share(turn.text) >= 0.5:
            continue
        omission = omitted.get(objects[turn.id])
        cause = "never a candidate"
        if omission is not None:
            cause = f"{omission.stage}: {omission.reason}"
        fits = counter_for("generic").count(turn.line) <= free
        causes[f"{cause}{', though it fitted' if fits else ''}"] += 1


def show(tally: Tally, options: argparse.Namespace) -> dict[str, Any]:
    """Print the tables and return their figures."""
    methods = sorted({method for method, _ in tally.recall}, key=("bm25 dense hybrid tenure").find)
    count = len(tally.recall["tenure", options.budget[0]])
    table = Table(title=f"evidence recall in percent, {count} questions")
    table.add_column("method")
    for budget in options.budget:
        table.add_column(f"{budget:,}", justify="right")
    figures: dict[str, Any] = {"questions": count, "recall": {}}
    for method in methods:
        row = [100 * statistics.fmean(tally.recall[method, budget]) for budget in options.budget]
        figures["recall"][method] = row
        table.add_row(method, *(f"{share:.1f}" for share in row))
    spent = [tally.tokens[budget] for budget in options.budget]
    used = [statistics.fmean(tokens for tokens, _ in pairs) for pairs in spent]
    frame = [
        100 * (1 - sum(inside for _, inside in pairs) / max(1, sum(tokens for tokens, _ in pairs)))
        for pairs in spent
    ]
    figures |= {"tokens": used, "frame_percent": frame}
    table.add_row("tokens used", *(f"{tokens:,.0f}" for tokens in used))
    table.add_row("frame, %", *(f"{share:.0f}" for share in frame))
    console = Console(width=100)
    console.print(table)

    figures["ablation"] = show_ablation(tally, options.budget, console)
    losses = Table(title="turns of evidence that tenure left out, by cause")
    losses.add_column("cause")
    for budget in options.budget:
        losses.add_column(f"{budget:,}", justify="right")
    causes = Counter[str]()
    for budget in options.budget:
        causes += tally.causes[budget]
    for cause, _ in causes.most_common(14):
        losses.add_row(cause, *(str(tally.causes[budget][cause]) for budget in options.budget))
    console.print(losses)
    milliseconds = 1000 * statistics.median(tally.seconds)
    console.print(f"median compile {milliseconds:.1f} ms")
    figures["compile_ms"] = milliseconds
    return figures


def show_ablation(tally: Tally, budgets: Sequence[int], console: Console) -> dict[str, Any]:
    """Print what each part of the ranking brings, and return it: points by budget."""
    parts = [part for part in ABLATIONS if (part, budgets[0]) in tally.without]
    table = Table(title="points of recall that a part of the ranking brings")
    table.add_column("part")
    for budget in budgets:
        table.add_column(f"{budget:,}", justify="right")

    gains: dict[str, list[float]] = {}
    for part in parts:
        gains[part] = []
        for budget in budgets:
            whole = statistics.fmean(tally.recall["tenure", budget])
            gains[part].append(100 * (whole - statistics.fmean(tally.without[part, budget])))
        table.add_row(part, *(f"{points:+.1f}" for points in gains[part]))
    if parts:
        console.print(table)
    return gains


def main() -> None:
    """Ask the questions of the meetings and print the tables."""
    parser = argparse.ArgumentParser(description="evidence of real talk in a context")
    parser.add_argument("--meetings", type=int, default=None, help="only the first so many")
    parser.add_argument("--questions", type=int, default=None, help="only so many a meeting")
    parser.add_argument("--budget", type=int, nargs="*", default=[1000, 2000, 4000, 8000])
    parser.add_argument("--task", default="analytical_reporting")
    parser.add_argument("--encoder", default=None, help="onnx or sentence-transformers")
    parser.add_argument("--spread-days", type=int, default=None)
    parser.add_argument("--ablation", action="store_true", help="ask without each part, too")
    parser.add_argument("--policy", type=Path, default=None, help="a settings file with [policy]")
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    shared = os.environ.get("TENURE_SHARED")
    if not shared or not Path(shared, FILE).is_file():
        print("no talk to ask about: set TENURE_SHARED to the folder that holds data/")
        return
    options.pack = load(path=options.policy).settings.policy if options.policy else DEFAULT
    encoder = None
    if options.encoder:
        from tenure.service.encoders.choice import encoder_of

        encoder = encoder_of(options.encoder)

    tally = Tally()
    for number, meeting in enumerate(meetings(Path(shared, FILE), options.meetings), start=1):
        ask_meeting(meeting, options, tally, encoder)
        print(f"meeting {number}: {len(tally.recall['tenure', options.budget[0]])} questions")
    figures = show(tally, options)
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
