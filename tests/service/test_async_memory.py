"""The async twin: every method of the client, awaited."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from tenure import InvalidInput, Memory, aconnect
from tenure.service.client.async_memory import AsyncFace


def test_the_main_job_runs_awaited(tmp_path: Path) -> None:
    async def job() -> None:
        async with aconnect(str(tmp_path / "a.db")) as memory:
            receipt = await memory.write(subject="Sam", slot="office", value="NYC")
            view = await memory.as_of()
            assert isinstance(view, AsyncFace)
            assert await view.value("Sam", "office") == "NYC"
            assert await memory.actions() == []
            assert "office" in await memory.vocabulary.slots()
            envelope = await memory.compile("analytical_reporting", "where does Sam work")
            assert (await memory.replay(envelope)).digest == envelope.digest
            assert (await memory.explain(receipt.object_id)).object.value == "NYC"
            with pytest.raises(InvalidInput):
                await memory.write(subject="Sam", slot="ofice", value="NYC")

    asyncio.run(job())


def test_many_writers_share_the_loop(tmp_path: Path) -> None:
    async def job() -> int:
        async with aconnect(str(tmp_path / "b.db")) as memory:
            writes = [memory.write(subject="Sam", slot="skill", value=f"s{n}") for n in range(40)]
            await asyncio.gather(*writes)
            view = await memory.as_of()
            return len((await view.slot("Sam", "skill")).values)

    assert asyncio.run(job()) == 40


def test_nothing_opens_before_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "c.db"
    aconnect(str(path))
    assert not path.exists()


def test_every_public_method_of_the_client_has_a_twin(tmp_path: Path) -> None:
    twin = aconnect(str(tmp_path / "d.db"))
    names = [n for n, _ in inspect.getmembers(Memory) if not n.startswith("_")]
    assert names
    for name in names:
        assert callable(getattr(twin, name))
