"""What the bytes of media say of themselves: type, size and length.

Read from the headers, without decoding. The size of a picture is the one it is seen in: what its
camera's orientation turns is turned. What is not told, or told wrongly, is not guessed.
Headers of pictures are read by `imagesize`, those of recordings by `tinytag`; neither reads the
size of a film, which its tracks tell. It stands in the compiler, because a renderer holds what
it is given to what the budget took. Checklist C-188 to C-190.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import Final

from ..request.request import MediaKind

_MAGIC: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
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
        return _size(*_picture_size(data))
    if kind is MediaKind.AUDIO:
        return _length(data)
    if kind is MediaKind.VIDEO:
        return _size(*_film_size(data)) | _length(data)

    return {}


def _size(width: int, height: int) -> dict[str, int | float]:
    return {"width": width, "height": height} if width > 0 and height > 0 else {}


def _picture_size(data: bytes) -> tuple[int, int]:
    """Return width and height; 0 and less when the file does not tell them."""
    import imagesize  # pyright: ignore[reportMissingTypeStubs]  # few compiles carry pictures

    # It would read the text of a drawing too, which no provider takes as a picture.
    if not media_type_of(data).startswith("image/"):
        return 0, 0
    size: tuple[int, int] = imagesize.get(io.BytesIO(data))  # pyright: ignore[reportUnknownMemberType]
    return size


def _length(data: bytes) -> dict[str, int | float]:
    from tinytag import TinyTag, TinyTagException  # few compiles carry sound

    try:
        seconds = TinyTag.get(file_obj=io.BytesIO(data), tags=False).duration
    except TinyTagException:
        return {}
    return {"seconds": round(seconds, 3)} if seconds else {}


def _film_size(data: bytes) -> tuple[int, int]:
    """Return the size of the last track of an MP4 or QuickTime file that is seen."""
    size = (0, 0)
    for name, body in _boxes(data):
        if name == b"tkhd" and len(body) >= 84:
            width, height = struct.unpack(">II", body[-8:])
            size = (width >> 16, height >> 16) if width and height else size
    return size


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
