"""The light core does its work where numpy is not installed, and names the extra that brings it.

The knapsack and the choice of edits do by rows what numpy does by arrays: the same choices.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tenure
from tenure.compiler.budget.items import Item
from tenure.compiler.budget.knapsack import has_numpy, knapsack
from tenure.window.choice import UnitAction, choose, picks_in_numpy, picks_in_python

BLOCKED = """
import sys
from importlib.machinery import PathFinder

class WithoutNumpy(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name == "numpy" else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = WithoutNumpy
"""

WORK = """
import tenure

memory = tenure.connect("team.db")
memory.write("Sam Rivera", "office", "Chicago", valid_from="2026-01-01T00:00:00Z")
memory.observe("I moved to the Boston office in June.", speaker="Ann Lee")
assert memory.as_of().search("chicago").hits
assert "Chicago" in memory.compile("assistant", "Where is Sam Rivera?").text

session = memory.session("s1", task="assistant", window=16_000)
for turn in range(40):
    session.on_turn_start(f"What of case {turn}? " + "It is a long story. " * 60)
    session.on_turn_end(f"Case {turn} is closed. " + "It was a long day. " * 60)
assert session.compact(keep=[])
session.close()

assert "Sam Rivera" in memory.entities.export()
sam, ann = (memory.as_of().entity(name).entity_id for name in ("Sam Rivera", "Ann Lee"))
merged = memory.entities.merge(sam, ann, reason="a test")
memory.entities.unmerge(merged.merge_id, reason="a test")
memory.close()
print("done")
"""


def run(tmp_path: Path, script: str) -> subprocess.CompletedProcess[str]:
    link = {"PYTHONPATH": str(Path(tenure.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-P", "-c", BLOCKED + script],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **link},
        timeout=120,
    )


def test_writing_compiling_and_folding_need_no_numpy(tmp_path: Path) -> None:
    result = run(tmp_path, WORK)

    assert result.stdout == "done\n", result.stderr


@pytest.mark.parametrize(
    ("encoder", "extra"),
    [("'onnx'", "onnx"), ("ToyEncoder()", "vectors")],
    ids=["named", "the caller's own"],
)
def test_an_encoder_names_the_extra_that_brings_numpy(
    tmp_path: Path, encoder: str, extra: str
) -> None:
    script = f"""
import tenure
from tenure.tests.service.toy_encoder import ToyEncoder
try:
    tenure.connect(":memory:", encoder={encoder})
except tenure.Unavailable as error:
    print(error.code, error)
"""
    result = run(tmp_path, script)

    assert result.stdout.startswith("encoder_unavailable"), result.stderr
    assert f"pip install 'tenure[{extra}]'" in result.stdout


@pytest.fixture
def no_numpy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    has_numpy.cache_clear()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "numpy", None)
        assert not has_numpy()
        yield
    has_numpy.cache_clear()


def items_of_a_section() -> list[Item]:
    rng = random.Random(7)
    return [Item(f"i{n}", rng.randrange(20, 400), rng.randrange(1, 50)) for n in range(40)]


def units_of_a_window() -> list[list[UnitAction]]:
    rng = random.Random(8)
    return [
        [UnitAction(key, rng.randrange(4_000), rng.randrange(6)) for key in range(3)]
        for _ in range(40)
    ]


WITH_NUMPY = knapsack(items_of_a_section(), 3_000), choose(units_of_a_window(), 40_000, 64)


@pytest.mark.usefixtures("no_numpy")
def test_what_is_chosen_does_not_depend_on_numpy() -> None:
    choices = knapsack(items_of_a_section(), 3_000), choose(units_of_a_window(), 40_000, 64)

    assert choices == WITH_NUMPY


def test_both_tables_of_edits_hold_the_same_choices() -> None:
    rng = random.Random(9)
    for _ in range(40):
        rows = [[(rng.randrange(9), rng.randrange(4)) for _ in range(3)] for _ in range(12)]
        best = sum(max(cells for cells, _ in row) for row in rows)
        assert picks_in_python(rows, best) == picks_in_numpy(rows, best)


def test_costs_beyond_numpys_integers_are_compared_all_the_same() -> None:
    dear, cheap = UnitAction(0, 64, 2**63), UnitAction(0, 64, 2**62)

    assert choose([[dear], [cheap]], 64, 64) == ((1, 0),)
