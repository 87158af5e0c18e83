"""context-vault-ai on its SQLite store, with its offline judge and its hash embedder."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from peer import Fact, Peer

# Its settings are read from the environment while it is imported.
os.environ.update(VAULT_STORE="sqlite", VAULT_EMBEDDER="hash", VAULT_JUDGE="heuristic")

from context_vault.app import build_vault
from context_vault.config import Settings
from context_vault.models.principal import Principal

_EVERY_CLAIM = 10_000


class ContextVaultPeer(Peer):
    """Its slots are keys that it knows as functional: one value at a time."""

    def __init__(self, folder: Path, slots: Sequence[str]) -> None:
        settings = Settings(vault_store="sqlite", sqlite_dir=str(folder))
        # It announces its store on standard error.
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            self._vault = build_vault(settings)
            self._vault.init()
        for store in (self._vault.store, self._vault.audit):
            store._conn.execute("PRAGMA synchronous=FULL")

        self._principal = Principal(id="writer", role="agent", labels=["all"])
        self._vault.register_principal(self._principal)

    def write(self, fact: Fact) -> None:
        self._vault.assert_claim_from(
            self._principal,
            fact.subject,
            fact.slot,
            fact.value,
            valid_from=fact.start,
            valid_to=fact.end,
            visibility=["all"],
        )

    def search(self, question: str, limit: int) -> list[str]:
        claims = self._vault.resolve(question, self._principal, top_k=limit).claims
        return [claim.object for claim in claims]

    def values_at(self, subject: str, slot: str, valid: datetime, known: datetime) -> list[str]:
        answer = self._vault.resolve(
            f"{subject} {slot}",
            self._principal,
            as_of=valid,
            known_as_of=known,
            top_k=_EVERY_CLAIM,
        )
        return [c.object for c in answer.claims if (c.subject, c.predicate) == (subject, slot)]

    def entities(self) -> int:
        claims = self._vault.resolve("", self._principal, top_k=_EVERY_CLAIM).claims
        return len({claim.subject_id for claim in claims})

    def close(self) -> None:
        self._vault.close()


PEER = ContextVaultPeer
