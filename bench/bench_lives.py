"""What an assistant is shown of a changing life: present memory, stale memory, FAMA*.

    python -P bench/bench_lives.py [--mode structured raw] [--budget 1000 2000 4000] [--people 4]

Each person of `talk/changing-lives.jsonl.gz` is a store of its own; things are said, changed, taken
back and forgotten over 28 days, and 40 questions are asked after the last session. `structured`
writes as the owner what each session's operation says; `raw` observes the user's turns alone, so
that the rules of extraction decide. Asked are the person's own principal (`bound`) and the owner of
the store (`owner`, for that person). BM25 shows the user's turns.

A value is shown if its words stand in the context, whose request, headings and boundaries do not
count. Presence is the share of the values to remember that are shown, stale the share of the
values to forget, FAMA* = max(0, presence - |F| / (|F| + |M|) * stale): plain means over the
questions, with half the width of the 95 % interval.

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
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import tenure
from tenure.compiler.text.relevance import lexical, term_text
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.terms import content_terms

FILE = "data/talk/changing-lives.jsonl.gz"
KINDS = ("remembering", "recommending")
NOT_A_VALUE = frozenset(
    """
    session_id field task_count event_count item_count total_forgotten_items date created_at
    subcategory category task_type preference operation update_type
    """.split()
)
AREAS = {
    "actors": "film", "directors": "film", "already_watched_list": "film",
    "genres": "film or music",
    "artists": "music", "decades": "music", "already_listened_list": "music",
    "authors": "books", "topics": "books", "already_read_list": "books",
    "climates": "travel", "destination_types": "travel", "regions": "travel",
    "already_visited_list": "travel",
}  # fmt: skip
"""What each group of tastes is about."""
DOCUMENTS = {
    "project_proposal": "project proposal", "email_writeup": "email",
    "meeting_notes": "meeting notes", "social_media_post": "social media post",
}  # fmt: skip
LOG_SLOTS = {
    "todo_list": ("todo", "description", "task that remains on the todo list"),
    "calendar_event": ("event", "event_name", "upcoming event in the calendar"),
    "food_expenses": ("food_expense", "expense_type", "spending on food"),
    "step_tracker": ("steps", "step_count", "steps walked in a day"),
}
"""By category: the slot, the field that names the value, and what it is."""


def norm(text: object) -> str:
    """A value as it is compared: runs of letters and digits in lower case."""
    return " ".join(re.findall(r"[a-z0-9]+", str(text).lower()))


def leaves(node: Any, key: str = "") -> Iterator[str]:
    """The values that a question's evidence holds."""
    if isinstance(node, dict):
        for name, inner in node.items():
            if name not in NOT_A_VALUE:
                yield from leaves(inner, name)
    elif isinstance(node, list):
        for inner in node:
            yield from leaves(inner, key)
    elif isinstance(node, str) and len(node) > 2:
        yield norm(node)


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the values that must and must not be shown."""

    text: str
    kind: str
    remember: frozenset[str]
    forget: frozenset[str]


@dataclass(slots=True)
class Life:
    """The state of one person as the operations leave it, and the writes that made it."""

    person: str
    current: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    """By (subject, slot): the values that hold."""
    writes: list[tuple[datetime, dict[str, Any]]] = field(default_factory=list)

    def set(self, at: datetime, subject: str, slot: str, values: set[str], many: bool) -> None:
        """Bring a slot to a set of values by the writes it takes."""
        known = self.current[subject, slot]
        for value in sorted(known - values):
            if many:
                self._write(at, subject, slot, value, "retract")
        for value in sorted(values - known):
            self._write(at, subject, slot, value, "assert")
        self.current[subject, slot] = set(values)

    def _write(self, at: datetime, subject: str, slot: str, value: str, op: str) -> None:
        claim: dict[str, Any] = {"subject": subject, "slot": slot, "value": value, "op": op}
        if op == "assert":
            claim["valid_from"] = at
        self.writes.append((at, claim))

    def take(self, session: dict[str, Any]) -> None:
        """Apply the operation of one session."""
        details = session["operation_details"] or {}
        if not session["operation"] or not details:
            return
        at = moment_of(session)
        if session["session_type"] == "preference":
            self._taste(at, session["operation"], details)
        elif session["session_type"] == "goal":
            slot = f"goal_{details['subcategory']}"
            self.set(at, self.person, slot, {str(details["item"])}, many=False)
        elif details.get("category") in LOG_SLOTS and isinstance(details.get("item"), dict):
            slot, name, _ = LOG_SLOTS[details["category"]]
            value = str(details["item"][name])
            known = self.current[self.person, slot]
            change = known - {value} if session["operation"] == "delete" else known | {value}
            self.set(at, self.person, slot, change, many=True)
        elif isinstance(details.get("content_data"), dict) and isinstance(details["item"], str):
            self._document(at, details["item"], details["content_data"])

    def _taste(self, at: datetime, operation: str, details: dict[str, Any]) -> None:
        slots = {liking: f"{liking}d_{details['subcategory']}" for liking in ("like", "dislike")}
        item, slot = details["item"], slots[details["preference"]]
        gone = {item} if operation == "delete" else set()
        gone |= {details["old_item"]} if "old_item" in details else set()
        if "old_preference" in details and details["old_preference"] != details["preference"]:
            old = slots[details["old_preference"]]
            known = self.current[self.person, old]
            self.set(at, self.person, old, known - {item}, many=True)
        known = self.current[self.person, slot] - gone
        self.set(at, self.person, slot, known if operation == "delete" else known | {item}, True)

    def _document(self, at: datetime, name: str, content: dict[str, Any]) -> None:
        for key, value in content.items():
            many = isinstance(value, list)
            values = {str(inner) for inner in value} if many else {str(value)}
            self.set(at, name, f"doc_{key}", {text for text in values if text.strip()}, many)


def moment_of(session: dict[str, Any]) -> datetime:
    """When a session took place: its day, and its number in minutes."""
    day = datetime.fromisoformat(session["date"]).replace(tzinfo=UTC)
    return day + timedelta(minutes=session["session_id"])


def questions_of(record: dict[str, Any], life: Life) -> list[Question]:
    """The questions that can be scored by text."""
    current = {norm(value) for values in life.current.values() for value in values}
    questions: list[Question] = []
    for kind in KINDS:
        for line in record["questions"][0]["questions"][kind]:
            remember = frozenset(leaves(line["memory_evidence"])) - {""}
            forget = frozenset(leaves(line.get("forgetting_evidence") or {})) - remember - {""}
            standing = {
                value for value in forget
                if any(f" {value} " in f" {other} " for other in current)
            }  # fmt: skip
            if remember:
                questions.append(Question(line["question"], kind, remember, forget - standing))
    return questions


@dataclass(frozen=True, slots=True)
class Score:
    """How one context served one question."""

    presence: float
    stale: float | None
    fama: float


def score(question: Question, context: str) -> Score:
    """Score a context by the words that stand in it."""
    text = f" {norm(context)} "
    present = statistics.fmean(f" {value} " in text for value in question.remember)
    forget, remember = len(question.forget), len(question.remember)
    stale = statistics.fmean(f" {v} " in text for v in question.forget) if forget else None
    weight = forget / (forget + remember)
    return Score(present, stale, max(0.0, present - weight * (stale or 0.0)))


def context_of(envelope: tenure.Envelope) -> str:
    """The text of an envelope without request, headings and boundaries."""
    blocks = tenure.parse_envelope(envelope.text)
    return "\n".join(block.text for block in blocks if block.section != "request")


class Clock:
    """The time of a store: that of what is written."""

    def __init__(self) -> None:
        self.now = datetime(2025, 6, 1, tzinfo=UTC)

    def __call__(self) -> int:
        return round(self.now.timestamp() * 1_000_000)


def define_slots(memory: tenure.Memory, life: Life) -> None:
    """Define the slots that the structured writes use, as an application would."""
    slots: dict[str, dict[str, Any]] = {}
    for group, area in AREAS.items():
        noun = group.removeprefix("already_").replace("_", " ")
        for liking in ("like", "dislike"):
            slots[f"{liking}d_{group}"] = {
                "kind": "preference", "cardinality": "many",
                "description": f"{area}: {noun} that the user {liking}s",
            }  # fmt: skip
    for slot, _, description in LOG_SLOTS.values():
        slots[slot] = {"cardinality": "many", "description": description}
    for _, claim in life.writes:
        many = isinstance(claim["slot"], str) and claim["slot"] in LIST_FIELDS
        words = claim["slot"].removeprefix("doc_").replace("_", " ")
        slots.setdefault(
            claim["slot"], {"cardinality": "many" if many else "one", "description": words}
        )
    for name, fields in slots.items():
        memory.vocabulary.define_slot(name, **fields)


LIST_FIELDS: set[str] = set()
"""Fields of documents that are lists, filled while the file is read."""


def load_structured(memory: tenure.Memory, clock: Clock, life: Life) -> None:
    """Write what each session's operation says."""
    define_slots(memory, life)
    for at, claim in life.writes:
        clock.now = at
        subject: Any = claim["subject"]
        if subject == life.person:
            subject = person_of(life.person)
        else:
            kind = next((n for key, n in DOCUMENTS.items() if subject.startswith(key)), "document")
            subject = {"name": f"{kind} {subject.rpartition('_')[2]}", "type": "document"}
        memory.write(**{**claim, "subject": subject})


