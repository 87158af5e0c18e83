"""Choosing an extractor, asking it, and keeping what models answered: a question is paid for once.

An answer is found by the keyed digest of all that it depends on: the tenant, the text, what the
model was told and which model it was. The keys are made with the tenant's own secret, so an answer
reaches nobody without the text and no other tenant. An answer is no record of anything: if the file
is deleted, only money is lost, so what cannot be read counts as absent.

Erasure must not fail. An answer is bound to each passage of its text before the passage is written,
and goes with the first of them that is erased; one whose passage was never written goes by its
words.
"""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from ...schema.errors import InvalidInput, Unavailable
from ...schema.record_json import to_plain
from ...schema.values import canonical_json, stamp_time
from .claims import (
    BatchExtractor,
    ContextualExtractor,
    ExtractedClaim,
    Extraction,
    ExtractionContext,
    Extractor,
    PaidExtractor,
    TextInContext,
    fitting_claims,
)

MOST_ANSWERS: Final = 100_000
"""About 100 MB; the oldest go first."""

_LAYOUT: Final = "1"
"""Part of every digest: a change of what is kept, or how it is checked, makes all of it unknown."""
_BUSY_SECONDS: Final = 5.0

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY, tenant BLOB NOT NULL, text BLOB NOT NULL,
    question BLOB NOT NULL UNIQUE, body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS answers_of_text ON answers (tenant, text);
