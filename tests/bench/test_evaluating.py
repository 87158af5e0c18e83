"""Evaluations: evidence, stale items, abstention and baselines, measured on small true cases."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure import Forbidden, InvalidInput, Principal, connect
from tenure.bench.evaluation.__main__ import app
from tenure.bench.evaluation.baselines import BaselineSelection, fill, fuse, rank_by_words, units
from tenure.bench.evaluation.question_sets import Question
from tenure.bench.evaluation.recall import EvaluationOptions, RecallReport, evaluate_recall
from tenure.bench.evaluation.scoring import Figures, MethodAnswer, Score, figures
from tenure.tests.bench.test_question_sets import file_of
from tenure.tests.service.toy_encoder import ToyEncoder
from tenure.tests.support.refusals import refused

MOVED: tuple[dict[str, Any], ...] = (
    {"id": "old", "subject": "Sam Rivera", "slot": "office", "value": "Austin",
     "at": "2026-05-02T09:00:00Z"},
    {"id": "new", "subject": "Sam Rivera", "slot": "office", "value": "Chicago",
     "at": "2026-06-02T09:00:00Z"},
    {"id": "other", "text": "I moved to the Rome office in June.", "speaker": "Zoe Ann",
     "session": "one / ж", "at": "2026-06-03T09:00:00Z"},
    {"id": "fact", "subject": "Ann Lee", "slot": "office", "value": "Paris",
     "at": "2026-06-04T09:00:00Z"},
)  # fmt: skip
ASKED: tuple[dict[str, Any], ...] = (
    {"id": "now", "question": "Which office is Sam Rivera in?", "evidence": ["new"],
     "stale": ["old"], "category": "update"},
    {"id": "then", "question": "Which office is Sam Rivera in?", "evidence": ["old"],
     "known_at": "2026-05-10T00:00:00Z", "as_of": "2026-05-10T00:00:00Z", "category": "past"},
    {"id": "ann", "question": "Which office is Ann Lee in?", "evidence": [["fact", "old"]]},
    {"id": "zoe", "question": "To which office was Zoe Ann moved?", "evidence": ["other"]},
    {"id": "gap", "question": "Who is the manager of Ann Lee?", "answerable": False},
)  # fmt: skip


def measured(folder: Path, *lines: Any, **options: Any) -> RecallReport:
    path = file_of(folder, *lines)
    return evaluate_recall(path, options=EvaluationOptions(**options))


def of(report: RecallReport, method: str) -> Figures:
    return next(f for f in report.figures if f.method == method)


def test_current_evidence_is_shown_and_what_it_superseded_is_not(tmp_path: Path) -> None:
    report = measured(tmp_path, *MOVED, *ASKED, budgets=(1000,))
    ours, plain = of(report, "tenure"), of(report, "bm25")
    assert (report.sets, report.items, report.questions, report.unanswerable) == (1, 4, 5, 1)
    assert (ours.recall, ours.all_evidence, ours.stale_exposure) == (1.0, 1.0, 0.0)
    assert (plain.recall, plain.stale_exposure) == (1.0, 1.0)
    assert ours.by_category == {"past": 1.0, "update": 1.0}
    assert (report.missed, report.refused, report.encoder) == ({}, (), None)


def test_a_question_without_an_answer_is_met_with_a_typed_gap(tmp_path: Path) -> None:
    report = measured(tmp_path, *MOVED, *ASKED, budgets=(1000,))
    assert of(report, "tenure").abstention == 1.0
    assert of(report, "tenure").false_gaps == 0.0
    assert of(report, "bm25").abstention == 0.0


def test_what_is_said_later_is_hidden_from_every_method(tmp_path: Path) -> None:
    early = {**ASKED[1], "stale": ["new"]}
    report = measured(tmp_path, *MOVED, early, budgets=(1000,), encoder=ToyEncoder())
    assert [f.method for f in report.figures] == ["tenure", "bm25", "dense", "hybrid"]
    assert [f.stale_exposure for f in report.figures] == [0.0] * 4
    assert [f.recall for f in report.figures] == [1.0] * 4
    assert report.encoder == "toy@1"


def test_a_meaning_is_found_that_no_word_shares(tmp_path: Path) -> None:
    canteen = {"id": "c", "subject": "Ann", "slot": "skill", "value": "canteen",
               "why_it_matters": "Ann's cafeteria"}  # fmt: skip
    asked = {"id": "q", "question": "When lunch ends?", "evidence": ["c"]}
    report = measured(tmp_path, canteen, asked, encoder=ToyEncoder(), budgets=(500,))
    assert {f.method: f.recall for f in report.figures} == {
        "tenure": 1.0, "bm25": 0.0, "dense": 1.0, "hybrid": 1.0,
    }  # fmt: skip


def test_sets_do_not_see_each_other(tmp_path: Path) -> None:
    secret = {
        "set": "a",
        "id": "x",
        "text": "The code word is heron.",
        "at": "2026-01-01T00:00:00Z",
    }
    alone = {"set": "b", "id": "q", "question": "What is the code word?", "answerable": False}
    report = measured(tmp_path, secret, {**alone, "set": "a"}, alone, budgets=(500,))
    assert of(report, "tenure").noise == of(report, "bm25").noise == 0.5
    assert report.sets == 2


def test_talk_does_not_age_out(tmp_path: Path) -> None:
    old = {"id": "old", "text": "The heron nests by the lake.", "at": "2025-01-01T00:00:00Z"}
    asked = {"id": "q", "question": "Where does the heron nest?", "evidence": ["old"],
             "as_of": "2026-01-01T00:00:00Z"}  # fmt: skip
    report = measured(tmp_path, old, asked, budgets=(500,))
    assert (of(report, "tenure").recall, of(report, "bm25").recall) == (1.0, 1.0)
    assert report.missed_by_budget == {500: {}}


def test_a_loss_tells_whether_it_would_have_fitted(tmp_path: Path) -> None:
    short = {"id": "a", "text": "Herons nest early.", "at": "2026-01-01T00:00:00Z"}
    long = {"id": "b", "text": "Otters " + "swim and dive " * 300, "at": "2026-01-02T00:00:00Z"}
    asked = {"id": "q", "question": "Which zebra?", "evidence": ["a", "b"]}
    report = measured(tmp_path, short, long, asked, budgets=(500,))
    reasons = report.missed_by_budget[500]
    assert sorted(reason.endswith(", though it fitted") for reason in reasons) == [False, True]
    assert sum(reasons.values()) == 2


def test_what_the_store_refuses_is_listed_and_counts_as_missed(tmp_path: Path) -> None:
    facts = [{"id": "good", "subject": "Ann", "slot": "office", "value": "Rome"},
             {"id": "bad", "subject": "Ann", "slot": "nonsense", "value": "x"}]  # fmt: skip
    asked = {"id": "q", "question": "Which office has Ann?", "evidence": ["good", "bad"]}
    report = measured(tmp_path, *facts, asked, budgets=(500,))
    assert [(r.line, r.id, r.code) for r in report.refused] == [(2, "bad", "unknown_vocabulary")]
    assert of(report, "tenure").recall == 0.5
    assert report.missed == {"load: refused": 1}


def test_definitions_are_taken_into_the_temporary_store(tmp_path: Path) -> None:
    word = {"define": "slot", "name": "badge", "description": "the colour of the badge"}
    fact = {"id": "f", "subject": "Ann", "slot": "badge", "value": "green"}
    asked = {"id": "q", "question": "Which badge has Ann?", "evidence": ["f"]}
    assert of(measured(tmp_path, word, fact, asked, budgets=(500,)), "tenure").recall == 1.0


def test_a_store_of_ones_own_is_asked_and_not_written(tmp_path: Path) -> None:
    with connect(":memory:") as memory:
        receipt = memory.write("Sam Rivera", "office", "Chicago")
        last = memory.as_of().tx
        asked = {"id": "q", "question": "Which office has Sam Rivera?",
                 "evidence": [receipt.object_id]}  # fmt: skip
        path = file_of(tmp_path, asked)
        report = evaluate_recall(path, memory=memory)
        assert {f.recall for f in report.figures} == {1.0}
        assert memory.as_of().tx == last
        with pytest.raises(Forbidden):
            evaluate_recall(path, memory=memory.bind(Principal(user="ann")))
        with pytest.raises(InvalidInput, match="line 2: against a store of yours"):
            evaluate_recall(file_of(tmp_path, asked, {"id": "x", "text": "y"}), memory=memory)


@pytest.mark.parametrize(
    ("budgets", "lines", "code"),
    [((0,), MOVED, "out_of_range"), ((), MOVED, "out_of_range"), ((9,), MOVED, "empty_file"),
     ((9,), (), "empty_file")],
)  # fmt: skip
def test_an_evaluation_that_cannot_be_is_refused(
    tmp_path: Path, budgets: tuple[int, ...], lines: tuple[Any, ...], code: str
) -> None:
    with refused(InvalidInput, code):
        measured(tmp_path, *lines, budgets=budgets)
    with pytest.raises(InvalidInput, match="read twice"):
        evaluate_recall("-")


# ---- the parts


def test_a_budget_is_filled_best_first_and_never_exceeded() -> None:
    held = units([("long", "word " * 50, None), ("short", "heron lake", None)], "generic")
    by_id = {unit.id: unit for unit in held}
    ranking = [("long", 2), ("short", 1)]
    assert fill(ranking, by_id, 20) == BaselineSelection(("short",), by_id["short"].tokens)
    assert fill(ranking, by_id, 1) == BaselineSelection((), 0)


def test_words_rank_by_bm25_and_ties_break_on_ids() -> None:
    held = units([("b", "heron", None), ("a", "heron", None), ("c", "lake", None)], "generic")
    ranked = rank_by_words("the herons", held, EvaluationOptions().policy.compile)
    assert [name for name, _ in ranked] == ["a", "b"]
    assert [name for name, _ in fuse(ranked, [("c", 1), ("b", 1)])] == ["b", "a", "c"]


def test_figures_without_labels_are_left_open() -> None:
    score = Score.of(
        Question(id="q", text="?"),
        "tenure",
        9,
        MethodAnswer(BaselineSelection((), 0), 1.5, gap=False),
    )
    (found,) = figures([score])
    assert (found.recall, found.precision, found.stale_exposure, found.abstention) == (None,) * 4
    assert (found.false_gaps, found.p50_ms, found.p95_ms) == (1.0, 1.5, 1.5)


# ---- the command line

RUNNER = CliRunner()


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_recall_prints_a_table_or_json_and_keeps_details(elsewhere: Path) -> None:
    path = str(file_of(elsewhere, *MOVED, *ASKED))
    shown = RUNNER.invoke(app, ["recall", path, "--budget", "700"])
    assert shown.exit_code == 0, shown.output
    assert "5 questions (1 without an answer), 4 items" in shown.stdout
    assert "no encoder" in shown.stdout
    words = ["--json", "recall", path, "--details", "scores.jsonl"]
    told = json.loads(RUNNER.invoke(app, words).stdout)
    assert [f["budget"] for f in told["figures"]] == [1000, 1000, 4000, 4000]
    assert len((elsewhere / "scores.jsonl").read_text().splitlines()) == 20
    assert not (elsewhere / "memory.db").exists()


def test_recall_names_what_stayed_out_and_what_was_refused(elsewhere: Path) -> None:
    limited = {"id": "q", "question": "x?", "answerable": False}
    path = str(file_of(elsewhere, limited, {**limited, "id": "r"}))
    assert "1 questions" in RUNNER.invoke(app, ["recall", path, "--limit", "1"]).stdout
    unknown = RUNNER.invoke(app, ["recall", path, "--policy", "none"])
    assert (unknown.exit_code, "unknown_vocabulary" in unknown.stderr) == (1, True)
    ready = RUNNER.invoke(app, ["recall", path, "--policy", "cost_first"])
    assert ready.exit_code == 0
    bad = [{"id": f"b{n}", "subject": "Ann", "slot": "none", "value": "x"} for n in range(9)]
    asked = {"id": "q", "question": "What about Ann?", "evidence": ["b1"]}
    shown = RUNNER.invoke(app, ["recall", str(file_of(elsewhere, *bad, asked))]).stdout
    assert shown.count("1  load: refused") == 2
    assert "not loaded: line 1, b0" in shown
    assert "not loaded: 1 more" in shown


def test_recall_asks_the_store_that_is_named(elsewhere: Path) -> None:
    path = str(file_of(elsewhere, {"id": "q", "question": "Anything?", "answerable": False}))
    missing = RUNNER.invoke(app, ["--store", "none.db", "recall", path])
    assert (missing.exit_code, "unknown_store" in missing.stderr) == (1, True)
    with connect("own.db") as memory:
        memory.write("Sam Rivera", "office", "Chicago")
    found = RUNNER.invoke(app, ["--store", "own.db", "--json", "recall", path])
    assert json.loads(found.stdout)["figures"][0]["abstention"] == 1.0


def test_convert_writes_a_file_whole_or_not_at_all(elsewhere: Path) -> None:
    from tenure.tests.bench.test_benchmark_formats import LOCOMO, memora

    source = elsewhere / "locomo.json"
    source.write_text(json.dumps(LOCOMO))
    words = ["convert", "--from", "locomo"]
    done = RUNNER.invoke(app, [*words, str(source), "-o", "out.jsonl"])
    assert done.exit_code == 0
    assert "4 turns and 3 questions in out.jsonl" in done.stderr
    assert len(RUNNER.invoke(app, [*words, str(source)]).stdout.splitlines()) == 7
    refused = RUNNER.invoke(app, [*words, str(memora(elsewhere / "p")), "-o", "none.jsonl"])
    assert refused.exit_code == 1
    assert not list(elsewhere.glob("none.jsonl*"))
    away = RUNNER.invoke(app, [*words, str(source), "-o", "no/where.jsonl"])
    assert (away.exit_code, "file_unwritable" in away.stderr) == (3, True)


HEAD = "pair_id,kind,name1,name2,is_match,cluster1,cluster2"


def scored_pairs(*words: str, code: int = 0) -> Any:
    result = RUNNER.invoke(app, ["--json", "resolution", *words])
    assert result.exit_code == code, result.output
    return result.output if code else json.loads(result.stdout)


def test_a_file_of_pairs_is_scored_pairs(tmp_path: Path) -> None:
    lines = [HEAD, "1,organization,Siemens,Siemens Aktiengesellschaft,1,a,a",
             "2,organization,Acme AG,Acme GmbH,0,b,c"]  # fmt: skip
    file = tmp_path / "pairs.csv"
    file.write_text("\n".join(lines))
    report = scored_pairs(str(file))
    assert report["pooled"]["bind"]["right"] == report["pooled"]["bind"]["n"] == 1
    out = RUNNER.invoke(app, ["resolution", str(file)], env={"COLUMNS": "200"})
    assert "n < 300" in out.stdout
    scored_pairs(str(tmp_path / "none.csv"), code=1)
    refused = RUNNER.invoke(app, ["resolution", str(file), "--refit", str(tmp_path / "m.json")])
    assert (refused.exit_code, "refit_refused" in refused.output) == (1, True)


def test_a_file_without_the_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("a,b\n1,2\n")
    assert "bad_file" in scored_pairs(str(file), code=1)


def test_a_stress_test_gives_every_pair_a_context_and_says_so(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"{HEAD}\np1,person,Anna Schmidt,Anna Schmitt,no,a,b\n", encoding="utf-8")
    report = scored_pairs(str(pairs), "--stress", "both")
    assert (report["pooled"]["bind"]["n"], report["pooled"]["review"]["n"]) == (0, 1)
    refused = scored_pairs(str(pairs), "--stress", "all", code=1)
    assert "scope" in refused
    words = ["resolution", str(pairs)]
    assert "stress" not in RUNNER.invoke(app, words).stdout
    assert "a stress test (scope)" in RUNNER.invoke(app, [*words, "--stress", "scope"]).stdout
