"""What a long session costs: the time of its hooks, requests and opening, and its bytes on disk.

The airline runs of `bench_window.py` are chained and replayed through a session of a file that
holds 10,000 other objects, a compile and a rendered request before each answer of the model. Each
hook is timed by the clock, which includes the durable append, and by the processor of its thread,
which does not; hooks that made an edit are told apart. "full request" is a compile and its request
of the window as it stands at the end: its growth from one length to the other is what counts. A
bare append is what the disk takes for one row that is as durable. Artifacts, which no hook puts,
are put as they are and with each of their files synced by itself, and the syncs are counted. At
each mark the rows of the session's log, its snapshots and their indexes are weighed against the
UTF-8 bytes that were said: texts, names, ids and arguments.

Run: `python bench/bench_window_life.py [--turns 200 2000] [--window 350000] [--objects 10000]`.
Reads the folder `TENURE_SHARED` (by default `shared` beside the checkout).
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

from tenure import Memory, connect
from tenure.bench.bench_compile import writes
from tenure.bench.bench_resolve import stock
from tenure.bench.script import options_of
from tenure.bench.window_measure import MODEL
from tenure.bench.window_runs import service_runs
from tenure.service.sessions.results import ToolAnswer, Utterance, transcript_steps
from tenure.service.sessions.session import Session
from tenure.store.transfer import artifact_files
from tenure.store.transfer.whole_file import whole_file, whole_files
from tenure.window.intake import message_parts
from tenure.window.units import MessagePart

MARKS = (100, 500, 1_000, 2_000)
"""Turns after which the log is weighed."""
OPENINGS = 20
ARTIFACTS = 200
ARTIFACT_TEXT = "a line of a log that a tool wrote\n" * 600
REQUESTS = 40
"""Made of the window as it stands at the end."""
LOG_PAGES = "SELECT sum(pgsize) FROM dbstat WHERE name GLOB '*session_*'"
MANIFESTS = "SELECT count(*), avg(length(body)), max(length(body)) FROM manifest"


class HookTimes:
    """What hooks took, by name: seconds on the clock, and seconds of the processor alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[tuple[float, float]]] = {}
        self.syncs: dict[str, int] = {}
        """Of the file system, by name, where they are counted."""

    def measured(self, name: str, call: Callable[[], object], session: Session | None) -> None:
        """Run a call; an edit in it is rare, has a bar of its own, and is told apart."""
        edits = session.state.edits if session else 0
        clock, processor = time.perf_counter(), time.thread_time()
        call()
        sample = (time.perf_counter() - clock, time.thread_time() - processor)
        if session and session.state.edits > edits:
            name = "edit"
        self.seconds.setdefault(name, []).append(sample)

    def table(self) -> Iterator[str]:
        """One line a name, in milliseconds."""
        for name, samples in self.seconds.items():
            columns: list[str] = []
            for unit, values in zip(("clock", "cpu"), zip(*samples, strict=True), strict=True):
                ordered = sorted(1000 * value for value in values)
                p50, p99 = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
                columns.append(f"{unit} p50 {p50:7.1f} ms p99 {p99:7.1f} ms")
            if name in self.syncs:
                columns.append(f"syncs {self.syncs[name] / len(samples):.1f}")
            yield f"{name:16} {'   '.join(columns)}   n {len(samples)}"

    def above(self, floor: str) -> Iterator[str]:
        """By how much each durable hook is above the least that a durable row takes."""
        for name in self.seconds:
            if name.startswith("on_"):
                p50 = self.clock(name, 500) - self.clock(floor, 500)
                p99 = self.clock(name, 990) - self.clock(floor, 990)
                yield f"{name:16} above a {floor}: p50 {p50:+.1f} ms p99 {p99:+.1f} ms"

    def clock(self, name: str, permille: int) -> float:
        """A quantile of what calls took on the clock, in milliseconds."""
        ordered = sorted(1000 * clock for clock, _ in self.seconds[name])
        return ordered[len(ordered) * permille // 1000]


class Talk:
    """The airline runs in one session, event by event."""

    def __init__(self, memory: Memory, window: int, times: HookTimes) -> None:
        runs = [*service_runs(held_out=False), *service_runs(held_out=True)]
        messages = [message for run in runs for message in run.messages]
        self.steps = itertools.cycle(transcript_steps(messages))
        self.session = memory.session("airline", model=MODEL, window=window)
        self.times = times
        self.said = 0
        """UTF-8 bytes so far."""

    def go_on(self) -> None:
        """Hand the next event of the runs to its hook."""
        step = next(self.steps)
        if isinstance(step, ToolAnswer):
            self._answer(step)
        elif step.role == "user":
            self._ask(step)
        else:
            self.times.measured("compile", self.request, self.session)
            self._count(*message_parts(step.message, "assistant"))
            self._time("on_step", step.message)

    def _answer(self, step: ToolAnswer) -> None:
        self.said += len(str(step.content).encode()) + len(step.call_id)
        self._time("on_tool_result", step.call_id, step.content)

    def _ask(self, step: Utterance) -> None:
        if self.session.state.in_turn:
            self._time("on_turn_end")
        self._count(*message_parts(step.message, "user"))
        self._time("on_turn_start", step.message)

    def _time(self, hook: str, *arguments: object) -> None:
        self.times.measured(hook, partial(getattr(self.session, hook), *arguments), self.session)

    def request(self) -> None:
        self.session.compile().render("anthropic")

    def _count(self, *parts: MessagePart) -> None:
        for part in parts:
            self.said += len(f"{part.text}{part.name}{part.call_id}".encode())


def filled(path: Path, objects: int) -> None:
    """Write so many objects of others into a file."""
    with connect(str(path)) as memory:
        stock(memory, [f"Person {who}" for who in range(-(-objects // 5))], type="person")
        memory.write_many(list(writes(objects)))


def bare_appends(folder: str, times: HookTimes, rows: int = 300) -> None:
    """Time the least that a durable event costs on this disk: one row and its commit."""
    with closing(sqlite3.connect(f"{folder}/bare.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE line (text TEXT)")
        insert = "INSERT INTO line VALUES (?)"
        for _ in range(rows):
            times.measured("bare append", partial(db.execute, insert, ("word " * 60,)), None)


def artifact_puts(folder: str, times: HookTimes) -> None:
    """Time artifacts put, as they are and with each file synced by itself."""
    ways = {"artifact put": whole_files, "put, files apart": apart}
    with connect(f"{folder}/originals.db") as memory:
        memory.artifacts.put(ARTIFACT_TEXT)
        for number in range(ARTIFACTS):
            for name, write in ways.items():
                text = f"{name} {number} {ARTIFACT_TEXT}"
                with patch.object(artifact_files, "whole_files", write), counted_syncs(times, name):
                    times.measured(name, partial(memory.artifacts.put, text), None)


def apart(contents: Mapping[Path, bytes]) -> None:
    """Write files, each synced with the names of its folder before the next is begun."""
    for path, data in contents.items():
        with whole_file(path) as file:
            file.write(data)


@contextmanager
def counted_syncs(times: HookTimes, name: str) -> Iterator[None]:
    """Count what is synced until the block ends."""
    with patch.object(os, "fsync", wraps=os.fsync) as sync:
        yield
    times.syncs[name] = times.syncs.get(name, 0) + sync.call_count


def log_bytes(path: Path) -> int:
    """What the log, its snapshots and their indexes take of a file."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        size: int = db.execute(LOG_PAGES).fetchone()[0]
    return size


def measured(turns: int, window: int, objects: int) -> None:
    """Print what a session of so many turns takes."""
    times = HookTimes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        filled(path, objects)
        bare_appends(folder, times)
        artifact_puts(folder, times)

        ratios: dict[int, float] = {}
        with connect(str(path)) as memory:
            talk = Talk(memory, window, times)
            while talk.session.state.turn < turns:
                talk.go_on()
                turn = talk.session.state.turn
                if turn in MARKS and turn not in ratios:
                    ratios[turn] = log_bytes(path) / talk.said
            # Requests of one state: the table's compile takes in how the window filled.
            while talk.session.state.open_units:
                talk.go_on()
            for _ in range(REQUESTS):
                times.measured("full request", talk.request, None)
            state = talk.session.state

        with connect(str(path)) as memory:
            for _ in range(OPENINGS):
                times.measured("open", partial(memory.session, "airline"), None)
        with closing(sqlite3.connect(path)) as db:
            count, mean, largest = db.execute(MANIFESTS).fetchone()

    print(f"\n{turns} turns, {state.seq} events, {state.tokens} live tokens, {state.edits} edits")
    print("\n".join([*times.table(), *times.above("bare append")]))
    weights = ", ".join(f"{ratio:.2f} at turn {turn}" for turn, ratio in ratios.items())
    print(f"log on disk by the bytes said: {weights}")
    share = count * mean / talk.said
    print(
        f"{count} manifests, {mean:.0f} bytes on average, {largest} at most, {share:.2f} by the "
        f"bytes said, {talk.said / state.turn:.0f} said a turn",
        flush=True,
    )


def main() -> None:
    """Measure sessions of rising length."""
    arguments = options_of(__doc__, turns=[200, 2_000], window=350_000, objects=10_000)
    for count in arguments.turns:
        measured(count, arguments.window, arguments.objects)


if __name__ == "__main__":
    main()
