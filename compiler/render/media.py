"""What of an envelope's media goes into a provider's request, held to the plan.

A renderer is given what stands for each item: bytes, or an address that the provider fetches
itself. Every item that the plan sends gets its native part, in the order of the text, or the
request is refused with what to do: nothing that was budgeted is dropped in silence, and nothing
goes out that is larger than what the budget took. Bytes are measured by what they say of
themselves; what an address holds cannot be, so it may only stand for a whole original.

Nothing is decoded, fetched, cut or resized here. Which format carries what stands in the
capability table. Checklist C-194, C-196, C-198.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from ...schema.errors import InvalidInput
from ..media.cost import PICTURE, one_media_tokens, picture_tokens
from ..media.entry import Shown
from ..media.measures import measures, media_type_of
from ..media.parts import alone
from ..request.request import MediaKind, Segment
from ..tokens.capabilities import MEDIA_WIRES, MediaWire
from ..tokens.modality import Modality, audio_tokens, image_tokens
from .cache_plan import Plan
from .cache_plan import Segment as TextSegment

_SAME: Final = {
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
_HOW: Final = "memory.media(envelope) crops, resizes and cuts what it holds"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMedia:
    """What is sent for a media item: its bytes, or an address that the provider fetches."""

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
        told = media_type_of(self.data) or self.media_type.partition(";")[0].strip().lower()
        told = told or _ENDINGS.get(path.rpartition(".")[2].lower(), "")
        return _SAME.get(told, told)


def sent_media(stated: SentMedia | bytes | str) -> SentMedia:
    """What is sent from plain bytes, or from the text of a URL.

    Raises:
        InvalidInput: `bad_media`, for no bytes and no text.
    """
    if isinstance(stated, SentMedia):
        return stated

    return SentMedia(url=stated) if isinstance(stated, str) else SentMedia(data=bytes(stated))


Originals = Mapping[str, SentMedia | bytes | str]
"""What is sent, by address: of a part (`a.wav#t=1,2`) or of a whole item; a text is a URL."""


class NativePart(NamedTuple):
    """One part of a request that is no text."""

    modality: Modality
    sent: SentMedia
    word: str
    """The request format's own word for the media type; may be empty for an address."""
    clip: Segment | None = None
    """Of a film that is sent whole: the stretch that the provider takes out of it."""
    fps: float = 0.0
    """Of a film: frames a second; 0 for the provider's own rate."""


@dataclass(frozen=True, slots=True)
class _Desk:
    """What every step looks at."""

    given: Originals
    target: str
    wire: MediaWire
    takes: Collection[Modality]


def native_parts(
    plan: Plan, target: str, given: Originals | None
) -> Mapping[int, tuple[NativePart, ...]]:
    """The native parts of a request by the place of the segment that names them.

    Without originals there are none: the caller lays the media himself.

    Raises:
        InvalidInput: `bad_media`, for an item that the plan sends and this request cannot, and
            for what is not of the planned size.
    """
    if given is None:
        return {}

    wire = _crowded(plan, MEDIA_WIRES[target])
    desk = _Desk(given, target, wire, plan.capability.media)
    return {
        place: tuple(_parts(segment.shown, desk))
        for place, segment in enumerate(plan.segments)
        if segment.shown is not None and segment.shown.beside
    }


def interleaved(
    said: Iterable[tuple[int, TextSegment, str]], beside: Mapping[int, Sequence[NativePart]]
) -> Iterator[str | NativePart]:
    """The texts of segments, joined, with the native parts between them.

    `said` are segments by their place, each with its words in this request; the last thing is a
    text, which may be empty.
    """
    text = ""
    for place, segment, words in said:
        if place not in beside:
            text += words
            continue

        before, behind = segment.around_media()
        yield text + before
        yield from beside[place]
        text = behind

    yield text


