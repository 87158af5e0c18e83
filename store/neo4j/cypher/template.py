"""Statements written as a whole: what several of them share stands in them by its name.

`{in_window}` in a text stands for the fragment of that name. Cypher itself has no word alone in
braces, so a text with its names can be read, and a name is never taken for a map.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, LiteralString

_NAME: Final = re.compile(r"\{(\w+)\}")
_IMPORTS: Final = re.compile(r"CALL \((.*?)\)")
"""What a query inside another one takes from it."""


def statement(template: LiteralString, fragments: Mapping[str, LiteralString]) -> LiteralString:
    """A text with each name replaced by its fragment, which may have names itself.

    Raises:
        KeyError: a name without a fragment.
    """
    text: str = template
    for name in dict.fromkeys(_NAME.findall(template)):
        # `str.replace`, not `re.sub`: of literal texts it is again one to the type checkers.
        text = text.replace("{" + name + "}", statement(fragments[name].strip(), fragments))
    # Both parts are literal texts of this package; a name between braces adds nothing to them.
    return text  # pyright: ignore[reportReturnType]


def at_stamp(text: LiteralString, stamp: LiteralString) -> LiteralString:
    """A text that reads as of a stamp which its statement has read itself, in place of `$tx`.

    Every query inside imports it. A question that looks at later rows is cut down to it, too.
    """

    def imports(match: re.Match[str]) -> str:
        return f"CALL ({', '.join(filter(None, (match[1], stamp)))})"

    at_tx = f"CASE WHEN ask.after > {stamp} THEN {stamp} ELSE ask.after END"
    text = text.replace("$tx", stamp).replace("ask.after", at_tx)
    return _IMPORTS.sub(imports, text)  # pyright: ignore[reportReturnType] - a text of ours
