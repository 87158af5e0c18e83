"""What the media of a request take of the window, beside the text.

A picture or recording is sent next to the text, so its tokens come off the budget before the
text is fitted. The rules are one conservative default for all models: pictures by patches of 28
pixels, sound by frames of 25 ms, films by one frame a second with their sound. A size that is
not stated counts as a whole megapixel picture or one minute.
Source 000, 6.12; checklist C-188 to C-190, C-196.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .modality import ImageRule, audio_tokens, image_tokens, sampled_frames, video_tokens
from .request import Media, MediaKind

PICTURE: Final = ImageRule(patch_px=28)
_SIDE: Final = 1_000
_LENGTH_MS: Final = 60_000


def media_tokens(media: Iterable[Media]) -> int:
    """Return the tokens of all media items.

    >>> media_tokens([Media(kind=MediaKind.AUDIO, uri="a.wav", seconds=60)])
    2400
    """
    return sum(map(one_media_tokens, media))


def one_media_tokens(item: Media) -> int:
    """Return the tokens of one picture, recording or film."""
    picture = image_tokens(item.width or _SIDE, item.height or _SIDE, PICTURE)
    if item.kind is MediaKind.IMAGE:
        return picture
    length_ms = round(item.seconds * 1000) or _LENGTH_MS
    sound = audio_tokens(length_ms)
    if item.kind is MediaKind.AUDIO:
        return sound
    return video_tokens(sampled_frames(length_ms), picture, audio_track=sound)
