"""Departments by their initials and words cut short by a dot: a person is shown both names."""

from __future__ import annotations

import pytest

from tenure.resolution.blocking import is_in_short
from tenure.resolution.normalize import normalize


@pytest.mark.parametrize(
    ("short", "full", "expected"),
    [
        ("HR Department", "Human Resources", True),
        ("HR Department", "Human Resources Department", True),
        ("R&D Team", "Research and Development", True),
        ("HR", "Human Resources Office", True),
        ("HR", "Human Resources", False),  # an acronym alone has its own comparison and veto
        ("H Department", "Hiring", False),
        ("Department", "Office", False),
        ("Min. of Finance", "Ministry of Finance", True),
        ("Min. of Finance", "Ministry of Health", False),
        ("Min. of Finance", "Ministry of Finance Berlin", False),
        ("M. of Finance", "Ministry of Finance", False),
        ("Fin. Min.", "Finance Ministry", False),  # nothing is left that both say
        ("Acme v1.2", "Acme v1.2 beta", False),
    ],
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
