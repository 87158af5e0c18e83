"""The graph of entities as a file: GraphML for graph tools, node-link JSON for programs.

Nodes and edges are added in sorted order, so equal graphs give equal bytes.
Source: issue 5 (entity pages for programs).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..schema.answers import EntityView


def drawn(entities: Sequence[EntityView], edges: Sequence[tuple[str, str, str]], form: str) -> str:
    """Return the graph as `graphml` or `json` text; an edge to an unseen entity is left out."""
    networkx: Any = import_module("networkx")  # it carries no types
    graph = networkx.MultiDiGraph()
    for one in entities:
        graph.add_node(one.entity_id, name=one.name, type=one.type, state=one.state)
    for start, slot, end in edges:
        if start in graph and end in graph:
            graph.add_edge(start, end, key=slot, slot=slot)
    if form == "json":
        held = networkx.node_link_data(graph, edges="edges")
        return json.dumps(held, indent=1, ensure_ascii=False)
    return "\n".join(networkx.generate_graphml(graph))
