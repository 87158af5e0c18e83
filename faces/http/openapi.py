"""What only HTTP has, for the description of `/v1`: tokens, the version, and whole tenants.

The routes stand in `api` and `transfers`; a test holds the two to each other.

The description of `/v1`: OpenAPI 3.1, made from the table of calls.

It is committed as `docs/openapi.json`; a test fails where the two differ.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any, Final, cast

from pydantic import ConfigDict, create_model
from pydantic.json_schema import models_json_schema

from ...service.calls.columns import FIELDS
from ...service.calls.run import request_model
from ...service.calls.table import CALLS, DECISIONS, RAW_BODIES, Call, path_of
from ...service.encoders.encoder import Progress
from .paging import LARGEST_PAGE, NDJSON, is_listing
from .progress import EVENT_STREAM, LONG_CALLS

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


_SUMMARIES: Final = {
    "description": "This description",
    "version": "The version of the server",
    "tokens": "Issue a token of 15 minutes for a user and session of the key",
    "caller": "Who the credential speaks for, and what it allows",
    "ingest": "Import events, one JSON object a line",
    "export": "Export the tenant, one JSON object a line",
    "import": "Import an export into an empty tenant",
    "import_abort": "Take back an import that did not end",
    "re_embed": "Make the vectors that claims lack",
}


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
        "/v1/tokens": {
            "post": _own_paths_operation("tokens", _TOKEN) | _body(_JSON, _TOKEN_REQUEST)
        },
        "/v1/caller": {"get": _own_paths_operation("caller", _CALLER)},
        "/v1/ingest": {
            "post": _long_operation("ingest", report, flags=("replay",)) | _body(NDJSON, _LINES)
        },
        "/v1/export": {"get": _own_paths_operation("export", _LINE, media=NDJSON, flags=("keys",))},
        "/v1/import": {
            "post": _long_operation("import", _IMPORTED, flags=("resume",)) | _body(NDJSON, _LINES)
        },
        "/v1/import/abort": {"post": _own_paths_operation("import_abort", _ABORTED)},
        "/v1/re_embed": {"post": _long_operation("re_embed", embedded)},
    }
    # Every route may refuse as every other does: the guard and the credential stand before all.
    for operations in paths.values():
        for operation in operations.values():
            operation["responses"].update(problems)
    return paths


def _own_paths_operation(
    name: str, answer: dict[str, Any], *, media: str = _JSON, flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": f"server_{name}",
        "tags": ["server"],
        "summary": _SUMMARIES[name],
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
    return _own_paths_operation(name, answer) | {"security": []}


def _long_operation(
    name: str, answer: dict[str, Any], *, flags: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An operation that says how far it is to whoever asks for events."""
    operation = _own_paths_operation(name, answer, flags=flags)
    operation["responses"]["200"]["content"][EVENT_STREAM] = {"schema": EVENTS}
    return operation


def _body(media: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"requestBody": {"content": {media: {"schema": schema}}}}


_REF: Final = "#/components/schemas/{model}"
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})
_IDEMPOTENCY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": True,
    "description": "New for each request; a retry states it again and gets the first answer.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
