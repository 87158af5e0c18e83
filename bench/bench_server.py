"""A server under load: clients that read and write, a process that is killed, and its size.

    python bench/bench_server.py [load] [half] [point] [heavy] [kills] [mcp] [size]
                                 [--clients 200] [--seconds 300]

`load`: clients with keys of their own, four reads of five calls, nine writes of ten about people
who are known; errors, p50 and p95, and the memory at the end of the last fifth of the time (with
`--seconds 300` of the last minute) against that of the first, after half a minute to warm up. Then
a point read against an empty route of the same app, which checks the key, its limits and its tenant
as every call does, and reads nothing; and, beside it, against a route that asks for no key.
`half`: the same clients while 1,000 connections are held half open, twice, with a minute after
each; answers, reads without one, the memory after the second load against that after the first, and
whether the server answers once the connections are gone.
`point`: this last part alone, on a server that nobody has asked yet.
`heavy`: the point reads of one member, alone and while another asks for 45 large compiles at once
from a process of its own.
`kills`: the same load of writes while the server gets SIGKILL; every acknowledged write must be
there once, and a retry with its key must double nothing. `mcp`: the official client over standard
input and HTTP in both modes, a hundred times `tools/list`, a compile and a refusal: bytes, tokens.
`size`: what the extras add to the core.
"""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import random
import resource
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tenure import connect
from tenure.bench.script import parser_of, run_parts
from tenure.faces.http.control import ControlFile
from tenure.faces.http.keys import KeyRing
from tenure.schema.principal import Principal
from tenure.service.calls.table import Permit

PEOPLE = 200
ROOMS = 1_000
WARM_UP_S = 30
HALF_OPEN = 1_000
QUIET_S = 60
KILLS = 20
MCP_CALLS = 100
READ_ROUNDS, READS_A_ROUND = 20, 50
BARE, EMPTY, POINT_READ = "/v1/version", "/v1/caller", "/v1/view/slot"
READ_AND_WRITE = (Permit.READ.value, Permit.WRITE.value)
LIST_TOKENS = 1_300
COMPILES, PASSAGES, PASSAGE_WORDS = 45, 60, 1_000
ALONE_S = 10


