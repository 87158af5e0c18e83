"""What an edit does to units, and the ledger: one block about everything that left the window.

It holds the addresses of the originals, a line for each user message, and the identifiers, newest
last, that no message in the window repeats. An edit states only where lines and names begin, so
the text of a ledger is in no event, and an erasure of a message reaches it. At its limit lines
leave first, then names, the oldest first; addresses are merged and never lost.

Lines are quoted as JSON, and words of tools are inside a `data` frame: nothing here can end our
sentence or pose as an instruction. Checklist C-152, C-173, C-205, C-255, C-261.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from operator import itemgetter
from typing import Any, Final, NamedTuple

from ..compiler.text.sentences import subunits
from ..schema.record_json import to_plain
from ..schema.records import short_repr
from .events import EditReason
from .units import PartKind, StandingForm, WindowUnit, pointer
from .words import CORRECTION_OR_WISH, DECISION

_LINE: Final = 160
"""Characters of a user's line."""
_SPANS_SHARE: Final = 250
_SPAN_TOKENS: Final = 9
"""Of one address in the heading."""
_PEOPLE: Final = ("user", "assistant")
_ENDLESS: Final = (2**62, 0)


class LedgerSpan(NamedTuple):
    """Neighbouring units that left, under one address."""

    first: int
    last: int
    tokens: int

    @property
    def address(self) -> str:
        """As a text shows it."""
        return pointer(self.first) + (f"-{self.last}" if self.last > self.first else "")


class LedgerGroup(IntEnum):
    """What leaves together where the ledger is full: each group has a beginning of its own."""

    LINE = 0
    """What a user message said, in short."""
    WEIGHTY_LINE = 1
    """A decision, a correction or a wish: it leaves after the others."""
    NAME = 2
    """An identifier that only results state."""
    NAMED = 3
    """An identifier that a user or a call stated: it leaves after the others."""


class LedgerEntry(NamedTuple):
    """A line of a user message, or an identifier with the message that said it last."""

    seq: int
    place: int
    """Its position in its unit: with `seq` it orders all entries."""
    group: LedgerGroup
    text: str
    source: str = "user"
    """`user`, `assistant`, `summary`, or the name of a tool."""
    turn: int = 0

    @property
    def age(self) -> tuple[int, int]:
        """What entries are ordered by, oldest first."""
        return self[:2]


def _is_line(entry: LedgerEntry) -> bool:
    return entry.group <= LedgerGroup.WEIGHTY_LINE


LedgerCut = tuple[tuple[int, int], ...]
"""From which age on the entries of each group are kept."""
_NO_CUT: Final[LedgerCut] = ((0, 0),) * len(LedgerGroup)


