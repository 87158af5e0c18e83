"""A batch of writes, beside what it writes: what it keeps from running meanwhile."""

import threading
from typing import Any

import pytest

from tenure import InvalidInput, Memory, NotFound, Write
from tenure.tests.support.refusals import refused


def texts(count: int) -> list[Write]:
    return [Write(content=f"Text {n}.", why_it_matters="a test") for n in range(count)]


@pytest.mark.parametrize(
    "bad_write",
    [
        {"subject": "\u200b", "slot": "office", "value": "Rome"},
        {"subject": "x" * 301, "slot": "office", "value": "Rome"},
        {"subject": "Sam Rivera", "slot": "manager", "value": "x" * 301},
    ],
    ids=["invisible", "long", "long value"],
)
def test_a_name_that_is_none_refuses_no_other_writer(
    memory: Memory, bad_write: dict[str, Any]
) -> None:
    refusals: dict[bool, list[str]] = {True: [], False: []}

    def write_often(is_bad: bool, number: int) -> None:
        good_write = {"subject": f"Person {number}", "slot": "office", "value": "Rome"}
        for _ in range(20):
            try:
                memory.write(**(bad_write if is_bad else good_write))
            except InvalidInput as refusal:
                refusals[is_bad].append(refusal.code)

    writers = [threading.Thread(target=write_often, args=(n % 2 == 0, n)) for n in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert refusals == {True: ["bad_name"] * 60, False: []}


def test_a_batch_says_which_of_its_writes_is_refused(memory: Memory) -> None:
    write = Write(subject="Sam Rivera", slot="office", value="Chicago")
    no_value = Write(subject="Sam Rivera", slot="office")
    no_slot = Write(subject="Sam Rivera", slot="ofice", value="Chicago")
    for faulty, number in ((no_value, 2), (no_slot, 3)):
        with pytest.raises(InvalidInput, match=rf"^write {number} of {number}: ") as refusal:
            memory.write_many([write] * (number - 1) + [faulty])
        assert refusal.value.data["write"] == number

    with pytest.raises(InvalidInput, match=r"^unknown slot"):
        memory.write_many([no_slot])


def test_a_value_that_was_never_stated_is_not_retracted(memory: Memory) -> None:
    memory.write("Sam Rivera", "office", "Oslo")
    for name, value in (("Sam Rivera", "Oslo"), ("Kim Lee", "no value")):
        with refused(NotFound, "unknown_value", match=f"it has {value} now"):
            memory.write(name, "office", "Rome", op="retract")


def test_a_delete_of_a_relation_may_name_its_value(memory: Memory) -> None:
    memory.write("Sam Rivera", "employer", "Acme")
    memory.write("Sam Rivera", "employer", "Acme", op="delete")
    assert memory.as_of().value("Sam Rivera", "employer") is None
