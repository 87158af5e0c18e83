"""The reader of PDF: text by pages and lines, headings by the file's outline or by size.

Line ends, running heads and hyphens are of the page and not of the text: they go. Where a file has
bookmarks they are its headings and no guess overrules them; a citation has its page in any case.
Hidden text, text of no size and text outside the page is dropped and counted.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from statistics import median
from typing import Any, Final, NamedTuple

from .blocks import (
    MAX_PAGES,
    FileBlock,
    FileBlockKind,
    FileReading,
    count_words,
    extra_module,
    refusal,
    single_spaced,
)
from .records import DocumentProblem

_LARGER: Final = 1.15
"""How much larger than the body a line is that is taken for a heading."""
_LONGEST: Final = 100
_BOLD: Final = 600
_LEADERS: Final = re.compile(r"(?:\.\s*){3,}\s*\d+\s*$")
_PARTED: Final = re.compile("(\\w+)(\ufffe|[-\u2010]\n)(?=(\\w+))")
"""A hyphen at a line's end, or where PDFium has joined two lines at one."""
_ODD: Final = str.maketrans({"\u00ad": None, "\x02": "\ufffe", "\0": None, "\ufeff": None})
_NUMBER: Final = re.compile(r"\d+")
_LIGATURE: Final = re.compile("[\ufb00-\ufb06]")
_INVISIBLE: Final = 3
"""The rendering mode of text that is not painted, as below the picture of a scan."""


class _Line(NamedTuple):
    text: str
    page: int
    size: float
    is_bold: bool
    bottom: float
    is_painted: bool


def read_pdf(data: bytes, name: str, password: str | None = None) -> FileReading:
    """The blocks of a PDF file.

    Raises:
        InvalidInput: `encrypted`, `bad_document`, `no_text`, `too_large`.
        Unavailable: `documents_extra_missing`.
    """
    pdfium: Any = extra_module("pypdfium2")
    # PDFium mends a file that ends early, by taking what it finds.
    if b"%PDF-" not in data[:1_024] or b"%%EOF" not in data[-2_048:]:
        raise refusal("bad_document", f"{name} is no PDF, or it ends early")
    try:
        with closing(pdfium.PdfDocument(data, password=password)) as document:
            return _read(pdfium, document, name)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower():
            raise refusal("encrypted", f"{name} is encrypted; state its password") from error
        raise refusal("bad_document", f"{name} cannot be read as PDF: {error}") from error


def _read(pdfium: Any, document: Any, name: str) -> FileReading:
    count = len(document)
    if count > MAX_PAGES:
        raise refusal("too_large", f"{name} has {count} pages, at most {MAX_PAGES} are taken")
    pages: list[list[_Line]] = []
    drops: Counter[str] = Counter()
    problems: list[DocumentProblem] = []
    for number in range(1, count + 1):
        page = document[number - 1]
        lines = _shown(list(_lines(pdfium, page, number)), drops)
        page.close()
        pages.append(lines)
        if not lines:
            message = f"page {number} has no text: a scan must be recognised first"
            problems.append(DocumentProblem(code="no_text", message=message, page=number))

    body = median([line.size for lines in pages for line in lines] or [0.0])
    blocks = tuple(_blocks(_without_running(pages, body, drops), _bookmarks(document), body))
    title = _clean(document.get_metadata_dict().get("Title", "")).strip()
    return FileReading(blocks, title, dropped=dict(drops), problems=tuple(problems))


def _lines(pdfium: Any, page: Any, number: int) -> Iterator[_Line]:
    """The lines of a page, each as large and as bold as both of its outermost letters.

    The number or mark of a list item may be larger than its words.
    """
    raw = pdfium.raw
    text_page = page.get_textpage()
    left, bottom, right, top = page.get_bbox()
    text = text_page.get_text_range()
    start = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        letters = [place for place, char in enumerate(line, start) if char.isalpha()]
        edges = (letters[0], letters[-1]) if letters else (start + line.find(bare[:1]),)
        start += len(line)
        if not bare:
            continue
        indices: list[int] = []
        for place in edges:
            char_index = raw.FPDFText_GetCharIndexFromTextIndex(text_page, place)
            indices.append(place if char_index < 0 else char_index)
        index = indices[0]
        box, is_painted = (0.0, 0.0, 0.0, 0.0), True
        with suppress(pdfium.PdfiumError):
            box = text_page.get_charbox(index)
            item = raw.FPDFText_GetTextObject(text_page, index)
            is_painted = not item or raw.FPDFTextObj_GetTextRenderMode(item) != _INVISIBLE

        is_outside = box[2] < left or box[0] > right or box[3] < bottom or box[1] > top
        is_bold = min(raw.FPDFText_GetFontWeight(text_page, i) for i in indices) >= _BOLD
        # The size of the font is that before the page scales it: the box says what is seen.
        size = min(raw.FPDFText_GetFontSize(text_page, i) for i in indices)
        height = box[3] - box[1]
        size = size if size > 1 and height > 0.1 else 1.4 * height
        size = 0.0 if is_outside else size
        yield _Line(_clean(bare), number, size, is_bold, box[1], is_painted)

    text_page.close()


