"""The facts and questions of the comparison: the same for every peer, from fixed seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from peer import Fact

SLOTS = ("timezone", "role", "residence", "salary", "network")
"""Single-valued in every system that knows such a thing."""
PEOPLE = 70

_FIRST = """
Ada Boris Carla Dmitri Elena Farid Greta Hugo Ines Jonas Keiko Liam Mara Nikolai Olga Pablo Quinn
Rosa Stefan Tamar Umar Vera Wanda Xenia Yusuf Zoe Anton Bianca Cyril Dora Emil Freya Goran Helga
Ivan Jana Karim Lotte Milan Nadia Oskar Petra Rafael Selma Tomas Ulla Viktor Wilma Yara Zoltan
Amir Birgit Cosmo Delia Edgar Fatima Gustav Hedda Igor Judith
""".split()
_LAST = """
Abram Bergson Castellan Draganov Eklund Fontaine Grigor Hasani Ivarsen Jankovic Kestrel Lindqvist
Moreau Nakamura Ostrow Petrov Quintero Rasmussen Sokolov Thorne Ulrich Vasquez Wexler Yamada
Zielinski Arden Blackwood Calloway Devereux Ellison Faulkner Galloway Hawthorne Ingram Jessup
Kimura Lockhart Marchetti Norwood Oakley Pemberton Rutledge Sinclair Tremaine Underhill Voss
Whitlock Yardley Zamora Albright Bancroft Corwin Dunmore Everhart Fairfax Greenleaf Holloway
Iverson Jarvis Kirkland
""".split()

START = datetime(2024, 1, 1, tzinfo=UTC)


def names(count: int) -> list[str]:
    """So many different names of people; beyond some 3,600 with a middle initial."""
    plain = [f"{first} {last}" for first in _FIRST for last in _LAST]
    random.Random(3).shuffle(plain)
    initials = "BCDFGHJKLM"
    more = (
        name.replace(" ", f" {initial}. ") for initial in initials for name in plain[: len(plain)]
    )
    return [*plain, *more][:count]


def first_facts() -> list[Fact]:
    """One fact of each of the seventy people: after these they are known."""
    return [Fact(name, SLOTS[0], f"zone of {name}", START) for name in names(PEOPLE)]


def changes(count: int) -> list[Fact]:
    """Facts of known people, each the newest value of its slot, a day apart."""
    people = names(PEOPLE)
    rows = []
    for number in range(count):
        slot = SLOTS[number // PEOPLE % len(SLOTS)]
        start = START + timedelta(days=1 + number // PEOPLE)
        rows.append(Fact(people[number % PEOPLE], slot, f"{slot} {number}", start))
    return rows


def newcomers(count: int) -> list[Fact]:
    """One fact each of so many people whom the store has not met."""
    return [Fact(name, "role", f"role {number}", START) for number, name in enumerate(names(count))]


def questions(facts: list[Fact], count: int) -> Iterator[tuple[str, str]]:
    """Questions about the newest values, each with the value that answers it."""
    newest = {(fact.subject, fact.slot): fact.value for fact in facts}
    slots = sorted(newest)
    for subject, slot in random.Random(5).sample(slots, min(count, len(slots))):
        yield f"What is {subject}'s {slot}?", newest[subject, slot]


def month(number: int) -> datetime:
    """The first of a month of 2024."""
    return datetime(2024, number, 1, tzinfo=UTC)


COMPANIES = [f"{last} Foods" for last in _LAST[:20]]
SPELLINGS = ("{}", "{} Inc.", "{}, Inc", "{}  INC")
"""Four ways to write one company."""
NEIGHBOURS = [
    name for number in range(20) for name in (f"Invoice 10{number:02}3", f"Invoice 10{number:02}34")
]
"""Forty things whose names look alike and are different."""

RELATIONS = {
    "before": (1, 3), "meets": (2, 4), "overlaps": (2, 6), "starts": (4, 6), "during": (5, 7),
    "finishes": (6, 8), "equals": (4, 8), "started_by": (4, 10), "contains": (2, 10),
    "finished_by": (2, 8), "overlapped_by": (6, 10), "met_by": (8, 10), "after": (9, 11),
}  # fmt: skip
"""Allen's thirteen relations to the months from April to August: first month, month after."""
