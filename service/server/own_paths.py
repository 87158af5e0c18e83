"""What only HTTP has, for the description of `/v1`: tokens, the version, and whole tenants.

The routes stand in `api` and `transfers`; a test holds the two to each other.
"""

from __future__ import annotations

from typing import Any, Final

from ..encoders.progress import Progress
from .paging import NDJSON
from .progress import EVENT_STREAM

_JSON: Final = "application/json"
_REPORT_REF: Final = "#/components/schemas/IngestReportAnswer"
_TEXTS: Final[dict[str, Any]] = {"type": "array", "items": {"type": "string"}}

_TOKEN_REQUEST: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "user": {"type": ["string", "null"]},
        "session": {"type": ["string", "null"]},
        "roles": _TEXTS,
        "projects": _TEXTS,
        "clearance": {"type": "string"},
        "authority_level": {"type": "integer", "minimum": 2, "maximum": 4},
    },
}


def _record(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": [*properties], "properties": properties}


_COUNT: Final[dict[str, Any]] = {"type": "integer", "minimum": 0}
_TEXT: Final[dict[str, Any]] = {"type": "string"}
_TOKEN: Final = _record(token=_TEXT, expires_at={"type": "number"})
_VERSION: Final = _record(version=_TEXT)
_CALLER: Final = _record(principal={"type": "object"}, permits=_TEXTS)
_IMPORTED: Final = _record(tenant=_TEXT, records=_COUNT)
_ABORTED: Final = _record(aborted={"type": "boolean"})


_LINE: Final[dict[str, Any]] = {"type": "object", "description": "One JSON object a line."}
_LINES: Final[dict[str, Any]] = {"type": "string", "description": "One JSON object a line."}
EVENTS: Final[dict[str, Any]] = {
    "type": "string",
    "description": "Events `progress`, then `done` with the answer, or `problem`.",
}
"""What a call answers to whoever accepts events."""


def own_paths(problems: dict[str, Any]) -> dict[str, Any]:
    """The paths, each with every refusal of `problems` beside its answer."""
    report = {"$ref": _REPORT_REF}
    embedded = _record(**dict.fromkeys(Progress._fields, _COUNT))

    paths = {
        "/v1/openapi.json": {"get": _open_operation("description", {"type": "object"})},
        "/v1/version": {"get": _open_operation("version", _VERSION)},
        "/v1/tokens": {"post": _operation("tokens", _TOKEN) | _body(_JSON, _TOKEN_REQUEST)},
        "/v1/caller": {"get": _operation("caller", _CALLER)},
        "/v1/ingest": {
            "post": _long_operation("ingest", report, flags=("replay",)) | _body(NDJSON, _LINES)
        },
        "/v1/export": {"get": _operation("export", _LINE, media=NDJSON, flags=("keys",))},
        "/v1/import": {
            "post": _long_operation("import", _IMPORTED, flags=("resume",)) | _body(NDJSON, _LINES)
        },
        "/v1/import/abort": {"post": _operation("import_abort", _ABORTED)},
        "/v1/re_embed": {"post": _long_operation("re_embed", embedded)},
    }
    # Every route may refuse as every other does: the guard and the credential stand before all.
    for operations in paths.values():
        for operation in operations.values():
            operation["responses"].update(problems)
    return paths


def _operation(
    name: str, answer: dict[str, Any], *, media: str = _JSON, flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"server_{name}",
        "responses": {"200": {"description": "Done", "content": {media: {"schema": answer}}}},
    }
    if flags:
        operation["parameters"] = [
            {"name": flag, "in": "query", "required": False, "schema": {"type": "boolean"}}
            for flag in flags
        ]
    return operation


def _open_operation(name: str, answer: dict[str, Any]) -> dict[str, Any]:
    """An operation for everybody: it says nothing of any tenant."""
    return _operation(name, answer) | {"security": []}


def _long_operation(
    name: str, answer: dict[str, Any], *, flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An operation that says how far it is to whoever asks for events."""
    operation = _operation(name, answer, flags=flags)
    operation["responses"]["200"]["content"][EVENT_STREAM] = {"schema": EVENTS}
    return operation


def _body(media: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"content": {media: {"schema": schema}}}}
