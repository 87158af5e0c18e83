"""Commands for documents: `sync` reads a folder in, `document …` shows what its files said.

Answers show two dates for each version: from when it holds, and when it was recorded.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ...service.visual.text import counted, when
from .frame import EXIT_REFUSED, Columns, Screen, answer, examples, note, open_memory
from .main import ending_between_steps, meter, read_bytes

if TYPE_CHECKING:
    from ...service.documents.records import (
        DocumentComparison,
        DocumentPassage,
        DocumentReport,
        SyncReport,
    )

app = typer.Typer()
document = typer.Typer(help="What documents said, and when.", no_args_is_help=True)
app.add_typer(document, name="document")

_Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Source and path, such as handbook/leave.md.")
]
_Valid = Annotated[str | None, typer.Option(help="As it was in force then. [now]")]
_Tx = Annotated[str | None, typer.Option(help="As it was recorded by then. [now]")]
_Source = Annotated[str | None, typer.Option(help="The name of the source. [the folder's]")]
_Effective = Annotated[
    str | None, typer.Option(help="From when it holds. [its own date, else now]")
]
_Claims = Annotated[
    str, typer.Option(metavar="FINDER", help="Who finds claims in it: off, rules or model.")
]
_LINES_SHOWN: Final = 20
"""How many files the terminal names; --json names all."""
_DOCUMENTS: Columns = {
    "name": "name",
    "title": "title",
    "in force from": lambda view: _date(view.effective),
    "recorded": lambda view: _date(view.recorded),
    "passages": "passages",
}
_VERSIONS: Columns = {
    "in force from": lambda version: _date(version.effective),
    "until": lambda version: _date(version.until),
    "recorded": lambda version: _date(version.recorded),
    "passages": "passages",
    "kept": "kept",
    "new": "opened",
    "gone": "closed",
    "moved": "moved",
    "date from": "dated",
}

_WARNINGS: Final = {
    "ambiguous_date": "its date can be read in two ways, so it holds from now; say --effective",
    "bad_date": "the date of its front matter is none, so it holds from now; say --effective",
    "planned": "it begins to hold in the future",
}


def _date(moment: datetime | None) -> str:
    """A day, or a day and a minute: nobody reads the microseconds of a recording."""
    return when(moment)[: len("2026-06-01 12:05")]


@app.command(
    epilog=examples(
        "tenure sync handbook/",
        "tenure sync handbook/ --rules documents.toml --check",
        "tenure sync handbook/ --source handbook --allow-removals",
    )
)
def sync(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder.")],
    source: _Source = None,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Which files, and on which terms.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Say what would happen; write nothing.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the files as artifacts, too.")] = False,
    claims: _Claims = "off",
    allow_removals: Annotated[
        bool, typer.Option("--allow-removals", help="End documents even if most files are gone.")
    ] = False,
    watch: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=2, help="Go on: look at the folder so often."),
    ] = None,
) -> None:
    """Bring the documents of a source to what a folder holds.

    Unchanged files are not read. A run that was interrupted is simply run again. Exits with 1
    when a file was refused.
    """
    fields: dict[str, Any] = {
        "source": source,
        "rules": rules,
        "check": check,
        "keep_original": keep,
        "claims": claims,
        "allow_removals": allow_removals,
    }
    while True:
        with (
            open_memory(context, create=not check, scratch=check) as memory,
            meter("files") as gauge,
            ending_between_steps() as step_end,
        ):

            def tell(count: int, total: int, _: str) -> None:
                gauge.tell(count, total)
                step_end.pass_by()

            report = memory.documents.sync(folder, progress=tell, **fields)
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
    for file in report.reports[:_LINES_SHOWN]:
        screen.line(_sentence(file))
    if len(report.reports) > _LINES_SHOWN:
        screen.line(f"… and {len(report.reports) - _LINES_SHOWN:,} more; --json has all")


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


@document.command("put", epilog=examples("tenure document put leave.pdf --source handbook"))
def put(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file.")],
    name: Annotated[str | None, typer.Option(help="Its path in the source. [the file's]")] = None,
    source: _Source = None,
    effective: _Effective = None,
    encoding: Annotated[str | None, typer.Option(help="Of a text, such as cp1252.")] = None,
    allow_role: Annotated[
        list[str] | None, typer.Option(metavar="ROLE", help="Only for this role; repeat it.")
    ] = None,
    claims: _Claims = "off",
    again: Annotated[bool, typer.Option("--again", help="Also if it was erased.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Say what would happen; write nothing.")
    ] = False,
) -> None:
    """Take in one file as a version of a document."""
    with open_memory(context, create=not check, scratch=check) as memory:
        report = memory.documents.put(
            read_bytes(file),
            name=name or file.name,
            source=source or "",
            effective=effective,
            encoding=encoding,
            allow_roles=tuple(allow_role or ()),
            claims=claims,
            again=again,
            check=check,
        )
    answer(context, report, _sentence(report))
    for warning in report.warnings:
        note(f"warning: {_WARNINGS.get(warning, warning)} [{warning}]")


@document.command("list", epilog=examples("tenure document list --valid 2026-06-03"))
def list_documents(
    context: typer.Context, source: _Source = None, valid: _Valid = None, tx: _Tx = None
) -> None:
    """List the documents that hold at a time."""
    with open_memory(context) as memory:
        views = memory.documents.list(source=source, valid=valid, tx=tx)
    answer(
        context,
        views,
        lambda screen: screen.table(views, _DOCUMENTS, placeholder="no document was found"),
    )


@document.command("show", epilog=examples("tenure document show handbook/leave.md --valid 2026-06"))
def show(context: typer.Context, name: _Name, valid: _Valid = None, tx: _Tx = None) -> None:
    """Print a document as it was in force at a time, passage by passage."""
    with open_memory(context) as memory:
        record = memory.documents.get(name, valid=valid, tx=tx)
    view = record.view

    def tell(screen: Screen) -> None:
        screen.line(f"{view.title} ({view.name})")
        screen.line(f"in force from {_date(view.effective)}, recorded {_date(view.recorded)}")
        _show_passages(screen, record.passages, "")

    answer(context, record, tell)


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


@document.command("versions", epilog=examples("tenure document versions handbook/leave.md"))
def versions(context: typer.Context, name: _Name) -> None:
    """List the versions of a document, each with its dates."""
    with open_memory(context) as memory:
        rows = memory.documents.versions(name)
    answer(context, rows, lambda screen: screen.table(rows, _VERSIONS))


@document.command(
    "compare", epilog=examples("tenure document compare handbook/leave.md 2026-03-01 2026-07-01")
)
def compare(
    context: typer.Context,
    name: _Name,
    before: Annotated[str, typer.Argument(metavar="A", help="The first date.")],
    after: Annotated[str, typer.Argument(metavar="B", help="The second date.")],
    tx: _Tx = None,
) -> None:
    """Print what a document says at one date and not at another."""
    with open_memory(context) as memory:
        comparison = memory.documents.compare(name, before, after, tx=tx)
    answer(context, comparison, lambda screen: _show_comparison(screen, comparison))


def _show_comparison(screen: Screen, comparison: DocumentComparison) -> None:
    _show_passages(screen, comparison.removed, "-")
    _show_passages(screen, comparison.added, "+")
    _show_passages(screen, comparison.moved, ">")
    screen.line("")
    screen.line(f"{counted(comparison.same, 'passage')} the same")


@document.command("remove", epilog=examples("tenure document remove handbook/old.md"))
def remove(context: typer.Context, name: _Name, effective: _Effective = None) -> None:
    """End a document from a time on; what it said before stays known."""
    with open_memory(context) as memory:
        report = memory.documents.remove(name, effective=effective)
    answer(context, report, _sentence(report))


@document.command("erase", epilog=examples("tenure document erase handbook/a.md --reason 'case 7'"))
def erase(
    context: typer.Context,
    name: _Name,
    reason: Annotated[str, typer.Option(help="Why; it stays in the tombstone.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Empty a document with all its versions for ever. It cannot be undone."""
    with open_memory(context) as memory:
        if not yes:
            typer.confirm(f"Erase {name} with all its versions for ever?", abort=True, err=True)
        receipt = memory.erase(document=name, reason=reason)
    answer(context, receipt, f"erased {name}: {counted(len(receipt.object_ids), 'object')}")
