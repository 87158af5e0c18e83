"""Signatures of manifests, and who may open an envelope.

A manifest says for whom a context was compiled and what stood in it, and a replay believes it. So
the store signs all of it with the tenant's key of its epoch: one that was rewritten, or that
another tenant's store made, does not verify and is refused.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ...compiler.trace.manifest import Manifest, bad_manifest, principal_json, principal_of
from ...schema.principal import AUDIT, Principal

_PURPOSE: Final = "tenure manifest v1"
"""Keeps the key's other uses, the boundaries of blocks, apart from this one."""


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
    if not caller.roles.isdisjoint(AUDIT.roles):
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
