"""The readers of HTML and of DOCX, which becomes HTML by its own styles.

Of a page the words stay that a browser shows, in blocks. Scripts, navigation and hidden elements go
and are counted; the one `main` or `article` wins over what stands around it. Comments never enter.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Container, Iterator
from typing import Any, Final
from xml.parsers.expat import ExpatError

from ...schema.errors import TenureError
from .blocks import (
    FileBlock,
    FileBlockKind,
    FileReading,
    check_archive,
    count_words,
    extra_module,
    refusal,
    single_spaced,
)

MAX_DEPTH: Final = 2_000
"""Open elements at one place: parsing takes more than quadratic time in them."""
_TAG: Final = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9-]*)")
_VOID: Final = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()
)
_UNCLOSED: Final = frozenset("p li td tr dt dd option".split())
"""Elements that the next of their kind closes, so that many of them in a row are not deep."""
_GONE: Final = frozenset("script style noscript template nav footer head iframe object svg".split())
_BLOCKS: Final = frozenset(
    "address article aside blockquote body button caption dd details dialog div dl dt fieldset "
    "figcaption figure form header hgroup hr html li main ol option p section summary table tbody "
    "td textarea tfoot th thead tr ul".split()
)
_WHOLE: Final = frozenset("h1 h2 h3 h4 h5 h6 pre table".split())
"""Elements that are one block as they stand."""
_UNSEEN_STYLE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])"
)
_DOCTYPE: Final = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_UNREAD: Final = re.compile(r"word/(?:header|footer|comments)\d*\.xml")
"""Parts of a DOCX outside of its text: their words are only counted."""
_WRAPPERS: Final = re.compile(
    rb"</?(?:w:fldSimple|m:(?!r\b|t\b)\w+)\b[^>]*>"
    rb"|<w:style\b[^>]*w:type=\"table\"[^>]*(?<!/)>[^<]*(?:<(?!/?w:style\b)[^<]*)*</w:style>"
)
"""Elements of fields and formulas, without which their words are runs as all others.

