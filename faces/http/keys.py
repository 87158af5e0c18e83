"""Keys of programs: made, listed, rotated and revoked in the control file; short tokens of a key.

A key is `tnr_<id>_<secret>`. The id is for people and lists; the secret has 256 bits and is kept
as a keyed hash alone, for it is shown once. A short token, `tnt_<body>_<mark>`, stands for one
user and session of a key for a quarter of an hour: it is signed, never stored, and dies with its
key. Neither ever gives more than the key holds.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from ...schema.errors import Forbidden, InvalidInput, NotFound
from ...schema.principal import Principal
from ...service.calls.table import Permit
from .control import ControlFile
from .credential import Credential
from .identity import principal_from_json, principal_json

TOKEN_SECONDS: Final = 900
OVERLAP_SECONDS: Final = 86_400
"""How long the old secret of a rotated key still opens, by default."""

STRONGEST_LEVEL: Final = 2
"""No key speaks for the platform or an administrator of it."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS keys (
    id TEXT PRIMARY KEY, hash BLOB NOT NULL, old_hash BLOB, old_ends_s REAL,
    tenant TEXT NOT NULL, principal TEXT NOT NULL, permits TEXT NOT NULL, name TEXT NOT NULL,
    made_s REAL NOT NULL, ends_s REAL
) STRICT;
"""
_UNKNOWN_HASH: Final = bytes(32)


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """A key as lists show it: everything but the secret."""

    key_id: str
    name: str
    tenant: str
    user: str | None
    roles: tuple[str, ...]
    permits: tuple[str, ...]
    made_s: float
    ends_s: float | None


class KeyRing:
    """The keys of one control file."""

    def __init__(self, control: ControlFile) -> None:
        self.control = control
        with control.transaction() as connection:
            connection.execute(_TABLE)

    def create(
        self,
        principal: Principal,
        permits: Iterable[str],
        *,
        name: str = "",
        seconds: float | None = None,
    ) -> str:
        """The text of a new key; it is never shown again. `seconds` is how long it opens.

        Raises:
            InvalidInput: `bad_principal` for a level that no key may have; `unknown_vocabulary`
                for a permit that does not exist; `out_of_range` for a key that would have ended.
        """
        if principal.authority_level < STRONGEST_LEVEL:
            raise InvalidInput(f"a key has level {STRONGEST_LEVEL} or weaker", code="bad_principal")
        if seconds is not None and not seconds > 0:
            raise InvalidInput(
                "a key that opens for no time is none: say for how long", code="out_of_range"
            )

        key_id, secret = secrets.token_hex(6), secrets.token_hex(32)
        row = (
            key_id,
            self._hash(key_id, secret),
            principal.tenant,
            principal_json(principal),
            json.dumps(sorted(set(_known_permits(permits)))),
            name,
            self.control.now(),
            None if seconds is None else self.control.now() + seconds,
        )
        with self.control.transaction() as connection:
            connection.execute("INSERT INTO keys VALUES (?, ?, NULL, NULL, ?, ?, ?, ?, ?, ?)", row)

        return f"tnr_{key_id}_{secret}"

    def rotate(self, key_id: str, *, overlap_seconds: float = OVERLAP_SECONDS) -> str:
        """A new secret for a key; the old one opens until the overlap ends.

        Raises:
            NotFound: `unknown_key`.
        """
        secret = secrets.token_hex(32)
        ends_s = self.control.now() + overlap_seconds
        with self.control.transaction() as connection:
            row_count = connection.execute(
                "UPDATE keys SET old_hash = hash, old_ends_s = ?, hash = ? WHERE id = ?",
                (ends_s, self._hash(key_id, secret), key_id),
            ).rowcount
        if not row_count:
            raise _unknown_key(key_id)

        return f"tnr_{key_id}_{secret}"

    def revoke(self, key_id: str) -> None:
        """End a key, and with it every token of it.

        Raises:
            NotFound: `unknown_key`.
        """
        with self.control.transaction() as connection:
            row_count = connection.execute("DELETE FROM keys WHERE id = ?", (key_id,)).rowcount
        if not row_count:
            raise _unknown_key(key_id)

    def records(self, tenant: str) -> tuple[KeyRecord, ...]:
        """The keys of a tenant, oldest first."""
        statement = (
            "SELECT id, name, tenant, principal, permits, made_s, ends_s FROM keys"
            " WHERE tenant = ? ORDER BY made_s, id"
        )
        records: list[KeyRecord] = []
        for row in self.control.rows(statement, tenant):
            key_id, name, owner, principal, permits, made_s, ends_s = row
            caller = principal_from_json(str(principal))
            records.append(
                KeyRecord(
                    key_id=str(key_id),
                    name=str(name),
                    tenant=str(owner),
                    user=caller.user,
                    roles=tuple(sorted(caller.roles)),
                    permits=tuple(json.loads(str(permits))),
                    made_s=float(str(made_s)),
                    ends_s=None if ends_s is None else float(str(ends_s)),
                )
            )

        return tuple(records)

    def credential(self, text: str) -> Credential | None:
        """What a key or a short token stands for; None for everything else."""
        if text.startswith("tnt_"):
            return self._of_token(text)

        prefix, _, tail = text.partition("_")
        key_id, _, secret = tail.partition("_")
        row = self._row(key_id)
        # An unknown id costs the same as a wrong secret.
        digest = self._hash(key_id, secret)
        expected_hash = row[0] if row else _UNKNOWN_HASH
        is_current = hmac.compare_digest(digest, expected_hash)
        is_old = bool(row and row[1] and self.control.now() < row[2]) and hmac.compare_digest(
            digest, row[1]
        )

        if prefix != "tnr" or row is None or not (is_current or is_old):
            return None
        return self._alive(key_id, row)

    def issue(self, credential: Credential, fields: dict[str, Any]) -> tuple[str, float]:
        """A short token for a user and session of a key, and when it ends.

        `fields` may state `user`, `session`, `roles`, `projects`, `clearance` and
        `authority_level`, none of them beyond the key's own.

        Raises:
            Forbidden: `permission_required`; `above_key_permission`.
            InvalidInput: `bad_principal`.
        """
        credential.require(Permit.ISSUE)
        if not credential.key_id:
            raise Forbidden("only a key issues tokens", code="permission_required")

        principal = _narrower_principal(credential.principal, fields)
        ends_s = self.control.now() + TOKEN_SECONDS
        plain = json.dumps([credential.key_id, principal_json(principal), ends_s])
        body = base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")

        return f"tnt_{body}.{self.control.digest('token', body).hex()}", ends_s

    def _of_token(self, text: str) -> Credential | None:
        body, _, mark = text.removeprefix("tnt_").partition(".")
        expected_mark = self.control.digest("token", body).hex()
        if not hmac.compare_digest(mark.encode(), expected_mark.encode()):
            return None
        try:
            plain = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        except binascii.Error:
            return None

        key_id, principal, ends_s = json.loads(plain)
        row = self._row(key_id)
        if row is None or self.control.now() >= ends_s:
            return None
        credential = self._alive(key_id, row)
        if credential is None:
            return None

        # A token does not issue others: it would outlive its own quarter of an hour.
        permits = credential.permits - {Permit.ISSUE.value}
        return Credential(principal_from_json(principal), permits)

    def _row(self, key_id: str) -> Any:
        statement = (
            "SELECT hash, old_hash, old_ends_s, principal, permits, ends_s FROM keys WHERE id = ?"
        )
        return next(iter(self.control.rows(statement, key_id)), None)

    def _alive(self, key_id: str, row: Any) -> Credential | None:
        *_, principal, permits, ends_s = row
        if ends_s is not None and self.control.now() >= ends_s:
            return None
        return Credential(principal_from_json(principal), _permits_from_json(permits), key_id)

    def _hash(self, key_id: str, secret: str) -> bytes:
        return self.control.digest("key", f"{key_id}.{secret}")


@lru_cache
def _permits_from_json(text: str) -> frozenset[str]:
    return frozenset(json.loads(text))


def _known_permits(permits: Iterable[str]) -> list[str]:
    known = {permit.value for permit in Permit}
    names = list(permits)
    unknown = sorted(set(names) - known)
    if unknown:
        raise InvalidInput(
            f"unknown permit {unknown[0]!r}; known: {', '.join(sorted(known))}",
            code="unknown_vocabulary",
            word=unknown[0],
        )
    return names


def _narrower_principal(principal: Principal, fields: dict[str, Any]) -> Principal:
    """A principal with what a token states, where the key holds all of it.

    Raises:
        Forbidden: `above_key_permission`.
        InvalidInput: `bad_principal`.
    """
    known = {"user", "session", "roles", "projects", "clearance", "authority_level"}
    if unknown := sorted(fields.keys() - known):
        raise InvalidInput(f"a token has no field {unknown[0]!r}", code="bad_principal")

    bearer = replace(principal, **fields)
    # A key of one user speaks for nobody else; a service's key has none, and names its users.
    is_within = (
        principal.user in (None, bearer.user)
        and principal.session in (None, bearer.session)
        and bearer.roles <= principal.roles
        and bearer.projects <= principal.projects
        and bearer.clearance.rank <= principal.clearance.rank
        and bearer.authority_level >= principal.authority_level
    )
    if not is_within:
        raise Forbidden("a token holds no more than its key", code="above_key_permission")

    return bearer


def _unknown_key(key_id: str) -> NotFound:
    return NotFound(
        f"there is no key {key_id}; list them with `tenure keys list`", code="unknown_key"
    )
