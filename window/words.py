"""What of a text cannot be guessed, and what its words do.

Identifiers, numbers, dates and names cannot be written again by a model, so shorter forms keep them
first. Decisions, corrections and preferences weigh when something leaves, acknowledgements do not.
Both are read from the wording, in English and German, without a model. Checklist C-150, C-151.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final, NamedTuple

from ..compiler.text.sentences import facts_of

_RUN: Final = re.compile(r"[\w./#@:-]{6,}")
_SHORTEST: Final = 6
_LONGEST: Final = 80
"""Characters of an identifier: a longer run is data in base64, or a line of dashes."""
_SIGN: Final = re.compile(r"[\d_/]")
_CODE: Final = re.compile(r"[a-z][A-Z]|[A-Z]{3}")
"""Inside a word: a name of code that changes case, or a code of capitals."""
DECISION: Final = re.compile(
    r"\b(?:decid|agree|approv|confirm|chose|choos|reject|cancel|go ahead|instead of|must\b|never\b"
    r"|only if|will not|won't|entschied|entscheid|beschloss|einverstanden)",
    re.IGNORECASE,
)
"""How a sentence says what shall be, and what shall not."""
_CORRECTION: Final = re.compile(
    r"(?:^|[.!?;\n]\s{0,8}+)(?:(?:oh|no|nope|sorry|wait|ok|okay|well|nein|halt),?\s+)*"
    r"(?:actually|correction|i meant|i mean\b|rather|not\s+\S+[^.!?\n]{0,40}?\bbut\b|ich meinte"
    r"|eigentlich|that(?:'s| is| was) (?:wrong|not (?:right|correct|what))"
    r"|das (?:stimmt nicht|ist falsch))",
    re.IGNORECASE,
)
"""How a sentence begins that takes something back."""
_PREFERENCE: Final = re.compile(
    r"\b(?:i(?:'d| would)? (?:(?:really|always|usually|also) )?(?:prefer|rather|like it when)"
    r"|i (?:don't|do not|never) (?:like|want)|please (?:always|never|keep|use|answer|write|call me)"
    r"|from now on|my preference|ich bevorzuge|ich möchte lieber|bitte (?:immer|nie))",
    re.IGNORECASE,
)
"""How a user states the way it should be done."""
CORRECTION_OR_WISH: Final = re.compile(
    f"{_CORRECTION.pattern}|{_PREFERENCE.pattern}", re.IGNORECASE
)
_ACKNOWLEDGEMENT: Final = re.compile(
    r"(?:(?:sure|ok|okay|yes|yep|right|great|good|perfect|thanks|thank you(?: (?:so|very) much)?"
    r"|got it|i see|i understand|understood|noted|of course|certainly|absolutely|will do"
    r"|no problem|you're welcome|happy to help|one moment(?: please)?"
    r"|let me (?:think about|check|look at|see)(?: (?:this|that|it))?"
    r"|i can help(?: you)? with that|danke(?: schön)?|verstanden|gerne?|alles klar)"
    r"[\s,.!…-]*)+",
    re.IGNORECASE,
)
"""A message that says nothing but that it was received."""
_LONGEST_ACKNOWLEDGEMENT: Final = 200
"""Characters."""


@lru_cache(maxsize=4_096)
def identifiers(text: str) -> tuple[str, ...]:
    """The ids, numbers, paths and names of code in a text, in order, each once.

    >>> identifiers('{"id": "JG7FMM", "paid_by": "credit_card_2929732", "seats": 4}')
    ('JG7FMM', 'paid_by', 'credit_card_2929732')
    """
    names: dict[str, None] = {}
    for run in _RUN.findall(text):
        word = run.strip(".:,-")
        if not _SHORTEST <= len(word) <= _LONGEST:
            continue
        if _SIGN.search(word) or _CODE.search(word):
            names[word] = None
    return tuple(names)


def facts(text: str) -> frozenset[str]:
    """What a shorter form of a text must still hold."""
    return facts_of(text) | set(identifiers(text))


def fidelity(facts: AbstractSet[str], shorter: str) -> int:
    """Permille of facts that a shorter form still holds; 1000 for a text without any."""
    if not facts:
        return 1000
    # Found verbatim or not at all: a paraphrased number is a lost number.
    return sum(fact in shorter for fact in facts) * 1000 // len(facts)


class SpeechActs(NamedTuple):
    """What the words of one message do."""

    decides: bool = False
    corrects: bool = False
    prefers: bool = False
    acknowledges: bool = False
    """And does nothing else."""

    @property
    def is_weighty(self) -> bool:
        """Whether its sentence stays in sight longest."""
        return self.decides or self.corrects or self.prefers


SILENCE: Final = SpeechActs()


def speech_acts(text: str, *, by_user: bool) -> SpeechActs:
    """What a text does; only a user corrects, and has preferences.

    >>> speech_acts("No, I meant Friday.", by_user=True).corrects
    True
    >>> speech_acts("Sure, I can help with that.", by_user=False).acknowledges
    True
    """
    words = text.strip()
    is_short = len(words) <= _LONGEST_ACKNOWLEDGEMENT
    return SpeechActs(
        decides=DECISION.search(text) is not None,
        corrects=by_user and _CORRECTION.search(text) is not None,
        prefers=by_user and _PREFERENCE.search(text) is not None,
        acknowledges=is_short and _ACKNOWLEDGEMENT.fullmatch(words) is not None,
    )
