"""What a model proposed, held against the text: what does not stand there is not taken.

A model may ignore the schema, misquote, invent, or answer for another text. A claim is taken only
if its slot was offered, its quotation stands in its own text letter by letter, its value shares a
term with the quotation, and its subject is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast

from ...schema.slots import Slot
from ...schema.terms import content_terms
from ...schema.values import fields_of
from ...schema.vocabulary import ValueType
from .claims import ExtractedClaim, ExtractionContext
from .prompt import OPERATIONS

_MOST_CHARACTERS: Final = {ValueType.TEXT: 2_000}
_SHORT_VALUE: Final = 300
_DECADE: Final = re.compile(r"\b(?:1[89]|20)(\d0s)\b")


class CheckedClaims(NamedTuple):
    """What is taken of a proposal about a text, and why the rest is not."""

    claims: tuple[ExtractedClaim, ...]
    """In order of appearance."""
    refusals: tuple[str, ...]


def check_claims(
    candidates: Iterable[object],
    text: str,
    context: ExtractionContext,
    slots: Mapping[str, Slot],
) -> CheckedClaims:
    """The proposed claims that fit a text, and why others do not."""
    claims: set[ExtractedClaim] = set()
    refusals: list[str] = []
    for candidate in candidates:
        try:
            claims.add(_check(candidate, text, context, slots))
        except _Unfit as reason:
            refusals.append(str(reason))

    in_order = sorted(claims, key=lambda claim: (claim.start, claim.slot))
    return CheckedClaims(tuple(in_order), tuple(refusals))


def by_text(candidates: Sequence[object], texts: int) -> list[list[object]]:
    """The claims proposed for several texts, by the text that each names.

    One that names none of them is held against the first, where its quotation has to stand.
    """
    proposals: list[list[object]] = [[] for _ in range(texts)]
    for candidate in candidates:
        number = fields_of(candidate).get("text")
        if not isinstance(number, int) or not 1 <= number <= texts:
            number = 1
        proposals[number - 1].append(candidate)
    return proposals


class _Unfit(ValueError):
    """A proposed claim that is not taken, and why."""


def _check(
    candidate: object, text: str, context: ExtractionContext, slots: Mapping[str, Slot]
) -> ExtractedClaim:
    """A proposed claim that fits the text and the slots.

    Raises:
        _Unfit: why it is not taken.
    """
    if not isinstance(candidate, Mapping):
        raise _Unfit("a claim is no object")
    claim = cast("Mapping[str, Any]", candidate)

    # A provider may ignore the schema, so that nothing of it is taken for granted here.
    name, quote = claim.get("slot"), claim.get("quote")
    if not isinstance(name, str) or name not in slots:
        raise _Unfit("a slot that was not offered")
    start = text.find(quote) if isinstance(quote, str) and quote.strip() else -1
    if start < 0 or not isinstance(quote, str):
        raise _Unfit(f"{name}: its quote does not stand in the text")

    op = claim.get("op", "assert")
    if op not in OPERATIONS:
        raise _Unfit(f"{name}: an operation that was not offered")

    valid_from = _moment(claim.get("valid_from"))
    valid_until = _moment(claim.get("valid_until"))
    if valid_from and valid_until and valid_until <= valid_from:
        raise _Unfit(f"{name}: it ends before it begins")

    return ExtractedClaim(
        slot=name,
        value=_value(claim.get("value"), quote, slots[name]),
        start=start,
        end=start + len(quote),
        subject=_subject(claim.get("subject"), text, context, name),
        valid_from=valid_from,
        valid_until=valid_until,
        op=op,
        planned=valid_from is not None and valid_from > context.at,
    )


def _value(value: object, quote: str, slot: Slot) -> str | int | float | bool:
    """A value of the slot's type that the quotation bears out."""
    # Numbers, dates and truth values are often said in other words than they are written in, so
    # that only texts must share a term with their quotation.
    kind = slot.value_type
    if kind is ValueType.BOOLEAN and isinstance(value, bool):
        return value
    if kind in (ValueType.INTEGER, ValueType.NUMBER):
        return _number(value, slot)
    if not isinstance(value, str) or not value.strip():
        raise _Unfit(f"{slot.name}: a value of another type")

    if kind in (ValueType.INSTANT, ValueType.DATE):
        moment = _moment(value)
        if moment is None:
            raise _Unfit(f"{slot.name}: no moment")
        return moment.isoformat() if kind is ValueType.INSTANT else moment.date().isoformat()
    if len(value) > _MOST_CHARACTERS.get(kind, _SHORT_VALUE):
        raise _Unfit(f"{slot.name}: a value that is too long")
    if content_terms(_short_decades(value)).isdisjoint(content_terms(_short_decades(quote))):
        raise _Unfit(f"{slot.name}: its quote says nothing of the value")
    return value.strip()


def _short_decades(text: str) -> str:
    """A text in which decades stand as they are spoken: the 1970s are the 70s."""
    return _DECADE.sub(r"\1", text)


def _number(value: object, slot: Slot) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Unfit(f"{slot.name}: no number")
    if slot.value_type is ValueType.NUMBER:
        return value
    # JSON knows one kind of number: 3.0 is what some models write for 3.
    if value != int(value):
        raise _Unfit(f"{slot.name}: no whole number")
    return int(value)


def _subject(subject: object, text: str, context: ExtractionContext, name: str) -> str | None:
    """The name of whom a claim is about; None for the speaker."""
    if subject is None or subject == context.speaker:
        return None
    # A name that neither the text nor the store knows would make a person out of nothing.
    if not isinstance(subject, str) or not subject.strip() or len(subject) > _SHORT_VALUE:
        raise _Unfit(f"{name}: a subject that is no name")
    if subject not in text and subject not in context.entities:
        raise _Unfit(f"{name}: a subject that the text does not name")
    return subject.strip()


def _moment(value: object) -> datetime | None:
    """A stated day or moment in UTC; None for what is neither."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
