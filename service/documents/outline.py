"""The outline of a version: its headings, and where each of its passages stands in its text.

An outline is the value of the slot `document_version`. Passages stand in columns, about 36 bytes
each. What differs between an outline and a file is found here by ids alone: the id of a passage is
a keyed digest of its text, its heading and how many equal ones stand before it, so that equal
passages need no comparison and an id tells nobody the text. Pure.
"""

from __future__ import annotations

import hmac
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

from ...schema.values import canonical_json
from .cutting import Heading, heading_paths

FORM: Final = 1
_ID_CHARS: Final = 22


class OutlineEntry(NamedTuple):
    """Where a passage stands in a version."""

    passage_id: str
    """The object id that it had when it was first seen; a key of its own where it has moved."""
    key: str
    """The id that its text and heading give today."""
    page: int
    heading: int
    """Number of its heading, from 1; 0 above the first."""
    start: int
    length: int
    gap: str = "\n"
    """White space between it and what follows."""


@dataclass(frozen=True, kw_only=True)
class DocumentOutline:
    """A version of a document without its words."""

    root: str
    """What the keys of the passages derive from: the first name of the document."""
    digest: str
    """Keyed digest of the bytes."""
    title: str
    media_type: str
    reader: str
    cutter: int
    headings: tuple[Heading, ...]
    entries: tuple[OutlineEntry, ...] = ()
    dated: str
    """Where its effective date is from: `stated`, `front_matter`, `text`, `message`, `recorded`."""
    flagged: int = 0

    @cached_property
    def paths(self) -> tuple[tuple[str, ...], ...]:
        """The titles above a passage, by the number of its heading."""
        return heading_paths(self.headings)

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        """The place of each passage in `entries`, by passage id."""
        return {entry.passage_id: number for number, entry in enumerate(self.entries)}

    def to_value(self) -> dict[str, Any]:
        """The outline as the value of its slot; what most passages share is left out."""
        moved = {str(n): _short(e.key) for n, e in enumerate(self.entries) if e.key != e.passage_id}
        gaps = {str(n): e.gap for n, e in enumerate(self.entries) if e.gap != "\n"}
        return {
            "form": FORM,
            **{name: getattr(self, name) for name in _PLAIN},
            "headings": [list(heading) for heading in self.headings],
            "ids": "".join(_short(entry.passage_id) for entry in self.entries),
            "pages": _steps(entry.page for entry in self.entries),
            "under": _steps(entry.heading for entry in self.entries),
            "starts": _steps(entry.start for entry in self.entries),
            "lengths": [entry.length for entry in self.entries],
            "keys": moved,
            "gaps": gaps,
        }

    @classmethod
    def from_value(cls, value: Mapping[str, Any]) -> DocumentOutline:
        """The outline of a stored value."""
        ids = _long_ids(value["ids"])
        keys = list(ids)
        for number, key in value["keys"].items():
            (keys[int(number)],) = _long_ids(key)
        gaps = ["\n"] * len(ids)
        for number, gap in value["gaps"].items():
            gaps[int(number)] = gap

        steps = (accumulate(value[name]) for name in ("pages", "under", "starts"))
        columns = zip(ids, keys, *steps, value["lengths"], gaps, strict=True)
        return cls(
            **{name: value[name] for name in _PLAIN},
            headings=tuple(Heading(*row) for row in value["headings"]),
            entries=tuple(OutlineEntry(*column) for column in columns),
        )


_PLAIN: Final = (
    *("root", "digest", "title", "media_type", "reader", "cutter"),
    *("dated", "flagged"),
)


def keyed_id(secret: bytes, *fields: object) -> str:
    """An id that only this tenant can make of some fields."""
    message = canonical_json(list(fields)).encode("utf-8", "surrogatepass")
    return str(uuid.UUID(bytes=hmac.digest(secret, message, "sha256")[:16], version=5))


def passage_keys(
    document: str, secret: bytes, passages: Iterable[tuple[str, str]]
) -> tuple[str, ...]:
    """The ids of passages, given as (plain title of the heading, text) in their order.

    >>> first, second = passage_keys("doc", b"key", [("leave", "14 weeks"), ("leave", "14 weeks")])
    >>> first == second
    False
    """
    seen: Counter[tuple[str, str]] = Counter()
    keys: list[str] = []
    for title, text in passages:
        keys.append(keyed_id(secret, "passage", document, title, text, seen[title, text]))
        seen[title, text] += 1

    return tuple(keys)


class Difference(NamedTuple):
    """What a version changes of the version that holds where it begins."""

    ids: tuple[str, ...]
    """The passage id of each passage of the new version, in order."""
    closed: tuple[str, ...]
    """Passages that end."""
    opened: tuple[int, ...]
    """Numbers of the passages that begin."""
    moved: tuple[int, ...]
    """Numbers of the passages under another heading, or with other white space between words."""

    @property
    def kept(self) -> int:
        """How many passages stay as they are."""
        return len(self.ids) - len(self.opened) - len(self.moved)

    @property
    def written(self) -> tuple[int, ...]:
        """Numbers of the passages that are written, in order."""
        return tuple(sorted((*self.opened, *self.moved)))


def difference(
    before: Sequence[OutlineEntry],
    passages: Sequence[tuple[str, str]],
    by_words: Mapping[str, Sequence[str]],
) -> Difference:
    """What closes, opens and moves between the entries of a version and passages of another.

    Passages are given as (key, words); `by_words` has the ids of those of `before` that have some
    words and no key of another. What opens takes its key as its id, so that a passage that comes
    back goes on; the next one in a row where a passage that has moved keeps that id.
    """
    current = {entry.key: entry.passage_id for entry in before}
    used_ids = {current[key] for key, _ in passages if key in current}
    earlier_ids = {entry.passage_id for entry in before}
    ids: list[str] = []
    opened: list[int] = []
    moved: list[int] = []
    for number, (key, words) in enumerate(passages):
        passage_id = current.get(key)
        origins = [origin for origin in by_words.get(words, ()) if origin not in used_ids]
        if passage_id is None and origins:
            passage_id = origins[0]
            moved.append(number)
        elif passage_id is None:
            passage_id, count = key, 0
            while passage_id in used_ids or passage_id in earlier_ids:
                count += 1
                passage_id = str(uuid.uuid5(uuid.UUID(key), str(count)))
            opened.append(number)

        used_ids.add(passage_id)
        ids.append(passage_id)

    closed = [entry.passage_id for entry in before if entry.passage_id not in used_ids]
    return Difference(tuple(ids), tuple(closed), tuple(opened), tuple(moved))


def _short(object_id: str) -> str:
    return urlsafe_b64encode(uuid.UUID(object_id).bytes).rstrip(b"=").decode()


def _long_ids(text: str) -> list[str]:
    """The ids in a column of short ones, decoded at once: an outline may have thousands."""
    shorts = (text[at : at + _ID_CHARS] for at in range(0, len(text), _ID_CHARS))
    # Filled up to whole bytes, each takes 18 of them, of which 16 are its own.
    digits = urlsafe_b64decode("".join(f"{short}AA" for short in shorts)).hex()
    starts = range(0, len(digits), 36)
    return [
        f"{digits[n : n + 8]}-{digits[n + 8 : n + 12]}-{digits[n + 12 : n + 16]}"
        f"-{digits[n + 16 : n + 20]}-{digits[n + 20 : n + 32]}"
        for n in starts
    ]


def _steps(numbers: Iterable[int]) -> list[int]:
    """Numbers as the differences between neighbours, which are short."""
    return [number - last for last, number in pairwise((0, *numbers))]
