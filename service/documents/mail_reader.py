"""The reader of mail: a message, a mailbox of several, or a page that a browser saved (MHTML)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from pathlib import PurePosixPath
from typing import Final, cast

from ...schema.errors import TenureError
from .blocks import FileBlock, FileBlockKind, FileReading, count_words, refusal, single_spaced
from .html_reader import read_html
from .text_reader import decode, read_text

_FIELDS: Final = ("From", "To", "Cc", "Date")
_START: Final = re.compile(rb"(?:\A|\n\r?\n)From [^\r\n]*\r?\n(?=[!-9;-~]+:)")
"""Between two messages of a mailbox; a body may have a line that begins like it."""


def read_mail(data: bytes, name: str) -> FileReading:
    """The blocks of one or several messages, each below its subject.

    Raises:
        InvalidInput: `bad_document`, `invalid_encoding`, and what the reader of a body refuses.
    """
    is_box = data.startswith(b"From ")
    blocks: list[FileBlock] = []
    drops: Counter[str] = Counter()
    dates: list[str] = []
    for part in filter(bytes.strip, _START.split(data) if is_box else [data]):
        message = message_from_bytes(part, policy=policy.default)
        if not message.keys():
            raise refusal("bad_document", f"{name} is no mail: it has no header")
        try:
            blocks += _message_blocks(message, name, drops, level=1)
            date = message["Date"].datetime if message["Date"] else None
        except TenureError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            code = "invalid_encoding" if isinstance(error, LookupError) else "bad_document"
            raise refusal(code, f"{name} cannot be read as mail: {error}") from error
        if date is not None:
            dates.append((date if date.tzinfo else date.replace(tzinfo=UTC)).isoformat())

    if any("\0" in block.text for block in blocks):
        raise refusal("invalid_encoding", f"{name} holds NUL characters")
    # A page that was saved has the date of its saving, which is none of its own.
    is_page = PurePosixPath(name).suffix.lower() in (".mht", ".mhtml")
    sent = "" if is_page else max(dates, key=datetime.fromisoformat, default="")
    return FileReading(tuple(blocks), dropped=dict(+drops), sent=sent)


def _message_blocks(
    message: EmailMessage, name: str, drops: Counter[str], level: int
) -> Iterator[FileBlock]:
    subject = single_spaced(message["Subject"]) or "(no subject)"
    fields = [f"{field}: {single_spaced(message[field])}" for field in _FIELDS if message[field]]
    yield FileBlock(subject, FileBlockKind.HEADING, level)
    yield FileBlock("\n".join(fields))
    yield from _part_blocks(message, name, drops, level)


def _part_blocks(
    part: EmailMessage, name: str, drops: Counter[str], level: int
) -> Iterator[FileBlock]:
    """What a mail program shows below the header: alternatives once, attachments by name alone."""
    kind = part.get_content_type()
    is_message = kind == "message/rfc822"
    if not is_message and (part.is_attachment() or part.get_filename()):
        drops["attachment"] += max(1, count_words(part.get_filename() or ""))
    elif kind in ("multipart/alternative", "multipart/related"):
        body = part.get_body(("plain", "html"))
        if body is not None and not _payload(body).strip():
            # If the plain form has no words, the message is in the HTML form.
            body = part.get_body(("html", "plain"))
        drops["attachment"] += len(list(part.iter_attachments())) + (body is None)
        if body is not None:
            yield from _part_blocks(cast("EmailMessage", body), name, drops, level)
    elif part.is_multipart():
        blocks_in = _message_blocks if is_message else _part_blocks
        for inner in part.iter_parts():
            yield from blocks_in(cast("EmailMessage", inner), name, drops, level + is_message)
    elif part.get_content_maintype() != "text":
        drops["attachment"] += 1
    else:
        if part.get_content_charset("us-ascii") == "us-ascii":
            # Many programs send eight bits without a word about their encoding.
            text = decode(_payload(part), name, None)
        else:
            text = str(part.get_content()).replace("\r\n", "\n")
        read = read_html if kind == "text/html" and text.strip() else read_text
        reading = read(text, name)
        drops.update(reading.dropped)
        yield from reading.blocks


def _payload(part: EmailMessage | MIMEPart) -> bytes:
    return cast("bytes | None", part.get_payload(decode=True)) or b""
