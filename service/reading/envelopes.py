"""`memory.envelopes`: compiled envelopes listed and found again.

What is stored of an envelope is its manifest; `memory.replay` gives the bytes back. A caller
sees its own envelopes, and all of them with a privilege. Of one that held something erased
nothing is left but its id: it is listed as erased to those who may see all, and says so to
whoever asks for it by that id. Checklist: C-201.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ...compiler.ir.context import COMPILER_VERSION
from ...compiler.ir.request_items import RequestItem, items_of_request
from ...compiler.request.parse import request_from_json
from ...compiler.trace.manifest import Manifest, principal_of, stored_manifest
from ...schema.errors import NotFound
from ...schema.principal import AUDIT
from ...schema.short_repr import short_repr
from ...schema.terms import TERMS_VERSION
from ...schema.values import moment
from ...schema.write import Moment
from ...store.port.store import Reader
from ..backend.arguments import argument_checks
from ..backend.caller import Caller, instant
from .signatures import may_open

_SCAN_LIMIT: Final = 10_000
"""The newest envelopes among which a filter looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEnvelope:
    """An envelope as the list shows it; of an erased one the id alone."""

    __repr__ = short_repr

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
    replayable: bool = False
    """Whether this version can replay it; one of an earlier compiler is listed and no more."""


@argument_checks
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
        narrowing = _Narrowing(session, task, _micros(since, "since"), _micros(until, "until"))
        # A manifest may still be on its way to the store when its compile has returned.
        self._backend.settle()
        with self._reading() as reader:
            candidates = self._read(reader, object_id, narrowing, limit)
            envelopes = list(filter(narrowing.takes, candidates))

        return tuple(envelopes[: max(0, limit)])

    def get(self, envelope_id: str) -> Manifest:
        """Return the manifest of one envelope.

        Raises:
            NotFound: `unknown_object`; `erased`, when something it held was erased.
        """
        self._backend.settle()
        with self._reading() as reader:
            text = reader.manifest(envelope_id)

        if text is not None:
            manifest = manifest_of(envelope_id, text)
            if may_open(self.principal, manifest):
                return manifest

        raise unknown_envelope(envelope_id)

    def _read(
        self, reader: Reader, object_id: str | None, narrowing: _Narrowing, limit: int
    ) -> Iterator[StoredEnvelope]:
        sees_all = not self.principal.roles.isdisjoint(AUDIT.roles)
        pairs: list[tuple[str, str]] = []

        # Whom an envelope is for, and what a filter looks at, stands in its manifest and in no
        # index. The store may cut the list only where nothing of it is left out afterwards.
        if object_id is None:
            read_limit = limit if sees_all and narrowing.anything else _SCAN_LIMIT
            pairs = list(reader.manifests(limit=max(limit, read_limit)))
        else:
            ids = reversed(reader.envelopes_of([object_id]))
            for envelope_id in ids:
                pairs.append((envelope_id, reader.manifest(envelope_id) or ""))

        for envelope_id, text in pairs:
            if text:
                manifest = stored_manifest(text)
                if may_open(self.principal, manifest):
                    yield _stored_envelope(manifest)
            elif sees_all:
                yield StoredEnvelope(envelope_id=envelope_id, erased=True)


@dataclass(frozen=True, slots=True)
class _Narrowing:
    """What a list is narrowed to."""

    session: str | None
    task: str | None
    since_us: int | None
    until_us: int | None

    @property
    def anything(self) -> bool:
        return self == _Narrowing(None, None, None, None)

    def takes(self, envelope: StoredEnvelope) -> bool:
        """Tell whether an envelope is one of them; an erased one is nothing in particular."""
        if envelope.manifest is None:
            return self.anything

        tx = envelope.manifest.tx_us
        return (
            self.session in (None, envelope.session)
            and self.task in (None, envelope.task)
            and (self.since_us is None or tx >= self.since_us)
            and (self.until_us is None or tx < self.until_us)
        )


def _micros(time: Moment, field: str) -> int | None:
    return None if time is None else instant(time, field=field)


def _stored_envelope(manifest: Manifest) -> StoredEnvelope:
    request: dict[str, Any] = json.loads(manifest.request)
    principal = principal_of(manifest)
    return StoredEnvelope(
        envelope_id=manifest.envelope_id,
        task=request["task"],
        query=request["query"],
        user=principal.user,
        session=principal.session,
        project=request["project"] or None,
        valid=moment(manifest.valid_us),
        tx=moment(manifest.tx_us),
        tokens=sum(tokens for _, tokens in manifest.layer_budgets),
        objects=len(manifest.compiled),
        digest=manifest.digest,
        manifest=manifest,
        replayable=(manifest.compiler_version, manifest.terms_version)
        == (COMPILER_VERSION, TERMS_VERSION),
    )


def manifest_of(envelope_id: str, text: str) -> Manifest:
    """Return a stored manifest.

    Raises:
        NotFound: `erased`, for one that an erasure emptied.
    """
    if not text:
        raise NotFound(
            f"envelope {envelope_id} held or named what was erased; nothing of it is left",
            code="erased",
            envelope_id=envelope_id,
        )
    return stored_manifest(text)


def request_items(manifest: Manifest) -> Mapping[str, RequestItem]:
    """Return the items of the request that a manifest pins, whole, by their ids."""
    request = request_from_json(manifest.request)
    words = [""] * len(request.media)
    items = items_of_request(request, principal_of(manifest), words)
    return {item.object_id: item for item in items}


def unknown_envelope(envelope_id: str) -> NotFound:
    """Return the error of an envelope that is not stored, or not the caller's."""
    return NotFound(
        f"there is no envelope {envelope_id}; "
        "list them with `tenure envelope list` (envelopes.list())",
        code="unknown_object",
    )
