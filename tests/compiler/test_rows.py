from hypothesis import given
from hypothesis import strategies as st

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
