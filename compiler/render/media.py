"""What of an envelope's media goes into a provider's request, held to the plan.

A renderer is given what represents each item: bytes, or an address that the provider fetches
itself. Every item that the plan sends gets its native part, in the order of the text, or the
request is refused with what to do: nothing that was budgeted is dropped in silence, and nothing
goes out that is larger than what the budget took. Bytes are measured by what they say of
themselves; what an address holds cannot be, so it may only stand for a whole original.

Nothing is decoded, fetched, cut or resized here. Which format carries what is in the
capability table. Checklist C-194, C-196, C-198.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from ...schema.errors import InvalidInput
from ...schema.records import short_repr
from ..media.plan import MediaEntry, segment_media
from ..media.reduction import PICTURE, one_media_tokens, picture_tokens
from ..media.table import measures, media_type_of
from ..request.request import MediaKind, MediaSegment
from ..tokens.capabilities import MEDIA_WIRES, MediaWire
from ..tokens.modality import Modality, audio_tokens, image_tokens
from .cache_plan import BlockSegment as TextSegment
from .cache_plan import RenderPlan

_TYPE_ALIASES: Final = {
    "image/jpg": "image/jpeg",
    "audio/mp3": "audio/mpeg",
    "audio/wave": "audio/wav",
    "audio/x-wav": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/x-flac": "audio/flac",
    "audio/x-aiff": "audio/aiff",
    "video/mov": "video/quicktime",
    "video/avi": "video/x-msvideo",
}
"""Other names of media types."""
_ENDINGS: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
    "flac": "audio/flac",
    "ogg": "audio/ogg",
    "aac": "audio/aac",
    "mp4": "video/mp4",
    "mov": "video/quicktime",
    "mpeg": "video/mpeg",
    "webm": "video/webm",
}
"""Media types by the ending of an address."""
_ADVICE: Final = "memory.media(envelope) crops, resizes and cuts what it holds"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMedia:
    """What is sent for a media item: its bytes, or an address that the provider fetches."""

    __repr__ = short_repr

    data: bytes = field(default=b"", repr=False)
    url: str = ""
    media_type: str = ""
    """Empty: what the bytes, or the ending of the address, tell."""

    def __post_init__(self) -> None:
        if bool(self.data) == bool(self.url):
            raise _bad("what is sent for a media item is either bytes or an address")

    @property
    def type(self) -> str:
        """The media type, by its usual name; empty when nothing tells it."""
        path = self.url.partition("?")[0].partition("#")[0]
        name = media_type_of(self.data) or self.media_type.partition(";")[0].strip().lower()
        name = name or _ENDINGS.get(path.rpartition(".")[2].lower(), "")
        return _TYPE_ALIASES.get(name, name)


def sent_media(original: SentMedia | bytes | str) -> SentMedia:
    """What is sent from plain bytes, or from the text of a URL.

    Raises:
        InvalidInput: `bad_media`, for no bytes and no text.
    """
    if isinstance(original, SentMedia):
        return original

    return SentMedia(url=original) if isinstance(original, str) else SentMedia(data=bytes(original))


Originals = Mapping[str, SentMedia | bytes | str]
"""What is sent, by address: of a part (`a.wav#t=1,2`) or of a whole item; a text is a URL."""


class NativePart(NamedTuple):
    """One part of a request that is no text."""

    modality: Modality
    media: SentMedia
    word: str
    """The request format's own word for the media type; may be empty for an address."""
    clip: MediaSegment | None = None
    """Of a film that is sent whole: the stretch that the provider takes out of it."""
    fps: float = 0.0
    """Of a film: frames a second; 0 for the provider's own rate."""


@dataclass(frozen=True, slots=True)
class _MediaContext:
    """What every step looks at."""

    originals: Originals
    target: str
    wire: MediaWire
    modalities: Collection[Modality]


def native_parts(
    plan: RenderPlan, target: str, originals: Originals | None
) -> Mapping[int, tuple[NativePart, ...]]:
    """The native parts of a request by the place of the segment that names them.

    Without originals there are none: the caller lays the media himself.

    Raises:
        InvalidInput: `bad_media`, for an item that the plan sends and this request cannot, and
            for what is not of the planned size.
    """
    if originals is None:
        return {}

    wire = _crowded_wire(plan, MEDIA_WIRES[target])
    context = _MediaContext(originals, target, wire, plan.capability.media)
    return {place: tuple(_parts(entry, context)) for place, entry in plan.attachments.items()}


