"""What words do in a conversation: decide, correct, state a preference, or acknowledge.

Read off their wording, in English and German, with no model. It weighs what may be left out first,
and what last; nothing leaves a window by it alone. Checklist C-150, C-151.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

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
"""How somebody says the way it should be done."""
_ACKNOWLEDGEMENT: Final = re.compile(
    r"(?:(?:sure|ok|okay|yes|yep|right|great|good|perfect|thanks|thank you(?: (?:so|very) much)?"
    r"|got it|i see|i understand|understood|noted|of course|certainly|absolutely|will do"
    r"|no problem|you're welcome|happy to help|one moment(?: please)?"
    r"|let me (?:think about|check|look at|see)(?: (?:this|that|it))?"
    r"|i can help(?: you)? with that|danke(?: schön)?|verstanden|gerne?|alles klar)"
    r"[\s,.!…-]*)+",
    re.IGNORECASE,
)
"""A message that says nothing but that it was heard."""


_LONGEST_ACKNOWLEDGEMENT: Final = 200
"""Characters."""


class SpeechActs(NamedTuple):
    """What the words of one message do."""

    decides: bool = False
    corrects: bool = False
    prefers: bool = False
    acknowledges: bool = False
    """Nothing else: not a word beside."""


SILENCE: Final = SpeechActs()


def speech_acts(text: str, *, by_user: bool) -> SpeechActs:
    """What a text does; only a user corrects, and has preferences.

    >>> speech_acts("No, I meant Friday.", by_user=True).corrects
    True
    >>> speech_acts("Sure, I can help with that.", by_user=False).acknowledges
    True
    """
    return SpeechActs(
        decides=DECISION.search(text) is not None,
        corrects=by_user and _CORRECTION.search(text) is not None,
        prefers=by_user and _PREFERENCE.search(text) is not None,
        acknowledges=_acknowledges(text.strip()),
    )


def _acknowledges(text: str) -> bool:
    if len(text) > _LONGEST_ACKNOWLEDGEMENT:
        return False
    return _ACKNOWLEDGEMENT.fullmatch(text) is not None
