"""Benchmark formats: LoCoMo, LongMemEval, BEAM, MemConflict, Memora and QMSum (C-102).

Each reader takes a file exactly as its authors publish it and yields the lines of our own format
(`question_sets`), one turn a document. What the source labels decides the evidence: a turn where
turns are labelled; where only a session is, any turn of it that carries memory. Questions that
the source made unanswerable are marked so. Nothing is downloaded, and no answer is judged.

What Memora calls forgotten is named by its value and the session that withdrew it: the turns
before that session which carry memory and say the value are the stale ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

from tenure.schema.errors import InvalidInput, NotFound, unknown
from tenure.service.writing.lines import stream_of

Fields = dict[str, Any]
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
_ADVERSARIAL: Final = 5
_WEEKDAY: Final = re.compile(r"\s*\([A-Za-z]+\)\s*")
_TIMES: Final = (
    "%I:%M %p on %d %B, %Y",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d",
    "%Y-%m-%d",
    "%d %B, %Y",
    "%B-%d-%Y",
)
_SPEAKERS: Final = {"user_agent": "user", "ai_agent": "assistant"}
_MEETING_DAY: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""Meetings state no day; a turn a second keeps them in order."""


def convert(source: str, path: str | Path) -> Iterator[Fields]:
    """Yield the lines of our format from a published file; a Memora persona may be its folder.

    Raises:
        InvalidInput: `unknown_vocabulary` for a source that is not known, `bad_json`, and
            `bad_file` where the file is not of that form, with the place in front.
        NotFound: `unknown_file`.
    """
    if source not in FORMATS:
        raise unknown("benchmark format", source, FORMATS)
    return FORMATS[source](Path(path))


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a JSON file, and where it stands."""

    value: Any
    place: str

    def __getitem__(self, name: str) -> _Node:
        """A member of an object; null where it is missing."""
        return _Node(self.mapping().get(name), f"{self.place}: {name}")

    def mapping(self) -> Mapping[str, Any]:
        value: object = self.value
        if not isinstance(value, Mapping):
            raise _bad(f"{self.place} is no object")
        return cast("Mapping[str, Any]", value)

    def members(self) -> list[_Node]:
        """The members of a list."""
        value: object = self.value
        if not isinstance(value, list):
            raise _bad(f"{self.place} is no list")
        values = cast("list[object]", value)
        return [_Node(value, f"{self.place} {index}") for index, value in enumerate(values)]

    def text(self, name: str) -> str:
        """A member that must be a text."""
        value = self.mapping().get(name)
        if not isinstance(value, str) or not value.strip():
            raise _bad(f"{self.place} has no {name}")
        return value

    def words(self, name: str) -> str:
        """A member as a text, empty where there is none."""
        return str(self.mapping().get(name) or "").strip()

    def time(self) -> str:
        """A time as ISO 8601; the sources state no zone, so UTC is taken."""
        text = _WEEKDAY.sub(" ", str(self.value or "")).strip()
        for form in _TIMES:
            try:
                return datetime.strptime(text, form).replace(tzinfo=UTC).isoformat()
            except ValueError:
                continue
        raise _bad(f"{self.place}: {self.value!r} is no time of this format")


def _locomo(path: Path) -> Iterator[Fields]:
    for number, sample in enumerate(_json_file(path).members()):
        name = str(sample.mapping().get("sample_id") or f"sample-{number}")
        turns = list(_locomo_turns(name, sample["conversation"]))
        yield from turns

        ids = {turn["id"] for turn in turns}
        for position, question in enumerate(sample["qa"].members()):
            yield _locomo_question(name, position, question, ids)


def _locomo_turns(name: str, talk: _Node) -> Iterator[Fields]:
    numbers: list[int] = []
    for key in talk.mapping():
        match = _LOCOMO_SESSION.fullmatch(key)
        if match:
            numbers.append(int(match[1]))

    for number in sorted(numbers):
        session = f"session_{number}"
        moment = talk[f"{session}_date_time"].time()
        for turn in talk[session].members():
            text, caption = turn.words("text"), turn.words("blip_caption")
            if caption:
                text = f"{text} [shares a picture: {caption}]".strip()
            if text:
                turn_id, speaker = turn.text("dia_id"), turn.text("speaker")
                yield _turn(name, turn_id, text, moment, speaker=speaker, session=session)


def _turn(name: str, turn_id: str, text: str, moment: str, *, speaker: str, session: str) -> Fields:
    return {
        "set": name,
        "id": turn_id,
        "text": text,
        "at": moment,
        "speaker": speaker,
        "session": session,
    }


def _locomo_question(name: str, position: int, question: _Node, ids: set[str]) -> Fields:
    # Labels come as lists and as texts, with zeros and with colons too many.
    evidence: list[str] = []
    for match in _LOCOMO_TURN.finditer(str(question["evidence"].value)):
        turn_id = f"D{int(match[1])}:{int(match[2])}"
        if turn_id in ids and turn_id not in evidence:
            evidence.append(turn_id)

    category = question.mapping().get("category")
    kind = _LOCOMO_KINDS.get(category, str(category)) if isinstance(category, int) else ""
    return {
        "set": name,
        "id": f"{name}-q{position}",
        "question": question.text("question"),
        "evidence": [] if category == _ADVERSARIAL else evidence,
        "answerable": category != _ADVERSARIAL,
        "category": kind,
    }


def _longmemeval(path: Path) -> Iterator[Fields]:
    for instance in _json_file(path).members():
        name = instance.text("question_id")
        turns, labelled_ids = _longmemeval_turns(name, instance)
        yield from turns

        named = instance["answer_session_ids"]
        answer_sessions = (
            {str(node.value) for node in named.members()} if named.value else set[str]()
        )
        evidence: list[Any] = [*labelled_ids] or _by_session(turns, answer_sessions)
        moment = instance["question_date"].time()
        is_answerable = not name.endswith("_abs")
        yield {
            "set": name,
            "id": name,
            "question": instance.text("question"),
            "evidence": evidence if is_answerable else [],
            "as_of": moment,
            "known_at": moment,
            "answerable": is_answerable,
            "category": instance.words("question_type"),
        }


def _longmemeval_turns(name: str, instance: _Node) -> tuple[list[Fields], list[str]]:
    """The turns of an instance, and the ids of those that hold the answer."""
    sessions = instance["haystack_sessions"].members()
    dates = instance["haystack_dates"].members()
    names = instance["haystack_session_ids"].members()
    if not len(sessions) == len(dates) == len(names):
        raise _bad(f"{name}: haystack_sessions, _dates and _session_ids differ in length")

    turns: list[Fields] = []
    labelled_ids: list[str] = []
    for position, (session, date, label) in enumerate(zip(sessions, dates, names, strict=True)):
        moment = date.time()
        for number, turn in enumerate(session.members()):
            text = turn.words("content")
            if not text:
                continue

            # A session may stand in a haystack twice, so its position is part of the id.
            turn_id = f"{position}:{label.value}:{number}"
            speaker, session_id = turn.words("role") or "user", str(label.value)
            turns.append(_turn(name, turn_id, text, moment, speaker=speaker, session=session_id))
            if turn.mapping().get("has_answer") is True:
                labelled_ids.append(turn_id)
    return turns, labelled_ids


def _by_session(turns: list[Fields], sessions: set[str]) -> list[list[str]]:
    """The turns of each answering session: any of them will do."""
    return [ids for session, ids in _turns_by_session(turns).items() if session in sessions]


def _turns_by_session(turns: list[Fields]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for turn in turns:
        groups.setdefault(turn["session"], []).append(turn["id"])
    return groups


def _memora(path: Path) -> Iterator[Fields]:
    """A persona's folder or file of questions, or a file of several persons, a line each."""
    if ".jsonl" in path.suffixes:
        for person in _json_lines(path):
            name = person.text("person")
            sessions = [_Node(member.value, name) for member in person["sessions"].members()]
            yield from _memora_lines(name, sessions, person["questions"].members()[0])
        return

    file = path
    if path.is_dir():
        files = sorted(path.glob("evaluation_questions_*.json"))
        if len(files) != 1:
            raise _bad(f"{path} holds {len(files)} files evaluation_questions_*.json, not one")
        file = files[0]

    questions = _json_file(file)
    name = questions.words("persona") or file.parent.name
    folder = file.parent / "conversations"
    sessions = [_json_file(member) for member in sorted(folder.glob("session_*.json"))]
    if not sessions:
        raise NotFound(f"there are no sessions in {folder}", code="unknown_file")
    yield from _memora_lines(name, sessions, questions)


