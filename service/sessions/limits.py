"""How many tokens a session's requests may take: W of a model, and L without the reserve."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...compiler.tokens.capabilities import capability
from ...compiler.tokens.window import compile_budget
from ...schema.errors import InvalidInput

_AMPLE: Final = 1 << 40
"""A budget that no window reaches: what is left of it is the window's own limit."""


def window_limit(model: str, window: int | None, reserve: int | None) -> tuple[int, int]:
    """W and L of a model: the window, and what of it a request may take.

    Raises:
        InvalidInput: `unknown_window`, `window_too_small`.
    """
    row = capability(model)
    if window is None and row.window is None:
        raise InvalidInput(
            f"the window of the model {model!r} is not known; state window= in tokens",
            code="unknown_window",
        )

    size = row.window if window is None else window
    if size is None or type(size) is not int or size < 2_048:
        raise InvalidInput(
            f"a window has at least 2048 tokens, not {window!r}", code="window_too_small"
        )

    return size, compile_budget(_AMPLE, reserve, replace(row, window=size)).tokens
