"""A batch of writes, beside what it writes: what it keeps from running meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tenure import InvalidInput, Memory, Write, connect


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.write_many(texts(2))  # loads what a first write loads
        yield opened


@pytest.fixture
def collections() -> Iterator[list[str]]:
    """The passes of the collector, which is eager meanwhile."""
    thresholds, passes = gc.get_threshold(), list[str]()

    def note(phase: str, _: dict[str, int]) -> None:
        passes.append(phase)

    gc.callbacks.append(note)
    gc.set_threshold(20)
    yield passes
    gc.set_threshold(*thresholds)
    gc.callbacks.remove(note)


def texts(count: int) -> list[Write]:
    return [Write(content=f"Text {n}.", why_it_matters="a test") for n in range(count)]


def test_the_collector_waits_for_a_batch_and_goes_on_after_it(
    memory: Memory, collections: list[str]
) -> None:
    batch = texts(50)
    collections.clear()
    memory.write_many(batch)
    assert len(collections) <= 2  # what came due is collected at the end, at once
    assert gc.isenabled()
    collections.clear()
    for write in texts(50):
        memory.write_many([write])
    assert len(collections) > 50


def test_a_batch_that_is_refused_lets_the_collector_go_on(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.write_many([*texts(1), Write(subject="Sam", slot="no such slot", value="x")])
    assert gc.isenabled()
