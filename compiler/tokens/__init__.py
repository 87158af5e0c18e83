"""What models can do, how tokens are counted, what the window leaves."""
