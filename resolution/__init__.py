"""Mentions to canonical entities: scoring, judgements and the review queue."""
