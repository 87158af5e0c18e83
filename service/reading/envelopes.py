"""`memory.envelopes`: compiled envelopes listed and found again.

What is stored of an envelope is its manifest; `memory.replay` gives the bytes back. A caller
sees its own envelopes, and all of them with a privilege. Of one that held something erased
nothing is left but its id: it is listed as erased to those who may see all, and says so to
whoever asks for it by that id. Sources: API "Compiling"; settled 5 and 10; checklist C-201.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ...compiler.ir.request_items import RequestItem, items_of_request
from ...compiler.request.parse import request_from_json
from ...compiler.trace.manifest import Manifest, manifest_from_json, principal_of
from ...schema.errors import NotFound
from ...schema.values import moment
from ...schema.write import Moment
from ...store.port.store import Reader
from ..backend.caller import Caller
from ..backend.times import instant

_SCANNED: Final = 10_000
"""The newest envelopes among which a filter looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEnvelope:
    """An envelope as the list shows it; of an erased one the id alone."""

    envelope_id: str
    erased: bool = False
    task: str = ""
    query: str = ""
    user: str | None = None
    session: str | None = None
    project: str | None = None
    valid: datetime | None = None
    """The instant it is true at; None for an open end."""
    tx: datetime | None = None
    """The transaction time it was compiled at."""
    tokens: int = 0
    objects: int = 0
    digest: str = ""
    manifest: Manifest | None = None


@dataclass(frozen=True, slots=True)
class Envelopes(Caller):
    """The stored envelopes of one tenant, as one caller sees them."""

    def list(
        self,
        limit: int = 100,
        *,
        object_id: str | None = None,
        session: str | None = None,
        task: str | None = None,
        since: Moment = None,
        until: Moment = None,
    ) -> tuple[StoredEnvelope, ...]:
        """Return stored envelopes, newest first; those of other users only with a privilege.

        They may be narrowed to those that hold an object or an artifact, to a session or a task
        type, and to transaction times from `since` to before `until`. A filter other than
        `object_id` looks among the newest 10,000.

        Raises:
            InvalidInput: for a malformed time.
        """
        wanted = _Wanted(session, task, _us(since, "since"), _us(until, "until"))
        self.backend.settle()
        with self._reading() as reader:
            found = [e for e in self._read(reader, object_id, wanted, limit) if wanted.takes(e)]
        return tuple(found[: max(0, limit)])

    def get(self, envelope_id: str) -> Manifest:
        """Return the manifest of one envelope.

        Raises:
            NotFound: `unknown_object`; `erased`, when something it held was erased.
        """
        self.backend.settle()
        with self._reading() as reader:
            text = reader.manifest(envelope_id)
        if text is not None:
            found = manifest_of(envelope_id, text)
            if self._mine(found):
                return found
        raise unknown_envelope(envelope_id)

    def _read(
        self, reader: Reader, object_id: str | None, wanted: _Wanted, limit: int
    ) -> Iterator[StoredEnvelope]:
        if object_id is None:
            most = limit if self.principal.privileged and wanted.anything else _SCANNED
            pairs = list(reader.manifests(limit=max(limit, most)))
        else:
            ids = reversed(reader.envelopes_of(object_id))
            pairs = [(each, reader.manifest(each) or "") for each in ids]
        for envelope_id, text in pairs:
            if text:
                found = manifest_from_json(text)
                if self._mine(found):
                    yield _shown(found)
            elif self.principal.privileged:
                yield StoredEnvelope(envelope_id=envelope_id, erased=True)

    def _mine(self, manifest: Manifest) -> bool:
        return self.principal.privileged or principal_of(manifest).user == self.principal.user


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a list is narrowed to."""

    session: str | None
    task: str | None
    since_us: int | None
    until_us: int | None

    @property
    def anything(self) -> bool:
        return self == _Wanted(None, None, None, None)

    def takes(self, each: StoredEnvelope) -> bool:
        """Tell whether an envelope is one of them; an erased one is nothing in particular."""
        if each.manifest is None:
            return self.anything
        tx = each.manifest.tx_us
        return (
            self.session in (None, each.session)
            and self.task in (None, each.task)
            and (self.since_us is None or tx >= self.since_us)
            and (self.until_us is None or tx < self.until_us)
        )


def _us(stated: Moment, what: str) -> int | None:
    return None if stated is None else instant(stated, what=what)


def _shown(manifest: Manifest) -> StoredEnvelope:
    request: dict[str, Any] = json.loads(manifest.request)
    who = principal_of(manifest)
    return StoredEnvelope(
        envelope_id=manifest.envelope_id,
        task=request["task"],
        query=request["query"],
        user=who.user,
        session=who.session,
        project=request["project"] or None,
        valid=moment(manifest.valid_us),
        tx=moment(manifest.tx_us),
        tokens=sum(tokens for _, tokens in manifest.layer_budgets),
        objects=len(manifest.compiled),
        digest=manifest.digest,
        manifest=manifest,
    )


def manifest_of(envelope_id: str, text: str) -> Manifest:
    """Return a stored manifest.

    Raises:
        NotFound: `erased`, for one that an erasure emptied.
    """
    if not text:
        raise NotFound(
            f"envelope {envelope_id} held something that was erased; nothing of it is left",
            code="erased",
            envelope_id=envelope_id,
        )
    return manifest_from_json(text)


def request_items(manifest: Manifest) -> Mapping[str, RequestItem]:
    """Return the items of the request that a manifest pins, whole, by their ids."""
    request = request_from_json(manifest.request)
    words = [""] * len(request.media)
    items = items_of_request(request, principal_of(manifest), words)
    return {each.object_id: each for each in items}


def unknown_envelope(envelope_id: str) -> NotFound:
    """Return the error of an envelope that is not stored, or not the caller's."""
    return NotFound(
        f"there is no envelope {envelope_id}; list them with memory.envelopes.list()",
        code="unknown_object",
    )
