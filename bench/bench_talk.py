"""Evidence of real talk in a context: tenure beside BM25, dense and hybrid, counted by one counter.

    python -P bench/bench_talk.py [--encoder onnx] [--year] [--meetings 8] [--questions 8]
                                  [--budget 1000 2000 4000 8000] [--ablation] [--policy FILE]
                                  [--resume FILE] [--minutes 8] [--json FILE]

Each meeting of `talk/meetings.jsonl.gz` is a store of its own; its turns are observed in order, a
minute apart, and with `--year` a second time evenly over 365 days with all questions asked on the
last. Turns without a word are left out, of the units and of the evidence. A turn counts by the
share of its words that stands in the context's history, evidence or memory: runs of four words that
are found there, or the whole of a shorter turn as a line of its own. The baselines fill the same
budget with lines `[date] who: text`, best first, passing over what does not fit; their budget holds
lines alone, tenure's the whole envelope.

Printed are the recall by budget beside its bar, the share of the tokens that is frame, how much of
the evidence shown stands with who said it, up to 40 characters, and when (of turns that are there
themselves, not by the same words of another), and for the turns that tenure left out the stage and
reason, and whether they would have fitted. `--ablation` asks again without each part of the ranking
and prints what it brings.

`--resume FILE` writes the counts of each meeting to that file as soon as it is asked, and takes
those that stand there already from it; `--minutes` stops after the meeting that passes so many, so
that a long run can be made in pieces. Delete the file after a change of the code.

The folder that TENURE_SHARED names holds the data; without it the script says so and stops.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import tenure
from tenure.bench.script import fresh_memory, parser_of, shared_file, write_json
from tenure.bench.talk_data import (
    MEETINGS,
    START,
    Clock,
    ShownText,
    Turn,
    filled,
    fused,
    line_sizes,
    matrix_of,
    meetings,
    ranked_by_meaning,
    ranked_by_words,
    turns_of,
    words,
)
from tenure.bench.talk_results import Counts, Results, shares_of_frame
from tenure.compiler.format.lines import who_of
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.policy import DEFAULT, Policy
from tenure.service.encoders.choice import encoder_of
from tenure.service.settings import load

SHOWN_SECTIONS = frozenset({"history", "evidence", "memory", "turn_memory", "pinned_knowledge"})
YEAR_DAYS = 365
BASELINES = ("bm25", "dense", "hybrid")
BARS = {
    "tenure": ("bm25", {1000: 10, 2000: 12, 4000: 12, 8000: 12}),
    "tenure, encoder": ("hybrid", {1000: 8, 2000: 10, 4000: 10, 8000: 10}),
}
"""By method: the baseline that it is held to, and by how many points it is to be ahead."""
FRAME_BARS = {1000: 20, 8000: 10}
"""By budget: the percent of the tokens that may be frame."""
ABLATIONS: dict[str, dict[str, Any]] = {
    "turns lift their neighbours": {"talk_lift": 0.0},
    "telling turns before faint ones": {"talk_focus": 1},
    "nearness from what most reach": {"talk_background": 0.0},
    "turns around found ones": {"talk_candidates": 0},
    "words beside meaning": {"lexical_weight": 0.0},
    "meaning beside words": {"lexical_weight": 1.0},
    "freshness": {"freshness_weight": 0.0},
    "authority": {"authority_weight": 0.0},
    "nearness in the graph": {"graph_weight": 0.0},
    "facts of one subject": {"subject_lift": 0.0},
}
"""Parts of the ranking, each with the numbers of a policy that leaves it out."""
NEEDS_ENCODER = frozenset(
    {"words beside meaning", "meaning beside words", "nearness from what most reach"}
)


@dataclass(frozen=True, slots=True)
class Method:
    """A way to fill a context: a baseline, or a store with its encoder, clock and policy."""

    name: str
    encoder: bool = False
    spread_days: int | None = None
    part: str = ""
    """The part of the ranking that is left out."""


def methods_of(options: argparse.Namespace) -> list[Method]:
    """What is asked, the baselines first."""
    methods = [Method("bm25")]
    stores = [Method("tenure")]
    if options.encoder:
        methods += [Method("dense", True), Method("hybrid", True)]
        stores.append(Method("tenure, encoder", True))

    for store in stores:
        methods.append(store)
        if options.year:
            methods.append(replace(store, name=f"{store.name}, year", spread_days=YEAR_DAYS))
        for part in ABLATIONS if options.ablation else ():
            if store.encoder or part not in NEEDS_ENCODER:
                methods.append(replace(store, name=f"{store.name} - {part}", part=part))
    return [method for method in methods if not options.only or method.name in options.only]


class Remembering:
    """An encoder that makes each vector once: two stores of a meeting hold the same texts."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder
        self.id, self.dimensions = encoder.id, encoder.dimensions
        self.max_tokens = encoder.max_tokens
        self.vectors: dict[str, Any] = {}

    def encode(self, texts: Sequence[str]) -> list[Any]:
        """The vectors of some texts."""
        unknown = list(dict.fromkeys(text for text in texts if text not in self.vectors))
        if unknown:
            self.vectors.update(zip(unknown, self.encoder.encode(unknown), strict=True))
        return [self.vectors[text] for text in texts]

    def count_tokens(self, text: str) -> int:
        """The tokens of a text."""
        count: int = self.encoder.count_tokens(text)
        return count


