"""Files that the tests make: PDF, DOCX and mail, whole, damaged and encrypted."""

import hashlib
import io
import zipfile
from collections.abc import Sequence
from typing import NamedTuple

_PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


class Shown(NamedTuple):
    """A line on a page of a PDF."""

    text: str
    size: int = 11
    gap: int = 0
    """Points above it beside the usual ones."""
    mode: int = 0
    x: int = 72


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) & 255
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) & 255
        j = (j + state[i]) & 255
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) & 255])
    return bytes(out)


def pdf(
    pages: Sequence[Sequence[Shown | str]],
    *,
    bookmarks: Sequence[tuple[str, int]] = (),
    password: str | None = None,
    title: str = "",
) -> bytes:
    """A PDF file; pages count from 1 in bookmarks."""
    objects: list[bytes] = []
    key, encryption = b"", b""
    identity = b"0123456789abcdef"
    if password is not None:
        padded = (password.encode() + _PAD)[:32]
        owner = _rc4(hashlib.md5(padded).digest()[:5], padded)
        permissions = (-4).to_bytes(4, "little", signed=True)
        key = hashlib.md5(padded + owner + permissions + identity).digest()[:5]
        user = _rc4(key, _PAD)
        encryption = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (
            owner.hex().encode(),
            user.hex().encode(),
        )

    def add(body: bytes) -> int:
        objects.append(body)
        return len(objects)

    def stream(content: bytes, number: int) -> bytes:
        if key:
            salt = number.to_bytes(3, "little") + b"\0\0"
            content = _rc4(hashlib.md5(key + salt).digest()[:10], content)
        return b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)

    add(b"<< /Type /Catalog /Pages 2 0 R%s >>" % (b" /Outlines 4 0 R" if bookmarks else b""))
    first_page = 5 + len(bookmarks)
    numbers = [first_page + 2 * place for place in range(len(pages))]
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    add(b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)))
    add(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
    last = 4 + len(bookmarks)
    add(b"<< /Type /Outlines /First 5 0 R /Last %d 0 R /Count %d >>" % (last, len(bookmarks)))
    for place, (words, page) in enumerate(bookmarks):
        links = b" /Next %d 0 R" % (6 + place) if place + 1 < len(bookmarks) else b""
        links += b" /Prev %d 0 R" % (4 + place) if place else b""
        add(
            b"<< /Title (%s) /Parent 4 0 R /Dest [%d 0 R /Fit]%s >>"
            % (words.encode("latin-1"), numbers[page - 1], links)
        )
    for place, lines in enumerate(pages):
        add(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (numbers[place] + 1)
        )
        content, y = [], 740
        for line in lines:
            line = Shown(line) if isinstance(line, str) else line
            y -= round(1.2 * line.size) + line.gap
            words = line.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            content.append(
                b"BT /F1 %d Tf %d Tr %d %d Td (%s) Tj ET"
                % (line.size, line.mode, line.x, y, words.encode("cp1252"))
            )
        add(stream(b"\n".join(content), numbers[place] + 1))
    trailer = b"/Root 1 0 R /ID [<%s> <%s>]" % ((identity.hex().encode(),) * 2)
    if encryption:
        trailer += b" /Encrypt %d 0 R" % add(encryption)
    if title:
        trailer += b" /Info %d 0 R" % add(b"<< /Title (%s) >>" % title.encode("latin-1"))

    out = io.BytesIO(b"%PDF-1.4\n")
    out.seek(0, 2)
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for offset in offsets:
        out.write(b"%010d 00000 n \n" % offset)
    out.write(b"trailer << /Size %d %s >>\n" % (len(objects) + 1, trailer))
    out.write(b"startxref\n%d\n%%%%EOF\n" % start)
    return out.getvalue()


WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Target="word/document.xml" Type="http://schemas.openxmlformats.org/'
    'officeDocument/2006/relationships/officeDocument"/></Relationships>'
)


def docx(paragraphs: Sequence[tuple[str, str]], *, before: str = "", extra: bytes = b"") -> bytes:
    """A DOCX file of (style, text); `before` stands before its root."""
    parts = []
    for style, text in paragraphs:
        name = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        parts.append(f"<w:p>{name}<w:r><w:t>{text}</w:t></w:r></w:p>")
    body = f'{before}<w:document xmlns:w="{WORD}"><w:body>{"".join(parts)}</w:body></w:document>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELATIONS)
        archive.writestr("word/document.xml", body)
        if extra:
            archive.writestr("word/media/big.bin", extra)
    return out.getvalue()


MAIL = (
    b"From: Ana <ana@example.org>\r\nTo: Bo <bo@example.org>\r\n"
    b"Date: Mon, 01 Jun 2026 09:00:00 +0200\r\nSubject: Parental leave\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n\r\n"
    b"Parental leave is 20 weeks.\r\n\r\nRegards, Ana\r\n"
)
