"""The statements of the Neo4j store keep the rules, and the rules find what breaks them."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from tenure.tests.store.cypher_lint import (
    Problem,
    lint_statements,
    parameters_of,
    read_statements,
    tenant_problems,
    tokens_of,
)
from tenure.tests.store.statement_modules import FRAGMENTS, MODULES


def source_of(module: ModuleType) -> str:
    return Path(str(module.__file__)).read_text()


@pytest.mark.parametrize("module", MODULES)
def test_every_statement_of_the_store_names_its_tenant_and_binds_its_values(
    module: ModuleType,
) -> None:
    exempt = getattr(module, "WITHOUT_TENANT", {})
    problems = lint_statements(read_statements(source_of(module)), exempt)
    assert [str(problem) for problem in problems] == []


@pytest.mark.parametrize("module", MODULES)
def test_the_reader_finds_the_texts_that_the_module_exports(module: ModuleType) -> None:
    found = read_statements(source_of(module)).statements
    texts = {name: text for name, text in vars(module).items() if isinstance(text, str)}
    public = {name: text for name, text in texts.items() if not name.startswith("_")}
    assert public == found
    assert found


def test_what_the_statements_share_is_made_of_constants() -> None:
    for module in FRAGMENTS:
        assert read_statements(source_of(module)).problems == ()


def test_no_cypher_stands_outside_these_modules() -> None:
    folder = Path(str(MODULES[0].__file__)).parent
    known = {Path(str(module.__file__)) for module in (*MODULES, *FRAGMENTS)}
    words = re.compile(r"\b(MATCH|MERGE|UNWIND) ?\(|\bRETURN \w")
    strays = [
        path.name
        for path in sorted(folder.glob("*.py"))
        if path not in known and words.search(path.read_text())
    ]
    assert strays == []


GOOD = {
    "a property in the pattern": "MATCH (c:Claim {tenant_id: $tenant, id: $id}) RETURN c",
    "a property without blanks": "MATCH (c:Claim {id:$id, tenant_id:$tenant}) RETURN c",
    "a term of the condition": "MATCH (c:Claim {id: $id}) WHERE c.x = 1 AND c.tenant_id = $tenant "
    "RETURN c",
    "an OR in brackets beside it": "MATCH (c:Claim) WHERE c.tenant_id = $tenant AND "
    "(c.a = 1 OR c.b = 2) RETURN c",
    "a walk from a bound node": "MATCH (a:A {tenant_id: $tenant}) WITH a "
    "OPTIONAL MATCH (a)-[r:TO]->(b:B) RETURN a, b",
    "an optional match after a bare WITH": "MATCH (a:A {tenant_id: $tenant}) WITH a OPTIONAL MATCH "
    "(a)-[:TO]->(b) RETURN b",
    "two patterns that share a node": "MATCH (a:A)-[:TO]->(b:B), (a:A {tenant_id: $tenant}) "
    "RETURN b",
    "both ends proven": "MATCH (a:A {id: $a}) WHERE a.tenant_id = $tenant MATCH (b:B {id: $b}) "
    "WHERE b.tenant_id = $tenant CREATE (a)-[:TO {tx: $tx}]->(b)",
    "a created node": "UNWIND $rows AS row CREATE (c:Claim:Live {id: row.id, tenant_id: $tenant}) "
    "RETURN c",
    "a merged node": "MERGE (c:Clock {tenant_id: $tenant}) ON CREATE SET c.seq = 0 RETURN c.seq",
    "a subquery that imports its node": "MATCH (a:A {tenant_id: $tenant}) CALL (a) { "
    "MATCH (a)-[:TO]->(b:B) RETURN b } MATCH (b)-[:ON]->(c:C) RETURN c",
    "a subquery inside a condition": "MATCH (a:A {tenant_id: $tenant}) WHERE NOT EXISTS { "
    "(a)-[:TO]->(:B) } AND COUNT { MATCH (a)--(x) RETURN x } > 1 RETURN a",
    "collected and unwound again": "MATCH (a:A {tenant_id: $tenant}) WITH collect(a) AS many "
    "UNWIND many AS one MATCH (one)-[:TO]->(b) RETURN b",
    "renamed": "MATCH (a:A {tenant_id: $tenant}) WITH DISTINCT a AS z MATCH (z)-->(b) RETURN b",
    "both arms of a union": "MATCH (a:A {tenant_id: $tenant}) RETURN a.x AS x UNION ALL "
    "MATCH (b:B {tenant_id: $tenant}) RETURN b.x AS x",
    "a union whose last arm has no node": "CALL () { MATCH (a:A {tenant_id: $tenant}) RETURN a "
    "UNION ALL RETURN null AS a } MATCH (a)-->(b) RETURN b",
    "an index query filtered at once": "CALL db.index.fulltext.queryNodes('i', $q) YIELD node, "
    "score WHERE node.tenant_id = $tenant RETURN node, score",
    "an index query filtered by WITH": "CALL db.index.fulltext.queryNodes('i', $q) YIELD node "
    "WITH node WHERE node.tenant_id = $tenant MATCH (node)-->(x) RETURN x",
    "an index query filtered by MATCH": "CALL db.index.fulltext.queryNodes('i', $q) YIELD node, "
    "score MATCH (node)-->(x) WHERE node.tenant_id = $tenant RETURN x, score",
    "a text that starts with a word": "MATCH (a:A {tenant_id: $tenant}) WHERE a.x STARTS WITH $p "
    "RETURN a",
    "everything passed on": "MATCH (a:A {tenant_id: $tenant}) WITH *, 1 AS n MATCH (a)-->(b) "
    "RETURN b",
    "a delete in batches": "MATCH (n {tenant_id: $tenant}) CALL (n) { DETACH DELETE n } "
    "IN TRANSACTIONS OF 500 ROWS",
    "a vector search inside a match": "MATCH (v:Live) SEARCH v IN (VECTOR INDEX vx FOR $e WHERE "
    "v.tenant_id = $tenant LIMIT $k) SCORE AS s RETURN v.id, s",
}

BAD = {
    "no tenant at all": ("MATCH (c:Claim {id: $id}) RETURN c", "has no $tenant"),
    "a tenant in a comment only": (
        "MATCH (c:Claim {id: $id}) // {tenant_id: $tenant}\nRETURN c",
        "has no $tenant",
    ),
    "a tenant in a text only": (
        "MATCH (c:Claim {id: '{tenant_id: $tenant}'}) RETURN c",
        "has no $tenant",
    ),
    "a tenant that only is returned": ("MATCH (c:Claim) RETURN c, $tenant", "MATCH of nodes of"),
    "an alternative beside the tenant": (
        "MATCH (c:Claim) WHERE c.tenant_id = $tenant OR c.shared RETURN c",
        "MATCH of nodes of any tenant",
    ),
    "the other tenants": (
        "MATCH (c:Claim) WHERE NOT c.tenant_id = $tenant RETURN c",
        "MATCH of nodes of any tenant",
    ),
    "an unequal tenant": (
        "MATCH (c:Claim) WHERE c.tenant_id <> $tenant RETURN c",
        "MATCH of nodes of any tenant",
    ),
    "a second match that is loose": (
        "MATCH (a:A {tenant_id: $tenant}) MATCH (b:B {id: a.other}) RETURN b",
        "MATCH of nodes of any tenant: ( b : B",
    ),
    "a second pattern that is loose": (
        "MATCH (a:A {tenant_id: $tenant}), (b:B {id: $b}) RETURN b",
        "MATCH of nodes of any tenant: ( b : B",
    ),
    "the predicate of another node": (
        "MATCH (a:A {tenant_id: $tenant}) OPTIONAL MATCH (b:B) WHERE a.tenant_id = $tenant "
        "RETURN b",
        "MATCH of nodes of any tenant: ( b : B",
    ),
    "a name that WITH dropped": (
        "MATCH (a:A {tenant_id: $tenant}) WITH a.id AS id MATCH (a)-->(b) RETURN b",
        "MATCH of nodes of any tenant: ( a )",
    ),
    "a subquery that imports nothing": (
        "MATCH (a:A {tenant_id: $tenant}) CALL () { MATCH (a)-->(b) RETURN b } RETURN b",
        "MATCH of nodes of any tenant: ( a )",
    ),
    "the other arm of a union": (
        "MATCH (a:A {tenant_id: $tenant}) RETURN a UNION MATCH (a:A) RETURN a",
        "MATCH of nodes of any tenant",
    ),
    "a created node without it": (
        "MATCH (a:A {tenant_id: $tenant}) CREATE (b:B {id: $b})-[:OF]->(a)",
        "CREATE of a node without tenant_id: $tenant: b : B",
    ),
    "a merged node without it": (
        "MATCH (a:A {tenant_id: $tenant}) MERGE (k:Key {key: $k}) MERGE (a)-[:HAS]->(k)",
        "MERGE of a node without tenant_id: $tenant: k : Key",
    ),
    "a node created on the way": (
        "MATCH (a:A {tenant_id: $tenant}) CREATE (a)-[:OF]->(:B {id: $b})",
        "CREATE of a node without",
    ),
    "an index query that is not filtered": (
        "CALL db.index.fulltext.queryNodes('i', $q) YIELD node, score WHERE score > $tenant "
        "RETURN node",
        "an index query whose nodes may be any tenant's",
    ),
    "an index query without YIELD": (
        "CALL db.index.vector.queryNodes('i', $k, $tenant)",
        "an index query without YIELD",
    ),
}


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
        ('A: Final = at_stamp(label(), "stamp")', "label() is put into a text"),
        ('A = "MATCH (n)"', "is not declared Final"),
    ],
)
def test_a_text_made_of_values_is_found(line: str, problem: str) -> None:
    assert any(problem in found.what for found in read_statements(line).problems)


def test_a_statement_takes_its_fragments_by_name() -> None:
    module = read_statements(
        '_SHARED: Final = {"shown": "n.head {order}", "order": "RETURN n"}\n'
        'A: Final[str] = statement("MATCH (n) WHERE {shown}", _SHARED)'
    )
    assert module.problems == ()
    assert module.statements == {"A": "MATCH (n) WHERE n.head RETURN n"}


def test_a_statement_reads_as_of_a_stamp_that_its_queries_import() -> None:
    module = read_statements(
        '_ASKED: Final = "CALL () { MATCH (n) WHERE n.tx <= $tx CALL (n) { RETURN 1 AS one } }"\n'
        'A: Final[str] = at_stamp(_ASKED, "stamp")'
    )
    assert module.problems == ()
    assert module.statements == {
        "A": "CALL (stamp) { MATCH (n) WHERE n.tx <= stamp CALL (n, stamp) { RETURN 1 AS one } }"
    }


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
    module = read_statements(
        'IN: Final = "MATCH (n {tenant_id: $tenant}) RETURN n"\nOUT: Final = "RETURN 1"'
    )
    assert list(lint_statements(module, exempt)) == expected


def test_parameters_are_told_from_texts_and_comments() -> None:
    text = "MATCH (n) WHERE n.a = $b AND n.c = '$no' /* $never */ RETURN $a // $not"
    assert parameters_of(text) == ["a", "b"]
    assert "'$no'" in tokens_of(text)
