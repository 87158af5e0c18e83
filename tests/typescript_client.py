"""Write the generated half of the TypeScript client from `docs/openapi.json`.

    python -P tests/typescript_client.py

`calls.js` is the table of calls that `client.js` runs, `client.d.ts` the types of every request,
answer and method. Both are plain JavaScript and declarations, so that no build step is needed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tenure.tests.source_tree import ROOT

FOLDER: Final = ROOT / "clients" / "typescript"
HEAD: Final = "// Made by tests/typescript_client.py from docs/openapi.json; do not edit.\n"
_JSON: Final = "application/json"
_LINES: Final = "application/x-ndjson"
_LEFT_OUT: Final = frozenset({"server_description"})
_KEYED: Final = "Idempotency-Key"

_RUNTIME: Final = """
/** What a server refused, with its stable code. */
export class TenureError extends Error {
  readonly status: number;
  readonly code: string;
  readonly kind: string;
  readonly data: Record<string, unknown>;
  readonly errors: { pointer: string; detail: string }[];
  readonly traceId: string;
  /** Seconds after which the call may be tried again. */
  readonly retryAfter?: number;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface WriteOptions extends CallOptions {
  /** Of the write: the same key gives the first answer again. By default a new one. */
  idempotencyKey?: string;
}

export interface DecideOptions extends WriteOptions {
  /** The version of the case that was seen; by default `version` of the request, else any. */
  ifMatch?: number | "*";
}

export interface ListOptions extends CallOptions {
  /** Entries a page, at most 500. */
  pageSize?: number;
}

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
  tx?: string | null;
  valid?: string | null;
}

/** The entries of a listing, read page by page. */
export class Listing<T> implements AsyncIterable<T> {
  page(cursor?: string): Promise<Page<T>>;
  all(): Promise<T[]>;
  [Symbol.asyncIterator](): AsyncIterator<T>;
}

export interface TenureOptions {
  /** Of `tenure keys create`, or a token of `tokens`. */
  key?: string;
  fetch?: typeof globalThis.fetch;
  /** How often a call is tried again after 429, 503 or a lost connection; by default twice. */
  retries?: number;
}
"""


class Operation(NamedTuple):
    """One call, as the client needs it."""

    path: str
    method: str
    body: Mapping[str, Any]

    @property
    def name(self) -> list[str]:
        """Its group and its method, or its method alone."""
        operation_id = str(self.body["operationId"])
        call = operation_id.removeprefix("server_")
        parts = self.path.removeprefix("/v1/").split("/")
        # A method of a group has the group before its name.
        if len(parts) == 2 and operation_id.startswith(f"{parts[0]}_"):
            return [parts[0], camel(call.removeprefix(f"{parts[0]}_"))]
        return [camel(call)]

    @property
    def answers(self) -> Mapping[str, Any]:
        """The schemas of its answer, by media type."""
        content = self.body["responses"]["200"]["content"]
        return {name: part.get("schema", {}) for name, part in content.items()}

    @property
    def entry(self) -> Mapping[str, Any] | None:
        """Of a listing the schema of one entry."""
        return self.answers[_LINES] if len(self.answers) == 2 and _LINES in self.answers else None

    @property
    def request(self) -> Mapping[str, Any]:
        """The media types that it takes, with their schemas."""
        content: Mapping[str, Any] = self.body.get("requestBody", {}).get("content", {})
        return content

    def parameters(self, place: str) -> list[str]:
        """The names of its parameters in a place."""
        return [item["name"] for item in self.body.get("parameters", ()) if item["in"] == place]

    @property
    def row(self) -> dict[str, Any]:
        """Its row of the table in `calls.js`; what is false is left out."""
        answer = self.answers.get(_JSON, {})
        is_keyed = _KEYED in self.parameters("header")
        is_server = self.body["operationId"].startswith("server_")
        flags = {
            "keyed": is_keyed,
            "versioned": "If-Match" in self.parameters("header"),
            "list": self.entry is not None,
            "lines": _JSON not in self.answers,
            "bytes": answer.get("format") == "binary",
            "upload": _LINES in self.request,
            "query": self.method == "GET" and bool(self.parameters("query")),
            "once": self.method == "POST" and is_server and not is_keyed,
        }
        row: dict[str, Any] = {"name": self.name, "method": self.method, "path": self.path}
        return row | {name: True for name, holds in flags.items() if holds}

    def signature(self, schemas: Mapping[str, Any]) -> str:
        """Its method in the declarations."""
        row = self.row
        options = "CallOptions"
        if row.get("keyed"):
            options = "DecideOptions" if row.get("versioned") else "WriteOptions"
        elif self.entry is not None:
            options = "ListOptions"

        request, may_miss = "Record<string, never>", True
        if row.get("upload"):
            request, may_miss = "string | Uint8Array | Blob | ReadableStream", False
        elif _JSON in self.request:
            schema = self.request[_JSON]["schema"]
            request = type_of(schema)
            may_miss = not schemas.get(request, schema).get("required")
        elif row.get("query"):
            fields = [f"{name}?: string" for name in self.parameters("query")]
            request = f"{{ {'; '.join(fields)} }}"

        if self.entry is not None:
            answer = f"Listing<{type_of(self.entry)}>"
        elif row.get("lines"):
            answer = "Promise<AsyncIterable<Record<string, unknown>>>"
        else:
            answer = f"Promise<{type_of(self.answers[_JSON])}>"
        mark = "?" if may_miss else ""
        return f"{self.name[-1]}(request{mark}: {request}, options?: {options}): {answer};"


def camel(name: str) -> str:
    """A name as JavaScript writes it.

    >>> camel("close_scope")
    'closeScope'
    """
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def type_of(schema: Mapping[str, Any]) -> str:
    """The TypeScript type of a schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(map(json.dumps, schema["enum"]))
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(map(type_of, schema[union])))

    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(type_of({**schema, "type": each}) for each in kind)
    if kind == "array":
        return _array(schema)
    if kind == "object":
        return _object(schema)
    if schema.get("format") == "binary":
        return "Uint8Array"
    plain = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
    return plain.get(str(kind), "null" if kind == "null" else "unknown")


