"""Sessions are ranked from made copies of the formats of other people's benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure.bench.common.sessions import measure_sessions

LONGMEMEVAL: list[dict[str, Any]] = [
    {
        "question_id": f"q{suffix}",
        "question_type": "single-session-user",
        "question": "Which instrument do I play in the orchestra?",
        "answer": "The oboe",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["noise_1", answer, "noise_2", "later"],
        "haystack_dates": [
            "2023/05/01 (Mon) 10:00",
            "2023/05/02 (Tue) 10:00",
            "2023/05/03 (Wed) 10:00",
            "2023/06/03 (Sat) 10:00",
        ],
        "haystack_sessions": [
            [{"role": "user", "content": "My bicycle has a flat tyre again."}],
            [
                {"role": "user", "content": "In the orchestra I play an instrument: the oboe.",
                 "has_answer": True},
                {"role": "assistant", "content": "What a fine instrument!"},
            ],
            [{"role": "user", "content": "How long do I boil an egg?"}],
            [{"role": "user", "content": "In the orchestra I play another instrument now."}],
        ],
        "answer_session_ids": [answer],
    }
    for suffix, answer in (("1", "answer_1"), ("2_abs", "answer_2"))
]  # fmt: skip

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ines", "dia_id": "D1:1", "text": "I adopted a beagle."}],
            "session_2_date_time": "1:56 pm on 9 May, 2023",
            "session_2": [{"speaker": "Tom", "dia_id": "D2:1", "text": "My tomatoes are ripe."}],
        },
        "qa": [
            {"question": "Which tomatoes are ripe?", "answer": "Tom's", "evidence": ["D2:1"],
             "category": 4},
            {"question": "Who adopted?", "answer": "Ines", "evidence": [], "category": 4},
        ],
    }
]  # fmt: skip

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


def rankings(source: str, path: Path) -> tuple[dict[str, dict[str, list[str]]], dict[str, int]]:
    report, _ = measure_sessions(source, path)
    return dict(report.rankings), dict(report.left_out)


def written(folder: Path, held: Any) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(held))
    return path


def test_longmemeval_sessions_are_ranked_and_abstentions_left_out(tmp_path: Path) -> None:
    ranked, left_out = rankings("longmemeval", written(tmp_path, LONGMEMEVAL))
    for method in ("tenure search", "tenure compile", "bm25"):
        # What was said after the question was asked is in no haystack.
        assert ranked[method]["q1"][0] == "answer_1"
        assert "later" not in ranked[method]["q1"]
    assert left_out == {"unanswerable by the source": 1}


def test_locomo_counts_questions_without_a_label(tmp_path: Path) -> None:
    ranked, left_out = rankings("locomo", written(tmp_path, LOCOMO))
    assert ranked["tenure search"]["conv-1-q0"][0] == "session_2"
    assert left_out == {"no labelled session in the haystack": 1}


def test_beam_batches_are_sessions_and_labels_may_be_nested(tmp_path: Path) -> None:
    folder = tmp_path / "1"
    (folder / "probing_questions").mkdir(parents=True)
    (folder / "chat.json").write_text(json.dumps(BEAM_CHAT))
    (folder / "probing_questions" / "probing_questions.json").write_text(json.dumps(BEAM_QUESTIONS))
    ranked, left_out = rankings("beam", folder)
    best = {name: order[0] for name, order in ranked["bm25"].items()}
    assert best == {
        "1-information_extraction-0": "batch-1",
        "1-contradiction_resolution-0": "batch-0",
    }
    assert left_out == {"unanswerable by the source": 1}


def test_memconflict_support_follows_from_the_released_ids(tmp_path: Path) -> None:
    report, recall = measure_sessions("memconflict", written(tmp_path, MEMCONFLICT))
    assert set(report.rankings["tenure search"]) == {"p1|S3|q1"}
    # The truth is in the first session; the third only repeats what somebody said.
    assert report.scores["tenure search", 5][0].recall_any == 1.0
    assert dict(report.left_out) == {"no labelled session in the haystack": 1}
    assert {figure.budget for figure in recall.figures} == {1_000, 2_000, 4_000, 8_000}


def test_rankings_are_written_as_the_official_scorer_reads_them(tmp_path: Path) -> None:
    report, _ = measure_sessions("longmemeval", written(tmp_path, LONGMEMEVAL))
    files = report.write_rankings(tmp_path / "rankings.json")
    assert [file.name for file in files] == ["rankings.search.json", "rankings.compile.json"]
    for file in files:
        assert json.loads(file.read_text())["q1"][0] == "answer_1"


@pytest.mark.parametrize("row", [0, 1, 2])
def test_every_method_has_a_row_of_all_measures(tmp_path: Path, row: int) -> None:
    report, _ = measure_sessions("longmemeval", written(tmp_path, LONGMEMEVAL))
    method, *cells = report.rows()[row]
    assert method in ("tenure search", "tenure compile", "bm25")
    assert cells == ["100.0"] * 6
