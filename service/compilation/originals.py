"""Originals in a request: evidence that names an artifact gets its text, when the caller may read.

An item that is an address, or `{"artifact": address}`, stands for the whole text; with a `text`
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

from ...compiler.media.measures import measures
from ...compiler.request.request import Media, MediaKind
from ...schema.artifact import Artifact, is_address
from ...schema.errors import InvalidInput
from ...schema.vocabulary import parse
from ..artifacts.artifacts import Artifacts
from ..artifacts.files import kind_of_file, records_of
from ..encoders.chunking import chunked

_LISTS: Final = ("evidence", "pinned")
_PART_CHARS: Final = 4_000
"""A page or two: a part is ranked as a whole, and the best of them go in."""


def fetched(given: Mapping[str, Any], artifacts: Artifacts) -> dict[str, Any]:
    """Return the parameters of a compile with the text of every artifact they name.

    Raises:
        InvalidInput: `bad_artifact`, `invalid_encoding`.
        NotFound: `unknown_artifact`, `erased`.
    """
    stated = dict(given)
    for name in _LISTS:
        items: object = stated.get(name)
        if isinstance(items, Sequence) and not isinstance(items, str):
            held = cast("Sequence[object]", items)
            stated[name] = tuple(part for each in held for part in _items(each, artifacts))
    return stated


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
    found = artifacts.info(address)
    if "kind" in fields or ("text" not in fields and kind_of_file(found.media_type)):
        return [_media(fields, found, artifacts)]
    rest = {name: value for name, value in fields.items() if name != "artifact"}
    stated = {"title": found.name, **rest, "origin": address}
    if "text" in fields:
        return [stated]
    whole = artifacts.text(address)
    parts = chunked(whole, most=_PART_CHARS, count=len)
    if len(parts) == 1:
        return [{**stated, "text": whole}]
    return [
        {**stated, "text": p, "span": f"part {n} of {len(parts)}"} for n, p in enumerate(parts, 1)
    ]


def _media(fields: Mapping[str, Any], found: Artifact, artifacts: Artifacts) -> dict[str, Any]:
    """Return an artifact as the media item that its bytes are; what the caller states wins."""
    kind = parse(MediaKind, fields.get("kind", kind_of_file(found.media_type)))
    rest = {name: value for name, value in fields.items() if name != "artifact"}
    stated = {"description": found.name, **rest, "kind": kind.value, "uri": found.address}
    if kind is not MediaKind.STRUCTURED:
        return {**measures(artifacts.get(found.address), kind), **stated}
    text = artifacts.text(found.address)
    rows = records_of(text, name=found.name, media_type=found.media_type)
    return {"records": rows, **stated}


def _check(uri: object, artifacts: Artifacts) -> None:
    if isinstance(uri, str) and is_address(uri):
        artifacts.info(uri)