@dataclass(slots=True)
class Site:
    """A store, its control file and the server process over it."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        script = [sys.executable, "-P", "-m", "tenure", "--store", str(self.folder / "team.db")]
        options = ["serve", "--port", str(self.port), "--control", str(self.folder / "control.db")]
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen([*script, *options], stdout=log, stderr=log)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(httpx2.HTTPError):
                if httpx2.get(f"{self.url}/healthz").status_code == 200:
                    return
            time.sleep(0.1)
        raise SystemExit("the server did not start: " + (self.folder / "server.log").read_text())

    def kill(self) -> None:
        """End the server at once."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """End the server as an operator does."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait(timeout=60)

    def memory_mib(self) -> float:
        """The resident memory of the process."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) / 1024

    def cpu_seconds(self) -> float:
        """The processor time that the process has used."""
        assert self.process is not None
        # By thread and in nanoseconds: the sum that `stat` tells is counted in hundredths of a
        # second, half of what a round of calls takes.
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


@dataclass(slots=True)
class Figures:
    """What the clients met."""

    milliseconds: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    statuses: Counter[int] = field(default_factory=Counter[int])
    lost: int = 0
    """Reads that got no answer at all."""
    acknowledged: dict[str, str] = field(default_factory=dict[str, str])
    """The subject of each write that was answered with 200, by its Idempotency-Key."""

    def add(self, name: str, began: float, status: int) -> None:
        """Count a call."""
        self.milliseconds.setdefault(name, []).append((time.perf_counter() - began) * 1000)
        self.statuses[status] += 1


class Mix(NamedTuple):
    """What clients ask, as shares of one."""

    reads: float
    """Reads of all calls."""
    new_names: float
    """Writes about somebody new, of all writes: each makes the register grow."""


LOAD = Mix(reads=0.8, new_names=0.1)
WRITES = Mix(reads=0.2, new_names=1.0)
"""New names alone, so that a write that is lost or doubled can be told."""


def make_store(folder: Path) -> None:
    """A store with people."""
    with connect(str(folder / "team.db"), durability="normal") as memory:
        for number in range(PEOPLE):
            memory.write(f"Person {number}", "office", f"Room {number}")


def make_site(
    folder: Path, keys: int, permits: tuple[str, ...] = READ_AND_WRITE
) -> tuple[Site, list[str]]:
    """A server over a store with people, and a key for each client."""
    make_store(folder)
    control = ControlFile(folder / "control.db")
    ring = KeyRing(control)
    tokens = [
        ring.create(Principal(user=f"user{n}", roles=frozenset({"member"})), permits)
        for n in range(keys)
    ]
    control.close()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
    site = Site(folder, port)
    site.start()
    return site, tokens


async def client(site: Site, token: str, until: float, figures: Figures, mix: Mix) -> None:
    """One client that reads and writes until the time is up, and retries what got no answer."""
    rng = random.Random(token)
    headers = {"authorization": f"Bearer {token}"}
    # Unencrypted: a client that reads the certificates of the system takes .1 s of CPU to begin,
    # and two hundred of them the first third of the first minute.
    async with httpx2.AsyncClient(
        base_url=site.url, headers=headers, timeout=60, verify=False
    ) as http:
        while time.monotonic() < until:
            person = f"Person {rng.randrange(PEOPLE)}"
            if rng.random() < mix.reads:
                began = time.perf_counter()
                question = {"entity": person, "slot": "office"}
                try:
                    response = await http.get("/v1/view/slot", params=question)
                    figures.add("read", began, response.status_code)
                except httpx2.HTTPError:
                    figures.lost += 1
                continue

            key = str(uuid.uuid4())
            subject = f"Written {uuid.uuid4().hex}" if rng.random() < mix.new_names else person
            room = f"Room {rng.randrange(ROOMS)}"
            fact = {"subject": subject, "slot": "office", "value": room}
            while time.monotonic() < until + 60:
                began = time.perf_counter()
                try:
                    response = await http.post(
                        "/v1/write", json=fact, headers={"idempotency-key": key}
                    )
                except httpx2.HTTPError:
                    await asyncio.sleep(0.2)
                    continue
                figures.add("write", began, response.status_code)
                if response.status_code == 200:
                    figures.acknowledged[key] = subject
                if response.status_code not in (409, 429, 503):
                    break
                await asyncio.sleep(0.5)


def run_clients(
    site: Site, tokens: list[str], seconds: float, mix: Mix, beside: Callable[[], Any]
) -> Figures:
    """Run every client for so long, with something that goes on beside them."""
    figures = Figures()

    async def together() -> None:
        until = time.monotonic() + seconds
        work: list[Coroutine[Any, Any, Any]] = [
            client(site, token, until, figures, mix) for token in tokens
        ]
        await asyncio.gather(asyncio.to_thread(beside), *work)

    asyncio.run(together())
    return figures


def percentiles(name: str, values: list[float]) -> str:
    """A line of figures."""
    cuts = statistics.quantiles(values, n=20)
    return f"{name}: {len(values):,} calls, p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms"


def point_read_ratio(site: Site, token: str) -> float:
    """What a point read costs the server against an empty route of the same app, in CPU time.

    By one client, in turns of fifty calls, the least of twenty turns each: what else the machine
    does empties the caches of its processor, and makes the same work dearer at one time than at
    another.
    """
    headers = {"authorization": f"Bearer {token}"}
    spent: dict[str, list[float]] = {BARE: [], EMPTY: [], POINT_READ: []}
    with httpx2.Client(base_url=site.url, headers=headers) as http:
        for _ in range(READ_ROUNDS):
            for path, values in spent.items():
                began = site.cpu_seconds()
                for number in range(READS_A_ROUND):
                    question = {"entity": f"Person {number % PEOPLE}", "slot": "office"}
                    parameters = question if path == POINT_READ else {}
                    http.get(path, params=parameters).raise_for_status()
                values.append((site.cpu_seconds() - began) / READS_A_ROUND)

    bare, empty, read = map(min, spent.values())
    print(
        f"point read {read * 1000:.2f} ms of CPU; empty route with a key {empty * 1000:.2f} ms:"
        f" {read / empty:.2f}x; route without a key {bare * 1000:.2f} ms: {read / bare:.2f}x"
    )
    return read / empty


def load(folder: Path, clients: int, seconds: float) -> bool:
    """Many clients for some minutes."""
    site, tokens = make_site(folder, clients)
    memory_mib: list[float] = []

    def watch() -> None:
        # Until each client has called once and the threads have met their connections, what
        # grows is the server that starts.
        time.sleep(WARM_UP_S)
        for _ in range(5):
            time.sleep(seconds / 5)
            memory_mib.append(site.memory_mib())

    figures = run_clients(site, tokens, WARM_UP_S + seconds, LOAD, watch)
    for name, values in sorted(figures.milliseconds.items()):
        print(percentiles(name, values))
    growth = memory_mib[-1] / memory_mib[0]
    print(
        f"statuses {dict(figures.statuses)}; memory {memory_mib[0]:.0f} -> {memory_mib[-1]:.0f} MiB"
        f" ({growth:.3f}x)"
    )
    ratio = point_read_ratio(site, tokens[0])
    site.stop()
    return set(figures.statuses) <= {200, 429} and ratio <= 3 and growth <= 1.05


def hold_half_open(site: Site, seconds: float) -> None:
    """Hold connections with half a head, and open each again that the server ends."""
    held: list[socket.socket] = []
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        while len(held) < HALF_OPEN:
            with suppress(OSError):
                held.append(socket.create_connection(("127.0.0.1", site.port), timeout=5))
                held[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n")
                held[-1].setblocking(False)
        time.sleep(0.5)
        alive: list[socket.socket] = []
        for connection in held:
            try:
                is_ended = connection.recv(1) is not None
            except BlockingIOError:
                is_ended = False
            except OSError:
                is_ended = True
            if is_ended:
                connection.close()
            else:
                alive.append(connection)
        held = alive
    for connection in held:
        connection.close()


def half(folder: Path, clients: int, seconds: float) -> bool:
    """Many clients with half-open connections held at the same time, twice."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8 * HALF_OPEN)), hard))
    site, tokens = make_site(folder, clients)
    memory_mib: list[float] = []
    statuses: Counter[int] = Counter()
    lost = 0
    for _ in range(2):
        figures = run_clients(site, tokens, seconds, LOAD, lambda: hold_half_open(site, seconds))
        statuses += figures.statuses
        lost += figures.lost
        for name, values in sorted(figures.milliseconds.items()):
            print(percentiles(name, values))
        time.sleep(QUIET_S)
        memory_mib.append(site.memory_mib())

    is_alive = httpx2.get(f"{site.url}/healthz").status_code == 200
    growth = memory_mib[1] / memory_mib[0]
    print(
        f"statuses {dict(statuses)}, {lost} without an answer; memory {memory_mib[0]:.0f} ->"
        f" {memory_mib[1]:.0f} MiB ({growth:.3f}x); alive: {is_alive}"
    )
    site.stop()
    return is_alive and not lost and set(statuses) <= {200, 429, 503} and growth <= 1.05


