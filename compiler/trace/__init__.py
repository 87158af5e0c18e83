"""What is said of a compile: verdicts, metrics, provenance, lint, manifest."""
