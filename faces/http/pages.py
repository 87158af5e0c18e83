"""Pages: templates filled and answered, with what every page has around it.

Every value is escaped by the templates, and every hidden or direction-turning character in it is
shown, as on the terminal, so that nothing stored can steer a page or pose as something else.

The first page: what waits for a person, and the search over what the caller may see.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import quote, urlencode
from uuid import UUID

from fastapi import APIRouter, Query
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from ...schema.answers import EntityView
from ...schema.errors import TenureError
from ...service.backend.caller import backend_of
from ...service.calls.table import Permit
from ...service.client.answer import entity_names, suspected_words
from ...service.client.memory import Memory
from ...service.compilation.shown import page as explained
from ...service.compilation.shown import reason_words
from ...service.reading.view import ListReads
from ...service.visual.text import counted, held_span, value_text, visible, when
from .identity import HEAVY_PAGE, may_decide, memory_of, reader_of, session_token
from .state import HeadedRoute, state_of

FOLDER: Final = Path(__file__).parent


def page(request: Request, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Answer a page; one without a session shows no navigation."""
    state, reader = state_of(request), reader_of(request)
    form_token = state.settings.control.form_token(session_token(request)) if reader else ""
    body = (
        _templates()
        .get_template(template)
        .render(
            request=request,
            form_token=form_token,
            reader=reader.principal if reader else None,
            may_decide=may_decide(request),
            is_demo=state.settings.is_demo,
            path=request.url.path,
            **values,
        )
    )
    return HTMLResponse(body, status_code=status)


def sign_in_address(request: Request) -> str:
    """The form that leads back to the page that was asked for."""
    target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return f"/sign-in?{urlencode({'next': target})}"


def address(path: str, **query: object) -> str:
    """A path of ours with a query; what is None or empty is left out.

    >>> address("/entity", name="Sam & Co", tx=None)
    '/entity?name=Sam+%26+Co'
    """
    pairs: dict[str, str] = {}
    for name, value in query.items():
        # An address is what people copy: it holds nothing that says nothing.
        if value is not None and value != "":
            pairs[name] = str(value)
    return quote(path) + (f"?{urlencode(pairs)}" if pairs else "")


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader([FOLDER / "templates", Path(explained.__file__).parent]),
        autoescape=True,
        # A misspelt name in a template is an error of its test, not an empty place on a page.
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_printable,
    )
    environment.filters |= {
        "when": when,
        "value": value_text,
        "plain": _plain,
        "day": _day,
        "why": reason_words,
    }
    names: dict[str, Any] = environment.globals
    names.update(explained.template_names())
    names.update({"address": address, "counted": counted, "span": held_span})
    return environment


def _printable(value: object) -> object:
    """What a template prints: text with its hidden characters shown, markup as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return "" if value is None else value


def _day(moment: object) -> Markup:
    """A moment as a day, or as a day and a minute where it is within one; it never breaks."""
    text = when(moment) if isinstance(moment, datetime) else "open"
    return Markup("<time>{}</time>").format(text[: len("2026-06-01 12:05")])


def _plain(word: object) -> str:
    """A word of a bounded list for people: `not_yet_valid` reads "not yet valid"."""
    return str(getattr(word, "value", word)).replace("_", " ")


router = APIRouter(include_in_schema=False, route_class=HeadedRoute)

_HITS = 20
_ENTITIES = 50


@router.get("/", dependencies=HEAVY_PAGE)
def home(
    request: Request,
    q: Annotated[str, Query(max_length=400)] = "",
    after: Annotated[str, Query(max_length=64)] = "",
) -> HTMLResponse:
    """Show what waits, and what a search brings: the entity of that name, then facts."""
    memory = memory_of(request)
    is_question = bool(q.strip())
    # Pages of a register of any size: the next one begins after an id, whatever came meanwhile.
    entities = memory.entities.list(after=after, limit=_ENTITIES)
    actions = memory.actions()

    names = entity_names(memory, [entity.entity_id for entity in entities])
    return page(
        request,
        "home.jinja",
        question=q,
        hits=memory.as_of().search(q, limit=_HITS).hits if is_question else (),
        most_hits=_HITS,
        match=_entity_named(memory, q) if is_question else None,
        entities=sorted(entities, key=lambda entity: names[entity.entity_id].casefold()),
        names=names,
        after=after,
        next_after=entities[-1].entity_id if len(entities) == _ENTITIES else "",
        reviews=memory.reviews.list(),
        actions=actions,
        quarantined=sum(action.kind.value == "review_quarantine" for action in actions),
        envelopes=memory.envelopes.list(5),
    )


@router.get("/find")
def find(request: Request, name: Annotated[str, Query(max_length=512)]) -> Response:
    """Lead to the page of an entity by its name."""
    memory = memory_of(request)
    entity = memory.as_of().entity(name)
    return RedirectResponse(address(f"/entities/{entity.entity_id}"), status_code=303)


@router.get("/claims/{object_id}")
def claim(request: Request, object_id: UUID) -> HTMLResponse:
    """Show one claim: what it says, where it comes from, what it met, who was given it."""
    memory = memory_of(request)
    explanation = memory.explain(str(object_id))
    names = entity_names(memory, explanation.object.canonical_entity_ids)
    links = [*explanation.superseded, *explanation.superseded_by, *explanation.conflicts]
    links += [*explanation.confirmations, *explanation.sources, *explanation.derived]
    reads = ListReads(backend_of(memory), memory.principal)
    words: dict[str, str] = {}
    for linked_id, linked_object in reads.objects(link.object_id for link in links).items():
        words[linked_id] = (linked_object.content or linked_object.normalized_claim)[:120]
    return page(
        request,
        "claim.jinja",
        told=explanation,
        item=explanation.object,
        suspicions=suspected_words(explanation.object)[1] if explanation.quarantine else (),
        names=names,
        words=words,
    )


@router.get("/health", dependencies=HEAVY_PAGE)
def health(request: Request) -> HTMLResponse:
    """Show whether the store agrees with itself, and how the stewards are doing."""
    memory = memory_of(request, Permit.READ, Permit.ADMIN)
    return page(
        request,
        "health.jinja",
        problems=memory.doctor(),
        progress=memory.reviews.progress(),
        log=memory.log(limit=30),
    )


def _entity_named(memory: Memory, name: str) -> EntityView | None:
    # The text of a question need not be a name.
    with suppress(TenureError):
        return memory.as_of().entity(name)
    return None
