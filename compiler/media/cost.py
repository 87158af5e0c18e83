"""What the media of a request take of the window, beside the text.

A picture or recording is sent next to the text, so its tokens come off the budget before the
text is fitted. The rules are one conservative default for all models: pictures by patches of 28
pixels, sound by frames of 25 ms, films by one frame a second with their sound. A size that is
not stated counts as a whole megapixel picture or one minute.
Checklist C-188 to C-190, C-196.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..request.request import Media, MediaKind
from ..tokens.modality import ImageRule, audio_tokens, image_tokens, sampled_frames, video_tokens

PICTURE: Final = ImageRule(patch_px=28)
_SIDE: Final = 1_000
_LENGTH_MS: Final = 60_000


def media_tokens(media: Iterable[Media]) -> int:
    """The tokens of all media items.

    >>> media_tokens([Media(kind=MediaKind.AUDIO, uri="a.wav", seconds=60)])
    2400
    """
    return sum(map(one_media_tokens, media))


def one_media_tokens(item: Media) -> int:
    """The tokens of one picture, recording or film; 0 of a table, which is text."""
    if item.kind is MediaKind.STRUCTURED:
        return 0
    if item.kind is MediaKind.IMAGE:
        return picture_tokens(item)
    return sound_tokens(item) if item.kind is MediaKind.AUDIO else film_tokens(item)


def picture_tokens(item: Media) -> int:
    """The tokens of a picture, or of one frame of a film."""
    return image_tokens(item.width or _SIDE, item.height or _SIDE, PICTURE)


def sound_tokens(item: Media) -> int:
    """The tokens of a recording, or of the sound of a film."""
    return audio_tokens(_length_ms(item))


def frames_of(item: Media) -> int:
    """How many frames of a film are sent, one a second."""
    return sampled_frames(_length_ms(item))


def film_tokens(item: Media, *, frames: int | None = None) -> int:
    """The tokens of a film with its sound, of all its frames or of some."""
    count = frames_of(item) if frames is None else frames
    return video_tokens(count, picture_tokens(item), audio_track=sound_tokens(item))


def _length_ms(item: Media) -> int:
    return round(item.seconds * 1000) or _LENGTH_MS
