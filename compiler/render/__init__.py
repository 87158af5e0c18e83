"""The requests of providers, and the cache plan they share."""
