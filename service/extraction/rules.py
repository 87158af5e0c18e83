"""Extraction by rules that always say the same: a table of sentence patterns.

Precision comes before recall: what is asked, supposed, wished, quoted or said about somebody
else's words makes no claim, and a name ends where it ends ("Acme and I" names Acme). The raw text
is kept whatever is found, and every claim points at the words it came from. Times such as "last
week" are read against the moment of speaking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final

from ...resolution.text import sentence_spans
from .claims import ExtractedClaim
from .dates import date_after, date_said

_WORD = r"[A-Z][\w&'\u2019-]*(?:\.(?=\w)[\w&'-]*)*"
_NO_NAME = r"(?!(?:I|The|A|An|My|Our|You|It|And|But|If|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)\b)"
_JOINT = r"(?:of|the|for|de|van|von|der|&)(?: the)?"
_NAME = (
    rf"{_NO_NAME}{_WORD}(?: (?:{_JOINT} )?{_NO_NAME}{_WORD}| and (?:Sons|Co|Company|Partners)\b)*"
)
_PLACE = rf"{_NAME}(?:, {_NAME})?"
_STOP = (
    r"(?!(?:and|or|but|because|since|so|when|while|if|as|that|which|who|though|although|than|too|"
    r"very|anymore|any|now|these|lately|at|in|on|for|with|from|until|till|after|before|all|it|"
    r"the way|how|what|this|those|you|your|him|her|them|me|my|to|being|having|is|are|was|lot|"
    r"more|most|about)\b)"
)
_ERA = r"(?: (?:from|of|in) the (?:early |late )?\d{2,4}s)?"
_LINK = r"(?:(?:of|about|with|by|like) )?"
_ITEM = rf"(?:the )?{_STOP}[\w'\u2019#+&$-]+(?: {_LINK}{_STOP}[\w'\u2019#+&$-]+){{0,3}}{_ERA}"
_NO_CLAUSE = (
    r"(?!(?:I|we|he|she|they|am|was|went|had|have|has|did|do|can|will|got|made|took|saw|ate|"
    r"would|could|should|then|just|also|\w+ed)\b)"
)
_ITEMS = (
    rf"{_ITEM}(?:, {_NO_CLAUSE}{_ITEM}(?=,| and\b| or\b))*(?:,? (?:and|or) {_NO_CLAUSE}{_ITEM})?"
)
_I = r"\bI(?: am|['\u2019]m)"
_HAVE = r"\bI(?: have|['\u2019]ve)?"
_DO_NOT = r"(?:do not|don['\u2019]t|did not|didn['\u2019]t)"
_SURE = r"(?:(?:really|absolutely|just|truly|do|actually|also|especially|still|always) )*"
_LEVELS = r"junior|mid-level|senior|staff|principal|lead"
_TRADES = (
    "engineer|developer|designer|manager|analyst|scientist|architect|researcher|writer|nurse|"
    "teacher|doctor|lawyer|chef|student|accountant|consultant|professor|journalist|editor|"
    "photographer|musician|therapist|pharmacist|electrician|plumber|pilot|translator|librarian"
)
_KIN: Final = {
    "wife": "partner", "husband": "partner", "partner": "partner", "girlfriend": "partner",
    "boyfriend": "partner", "son": "child", "daughter": "child", "mother": "parent",
    "mom": "parent", "mum": "parent", "father": "parent", "dad": "parent",
    "brother": "sibling", "sister": "sibling", "friend": "friend", "dog": "pet", "cat": "pet",
    "puppy": "pet", "kitten": "pet", "rabbit": "pet", "horse": "pet",
}  # fmt: skip
_KINS = "|".join(_KIN)
_MY_KIN = rf"\b[Mm]y (?:(?:best|older|younger|little|big|late|eldest) )?(?P<kin>{_KINS})"
_RELATIVE = rf"{_MY_KIN},? (?P<subject>{_NAME}),? (?:who )?"

_LONGEST_SENTENCE: Final = 400
"""Characters that are read; the patterns look ahead, so their time grows with the square."""

_MOST_CLAIMS: Final = 64
"""Claims of one text."""

_HEDGE: Final = re.compile(
    r"\b(?:if|wish|would|might|maybe|perhaps|could|imagine|pretend|suppose|unless|hypothetically|"
    r"think|thinks|thought|says|said|claims|claimed|told|asked|heard|like saying|as though)\b",
    re.IGNORECASE,
)
_QUOTATION: Final = re.compile('"[^"\n]*"|\u201c[^\u201d\n]*\u201d|\u00ab[^\u00bb\n]*\u00bb')
_CORRECTION: Final = re.compile(
    r"(?:(?:oh|no|sorry|wait|ok|okay|well),? )*(?:actually|correction|i meant|rather)\b",
    re.IGNORECASE,
)
_PARTS: Final = re.compile(r",? (?:and|or) |, ")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern whose group `value` is the value of a slot."""

    slot: str
    pattern: re.Pattern[str]
    op: str = "assert"
    is_list: bool = False
    """Whether the value is an enumeration, a claim for each part."""
    is_former: bool = False
    """Whether it held before and no longer does."""
    is_dated: bool = False
    """Whether it is something that takes place, and counts only with its day."""


