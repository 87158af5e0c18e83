"""Rows of the checklist drawn by chance: do a row's tests turn red when its code is wrong?

    python -P tests/mutants.py [--rows 30] [--seed 1] [--tries 4]

A function that a row of `docs/coverage.md` names is changed in one place: a comparison is turned
around, a condition negated, an answer lost, or a number is one more. The tests of the row run over
it in a process of their own, until one change turns them red; no file is touched. Listed are the
rows that stayed green, with what was tried: a change may mean nothing, or nothing of that row.
`tests/test_mutations.py` holds the mutants that somebody chose.
"""

import argparse
import ast
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest

from tenure.tests.test_coverage_page import REFERENCE, rows

ROOT = Path(__file__).resolve().parent.parent
OPPOSITES = {
    ast.Eq: ast.NotEq,
    ast.Lt: ast.GtE,
    ast.Gt: ast.LtE,
    ast.In: ast.NotIn,
    ast.Is: ast.IsNot,
    ast.NotEq: ast.Eq,
    ast.GtE: ast.Lt,
    ast.LtE: ast.Gt,
    ast.NotIn: ast.In,
    ast.IsNot: ast.Is,
}


def change(node: ast.AST) -> bool:
    """Make a node wrong in its place; whether that could be done."""
    match node:
        case ast.Compare(ops=[operator]):
            node.ops = [OPPOSITES[type(operator)]()]
        case ast.If() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.Return(value=ast.expr()):
            node.value = ast.Constant(None)
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            node.value = number + 1
        case _:
            return False
    return True


def mutants(source: str, name: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Texts of a module in which a function or class is wrong in one place, and what was there."""
    nodes = list(ast.walk(ast.parse(source)))
    owners = [node for node in nodes if getattr(node, "name", None) == name]
    bodies = [one for owner in owners for one in ast.walk(owner)]
    functions = [one for one in bodies if isinstance(one, ast.FunctionDef)]
    inside = {part for one in functions for line in one.body for part in ast.walk(line)}
    numbers = [number for number, node in enumerate(nodes) if node in inside]
    for number in chance.sample(numbers, len(numbers)):
        tree = ast.parse(source)
        node = list(ast.walk(tree))[number]
        was = f"line {getattr(node, 'lineno', 0)}: {ast.unparse(node).partition(chr(10))[0]}"
        if change(node):
            yield ast.unparse(ast.fix_missing_locations(tree)), was


def run(path: str, mutant: str, tests: list[str]) -> int:
    """Run tests with the text of a file in place of a module, in this process."""
    read = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        if loader.path != str(ROOT / path):
            return read(loader, name)
        return compile(Path(mutant).read_text(encoding="utf-8"), loader.path, "exec")

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign,assignment]
    return pytest.main(["-qx", "-m", "not integration and not nightly", *tests])


def main() -> None:
    """Draw rows, and list those whose tests stay green."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=4)
    parser.add_argument("--run", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        sys.exit(run(options.run[0], options.run[1], options.run[2:]))

    chance, found = random.Random(options.seed), {"red": 0, "green": 0}
    drawn = rows()
    chance.shuffle(drawn)
    for number, where, test in drawn:
        places = [ref.split("::") for ref in REFERENCE.findall(where) if ".py::" in ref]
        tests = [ref for ref in REFERENCE.findall(test) if ref.startswith("tests/")]
        if not places or sum(found.values()) == options.rows:
            continue
        path, name = chance.choice(places)
        tried, is_red = list[str](), False
        for mutant, was in mutants((ROOT / path).read_text(encoding="utf-8"), name, chance):
            with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as file:
                file.write(mutant)
                file.flush()
                words = [sys.executable, "-P", __file__, "--run", path, file.name, *tests]
                ended = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
            tried.append(was)
            is_red = ended.returncode == 1
            if is_red or len(tried) == options.tries:
                break
        if tried:
            found["red" if is_red else "green"] += 1
            print(
                f"C-{number:03d} {path}::{name} {'red' if is_red else 'GREEN'} {tried}", flush=True
            )
    print(found)


if __name__ == "__main__":
    main()
