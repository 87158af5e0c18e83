"""Shorter forms of tool results, made without a model: whole lines from both ends, or whole fields.

Nothing changes inside a line. A log has its error at the end and a file its imports at the
beginning, so an excerpt takes lines from both ends in turn. An answer of an API has its facts in
its fields, and hits of a search are ranked, so of these the first are kept. Each excerpt says how
much is missing and has the address of the original.

When a result comes, it is shown whole while it fits: results of one step share a quarter of the
limit, and in small windows each has at most 3,000 tokens. A page of originals that the model asked
for is never cut. Checklist C-260, C-300, C-301, C-303, C-304, C-311.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

from ..schema.window_policy import WindowPolicy
from .ledger import plain_word
from .state import WindowState
from .units import RECALL_TOOL, MessagePart, ToolKind, WindowUnit, pointer, tokens_in
from .words import identifiers

_TOP: Final = 5
"""Hits of a search that an excerpt holds at most."""
_CHUNK: Final = 400
"""Characters of a piece of a line that is longer than a page is wide."""
_MARK_TOKENS: Final = 30
_NAMES_PART: Final = 8
"""The part of a result's tokens that names take which its excerpt leaves out."""
_CHARACTERS_A_TOKEN: Final = 8
"""The most that a token has, nearly always: no more text than this needs to be looked at."""
_SMALL_WINDOW: Final = 16_384
_SMALL_RESULT: Final = 3_000
_PAGE_SLACK: Final = 200
"""Tokens of a page's frame."""
_LEAST: Final = 100
"""Tokens that a result has although the others of its step have filled their quarter."""
_COUNTED: Final = 1_000_000
"""Characters that are counted exactly: counting takes half a second for so many."""
_BLANK_LINES: Final = re.compile(r"\n{4,}")
_BLANK_ENDS: Final = re.compile(r"[ \t]+(?=\n|\Z)")

Count = Callable[[str], int]


def pruned(text: str) -> str:
    r"""The same text without what says nothing: spaces of JSON, blanks at line ends, blank lines.

    >>> pruned('{"a":  1,\n "b": [2,  3]}')
    '{"a":1,"b":[2,3]}'
    >>> pruned("if ready:  \n    go()")
    'if ready:\n    go()'
    """
    tree = _json(text)
    if tree is not None:
        return json.dumps(tree, separators=(",", ":"), ensure_ascii=False)
    return _BLANK_LINES.sub("\n\n", _BLANK_ENDS.sub("", text))


def kind_of(text: str, name: str) -> ToolKind:
    """The kind of a result that no caller stated, by the tool's name, else by its shape."""
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", name).casefold()))
    if words & {"search", "find", "grep", "query", "list"}:
        return ToolKind.SEARCH if isinstance(_json(text), list) or not _json(text) else ToolKind.API
    if words & {"code", "diff", "patch", "read", "cat", "open", "edit"}:
        return ToolKind.CODE
    return ToolKind.FILE if _json(text) is None else ToolKind.API


class _Pieces(NamedTuple):
    """A text in parts that are kept whole."""

    parts: Sequence[str]
    noun: str
    both_ends: bool


def excerpt(text: str, kind: ToolKind, most: int, count: Count) -> str:
    """What of a text fits in so many tokens, with a line about what is missing."""
    pieces = _pieces(text, kind, most)
    head, tail = _ends(pieces, max(1, most - _MARK_TOKENS), count)
    parts = pieces.parts
    missing = len(parts) - head - tail
    if missing <= 0 and len("".join(parts)) >= len(text):
        return text

    first = "".join(parts[:head]).rstrip("\n")
    last = "".join(parts[len(parts) - tail :]).rstrip("\n") if tail else ""
    # Of a text that was too long to be split, the middle is in no part.
    share = max(1, len(text) - len(first) - len(last))
    mark = f"[... {missing} {pieces.noun}, {share} characters left out]"
    return "\n".join(filter(None, (first, mark, last)))


def _pieces(text: str, kind: ToolKind, most: int) -> _Pieces:
    tree = _json(text) if kind in (ToolKind.SEARCH, ToolKind.API) else None
    if isinstance(tree, list) and kind is ToolKind.SEARCH:
        hits: list[Any] = tree  # pyright: ignore[reportUnknownVariableType]
        lines = ["; ".join(_leaves(hit)) + "\n" for hit in hits[:_TOP]]
        return _Pieces([*lines, *[""] * (len(hits) - len(lines))], "hits", both_ends=False)
    if tree is not None:
        fields = [f"{leaf}\n" for leaf in _by_worth(_leaves(tree))]
        return _Pieces(fields, "fields", both_ends=False)

    reach = most * _CHARACTERS_A_TOKEN
    ends = [text] if len(text) <= 2 * reach else [text[:reach], text[-reach:]]
    parts: list[str] = []
    for end in ends:
        for line in end.splitlines(keepends=True):
            parts += _chunks(line)
    return _Pieces(parts, "lines", both_ends=True)


