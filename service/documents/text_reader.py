"""Readers of Markdown, plain text and source code, which need nothing but the core; encodings."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from .blocks import FileBlock, FileBlockKind, FileReading, count_words, extra_module, refusal

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_UNSEEN: Final = re.compile(
    r"(?P<code>(?<![`\\])(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>script|style|template|noscript)\b.*?(?:</(?P=tag)\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
"""Comments and scripts; code that quotes them is found first, and shown."""
_FRONT: Final = re.compile(
    r"(?P<mark>---|\+\+\+)[ \t]*\n(?P<body>.*?\n)(?:(?P=mark)|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL
)
"""Fields before the text, in YAML or in TOML."""
_FIELD: Final = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z][\w -]*?)[ \t]*[:=][ \t]*(?P<value>.*)", re.MULTILINE
)
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n\s*")
_KEYWORDS: Final = re.compile(r"\s*(?:[\w&*<>,\[\]]+\s+)*[*&]?")
_NAMING: Final = frozenset({"class", "func", "function", "interface", "type"})
"""Words before a name that the lexer of some languages calls no definition."""
_KINDS: Final = {
    "fence": FileBlockKind.CODE,
    "code_block": FileBlockKind.CODE,
    "table_open": FileBlockKind.TABLE,
}

_MARKS: Final = {
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
"""First bytes by encoding; the little one of UTF-16 begins that of UTF-32."""
_LEAST_SURE: Final = 0.2
"""Confidence below which the detector itself counts on no encoding."""
_RIVAL: Final = 0.5
"""Share of the best confidence from which another encoding may be the right one.

Of 1,699 parts of texts in 22 languages and 47 encodings, 276 are read so, all of them right.
"""


def decode(data: bytes, name: str, encoding: str | None) -> str:
    r"""The text of a file, with line feeds alone.

    >>> decode(b"\xef\xbb\xbfone\r\ntwo", "a.txt", None)
    'one\ntwo'

    Raises:
        InvalidInput: `invalid_encoding`, with the best guess.
        Unavailable: `documents_extra_missing`.
    """
    charset = encoding or next(
        (code for code, marks in _MARKS.items() if data.startswith(marks)), ""
    )
    try:
        text = data.decode(charset or "utf-8")
    except (UnicodeDecodeError, LookupError) as error:
        if charset:
            raise refusal("invalid_encoding", f"{name} is not {charset}: {error}") from error
        text = _guess(data, name)

    if "\0" in text:
        raise refusal("invalid_encoding", f"{name} holds NUL characters; state encoding=")

    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _guess(data: bytes, name: str) -> str:
    """The text in the encoding that is likely, where every other likely one gives the same."""
    best, *others = extra_module("chardet").detect_all(data, ignore_threshold=True)
    encoding, confidence = best["encoding"], best["confidence"]
    if encoding is None:
        raise refusal("unknown_format", f"{name} is no text; hand in its words as Markdown")
    rivals = [other for other in others if other["confidence"] > _RIVAL * confidence]
    texts: set[str] = set()
    for guess in (best, *rivals):
        with suppress(UnicodeDecodeError, LookupError):
            texts.add(data.decode(guess["encoding"]))
    if confidence >= _LEAST_SURE and len(texts) == 1:
        return texts.pop()

    raise refusal(
        "invalid_encoding",
        f"{name} is not UTF-8; the best guess is {encoding} ({confidence:.0%}). State encoding=, "
        "or `encoding` in a rule of its folder",
    )


def read_text(text: str, name: str) -> FileReading:
    """Plain text: paragraphs between blank lines."""
    return FileReading(tuple(_paragraphs(text)), PurePosixPath(name).stem)


def read_markdown(text: str, name: str) -> FileReading:
    """Markdown (CommonMark with tables): the lines of its blocks as they were written."""
    drops: Counter[str] = Counter()
    fields: dict[str, str] = {}
    front = _FRONT.match(text)
    if front is not None:
        for match in _FIELD.finditer(front["body"]):
            fields[match["name"].strip().casefold()] = match["value"].strip()
        drops["front_matter"] = count_words(front[0])
        text = text[front.end() :]

    lines = text.split("\n")
    blocks: list[FileBlock] = []
    last = 0
    tokens = _block_parser().parse(text)
    for place, token in enumerate(tokens):
        is_item = token.type == "list_item_open" and token.level == 1
        is_top = token.level == 0 and not token.type.endswith("list_open")
        if token.map is None or not (is_item or is_top):
            continue
        start, end = token.map
        # What makes no token, such as the target of a link, is text all the same.
        blocks += _paragraphs(_shown(lines[last:start], drops))
        kind = _KINDS.get(token.type, FileBlockKind.PROSE)
        if token.type == "heading_open":
            heading = _shown([tokens[place + 1].content], drops)
            blocks.append(FileBlock(heading, FileBlockKind.HEADING, int(token.tag[1:])))
        elif kind is FileBlockKind.CODE:
            blocks.append(_code(lines[start:end]))
        else:
            blocks.append(FileBlock(_trimmed(_shown(lines[start:end], drops)), kind))

        last = max(last, end)

    blocks += _paragraphs(_shown(lines[last:], drops))
    title = fields.get("title", "").strip("'\"")
    return FileReading(tuple(blocks), title, fields, dict(drops))


@cache
def _block_parser() -> MarkdownIt:
    """What finds the blocks; of what is inside of them only the source is used."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])