def person_of(person: str) -> dict[str, Any]:
    """The person as a subject that a principal can be."""
    name = person.replace("_", " ").title()
    return {"name": name, "type": "person", "external_ids": {"user": person}}


def load_raw(memory: tenure.Memory, clock: Clock, record: dict[str, Any], person: str) -> None:
    """Observe what the user said, turn by turn."""
    for session in record["sessions"]:
        clock.now = moment_of(session)
        for turn in session["conversation"]:
            if turn["speaker"] == "user_agent" and turn["message"].strip():
                memory.observe(turn["message"], person_of(person), at=clock.now)


def bm25_contexts(
    record: dict[str, Any], questions: Sequence[Question], budgets: Sequence[int]
) -> Iterator[tuple[int, Question, str]]:
    """The user's turns that BM25 puts into each budget."""
    counter = counter_for("generic")
    lines: list[str] = []
    for session in record["sessions"]:
        for turn in session["conversation"]:
            if turn["speaker"] == "user_agent" and turn["message"].strip():
                lines.append(f"[{session['date']}] user: {turn['message']}")
    sizes = [counter.count(line + "\n") for line in lines]
    documents = [(term_text(line),) for line in lines]
    for question in questions:
        scores = lexical(content_terms(question.text), documents, k1=1.2, b=0.75)
        order = sorted(range(len(lines)), key=lambda row: (-scores[row], row))
        for budget in budgets:
            left, shown = budget, list[str]()
            for row in order:
                if sizes[row] <= left:
                    left -= sizes[row]
                    shown.append(lines[row].partition(": ")[2])
            yield budget, question, "\n".join(shown)


