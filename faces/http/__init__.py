"""Serving: pages, and what stands before every route, in one process on one port."""
