"""The readers of HTML and of DOCX, which becomes HTML by its own styles.

Of a page the words stay that a browser shows, in blocks. Scripts, navigation and hidden elements go
and are counted; the one `main` or `article` wins over what stands around it. Comments never enter.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

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
_HEADING: Final = re.compile(r"h[1-6]")
_VOID: Final = frozenset(
    "area base br col embed hr img input link meta param source track wbr".split()
)
_UNCLOSED: Final = frozenset("p li td tr dt dd option".split())
"""Elements that the next of their kind closes, so that many of them in a row are not deep."""
_GONE: Final = frozenset("script style noscript template nav footer head iframe object svg".split())
_BLOCKS: Final = frozenset(
    "address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure "
    "form header hgroup hr html li main ol p section summary table tbody tfoot thead tr ul "
    "caption".split()
)
_UNSEEN_STYLE: Final = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])"
)
_DATES: Final = {
    "article:published_time": "published",
    "article:modified_time": "modified",
    "date": "published",
    "dc.date": "published",
    "last-modified": "modified",
}
_DOCTYPE: Final = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_PROPERTY: Final = re.compile(rb"<dcterms:(created|modified)[^>]*>([^<]+)<")


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
    dates: dict[str, str] = {}
    for meta in parser.css("meta"):
        attributes = meta.attributes
        key = (attributes.get("property") or attributes.get("name") or "").casefold()
        if key in _DATES and attributes.get("content"):
            dates[_DATES[key]] = attributes["content"]

    mains = parser.css("main") or parser.css("article")
    root = mains[0] if len(mains) == 1 else parser.body or parser.root
    drops: Counter[str] = Counter()
    blocks = [block for block in _blocks(root, drops) if block.text]
    title = parser.css_first("title")
    return FileReading(tuple(blocks), single_spaced(title and title.text()), dates, dict(drops))


def read_docx(data: bytes, name: str) -> FileReading:
    """The blocks of a DOCX file.

    Raises:
        InvalidInput: `bad_document`, `too_large`, `encrypted`.
        Unavailable: `documents_extra_missing`.
    """
    mammoth: Any = extra_module("mammoth")
    no_picture: Any = mammoth.images.img_element(lambda _: {"src": ""})
    properties = b""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_archive(archive, len(data), name)
            archive.getinfo("word/document.xml")
            for member in archive.namelist():
                content = archive.read(member) if member.endswith((".xml", ".rels")) else b""
                # Entities that multiply end only after seconds, so no document type is read.
                if _DOCTYPE.search(content):
                    raise refusal("bad_document", f"{name} states a document type, as no DOCX does")
                if member == "docProps/core.xml":
                    properties = content
        page = mammoth.convert_to_html(io.BytesIO(data), convert_image=no_picture).value
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, OSError, SyntaxError) as error:
        if getattr(error, "code", None):
            raise
        raise refusal("bad_document", f"{name} cannot be read as DOCX: {error}") from error

    dates = {
        "published" if key == b"created" else "modified": value.decode("utf-8", "replace")[:40]
        for key, value in _PROPERTY.findall(properties)
    }
    return read_html(f"<body>{page}</body>", name)._replace(dates=dates)


def _blocks(root: Any, drops: Counter[str]) -> Iterator[FileBlock]:
    """The blocks of an element, without recursion: a page may be deeper than Python's stack."""
    words: list[str] = []
    # None ends a block.
    stack: list[Any] = [None, root]
    while stack:
        node: Any = stack.pop()
        tag: str = "p" if node is None else node.tag
        if node is not None and tag == "-text":
            words.append(node.text(deep=False) or "")
            continue
        if tag.startswith(("-", "!", "_")):
            continue
        if node is not None and _is_hidden(node):
            drops["hidden_text"] += count_words(node.text(deep=True) or "")
            continue

        whole = _whole_block(tag, node)
        if whole is not None or tag in _BLOCKS:
            yield FileBlock(single_spaced("".join(words)))
            words.clear()
        if whole is not None:
            yield whole
        elif node is not None and tag in ("br", "img"):
            words.append(f" {node.attributes.get('alt') or ''} ")
        elif node is not None:
            stack += [None] if tag in _BLOCKS else []
            stack += reversed(list(node.iter(include_text=True)))


def _whole_block(tag: str, node: Any) -> FileBlock | None:
    """The block of an element that is one as it stands."""
    if _HEADING.fullmatch(tag):
        return FileBlock(single_spaced(node.text(deep=True)), FileBlockKind.HEADING, int(tag[1]))
    if tag == "pre":
        lines = (node.text(deep=True) or "").strip("\n").split("\n")
        return FileBlock("\n".join(line.rstrip() for line in lines), FileBlockKind.CODE)
    if tag != "table" or node.css("table table"):
        return None

    rows: list[str] = []
    for row in node.css("tr"):
        cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
        texts = [single_spaced(cell.text(deep=True)) for cell in cells]
        rows += [" | ".join(texts)] if any(texts) else []
    return FileBlock("\n".join(rows), FileBlockKind.TABLE)


def _is_hidden(node: Any) -> bool:
    if node.tag in _GONE:
        return True
    attributes = node.attributes
    is_hidden = "hidden" in attributes or attributes.get("aria-hidden") == "true"
    return is_hidden or bool(_UNSEEN_STYLE.search((attributes.get("style") or "").lower()))