def _array(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
    return f"Array<{type_of(schema.get('items', {}))}>"


def _object(schema: Mapping[str, Any]) -> str:
    fields: list[str] = []
    needed = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        key = name if re.fullmatch(r"[A-Za-z_]\w*", name) else json.dumps(name)
        mark = "" if name in needed else "?"
        fields.append(f"{comment(field, '  ')}  {key}{mark}: {type_of(field)};\n")
    if fields:
        return "{\n" + "".join(fields) + "}"
    further = schema.get("additionalProperties")
    return f"Record<string, {type_of(further) if isinstance(further, dict) else 'unknown'}>"


def comment(schema: Mapping[str, Any], indent: str = "") -> str:
    """The description of a schema or a call as a comment."""
    words = " ".join(str(schema.get("description", "")).split()).replace("*/", "* /")
    return f"{indent}/** {words} */\n" if words else ""


def operations(description: Mapping[str, Any]) -> Iterator[Operation]:
    """The calls of a description, in the order of their addresses."""
    for path, methods in description["paths"].items():
        method = "post" if "post" in methods else "get"
        operation = Operation(path, method.upper(), methods[method])
        if operation.body["operationId"] not in _LEFT_OUT:
            yield operation


def files(description: Mapping[str, Any]) -> dict[str, str]:
    """The generated files of the client, by name."""
    schemas = description["components"]["schemas"]
    calls = list(operations(description))
    rows = "".join(f"  {json.dumps(call.row)},\n" for call in calls)

    types: list[str] = []
    for name, schema in sorted(schemas.items()):
        types.append(f"{comment(schema)}export type {name} = {type_of(schema)};\n")

    methods: dict[str, list[str]] = {"": []}
    for call in calls:
        group = call.name[0] if len(call.name) == 2 else ""
        indent = "    " if group else "  "
        text = f"{comment(call.body, indent)}{indent}{call.signature(schemas)}\n"
        methods.setdefault(group, []).append(text)
    groups = [
        f"  readonly {group}: {{\n{''.join(texts)}  }};\n"
        for group, texts in sorted(methods.items())
        if group
    ]
    client = "".join([*methods[""], *groups])
    declaration = (
        "/** A tenure server. */\nexport class Tenure {\n"
        f"  constructor(url: string, options?: TenureOptions);\n{client}}}\n"
    )
    return {
        "calls.js": f"{HEAD}export const CALLS = [\n{rows}];\n",
        "client.d.ts": f"{HEAD}{_RUNTIME}\n{declaration}\n" + "\n".join(types),
    }


def main() -> None:
    """Write the files."""
    description = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    for name, text in files(description).items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
