"""What a file is, and a table's rows: CSV or TSV, JSON, or JSON Lines.

The size of a picture and the length of a recording are read by `compiler.media.measures`; what a
file does not tell is not guessed, and the compile counts it as one of ordinary size.
Source 000, 6.12; checklist C-188 to C-191.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any, Final, cast

from ...compiler.request.request import MAX_ITEMS, MediaKind
from ...schema.documents import json_of
from ...schema.errors import InvalidInput

_KINDS: Final = {"image": MediaKind.IMAGE, "audio": MediaKind.AUDIO, "video": MediaKind.VIDEO}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)


def kind_of_file(media_type: str) -> MediaKind | None:
    """Return what a file of a media type is; None for what is text, or nothing we know."""
    return _KINDS.get(media_type.partition("/")[0])


def records_of(text: str, *, name: str, media_type: str) -> list[Mapping[str, Any]]:
    """Return the rows of a table; numbers of a CSV file are read as numbers.

    Raises:
        InvalidInput: `bad_request`, for a text that is no table; `too_large`.
    """
    try:
        rows = _rows(text, name=name, media_type=media_type)
    except (ValueError, csv.Error) as error:
        raise _no_table(str(error)) from error

    if not rows or not all(isinstance(row, dict) for row in rows):
        raise _no_table("it has no rows with named columns")

    if len(rows) > MAX_ITEMS:
        raise InvalidInput(
            f"the table has {len(rows)} rows, the limit is {MAX_ITEMS}; filter it first",
            code="too_large",
        )

    return cast("list[Mapping[str, Any]]", rows)


def _no_table(problem: str) -> InvalidInput:
    return InvalidInput(
        f"the artifact is no table ({problem}): give CSV, a JSON list of objects or JSON Lines, or "
        "leave out its kind to send it as text",
        code="bad_request",
    )


def _rows(text: str, *, name: str, media_type: str) -> list[object]:
    # The content tells, not the name: a download of a table is often called `.txt`.
    if text.lstrip().startswith("["):
        return cast("list[object]", json_of(text, "the text", code="bad_request"))
    if text.lstrip().startswith("{"):
        lines = filter(str.strip, text.splitlines())
        return [json_of(line, "a line", code="bad_request") for line in lines]

    tabs = media_type == "text/tab-separated-values" or name.endswith(".tsv")
    read = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if tabs else ",")
    # Any text is a table of one column to a reader of CSV.
    if len(read.fieldnames or ()) < 2 and "," not in text and "\t" not in text:
        raise ValueError("one column and no separator")

    rows: list[object] = []
    for row in read:
        rows.append({str(k): _cell(v) for k, v in row.items()})
    return rows


def _cell(value: object) -> object:
    """Return a cell as a number where it is written as one, so that leading zeros stay."""
    if not isinstance(value, str):
        return value
    if not _NUMBER.fullmatch(value):
        return value

    return float(value) if "." in value else int(value)
