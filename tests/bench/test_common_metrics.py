"""Scores of session rankings equal those of the official scorer, written out here from its source.

The reference is LongMemEval's `eval_utils.py`, transcribed with plain lists in place of numpy.
"""

import json
import math
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tenure.bench.common import __main__ as common
from tenure.bench.common import longitudinal
from tenure.bench.common.__main__ import main
from tenure.bench.common.agent_memory import TenureMemory
from tenure.bench.common.changed import write_changed
from tenure.bench.common.metrics import dcg, score_sessions
from tenure.bench.common.sessions import SessionReport, measure_sessions
from tenure.tests.bench.test_benchmark_formats import LOCOMO, LONGMEMEVAL


def reference(ranking: list[str], relevant: set[str], haystack: list[str], cut: int) -> list[float]:
    """recall_any, recall_all and NDCG as the official scorer computes them over all documents."""

    def gain(relevances: list[int]) -> float:
        taken = relevances[:cut]
        return taken[0] + sum(
            r / math.log2(i) for r, i in zip(taken[1:], range(2, 99), strict=False)
        )

    found = set(ranking[:cut])
    relevances = [int(session in relevant) for session in ranking]
    ideal = gain(sorted((int(session in relevant) for session in haystack), reverse=True))
    return [
        float(any(session in found for session in relevant)),
        float(all(session in found for session in relevant)),
        gain(relevances) / ideal if ideal else 0.0,
    ]


@pytest.mark.parametrize("seed", range(25))
def test_scores_equal_those_of_the_official_scorer(seed: int) -> None:
    chance = random.Random(seed)
    haystack = [f"s{number}" for number in range(chance.randint(3, 40))]
    relevant = set(chance.sample(haystack, chance.randint(1, 3)))
    ranking = chance.sample(haystack, len(haystack))
    for cut in (1, 5, 10):
        score = score_sessions(ranking, relevant, haystack, cut)
        measured = [score.recall_any, score.recall_all, score.ndcg]
        assert measured == pytest.approx(reference(ranking, relevant, haystack, cut))


def test_the_second_place_is_worth_as_much_as_the_first_and_the_third_is_not() -> None:
    assert dcg([1, 0], 5) == dcg([0, 1], 5) == 1.0
    assert dcg([0, 0, 1], 5) == pytest.approx(1 / math.log2(3))


@pytest.mark.parametrize(
    ("ranking", "relevant", "scores"),
    [
        # Sessions that a ranking does not name come last.
        ("b", "a", (1.0, 1.0, 1.0)),
        ("bc", "a", (0.0, 0.0, 0.0)),
        # The ideal is that of the whole haystack, not of what the ranking found.
        ("axy", "abc", (1.0, 0.0, 0.5)),
    ],
)
def test_a_ranking_is_scored_over_the_whole_haystack(
    ranking: str, relevant: str, scores: tuple[float, float, float]
) -> None:
    score = score_sessions([*ranking], {*relevant}, [*"bacxy"], 2)
    assert (score.recall_any, score.recall_all, score.ndcg) == scores


# ---- The adapters for deterministic tests of others, on made copies of their formats.

NOW = datetime(2026, 8, 1, tzinfo=UTC)


@dataclass
class Answer:
    """The answer of the benchmark's contract."""

    value: str | None = None
    values: tuple[str, ...] = ()


@dataclass
class Event:
    """An observation."""

    subject: str
    predicate: str
    object: str
    valid_from: datetime
    recorded_at: datetime
    source: str = "crm"
    text: str = "It was reported."
    confidence: float = 1.0


@dataclass
class Asked:
    """A question without its answer."""

    category: str
    question: str = ""
    probe: tuple[str, str] | None = None
    at: datetime = NOW
    known_at: datetime | None = None
    about: str | None = None
    evaluated_at: datetime = NOW