The styles of tables say nothing of words, and are most of what a parser would read.
"""
_HIDDEN_RUN: Final = re.compile(
    rb"<w:r\b(?:(?!</?w:r\b|<w:vanish\b).)*<w:vanish(?: w:val=\"(?:1|on|true)\")?\s*/>"
    rb"(?:(?!<w:r\b).)*?</w:r>",
    re.DOTALL,
)
_STYLES: Final = "p[style-name='Title'] => h1:fresh"


def read_html(text: str, name: str) -> FileReading:
    """The blocks of a page.

    Raises:
        InvalidInput: `too_deep`, `invalid_encoding`.
        Unavailable: `documents_extra_missing`.
    """
    depth = 0
    for match in _TAG.finditer(text):
        tag = match[2].lower()
        if tag not in _VOID:
            depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH and tag not in _UNCLOSED:
            raise refusal("too_deep", f"{name} is nested deeper than {MAX_DEPTH} elements")

    parser: Any = extra_module("selectolax.lexbor").LexborHTMLParser(text)
    body = parser.body or parser.root
    mains = parser.css("main:not([hidden])") or parser.css("article")
    root = mains[0] if len(mains) == 1 else body
    drops: Counter[str] = Counter()
    blocks = tuple(_blocks(root, drops))
    if root is not body:
        whole, inner = (count_words(node.text(separator=" ")) for node in (body, root))
        drops["outside_main"] = whole - inner
    title = parser.css_first("title")
    return FileReading(blocks, title.text() if title else "", dropped=dict(drops))


def read_docx(data: bytes, name: str) -> FileReading:
    """The blocks of a DOCX file.

    Raises:
        InvalidInput: `bad_document`, `too_large`, `encrypted`.
        Unavailable: `documents_extra_missing`.
    """
    mammoth: Any = extra_module("mammoth")
    no_picture: Any = mammoth.images.img_element(
        lambda _: {"src": ""}  # pyright: ignore[reportUnknownLambdaType]
    )
    drops: Counter[str] = Counter()
    archive_copy = io.BytesIO()
    try:
        with (
            zipfile.ZipFile(io.BytesIO(data)) as archive,
            zipfile.ZipFile(archive_copy, "w") as parts,
        ):
            check_archive(archive, len(data), name)
            archive.getinfo("word/document.xml")
            for member in archive.namelist():
                content = archive.read(member) if member.endswith((".xml", ".rels")) else b""
                for run in _HIDDEN_RUN.finditer(content):
                    drops["hidden_text"] += count_words(re.sub(r"<[^>]*>", "", run[0].decode()))
                words = _WRAPPERS.sub(b"", _HIDDEN_RUN.sub(b"", content))
                parts.writestr(member, re.sub(rb"(</?)m:([rt])\b", rb"\1w:\2", words))
                # Entities that multiply end only after seconds, so no document type is read.
                if _DOCTYPE.search(content):
                    raise refusal("bad_document", f"{name} states a document type, as no DOCX does")
                if _UNREAD.fullmatch(member):
                    words = re.sub(rb"<[^>]*>", b"", content.replace(b"</w:p>", b" "))
                    drops["outside_main"] += len(words.split())
        page = mammoth.convert_to_html(
            archive_copy, convert_image=no_picture, style_map=_STYLES
        ).value
    except TenureError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError, ExpatError) as error:
        raise refusal("bad_document", f"{name} cannot be read as DOCX: {error}") from error

    reading = read_html(f"<body>{page}</body>", name)
    return reading._replace(dropped=dict(+(drops + Counter(reading.dropped))))


def _blocks(root: Any, drops: Counter[str]) -> Iterator[FileBlock]:
    words: list[str] = []
    for piece in _pieces(root, drops, _WHOLE):
        if isinstance(piece, str):
            words.append(piece)
            continue
        yield FileBlock(single_spaced("".join(words)))
        words.clear()
        if piece is not None:
            yield _whole_block(piece, drops)


def _pieces(root: Any, drops: Counter[str], whole: Container[str]) -> Iterator[Any]:
    """What a browser shows of an element: words, None where a block ends, and whole elements.

    Without recursion, because a page may be deeper than Python's stack.
    """
    stack: list[Any] = [None, root]
    while stack:
        node: Any = stack.pop()
        # What is no element, such as an instruction to a processor, may have no tag.
        tag: str = "-end" if node is None else node.tag or "-other"
        if node is None:
            yield None
        elif tag == "-text":
            yield node.text(deep=False) or ""
        elif tag.startswith(("-", "!", "_")):
            continue
        elif _is_hidden(node):
            drops["hidden_text"] += count_words(node.text(deep=True, separator=" "))
        elif tag in ("br", "img"):
            yield f"\n{node.attributes.get('alt') or ''} "
        elif tag in whole and not (tag == "table" and node.css("table table")):
            yield None
            yield node
        else:
            edge = [None] if tag in _BLOCKS else []
            yield from edge
            stack += [*edge, *reversed(list(node.iter(include_text=True)))]


def _words(node: Any, drops: Counter[str]) -> str:
    """The shown words of one element, a line feed where a block inside of it ends."""
    return "".join("\n" if piece is None else piece for piece in _pieces(node, drops, ()))


def _whole_block(node: Any, drops: Counter[str]) -> FileBlock:
    if node.tag == "pre":
        lines = _words(node, drops).strip("\n").split("\n")
        return FileBlock("\n".join(line.rstrip() for line in lines), FileBlockKind.CODE)
    if node.tag != "table":
        return FileBlock(_words(node, drops), FileBlockKind.HEADING, int(node.tag[1]))

    rows: list[str] = []
    for row in _elements(node, drops, ("caption", "tr")):
        cells = _elements(row, drops, ("td", "th")) if row.tag == "tr" else [row]
        texts = [single_spaced(_words(cell, drops)) for cell in cells]
        rows += [" | ".join(texts)] if any(texts) else []

    return FileBlock("\n".join(rows), FileBlockKind.TABLE)


def _elements(node: Any, drops: Counter[str], tags: Container[str]) -> list[Any]:
    return [piece for piece in _pieces(node, drops, tags) if not isinstance(piece, str | None)]


def _is_hidden(node: Any) -> bool:
    if node.tag in _GONE:
        return True
    attributes = node.attributes
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or attributes.get("role") in ("navigation", "search", "contentinfo")
        or _UNSEEN_STYLE.search((attributes.get("style") or "").lower()) is not None
    )
