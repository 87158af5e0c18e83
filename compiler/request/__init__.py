"""What a caller asks, and how it is read."""
