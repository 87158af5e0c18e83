"""What `connect` takes for a store: a path in either form, whatever it leads to."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tenure import aconnect, connect


def test_a_path_opens_the_same_store_as_its_text(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with connect(path) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin")
    with connect(str(path)) as memory:
        assert memory.as_of().value("Sam Rivera", "office") == "Austin"


def test_the_path_of_a_folder_holds_a_file_a_tenant(tmp_path: Path) -> None:
    with connect(tmp_path) as memory:
        memory.write(subject="Sam Rivera", slot="office", value="Austin")
    assert [file.name for file in tmp_path.glob("*.db")] == ["tenant-default.db"]


def test_the_async_twin_takes_a_path_too(tmp_path: Path) -> None:
    async def office() -> object:
        async with aconnect(tmp_path / "memory.db") as memory:
            await memory.write(subject="Sam Rivera", slot="office", value="Austin")
            return await (await memory.as_of()).value("Sam Rivera", "office")

    assert asyncio.run(office()) == "Austin"