def interleave(
    segments: Iterable[tuple[int, TextSegment, str]], native: Mapping[int, Sequence[NativePart]]
) -> Iterator[str | NativePart]:
    """The texts of segments, joined, with the native parts between them.

    `segments` come by their place, each with its words in this request; the last thing is a text,
    which may be empty.
    """
    text = ""
    for place, segment, words in segments:
        if place not in native:
            text += words
            continue

        before, closing = segment.around_media()
        yield text + before
        yield from native[place]
        text = closing

    yield text


def _crowded_wire(plan: RenderPlan, wire: MediaWire) -> MediaWire:
    """The format's row as it holds for as many pictures as the plan sends."""
    # Some providers take large pictures only while they are few.
    modalities = [entry.item.modality for entry in plan.attachments.values()]
    if wire.crowd is None or modalities.count(Modality.IMAGE) <= wire.crowd[0]:
        return wire

    return replace(wire, most_px=wire.crowd[1])


def _bad(reason: str) -> InvalidInput:
    return InvalidInput(reason, code="bad_media")


def _parts(entry: MediaEntry, context: _MediaContext) -> Iterator[NativePart]:
    modality, uri = entry.item.modality, entry.media.uri

    # The envelope may have been compiled for another model than it is rendered for.
    if modality not in context.modalities or not context.wire.carries(modality):
        refuser = (
            "the model" if modality not in context.modalities else f"a request for {context.target}"
        )
        raise _bad(
            f"{refuser} takes no {modality.value}, and the budget holds {uri} as one: name the "
            "model in the compile and give stand_ins, leave the item out, or render without media"
        )

    if modality is Modality.VIDEO:
        yield from _film(entry, context)
    elif modality is Modality.IMAGE:
        yield _picture(entry, context)
    elif entry.segments:
        for segment, address in zip(entry.segments, entry.parts, strict=True):
            ceiling = one_media_tokens(segment_media(entry.media, segment))
            yield _sound(address, entry, ceiling, context)
    else:
        yield _sound(uri, entry, entry.item.tokens, context)


def _original_at(context: _MediaContext, *addresses: str) -> SentMedia:
    """What is given under the first known address."""
    for address in addresses:
        if address in context.originals:
            return sent_media(context.originals[address])

    raise _bad(
        f"{addresses[0]} is to be sent and media holds nothing for it: use "
        "media=memory.media(envelope), add its bytes there, or render without media"
    )


def _word(address: str, media: SentMedia, modality: Modality, context: _MediaContext) -> str:
    """The format's word for what is sent, once it is sure that the format carries it."""
    wire, word = context.wire, context.wire.words.get(media.type, "")
    if media.url:
        schemes = wire.schemes.get(modality, ())
        if media.url.partition("://")[0] not in schemes:
            schemes_text = " or ".join(f"{scheme}://" for scheme in schemes) or "bytes alone"
            raise _bad(
                f"a request for {context.target} takes {modality.value} by {schemes_text}, not as "
                f"{media.url!r:.120}; give the bytes"
            )

    if (media.data or media.type) and not (word and media.type.startswith(f"{modality.value}/")):
        carried_types = ", ".join(word for word in wire.words if word.startswith(modality.value))
        raise _bad(
            f"{address} is {media.type or 'of an unknown type'}; a request for {context.target} "
            f"carries {carried_types}: convert it, or state its media_type"
        )

    return word


def _part_needed(address: str, media: SentMedia) -> InvalidInput:
    return _bad(
        f"{address} is planned smaller than {media.url!r:.120}: give the bytes of the part; "
        f"{_ADVICE}"
    )


def _picture(entry: MediaEntry, context: _MediaContext) -> NativePart:
    address = (*entry.parts, entry.media.uri)[0]
    media = _original_at(context, address, entry.media.uri)
    word = _word(address, media, Modality.IMAGE, context)

    # An address is fetched by the provider: only bytes can be measured, and only they can be cut.
    if media.data:
        _check_picture(address, media, entry, context.wire)
    elif entry.item.method != "original":
        raise _part_needed(address, media)

    return NativePart(Modality.IMAGE, media, word)


