"""`tenure compile`, `replay`, `envelope`, `ablate` and `artifact`.

Lists of a compile's request come from JSON files, or from standard input for the name `-`. The
request itself checks their items, and its error names the one that it cannot read.
"""

from __future__ import annotations

import base64
import json
import mimetypes
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import typer

from ...schema.artifact import SCHEME
from ...schema.errors import InvalidInput
from ...schema.limits import json_of
from ...service.artifacts.artifacts import kind_of_file
from ...service.client.answer import Wording, opening_words, wording_of
from ...service.compilation.shown import MediaKind, measures, media_type_of
from ...service.visual.text import by_field, counted, visible
from .audit import Picture, PictureChoice, explanation, show_explanation, write_pages
from .commands import CallAnswer, Display, call_command, command
from .frame import Columns, Screen, answer, columns, confirm, note, open_memory
from .main import envelope_named, read_bytes, read_text, write_bytes

if TYPE_CHECKING:
    from ...service.compilation.shown import Ablation, Envelope, EnvelopeDiff, Originals


_STANDARD_INPUT: Final = "-"
_FORMS: Final[Mapping[str, str]] = {
    "tools": '[{"name": "find_flight", "description": "…", "input_schema": {…}}]',
    "history": '[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]',
}
"""What the file of a list holds, by the field of the request that it fills."""

app = typer.Typer()

envelope = typer.Typer(help="Stored envelopes.", no_args_is_help=True)

_ENVELOPES = columns(
    "compiled_at task query tokens objects id=envelope_id",
    compiled_at=lambda row: "erased" if row.erased else row.tx,
    tokens=lambda row: "" if row.erased else row.tokens,
    objects=lambda row: "" if row.erased else row.objects,
)

artifact = typer.Typer(help="Originals, stored next to the facts.", no_args_is_help=True)


@command(
    app,
    "tenure compile 'Where is the office?' --explain",
    "tenure compile deployment --task code_generation --budget 2000",
    "tenure compile --task data_extraction --query prices --evidence page.txt \\",
    "    --manifest envelope.json",
    "tenure compile --task assistant --query 'the flight' --tools tools.json \\",
    "    --history - < messages.json",
    "tenure compile --task data_extraction --query total --evidence invoice.png \\",
    "    --model claude-opus-4-8 --render anthropic > request.json",
    name="compile",
)
def compile_envelope(
    context: typer.Context,
    question: str | None = None,
    *,
    task: str = "assistant",
    query: str = "",
    user_request: str = "",
    budget_tokens: int = 8000,
    reserve_tokens: int | None = None,
    goal: str | None = None,
    step: str | None = None,
    acceptance: list[str] | None = None,
    constraints: list[str] | None = None,
    entities: list[str] | None = None,
    user: str | None = None,
    evidence: list[str] | None = None,
    pinned: list[str] | None = None,
    tools: str | None = None,
    history: str | None = None,
    skills: list[str] | None = None,
    progress: list[str] | None = None,
    errors: list[str] | None = None,
    hypothesis: str = "",
    profile: str = "default",
    signals: list[str] | None = None,
    model: str = "generic",
    valid: str | None = None,
    tx: str | None = None,
    manifest: Path | None = None,
    render: str | None = None,
    media: bool = True,
    explain: bool = False,
    html: Path | None = None,
    svg: Path | None = None,
    picture: PictureChoice = Picture.BUDGET,
) -> None:
    """Compile the context of a task within a budget.

    Options:
        question: What to look for in the memory.
        task: A task type, such as code_generation.
        query: The same as an option.
        user_request (--request): The user's request, verbatim.
        budget_tokens (--budget): Maximum number of tokens.
        reserve_tokens (--reserve): Tokens kept for the answer. [by the model]
        goal: The goal.
        step: The step that is done now.
        acceptance (TEXT): When it is done; repeat it.
        constraints (--constraint TEXT): What must hold; repeat it.
        entities (--entity NAME): An entity it is about; repeat it.
        user (--for USER): Its user. [the caller's user]
        evidence (FILE): A text, a picture, a recording, a film, or an artifact, as untrusted
            evidence; repeat it.
        pinned (--pin ID): An object, an artifact or a text that is always included; repeat it.
        tools (FILE): The tools: a JSON list; - reads standard input.
        history (FILE): The turns so far: a JSON list of messages; - reads standard input.
        skills (--skill TEXT): A skill: how to do the task; repeat it.
        progress (TEXT): What is done so far; repeat it.
        errors (--error TEXT): What failed, and why; repeat it.
        hypothesis: A hypothetical answer to search with, if the policy's hyde is on.
        profile: How the budget is divided, such as research.
        signals (--signal NAME=VALUE): A signal that shifts the budget, such as risk_weight=high;
            repeat it.
        model: The model that reads it.
        valid: The valid time, such as 2026-06-01T00:00:00Z. [now]
        tx: The transaction time. [now]
        manifest: Write the manifest into this file, for a replay.
        render: Print the request for a provider: anthropic, openai, adk or text.
        media: Put pictures, recordings and films into the request of --render.
        explain: Also say what went in, what stayed out, and why.
        html (FILE): Write it as a page.
        svg (FILE): Write it as a picture.
    """
    if question and query:
        raise typer.BadParameter("state the question once: as an argument or with --query")
    items, originals = _evidence_items(evidence or ())
    # The options that bear the name of a field of the request are that field.
    fields = request_of({**context.params, "evidence": items})
    with open_memory(context) as memory:
        envelope = memory.compile(task, question or query, **fields)
        write_pages(memory, envelope, html=html, svg=svg, picture=picture)
        if manifest is not None:
            write_bytes(manifest, (envelope.manifest.to_json() + "\n").encode())

        files = None
        if media and render not in (None, "text"):
            files = memory.media(envelope, originals=originals)
        text = _rendering(envelope, render, files)
        _answer(context, envelope, text, wording_of(memory, envelope) if explain else None)


