"""The control file of a server: its pepper, its one-time codes and its web sessions.

It stands outside every tenant and every export, readable by its owner alone. Nothing that signs
anybody in is kept as it is: codes and tokens stand as keyed hashes, under a pepper of this file,
so that a copy of the file opens nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from ...schema.errors import Unavailable

CODE_LENGTH: Final = 10
"""Base-32 characters of a one-time code: 50 bits."""
CODE_SECONDS: Final = 600
CODE_TRIES: Final = 5
IDLE_SECONDS: Final = 8 * 3600
"""After which a web session ends, when nothing is asked in it."""
_TOUCH_SECONDS: Final = 60
"""How stale the last use of a session may stand: so a read of a page is rarely a write here."""
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BUSY_SECONDS: Final = 5.0
_CACHE_KIB: Final = 512

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS codes (
    tenant TEXT PRIMARY KEY, hash BLOB NOT NULL, ends_s REAL NOT NULL, tries INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS web_sessions (
    hash BLOB PRIMARY KEY, principal TEXT NOT NULL, last_s REAL NOT NULL
) STRICT;
"""


class ControlFile:
    """One SQLite file, mode 0600; safe for threads, and for several processes of one machine."""

    def __init__(self, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self.path = Path(path).expanduser()
        self._clock = clock
        self._lock = threading.Lock()
        self._connection = _open(self.path)
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO secrets VALUES ('pepper', ?)", (secrets.token_bytes(32),)
            )
            (self._pepper,) = connection.execute(
                "SELECT value FROM secrets WHERE name = 'pepper'"
            ).fetchone()

    def __repr__(self) -> str:
        return f"ControlFile({str(self.path)!r})"

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def now(self) -> float:
        """Seconds since 1970, by the clock of this file."""
        return self._clock()

    @contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Have the file to oneself; what fails leaves no trace."""
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def rows(self, statement: str, *parameters: object) -> list[tuple[object, ...]]:
        """Read rows outside a transaction."""
        with self._lock:
            return self._connection.execute(statement, parameters).fetchall()

    def digest(self, purpose: str, secret: str) -> bytes:
        """The keyed hash under which a secret is kept; `purpose` keeps two uses apart."""
        return hmac.digest(self._pepper, f"{purpose}\x00{secret}".encode(), hashlib.sha256)

    def has_keys(self) -> bool:
        """Whether a key was ever made in this file."""
        tables = self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'keys'")
        return bool(tables and self.rows("SELECT 1 FROM keys LIMIT 1"))

    # ---- one-time codes

    def new_code(self, tenant: str) -> str:
        """A code that signs the steward of a tenant in once; an older one of it ends."""
        code = "".join(secrets.choice(_ALPHABET) for _ in range(CODE_LENGTH))
        ends_s = self.now() + CODE_SECONDS

        with self.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO codes VALUES (?, ?, ?, ?)",
                (tenant, self.digest("code", code), ends_s, CODE_TRIES),
            )
        return f"{code[:5]}-{code[5:]}"

    def take_code(self, tenant: str, text: str) -> bool:
        """Whether a text is the tenant's code, which is then used up.

        A wrong one costs a try; after the last one nothing is right until there is a new code.
        """
        code = "".join(char for char in text.upper() if char in _ALPHABET)
        with self.transaction() as connection:
            row = connection.execute(
                "SELECT hash, ends_s, tries FROM codes WHERE tenant = ?", (tenant,)
            ).fetchone()
            expected_hash, ends_s, tries = row or (b"", 0.0, 0)

            is_right = hmac.compare_digest(self.digest("code", code), expected_hash)
            if is_right and tries > 0 and self.now() < ends_s:
                connection.execute("DELETE FROM codes WHERE tenant = ?", (tenant,))
                return True

            connection.execute("UPDATE codes SET tries = tries - 1 WHERE tenant = ?", (tenant,))
            return False

    def has_code(self, tenant: str) -> bool:
        """Whether a code of the tenant waits to be used."""
        statement = "SELECT 1 FROM codes WHERE tenant = ? AND tries > 0 AND ends_s > ?"
        return bool(self.rows(statement, tenant, self.now()))

    # ---- web sessions

    def open_session(self, principal: str) -> str:
        """The token of a new web session; `principal` is its caller as JSON."""
        token = secrets.token_urlsafe(32)
        with self.transaction() as connection:
            connection.execute(
                "DELETE FROM web_sessions WHERE last_s < ?", (self.now() - IDLE_SECONDS,)
            )
            connection.execute(
                "INSERT INTO web_sessions VALUES (?, ?, ?)",
                (self.digest("session", token), principal, self.now()),
            )
        return token

    def session(self, token: str) -> str | None:
        """The caller of a web session as JSON; None where it is unknown or has ended."""
        key, now_s = self.digest("session", token), self.now()
        rows = self.rows("SELECT principal, last_s FROM web_sessions WHERE hash = ?", key)
        if not rows:
            return None

        principal, last_s = str(rows[0][0]), float(str(rows[0][1]))
        if last_s < now_s - IDLE_SECONDS:
            return None
        if last_s < now_s - _TOUCH_SECONDS:
            with self.transaction() as connection:
                connection.execute(
                    "UPDATE web_sessions SET last_s = ? WHERE hash = ?", (now_s, key)
                )
        return principal

    def close_session(self, token: str) -> None:
        """End a web session."""
        with self.transaction() as connection:
            connection.execute(
                "DELETE FROM web_sessions WHERE hash = ?", (self.digest("session", token),)
            )

    def form_token(self, token: str) -> str:
        """What a form of a session must carry: bound to it, and worth nothing elsewhere."""
        return self.digest("form", token).hex()


def _open(path: Path) -> sqlite3.Connection:
    """Open the file, made for its owner alone.

    Raises:
        Unavailable: `file_unwritable`.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The mode is set before a byte stands in it, also on one that was copied here.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        path.chmod(0o600)
        connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        with ExitStack() as failure:
            failure.callback(connection.close)
            # Answers lie by random keys: more pages would fill with those that no retry asks for.
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            connection.executescript(_TABLES)
            failure.pop_all()
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(
            f"the control file {path} cannot be opened: {error}; name another with --control",
            code="file_unwritable",
        ) from error
    return connection
