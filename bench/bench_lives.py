"""What an assistant is shown of a changing life: present memory, stale memory, FAMA*.

    python -P bench/bench_lives.py [--mode structured rules scripted] [--budget 1000 2000 4000]
                                   [--people 4] [--encoder onnx] [--json FILE]

Each person of `talk/changing-lives.jsonl.gz` is a store of its own; things are said, changed, taken
back and forgotten over 28 days, and 40 questions are asked after the last session. `structured`
writes what each session's operation says; `rules` observes the user's turns alone, so that the
rules of extraction decide; `scripted` observes the same turns with a model that reads perfectly, at
the end of the way that any model takes. Asked are the person's own principal (`bound`), and the
owner of a store of his own, who states for whom (`owner`) or nothing at all (`newcomer`). Beside
them BM25, and with an encoder dense and hybrid, show the user's turns as lines.

A value is shown if its words stand in the context, whose request, headings and boundaries do not
count. Presence is the share of the values to remember that are shown, stale the share of the
values to forget, FAMA* = max(0, presence - |F| / (|F| + |M|) * stale): plain means over the
questions, with half the width of the 95 % interval, beside the bar.

The folder that TENURE_SHARED names holds the data; without it the script says so and stops.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import tenure
from tenure.bench.lives_data import (
    KINDS,
    LIVES,
    Life,
    Question,
    Score,
    document_of,
    moment_of,
    person_of,
    questions_of,
    said_by_user,
    score,
    slots_of,
)
from tenure.bench.lives_script import PerfectReader, script_slots
from tenure.bench.script import fresh_memory, parser_of, print_table, shared_file, write_json
from tenure.bench.talk_data import (
    Clock,
    Turn,
    filled,
    fused,
    line_sizes,
    matrix_of,
    ranked_by_meaning,
    ranked_by_words,
)
from tenure.service.encoders.choice import encoder_of
from tenure.service.extraction.model import ModelExtractor
from tenure.service.extraction.providers import OpenAIProvider
from tenure.tests.service.model_server import model_server

AHEAD_OF_BM25 = 5.0
BARS = {"structured": 97.0, "scripted": 95.0}
"""FAMA* by mode; that of the rules is BM25's and five points."""
CALLERS = ("bound", "owner", "newcomer")


