"""Stored tools: what each is, and whether a compile may offer it to a model."""

from __future__ import annotations

from dataclasses import dataclass

from ...schema.claim import Version
from ...schema.interval import INF_US
from ...schema.short_repr import short_repr
from ...schema.tool_manifest import is_signed, manifest_digest, manifest_fields
from ...schema.vocabulary import ObjectType
from ...store.port.store import Point
from ..backend.caller import Caller
from .context_objects import visible_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTool:
    """A tool as it stands in the store."""

    __repr__ = short_repr

    name: str
    """Empty for a text that is no manifest."""
    version: str
    object_id: str
    scope: str
    """Where it is offered, such as `tenant` or `project=nova`."""
    task_types: tuple[str, ...]
    """The tasks it is offered for; without any it is offered only when it is pinned."""
    digest: str
    """SHA-256 of the manifest: equal for tools that are the same."""
    signed: bool
    """Whether this store vouches for it as it stands; other tools are data."""


@dataclass(frozen=True, slots=True)
class ToolReader(Caller):
    """The tools that one caller may see."""

    def tools(self) -> tuple[StoredTool, ...]:
        """The tools that stand now, by name, the newest of a name first."""
        with self._reading() as reader:
            keys = reader.keys()
            point = Point(self._backend.now_us(), INF_US - 1)
            # Tools come whatever the scopes are: those are for what a scope prefers and decided.
            page = reader.standing(sight=self.principal.sight(), point=point, scopes=())

        stamps: dict[str, int] = {}
        tools: list[StoredTool] = []
        for version in visible_rows(page.versions):
            if version.details.object_type is ObjectType.TOOL_SCHEMA:
                tool = _tool(version, keys)
                stamps[tool.object_id] = version.row.claim.tx
                tools.append(tool)

        return tuple(
            sorted(tools, key=lambda tool: (tool.name, -stamps[tool.object_id], tool.object_id))
        )


def _tool(version: Version, keys: tuple[bytes, ...]) -> StoredTool:
    text = version.content.text if version.content else ""
    object_id, scope_id = version.row.claim.object_id, version.details.scope.scope_id
    fields = manifest_fields(text)

    return StoredTool(
        name=str(fields.get("name", "")),
        version=str(fields.get("version", "")),
        object_id=object_id,
        scope=scope_id,
        task_types=version.details.applicable_task_types,
        digest=manifest_digest(text),
        signed=is_signed(text, keys, object_id=object_id, scope_id=scope_id),
    )
