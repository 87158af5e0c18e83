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
IDLE_SECONDS: Final = 8 * 3600
"""After which a web session ends, when nothing is asked in it."""
SESSION_SECONDS: Final = 24 * 3600
"""After which a web session ends, however often it is used."""
_TOUCH_SECONDS: Final = 60
"""How stale the last use of a session may stand: so a read of a page is rarely a write here."""
_ALPHABET: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_BUSY_SECONDS: Final = 5.0
_CACHE_KIB: Final = 512

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS sign_in_codes (
    hash BLOB PRIMARY KEY, tenant TEXT NOT NULL, person TEXT NOT NULL, ends_s REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS web_sessions (
    hash BLOB PRIMARY KEY, principal TEXT NOT NULL, last_s REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS people (person TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT;
"""
_FORGET_ABSENT: Final = (
    "DELETE FROM people WHERE person NOT IN"
    " (SELECT principal FROM web_sessions UNION SELECT person FROM sign_in_codes)"
)


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

    def new_code(self, tenant: str, person: str = "", record: str = "") -> str:
        """A code that signs a person in once; an older one of that person ends.

        Without a person it signs in the steward of the server that takes it.
        """
        code = "".join(secrets.choice(_ALPHABET) for _ in range(CODE_LENGTH))
        row = (self._code_hash(tenant, code), tenant, person, self.now() + CODE_SECONDS)

        with self.transaction() as connection:
            connection.execute(
                "DELETE FROM sign_in_codes WHERE (tenant = ? AND person = ?) OR ends_s <= ?",
                (tenant, person, self.now()),
            )
            connection.execute("INSERT INTO sign_in_codes VALUES (?, ?, ?, ?)", row)
            if record:
                connection.execute("INSERT OR REPLACE INTO people VALUES (?, ?)", (person, record))
            connection.execute(_FORGET_ABSENT)
        return f"{code[:5]}-{code[5:]}"

    def take_code(self, tenant: str, text: str) -> str | None:
        """The person whom a code of the tenant signs in; the code is used up.

        None for any other text. A wrong code ends no right one: a stranger could lock people out.
        """
        code = "".join(char for char in text.upper() if char in _ALPHABET)
        key = self._code_hash(tenant, code)
        with self.transaction() as connection:
            row = connection.execute(
                "DELETE FROM sign_in_codes WHERE hash = ? RETURNING person, ends_s", (key,)
            ).fetchone()
        return row[0] if row and self.now() < row[1] else None

    def has_code(self, tenant: str, person: str) -> bool:
        """Whether a code of a person waits to be used."""
        statement = "SELECT 1 FROM sign_in_codes WHERE tenant = ? AND person = ? AND ends_s > ?"
        return bool(self.rows(statement, tenant, person, self.now()))

    def _code_hash(self, tenant: str, code: str) -> bytes:
        return self.digest("code", f"{tenant}\x00{code}")

    # ---- web sessions

    def open_session(self, person: str, record: str = "") -> str:
        """The token of a new web session of a person.

        `record` replaces what is known of the person, in the person's other sessions too.
        """
        token = f"{int(self.now())}.{secrets.token_urlsafe(32)}"
        with self.transaction() as connection:
            connection.execute(
                "DELETE FROM web_sessions WHERE last_s < ?", (self.now() - IDLE_SECONDS,)
            )
            connection.execute(
                "INSERT INTO web_sessions VALUES (?, ?, ?)",
                (self.digest("session", token), person, self.now()),
            )
            if record:
                connection.execute("INSERT OR REPLACE INTO people VALUES (?, ?)", (person, record))
            connection.execute(_FORGET_ABSENT)
        return token

    def session(self, token: str) -> tuple[str, str] | None:
        """The person of a session and the person's record today, which may be empty.

        None where the session is unknown or has ended.
        """
        key, now_s = self.digest("session", token), self.now()
        # The hash covers the time in the token, so that nobody can prolong a session.
        start_s = token.partition(".")[0]
        rows = self.rows(
            "SELECT last_s, principal, coalesce(record, '') FROM web_sessions"
            " LEFT JOIN people ON person = principal WHERE hash = ?",
            key,
        )
        if not rows:
            return None

        last_s, person, record = float(str(rows[0][0])), str(rows[0][1]), str(rows[0][2])
        # An earlier version made tokens without a time.
        is_over = not start_s.isdecimal() or int(start_s) <= now_s - SESSION_SECONDS
        if is_over or last_s < now_s - IDLE_SECONDS:
            return None
        if last_s < now_s - _TOUCH_SECONDS:
            with self.transaction() as connection:
                connection.execute(
                    "UPDATE web_sessions SET last_s = ? WHERE hash = ?", (now_s, key)
                )
        return person, record

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
            connection.execute("PRAGMA secure_delete = ON")
            connection.executescript(_TABLES)
            failure.pop_all()
    except (OSError, sqlite3.Error) as error:
        raise Unavailable(
            f"the control file {path} cannot be opened: {error}; name another with --control",
            code="file_unwritable",
        ) from error
    return connection
