"""Pictures made as planned: upright, cut to a region, resized; with Pillow, from `[media]`.

A picture that may go out as it is stays byte for byte. What is made anew carries no metadata
(no place, no camera): an opaque JPEG or WebP, or what would be a huge PNG, becomes a JPEG,
everything else a PNG. Only plain raster formats are opened, and none whose pixels would fill the
memory.
Source 000, 6.12.3; checklist C-193.
"""

from __future__ import annotations

import io
import struct
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ...compiler.media.measures import measures, media_type_of
from ...compiler.render.media import SentMedia, planned_size
from ...compiler.request.request import MediaKind
from ...schema.errors import InvalidInput, Unavailable

if TYPE_CHECKING:
    from ...compiler.media.entry import MediaEntry

MOST_PIXELS: Final = 89_478_485
"""A quarter of a gigabyte as 24-bit colours, the limit of Pillow too: more is refused unread."""
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
_PLAIN: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What goes out as it is; a format that does not carry one of them says so."""
_LOSSY: Final = frozenset({"JPEG", "MPO", "WEBP"})
"""MPO is what some cameras write: a JPEG with a second one behind it."""
_QUALITY: Final = 90
_MOST_PNG: Final = 3_500_000
"""Bytes from which an opaque picture is written as a JPEG: providers refuse large inline files."""
_DAMAGE_ERRORS: Final = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error)
"""What Pillow raises for a file that is no picture, or only the beginning of one."""


def made_picture(data: bytes, picture: MediaEntry) -> SentMedia:
    """Return a picture as the plan sends it.

    Raises:
        InvalidInput: `bad_media`, for a file that is damaged, too large to open, or not of the
            size that was counted.
        Unavailable: `media_unavailable`, when it must be made anew and Pillow is not installed.
    """
    kind = media_type_of(data)
    if picture.item.method == "original" and kind in _PLAIN:
        return SentMedia(data=data, media_type=kind)

    # The header is read before Pillow opens anything: a small file may unpack to gigabytes.
    problem = measures(data, MediaKind.IMAGE)
    library, uri = _pillow(), picture.media.uri
    _check_pixels(int(problem.get("width", 0)), int(problem.get("height", 0)), uri=uri)
    bombs = library.DecompressionBombError, library.DecompressionBombWarning
    try:
        with library.open(io.BytesIO(data), formats=_FORMATS) as image:
            _check_pixels(image.width, image.height, uri=uri)
            return _encoding_of(_cut(_upright(image, picture), picture, library), str(image.format))
    except InvalidInput:
        raise
    except bombs as error:
        raise _too_large(uri) from error
    except _DAMAGE_ERRORS as error:
        raise _bad(
            f"{uri} cannot be read as a picture ({error}): keep it again as PNG or JPEG"
        ) from error


def _pillow() -> Any:
    try:
        return import_module("PIL.Image")
    except ModuleNotFoundError as error:
        if error.name not in ("PIL", "PIL.Image"):
            raise
        raise Unavailable(
            "pictures are cut and resized with Pillow, which is not installed; run: "
            "pip install 'tenure[media]'",
            code="media_unavailable",
        ) from error


def _bad(problem: str) -> InvalidInput:
    return InvalidInput(problem, code="bad_media")


def _too_large(uri: str) -> InvalidInput:
    return _bad(
        f"{uri} has more than {MOST_PIXELS:,} pixels and is not opened: keep a smaller picture"
    )


def _check_pixels(width: int, height: int, *, uri: str) -> None:
    if width * height > MOST_PIXELS:
        raise _too_large(uri)


def _upright(image: Any, picture: MediaEntry) -> Any:
    """Return the picture as its sides were counted: as the camera held it, or as it is stored."""
    counted_size = picture.media.width, picture.media.height
    upright = import_module("PIL.ImageOps").exif_transpose(image)
    if not all(counted_size) or counted_size == upright.size:
        return upright
    if counted_size == image.size:
        return image

    raise _bad(
        f"{picture.media.uri} is {upright.size[0]}x{upright.size[1]} and was counted as "
        f"{counted_size[0]}x{counted_size[1]}: leave out width and height, or state the true ones"
    )


def _cut(image: Any, picture: MediaEntry, library: Any) -> Any:
    """Return the planned part of a picture in the planned size."""
    region, size = picture.region, planned_size(picture)
    if region is not None and (region[2] > image.width or region[3] > image.height):
        raise _bad(
            f"{picture.media.uri} is {image.width}x{image.height}, its regions reach "
            f"{region[2]}x{region[3]}: state regions inside the picture"
        )

    plain = _plain(image if region is None else image.crop(region))
    if size is None or size == plain.size:
        return plain

    return plain.resize(size, library.Resampling.LANCZOS)


def _plain(image: Any) -> Any:
    """Return a picture in the colours that every encoder writes."""
    # Pillow clips 16 bits to 8 instead of scaling them, and all but black turns white.
    if image.mode.startswith("I;16"):
        return image.convert("I").point(_top_byte).convert("L")
    if image.has_transparency_data:
        return image.convert("RGBA")

    return image if image.mode == "L" else image.convert("RGB")


def _top_byte(value: Any) -> Any:
    return value * (1 / 256)


def _encoding_of(image: Any, source: str) -> SentMedia:
    # What a picture tells of its place and camera is in `info`, and encoders write it out again.
    buffer = io.BytesIO()
    image.info = {}
    if source in _LOSSY and image.mode != "RGBA":
        image.save(buffer, "JPEG", quality=_QUALITY)
        return SentMedia(data=buffer.getvalue(), media_type="image/jpeg")

    image.save(buffer, "PNG")
    if len(buffer.getvalue()) > _MOST_PNG and image.mode != "RGBA":
        return _encoding_of(image, "JPEG")

    return SentMedia(data=buffer.getvalue(), media_type="image/png")
