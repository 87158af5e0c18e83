"""The one step that reads the store, with what belongs to it."""
