"""What an installation takes and how soon it answers: one table, to be run on a calm machine.

    python -P bench/bench_sizes.py [--heavy | --core] [EXTRA ...]

The wheel of this checkout is built and installed into environments of their own; their size is that
over an empty environment. Start-up is the CPU time of a fresh process, the median of `ROUNDS`:
other work on the machine moves the clock, and that hardly. With names of extras these alone are
measured, and nothing is started; with `--core` no extra is measured.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from statistics import median

from tenure.bench.script import parser_of

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {"sentence-transformers"}
"""Extras that bring gigabytes: measured with `--heavy` alone."""
TOOLS = {"dev", "docker-tests"}
"""Extras of those who work on tenure."""
ROUNDS = 7
COMPILE = "memory.compile('assistant', 'Where is Sam Rivera?')"
STEPS = {
    "python -c pass": ["-c", "pass"],
    "tenure --version": ["-m", "tenure", "--version"],
    "tenure get": ["-m", "tenure", "--store", "s.db", "get", "Sam Rivera", "office"],
    "connect": ["-c", "import tenure; tenure.connect('s.db').close()"],
    "connect and compile": ["-c", f"import tenure; memory = tenure.connect('s.db'); {COMPILE}"],
}


def run(*command: str, folder: Path) -> None:
    """Run a command without its output."""
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def size_of(folder: Path) -> int:
    """The bytes of the files of a folder, each file once."""
    files = {entry.stat().st_ino: entry.stat().st_size for entry in folder.rglob("*")
             if entry.is_file() and not entry.is_symlink()}  # fmt: skip
    return sum(files.values())


def environment(folder: Path, *requirement: str) -> Path:
    """Make an environment that holds what is wanted, compiled to bytecode as pip does."""
    uv = str(Path(sys.executable).parent / "uv")
    run(uv, "venv", "--python", sys.executable, str(folder), folder=folder.parent)
    python = folder / "bin" / "python"
    if requirement:
        install = [uv, "pip", "install", "--compile-bytecode", "--link-mode", "copy"]
        run(*install, "--python", str(python), *requirement, folder=folder.parent)
    return python


def cpu_ms(python: Path, arguments: list[str], folder: Path) -> float:
    """The CPU time of a fresh process in milliseconds, the median of several."""
    spent: list[float] = []
    for _ in range(ROUNDS):
        before = os.times()
        run(str(python), "-P", *arguments, folder=folder)
        after = os.times()
        children = after.children_user - before.children_user
        spent.append((children + after.children_system - before.children_system) * 1000)
    return median(spent)


def extras(*, heavy: bool) -> list[str]:
    """The extras of `pyproject.toml` by name, after none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    left_out = TOOLS if heavy else TOOLS | HEAVY
    return ["", *sorted(set(project["optional-dependencies"]) - left_out)]


def main() -> None:
    """Print both tables."""
    parser = parser_of(__doc__, core=False, heavy=False)
    parser.add_argument("extras", nargs="*", help="these alone, and nothing is started")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="tenure-sizes-") as name:
        folder = Path(name)
        uv = str(Path(sys.executable).parent / "uv")
        run(uv, "build", "--wheel", "--out-dir", str(folder), str(ROOT), folder=folder)
        (wheel,) = folder.glob("*.whl")
        environment(folder / "empty")
        empty = size_of(folder / "empty")

        print("| pip install | MB over an empty environment |\n|---|---|")
        every = [""] if options.core else extras(heavy=options.heavy)
        for extra in options.extras or every:
            requirement = f"tenure[{extra}]" if extra else "tenure"
            target = folder / (extra or "core")
            environment(target, f"{requirement} @ {wheel.as_uri()}")
            print(f"| `{requirement}` | {(size_of(target) - empty) / 1e6:.0f} |", flush=True)
            if extra:
                shutil.rmtree(target)
        if options.extras:
            return

        python = folder / "core" / "bin" / "python"
        write = "import tenure; tenure.connect('s.db').write('Sam Rivera', 'office', 'Chicago')"
        run(str(python), "-P", "-c", write, folder=folder)
        print("\n| a fresh process | CPU ms |\n|---|---|")
        for label, arguments in STEPS.items():
            print(f"| `{label}` | {cpu_ms(python, arguments, folder):.0f} |", flush=True)


if __name__ == "__main__":
    main()
