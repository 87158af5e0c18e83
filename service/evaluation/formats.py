"""Benchmark formats: LoCoMo, LongMemEval and Memora as question sets.

Each reader takes a file exactly as its authors publish it and yields the lines of our own format
(`question_sets`), one turn a document. What the source labels decides the evidence: a turn where
turns are labelled; where only a session is, any turn of it that carries memory. Questions that
the source made unanswerable are marked so. Nothing is downloaded, and no answer is judged.

What Memora calls forgotten is named by its value and the session that withdrew it: the turns
before that session which carry memory and say the value are the stale ones.
Sources: checklist C-102; snap-research/locomo, xiaowu0162/LongMemEval and geniesinc/Memora, the
descriptions of their data.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from ...schema.errors import InvalidInput, NotFound, Unavailable, unknown

Out = dict[str, Any]
"""A line of our format."""

_LOCOMO_SESSION: Final = re.compile(r"session_(\d+)")
_LOCOMO_TURN: Final = re.compile(r"D:?(\d+):(\d+)")
_LOCOMO_KINDS: Final = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
_WEEKDAY: Final = re.compile(r"\s*\([A-Za-z]+\)\s*")
_TIMES: Final = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y-%m-%d", "%d %B, %Y")
_SPEAKERS: Final = {"user_agent": "user", "ai_agent": "assistant"}


def convert(source: str, path: str | Path) -> Iterator[Out]:
    """Yield the lines of our format from a published file; a Memora persona may be its folder.

    Raises:
        InvalidInput: `unknown_vocabulary` for a source that is not known, `bad_json`, and
            `bad_file` where the file is not of that form, with the place in front.
        NotFound: `unknown_file`.
    """
    if source not in FORMATS:
        raise unknown("benchmark format", source, FORMATS)
    return FORMATS[source](Path(path))


def _locomo(path: Path) -> Iterator[Out]:
    for number, sample in enumerate(_list(_loaded(path), str(path))):
        held = _mapping(sample, f"sample {number}")
        name = str(held.get("sample_id") or f"sample-{number}")
        talk = _mapping(held.get("conversation"), f"{name}: conversation")
        turns = list(_locomo_turns(name, talk))
        yield from turns
        ids = {str(turn["id"]) for turn in turns}
        for place, asked in enumerate(_list(held.get("qa"), f"{name}: qa")):
            yield _locomo_question(name, place, _mapping(asked, f"{name}: qa {place}"), ids)


def _locomo_turns(name: str, talk: Mapping[str, Any]) -> Iterator[Out]:
    found = (_LOCOMO_SESSION.fullmatch(key) for key in talk)
    for number in sorted(int(match[1]) for match in found if match):
        session = f"session_{number}"
        at = _moment(talk.get(f"{session}_date_time"), f"{name}: {session}_date_time")
        for turn in _list(talk[session], f"{name}: {session}"):
            held = _mapping(turn, f"{name}: {session}")
            text = str(held.get("text") or "").strip()
            caption = str(held.get("blip_caption") or "").strip()
            shown = f"{text} [shares a picture: {caption}]".strip() if caption else text
            if shown:
                dia = _stated(held, "dia_id", f"{name}: {session}")
                yield {"set": name, "id": dia, "text": shown, "at": at,
                       "speaker": _stated(held, "speaker", f"{name}: {dia}"),
                       "session": session}  # fmt: skip


def _locomo_question(name: str, place: int, asked: Mapping[str, Any], ids: set[str]) -> Out:
    where = f"{name}: qa {place}"
    category = asked.get("category")
    labels = " ".join(map(str, _list(asked.get("evidence") or [], where)))
    named = [f"D{int(m[1])}:{int(m[2])}" for m in _LOCOMO_TURN.finditer(labels)]
    kind = _LOCOMO_KINDS.get(category, str(category or "")) if isinstance(category, int) else ""
    adversarial = category == 5
    return {
        "set": name,
        "id": f"{name}-q{place}",
        "question": _stated(asked, "question", where),
        "evidence": [] if adversarial else [each for each in dict.fromkeys(named) if each in ids],
        "answerable": not adversarial,
        "category": kind,
    }


def _longmemeval(path: Path) -> Iterator[Out]:
    for number, instance in enumerate(_list(_loaded(path), str(path))):
        held = _mapping(instance, f"instance {number}")
        name = _stated(held, "question_id", f"instance {number}")
        turns = list(_longmemeval_turns(name, held))
        labelled = [turn for turn in turns if turn.pop("labelled")]
        yield from turns
        answers = set(map(str, _list(held.get("answer_session_ids") or [], name)))
        answerable = not name.endswith("_abs")
        at = _moment(held.get("question_date"), f"{name}: question_date")
        evidence = [turn["id"] for turn in labelled] or _sessions(turns, answers)
        yield {
            "set": name,
            "id": name,
            "question": _stated(held, "question", name),
            "evidence": evidence if answerable else [],
            "as_of": at,
            "known_at": at,
            "answerable": answerable,
            "category": str(held.get("question_type") or ""),
        }


def _longmemeval_turns(name: str, held: Mapping[str, Any]) -> Iterator[Out]:
    sessions = _list(held.get("haystack_sessions"), f"{name}: haystack_sessions")
    dates = _list(held.get("haystack_dates"), f"{name}: haystack_dates")
    ids = _list(held.get("haystack_session_ids"), f"{name}: haystack_session_ids")
    if not len(sessions) == len(dates) == len(ids):
        raise _bad(f"{name}: haystack_sessions, _dates and _session_ids differ in length")
    for place, (session, date, stated) in enumerate(zip(sessions, dates, ids, strict=True)):
        at = _moment(date, f"{name}: haystack_dates")
        for number, turn in enumerate(_list(session, f"{name}: session {stated}")):
            said = _mapping(turn, f"{name}: session {stated}")
            text = str(said.get("content") or "").strip()
            if text:
                # a session may stand in a haystack twice, so its place is part of the id
                yield {"set": name, "id": f"{place}:{stated}:{number}", "text": text, "at": at,
                       "speaker": str(said.get("role") or "user"), "session": str(stated),
                       "labelled": said.get("has_answer") is True}  # fmt: skip


def _sessions(turns: list[Out], answers: set[str]) -> list[list[str]]:
    """Return the turns of each answering session: any of them will do."""
    of: dict[str, list[str]] = {}
    for turn in turns:
        if turn["session"] in answers:
            of.setdefault(str(turn["session"]), []).append(str(turn["id"]))
    return list(of.values())


def _memora(path: Path) -> Iterator[Out]:
    asked = path
    if path.is_dir():
        found = sorted(path.glob("evaluation_questions_*.json"))
        if len(found) != 1:
            raise _bad(f"{path} holds {len(found)} files evaluation_questions_*.json, not one")
        asked = found[0]
    held = _mapping(_loaded(asked), str(asked))
    name = str(held.get("persona") or asked.parent.name)
    folder = asked.parent / "conversations"
    files = sorted(folder.glob("session_*.json"))
    if not files:
        raise NotFound(f"there are no sessions in {folder}", code="unknown_file")
    turns = [turn for file in files for turn in _memora_turns(name, file)]
    told = [turn for turn in turns if turn.pop("told")]
    yield from turns
    for kind, question in _memora_questions(held, name):
        yield _memora_question(name, kind, question, told)


def _memora_turns(name: str, file: Path) -> Iterator[Out]:
    held = _mapping(_loaded(file), file.name)
    session = str(held.get("session_id"))
    at = _moment(held.get("date"), f"{file.name}: date")
    for turn in _list(held.get("conversation"), f"{file.name}: conversation"):
        said = _mapping(turn, file.name)
        text = str(said.get("message") or "").strip()
        who = str(said.get("speaker") or "user")
        if text:
            yield {"set": name, "id": f"{session}:{said.get('turn')}", "text": text, "at": at,
                   "speaker": _SPEAKERS.get(who, who), "session": session,
                   "told": said.get("share_memory") is True}  # fmt: skip


def _memora_questions(
    held: Mapping[str, Any], name: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    given = held.get("questions")
    groups = cast("list[object]", given) if isinstance(given, list) else [given]
    for group in groups:
        for kind, questions in _mapping(group, f"{name}: questions").items():
            for place, question in enumerate(_list(questions, f"{name}: {kind}")):
                yield kind, _mapping(question, f"{name}: {kind} {place}")


def _memora_question(name: str, kind: str, asked: Mapping[str, Any], told: list[Out]) -> Out:
    where = _stated(asked, "question_id", f"{name}: {kind}")
    of: dict[str, list[str]] = {}
    for turn in told:
        of.setdefault(str(turn["session"]), []).append(str(turn["id"]))
    named = dict.fromkeys(_session_ids(asked.get("memory_evidence")))
    evidence = [of[session] for session in named if session in of]
    kept = {each for group in evidence for each in group}
    day = _stated(asked, "question_date", where)
    at = _moment(day, f"{where}: question_date").replace("T00:00:00", "T23:59:59")
    return {
        "set": name,
        "id": where,
        "question": _stated(asked, "question", where),
        "evidence": evidence,
        "stale": [each for each in _forgotten(asked, told) if each not in kept],
        "as_of": at,
        "known_at": at,
        "category": kind,
    }


def _session_ids(held: Any) -> Iterator[str]:
    """Yield the sessions that an evidence names, however deep."""
    if isinstance(held, Mapping):
        for key, value in cast("Mapping[str, object]", held).items():
            if key == "session_id" or (key == "session_history" and isinstance(value, list)):
                ids = cast("list[object]", value if isinstance(value, list) else [value])
                yield from (str(each) for each in ids if isinstance(each, int | str))
            else:
                yield from _session_ids(value)
    elif isinstance(held, list):
        for each in cast("list[object]", held):
            yield from _session_ids(each)


def _forgotten(asked: Mapping[str, Any], told: list[Out]) -> Iterator[str]:
    evidence: Any = asked.get("forgetting_evidence")
    items: Any = evidence.get("forgotten_items") if isinstance(evidence, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    for item in cast("list[object]", items) if isinstance(items, list) else []:
        held = _mapping(item, "forgotten_items")
        value, withdrawn = _plain(str(held.get("value") or "")), _number(held.get("session_id"))
        for turn in told:
            if (
                value
                and _number(turn["session"]) < withdrawn
                and value in _plain(str(turn["text"]))
            ):
                yield str(turn["id"])


def _plain(text: str) -> str:
    """Return a text to look for values in: one case, no digit grouping, one space."""
    grouped = re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())
    return " ".join(re.sub(r"[^\w\s]+", " ", grouped).split())


def _number(value: Any) -> int:
    text = str(value)
    return int(text) if text.isdecimal() else 0


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", code="unknown_file") from error
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{path} is no JSON: {error}", code="bad_json") from error


def _list(held: Any, where: str) -> list[Any]:
    if not isinstance(held, list):
        raise _bad(f"{where} is no list")
    return cast("list[object]", held)


def _mapping(held: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(held, Mapping):
        raise _bad(f"{where} is no object")
    return cast("Mapping[str, object]", held)


def _stated(held: Mapping[str, Any], name: str, where: str) -> str:
    value = held.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _bad(f"{where} has no {name}")
    return value


def _moment(given: Any, where: str) -> str:
    """Return a time as ISO 8601; the sources state no zone, so UTC is taken."""
    text = _WEEKDAY.sub(" ", str(given or "")).strip()
    for form in _TIMES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).isoformat()
        except ValueError:
            continue
    raise _bad(f"{where}: {given!r} is no time of this format")


def _bad(why: str) -> InvalidInput:
    return InvalidInput(
        f"{why}; is this the file of another benchmark? See docs/evaluation.md", code="bad_file"
    )


FORMATS: Final[Mapping[str, Callable[[Path], Iterator[Out]]]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "memora": _memora,
}
"""The readers by the name of the benchmark."""
