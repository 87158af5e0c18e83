"""The pictures and files of a session, apart from its words. Checklist C-314.

A picture or a file is no text: it is counted by its kind, leaves for a line that names it, and
comes back as the block in which its provider takes it, never as pages of base64.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, cast

from .units import PartKind, WindowUnit, pointer

_MEDIA_TYPE: Final = re.compile(r"(?:image|audio|video|application|text)/[a-z0-9.+-]{1,40}")
_NAME_FIELDS: Final = ("title", "filename", "file_name", "display_name", "displayName")
_LONGEST_NAME: Final = 60


class ScratchpadKind(StrEnum):
    """What a part that is no text is."""

    PICTURE = "picture"
    FILE = "file"
    SOUND = "sound"


_KINDS: Final = {
    "image": ScratchpadKind.PICTURE,
    "image_url": ScratchpadKind.PICTURE,
    "input_image": ScratchpadKind.PICTURE,
    "input_audio": ScratchpadKind.SOUND,
}
"""By the type of a provider's block; what stands in no row is told by its media type."""
_FAMILIES: Final = {"image": ScratchpadKind.PICTURE, "audio": ScratchpadKind.SOUND}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScratchpadEntry:
    """A picture or a file of a session."""

    address: str
    turn: int
    kind: ScratchpadKind
    media_type: str
    """Such as `image/png`; empty where its block states none."""
    name: str
    """The name of a file as its sender states it: data, cut to sixty characters."""
    tokens: int
    stands: bool
    """Whether it is sent with the next request, or a line stands for it."""


def scratchpad_entries(
    history: Sequence[WindowUnit], standing: Sequence[WindowUnit]
) -> Iterator[ScratchpadEntry]:
    """Every picture and file of a history, oldest first, and whether it stands in a window."""
    places: set[tuple[int, int]] = set()
    for unit in standing:
        for item in unit.of_kind(PartKind.MEDIA):
            places.add((item.seq, item.part))

    for unit in history:
        for item in unit.of_kind(PartKind.MEDIA):
            kind, media_type, name = media_description(item.text)
            yield ScratchpadEntry(
                address=pointer(unit.number),
                turn=unit.turn,
                kind=kind,
                media_type=media_type,
                name=name,
                tokens=item.tokens,
                stands=(item.seq, item.part) in places,
            )


def media_blocks(units: Sequence[WindowUnit]) -> list[dict[str, Any]]:
    """The pictures and files of units as the blocks in which they came."""
    blocks: list[dict[str, Any]] = []
    for unit in units:
        for item in unit.of_kind(PartKind.MEDIA):
            blocks.append(json.loads(item.text))
    return blocks


def media_line(number: int, blocks: Sequence[str]) -> str:
    """What stands for the pictures and files of a message, each given as its provider's JSON.

    >>> media_line(7, ['{"type":"image","source":{"media_type":"image/png","data":"aGk="}}'])
    '[1 picture: image/png. Original: window://7]'
    """
    counts: Counter[ScratchpadKind] = Counter()
    words: dict[str, None] = {}
    for block in blocks:
        kind, media_type, name = media_description(block)
        counts[kind] += 1
        label = f"{media_type or 'of unknown format'} {json.dumps(name) if name else ''}"
        words[label.rstrip()] = None

    # A sound takes no plural that a bare s would not make.
    amounts = [f"{count} {kind.value}{'s' * (count > 1)}" for kind, count in counts.items()]
    return f"[{' and '.join(amounts)}: {', '.join(words)}. Original: {pointer(number)}]"


def with_media_line(words: str, number: int, blocks: Sequence[str]) -> str:
    """Words with the line about pictures and files behind them, or that line alone."""
    line = media_line(number, blocks)
    return f"{words}\n{line}" if words.strip() else line


def media_description(block: str) -> tuple[ScratchpadKind, str, str]:
    """The kind, the media type and the name of a block, given as its provider's JSON."""
    tree = json.loads(block)
    match = _MEDIA_TYPE.search(block)
    media_type = match[0] if match else ""
    family = media_type.partition("/")[0]
    kind = _KINDS.get(str(tree.get("type"))) or _FAMILIES.get(family, ScratchpadKind.FILE)
    return kind, media_type, _name_in(tree)


def _name_in(tree: Mapping[str, Any]) -> str:
    """The name that a block or something in it states."""
    for field in _NAME_FIELDS:
        if isinstance(tree.get(field), str):
            return cast(str, tree[field])[:_LONGEST_NAME]
    for value in tree.values():
        if isinstance(value, dict):
            name = _name_in(cast("dict[str, Any]", value))
            if name:
                return name
    return ""
