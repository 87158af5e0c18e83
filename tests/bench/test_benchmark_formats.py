"""Benchmark formats: files in exactly the published form become question sets.

The small files are written by hand after the descriptions of the data; they hold none of it.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure.bench.evaluation.__main__ import app
from tenure.bench.evaluation.formats import FORMATS, convert
from tenure.bench.evaluation.question_sets import QuestionSet, question_sets
from tenure.schema.errors import InvalidInput, NotFound, TenureError, Unavailable
from tenure.tests.support.refusals import refused

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Tom",
            "session_2_date_time": "10:37 am on 27 June, 2023",
            "session_2": [
                {"speaker": "Tom", "dia_id": "D2:1", "text": "Which breed is it?"},
                {"speaker": "Ines", "dia_id": "D2:2", "text": "", "query": "beagle",
                 "img_url": ["http://pictures.example/1"], "blip_caption": "a beagle on a sofa"},
                {"speaker": "Tom", "dia_id": "D2:3", "text": "  "},
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ines", "dia_id": "D1:1", "text": "I adopted a dog yesterday!"},
                {"speaker": "Tom", "dia_id": "D1:2", "text": "Congratulations!"},
            ],
            "session_3_date_time": "9:00 am on 1 July, 2023",
        },
        "observation": {"session_1_observation": {"Ines": [["Ines has a dog.", "D1:1"]]}},
        "session_summary": {"session_1_summary": "They talk."},
        "event_summary": {"events_session_1": {"Ines": [], "Tom": [], "date": "8 May, 2023"}},
        "qa": [
            {"question": "When did Ines adopt a dog?", "answer": "7 May 2023",
             "evidence": ["D1:1"], "category": 2},
            {"question": "What is her dog?", "answer": 2022,
             "evidence": ["D1:01; D2:2", "D:2:2", "D9:9"], "category": 1},
            {"question": "Why did Tom adopt a cat?", "adversarial_answer": "He likes cats",
             "evidence": ["D1:2"], "category": 5},
        ],
    }
]  # fmt: skip

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": "e47becba",
        "question_type": "single-session-user",
        "question": "Which degree did I graduate with?",
        "answer": "Business Administration",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["sharegpt_1", "answer_2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": ""}],
            [
                {"role": "user", "content": "I have a degree in business.", "has_answer": True},
                {"role": "assistant", "content": "Good to know.", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["answer_2"],
    },
    {
        "question_id": "unlabelled",
        "question_type": "multi-session",
        "question": "How many?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["a_1", "a_2", "b"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"] * 3,
        "haystack_sessions": [
            [{"role": "user", "content": "One."}, {"role": "assistant", "content": "Fine."}],
            [{"role": "user", "content": "Two."}],
            [{"role": "user", "content": "Other."}],
        ],
        "answer_session_ids": ["a_1", "a_2"],
    },
    {
        "question_id": "e47becba_abs",
        "question_type": "single-session-user",
        "question": "Which doctorate do I have?",
        "answer": "You did not mention one.",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "Hello.", "has_answer": True}]],
        "answer_session_ids": ["s"],
    },
]


def memora(folder: Path) -> Path:
    """Write a persona in the layout of the benchmark and return its file of questions."""
    talk = folder / "conversations"
    talk.mkdir(parents=True)
    sessions = {
        1: ("2025-06-01", "add", "Add 'Call the bank' and a budget of $875,000.", True),
        2: ("2025-06-02", "delete", "Not 'Call the Bank'; make it $1,100,000.", True),
        3: ("2025-06-03", None, "Call the bank is a nice phrase.", False),
    }  # fmt: skip
    for number, (date, operation, message, told) in sessions.items():
        held: dict[str, Any] = {
            "session_id": number,
            "session_type": "activity" if operation else "no_memory",
            "operation": operation,
            "operation_details": {},
            "date": date,
            "persona": "sales_manager",
            "conversation": [
                {"turn": 1, "speaker": "ai_agent", "message": "Hello!", "share_memory": False},
                {"turn": 2, "speaker": "user_agent", "message": message, "share_memory": told},
                {"turn": 3, "speaker": "ai_agent", "message": " ", "share_memory": False},
            ],
        }
        (talk / f"session_{number:04}.json").write_text(json.dumps(held), encoding="utf-8")
    rubric = {
        "evaluation_question_id": "todo_1_eval_memory_presence_0",
        "evaluation_question": "Does the response mention the budget: 1100000?",
        "expected_answer": "yes",
        "evaluation_type": "memory_presence",
    }
    asked = {
        "question_id": "todo_1",
        "question": "What is on my list?",
        "question_date": "2025-06-07",
        "memory_evidence": {"remaining": [{"value": 1100000, "session_id": 2}],
                            "goal_session": {"session_id": 9}, "session_history": [2]},
        "forgetting_evidence": {
            "forgotten_items": [
                {"value": "Call the bank", "session_id": 2},
                {"field": "budget", "value": 875000, "session_id": 2},
            ],
            "total_forgotten_items": 2,
        },
        "evaluation": {"evaluation_questions": [rubric], "total_evaluation_questions": 1},
    }  # fmt: skip
    plain = {k: v for k, v in asked.items() if k not in ("forgetting_evidence", "evaluation")}
    questions = {
        "persona": "sales_manager",
        "date_range": {"start_date": "2025-06-01", "end_date": "2025-06-07"},
        "questions": {
            "remembering": [asked],
            "reasoning": [{**plain, "question_id": "goal_1"}],
            "recommending": [],
        },
    }
    path = folder / "evaluation_questions_sales_manager.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    return path


def converted(folder: Path, source: str, held: Any) -> list[QuestionSet]:
    """Convert a published file, or what one holds, and read the result back, as a user would."""
    path = held
    if not isinstance(held, Path):
        path = folder / "published.json"
        path.write_text(json.dumps(held), encoding="utf-8")
    own = folder / "own.jsonl"
    own.write_text("".join(json.dumps(x) + "\n" for x in convert(source, path)), encoding="utf-8")
    return list(question_sets(own))


def test_locomo_turns_come_in_order_of_sessions_with_captions(tmp_path: Path) -> None:
    (held,) = converted(tmp_path, "locomo", LOCOMO)
    assert held.name == "conv-1"
    assert [(item.id, item.line_text) for item in held.items] == [
        ("D1:1", "Ines: I adopted a dog yesterday!"),
        ("D1:2", "Tom: Congratulations!"),
        ("D2:1", "Tom: Which breed is it?"),
        ("D2:2", "Ines: [shares a picture: a beagle on a sofa]"),
    ]
    assert held.items[0].at_us == 1_683_554_160_000_000  # 2023-05-08 13:56 UTC


def test_locomo_evidence_is_read_in_every_form_it_has(tmp_path: Path) -> None:
    (held,) = converted(tmp_path, "locomo", LOCOMO)
    assert [(q.category, q.evidence, q.answerable) for q in held.questions] == [
        ("temporal", (("D1:1",),), True),
        ("multi-hop", (("D1:1",), ("D2:2",)), True),
        ("adversarial", (), False),
    ]


def test_longmemeval_takes_labelled_turns_and_else_any_turn_of_a_session(tmp_path: Path) -> None:
    labelled, sessions, absent = converted(tmp_path, "longmemeval", LONGMEMEVAL)
    assert [item.id for item in labelled.items] == [
        "0:sharegpt_1:0", "1:answer_2:0", "1:answer_2:1",
    ]  # fmt: skip
    assert labelled.questions[0].evidence == (("1:answer_2:0",),)
    assert labelled.questions[0].known_at_us == 1_685_490_000_000_000  # 2023-05-30 23:40 UTC
    assert sessions.questions[0].evidence == (("0:a_1:0", "0:a_1:1"), ("1:a_2:0",))
    assert (absent.questions[0].answerable, absent.questions[0].evidence) == (False, ())


@pytest.mark.parametrize("folder", [False, True])
def test_memora_finds_what_was_forgotten_in_earlier_turns(tmp_path: Path, folder: bool) -> None:
    path = memora(tmp_path / "sales_manager")
    (held,) = converted(tmp_path, "memora", path.parent if folder else path)
    first, second = held.questions
    assert [item.id for item in held.items] == ["1:1", "1:2", "2:1", "2:2", "3:1", "3:2"]
    assert (first.category, first.evidence, first.stale) == ("remembering", (("2:2",),), ("1:2",))
    assert (second.category, second.stale) == ("reasoning", ())
    day = 86_400_000_000
    assert first.as_of_us == (held.items[0].at_us or 0) + 7 * day - 1_000_000
    # The groups of questions may come in a list.
    questions = json.loads(path.read_text())
    path.write_text(json.dumps({**questions, "questions": [questions["questions"]]}))
    assert converted(tmp_path, "memora", path) == [held]


def test_meetings_and_persons_are_read_line_by_line(tmp_path: Path) -> None:
    meeting = {
        "conversation": "m1",
        "turns": [{"id": 0, "speaker": "Ann", "text": "We ship on Friday."},
                  {"id": 1, "speaker": "Bo", "text": " "}],
        "questions": [{"question": "When do we ship?", "evidence": [0, 1], "answer": "Friday"}],
    }  # fmt: skip
    path = tmp_path / "meetings.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(meeting).encode()))
    (held,) = converted(tmp_path, "meetings", path)
    assert [(item.id, item.line_text) for item in held.items] == [("0", "Ann: We ship on Friday.")]
    assert held.questions[0].evidence == (("0",),)

    folder = memora(tmp_path / "sales_manager")
    questions = json.loads(folder.read_text())
    sessions = sorted((folder.parent / "conversations").glob("session_*.json"))
    person = {
        "person": "sales_manager",
        "sessions": [json.loads(session.read_text()) for session in sessions],
        "questions": [questions],
    }
    lives = tmp_path / "lives.jsonl"
    lives.write_text(json.dumps(person))
    assert converted(tmp_path, "memora", lives) == converted(tmp_path, "memora", folder)


@pytest.mark.parametrize(
    ("source", "held", "why"),
    [
        ("locomo", {}, "is no list"),
        ("locomo", [[]], "x.json 0 is no object"),
        ("locomo", [{"sample_id": "c"}], "x.json 0: conversation is no object"),
        ("locomo", [{"conversation": {}}], "x.json 0: qa is no list"),
        ("locomo", [{"conversation": {"session_1": [{}]}}], "session_1_date_time: None is no time"),
        ("locomo", [{"conversation": {}, "qa": [{}]}], "qa 0 has no question"),
        ("longmemeval", [{}], "x.json 0 has no question_id"),
        ("longmemeval", [{"question_id": "x"}], "x.json 0: haystack_sessions is no list"),
        ("longmemeval", [{**LONGMEMEVAL[0], "haystack_dates": []}], "differ in length"),
        ("longmemeval", [{**LONGMEMEVAL[0], "question_date": "May"}], "'May' is no time"),
        ("memora", [], "is no object"),
    ],
)
def test_a_file_of_another_form_is_refused_with_the_place(
    tmp_path: Path, source: str, held: Any, why: str
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(held), encoding="utf-8")
    with refused(InvalidInput, "bad_file") as caught:
        list(convert(source, path))
    assert why in str(caught.value)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    broken, empty = tmp_path / "broken.json", tmp_path / "empty"
    broken.write_text("{")
    empty.mkdir()
    lonely = tmp_path / "evaluation_questions_x.json"
    lonely.write_text(json.dumps({"questions": {}}))
    cases: list[tuple[str, Path, type[TenureError], str]] = [
        ("locomo", broken, InvalidInput, "bad_json"),
        ("locomo", tmp_path / "none", NotFound, "unknown_file"),
        ("locomo", tmp_path, Unavailable, "file_unreadable"),
        ("memora", empty, InvalidInput, "bad_file"),
        ("memora", lonely, NotFound, "unknown_file"),
        ("squad", broken, InvalidInput, "unknown_vocabulary"),
    ]
    for source, path, kind, code in cases:
        with refused(kind, code):
            list(convert(source, path))
    assert sorted(FORMATS) == ["beam", "locomo", "longmemeval", "meetings", "memconflict", "memora"]


def test_the_help_of_the_converter_says_what_each_format_reads() -> None:
    printed = CliRunner().invoke(app, ["convert", "--help"]).stdout
    shown = " ".join(printed.split())
    for name in FORMATS:
        assert f"{name}: " in shown
        assert f"--from {name} " in shown
    assert "a line a person" in shown
