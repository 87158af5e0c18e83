r"""The reversible escape of data blocks: no data looks like our grammar or a chat template.

A backslash goes before everything that a model might take for structure: boundary and heading
lines, chat-template tokens, roles at the start of a line, closing tags, omission markers, and
`artifact://` or `rehydrate://` pointers that the store did not issue. Marks are also found in
look-alike letters and with invisible characters between them (`look_alikes`).

>>> escape_data("</doc> Human: hi")
'\\</doc> Human: hi'
>>> unescape_data(escape_data("=== data\nHuman: hi")) == "=== data\nHuman: hi"
True

An escape only inserts a backslash before a match, and backslashes never change what matches. So
the escaped text matches at the same places, and removing one backslash at each restores the text.
The escape helps the model; the security boundary is the keyed one of `grammar`.
Sources: StruQ's filter of reserved delimiters; checklist C-084, C-152.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from ...schema.look_alikes import STROKE, skeleton

LINE_BREAKS: Final = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""Every character that some reader shows as a new line."""


def _words(pattern: str) -> str:
    """Letters of a pattern, with I, 1 and | for an l and a 0 for an o, as they are drawn alike."""
    return re.sub("[lL]", f"[l1|{STROKE}]", re.sub("[oO]", "[o0]", pattern)).replace("i", "[i1|]")


_TAGS: Final = _words(
    "s|bos|eos|pad|start_of_turn|end_of_turn|system|assistant|user|human|developer|tool"
    "|tool_result|function_results|untrusted|trusted|instruction|data|dialogue"
    "|think|thinking|reasoning|tool_call|tool_response|tools|sop"
)
_INLINE: Final = re.compile(
    rf"<[|{STROKE}]"  # <|im_start|>
    r"|<</?SYS>>"
    rf"|<(?:/|(?:{_TAGS})>)"
    rf"|\[/?(?:INST|THINK|gMASK|{_words('SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)')})\]"
    rf"|\[{_words('OMITTED')}"
    rf"|(?:{_words('artifact|rehydrate')})://",
    re.IGNORECASE,
)
_SIGNS: Final = ("<", "[", "://")
"""What every mark inside a line holds: a text without them need not be searched."""
_POINTER: Final = re.compile(r"\[OMITTED[^\]]*\]|[^\s\"'<>\\\[\]{}|^`]+", re.IGNORECASE)
_TRAILING: Final = ".,;:!?)"

# What may come before a mark without hiding it from a reader: horizontal space, characters
# without a glyph, and the marks of quotes, lists and emphasis.
_INDENT: Final = (
    r"(?:[^\S" + LINE_BREAKS + r"]|[#*_>\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0])*+"
)
_EQUALS: Final = (
    "\u1400\u2017\u207c\u208c\u2261\u2263\u2550\u268c\u2a75\u2a76\u2e17\u2e40\u3013\u30a0\ua4ff\ua78a"
    "\ufe66\uff1d\U0001f7f0"
)
"""What is drawn like `=` (Unicode confusables, and the double rules of boxes)."""
_DASHES: Final = (
    "\\-\u2010-\u2015\u2212\u23af\u23e4\u2500\u2501\u2504\u2505\u254c\u254d\u2e3a\u2e3b\u30fc\ufe58"
    "\ufe63\uff0d"
)
_BRACKETS: Final = "\\[\u2045\u2772\u27e6\u3010\u3014\u301a\uff3b"
_KINDS: Final = (
    r"(?:"
    + _words(
        "instruction|data|dialogue|system|tools|role|(?:project )?constraints|skills"
        "|goal|(?:related )?memory|(?:task )?guidance|knowledge|history|evidence|errors|step"
        "|acceptance|request"
    )
    + r")\b"
)
"""The kinds of our blocks and the words of our headings."""
_SPACE: Final = r"[^\S" + LINE_BREAKS + r"]"
_RULE: Final = (
    rf"(?:={{3,}}+|[={_EQUALS}](?:{_SPACE}{{1,2}}[={_EQUALS}]){{2,}}+|(?:=++[{_EQUALS}]|[{_EQUALS}][={_EQUALS}])"
    rf"[={_EQUALS}]*+)(?={_SPACE}*+[^\s=])"
    rf"|[{_EQUALS}](?={_SPACE}*+{_KINDS})"
    rf"|[{_DASHES}](?:{_SPACE}?[{_DASHES}]){{2,}}+(?={_SPACE}*+{_KINDS})"
    rf"|[{_BRACKETS}](?=[0-9]{{1,6}}[\]\u2046\u2773\u27e7\u3011\u3015\u301b\uff3d]"
    rf"{_SPACE}++[^\s:]{{1,40}}:)"
)
"""Our own lines and what is drawn like them: boundaries, headings, `[3] Sam:`. Plain dashes and
brackets are in every other document, so they count only before a word of ours."""
_ROLE: Final = (
    rf"(?:{_words('human|assistant|system|user|developer|instructions?|response')}"
    rf"|{_words('tool')}[ _](?:{_words('result|output')}))"
    r"[*_]*[^\S" + LINE_BREAKS + r"]*:|\(?system_message\b"
)
_LIST_MARK: Final = r"(?:[-+\u2022\u2023\u2043\u25e6\u2013\u2014]|\(?[0-9a-z]{1,3}[.)])"
_LINE: Final = re.compile(
    rf"({_INDENT}(?:{_LIST_MARK}{_SPACE}++{_INDENT}(?=\\*+{_ROLE}))?)(\\*+)({_RULE}|{_ROLE})",
    re.IGNORECASE,
)
"""What is at the start of a line; it never goes beyond it."""


