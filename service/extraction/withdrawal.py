"""Sentences that take back what somebody said: "forget that …", "I lied when …", "scratch that".

What is taken back stands in the sentence as a clause ("forget that I'm allergic to walnuts"), as a
thing ("forget what I said about walnuts"), or not at all ("scratch that"): then it is what was said
last. A clause is read by the rules that read it when it was said. German puts the verb of such a
clause last; it goes back to where a main clause has it.

Who says so must be the speaker, now, and for good: the sentence begins with it, and "for a moment"
makes a game of it. What was wrong is retracted; what is "no longer true" ends.

>>> withdrawal_of("Please forget that I live in Ulm, that was wrong.").clauses
('I live in Ulm',)
>>> withdrawal_of("Vergiss, dass ich in Ulm wohne.").clauses
('ich wohne in Ulm',)
>>> withdrawal_of("She told me to forget that I live in Ulm.") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from .claims import ANY_SLOT, LAST_HEARD, LAST_SAID, ExtractedClaim
from .withdrawal_phrases import (
    ENDING,
    ENGLISH_ADMISSION,
    ENGLISH_CLAUSES,
    ENGLISH_COURTESY,
    ENGLISH_LAST,
    ENGLISH_REMINDER,
    ENGLISH_SAME_SLOT,
    ENGLISH_TOPIC,
    ENGLISH_TRAILER,
    ENGLISH_UNSAYING,
    GERMAN_ADMISSION,
    GERMAN_CLAUSES,
    GERMAN_COURTESY,
    GERMAN_LAST,
    GERMAN_REMINDER,
    GERMAN_SAME_SLOT,
    GERMAN_TOPIC,
    GERMAN_TRAILER,
    GERMAN_UNSAYING,
)

ClauseReader = Callable[[str], Iterable[ExtractedClaim]]
"""Reads the claims of a sentence."""

ClaimValue = str | int | float | bool


class Withdrawal(NamedTuple):
    """What a sentence takes back."""

    op: str = "retract"
    clauses: tuple[str, ...] = ()
    """Main clauses that are so no more."""
    topic: str = ""
    """What all that is taken back is about."""
    is_last: bool = False
    """Whether it is what was said last."""
    may_be_answered: bool = True
    """Whether it is the speaker's own word whoever spoke since: "that is not so" may mean the
    answer."""
    correction: str = ""
    """What the sentence goes on with."""
    is_same_slot: bool = False
    """Whether only what the correction has another value for is taken back."""


_PASSING: Final = re.compile(
    r"\bfor (?:a|one|the|this|now|today|tonight|once)\b|\bjust this once\b|"
    r"\b(?:kurz|mal kurz|einen Moment|für (?:heute|jetzt|einen|diesmal))\b",
    re.IGNORECASE,
)
"""What makes a game of it, or an exception."""


class _Wording:
    """How one language takes back."""

    def __init__(self, *, clauses: Iterable[str], **patterns: str) -> None:
        self.clauses = tuple(map(_pattern, clauses))
        self._patterns = {name: _pattern(pattern) for name, pattern in patterns.items()}

    def match(self, name: str, sentence: str) -> re.Match[str] | None:
        """The match of a way to take back at the head of a sentence."""
        return self._patterns[name].match(sentence)

    def without_end(self, clause: str) -> str:
        """A clause without the verdict and the courtesy behind it."""
        for name in ("trailer", "courtesy"):
            clause = self._patterns[name].sub("", clause)
        return clause.strip(" .,;!")

    def ends_in_verdict(self, sentence: str) -> bool:
        """Whether a sentence says of itself that it is not so."""
        trailer = self._patterns["trailer"].search(sentence)
        return trailer is not None and trailer.start() > 0


def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_WORDINGS: Final = (
    _Wording(
        clauses=ENGLISH_CLAUSES,
        admission=ENGLISH_ADMISSION,
        reminder=ENGLISH_REMINDER,
        topic=ENGLISH_TOPIC,
        unsaying=ENGLISH_UNSAYING,
        last=ENGLISH_LAST,
        same_slot=ENGLISH_SAME_SLOT,
        trailer=ENGLISH_TRAILER,
        courtesy=ENGLISH_COURTESY,
    ),
    _Wording(
        clauses=GERMAN_CLAUSES,
        admission=GERMAN_ADMISSION,
        reminder=GERMAN_REMINDER,
        topic=GERMAN_TOPIC,
        unsaying=GERMAN_UNSAYING,
        last=GERMAN_LAST,
        same_slot=GERMAN_SAME_SLOT,
        trailer=GERMAN_TRAILER,
        courtesy=GERMAN_COURTESY,
    ),
)

_CUE: Final = re.compile(
    r"\b(?:forget|ignore|disregard|delete|erase|remove|strike|scratch|discard|drop|take|wrong|"
    r"mistaken|mistake|lied|lying|joking|kidding|joke|lie|misspoke|mean|true|false|untrue|right|"
    r"correct|incorrect|never|remember|mind|so|case|nonsense|error|typo|misunderstanding|vergiss\w*|vergessen|"
    r"ignorier\w*|lösche?|streiche?|entferne?|stimmte?|gilt|trifft|falsch|gelogen|geirrt|vertan|"
    r"versprochen|zurück|nie|wahr|richtig|aktuell|Scherz|Witz|Fehler|Irrtum|Unsinn|Quatsch)\b",
    re.IGNORECASE,
)
"""A word of which every such sentence has one, so that others cost a look."""
_END_WORDS: Final = _pattern(rf"\b(?:{ENDING}|true any ?more|nicht mehr)\b")
_MAIN: Final = re.compile(
    r"(?P<subject>(?i:ich|wir)|(?:[Mm]ein|[Uu]nser)e? (?:[a-zäöüß]+ )?[A-ZÄÖÜ][\wäöüß-]+) "
    r"(?P<rest>.+) (?P<verb>[a-zäöüß]+)"
)


def withdrawal_of(sentence: str) -> Withdrawal | None:
    """What a sentence takes back; None for one that takes nothing back."""
    if not _CUE.search(sentence) or _PASSING.search(sentence):
        return None

    for wording in _WORDINGS:
        withdrawal = _in_words(sentence.rstrip(), wording)
        if withdrawal is not None:
            return withdrawal
    return None


def _in_words(sentence: str, wording: _Wording) -> Withdrawal | None:
    reminder = wording.match("reminder", sentence)
    if reminder is not None:
        return Withdrawal(correction=_main_clause(reminder["clause"].strip(" .,;!")))

    op = _op_of(sentence)
    topic = wording.match("topic", sentence)
    if topic is not None:
        return Withdrawal(op, topic=topic["topic"])

    clause = _clause_of(sentence, wording)
    if clause:
        # "I no longer …" inside the clause is part of what was said.
        return Withdrawal(_op_of(sentence.replace(clause, "", 1)), (_main_clause(clause),))

    same_slot = wording.match("same_slot", sentence)
    if same_slot is not None:
        return Withdrawal(op, is_last=True, correction=same_slot["rest"], is_same_slot=True)

    for name in ("unsaying", "last"):
        last = wording.match(name, sentence)
        if last is not None:
            correction = sentence[last.end() :].strip(" ,;.:!")
            return Withdrawal(
                op, is_last=True, may_be_answered=name == "unsaying", correction=correction
            )
    return None


def _op_of(sentence: str) -> str:
    return "deny" if _END_WORDS.search(sentence) else "retract"


def _clause_of(sentence: str, wording: _Wording) -> str:
    """The clause that a sentence takes back; empty where it has none."""
    for pattern in wording.clauses:
        match = pattern.match(sentence)
        if match is not None:
            return wording.without_end(match["clause"])

    admission = wording.match("admission", sentence)
    if admission is None or not wording.ends_in_verdict(sentence):
        return ""
    return wording.without_end(admission["clause"])


def _main_clause(clause: str) -> str:
    """A German subordinate clause with its verb in the second place; any other as it is."""
    match = _MAIN.fullmatch(clause)
    if match is None:
        return clause
    return f"{match['subject']} {match['verb']} {match['rest']}"


def withdrawn_claims(
    sentence: str, withdrawal: Withdrawal, read: ClauseReader
) -> Iterator[ExtractedClaim]:
    """The claims that a withdrawal makes: what is no more, and what stands in its place."""

    def withdrawn(slot: str, value: ClaimValue, subject: str | None = None) -> ExtractedClaim:
        return ExtractedClaim(
            slot=slot,
            value=value,
            subject=subject,
            start=0,
            end=len(sentence),
            op=withdrawal.op,
            if_known=True,
        )

    for claim in _meant_claims(withdrawal.clauses, read):
        yield withdrawn(claim.slot, claim.value, claim.subject)
    if withdrawal.topic:
        yield withdrawn(ANY_SLOT, withdrawal.topic)

    corrections = list(read(withdrawal.correction)) if withdrawal.correction else []
    if withdrawal.is_last:
        value = LAST_SAID if withdrawal.may_be_answered else LAST_HEARD
        slots = [] if corrections or withdrawal.is_same_slot else [ANY_SLOT]
        for claim in corrections:
            if claim.op != "deny" and claim.slot not in slots:
                slots.append(claim.slot)
        for slot in slots:
            yield withdrawn(slot, value)

    shift = max(0, sentence.find(withdrawal.correction))
    for claim in corrections:
        # "That was wrong, I'm not allergic" says that it never was so.
        if claim.op == "deny" and withdrawal.is_last and withdrawal.op == "retract":
            yield withdrawn(claim.slot, claim.value, claim.subject)
        yield replace(claim, start=claim.start + shift, end=claim.end + shift)


def _meant_claims(clauses: Iterable[str], read: ClauseReader) -> Iterator[ExtractedClaim]:
    """The claims of clauses; of somebody else where any is about another."""
    for clause in clauses:
        claims = [claim for claim in read(clause) if claim.op in ("assert", "correct")]
        # "My sister Ruth works at Acme" says two things, and it is the second that is meant.
        about_others = [claim for claim in claims if claim.subject is not None]
        yield from about_others or claims
