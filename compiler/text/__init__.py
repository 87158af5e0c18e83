"""Sentences, relevance, duplicates, templates."""
