"""A batch of writes, beside what it writes: what it keeps from running meanwhile."""

from __future__ import annotations

import gc
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
