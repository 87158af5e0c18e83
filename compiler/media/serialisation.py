"""Records as text, in the five forms that are weighed, and the choice between them.

The same table costs up to two and a half times as much in one form as in another, and the
cheapest ones are read less surely. The choice counts the real text with the model's own counter;
the relative costs of the source are only the order in which ties fall. The cost that is counted
is that of the assembled text, never a sum of parts. Checklist C-191.

Keys keep the order of their first appearance, so equal records give equal bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
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
class Serialised:
    """Records in the form that was chosen."""

    form: Form
    text: str
    tokens: int
    """The counter's upper bound of the text."""
    considered: tuple[tuple[Form, int], ...]
    """Every form that was allowed, with its tokens."""


def serialise(records: Sequence[Record], form: Form) -> str:
    """The records as text.

    Raises:
        InvalidInput: `bad_media`, for a value that JSON cannot hold.
    """
    if form in (Form.PRETTY_JSON, Form.MINIFIED_JSON):
        return _json(list(map(dict, records)), pretty=form is Form.PRETTY_JSON)

    columns = list(dict.fromkeys(key for record in records for key in record))
    rows = [[_cell(record.get(column, "")) for column in columns] for record in records]
    if form is Form.MARKDOWN:
        return _markdown(columns, rows)
    if form is Form.CSV:
        return "\n".join(",".join(map(_csv_field, row)) for row in (columns, *rows))

    return _compact(columns, rows)


def choose_form(
    records: Sequence[Record],
    counter: TokenCounter,
    *,
    least_accuracy: ParseAccuracy = ParseAccuracy.HIGH,
) -> Serialised:
    """The records in the cheapest form that is read surely enough.

    Raises:
        InvalidInput: `bad_media`, for a value that JSON cannot hold.
    """
    allowed = [form for form in Form if TRAITS[form].accuracy >= least_accuracy]
    texts = {form: serialise(records, form) for form in allowed}
    tokens = {form: counter.upper_bound(text) for form, text in texts.items()}
    best = min(
        allowed,
        key=lambda form: (tokens[form], -TRAITS[form].accuracy, TRAITS[form].cost_permille),
    )
    considered = tuple((form, tokens[form]) for form in allowed)
    return Serialised(best, texts[best], tokens[best], considered)


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
    return "\n".join("| " + " | ".join(map(_escaped, line)) + " |" for line in lines)


def _compact(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write what all rows share once, behind its column's name, and a cell as above as `"`."""
    shared = [len(rows) > 1 and len(set(column)) == 1 for column in zip(*rows, strict=True)]
    names = [_escaped(name).replace("=", "\\=") for name in columns]
    told = zip(names, rows[0], shared, strict=True) if rows else ()
    head = [f"{name}={_escaped(cell)}" if same else name for name, cell, same in told]
    lines = ["|".join(head)]
    above: Sequence[str] = ()

    for row in rows:
        cells = (
            _DITTO if above and cell == above[place] and len(cell) > 1 else _marked(cell)
            for place, cell in enumerate(row)
            if not shared[place]
        )
        lines.append("|".join(cells))
        above = row

    return "\n".join(lines)


def _marked(cell: str) -> str:
    return "\\" + cell if cell == _DITTO else _escaped(cell)


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("|", "\\|")
    return text.replace("\r", "\\r").replace("\n", "\\n")


def _csv_field(text: str) -> str:
    if any(mark in text for mark in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text
