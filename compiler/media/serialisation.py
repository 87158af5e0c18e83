"""Records as text in five forms, and the choice of the cheapest one that is read well.

The same table costs up to two and a half times as much in one form as in another, and models read
the cheapest ones less reliably. The choice counts the assembled text with the model's own counter,
never a sum of parts; the relative costs of the source only break ties. Keys keep the order of their
first appearance, so equal records give equal bytes. Checklist C-191.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from io import StringIO
from itertools import chain
from types import MappingProxyType
from typing import Final

from ...schema.errors import InvalidInput
from ..tokens.counting import TokenCounter

Record = Mapping[str, object]
_DITTO: Final = '"'
"""In the compact form: the same as in the row above, as in a table by hand."""


class Form(StrEnum):
    """A way to write records."""

    PRETTY_JSON = "pretty_json"
    MINIFIED_JSON = "minified_json"
    MARKDOWN = "markdown"
    CSV = "csv"
    COMPACT = "compact"


class ParseAccuracy(IntEnum):
    """How surely models read a form."""

    MODEL_DEPENDENT = 1
    MODERATE = 2
    HIGH = 3


@dataclass(frozen=True, slots=True)
class FormTraits:
    """What the source says about a form."""

    cost_permille: int
    """Relative to pretty JSON."""
    accuracy: ParseAccuracy


TRAITS: Final[Mapping[Form, FormTraits]] = MappingProxyType(
    {
        Form.PRETTY_JSON: FormTraits(1000, ParseAccuracy.HIGH),
        Form.MINIFIED_JSON: FormTraits(600, ParseAccuracy.HIGH),
        Form.MARKDOWN: FormTraits(700, ParseAccuracy.MODERATE),
        Form.CSV: FormTraits(500, ParseAccuracy.MODERATE),
        Form.COMPACT: FormTraits(400, ParseAccuracy.MODEL_DEPENDENT),
    }
)


@dataclass(frozen=True, slots=True)
class SerialisedTable:
    """Records in the form that was chosen."""

    form: Form
    text: str
    tokens: int
    """The counter's upper bound of the text."""
    costs: tuple[tuple[Form, int], ...]
    """Every form that was allowed, with its tokens."""


def serialise(records: Sequence[Record], form: Form) -> str:
    """The records as text.

    Raises:
        InvalidInput: `bad_media`, for a value that JSON cannot hold.
    """
    if form in (Form.PRETTY_JSON, Form.MINIFIED_JSON):
        return _json(list(map(dict, records)), pretty=form is Form.PRETTY_JSON)

    # Records may differ in their fields: the columns are all of them, as they first appear.
    columns = list(dict.fromkeys(chain.from_iterable(records)))
    rows: list[list[str]] = []
    for record in records:
        rows.append([_cell(record.get(column, "")) for column in columns])

    if form is Form.MARKDOWN:
        return _markdown(columns, rows)
    if form is Form.CSV:
        text = StringIO()
        csv.writer(text, lineterminator="\n").writerows((columns, *rows))
        return text.getvalue().removesuffix("\n")

    return _compact(columns, rows)


def choose_form(
    records: Sequence[Record],
    counter: TokenCounter,
    *,
    least_accuracy: ParseAccuracy = ParseAccuracy.HIGH,
) -> SerialisedTable:
    """The records in the cheapest form that is read surely enough.

    Raises:
        InvalidInput: `bad_media`, for a value that JSON cannot hold.
    """
    texts: dict[Form, str] = {}
    tokens: dict[Form, int] = {}
    for form in Form:
        if TRAITS[form].accuracy >= least_accuracy:
            texts[form] = serialise(records, form)
            tokens[form] = counter.upper_bound(texts[form])

    # Fewest tokens first; of equals what models read more surely, then what costs them less.
    def rank(form: Form) -> tuple[int, int, int]:
        return tokens[form], -TRAITS[form].accuracy, TRAITS[form].cost_permille

    best = min(tokens, key=rank)
    return SerialisedTable(best, texts[best], tokens[best], tuple(tokens.items()))


def _json(value: object, *, pretty: bool = False) -> str:
    try:
        return json.dumps(
            value,
            ensure_ascii=False,
            allow_nan=False,
            indent=2 if pretty else None,
            separators=None if pretty else (",", ":"),
        )
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"a record cannot be written as JSON: {error}", code="bad_media"
        ) from error


def _cell(value: object) -> str:
    return value if isinstance(value, str) else _json(value)


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(map(_markdown_line, lines))


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escape_cell, cells)) + " |"


def _compact(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write what all rows share once, behind its column's name, and a cell as above as `"`."""
    heads: list[str] = []
    varying: list[int] = []
    for number, cells in enumerate(zip(*rows, strict=True)):
        head = _escape_cell(columns[number]).replace("=", "\\=")
        if len(rows) > 1 and len(set(cells)) == 1:
            head += f"={_escape_cell(cells[0])}"
        else:
            varying.append(number)
        heads.append(head)

    lines = ["|".join(heads)]
    previous: Sequence[str] = ()
    for row in rows:
        line: list[str] = []
        for number in varying:
            # A mark in place of one character would save nothing.
            repeats = previous and len(row[number]) > 1 and row[number] == previous[number]
            line.append(_DITTO if repeats else _compact_cell(row[number]))

        lines.append("|".join(line))
        previous = row

    return "\n".join(lines)


def _compact_cell(cell: str) -> str:
    return "\\" + cell if cell == _DITTO else _escape_cell(cell)


def _escape_cell(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("\r", "\\r").replace("\n", "\\n")
