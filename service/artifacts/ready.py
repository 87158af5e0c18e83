"""The media of an envelope, ready to send: what the plan says, done to the bytes.

`memory.media(envelope)` reads each artifact with the caller's own permissions, whoever compiled
the envelope, and crops, resizes or cuts it as planned; what goes out whole on the web is passed on
as its address, and nothing is fetched. Bytes of anything else are the caller's to give. A film is
never cut here: of a provider that cuts films itself the renderer asks the stretches.
Source 000, 6.12.3 and 6.12.4; checklist C-193, C-194, C-220.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...compiler.render.media import Originals, SentMedia, sent_media
from ...compiler.request.request import MediaKind
from ...schema.artifact import is_address
from ...schema.errors import InvalidInput
from .artifacts import Artifacts
from .pictures import made_picture
from .sound import cut_sound

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...compiler.media.entry import Shown


@dataclass(frozen=True, slots=True)
class MediaReady:
    """The originals that one caller may read, and those he brings."""

    artifacts: Artifacts
    given: Originals

    def of(self, envelope: Envelope) -> dict[str, SentMedia]:
        """Return what is sent beside the text, by address, in the order of the text.

        Raises:
            NotFound: `unknown_artifact`, also for what the caller may not see; `erased`.
            InvalidInput: `bad_media`, for what cannot be made as planned here.
            Unavailable: `media_unavailable`.
        """
        found: dict[str, SentMedia] = {}
        took: dict[str, int] = {}
        for segment in envelope.plan.segments:
            shown = segment.shown
            if shown is None or not shown.beside:
                continue
            for address, sent in self._sent(shown):
                if shown.beside < took.get(address, shown.beside + 1):  # the smallest serves all
                    found[address], took[address] = sent, shown.beside
        return found

    def _sent(self, shown: Shown) -> Iterator[tuple[str, SentMedia]]:
        uri = shown.media.uri
        brought = [address for address in shown.parts if address in self.given]
        if brought and len(brought) == len(shown.parts):
            yield from ((address, sent_media(self.given[address])) for address in brought)
            return
        original = self._original(shown)
        if original.url or shown.media.kind is MediaKind.VIDEO:
            yield uri, original
        elif shown.media.kind is MediaKind.IMAGE:
            yield (*shown.parts, uri)[0], made_picture(original.data, shown)
        elif shown.segments:
            for address, segment in zip(shown.parts, shown.segments, strict=True):
                yield address, cut_sound(original.data, shown.media, segment)
        else:
            yield uri, original

    def _original(self, shown: Shown) -> SentMedia:
        uri = shown.media.uri
        if uri in self.given:
            return sent_media(self.given[uri])
        if is_address(uri):
            held = self.artifacts.rehydrate(uri)
            return SentMedia(data=held.data, media_type=held.media_type)
        whole = shown.item.method == "original" or shown.media.kind is MediaKind.VIDEO
        if uri.partition("://")[0] in ("https", "http", "gs") and whole:
            return SentMedia(url=uri)
        raise InvalidInput(
            f"{uri!r:.200} is sent {shown.item.method}, and tenure reads artifacts alone: keep the "
            "file with memory.artifacts.put, or pass its bytes: memory.media(envelope, "
            "originals={uri: bytes})",
            code="bad_media",
        )
