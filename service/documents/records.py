"""What the calls of documents answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from ...schema.document import Citation
from ...schema.records import short_repr

SyncWatch = Callable[[int, int, str], None]
"""Told how many files of a sync are done, of how many, and the last one's path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentProblem:
    """Something about a file that was not taken, and where."""

    __repr__ = short_repr

    code: str
    message: str
    page: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentReport:
    """What a put did."""

    __repr__ = short_repr

    document: str = ""
    """Entity id; empty for what was refused."""
    name: str
    former: str = ""
    """The name that a renamed document had."""
    title: str = ""
    outcome: str
    """`new`, `changed`, `corrected`, `same`, `renamed`, `reclassified`, `removed`, `observed`
    or `refused`."""
    effective: datetime | None = None
    """From when the version holds."""
    dated: str = ""
    """Where that date is from: `stated`, `front_matter`, `text`, `message` or `recorded`."""
    kept: int = 0
    opened: int = 0
    closed: int = 0
    moved: int = 0
    flagged: int = 0
    """Passages in quarantine, because they look like injected instructions."""
    masked: int = 0
    """Secrets that were replaced by a mark."""
    claims: int = 0
    """Claims that were found in new passages."""
    claims_refused: int = 0
    """Claims of an extractor that no write takes, as for a value that its slot cannot hold."""
    dropped: dict[str, int] | None = None
    """Words that the reader left out, by reason."""
    warnings: tuple[str, ...] = ()
    problems: tuple[DocumentProblem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document in a list."""

    __repr__ = short_repr

    id: str
    name: str
    title: str
    effective: datetime | None
    recorded: datetime
    passages: int
    media_type: str
    bytes_digest: str
    """Keyed digest of the file: equal exactly for equal bytes of one tenant."""
    flagged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPassage:
    """A passage as a version holds it."""

    __repr__ = short_repr

    text: str
    """`[erased]` where an erasure emptied it, `[withheld]` where this caller may not see it."""
    citation: Citation


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A version of a document with its passages in order."""

    __repr__ = short_repr

    view: DocumentView
    passages: tuple[DocumentPassage, ...]
    text: str
    """Headings and passages joined as the reader of the file gave them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentVersion:
    """A version in the history of a document."""

    __repr__ = short_repr

    title: str
    effective: datetime | None
    until: datetime | None
    recorded: datetime
    passages: int
    kept: int
    """Passages that it has in common with the version before it."""
    opened: int
    closed: int
    moved: int
    dated: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentComparison:
    """Two versions of a document side by side."""

    __repr__ = short_repr

    added: tuple[DocumentPassage, ...]
    removed: tuple[DocumentPassage, ...]
    moved: tuple[DocumentPassage, ...]
    """As they stand in the second version."""
    same: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a sync of a folder did."""

    __repr__ = short_repr

    source: str
    counts: dict[str, int]
    """Files by outcome."""
    reports: tuple[DocumentReport, ...]
    """One for each file that was not `same`."""
    seconds: float
    resumed: bool = False
    """Whether it went on where an interrupted run had stopped."""

    @property
    def refused(self) -> int:
        """How many files were refused."""
        return self.counts.get("refused", 0)
