"""What the bytes of media say of themselves: type, size and length.

Read from the first bytes, with nothing but the standard library and without decoding: PNG, GIF,
JPEG, WebP and BMP; WAV and FLAC; MP4 and QuickTime. The size of a JPEG is that of the upright
picture: what its camera's orientation turns is turned. What is not told is not guessed.
Checklist C-188 to C-190.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from ..request.request import MediaKind

_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of a frame header."""
_EXIF: Final = 0xE1
_ORIENTATION: Final = 0x0112
_LYING: Final = range(5, 9)
"""Orientations in which width and height change places."""
_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
)
_RIFF: Final = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def media_type_of(data: bytes) -> str:
    """The media type that bytes show by how they begin; empty when they do not.

    >>> media_type_of(b"GIF89a...")
    'image/gif'
    """
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    if len(data) > 1 and data[0] == 0xFF and data[1] & 0xE6 == 0xE2:  # a frame of layer 3
        return "audio/mpeg"

    return next((media_type for magic, media_type in _MAGIC if data.startswith(magic)), "")


def measures(data: bytes, kind: MediaKind) -> dict[str, int | float]:
    """Return `width` and `height` in pixels, `seconds`, as far as the file tells them."""
    if kind is MediaKind.IMAGE:
        return _plain(width=_picture(data))
    if kind is MediaKind.AUDIO:
        return _plain(seconds=_wav(data) or _flac(data) or _film(data)[1])

    if kind is MediaKind.VIDEO:
        size, seconds = _film(data)
        return _plain(width=size, seconds=seconds)

    return {}


def _plain(
    width: tuple[int, int] | None = None, seconds: float | None = None
) -> dict[str, int | float]:
    size = {"width": width[0], "height": width[1]} if width and all(width) else {}
    return {**size, **({"seconds": round(seconds, 3)} if seconds else {})}


def _picture(data: bytes) -> tuple[int, int] | None:
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return _pair(">II", data, 16)
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return _pair("<HH", data, 6)

    if data[:2] == b"BM" and len(data) >= 26:
        width, height = _pair("<ii", data, 18)
        return abs(width), abs(height)

    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)

    return _jpeg(data) if data[:2] == b"\xff\xd8" else None


def _pair(form: str, data: bytes, offset: int) -> tuple[int, int]:
    first, second = struct.unpack_from(form, data, offset)
    return int(first), int(second)


def _webp(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8 ":
        width, height = _pair("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF

    if form == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1

    if form == b"VP8X":
        width, height = (int.from_bytes(data[offset : offset + 3], "little") for offset in (24, 27))
        return width + 1, height + 1

    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    offset, lies = 2, False
    while offset + 9 <= len(data) and data[offset] == 0xFF:
        marker, size = data[offset + 1], int.from_bytes(data[offset + 2 : offset + 4], "big")
        if marker in _FRAMES:
            height, width = _pair(">HH", data, offset + 5)
            return (height, width) if lies else (width, height)

        if marker == _EXIF:
            lies = _orientation(data[offset + 4 : offset + 2 + size]) in _LYING
        offset += 2 + size

    return None


def _orientation(exif: bytes) -> int:
    """How an Exif segment says that the picture is turned, 1 when it does not."""
    tiff = exif.removeprefix(b"Exif\0\0")
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if tiff is exif or order is None or len(tiff) < 10:
        return 1

    (offset,) = struct.unpack_from(order + "I", tiff, 4)
    for entry in range(offset + 2, len(tiff) - 11, 12):
        tag, _, _, value = struct.unpack_from(order + "HHIH", tiff, entry)
        if tag == _ORIENTATION:
            return int(value)

    return 1


def _wav(data: bytes) -> float | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return None

    offset, rate = 12, 0
    while offset + 8 <= len(data):
        name, size = (
            data[offset : offset + 4],
            int.from_bytes(data[offset + 4 : offset + 8], "little"),
        )
        if name == b"fmt " and offset + 20 <= len(data):
            rate = int.from_bytes(data[offset + 16 : offset + 20], "little")

        if name == b"data":
            return min(size, len(data) - offset - 8) / rate if rate else None
        offset += 8 + size + size % 2

    return None


def _flac(data: bytes) -> float | None:
    if data[:4] != b"fLaC" or len(data) < 26:
        return None
    bits = int.from_bytes(data[18:26], "big")
    rate, samples = bits >> 44, bits & 0xFFFFFFFFF
    return samples / rate if rate else None


def _film(data: bytes) -> tuple[tuple[int, int] | None, float | None]:
    """The size and the length that the boxes of an MP4 or QuickTime file tell."""
    size: tuple[int, int] | None = None
    seconds: float | None = None
    for name, body in _boxes(data):
        if name == b"mvhd" and len(body) >= 32:
            wide = body[0] == 1
            scale, length = struct.unpack_from(">IQ" if wide else ">II", body, 20 if wide else 12)
            seconds = length / scale if scale else None

        if name == b"tkhd" and len(body) >= 84:
            width, height = (side >> 16 for side in struct.unpack(">II", body[-8:]))
            size = (width, height) if width and height else size

    return size, seconds


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The boxes of a file, those inside the movie and its tracks too."""
    offset = 0
    while offset + 8 <= len(data):
        size, name = int.from_bytes(data[offset : offset + 4], "big"), data[offset + 4 : offset + 8]
        head = 8
        if size == 1:
            size, head = int.from_bytes(data[offset + 8 : offset + 16], "big"), 16

        if size == 0:
            size = len(data) - offset

        if size < head:
            return
        body = data[offset + head : offset + size]
        if name in (b"moov", b"trak"):
            yield from _boxes(body)
        else:
            yield name, body

        offset += size
