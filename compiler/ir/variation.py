"""Structural variation: other shapes for the same words, so that a run does not imitate itself.

Off by default. When the policy turns it on, four elements of the turn's own texts vary and
nothing else: how progress is shown, what separates the parts of the recap, how lessons are
listed, and the label of the step. Headings, boundary lines and every cached zone never vary. A
choice is HMAC(tenant key, session, turn index, element) mod the number of shapes: the same turn
of the same session has the same bytes, and the trace records it. Source 004; checklist C-309.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...schema.frozen_dict import FrozenDict

SHAPES: Final[Mapping[str, tuple[str, ...]]] = FrozenDict(
    {
        "progress": ("{text}", "Done: {text}", "✓ {text}"),
        "separator": (" ", " — ", " | "),
        "list": ("{text}", "- {text}", "* {text}"),
        "label": ("Now", "Next", "Current step"),
    }
)
"""The four elements and their shapes; the first is what stands without variation."""


@dataclass(frozen=True, slots=True)
class Variation:
    """The shapes of one turn."""

    choices: Mapping[str, int]
    """Place of the shape by element; empty when variation is off."""

    def shape(self, element: str) -> str:
        """Return the shape of an element."""
        return SHAPES[element][self.choices.get(element, 0)]

    def wording(self, element: str, text: str) -> str:
        """Return a text in the shape of an element."""
        return self.shape(element).replace("{text}", text)


NO_VARIATION: Final = Variation(FrozenDict({}))


def variation(key: bytes, session: str, turn: int) -> Variation:
    """Return the shapes of a turn.

    >>> variation(b"k", "s", 3) == variation(b"k", "s", 3)
    True
    """
    choices: dict[str, int] = {}
    for element, shapes in SHAPES.items():
        parts = ("variation-v1", session, str(turn), element)
        message = "".join(f"{len(part.encode())}:{part}" for part in parts)
        digest = hmac.digest(key, message.encode(), "sha256")
        choices[element] = int.from_bytes(digest[:8]) % len(shapes)
    return Variation(FrozenDict(choices))
