"""`tenure compile` and `tenure replay`: an envelope for a task, and the same bytes again."""

from __future__ import annotations

import base64
import json
import mimetypes
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...compiler.media.measures import measures, media_type_of
from ...compiler.request.request import MediaKind
from ...schema.artifact import SCHEME
from ..artifacts.files import kind_of_file
from ..client.summaries import Wording, wording_of
from ..visual.text import by_field, counted, visible
from .explain import (
    Explain,
    Html,
    Picture,
    PictureChoice,
    Svg,
    explanation,
    show_explanation,
    write_pages,
)
from .files import envelope_named, read_bytes, read_text, write_bytes
from .frame import answer, examples, note, open_memory
from .read import Tx, Valid
from .request import (
    Acceptance,
    Budget,
    Constraints,
    Entities,
    EvidenceFiles,
    ForUser,
    Goal,
    HistoryFile,
    Hypothesis,
    Lessons,
    Pins,
    Profile,
    Progress,
    Query,
    Reserve,
    Signals,
    Skills,
    Step,
    Task,
    ToolFile,
    UserRequest,
    request_of,
)
from .show import Screen

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...compiler.render.media import Originals

app = typer.Typer()

_Media = Annotated[
    bool, typer.Option(help="Put pictures, recordings and films into the request of --render.")
]


@app.command(
    "compile",
    epilog=examples(
        "tenure compile --task code_generation --query 'deployment' --budget 2000",
        "tenure compile --task code_generation --query office --explain",
        "tenure compile --task code_generation --query office --html envelope.html",
        "tenure compile --task data_extraction --query prices --evidence page.txt \\",
        "    --manifest envelope.json",
        "tenure compile --task assistant --query 'the flight' --tools tools.json \\",
        "    --history - < messages.json",
        "tenure compile --task data_extraction --query total --evidence invoice.png \\",
        "    --model claude-opus-4-8 --render anthropic > request.json",
    ),
)
def compile_envelope(
    context: typer.Context,
    task: Task,
    query: Query = "",
    user_request: UserRequest = "",
    budget_tokens: Budget = 8000,
    reserve_tokens: Reserve = None,
    goal: Goal = None,
    step: Step = None,
    acceptance: Acceptance = None,
    constraints: Constraints = None,
    entities: Entities = None,
    user: ForUser = None,
    evidence: EvidenceFiles = None,
    pinned: Pins = None,
    tools: ToolFile = None,
    history: HistoryFile = None,
    skills: Skills = None,
    progress: Progress = None,
    errors: Lessons = None,
    hypothesis: Hypothesis = "",
    profile: Profile = "default",
    signals: Signals = None,
    model: Annotated[str, typer.Option(help="The model it is meant for.")] = "generic",
    valid: Valid = None,
    tx: Tx = None,
    manifest: Annotated[
        Path | None, typer.Option(help="Keep the manifest in this file, for a replay.")
    ] = None,
    render: Annotated[
        str | None,
        typer.Option(help="Print the request for a provider: anthropic, openai, adk or text."),
    ] = None,
    media: _Media = True,
    explain: Explain = False,
    html: Html = None,
    svg: Svg = None,
    picture: PictureChoice = Picture.BUDGET,
) -> None:
    """Compile the context of a task within a budget."""
    items, originals = _evidence_items(evidence or ())
    # The options that bear the name of a field of the request are that field.
    fields = request_of({**context.params, "evidence": items})
    with open_memory(context) as memory:
        envelope = memory.compile(task, query, **fields)
        write_pages(memory, envelope, html=html, svg=svg, picture=picture)
        if manifest is not None:
            write_bytes(manifest, (envelope.manifest.to_json() + "\n").encode())

        files = None
        if media and render not in (None, "text"):
            files = memory.media(envelope, originals=originals)
        text = _rendering(envelope, render, files)
        _answer(context, envelope, text, wording_of(memory, envelope) if explain else None)