_AFTER: Final = {
    "name": "Tenure-After",
    "in": "header",
    "required": False,
    "description": "A `Tenure-Stamp`: nothing older is answered; `not_yet` after two seconds.",
    "schema": {"type": "string"},
}
_IF_MATCH: Final = {
    "name": "If-Match",
    "in": "header",
    "required": True,
    "description": "The version of the case that is decided; `*`: the current one.",
    "schema": {"type": "string", "pattern": '^([*]|(W/)?"?[0-9]{1,9}"?)$'},
}
_PAGE_SIZE: Final = {
    "name": "page_size",
    "in": "query",
    "required": False,
    "description": "Asks for a page, with so many entries at most.",
    "schema": {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE},
}
_CURSOR: Final = {
    "name": "cursor",
    "in": "query",
    "required": False,
    "description": "The `next_cursor` of the page before, with the same question by the same key.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{30,4096}$"},
}
_PROBLEMS: Final = {
    "400": "Malformed, or without an Idempotency-Key",
    "401": "No credential that is known",
    "403": "The credential does not allow it",
    "404": "Not there, or not for this caller",
    "409": "The state moved, or the first request still runs",
    "412": "The case was decided meanwhile",
    "413": "Too large",
    "421": "Not served under this host",
    "422": "The input cannot be taken; the code says why",
    "428": "Without If-Match",
    "429": "More calls than a minute may have; Retry-After says when to go on",
    "503": "The store does not answer",
}
_PROBLEM_SCHEMA: Final = {
    "type": "object",
    "description": "RFC 9457 problem details.",
    "required": ["type", "title", "status", "code", "detail", "trace_id"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string", "description": "Stable; docs/errors.md has them all."},
        "detail": {"type": "string"},
        "kind": {"type": "string", "description": "The class of our error."},
        "trace_id": {"type": "string"},
        "errors": {"type": "array", "items": {"type": "object"}},
        "data": {
            "type": "object",
            "description": "What a program acts on: field, shortfall in tokens, refused lines.",
        },
    },
}


@cache
def description() -> dict[str, Any]:
    """The whole description."""
    models = [(request_model(call), "validation") for call in CALLS]
    _, requests = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]
    answers, answer_schemas = _answer_schemas()
    request_schemas = _with_references(requests.get("$defs", {}), {})
    schemas = {**request_schemas, **answer_schemas, "Problem": _PROBLEM_SCHEMA}

    paths: dict[str, Any] = own_paths(_problems())
    for call in CALLS:
        operations = {"post": _operation(call, answers[call.name], with_body=True)}
        if not call.writes:
            operations["get"] = _operation(call, answers[call.name], with_body=False)
        paths[path_of(call)] = operations

    return {
        "openapi": "3.1.0",
        "info": {"title": "tenure", "version": "1"},
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"bearer": []}],
    }


def _answer_schemas() -> tuple[dict[str, Any], dict[str, Any]]:
    config = ConfigDict(arbitrary_types_allowed=True, use_attribute_docstrings=True)
    kinds: dict[str, Any] = {call.name: (call.answer, ...) for call in CALLS}
    model = create_model("Answers", __config__=config, **kinds)
    definitions = model.model_json_schema(ref_template=_REF, mode="serialization")
    answers = definitions["properties"]
    for answer in answers.values():
        answer.pop("title", None)  # the name of the call

    # A record that is asked with and answered has two forms, which must not share a name.
    answer_names = {name: f"{name}Answer" for name in definitions.get("$defs", {})}
    texts = {_REF.format(model=old): _REF.format(model=new) for old, new in answer_names.items()}
    schemas = {
        answer_names[name]: _with_references(schema, texts)
        for name, schema in definitions.get("$defs", {}).items()
    }
    return _with_references(answers, texts), schemas


def _with_references(tree: Any, texts: dict[str, str]) -> Any:
    """A schema with other references, and words for each field that has none of its own."""
    if isinstance(tree, dict):
        branches = cast("dict[str, Any]", tree)
        copy: dict[str, Any] = {}
        for name, value in branches.items():
            # A tuple of one kind of parts is a list of them, which more readers understand.
            if name == "prefixItems" and len(kinds := _kinds(value)) == 1:
                copy["items"] = kinds[0]
                continue
            is_reference = name == "$ref"
            copy[name] = texts.get(value, value) if is_reference else _with_references(value, texts)
            if name == "properties":
                for field, schema in copy[name].items():
                    if field in FIELDS and "description" not in schema:
                        schema["description"] = FIELDS[field]
        return copy
    if isinstance(tree, list):
        entries = cast("list[Any]", tree)  # type: ignore[redundant-cast]  # for pyright
        return [_with_references(entry, texts) for entry in entries]
    return tree


