"""Lines that an import does not take: all of them sentences at once, kept in a file, tried again.

A refusal has the number of its line, the field it is about, a code and what to do. The rejects
file holds each line as it stood, so that it can be mended there and tried again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...compiler.safety.credentials import find_credentials, masked_credentials
from ...schema.errors import InvalidInput, TenureError, Unavailable
from ...schema.records import short_repr
from ...store.transfer.whole_file import whole_file
from .csv_mapping import read_mapping
from .lines import STDIN, Line, at_line, json_object, mapped_rows, opened

REJECTS: Final = ".rejects.jsonl"
"""How the name of a file of refused lines ends."""
MOST_TOLD: Final = 100
"""Refusals that a check keeps; those beyond are counted."""
_MOST_IN_MESSAGE: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedLine:
    """A line that was not taken."""

    __repr__ = short_repr

    line: int
    code: str
    reason: str
    """What is wrong, and what to do about it."""
    text: str
    """The line as it stood; empty when it held a secret."""
    field: str = ""
    """The field that the refusal is about, where it is about one."""

    @property
    def sentence(self) -> str:
        """The refusal as a person reads it, with its code."""
        return f"line {self.line}: {self.reason} [{self.code}]"

    @property
    def plain(self) -> dict[str, Any]:
        """The refusal as a program reads it, without the line itself."""
        return {"line": self.line, "field": self.field, "code": self.code, "reason": self.reason}


def refused_line(error: TenureError, line: Line, reason: str | None = None) -> RefusedLine:
    """What is kept of a line that was refused."""
    # The rejects are a file of plain text: a secret must not get there, whatever was refused first.
    has_secret = error.code == "secret_in_content" or bool(find_credentials(line.text))
    return RefusedLine(
        line=line.number,
        code=error.code,
        reason=masked_credentials(reason or str(error))[0],
        text="" if has_secret else line.text,
        field=str(error.data.get("field", error.data.get("what", ""))),
    )


@dataclass(slots=True)
class Refusals:
    """The refusals of one look through a file."""

    lines: list[RefusedLine] = field(default_factory=list[RefusedLine])
    """The first of them."""
    total: int = 0
    _first: TenureError | None = None
    _kinds: set[type[TenureError]] = field(default_factory=set[type[TenureError]])

    def add(self, error: TenureError, line: Line) -> None:
        """Note the refusal of a line."""
        if self._first is None:
            self._first = at_line(error, line.number)
        if self.total < MOST_TOLD:
            self.lines.append(refused_line(error, line))
        self.total += 1
        self._kinds.add(type(error))

    def error(self) -> TenureError | None:
        """The error of a file with these refusals; None when there are none.

        One refused line is its own error. Several are one error, `rejected_lines`, of their common
        kind; its data has the first of them, and how many there are.
        """
        if self.total <= 1:
            return self._first

        sentences = [line.sentence for line in self.lines[:_MOST_IN_MESSAGE]]
        if self.total > len(sentences):
            sentences.append(f"… and {self.total - len(sentences):,} more")

        # Whoever catches one kind gets these together too; mixed ones are simply a bad file.
        kind = next(iter(self._kinds)) if len(self._kinds) == 1 else InvalidInput
        return kind(
            "\n".join([f"{self.total:,} lines cannot be taken; nothing was written", *sentences]),
            code="rejected_lines",
            total=self.total,
            refused=[line.plain for line in self.lines],
        )


def rejects_path(path: str | Path) -> Path:
    """Return where the refused lines of a file go, in the folder of the file.

    >>> rejects_path("data/events.jsonl.gz").as_posix(), rejects_path("a.rejects.jsonl").name
    ('data/events.rejects.jsonl', 'a.rejects.jsonl')
    """
    if str(path) == STDIN:
        return Path(f"stdin{REJECTS}")

    stem = Path(path).name.removesuffix(".gz")
    for suffix in (REJECTS, ".jsonl", ".csv", ".tsv"):
        if stem.endswith(suffix):
            stem = stem.removesuffix(suffix)
            break
    return Path(path).parent / f"{stem}{REJECTS}"


def write_rejects(
    rejects: Sequence[RefusedLine], path: Path | None, *, is_retry: bool
) -> Path | None:
    """Write the refused lines into their file and return it; None when there are none.

    A retry replaces the file that it has read. Any other file may hold mended lines: the new
    one is numbered.

    Raises:
        Unavailable: `file_unreadable`.
    """
    if not rejects or path is None:
        return None
    if not is_retry:
        path = _free_name(path)

    try:
        # The file is moved into place, so a link under its name is replaced and never followed.
        with whole_file(path) as target:
            for line in rejects:
                record = line.plain | {"text": line.text}
                target.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
    except OSError as error:
        raise Unavailable(
            f"the rejects file {path} cannot be written: {error.strerror or error}",
            code="file_unreadable",
        ) from error

    return path


def _free_name(path: Path) -> Path:
    """The name itself, or the first numbered one that no file has.

    >>> _free_name(Path("no/such/events.rejects.jsonl")).name
    'events.rejects.jsonl'
    """
    stem, number = path.name.removesuffix(REJECTS), 1
    while os.path.lexists(path):
        number += 1
        path = path.with_name(f"{stem}.{number}{REJECTS}")
    return path


def reject_lines(
    path: str | Path, mapping: str | Path | Mapping[str, Any] | None = None
) -> Iterator[Line]:
    """Yield the lines that a rejects file holds, by their numbers in the first file.

    A record may state the mended line as `event`, an object, or in `text`: an event, or a row of
    the table that `mapping` reads.

    Raises:
        NotFound: `unknown_file`.
        InvalidInput: `bad_rejects` for a file of anything else.
    """
    with opened(path) as lines:
        rejects = _lines_of(lines)
        yield from rejects if mapping is None else mapped_rows(rejects, read_mapping(mapping))


def _lines_of(records: Iterable[Line]) -> Iterator[Line]:
    for record in records:
        try:
            reject = json_object(record.text)
        except InvalidInput as error:
            raise at_line(error, record.number) from error

        number, text, event = reject.get("line"), reject.get("text"), reject.get("event")
        if not isinstance(number, int) or not isinstance(text, str):
            raise InvalidInput(
                f"line {record.number}: a rejects file has `line` and `text` in each record; for "
                "a file of events leave --retry out",
                code="bad_rejects",
            )

        if isinstance(event, dict):
            yield Line(number, json.dumps(event, ensure_ascii=False))
        elif text:
            yield Line(number, text)
        else:
            refusal = InvalidInput(
                "the line held a secret and was not kept; state it without the secret as `event`",
                code="secret_in_content",
            )
            yield Line(number, "", refusal)