class Asking:
    """One meeting, asked by every method."""

    def __init__(self, meeting: dict[str, Any], options: argparse.Namespace, encoder: Any) -> None:
        self.meeting = meeting
        self.options = options
        self.encoder = Remembering(encoder) if encoder else None
        self.turns = turns_of(meeting)
        by_id = {turn.id: turn for turn in self.turns}

        self.questions: list[tuple[str, list[Turn]]] = []
        for question in meeting["questions"][: options.questions]:
            evidence = [by_id[number] for number in question["evidence"] if number in by_id]
            if evidence:
                self.questions.append((question["question"], evidence))

    def by(self, method: Method) -> Counts:
        """The counts of the meeting's questions by one method."""
        if method.name in BASELINES:
            return self._baseline(method.name)
        return self._store(method)

    def _baseline(self, name: str) -> Counts:
        counts = Counts()
        sizes = line_sizes(self.turns)
        matrix = None if name == "bm25" else matrix_of(self.turns, self.encoder)

        for question, evidence in self.questions:
            ranking = ranked_by_words(question, self.turns)
            if matrix is not None:
                by_meaning = ranked_by_meaning(question, matrix, self.encoder)
                ranking = by_meaning if name == "dense" else fused(ranking, by_meaning)
            for budget in self.options.budget:
                context = ShownText(filled(ranking, self.turns, sizes, budget))
                counts.recall[budget].append(mean(evidence, context))
        return counts

    def _store(self, method: Method) -> Counts:
        counts = Counts()
        counter = counter_for("generic")
        with self._loaded(method) as (memory, objects):
            for question, evidence in self.questions:
                for budget in self.options.budget:
                    began = time.thread_time()
                    envelope = memory.compile(self.options.task, question, budget_tokens=budget)
                    counts.seconds.append(time.thread_time() - began)

                    context = ShownText(shown_texts(envelope))
                    counts.recall[budget].append(mean(evidence, context))
                    inside = counter.count(content_of(envelope))
                    counts.tokens[budget].append((envelope.tokens, inside))
                    shown_turns = turns_inside(envelope, evidence, objects)
                    counts.labels += labels(envelope, shown_turns, context, method.spread_days)
                    counts.causes[budget] += causes(envelope, evidence, objects, context, budget)
        return counts

    @contextmanager
    def _loaded(self, method: Method) -> Iterator[tuple[tenure.Memory, dict[int, str]]]:
        """A store that heard the meeting turn by turn, and the object of each turn."""
        clock = Clock()
        encoder = self.encoder if method.encoder else None
        policy = without_part(self.options.pack, method.part)
        with fresh_memory(clock=clock, encoder=encoder, policy=policy) as memory:
            objects: dict[int, str] = {}
            for turn in turns_of(self.meeting, method.spread_days):
                clock.now = turn.day
                receipts = memory.observe(
                    turn.text,
                    turn.speaker,
                    at=turn.day,
                    source_origin=f"chat://{self.meeting['conversation']}",
                )
                objects[turn.id] = receipts[0].object_id
            memory.flush()
            clock.now = START + timedelta(days=method.spread_days or 1)

            yield memory, objects


def without_part(pack: Policy, part: str) -> Policy:
    """The policy that leaves one part of the ranking out."""
    if not part:
        return pack
    return replace(pack, compile=replace(pack.compile, **ABLATIONS[part]))


def shown_texts(envelope: tenure.Envelope) -> list[str]:
    """The texts of the sections in which talk stands."""
    texts: list[str] = []
    for block in tenure.parse_envelope(envelope.text):
        if block.section in SHOWN_SECTIONS:
            texts += [piece.text for piece in block.pieces] or [block.text]
    return texts


