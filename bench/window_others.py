"""The compactions of other libraries, replayed as they are, each in an environment of its own.

A worker of `bench/peers` runs the library and tells every request that it would send; here the
request is counted, checked and asked, and summaries are written by the one summariser. What cannot
be installed or does not run is not measured, and the reason stands in the place of the figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import venv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from tenure.bench.summary_script import CHARACTERS, Saying
from tenure.bench.window_data import MODEL, OUTPUT_PERMILLE, Chain, Tally
from tenure.bench.window_policies import Summariser
from tenure.bench.window_replay import limit_of
from tenure.compiler.tokens.counting import counter_for
from tenure.window.checkers import FAULTS
from tenure.window.state import FRAMING

PEERS = Path(__file__).resolve().parent / "peers"


class Library(NamedTuple):
    """A library whose compaction is compared."""

    requirement: str
    distribution: str
    worker: str
    target: str
    """The provider whose requests it makes."""


LIBRARIES: Mapping[str, Library] = {
    "langchain": Library("langchain==1.4.7", "langchain", "langchain_window_peer.py", "openai"),
    "adk": Library("google-adk==2.13.0", "google-adk", "adk_window_peer.py", "gemini"),
}
TEXTRANK = Library("summa==1.2.0", "summa", "textrank_window_peer.py", "")


class Unavailable(Exception):
    """A library cannot be installed or does not run here; the message says why."""


class Other:
    """A library's compaction, ready for one replay after another."""

    def __init__(self, worker: Worker, target: str, window: int, summarise: Summariser) -> None:
        self.worker, self.target, self.summarise = worker, target, summarise
        self.limit = limit_of(window)

    def replayed(self, chain: Chain, scale: float) -> Tally:
        """Replay a chain with a trigger at a part of the limit."""
        self.worker.write([chain.messages, int(scale * self.limit)])
        tally, text, turn = Tally(), "", 0
        edited = False
        while "end" not in (line := self.worker.line()):
            if "summarise" in line:
                sayings = [Saying(speaker, said) for speaker, said in line["summarise"]]
                self.worker.write(self._summary(tally, sayings))
                edited = True
                continue

            before, text = text, "\n".join(line["request"])
            tokens = tokens_of(line["request"])
            tally.sent(text, before, tokens)
            tally.over += tokens > self.limit
            tally.checked += 1
            tally.faults += FAULTS[self.target](line["messages"]) is not None
            tally.rendered(self.target, line["messages"], edited=edited)
            edited = False
            self.worker.write(tokens)
            if line["opens_turn"]:
                turn += 1
                for question, age in chain.due.get(turn, ()):
                    tally.reachable += tally.ask(question, age, text)
                for value in chain.overtaken.get(turn, ()):
                    tally.stale += value in text

        for question in chain.questions:
            tally.reachable += tally.ask(question, "end", text)
        return tally

    def _summary(self, tally: Tally, sayings: Sequence[Saying]) -> str:
        text = self.summarise(sayings)
        tally.edits += 1
        read, written = tokens_of([saying.text for saying in sayings]), tokens_of([text])
        tally.summariser += 1000 * read + OUTPUT_PERMILLE * written
        tally.summariser_tokens += read + written
        return text


class Worker:
    """A process that is talked with in lines of JSON."""

    def __init__(self, process: Popen[str], errors: IO[str]) -> None:
        self.process, self.errors = process, errors

    def write(self, value: Any) -> None:
        """Say something.

        Raises:
            Unavailable: when nobody listens any more.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(value) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise self._failure() from error

    def line(self) -> Any:
        """What is said next.

        Raises:
            Unavailable: when nothing comes any more.
        """
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise self._failure()
        return json.loads(line)

    def _failure(self) -> Unavailable:
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines() or ["it wrote nothing"]
        return Unavailable(f"it does not run: {lines[-1]}")


@contextmanager
def other(name: str, window: int, summarise: Summariser) -> Iterator[Other]:
    """A library's compaction, until the block ends.

    Raises:
        Unavailable: when the library cannot be installed.
    """
    library = LIBRARIES[name]
    with running(library) as worker:
        yield Other(worker, library.target, window, summarise)


@contextmanager
def textrank() -> Iterator[Summariser]:
    """A summariser of others: TextRank, as `summa` has it, in as many characters as the script.

    Raises:
        Unavailable: when it cannot be installed.
    """
    with running(TEXTRANK) as worker:

        def summarise(sayings: Iterable[Saying]) -> str:
            worker.write([CHARACTERS, [saying.text for saying in sayings]])
            return str(worker.line())

        yield summarise


@contextmanager
def running(library: Library) -> Iterator[Worker]:
    """A worker in the environment of its library, until the block ends.

    Raises:
        Unavailable: when the library cannot be installed.
    """
    command = [str(environment(library)), str(PEERS / library.worker)]
    ways = {**os.environ, "PYTHONPATH": str(PEERS)}
    with (
        TemporaryFile("w+") as errors,
        Popen(command, stdin=PIPE, stdout=PIPE, stderr=errors, text=True, env=ways) as process,
    ):
        yield Worker(process, errors)


def tokens_of(texts: Sequence[str]) -> int:
    """Upper bound of texts, each with the framing of a part."""
    return sum(_tokens(text) for text in texts)


@lru_cache(maxsize=8_192)
def _tokens(text: str) -> int:
    return counter_for(MODEL).upper_bound(text) + FRAMING


def environment(library: Library) -> Path:
    """Install a library into its own environment, once; return that environment's Python.

    Raises:
        Unavailable: when pip cannot install it.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = cache / "tenure" / "window" / library.requirement
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    installation = subprocess.run([*command, library.requirement], capture_output=True, text=True)
    if installation.returncode:
        lines = installation.stderr.strip().splitlines() or ["pip said nothing"]
        raise Unavailable(f"pip cannot install {library.requirement}: {lines[-1]}")
    return python