def ask_person(record: dict[str, Any], options: argparse.Namespace, scores: Any) -> None:
    """Load one life in each mode and ask its questions."""
    life = Life(record["person"])
    for session in record["sessions"]:
        details = session["operation_details"] or {}
        content = details.get("content_data")
        if isinstance(content, dict):
            lists = {f"doc_{key}" for key, value in content.items() if isinstance(value, list)}
            LIST_FIELDS.update(lists)
        life.take(session)
    questions = questions_of(record, life)
    for budget, question, context in bm25_contexts(record, questions, options.budget):
        scores["bm25", budget].append((question.kind, score(question, context)))

    for mode in options.mode:
        clock = Clock()
        with tempfile.TemporaryDirectory() as folder:
            owner = tenure.connect(
                str(Path(folder) / "life.db"), clock=clock, encoder=options.encoder
            )
            person = tenure.Principal(tenant="default", user=life.person)
            bound = owner.bind(person)
            if mode == "structured":
                load_structured(owner, clock, life)
            else:
                load_raw(bound, clock, record, life.person)
            owner.flush()
            clock.now = moment_of(record["sessions"][-1]) + timedelta(minutes=5)
            for question in questions:
                for budget in options.budget:
                    for name, memory, entities in (
                        ("bound", bound, ()),
                        ("owner", owner, (person_of(life.person)["name"],)),
                    ):
                        envelope = memory.compile(
                            options.task, question.text, budget_tokens=budget, entities=entities
                        )
                        held = score(question, context_of(envelope))
                        scores[f"{mode}, {name}", budget].append((question.kind, held))
            owner.close()


def interval(values: Sequence[float]) -> float:
    """Half the width of the 95 % interval of a mean."""
    return 1.96 * statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


def show(scores: dict[tuple[str, int], list[tuple[str, Score]]]) -> None:
    """Print presence, stale and FAMA* by method, budget and kind."""
    table = Table(title="changing lives, percent")
    for heading in ("method", "tokens", "n", "presence", "stale", "FAMA*", "±", *KINDS):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for (method, budget), rows in scores.items():
        stale = [line.stale for _, line in rows if line.stale is not None]
        fama = [line.fama for _, line in rows]
        kinds = [[line.fama for kind, line in rows if kind == wanted] for wanted in KINDS]
        table.add_row(
            method, f"{budget:,}", str(len(rows)),
            f"{100 * statistics.fmean(line.presence for _, line in rows):.1f}",
            f"{100 * statistics.fmean(stale):.1f}" if stale else "-",
            f"{100 * statistics.fmean(fama):.1f}", f"{100 * interval(fama):.1f}",
            *(f"{100 * statistics.fmean(kind):.1f}" if kind else "-" for kind in kinds),
        )  # fmt: skip
    Console(width=100).print(table)


def main() -> None:
    """Ask the questions and print the table."""
    parser = argparse.ArgumentParser(description="what an assistant is shown of a changing life")
    parser.add_argument("--mode", nargs="*", default=["structured", "raw"])
    parser.add_argument("--budget", type=int, nargs="*", default=[1000, 2000, 4000])
    parser.add_argument("--people", type=int, default=None)
    parser.add_argument("--task", default="analytical_reporting")
    parser.add_argument("--encoder", default=None)
    options = parser.parse_args()
    shared = os.environ.get("TENURE_SHARED")
    if not shared or not Path(shared, FILE).is_file():
        print("no lives to ask about: set TENURE_SHARED to the folder that holds data/")
        return
    scores: dict[tuple[str, int], list[tuple[str, Score]]] = defaultdict(list)
    with gzip.open(Path(shared, FILE), "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if options.people is None or number < options.people:
                ask_person(json.loads(line), options, scores)
                print(f"person {number + 1} asked")
    show(scores)


if __name__ == "__main__":
    main()
