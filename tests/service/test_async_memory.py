"""The async twin: every method of the client, awaited."""

import asyncio
import inspect
from pathlib import Path

import pytest

from tenure import AsyncMemory, InvalidInput, Memory, Principal, aconnect
from tenure.service.backend.caller import backend_of
from tenure.service.client.async_memory import AsyncPart
from tenure.tests.async_stub import STUB, stub


def test_the_main_job_runs_awaited(tmp_path: Path) -> None:
    async def job() -> None:
        async with aconnect(str(tmp_path / "a.db")) as memory:
            receipt = await memory.write(subject="Sam", slot="office", value="NYC")
            view = await memory.as_of()
            assert isinstance(view, AsyncPart)
            assert await view.value("Sam", "office") == "NYC"
            assert await memory.actions() == ()
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


def test_a_bound_memory_is_awaited_as_well(tmp_path: Path) -> None:
    async def job() -> object:
        async with aconnect(str(tmp_path / "e.db")) as memory:
            await memory.write(subject="Sam", slot="office", value="NYC")
            bound = await memory.bind(Principal(user="ann"))
            assert isinstance(bound, AsyncMemory)
            return await (await bound.as_of()).value("Sam", "office")

    assert asyncio.run(job()) == "NYC"


def test_a_block_of_a_bound_memory_leaves_the_store_open(tmp_path: Path) -> None:
    async def job() -> tuple[object, object]:
        async with aconnect(str(tmp_path / "g.db")) as memory:
            async with memory.bind(Principal(user="ann", roles=["member"])) as bound:
                await bound.write("Sam", "office", "NYC")
                bound_user = (await bound.opened()).principal.user
            return bound_user, await (await memory.as_of()).value("Sam", "office")

    assert asyncio.run(job()) == ("ann", "NYC")


def test_a_bound_memory_opens_what_was_not_open_yet_and_only_once(tmp_path: Path) -> None:
    async def job() -> bool:
        memory = aconnect(str(tmp_path / "h.db"))
        async with memory, memory.bind(Principal(user="ann")) as ann:
            async with memory.bind(Principal(user="bob")) as bob:
                pass
            stores = [backend_of(await twin.opened()) for twin in (ann, bob)]
            return stores[0] is stores[1]

    assert asyncio.run(job())


def test_a_session_is_awaited_as_well(tmp_path: Path) -> None:
    async def job() -> int:
        async with aconnect(str(tmp_path / "f.db")) as memory:
            session = await memory.session("s1", window=16_000)
            await session.on_turn_start("hello")
            await session.on_turn_end("hi")
            fork = await session.fork("s2")
            await session.close()
            await fork.on_turn_start("more")
            return len((await fork.compile()).render("openai")["messages"])

    assert asyncio.run(job()) >= 3


def test_the_stub_states_every_method_as_it_is() -> None:
    assert STUB.read_text() == stub(), "run: python -P tests/async_stub.py"
