"""The description of `/v1`: OpenAPI 3.1, made from the table of calls.

`description.json` has what the table does not say: the routes that only HTTP has (tokens, the
version, whole tenants), the headers, and the refusals that every route shares. The routes are in
`api` and `transfers`; a test holds the two to each other. The whole is committed as
`docs/openapi.json`; a test fails where the two differ.
"""

from __future__ import annotations

import inspect
import json
from functools import cache
from pkgutil import get_data
from typing import Any, Final, cast

from pydantic import ConfigDict, create_model
from pydantic.json_schema import models_json_schema

from ...service.calls.columns import field_words
from ...service.calls.run import request_model
from ...service.calls.table import CALLS, DECISIONS, RAW_BODIES, Call, path_of
from .paging import NDJSON, is_listing
from .progress import EVENT_STREAM, LONG_CALLS

_REF: Final = "#/components/schemas/{model}"
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean", "null"})


@cache
def _shared() -> dict[str, Any]:
    """What `description.json` holds."""
    shared: dict[str, Any] = json.loads(get_data(__package__ or "", "description.json") or b"")
    return shared


@cache
def description() -> dict[str, Any]:
    """The whole description."""
    models = [(request_model(call), "validation") for call in CALLS]
    _, requests = models_json_schema(models, ref_template=_REF)  # type: ignore[arg-type]
    answers, answer_schemas = _answer_schemas()
    request_schemas = _with_references(requests.get("$defs", {}), {})
    schemas = {**request_schemas, **answer_schemas, "Problem": _shared()["problem"]}

    paths: dict[str, Any] = {}
    # Every route may refuse as every other does: the guard and the credential stand before all.
    for path, operations in _shared()["paths"].items():
        paths[path] = {}
        for method, operation in operations.items():
            responses = operation["responses"] | _problems()
            paths[path][method] = operation | {"responses": responses}
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
                    if field in field_words() and "description" not in schema:
                        schema["description"] = field_words()[field]
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
        "responses": {
            "200": {"description": "Done", "content": {"application/json": {"schema": answer}}},
            **_problems(),
        },
    }
    headers, page_parameters = _shared()["parameters"], list[dict[str, Any]]()
    if is_listing(call):
        page_parameters = [headers["page_size"], headers["cursor"]]
        operation["responses"]["200"]["content"] = _list_contents(answer)

    if not with_body:
        parameters = _parameters(model.model_json_schema(ref_template=_REF))
        operation["parameters"] = [*parameters, *page_parameters, headers["after"]]
        return operation

    schema = {"$ref": _REF.format(model=model.__name__)}
    has_required_fields = any(field.is_required() for field in model.model_fields.values())
    content: dict[str, Any] = {"application/json": {"schema": schema}}
    if call.name in RAW_BODIES:
        content["application/octet-stream"] = {"schema": {"type": "string", "format": "binary"}}
    operation["requestBody"] = {"required": has_required_fields, "content": content}
    if call.name in LONG_CALLS:
        operation["responses"]["200"]["content"][EVENT_STREAM] = {"schema": _shared()["events"]}
    names = ["after", *(["idempotency_key"] if call.writes else [])]
    names += ["if_match"] if call.name in DECISIONS else []
    operation["parameters"] = [*map(headers.__getitem__, names), *page_parameters]
    return operation


def _list_contents(answer: Any) -> dict[str, Any]:
    """What a list is answered as: whole, as a page, or one entry a line."""
    page = {
        "type": "object",
        "required": ["items", "next_cursor"],
        "properties": {
            "items": {**answer, "description": field_words()["items"]},
            "next_cursor": {"type": ["string", "null"], "description": "Null on the last page."},
            "valid": {"type": ["string", "null"], "description": "The point of a view, resolved."},
            "tx": {"type": ["string", "null"], "description": field_words()["tx"]},
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


def _problems() -> dict[str, Any]:
    content = {"application/problem+json": {"schema": {"$ref": _REF.format(model="Problem")}}}
    problems: dict[str, Any] = {}
    for status, text in _shared()["problems"].items():
        problems[status] = {"description": text, "content": content}
    return problems
