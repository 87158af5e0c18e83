"""Originals in a request: evidence that names an artifact gets its text, when the caller may read.

An item that is an address, or `{"artifact": address}`, represents the whole text; with a `text`
of its own it is that summary, with the original as its origin (source 001, "summary + URI").
A long text becomes several items with one origin, so that only the parts that bear on the
request need to go in. A picture, recording or film gets its size and length from the file, and
with `kind="structured"` a table its rows. Media that name an artifact are checked the same way.
The request that the compiler sees holds all of it, so a replay needs no artifact.
Checklist C-200, C-206, C-220.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from ...compiler.media.table import measures
from ...compiler.request.request import Media, MediaKind
from ...schema.artifact import Artifact, is_address
from ...schema.errors import InvalidInput
from ...schema.vocabulary import parse
from ..artifacts.artifacts import Artifacts, kind_of_file, records_of
from ..encoders.encoder import chunks_of

LISTS: Final = ("evidence", "pinned")
"""The parameters of a compile whose items may name an artifact."""
_PART_CHARS: Final = 4_000
"""A page or two: a part is ranked as a whole, and the best of them go in."""


def with_originals(parameters: Mapping[str, Any], artifacts: Artifacts) -> dict[str, Any]:
    """Return the parameters of a compile with the text of every artifact they name.

    Raises:
        InvalidInput: `bad_artifact`, `invalid_encoding`.
        NotFound: `unknown_artifact`, `erased`.
    """
    request = dict(parameters)
    for name in LISTS:
        items: object = request.get(name)
        if isinstance(items, Sequence) and not isinstance(items, str):
            sequence = cast("Sequence[object]", items)
            request[name] = tuple(part for item in sequence for part in _items(item, artifacts))

    return request


def _items(item: object, artifacts: Artifacts) -> Sequence[object]:
    if isinstance(item, str):
        return _evidence({"artifact": item}, artifacts) if is_address(item) else (item,)

    if isinstance(item, Mapping):
        fields = cast("Mapping[str, Any]", item)
        if "artifact" in fields:
            return _evidence(fields, artifacts)
        _check(fields.get("uri"), artifacts)
        return (fields,)

    if isinstance(item, Media):
        _check(item.uri, artifacts)

    return (item,)


def _evidence(fields: Mapping[str, Any], artifacts: Artifacts) -> list[dict[str, Any]]:
    address = fields["artifact"]
    if not isinstance(address, str):
        raise InvalidInput(f"{address!r:.80} is no address of an artifact", code="bad_artifact")

    artifact = artifacts.info(address)
    if "kind" in fields or ("text" not in fields and kind_of_file(artifact.media_type)):
        return [_media(fields, artifact, artifacts)]

    other_fields = {name: value for name, value in fields.items() if name != "artifact"}
    evidence = {"title": artifact.name, **other_fields, "origin": address}
    if "text" in fields:
        return [evidence]

    text = artifacts.text(address)
    parts = chunks_of(text, limit=_PART_CHARS, count=len)
    if len(parts) == 1:
        return [{**evidence, "text": text}]

    return [
        {**evidence, "text": p, "span": f"part {n} of {len(parts)}"} for n, p in enumerate(parts, 1)
    ]


def _media(fields: Mapping[str, Any], artifact: Artifact, artifacts: Artifacts) -> dict[str, Any]:
    """Return an artifact as the media item that its bytes are; what the caller states wins."""
    kind = parse(MediaKind, fields.get("kind", kind_of_file(artifact.media_type)))
    other_fields = {name: value for name, value in fields.items() if name != "artifact"}
    media_item = {
        "description": artifact.name,
        **other_fields,
        "kind": kind.value,
        "uri": artifact.address,
    }
    if kind is not MediaKind.STRUCTURED:
        return {**measures(artifacts.get(artifact.address), kind), **media_item}

    text = artifacts.text(artifact.address)
    rows = records_of(text, name=artifact.name, media_type=artifact.media_type)

    return {"records": rows, **media_item}


def _check(uri: object, artifacts: Artifacts) -> None:
    if isinstance(uri, str) and is_address(uri):
        artifacts.info(uri)
