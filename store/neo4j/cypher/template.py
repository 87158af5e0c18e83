"""Statements written as a whole: what several of them share stands in them by its name.

`{in_window}` in a text stands for the fragment of that name. Cypher itself has no word alone in
braces, so a text with its names can be read, and a name is never taken for a map.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, LiteralString

_NAME: Final = re.compile(r"\{(\w+)\}")


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