def _memora_lines(name: str, sessions: list[_Node], asked_by: _Node) -> Iterator[Fields]:
    memory_turns: list[Fields] = []
    for session in sessions:
        session_id = str(session.mapping().get("session_id"))
        moment = session["date"].time()
        for turn in session["conversation"].members():
            text, role = turn.words("message"), turn.words("speaker") or "user"
            if not text:
                continue
            turn_id = f"{session_id}:{turn.mapping().get('turn')}"
            speaker = _SPEAKERS.get(role, role)
            fields = _turn(name, turn_id, text, moment, speaker=speaker, session=session_id)
            if turn.mapping().get("share_memory") is True:
                memory_turns.append(fields)
            yield fields

    groups = asked_by["questions"]
    for group in groups.members() if isinstance(groups.value, list) else [groups]:
        for kind in group.mapping():
            for question in group[kind].members():
                yield _memora_question(name, kind, question, memory_turns)


def _memora_question(name: str, kind: str, question: _Node, memory_turns: list[Fields]) -> Fields:
    session_ids = dict.fromkeys(_session_ids(question["memory_evidence"].value))
    turns_by_session = _turns_by_session(memory_turns)

    evidence: list[list[str]] = []
    needed_ids: set[str] = set()
    for session_id in session_ids:
        turn_ids = turns_by_session.get(session_id)
        if turn_ids is not None:
            evidence.append(turn_ids)
            needed_ids.update(turn_ids)

    moment = question["question_date"].time().replace("T00:00:00", "T23:59:59")
    return {
        "set": name,
        "id": question.text("question_id"),
        "question": question.text("question"),
        "evidence": evidence,
        "stale": list(_stale_turns(question, memory_turns, needed_ids)),
        "as_of": moment,
        "known_at": moment,
        "category": kind,
    }


