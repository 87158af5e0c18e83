"""The Neo4j store: connection, schema, statements and the adapter of the store port."""
