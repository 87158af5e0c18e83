"""The nine tools of the reference memory server over this memory: a change of one line.

Entities, relations and observations become dated facts. A relation is a text about both ends,
since its type is free there and slots are bounded here. Deleting retracts: the graph no longer
shows it, and history keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from mcp_types import CallToolResult
from typing_extensions import TypedDict

from ...schema.context_object import ContextObject
from ...schema.errors import NotFound
from ..client.memory import Memory
from .answers import ToolItem, ToolQuestion, page
from .tools import refusal_as_result

ORIGIN: Final = "chat://mcp"
_RELATION: Final = " -- "
"""Stands around the type of a relation in its text, so that it can be read back."""

_NODE_LIMIT: Final = 500
"""Entities of one answer; the pages cut it further."""


class EntityInput(TypedDict):
    """An entity as the reference server takes it."""

    name: str
    entityType: str
    observations: list[str]


# `from` is a keyword, so that the class form could not state this field.
Relation = TypedDict("Relation", {"from": str, "to": str, "relationType": str})


class ObservationInput(TypedDict):
    """Statements about an entity."""

    entityName: str
    contents: list[str]


class DeletionInput(TypedDict):
    """Statements to take back."""

    entityName: str
    observations: list[str]


@dataclass(frozen=True)
class CompatTools:
    """The nine tools over the memory of whoever asks."""

    memory_of: Callable[[], Memory]

    @refusal_as_result
    def create_entities(self, entities: list[EntityInput]) -> CallToolResult:
        """Create entities with observations."""
        memory = self.memory_of()
        items: list[ToolItem] = []
        for entity in entities:
            # An entity exists here by what is said of it, so that one without observations is
            # known by its kind.
            statements = entity["observations"] or [f"{entity['name']} is a {entity['entityType']}"]
            for statement in statements:
                _state(memory, entity["name"], statement)
            items.append(ToolItem(f"created {entity['name']}", dict(entity)))

        return page(ToolQuestion(memory, "create_entities", {}), items)

    @refusal_as_result
    def create_relations(self, relations: list[Relation]) -> CallToolResult:
        """Create relations between entities."""
        memory = self.memory_of()
        for relation in relations:
            _state(memory, relation["from"], _relation_text(relation))

        items = _relation_items("related", relations)
        return page(ToolQuestion(memory, "create_relations", {}), items)

    @refusal_as_result
    def add_observations(self, observations: list[ObservationInput]) -> CallToolResult:
        """Add observations to entities."""
        memory = self.memory_of()
        items: list[ToolItem] = []
        for observation in observations:
            for statement in observation["contents"]:
                _state(memory, observation["entityName"], statement)
            items.append(ToolItem(f"added to {observation['entityName']}", dict(observation)))

        return page(ToolQuestion(memory, "add_observations", {}), items)

    @refusal_as_result
    def delete_entities(self, entityNames: list[str]) -> CallToolResult:
        """Hide entities; history stays."""
        memory = self.memory_of()
        items: list[ToolItem] = []
        for name in entityNames:
            statements = _statements(memory, name)
            _retract(memory, statements)
            items.append(ToolItem(f"hidden {name} ({len(statements)} statements)", {"name": name}))

        return page(ToolQuestion(memory, "delete_entities", {}), items)

    @refusal_as_result
    def delete_observations(self, deletions: list[DeletionInput]) -> CallToolResult:
        """Hide observations; history stays."""
        memory = self.memory_of()
        items: list[ToolItem] = []
        for deletion in deletions:
            targets = set(deletion["observations"])
            statements = _statements(memory, deletion["entityName"])
            _retract(memory, [entry for entry in statements if entry.content in targets])
            items.append(ToolItem(f"hidden from {deletion['entityName']}", dict(deletion)))

        return page(ToolQuestion(memory, "delete_observations", {}), items)

    @refusal_as_result
    def delete_relations(self, relations: list[Relation]) -> CallToolResult:
        """Hide relations; history stays."""
        memory = self.memory_of()
        for relation in relations:
            text = _relation_text(relation)
            statements = _statements(memory, relation["from"])
            _retract(memory, [entry for entry in statements if entry.content == text])

        items = _relation_items("hidden", relations)
        return page(ToolQuestion(memory, "delete_relations", {}), items)

    @refusal_as_result
    def read_graph(self, cursor: str | None = None) -> CallToolResult:
        """Read the graph."""
        memory = self.memory_of()
        names = [view.name for view in memory.entities.list(limit=_NODE_LIMIT)]
        return page(ToolQuestion(memory, "read_graph", {}, cursor), _nodes(memory, names))

    @refusal_as_result
    def search_nodes(self, query: str, cursor: str | None = None) -> CallToolResult:
        """Search entities by what is said about them."""
        memory = self.memory_of()
        view = memory.as_of()
        names: dict[str, None] = {}
        for hit in view.search(query, 50).hits:
            for entity_id in hit.object.canonical_entity_ids:
                names[view.entity(entity_id).name] = None

        question = ToolQuestion(memory, "search_nodes", {"query": query}, cursor)
        return page(question, _nodes(memory, names))

    @refusal_as_result
    def open_nodes(self, names: list[str], cursor: str | None = None) -> CallToolResult:
        """Open entities by name."""
        memory = self.memory_of()
        question = ToolQuestion(memory, "open_nodes", {"names": names}, cursor)
        return page(question, _nodes(memory, names))


def _state(memory: Memory, name: str, text: str) -> None:
    memory.write(name, content=text, source_origin=ORIGIN, why_it_matters=f"known of {name}")


def _relation_items(verb: str, relations: Iterable[Relation]) -> list[ToolItem]:
    items: list[ToolItem] = []
    for relation in relations:
        items.append(ToolItem(f"{verb} {_relation_text(relation)}", dict(relation)))
    return items


def _relation_text(relation: Relation) -> str:
    return _RELATION.join((relation["from"], relation["relationType"], relation["to"]))


def _statements(memory: Memory, name: str) -> list[ContextObject]:
    """What is said of an entity without a slot and still holds; nothing for an unknown name."""
    try:
        neighbourhood = memory.as_of().neighbourhood(name, hops=1, limit=_NODE_LIMIT)
    except NotFound:
        return []
    return [fact for fact in neighbourhood.facts if fact.slot is None]


def _retract(memory: Memory, statements: Iterable[ContextObject]) -> None:
    for statement in statements:
        memory.write(op="retract", object_id=statement.object_id, source_origin=ORIGIN)


def _nodes(memory: Memory, names: Iterable[str]) -> list[ToolItem]:
    """A line for each entity that something is said of, with its relations."""
    items: list[ToolItem] = []
    for name in names:
        observations: list[str] = []
        relations: list[dict[str, Any]] = []
        for statement in _statements(memory, name):
            parts = statement.content.split(_RELATION)
            if len(parts) == 3:
                relations.append(dict(zip(("from", "relationType", "to"), parts, strict=True)))
            else:
                observations.append(statement.content)

        if observations or relations:
            data = {"name": name, "observations": observations, "relations": relations}
            lines = observations + [_RELATION.join(item.values()) for item in relations]
            items.append(ToolItem(f"{name}: " + "; ".join(lines), data))
    return items