def _crowded(plan: Plan, wire: MediaWire) -> MediaWire:
    """The format's row as it holds for as many pictures as the plan sends."""
    kinds = [s.shown.item.modality for s in plan.segments if s.shown is not None and s.shown.beside]
    if wire.crowd is None or kinds.count(Modality.IMAGE) <= wire.crowd[0]:
        return wire
    return replace(wire, most_px=wire.crowd[1])


def _bad(why: str) -> InvalidInput:
    return InvalidInput(why, code="bad_media")


def _parts(shown: Shown, desk: _Desk) -> Iterator[NativePart]:
    modality, uri = shown.item.modality, shown.media.uri
    if modality not in desk.takes or not desk.wire.carries(modality):
        who = "the model" if modality not in desk.takes else f"a request for {desk.target}"
        raise _bad(
            f"{who} takes no {modality.value}, and the budget holds {uri} as one: name the model "
            "in the compile and give stand_ins, leave the item out, or render without media"
        )

    if modality is Modality.VIDEO:
        yield from _film(shown, desk)
    elif modality is Modality.IMAGE:
        yield _picture(shown, desk)
    elif shown.segments:
        for segment, address in zip(shown.segments, shown.parts, strict=True):
            most = one_media_tokens(alone(shown.media, segment))
            yield _sound(address, shown, most, desk)
    else:
        yield _sound(uri, shown, shown.item.tokens, desk)


def _found(desk: _Desk, *addresses: str) -> SentMedia:
    """What is given under the first known address."""
    for address in addresses:
        if address in desk.given:
            return sent_media(desk.given[address])

    raise _bad(
        f"{addresses[0]} is to be sent and media holds nothing for it: use "
        "media=memory.media(envelope), add its bytes there, or render without media"
    )


def _word(address: str, sent: SentMedia, modality: Modality, desk: _Desk) -> str:
    """The format's word for what is sent, once it is sure that the format carries it."""
    wire, word = desk.wire, desk.wire.words.get(sent.type, "")
    if sent.url:
        schemes = wire.schemes.get(modality, ())
        if sent.url.partition("://")[0] not in schemes:
            offered = " or ".join(f"{scheme}://" for scheme in schemes) or "bytes alone"
            raise _bad(
                f"a request for {desk.target} takes {modality.value} by {offered}, not as "
                f"{sent.url!r:.120}; give the bytes"
            )

    if (sent.data or sent.type) and not (word and sent.type.startswith(f"{modality.value}/")):
        carried = ", ".join(word for word in wire.words if word.startswith(modality.value))
        raise _bad(
            f"{address} is {sent.type or 'of an unknown type'}; a request for {desk.target} "
            f"carries {carried}: convert it, or state its media_type"
        )

    return word


def _whole(address: str, sent: SentMedia) -> InvalidInput:
    return _bad(
        f"{address} is planned smaller than {sent.url!r:.120}: give the bytes of the part; {_HOW}"
    )


def _picture(shown: Shown, desk: _Desk) -> NativePart:
    address = (*shown.parts, shown.media.uri)[0]
    sent = _found(desk, address, shown.media.uri)
    word = _word(address, sent, Modality.IMAGE, desk)

    if sent.data:
        _check_picture(address, sent, shown, desk.wire)
    elif shown.item.method != "original":
        raise _whole(address, sent)

    return NativePart(Modality.IMAGE, sent, word)


def _check_picture(address: str, sent: SentMedia, shown: Shown, wire: MediaWire) -> None:
    told = measures(sent.data, MediaKind.IMAGE)
    if not told:
        raise _bad(f"the bytes of {address} tell no size; convert it to PNG or JPEG")

    size = int(told["width"]), int(told["height"])
    due = planned_size(shown)
    tokens = image_tokens(*size, PICTURE)

    if (due is not None and size != due) or tokens > shown.item.tokens:
        planned = "" if due is None else f"{due[0]}x{due[1]} and "
        raise _bad(
            f"{address} is {size[0]}x{size[1]} and takes {tokens} tokens; planned were {planned}"
            f"{shown.item.tokens} tokens: state its true width and height in the compile, and send "
            f"it as planned; {_HOW}"
        )

    if wire.most_px is not None and max(size) > wire.most_px:
        raise _bad(
            f"{address} is {size[0]}x{size[1]}, the longest edge that is taken has "
            f"{wire.most_px} pixels here: state the regions that matter, keep a smaller picture, "
            "or send fewer at once"
        )


