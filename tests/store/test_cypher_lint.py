"""The statements of the Neo4j store keep the rules, and the rules find what breaks them."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from tenure.store.neo4j.cypher import template
from tenure.tests.source_tree import data_table
from tenure.tests.store.cypher_lint import (
    Problem,
    building_problems,
    lint_statements,
    parameters_of,
    statements_of,
    tenant_problems,
    tokens_of,
)
from tenure.tests.store.statement_modules import FRAGMENTS, MODULES


def source_of(module: ModuleType) -> str:
    return Path(str(module.__file__)).read_text()


@pytest.mark.parametrize("module", MODULES)
def test_every_statement_of_the_store_names_its_tenant(module: ModuleType) -> None:
    statements = statements_of(module)
    problems = lint_statements(statements, getattr(module, "WITHOUT_TENANT", {}))
    assert [str(problem) for problem in problems] == []
    assert statements


@pytest.mark.parametrize("module", [*MODULES, *FRAGMENTS])
def test_every_statement_of_the_store_binds_its_values(module: ModuleType) -> None:
    texts = {name for name, text in vars(module).items() if isinstance(text, str)}
    declared = module.__annotations__.keys() | {"__name__", "__doc__", "__package__", "__file__"}
    imported = {name for name in texts - declared if name.startswith("_")}
    assert texts <= declared | imported
    assert building_problems(source_of(module)) == ()


def test_no_cypher_stands_outside_these_modules() -> None:
    folder = Path(str(MODULES[0].__file__)).parent
    known = {Path(str(module.__file__)) for module in (*MODULES, *FRAGMENTS, template)}
    words = re.compile(r"\b(MATCH|MERGE|UNWIND) ?\(|\bRETURN \w")
    strays = [
        path.name
        for path in sorted(folder.glob("*.py"))
        if path not in known and words.search(path.read_text())
    ]
    assert strays == []


GOOD, BAD = data_table("cypher-rules.toml").values()


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_statement_that_keeps_to_its_tenant_passes(text: str) -> None:
    assert tenant_problems(text) == []


@pytest.mark.parametrize(("text", "problem"), BAD.values(), ids=BAD)
def test_a_statement_that_could_leave_its_tenant_is_found(text: str, problem: str) -> None:
    assert any(problem in found for found in tenant_problems(text)), tenant_problems(text)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('A: Final = f"MATCH (n:{label})"', "an f-string"),
        ('A: Final = "MATCH (n:%s)" % label', "made with %"),
        ('A: Final = "MATCH (n:{})".format(label)', "made with format()"),
        ('A: Final = " ".join(["MATCH", "(n)"])', "made with join()"),
        ('A: Final = "MATCH (n:LABEL)".replace("LABEL", label)', "made with replace()"),
        ('A: Final = Template("$x").substitute(x=label)', "made with substitute()"),
        ('A: Final = "MATCH (n:" + label()', "added together"),
        ('def make(label): return "MATCH (n:" + label', "added together"),
        ("A: Final = statement(label(), {})", "label() is put into a text"),
        ('A: Final = statement("(n:{label})", {"label": name()})', "is put into a text"),
        ('A = "MATCH (n)"', "is not declared Final"),
    ],
)
def test_a_text_made_of_values_is_found(line: str, problem: str) -> None:
    assert any(problem in found.what for found in building_problems(line))


def test_a_statement_takes_its_fragments_by_name() -> None:
    fragments = {"shown": "n.head {order}", "order": "RETURN n"}
    text = template.statement("MATCH (n) WHERE {shown}", fragments)
    assert text == "MATCH (n) WHERE n.head RETURN n"


@pytest.mark.parametrize(
    ("exempt", "expected"),
    [
        ({}, [Problem("OUT", "has no $tenant")]),
        ({"OUT": "asks for no node"}, []),
        ({"OUT": " "}, [Problem("OUT", "is exempt without a reason")]),
        ({"OUT": "x", "IN": "x"}, [Problem("IN", "is exempt, but names its tenant")]),
        ({"OUT": "x", "GONE": "x"}, [Problem("GONE", "is exempt, but there is no such statement")]),
    ],
)
def test_an_exemption_needs_a_statement_a_need_and_a_reason(
    exempt: dict[str, str], expected: list[Problem]
) -> None:
    statements = {"IN": "MATCH (n {tenant_id: $tenant}) RETURN n", "OUT": "RETURN 1"}
    assert list(lint_statements(statements, exempt)) == expected


def test_parameters_are_told_from_texts_and_comments() -> None:
    text = "MATCH (n) WHERE n.a = $b AND n.c = '$no' /* $never */ RETURN $a // $not"
    assert parameters_of(text) == ["a", "b"]
    assert "'$no'" in tokens_of(text)