CREATE TABLE IF NOT EXISTS passages (
    tenant BLOB NOT NULL, object_id TEXT NOT NULL, text BLOB NOT NULL,
    PRIMARY KEY (tenant, object_id)
) STRICT, WITHOUT ROWID;
"""


class AnswerKey(NamedTuple):
    """The keyed digests that an answer is found by."""

    tenant: bytes
    text: bytes
    question: bytes


class TenantSeal(NamedTuple):
    """A tenant and its secret: what digests of its texts are made with."""

    tenant: str
    secret: bytes

    def digest(self, *parts: str) -> bytes:
        """The keyed digest of texts; two tenants that share a secret share no digest."""
        message = canonical_json([_LAYOUT, self.tenant, *parts])
        return hmac.digest(self.secret, message.encode("utf-8", "surrogatepass"), "sha256")

    def key(self, text: str, question: str) -> AnswerKey:
        """The key of an answer about a text."""
        return AnswerKey(self.digest(), self.digest(text), self.digest(text, question))


class AnswerCache:
    """One SQLite file, mode 0600; safe for threads, and for several processes of one machine."""

    def __init__(self, path: Path | None) -> None:
        """Name a file, which is made with the first answer; None keeps answers in memory."""
        self.path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    def find(self, key: AnswerKey) -> Extraction | None:
        """The answer to a question, marked as one that cost nothing."""
        with suppress(sqlite3.Error), self._lock:
            db = self._opened(create=False)
            if db is None:
                return None
            row = db.execute(_FIND, (key.question,)).fetchone()
            return None if row is None else _extraction_of(row[0])
        return None

    def keep(self, key: AnswerKey, extraction: Extraction) -> None:
        """Keep an answer; one that cannot be kept is paid for again."""
        body = canonical_json(to_plain(extraction))
        with suppress(sqlite3.Error, OSError), self._lock:
            db = self._opened(create=True)
            assert db is not None  # it was made
            with db:
                number = db.execute(_KEEP, (*key, body)).lastrowid or 0
                db.execute("DELETE FROM answers WHERE number <= ?", (number - MOST_ANSWERS,))

    def bind(self, key: AnswerKey, object_id: str) -> None:
        """Let answers about a text go with a passage of it.

        Raises:
            Unavailable: `answers_unreachable`; an answer that no erasure would reach must not stay.
        """
        self._change(lambda db: db.execute(_BIND, (key.tenant, object_id, key.text)).rowcount)

    def forget(
        self,
        seal: TenantSeal,
        *,
        object_ids: Iterable[str] = (),
        texts: Iterable[str] = (),
        repeats: Callable[[str], bool] | None = None,
    ) -> int:
        """Drop the answers about passages and texts, and those whose words `repeats` tells.

        How many were dropped.

        Raises:
            Unavailable: `answers_unreachable`.
        """
        tenant = seal.digest()

        def work(db: sqlite3.Connection) -> int:
            digests = {seal.digest(text) for text in texts}
            for object_id in object_ids:
                rows = db.execute(_TEXT_OF, (tenant, object_id)).fetchall()
                digests.update(row[0] for row in rows)
                db.execute(_UNBIND, (tenant, object_id))

            # An answer whose passage was never written is known by its words alone.
            bodies = db.execute(_BODIES, (tenant,)) if repeats else ()
            digests.update(text for text, body in bodies if repeats and repeats(body))

            count = 0
            for digest in sorted(digests):
                count += db.execute(_DROP, (tenant, digest)).rowcount
            return count

        count = self._change(work)
        if count and self._db is not None:
            # What was deleted must not be in the log either.
            with suppress(sqlite3.Error), self._lock:
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return count

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _change(self, work: Callable[[sqlite3.Connection], int]) -> int:
        """What a change of the file comes to; nothing where there is no file.

        Raises:
            Unavailable: `answers_unreachable`.
        """
        try:
            with self._lock:
                db = self._opened(create=False)
                if db is None:
                    return 0
                with db:
                    return work(db)
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(
                f"what models answered, in {self.path}, cannot be changed: {error}; delete that "
                "file, it can be made again, and repeat the call",
                code="answers_unreachable",
            ) from error

    def _opened(self, *, create: bool) -> sqlite3.Connection | None:
        """The open file; None where there is none and none is to be made."""
        if self._db is not None:
            return self._db
        if self.path is None:
            name = ":memory:"
        else:
            if not create and not self.path.exists():
                return None
            # Made before SQLite opens it, so that its words are never readable by others.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            name = str(self.path)

        db = sqlite3.connect(name, timeout=_BUSY_SECONDS, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA secure_delete = ON")
            db.executescript(_TABLES)
        except sqlite3.Error:
            db.close()
            raise
        self._db = db
        return db


_FIND: Final = "SELECT body FROM answers WHERE question = ?"
_KEEP: Final = "INSERT OR REPLACE INTO answers (tenant, text, question, body) VALUES (?, ?, ?, ?)"
_BIND: Final = "INSERT OR REPLACE INTO passages (tenant, object_id, text) VALUES (?, ?, ?)"
_TEXT_OF: Final = "SELECT text FROM passages WHERE tenant = ? AND object_id = ?"
_UNBIND: Final = "DELETE FROM passages WHERE tenant = ? AND object_id = ?"
_BODIES: Final = "SELECT text, body FROM answers WHERE tenant = ?"
_DROP: Final = "DELETE FROM answers WHERE tenant = ? AND text = ?"


def _extraction_of(body: str) -> Extraction | None:
    """A kept answer: its claims as they were, and nothing to pay; None for what is none."""
    claims: list[ExtractedClaim] = []
    try:
        members: dict[str, Any] = json.loads(body)
        for claim in members.pop("claims"):
            for field in ("valid_from", "valid_until"):
                claim[field] = None if claim[field] is None else stamp_time(claim[field])
            claims.append(ExtractedClaim(**claim))
        extraction = Extraction(claims=tuple(claims), **members)
    except (KeyError, TypeError, ValueError):
        return None

    return replace(
        extraction,
        dropped=tuple(extraction.dropped),
        is_cached=True,
        tokens_in=0,
        tokens_out=0,
        cost=None,
    )


# asking


def _rules() -> Extractor:
    from .engine import RuleExtractor  # its tables load for those who observe

    return RuleExtractor()


def extractor_of(choice: Extractor | str | None) -> Extractor | None:
    """The extractor that a caller names or brings; None is the rules.

    Raises:
        InvalidInput: `bad_extractor` for a name that means none.
        Unavailable: `extractor_unavailable` when its extra or its key is missing.
    """
    if not isinstance(choice, str):
        return choice
    if choice == "rules":
        return _rules()

    # A provider's SDK takes half a second to import, so it loads for those who name one.
    from .model import ModelExtractor
    from .providers import provider_named

    return ModelExtractor(provider_named(choice))


def extraction(extractor: Extractor | None, text: str, context: ExtractionContext) -> Extraction:
    """The claims of a text by an extractor, in slots that the tenant has."""
    reader = extractor or _rules()
    if isinstance(reader, ContextualExtractor):
        return reader.extract_in(text, context)

    claims = fitting_claims(reader.extract(text, at=context.at), context.slots)
    return Extraction(claims=claims, extractor="rules")


def answer_key(
    extractor: Extractor | None, text: str, context: ExtractionContext, seal: TenantSeal
) -> AnswerKey | None:
    """What an answer about a text is kept under; None of an extractor that costs nothing."""
    if not isinstance(extractor, PaidExtractor):
        return None
    return seal.key(text, extractor.question(text, context))


class TextQuestion(NamedTuple):
    """What an extractor is asked about a text that somebody said."""

    text: str
    context: ExtractionContext
    key: AnswerKey | None
    """What its answer is kept under; None where asking costs nothing."""


def kept_extractions(
    extractor: Extractor | None, questions: Sequence[TextQuestion], cache: AnswerCache
) -> list[Extraction]:
    """The claims of texts, of each in its place, from what was answered before where that is kept.

    The texts are of one speaker, who may direct through all of them or none.
    """
    extractions: dict[int, Extraction] = {}
    for place, question in enumerate(questions):
        answer = None if question.key is None else cache.find(question.key)
        if answer is not None:
            extractions[place] = answer

    new_places = [place for place in range(len(questions)) if place not in extractions]
    texts = [TextInContext(questions[place].text, questions[place].context) for place in new_places]
    answers = _answers_of(extractor, texts)

    for place, answer in zip(new_places, answers, strict=True):
        extractions[place] = answer
        key = questions[place].key
        # An outage is not remembered: the next time asks again.
        if key is not None and not answer.failure:
            cache.keep(key, answer)
    return [extractions[place] for place in range(len(questions))]


def _answers_of(
    extractor: Extractor | None, texts: Sequence[TextInContext]
) -> Sequence[Extraction]:
    if isinstance(extractor, BatchExtractor):
        answers = extractor.extract_all(texts)
        if len(answers) != len(texts):
            raise InvalidInput(
                f"{type(extractor).__name__}.extract_all gave {len(answers)} answers about "
                f"{len(texts)} texts; it must give one for each, in order",
                code="bad_extractor",
            )
        return answers

    return [extraction(extractor, text, context) for text, context in texts]