def _chunks(line: str) -> Iterator[str]:
    """A line as it is, or a very long one in chunks that end at a blank where there is one."""
    while len(line) > 2 * _CHUNK:
        end = line.rfind(" ", _CHUNK // 2, _CHUNK) + 1 or _CHUNK
        yield line[:end]
        line = line[end:]
    yield line


def _ends(pieces: _Pieces, most: int, count: Count) -> tuple[int, int]:
    """How many parts from the beginning and from the end fit in so many tokens."""
    parts, head, tail, used = pieces.parts, 0, 0, 0
    while head + tail < len(parts):
        from_head = head <= tail or not pieces.both_ends
        part = parts[head] if from_head else parts[-1 - tail]
        used += count(part) + 1
        # An empty part is a hit beyond those that are shown.
        if used > most or (not part and not pieces.both_ends):
            break
        if from_head:
            head += 1
        else:
            tail += 1
    return head, tail


def short_result(
    text: str, kind: ToolKind, most: int, count: Count, *, number: int, name: str
) -> str:
    """A result within so many tokens: as it is, pruned, or an excerpt with its address."""
    if len(text) <= most * _CHARACTERS_A_TOKEN * 2:
        for form in (text, pruned(text)):
            if count(form) <= most:
                return form
    body = excerpt(text, kind, most, count)
    return f"{body}\n{placeholder(number, name)}"


def placeholder(number: int, name: str) -> str:
    """Our words about a result whose text is not whole, with its address.

    >>> placeholder(57, "search")
    '[result of search, shortened. Original: window://57]'
    """
    return f"[result of {plain_word(name)}, shortened. Original: {pointer(number)}]"


def same_as(number: int, repetition: int) -> str:
    """What replaces a result that a later one repeats word for word."""
    return f"[the same as {pointer(repetition)}. Original: {pointer(number)}]"


def arrival_tokens(state: WindowState, unit: WindowUnit) -> int:
    """Tokens that the next result of a unit may have."""
    quarter = state.correction.own(state.limit) // 4
    most = quarter - tokens_in(unit.results)
    if state.window <= _SMALL_WINDOW:
        most = min(most, _SMALL_RESULT)
    return max(_LEAST, most)


def arrival_text(
    state: WindowState, policy: WindowPolicy, unit: WindowUnit, part: MessagePart
) -> str:
    """What a request shows of a result that has just come."""
    most = arrival_tokens(state, unit)
    if part.name == RECALL_TOOL:
        most = max(most, policy.page_tokens_of(state.limit) + _PAGE_SLACK)
    if text_tokens(state, part.text) <= most:
        return part.text
    kind = part.tool_kind or kind_of(part.text, part.name)
    # What comes first of an answer says little of a whole one, so here both ends are shown.
    if kind in (ToolKind.SEARCH, ToolKind.API):
        kind = ToolKind.FILE
    share = most // _NAMES_PART
    body = excerpt(part.text, kind, most - share, state.count)
    names = _left_out_names(part.text, body, share, state.count)
    return f"{body}\n{names}{placeholder(state.seq + 1, part.name)}"


def _left_out_names(text: str, body: str, most: int, count: Count) -> str:
    """A line with the names that an excerpt lacks: the next call may need one of them."""
    reach = most * _NAMES_PART * _CHARACTERS_A_TOKEN
    ends = text if len(text) <= 2 * reach else f"{text[:reach]}\n{text[-reach:]}"
    shown = set(identifiers(body))
    names: list[str] = []
    for name in identifiers(ends):
        most -= 0 if name in shown else count(name)
        if most < _MARK_TOKENS:
            break
        if name not in shown:
            names.append(name)
    return f"[names in the part left out: {' '.join(names)}]\n" if names else ""


def text_tokens(state: WindowState, text: str) -> int:
    """The tokens of a text; of a very long one about, by its beginning."""
    if len(text) <= _COUNTED:
        return state.count(text)
    return state.count(text[:_COUNTED]) * len(text) // _COUNTED


@lru_cache(maxsize=16)
def _json(text: str) -> Any:
    """A JSON object or list, None for anything else."""
    # A look at the first character spares the parser most texts.
    if text[:1] not in ("{", "["):
        return None
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
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
    return sorted(distinct, key=lambda leaf: not identifiers(leaf))
