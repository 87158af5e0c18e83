"""Question sets: what an evaluation reads, line by line, refused with number and reason.

A line is a JSON object. A document is a text that somebody said (`id`, `text`, `at`, `speaker`,
`session`), a fact is a write as the import format has it (`id`, `at`, and the fields of a write),
a question asks (`question`, `id`, `evidence`, …), and a `define` line extends the vocabulary
from its place on. Lines of one `set` stand together and share a memory of their own, so a file of
any size is read set by set. Evidence is a list in which every entry must be found; an entry that
is itself a list is found when one of its ids is.

This module reads, checks and writes the format; `evaluating` does what it says.
Source: checklist C-102; docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, cast

from ...schema.errors import InvalidInput, TenureError, did_you_mean
from ...schema.write import Write
from ..backend.times import instant
from ..writing.event_lines import Line, at_line, checked_fields, json_object, opened

_DOCUMENT: Final = frozenset({"id", "set", "at", "text", "speaker", "session"})
_FACT: Final = frozenset(each.name for each in fields(Write))
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
    def shown(self) -> str:
        """Return the text with who said it, as a plain retriever shows it."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A claim, as it is written."""

    id: str
    at_us: int | None
    """When it was recorded, microseconds UTC; None takes the time of the line before."""
    write: Write

    @property
    def shown(self) -> str:
        """Return the claim as a sentence, as a plain retriever shows it."""
        write = self.write
        subject: object = write.subject
        if isinstance(subject, Mapping):
            subject = cast("Mapping[str, object]", subject).get("name")
        name = str(subject or "")
        held = "" if write.value is None else str(write.value)
        period = f"{write.valid_from or '…'} to {write.valid_until or '…'}"
        said = f"{name} {write.slot}: {held} ({period})" if write.slot else name
        return " ".join(part for part in (said, write.content or "") if part)


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
    held: QuestionSet | None = None
    asked: dict[str, int] = {}
    closed: set[str] = set()
    words: list[Mapping[str, Any]] = []
    for line in lines:
        try:
            given = json_object(line.text)
            if "define" in given:
                words.append(given)
                if held is not None:
                    held.definitions.append(given)
                continue
            name = _text(given, "set") or ""
            if held is None or held.name != name:
                if held is not None:
                    yield _whole(held, asked, own_ids)
                    closed.add(held.name)
                if name in closed:
                    raise _bad("set", f"the lines of set {name!r} must stand together")
                held, asked = QuestionSet(name, definitions=[*words]), {}
            _take(held, given, line.number, asked)
        except TenureError as error:
            raise at_line(error, line.number) from error
    if held is not None:
        yield _whole(held, asked, own_ids)


def _take(held: QuestionSet, given: Mapping[str, Any], line: int, asked: dict[str, int]) -> None:
    if "question" in given:
        question = _question(given)
        _once(question.id, asked, "question")
        asked[question.id] = line
        held.questions.append(question)
        return
    item = _document(given) if "text" in given else _fact(given)
    _once(item.id, held.lines, "item")
    held.lines[item.id] = line
    held.items.append(item)


def _whole(held: QuestionSet, asked: Mapping[str, int], own_ids: bool) -> QuestionSet:
    """Return a set whose questions name its own items only."""
    for question in held.questions:
        named = {each for entry in question.evidence for each in entry} | {*question.stale}
        missing = sorted(named - held.lines.keys()) if own_ids else []
        if missing:
            error = _bad(
                "evidence",
                f"question {question.id!r} names {missing[0]!r}, which no document or fact of "
                f"its set has as id: {did_you_mean(missing[0], held.lines)}",
            )
            raise at_line(error, asked[question.id])
    return held


def _document(given: Mapping[str, Any]) -> Document:
    _known(given, _DOCUMENT)
    text = _required(given, "text")
    return Document(
        id=_required(given, "id"),
        text=text,
        at_us=_moment(given, "at"),
        speaker=_text(given, "speaker"),
        session=_text(given, "session"),
    )


def _fact(given: Mapping[str, Any]) -> Fact:
    own = {"id", "at", "set"}
    raw = {name: value for name, value in given.items() if name not in own}
    if raw.keys().isdisjoint(_FACT):
        _known(raw, _DOCUMENT | _QUESTION | _FACT)
    stated = checked_fields(raw)
    if not stated:
        raise _bad("id", "a line is a document (text), a fact (subject, slot, …) or a question")
    return Fact(id=_required(given, "id"), at_us=_moment(given, "at"), write=Write(**stated))


def _question(given: Mapping[str, Any]) -> Question:
    _known(given, _QUESTION)
    answerable = given.get("answerable", True)
    if not isinstance(answerable, bool):
        raise _bad("answerable", "answerable must be true or false")
    return Question(
        id=_required(given, "id"),
        text=_required(given, "question"),
        evidence=_evidence(given.get("evidence")),
        stale=_texts(given, "stale"),
        as_of_us=_moment(given, "as_of"),
        known_at_us=_moment(given, "known_at"),
        answerable=answerable,
        entities=_texts(given, "entities"),
        category=_text(given, "category") or "",
    )


def _evidence(given: Any) -> tuple[tuple[str, ...], ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise _no_evidence()
    return tuple(dict.fromkeys(map(_entry, cast("list[object]", given))))


def _entry(given: object) -> tuple[str, ...]:
    named = cast("list[object]", given) if isinstance(given, list) else [given]
    ids = [each for each in named if isinstance(each, str) and each]
    if not ids or len(ids) < len(named):
        raise _no_evidence()
    return tuple(dict.fromkeys(ids))


def _no_evidence() -> InvalidInput:
    return _bad("evidence", "evidence is a list of ids, or of lists of which one will do")


def _known(given: Mapping[str, Any], fields: Iterable[str]) -> None:
    for name in given:
        if name not in fields:
            raise InvalidInput(
                f"there is no field {name!r} here: {did_you_mean(name, fields)}",
                code="unknown_field",
                field=name,
            )


def _once(name: str, held: Mapping[str, int], what: str) -> None:
    if name in held:
        raise _bad("id", f"{what} {name!r} stands on line {held[name]} of this set already")


def _required(given: Mapping[str, Any], name: str) -> str:
    text = _text(given, name)
    if text is None or not text.strip():
        raise _bad(name, f"{name} is missing or empty")
    return text


def _text(given: Mapping[str, Any], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise _bad(name, f"{name} must be a text")
    return value


def _texts(given: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value: object = given.get(name, [])
    named = cast("list[object]", value) if isinstance(value, list) else [None]
    texts = [each for each in named if isinstance(each, str)]
    if len(texts) < len(named):
        raise _bad(name, f"{name} must be a list of texts")
    return tuple(dict.fromkeys(texts))


def _moment(given: Mapping[str, Any], name: str) -> int | None:
    text = _text(given, name)
    if text in ("infinity", "-infinity"):
        raise InvalidInput(f"{name} is a moment, not an open end", code="bad_time")
    return None if text is None else instant(text, field=name)


def _bad(name: str, why: str) -> InvalidInput:
    return InvalidInput(why, code="bad_field", field=name)


def in_order(items: Sequence[Item]) -> list[tuple[int | None, Item]]:
    """Return items with their times, oldest first; a line without one has that before it."""
    timed: list[tuple[int | None, Item]] = []
    last: int | None = None
    for item in items:
        last = item.at_us if item.at_us is not None else last
        timed.append((last, item))
    return sorted(timed, key=lambda pair: (pair[0] is not None, pair[0] or 0))
