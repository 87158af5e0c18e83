"""What a text hides or tries."""
