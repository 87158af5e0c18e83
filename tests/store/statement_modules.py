"""The modules that hold the Cypher of the Neo4j store, for every test that reads them all."""

from __future__ import annotations

from tenure.store.neo4j import (
    candidate_statements,
    check_statements,
    register_statements,
    schema_statements,
    statements,
    vector_statements,
)

MODULES = (
    statements,
    register_statements,
    candidate_statements,
    check_statements,
    schema_statements,
    vector_statements,
)
LANGUAGES = {**statements.LANGUAGES, **vector_statements.LANGUAGES}
