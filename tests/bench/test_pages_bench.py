"""The bench of the pages, sampled: few cases and one drag, in a real browser."""

# nightly, or when these change: bench/bench_pages.py faces/http service/visual
import os
import shutil
from pathlib import Path

import pytest

from tenure.bench import bench_pages

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        shutil.which("chromium") is None and not os.environ.get("TENURE_REQUIRE_CHROMIUM"),
        reason="there is no chromium on the PATH",
    ),
]


def test_cases_are_decided_by_keys_and_undo_restores_every_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long a decision takes is measured on a calm machine, not beside other tests.
    monkeypatch.setattr(bench_pages, "DECISION_P95_MS", float("inf"))

    assert bench_pages.steward(tmp_path, cases=4), capsys.readouterr().out


def test_no_answer_of_a_dragged_question_is_of_another_point(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench_pages.slider(tmp_path, moves=20, runs=1), capsys.readouterr().out
