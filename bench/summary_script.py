"""A summariser without a model: what any framework's summary is, for benches that need one.

It goes through what was said from the oldest to the newest. Of a message stays the sentence, of a
call its arguments, of a result and of an earlier summary the identifiers that no line states yet.
Where that is longer than a summary may be, its oldest words are cut. A model's summary of the same
length can be better or worse; this one is the same for everybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from tenure.compiler.text.sentences import subunits
from tenure.window.facts import facts, identifiers

CHARACTERS: Final = 8_000
"""Of a summary: some 2,500 tokens, as frameworks ask for."""
_LINE: Final = 160
"""Characters of what one message leaves."""


class Saying(NamedTuple):
    """One message as a summariser reads it."""

    speaker: str
    """`user`, `assistant`, `call`, `tool`, or `summary` for an earlier one."""
    text: str


def scripted_summary(sayings: Iterable[Saying], characters: int = CHARACTERS) -> str:
    """The summary of messages, at most so many characters long."""
    known: set[str] = set()
    lines: list[str] = []
    for speaker, text in sayings:
        match speaker:
            case "call":
                line = text[:_LINE]
            case "tool":
                line = _names(text, known)[:_LINE]
            case "summary":
                line = _names(text, known)
            case _:
                line = _sentence(text, known)
        if line:
            lines.append(line)
            known |= facts(line)
    return "\n".join(lines)[-characters:]


def _names(text: str, known: set[str]) -> str:
    return " ".join(name for name in identifiers(text) if name not in known)


def _sentence(text: str, known: set[str]) -> str:
    """The sentence with the most facts that no line states yet."""
    sentences = subunits(text)
    best = max(sentences, key=lambda sentence: len(facts(sentence) - known), default="")
    return best[:_LINE] if facts(best) - known else ""