@command(app, "tenure replay envelope.json", "tenure replay 0f5c… --explain")
def replay(
    context: typer.Context,
    manifest: str,
    *,
    explain: bool = False,
    html: Path | None = None,
    svg: Path | None = None,
    picture: PictureChoice = Picture.BUDGET,
) -> None:
    """Print the same bytes again, in spite of later writes.

    Options:
        manifest: A manifest file, - for standard input, or an envelope id, which may be
            shortened.
        explain: Also say what went in, what stayed out, and why.
        html (FILE): Write it as a page.
        svg (FILE): Write it as a picture.
    """
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
    with suppress(UnicodeDecodeError):
        if "\0" not in data.decode("utf-8"):
            return None
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
        "asked": envelope.asked,
        "unmatched": envelope.unmatched,
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
    for record in envelope.asked:
        if record.state != "known":
            needed = f", {record.budget_tokens:,} tokens show it" if record.budget_tokens else ""
            note(f"{record.state}: {visible(record.words)} ({record.why}{needed})")
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
    render = cast("Callable[..., object]", envelope.render)
    request = render(target, media=media)
    if isinstance(request, str):
        return request
    # A provider's client takes the bytes of media as they are; JSON holds them as Google's API.
    return json.dumps(
        request, ensure_ascii=False, default=lambda data: base64.b64encode(data).decode()
    )


app.add_typer(envelope, name="envelope")


