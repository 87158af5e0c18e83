"""The systems that are compared: how each is installed, and what it does beside the write."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class System:
    """One system of the comparison."""

    name: str
    """As the table calls it, and with `_peer.py` its module."""
    packages: tuple[str, ...]
    """What pip installs; empty for the standard library alone."""
    distribution: str
    """Whose version the table shows; empty: none."""
    resolution: str
    durability: str
    history: str
    fact_limit: int | None = None
    """The most facts that it is given, in one round alone, for one that takes minutes a hundred."""


CHECKOUT = "the checkout"
"""Stands in `packages` for this project, installed from a copy of its files."""

SYSTEMS = (
    System(
        "tenure",
        (CHECKOUT,),
        "tenure",
        resolution="scored names, vetoes, review",
        durability="synced at every commit",
        history="both times, versions immutable; timelines trimmed and split",
    ),
    System(
        "memvara",
        ("memvara==0.21.0",),
        "memvara",
        resolution="names folded to a key",
        durability="synced at every commit (set for this run; its default is not)",
        history="both times; ends are written into the row",
    ),
    System(
        "context_vault",
        ("context-vault-ai==0.7.0",),
        "context-vault-ai",
        resolution="names folded to a key; links on request",
        durability="synced at every commit (set for this run; its default is not)",
        history="both times, one earlier value; an audit chain",
    ),
    System(
        "mem0",
        ("mem0ai==2.2.1", "faiss-cpu"),
        "mem0ai",
        resolution="none without a model",
        durability="index file rewritten, not synced",
        history="a log of texts",
    ),
    System(
        "anatid",
        ("anatid==0.4.1",),
        "anatid",
        resolution="names as they are written",
        durability="synced at every commit",
        history="both times, versions immutable; the caller ends facts",
    ),
    System(
        "graphiti",
        ("graphiti-core[kuzu]==0.31.2", "httpx"),
        "graphiti-core",
        resolution="similar names, then a model (here none)",
        durability="log of the embedded graph",
        history="both times, overwritten in place; a model judges (here one that is right)",
        fact_limit=100,
    ),
    System(
        "sqlite",
        (),
        "",
        resolution="none: text equality",
        durability="synced at every commit",
        history="rows; the newest that covers wins",
    ),
)
