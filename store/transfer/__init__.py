"""A tenant as a file, and artifacts as files."""
