"""Pages of the lists of `/v1`: a cursor that is good for one caller, one question, one moment.

A cursor says behind which entry the next page begins, by the entry and not by a number alone, so
that what comes or goes before it moves nothing. It is signed over who asks, what is asked and as
of when; edited, or sent with another question or by another caller, it opens nothing. A view's
later pages are read as of the point of the first one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import typing
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as DecodingError
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from ...schema.errors import InvalidInput
from ...service.calls.run import plain, request_model, run
from ...service.calls.table import Call
from ...service.client.memory import Memory
from .control import ControlFile
from .identity import principal_json

LARGEST_PAGE: Final = 500
"""Entries of the largest page."""

NDJSON: Final = "application/x-ndjson"
"""The media type that asks for every entry, one a line."""

FIELDS: Final = ("page_size", "cursor")
"""The fields of a request that ask for a page."""

_SEAL_BYTES: Final = 16
_LIMIT: Final = "limit"
_POINT: Final = ("valid", "tx")


def is_listing(call: Call) -> bool:
    """Whether a call answers a list, so that it has pages."""
    return not call.writes and typing.get_origin(call.answer) is tuple


class PageRequest(NamedTuple):
    """What a request says of the page that it wants."""

    size: int
    cursor: str | None
    """None for the first page."""

    @classmethod
    def of_query(cls, parameters: Mapping[str, str]) -> PageRequest | None:
        """The page that query parameters ask for; None where they ask for none.

        Raises:
            InvalidInput: `bad_request` for a size that is no number in its range.
        """
        if not any(name in parameters for name in FIELDS):
            return None

        size = parameters.get("page_size", str(LARGEST_PAGE))
        if not size.isascii() or not size.isdecimal() or not 1 <= int(size[:9]) <= LARGEST_PAGE:
            raise InvalidInput(
                f"page_size is a number from 1 to {LARGEST_PAGE}",
                code="bad_request",
                field="page_size",
            )
        return cls(int(size), parameters.get("cursor"))


class _Place(NamedTuple):
    """Where a page begins."""

    position: int
    """How many entries stood before it."""
    last_entry: str
    """The digest of the entry before it; empty for the first page."""
    point: Mapping[str, str | None]
    """The valid and tx that a view is read at."""


@dataclass(frozen=True, slots=True)
class Pager:
    """The pages of one caller."""

    control: ControlFile
    memory: Memory

    def page(self, call: Call, arguments: dict[str, Any], page_request: PageRequest) -> bytes:
        """A page of a list as JSON: `items`, `next_cursor`, and the point of a view.

        Raises:
            InvalidInput: `bad_cursor`; or whatever the call refuses with.
        """
        question = json.dumps([call.name, arguments], sort_keys=True, default=str)
        place = _Place(0, "", {})
        if page_request.cursor is not None:
            place = self._place_of(page_request.cursor, question)

        if call.part == "view":
            place = place._replace(point=place.point or self._point(arguments))
            arguments |= place.point
        elif _LIMIT in request_model(call).model_fields and _LIMIT not in arguments:
            # Further than the page reaches: entries that came meanwhile have moved the place down.
            arguments[_LIMIT] = place.position + page_request.size + LARGEST_PAGE

        entries: Sequence[object] = run(self.memory, call, arguments)
        texts = EntryTexts(call)
        start = _start(texts, entries, place)
        end = start + page_request.size
        lines = [texts.text(entry) for entry in entries[start:end]]

        cursor: str | None = None
        if end < len(entries):
            cursor = self._cursor(_Place(end, _digest(lines[-1]), place.point), question)
        tail = {"next_cursor": cursor, **place.point}
        return b'{"items":[' + b",".join(lines) + b"]," + json.dumps(tail).encode()[1:]

    def _point(self, arguments: Mapping[str, Any]) -> dict[str, str | None]:
        """The point that a view without one is pinned at from now on."""
        view = self.memory.as_of(*(arguments.get(name) for name in _POINT))
        moments = (view.valid, view.tx)
        return {
            name: moment.isoformat() if moment else arguments.get(name)
            for name, moment in zip(_POINT, moments, strict=True)
        }

    def _cursor(self, place: _Place, question: str) -> str:
        body = json.dumps(place).encode()
        return urlsafe_b64encode(self._seal(body, question) + body).decode().rstrip("=")

    def _place_of(self, cursor: str, question: str) -> _Place:
        try:
            token = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        except (DecodingError, ValueError) as error:
            raise _bad_cursor() from error

        # Nothing of a body is read before its seal holds.
        seal, body = token[:_SEAL_BYTES], token[_SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(body, question)):
            raise _bad_cursor()
        return _Place(*json.loads(body))

    def _seal(self, body: bytes, question: str) -> bytes:
        caller = principal_json(self.memory.principal)
        text = json.dumps([caller, question, body.decode("latin-1")])
        return self.control.digest("cursor", text)[:_SEAL_BYTES]


class EntryTexts:
    """The entries of one list as JSON."""

    def __init__(self, call: Call) -> None:
        (entry_type, *_) = typing.get_args(call.answer)
        self._adapter: TypeAdapter[Any] = TypeAdapter(entry_type)

    def text(self, entry: object) -> bytes:
        """An entry in one line."""
        return self._adapter.dump_json(entry, fallback=plain, warnings=False)

    def lines(self, entries: Sequence[object]) -> Iterator[bytes]:
        """Every entry with the end of its line, made when its reader takes it."""
        for entry in entries:
            yield self.text(entry) + b"\n"


def _start(texts: EntryTexts, entries: Sequence[object], place: _Place) -> int:
    """Where the next page begins: behind the last entry, wherever it stands now."""
    if not place.last_entry:
        return 0

    # Little moves between two pages, so the entry is looked for from where it stood.
    positions = sorted(range(len(entries)), key=lambda n: abs(n - place.position + 1))
    for position in positions:
        if _digest(texts.text(entries[position])) == place.last_entry:
            return position + 1
    return min(place.position, len(entries))


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:24]


def _bad_cursor() -> InvalidInput:
    return InvalidInput(
        "this cursor is not one that this list handed out to this caller for this question; "
        "begin again without one",
        code="bad_cursor",
    )
