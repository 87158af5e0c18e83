"""The life of a context window."""
