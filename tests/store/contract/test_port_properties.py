"""Reads agree with a plain filter over all rows, whatever the history."""

from collections.abc import Iterable
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure.schema.claim import Row
from tenure.schema.interval import INF_US
from tenure.schema.vocabulary import Op
from tenure.store.port.store import Ask, Point, RecordKind, Store
from tenure.tests.store.builders import ALL, TENANT, Say, commit

EXAMPLES = 15
"""Histories tried; each costs a server of the suite some seconds."""

DAYS = 8
VALID_TIMES = (3, DAYS + 1, -1, 0, 5, DAYS)
"""Two are enough to see that what is not asked at a time does not depend on one."""

names = iter(range(1_000_000))


@st.composite
def stories(draw: st.DrawFn) -> list[Say]:
    """Return writes to one slot of a subject of their own."""
    subject, many = f"s{next(names)}", draw(st.booleans())
    written = []
    for number in range(draw(st.integers(1, 7))):
        start = draw(st.integers(0, DAYS - 1))
        written.append(
            Say(
                object_id=f"{subject}-{number}",
                subject=subject,
                slot="skill" if many else "office",
                many=many,
                value=draw(st.sampled_from("ABC")),
                op=draw(st.sampled_from((Op.ASSERT, Op.ASSERT, Op.CORRECT, Op.RETRACT, Op.DENY))),
                start=start,
                until=draw(st.integers(start + 1, DAYS) | st.just(INF_US)),
                level=draw(st.sampled_from((1, 2, 2, 3))),
                trust=draw(st.sampled_from((700, 800))),
            )
        )
    return written


def known_at(row: Row, tx: int) -> tuple[int, int]:
    return row.vid, INF_US if row.tx_end > tx else row.tx_end


def wanted(rows: Iterable[Row], ask: Ask, point: Point) -> list[tuple[int, int]]:
    return [
        known_at(row, point.tx_us)
        for row in rows
        if (row.look.head or not ask.heads)
        and (point.valid_us in row.interval or not ask.at_valid)
        and row.tx_start <= point.tx_us
        and (row.tx_end > point.tx_us or not ask.at_tx)
    ]


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=stories())
def test_every_ask_is_a_filter_over_the_rows(store: Store, story: list[Say]) -> None:
    stamps = [commit(store, [say]) for say in story]
    subject, slot = story[0].subject or "", story[0].slot or ""
    with store.reading(TENANT) as reader:
        mine = [
            row
            for row in reader.records(RecordKind.ROW)
            if isinstance(row, Row) and row.claim.slot_key == story[0].slot_key
        ]
        for heads, at_valid, at_tx in product((True, False), repeat=3):
            shape = {"heads": heads, "at_valid": at_valid, "at_tx": at_tx}
            asks = (
                Ask(subjects=(subject,), slots=(slot,), **shape),
                Ask(subjects=(subject,), **shape),
                Ask(objects=tuple(say.object_id for say in story), **shape),
            )
            times = VALID_TIMES if at_valid else VALID_TIMES[:2]
            for valid, tx in product(times, (stamps[0] - 1, *stamps)):
                point = Point(valid, tx)
                for ask in asks:
                    found = reader.versions(ask, sight=ALL, point=point).versions
                    assert [(v.row.vid, v.row.tx_end) for v in found] == wanted(mine, ask, point)


@settings(max_examples=EXAMPLES // 3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=stories())
def test_every_invariant_holds_after_any_history(store: Store, story: list[Say]) -> None:
    for say in story:
        commit(store, [say])
    assert store.check(TENANT) == ()