def read_code(text: str, name: str) -> FileReading:
    """Source code: the names of classes and functions are its headings. Text for no language."""
    from pygments.lexers import (
        get_lexer_for_filename,  # pyright: ignore[reportUnknownVariableType]
    )
    from pygments.token import Token
    from pygments.util import ClassNotFound

    title = PurePosixPath(name).name
    try:
        lexer: Any = get_lexer_for_filename(title, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return read_text(text, name)

    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    blocks: list[FileBlock] = []
    last = 0
    for position, kind, word in lexer.get_tokens_unprocessed(text):
        if kind not in Token.Name:
            continue
        line = bisect_right(starts, position) - 1
        before = text[starts[line] : position]
        is_named = kind in Token.Name.Class or kind in Token.Name.Function
        is_named = is_named or before.rstrip(" *").rpartition(" ")[2] in _NAMING
        # A definition begins its line, behind keywords alone; a call of it does not.
        begins_line = before.strip() and _KEYWORDS.fullmatch(before)
        if is_named and begins_line and (line > last or not blocks):
            blocks.append(_code(lines[last:line]))
            level = 2 if before[0].isspace() else 1
            blocks.append(FileBlock(word, FileBlockKind.HEADING, level))
            last = line

    blocks.append(_code(lines[last:]))
    media_type = next(iter(lexer.mimetypes), "text/plain")
    return FileReading(tuple(blocks), title, media_type=media_type)


def _code(lines: Sequence[str]) -> FileBlock:
    return FileBlock("\n".join(map(str.rstrip, lines)).strip("\n"), FileBlockKind.CODE)


def _paragraphs(text: str) -> list[FileBlock]:
    return [FileBlock(_trimmed(part)) for part in _PARAGRAPH.split(text) if part.strip()]


def _shown(lines: Sequence[str], drops: Counter[str]) -> str:
    """A text without its comments and scripts; what nobody is shown is counted."""

    def show(match: re.Match[str]) -> str:
        if not match["code"]:
            drops["hidden_text"] += count_words(match[0])
        return match["code"] or ""

    text = "\n".join(lines)
    return _UNSEEN.sub(show, text) if "<" in text else text


def _trimmed(text: str) -> str:
    """A block without white space around its lines' ends; indentation stays."""
    return "\n".join(map(str.rstrip, text.strip("\n").split("\n"))).strip()
