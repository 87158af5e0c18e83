"""Which reader takes a file, decided by its first bytes and then by its name; and its encoding.

Markdown, text, source code, mail and chats need nothing but the core, in strict UTF-8. All else
needs the extra `documents`. A format that no reader takes is refused, never read as text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from .blocks import FileBlockKind, FileReading, refusal, single_spaced
from .html_reader import read_docx, read_html
from .mail_reader import read_mail
from .pdf_reader import read_pdf
from .text_reader import decode, read_code, read_markdown, read_text


class FileFormat(NamedTuple):
    """A format: its names, and its reader."""

    name: str
    media_type: str
    suffixes: frozenset[str]
    read: Callable[..., FileReading]
    takes_bytes: bool = False
    is_plain: bool = False
    """Whether its reader is Python alone and linear in the text, so that it may run in process."""


_DOCX: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_PDF: Final = FileFormat("pdf", "application/pdf", frozenset((".pdf",)), read_pdf, True)
_HTML: Final = FileFormat("html", "text/html", frozenset((".html", ".htm", ".xhtml")), read_html)
_CODE: Final = FileFormat("code", "text/plain", frozenset(), read_code, is_plain=True)
_MAIL: Final = frozenset((".eml", ".mbox", ".mht", ".mhtml"))
_MARKDOWN: Final = frozenset((".md", ".markdown", ".mdown", ".mkd"))
_TEXT: Final = frozenset((".txt", ".text", ".log", ".csv", ".tsv", ".rst", ".adoc", ".org", ""))
_FORMATS: Final = (
    _PDF,
    FileFormat("docx", _DOCX, frozenset((".docx",)), read_docx, True),
    FileFormat("mail", "message/rfc822", _MAIL, read_mail, True),
    _HTML,
    FileFormat("markdown", "text/markdown", _MARKDOWN, read_markdown, is_plain=True),
    FileFormat("text", "text/plain", _TEXT, read_text, is_plain=True),
)
_FOREIGN: Final = (
    *(b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"\x1f\x8b", b"7z\xbc\xaf", b"\x7fELF"),
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"II*\x00", b"MM\x00*"),
)
"""First bytes of archives, programs and pictures."""


def format_of(data: bytes, name: str, media_type: str | None = None) -> FileFormat:
    """The format of a file.

    Raises:
        InvalidInput: `unknown_format`, `empty_document`.
    """
    start = data[:512].lstrip().lower()
    suffix = PurePosixPath(name).suffix.lower()
    if not start and not data.strip():
        raise refusal("empty_document", f"{name} has no content")
    if start.startswith(b"%pdf-"):
        return _PDF
    named = [form for form in _FORMATS if suffix in form.suffixes or media_type == form.media_type]
    found = named[0] if named else _CODE
    if not found.takes_bytes and start.startswith((b"<!doctype html", b"<html")):
        return _HTML
    if found.name not in ("pdf", "docx") and data.startswith(_FOREIGN):
        raise refusal(
            "unknown_format",
            f"{name} is no document that can be read; hand in its text as Markdown",
        )

    return found


def read_file(
    data: bytes,
    name: str,
    *,
    media_type: str | None = None,
    encoding: str | None = None,
    password: str | None = None,
) -> FileReading:
    """The reading of a file.

    Raises:
        InvalidInput: a code of the table in `docs/documents.md`.
        Unavailable: `documents_extra_missing`.
    """
    form = format_of(data, name, media_type)
    content = data if form.takes_bytes else decode(data, name, encoding)
    options = {"pdf": {"password": password}, "mail": {"encoding": encoding}}
    reading = form.read(content, name, **options.get(form.name, {}))
    blocks = [block for block in reading.blocks if block.text.strip()]
    for place, block in enumerate(blocks):
        if block.kind is FileBlockKind.HEADING:
            # A title is one line wherever it is shown, so it is one in the text of the reading.
            blocks[place] = block._replace(text=single_spaced(block.text))

    if not blocks:
        raise refusal("no_text", f"{name} has no text; a scan must be recognised first")
    titles = (block.text for block in blocks if block.kind is FileBlockKind.HEADING)
    return reading._replace(
        blocks=tuple(blocks),
        title=single_spaced(reading.title or next(titles, PurePosixPath(name).stem))[:300],
        media_type=reading.media_type or form.media_type,
        reader=f"{form.name}/3",
    )
