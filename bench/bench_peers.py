"""The same work through tenure and the systems next to it, in turns, in one run.

    python bench/bench_peers.py [--facts 1000] [--rounds 3] [--only tenure memvara] [--write-docs]

Each system is installed into an environment of its own, below `~/.cache/tenure/peers` or the
`--environments` folder; one that cannot be had is left out, with pip's reason. A round runs every
system once, in an order that turns, so that a slow hour of the machine is everyone's; figures are
medians over the rounds. All that use SQLite use the one of `pysqlite3-binary`, synced at each
commit. No model runs: systems that need vectors get the hashes of words, graphiti a judge that is
always right.

`--write-docs` puts the table into `docs/comparison.md`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from tenure.bench.peers.systems import CHECKOUT, SYSTEMS, System
from tenure.bench.peers.table import Figure, failures, markdown, rows
from tenure.bench.script import options_of, print_table, write_json

ROOT = Path(__file__).resolve().parents[1]
WORKER = ROOT / "bench" / "peers" / "work.py"
PAGE = ROOT / "docs" / "comparison.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"

_PATHS = ("PYTHONPATH", "PYTHONSAFEPATH")
COMMON = ("pysqlite3-binary", "time-machine")
NOT_SOURCE = ("*.venv", ".venv", ".git", "build", "dist", "tests", "__pycache__", "*.egg-info")


class Unavailable(Exception):
    """A system cannot be installed or started here; the message says why."""


def default_folder() -> Path:
    """Where environments are kept between runs."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "tenure" / "peers"


def environment(system: System, folder: Path) -> Path:
    """Install a system into its own environment; return that environment's Python.

    Raises:
        Unavailable: when pip cannot install it.
    """
    place = folder / system.name
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)

    packages = [package for package in system.packages if package != CHECKOUT]
    _install(python, [*packages, *COMMON])
    if CHECKOUT in system.packages:
        # A copy, because building a wheel leaves its folder in the source.
        with tempfile.TemporaryDirectory() as copy:
            source = Path(copy) / "source"
            shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*NOT_SOURCE))
            _install(python, [str(source)])
            _install(python, ["--force-reinstall", "--no-deps", str(source)])
    return python


def _install(python: Path, packages: Sequence[str]) -> None:
    options = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    output_of(f"pip cannot install {', '.join(packages)}", python, *options, *packages)


def output_of(failure: str, *command: str | Path, **options: Any) -> str:
    """What a command writes.

    Raises:
        Unavailable: when it fails, with the last line of its errors behind `failure`.
    """
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["it wrote nothing"]
        raise Unavailable(f"{failure}: {lines[-1]}")
    return str(done.stdout)


def version(system: System, python: Path) -> str:
    """The installed version of a system."""
    if not system.distribution:
        return ""
    code = f"from importlib.metadata import version; print(version({system.distribution!r}))"
    return subprocess.check_output([python, "-P", "-c", code], text=True).strip()


def measure(system: System, python: Path, facts: int) -> dict[str, Figure]:
    """Run a system's tasks once.

    Raises:
        Unavailable: when it does not start, with the last line that it wrote.
    """
    count = min(facts, system.fact_limit or facts)
    command = (python, WORKER, system.name, "--facts", str(count))
    # The worker's own folder must be importable, and of tenure the copy that was installed for it.
    environment = {name: text for name, text in os.environ.items() if name not in _PATHS}
    with tempfile.TemporaryDirectory() as work:
        output = output_of("it does not run", *command, cwd=work, env=environment)
    return dict(json.loads(output.splitlines()[-1]))


def in_turns(
    systems: Sequence[System], rounds: int, facts: int, folder: Path, console: Console
) -> tuple[dict[str, list[dict[str, Figure]]], dict[str, str], dict[str, str]]:
    """Measure every system once a round; return figures, versions and what is missing, by name."""
    pythons: dict[str, Path] = {}
    versions: dict[str, str] = {}
    missing: dict[str, str] = {}
    for system in systems:
        try:
            pythons[system.name] = environment(system, folder)
            versions[system.name] = version(system, pythons[system.name])
        except Unavailable as reason:
            missing[system.name] = str(reason)

    figures: dict[str, list[dict[str, Figure]]] = defaultdict(list)
    for number in range(rounds):
        turn = number % len(systems)
        for system in (*systems[turn:], *systems[:turn]):
            over = system.fact_limit is not None and number > 0
            if system.name in missing or over:
                continue

            console.log(f"round {number + 1} of {rounds}: {system.name}")
            try:
                figures[system.name].append(measure(system, pythons[system.name], facts))
            except Unavailable as reason:
                missing[system.name] = str(reason)

    # In the order of the table, whoever's turn it was first.
    ordered = {s.name: figures[s.name] for s in systems if s.name not in missing}
    return ordered, versions, missing


def write_page(section: str) -> None:
    """Put the figures between their marks in the documentation."""
    text = PAGE.read_text()
    block = f"{BEGIN}\n{section}\n{END}"
    PAGE.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: block, text, flags=re.DOTALL))


def page_section(
    header: Sequence[str], body: Sequence[Sequence[str]], notes: Sequence[str], title: str
) -> str:
    """What stands between the marks: when and how, the table, the notes."""
    listed = "\n".join(f"- {note}" for note in notes)
    return f"\n{title}\n\n{markdown(header, body)}\n\n{listed}\n".rstrip() + "\n"


def main() -> int:
    options = options_of(
        __doc__,
        facts=1000,
        rounds=3,
        only=[],
        environments=default_folder(),
        json=Path,
        write_docs=False,
    )

    console = Console()
    systems = [s for s in SYSTEMS if not options.only or s.name in options.only]
    load = os.getloadavg()[0]
    figures, versions, missing = in_turns(
        systems, options.rounds, options.facts, options.environments, console
    )

    titles = [f"{name} {versions[name]}".strip() for name in figures]
    body = rows(figures)
    body += beside([s for s in systems if s.name in figures])
    notes = remarks(systems, figures, missing, options.facts)

    print_table("", *titles, rows=body)
    for note in notes:
        console.print(f"- {note}")

    write_json(options.json, figures)
    if options.write_docs:
        day = datetime.now(UTC).date().isoformat()
        title = (
            f"{day}, {options.facts:,} facts, median of {options.rounds} rounds in turns,"
            f" Python {sys.version_info.major}.{sys.version_info.minor},"
            f" {os.cpu_count()} cores, load {load:.1f} at the start"
            f" and {os.getloadavg()[0]:.1f} at the end:"
        )
        write_page(page_section(["", *titles], body, notes, title))
    return 0


def beside(systems: Sequence[System]) -> list[tuple[str, ...]]:
    """The lines that say in words what each system does beside the write."""
    return [
        ("who is who", *(system.resolution for system in systems)),
        ("durability", *(system.durability for system in systems)),
        ("history", *(system.history for system in systems)),
    ]


def remarks(
    systems: Sequence[System],
    figures: dict[str, list[dict[str, Figure]]],
    missing: dict[str, str],
    facts: int,
) -> list[str]:
    """What a reader of the table must know beside it."""
    notes = [f"{name} is left out: {reason}" for name, reason in missing.items()]
    notes += [
        f"{system.name} was given {system.fact_limit} facts in one round: more would take it hours"
        for system in systems
        if system.fact_limit and system.fact_limit < facts and system.name in figures
    ]
    return notes + failures(figures)


if __name__ == "__main__":
    raise SystemExit(main())