def _session_ids(evidence: Any) -> Iterator[str]:
    """Yield the sessions that an evidence names, however deep."""
    if isinstance(evidence, list):
        for member in cast("list[object]", evidence):
            yield from _session_ids(member)
    if not isinstance(evidence, Mapping):
        return

    for key, value in cast("Mapping[str, object]", evidence).items():
        is_history = key == "session_history" and isinstance(value, list)
        if key != "session_id" and not is_history:
            yield from _session_ids(value)
            continue
        for session_id in cast("list[object]", value if isinstance(value, list) else [value]):
            if isinstance(session_id, int | str):
                yield str(session_id)


def _stale_turns(
    question: _Node, memory_turns: list[Fields], needed_ids: set[str]
) -> Iterator[str]:
    withdrawals = question["forgetting_evidence"]
    if not isinstance(withdrawals.value, Mapping):
        return
    items = withdrawals["forgotten_items"]
    if not isinstance(items.value, list):
        return

    for item in items.members():
        value, session = _search_form(item.words("value")), _number(item["session_id"].value)
        for turn in memory_turns:
            if turn["id"] in needed_ids:
                continue
            is_before = _number(turn["session"]) < session
            if value and is_before and value in _search_form(turn["text"]):
                yield turn["id"]


def _search_form(text: str) -> str:
    """A text to look for values in: one case, no digit grouping, one space."""
    digits = re.sub(r"(?<=\d),(?=\d{3})", "", text.casefold())
    return " ".join(re.sub(r"[^\w\s]+", " ", digits).split())


