"""All Cypher text of the Neo4j store."""
