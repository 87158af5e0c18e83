"""The documentation is true: its blocks run, its doctests pass, and it leaves nothing out."""

import ast
import doctest
import importlib
import importlib.util
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure.resolution.vetoes import VetoCode
from tenure.schema.compile_terms import Conversion, GapCode, GateDetail, Reason
from tenure.tests.docs_pages import RUN, SHOWN, WORDS, blocks, pages, run_page
from tenure.tests.source_tree import ROOT, modules
from tenure.window.events import EditReason

ALL_PAGES = "\n".join(page.read_text(encoding="utf-8") for page in pages())
ERRORS = (ROOT / "docs/errors.md").read_text(encoding="utf-8")
REASONS = (ROOT / "docs/reasons.md").read_text(encoding="utf-8")
ALL_BLOCKS = [
    block
    for page in pages()
    for block in blocks(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix())
]
HARD_WORDS = re.compile(
    r"\b(?:stands?(?!-)|stood|told|whoever|beside|anew|nobody|somebody|set apart|of which|"
    r"thereby)\b"
)
"""Words that a reader of the field reads twice; each has a plain one."""
OPTIONAL = frozenset({"fastapi", "mcp", "onnxruntime", "sentence_transformers", "uvicorn"})


def runnable(page: Path) -> bool:
    return any(block.runs for block in ALL_BLOCKS if ROOT / block.page == page)


@pytest.mark.parametrize(
    "page", [p for p in pages() if runnable(p)], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_every_block_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page.read_text(encoding="utf-8"), page.relative_to(ROOT).as_posix(), tmp_path)


def test_every_block_says_what_it_is() -> None:
    # A misspelt language would quietly not run.
    known = [b.place for b in ALL_BLOCKS if b.language in RUN | SHOWN and b.words <= WORDS]
    assert known == [block.place for block in ALL_BLOCKS]


def test_pages_use_plain_words() -> None:
    found: list[str] = []
    words = 0
    for page in (*pages(), ROOT / "CONTRIBUTING.md"):
        text = re.sub(
            r"^(`{3,}).*?^\1$|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
        )
        words += len(text.split())
        found += [f"{page.name}: {word}" for word in HARD_WORDS.findall(text)]
    assert len(found) <= words / 10_000, found


def test_every_fence_of_a_page_is_a_block() -> None:
    texts = {
        page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in pages()
    }
    fences = {name: re.findall(r"^\s*(?:`{3,}|~{3,})", text, re.M) for name, text in texts.items()}
    counted = {name: 2 * len(list(blocks(text, name))) for name, text in texts.items()}
    assert {name: len(found) for name, found in fences.items()} == counted


