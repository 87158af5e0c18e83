"""The reader of mail: a message, a mailbox of several, or a page that a browser saved (MHTML)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import PurePosixPath
from typing import Final

from .blocks import FileBlock, FileBlockKind, FileReading, count_words, refusal, single_spaced
from .html_reader import read_html
from .text_reader import read_text

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
        try:
            message = message_from_bytes(part, policy=policy.default)
            assert isinstance(message, EmailMessage)
            subject = single_spaced(message["Subject"])
            fields = [
                f"{field}: {single_spaced(message[field])}" for field in _FIELDS if message[field]
            ]
            date = message["Date"].datetime if message["Date"] else None
            body = message.get_body(preferencelist=("plain", "html"))
            text = str(body.get_content()) if isinstance(body, EmailMessage) else ""
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            code = "invalid_encoding" if isinstance(error, LookupError) else "bad_document"
            raise refusal(code, f"{name} cannot be read as mail: {error}") from error

        if any("\0" in words for words in (subject, *fields, text)):
            raise refusal("invalid_encoding", f"{name} holds NUL characters")
        if not fields and not subject:
            raise refusal("bad_document", f"{name} is no mail: it has no header")
        if date is not None:
            dates.append((date if date.tzinfo else date.replace(tzinfo=UTC)).isoformat())
        is_html = body is not None and body.get_content_type() == "text/html"
        read = read_html if is_html and text.strip() else read_text
        reading = read(text.replace("\r\n", "\n"), name)
        drops.update(reading.dropped)
        for attachment in message.iter_attachments():
            drops["attachment"] += max(1, count_words(attachment.get_filename() or ""))

        blocks.append(FileBlock(subject or "(no subject)", FileBlockKind.HEADING, 1))
        blocks += [FileBlock("\n".join(fields)), *reading.blocks]

    # A page that was saved has the date of its saving, which is none of its own.
    is_page = PurePosixPath(name).suffix.lower() in (".mht", ".mhtml")
    sent = "" if is_page else max(dates, key=datetime.fromisoformat, default="")
    return FileReading(tuple(blocks), dropped=dict(drops), sent=sent)