def point(folder: Path) -> bool:
    """A point read against an empty route, before any load."""
    site, (token,) = make_site(folder, 1)
    ratio = point_read_ratio(site, token)
    site.stop()
    return ratio <= 3


def send_compiles(url: str, token: str) -> Counter[int]:
    """Ask for many compiles at once, each with half a megabyte of evidence; return the statuses."""
    rng = random.Random(7)
    passages = [
        {"text": " ".join(f"word{rng.randrange(20_000)}" for _ in range(PASSAGE_WORDS))}
        for _ in range(PASSAGES)
    ]
    request = {"task": "assistant", "query": "word7", "evidence": passages, "budget_tokens": 8_000}
    headers = {"authorization": f"Bearer {token}"}
    call: dict[str, Any] = {"url": f"{url}/v1/compile", "json": request, "headers": headers}
    call |= {"timeout": 600, "verify": False}

    def send(_: int) -> int:
        # Each try opens a connection: the server ends an idle one after the time it asks to wait.
        while (response := httpx2.post(**call)).status_code == 503:
            time.sleep(int(response.headers["retry-after"]))
        return int(response.status_code)

    with ThreadPoolExecutor(COMPILES) as threads:
        return Counter(threads.map(send, range(COMPILES)))


def point_reads(site: Site, token: str, is_over: Callable[[], bool]) -> list[float]:
    """Milliseconds of point reads, one after the other, until it is over."""
    headers = {"authorization": f"Bearer {token}"}
    figures = Figures()
    with httpx2.Client(base_url=site.url, headers=headers, timeout=60) as http:
        while not is_over():
            began = time.perf_counter()
            question = {"entity": "Person 7", "slot": "office"}
            figures.add("read", began, http.get(POINT_READ, params=question).status_code)
    assert set(figures.statuses) == {200}, figures.statuses
    return figures.milliseconds["read"]