def _number(value: Any) -> int:
    text = str(value)
    return int(text) if text.isdecimal() else 0


def _meetings(path: Path) -> Iterator[Fields]:
    for meeting in _json_lines(path):
        name = meeting.text("conversation")
        ids: set[str] = set()
        for number, turn in enumerate(meeting["turns"].members()):
            text = turn.words("text")
            if not text:
                continue
            turn_id = str(turn.mapping().get("id"))
            moment = (_MEETING_DAY + timedelta(seconds=number)).isoformat()
            ids.add(turn_id)
            speaker = turn.text("speaker")
            yield _turn(name, turn_id, text, moment, speaker=speaker, session=name)

        for number, question in enumerate(meeting["questions"].members()):
            evidence: list[str] = []
            for member in question["evidence"].members():
                turn_id = str(member.value)
                # A turn without words is none of the items.
                if turn_id in ids:
                    evidence.append(turn_id)
            yield {
                "set": name,
                "id": f"{name}-q{number}",
                "question": question.text("question"),
                "evidence": evidence,
            }


def _beam(path: Path) -> Iterator[Fields]:
    """A conversation's folder, or one that holds several: each has `chat.json`, in batches."""
    files = sorted(path.rglob("chat.json"))
    if not files:
        raise NotFound(f"there is no chat.json in {path}", code="unknown_file")
    for file in files:
        name = file.parent.relative_to(path.parent).as_posix()
        turns = list(_beam_turns(name, _json_file(file)))
        yield from turns
        ids = {turn["id"] for turn in turns}
        questions = _json_file(file.parent / "probing_questions" / "probing_questions.json")
        for ability in questions.mapping():
            for number, question in enumerate(questions[ability].members()):
                named = _labels(question["source_chat_ids"].value)
                evidence = [i for i in dict.fromkeys(named) if i in ids]
                is_answerable = ability != "abstention"
                yield {
                    "set": name,
                    "id": f"{name}-{ability}-{number}",
                    "question": question.text("question"),
                    "evidence": evidence if is_answerable else [],
                    "answerable": is_answerable,
                    "category": ability,
                }


def _beam_turns(name: str, chat: _Node) -> Iterator[Fields]:
    day, seen = _Node("2000-01-01", name).time(), set[str]()
    for number, batch in enumerate(chat.members()):
        for group in batch["turns"].members():
            for message in group.members():
                anchor = message["time_anchor"].value or batch["time_anchor"].value
                day = _Node(anchor, message.place).time() if anchor else day
                turn_id, text = str(message.mapping().get("id")), message.words("content")
                if text and turn_id not in seen:
                    seen.add(turn_id)
                    speaker, session = message.words("role") or "user", f"batch-{number}"
                    yield _turn(name, turn_id, text, day, speaker=speaker, session=session)


def _labels(value: Any) -> Iterator[str]:
    """The message ids of a label, however they are nested."""
    if isinstance(value, int | str):
        yield str(value)
    elif isinstance(value, Mapping):
        for member in cast("Mapping[str, object]", value).values():
            yield from _labels(member)
    elif isinstance(value, list):
        for member in cast("list[object]", value):
            yield from _labels(member)


def _memconflict(path: Path) -> Iterator[Fields]:
    """A line a persona; the sessions that support an answer follow from the released ids."""
    for persona in _json_lines(path):
        name, sessions = persona.text("ID"), persona["Full_Session_Chain"].members()
        turns: list[Fields] = []
        for session in sessions:
            turns += _memconflict_turns(name, session)
        yield from turns
        turns_by_session = _turns_by_session(turns)

        for place, session in enumerate(sessions):
            questions = session["Session_Questions"]
            for question in questions.members() if questions.value else ():
                support = _support_of(question, place, sessions)
                evidence = turns_by_session.get(support or "")
                asked_at = session["Date"].time().replace("T00:00:00", "T23:59:59")
                yield {
                    "set": name,
                    "id": f"{name}|S{session['Session_ID'].value}|{question.text('question_id')}",
                    "question": question.text("question"),
                    "evidence": [evidence] if evidence else [],
                    "as_of": asked_at,
                    "known_at": asked_at,
                    "category": question.words("conflict_type"),
                }


