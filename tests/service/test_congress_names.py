"""The congress history by names alone: nobody is fused, and true namesakes end in a review."""

from pathlib import Path

import pytest

from tenure.bench.bench_namesakes import report
from tenure.tests.service.test_congress import SAMPLE, history_lines

REISSUED = "Alan Grayson"
"""One person whose authority issued a second identifier: one entity is right."""


def test_a_sample_is_loaded_by_names_without_a_question() -> None:
    figures = report(SAMPLE)
    assert figures["entities"] == figures["people"]
    assert not figures["reviews"]
    assert not figures["entities_with_two_people"]


@pytest.mark.slow
def test_a_long_history_fuses_nobody_and_asks_about_the_two_michael_rogers(
    shared_data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "events.jsonl"
    path.write_text("".join(history_lines(shared_data)), encoding="utf-8")
    figures = report(path)
    assert figures["namesakes"] == ["Michael Rogers"]
    assert sum(figures["reviews"].values()) < 30
    assert list(figures["entities_with_two_people"].values()) == [[REISSUED]]