@dataclass(frozen=True)
class WindowLedger:
    """What left, in short."""

    spans: tuple[LedgerSpan, ...] = ()
    entries: tuple[LedgerEntry, ...] = ()
    """Oldest first."""
    tokens: int = 0

    @cached_property
    def lines(self) -> tuple[LedgerEntry, ...]:
        """The entries that are lines of users."""
        return tuple(filter(_is_line, self.entries))

    @cached_property
    def names(self) -> tuple[LedgerEntry, ...]:
        """The entries that are identifiers."""
        return tuple(itertools.filterfalse(_is_line, self.entries))

    @cached_property
    def text(self) -> str:
        """As a request shows it; empty while nothing has left."""
        if not self.spans:
            return ""
        addresses = " ".join(span.address for span in self.spans)
        texts = [f"[Earlier in this conversation, shortened. Originals: {addresses}]"]
        for line in self.lines:
            quoted = json.dumps(line.text, ensure_ascii=False)
            texts.append(f"turn {line.turn}, user, {pointer(line.seq)}: {quoted}")

        by_source: dict[str, list[str]] = {}
        for name in self.names:
            by_source.setdefault(name.source, []).append(name.text)
        for source, words in by_source.items():
            text = " ".join(words)
            if source in _PEOPLE:
                texts.append(f"names from the {source}: {text}")
            else:
                texts.append(f'<data source="{plain_word(source)}">\n{text}\n</data>')
        return "\n".join(texts)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its names, for look-ups."""
        return frozenset(name.text for name in self.names)


_AGE: Final = itemgetter(0, 1)
"""The same as `age`, for the sorting of many."""
EMPTY_LEDGER: Final = WindowLedger()


def with_units(
    ledger: WindowLedger,
    units: Iterable[WindowUnit],
    standing: AbstractSet[str],
    lost_names: Sequence[LedgerEntry] = (),
) -> WindowLedger:
    """The ledger with units that leave, uncut; `lost_names` are names that a shorter form left out.

    A name that a unit in the window repeats is left out: it comes back when that unit leaves.
    """
    lines = list(ledger.lines)
    names = {name.text: name for name in ledger.names}
    additions = list(lost_names)
    for unit in units:
        line = _line(unit)
        if unit.is_user and line.text:
            lines.append(line)
        additions += unit_names(unit)

    for name in additions:
        earlier = names.get(name.text, name)
        newest = max(earlier, name, key=_AGE)
        group = max(earlier.group, name.group)
        names[name.text] = newest if newest.group is group else newest._replace(group=group)
    kept_names = [name for name in names.values() if name.text not in standing]
    entries = sorted([*lines, *kept_names], key=_AGE)
    return replace(ledger, entries=tuple(entries))


def unit_names(unit: WindowUnit) -> list[LedgerEntry]:
    """The identifiers of a unit as entries."""
    entries: list[LedgerEntry] = []
    for place, (word, source, seq) in enumerate(unit.names):
        group = LedgerGroup.NAMED if source in _PEOPLE else LedgerGroup.NAME
        entries.append(LedgerEntry(seq, place, group, word, source))
    return entries


def with_cut(ledger: WindowLedger, cut: LedgerCut) -> WindowLedger:
    """The ledger without what is older than a cut."""
    entries = tuple(entry for entry in ledger.entries if entry[:2] >= cut[entry.group])
    return replace(ledger, entries=entries)


def without_events(
    ledger: WindowLedger, seqs: AbstractSet[int], count: Callable[[str], int]
) -> WindowLedger:
    """The ledger without the words of some events."""
    entries = tuple(entry for entry in ledger.entries if entry.seq not in seqs)
    if len(entries) == len(ledger.entries):
        return ledger
    return counted(replace(ledger, entries=entries), count)


def counted(ledger: WindowLedger, count: Callable[[str], int]) -> WindowLedger:
    """The ledger with the tokens of its text."""
    return replace(ledger, tokens=count(ledger.text) if ledger.text else 0)


_SHARES: Final = (
    (LedgerGroup.WEIGHTY_LINE, 150),
    (LedgerGroup.LINE, 150),
    (LedgerGroup.NAMED, 600),
    (LedgerGroup.NAME, 1000),
    (LedgerGroup.NAMED, 1000),
)
"""In which order the groups fill a ledger, and up to which permille of it; the heading is free."""


def fitting_cut(ledger: WindowLedger, room: int, count: Callable[[str], int]) -> LedgerCut:
    """The cut at which a ledger takes at most so many tokens."""
    if count(ledger.text) <= room:
        return _NO_CUT
    cut: LedgerCut = (_ENDLESS,) * len(LedgerGroup)
    heading = count(with_cut(ledger, cut).text)
    for group, share in _SHARES:
        is_line = group <= LedgerGroup.WEIGHTY_LINE
        cut = _wider_cut(ledger, cut, group, room * share // 1000 + is_line * heading, count)
    return cut


def _wider_cut(
    ledger: WindowLedger, cut: LedgerCut, group: LedgerGroup, room: int, count: Callable[[str], int]
) -> LedgerCut:
    """A cut that lets in as many entries of a group, the newest, as the room allows."""
    entries = [entry for entry in ledger.entries if entry.group is group]
    first = 0
    while entries[first:]:
        age = min(cut[group], entries[first].age)
        wider = (*cut[:group], age, *cut[group + 1 :])
        tokens = count(with_cut(ledger, wider).text)
        if tokens <= room:
            return wider
        # Counts grow with length but not evenly, so the excess is cut by its share, and again.
        first += max(1, (len(entries) - first) * (tokens - room) // tokens)
    return cut


def joined_spans(
    spans: Sequence[LedgerSpan], units: Iterable[WindowUnit], page: int, room: int
) -> tuple[LedgerSpan, ...]:
    """Spans with more units: each within three pages, but merged where they take too much."""
    additions: list[LedgerSpan] = []
    for unit in units:
        # A page of originals leaves no new address: what it holds has one.
        if not unit.is_page:
            last = max(unit.last_number, *(item.seq for item in unit.items))
            additions.append(LedgerSpan(unit.number, last, unit.full_tokens or unit.tokens))

    joined: list[LedgerSpan] = []
    for span in sorted([*spans, *additions], key=lambda span: span.first):
        if joined and joined[-1].tokens + span.tokens <= 5 * page // 2:
            joined[-1] = _merged(joined[-1], span)
        else:
            joined.append(span)

    most = max(1, room * _SPANS_SHARE // (1000 * _SPAN_TOKENS))
    while len(joined) > most:
        sums = [left.tokens + right.tokens for left, right in itertools.pairwise(joined)]
        place = sums.index(min(sums))
        joined[place : place + 2] = [_merged(joined[place], joined[place + 1])]
    return tuple(joined)


def _merged(first: LedgerSpan, second: LedgerSpan) -> LedgerSpan:
    last = max(first.last, second.last)
    return LedgerSpan(first.first, last, first.tokens + second.tokens)


def _line(unit: WindowUnit) -> LedgerEntry:
    """The line of a user message: its weighty sentence first, else its beginning."""
    text = "\n".join(item.text for item in unit.of_kind(PartKind.USER))
    weighty = unit.acts.is_weighty
    if weighty and len(text) > _LINE:
        for sentence in subunits(text):
            if DECISION.search(sentence) or CORRECTION_OR_WISH.search(sentence):
                text = sentence
                break
    words = " ".join(text.split())
    if len(words) > _LINE:
        words = words[:_LINE].rpartition(" ")[0] + " …"
    group = LedgerGroup.WEIGHTY_LINE if weighty else LedgerGroup.LINE
    return LedgerEntry(unit.number, -1, group, words, turn=unit.turn)


def plain_word(name: str) -> str:
    """A tool's name as one harmless word: it is shown among words of ours."""
    return re.sub(r"[^\w.-]", "_", name)[:60] or "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChange:
    """One unit in another form."""

    __repr__ = short_repr

    unit: int
    turn: int
    form: StandingForm
    results: tuple[int, ...] = ()
    """Of a short form, the events whose texts it replaces."""
    savings: int
    """Tokens it frees, without what the ledger grows by."""
    keep: int
    """The keep-score by which it was chosen, 1 to 1000."""
    reason: str
    """A word of `EndReason`, or `least_loss`."""
    fidelity: int = 1000
    """Permille of the facts that are still in the window."""


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What an edit will do."""

    reason: EditReason
    changes: tuple[UnitChange, ...]
    cut: LedgerCut
    spans: tuple[LedgerSpan, ...]
    ledger_tokens: int
    shorts: tuple[tuple[str, int], ...]
    """The texts of short forms with their tokens, in the order of the changes."""

    @property
    def savings(self) -> int:
        """Tokens that all changes free."""
        return savings_of(self.changes)

    @property
    def body(self) -> dict[str, Any]:
        """The body of its event; the texts are beside it, in the same order.

        Texts are counted here once: a log is folded without a tokenizer, and without its library.
        """
        return {
            "reason": self.reason.value,
            "changes": list(map(to_plain, self.changes)),
            "ledger": {"cut": self.cut, "spans": self.spans, "tokens": self.ledger_tokens},
            "tokens": list(map(itemgetter(1), self.shorts)),
        }

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of its event."""
        return tuple(map(itemgetter(0), self.shorts))


def savings_of(changes: Iterable[UnitChange]) -> int:
    """Tokens that changes free together."""
    return sum(change.savings for change in changes)
