"""Tools of an envelope as a provider's tool list: name, description, input schema.

Read from the rows of the TOOLS section. A row that is no tool with a name stays text, and the
section is then rendered as text as well, so that nothing is lost. Checklist C-198, C-305.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ...schema.values import fields_of
from ..format.block import Block
from ..format.rows import read_rows
from .cache_plan import RenderPlan


class ToolSpec(NamedTuple):
    """A tool as providers take it."""

    name: str
    description: str
    input_schema: Mapping[str, Any]

    def declaration(self, schema_field: str) -> dict[str, Any]:
        """The tool with its schema under the name that a provider's request has for it."""
        return {
            "name": self.name,
            "description": self.description,
            schema_field: dict(self.input_schema),
        }


def tools_of(plan: RenderPlan) -> tuple[ToolSpec, ...] | None:
    """The tools of the TOOLS blocks; None when one of them is not a plain tool."""
    tools: list[ToolSpec] = []
    for segment in plan.segments:
        if segment.block.section != "tools":
            continue

        for text in _texts(segment.block):
            spec = _spec(text)
            # One row that is no tool would be lost in a list of tools, so all stay text then.
            if spec is None:
                return None
            tools.append(spec)

    return tuple(tools)


def marked_shown(plan: RenderPlan, ends: Iterable[int], *, native_tools: bool) -> frozenset[int]:
    """The marked places that have a text of their own in the request.

    Tools that are sent as tools have none: their mark moves to the text before them in their
    zone, which providers put behind the tools; without one it is -1, the list of tools itself.
    """
    positions: set[int] = set()
    for place in ends:
        while native_tools and place >= 0 and plan.segments[place].block.section == "tools":
            place -= 1
        positions.add(place)

    return frozenset(positions)


def _texts(block: Block) -> tuple[str, ...]:
    if block.authority >= 4:
        return (block.text,)
    return tuple(text for _, text in read_rows(block.text))


def _spec(text: str) -> ToolSpec | None:
    try:
        tool = json.loads(text)
    except ValueError:
        return None

    fields = fields_of(tool)
    name = fields.get("name")
    if not isinstance(name, str) or not name:
        return None

    schema = fields.get("input_schema") or {"type": "object"}
    return ToolSpec(name, str(fields.get("description") or ""), schema)
