"""How much of the evidence reaches a context, beside plain retrieval."""
