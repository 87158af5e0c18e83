"""The light core does its work where numpy is not installed, and names the extra that brings it.

The choice of edits does by rows what numpy does by arrays: the same choices.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tenure

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
