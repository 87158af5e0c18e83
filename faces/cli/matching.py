"""Commands of a register's names: find duplicates, and label them.

`resolution xref` and `resolution label` cross the register in stretches. Progress goes to
standard error, and with `--state` a crossing that was broken off goes on where it stood.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from ...schema.errors import InvalidInput
from ...schema.limits import json_of
from ...service.backend.caller import backend_of
from ...service.backend.files import check_name, new_file
from .commands import command
from .frame import Columns, answer, open_memory
from .main import meter, read_text
from .review import pressed_key, resolution_app

if TYPE_CHECKING:
    from ...service.client.memory import Memory
    from ...service.stewardship.matching import DuplicatePair, Label, Model

app = typer.Typer()
app.add_typer(resolution_app, name="resolution")

_LABEL_FROM = 1_000
"""Pairs of a stretch among which the most telling ones are looked for."""
_ANSWERS = {"y": True, "n": False, "x": False}

_PAIRS: Columns = {
    "one": lambda row: row["names"][0],
    "other": lambda row: row["names"][1],
    "score": lambda row: f"{row['score']:.3f}",
    "facts": lambda row: row["settles"],
    "held back by": lambda row: row["vetoes"],
    "ids": lambda row: f"{row['left']} {row['right']}",
}


@command(
    resolution_app,
    "tenure resolution xref --type organization",
    "tenure resolution xref --state crossing.json --limit 200",
)
def xref(
    context: typer.Context,
    *,
    type: str | None = None,
    limit: int = 100,
    state: Path | None = None,
    model: Path | None = None,
) -> None:
    """Find entities that may be one, the most useful pairs first.

    Options:
        type: Only entities of this type.
        limit: Keep this number of best pairs.
        state: A file for the state; a later run continues from it.
        model: Score with this model, as the evaluation in `bench/` wrote it.
    """
    with open_memory(context) as memory:
        place = _Place(state, type or "", str(model or ""), memory.principal.tenant)
        rows: list[dict[str, Any]] = place.rows()
        for pairs, after in _crossing(memory, type, model, limit, place.after()):
            # Written down after each stretch: one that is broken off costs a stretch at most.
            rows = sorted([*rows, *map(_row, pairs)], key=_by_worth)[:limit]
            place.keep(after, rows)

    placeholder = "no two entities look alike"
    answer(context, rows, lambda screen: screen.table(rows, _PAIRS, placeholder=placeholder))


def _row(pair: DuplicatePair) -> dict[str, Any]:
    candidate = pair.comparison.candidate
    return {
        "left": pair.comparison.left.entity_id,
        "right": pair.comparison.right.entity_id,
        "names": list(pair.comparison.names),
        "score": candidate.score,
        "vetoes": list(candidate.vetoes),
        "settles": pair.settles,
        "worth": pair.worth,
    }


def _by_worth(row: dict[str, Any]) -> tuple[float, str, str]:
    return -row["worth"], row["left"], row["right"]


class _Place:
    """Where a crossing stands, kept in a file between runs where one was named."""

    def __init__(self, path: Path | None, type: str, model: str, tenant: str) -> None:
        self._path = path
        self._crossing = {"type": type, "model": model, "tenant": tenant}
        self._state: dict[str, Any] = {"after": "", "pairs": []}
        if path is not None and path.exists():
            self._state = self._read(path)

    def after(self) -> str | None:
        """The id to go on above; None when the register was crossed to its end."""
        return cast("str | None", self._state["after"])

    def rows(self) -> list[dict[str, Any]]:
        """The pairs that earlier runs brought."""
        return list(self._state["pairs"])

    def keep(self, after: str | None, rows: list[dict[str, Any]]) -> None:
        """Write down where the crossing stands; whole or not at all."""
        if self._path is None:
            return
        state = {"crossing": self._crossing, "after": after, "pairs": rows}
        # A run that is killed in the middle leaves the place of the stretch before.
        with new_file(self._path, replace=True) as file:
            file.write(json.dumps(state, ensure_ascii=False).encode())

    def _read(self, path: Path) -> dict[str, Any]:
        try:
            state = json_of(read_text(path), str(path), code="bad_file")
            crossing, _ = state["crossing"], (state["after"], state["pairs"])
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInput(
                f"{path} holds no crossing; name another", code="bad_file"
            ) from error
        # Pairs of another type or model cannot be ranked beside these.
        if crossing != self._crossing:
            raise InvalidInput(
                f"{path} belongs to another crossing ({crossing}); name another file",
                code="bad_file",
            )
        return cast("dict[str, Any]", state)


def _crossing(
    memory: Memory, type: str | None, model: Path | None, limit: int, after: str | None
) -> Iterator[tuple[tuple[DuplicatePair, ...], str | None]]:
    """Cross the register from a place on: the pairs of each stretch and where it ended."""
    matching = replace(memory.resolution, model=_model(model))
    entity_count = 0
    with meter("entities", _entities_above(memory, type, after)) as gauge:
        while after is not None:
            stretch = matching.xref(type=type, after=after, limit=limit)
            entity_count += stretch.entities
            gauge.tell(entity_count)
            after = stretch.after or None
            yield stretch.pairs, after


def _entities_above(memory: Memory, type: str | None, after: str | None) -> int:
    """How many entities a crossing has before it; merged ones count apart, so it may end early."""
    if after is None:
        return 0
    with backend_of(memory).store.reading(memory.principal.tenant) as reader:
        return len(reader.entity_ids(type=type, after=after))


def _model(path: Path | None) -> Model | None:
    """The model of a file; None where no file was named.

    Raises:
        NotFound: `unknown_file`.
        InvalidInput: `bad_file`, for one that holds no model.
    """
    if path is None:
        return None
    from ...service.stewardship.matching import model_from_json

    text = read_text(path)
    try:
        return model_from_json(text)
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InvalidInput(
            f"{path} holds no model of matching; the evaluation in bench/ writes one",
            code="bad_file",
        ) from error


@command(resolution_app, "tenure resolution label labels.csv --type person")
def label(
    context: typer.Context,
    file: Path,
    *,
    type: str | None = None,
    limit: int = 20,
    model: Path | None = None,
) -> None:
    """Label the pairs that improve the model most.

    y same, n different, u skip, q stop.

    Options:
        file: Append the labels to this CSV.
        type: Only entities of this type.
        limit: Maximum number of questions.
        model: Score with this model, as the evaluation in `bench/` wrote it.
    """
    from ...service.stewardship.matching import label_of, most_telling

    # A pair that was labelled is not asked about again.
    known_ids = {row["pair_id"] for row in _labels_in(file)}
    with open_memory(context) as memory:
        pairs: list[DuplicatePair] = []
        for stretch, _ in _crossing(memory, type, model, _LABEL_FROM, ""):
            fresh = [pair for pair in stretch if pair.pair_id not in known_ids]
            pairs = list(most_telling([*pairs, *fresh]))[:limit]

        count = 0
        for pair in pairs:
            left, right = pair.comparison.names
            score = pair.comparison.candidate.score
            question = f"{left!r} and {right!r} ({score:.3f}): same? [y/n/u/q]"
            key = _key(question)
            if key == "q":
                break
            # Written at once: what was labelled before an interruption is not lost.
            if key in _ANSWERS:
                _append(file, [label_of(pair, is_match=_ANSWERS[key])])
                count += 1

    report = {"file": str(file), "labels": count, "asked": len(pairs)}
    answer(context, report, f"{count} labels added to {file}")


def _key(question: str) -> str:
    """The answer to a question: a single key where the terminal can, else a line."""
    if not sys.stdin.isatty() or os.environ.get("TERM") == "dumb":
        return str(typer.prompt(question, default="u", show_default=False, err=True))

    typer.echo(f"{question} ", err=True, nl=False)
    key = pressed_key()
    typer.echo(key, err=True)
    return key


@command(resolution_app, "tenure resolution labels labels.csv")
def labels(context: typer.Context, file: Path) -> None:
    """Write decided reviews as labelled pairs.

    Pairs that the file has are skipped.


    Options:
        file: Append the labels to this CSV.
    """
    known_ids = {row["pair_id"] for row in _labels_in(file)}
    with open_memory(context) as memory:
        fresh = [row for row in memory.resolution.labels() if row.pair_id not in known_ids]

    _append(file, fresh)
    answer(
        context, {"file": str(file), "labels": len(fresh)}, f"{len(fresh)} labels added to {file}"
    )


def _labels_in(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _append(file: Path, rows: Iterable[Label]) -> None:
    from ...service.stewardship.matching import Label

    # Appended and never rewritten: earlier labels are a person's work.
    check_name(file, replace=True)
    is_new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        if is_new:
            writer.writerow(Label._fields)
        writer.writerows(rows)
