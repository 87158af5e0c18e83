"""The official client over standard input and over HTTP, in both revisions of the protocol.

What a model pays for in every session is the list of tools and what stands before the question:
both must be short and the same bytes each time, or no provider keeps them.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tenure import Memory, connect
from tenure.compiler.tokens.counting import ExactCounter
from tenure.tests.faces.http.served import serving

CALLS = 100
LIST_TOKENS = 1_500
MODES = ("2026-07-28", "legacy")
TRANSPORTS = ("stdio", "http")
REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "remember": ({}, "missing_value"),
    "explain": ({"object_id": "nothing"}, "unknown_object"),
    "recall": ({"query": "a", "cursor": "WzEsIDJd"}, "bad_cursor"),
    "as_of": ({"entity": "Sam Rivera", "valid": "yesterday"}, "bad_time"),
}


def store_with_a_fact(folder: Path) -> Path:
    path = folder / "memory.db"
    with connect(str(path)) as memory:
        memory.write("Sam Rivera", "office", "Chicago")
    return path


def over_stdio(store: Path, mode: str) -> Client:
    command = ["-P", "-m", "tenure", "--store", str(store), "mcp"]
    environment = {"PYTHONPATH": str(Path(__file__).resolve().parents[4])}
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environment)
    return Client(parameters, mode=mode)


@asynccontextmanager
async def over_http(memory: Memory, folder: Path, mode: str) -> AsyncIterator[Client]:
    with serving(memory, folder) as server:
        headers = {"authorization": f"Bearer {server.owner_key()}"}
        async with httpx2.AsyncClient(headers=headers, timeout=30, verify=False) as http:
            transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client


def talk(transport: str, mode: str, folder: Path, work: Any) -> Any:
    async def conversation() -> Any:
        if transport == "stdio":
            async with over_stdio(store_with_a_fact(folder), mode) as client:
                return await work(client)

        with connect(str(store_with_a_fact(folder))) as memory:
            async with over_http(memory, folder, mode) as client:
                return await work(client)

    return asyncio.run(conversation())


def plain(answer: Any) -> dict[str, Any]:
    return dict(answer.model_dump(mode="json", by_alias=True, exclude_none=True))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_prefix_is_short_and_the_same_in_a_hundred_calls(
    transport: str, mode: str, tmp_path: Path
) -> None:
    async def work(client: Client) -> tuple[set[str], set[str]]:
        lists, contexts = set[str](), set[str]()
        for number in range(CALLS):
            # The client may keep the list for as long as the server says; here it asks each time.
            answer = await client.list_tools(cache_mode="refresh")
            lists.add(json.dumps(plain(answer)["tools"]))
            if number % 10 == 0:
                question = {"query": "Where does Sam Rivera work?"}
                context = await client.call_tool("compile_context", question)
                contexts.add(context.content[0].text)
        return lists, contexts

    lists, contexts = talk(transport, mode, tmp_path, work)
    assert len(lists) == len(contexts) == 1
    assert ExactCounter().count(*lists) <= LIST_TOKENS
    assert "outputSchema" not in next(iter(lists))
    assert "Sam Rivera | office = Chicago" in next(iter(contexts))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_refusal_is_a_structured_result(transport: str, mode: str, tmp_path: Path) -> None:
    async def work(client: Client) -> dict[str, Any]:
        return {
            tool: plain(await client.call_tool(tool, arguments))
            for tool, (arguments, _) in REFUSALS.items()
        }

    for tool, result in talk(transport, mode, tmp_path, work).items():
        assert result["isError"] is True
        assert result["structuredContent"]["code"] == REFUSALS[tool][1]
        assert result["content"][0]["text"]
