"""Extraction: from what somebody said to claims, by rules that always say the same.

The default extractor is a table of sentence patterns; a model-backed one may stand in its
place behind the same protocol, and its claims are proposals like any other. The raw text is
kept whatever is found (ladder level 0), and every claim points at the words it came from.
Times such as "in June" are read against the moment of speaking.
Sources: DESIGN 9; checklist C-034, C-035, D1; ecosystem 11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol

from ...resolution.text import find_dates, sentence_spans

_NAME = r"[A-Z][\w&.'-]*(?: (?:of|the|and|for) [A-Z][\w&.'-]*| [A-Z][\w&.'-]*)*"
_I = r"\bI(?: am|['\u2019]m)"
_LEVELS = r"junior|mid-level|senior|staff|principal|lead"
_PREPOSITION: Final = re.compile(r"\b(?:in|on|since|from|as of) \Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """A claim found in a text, about the speaker unless `subject` says otherwise."""

    slot: str
    value: str
    start: int
    """First character of the words it came from."""
    end: int
    subject: str | None = None
    valid_from: datetime | None = None
    """When the text says it began; None when it does not say."""
    op: str = "assert"
    confidence: float = 0.8


class Extractor(Protocol):
    """Finds claims in a text; the same text and moment give the same claims."""

    def extract(self, text: str, *, at: datetime) -> tuple[Extracted, ...]:
        """Return the claims of a text in order of appearance."""
        ...


@dataclass(frozen=True, slots=True)
class _Rule:
    slot: str
    pattern: re.Pattern[str]
    op: str = "assert"


def _rule(slot: str, pattern: str, op: str = "assert") -> _Rule:
    return _Rule(slot, re.compile(pattern), op)


_RULES: Final = (
    _rule("experience_level", rf"{_I} an? (?P<value>{_LEVELS})\b"),
    _rule(
        "title",
        rf"{_I} an? (?:(?:{_LEVELS}) )?(?P<value>[a-z][a-z-]*(?: [a-z][a-z-]*){{0,2}}? "
        r"(?:engineer|developer|designer|manager|analyst|scientist|architect|researcher|writer))\b",
    ),
    _rule("specialty", r"\bI speciali[sz]e in (?P<value>[\w-]+(?: (?!and I\b)[\w-]+){0,6})"),
    _rule("office", rf"\bI(?: have|['\u2019]ve)? (?:just )?moved to the (?P<value>{_NAME}) office"),
    _rule("office", rf"\bI work (?:from|in|out of) the (?P<value>{_NAME}) office"),
    _rule("office", rf"{_I} (?:now )?(?:in|at|based in) the (?P<value>{_NAME}) office"),
    _rule("employer", rf"\bI work (?:for|at) (?P<value>{_NAME})"),
    _rule("manager", rf"\b[Mm]y manager is (?P<value>{_NAME})"),
    _rule("manager", rf"\bI report to (?P<value>{_NAME})"),
    _rule("team", rf"{_I} (?:on|in) the (?P<value>{_NAME}) team"),
    _rule("email", r"\b[Mm]y e-?mail(?: address)? is (?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    _rule("timezone", r"\b[Mm]y time ?zone is (?P<value>[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?)"),
    _rule(
        "response_length",
        r"\bI prefer (?P<value>short|brief|concise|long|detailed|thorough) "
        r"(?:answers|replies|responses|explanations|code examples|examples)\b",
    ),
    _rule("preferred_language", r"\b[Pp]lease (?:answer|reply|write) in (?P<value>[A-Z][a-z]+)\b"),
    _rule("skill", r"\bI know (?P<value>[A-Z][\w+#.]*)\b"),
    _rule(
        "office",
        rf"\bI (?:no longer|don['\u2019]t) work (?:from|in) the (?P<value>{_NAME}) office",
        "deny",
    ),
)  # fmt: skip


class RuleExtractor:
    """The default extractor: patterns in the first person, one claim a match."""

    def extract(self, text: str, *, at: datetime) -> tuple[Extracted, ...]:
        """Return the claims of a text in order of appearance; never fails on any text."""
        claims: list[Extracted] = []
        for start, end in sentence_spans(text):
            claims += _claims(text[start:end], start, at)

        return tuple(sorted(claims, key=lambda claim: (claim.start, claim.slot)))


def _claims(sentence: str, offset: int, at: datetime) -> Iterator[Extracted]:
    since = _since(sentence, at)
    for rule in _RULES:
        for match in rule.pattern.finditer(sentence):
            yield Extracted(
                slot=rule.slot,
                value=match["value"].rstrip(" .,"),
                start=offset + match.start(),
                end=offset + match.end(),
                valid_from=since,
                op=rule.op,
            )


def _since(sentence: str, at: datetime) -> datetime | None:
    """The moment a sentence names: the last such month that is not in the future."""
    for date in find_dates(sentence, any_case=True):
        year, month, day = date.parts
        if month is None or not _PREPOSITION.search(sentence, 0, date.start):
            continue

        local = at.astimezone(UTC)
        year = local.year - (month > local.month) if year is None else year
        try:
            return datetime(year, month, day or 1, tzinfo=UTC)
        except ValueError:
            return None  # the 30th of February: said, but no day
    return None