def planned_size(shown: Shown) -> tuple[int, int] | None:
    """The width and height that a picture must have when it is sent, None for any."""
    if shown.size is not None or shown.region is None:
        return shown.size
    left, top, right, bottom = shown.region
    return right - left, bottom - top


def _sound(address: str, shown: Shown, most: int, desk: _Desk) -> NativePart:
    sent = _found(desk, address)
    word = _word(address, sent, Modality.AUDIO, desk)
    if sent.url and shown.segments:
        raise _whole(address, sent)

    told = measures(sent.data, MediaKind.AUDIO)
    tokens = audio_tokens(round(told["seconds"] * 1000)) if told else 0
    if tokens > most:
        raise _bad(
            f"{address} takes {tokens} tokens, planned were {most}: state its true length in the "
            f"compile, and send it as planned; {_HOW}"
        )

    if sent.data and not told and not shown.media.seconds:
        raise _bad(f"neither {address} nor the request tells its length: state its seconds")

    return NativePart(Modality.AUDIO, sent, word)


def _film(shown: Shown, desk: _Desk) -> Iterator[NativePart]:
    """A film whole, with the stretches and the rate that the provider takes from it.

    Stretches that are given by their own addresses are sent as they are.
    """
    uri = shown.media.uri
    clips: list[tuple[str, Segment | None]] = [(uri, None)]
    if shown.segments:
        clips = list(zip(shown.parts, shown.segments, strict=True))

    for address, clip in clips:
        sent = _found(desk, address, uri)
        word = _word(address, sent, Modality.VIDEO, desk)
        if not word:
            raise _bad(f"nothing tells what {sent.url!r:.120} is: state its media_type")
        told = measures(sent.data, MediaKind.VIDEO)
        _check_frames(address, shown, told, desk.wire)
        if clip is None or address in desk.given:
            length = shown.media.seconds if clip is None else clip.end - clip.start
            _check_length(address, told, length)
            clip = None

        yield NativePart(Modality.VIDEO, sent, word, clip, _rate(shown, told))


def _check_frames(
    address: str, shown: Shown, told: Mapping[str, int | float], wire: MediaWire
) -> None:
    """Refuse frames that take more than planned, unless the provider makes them small itself."""
    size = shown.size or (shown.media.width, shown.media.height)
    planned = picture_tokens(replace(shown.media, width=size[0], height=size[1]))
    frame = wire.frame_tokens

    if "width" in told:
        frame = min(frame, image_tokens(int(told["width"]), int(told["height"]), PICTURE))
    elif shown.size is None:
        frame = min(frame, planned)

    if frame > planned:
        raise _bad(
            f"{address} would take {frame} tokens a frame, planned were {planned}: grant more "
            f"tokens, state segments or stand_ins, or send it resized to {size[0]}x{size[1]}"
        )


def _check_length(address: str, told: Mapping[str, int | float], length: float) -> None:
    """Refuse a film that is longer than what was counted: a minute where nothing was stated."""
    if round(told.get("seconds", 0) * 1000) > (round(length * 1000) or 60_000):
        raise _bad(
            f"{address} has {told['seconds']} seconds, counted were {length or 60:g}: state its "
            "true length in the compile, and send no more than is planned"
        )


def _rate(shown: Shown, told: Mapping[str, int | float]) -> float:
    """The frames a second of a film that loses frames, else 0."""
    seconds = shown.media.seconds or told.get("seconds", 0)
    if shown.frames and not seconds:
        raise _bad(f"neither {shown.media.uri} nor the request tells its length: state its seconds")
    return int(shown.frames * 1_000_000 / seconds) / 1_000_000 if shown.frames else 0.0