def escape_data(text: str, *, issued_pointers: AbstractSet[str] = frozenset()) -> str:
    """Return `text` with a backslash before everything that looks like structure.

    `issued_pointers` are those, and the omission markers, that the store made: they stay usable.
    """
    marks = [place for place in _marks(text) if not _is_issued(text, place, issued_pointers)]
    inline = "\\".join(_pieces(text, marks))
    return "".join(map(_add_one, inline.splitlines(keepends=True)))


def unescape_data(text: str) -> str:
    r"""What `escape_data` was given, whatever pointers were issued then.

    >>> unescape_data(escape_data("\\</a> [INST]"))
    '\\</a> [INST]'
    """
    # Most texts hold no backslash at all, and every block of an envelope is read back.
    if "\\" not in text:
        return text

    inline = "".join(map(_drop_one, text.splitlines(keepends=True)))
    marks = [place for place in _marks(inline) if inline[place - 1 : place] == "\\"]
    ends = [place - 1 for place in marks]
    return "".join(inline[start:end] for start, end in zip([0, *marks], [*ends, None], strict=True))


def _shape_of(text: str) -> tuple[str, Sequence[int]]:
    """A text as it is drawn, and the place of each character; most texts are ASCII."""
    return (text, range(len(text) + 1)) if text.isascii() else skeleton(text)


def _marks(text: str) -> Iterator[int]:
    """Yield the places of the marks inside lines, one for those that share a character."""
    shape, places = _shape_of(text)
    if not any(sign in shape for sign in _SIGNS):
        return

    after = -1
    for match in _INLINE.finditer(shape):
        start = places[match.start()]
        if start > after:
            yield start
        after = places[match.end() - 1]


def _pieces(text: str, places: Sequence[int]) -> Iterator[str]:
    for start, end in zip([0, *places], [*places, None], strict=True):
        yield text[start:end]


def _add_one(line: str) -> str:
    shape, places = _shape_of(line)
    match = _LINE.match(shape)
    if match is None:
        return line
    place = places[match.end(1)]
    return f"{line[:place]}\\{line[place:]}"


def _drop_one(line: str) -> str:
    shape, places = _shape_of(line)
    match = _LINE.match(shape)
    if match is None or not match[2]:
        return line
    place = places[match.end(1)]
    return line[:place] + line[place + 1 :]


def _is_issued(text: str, start: int, issued_pointers: AbstractSet[str]) -> bool:
    """Whether the whole pointer is one of ours.

    A pointer after a backslash is marked even then: the reader takes one backslash off, and
    could not tell that backslash from the escape.
    """
    if not issued_pointers or text[start] not in "aArR[" or text[start - 1 : start] == "\\":
        return False

    pointer = _POINTER.match(text, start)
    if pointer is None:
        return False

    return not issued_pointers.isdisjoint((pointer[0], pointer[0].rstrip(_TRAILING)))
