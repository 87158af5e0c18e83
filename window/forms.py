"""Shorter forms of texts and tool results, made without a model.

Each form keeps what cannot be guessed: ids, numbers, dates, names. Prose between them is what goes
first, because a model can write prose again and cannot invent a reservation number. Every form
ends with the address of its original.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

from .facts import has_identifier, identifiers, names_line, names_of_fold
from .units import StandingForm, ToolKind, WindowUnit, pointer

_CHARS: Final = {
    ToolKind.SEARCH: 2_000,
    ToolKind.FILE: 1_000,
    ToolKind.CODE: 1_500,
    ToolKind.API: 1_000,
}
"""Characters of the short form of each kind of result."""
_LINES: Final = {ToolKind.FILE: 10, ToolKind.CODE: 50}
_TOP: Final = 5
"""Entries of a search result that stay."""
_ARGUMENTS: Final = 160
_AGES: Final = ((1, 1000), (5, 300), (20, 50))
"""Up to which age in turns a text keeps how many permille of its characters."""
_OLDEST: Final = 10
_EXTRACT: Final = (60, 900)
"""The fewest and the most characters of what one unit leaves in a fold."""
_RESULT_NAMES: Final = 300
"""Characters of the identifiers of one result that a fold keeps at least."""
_SCARCE_NAMES: Final = 30
"""The same of a turn in a fold, once folds fill their part of the window."""
_PARTIAL_WORD: Final = re.compile(r"(?<![!-~])[!-~]{1,40}\Z")
"""A word that a cut would leave without its end: half an identifier names something else."""
_SHORTENED: Final = frozenset({StandingForm.EXTRACT, StandingForm.SUMMARY})
"""Forms of which only the identifiers are worth another fold."""
_GAP: Final = re.compile(r"[ \t]+")
_BLANK: Final = re.compile(r"\n{3,}")


def plain_format(text: str) -> str:
    r"""The same text without formatting: JSON without spaces, prose without runs of them.

    >>> plain_format('{"a":  1,\n "b": [2,  3]}')
    '{"a":1,"b":[2,3]}'
    """
    tree = _json(text)
    if tree is not None:
        return json.dumps(tree, separators=(",", ":"), ensure_ascii=False)
    return _BLANK.sub("\n\n", _GAP.sub(" ", text)).strip()


def kind_of(text: str, name: str) -> ToolKind:
    """The kind of a result that nobody stated, by its shape and the tool's name."""
    tree = _json(text)
    if isinstance(tree, list):
        return ToolKind.SEARCH
    if tree is not None:
        return ToolKind.API
    words = name.casefold()
    if "search" in words or "find" in words or "grep" in words:
        return ToolKind.SEARCH
    return ToolKind.CODE if "code" in words or "diff" in words else ToolKind.FILE


def short_result(text: str, kind: ToolKind) -> str:
    """The short form of a tool result, at most as long as the table of kinds allows."""
    limit = _CHARS[kind]
    tree = _json(text)

    # Hits are ranked by their engine, so the first ones are worth most.
    if kind is ToolKind.SEARCH and isinstance(tree, list):
        hits: list[Any] = tree  # pyright: ignore[reportUnknownVariableType]
        lines: list[str] = []
        for hit in hits[:_TOP]:
            lines.append("; ".join(_leaves(hit)))
        if len(hits) > _TOP:
            lines.append(f"({len(hits) - _TOP} more)")
        return _cut("\n".join(lines), limit)

    # An answer of an API has its facts in the leaves; the nesting is for programs.
    if tree is not None:
        return _cut("; ".join(_by_worth(_leaves(tree))), limit)

    if kind is ToolKind.SEARCH:
        return _cut("\n".join(text.split("\n\n")[:_TOP]), limit)
    lines = text.splitlines()
    head = lines[: _LINES.get(kind, 10)]
    remainder = [f"({len(lines) - len(head)} more lines)"] if len(lines) > len(head) else []
    return _cut("\n".join([*head, *remainder]), limit)


