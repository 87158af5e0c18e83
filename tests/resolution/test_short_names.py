"""Departments by their initials and words cut short by a dot: a person is shown both names."""

from __future__ import annotations

import pytest

from tenure.resolution.blocking import is_in_short
from tenure.resolution.normalize import normalize
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["short_names"]


@pytest.mark.parametrize(
    ("short", "full", "expected"),
    NAMES["one_name_says_in_short_what_the_other_says_in_full"],
)
def test_one_name_says_in_short_what_the_other_says_in_full(
    short: str, full: str, expected: bool
) -> None:
    left, right = normalize(short, "organization"), normalize(full, "organization")
    assert is_in_short(left, right) is expected
    assert is_in_short(right, left) is expected


def test_people_have_no_departments() -> None:
    left, right = normalize("Jos. Miller", "person"), normalize("Joseph Miller", "person")
    assert not is_in_short(left, right)
