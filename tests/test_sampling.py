"""A run takes a part of a long set, and the parts of four days are the whole."""

import re

import pytest

from tenure.tests.source_tree import ROOT
from tenure.tests.support import sampling
from tenure.tests.support.sampling import examples, is_due, part, size

NAMES = [f"test_{number}" for number in range(400)]


@pytest.fixture(autouse=True)
def by_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "NIGHTLY", False)


def test_each_name_is_due_once_in_four_days() -> None:
    parts = [[name for name in NAMES if is_due(name, day)] for day in range(740_000, 740_004)]
    assert sorted(name for part in parts for name in part) == sorted(NAMES)
    assert min(map(len, parts)) > 70


def test_each_member_of_a_series_is_taken_once_in_four_days(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[str] = []
    for day in range(4):
        monkeypatch.setattr(sampling, "DAY", day)
        taken += part(NAMES)
    assert sorted(taken) == sorted(NAMES)


def test_a_night_takes_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (size(5, 50), examples(500), examples(20)) == (5, 30, 20)
    monkeypatch.setattr(sampling, "NIGHTLY", True)
    assert (size(5, 50), examples(500), examples(20)) == (50, 500, 20)
    assert all(is_due(name, 740_000) for name in NAMES)
    assert part(NAMES) == NAMES


def test_what_runs_at_night_names_the_files_whose_change_makes_it_run() -> None:
    mark = re.compile(r"^[@p].*mark\.nightly|^    pytest\.mark\.nightly,$", re.M)
    files = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    nightly = {path: text for path, text in files.items() if mark.search(text)}
    assert nightly
    for path, text in nightly.items():
        (sources,) = re.findall(r"^# nightly, or when these change: (.+)$", text, re.M)
        assert [name for name in sources.split() if not (ROOT / name).exists()] == [], path
