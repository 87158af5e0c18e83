"""Sessions are ranked from made copies of the formats of other people's benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure.bench.common.__main__ import main
from tenure.bench.common.sessions import SessionReport, measure_sessions
from tenure.tests.bench.test_benchmark_formats import LOCOMO, LONGMEMEVAL

TURN = {"role": "user", "content": "Ich habe einen Abschluss \U0001f393 in BWL."}
UNLABELLED = "no labelled session in the haystack"
UNANSWERABLE = "unanswerable by the source"


def longmemeval(**changed: Any) -> list[dict[str, Any]]:
    return [{**LONGMEMEVAL[0], **changed}]


def locomo(**changed: Any) -> list[dict[str, Any]]:
    return [{**LOCOMO[0], "qa": [{"question": "Which breed is it?", "category": 4, **changed}]}]


BEAM_CHAT = [
    {"batch_number": 1, "time_anchor": "March-15-2024", "turns": [
        [{"role": "user", "id": 0, "content": "I build a kite of silk."},
         {"role": "assistant", "id": 1, "content": "Lovely."}]]},
    {"batch_number": 2, "time_anchor": "April-02-2024", "turns": [
        [{"role": "user", "id": 2, "content": "The deadline of the ferry model is in June."}]]},
]  # fmt: skip
BEAM_QUESTIONS = {
    "information_extraction": [{"question": "When is the deadline of the ferry model?",
                                "source_chat_ids": [2], "rubric": ["June"]}],
    "contradiction_resolution": [{"question": "Of what is the kite?", "rubric": ["silk"],
                                  "source_chat_ids": {"first": [0], "second": [0]}}],
    "abstention": [{"question": "Who sings?", "rubric": ["unknown"], "source_chat_ids": []}],
}  # fmt: skip


def memconflict_session(number: int, text: str, **further: Any) -> dict[str, Any]:
    turn = [{"role": "user", "content": text}, {"role": "assistant"}]
    return {"Session_ID": number, "Date": f"2024-01-0{number}",
            "Session_Dialogue": {"dialogue_turn_1": turn}, **further}  # fmt: skip


MEMCONFLICT = {
    "ID": "p1",
    "Full_Session_Chain": [
        memconflict_session(1, "My grandmother was born in Lucerne.", Static_Conflict_Information=[
            {"Conflict_ID": "c1", "Role": "Point_A"}]),
        memconflict_session(2, "The garden gate squeaks."),
        memconflict_session(
            3, "Somebody said that my grandmother was born in Basel.",
            Static_Conflict_Information=[{"Conflict_ID": "c1", "Role": "Point_B"}],
            Session_Questions=[
                {"question_id": "q1", "question": "Where was my grandmother born?",
                 "answer": "Lucerne", "conflict_type": "static_conflict"},
                {"question_id": "q2", "question": "Which gate?", "answer": "-",
                 "conflict_type": "dynamic_conflict"}]),
    ],
}  # fmt: skip


def measured(folder: Path, source: str, held: Any) -> SessionReport:
    path = folder / "data.json"
    path.write_text(json.dumps(held))
    return measure_sessions(source, path)[0]


def test_longmemeval_sessions_are_ranked_by_every_method_and_written(tmp_path: Path) -> None:
    longer = {
        "haystack_session_ids": [*LONGMEMEVAL[0]["haystack_session_ids"], "later"],
        "haystack_dates": [*LONGMEMEVAL[0]["haystack_dates"], "2023/06/03 (Sat) 10:00"],
        "haystack_sessions": [*LONGMEMEVAL[0]["haystack_sessions"], [TURN]],
    }
    report = measured(tmp_path, "longmemeval", longmemeval(**longer) + LONGMEMEVAL[2:])
    for method in ("tenure search", "tenure compile", "bm25"):
        # What was said after the question was asked is in no haystack.
        ranking = report.rankings[method]["e47becba"]
        assert (ranking[0], "later" in ranking) == ("answer_2", False)
        assert (method, *["100.0"] * 6) in report.rows()
    assert report.left_out == {UNANSWERABLE: 1}

    files = report.write_rankings(tmp_path / "rankings.json")
    assert [file.name for file in files] == ["rankings.search.json", "rankings.compile.json"]
    for file in files:
        assert json.loads(file.read_text())["e47becba"][0] == "answer_2"


def test_beam_batches_are_sessions_and_labels_may_be_nested(tmp_path: Path) -> None:
    folder = tmp_path / "1"
    (folder / "probing_questions").mkdir(parents=True)
    (folder / "chat.json").write_text(json.dumps(BEAM_CHAT))
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(BEAM_QUESTIONS))
    report, _ = measure_sessions("beam", folder)
    best = {name: order[0] for name, order in report.rankings["bm25"].items()}
    assert best == {
        "1-information_extraction-0": "batch-1",
        "1-contradiction_resolution-0": "batch-0",
    }
    assert report.left_out == {UNANSWERABLE: 1}


def test_memconflict_support_follows_from_the_released_ids(tmp_path: Path) -> None:
    report = measured(tmp_path, "memconflict", MEMCONFLICT)
    assert set(report.rankings["tenure search"]) == {"p1|S3|q1"}
    # The truth is in the first session; the third only repeats what somebody said.
    assert report.scores["tenure search", 5][0].recall_any == 1.0
    assert dict(report.left_out) == {UNLABELLED: 1}


@pytest.mark.parametrize(
    ("source", "held", "left_out"),
    [
        ("longmemeval", longmemeval(answer_session_ids=None), {}),
        ("longmemeval", longmemeval(haystack_sessions=[[], [TURN]]), {}),
        ("longmemeval", longmemeval(haystack_sessions=[[], []]), {UNLABELLED: 1}),
        ("longmemeval", longmemeval(question_date="2023/05/20 (Sat) 12:00"), {UNLABELLED: 1}),
        ("longmemeval", longmemeval(haystack_session_ids=[1, "ответ"]), {}),
        ("locomo", locomo(evidence="D2:1; D2:2"), {}),
        ("locomo", locomo(evidence=None), {UNLABELLED: 1}),
        ("locomo", locomo(evidence=7), {UNLABELLED: 1}),
        ("locomo", locomo(evidence=["D2:1"], category=5), {UNANSWERABLE: 1}),
    ],
)
def test_an_odd_copy_is_measured_or_its_question_is_left_out_with_the_reason(
    tmp_path: Path, source: str, held: Any, left_out: dict[str, int]
) -> None:
    report = measured(tmp_path, source, held)
    assert dict(report.left_out) == left_out
    assert sum(map(len, report.rankings.values())) == 3 * (not left_out)


def test_each_copy_that_cannot_be_measured_is_skipped_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = [{"role": "user", "content": "My diploma\0 is framed."}]
    sessions = [LONGMEMEVAL[0]["haystack_sessions"][1], refused]
    copies = {
        "good": longmemeval(haystack_sessions=sessions),
        "empty": [],
        "odd": longmemeval(answer_session_ids="answer_2"),
    }
    for name, held in copies.items():
        (tmp_path / name).write_text(json.dumps(held))
    options = ["longmemeval", *(f"longmemeval={tmp_path / name}" for name in copies)]
    assert main(["--only", "sessions", "--sessions", *options, "--limit", "1"]) == 0
    printed = capsys.readouterr().out
    for reason in (
        "skipped: state where its copy is: longmemeval=FILE",
        "empty holds no question",
        "answer_session_ids is no list",
        "turn 1:answer_2:0 is not stored: content holds a NUL",
        "| tenure search | 100.0 |",
    ):
        assert reason in printed
