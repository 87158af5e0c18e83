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

    def __post_init__(self) -> None:
        _check(patch_px=self.patch_px, tokens_per_patch=self.tokens_per_patch)
        if self.tile_px is not None:
            _check(tile_px=self.tile_px)


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioRule:
    """How a model cuts sound into tokens."""

    frame_ms: int = 25
    tokens_per_frame: int = 1

    def __post_init__(self) -> None:
        _check(frame_ms=self.frame_ms, tokens_per_frame=self.tokens_per_frame)


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


def audio_tokens(duration_ms: int, rule: AudioRule | None = None) -> int:
    """The tokens of a recording.

    >>> audio_tokens(60_000)
    2400

    Raises:
        InvalidInput: `bad_media`, for a duration below 1.
    """
    _check(duration_ms=duration_ms)
    frames = rule or AudioRule()
    return -(-duration_ms // frames.frame_ms) * frames.tokens_per_frame


def video_tokens(frames: int, tokens_per_frame: int, *, audio_track: int = 0) -> int:
    """The tokens of sampled frames and the audio track.

    Raises:
        InvalidInput: `bad_media`, for no frame or a negative track.
    """
    _check(frames=frames, tokens_per_frame=tokens_per_frame, audio_track=audio_track + 1)
    return frames * tokens_per_frame + audio_track


def sampled_frames(duration_ms: int, per_minute: int = 60) -> int:
    """How many frames a sampling rate takes, at least one; one a second by default.

    Raises:
        InvalidInput: `bad_media`, for a duration or rate below 1.
    """
    _check(duration_ms=duration_ms, per_minute=per_minute)
    return -(-duration_ms * per_minute // 60_000)


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


def image_utility(*, density: int, relevance: int, resolved: int = _PERMILLE) -> int:
    """The utility of a picture: information density, relevance, and resolution kept.

    All in permille, and each can only lower it.
    """
    return _product(density, relevance, resolved)


def audio_utility(*, speech: int, relevance: int, acoustic: int) -> int:
    """The utility of sound beyond its transcript.

    `speech` is the share that is speech, `acoustic` how far the task needs tone, speaker or
    effects: speech that a transcript can give adds nothing where they do not matter.
    """
    share = _PERMILLE - _product(_permille(speech), _PERMILLE - _permille(acoustic))
    return _product(share, relevance)


def structured_utility(*, relevance: int, needed_rows: int) -> int:
    """The utility of a full table: relevance by the share of rows the task needs."""
    return _product(relevance, needed_rows)


@dataclass(frozen=True, slots=True)
class Substitution:
    """The verdict over one item."""

    original: MediaItem
    replacement: MediaItem
    saved_tokens: int
    """0 when the original stays."""


def substitute(
    original: MediaItem, stand_ins: Iterable[MediaItem], *, fidelity_permille: int = 900
) -> Substitution:
    """The cheapest stand-in that keeps the share of utility, else the original.

    Ties go to the greater utility, then to the smaller id.

    Raises:
        InvalidInput: `bad_media`, for a share outside 0..1000.
    """
    _permille(fidelity_permille)
    # Products of whole numbers on both sides: a division would round a stand-in in or out.
    floor = original.utility_permille * fidelity_permille
    fit: list[MediaItem] = []
    for item in stand_ins:
        if item.tokens < original.tokens and item.utility_permille * _PERMILLE >= floor:
            fit.append(item)

    best = min(fit, key=lambda i: (i.tokens, -i.utility_permille, i.id), default=original)
    return Substitution(original, best, original.tokens - best.tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossModalReference:
    """A typed link from what was extracted to what it was extracted from."""

    source_id: str
    """The original, for instance the picture."""
    target_id: str
    """What was made of it, for instance the text."""
    source_modality: Modality
    target_modality: Modality
    method: str
    """How it was extracted: `ocr`, `transcript`, `caption`, …"""
    confidence_permille: int

    def __post_init__(self) -> None:
        _permille(self.confidence_permille)
        if self.source_id == self.target_id or not self.method:
            raise InvalidInput(
                "a cross-modal reference links two items and names its method",
                code="bad_media",
            )

    def line(self) -> str:
        """The link as one line for a block's header."""
        confidence = (
            f"{self.confidence_permille // _PERMILLE}.{self.confidence_permille % _PERMILLE:03}"
        )
        return (
            f"{self.target_id} ({self.target_modality.value}) extracted from {self.source_id} "
            f"({self.source_modality.value}) via {self.method}, confidence {confidence}"
        )


def reference_to(substitution: Substitution, confidence_permille: int) -> CrossModalReference:
    """The link from a stand-in to its original.

    Raises:
        InvalidInput: `bad_media`, when the original stayed.
    """
    original, replacement = substitution.original, substitution.replacement
    return CrossModalReference(
        source_id=original.id,
        target_id=replacement.id,
        source_modality=original.modality,
        target_modality=replacement.modality,
        method=replacement.method,
        confidence_permille=confidence_permille,
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


def _product(*parts: int) -> int:
    product = _PERMILLE
    for part in parts:
        product = product * _permille(part) // _PERMILLE
    return product


def _permille(permille: int) -> int:
    if not 0 <= permille <= _PERMILLE:
        raise InvalidInput(f"{permille} is outside 0..1000 permille", code="bad_media")
    return permille


def _check(**sizes: int) -> None:
    for name, value in sizes.items():
        if value < 1:
            raise InvalidInput(f"{name} must be at least 1, not {value!r}", code="bad_media")
