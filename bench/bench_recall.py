"""Evidence in the context, measured on a real history: who held which seat, party and office when.

    python bench/bench_recall.py [--people 60] [--budget 500 1000] [--encoder onnx] [--keep FILE]

The question set is built from the recorded terms of members of Congress (CC0): questions about a
seat or a party in a year, whose evidence is the recorded term that covers it and whose stale items
are the other terms of that slot with another value; and as many that nothing answers, about years
before the first term and about people who never sat. Every recorded event is loaded, so each
question stands among all others. It is asked by name, without naming an entity to the compiler.
Without `--file` the folder that TENURE_SHARED names is used, and it says so if that is not set.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tenure.bench.evaluation.__main__ import show_recall
from tenure.bench.evaluation.recall import EvaluationOptions, evaluate_recall
from tenure.bench.script import options_of, shared_file, write_json
from tenure.faces.cli.frame import Screen
from tenure.service.visual.text import json_text

HISTORY = "data/congress/events-2012-2018.jsonl.gz"
ASKED = {"seat": "Which seat did {name} hold in {year}?",
         "party": "Which party did {name} belong to in {year}?"}  # fmt: skip
STRANGERS = (
    "Barnaby Quillfeather",
    "Odalys Thornebrook",
    "Lucasta Vanterpool",
    "Ignatz Wolkenried",
)
Line = dict[str, Any]


def events(path: Path) -> Iterator[Line]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def items(history: list[Line]) -> Iterator[Line]:
    """Yield the definitions, and the events as facts in the order of their recording."""
    for number, event in enumerate(history):
        if "define" in event:
            yield event
        else:
            fact = {name: value for name, value in event.items() if name != "recorded_at"}
            yield {"id": f"e{number}", "at": event["recorded_at"], **fact}


def truth(recorded: list[Line], year: int) -> Line | None:
    """Return the event that decides the middle of a year: the last recorded one that covers it."""
    day, found = f"{year}-07-01T00:00:00Z", None
    for event in recorded:
        if event["valid_from"] <= day < (event.get("valid_until") or "9"):
            found = None if event["op"] == "delete" else event
    return found


def labels(recorded: list[Line], year: int, decided: Line) -> Line:
    """Return evidence and stale items: what says the value then, and what says another value."""
    day, value = f"{year}-07-01T00:00:00Z", decided["value"]
    said = [e for e in recorded if e["op"] != "delete"]
    evidence = [
        e["id"] for e in said
        if e["value"] == value and e["valid_from"] <= day < (e.get("valid_until") or "9")
    ]  # fmt: skip
    return {"evidence": [evidence], "stale": [e["id"] for e in said if e["value"] != value]}


def questions(facts: list[Line], people: int) -> Iterator[Line]:
    """Yield an answerable and an unanswerable question for each of some people."""
    terms: dict[tuple[str, str], list[Line]] = defaultdict(list)
    names: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        who = fact["subject"]["external_ids"]["bioguide"]
        names[fact["subject"]["name"]].add(who)
        terms[who, fact["slot"]].append(fact)
    chance = random.Random(11)
    alone = {next(iter(who)): name for name, who in names.items() if len(who) == 1}
    chosen = chance.sample(sorted(alone), min(people, len(alone)))
    for number, who in enumerate(chosen):
        slot = "seat" if number % 2 else "party"
        recorded, name = terms[who, slot], alone[who]
        years = [int(event["valid_from"][:4]) + 1 for event in recorded]
        year, before = chance.choice(years), min(years) - 9
        decided = truth(recorded, year)
        if decided is not None:
            yield {
                "id": f"{who}-{slot}-{year}",
                "question": ASKED[slot].format(name=name, year=year),
                **labels(recorded, year, decided),
                "as_of": f"{year}-07-01T00:00:00Z",
                "category": slot,
            }
        yield {
            "id": f"{who}-{slot}-{before}",
            "question": ASKED[slot].format(name=name, year=before),
            "answerable": False,
            "as_of": f"{before}-07-01T00:00:00Z",
            "category": "before",
        }
    for number, name in enumerate(STRANGERS):
        yield {
            "id": f"stranger-{number}",
            "question": ASKED["seat"].format(name=name, year=2001),
            "answerable": False,
            "entities": [name],
            "as_of": "2001-07-01T00:00:00Z",
            "category": "stranger",
        }


def written(history: Path, people: int, target: Path) -> None:
    lines = list(items(list(events(history))))
    facts = [line for line in lines if "define" not in line]
    asked = list(questions(facts, people))
    with target.open("w", encoding="utf-8") as file:
        for line in (*lines, *asked):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    hopeless = sum(not each.get("answerable", True) for each in asked)
    print(f"{len(facts)} facts, {len(asked)} questions, {hopeless} of them without an answer")


def main() -> None:
    options = options_of(
        __doc__,
        file=Path,
        people=60,
        budget=[500, 1000],
        encoder=str,
        keep=Path,
        details=Path,
        json=Path("bench/results/recall.json"),
    )
    history = options.file or shared_file(HISTORY)
    with tempfile.TemporaryDirectory() as name:
        target = options.keep or Path(name) / "congress-questions.jsonl"
        written(history, options.people, target)
        run(target, options)


def run(target: Path, given: argparse.Namespace) -> None:
    options = EvaluationOptions(budgets=tuple(given.budget), encoder=given.encoder)
    scores: list[Line] = []
    report = evaluate_recall(
        target,
        options=options,
        progress=lambda done, whole: print(f"\r{done}/{whole}", end="", flush=True),
        watch=lambda score: scores.append(json.loads(json_text(score))),
    )
    print()
    show_recall(Screen.of_process(), report)
    if given.details is not None:
        given.details.write_text("".join(f"{json.dumps(s)}\n" for s in scores), encoding="utf-8")
    write_json(given.json, json.loads(json_text(report)))


if __name__ == "__main__":
    main()
