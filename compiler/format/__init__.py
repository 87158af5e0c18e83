"""The wire format: grammar, header, escape, blocks, rows. Knows nothing of stages."""
