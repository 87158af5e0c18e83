"""Segments cut out of a WAV recording, with the standard library alone.

A segment never lasts longer than what the plan counted for it. Other recordings are compressed:
cutting them means decoding them, which their holder does. Source 000, 6.12.3; checklist C-193.
"""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING

from ...compiler.media.cost import one_media_tokens
from ...compiler.media.measures import media_type_of
from ...compiler.media.parts import segment_media
from ...compiler.render.media import SentMedia
from ...compiler.tokens.modality import AudioRule
from ...schema.errors import InvalidInput

if TYPE_CHECKING:
    from ...compiler.request.request import Media, MediaSegment


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

    most_ms = one_media_tokens(segment_media(media, segment)) * AudioRule().frame_ms
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