def _memconflict_turns(name: str, session: _Node) -> Iterator[Fields]:
    session_id, moment = str(session["Session_ID"].value), session["Date"].time()
    dialogue = session["Session_Dialogue"]
    for key in dialogue.mapping() if dialogue.value else ():
        for number, message in enumerate(dialogue[key].members(), 1):
            # A few released messages lack a role or their text.
            if isinstance(message.value, Mapping) and message.words("content"):
                turn_id = f"S{session_id}:{key}:{number}"
                text, speaker = message.words("content"), message.words("role") or "user"
                yield _turn(name, turn_id, text, moment, speaker=speaker, session=session_id)


def _support_of(question: _Node, place: int, sessions: list[_Node]) -> str | None:
    """The session that holds the answer; None where the released ids do not say."""
    session, kind = sessions[place], question.words("conflict_type")
    if kind == "dynamic_conflict":
        return str(session["Session_ID"].value) if session["Updated_Attributes"].value else None
    if kind == "static_conflict":
        asked = _entries(session, "Static_Conflict_Information", "Role", "Point_B")
        truths: list[_Node] = []
        for other in sessions:
            for entry in _entries(other, "Static_Conflict_Information", "Role", "Point_A"):
                if len(asked) == 1 and entry["Conflict_ID"].value == asked[0]["Conflict_ID"].value:
                    truths.append(other)
        return str(truths[0]["Session_ID"].value) if len(truths) == 1 else None

    rules = _entries(session, "Conditional_Conflict_Information", "Rule_ID")
    askers = [q for q in session["Session_Questions"].members() if q.words("conflict_type") == kind]
    if len(rules) != 1 or len(askers) != 1:
        return None
    # The question is about the rule before the one that this session states.
    earlier: list[_Node] = []
    for other in sessions[:place]:
        for entry in _entries(other, "Conditional_Conflict_Information", "Rule_ID"):
            if entry["Conflict_ID"].value == rules[0]["Conflict_ID"].value:
                earlier.append(other)
    return str(earlier[-1]["Session_ID"].value) if earlier else None


def _entries(session: _Node, list_name: str, field: str, value: str | None = None) -> list[_Node]:
    """The members of a list whose field has this value, or any."""
    entries = session[list_name]
    matches: list[_Node] = []
    for entry in entries.members() if entries.value else ():
        found = entry[field].value
        if found and (value is None or found == value):
            matches.append(entry)
    return matches


def _json_lines(path: Path) -> Iterator[_Node]:
    for number, line in enumerate(_read(path).splitlines(), start=1):
        if line.strip():
            yield _parse(line, f"{path}, line {number}")


def _json_file(path: Path) -> _Node:
    return _parse(_read(path), str(path))


def _parse(text: bytes, place: str) -> _Node:
    try:
        return _Node(json.loads(text), place)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{place} is no JSON: {error}", code="bad_json") from error


def _read(path: Path) -> bytes:
    with stream_of(path) as raw:
        return raw.read()


def _bad(reason: str) -> InvalidInput:
    return InvalidInput(
        f"{reason}; is this the file of another benchmark? See docs/evaluation.md",
        code="bad_file",
    )


FORMATS: Final[Mapping[str, Callable[[Path], Iterator[Fields]]]] = {
    "locomo": _locomo,
    "longmemeval": _longmemeval,
    "memora": _memora,
    "beam": _beam,
    "memconflict": _memconflict,
    "meetings": _meetings,
}
"""The readers by the name of the benchmark."""
