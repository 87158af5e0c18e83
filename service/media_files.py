"""What a file says of itself: the size of a picture, the length of a recording, a table's rows.

Read from the first bytes, with nothing but the standard library and without decoding: PNG, GIF,
JPEG, WebP and BMP; WAV and FLAC; MP4 and QuickTime. What is not told is not guessed: the compile
then counts it as one of ordinary size. Tables are CSV or TSV, JSON, or JSON Lines.
Source 000, 6.12; checklist C-188 to C-191.
"""

from __future__ import annotations

import csv
import io
import json
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from ..compiler.request import MAX_ITEMS, MediaKind
from ..schema.errors import InvalidInput

_KINDS: Final = {"image": MediaKind.IMAGE, "audio": MediaKind.AUDIO, "video": MediaKind.VIDEO}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)
_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of a frame header."""


def kind_of_file(media_type: str) -> MediaKind | None:
    """Return what a file of a media type is; None for what is text, or nothing we know."""
    return _KINDS.get(media_type.partition("/")[0])


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
        across, down = _pair("<ii", data, 18)
        return abs(across), abs(down)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    return _jpeg(data) if data[:2] == b"\xff\xd8" else None


def _pair(form: str, data: bytes, at: int) -> tuple[int, int]:
    first, second = struct.unpack_from(form, data, at)
    return int(first), int(second)


def _webp(data: bytes) -> tuple[int, int] | None:
    form = data[12:16]
    if form == b"VP8 ":
        across, down = _pair("<HH", data, 26)
        return across & 0x3FFF, down & 0x3FFF
    if form == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8X":
        across, down = (int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return across + 1, down + 1
    return None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAMES:
            down, across = _pair(">HH", data, at + 5)
            return across, down
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _wav(data: bytes) -> float | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        return None
    at, rate = 12, 0
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name == b"fmt " and at + 20 <= len(data):
            rate = int.from_bytes(data[at + 16 : at + 20], "little")
        if name == b"data":
            return min(size, len(data) - at - 8) / rate if rate else None
        at += 8 + size + size % 2
    return None


def _flac(data: bytes) -> float | None:
    if data[:4] != b"fLaC" or len(data) < 26:
        return None
    packed = int.from_bytes(data[18:26], "big")
    rate, samples = packed >> 44, packed & 0xFFFFFFFFF
    return samples / rate if rate else None


def _film(data: bytes) -> tuple[tuple[int, int] | None, float | None]:
    """Return the size and the length that the boxes of an MP4 or QuickTime file tell."""
    size: tuple[int, int] | None = None
    seconds: float | None = None
    for name, body in _boxes(data):
        if name == b"mvhd" and len(body) >= 32:
            wide = body[0] == 1
            scale, length = struct.unpack_from(">IQ" if wide else ">II", body, 20 if wide else 12)
            seconds = length / scale if scale else None
        if name == b"tkhd" and len(body) >= 84:
            across, down = (each >> 16 for each in struct.unpack(">II", body[-8:]))
            size = (across, down) if across and down else size
    return size, seconds


def _boxes(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the boxes of a file, those inside the movie and its tracks too."""
    at = 0
    while at + 8 <= len(data):
        size, name = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        head = 8
        if size == 1:
            size, head = int.from_bytes(data[at + 8 : at + 16], "big"), 16
        if size == 0:
            size = len(data) - at
        if size < head:
            return
        body = data[at + head : at + size]
        if name in (b"moov", b"trak"):
            yield from _boxes(body)
        else:
            yield name, body
        at += size


def records_of(text: str, *, name: str, media_type: str) -> list[Mapping[str, Any]]:
    """Return the rows of a table; numbers of a CSV file are read as numbers.

    Raises:
        InvalidInput: `bad_request`, for a text that is no table; `too_large`.
    """
    try:
        rows = _rows(text, name=name, media_type=media_type)
    except (ValueError, csv.Error) as error:
        raise _no_table(str(error)) from error
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise _no_table("it has no rows with named columns")
    if len(rows) > MAX_ITEMS:
        raise InvalidInput(
            f"the table has {len(rows)} rows, the limit is {MAX_ITEMS}; filter it first",
            code="too_large",
        )
    return cast("list[Mapping[str, Any]]", rows)


def _no_table(why: str) -> InvalidInput:
    return InvalidInput(
        f"the artifact is no table ({why}): give CSV, a JSON list of objects or JSON Lines, or "
        "leave out its kind to send it as text",
        code="bad_request",
    )


def _rows(text: str, *, name: str, media_type: str) -> list[object]:
    if text.lstrip().startswith("["):
        return cast("list[object]", json.loads(text))
    if text.lstrip().startswith("{"):
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    tabs = media_type == "text/tab-separated-values" or name.endswith(".tsv")
    read = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if tabs else ",")
    if len(read.fieldnames or ()) < 2 and "," not in text and "\t" not in text:
        raise ValueError("one column and no separator")
    return [{str(k): _cell(v) for k, v in row.items()} for row in read]


def _cell(value: object) -> object:
    """Return a cell as a number where it is written as one, so that leading zeros stay."""
    if not isinstance(value, str):
        return value
    if not _NUMBER.fullmatch(value):
        return value
    return float(value) if "." in value else int(value)
