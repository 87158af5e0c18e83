"""Sessions: the window of an agent, kept in the store."""
