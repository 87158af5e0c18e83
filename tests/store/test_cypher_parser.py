"""Every statement of the store is Cypher to Neo4j's own grammar; skipped without Node."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure.store.neo4j.cypher import schema as schema_statements
from tenure.tests.neo4j_server import is_required
from tenure.tests.store.cypher_lint import read_statements
from tenure.tests.store.cypher_parser import NoParser, parse_problems, parser_folder
from tenure.tests.store.statement_modules import LANGUAGES, MODULES


@pytest.fixture(scope="module")
def grammar() -> None:
    """The installed package; where a Neo4j is required, so is the grammar."""
    try:
        parser_folder()
    except NoParser as absent:
        if is_required():
            pytest.fail(f"the Cypher grammar is required, but {absent}", pytrace=False)
        pytest.skip(str(absent))


@pytest.mark.integration
@pytest.mark.usefixtures("grammar")
def test_every_statement_of_the_store_is_cypher_in_each_of_its_languages() -> None:
    sources = [Path(str(module.__file__)).read_text() for module in MODULES]
    texts = {n: t for source in sources for n, t in read_statements(source).statements.items()}
    texts |= {ddl.split()[2]: ddl for part in schema_statements.MIGRATIONS for ddl in part}
    problems = parse_problems(texts, languages=LANGUAGES)
    assert [str(problem) for problem in problems] == []


@pytest.mark.integration
@pytest.mark.usefixtures("grammar")
def test_the_grammar_finds_what_is_wrong_and_where() -> None:
    problems = parse_problems(
        {
            "GOOD": "MATCH (n:A {tenant_id: $tenant}) RETURN n",
            "SYNTAX": "MATCH (n:A {tenant_id: $tenant})\nRETUR n",
            "UNDEFINED": "MATCH (n:A {tenant_id: $tenant}) RETURN m",
            "OLD": "MATCH (n:A {tenant_id: $tenant}) RETURN id(n)",
        }
    )
    found = {(each.where.split(",")[0], each.what[:20]) for each in problems}
    for version in ("5", "25"):
        assert (f"UNDEFINED in Cypher {version}", "Variable `m` not def") in found
        assert (f"SYNTAX in Cypher {version}", "Invalid input 'RETUR") in found
        assert any(where == f"OLD in Cypher {version}" for where, _ in found)
    assert not any(where.startswith("GOOD") for where, _ in found)
    assert any(each.where == "SYNTAX in Cypher 5, line 2" for each in problems)


@pytest.mark.integration
@pytest.mark.usefixtures("grammar")
def test_a_statement_of_one_language_is_asked_in_that_one_only() -> None:
    search = {
        "SEARCH": "MATCH (v:Live) SEARCH v IN (VECTOR INDEX vx FOR $e WHERE v.tenant_id = $tenant "
        "LIMIT $k) SCORE AS s RETURN v.id, s"
    }
    assert parse_problems(search, languages={"SEARCH": ("25",)}) == ()
    assert {each.where.split(",")[0] for each in parse_problems(search)} == {"SEARCH in Cypher 5"}


def test_without_node_the_reason_is_its_absence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoParser, match="not installed"):
        parser_folder(root=tmp_path)


def test_an_old_node_is_refused_with_the_version_that_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text("#!/bin/sh\necho v18.20.1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(NoParser, match=r"Node 20 or newer is needed; found v18\.20\.1"):
        parser_folder(root=tmp_path)
