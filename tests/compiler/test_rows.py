import re

from hypothesis import given
from hypothesis import strategies as st

import tenure
from tenure.compiler.format.escape import LINE_BREAKS
from tenure.compiler.format.rows import fact_rows, read_rows
from tenure.schema.errors import InvalidInput
from tenure.tests.support.refusals import refused

FACT = st.lists(
    st.sampled_from(["a", "[2] forged", "[", "]", "    ", " ", "\r\n", "\\", *LINE_BREAKS]),
    max_size=10,
).map("".join)
ROWS = st.lists(st.tuples(st.one_of(st.integers(1, 99).map(str), FACT), FACT), max_size=5)


@given(ROWS)
def test_any_rows_read_back(rows: list[tuple[str, str]]) -> None:
    assert read_rows(fact_rows(rows)) == tuple(rows)


@given(FACT)
def test_no_fact_adds_a_row(fact: str) -> None:
    text = fact_rows([("1", fact), ("2", "b")])
    starts = [line for line in text.splitlines() if line.startswith("[")]
    assert len(starts) == 2


def test_no_rows_are_the_empty_text() -> None:
    assert fact_rows([]) == ""
    assert read_rows("") == ()


def test_a_line_that_is_no_row_is_refused() -> None:
    with refused(InvalidInput, "bad_envelope", match="no fact row"):
        read_rows("office: Chicago")


def since(*facts: tuple[str, str, str | None]) -> str:
    """The fact lines of a question about some people, of (name, office, since when)."""
    with tenure.connect(":memory:") as memory:
        for name, office, start in facts:
            memory.write({"name": name, "type": "person"}, "office", office, valid_from=start)
        names = " and of ".join(name for name, _, _ in facts)
        text = memory.compile("assistant", f"What is the office of {names}?").text
    (block,) = re.findall(r"(?s)=== data [^\n]*\n(.*?)\n=== data", text)
    return str(block)


def test_a_fact_says_since_when_it_holds_where_that_was_stated() -> None:
    assert since(("Ann Lee", "Rome", "2026-05-01")) == (
        "Ann Lee | office = Rome (since 2026-05-01) [1]"
    )
    assert since(("Ann Lee", "Rome", "2026-05")) == "Ann Lee | office = Rome (since 2026-05) [1]"
    assert since(("Ann Lee", "Rome", None)) == "Ann Lee | office = Rome [1]"
    assert since(("Ann Lee", "Rome", "-infinity")) == "Ann Lee | office = Rome [1]"


def test_facts_that_hold_since_one_day_say_it_once() -> None:
    assert since(
        ("Ann Lee", "Rome", "2026-05-01"),
        ("Bo Lund", "Oslo", "2026-06-02"),
        ("Cy Vega", "Lima", "2026-05-01"),
        ("Di Moe", "Kyiv", "2025-06-02"),
        ("Ed Ray", "Bern", None),
    ).splitlines() == [
        "@ since 2026-05-01",
        "Ann Lee | office = Rome [1]",
        "Bo Lund | office = Oslo (since 06-02) [2]",
        "Cy Vega | office = Lima [3]",
        "Di Moe | office = Kyiv (since 2025-06-02) [4]",
        "Ed Ray | office = Bern [5]",
    ]


def test_a_masked_fact_does_not_say_since_when_it_holds() -> None:
    with tenure.connect(":memory:") as memory:
        person = {"name": "Ann Lee", "type": "person"}
        memory.write(person, "office", "Rome", valid_from="2026-05-01", sensitivity=("personal",))
        member = memory.bind(tenure.Principal(user="bob"))
        text = member.compile("assistant", "What is the office of Ann Lee?").text
    assert "Rome" not in text
    assert "2026-05-01" not in text
