"""Answers that were given once: the same request with the same key gets the same answer.

They stand in the control file for a day, by caller and key, and go when anything of the tenant
is erased, since an answer may name what was. A write's own key goes down to the store as well:
there it is committed with the write, so that a retry after a crash doubles nothing.
"""

from __future__ import annotations

import hashlib
from typing import Final, NamedTuple

from ...schema.errors import Conflict
from ...schema.principal import Principal
from .control import ControlFile
from .identity import principal_json

KEEP_SECONDS: Final = 86_400
_ABANDONED_SECONDS: Final = 60
"""After which a request without an answer is taken for one whose process died."""

_TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS answers (
    caller BLOB NOT NULL, key TEXT NOT NULL, tenant TEXT NOT NULL, fingerprint BLOB NOT NULL,
    made_s REAL NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (caller, key)
) STRICT""",
    # Each writing call drops what is older than a day: without it, it would look at all.
    "CREATE INDEX IF NOT EXISTS answers_by_age ON answers (made_s)",
)


class StoredAnswer(NamedTuple):
    """What a request was answered with."""

    status: int
    body: bytes


class AnswerBook:
    """The answers of one control file."""

    def __init__(self, control: ControlFile) -> None:
        self._control = control
        self._running: set[tuple[bytes, str]] = set()
        """Requests that this process still works on, however long they take."""
        with control.transaction() as connection:
            for statement in _TABLES:
                connection.execute(statement)

    def begin(self, caller: Principal, key: str, request: bytes) -> StoredAnswer | None:
        """The answer that was given; None for a first request, which now runs.

        Raises:
            Conflict: `in_progress` while the first still runs; `idempotency_mismatch` for the
                key of another request.
        """
        identity, fingerprint = self._identity(caller), hashlib.sha256(request).digest()
        now_s = self._control.now()

        with self._control.transaction() as connection:
            connection.execute("DELETE FROM answers WHERE made_s < ?", (now_s - KEEP_SECONDS,))
            row = connection.execute(
                "SELECT fingerprint, made_s, status, body FROM answers"
                " WHERE caller = ? AND key = ?",
                (identity, key),
            ).fetchone()
            is_abandoned = (
                row is not None
                and not row[2]
                and row[1] < now_s - _ABANDONED_SECONDS
                and (identity, key) not in self._running
            )
            if row is None or is_abandoned:
                self._running.add((identity, key))
                connection.execute(
                    "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, 0, x'')",
                    (identity, key, caller.tenant, fingerprint, now_s),
                )
                return None

        if row[0] != fingerprint:
            raise Conflict(
                "this Idempotency-Key was used for another request; take a new one",
                code="idempotency_mismatch",
            )
        if not row[2]:
            raise Conflict("the first request with this key still runs", code="in_progress")
        return StoredAnswer(row[2], row[3])

    def finish(self, caller: Principal, key: str, answer: StoredAnswer) -> None:
        """Keep the answer of a request."""
        identity = self._identity(caller)
        with self._control.transaction() as connection:
            self._running.discard((identity, key))
            connection.execute(
                "UPDATE answers SET status = ?, body = ? WHERE caller = ? AND key = ?",
                (answer.status, answer.body, identity, key),
            )

    def give_up(self, caller: Principal, key: str) -> None:
        """Forget a request that was refused: the same key may be tried again."""
        identity = self._identity(caller)
        with self._control.transaction() as connection:
            self._running.discard((identity, key))
            connection.execute("DELETE FROM answers WHERE caller = ? AND key = ?", (identity, key))

    def forget(self, tenant: str) -> None:
        """Drop every answer of a tenant."""
        with self._control.transaction() as connection:
            connection.execute("DELETE FROM answers WHERE tenant = ? AND status > 0", (tenant,))

    def _identity(self, caller: Principal) -> bytes:
        return self._control.digest("caller", principal_json(caller))
