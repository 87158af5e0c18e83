"""Commands for documents: `sync` reads a folder in, `document …` shows what its files said.

Answers show two dates for each version: from when it holds, and when it was recorded.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from ...service.visual.text import counted, when
from .commands import CallAnswer, Display, call_command, command
from .frame import EXIT_REFUSED, Screen, answer, columns, confirm, note, open_memory
from .main import ending_between_steps, meter, read_bytes

if TYPE_CHECKING:
    from ...service.documents.records import (
        Document,
        DocumentComparison,
        DocumentPassage,
        DocumentReport,
        SyncReport,
    )
    from ...service.documents.terms import Claims

app = typer.Typer()
document = typer.Typer(help="Documents and their versions.", no_args_is_help=True)
app.add_typer(document, name="document")

_LINES_SHOWN: Final = 20
"""How many files the terminal names; --json names all."""
_DATES: Final[dict[str, Callable[[Any], object]]] = {
    "in_force_from": lambda row: _date(row.effective),
    "until": lambda row: _date(row.until),
    "recorded": lambda row: _date(row.recorded),
}

_WARNINGS: Final = {
    "ambiguous_date": "its date can be read in two ways, so it holds from now; say --effective",
    "older_date": "it is older than the one before it, so it holds in its own time and from now on",
    "bad_date": "the date of its front matter is none, so it holds from now; say --effective",
    "planned": "it begins to hold in the future",
}


def _date(moment: datetime | None) -> str:
    """A day, or a day and a minute: nobody reads the microseconds of a recording."""
    return when(moment)[: len("2026-06-01 12:05")]


@command(
    app,
    "tenure sync handbook/",
    "tenure sync handbook/ --rules documents.toml --check",
    "tenure sync handbook/ --source handbook --allow-removals",
)
def sync(
    context: typer.Context,
    folder: Path,
    *,
    source: str | None = None,
    rules: Path | None = None,
    check: bool = False,
    keep: bool = False,
    claims: str = "off",
    allow_removals: bool = False,
    watch: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=2, help="Keep running; the interval of checks."),
    ] = None,
) -> None:
    """Update the documents of a source from a folder.

    Unchanged files are not read. A run that was interrupted is simply run again. Exits with 1
    when a file was refused.

    Options:
        folder: The folder.
        source: The name of the source. [the folder's]
        rules (FILE): The rules for files, in TOML.
        check: Say what would happen; write nothing.
        keep: Keep the files as artifacts, too.
        claims (FINDER): What finds claims in the passages: off, rules or model.
        allow_removals: End documents even if most files are gone.
    """
    while True:
        with (
            open_memory(context, create=not check, scratch=check) as memory,
            meter("files") as gauge,
            ending_between_steps() as step_end,
        ):

            def tell(count: int, total: int, _: str) -> None:
                gauge.tell(count, total)
                step_end.pass_by()

            report = memory.documents.sync(
                folder,
                source=source,
                rules=rules,
                check=check,
                keep_original=keep,
                claims=cast("Claims", claims),
                allow_removals=allow_removals,
                progress=tell,
            )
        answer(context, report, partial(_show_sync, report=report))
        if watch is None:
            break
        _wait_for_change(folder, watch)

    if report.refused:
        raise typer.Exit(EXIT_REFUSED)


def _wait_for_change(folder: Path, seconds: float) -> None:
    """Return once a file has changed and none changes any more for one look."""
    known = current = _signature(folder)
    while True:
        time.sleep(seconds)
        before, current = current, _signature(folder)
        if current == before != known:
            return


def _signature(folder: Path) -> frozenset[tuple[str, int, int]]:
    from ...service.documents.sync import walk

    return frozenset((file.path, file.size, file.modified_ns) for file in walk(folder, []))


def _show_sync(screen: Screen, report: SyncReport) -> None:
    total = sum(report.counts.values())
    screen.line(f"{report.source}: {counted(total, 'file')} in {report.seconds:.1f} s")
    for outcome, count in report.counts.items():
        screen.line(f"  {outcome:<14}{count:>7,}")
    for file in sorted(report.reports, key=lambda file: file.outcome != "refused")[:_LINES_SHOWN]:
        for line in (_sentence(file), *_warnings(file)):
            screen.line(line)
    if len(report.reports) > _LINES_SHOWN:
        screen.line(f"… and {len(report.reports) - _LINES_SHOWN:,} more; --json has all")


def _warnings(report: DocumentReport) -> list[str]:
    return [f"warning: {_WARNINGS.get(word, word)} [{word}]" for word in report.warnings]


def _sentence(report: DocumentReport) -> str:
    """What became of a file, in a line."""
    if report.problems and report.outcome == "refused":
        problem = report.problems[0]
        return f"refused {report.name}: {problem.message} [{problem.code}]"
    parts = [
        f"{count} {word}"
        for word, count in (
            ("kept", report.kept),
            ("new", report.opened),
            ("gone", report.closed),
            ("moved", report.moved),
            ("in quarantine", report.flagged),
            ("masked", report.masked),
            ("claimed", report.claims),
            ("refused as claims", report.claims_refused),
        )
        if count
    ]
    date = f" in force from {_date(report.effective)} ({report.dated})" if report.dated else ""
    name = f"{report.name} (was {report.former})" if report.former else report.name
    return f"{report.outcome} {name}{date}: {', '.join(parts) or 'no passage'}"


@command(document, "tenure document put leave.pdf --source handbook")
def put(
    context: typer.Context,
    file: Path,
    *,
    name: str | None = None,
    source: str | None = None,
    effective: str | None = None,
    encoding: str | None = None,
    allow_role: list[str] | None = None,
    claims: str = "off",
    again: bool = False,
    check: bool = False,
) -> None:
    """Add one file as a version of a document.

    Options:
        file: The file.
        name: Its path in the source. [the file's]
        source: The name of the source. [the folder's]
        effective: From when it applies. [its own date, else now]
        encoding: Such as cp1252, for a text.
        allow_role (ROLE): Only for this role; repeat it.
        claims (FINDER): What finds claims in the passages: off, rules or model.
        again: Also if it was erased.
        check: Say what would happen; write nothing.
    """
    with open_memory(context, create=not check, scratch=check) as memory:
        report = memory.documents.put(
            read_bytes(file),
            name=name or file.name,
            source=source or "",
            effective=effective,
            encoding=encoding,
            allow_roles=tuple(allow_role or ()),
            claims=cast("Claims", claims),
            again=again,
            check=check,
        )
    answer(context, report, _sentence(report))
    for warning in _warnings(report):
        note(warning)


@call_command(
    document,
    "documents.list",
    "tenure document list --valid 2026-06-03",
    name="list",
    empty="no document was found",
)
def list_documents(_: CallAnswer) -> Display:
    """List the documents in force at a time."""
    return columns("name title in_force_from recorded passages", **_DATES)


@call_command(document, "documents.get", "tenure document show handbook/leave.md --valid 2026-06")
def show(page: CallAnswer) -> Display:
    """Print a document as it was in force at a time, passage by passage."""
    return lambda screen: _show_document(screen, page.value)


def _show_document(screen: Screen, record: Document) -> None:
    view = record.view
    screen.line(f"{view.title} ({view.name})")
    screen.line(f"in force from {_date(view.effective)}, recorded {_date(view.recorded)}")
    _show_passages(screen, record.passages, "")


def _show_passages(screen: Screen, passages: Sequence[DocumentPassage], sign: str) -> None:
    """Print passages below their headings."""
    place: Any = None
    for passage in passages:
        citation = passage.citation
        if (citation.page, citation.headings) != place:
            place = citation.page, citation.headings
            page = f"p. {citation.page}  " if citation.page else ""
            screen.line("")
            screen.line(f"{page}{' > '.join(citation.headings) or citation.title}")
        for line in passage.text.split("\n"):
            screen.line(f"{sign}  {line}")


@call_command(document, "documents.versions", "tenure document versions handbook/leave.md")
def versions(_: CallAnswer) -> Display:
    """List the versions of a document, each with its dates."""
    return columns(
        "in_force_from until recorded passages kept new=opened gone=closed moved date_from=dated",
        **_DATES,
    )


@call_command(
    document, "documents.compare", "tenure document compare handbook/leave.md 2026-03-01 2026-07-01"
)
def compare(page: CallAnswer) -> Display:
    """Compare a document at two dates."""
    return lambda screen: _show_comparison(screen, page.value)


def _show_comparison(screen: Screen, comparison: DocumentComparison) -> None:
    _show_passages(screen, comparison.removed, "-")
    _show_passages(screen, comparison.added, "+")
    _show_passages(screen, comparison.moved, ">")
    screen.line("")
    screen.line(f"{counted(comparison.same, 'passage')} the same")


@call_command(document, "documents.remove", "tenure document remove handbook/old.md")
def remove(page: CallAnswer) -> Display:
    """End a document at a time; earlier versions stay."""
    return _sentence(page.value)


@command(document, "tenure document erase handbook/a.md --reason 'case 7'")
def erase(context: typer.Context, name: str, *, reason: str, yes: bool = False) -> None:
    """Erase a document with all its versions. It cannot be undone.

    Options:
        name (NAME): Source and path, such as handbook/leave.md.
        reason: Why; it stays in the tombstone.
        yes: Do not ask.
    """
    with open_memory(context) as memory:
        confirm(context, f"Erase {name} with all its versions for ever?", reason, yes=yes)
        receipt = memory.erase(document=name, reason=reason)
    answer(context, receipt, f"erased {name}: {counted(len(receipt.object_ids), 'object')}")
