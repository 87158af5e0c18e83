"""The reader of mail: a message, a mailbox of several, or a page that a browser saved (MHTML)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from pathlib import PurePosixPath
from typing import Any, Final, cast

from ...schema.errors import InvalidInput, TenureError
from .blocks import FileBlock, FileBlockKind, FileReading, count_words, refusal, single_spaced
from .html_reader import read_html
from .text_reader import decode, read_text

_FIELDS: Final = ("From", "To", "Cc", "Date")
_START: Final = re.compile(rb"(?:\A|\n\r?\n)From [^\r\n]*\r?\n(?=[!-9;-~]+:)")
"""Between two messages of a mailbox; a body may have a line that begins like it."""
_FULLER: Final = 3
"""How many times the words of the plain form make the HTML form the message."""
_MARKUP: Final = re.compile(r"<(?:style|script)\b[^<]*</|<[^<>]*>", re.IGNORECASE)


class _EightBits(policy.EmailPolicy):
    """Headers with bytes of no stated encoding: UTF-8, else the one that old programs send."""

    def header_fetch_parse(self, name: str, value: str) -> Any:
        """The field of a header as its words."""
        raw = value.encode("utf-8", "surrogateescape")
        charset = "utf-8" if raw == raw.decode("utf-8", "ignore").encode() else "cp1252"
        return super().header_fetch_parse(name, raw.decode(charset, "replace"))


def read_mail(data: bytes, name: str, encoding: str | None = None) -> FileReading:
    """The blocks of one or several messages, each below its subject.

    `encoding` is that of bodies that state none, or a wrong one.

    Raises:
        InvalidInput: `bad_document`, `invalid_encoding`, and what the reader of a body refuses.
    """
    is_box = data.startswith(b"From ")
    blocks: list[FileBlock] = []
    drops: Counter[str] = Counter()
    dates: list[str] = []
    for part in filter(bytes.strip, _START.split(data) if is_box else [data]):
        message = cast("EmailMessage", message_from_bytes(part, policy=_EightBits()))
        if not message.keys():
            raise refusal("bad_document", f"{name} is no mail: it has no header")
        try:
            blocks += _message_blocks(message, name, drops, 1, encoding)
            date = message["Date"].datetime if message["Date"] else None
        except TenureError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise refusal("bad_document", f"{name} cannot be read as mail: {error}") from error
        if date is not None:
            dates.append((date if date.tzinfo else date.replace(tzinfo=UTC)).isoformat())

    if any("\0" in block.text for block in blocks):
        raise refusal("invalid_encoding", f"{name} holds NUL characters")
    # A page that was saved has the date of its saving, which is none of its own.
    is_page = PurePosixPath(name).suffix.lower() in (".mht", ".mhtml")
    sent = "" if is_page else max(dates, key=datetime.fromisoformat, default="")
    return FileReading(tuple(blocks), dropped=dict(+drops), sent=sent)


def _message_blocks(
    message: EmailMessage, name: str, drops: Counter[str], level: int, encoding: str | None
) -> Iterator[FileBlock]:
    subject = single_spaced(message["Subject"]) or "(no subject)"
    fields = [f"{field}: {single_spaced(message[field])}" for field in _FIELDS if message[field]]
    yield FileBlock(subject, FileBlockKind.HEADING, level)
    yield FileBlock("\n".join(fields))
    yield from _part_blocks(message, name, drops, level, encoding)


def _part_blocks(
    part: EmailMessage, name: str, drops: Counter[str], level: int, encoding: str | None
) -> Iterator[FileBlock]:
    """What a mail program shows below the header: alternatives once, attachments by name alone."""
    kind = part.get_content_type()
    is_message = kind == "message/rfc822"
    if not is_message and (part.is_attachment() or part.get_filename()):
        drops["attachment"] += max(1, count_words(part.get_filename() or ""))
    elif kind in ("multipart/alternative", "multipart/related"):
        body, rich = part.get_body(("plain", "html")), part.get_body(("html",))
        # A plain form may have no words, or say only that the message is in the other one.
        if (
            body is not None
            and rich is not None
            and _FULLER * _word_count(body) < _word_count(rich)
        ):
            body = rich
        drops["attachment"] += len(list(part.iter_attachments())) + (body is None)
        if body is not None:
            yield from _part_blocks(cast("EmailMessage", body), name, drops, level, encoding)
    elif part.is_multipart():
        blocks_in = _message_blocks if is_message else _part_blocks
        for inner in part.iter_parts():
            message = cast("EmailMessage", inner)
            yield from blocks_in(message, name, drops, level + is_message, encoding)
    elif part.get_content_maintype() != "text":
        drops["attachment"] += 1
    else:
        try:
            text = decode(_payload(part), name, part.get_content_charset("us-ascii"))
        except InvalidInput:
            # Many programs send eight bits without a word about their encoding, or a wrong one.
            text = decode(_payload(part), name, encoding)
        read = read_html if kind == "text/html" and text.strip() else read_text
        reading = read(text, name)
        drops.update(reading.dropped)
        yield from reading.blocks


def _word_count(part: MIMEPart) -> int:
    return count_words(_MARKUP.sub(" ", _payload(part).decode("latin-1")))


def _payload(part: EmailMessage | MIMEPart) -> bytes:
    return cast("bytes | None", part.get_payload(decode=True)) or b""