def content_of(envelope: tenure.Envelope) -> str:
    """What an envelope says, with who said it; the rest is its frame."""
    lines: list[str] = []
    for block in tenure.parse_envelope(envelope.text):
        for piece in block.pieces:
            lines.append(f"{piece.who}: {piece.text}" if piece.who else piece.text)
        if not block.pieces and block.section != "system_policy":
            lines.append(block.text)
    return "\n".join(lines)


def turns_inside(
    envelope: tenure.Envelope, evidence: Sequence[Turn], objects: dict[int, str]
) -> list[Turn]:
    """The turns of evidence that an envelope holds, or left out because it holds their words."""
    # "Right ." stands in many a line: that another said it does not show a turn that is not there.
    object_ids = {shown.object_id for shown in envelope.trace.compiled_objects}
    for omission in envelope.trace.omitted_objects:
        if omission.reason == "duplicate_of":
            object_ids.add(omission.object_id)
    return [turn for turn in evidence if objects[turn.id] in object_ids]


def labels(
    envelope: tenure.Envelope, evidence: Sequence[Turn], context: ShownText, spread: int | None
) -> Iterator[bool]:
    """Yield of each turn of evidence that is shown whether who and when stand with it."""
    pieces = [piece for block in tenure.parse_envelope(envelope.text) for piece in block.pieces]
    for turn in evidence:
        if context.share(turn.text) < 1.0:
            continue
        spoken = words(turn.text)
        same = [piece for piece in pieces if _holds(words(piece.text), spoken)]
        # Another may have said the same words; one line that names the right one is enough.
        yield any(
            words(piece.who) == words(who_of(turn.speaker))
            and (spread is not None or str(turn.day.date()) in piece.when)
            for piece in same
            if piece.who and piece.when
        )


def _holds(text: Sequence[str], part: Sequence[str]) -> bool:
    """Whether some words stand in others, in a row."""
    last = len(text) - len(part)
    return any(text[first : first + len(part)] == part for first in range(last + 1))


def mean(evidence: Sequence[Turn], context: ShownText) -> float:
    """The mean share of the turns of evidence that stands in a context."""
    return statistics.fmean(context.share(turn.text) for turn in evidence)


def causes(
    envelope: tenure.Envelope,
    evidence: Sequence[Turn],
    objects: dict[int, str],
    context: ShownText,
    budget: int,
) -> Counter[str]:
    """Why turns of evidence stayed out, and whether each would have fitted."""
    omitted = {omission.object_id: omission for omission in envelope.trace.omitted_objects}
    free = budget - envelope.tokens_upper
    counts = Counter[str]()
    for turn in evidence:
        if context.share(turn.text) >= 0.5:
            continue
        omission = omitted.get(objects[turn.id])
        cause = "never a candidate"
        if omission is not None:
            cause = f"{omission.stage}: {omission.reason}"
        fits = counter_for("generic").count(turn.line) <= free
        counts[f"{cause}{', though it fitted' if fits else ''}"] += 1
    return counts


def percent(shares: Sequence[float]) -> float:
    """The mean of some shares, in percent."""
    return 100 * statistics.fmean(shares) if shares else float("nan")


def bar_of(method: Method, budget: int, totals: dict[str, Counts]) -> float | None:
    """The recall in percent that a method is to reach; None where nothing is asked of it."""
    if method.part or method.spread_days or method.name not in BARS:
        return None
    baseline, ahead = BARS[method.name]
    if baseline not in totals or budget not in ahead:
        return None
    return percent(totals[baseline].recall[budget]) + ahead[budget]


def by_budget(title: str, heading: str, budgets: Sequence[int]) -> Table:
    """A table with a column a budget."""
    table = Table(title=title)
    table.add_column(heading)
    for budget in budgets:
        table.add_column(f"{budget:,}", justify="right")
    return table