def heavy(folder: Path) -> bool:
    """What many large compiles of one member do to the point reads of another."""
    site, tokens = make_site(folder, 2, (*READ_AND_WRITE, Permit.COMPILE.value))
    until = time.monotonic() + ALONE_S
    quiet_ms = point_reads(site, tokens[0], lambda: time.monotonic() > until)
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        compiles = processes.submit(send_compiles, site.url, tokens[1])
        busy_ms = point_reads(site, tokens[0], compiles.done)
    site.stop()
    ratio = statistics.median(busy_ms) / statistics.median(quiet_ms)
    print(percentiles("alone", quiet_ms), percentiles("beside compiles", busy_ms), sep="\n")
    statuses = compiles.result()
    print(f"statuses of {COMPILES} compiles {dict(statuses)}; medians {ratio:.2f}x")
    return set(statuses) == {200} and ratio <= 3


def kills(folder: Path, clients: int, seconds: float) -> bool:
    """Writers while the server dies again and again."""
    site, tokens = make_site(folder, clients)

    def die() -> None:
        for _ in range(KILLS):
            time.sleep(seconds / KILLS)
            site.kill()
            site.start()

    figures = run_clients(site, tokens, seconds, WRITES, die)
    site.stop()
    with connect(str(folder / "team.db")) as memory:
        rows = {s: len(memory.history(s, "office")) for s in figures.acknowledged.values()}
        problems = memory.doctor()
    lost = sum(1 for count in rows.values() if count == 0)
    doubled = sum(1 for count in rows.values() if count > 1)
    print(
        f"{KILLS} kills, {len(rows):,} acknowledged writes: {lost} lost, {doubled} doubled;"
        f" statuses {dict(figures.statuses)}; doctor: {len(problems)} problems"
    )
    return not (lost or doubled or problems)


@asynccontextmanager
async def mcp_session(folder: Path, transport: str, mode: str) -> AsyncIterator[Any]:
    """The official client over a store with people, on standard input or over HTTP."""
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    if transport == "stdio":
        command = ["-P", "-m", "tenure", "--store", str(folder / "team.db"), "mcp"]
        async with Client(
            StdioServerParameters(command=sys.executable, args=command), mode=mode
        ) as session:
            yield session
        return

    site, (token,) = make_site(folder, 1, (*READ_AND_WRITE, Permit.COMPILE.value))
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        channel = streamable_http_client(f"{site.url}/mcp", http_client=http)
        async with Client(channel, mode=mode) as session:
            yield session
    site.stop()


