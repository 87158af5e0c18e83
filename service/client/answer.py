"""Answering: a model's output is held to its envelope, with one chance to repair it.

The caller's own function asks the model; tenure asks none. The output is checked by code against
the hard constraints, and the acceptance items that no code can check go to a judge where the
caller gives one. What fails is told to the model once, item by item; if the second output fails
as well, the answer is refused. Source 000, 6.9.2, layer 4; checklist C-167, C-210.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...schema.errors import InvalidInput

if TYPE_CHECKING:
    from ...compiler.envelope.checks import CheckReport
    from ...compiler.envelope.envelope import Envelope

Ask = Callable[[str], object]
"""Asks the model: given what to repair, empty at first, it returns the output."""

Judge = Callable[[str, object], bool]
"""Tells whether an output meets an acceptance item, given its words."""

_NOTE: Final = "Your last answer breaks what is listed here. Send the whole answer again, mended:"


@dataclass(frozen=True, slots=True)
class Answer:
    """An output that holds."""

    output: object
    report: CheckReport
    repaired: bool
    """Whether it took the second try."""
    unjudged: tuple[str, ...]
    """Acceptance items that neither code nor a judge has looked at."""


def answer(envelope: Envelope, ask: Ask, *, judge: Judge | None = None) -> Answer:
    """Return a model's output that keeps the constraints of an envelope.

    `ask` is called with an empty text, and once more with what failed if anything did.

    Raises:
        InvalidInput: `output_rejected`, with the failures, when the repaired output fails too.
    """
    unchecked_items = _unchecked_items(envelope)
    note = ""
    # One repair and no loop: a model that fails twice on a list of failures fails a third time.
    for second_try in (False, True):
        output = ask(note)
        report = envelope.check(output)
        failures = [
            *_broken_constraints(envelope, report),
            *_unmet_items(unchecked_items, output, judge),
        ]
        if not failures:
            return Answer(output, report, second_try, () if judge else unchecked_items)
        note = "\n".join((_NOTE, *(f"- {item}" for item in failures)))
    raise InvalidInput(
        f"the output fails {len(failures)} checks after one repair, the first: {failures[0]}",
        code="output_rejected",
        failures=failures,
    )


def _unchecked_items(envelope: Envelope) -> tuple[str, ...]:
    """Return the acceptance items that no code checks: only stated, or a wish."""
    # The manifest pins the request as it was compiled; what the caller holds may have changed.
    items = json.loads(envelope.manifest.request)["acceptance"]
    checked_texts = {constraint.text for constraint in envelope.constraints}
    return tuple(item["text"] for item in items if item["text"] not in checked_texts)


def _broken_constraints(envelope: Envelope, report: CheckReport) -> list[str]:
    words = {constraint.object_id: constraint.text for constraint in envelope.constraints}
    return [f"{words[failure.object_id]}: {failure.detail}" for failure in report.failures]


def _unmet_items(items: tuple[str, ...], output: object, judge: Judge | None) -> list[str]:
    return [item for item in items if judge is not None and not judge(item, output)]