@pytest.fixture
def contract(monkeypatch: pytest.MonkeyPatch) -> None:
    """The module of the benchmark that an adapter answers with."""
    module: Any = ModuleType("benchmarks.agent_memory.adapters.base")
    module.MemoryAnswer = Answer
    module.Usage = dict
    module.wants_a_date = lambda ask: bool(ask.about) and ask.category != "provenance"
    for name in ("benchmarks", "benchmarks.agent_memory", "benchmarks.agent_memory.adapters"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)


def day(month: int, number: int = 1) -> datetime:
    return datetime(2026, month, number, tzinfo=UTC)


@pytest.fixture(params=["search", "compile"])
def system(request: pytest.FixtureRequest, contract: None) -> Iterator[TenureMemory]:
    memory = TenureMemory(request.param)
    one = SimpleNamespace(cardinality="one", single_valued=True)
    many = SimpleNamespace(cardinality="many", single_valued=False)
    memory.reset({"lives_in": one, "owned_by": one, "team_lead": one, "speaks": many})
    for event in (
        Event("tilda", "lives_in", "Turin", day(1), day(1), "tilda"),
        Event("tilda", "lives_in", "Graz", day(3), day(4), "register"),
        Event("tilda", "lives_in", "Linz", day(3), day(5), "register"),
        Event("tilda", "speaks", "German", day(1), day(1)),
        Event("tilda", "speaks", "Italian", day(2), day(2)),
        Event("kiln-service", "owned_by", "team-clay", day(1), day(1)),
        Event("team-clay", "team_lead", "Mira Falk", day(1), day(1)),
    ):
        memory.remember(event)
    yield memory
    memory.close()


HOME = ("tilda", "lives_in")


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (Asked("current_state", probe=HOME), Answer("Linz")),
        (Asked("historical_state", probe=HOME, at=day(2)), Answer("Turin")),
        # Before the change was reported, the old value was believed; then the wrong new one.
        (Asked("knowledge_time", probe=HOME, at=day(3, 5), known_at=day(3, 9)), Answer("Turin")),
        (Asked("knowledge_time", probe=HOME, at=day(4), known_at=day(4, 9)), Answer("Graz")),
        (Asked("negative", probe=HOME, at=datetime(2025, 1, 1, tzinfo=UTC)), Answer()),
        # A second report of the same instant corrects the first, which was never so.
        (Asked("change_detection", probe=HOME), Answer(values=("Turin", "Linz"))),
        (Asked("change_time", probe=HOME, about="Linz"), Answer("2026-03-01")),
        (Asked("knowledge_time", probe=HOME, about="Linz"), Answer("2026-05-01")),
        (Asked("provenance", probe=HOME, about="Turin"), Answer("tilda")),
        (Asked("current_state", probe=("tilda", "speaks")), Answer(values=("German", "Italian"))),
        (Asked("multi_hop", "Who leads the team that owns the kiln service?"), Answer("Mira Falk")),
        (Asked("negative", "Where does Zorro live?"), Answer()),
    ],
)
def test_each_kind_of_question_is_answered(
    system: TenureMemory, asked: Asked, answer: Answer
) -> None:
    assert system.query(asked) == answer