def placeholder(number: int, tokens: int, name: str) -> str:
    """What stands for a result whose text left: our words, a count and an address.

    >>> placeholder(57, 2134, "search")
    '[result of search: 2134 tokens. Original: window://57]'
    """
    return f"[result of {_word(name)}: {tokens} tokens. Original: {pointer(number)}]"


def external(text: str, kind: ToolKind, number: int, tokens: int, name: str) -> str:
    """The short form of a result with the address of the original behind it."""
    return f"{short_result(text, kind)}\n{placeholder(number, tokens, name)}"


def same_as(number: int, repetition: int) -> str:
    """What stands for a result that a later one repeats word for word."""
    return f"[the same as {pointer(repetition)}. Original: {pointer(number)}]"


class FoldRoom(Enum):
    """How much of the window the folds may still take."""

    AMPLE = "ample"
    SCARCE = "scarce"
    """What only results named is cut."""
    NONE = "none"
    """Folds leave, with all that stands in them."""


class FoldContext(NamedTuple):
    """What stands in the window beside a fold; a fold adds what it states itself."""

    identifiers: set[str]
    names: set[str]
    room: FoldRoom = FoldRoom.AMPLE


def fold(
    units: Sequence[WindowUnit],
    turn: int,
    uses: Mapping[str, int],
    run: Sequence[WindowUnit] = (),
    context: FoldContext | None = None,
) -> str:
    """What stands for neighbouring units once they are shortened, under one address.

    The older a unit, the shorter: 30 % of its characters up to five turns, 5 % up to twenty, then
    1 %, with a floor of one short line. What people and calls named stands on whatever the age,
    once in the window (`context` is what stands outside of the fold): it is what the work is about.
    Of what only results named those come first that many units use (`uses`). Everything that
    people, models or tools said stands as JSON text, so that it cannot end our sentence or pose as
    an instruction of ours. `run` are all units that the address covers, when some left no line.
    """
    context = context or FoldContext(set(), set())
    lines: list[str] = []
    names: list[str] = []
    for unit in units:
        limit = _allowance(unit, turn - unit.turn, context.room)
        shortened = unit.form in _SHORTENED
        speech = [] if shortened else _full_lines(unit, limit, context, uses)

        # Names go first: what they say needs no place among what results named. Where a line of
        # this fold says one, the next fold reads it off that line.
        readable = context.names.union(names_of_fold(speech))
        names += [name for name in unit.names if name not in readable]
        context.names.update(unit.names)
        context.identifiers.update(unit.names)
        if shortened:
            speech = [*_identifier_line(without_header(unit), limit, context.identifiers, uses)]
        lines += speech
    if names:
        lines.append(names_line(names))
    return "\n".join([fold_header(run or units), *lines])


def _full_lines(
    unit: WindowUnit, limit: int, context: FoldContext, uses: Mapping[str, int]
) -> list[str]:
    """What a unit that stood in full leaves: its sentences, and a line a call."""
    lines = [*_speech(unit, limit, context.identifiers)]
    lines += _call_lines(unit, limit, context.identifiers, uses)
    context.names.update(names_of_fold(lines))
    return lines


def fold_header(units: Sequence[WindowUnit]) -> str:
    """The first line of a fold: turns and the address of the originals."""
    first, last = units[0], units[-1]
    last_turn = last.last_turn or last.turn
    turns = f"Turn {first.turn}" if last_turn == first.turn else f"Turns {first.turn}-{last_turn}"
    last_number = last.last_number or last.number
    tail = f"-{last_number}" if last_number != first.number else ""
    return f"[{turns}, short. Originals: {pointer(first.number)}{tail}]"