def request_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The request, by field, that the options of a command state under the names of its fields.

    Raises:
        InvalidInput: `bad_file`, for a file that holds no list; and what `read_text` raises.
    """
    from ...service.compilation.compile import RequestFields

    values = {name: value for name, value in options.items() if value is not None}
    files = {field: values[field] for field in _FORMS if field in values}
    if list(files.values()).count(_STANDARD_INPUT) > 1:
        names = " and ".join(f"--{field}" for field in files)
        raise typer.BadParameter(f"{names} cannot both read standard input; name a file for one")

    fields = {name: values[name] for name in RequestFields.__annotations__ if name in values}
    fields |= {field: _list_in(name, field) for field, name in files.items()}
    return fields | {"signals": _signals(values.get("signals", ()))}


def _list_in(name: str, field: str) -> Sequence[Any]:
    text = read_text(name)
    place = "standard input" if name == _STANDARD_INPUT else name
    needs = f"--{field} takes a JSON list, such as {_FORMS[field]}"

    try:
        items: object = json_of(text, place, code="bad_file")
    except InvalidInput as error:
        raise InvalidInput(f"{error}; {needs}", code="bad_file") from error
    if not isinstance(items, list):
        raise InvalidInput(f"{place} holds no list; {needs}", code="bad_file")

    return cast("Sequence[object]", items)


def _signals(assignments: Sequence[str]) -> dict[str, float | str]:
    """The signals of a request: numbers, and the words that stand for some.

    >>> _signals(["freshness=3", "risk_weight=high"])
    {'freshness': 3.0, 'risk_weight': 'high'}
    """
    signals: dict[str, float | str] = {}
    for assignment in assignments:
        name, sign, text = assignment.partition("=")
        if not sign:
            raise typer.BadParameter(f"--signal {assignment!r} is not NAME=VALUE")
        if name in signals:
            raise typer.BadParameter(f"--signal {name!r} occurs twice")
        signals[name] = text
        with suppress(ValueError):
            signals[name] = float(text)
    return signals


@call_command(
    envelope,
    "envelopes.list",
    "tenure envelope list",
    "tenure envelope list --task code_generation --since 2026-06-01T00:00:00Z",
    name="list",
    defaults={"limit": 20},
)
def list_envelopes(page: CallAnswer) -> Display:
    """List the envelopes that were compiled, newest first.

    Options:
        object_id (--object ID): Those that hold this object.
        session (--in-session ID): Those of a session.
    """
    # The manifest is the whole request, and `replay` takes the id alone.
    listing = list(map(by_field, page.value))
    for entry in listing:
        del entry["manifest"]
    return listing, lambda screen: screen.table(
        page.value, _ENVELOPES, placeholder="no envelope was found"
    )


@command(
    envelope,
    "tenure envelope diff 0f5c… 91ab…",
    "tenure envelope diff before.json 91ab…",
    name="diff",
)
def diff_envelopes(context: typer.Context, before: str, after: str) -> None:
    """Compare two envelopes, and say what the change costs.

    Options:
        before: A manifest file, or an envelope id, which may be shortened.
        after: The one to compare it with.
    """
    from ...service.compilation.shown import diff_envelopes as compare

    with open_memory(context) as memory:
        first = memory.replay(envelope_named(memory, before))
        second = memory.replay(envelope_named(memory, after))
        difference = compare(first, second)
        words = opening_words(memory, first, second)

    pair = first, second
    answer(context, difference, lambda screen: _show_diff(screen, difference, pair, words))


def _show_diff(
    screen: Screen,
    difference: EnvelopeDiff,
    pair: tuple[Envelope, Envelope],
    words: Mapping[str, str],
) -> None:
    signs = dict.fromkeys(difference.added, "+")
    signs |= dict.fromkeys(difference.removed, "-") | dict.fromkeys(difference.modified, "~")

    # The later envelope says where an object stands now that both hold.
    entries = {entry.object_id: entry for side in pair for entry in side.trace.compiled_objects}
    columns: Columns = {
        "change": signs.__getitem__,
        "says": lambda object_id: words.get(object_id, ""),
        "section": lambda object_id: entries[object_id].section,
        "from": lambda object_id: entries[object_id].source_origin,
        "object": str,
    }
    if signs:
        screen.table(signs, columns)
        screen.line()
    screen.line(
        f"{len(difference.added)} added, {len(difference.removed)} removed, "
        f"{len(difference.modified)} modified, {difference.unchanged} unchanged"
    )

    if difference.section_deltas:
        deltas = [*difference.section_deltas, ("all", difference.token_delta)]
        screen.table(deltas, {"section": itemgetter(0), "tokens": lambda row: f"{row[1]:+,}"})

    before, after = difference.utilisation
    screen.line(f"budget used: {before:.1%} before, {after:.1%} after")
    if difference.first_change is None:
        screen.line("the texts are the same")
    else:
        prefix = f"{difference.first_change:,} characters"
        screen.line(f"the first {prefix} are the same and may stay cached")


@command(
    app,
    "tenure ablate --task assistant --query office --expect Chicago",
    "tenure ablate --task assistant --query office --expect Chicago --pairs",
    "tenure ablate --task assistant --query office --expect Chicago --sections",
)
def ablate(
    context: typer.Context,
    *,
    task: str,
    expect: list[str],
    query: str = "",
    budget: int = 8000,
    entity: list[str] | None = None,
    sections: bool = False,
    pairs: bool = False,
) -> None:
    """Measure what each object is worth by leaving it out.

    The worth of an envelope is the share of the expected texts that it holds.

    Options:
        task: A task type, such as code_generation.
        expect (TEXT): What the envelope should hold; repeat it.
        query: What to look for in the memory.
        budget: Maximum number of tokens.
        entity (NAME): An entity it is about; repeat it.
        sections: Leave out sections instead of objects.
        pairs: Also leave out every pair.
    """
    from ...service.client.answer import ablate as weigh

    needles = [text.casefold() for text in expect]

    def share(envelope: Envelope) -> float:
        haystack = envelope.text.casefold()
        return sum(text in haystack for text in needles) / len(needles)

    request: dict[str, Any]
    request = {"task": task, "query": query, "budget_tokens": budget, "entities": entity or ()}
    with open_memory(context) as memory:
        envelope = memory.compile(**request)
        names = [section.name for section in envelope.sections] if sections else None
        ablation = weigh(memory, request, utility=share, objects=names, pairs=pairs)
        words = None if sections else opening_words(memory, envelope)

    answer(context, ablation, lambda screen: _show_ablation(screen, ablation, words))


def _show_ablation(screen: Screen, ablation: Ablation, words: Mapping[str, str] | None) -> None:
    """Print what each object is worth, with its words, or each section where there are none."""
    screen.line(f"with everything it is worth {ablation.utility:g}")

    texts = words or {}
    columns: Columns = {"section": itemgetter(0), "is worth": _change}
    if words is not None:
        says: Columns = {"says": lambda row: texts.get(row[0], "")}
        columns = {**says, "is worth": _change, "object": itemgetter(0)}
    if ablation.single:
        screen.table(ablation.ranked, columns)

    sides: Columns = {
        "one": lambda row: texts.get(row[0]) or row[0],
        "and": lambda row: texts.get(row[1]) or row[1],
    }
    for head, pairs in (("synergy", ablation.synergies), ("redundancy", ablation.redundancies)):
        if pairs:
            screen.table(pairs, {**sides, head: _change})
    if ablation.pairs and not ablation.synergies and not ablation.redundancies:
        screen.line("no two of them depend on each other")


def _change(row: Sequence[object]) -> str:
    return f"{row[-1]:+g}"


app.add_typer(artifact, name="artifact")


@command(
    artifact,
    "tenure artifact put deploy.log --origin tool://ci",
    "psql -c 'select …' | tenure artifact put - --name prices.csv",
)
def put(
    context: typer.Context,
    file: str,
    *,
    name: str | None = None,
    media_type: str | None = None,
    origin: str = "",
    for_tenant: bool = False,
    classification: str | None = None,
    allow_role: list[str] | None = None,
    deny_role: list[str] | None = None,
) -> None:
    """Store a file, and print its address.

    Options:
        file (FILE): A file, or - for standard input.
        name: What to call it. [default: the file's]
        media_type: Such as text/csv.
        origin: Where it comes from, such as tool://ci.
        for_tenant (--shared): Share it with the whole tenant.
        classification (--as): public … highly_restricted.
        allow_role (ROLE): Who may read it.
        deny_role (ROLE): Who may not.
    """
    data = read_bytes(file)
    default_name = "" if file == "-" else Path(file).name

    with open_memory(context, create=True) as memory:
        record = memory.artifacts.put(
            data,
            name=default_name if name is None else name,
            media_type=media_type,
            origin=origin,
            # An empty scope is the whole tenant, and none is the caller's own.
            scope={} if for_tenant else None,
            security_classification=cast("Any", classification),
            allow_roles=tuple(allow_role or ()),
            deny_roles=tuple(deny_role or ()),
        )
    answer(context, record, record.address)


@command(artifact, "tenure artifact get artifact://sha256/9f86… --out a")
def get(context: typer.Context, address: str, *, target: Path | None = None) -> None:
    """Print an artifact, or write it into a file.

    Options:
        address (ADDRESS): artifact://sha256/…
        target (--out FILE): Write it here.
    """
    with open_memory(context) as memory:
        data = memory.artifacts.get(address)

    if target is not None:
        write_bytes(target, data)
    else:
        # Bytes go past the text layer, which may hold something that was printed before.
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


@call_command(
    artifact,
    "artifacts.list",
    "tenure artifact list",
    name="list",
    defaults={"limit": 20},
    empty="no artifact was found",
)
def list_artifacts(_: CallAnswer) -> Display:
    """List the artifacts that the caller may read, newest first."""
    return columns("name bytes=size type=media_type origin kept_at=at address")


@command(artifact, "tenure artifact erase artifact://sha256/9f86… --reason 'case 17'")
def erase(context: typer.Context, address: str, *, reason: str = "", yes: bool = False) -> None:
    """Remove an artifact, and the envelopes compiled from it. It cannot be undone.

    Options:
        address (ADDRESS): artifact://sha256/…
        reason: Why; it stays in the tombstone.
        yes: Do not ask.
    """
    confirm(context, f"Erase {address} for ever?", reason, yes=yes)
    with open_memory(context) as memory:
        memory.artifacts.erase(address, reason=reason)
    answer(context, {"address": address, "reason": reason}, f"erased {address}")
