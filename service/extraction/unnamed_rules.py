"""Rules of what is gone and not named: "I sold my car", "we gave the dog away", "I quit my job".

Such a sentence says a kind of thing and means the one of that kind that there is. Of two it does
not say which, and of what stood before the day that it names it says nothing: then nothing ends
(`writing/withdrawal.py`). So the pattern takes the word of the kind for its value.

>>> may_be_of_kind("dog", "We have a cat named Olive"), may_be_of_kind("car", "I drive a Volvo")
(False, True)
"""

from __future__ import annotations

import re
from typing import Final

from .german_phrases import AT_TIMES, MEANWHILE
from .phrases import DEATH, DO_NOT, HAVE, I_AM, PETS, RECENT, WE_HAVE
from .rule import Rule, row

_KINDS: Final = (
    "car auto wagen zweitwagen firmenwagen dienstwagen",
    "van transporter campervan",
    "truck lorry lkw",
    "motorbike motorcycle scooter moped motorrad motorroller vespa ducati harley",
    "dog puppy pup hund hündin welpe",
    "cat kitten kitty katze kater kätzchen",
    "rabbit kaninchen hase",
    "horse pony pferd",
    "hamster",
    "guinea meerschweinchen",
    "parrot budgie papagei wellensittich",
    "tortoise turtle schildkröte",
)
"""Words of one kind stand in one row; what has a word of another row is of another kind."""

_KIND_OF: Final = {word: number for number, words in enumerate(_KINDS) for word in words.split()}
_WORD: Final = re.compile(r"\w+")


def may_be_of_kind(kind: str, quote: str) -> bool:
    """Whether what was said in a quotation may be of a kind: it names it, or no other."""
    kinds = _kinds_in(kind)
    quoted_kinds = _kinds_in(quote)
    return not kinds or not quoted_kinds or not kinds.isdisjoint(quoted_kinds)


def _kinds_in(text: str) -> set[int]:
    words = _WORD.findall(text.casefold())
    return {_KIND_OF[word] for word in words if word in _KIND_OF}


def _ends(slot: str, pattern: str) -> Rule:
    return row(slot, pattern, "deny", is_unnamed=True)


# Behind it the sentence ends, or says since when, why, or what came of it; "my car keys" are none.
_END = (
    r"(?=[.,;!:)]|$| (?:and|but|so|because|since|last|this|yesterday|today|on|in|two|three|a|"
    r"after|for (?:good|about|only|[$\u20ac\u00a3\d]+)|to(?! a new\b))(?!\w))"
)
_WHEN_END = r"(?=[.,;!:)]|$| (?:and|but|so|because|last|this|yesterday|today|on|in(?! my\b))(?!\w))"
_VEHICLES = r"(?P<value>car|van|truck|lorry|motorbike|motorcycle|scooter|campervan)"
_PETS = rf"(?P<value>{PETS})"
_PARTNERS = (
    r"(?P<value>wife|husband|partner|girlfriend|boyfriend|spouse|fianc[e\u00e9]e?|gf|bf|hubby)"
)
_SEPARATION = (
    r"(?:broke up|split up|(?:have )?separated|(?:got|are|are getting) (?:divorced|separated))"
)
_DISPOSAL = (
    r"(?:sold|scrapped|gave away|given away|got rid of|gotten rid of|totall?ed|wrote off|"
    r"written off)"
)
_OWN = r"(?:[Mm]y|[Oo]ur)"

ENGLISH_UNNAMED: Final = (
    _ends("vehicle", rf"{WE_HAVE} {RECENT}{_DISPOSAL} (?:my|our) (?:family )?{_VEHICLES}{_END}"),
    _ends("vehicle", rf"\b{_OWN} {_VEHICLES} (?:was|got|has been|is) "
        rf"(?:stolen|sold|scrapped|written off|totall?ed){_END}"),
    _ends("vehicle", rf"\b(?:I|[Ww]e) no longer (?:have|own|drive) (?:a|the|my|our) {_VEHICLES}"
        rf"{_END}"),
    _ends("vehicle", rf"\b(?:I|[Ww]e) {DO_NOT} (?:have|own|drive) (?:a|the|my|our) {_VEHICLES} "
        r"any ?more\b"),
    _ends("pet", rf"{WE_HAVE} {RECENT}(?:had to )?(?:give|gave|given) (?:the|my|our) {_PETS} "
        r"away\b"),
    _ends("pet", rf"{WE_HAVE} {RECENT}(?:had to )?(?:rehomed?|put down|give up|gave up|given up) "
        rf"(?:the|my|our) {_PETS}{_WHEN_END}"),
    _ends("pet", rf"\b{_OWN} {_PETS} {DEATH}{_WHEN_END}"),
    _ends("employer", rf"{HAVE} {RECENT}(?:left|quit|lost|resigned from) my (?P<value>job){_END}"),
    _ends("employer", rf"\bI (?:just |recently )?(?:was|got|have been) (?:just )?"
        rf"(?P<value>fired|laid off|made redundant){_WHEN_END}"),
    _ends("employer", rf"{I_AM} (?:now |currently )?(?P<value>unemployed|out of work|between jobs)"
        r"(?=[.,;!]|$| (?:now|since|and|but|again|at the moment)\b)"),
    _ends("team", rf"{I_AM} (?:no longer|not(?=[^.,;!?]* any ?more\b)) (?:part of |on |in )?"
        r"(?:an? |the |our )?(?P<value>team|member)(?: of the team)?(?: any ?more)?(?=[.,;!]|$)"),
    _ends("partner", rf"\b[Mm]y {_PARTNERS} and I {RECENT}{_SEPARATION}{_WHEN_END}"),
    _ends("partner", rf"^[Mm]e and my {_PARTNERS} {RECENT}{_SEPARATION}{_WHEN_END}"),
    _ends("partner", rf"\b[Mm]y {_PARTNERS} (?:just )?(?:left|dumped) me(?! on read\b){_WHEN_END}"),
    _ends("partner", rf"{I_AM} (?P<value>single|divorced) (?:again|now)(?=[.,;!]|$| and\b)"),
)  # fmt: skip

