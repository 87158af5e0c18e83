"""The modules that hold the Cypher of the Neo4j store, for every test that reads them all."""

from __future__ import annotations

from tenure.store.neo4j.cypher import candidates as candidate_statements
from tenure.store.neo4j.cypher import checks as check_statements
from tenure.store.neo4j.cypher import core as statements
from tenure.store.neo4j.cypher import fragments, questions
from tenure.store.neo4j.cypher import identity as identity_statements
from tenure.store.neo4j.cypher import importing as import_statements
from tenure.store.neo4j.cypher import manifests as manifest_statements
from tenure.store.neo4j.cypher import prefetch as prefetch_statements
from tenure.store.neo4j.cypher import register as register_statements
from tenure.store.neo4j.cypher import schema as schema_statements
from tenure.store.neo4j.cypher import sessions as session_statements
from tenure.store.neo4j.cypher import vectors as vector_statements

MODULES = (
    statements,
    register_statements,
    candidate_statements,
    identity_statements,
    check_statements,
    import_statements,
    manifest_statements,
    prefetch_statements,
    schema_statements,
    session_statements,
    vector_statements,
)
FRAGMENTS = (fragments, questions)
"""What the statements share."""
LANGUAGES = {**statements.LANGUAGES, **vector_statements.LANGUAGES}
