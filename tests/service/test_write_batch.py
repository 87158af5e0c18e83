"""A batch of writes, beside what it writes: what it keeps from running meanwhile."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tenure import InvalidInput, Memory, Write, connect
from tenure.service.writing.write import Writer


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        yield opened


@pytest.fixture
def collecting(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the collector runs freely, each time that writes are sanitised or submitted."""
    notes: list[bool] = []
    for name in ("drafts", "submit"):
        real = getattr(Writer, name)

        def noted(*args: Any, real: Any = real, **kwargs: Any) -> Any:
            notes.append(gc.isenabled())
            return real(*args, **kwargs)

        monkeypatch.setattr(Writer, name, noted)
    return notes


def texts(count: int) -> list[Write]:
    return [Write(content=f"Text {n}.", why_it_matters="a test") for n in range(count)]


def test_the_collector_waits_for_a_batch_and_goes_on_after_it(
    memory: Memory, collecting: list[bool]
) -> None:
    memory.write_many(texts(2))
    assert (collecting, gc.isenabled()) == ([False, False], True)
    collecting.clear()
    memory.write_many(texts(1))
    assert collecting == [True, True]


def test_a_batch_that_is_refused_lets_the_collector_go_on(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.write_many([*texts(1), Write(subject="Sam", slot="no such slot", value="x")])
    assert gc.isenabled()


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
        batch = [write] * (number - 1) + [faulty]
        with pytest.raises(InvalidInput, match=rf"^write {number} of {number}: ") as refusal:
            memory.write_many(batch)
        assert refusal.value.data["write"] == number

    with pytest.raises(InvalidInput, match=r"^unknown slot"):
        memory.write_many([no_slot])