_GERMAN_VEHICLES = r"(?P<value>(?i:Auto|Wagen|Zweitwagen|Motorrad|Motorroller|Transporter))"
_GERMAN_PETS = (
    r"(?P<value>(?i:Hund|H\u00fcndin|Katze|Kater|Kaninchen|Pferd|Pony|Hamster|Meerschweinchen|Papagei|"
    r"Wellensittich|Schildkr\u00f6te))"
)
_GERMAN_PARTNERS = r"(?P<value>(?i:Frau|Mann|Partner(?:in)?|Freund(?:in)?|Verlobter?))"
_GERMAN_OWNER = r"(?:mein|unser)"
_ARTICLE = r"(?:den|die|das|meine?n?|unsere?n?)"
_GERMAN_OWN = r"(?:meine?n?|unsere?n?)"
_I_HAVE = r"\b(?:[Ii]ch habe|[Ww]ir haben)"
_GERMAN_DISPOSAL = r"(?:verkauft|verschrottet|abgegeben|abgemeldet|weggegeben)"
_GERMAN_END = (
    r"(?=[.,;!:)]|$| (?:und|aber|weil|denn|für|an|seit|letzte[nrs]?|gestern|heute|am|im|vor|"
    r"nach)\b)"
)

GERMAN_UNNAMED: Final = (
    _ends("vehicle", rf"{_I_HAVE} {AT_TIMES}{_GERMAN_OWN} {_GERMAN_VEHICLES} (?:\w+ ){{0,3}}?"
        rf"{_GERMAN_DISPOSAL}{_GERMAN_END}"),
    _ends("vehicle", rf"{_I_HAVE} {MEANWHILE}kein {_GERMAN_VEHICLES} mehr{_GERMAN_END}"),
    _ends("vehicle", rf"\b(?i:{_GERMAN_OWNER}) {_GERMAN_VEHICLES} (?:wurde|ist) (?:\w+ )?"
        rf"(?:gestohlen|geklaut|verkauft|verschrottet){_GERMAN_END}"),
    _ends("pet", rf"{_I_HAVE} {AT_TIMES}{_ARTICLE} {_GERMAN_PETS} (?:\w+ ){{0,2}}?"
        rf"(?:abgegeben|weggegeben|verkauft|einschläfern lassen){_GERMAN_END}"),
    _ends("pet", rf"\b(?:[Ii]ch musste|[Ww]ir mussten) {AT_TIMES}{_ARTICLE} {_GERMAN_PETS} "
        rf"(?:\w+ )?(?:abgeben|weggeben|einschläfern(?: lassen)?){_GERMAN_END}"),
    _ends("pet", rf"\b(?i:{_GERMAN_OWNER})e? {_GERMAN_PETS} ist (?:gestern |letzte Woche |leider |"
        rf"jetzt |plötzlich )*(?:gestorben|tot){_GERMAN_END}"),
    _ends("pet", rf"{_I_HAVE} {MEANWHILE}keinen? {_GERMAN_PETS} mehr{_GERMAN_END}"),
    _ends("employer", r"\b[Ii]ch habe (?:\w+ ){0,2}?meinen (?P<value>(?i:Job)) "
        r"(?!bei\b)(?:\w+ ){0,2}?(?:gekündigt(?![^.!?]*\b(?:letzter|zum|ab|bis)\b)|"
        r"verloren|aufgegeben|hingeschmissen)\b"),
    _ends("employer", rf"\b[Ii]ch bin {MEANWHILE}(?P<value>arbeitslos|ohne Job)\b"),
    _ends("partner", rf"\b[Mm]eine? {_GERMAN_PARTNERS} und ich (?:haben uns (?:\w+ ){{0,2}}?"
        r"getrennt|sind (?:jetzt |inzwischen )?(?:getrennt|geschieden|nicht mehr zusammen))"
        rf"(?! (?:im|am|an)\b){_GERMAN_END}"),
    _ends("partner", r"\b[Ii]ch bin (?:jetzt |wieder )+(?P<value>Single|geschieden)\b"),
)  # fmt: skip
