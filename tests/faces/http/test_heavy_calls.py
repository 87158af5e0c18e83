"""Long calls of one caller wait for one another, and slow down nobody else for long."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from typing import Any

import httpx2
import pytest

import tenure
from tenure.faces.http import heavy_calls
from tenure.faces.http.heavy_calls import MOST_IN_ALL, HeavyCalls
from tenure.service.writing.write import Writer
from tenure.tests.faces.http.served import RunningServer
from tenure.tests.support.refusals import refused

ANN, BOB = (tenure.Principal(user=user) for user in ("ann", "bob"))


def test_a_call_waits_for_the_one_before_it_and_then_runs() -> None:
    async def work() -> None:
        calls, order = HeavyCalls(), []

        async def call(caller: tenure.Principal, name: str, is_done: asyncio.Event) -> None:
            async with calls.place(caller):
                order.append(name)
                await is_done.wait()

        first_end, other_end = asyncio.Event(), asyncio.Event()
        tasks = [asyncio.create_task(call(ANN, "first", first_end))]
        tasks.append(asyncio.create_task(call(ANN, "second", other_end)))
        tasks.append(asyncio.create_task(call(BOB, "another's", other_end)))
        await asyncio.sleep(0.05)
        assert order == ["first", "another's"]
        first_end.set()
        await asyncio.sleep(0.05)
        assert order == ["first", "another's", "second"]
        other_end.set()
        await asyncio.gather(*tasks)

    asyncio.run(work())


def test_a_place_is_free_again_after_an_error_and_after_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heavy_calls, "WAIT_S", 0.05)

    async def work() -> None:
        calls = HeavyCalls()
        with pytest.raises(RuntimeError):
            async with calls.place(ANN):
                raise RuntimeError
        async with AsyncExitStack() as places:
            for number in range(MOST_IN_ALL):
                caller = tenure.Principal(user=f"user-{number}")
                await places.enter_async_context(calls.place(caller))
            for caller in (ANN, tenure.Principal(user="user-0")):
                with refused(tenure.Unavailable, "too_busy"):
                    await places.enter_async_context(calls.place(caller))
        async with calls.place(ANN):
            pass

    asyncio.run(work())


def test_a_caller_whose_long_call_runs_is_told_when_to_go_on(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heavy_calls, "WAIT_S", 1)
    begun, is_released = threading.Event(), threading.Event()
    commit = Writer.submit

    def slow_commit(writer: Writer, *args: Any, **options: Any) -> Any:
        begun.set()
        is_released.wait(20)
        return commit(writer, *args, **options)

    monkeypatch.setattr(Writer, "submit", slow_commit)
    keys = {user: server.key(user=user) for user in ("ann", "bob")}

    def post(user: str, path: str, body: dict[str, Any], number: int) -> httpx2.Response:
        headers = {"authorization": f"Bearer {keys[user]}", "idempotency-key": f"k{number}"}
        return httpx2.post(server.url + path, json=body, headers=headers, timeout=30)

    batch = {"writes": [{"subject": "Zoe Park", "slot": "office", "value": "Rome"}]}
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(post, "ann", "/v1/write:batch", batch, 1)
        begun.wait(20)
        refusal = post("ann", "/v1/view/search", {"text": "office"}, 2)
        assert (refusal.status_code, refusal.json()["code"]) == (503, "too_busy")
        assert refusal.headers["retry-after"] == "1"

        # A point read of the same caller, a search of another one and a probe go on.
        point = {"entity": "Zoe Park", "slot": "office"}
        assert post("ann", "/v1/view/slot", point, 3).status_code == 200
        assert post("bob", "/v1/view/search", {"text": "office"}, 4).status_code == 200
        assert httpx2.get(f"{server.url}/healthz").status_code == 200
        is_released.set()
        assert running.result().status_code == 200
    assert post("ann", "/v1/view/search", {"text": "office"}, 5).status_code == 200