def _kinds(schemas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The different schemas among those of a tuple's parts, whatever the parts are called."""
    kinds: list[dict[str, Any]] = []
    for schema in schemas:
        kind = {name: value for name, value in schema.items() if name != "title"}
        if kind not in kinds:
            kinds.append(kind)
    return kinds


def _operation(call: Call, answer: Any, *, with_body: bool) -> dict[str, Any]:
    model = request_model(call)
    words = (inspect.getdoc(call.function) or "").partition("Raises:")[0].strip()
    summary, _, _ = words.partition("\n\n")
    operation: dict[str, Any] = {
        "operationId": call.name.replace(".", "_") + ("" if with_body else "_get"),
        "tags": [call.part or "memory"],
        "summary": " ".join(summary.split()).rstrip("."),
        "description": f"`memory.{call.name}`; needs the permit `{call.permit}`.\n\n{words}",
        "responses": _responses(answer),
    }
    page_parameters: list[dict[str, Any]] = []
    if is_listing(call):
        page_parameters = [_PAGE_SIZE, _CURSOR]
        operation["responses"]["200"]["content"] = _list_contents(answer)

    if not with_body:
        parameters = _parameters(model.model_json_schema(ref_template=_REF))
        operation["parameters"] = [*parameters, *page_parameters, _AFTER]
        return operation

    schema = {"$ref": _REF.format(model=model.__name__)}
    has_required_fields = any(field.is_required() for field in model.model_fields.values())
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    if call.name in RAW_BODIES:
        content["application/octet-stream"] = {"schema": {"type": "string", "format": "binary"}}
    operation["requestBody"] = {"required": has_required_fields, "content": content}
    if call.name in LONG_CALLS:
        operation["responses"]["200"]["content"][EVENT_STREAM] = {"schema": EVENTS}
    headers = [_AFTER, _IDEMPOTENCY] if call.writes else [_AFTER]
    headers += [_IF_MATCH] if call.name in DECISIONS else []
    operation["parameters"] = [*headers, *page_parameters]
    return operation


def _list_contents(answer: Any) -> dict[str, Any]:
    """What a list is answered as: whole, as a page, or one entry a line."""
    page = {
        "type": "object",
        "required": ["items", "next_cursor"],
        "properties": {
            "items": {**answer, "description": FIELDS["items"]},
            "next_cursor": {"type": ["string", "null"], "description": "Null on the last page."},
            "valid": {"type": ["string", "null"], "description": "The point of a view, resolved."},
            "tx": {"type": ["string", "null"], "description": FIELDS["tx"]},
        },
    }
    line = answer.get("items", {})
    return {
        "application/json": {"schema": {"anyOf": [answer, page]}},
        NDJSON: {"schema": line},
    }


def _parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """The query parameters of the fields that a text can state."""
    required_names = set(schema.get("required", ()))
    parameters: list[dict[str, Any]] = []
    for name, field in schema.get("properties", {}).items():
        scalar = _scalar(field)
        if scalar is not None:
            is_required = name in required_names
            parameters.append(
                {"name": name, "in": "query", "required": is_required, "schema": scalar}
            )
    return parameters


def _scalar(field: dict[str, Any]) -> dict[str, Any] | None:
    options = field.get("anyOf", [field])
    plain = [option for option in options if option.get("type") in _SCALARS - {"null"}]
    # An entity is a text or a reference: as a parameter it is the text.
    return dict(plain[0]) if plain else None


def _responses(answer: Any) -> dict[str, Any]:
    success = {"description": "Done", "content": {"application/json": {"schema": answer}}}
    return {"200": success, **_problems()}


def _problems() -> dict[str, Any]:
    content = {"application/problem+json": {"schema": {"$ref": _REF.format(model="Problem")}}}
    problems: dict[str, Any] = {}
    for status, text in _PROBLEMS.items():
        problems[status] = {"description": text, "content": content}
    return problems
