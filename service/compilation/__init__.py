"""The compile use-case at the edge."""
