"""A bitemporal knowledge store for agents, with a context compiler."""