async def mcp_prefixes(folder: Path, transport: str, mode: str) -> tuple[set[str], set[str], int]:
    """The lists of tools and compiled texts of a hundred calls, and the refusals with a code."""
    lists, contexts, refusals = set[str](), set[str](), 0
    async with mcp_session(folder, transport, mode) as session:
        for _ in range(MCP_CALLS):
            answer = await session.list_tools(cache_mode="refresh")
            fields = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
            lists.add(json.dumps(fields["tools"]))

            question = {"query": "Where does Person 7 work?"}
            context = await session.call_tool("compile_context", question)
            contexts.add(context.content[0].text)

            refusal = await session.call_tool("explain", {"object_id": "nothing"})
            is_structured = refusal.is_error and "code" in (refusal.structured_content or {})
            refusals += bool(is_structured)
    return lists, contexts, refusals


def mcp() -> bool:
    """The official client in both modes over both transports, a hundred calls each."""
    from tenure.compiler.tokens.counting import ExactCounter

    is_kept = True
    for transport, mode in product(("stdio", "http"), ("2026-07-28", "legacy")):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if transport == "stdio":
                make_store(folder)
            lists, contexts, refusals = asyncio.run(mcp_prefixes(folder, transport, mode))

        tokens = ExactCounter().count(max(lists, key=len))
        print(
            f"{transport}, {mode}: in {MCP_CALLS} calls {len(lists)} text of tools/list"
            f" ({tokens:,} o200k tokens), {len(contexts)} of one compile,"
            f" {refusals} refusals as results with a code"
        )
        are_stable = len(lists) == len(contexts) == 1
        is_kept &= are_stable and tokens <= LIST_TOKENS and refusals == MCP_CALLS
    return is_kept


def _needs(name: str, extras: frozenset[str], found: dict[str, Any]) -> None:
    """Collect the distributions that one needs, with some of its extras."""
    distribution = importlib.metadata.distribution(name)
    key = canonicalize_name(name)
    if key in found and not extras:
        return
    found[key] = distribution
    for text in distribution.requires or ():
        requirement = Requirement(text)
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            with suppress(importlib.metadata.PackageNotFoundError):
                _needs(requirement.name, frozenset(requirement.extras), found)


def size() -> bool:
    """What `[server,mcp]` adds to the core: distributions and bytes of their files."""
    core: dict[str, Any] = {}
    whole: dict[str, Any] = {}
    _needs("tenure", frozenset(), core)
    _needs("tenure", frozenset({"server", "mcp"}), whole)
    more = {name: whole[name] for name in whole.keys() - core.keys()}

    total = 0
    for distribution in more.values():
        for file in distribution.files or ():
            path = Path(str(distribution.locate_file(file)))
            if path.is_file() and path.suffix != ".pyc":
                total += path.stat().st_size
    print(f"[server,mcp] adds {len(more)} distributions, {total / 1e6:.1f} MB: {sorted(more)}")
    return len(more) <= 35 and total <= 50e6


def main() -> None:
    """Run the parts that were named, all without a name; the stated figures took 300 seconds."""
    parser = parser_of(__doc__, clients=200, seconds=60.0)
    parser.add_argument("parts", nargs="*", default=["load", "kills", "mcp", "size"])
    options = parser.parse_args()

    def run(part: str, folder: Path) -> bool:
        parts: dict[str, Callable[[], bool]] = {"mcp": mcp, "size": size}
        parts |= {"point": partial(point, folder), "heavy": partial(heavy, folder)}
        if part in parts:
            return parts[part]()
        under_load = {"load": load, "half": half, "kills": kills}[part]
        return under_load(folder, options.clients, options.seconds)

    run_parts(options.parts, run)


if __name__ == "__main__":
    main()
