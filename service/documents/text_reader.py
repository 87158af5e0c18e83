"""Readers of Markdown, plain text and source code, which need nothing but the core."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import PurePosixPath
from typing import Any, Final

from .blocks import FileBlock, FileBlockKind, FileReading, count_words

_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_UNSEEN: Final = re.compile(
    r"<(script|style|template|noscript)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_FRONT: Final = re.compile(r"---[ \t]*\n(?P<body>.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD: Final = re.compile(r"(?P<name>[A-Za-z][\w -]*):[ \t]*(?P<value>.*)")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n\s*")
_KEYWORDS: Final = re.compile(r"\s*(?:[\w&*<>,\[\]]+\s+)*[*&]?")
_KINDS: Final = {
    "fence": FileBlockKind.CODE,
    "code_block": FileBlockKind.CODE,
    "table_open": FileBlockKind.TABLE,
}


def read_text(text: str, name: str) -> FileReading:
    """Plain text: paragraphs between blank lines."""
    return FileReading(tuple(_paragraphs(text)), PurePosixPath(name).stem)


def read_markdown(text: str, name: str) -> FileReading:
    """Markdown (CommonMark with tables): the lines of its blocks as they were written."""
    drops: Counter[str] = Counter()
    fields: dict[str, str] = {}
    front = _FRONT.match(text)
    if front is not None:
        for line in front["body"].splitlines():
            match = _FIELD.fullmatch(line.strip())
            if match:
                fields[match["name"].strip().casefold()] = match["value"].strip()
        drops["front_matter"] = count_words(front[0])
        text = text[front.end() :]

    from markdown_it import MarkdownIt

    lines = text.split("\n")
    blocks: list[FileBlock] = []
    last = 0
    # Of what is inside a block only the source is used.
    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    tokens = parser.parse(text)
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
        if not (kind in Token.Name.Class or kind in Token.Name.Function):
            continue
        line = bisect_right(starts, position) - 1
        before = text[starts[line] : position]
        # A definition begins its line, behind keywords alone; a call of it does not.
        if before.strip() and _KEYWORDS.fullmatch(before) and (line > last or not blocks):
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
    text = "\n".join(lines)
    for pattern in (_COMMENT, _UNSEEN) if "<" in text else ():
        for match in pattern.finditer(text):
            drops["hidden_text"] += count_words(match[0])
        text = pattern.sub("", text)
    return text


def _trimmed(text: str) -> str:
    """A block without white space around its lines' ends; indentation stays."""
    return "\n".join(map(str.rstrip, text.strip("\n").split("\n"))).strip()
