"""A copy of an Agent Memory Benchmark data set with other names, dates, values and wording.

A system that was tuned on the published sentences loses points on the copy; one that understands
their kind does not. Names keep their form (`checkout-service` stays a service with a hyphen), each
list of values is rotated by one, all dates move by the same number of days, and the questions are
put in other words by the table below. The scoring rules stay those of the benchmark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final

_DAYS: Final = timedelta(days=-217)
_DATE: Final = re.compile(r"\b(\d{4}-\d{2}-\d{2})(?=\b|T)")
_FIRST: Final = (
    "agata boris celia darek edda fabio gilda henrik isolde jarek katja leandro mirela nando "
    "oksana piotr quinta rainer silke tadeo ulla viggo wilma xaver ylva zdenek alba bruno clara "
    "dimos elke flora goran hedda ivo jana kasimir luz milos nerea otto palina raul signe"
).split()
_LAST: Final = "Abel Brandt Castro Dahl Elmer Farkas Gross Hald Ibsen Juhl Kranz Lorca".split()
_WORDS: Final = (
    "amber birch cedar delta ember flint grove heron indigo juniper kiln lagoon maple nectar opal "
    "pine quartz reed slate thyme umber violet willow yarrow zephyr basalt cobalt dune"
).split()
_COMPANIES: Final = ("Halden Works", "Corvo", "Tessera", "Umbra Labs", "Norrland Mills")
_VALUES: Final = (
    ("lives_in", "hq_city", "born_in"),
    ("speaks",),
    ("favourite_editor",),
    ("datastore",),
    ("deploy_region",),
)
"""Predicates whose values change places among each other."""

REWORDED: Final[tuple[tuple[str, str], ...]] = (
    (r"^In which city does (.+) live\?$", r"What is the city that \1 lives in?"),
    (r"^Where does (.+) live( now)?\?$", r"Which city is \1 living in\2?"),
    (r"^Which region (is|was) (.+) deployed to", r"In what region \1 \2 deployed"),
    (r"^Who (?:currently )?leads (.+)\?$", r"Who is the leader of \1?"),
    (r"^Who led (.+) on (\S+)\?$", r"Who was the leader of \1 on \2?"),
    (r"the team that owns", "the team responsible for"),
    (r"^Which team owns (.+)\?$", r"Who is the owner of \1?"),
    (r"the person who leads", "the leader of"),
    (r"the lead of", "the leader of"),
    (r"^Which languages does (.+) speak\?$", r"What languages are spoken by \1?"),
    (r"^Which datastore does (.+) use\?$", r"What is the database of \1?"),
    (r"^Which authentication strategy does (.+) use\?$", r"How does \1 authenticate?"),
    (r"^Which plan is (.+) on\?$", r"What is the plan of \1?"),
    (r"the project (\S+) works on", r"the project \1 is assigned to"),
    (r"In which city is (\S+)'s employer", r"In which city is the company \1 works for"),
    (r"^Which editor does (.+) use\?$", r"What is the favourite editor of \1?"),
    (r"^Which company employs (.+)\?$", r"Who is the employer of \1?"),
    (r"the company employing (.+)\?$", r"the employer of \1?"),
    (r"the head office of", "the headquarters of"),
    (r"^What is (.+)'s job title\?$", r"Which position does \1 hold?"),
)
"""The questions that name no slot, in other words."""


def write_changed(source: Path, target: Path) -> Path:
    """Write the changed copy of a data set folder; return the folder."""
    events, questions = (
        list(_lines(source / "events.jsonl")),
        list(_lines(source / "questions.jsonl")),
    )
    names = _new_names(events)
    spelled = {**names, **{name.title(): new.title() for name, new in names.items()}}
    target.mkdir(parents=True, exist_ok=True)
    metadata = json.loads((source / "metadata.json").read_text())
    metadata["evaluated_at"] = _moved(metadata["evaluated_at"])
    (target / "metadata.json").write_text(json.dumps(metadata))
    with (target / "events.jsonl").open("w") as file:
        for event in events:
            file.write(json.dumps(_changed(event, spelled)) + "\n")
    with (target / "questions.jsonl").open("w") as file:
        for question in questions:
            if "probe" not in question:
                question["question"] = reword(question["question"])
            file.write(json.dumps(_changed(question, spelled)) + "\n")
    return target


def reword(question: str) -> str:
    """A question in other words.

    >>> reword("Where does the lead of team-growth live?")
    'Which city is the leader of team-growth living in?'
    """
    for pattern, other in REWORDED:
        question = re.sub(pattern, other, question)
    return question


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines():
        if line.strip():
            yield json.loads(line)


def _new_names(events: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The replacement of every name and value."""
    named: dict[str, None] = {}
    values: dict[str, dict[str, None]] = {}
    for event in events:
        named[event["subject"]] = None
        values.setdefault(event["predicate"], {})[event["object"]] = None
        if event["predicate"] in ("owned_by", "team_lead", "works_at", "works_on"):
            named[event["object"]] = None

    new: dict[str, str] = {}
    for number, name in enumerate(named):
        new[name] = _like(name, number)
    for predicates in _VALUES:
        group = list(dict.fromkeys(v for p in predicates for v in values.get(p, ())))
        new.update(zip(group, (*group[1:], *group[:1]), strict=True))
    return new


def _like(name: str, number: int) -> str:
    """A new name of the same form."""
    word = _WORDS[number % len(_WORDS)] + ("" if number < len(_WORDS) else str(number))
    if name.endswith("-service"):
        return f"{word}-service"
    if name.startswith("team-"):
        return f"team-{word}"
    if name.startswith("Project "):
        return f"Project {word.title()}"
    if name.islower():
        return _FIRST[number % len(_FIRST)] + ("" if number < len(_FIRST) else "ek")
    if name.endswith(" Corp") or " " not in name:
        return _COMPANIES[number % len(_COMPANIES)]
    first = _FIRST[-1 - number % len(_FIRST)]
    return f"{first.title()} {_LAST[number % len(_LAST)]}"


def _changed(record: Any, names: Mapping[str, str]) -> Any:
    """A record with the new names and dates in all of its texts but its keys and ids."""
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    spaced = {
        name.replace("-service", " service"): new.replace("-service", " service")
        for name, new in names.items()
        if name.endswith("-service")
    }
    table = {**spaced, **names}
    pattern = "|".join(re.escape(name) for name in sorted(table, key=len, reverse=True))
    finder = re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])")

    def walk(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: walk(member, name) for name, member in value.items()}
        if isinstance(value, list):
            return [walk(member, key) for member in value]
        if not isinstance(value, str) or key in ("id", "scenario", "category", "predicate", "kind"):
            return value
        return _moved(finder.sub(lambda match: table[match[0]], value))

    return walk(record)


def _moved(text: str) -> str:
    return _DATE.sub(lambda match: str(date.fromisoformat(match[1]) + _DAYS), text)
