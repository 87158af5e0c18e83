"""The same bytes again: in any order of input, in any process, and after any later write."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, connect
from tenure.compiler.envelope.envelope import Envelope
from tenure.schema.errors import ContextBudgetExhausted
from tenure.tests import random_requests
from tenure.tests.support.sampling import size

SET_LIKE = ("evidence", "tools", "skills", "pinned", "entities")

PROGRAM = """
import json, random, sys
from tenure import connect
from tenure.tests import random_requests
with connect(sys.argv[1]) as memory:
    for line in sys.stdin:
        asked = json.loads(line)
        given = random_requests.random_request(random.Random(asked.pop("seed")))
        print(memory.compile(**given, **asked).digest)
"""


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[tuple[Path, Memory]]:
    path = tmp_path / "memory.db"
    with connect(str(path)) as memory:
        random_requests.fill(memory, random.Random(5), 150)
        yield path, memory


def compiled(memory: Memory, seed: int, **pins: Any) -> Envelope | None:
    """Return the envelope of a random request, None when its required part fits no budget."""
    try:
        return memory.compile(**random_requests.random_request(random.Random(seed)), **pins)
    except ContextBudgetExhausted:
        return None


def pins_of(memory: Memory) -> dict[str, str]:
    """Return the point of now, as a caller states it."""
    point = memory.as_of()
    return {"valid": point.valid.isoformat(), "tx": point.tx.isoformat()}


@pytest.mark.parametrize(
    ("hash_seed", "zone", "locale"),
    [("0", "UTC", "C"), ("1", "Pacific/Auckland", "C.UTF-8"), ("4294967295", "Asia/Kolkata", "C")],
)
def test_another_process_gives_the_same_bytes(
    filled: tuple[Path, Memory], hash_seed: str, zone: str, locale: str
) -> None:
    path, memory = filled
    pins = pins_of(memory)
    here = {seed: compiled(memory, seed, **pins) for seed in range(24)}
    asked = [{"seed": seed, **pins} for seed, envelope in here.items() if envelope is not None]
    assert len(asked) >= 12
    said = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(path)],
        input="\n".join(map(json.dumps, asked)),
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "LC_ALL": locale},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout.split() == [e.digest for e in here.values() if e is not None]


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_set_like_inputs_changes_no_byte(
    filled: tuple[Path, Memory], seed: int
) -> None:
    _, memory = filled
    chance = random.Random(seed)
    given = random_requests.random_request(chance)
    given |= {"budget_tokens": 6_000, "entities": ["Sam Rivera", "Zoë", "Omar el-Sayed"]}
    given |= {"tools": [{"name": n} for n in ("search", "mail", "Änder")]}
    given |= pins_of(memory)
    first = memory.compile(**given)
    shuffled = {name: chance.sample(given[name], len(given[name])) for name in SET_LIKE}
    again = memory.compile(**{**given, **shuffled})
    assert again.envelope_id == first.envelope_id
    assert again.text == first.text


def replay_after_writes(memory: Memory, *, requests: int, writes: int) -> None:
    """Compile so many random requests, write on, and compare every replay."""
    made: list[Envelope] = []
    seed = 0
    while len(made) < requests:
        envelope = compiled(memory, seed)
        made += [] if envelope is None else [envelope]
        seed += 1
    chance, taken = random.Random(77), 0
    while taken < writes:
        taken += random_requests.fill(memory, chance, writes - taken)
    for envelope in made:
        again = memory.replay(envelope.manifest.to_json())
        assert again.digest == envelope.digest == again.manifest.digest
        assert again.envelope_id == envelope.envelope_id
        assert memory.replay(envelope.envelope_id).digest == envelope.digest


def test_later_writes_change_no_replay(filled: tuple[Path, Memory]) -> None:
    replay_after_writes(filled[1], requests=15, writes=60)


@pytest.mark.slow
def test_many_later_writes_change_none_of_many_replays(
    filled: tuple[Path, Memory],
) -> None:
    replay_after_writes(filled[1], requests=size(50, 1_000), writes=size(100, 1_000))
