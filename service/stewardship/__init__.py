"""What needs a privilege or a person: reviews, merges, actions, erasure, export."""
