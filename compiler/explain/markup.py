"""Markup: elements of HTML and SVG in which text cannot become structure.

`Markup` is text that is markup already. A child or an attribute that is any other text is
escaped, so what an envelope holds can end up in a page only as words. Characters that XML does
not know, and those that turn the direction of writing, are shown as U+FFFD. Elements have no
`style` and no event attribute: pages hold under a strict content security policy.

>>> element("p", "a < b", title='"x"')
'<p title="&quot;x&quot;">a &lt; b</p>'
>>> element("p", element("b", "bold"))
'<p><b>bold</b></p>'

Sources: ecosystem 1.5 and 8; checklist C-176.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Final

_UNSAFE: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_VOID: Final = frozenset({"meta", "br"})
_FORBIDDEN: Final = re.compile(r"on|style$", re.IGNORECASE)


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    r"""Return any text as markup that shows it.

    >>> escaped("<script>\u202e")
    '&lt;script&gt;�'
    """
    return Markup(html.escape(_UNSAFE.sub("\ufffd", text)))


def element(name: str, /, *children: object, **attributes: object) -> Markup:
    """Return an element; attributes that are None are left out.

    A name ends in `_` where Python has the word, and `_` inside it is written `-`.
    """
    stated = "".join(
        f' {_attribute(key)}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{stated}>")
    return Markup(f"<{name}{stated}>{joined(children)}</{name}>")


def joined(children: Iterable[object]) -> Markup:
    """Return children one after the other."""
    return Markup("".join(c if isinstance(c, Markup) else escaped(str(c)) for c in children))


def _attribute(name: str) -> str:
    assert not _FORBIDDEN.match(name)  # a page runs no code and holds under a strict policy
    kept = name.removesuffix("_")
    return kept if kept == "viewBox" else kept.replace("_", "-")
