"""Relevance: the signals of a candidate, what is near, what is asked, and turns of talk."""
