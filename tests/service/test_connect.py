"""What `connect` takes for a store: a path in either form, whatever it leads to."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Unavailable, aconnect, connect


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


OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "bytes for a path": ({"url": b"m.db"}, "bad_settings"),
    "nothing for a path": ({"url": None}, "bad_settings"),
    "a name for a caller": ({"principal": "ann"}, "bad_principal"),
    "a number for bounds": ({"caches": 5}, "bad_settings"),
    "a list for a file": ({"answers": ["a"]}, "bad_settings"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_of_another_type_is_refused_by_code(name: str) -> None:
    options, code = OPTIONS[name]
    with pytest.raises(InvalidInput) as caught:
        connect(**{"url": ":memory:", **options})
    assert caught.value.code == code


def test_a_path_that_no_system_takes_is_refused() -> None:
    with pytest.raises(Unavailable) as caught:
        connect("x" * 5_000)
    assert caught.value.code == "store_unreachable"
    assert len(str(caught.value)) < 200


def test_only_a_principal_is_a_caller() -> None:
    with connect(":memory:") as memory, pytest.raises(InvalidInput) as caught:
        memory.bind("ann")  # type: ignore[arg-type]
    assert caught.value.code == "bad_principal"