def dataset(folder: Path) -> Path:
    source = folder / "v9"
    source.mkdir()
    events = [
        {"id": "e1", "scenario": "tilda", "recorded_at": "2026-01-10T00:00:00+00:00",
         "valid_from": "2026-01-10T00:00:00+00:00", "subject": "tilda", "predicate": "lives_in",
         "object": "Turin", "text": "Tilda lives in Turin.", "source": "tilda"},
        {"id": "e2", "scenario": "tilda", "recorded_at": "2026-02-10T00:00:00+00:00",
         "valid_from": "2026-02-10T00:00:00+00:00", "subject": "tilda", "predicate": "lives_in",
         "object": "Graz", "text": "I moved to Graz.", "source": "tilda"},
        {"id": "e3", "scenario": "kiln", "recorded_at": "2026-02-10T00:00:00+00:00",
         "valid_from": "2026-02-10T00:00:00+00:00", "subject": "kiln-service",
         "predicate": "owned_by", "object": "team-clay", "text": "Owned.", "source": "crm"},
    ]  # fmt: skip
    questions = [
        {"id": "q1", "scenario": "tilda", "category": "distractor",
         "question": "Where does Tilda live?", "gold": {"kind": "value", "value": "Graz"}},
        {"id": "q2", "scenario": "kiln", "category": "multi_hop",
         "question": "Who led the team that owns the kiln service on 2026-02-20?",
         "at": "2026-02-20T00:00:00+00:00", "gold": {"kind": "none"}},
    ]  # fmt: skip
    for name, rows in (("events", events), ("questions", questions)):
        (source / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (source / "metadata.json").write_text(json.dumps({"evaluated_at": "2026-08-01T00:00:00+00:00"}))
    return source


def test_a_changed_copy_has_other_names_days_values_and_words(tmp_path: Path) -> None:
    copy = write_changed(dataset(tmp_path), tmp_path / "copy")
    text = "".join(path.read_text() for path in sorted(copy.iterdir())).lower()
    # Ids and scenarios are not changed, because no system reads them.
    kept = text.replace('"scenario": "tilda"', "").replace('"scenario": "kiln"', "")
    assert not any(name in kept for name in ("tilda", "kiln", "clay", "2026-0"))
    events = [json.loads(line) for line in (copy / "events.jsonl").read_text().splitlines()]
    assert [event["object"] for event in events[:2]] == ["Graz", "Turin"]
    assert events[2]["subject"].endswith("-service")
    assert events[2]["object"].startswith("team-")
    second = json.loads((copy / "questions.jsonl").read_text().splitlines()[1])
    service = events[2]["subject"].removesuffix("-service")
    assert second["question"] == (
        f"Who was the leader of the team responsible for the {service} service on 2025-07-18?"
    )
    assert second["at"].startswith("2025-07-18")


def observation(number: int, **fields: Any) -> dict[str, Any]:
    moment = f"2026-01-{number:02d}T09:00:00+00:00"
    usual = {
        "id": f"L{number}", "assertion": f"Kiln K1 measured {number} units.", "event_time": moment,
        "effective_time": moment, "ingestion_order": number, "ingestion_time": moment,
        "scope": "plant:kiln", "configuration": "K1", "truth_key": "output:kiln:K1",
        "transition": "ADD", "corrects_id": None, "supersedes_id": None, "retracts_id": None,
        "invalidates_id": None, "procedure_outcome": None, "historical_only": False,
    }  # fmt: skip
    return {**usual, **fields}


def case(number: int, kind: str, expected: list[str], bad: list[str], **f: Any) -> dict[str, Any]:
    usual = {
        "id": f"Q{number}", "checkpoint_id": "CP3", "target_kind": kind,
        "truth_key": "output:kiln:K1", "query": "Kiln K1 output", "expected_ids": expected,
        "prohibited_ids": bad, "event_time": None, "scope": "plant:kiln", "configuration": "K1",
    }  # fmt: skip
    return {**usual, **f}


FIXTURE: dict[str, Any] = {
    "observations": [
        observation(1),
        observation(2, transition="SUPERSEDE_CURRENT", supersedes_id="L1"),
        observation(3, corrects_id="L2", effective_time="2026-01-02T09:00:00+00:00"),
        observation(4, retracts_id="L3"),
    ],
    "checkpoints": [{"id": "CP2", "ingestion_order": 2}, {"id": "CP3", "ingestion_order": 3},
                    {"id": "CP4", "ingestion_order": 4}],
    "cases": [
        case(1, "current_truth", ["L2"], ["L1"], checkpoint_id="CP2"),
        case(2, "current_truth", ["L3"], ["L1", "L2"]),
        case(3, "historical_belief", ["L2"], ["L3"], event_time="2026-01-02T10:00:00+00:00"),
        case(4, "corrected_historical_truth", ["L3"], ["L2"]),
        case(5, "as_of_event_truth", ["L1"], ["L3"], event_time="2026-01-01T10:00:00+00:00"),
        case(6, "current_truth", [], ["L3"], checkpoint_id="CP4"),
        case(7, "negative_unknown", [], [], truth_key="unknown:oncall", query="Kiln on call"),
    ],
}  # fmt: skip


def test_stated_writes_answer_every_time_and_belief() -> None:
    right, failures, kinds = longitudinal.totals(longitudinal.by_writes(FIXTURE))
    assert (right, failures, kinds) == (7, 0, {})


def test_a_text_does_not_know_that_it_is_overtaken() -> None:
    failures = longitudinal.by_text(FIXTURE)
    assert "stale_persistence" in failures["Q2"]
    # No text from after a belief leaks into it.
    assert failures["Q5"] == frozenset()


@pytest.mark.parametrize(
    ("number", "returned", "names"),
    [
        (1, ["L1"], {"missing_required_truth", "stale_persistence"}),
        (1, ["L2", "L3"], {"future_leakage"}),
        (2, ["nobody's"], {"missing_required_truth", "unmapped_provenance"}),
        (3, ["L3"], {"history_erasure", "belief_truth_confusion"}),
        (4, ["L2"], {"missing_required_truth", "correction_failure", "false_persistence"}),
        (5, [], {"history_erasure", "correction_failure"}),
        (6, ["L3"], {"unsupported_evidence", "stale_persistence"}),
    ],
)
def test_failures_are_named_as_the_scorer_of_the_fixture_names_them(
    number: int, returned: list[str], names: set[str]
) -> None:
    asked = FIXTURE["cases"][number - 1]
    assert longitudinal.failures_of(FIXTURE, asked, returned) == names


@pytest.mark.parametrize(
    ("asked", "is_late", "name"),
    [
        ({"scope": "plant:oven"}, False, "scope_collapse"),
        ({"configuration": "K2"}, False, "configuration_collapse"),
        ({"prohibited_ids": []}, True, "late_history_corruption"),
    ],
)
def test_a_wrong_scope_a_wrong_configuration_and_late_history_have_their_own_names(
    asked: dict[str, Any], is_late: bool, name: str
) -> None:
    observations = [{**o, "historical_only": is_late} for o in FIXTURE["observations"]]
    fixture = {**FIXTURE, "observations": observations}
    case = {**FIXTURE["cases"][1], **asked}
    assert longitudinal.failures_of(fixture, case, ["L3", "L1"]) == {name}


def test_a_part_without_its_data_is_skipped_and_says_what_to_do(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common, "agent_memory_source", lambda _: tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    copy = tmp_path / "copy.json"
    copy.write_text(json.dumps(FIXTURE))
    main(["--data", str(tmp_path)])
    main(["--only", "longitudinal", "--longitudinal", str(tmp_path / "none.json")])
    main(["--only", "longitudinal", "--longitudinal", str(copy)])
    printed = capsys.readouterr().out
    for reason in (
        "state the path of a copy of its fixture: --longitudinal FILE",
        "state a copy: --sessions longmemeval=FILE",
        "holds no events.jsonl; --data takes a data set's folder",
        "none.json cannot be read",
        "copy.json is no copy of longitudinal-v1: take research/",
    ):
        assert reason in printed

    monkeypatch.setattr(longitudinal, "PUBLISHED", longitudinal.digest(FIXTURE))
    main(["--only", "longitudinal", "--longitudinal", str(copy)])
    assert "| tenure, by stated writes | 7/7 | 0 | - |" in capsys.readouterr().out


# ---- Sessions are ranked from made copies of the formats of other people's benchmarks.

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
    # The first session has the answer; the third one quotes it.
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
