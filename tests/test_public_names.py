"""The public names are one list: what was promised is there, and what is there is listed."""

from pathlib import Path

import pytest

from tenure.tests.public_names import public_names

DATA = Path(__file__).parent / "data"
LISTED = (DATA / "public-names.txt").read_text(encoding="utf-8").splitlines()
PROMISED = [
    line
    for line in (DATA / "promised-names.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
INSIDE = ("backend", "below", "erase_with", "refuse_erased", "store", "view")
"""Words of the inside that a caller was once handed."""


def name_of(line: str) -> str:
    """The name at the start of a line: for a command its two words behind the sign."""
    words = line.split()
    return " ".join(words[:3]) if line.startswith("$") else words[0]


@pytest.fixture(scope="module")
def names() -> dict[str, list[str]]:
    """The parameters of every public name, by the name."""
    return {name_of(line): line.removeprefix(name_of(line)).split() for line in public_names()}


def test_the_list_of_names_is_that_of_the_code() -> None:
    assert list(public_names()) == LISTED, (
        "run: python -P tests/public_names.py > tests/data/public-names.txt"
    )


def test_every_promised_name_is_there_with_its_parameters(names: dict[str, list[str]]) -> None:
    broken: list[str] = []
    for line in PROMISED:
        promise = line.removeprefix(name_of(line)).split()
        if [p for p in names.get(name_of(line), ["gone"]) if p in promise] != promise:
            broken.append(line)
    assert broken == []
    assert [line for line in PROMISED if name_of(line) not in names] == []


def test_no_part_of_the_inside_is_handed_out(names: dict[str, list[str]]) -> None:
    assert not [name for name in names if name.rpartition(".")[2] in INSIDE]
