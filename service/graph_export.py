"""The graph of entities as a file: GraphML for graph tools, node-link JSON for programs.

Nodes and edges are added in sorted order, so equal graphs give equal bytes.
Source: issue 5 (entity pages for programs).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx

from ..schema.answers import EntityView


def drawn(entities: Sequence[EntityView], edges: Sequence[tuple[str, str, str]], form: str) -> str:
    """Return the graph as `graphml` or `json` text; an edge to an unseen entity is left out."""
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for one in entities:
        graph.add_node(one.entity_id, name=one.name, type=one.type, state=one.state)
    for start, slot, end in edges:
        if start in graph and end in graph:
            graph.add_edge(start, end, key=slot, slot=slot)
    if form == "json":
        linked: dict[str, Any] = nx.node_link_data(graph, edges="edges")  # pyright: ignore[reportUnknownMemberType]
        return json.dumps(linked, indent=1, ensure_ascii=False)
    lines: Iterable[str] = nx.generate_graphml(graph)  # pyright: ignore[reportUnknownMemberType]
    return "\n".join(lines)
