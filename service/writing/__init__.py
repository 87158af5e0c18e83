"""From what a caller wrote to a draft, and import."""
