"""How an import is to be made: what a caller may state beside the file, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

from ...schema.errors import InvalidInput
from ..backend.arguments import check_fields
from .event_lines import STDIN, Reading
from .refusals import REJECTS, rejects_path

Progress = Callable[[int, int], None]
"""Called after each transaction with the number of the last line and the events so far."""


@dataclass(frozen=True, slots=True)
class Choices:
    """How an import is to be made."""

    reading: Reading = field(default_factory=Reading)
    keep_going: bool = False
    check: bool = False
    """Look at every line and write nothing."""
    retry: bool = False
    """The file holds the rejects of an import before."""
    mapping: str | Path | Mapping[str, Any] | None = None
    """Which column of a table fills which field."""
    rejects: Path | None = None
    """Where refused lines go."""
    progress: Progress | None = None


class IngestFields(TypedDict, total=False):
    """What may be stated of an import beside its file."""

    replay: bool
    keep_going: bool
    check: bool
    retry: bool
    mapping: str | Path | Mapping[str, Any] | None
    ignore_external_ids: bool
    progress: Progress | None


def choices_of(path: str | Path, fields: IngestFields) -> Choices:
    """How a file is to be imported.

    Raises:
        InvalidInput: `bad_settings` for wishes that exclude each other; `unknown_vocabulary`,
            `bad_field`.
    """
    check_fields(IngestFields, fields, "option of an import")
    replay, retry = fields.get("replay", False), fields.get("retry", False)
    if retry and (replay or fields.get("mapping") is not None or str(path) == STDIN):
        raise InvalidInput(
            "a retry takes a file NAME.rejects.jsonl, without a mapping; a history is loaded in "
            "its order: mend its file and load it again, what is stored is skipped",
            code="bad_settings",
        )

    if not retry and str(path).endswith(REJECTS):
        raise InvalidInput(
            f"{path} holds lines that were refused: mend them there and load it with --retry "
            "(retry=True), without the mapping",
            code="bad_settings",
        )

    # A retry goes on past a refusal: what is refused again stays in the rejects.
    return Choices(
        reading=Reading(replay, fields.get("ignore_external_ids", False)),
        keep_going=fields.get("keep_going", False) or retry,
        check=fields.get("check", False),
        retry=retry,
        mapping=fields.get("mapping"),
        rejects=rejects_path(path),
        progress=fields.get("progress"),
    )
