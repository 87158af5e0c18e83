"""On which terms a file is taken in: its source, trust and readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from typing_extensions import TypedDict

from ...schema.principal import Scope
from ..backend.words import ClassificationWord
from .blocks import MAX_BYTES
from .records import SyncWatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How a document is taken in: its source, trust and readers."""

    source: str = ""
    origin: str | None = None
    authority_level: int | None = None
    scope: Scope | Mapping[str, str] | None = None
    security_classification: str | None = None
    allow_roles: Sequence[str] = ()
    deny_roles: Sequence[str] = ()
    task_types: Sequence[str] = ()
    media_type: str | None = None
    encoding: str | None = None
    password: str | None = None
    claims: str = "off"
    """Who finds claims in passages: `off`, `rules` or `model`."""
    keep_original: bool = False
    accept_flagged: bool = False
    again: bool = False
    check: bool = False
    own: str | None = None
    """Of a chat: the author who is the caller."""
    zone: str | None = None
    dates: str | None = None
    max_bytes: int = MAX_BYTES
    password_env: str | None = None
    """The environment variable that holds the password of an encrypted file in a folder."""
    former: Sequence[str] = ()
    """Names of documents of which this file may be one under another name."""
    governs: bool = False
    """Whether readers that differ from those of the stored versions are a change of all of them."""

    @property
    def readers(self) -> dict[str, Any]:
        """Who may read the document, as the fields of a write."""
        return {
            "security_classification": self.security_classification or None,
            "allow_roles": tuple(self.allow_roles),
            "deny_roles": tuple(self.deny_roles),
        }


Claims = Literal["off", "rules", "model"]


class FileFields(TypedDict, total=False):
    """The terms that `put` takes by keyword and a folder by its rules."""

    authority_level: int | None
    scope: Scope | Mapping[str, str] | None
    security_classification: ClassificationWord | None
    allow_roles: Sequence[str]
    deny_roles: Sequence[str]
    task_types: Sequence[str]
    media_type: str | None
    encoding: str | None
    claims: Claims
    accept_flagged: bool
    own: str | None
    zone: str | None
    dates: str | None


class PutFields(FileFields, total=False):
    """The terms that `put` takes by keyword."""

    source: str
    password: str | None
    keep_original: bool
    again: bool
    check: bool
    former: Sequence[str]
    governs: bool


class RunFields(TypedDict, total=False):
    """How a folder is synchronised."""

    remove: bool
    allow_removals: bool
    check: bool
    keep_original: bool
    claims: Claims
    progress: SyncWatch | None


class SyncFields(RunFields, total=False):
    """The options that `sync` takes by keyword."""

    source: str | None
    rules: str | Path | None
