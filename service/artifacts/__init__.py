"""Originals, and media made ready to send."""
