"""What units stated to the store, and what of it the store has overtaken since.

A unit is linked to the claims that were written from its words. Whether such a claim still holds is
the store's word, never a guess from the text: it was replaced, it was wrong, or its time is over.
The unit keeps its bytes, so that the provider's cached prefix holds; a line of the turn says what
holds now, until the next edit takes the unit before all others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from .events import ERASURE_MARK, WindowEvent
from .ledger import WindowLedger
from .units import StandingForm, WindowUnit

_MOST_CHARACTERS: Final = 40
"""Of a value in a line: both values and the words around them take about thirty tokens."""
_WORD: Final = re.compile(r"\w+")
LINES_HEAD: Final = "Said earlier in this conversation, and no longer so:"


class EndReason(StrEnum):
    """Why a claim that a unit stated no longer holds."""

    SUPERSEDED = "superseded"
    ERROR_INVALIDATED = "error_invalidated"
    PHASE_CHANGE = "phase_change"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLink:
    """A unit and a claim that was written from its words."""

    unit: int
    claim: str
    reason: str = ""
    """A word of `EndReason`; empty while the claim holds."""
    slot: str = ""
    seq: int = 0
    """The event that said so; its texts are the two values."""
    place: int = 0
    """Of the first of them among the texts of the event."""
    value: str = ""
    """What the claim says."""
    successor: str = ""
    """What holds in its place; empty for nothing."""


def with_new_links(links: Sequence[ClaimLink], event: WindowEvent) -> tuple[ClaimLink, ...]:
    """The links after a unit was linked to claims; a claim is linked once to a unit."""
    unit = int(event.body["unit"])
    pairs = {(link.unit, link.claim) for link in links}
    additions: list[ClaimLink] = []
    for claim in event.body["claims"]:
        if (unit, claim) not in pairs:
            additions.append(ClaimLink(unit=unit, claim=claim))
    return (*links, *additions)


def with_judged_claims(links: Sequence[ClaimLink], event: WindowEvent) -> tuple[ClaimLink, ...]:
    """The links after the store was asked: what ended, and what holds again."""
    lines = {line["claim"]: (place, line) for place, line in enumerate(event.body["claims"])}

    # Two texts a claim: its own value at an even place, and behind it what holds instead.
    successors: list[ClaimLink] = []
    for link in links:
        place, line = lines.get(link.claim, (0, None))
        if line is not None:
            value, successor = event.texts[2 * place : 2 * place + 2]
            link = replace(
                link,
                reason=str(line["why"]),
                slot=str(line["slot"]),
                seq=event.seq,
                place=2 * place,
                value=_standing(value),
                successor=_standing(successor),
            )
        successors.append(link)
    return tuple(successors)


def without_erased(
    links: Sequence[ClaimLink], places: frozenset[tuple[int, int]]
) -> tuple[ClaimLink, ...]:
    """The links without the values that an erasure emptied."""
    remaining: list[ClaimLink] = []
    for link in links:
        value = "" if (link.seq, link.place) in places else link.value
        successor = "" if (link.seq, link.place + 1) in places else link.successor
        remaining.append(replace(link, value=value, successor=successor))
    return tuple(remaining)


def standing_links(
    links: Sequence[ClaimLink], units: Sequence[WindowUnit], ledger: WindowLedger
) -> tuple[ClaimLink, ...]:
    """The links whose words are still shown, by their unit or in the ledger."""
    shown = {line.seq for line in ledger.lines} | {name.seq for name in ledger.names}
    remaining: list[ClaimLink] = []
    for link in links:
        if link.unit in shown or _holder(link, units) is not None:
            remaining.append(link)
    return tuple(remaining)


def spent_units(links: Sequence[ClaimLink]) -> dict[int, str]:
    """The units of which nothing holds any more that they stated, with the reason."""
    holders = {link.unit for link in links if not link.reason}
    return {link.unit: link.reason for link in links if link.unit not in holders}


def overtaken_lines(
    links: Sequence[ClaimLink], units: Sequence[WindowUnit], ledger: WindowLedger
) -> tuple[str, ...]:
    """One line for each value that a request still shows and that no longer holds."""
    lines: dict[str, None] = {}
    for link in links:
        if not link.reason or not link.value:
            continue

        place = _place(link, units, ledger)
        if place:
            holds = f"now {_value(link.successor)}" if link.successor else "which no longer holds"
            lines[f"- {place}: {link.slot} {_value(link.value)}, {holds}"] = None
    return tuple(lines)


def _place(link: ClaimLink, units: Sequence[WindowUnit], ledger: WindowLedger) -> str:
    """Where a request shows the value of a link; empty where it does not."""
    unit = _holder(link, units)
    if unit is not None:
        # An excerpt or a summary repeats only some of what was said.
        shown = unit.form is StandingForm.FULL or _says(unit.text, link.value)
        return f"turn {unit.turn}" if shown else ""
    for line in ledger.lines:
        if line.seq == link.unit:
            return f"turn {line.turn}"
    return "earlier" if _says(ledger.text, link.value) else ""


def _says(text: str, value: str) -> bool:
    """Whether a text has the words of a value, in their order and in any case."""
    # The store keeps "Review submissions" of what was said as "to review submissions", and a fold
    # writes quotation marks as JSON does: marks and case say nothing here.
    return f" {_plain_words(value)} " in f" {_plain_words(text)} "


def _plain_words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _holder(link: ClaimLink, units: Sequence[WindowUnit]) -> WindowUnit | None:
    for unit in units:
        if unit.number <= link.unit <= max(unit.number, unit.last_number):
            return unit
    return None


def _value(text: str) -> str:
    """A value as data: JSON text, so that it can neither end our line nor pose as one."""
    cut = text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
    return json.dumps(cut, ensure_ascii=False)


def _standing(text: str) -> str:
    return "" if text == ERASURE_MARK else text
