"""`memory.envelopes`: compiled envelopes listed and found again, and their signed manifests.

Only the manifest of an envelope is stored; `memory.replay` returns the bytes. The store signs all
of a manifest with the tenant's key of its epoch, because a replay trusts it. One that was
rewritten, or that another tenant's store made, does not verify and is refused.

A caller sees its own envelopes, and all of them with a privilege. If content of an envelope was
erased, only its id is kept: callers who may see all find it listed as erased, and a request for
that id says so. Checklist: C-201.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from ...compiler.ir.context import COMPILER_VERSION
from ...compiler.ir.records import RequestItem, items_of_request
from ...compiler.request.parse import request_from_json
from ...compiler.trace.manifest import (
    Manifest,
    bad_manifest,
    principal_json,
    principal_of,
    stored_manifest,
)
from ...schema.errors import NotFound
from ...schema.principal import AUDIT, Principal
from ...schema.records import short_repr
from ...schema.terms import TERMS_VERSION
from ...schema.values import moment
from ...schema.write import Moment
from ...store.port.store import Reader
from ..backend.caller import Caller, argument_checks, instant

_PURPOSE: Final = "tenure manifest v1"
"""Keeps the key's other uses, the boundaries of blocks, apart from this one."""

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
        sees_all = self.principal.holds(AUDIT)
        pairs: list[tuple[str, str]] = []

        # Whom an envelope is for, and what a filter looks at, is in its manifest and in no
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
                    yield stored_envelope(manifest)
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


def stored_envelope(manifest: Manifest) -> StoredEnvelope:
    """An envelope as the list shows it."""
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


def sign_manifest(manifest: Manifest, keys: Sequence[bytes]) -> Manifest:
    """A manifest with the signature of the store that made it."""
    return replace(manifest, signature=_signature(manifest, keys[manifest.key_epoch]))


def verify(manifest: Manifest, keys: Sequence[bytes]) -> None:
    """Refuse a manifest that this tenant's store did not make, as it stands.

    Raises:
        InvalidInput: `bad_manifest`.
    """
    known_epoch = 0 <= manifest.key_epoch < len(keys)
    signature = _signature(manifest, keys[manifest.key_epoch]) if known_epoch else ""
    if not known_epoch or not hmac.compare_digest(signature, manifest.signature):
        raise bad_manifest(
            "its signature does not verify: it was changed, or made by another store or by an "
            "earlier version. Compile anew"
        )


def may_open(caller: Principal, manifest: Manifest) -> bool:
    """Whether an envelope is the caller's own, or the caller may open those of others.

    One that names what was withheld was made for an auditor: who is none any more, or owns one
    of an earlier version that named it to everybody, may not open it.
    """
    if caller.holds(AUDIT):
        return True
    if manifest.names_refused:
        return False

    owner = principal_of(manifest)
    if owner.user is not None or caller.user is not None:
        return owner.user == caller.user
    if owner.session is not None or caller.session is not None:
        return owner.session == caller.session

    # Services have no user. Two that differ in anything are not the same one.
    return principal_json(caller) == manifest.principal


def _signature(manifest: Manifest, key: bytes) -> str:
    fields = [
        getattr(manifest, name) for name in Manifest.__dataclass_fields__ if name != "signature"
    ]
    # Plain JSON in the order of the fields: the canonical form costs several times as much.
    text = json.dumps([_PURPOSE, fields])
    return hmac.digest(key, text.encode(), "sha256").hex()