def _check_picture(address: str, media: SentMedia, entry: MediaEntry, wire: MediaWire) -> None:
    measure = measures(media.data, MediaKind.IMAGE)
    if not measure:
        raise _bad(f"the bytes of {address} tell no size; convert it to PNG or JPEG")

    size = int(measure["width"]), int(measure["height"])
    planned_px = planned_size(entry)
    tokens = image_tokens(*size, PICTURE)

    if (planned_px is not None and size != planned_px) or tokens > entry.item.tokens:
        plan_text = "" if planned_px is None else f"{planned_px[0]}x{planned_px[1]} and "
        raise _bad(
            f"{address} is {size[0]}x{size[1]} and takes {tokens} tokens; planned were {plan_text}"
            f"{entry.item.tokens} tokens: state its true width and height in the compile, and send "
            f"it as planned; {_ADVICE}"
        )

    if wire.most_px is not None and max(size) > wire.most_px:
        raise _bad(
            f"{address} is {size[0]}x{size[1]}, the longest edge that is taken has "
            f"{wire.most_px} pixels here: state the regions that matter, keep a smaller picture, "
            "or send fewer at once"
        )


def planned_size(entry: MediaEntry) -> tuple[int, int] | None:
    """The width and height that a picture must have when it is sent, None for any."""
    if entry.size is not None or entry.region is None:
        return entry.size
    left, top, right, bottom = entry.region
    return right - left, bottom - top


def _sound(address: str, entry: MediaEntry, ceiling: int, context: _MediaContext) -> NativePart:
    media = _original_at(context, address)
    word = _word(address, media, Modality.AUDIO, context)
    if media.url and entry.segments:
        raise _part_needed(address, media)

    measure = measures(media.data, MediaKind.AUDIO)
    tokens = audio_tokens(round(measure["seconds"] * 1000)) if measure else 0
    if tokens > ceiling:
        raise _bad(
            f"{address} takes {tokens} tokens, planned were {ceiling}: state its true length in "
            f"the compile, and send it as planned; {_ADVICE}"
        )

    if media.data and not measure and not entry.media.seconds:
        raise _bad(f"neither {address} nor the request tells its length: state its seconds")

    return NativePart(Modality.AUDIO, media, word)


def _film(entry: MediaEntry, context: _MediaContext) -> Iterator[NativePart]:
    """A film whole, with the stretches and the rate that the provider takes from it.

    Stretches that are given by their own addresses are sent as they are.
    """
    uri = entry.media.uri
    clips: list[tuple[str, MediaSegment | None]] = [(uri, None)]
    if entry.segments:
        clips = list(zip(entry.parts, entry.segments, strict=True))

    for address, clip in clips:
        media = _original_at(context, address, uri)
        word = _word(address, media, Modality.VIDEO, context)
        if not word:
            raise _bad(f"nothing tells what {media.url!r:.120} is: state its media_type")
        measure = measures(media.data, MediaKind.VIDEO)
        _check_frames(address, entry, measure, context.wire)
        if clip is None or address in context.originals:
            length = entry.media.seconds if clip is None else clip.end - clip.start
            _check_length(address, measure, length)
            clip = None

        yield NativePart(Modality.VIDEO, media, word, clip, _rate(entry, measure))


def _check_frames(
    address: str, entry: MediaEntry, measure: Mapping[str, int | float], wire: MediaWire
) -> None:
    """Refuse frames that take more than planned, unless the provider makes them small itself."""
    size = entry.size or (entry.media.width, entry.media.height)
    planned_tokens = picture_tokens(replace(entry.media, width=size[0], height=size[1]))
    frame = wire.frame_tokens

    if "width" in measure:
        frame = min(frame, image_tokens(int(measure["width"]), int(measure["height"]), PICTURE))
    elif entry.size is None:
        frame = min(frame, planned_tokens)

    if frame > planned_tokens:
        raise _bad(
            f"{address} would take {frame} tokens a frame, planned were {planned_tokens}: grant "
            f"more tokens, state segments or stand_ins, or send it resized to {size[0]}x{size[1]}"
        )


def _check_length(address: str, measure: Mapping[str, int | float], length: float) -> None:
    """Refuse a film that is longer than what was counted: a minute where nothing was stated."""
    if round(measure.get("seconds", 0) * 1000) > (round(length * 1000) or 60_000):
        raise _bad(
            f"{address} has {measure['seconds']} seconds, counted were {length or 60:g}: state its "
            "true length in the compile, and send no more than is planned"
        )


def _rate(entry: MediaEntry, measure: Mapping[str, int | float]) -> float:
    """The frames a second of a film that loses frames, else 0."""
    seconds = entry.media.seconds or measure.get("seconds", 0)
    if entry.frames and not seconds:
        raise _bad(f"neither {entry.media.uri} nor the request tells its length: state its seconds")
    return int(entry.frames * 1_000_000 / seconds) / 1_000_000 if entry.frames else 0.0
