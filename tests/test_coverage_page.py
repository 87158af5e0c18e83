"""The page of the checklist names only what is there, and leaves no row out."""

import ast
import re
from functools import cache

from tenure.tests.source_tree import ROOT

PAGE = ROOT / "docs" / "coverage.md"
ROWS = range(1, 321)
"""The ids of the checklist, C-001 to C-320; the checklist itself is not in the repository."""
TERMS = 13
PRINCIPLES = 4

_ROW = re.compile(r"\| C-(\d{3}) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")
REFERENCE = re.compile(r"`([^`]+)`")
_PENDING = ("not built yet", "half:", "not confirmed")


def rows() -> list[tuple[int, str, str]]:
    """Return (id, where, test) of every row of the page."""
    text = PAGE.read_text(encoding="utf-8")
    return [(int(n), where, test) for n, _, where, test in _ROW.findall(text)]


@cache
def names(path: str) -> frozenset[str]:
    """Return what a Python file defines at its top, and the tests of its classes."""
    found: set[str] = set()
    for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            inside = (each for each in node.body if isinstance(each, ast.FunctionDef))
            found |= {f"{node.name}::{each.name}" for each in inside}
        if isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return frozenset(found)


def is_there(reference: str) -> bool:
    """Tell whether a path, or a name in a file, exists."""
    path, _, name = reference.partition("::")
    if not (ROOT / path).is_file():
        return False
    return not name or name in names(path)


def test_every_row_of_the_checklist_stands_on_the_page_once() -> None:
    assert sorted(number for number, _, _ in rows()) == list(ROWS)


def test_what_a_row_names_is_there() -> None:
    named = [(n, ref) for n, where, test in rows() for ref in REFERENCE.findall(f"{where} {test}")]
    assert [f"C-{n:03d}: {ref}" for n, ref in named if not is_there(ref)] == []


def test_a_row_without_code_or_test_says_so() -> None:
    silent: list[int] = []
    for number, where, test in rows():
        proof = REFERENCE.findall(test)
        assert all(ref.startswith("tests/") and "::" in ref for ref in proof), number
        if not (proof and REFERENCE.findall(where)) and not any(w in where for w in _PENDING):
            silent.append(number)
    assert silent == []


def test_a_name_that_is_gone_is_seen() -> None:
    assert is_there("schema/policy.py::Policy")
    assert is_there("README.md")
    assert not is_there("schema/policy.py::Gone")
    assert not is_there("schema/gone.py")


def test_the_glossary_has_every_term_and_principle() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| [A-Z].*`.*", text, re.M)
    assert len(lines) == TERMS
    for line in lines:
        path, name = REFERENCE.findall(line)
        assert is_there(f"{path}::{name}")
    assert len(re.findall(r"^\d\. \*\*", text, re.M)) == PRINCIPLES


def test_what_the_page_of_sessions_names_is_there_and_no_wish_is_left_out() -> None:
    page = (ROOT / "docs" / "design" / "sessions.md").read_text(encoding="utf-8")
    references = [ref for ref in REFERENCE.findall(page) if ref.startswith("tests/")]
    assert len(references) > 30
    assert [ref for ref in references if not is_there(ref)] == []

    wishes = "tests/window/test_wishes.py"
    issues = [name for name in names(wishes) if re.match(r"test_[a-z_]+_\d{3,}_", name)]
    assert [name for name in issues if f"{wishes}::{name}" not in references] == []