def _shown(lines: Sequence[_Line], drops: Counter[str]) -> list[_Line]:
    """The lines of a page that a reader sees; all of them where a scan has its text below it."""
    is_scan = not any(line.is_painted for line in lines)
    shown: list[_Line] = []
    for line in lines:
        if line.size >= 1 and (line.is_painted or is_scan):
            shown.append(line)
        else:
            drops["hidden_text"] += count_words(line.text)

    return shown


def _without_running(pages: Sequence[list[_Line]], body: float, drops: Counter[str]) -> list[_Line]:
    """The lines without heads and feet: a first or last line that half of the pages have."""

    def key(line: _Line) -> str:
        # A larger line may be the heading of its page, which differs by its number.
        return line.text if line.size >= _LARGER * body else _NUMBER.sub("#", line.text.casefold())

    counts: Counter[str] = Counter()
    for lines in pages:
        counts.update({key(line) for line in (*lines[:2], *lines[-2:])})
    body_lines: list[_Line] = []
    for lines in pages:
        for place, line in enumerate(lines):
            is_edge = place < 2 or place >= len(lines) - 2
            # On two pages it may be a sentence that is said twice.
            count = counts[key(line)]
            if is_edge and count > 2 and 2 * count > len(pages):
                drops["running_head"] += count_words(line.text)
            else:
                body_lines.append(line)

    return body_lines


def _bookmarks(document: Any) -> dict[int, dict[str, int]] | None:
    """The levels of the titles of each page's bookmarks; None for a file without any."""
    marks: dict[int, dict[str, int]] = {}
    for mark in document.get_toc():
        target = mark.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            marks.setdefault(page + 1, {})[_title_key(mark.get_title())] = mark.level + 1

    for titles in marks.values():
        titles.pop("", None)

    return marks or None


def _title_key(text: str) -> str:
    return re.sub(r"[\W\d]+", "", text.casefold())


def _blocks(
    lines: Sequence[_Line], marks: dict[int, dict[str, int]] | None, body: float
) -> Iterator[FileBlock]:
    """Headings and paragraphs: lines of one style that no gap parts, over a page's end too."""
    words = {word for line in lines for word in re.findall(r"\w+", line.text)}
    group: list[_Line] = []
    style = 0
    for line in (*lines, None):
        line_style = _style(line, marks, body) if line else 0
        if group and (line is None or line_style != style or _is_apart(group[-1], line)):
            text = _text(group, words)
            level = _level(group, text, marks, style)
            kind = FileBlockKind.HEADING if level else FileBlockKind.PROSE
            yield FileBlock(text, kind, level, group[0].page)
            group = []
        if line is not None:
            group.append(line)
            style = line_style


def _style(line: _Line, marks: dict[int, dict[str, int]] | None, body: float) -> int:
    """The level that a line would have as a heading by itself; 0 for none."""
    if marks is not None:
        return marks.get(line.page, {}).get(_title_key(line.text), 0)
    if line.size >= _LARGER * body:
        return 1 if line.size >= 1.6 * body else 2
    return 3 if line.is_bold else 0


def _is_apart(before: _Line, line: _Line) -> bool:
    if before.page != line.page:
        # A sentence, or a word of it, goes on over the page's end.
        is_open = before.text[-1:].isalpha() or _PARTED.search(f"{before.text}\n{line.text}")
        return not (is_open and line.text[:1].islower())
    height = max(before.size, line.size, 1.0)
    # From baseline to baseline: a line begins with a tall letter or with a low one.
    step = before.bottom - line.bottom
    return step > 1.5 * height or step < -height or abs(before.size - line.size) > 1


def _level(
    group: Sequence[_Line], text: str, marks: dict[int, dict[str, int]] | None, style: int
) -> int:
    """The level of some lines of one style as a heading; 0 for none."""
    if len(text) > _LONGEST:
        return 0
    if marks is not None:
        return marks.get(group[0].page, {}).get(_title_key(text), 0)
    if not any(map(str.isalpha, text)) or _LEADERS.search(text):
        return 0
    # Two bold lines may be a paragraph.
    is_prose = style == 3 and (len(group) > 1 or text.endswith((".", ",", ";")))
    return 0 if is_prose else style


def _text(group: Sequence[_Line], words: set[str]) -> str:
    """The words of some lines; one that was parted is whole where the document has it so."""
    text = _PARTED.sub(
        lambda match: match[1] + ("" if match[1] + match[3] in words else match[2]),
        "\n".join(line.text for line in group),
    )
    return single_spaced(text.replace("\ufffe", "-"))


def _clean(text: str) -> str:
    """A text without ligatures and the marks of PDFium."""
    return _LIGATURE.sub(lambda m: unicodedata.normalize("NFKC", m[0]), text.translate(_ODD))
