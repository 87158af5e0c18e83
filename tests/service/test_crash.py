"""kill -9 in the middle of concurrent writes: nothing acknowledged is lost, nothing is torn."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tenure import Memory, connect
from tenure.schema.artifact import Artifact
from tenure.tests.support.sampling import size

WRITER = Path(__file__).with_name("crash_writer.py")
ARTIFACT_WRITER = Path(__file__).with_name("artifact_writer.py")
ROUNDS = size(6, 30)


def run_and_kill(store: Path, first: int, seconds: float, writer: Path = WRITER) -> set[str]:
    """Let writers run, kill them without warning, and return what they acknowledged."""
    process = subprocess.Popen(
        [sys.executable, str(writer), str(store), str(first)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    seen = [process.stdout.readline()]
    time.sleep(seconds)
    process.kill()
    rest, _ = process.communicate()
    whole = "".join([*seen, rest]).split("\n")[:-1]
    return {"-".join(line.split()) for line in whole if len(line.split()) == 2}


@pytest.mark.slow
def test_kills_lose_no_acknowledged_write(tmp_path: Path) -> None:
    store, chance = tmp_path / "crash.db", random.Random(7)
    acknowledged: set[str] = set()
    for number in range(ROUNDS):
        acknowledged |= run_and_kill(store, number * 100_000, chance.uniform(0.05, 0.6))
        with connect(str(store)) as memory:
            assert memory.doctor() == ()
            view = memory.as_of()
            held = {
                value
                for person in range(4)
                for value in view.slot(f"Person {person}", "skill").values
            }
        missing = acknowledged - held
        assert not missing
    assert len(acknowledged) > ROUNDS


@pytest.mark.slow
def test_kills_lose_no_acknowledged_artifact(tmp_path: Path) -> None:
    store, chance = tmp_path / "crash.db", random.Random(7)
    acknowledged: set[str] = set()
    for number in range(ROUNDS):
        seconds = chance.uniform(0.02, 0.3)
        acknowledged |= run_and_kill(store, number * 100_000, seconds, ARTIFACT_WRITER)

        with connect(str(store)) as memory:
            assert memory.doctor() == ()
            grants = {f"{artifact.address}-{artifact.name}" for artifact in every_grant(memory)}
            assert not acknowledged - grants
            # Whoever finds a grant finds the bytes, also of a put that was cut off.
            for address in {grant.partition("-")[0] for grant in grants}:
                assert memory.artifacts.text(address)
    assert len(acknowledged) > ROUNDS


def every_grant(memory: Memory) -> tuple[Artifact, ...]:
    """The grants on disk; a list of artifacts has one of each address."""
    files = memory._backend.artifacts
    assert files is not None
    return files.every(memory.principal.tenant)
