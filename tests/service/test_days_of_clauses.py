"""A day belongs to the clause that it stands in."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from tenure.service.extraction.rules import RuleExtractor

NOW = datetime(2026, 6, 17, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "slot", "day"),
    [
        ("I've got a dog called Bruno and the insurance runs until April", "pet", None),
        ("I drive a Volvo and the MOT runs out in May", "vehicle", None),
        ("I live in Porto but my passport expires in 2028", "home", None),
        ("I work at Orsted, which opened in 1990", "employer", None),
        ("I moved to Leeds, and Tom is visiting on Friday", "home", None),
        ("In May my lease ends and I drive a Volvo", "vehicle", None),
        ("Ich fahre einen Golf, der TÜV läuft im Mai ab", "vehicle", None),
        ("Ich bin Vegetarier, am Freitag kommt meine Mutter", "diet", None),
        ("I moved to Ghent in March and our son starts school in May", "home", date(2026, 3, 1)),
        ("In 2024 I moved to Ulm and I changed jobs", "home", date(2024, 1, 1)),
        ("I moved to Leeds with my wife and our dog in May", "home", date(2026, 5, 1)),
        ("I drive a Volvo which I bought in 2020", "vehicle", date(2020, 1, 1)),
        ("Karin und ich haben im Mai geheiratet.", "partner", date(2026, 5, 1)),
    ],
)
def test_a_day_is_that_of_its_clause(text: str, slot: str, day: date | None) -> None:
    claims = [claim for claim in RuleExtractor().extract(text, at=NOW) if claim.slot == slot]
    assert [claim.valid_from and claim.valid_from.date() for claim in claims] == [day]


def test_another_clauses_day_makes_no_plan() -> None:
    text = "Ich fahre einen Polo, die Inspektion ist im Juli"
    assert {claim.slot for claim in RuleExtractor().extract(text, at=NOW)} == {"vehicle"}
