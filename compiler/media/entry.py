"""How the media of a request stand in an envelope: what is sent, what stands in, what is named.

Every item is named in the text, whatever became of it, so that its original can be asked for.
Parts of an original are named as media fragments (`a.wav#t=12,30.5`, `a.png#xywh=0,0,300,200`;
W3C Media Fragments URI 1.0), which whoever holds the bytes cuts out.
Checklist C-193 to C-196.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final

from ...schema.short_repr import short_repr
from ..request.request import Box, Media, MediaSegment
from ..tokens.modality import MediaItem, Modality, evidence_split

POINTER: Final = "pointer"
"""The method of an item that is only named."""
ORIGINAL_METHODS: Final = frozenset(
    {"original", "cropped", "downsampled", "segments", "fewer_frames"}
)
"""Methods by which an original, or a part of it, is sent beside the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaEntry:
    """How one media item enters the envelope."""

    __repr__ = short_repr

    media: Media
    text: str
    """What stands in the evidence section, before containment."""
    item: MediaItem
    """What is sent beside the text, or the text that stands in; a table's tokens are its text's."""
    saved_tokens: int = 0
    size: tuple[int, int] | None = None
    """Width and height to resize a picture or film to; None when its size stays."""
    region: Box | None = None
    """The part of a picture to cut out, before it is resized."""
    segments: tuple[MediaSegment, ...] = ()
    """Of a recording or film: what is sent of it; empty: all."""
    frames: int = 0
    """Of a film: how many frames are taken from it; 0 when none is left out."""
    form: str = ""
    """Of a table: how its records are written."""
    note: str = ""
    """What was left out."""
    reference: str = ""
    """The cross-modal link of a stand-in to its original."""

    @property
    def attachment_tokens(self) -> int:
        """The tokens that are sent beside the text."""
        # A table's tokens are those of its text, so they are counted there.
        if self.item.method not in ORIGINAL_METHODS or self.item.modality is Modality.STRUCTURED:
            return 0

        return self.item.tokens

    @property
    def withheld(self) -> bool:
        """Whether nothing but its name goes in."""
        return self.item.method == POINTER

    @property
    def parts(self) -> tuple[str, ...]:
        """The addresses of the parts that are sent."""
        if self.region is not None:
            left, top, right, bottom = self.region
            return (f"{self.media.uri}#xywh={left},{top},{right - left},{bottom - top}",)

        return tuple(
            f"{self.media.uri}#t={seconds(segment.start)},{seconds(segment.end)}"
            for segment in self.segments
        )

    def to_dict(self) -> dict[str, Any]:
        """The item as the trace lists it, empty fields left out."""
        row = {
            "uri": self.media.uri,
            "modality": self.item.modality.value,
            "sent_as": self.item.method,
            "tokens": self.item.tokens,
            "saved_tokens": self.saved_tokens,
            "size": None if self.size is None else list(self.size),
            "parts": list(self.parts),
            "frames": self.frames,
            "form": self.form,
            "note": self.note,
            "reference": self.reference,
        }
        return {name: value for name, value in row.items() if value or name == "tokens"}


@dataclass(frozen=True, slots=True)
class MediaPlan:
    """All media of a request, in its order."""

    entries: tuple[MediaEntry, ...] = ()

    @property
    def tokens(self) -> int:
        """The tokens that are sent beside the text."""
        return sum(map(attrgetter("attachment_tokens"), self.entries))

    @property
    def texts(self) -> tuple[str, ...]:
        """What stands in the text for each item."""
        return tuple(map(attrgetter("text"), self.entries))

    def split(self) -> dict[str, int]:
        """The tokens by modality of what is shown; stand-ins count as text."""
        tokens_by_modality = evidence_split(entry.item for entry in self.entries)
        split: dict[str, int] = {}
        for modality, tokens in tokens_by_modality.items():
            split[modality.value] = tokens
        return split


def seconds(number: float) -> str:
    """Return seconds as addresses write them, to a millisecond.

    >>> seconds(30.5), seconds(86400.0)
    ('30.5', '86400')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".")


def media_text(media: Media, *, notes: Sequence[str] = ()) -> str:
    """What names a media item in the text, with notes of what was done to it."""
    size = f" {media.width}x{media.height}" if media.width and media.height else ""
    length = f" {media.seconds:g}s" if media.seconds else ""
    address = f" {media.uri}" if media.uri else ""
    lines = [f"[{media.kind.value}{size}{length}{address}]", *notes, media.description]
    return "\n".join(filter(None, lines))
