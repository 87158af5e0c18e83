"""The guided tour: the same for everybody, and it shows what it promises."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenure.faces.cli.demo import Tour, log_lines, read_handbook, take_tour
from tenure.faces.cli.main import app

RUNNER = CliRunner()


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    return take_tour(str(tmp_path_factory.mktemp("demo") / "d.db"))


def test_every_line_of_the_log_has_its_receipt(tour: Tour) -> None:
    assert len(tour.entries) == len(log_lines())
    outcomes = [entry.receipt.outcome.value for entry in tour.entries]
    for one in ("accepted", "disputed", "overridden", "quarantined", "pending_review"):
        assert one in outcomes


def test_one_fact_has_an_answer_for_each_question(tour: Tour) -> None:
    assert [q.answer for q in tour.questions] == ["premium", "standard", "premium", "enterprise"]


def test_a_name_of_two_people_is_reviewed_and_a_nickname_is_not(tour: Tour) -> None:
    (review,) = tour.reviews
    assert review.mention == "Daniel Okafor"
    assert set(tour.titles.values()) == {"solutions engineer", "contract counsel"}
    assert tour.nickname == "William Nakamura"


def test_the_envelope_keeps_its_budget_and_says_what_is_missing(tour: Tour) -> None:
    envelope = tour.envelope
    assert envelope.tokens <= envelope.trace.budget["budget_tokens"]
    reasons = {o.reason: o.is_apart for o in tour.omissions}
    assert reasons == {
        "injection_suspected": True,
        "conflicting_claim_unresolved": True,
        "not_yet_valid": False,
        "expired_valid_time": False,
        "irrelevant_to_active_task": False,
        "over_budget": False,
    }
    assert "90 percent" not in envelope.text
    for shown in ("premium", "Chicago", "courier"):
        assert shown in envelope.text


def test_a_replay_gives_the_same_bytes_after_a_correction(tour: Tour) -> None:
    assert tour.replay.text == tour.envelope.text
    assert tour.replay.digest == tour.envelope.digest
    assert "pricing tier = enterprise" in tour.after_correction.text
    assert tour.after_correction.digest != tour.envelope.digest


def test_the_tour_is_the_same_every_time(tour: Tour, tmp_path: Path) -> None:
    again = take_tour(str(tmp_path / "again.db"))
    assert again.envelope.digest == tour.envelope.digest
    assert [e.receipt for e in again.entries] == [e.receipt for e in tour.entries]


def test_the_tour_is_printed_and_its_store_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    result = RUNNER.invoke(app, ["demo"])
    assert result.exit_code == 0, result.output
    for part in ("What did we believe on 1 March?", "total", "the same", "a person decides"):
        assert part in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    # The columns of the next commands fit 80 characters, so they stay aligned.
    assert "  tenure serve --demo          the same store as web pages\n" in result.stderr
    assert list(tmp_path.iterdir()) == []
    kept = RUNNER.invoke(app, ["demo", "--keep", "demo.db"])
    assert "tenure --store demo.db timeline" in kept.stderr
    asked = RUNNER.invoke(
        app, ["--store", "demo.db", "--json", "get", "Orchid Foods", "pricing_tier"]
    )
    assert json.loads(asked.stdout)["status"] == "clean"
    refused = RUNNER.invoke(app, ["demo", "--keep", "demo.db"])
    assert (refused.exit_code, "[file_exists]" in refused.stderr) == (1, True)


def test_the_log_says_which_fact_was_read_in_a_sentence() -> None:
    log = json.loads(RUNNER.invoke(app, ["--json", "demo"]).stdout)["log"]
    because = {entry["text"].split(".")[0]: entry["because"] for entry in log}
    assert because["Keep it short, please"] == (
        "Mira Chen, response length = short (the name is new)"
    )
    assert because["The Orchid renewal is due on 15 October"].startswith(
        "Atlas, deadline = 2026-10-15 (another statement of equal weight differs"
    )
    assert because["Orchid Foods, pricing tier = standard"] == "the name is new"


def test_the_handbook_answers_by_date(tmp_path: Path) -> None:
    before, after = read_handbook(str(tmp_path / "h.db"))
    assert (before.text, after.text) == (
        "Parental leave is 14 weeks.",
        "Parental leave is 20 weeks.",
    )
    assert before.citation == (
        "handbook/leave.md, Parental leave (in force from 1 January 2026 until 1 June 2026)"
    )


def test_the_tour_is_told_in_json() -> None:
    held = json.loads(RUNNER.invoke(app, ["--json", "demo"]).stdout)
    assert held["replay_digest"] == held["envelope"]["digest"] != held["later_digest"]
    assert {"log", "questions", "reviews"} <= set(held)