def _allowance(unit: WindowUnit, age: int, room: FoldRoom) -> int:
    """Characters that a unit may keep at an age."""
    share = next((permille for turns, permille in _AGES if age <= turns), _OLDEST)
    floor, ceiling = _EXTRACT
    if unit.form in _SHORTENED:
        # A fold of many turns was shortened already; it loses by the turn, not by the character.
        characters = _RESULT_NAMES if room is FoldRoom.AMPLE else _SCARCE_NAMES
        return characters * ((unit.last_turn or unit.turn) - unit.turn + 1)
    return max(floor, min(ceiling, len(unit.text) * share // 1000))


def without_header(unit: WindowUnit) -> str:
    """The words of a unit; of a fold without the header, whose numbers identify nothing."""
    return unit.text.partition("\n")[2] if unit.form in _SHORTENED else unit.text


def _speech(unit: WindowUnit, limit: int, known: set[str]) -> Iterator[str]:
    """The sentences of a unit that state what no earlier line does, in their order."""
    sentences = unit.sentences
    selection: list[str] = []
    room = limit

    # Greedy by new facts: what an earlier line of the fold says already brings nothing.
    by_facts = sorted(sentences, key=lambda sentence: -len(sentences[sentence] - known))
    for sentence in by_facts:
        if len(sentence) <= room and sentences[sentence] - known:
            selection.append(sentence)
            room -= len(sentence) + 1
            known |= sentences[sentence]

    # A user's words are never left out whole: what was wanted cannot be read off anything else.
    if unit.is_user and not selection:
        selection = [_cut(by_facts[0], limit)] if by_facts else []
    if selection:
        body = " ".join(sorted(selection, key=" ".join(sentences).find))
        yield f"{'user' if unit.is_user else 'assistant'}: {_json_text(body)}"


def _call_lines(
    unit: WindowUnit, limit: int, known: set[str], uses: Mapping[str, int]
) -> Iterator[str]:
    """One line a call: the tool, its arguments, and the identifiers of its result."""
    texts: dict[str, str] = {}
    for item in unit.results:
        texts.setdefault(item.content.call_id, item.text)

    for call in unit.calls:
        text = texts.get(call.content.call_id, "")
        arguments = _cut(plain_format(call.text), _ARGUMENTS)
        known |= set(identifiers(arguments))

        values = "".join(_identifier_line(text, max(limit, _RESULT_NAMES), known, uses))
        yield f"{_word(call.content.name)} {arguments}" + (f" -> {values}" if values else "")


def _identifier_line(
    text: str, limit: int, known: set[str], uses: Mapping[str, int]
) -> Iterator[str]:
    """The identifiers of a text that stand in no earlier line, the most used first."""
    fresh = [name for name in identifiers(text) if name not in known]
    by_use = sorted(fresh, key=lambda name: -uses.get(name, 0))
    names: list[str] = []
    room = limit
    for name in by_use:
        if len(name) < room:
            names.append(name)
            room -= len(name) + 1
    if names:
        known |= set(names)
        yield _json_text(" ".join(names))


def _json_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def fidelity(facts: AbstractSet[str], shorter: str) -> int:
    """Permille of the facts of a text that a shorter form still holds; 1000 for one without any."""
    if not facts:
        return 1000
    # Found verbatim or not at all: a paraphrased number is a lost number.
    return sum(fact in shorter for fact in facts) * 1000 // len(facts)


@lru_cache(maxsize=16)
def _json(text: str) -> Any:
    """A JSON object or list, None for anything else."""
    # Kept for a moment, because kind, plain and short form of a result each read it. A look at the
    # first sign spares the parser most texts.
    if text[:1] not in "{[" or not text:
        return None
    try:
        tree = json.loads(text)
    except ValueError:
        return None
    return cast(Any, tree) if isinstance(tree, dict | list) else None


def _leaves(value: Any, name: str = "") -> Iterator[str]:
    """Every value of a JSON tree as `name: value`, with the last name on its way alone."""
    if isinstance(value, dict):
        for key, inner in cast(dict[str, Any], value).items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        entries: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
        for inner in entries:
            yield from _leaves(inner, name)
    elif value not in (None, ""):
        yield f"{name}: {value}" if name else str(value)


def _by_worth(leaves: Iterable[str]) -> list[str]:
    """Leaves with identifiers first, each once: a cut then takes the words."""
    distinct = list(dict.fromkeys(leaves))
    return sorted(distinct, key=lambda leaf: not has_identifier(leaf))


def _word(name: str) -> str:
    """A tool's name as one harmless word: it stands among words of ours."""
    return re.sub(r"[^\w.-]", "_", name)[:60] or "tool"


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return _PARTIAL_WORD.sub("", cut).rstrip() + "…"