@pytest.mark.parametrize(
    "page",
    [
        "```python\nx = 1\n```\n```python\nassert x == 2\n```\n",
        "```python\nprint('a')\n```\n```text output\nb\n```\n",
        "```sh\ntrue\nfalse\n```\n",
        "```sh\nfalse | true\n```\n",
        "```console\n$ echo a\nb\n```\n",
    ],
)
def test_a_block_that_lies_fails_its_page(page: str, tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        run_page(page, "page.md", tmp_path)


@pytest.mark.parametrize(
    "page",
    [
        "```python\nx = 1\n```\nand\n```python\nprint(x)\n```\n```text output\n1\n```\n",
        "```sh\necho a > kept\n# then\ncat \\\n  kept\n```\n```text output\na\n```\n",
        "```console\n$ echo a; echo b\na\n...\n$ true\n```\n",
        "```sh no-run\nfalse\n```\n```json\n{\n```\n",
    ],
)
def test_a_true_page_passes(page: str, tmp_path: Path) -> None:
    run_page(page, "page.md", tmp_path)


def test_a_shell_line_finds_the_commands_of_this_environment(tmp_path: Path) -> None:
    run_page("```sh\npython -P -c 'import pytest'\n```\n", "page.md", tmp_path)


def test_every_doctest_passes() -> None:
    for module in (module for module in modules() if ">>>" in module.source):
        try:
            loaded = importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            assert error.name in OPTIONAL, module.name
            continue
        outcome = doctest.testmod(loaded, optionflags=doctest.ELLIPSIS)
        assert outcome.attempted > 0, module.name
        assert outcome.failed == 0, module.name


def command_paths(command: Any, path: tuple[str, ...] = ("tenure",)) -> Iterator[str]:
    """Yield the full name of every command that does something: `tenure review accept`."""
    below = getattr(command, "commands", {})
    if not below:
        yield " ".join(path)
    for name, child in below.items():
        yield from command_paths(child, (*path, name))


def test_every_command_is_documented() -> None:
    if importlib.util.find_spec("tenure.faces.cli.main") is None:
        pytest.skip("the command line does not exist yet")
    typer_main = importlib.import_module("typer.main")
    app = importlib.import_module("tenure.faces.cli.main").app
    known = set(command_paths(typer_main.get_command(app)))
    assert known > {"tenure demo"}
    assert sorted(name for name in known if not mentions(name)) == []


def mentions(text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(text)}(?![\w-])", ALL_PAGES) is not None


def raised_codes(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the literal codes that errors are raised with: `code="store_busy"`."""
    return {
        keyword.value.value
        for node in nodes
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "code"
        and isinstance(keyword.value, ast.Constant)
        and isinstance(keyword.value.value, str)
    }


def listed_reasons(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the values of the enums that say why: `OmissionReason`, `ErrorCode` and their like."""
    return {
        item.value.value
        for node in nodes
        if isinstance(node, ast.ClassDef)
        and node.name.endswith(("Reason", "Code", "Detail", "Conversion"))
        for item in node.body
        if isinstance(item, ast.Assign)
        and isinstance(item.value, ast.Constant)
        and isinstance(item.value.value, str)
    }


def test_every_error_code_and_reason_is_documented() -> None:
    named = set(re.findall(r"`(\w+)`", ALL_PAGES))
    codes = {m.place(1): raised_codes(m.nodes) | listed_reasons(m.nodes) for m in modules()}
    assert {place: found - named for place, found in codes.items() if found - named} == {}


def test_every_code_of_an_error_is_in_the_closed_list() -> None:
    listed = set(re.findall(r"^\| `(\w+)` \|", ERRORS, re.MULTILINE))
    codes = {module.place(1): raised_codes(module.nodes) for module in modules()}
    assert {place: found - listed for place, found in codes.items() if found - listed} == {}


def test_every_code_of_the_closed_list_is_given_by_code_or_reserved() -> None:
    listed_codes = set(re.findall(r"^\| `([a-z_]+)` \| (?!reserved:)", ERRORS, re.MULTILINE))
    words = {
        node.value
        for module in modules()
        for node in module.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert listed_codes - words == set()


def test_every_reason_is_given_by_code_or_reserved() -> None:
    """A word that no code gives would promise a reader what never comes (C-106, C-317)."""
    # What a reason means is no place that gives it.
    uses = [
        (node.value.id, node.attr)
        for module in modules()
        if module.name != "tenure.compiler.explain.report"
        for node in module.nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    ]
    lists = (Reason, GateDetail, GapCode, Conversion, VetoCode, EditReason)
    words = [(kind.__name__, word.name) for kind in lists for word in kind]
    reserved = set(re.findall(r"`([a-z_]+)` \| reserved:", REASONS))
    unused = [word for word in words if word not in set(uses)]
    assert {name.lower() for _, name in unused} == reserved


def test_codes_and_reasons_are_found() -> None:
    source = "class OmissionReason(StrEnum):\n    OLD = 'old'\nraise Conflict('…', code='stale')"
    nodes = list(ast.walk(ast.parse(source)))
    assert listed_reasons(nodes) == {"old"}
    assert raised_codes(nodes) == {"stale"}
