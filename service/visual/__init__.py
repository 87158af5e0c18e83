"""Looking: what is stored as words and pictures, for the terminal and for pages."""
