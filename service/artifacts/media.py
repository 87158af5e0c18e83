"""The media of an envelope, ready to send: what the plan says, done to the bytes.

`memory.media(envelope)` reads each artifact with the caller's own permissions and crops, resizes or
cuts it as planned. A whole medium on the web is passed on as its address; nothing is fetched. The
caller supplies all other bytes.

Pictures are made with Pillow (`[media]`). One that may go out as it is stays byte for byte. A new
one has no metadata: an opaque JPEG or WebP, or a huge PNG, becomes a JPEG, everything else a PNG.
Only plain raster formats that fit the memory are opened. Sound is cut from WAV alone, and a segment
never lasts longer than the plan counted; other recordings would need decoding. Films are never cut
here: the renderer asks providers that cut films for the stretches.

Openings are the first words of an object, because an id alone tells a person nothing. They follow
the caller's rights of today. Source 000, 6.12.3 and 6.12.4; checklist C-193, C-194, C-220.
"""

from __future__ import annotations

import io
import struct
import wave
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ...compiler.media.plan import segment_media
from ...compiler.media.reduction import one_media_tokens
from ...compiler.media.table import measures, media_type_of
from ...compiler.render.media import Originals, SentMedia, planned_size, sent_media
from ...compiler.request.request import MediaKind
from ...compiler.tokens.modality import FRAME_MS
from ...schema.artifact import is_address
from ...schema.errors import InvalidInput, TenureError
from ..backend.caller import Caller
from ..backend.files import needs_extra
from ..reading.envelopes import request_items
from ..visual.text import opening
from .artifacts import Artifacts

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...compiler.media.plan import MediaEntry
    from ...compiler.request.request import Media, MediaSegment

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


@dataclass(frozen=True, slots=True)
class MediaReady:
    """The originals that one caller may read, and those he brings."""

    artifacts: Artifacts
    originals: Originals

    def of(self, envelope: Envelope) -> dict[str, SentMedia]:
        """Return what is sent with the text, by address, in the order of the text.

        Raises:
            NotFound: `unknown_artifact`, also for what the caller may not see; `erased`.
            InvalidInput: `bad_media`, for what cannot be made as planned here.
            Unavailable: `media_unavailable`.
        """
        media: dict[str, SentMedia] = {}
        took: dict[str, int] = {}
        for segment in envelope.plan.segments:
            item = segment.media_entry
            if item is None or not item.attachment_tokens:
                continue
            # One original may be planned twice, in two sizes: the smallest serves both.
            for address, sent_item in self._sendable(item):
                if address not in took or item.attachment_tokens < took[address]:
                    media[address], took[address] = sent_item, item.attachment_tokens

        return media

    def _sendable(self, item: MediaEntry) -> Iterator[tuple[str, SentMedia]]:
        uri = item.media.uri
        content = [address for address in item.parts if address in self.originals]
        if content and len(content) == len(item.parts):
            yield from ((address, sent_media(self.originals[address])) for address in content)
            return

        original = self._original(item)
        if original.url or item.media.kind is MediaKind.VIDEO:
            yield uri, original
        elif item.media.kind is MediaKind.IMAGE:
            yield (*item.parts, uri)[0], made_picture(original.data, item)
        elif item.segments:
            for address, segment in zip(item.parts, item.segments, strict=True):
                yield address, cut_sound(original.data, item.media, segment)
        else:
            yield uri, original

    def _original(self, item: MediaEntry) -> SentMedia:
        uri = item.media.uri
        if uri in self.originals:
            return sent_media(self.originals[uri])
        if is_address(uri):
            content = self.artifacts.rehydrate(uri)
            return SentMedia(data=content.data, media_type=content.media_type)

        whole = item.item.method == "original" or item.media.kind is MediaKind.VIDEO
        if uri.partition("://")[0] in ("https", "http", "gs") and whole:
            return SentMedia(url=uri)

        raise InvalidInput(
            f"{uri!r:.200} is sent {item.item.method}, and tenure reads artifacts alone: keep the "
            "file with memory.artifacts.put, or pass its bytes: memory.media(envelope, "
            "originals={uri: bytes})",
            code="bad_media",
        )


@dataclass(frozen=True, slots=True)
class Openings(Caller):
    """The opening words of objects, as one caller may read them."""

    def words(self, envelope: Envelope) -> Mapping[str, str]:
        """The opening words of every object that an envelope holds or left out, by id."""
        words: dict[str, str] = {}
        for object_id, item in request_items(envelope.manifest).items():
            words[object_id] = opening(item.text)

        # Candidates that no account of the trace names are of no use to a reader.
        trace = envelope.trace
        listed_ids = {entry.object_id for entry in (*trace.compiled_objects, *trace.left_out)}
        stored_ids = {entry.object_id for entry in envelope.manifest.candidates if entry.vid}
        for object_id in (stored_ids & listed_ids) - words.keys():
            words[object_id] = self.of(object_id)
        return words

    def of(self, object_id: str) -> str:
        """The first words of a stored object; none where the caller may not read it today."""
        try:
            return opening(Artifacts(self._backend, self.principal).rehydrate(object_id).text)
        except TenureError:  # masked, erased, no longer to be read, or the store was closed
            return ""


def made_picture(data: bytes, picture: MediaEntry) -> SentMedia:
    """Return a picture as the plan sends it.

    Raises:
        InvalidInput: `bad_media`, for a file that is damaged, too large to open, or not of the
            size that was counted.
        Unavailable: `media_unavailable`, when it must be made again and Pillow is not installed.
    """
    kind = media_type_of(data)
    if picture.item.method == "original" and kind in _PLAIN:
        return SentMedia(data=data, media_type=kind)

    # The header is read before Pillow opens anything: a small file may unpack to gigabytes.
    problem = measures(data, MediaKind.IMAGE)
    uri = picture.media.uri
    with needs_extra("media", code="media_unavailable"):
        library: Any = import_module("PIL.Image")
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


def cut_sound(data: bytes, media: Media, segment: MediaSegment) -> SentMedia:
    """Return a segment of a recording as a WAV file of its own.

    Raises:
        InvalidInput: `bad_media`, for what is no plain WAV, or ends before the segment begins.
    """
    if media_type_of(data) != "audio/wav":
        raise _bad(
            f"{media.uri} is no WAV, and only WAV is cut here: keep it as WAV, give a transcript "
            "in stand_ins, or cut it yourself and pass originals={part: bytes}, with the parts of "
            "trace.budget['media']"
        )

    most_ms = one_media_tokens(segment_media(media, segment)) * FRAME_MS
    try:
        with wave.open(io.BytesIO(data)) as recording:
            rate = recording.getframerate()
            first = min(round(segment.start * rate), recording.getnframes())
            count = min(round(segment.end * rate) - first, most_ms * rate // 1000)
            recording.setpos(first)
            params, frames = recording.getparams(), recording.readframes(max(0, count))
    except (wave.Error, EOFError) as error:
        raise _bad(
            f"{media.uri} cannot be cut ({error}): keep it again as WAV with whole-number samples"
        ) from error

    if not frames:
        raise _bad(f"{media.uri} ends before {segment.start:g} seconds: state its true segments")

    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as part:
        part.setparams(params)
        part.writeframes(frames)

    return SentMedia(data=buffer.getvalue(), media_type="audio/wav")


def _bad(problem: str) -> InvalidInput:
    return InvalidInput(problem, code="bad_media")
