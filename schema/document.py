"""The citation of a passage: its document, page, heading and dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .records import short_repr


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The place of a passage in a version of a document."""

    __repr__ = short_repr

    object_id: str
    """The object that says it; one that came back has several over time."""
    passage_id: str
    """The same in every version that holds the passage."""
    document: str
    """The name of the document: its source and path."""
    title: str
    page: int = 0
    """From 1; 0 where the format has no pages."""
    headings: tuple[str, ...] = ()
    """The titles above the passage, outermost first."""
    start: int = 0
    """First character in the text that the reader made of the file."""
    length: int = 0
    effective: datetime | None = None
    """From when the version holds; None for an open start."""
    until: datetime | None = None
    """When the next version begins; None while none is known."""
    recorded: datetime | None = None
    """When the version was recorded."""

    def __str__(self) -> str:
        """The citation as people write it: document, page, heading and date."""
        parts = [self.document]
        if self.page:
            parts.append(f"p. {self.page}")
        if self.headings:
            parts.append(self.headings[-1])
        text = ", ".join(parts)
        if self.effective is None:
            return text

        dates = f"in force from {_day(self.effective)}"
        if self.until is not None:
            dates += f" until {_day(self.until)}"
        return f"{text} ({dates})"


def _day(when: datetime) -> str:
    """A day as people write it.

    >>> from datetime import UTC
    >>> _day(datetime(2026, 6, 1, tzinfo=UTC))
    '1 June 2026'
    """
    return f"{when.day} {when:%B %Y}"
