"""How much of what was said can still be answered, asked of a judge.

Questions are asked twice, of everything that was said and of what stands in the window; what the
first context answers and the second answers alike is kept. The questions are read off the log, so
nobody chooses those that the window happens to hold. The judge of ours needs no model: an
identifier is answered where it stands letter by letter. A judge with a model is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from ..schema.errors import InvalidInput
from .health import AlertLevel
from .state import WindowState

QUESTIONS: Final = 40
_TARGET: Final = 850
"""Permille from which fidelity is as it should be."""
_LEAST_SHARE: Final = 750


class FidelityJudge(Protocol):
    """Answers a question from a context, and from nothing else."""

    def answer(self, question: str, context: str) -> str:
        """The answer, empty where the context has none; equal answers are equal texts."""
        ...


class VerbatimJudge:
    """Asks for an identifier, and finds it where it stands letter by letter."""

    def answer(self, question: str, context: str) -> str:
        """The identifier itself, empty where it does not stand."""
        return question if question in context else ""


@dataclass(frozen=True, slots=True)
class JudgedFidelity:
    """What a judge said."""

    questions: int
    """How many the whole conversation answers."""
    agreements: int
    """How many of those the window answers alike."""

    @property
    def share(self) -> int:
        """Permille that is kept; 1000 where nothing was asked."""
        return 1000 * self.agreements // self.questions if self.questions else 1000

    @property
    def alert(self) -> AlertLevel | None:
        """A warning below 750 permille, a hint below 850."""
        if self.share < _LEAST_SHARE:
            return AlertLevel.WARNING
        return AlertLevel.INFO if self.share < _TARGET else None


def judged_fidelity(
    history: WindowState, state: WindowState, judge: FidelityJudge
) -> JudgedFidelity:
    """Ask a judge what a window still answers; `history` is the log folded without its edits.

    Raises:
        InvalidInput: `bad_field`, for a judge that cannot be asked.
    """
    if not callable(getattr(judge, "answer", None)):
        raise InvalidInput(
            "a judge has a method answer(question, context)", code="bad_field", field="judge"
        )
    history_text, standing = history.text, state.text

    answerable = agreements = 0
    for question in fidelity_questions(history):
        answer = judge.answer(question, history_text)
        if not answer:
            continue
        answerable += 1
        agreements += judge.answer(question, standing) == answer
    return JudgedFidelity(answerable, agreements)


def fidelity_questions(history: WindowState) -> tuple[str, ...]:
    """At most forty identifiers of a conversation, spread evenly over all that it named."""
    names: dict[str, None] = {}
    for unit in history.units:
        names.update(dict.fromkeys(unit.identifiers))
    distinct = list(names)
    # Taken at even distances: neither the oldest nor the newest are asked for more often.
    stride = max(1, -(-len(distinct) // QUESTIONS))
    return tuple(distinct[::stride])
