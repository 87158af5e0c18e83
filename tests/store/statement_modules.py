"""The modules that hold the Cypher of the Neo4j store, for every test that reads them all."""

from tenure.store.neo4j.cypher import candidates, core, questions, register, schema

MODULES = (core, register, candidates, schema)
FRAGMENTS = (questions,)
"""What the statements share."""
LANGUAGES = {**core.LANGUAGES, **candidates.LANGUAGES}
