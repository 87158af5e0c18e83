"""Pages: templates filled and answered, with what every page has around it.

Every value is escaped by the templates, and every hidden or direction-turning character in it is
shown, as on the terminal, so that nothing stored can steer a page or pose as something else.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from ...compiler.explain import page as explained
from ...compiler.explain.reasons import reason_words
from ..visual.text import counted, span, value_text, visible, when
from .identity import may_decide, session_token
from .state import state_of

FOLDER: Final = Path(__file__).parent


def page(request: Request, template: str, /, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Answer a page; one without a session shows no navigation."""
    state = state_of(request)
    token = session_token(request)
    body = (
        _templates()
        .get_template(template)
        .render(
            request=request,
            form_token=state.settings.control.form_token(token) if token else "",
            is_signed_in=bool(token),
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
    names.update({"address": address, "counted": counted, "span": span})
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
