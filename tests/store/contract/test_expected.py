"""`expected`: a write that states what it has read is refused when that changed since."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tenure import Memory
from tenure.schema.errors import Conflict, InvalidInput, TenureError
from tenure.schema.write import ABSENT, Write
from tenure.tests.support.refusals import refused


def move(memory: Memory, value: str, expected: str | None) -> str:
    receipt = memory.write(
        subject="Sam Rivera", slot="office", value=value, op="correct", expected=expected
    )
    return receipt.object_id


def office(memory: Memory) -> object:
    return memory.as_of().value("Sam Rivera", "office")


def test_a_write_goes_through_while_what_it_read_still_stands(memory: Memory) -> None:
    first = move(memory, "Chicago", ABSENT)
    second = move(memory, "Boston", first)
    assert office(memory) == "Boston"

    for stale in (first, ABSENT, "no-such-object"):
        with refused(Conflict, "stale_version"):
            move(memory, "Rome", stale)
    assert office(memory) == "Boston"
    move(memory, "Rome", second)
    assert office(memory) == "Rome"


def test_who_expects_nothing_overwrites_as_ever(memory: Memory) -> None:
    move(memory, "Chicago", ABSENT)
    move(memory, "Boston", None)
    assert office(memory) == "Boston"


def test_in_one_transaction_the_second_write_of_a_slot_is_overtaken(memory: Memory) -> None:
    writes = [
        Write(subject="Sam Rivera", slot="office", value=value, expected=ABSENT)
        for value in ("Chicago", "Boston")
    ]
    with pytest.raises(Conflict):
        memory.write_many(writes)
    assert office(memory) is None


def test_of_many_that_start_from_one_value_exactly_one_wins(memory: Memory) -> None:
    first = move(memory, "Chicago", ABSENT)

    def attempt(number: int) -> str:
        try:
            move(memory, f"Office {number}", first)
        except TenureError as refusal:
            return refusal.code
        return "won"

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(attempt, range(8)))
    assert sorted(outcomes) == ["stale_version"] * 7 + ["won"]


def test_a_retry_with_a_key_is_answered_although_its_own_write_stands(memory: Memory) -> None:
    def once() -> str:
        write = Write(
            subject="Sam", slot="office", value="Rome", expected=ABSENT, idempotency_key="k"
        )
        return memory.write_many([write])[0].object_id

    assert once() == once()


def test_a_text_and_a_slot_of_many_values_have_no_one_value(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.write(content="just words", expected=ABSENT)
    with pytest.raises(InvalidInput):
        memory.write(subject="Sam Rivera", slot="allergy", value="nuts", expected=ABSENT)
