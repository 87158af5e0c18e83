"""Question sets: what an evaluation reads, line by line, refused with number and reason.

A line is a JSON object. A document is a text that somebody said (`id`, `text`, `at`, `speaker`,
`session`), a fact is a write as the import format has it (`id`, `at`, and the fields of a write),
a question asks (`question`, `id`, `evidence`, …), and a `define` line extends the vocabulary
from its place on. Lines of one `set` stand together and share a memory of their own, so a file of
any size is read set by set. Evidence is a list in which every entry must be found; an entry that
is itself a list is found when one of its ids is.

This module reads and checks the format (C-102, docs/evaluation.md); `recall` does what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, cast

from tenure.schema.errors import InvalidInput, TenureError, did_you_mean, unknown_field
from tenure.schema.write import Write
from tenure.service.backend.caller import instant
from tenure.service.writing.lines import Line, at_line, checked_fields, json_object, opened

_DOCUMENT: Final = frozenset({"id", "set", "at", "text", "speaker", "session"})
_FACT: Final = frozenset(item.name for item in fields(Write))
_QUESTION: Final = frozenset(
    {"id", "set", "question", "evidence", "stale", "as_of", "known_at", "answerable"}
    | {"entities", "category"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A text that was said or met."""

    id: str
    text: str
    at_us: int | None
    """When, microseconds UTC; None takes the time of the line before."""
    speaker: str | None = None
    session: str | None = None

    @property
    def line_text(self) -> str:
        """The text with who said it, as a plain retriever shows it."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A claim, as it is written."""

    id: str
    at_us: int | None
    """When it was recorded, microseconds UTC; None takes the time of the line before."""
    write: Write

    @property
    def line_text(self) -> str:
        """The claim as a sentence, as a plain retriever shows it."""
        write = self.write
        subject: object = write.subject
        if isinstance(subject, Mapping):
            subject = cast("Mapping[str, object]", subject).get("name")

        sentence = str(subject or "")
        if write.slot:
            value = "" if write.value is None else str(write.value)
            period = f"{write.valid_from or '…'} to {write.valid_until or '…'}"
            sentence = f"{sentence} {write.slot}: {value} ({period})"
        return " ".join(part for part in (sentence, write.content or "") if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with what a right context holds."""

    id: str
    text: str
    evidence: tuple[tuple[str, ...], ...] = ()
    """Every entry is needed; of an entry, any id."""
    stale: tuple[str, ...] = ()
    """Superseded items, which no context should show."""
    as_of_us: int | None = None
    """The time asked about; None is after everything."""
    known_at_us: int | None = None
    """What was known then; None is everything."""
    answerable: bool = True
    entities: tuple[str, ...] = ()
    category: str = ""

    @property
    def evidence_ids(self) -> frozenset[str]:
        """The ids of all entries together."""
        return frozenset[str]().union(*self.evidence)


Item = Document | Fact


@dataclass(slots=True)
class QuestionSet:
    """What shares one memory: its words, its items in order of their lines, and its questions."""

    name: str
    definitions: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    items: list[Item] = field(default_factory=list[Item])
    questions: list[Question] = field(default_factory=list[Question])
    lines: dict[str, int] = field(default_factory=dict[str, int])
    """Where each item stands."""


def question_sets(path: str | Path, *, own_ids: bool = True) -> Iterator[QuestionSet]:
    """Yield the sets of a file in order; ids that no item has are refused with `own_ids`.

    Raises:
        TenureError: the first line that cannot be taken, with its number in front.
        NotFound: `unknown_file`.
    """
    with opened(path) as lines:
        yield from _sets(lines, own_ids)


def _sets(lines: Iterable[Line], own_ids: bool) -> Iterator[QuestionSet]:
    reader = _SetReader(own_ids)
    for line in lines:
        try:
            finished_set = reader.take(line)
        except TenureError as error:
            raise at_line(error, line.number) from error
        if finished_set is not None:
            yield finished_set

    last_set = reader.finish()
    if last_set is not None:
        yield last_set


class _SetReader:
    """Puts lines into sets; a set is whole when the next one begins."""

    def __init__(self, own_ids: bool) -> None:
        self._own_ids = own_ids
        self._current: QuestionSet | None = None
        self._question_lines: dict[str, int] = {}
        self._closed_names: set[str] = set()
        self._definitions: list[Mapping[str, Any]] = []

    def take(self, line: Line) -> QuestionSet | None:
        """Take a line; the set that it ends, where it begins another."""
        fields = json_object(line.text)
        if "define" in fields:
            self._definitions.append(fields)
            if self._current is not None:
                self._current.definitions.append(fields)
            return None

        finished_set = None
        name = _text(fields, "set") or ""
        if self._current is None or self._current.name != name:
            finished_set = self.finish()
            self._begin(name)
        self._add(fields, line.number)
        return finished_set

    def finish(self) -> QuestionSet | None:
        """The set that was being read, whose questions name its own items only."""
        question_set = self._current
        if question_set is None or not self._own_ids:
            return question_set

        for question in question_set.questions:
            ids = question.evidence_ids.union(question.stale)
            missing = sorted(ids - question_set.lines.keys())
            if missing:
                error = _bad(
                    "evidence",
                    f"question {question.id!r} names {missing[0]!r}, which no document or fact "
                    f"of its set has as id: {did_you_mean(missing[0], question_set.lines)}",
                )
                raise at_line(error, self._question_lines[question.id])
        return question_set

    def _begin(self, name: str) -> None:
        if self._current is not None:
            self._closed_names.add(self._current.name)
        if name in self._closed_names:
            raise _bad("set", f"the lines of set {name!r} must stand together")

        self._current = QuestionSet(name, definitions=[*self._definitions])
        self._question_lines = {}

    def _add(self, fields: Mapping[str, Any], number: int) -> None:
        question_set = self._current
        assert question_set is not None  # `_begin` made it

        if "question" in fields:
            question = _question(fields)
            _require_new(question.id, self._question_lines, "question")
            self._question_lines[question.id] = number
            question_set.questions.append(question)
            return

        item = _document(fields) if "text" in fields else _fact(fields)
        _require_new(item.id, question_set.lines, "item")
        question_set.lines[item.id] = number
        question_set.items.append(item)


def _document(line: Mapping[str, Any]) -> Document:
    _check_names(line, _DOCUMENT)
    text = _required_text(line, "text")
    return Document(
        id=_required_text(line, "id"),
        text=text,
        at_us=_moment(line, "at"),
        speaker=_text(line, "speaker"),
        session=_text(line, "session"),
    )


def _fact(line: Mapping[str, Any]) -> Fact:
    frame = {"id", "at", "set"}
    raw = {name: value for name, value in line.items() if name not in frame}
    if raw.keys().isdisjoint(_FACT):
        _check_names(raw, _DOCUMENT | _QUESTION | _FACT)
    fields = checked_fields(raw)
    if not fields:
        raise _bad("id", "a line is a document (text), a fact (subject, slot, …) or a question")
    return Fact(id=_required_text(line, "id"), at_us=_moment(line, "at"), write=Write(**fields))


def _question(line: Mapping[str, Any]) -> Question:
    _check_names(line, _QUESTION)
    answerable = line.get("answerable", True)
    if not isinstance(answerable, bool):
        raise _bad("answerable", "answerable must be true or false")
    return Question(
        id=_required_text(line, "id"),
        text=_required_text(line, "question"),
        evidence=_evidence(line.get("evidence")),
        stale=_texts(line, "stale"),
        as_of_us=_moment(line, "as_of"),
        known_at_us=_moment(line, "known_at"),
        answerable=answerable,
        entities=_texts(line, "entities"),
        category=_text(line, "category") or "",
    )


def _evidence(entries: Any) -> tuple[tuple[str, ...], ...]:
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise _no_evidence()
    return tuple(dict.fromkeys(map(_entry, cast("list[object]", entries))))


def _entry(stated_ids: object) -> tuple[str, ...]:
    names = cast("list[object]", stated_ids) if isinstance(stated_ids, list) else [stated_ids]
    ids: dict[str, None] = {}
    for name in names:
        if not isinstance(name, str) or not name:
            raise _no_evidence()
        ids[name] = None

    if not ids:
        raise _no_evidence()
    return tuple(ids)


def _no_evidence() -> InvalidInput:
    return _bad("evidence", "evidence is a list of ids, or of lists of which one will do")


def _check_names(line: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in line:
        if name not in names:
            raise unknown_field(name, names, " here")


def _require_new(name: str, lines: Mapping[str, int], kind: str) -> None:
    if name in lines:
        raise _bad("id", f"{kind} {name!r} stands on line {lines[name]} of this set already")


def _required_text(line: Mapping[str, Any], name: str) -> str:
    text = _text(line, name)
    if text is None or not text.strip():
        raise _bad(name, f"{name} is missing or empty")
    return text


def _text(line: Mapping[str, Any], name: str) -> str | None:
    value = line.get(name)
    if value is not None and not isinstance(value, str):
        raise _bad(name, f"{name} must be a text")
    return value


def _texts(line: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value: object = line.get(name, [])
    entries = cast("list[object]", value) if isinstance(value, list) else [None]
    texts: dict[str, None] = {}
    for entry in entries:
        if not isinstance(entry, str):
            raise _bad(name, f"{name} must be a list of texts")
        texts[entry] = None
    return tuple(texts)


def _moment(line: Mapping[str, Any], name: str) -> int | None:
    text = _text(line, name)
    if text in ("infinity", "-infinity"):
        raise InvalidInput(f"{name} is a moment, not an open end", code="bad_time")
    return None if text is None else instant(text, field=name)


def _bad(name: str, reason: str) -> InvalidInput:
    return InvalidInput(reason, code="bad_field", field=name)


def in_order(items: Sequence[Item]) -> list[tuple[int | None, Item]]:
    """Items with their times, oldest first; a line without one has that before it."""
    timeline: list[tuple[int | None, Item]] = []
    last: int | None = None

    for item in items:
        if item.at_us is not None:
            last = item.at_us
        timeline.append((last, item))

    return sorted(timeline, key=lambda pair: (pair[0] is not None, pair[0] or 0))
