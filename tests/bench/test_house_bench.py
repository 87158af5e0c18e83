"""The bench of the house tells which files are new and which only moved."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tenure.bench.bench_house import new_files

FUNCTION = "def number_{0}() -> int:\n    return {0}\n\n\n"


def git(tree: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.org")
    subprocess.run(["git", "-C", str(tree), *identity, *arguments], check=True, capture_output=True)


def test_a_file_that_moved_or_was_split_off_is_not_new(tmp_path: Path) -> None:
    first, tree = tmp_path / "first", tmp_path / "tree"
    first.mkdir()
    git(first, "init", "-q")
    numbers = [FUNCTION.format(number) for number in range(20)]
    (first / "numbers.py").write_text("".join(numbers))
    git(first, "add", "-A")
    git(first, "commit", "-qm", "first")

    git(tmp_path, "clone", "-q", str(first), str(tree))
    git(tree, "mv", "numbers.py", "small.py")
    (tree / "small.py").write_text("".join(numbers[:12]))
    (tree / "large.py").write_text("".join(numbers[12:]))
    (tree / "words.py").write_text('WORDS = ("fox", "gnu")\n')
    git(tree, "add", "-A")

    assert new_files(first, tree) == {"words.py"}