def _rule(slot: str, pattern: str, op: str = "assert", **flags: bool) -> Rule:
    return Rule(slot, re.compile(pattern), op, **flags)


RULES: Final = (
    # who
    _rule("full_name", rf"\b[Mm]y (?:full )?name is (?P<value>{_NAME})"),
    _rule("full_name", rf"\b(?:[Yy]ou can|[Pp]lease|[Jj]ust) call me (?P<value>{_NAME})"),
    _rule("birthday", r"\b[Mm]y birthday is (?:on )?(?P<value>(?:the )?\w+ ?\w* ?(?:of )?\w+)"),
    _rule("language", rf"\bI speak (?:fluent )?(?P<value>{_NAME}(?:(?:,| and|, and) {_NAME})*)",
          is_list=True),
    _rule("email", r"\b[Mm]y e-?mail(?: address)? is (?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    _rule("phone", r"\b[Mm]y (?:phone|mobile|cell)(?: number)? is (?P<value>\+?[\d ()/-]{6,20}\d)"),
    _rule("timezone", r"\b[Mm]y time ?zone is (?P<value>[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?)"),
    # work
    _rule("experience_level", rf"{_I} an? (?P<value>{_LEVELS})\b"),
    _rule("title", rf"(?:{_I}|\bI work as) an? (?:(?:{_LEVELS}) )?"
          rf"(?P<value>(?:[a-z][a-z-]* ){{0,3}}?(?:{_TRADES}))\b(?! (?:at heart|of sorts|fan))"),
    _rule("title", r"\b[Mm]y (?:job )?title is (?P<value>[\w-]+(?: [\w-]+){0,3})"),
    _rule("specialty", r"\bI speciali[sz]e in (?P<value>[\w-]+(?: (?!and I\b)[\w-]+){0,6})"),
    _rule("skill", r"^I (?:also )?know (?P<value>[A-Z][\w+#]*(?:\.\w+)?)(?=[.,;!]?$|[,;] | and\b)"),
    _rule("employer", rf"\bI (?:now |currently |still )?work (?:for|at) (?P<value>{_NAME})"),
    _rule("employer", rf"{_HAVE} (?:been working|worked|been) (?:for|at|with) (?P<value>{_NAME})"
          r"(?=[^.!?]*\bsince\b)"),
    _rule("employer", rf"{_HAVE} (?:just |recently )?(?:joined|started (?:working )?(?:at|for))"
          rf" (?P<value>{_NAME})"),
    _rule("employer", rf"\b[Mm]y (?:new )?employer is (?P<value>{_NAME})"),
    _rule("employer", rf"\bI (?:used to work|previously worked|formerly worked) (?:for|at|with) "
          rf"(?P<value>{_NAME})", is_former=True),
    _rule("employer", rf"\bI worked (?:for|at|with) (?P<value>{_NAME})(?![^.!?]*\bsince\b)",
          is_former=True),
    _rule("employer", rf"\bI (?:no longer work|{_DO_NOT} work) (?:for|at|with) (?P<value>{_NAME})",
          "deny"),
    _rule("employer", rf"{_HAVE} (?:just |recently )?(?:left|quit) my job (?:at|with) "
          rf"(?P<value>{_NAME})", "deny"),
    _rule("manager", rf"\b[Mm]y (?:new )?(?:manager|boss) is (?P<value>{_NAME})"),
    _rule("manager", rf"\bI (?:now )?report to (?P<value>{_NAME})"),
    _rule("team", rf"{_I} (?:on|in) the (?P<value>{_NAME}) team"),
    _rule("office", rf"{_HAVE} (?:just )?moved to the (?P<value>{_NAME}) office"),
    _rule("office", rf"\bI work (?:from|in|out of) the (?P<value>{_NAME}) office"),
    _rule("office", rf"{_I} (?:now )?(?:in|at|based in) the (?P<value>{_NAME}) office"),
    _rule("office", rf"\bI (?:no longer|{_DO_NOT}) work (?:from|in) the (?P<value>{_NAME}) office",
          "deny"),
    # where
    _rule("home", rf"\bI (?:now |currently |still )?live in (?P<value>{_PLACE})"),
    _rule("home", rf"{_HAVE} (?:just |recently )?(?:moved|relocated) to (?P<value>{_PLACE})"
          r"(?! (?:office|team|plan|tier)\b)"),
    _rule("home", rf"{_I} (?:moving|relocating) to (?P<value>{_PLACE})(?! (?:office|team)\b)"),
    _rule("home", rf"\bI used to live in (?P<value>{_PLACE})", is_former=True),
    _rule("home", rf"\bI (?:no longer|{_DO_NOT}) live in (?P<value>{_PLACE})", "deny"),
    # whom
    _rule("kin", rf"{_MY_KIN}(?:['\u2019]s name is| is (?:called|named)|,? (?:is )?)"
          rf" ?(?P<value>{_NAME})(?!['\u2019]s\b)"),
    _rule("kin", rf"\bI have an? (?:\w+ )?(?P<kin>{_KINS}) (?:called|named) (?P<value>{_NAME})"),
    _rule("employer", rf"{_RELATIVE}works (?:for|at) (?P<value>{_NAME})"),
    _rule("home", rf"{_RELATIVE}lives in (?P<value>{_PLACE})"),
    _rule("allergy", rf"{_RELATIVE}is allergic to (?P<value>{_ITEMS})", is_list=True),
    _rule("likes", rf"{_RELATIVE}{_SURE}(?:likes|loves|enjoys) (?P<value>{_ITEMS})", is_list=True),
    _rule("dislikes", rf"{_RELATIVE}{_SURE}(?:hates|dislikes) (?P<value>{_ITEMS})", is_list=True),
    # body and taste
    _rule("allergy", rf"{_I} {_SURE}allergic to (?P<value>{_ITEMS})", is_list=True),
    _rule("allergy", r"\bI have an? (?:severe |mild |strong |bad |serious )?"
          r"(?!severe|mild|strong|bad|serious)(?P<value>\w+) allergy\b"),
    _rule("allergy", rf"\bI have an? (?:\w+ )?allergy to (?P<value>{_ITEMS})", is_list=True),
    _rule("allergy", rf"{_I} (?P<value>lactose|gluten) intolerant\b"),
    _rule("allergy", rf"{_I} (?:not|no longer) allergic to (?P<value>{_ITEMS})", "deny",
          is_list=True),
    _rule("diet", rf"{_I} {_SURE}(?:an? )?(?:strict )?(?P<value>vegetarian|vegan|pescatarian)\b"
          r"(?! (?:food|recipe|option|restaurant))"),
    _rule("diet", rf"{_I} no longer (?:an? )?(?P<value>vegetarian|vegan|pescatarian)\b", "deny"),
    _rule("likes", rf"(?<!what )(?<!as )\bI {_SURE}(?:like|love|enjoy|adore) (?P<value>{_ITEMS})"
          r"(?![^.!?]*\bany ?more\b)", is_list=True),
    _rule("likes", rf"{_I} {_SURE}an? (?:(?:big|huge|great|massive) )?fan of (?P<value>{_ITEMS})",
          is_list=True),
    _rule("likes", rf"\b[Mm]y (?:all-time )?favou?rite [\w -]{{2,24}}? is (?P<value>{_ITEM})"),
    _rule("likes", rf"\bI used to (?:like|love|enjoy) (?P<value>{_ITEMS})", "deny", is_list=True),
    _rule("likes", rf"\bI no longer (?:like|love|enjoy) (?P<value>{_ITEMS})", "deny", is_list=True),
    _rule("likes", rf"\bI {_DO_NOT} {_SURE}(?:like|love|enjoy) (?P<value>{_ITEMS}) any ?more\b",
          "deny", is_list=True),
    _rule("dislikes", rf"\bI {_SURE}(?:hate|dislike|detest|can['\u2019]t stand|cannot stand) "
          rf"(?P<value>{_ITEMS})", is_list=True),
    _rule("dislikes", rf"\bI {_DO_NOT} {_SURE}(?:like|love|enjoy) (?P<value>{_ITEMS})"
          r"(?![^.!?]*\bany ?more\b)", is_list=True),
    _rule("dislikes", rf"{_I} not (?:really |exactly )?an? (?:big |huge )?fan of "
          rf"(?P<value>{_ITEMS})(?![^.!?]*\bany ?more\b)", is_list=True),
    _rule("dislikes", rf"\bI no longer (?:hate|dislike) (?P<value>{_ITEMS})", "deny", is_list=True),
    # what is to come
    _rule("goal", r"\b[Mm]y (?:main |new )?goal is to (?P<value>[^.!?\n]{3,160})"),
    _rule("plan", rf"(?:{_I} planning|\bI plan|\bI intend) to "
          r"(?P<value>[a-z]+ [^.!?\n]{3,160})"),
    _rule("plan", rf"{_I} going to (?!the\b|an?\b|my\b|be\b)"
          r"(?P<value>[a-z][^.!?\n]{3,160})", is_dated=True),
    _rule("appointment", r"\bI have (?:an? |my )(?P<value>[^.!?\n]{0,60}?\b(?:appointment|meeting|"
          r"interview|flight|exam|check-?up|surgery|call|date)\b[^.!?\n]{0,80})", is_dated=True),
    # how answers should be
    _rule("response_length", r"\bI prefer (?P<value>short|brief|concise|long|detailed|thorough) "
          r"(?:answers|replies|responses|explanations|code examples|examples)\b"),
    _rule("response_length", r"\b[Kk]eep (?:your |the )?(?:answers|replies|responses) "
          r"(?P<value>short|brief|concise)\b"),
    _rule("preferred_language", r"(?:\b[Pp]lease|\b[Aa]lways|^From now on,?)(?: always)? "
          r"(?:answer|reply|respond|write|speak)(?: to me)? in (?P<value>[A-Z][a-z]+)\b"),
    _rule("answer_rule", r"^(?:[Pp]lease,? )?(?:[Ff]rom now on,? )?"
          r"(?P<value>(?:[Aa]lways|[Nn]ever) "
          r"(?:use|include|add|avoid|address|call|cite|explain|show|start|end|give|ask|mention)\b"
          r"[^.!?\n]{2,160})"),
)  # fmt: skip


class RuleExtractor:
    """The default extractor: patterns in the first person, a claim a match."""

    def extract(self, text: str, *, at: datetime) -> tuple[ExtractedClaim, ...]:
        """Find the claims of a text in order of appearance; never fails on any text."""
        claims: list[ExtractedClaim] = []
        for start, end in sentence_spans(text):
            # Nobody says so much at once; a page without a full stop would only cost time.
            if end - start > _LONGEST_SENTENCE:
                continue
            claims += islice(_claims(text[start:end], start, at), _MOST_CLAIMS - len(claims))
            if len(claims) >= _MOST_CLAIMS:
                break
        return tuple(sorted(claims, key=lambda claim: (claim.start, claim.slot)))


def _claims(sentence: str, offset: int, moment: datetime) -> Iterator[ExtractedClaim]:
    if sentence.rstrip(" \"')").endswith("?"):
        return

    # Blanks keep the positions, so that a match outside of a quotation is where it was.
    plain = _QUOTATION.sub(lambda match: " " * len(match.group()), sentence)
    hedge = _HEDGE.search(plain)
    certain = plain if hedge is None else plain[: hedge.start()]

    for rule in RULES:
        for match in rule.pattern.finditer(certain):
            yield from _of_match(rule, match, offset, moment)


def _of_match(
    rule: Rule, match: re.Match[str], offset: int, moment: datetime
) -> Iterator[ExtractedClaim]:
    sentence = match.string
    is_ahead = rule.slot in _DATED_BY_VALUE
    day = date_said(sentence, moment, is_ahead=is_ahead)
    if rule.is_dated and day is None:
        return

    groups = match.groupdict()
    slot = _KIN[groups["kin"]] if rule.slot == "kin" else rule.slot
    op = "correct" if rule.op == "assert" and _is_correction(rule, match) else rule.op

    valid_from = None if is_ahead else day
    valid_until = None
    if rule.is_former:
        valid_until = date_after(sentence, "until", moment) or moment
        valid_from = date_after(sentence, "from", moment)

    tail = sentence[match.end() :]
    for value in _values(rule, match["value"]):
        if rule.is_list and not _is_whole(value, tail):
            continue
        if is_ahead and day is not None:
            value = f"{value} ({day.date().isoformat()})"
        yield ExtractedClaim(
            slot=slot,
            value=value,
            start=offset + match.start(),
            end=offset + match.end(),
            subject=groups.get("subject"),
            valid_from=valid_from,
            valid_until=valid_until,
            op=op,
            planned=valid_from is not None and valid_from > moment,
        )


def _is_correction(rule: Rule, match: re.Match[str]) -> bool:
    """Whether a sentence takes an earlier word back; "actually" is a filler as often."""
    opening = _CORRECTION.match(match.string)
    if opening is None or rule.is_list:
        return False
    return match.start() - opening.end() <= len(", ")


_DATED_BY_VALUE: Final = frozenset({"plan", "goal", "appointment", "birthday"})
"""Slots whose words name the day of something to come, not when the claim began to hold."""


def _values(rule: Rule, words: str) -> list[str]:
    parts = [part.strip(" .,") for part in _PARTS.split(words) if part.strip(" .,")]
    # "war and conflict" after "reading about" is one thing; "jazz and hiking" are two.
    is_one = "," not in words and any(" " in part for part in parts)
    if not rule.is_list or is_one:
        return [words.strip(" .,")]
    return parts


_RESTRICTION: Final = re.compile(r"\s*(?:that|which|who|whom|whose|where|to)\b")
_UNFIT: Final = re.compile(
    r"^(?:its|his|their|our|these|those|how|any|some|mr|mrs|ms|dr|seeing)\b|\b(?:uh|um|idea|way|variety|kind|kinds)\b",
    re.IGNORECASE,
)


def _is_whole(value: str, tail: str) -> bool:
    """Whether a value says the same without the words around it.

    "books that win prizes" are not all books, and "the energy" is that of something.
    """
    if _UNFIT.search(value) or _RESTRICTION.match(tail):
        return False
    if value.count("'") % 2 and not re.search(r"\w'\w", value):
        return False
    return not value.startswith("the ") or any(c.isupper() or c.isdigit() for c in value)
