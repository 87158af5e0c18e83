"""The phrases that tend to mark an injected instruction, from `phrases.toml`.

Each rule has a code, the attack class it points to, a severity and the reason a reviewer reads.
Rules look at folded text (`views.fold`): lower case, no accents, single spaces. A severity of 60
and more quarantines alone on the untrusted channels; lower ones only add up. A phrase is a signal
and never a proof: about a third of known payloads read as ordinary requests, and no rule can find
those. Checklist C-163, C-164.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Final

from ...schema.records import packaged_table


class AttackClass(StrEnum):
    """The five attack classes."""

    DIRECT = "direct"
    """The caller's own input tries to override the rules."""
    INDIRECT = "indirect"
    """Retrieved or tool text addresses the model."""
    DILUTION = "dilution"
    """Sheer length, to push the rules out of attention."""
    SMUGGLING = "smuggling"
    """Hidden, disguised or encoded text."""
    PROVENANCE_FORGERY = "provenance_forgery"
    """Text that claims to come from a stronger source."""


@dataclass(frozen=True, slots=True)
class PhraseRule:
    """One row of the table."""

    code: str
    """Stable code of the finding."""
    severity: int
    """0 to 100; findings of one text add up."""
    reason: str
    """What the phrase does, for the reviewer."""
    needs: tuple[str, ...]
    """Words of which every match holds one: the cheap test before the search."""
    pattern: re.Pattern[str]
    """Searched in folded text."""
    forges: bool = False
    """Whether the phrase claims a source; else the channel tells direct from indirect."""


# Without `importlib.resources`, which loads zipfile and more.
_TABLES: Final = packaged_table(__package__, "phrases.toml")


def _rules() -> Iterator[PhraseRule]:
    groups: Mapping[str, str] = _TABLES["groups"]
    for row in _TABLES["rules"]:
        source = "|".join(row["patterns"])
        for name, words in groups.items():
            source = source.replace(f"<<{name}>>", words)
        needs, pattern = tuple(row["needs"]), re.compile(source)
        head = row["code"], row["severity"], row["reason"]
        yield PhraseRule(*head, needs, pattern, forges=row.get("forges", False))


TOOL_CALL: Final = re.compile(_TABLES["tool_call"], re.IGNORECASE)
"""A call of a tool, in words or in code, in text as it was written."""

PHRASE_RULES: Final = tuple(_rules())
"""All phrase rules, in the order of their findings."""

PHRASE_WORDS: Final = frozenset(
    itertools.chain.from_iterable(map(attrgetter("needs"), PHRASE_RULES))
)
"""The words of all rules: folded text without one of them has none of the phrases."""


def likely_rules(folded_text: str) -> frozenset[str]:
    """The codes of the rules whose phrase may be in folded text: a word that it needs does.

    Every write asks this of its text, so it is two plain loops and no call a rule.
    """
    codes: list[str] = []
    for rule in PHRASE_RULES:
        for word in rule.needs:
            if word in folded_text:
                codes.append(rule.code)
                break

    return frozenset(codes)