@app.command(
    epilog=examples("tenure replay envelope.json", "tenure replay 0f5c… --explain"),
)
def replay(
    context: typer.Context,
    manifest: Annotated[
        str,
        typer.Argument(
            help="A manifest file, - for standard input, or an envelope id, which may be shortened."
        ),
    ],
    explain: Explain = False,
    html: Html = None,
    svg: Svg = None,
    picture: PictureChoice = Picture.BUDGET,
) -> None:
    """Print the same bytes again, whatever was written since."""
    with open_memory(context) as memory:
        envelope = memory.replay(envelope_named(memory, manifest))
        write_pages(memory, envelope, html=html, svg=svg, picture=picture)

        wording = wording_of(memory, envelope) if explain else None
        _answer(context, envelope, envelope.text, wording)


def _evidence_items(
    addresses: Iterable[str],
) -> tuple[list[Mapping[str, Any]], dict[str, bytes]]:
    """The evidence of a request, and the bytes of the files in it that are no text."""
    items: list[Mapping[str, Any]] = []
    originals: dict[str, bytes] = {}

    for address in addresses:
        if address.startswith(SCHEME):
            items.append({"artifact": address})
            continue

        path = Path(address)
        origin = f"file://{path.name}"
        data = read_bytes(path)
        kind = _media_kind(path.name, data)
        if kind is None:
            items.append({"text": read_text(path), "origin": origin, "title": path.name})
            continue

        # Two files of one name in different folders are two originals.
        if origin in originals:
            origin = f"file://{len(originals) + 1}/{path.name}"
        originals[origin] = data
        caption = {"kind": kind.value, "uri": origin, "description": path.name}
        items.append({**caption, **measures(data, kind)})

    return items, originals


def _media_kind(name: str, data: bytes) -> MediaKind | None:
    """What a file is that is no text."""
    # Text first: by its name alone a program in TypeScript (.ts) is a film.
    try:
        if "\0" not in data.decode("utf-8"):
            return None
    except UnicodeDecodeError:
        pass
    return kind_of_file(media_type_of(data) or mimetypes.guess_type(name)[0] or "")


def _answer(context: typer.Context, envelope: Envelope, text: str, wording: Wording | None) -> None:
    """Print a text of an envelope; with the wording of its ids also the account of it."""
    report: dict[str, Any] = {
        "envelope_id": envelope.envelope_id,
        "digest": envelope.digest,
        "tokens": envelope.tokens,
        "tokens_upper": envelope.tokens_upper,
        "text": text,
        "sections": envelope.sections,
        "gaps": [by_field(gap) for gap in envelope.gaps],
        "trace": envelope.trace.to_dict(envelope.sidecar),
        "manifest": envelope.manifest.to_dict(),
        "sidecar": dict(envelope.sidecar),
    }
    if wording is not None:
        report["explanation"] = explanation(envelope)

    def show(screen: Screen) -> None:
        # A pipe gets the very bytes of the envelope, a terminal never a control character.
        page = visible(text) if screen.console.is_terminal else text
        print(page, end="" if text.endswith("\n") else "\n")
        if wording is not None:
            show_explanation(screen, envelope, wording)

    answer(context, report, show)

    # What follows goes to standard error: the text itself may be piped into a model.
    budget = envelope.trace.budget["budget_tokens"]
    media_tokens = envelope.plan.media_tokens
    media = f"{media_tokens:,} more in media, " if media_tokens else ""
    note(
        f"{envelope.tokens:,} of {budget:,} tokens, {media}"
        f"{counted(len(envelope.trace.compiled_objects), 'object')} in, "
        f"{len(envelope.trace.left_out):,} left out\nenvelope {envelope.envelope_id}"
    )


def _rendering(envelope: Envelope, target: str | None, media: Originals | None) -> str:
    if target is None:
        return envelope.text
    request = envelope.render(target, media=media)
    if isinstance(request, str):
        return request
    # A provider's client takes the bytes of media as they are; JSON has no form for them.
    return json.dumps(request, ensure_ascii=False, default=_base64)


def _base64(data: bytes) -> str:
    """Bytes as JSON holds them for Google's API."""
    return base64.b64encode(data).decode("ascii")