def show(results: Results, methods: Sequence[Method], options: argparse.Namespace) -> Any:
    """Print the tables and return their figures."""
    console, budgets = Console(width=100), options.budget
    totals = {method.name: results.total(method.name) for method in methods}
    figures: dict[str, Any] = {}

    questions = {name: len(total.recall[budgets[0]]) for name, total in totals.items()}
    title = f"evidence recall in percent, {max(questions.values())} questions"
    table = by_budget(title, "method", budgets)
    for method in methods:
        if method.part:
            continue
        total = totals[method.name]
        row = [percent(total.recall[budget]) for budget in budgets]
        name = f"{method.name} ({questions[method.name]} questions)"
        table.add_row(name, *(f"{share:.1f}" for share in row))
        figures[method.name] = {"questions": questions[method.name], "recall": row}
        bars = [bar_of(method, budget, totals) for budget in budgets]
        if any(bars):
            table.add_row("  bar", *("-" if bar is None else f"{bar:.1f}" for bar in bars))
        if total.tokens:
            used, frame = shares_of_frame(total, budgets)
            table.add_row("  tokens", *(f"{tokens:,.0f}" for tokens in used))
            table.add_row("  frame, %", *(f"{share:.0f}" for share in frame))
            figures[method.name] |= {"tokens": used, "frame_percent": frame}
    frame_bars = [FRAME_BARS.get(budget) for budget in budgets]
    table.add_row("  bar of frame, %", *(str(bar or "-") for bar in frame_bars))
    console.print(table)

    for method in methods:
        total = totals[method.name]
        if total.seconds and not method.part:
            named, shown = sum(total.labels), len(total.labels)
            milliseconds = 1000 * statistics.median(total.seconds)
            console.print(f"{method.name}: with who and when {named} of {shown} turns shown whole; "
                          f"median compile {milliseconds:.1f} ms of CPU")  # fmt: skip
            figures[method.name] |= {"labelled": [named, shown], "compile_ms": milliseconds}
            show_losses(method.name, total, budgets, console)
    show_ablation(methods, totals, budgets, console)
    return figures


def show_losses(name: str, total: Counts, budgets: Sequence[int], console: Console) -> None:
    """Print why turns of evidence stayed out."""
    counts = Counter[str]()
    for budget in budgets:
        counts += total.causes[budget]

    table = by_budget(f"turns of evidence that {name} left out, by cause", "cause", budgets)
    for cause, _ in counts.most_common(14):
        table.add_row(cause, *(str(total.causes[budget][cause]) for budget in budgets))
    console.print(table)


def show_ablation(
    methods: Sequence[Method], totals: dict[str, Counts], budgets: Sequence[int], console: Console
) -> None:
    """Print what each part of the ranking brings: points by budget."""
    table = by_budget("points of recall that a part of the ranking brings", "part", budgets)
    for method in methods:
        if method.part:
            whole = totals["tenure, encoder" if method.encoder else "tenure"]
            gains: list[str] = []
            for budget in budgets:
                gain = percent(whole.recall[budget])
                gain -= percent(totals[method.name].recall[budget])
                gains.append(f"{gain:+.1f}")
            table.add_row(method.name, *gains)
    if table.row_count:
        console.print(table)


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What a command line asks for, by default that of the process."""
    return parser_of(
        __doc__,
        meetings=int,
        questions=int,
        budget=[1000, 2000, 4000, 8000],
        task="analytical_reporting",
        encoder=str,
        year=False,
        ablation=False,
        policy=Path,
        only=[],
        resume=Path,
        minutes=float,
        json=Path,
    ).parse_args(arguments)


def settings_of(
    methods: Sequence[Method], options: argparse.Namespace, encoder: Any
) -> dict[str, Any]:
    """What the counts of each method rest on."""
    settings: dict[str, Any] = {}
    for method in methods:
        settings[method.name] = {
            "budget": options.budget,
            "questions": options.questions,
            "task": options.task,
            "policy": options.pack.digest,
            "encoder": encoder.id if method.encoder else None,
        }
    return settings


def main() -> None:
    """Ask the questions of the meetings and print the tables."""
    options = options_of()
    talk = list(meetings(shared_file(MEETINGS), options.meetings))
    options.pack = load(path=options.policy).settings.policy if options.policy else DEFAULT
    encoder = encoder_of(options.encoder)
    methods = methods_of(options)
    results = results_of(talk, methods, options, encoder)
    write_json(options.json, show(results, methods, options))


def results_of(
    talk: Sequence[dict[str, Any]],
    methods: Sequence[Method],
    options: argparse.Namespace,
    encoder: Any,
) -> Results:
    """Ask the questions of the meetings by every method."""
    results = Results(options.resume, settings_of(methods, options, encoder))
    began = time.monotonic()
    for number, meeting in enumerate(talk, start=1):
        name = meeting["conversation"]
        missing = [method for method in methods if (name, method.name) not in results.counts]
        if not missing:
            continue
        if options.minutes and time.monotonic() - began > 60 * options.minutes:
            print(f"stopped before meeting {number}; the same command goes on")
            break
        asking = Asking(meeting, options, encoder)
        for method in missing:
            results.take(name, method.name, asking.by(method))
        print(f"meeting {number}: {len(asking.questions)} questions", flush=True)

    return results


if __name__ == "__main__":
    main()
