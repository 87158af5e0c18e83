"""A slot that cannot change: any second value is a conflict, until a correction. On every store."""

import json
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tenure import Memory
from tenure.schema.answers import SlotState
from tenure.schema.claim import Permissions
from tenure.schema.interval import INF_US
from tenure.schema.principal import Scope, Sight
from tenure.schema.vocabulary import Classification, Op, SlotStatus
from tenure.store.port.store import Ask, Point, Reader, Store
from tenure.store.timeline.state import slot_state
from tenure.tests.store.builders import TENANT, Open, Say, commit

OLGA = {"name": "Olga Brandt", "type": "person", "external_ids": {"badge": "K-17"}}


def birthday(memory: Memory) -> Any:
    return memory.as_of().slot("Olga Brandt", "birthday")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        ({"valid_from": "2001-01-01T00:00:00Z"}, {"valid_from": "2020-01-01T00:00:00Z"}),
        ({"valid_from": "2020-01-01T00:00:00Z"}, {"valid_from": "-infinity"}),
        ({"source_origin": "record://a/1"}, {"source_origin": "record://b/2"}),
        ({"source_authority": 0.9}, {"source_authority": 0.2}),
    ],
    ids=["plain", "rising", "open", "two sources", "trust"],
)
def test_a_second_value_is_disputed(
    open_memory: Open, first: dict[str, Any], second: dict[str, Any]
) -> None:
    for order in ((first, second), (second, first)):
        memory = open_memory()
        for value, fields in zip(("1979-03-09", "1981-07-21"), order, strict=True):
            memory.write(OLGA, "birthday", value, **fields)
        assert birthday(memory).status == "disputed"
        assert len(memory.actions()) == 1


def test_a_restatement_is_confirmed_and_a_correction_settles(memory: Memory) -> None:
    memory.write(OLGA, "birthday", "1979-03-09")
    assert memory.write(OLGA, "birthday", "1979-03-09").outcome == "confirmed"
    memory.write(OLGA, "birthday", "1981-07-21")
    memory.write(OLGA, "birthday", "1981-07-21", op="correct")
    assert birthday(memory).value == "1981-07-21"
    assert memory.actions() == ()


def test_a_stronger_level_still_decides(memory: Memory) -> None:
    memory.write(OLGA, "birthday", "1979-03-09", authority_level=3)
    memory.write(OLGA, "birthday", "1981-07-21", authority_level=1)
    assert birthday(memory).value == "1981-07-21"


def test_what_is_said_twice_otherwise_is_asked_about(memory: Memory) -> None:
    for day in ("9 March 1979", "21 July 1981"):
        memory.observe(f"My birthday is {day}.", speaker="Olga Brandt")
    assert birthday(memory).status == "disputed"
    assert len(memory.actions()) == 1


def test_a_table_and_a_replay_dispute_as_a_write_does(memory: Memory, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    events = [
        {"recorded_at": (now - timedelta(days=2 - n)).isoformat(), "subject": OLGA,
         "slot": "birthday", "value": value}
        for n, value in enumerate(("1979-03-09", "1981-07-21"))
    ]  # fmt: skip
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    memory.ingest(path, replay=True)
    assert birthday(memory).status == "disputed"


def test_a_tenant_may_declare_a_slot_constant(memory: Memory) -> None:
    memory.vocabulary.define_slot("blood_group", description="the blood group", constant=True)
    for value in ("A", "B"):
        memory.write(OLGA, "blood_group", value)
    assert memory.as_of().slot("Olga Brandt", "blood_group").status == "disputed"
    assert memory.vocabulary.slots()["blood_group"].constant


# ---- What a store says of a slot without its claims is what the claims come to.

EXAMPLES = 40
DAYS = 6
ANN = Scope(user="ann")
SIGHTS = (
    Sight(scopes=("tenant", ANN.scope_id), tags=("*",), clearance=3),
    Sight(scopes=("tenant",), tags=("*",), clearance=3),
    Sight(scopes=("tenant",), tags=("*",), clearance=Classification.PUBLIC.rank),
)
names = iter(range(1_000_000))


@st.composite
def stories(draw: st.DrawFn) -> list[Say]:
    """Return writes to one slot of a subject of their own: denied, tied, hidden or empty."""
    subject, many = f"d{next(names)}", draw(st.integers(0, 5)) == 0
    writes = []
    for number in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, DAYS - 1))
        writes.append(
            Say(
                object_id=f"{subject}-{number}",
                subject=subject,
                slot="skill" if many else "office",
                many=many,
                value=draw(st.sampled_from(("A", "B", None))),
                op=draw(st.sampled_from((Op.ASSERT, Op.ASSERT, Op.CORRECT, Op.RETRACT, Op.DENY))),
                start=start,
                until=draw(st.integers(start + 1, DAYS) | st.just(INF_US)),
                level=draw(st.sampled_from((1, 2, 2))),
                scope=draw(st.sampled_from((Scope(), Scope(), ANN))),
                permissions=draw(
                    st.sampled_from(
                        (Permissions(), Permissions(classification=Classification.CONFIDENTIAL))
                    )
                ),
            )
        )
    return writes


def state_of(reader: Reader, ask: Ask, sight: Sight, point: Point, *, many: bool) -> SlotState:
    versions = reader.versions(ask, sight=sight, point=point).versions
    return slot_state(versions, many=many, shape=None)


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(story=stories())
def test_what_is_decided_is_the_state_of_the_slot(store: Store, story: list[Say]) -> None:
    stamps = [commit(store, [say]) for say in story] or [1]
    subject, slot = (story[0].subject, story[0].slot) if story else ("nobody", "office")
    ask = Ask(subjects=(subject or "",), slots=(slot or "",))
    with store.reading(TENANT) as reader:
        places = product(SIGHTS, (-1, 0, 2, DAYS, DAYS + 1), (stamps[0] - 1, *stamps))
        for sight, valid, tx in places:
            point = Point(valid, tx)
            decided = reader.decided_value(ask, sight=sight, point=point)
            if decided is None:
                continue

            state = state_of(reader, ask, sight, point, many=slot == "skill")
            if decided.value_json is None:
                assert state.status is SlotStatus.UNKNOWN
                assert state.reason == "no_value"
            else:
                assert state.status is SlotStatus.CLEAN
                assert state.value == json.loads(decided.value_json)


def test_a_denial_a_tie_and_a_gap_are_for_the_claims_to_tell(store: Store) -> None:
    commit(store, [Say(object_id="d1", subject="denied", value="A")])
    commit(store, [Say(object_id="d2", subject="denied", value="A", op=Op.DENY, level=1)])
    commit(store, [Say(object_id="t1", subject="tied", value="A")])
    commit(store, [Say(object_id="t2", subject="tied", value="B")])
    commit(store, [Say(object_id="g1", subject="empty", value=None)])

    with store.reading(TENANT) as reader:
        point = Point(1, reader.clock().last_us)
        for subject in ("denied", "tied", "empty"):
            ask = Ask(subjects=(subject,), slots=("office",))
            assert reader.decided_value(ask, sight=SIGHTS[0], point=point) is None
