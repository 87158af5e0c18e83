"""Which kept envelopes name in their request what is about to be erased.

A request is kept in the words of whoever asked, so that it names people whom no object of the
envelope is about. It names an entity if its mentions were bound to it, if a name of two words or an
identifier stands in it, or a name of one word that the request bound to nobody else and that is no
word of every text ("Will").
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, cast

from ...resolution.whole_words import plain_letters
from ...schema.terms import STOP_WORDS
from ...store.port.store import ManifestRecord, Reader, RecordKind
from ..sessions.erasure import ErasurePatterns

_FIRST_LOOK: Final = 100
"""Envelopes that are looked at first under the lock; more only where more came."""


@dataclass(slots=True)
class RequestSearch:
    """The search of an erasure over the requests of kept envelopes."""

    patterns: ErasurePatterns
    entity_ids: frozenset[str] = frozenset()
    """What is erased, under every merged id; none where an object is."""
    _envelope_ids: set[str] = field(default_factory=set[str])
    _newest_id: str = ""
    """The last envelope that was looked at."""

    def look_through(self, reader: Reader) -> None:
        """Look at every envelope that is kept."""
        for record in reader.records(RecordKind.MANIFEST):
            assert isinstance(record, ManifestRecord)
            self._look_at(record.envelope_id, record.manifest)
            self._newest_id = record.envelope_id

    def with_newer(self, reader: Reader) -> frozenset[str]:
        """The envelopes that name it, also among those kept since."""
        limit, newer_pairs = _FIRST_LOOK, self._newer(reader, _FIRST_LOOK)
        while len(newer_pairs) == limit:
            limit *= 10
            newer_pairs = self._newer(reader, limit)
        for envelope_id, text in newer_pairs:
            self._look_at(envelope_id, text)
        return frozenset(self._envelope_ids)

    def _newer(self, reader: Reader, limit: int) -> list[tuple[str, str]]:
        newer_pairs: list[tuple[str, str]] = []
        for envelope_id, text in reader.manifests(limit=limit):
            if envelope_id == self._newest_id:
                break
            newer_pairs.append((envelope_id, text))
        return newer_pairs

    def _look_at(self, envelope_id: str, text: str) -> None:
        if text and self._is_named_in(json.loads(text)):
            self._envelope_ids.add(envelope_id)

    def _is_named_in(self, manifest: dict[str, Any]) -> bool:
        # An envelope of an earlier version may lack a field; its words are looked at all the same.
        mentions = [*manifest.get("named", ()), *manifest.get("spoken", ())]
        bound_ids = {entity_id for _, ids, _ in mentions for entity_id in ids}
        bound_ids.update(entity_id for _, entity_id in manifest.get("own", ()))
        if not self.entity_ids.isdisjoint(bound_ids):
            return True

        request = json.loads(manifest["request"])
        surfaces = [surface for surface, _, _ in mentions]
        words = "\n".join([*surfaces, *manifest.get("expansion", ()), *_texts(request)])
        if self.patterns.repeats(words):
            return True
        bound_words = "\n".join(surface for surface, ids, _ in mentions if ids)
        return bool(self.entity_ids) and self._may_name(words, bound_words)

    def _may_name(self, words: str, bound_words: str) -> bool:
        """Whether a single word may mean it, as none does that was bound to others."""
        words, bound_words = plain_letters(words), plain_letters(bound_words)
        for pattern in self.patterns.common:
            match = pattern.search(words)
            if match and match[0] not in STOP_WORDS and not pattern.search(bound_words):
                return True
        return False


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in cast("dict[str, object]", value).values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in cast("list[object]", value):
            yield from _texts(member)
