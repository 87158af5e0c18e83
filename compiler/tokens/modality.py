"""What pictures, sound and film cost in tokens, and when a cheaper stand-in replaces them.

Counts follow the provider's patches and frames, which the caller states as a rule, because they
differ by model. A stand-in (OCR text for a picture, a transcript for sound) replaces its original
when it costs less and keeps the stated share of the utility. Text that was read from a picture
keeps a typed link to it, so that a model can check one against the other.

Sizes are pixels, durations milliseconds, utilities permille; nothing is decoded here and no media
is changed. Checklist C-188 to C-190, C-192, C-194 to C-196.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from ...schema.errors import InvalidInput
from ...schema.records import FrozenDict, short_repr

FRAME_MS: Final = 25
"""Milliseconds of sound in one token."""
_PERMILLE: Final = 1000


class Modality(StrEnum):
    """What an item is made of."""

    TEXT = "text"
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"
    STRUCTURED = "structured"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRule:
    """How a model cuts pictures into tokens."""

    patch_px: int
    """Edge of a patch."""
    tokens_per_patch: int = 1
    tile_px: int | None = None
    """Edge of a tile that is counted by itself; None when the picture is taken whole."""
    overview: bool = False
    """Whether a tiled picture is sent once more, shrunk to one tile."""


def image_tokens(width_px: int, height_px: int, rule: ImageRule) -> int:
    """The tokens of a picture.

    A picture larger than a tile is cut into tiles whose parts are counted one by one.

    >>> image_tokens(1000, 500, ImageRule(patch_px=28))
    648

    Raises:
        InvalidInput: `bad_media`, for a size below 1.
    """
    _check(width_px=width_px, height_px=height_px)
    if rule.tile_px is None or max(width_px, height_px) <= rule.tile_px:
        return _patches(width_px, height_px, rule)

    tiles = [
        _patches(width, height, rule)
        for width in _cut(width_px, rule.tile_px)
        for height in _cut(height_px, rule.tile_px)
    ]
    return sum(tiles) + (_patches(rule.tile_px, rule.tile_px, rule) if rule.overview else 0)


def audio_tokens(duration_ms: int) -> int:
    """The tokens of a recording, one a frame.

    >>> audio_tokens(60_000)
    2400

    Raises:
        InvalidInput: `bad_media`, for a duration below 1.
    """
    _check(duration_ms=duration_ms)
    return -(-duration_ms // FRAME_MS)


def video_tokens(frames: int, tokens_per_frame: int, *, audio_track: int = 0) -> int:
    """The tokens of sampled frames and the audio track.

    Raises:
        InvalidInput: `bad_media`, for no frame or a negative track.
    """
    _check(frames=frames, tokens_per_frame=tokens_per_frame, audio_track=audio_track + 1)
    return frames * tokens_per_frame + audio_track


def sampled_frames(duration_ms: int) -> int:
    """How many frames of a film are sent: one a second, at least one.

    Raises:
        InvalidInput: `bad_media`, for a duration below 1.
    """
    _check(duration_ms=duration_ms)
    return -(-duration_ms // 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaItem:
    """One item of evidence in any modality, or a stand-in for one."""

    __repr__ = short_repr

    id: str
    modality: Modality
    tokens: int
    utility_permille: int
    """Worth for the task at hand."""
    method: str = "original"
    """How it was made: `ocr`, `transcript`, `crop`, …"""


def substitute(
    original: MediaItem, stand_ins: Iterable[MediaItem], *, fidelity_permille: int = 900
) -> MediaItem:
    """The cheapest stand-in that keeps the share of utility, else the original.

    Ties go to the greater utility, then to the smaller id.
    """
    # Products of whole numbers on both sides: a division would round a stand-in in or out.
    floor = original.utility_permille * fidelity_permille
    fit: list[MediaItem] = []
    for item in stand_ins:
        if item.tokens < original.tokens and item.utility_permille * _PERMILLE >= floor:
            fit.append(item)

    return min(fit, key=lambda i: (i.tokens, -i.utility_permille, i.id), default=original)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossModalReference:
    """A typed link from what was extracted to what it was extracted from."""

    source: MediaItem
    """The original, for instance the picture."""
    target: MediaItem
    """What was made of it, for instance the text; its `method` says how."""
    confidence_permille: int

    def line(self) -> str:
        """The link as one line for a block's header."""
        source, target = self.source, self.target
        return (
            f"{target.id} ({target.modality.value}) extracted from {source.id} "
            f"({source.modality.value}) via {target.method}, confidence "
            f"{self.confidence_permille / _PERMILLE:.3f}"
        )


def evidence_split(items: Iterable[MediaItem]) -> Mapping[Modality, int]:
    """The evidence tokens of each modality, all five named; their sum is the section's."""
    split = dict.fromkeys(Modality, 0)
    for item in items:
        split[item.modality] += item.tokens
    return FrozenDict(split)


def _patches(width: int, height: int, rule: ImageRule) -> int:
    columns, rows = -(-width // rule.patch_px), -(-height // rule.patch_px)
    return columns * rows * rule.tokens_per_patch


def _cut(length: int, tile: int) -> Sequence[int]:
    tiles, remainder = divmod(length, tile)
    return [tile] * tiles + ([remainder] if remainder else [])


def _check(**sizes: int) -> None:
    for name, value in sizes.items():
        if value < 1:
            raise InvalidInput(f"{name} must be at least 1, not {value!r}", code="bad_media")
