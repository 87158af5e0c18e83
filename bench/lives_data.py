"""Changing lives to measure with: what each person said, wrote and took back, and what is asked.

Read by `bench_lives.py`; the protocol is that of the published set, scored by text alone.
"""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

LIVES = "data/talk/changing-lives.jsonl.gz"
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
    list_fields: set[str] = field(default_factory=set)
    """Slots of documents that hold a list."""
    titles: dict[str, str] = field(default_factory=dict)
    """By document: what it is about, the first of its fields."""

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
        self.titles[name] = str(next(iter(content.values()), ""))
        for key, value in content.items():
            many = isinstance(value, list)
            values = {str(inner) for inner in value} if many else {str(value)}
            if many:
                self.list_fields.add(f"doc_{key}")
            self.set(at, name, f"doc_{key}", {text for text in values if text.strip()}, many)


def moment_of(session: dict[str, Any]) -> datetime:
    """When a session took place: its day, and its number in minutes."""
    day = datetime.fromisoformat(session["date"]).replace(tzinfo=UTC)
    return day + timedelta(minutes=session["session_id"])


def said_by_user(session: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the turns of a session in which the user says something."""
    for turn in session["conversation"]:
        if turn["speaker"] == "user_agent" and turn["message"].strip():
            yield turn


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


def slots_of(life: Life) -> dict[str, dict[str, Any]]:
    """The slots that the writes of a life use, as an application would define them."""
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
        many = isinstance(claim["slot"], str) and claim["slot"] in life.list_fields
        words = claim["slot"].removeprefix("doc_").replace("_", " ")
        slots.setdefault(
            claim["slot"], {"cardinality": "many" if many else "one", "description": words}
        )
    return slots


def person_of(person: str) -> dict[str, Any]:
    """The person as a subject that a principal can be."""
    name = person.replace("_", " ").title()
    return {"name": name, "type": "person", "external_ids": {"user": person}}


def document_of(name: str) -> dict[str, Any]:
    """A document as a subject: `project_proposal_2` is called "project proposal 2"."""
    kind = next((noun for key, noun in DOCUMENTS.items() if name.startswith(key)), "document")
    return {"name": f"{kind} {name.rpartition('_')[2]}", "type": "document"}
