"""Artifacts: originals kept next to the facts, addressed by their content.

An address is `artifact://sha256/<hex>`, the SHA-256 of the bytes, so it can be part of a text, a
manifest or an origin and never means anything else. Grants say who may read: each put makes one,
with a scope and permissions like an object's. Bytes that two callers put are kept once, and either
grant admits readers. Checklist C-206, C-220.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from .claim import Permissions
from .errors import InvalidInput, TenureError
from .principal import EVERYONE_TAG, Scope, Sight
from .records import short_repr
from .values import canonical_json, micros, stamp_time
from .vocabulary import Classification

SCHEME: Final = "artifact://sha256/"
MAX_BYTES: Final = 64 * 1024 * 1024
"""Size of one artifact where no other limit is set."""
_ADDRESS: Final = re.compile(re.escape(SCHEME) + "([0-9a-f]{64})", re.ASCII)


def address_of(data: bytes) -> str:
    """The address of bytes.

    >>> address_of(b"")[:30]
    'artifact://sha256/e3b0c44298fc'
    """
    return SCHEME + hashlib.sha256(data).hexdigest()


def is_address(text: str) -> bool:
    """Whether a text is the address of an artifact."""
    return _ADDRESS.fullmatch(text) is not None


def digest_of(address: str) -> str:
    """The digest that an address holds.

    Raises:
        InvalidInput: `bad_artifact`.
    """
    address_match = _ADDRESS.fullmatch(address)
    if address_match is None:
        raise InvalidInput(
            f"{address!r:.120} is no artifact; an address is {SCHEME} and 64 hex digits",
            code="bad_artifact",
        )

    return address_match[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """An artifact as one put described it: what it is, and who may read it."""

    __repr__ = short_repr

    address: str
    size: int
    """Bytes."""
    media_type: str
    name: str
    """What a person calls it; may be empty."""
    origin: str
    """Where the bytes come from, in the caller's words; may be empty."""
    scope: Scope
    permissions: Permissions
    actor: str
    at: datetime
    object_ids: tuple[str, ...] = ()
    """Objects whose words it holds: erasing one of them erases it too."""
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", digest_of(self.address))

    @property
    def grant_id(self) -> str:
        """The identity of this grant: the same put by the same caller is one."""
        plain = self._plain()
        # Without the clock: the same put by the same caller, retried, is the same grant.
        del plain["at_us"]
        return hashlib.sha256(canonical_json(plain).encode()).hexdigest()[:32]

    def admits(self, sight: Sight) -> bool:
        """Whether a caller with this sight may read it."""
        # Asked of the grant, never of the bytes: two tenants may hold equal ones.
        return self.scope.scope_id in sight.scopes and self.permissions.admits(sight)

    def to_json(self) -> str:
        """The grant as canonical JSON, the form that is stored."""
        return canonical_json(self._plain())

    def _plain(self) -> dict[str, Any]:
        return {
            "address": self.address,
            "size": self.size,
            "media_type": self.media_type,
            "name": self.name,
            "origin": self.origin,
            "scope": self.scope.scope_id,
            "classification": self.permissions.classification.value,
            "allow": list(self.permissions.allow),
            "deny": list(self.permissions.deny),
            "actor": self.actor,
            "at_us": micros(self.at),
            "object_ids": list(self.object_ids),
        }


def artifact_from_json(text: str) -> Artifact:
    """A grant from its stored form.

    Raises:
        ValueError: for a text that is no stored grant; the caller decides what that means.
    """
    # A file that somebody edited may hold anything; none of it may reach a caller as a crash.
    try:
        return _artifact_of(json.loads(text))
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError, TenureError) as error:
        raise ValueError(f"this is no grant of an artifact: {type(error).__name__}") from error


def _artifact_of(record: Any) -> Artifact:
    return Artifact(
        address=record["address"],
        size=record["size"],
        media_type=record["media_type"],
        name=record["name"],
        origin=record["origin"],
        scope=Scope.parse(record["scope"]),
        permissions=Permissions(
            classification=Classification(record["classification"]),
            allow=tuple(record["allow"]) or (EVERYONE_TAG,),
            deny=tuple(record["deny"]),
        ),
        actor=record["actor"],
        at=stamp_time(record["at_us"]),
        object_ids=tuple(record["object_ids"]),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """What a pointer represents, whole."""

    __repr__ = short_repr

    pointer: str
    """The address of an artifact, or the id of a stored object or of an item of a request."""
    origin: str
    media_type: str
    data: bytes

    @property
    def text(self) -> str:
        """The bytes as text.

        Raises:
            InvalidInput: `invalid_encoding`, when they are no UTF-8.
        """
        return decode_text(self.data, self.pointer)


def decode_text(data: bytes, pointer: str) -> str:
    """Bytes as text.

    Raises:
        InvalidInput: `invalid_encoding`, when they are no UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{pointer} is no UTF-8 text; read its bytes instead", code="invalid_encoding"
        ) from error
