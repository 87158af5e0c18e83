"""The benchmarks of others, fetched into a folder of their own and never copied into the project.

memvara's source distribution holds the Agent Memory Benchmark with its runner, its scorer and the
adapter of its authors. A wheel of memvara goes into an environment of its own, because it needs a
newer SQLite than most machines have.
"""

from __future__ import annotations

import json
import sys
import tarfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final

from tenure.bench.bench_peers import Unavailable, default_folder, environment, output_of
from tenure.bench.peers.systems import SYSTEMS

MEMVARA: Final = next(system for system in SYSTEMS if system.name == "memvara")
RIVALS: Final = ("memvara", "memvara-anchored", "vector-rag", "naive")
"""Systems of the benchmark's own package, its authors' adapters."""

_RUN: Final = """
import sys
import pysqlite3
sys.modules["sqlite3"] = pysqlite3
sys.path.insert(0, sys.argv[1])
import json
from pathlib import Path
from benchmarks.agent_memory.dataset import load
from benchmarks.agent_memory.registry import build
from benchmarks.agent_memory.runner import run
folder = Path(sys.argv[2])
system = build(sys.argv[3])
result = run(system, load(folder.name, folder.parent))
system.close()
print(json.dumps(result.to_json()))
"""


def agent_memory_source(folder: Path | None = None) -> Path:
    """Download and unpack the source distribution of memvara; return its root.

    Raises:
        Unavailable: when it cannot be downloaded, or has no such benchmark.
    """
    place = (folder or default_folder()) / "sources"
    package = MEMVARA.packages[0]
    root = place / package.replace("==", "-")
    if not root.exists():
        place.mkdir(parents=True, exist_ok=True)
        options = ("--quiet", "--no-deps", "--no-binary", ":all:", "--dest", str(place))
        failure = f"{package} cannot be downloaded; run this where pip reaches an index"
        output_of(failure, sys.executable, "-m", "pip", "download", *options, package)
        with tarfile.open(root.with_name(f"{root.name}.tar.gz")) as packed:
            packed.extractall(place, filter="data")
    if not (root / "benchmarks" / "agent_memory").is_dir():
        raise Unavailable(f"{package} holds no Agent Memory Benchmark")
    return root


def dataset_folders(root: Path, further: Sequence[Path]) -> list[Path]:
    """The data sets of a source distribution, then those that the user names.

    Raises:
        Unavailable: when one that the user names is not complete.
    """
    for name, path in product(("events.jsonl", "questions.jsonl", "metadata.json"), further):
        if not (path / name).is_file():
            raise Unavailable(f"{path} holds no {name}; --data takes a data set's folder")
    event_files = sorted(root.glob("benchmarks/agent_memory/datasets/v*/events.jsonl"))
    folders = {path.parent.name: path.parent for path in event_files}
    folders.update((path.name, path) for path in further)
    return list(folders.values())


def rival_result(root: Path, dataset: Path, system: str, folder: Path | None = None) -> Any:
    """Run a system of the benchmark's own package, and return its result file.

    Raises:
        Unavailable: when it cannot be installed or does not run.
    """
    python = environment(MEMVARA, folder or default_folder())
    command = (python, "-P", "-c", _RUN, root, dataset, system)
    output = output_of(f"{system} does not run", *command, cwd=root)
    return json.loads(output.splitlines()[-1])