@dataclass(slots=True)
class Tally:
    """What the questions of all people come to."""

    scores: dict[tuple[str, int], list[tuple[str, Score]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """By method and budget: the kind of each question, and how it was served."""
    accounts: Counter[str] = field(default_factory=Counter)
    """What came of the claims that a model proposed."""

    def take(self, method: str, budget: int, question: Question, context: str) -> None:
        """Score a context."""
        self.scores[method, budget].append((question.kind, score(question, context)))


def context_of(envelope: tenure.Envelope) -> str:
    """The text of an envelope without request, headings and boundaries."""
    blocks = tenure.parse_envelope(envelope.text)
    return "\n".join(block.text for block in blocks if block.section != "request")


def load_structured(memory: tenure.Memory, clock: Clock, life: Life) -> None:
    """Write what each session's operation says."""
    for name, fields in slots_of(life).items():
        memory.vocabulary.define_slot(name, **fields)
    for at, claim in life.writes:
        clock.now = at
        is_own = claim["subject"] == life.person
        subject = person_of(life.person) if is_own else document_of(claim["subject"])
        memory.write(**{**claim, "subject": subject})


def load_talk(
    memory: tenure.Memory, clock: Clock, record: dict[str, Any], accounts: Counter[str]
) -> None:
    """Observe what the user said, turn by turn."""
    speaker = person_of(record["person"])
    for session in record["sessions"]:
        clock.now = moment_of(session)
        for turn in said_by_user(session):
            passage, *claims = memory.observe(turn["message"], speaker, at=clock.now)
            accounts["claims"] += len(claims)
            accounts["refused or dropped"] += "dropped" in passage.detail
            accounts["model failed"] += "extractor_unavailable" in passage.warnings


@contextmanager
def scripted_extractor(record: dict[str, Any], life: Life) -> Iterator[ModelExtractor]:
    """An extractor whose model reads perfectly, behind a server on this machine."""
    with model_server() as server:
        server.read = PerfectReader(record, life).answer
        provider = OpenAIProvider("good", base_url=f"{server.url}/v1")
        yield ModelExtractor(provider, prices=(0.25, 2.0))


def ask_baselines(
    record: dict[str, Any],
    questions: Sequence[Question],
    options: argparse.Namespace,
    encoder: Any,
    tally: Tally,
) -> None:
    """Show the user's turns that plain retrieval puts into each budget."""
    turns: list[Turn] = []
    for session in record["sessions"]:
        for turn in said_by_user(session):
            turns.append(Turn(len(turns), "user", turn["message"], moment_of(session)))
    sizes = line_sizes(turns)
    matrix = matrix_of(turns, encoder) if encoder else None

    for question in questions:
        rankings = {"bm25": ranked_by_words(question.text, turns)}
        if encoder:
            rankings["dense"] = ranked_by_meaning(question.text, matrix, encoder)
            rankings["hybrid"] = fused(rankings["bm25"], rankings["dense"])
        for method, ranking in rankings.items():
            for budget in options.budget:
                lines = filled(ranking, turns, sizes, budget)
                tally.take(method, budget, question, "\n".join(lines))


def ask_store(
    record: dict[str, Any],
    life: Life,
    mode: str,
    caller: str,
    options: argparse.Namespace,
    encoder: Any,
    tally: Tally,
) -> None:
    """Load one life as somebody, and ask its questions as the same."""
    clock = Clock()
    with ExitStack() as stack:
        extractor = None
        if mode == "scripted":
            extractor = stack.enter_context(scripted_extractor(record, life))
        owner = stack.enter_context(fresh_memory(clock=clock, encoder=encoder, extractor=extractor))
        memory = owner
        if caller == "bound":
            memory = owner.bind(tenure.Principal(tenant="default", user=life.person))

        if mode == "structured":
            load_structured(owner, clock, life)
        else:
            for name, fields in script_slots(life).items() if extractor else ():
                owner.vocabulary.define_slot(name, **fields)
            load_talk(memory, clock, record, tally.accounts)
        owner.flush()

        clock.now = moment_of(record["sessions"][-1]) + timedelta(minutes=5)
        people = (person_of(life.person)["name"],) if caller == "owner" else ()
        for question in questions_of(record, life):
            for budget in options.budget:
                envelope = memory.compile(
                    options.task, question.text, budget_tokens=budget, entities=people
                )
                tally.take(f"{mode}, {caller}", budget, question, context_of(envelope))


def interval(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of a mean."""
    return 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def bar_of(method: str, budget: int, tally: Tally) -> str:
    """The FAMA* that a method is to reach."""
    mode = method.partition(",")[0]
    if mode in BARS:
        return f"{BARS[mode]:.1f}"
    if mode != "rules":
        return ""
    fama = [line.fama for _, line in tally.scores["bm25", budget]]
    return f"{100 * statistics.fmean(fama) + AHEAD_OF_BM25:.1f}"


def show(tally: Tally) -> list[dict[str, Any]]:
    """Print presence, stale and FAMA* by method, budget and kind, and return them."""
    headings = ("method", "tokens", "n", "presence", "stale", "FAMA*", "±", "bar", *KINDS)
    figures: list[dict[str, Any]] = []
    for (method, budget), rows in tally.scores.items():
        stale = [line.stale for _, line in rows if line.stale is not None]
        fama = [line.fama for _, line in rows]
        kinds: list[str] = []
        for wanted in KINDS:
            kind = [line.fama for kind, line in rows if kind == wanted]
            kinds.append(f"{100 * statistics.fmean(kind):.1f}" if kind else "-")
        row = (
            method,
            f"{budget:,}",
            str(len(rows)),
            f"{100 * statistics.fmean(line.presence for _, line in rows):.1f}",
            f"{100 * statistics.fmean(stale):.1f}" if stale else "-",
            f"{100 * statistics.fmean(fama):.1f}",
            f"{100 * interval(fama):.1f}",
            bar_of(method, budget, tally),
            *kinds,
        )
        figures.append(dict(zip(headings, row, strict=True)))
    cells = (figure.values() for figure in figures)
    print_table(*headings, rows=cells, title="changing lives, percent")
    print(", ".join(f"{count} {what}" for what, count in tally.accounts.items()))
    return figures


def options_of(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What a command line asks for, by default that of the process."""
    parser = parser_of(
        __doc__,
        mode=["structured", "rules", "scripted"],
        caller=list(CALLERS),
        budget=[1000, 2000, 4000],
        task="analytical_reporting",
        encoder=str,
        json=Path,
    )
    parser.add_argument("--people", type=int, nargs="*", help="only these, from 1")
    return parser.parse_args(arguments)


def main() -> None:
    """Ask the questions and print the table."""
    options = options_of()
    figures = show(tally_of(options, encoder_of(options.encoder)))
    write_json(options.json, figures)


def tally_of(options: argparse.Namespace, encoder: Any) -> Tally:
    """Ask the questions of the people's lives, by every mode and caller."""
    tally = Tally()
    with gzip.open(shared_file(LIVES), "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if options.people and number not in options.people:
                continue
            record = json.loads(line)
            life = Life(record["person"])
            for session in record["sessions"]:
                life.take(session)
            ask_baselines(record, questions_of(record, life), options, encoder, tally)
            for mode in options.mode:
                for caller in options.caller:
                    ask_store(record, life, mode, caller, options, encoder, tally)
            print(f"person {number} asked", flush=True)
    return tally


if __name__ == "__main__":
    main()
