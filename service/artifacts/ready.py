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
    from ...compiler.media.entry import MediaEntry


@dataclass(frozen=True, slots=True)
class MediaReady:
    """The originals that one caller may read, and those he brings."""

    artifacts: Artifacts
    originals: Originals

    def of(self, envelope: Envelope) -> dict[str, SentMedia]:
        """Return what is sent beside the text, by address, in the order of the text.

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
