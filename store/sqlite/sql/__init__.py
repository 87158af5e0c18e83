"""All SQL text of the embedded store."""
