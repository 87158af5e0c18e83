"""Answers that were given once: the same request with the same key gets the same answer.

They stand in the control file for a day, by caller and key. An erasure empties those that name what
it took: the request is known as done from then on, and is not done again. Others stay, so that
nobody learns by a retry that something was erased. A write's own key goes down to the store as
well: there it is committed with the write, so that a retry after a crash doubles nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from ...schema.artifact import digest_of
from ...schema.errors import Conflict
from ...schema.principal import Principal
from .control import ControlFile
from .identity import principal_json

KEEP_SECONDS: Final = 86_400
_ABANDONED_SECONDS: Final = 60
"""After which a request without an answer is taken for one whose process died."""

_EMPTIED: Final = 410
"""The status of an answer that went with an erasure."""

_WORD_ENDS: Final = re.compile('["/ ]')
"""What an id ends at in an answer, be it a text of its own or the part of an address."""

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
                key of another request; `answer_erased`.
        """
        identity, fingerprint = self._identity(caller), self._fingerprint(request)
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

        # An earlier version kept a plain digest; such rows are gone a day after the upgrade.
        if row[0] not in (fingerprint, hashlib.sha256(request).digest()):
            raise Conflict(
                "this Idempotency-Key was used for another request; take a new one",
                code="idempotency_mismatch",
            )
        if not row[2]:
            raise Conflict("the first request with this key still runs", code="in_progress")
        if row[2] == _EMPTIED:
            raise Conflict(
                "the first request with this key was done, and its answer was erased since with "
                "what it named; read what stands",
                code="answer_erased",
            )
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

    def forget(self, tenant: str, names: Collection[str]) -> None:
        """Empty the answers of a tenant that name one of some ids."""
        with self._control.transaction() as connection:
            rows = connection.execute(
                "SELECT caller, key, body FROM answers WHERE tenant = ? AND status > 0", (tenant,)
            ).fetchall()
            places = [
                (_EMPTIED, caller, key)
                for caller, key, body in rows
                if not set(_WORD_ENDS.split(body.decode())).isdisjoint(names)
            ]
            connection.executemany(
                "UPDATE answers SET status = ?, body = x'' WHERE caller = ? AND key = ?", places
            )

    def _identity(self, caller: Principal) -> bytes:
        return self._control.digest("caller", principal_json(caller))

    def _fingerprint(self, request: bytes) -> bytes:
        # Keyed, since it stays where the answer was erased: a guess of the words proves nothing.
        return self._control.digest("request", request.decode())


def erased_names(
    *,
    object_ids: Iterable[str] = (),
    entity_ids: Iterable[str] = (),
    artifacts: Iterable[str] = (),
    envelopes: Iterable[str] = (),
) -> set[str]:
    """The ids by which a kept answer names what an erasure took."""
    digests = {digest_of(address) for address in artifacts}
    return {*object_ids, *entity_ids, *envelopes} | digests
