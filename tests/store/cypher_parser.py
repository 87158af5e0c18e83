"""Neo4j's own grammar, asked through Node without a server.

The package is installed once into the cache folder, never into the checkout. All statements of a
version go through one process, because its start costs more than a statement; the versions are
asked at once. The grammar finds syntax errors, undefined variables and deprecations; plans and
types only a server knows.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path

from tenure.tests.fetched import FetchFailed, fetched_folder, run_fetcher
from tenure.tests.store.cypher_lint import Problem, parameters_of

PACKAGE = "@neo4j-cypher/language-support"
VERSION = "2.0.0-next.38"
LANGUAGES = ("5", "25")
INSTALL_TIMEOUT_S = 180.0
SECONDS_A_STATEMENT = 5.0
OLDEST_NODE = 20

PROGRAM = """
const { lintCypherQuery } = require(process.argv[1]);
const questions = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = questions.map(({ text, parameters }) =>
  lintCypherQuery(text, { parameters }).diagnostics.map((found) => ({
    severity: found.severity, message: found.message, line: found.range.start.line + 1 })));
process.stdout.write(JSON.stringify(answers));
"""


class NoParser(Exception):
    """The parser cannot be had here, for the reason in the message."""


def parser_folder(*, root: Path | None = None) -> Path:
    """Return the folder of the installed package.

    Raises:
        NoParser: Node is missing or too old, or the package cannot be fetched.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise NoParser("`node` and `npm` are not installed")
    version = subprocess.run(
        [node, "--version"], capture_output=True, text=True, timeout=30, check=True
    ).stdout.strip()
    if int(version.lstrip("v").split(".")[0]) < OLDEST_NODE:
        raise NoParser(f"Node {OLDEST_NODE} or newer is needed; found {version}")

    def fill(folder: Path) -> None:
        quiet = ("--no-audit", "--no-fund", "--ignore-scripts", "--no-save")
        command = [npm, "install", *quiet, "--prefix", str(folder), f"{PACKAGE}@{VERSION}"]
        run_fetcher(command, cwd=folder, timeout_s=INSTALL_TIMEOUT_S)

    try:
        return fetched_folder(f"cypher-parser-{VERSION}", fill, _is_whole, root=root)
    except FetchFailed as failed:
        raise NoParser(str(failed)) from failed


def _is_whole(folder: Path) -> bool:
    manifest = _package(folder) / "package.json"
    if not manifest.is_file():
        return False
    return bool(json.loads(manifest.read_text())["version"] == VERSION)


def _package(folder: Path) -> Path:
    return folder / "node_modules" / PACKAGE


def parse_problems(
    statements: Mapping[str, str], *, languages: Mapping[str, tuple[str, ...]] | None = None
) -> tuple[Problem, ...]:
    """Return what the grammar objects to, warnings included.

    `languages` names the statements that are written for fewer versions of Cypher than all.

    Raises:
        NoParser: there is no parser on this machine.
    """
    folder = parser_folder()
    written_for = languages or {}
    versions = {*LANGUAGES, *chain.from_iterable(written_for.values())}

    def problems_in(version: str) -> list[Problem]:
        texts = {n: t for n, t in statements.items() if version in written_for.get(n, LANGUAGES)}
        return _problems_of(folder, version, texts)

    with ThreadPoolExecutor(len(versions)) as pool:
        return tuple(chain.from_iterable(pool.map(problems_in, sorted(versions))))


def _problems_of(folder: Path, version: str, statements: Mapping[str, str]) -> list[Problem]:
    """Return what the grammar of one version objects to."""
    questions = [
        {"text": f"CYPHER {version} {text}", "parameters": dict.fromkeys(parameters_of(text), "")}
        for text in statements.values()
    ]
    run = subprocess.run(
        ["node", "-e", PROGRAM, str(_package(folder))],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
        timeout=60.0 + SECONDS_A_STATEMENT * len(questions),
        check=True,
    )
    return [
        Problem(f"{name} in Cypher {version}, line {found['line']}", found["message"])
        for name, answer in zip(statements, json.loads(run.stdout), strict=True)
        for found in answer
    ]
