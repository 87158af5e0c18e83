"""What schemathesis must know of our server: lines of JSON, and names that are stored.

It is read by the environment of schemathesis, so it imports nothing of tenure. The stored names
come as JSON in `TENURE_KNOWN`, by field; without them every question would end in a 404.
"""

import json
import os
from typing import Any

import schemathesis
from hypothesis import strategies

KNOWN: dict[str, list[str]] = json.loads(os.environ.get("TENURE_KNOWN", "{}"))


def lines(ctx: Any, value: Any) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "surrogatepass")


def first_line(ctx: Any, response: Any) -> Any:
    return json.loads(response.content.partition(b"\n")[0])


def with_known(fields: Any) -> Any:
    """Take a stored name as often as the one that was made up."""
    if not isinstance(fields, dict):
        return strategies.just(fields)
    parts = {}
    for name, value in fields.items():
        options = KNOWN.get(name, []) if isinstance(value, str) else []
        parts[name] = strategies.sampled_from([*options, *options, value])
    return strategies.fixed_dictionaries(parts)


def flatmap_query(context: Any, query: Any) -> Any:
    return with_known(query)


def flatmap_body(context: Any, body: Any) -> Any:
    return with_known(body)


NDJSON = "application/x-ndjson"
schemathesis.serializer(NDJSON)(lines)
schemathesis.deserializer(NDJSON)(first_line)
schemathesis.hook(flatmap_query)
schemathesis.hook(flatmap_body)
