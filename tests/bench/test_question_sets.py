"""Question sets: the format is read as documented, and wrong lines are told by number."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tenure.bench.evaluation.question_sets import (
    Document,
    Fact,
    QuestionSet,
    in_order,
    question_sets,
)
from tenure.schema.errors import InvalidInput, NotFound, TenureError
from tenure.tests.support.refusals import refused

DOCUMENT = {"id": "d1", "text": "Sam moved to Chicago.", "at": "2026-06-02T09:00:00Z"}
FACT = {"id": "f1", "subject": "Sam", "slot": "office", "value": "Chicago"}
QUESTION = {"id": "q1", "question": "Where is Sam?", "evidence": ["d1"]}


def file_of(folder: Path, *lines: Any) -> Path:
    path = folder / "set.jsonl"
    text = "\n".join(x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines)
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, *lines: Any) -> list[QuestionSet]:
    return list(question_sets(file_of(folder, *lines)))


def test_a_set_holds_items_and_questions_in_order(tmp_path: Path) -> None:
    (held,) = read(tmp_path, DOCUMENT, "", FACT, {**QUESTION, "evidence": ["d1", ["d1", "f1"]]})
    document, fact = held.items
    assert isinstance(document, Document)
    assert isinstance(fact, Fact)
    assert (document.line_text, held.lines) == ("Sam moved to Chicago.", {"d1": 1, "f1": 3})
    assert fact.line_text == "Sam office: Chicago (… to …)"
    (question,) = held.questions
    assert (question.evidence, question.answerable) == ((("d1",), ("d1", "f1")), True)


def test_an_item_shows_who_said_it_or_subject_value_period_and_text(tmp_path: Path) -> None:
    said = {"id": "d", "text": "Hi.", "speaker": "Ann"}
    fact = {"id": "f", "subject": {"name": "Ann"}, "slot": "office", "value": 3,
            "valid_from": "2020-01-01T00:00:00Z", "content": "Ann sits in 3."}  # fmt: skip
    text = {"id": "g", "content": "The office closes at six."}
    (held,) = read(tmp_path, said, fact, text, {"id": "q", "question": "?"})
    assert [item.line_text for item in held.items] == [
        "Ann: Hi.",
        "Ann office: 3 (2020-01-01T00:00:00Z to …) Ann sits in 3.",
        "The office closes at six.",
    ]


def test_each_set_stands_by_itself_and_definitions_hold_from_their_place_on(
    tmp_path: Path,
) -> None:
    word = {"define": "slot", "name": "badge", "description": "the badge"}
    later = {"define": "slot", "name": "desk", "description": "the desk"}
    first, second = read(
        tmp_path, word, {**DOCUMENT, "set": "a"}, {**QUESTION, "set": "a"}, later,
        {**DOCUMENT, "set": "b"}, {**QUESTION, "set": "b"},
    )  # fmt: skip
    assert (first.name, second.name) == ("a", "b")
    assert second.definitions == [word, later]


def test_packed_files_and_any_script_are_read(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl.gz"
    lines = [
        {**DOCUMENT, "id": "一", "text": "東京 🏙️ \u200d שלום"},
        {**QUESTION, "evidence": ["一"]},
    ]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    (held,) = question_sets(path)
    assert held.items[0].id == "一"


def test_an_empty_file_has_no_sets_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, "", "  ") == []
    with refused(NotFound, "unknown_file"):
        list(question_sets(tmp_path / "none.jsonl"))


def test_items_come_in_the_order_of_their_times(tmp_path: Path) -> None:
    lines = [
        {"id": "late", "text": "x", "at": "2026-02-01T00:00:00Z"},
        {"id": "same", "text": "x"},
        {"id": "early", "text": "x", "at": "2026-01-01T00:00:00Z"},
    ]
    (held,) = read(tmp_path, {"id": "free", "text": "x"}, *lines)
    assert [item.id for _, item in in_order(held.items)] == ["free", "early", "late", "same"]


@pytest.mark.parametrize(
    ("line", "code", "why"),
    [
        ("{", "bad_json", "no JSON"),
        ("[1]", "bad_json", "one JSON object"),
        ({"id": "d2", "text": "x", "speeker": "Ann"}, "unknown_field", "'speaker'"),
        ({"id": "d2", "text": "  "}, "bad_field", "text is missing"),
        ({"text": "x"}, "bad_field", "id is missing"),
        ({"id": 7, "text": "x"}, "bad_field", "id must be a text"),
        ({"id": "d1", "text": "x"}, "bad_field", "line 1 of this set"),
        ({"id": "x"}, "bad_field", "a document"),
        ({"id": "x", "slott": "office"}, "unknown_field", "'slot'"),
        ({"id": "x", "questoin": "Where?"}, "unknown_field", "'question'"),
        ({"id": "x", "text": "x", "at": "2026-06-02T09:00:00"}, "naive_datetime", "2026-06-02"),
        ({"id": "x", "text": "x", "at": "infinity"}, "bad_time", "open end"),
        ({"id": "q2", "question": "?", "evidence": "d1"}, "bad_field", "list of ids"),
        ({"id": "q2", "question": "?", "evidence": [[]]}, "bad_field", "list of ids"),
        ({"id": "q2", "question": "?", "evidence": [["d1", 3]]}, "bad_field", "list of ids"),
        ({"id": "q2", "question": "?", "evidence": ["d2"]}, "bad_field", "known: d1"),
        ({"id": "q2", "question": "?", "stale": ["d9"]}, "bad_field", "'d9'"),
        ({"id": "q2", "question": "?", "stale": "d1"}, "bad_field", "list of texts"),
        ({"id": "q2", "question": "?", "entities": [1]}, "bad_field", "list of texts"),
        ({"id": "q2", "question": "?", "answerable": "no"}, "bad_field", "true or false"),
        ({"id": "q1", "question": "?"}, "bad_field", "line 2 of this set"),
        ({"id": "q2", "question": "?", "expected": "x"}, "unknown_field", "expected"),
    ],
)
def test_a_wrong_line_is_told_by_number(tmp_path: Path, line: Any, code: str, why: str) -> None:
    with refused(TenureError, code) as caught:
        read(tmp_path, DOCUMENT, QUESTION, line)
    assert str(caught.value).startswith("line 3: ")
    assert why in str(caught.value)


def test_a_set_that_comes_back_is_refused(tmp_path: Path) -> None:
    lines = [{**DOCUMENT, "set": "a"}, {**DOCUMENT, "set": "b"}, {**QUESTION, "set": "a"}]
    with pytest.raises(InvalidInput, match="line 3: the lines of set 'a' must stand together"):
        read(tmp_path, *lines)
