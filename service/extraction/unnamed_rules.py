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
from .rule import row

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
    asked = _kinds_in(kind)
    told = _kinds_in(quote)
    return not asked or not told or not asked.isdisjoint(told)


def _kinds_in(text: str) -> set[int]:
    words = _WORD.findall(text.casefold())
    return {_KIND_OF[word] for word in words if word in _KIND_OF}


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
_APART = r"(?:broke up|split up|(?:have )?separated|(?:got|are|are getting) (?:divorced|separated))"
_GONE = (
    r"(?:sold|scrapped|gave away|given away|got rid of|gotten rid of|totall?ed|wrote off|"
    r"written off)"
)
_MINE = r"(?:[Mm]y|[Oo]ur)"

ENGLISH_UNNAMED: Final = (
    row("vehicle", rf"{WE_HAVE} {RECENT}{_GONE} (?:my|our) (?:family )?{_VEHICLES}{_END}",
        "deny", is_unnamed=True),
    row("vehicle", rf"\b{_MINE} {_VEHICLES} (?:was|got|has been|is) "
        rf"(?:stolen|sold|scrapped|written off|totall?ed){_END}", "deny", is_unnamed=True),
    row("vehicle", rf"\b(?:I|[Ww]e) no longer (?:have|own|drive) (?:a|the|my|our) {_VEHICLES}"
        rf"{_END}", "deny", is_unnamed=True),
    row("vehicle", rf"\b(?:I|[Ww]e) {DO_NOT} (?:have|own|drive) (?:a|the|my|our) {_VEHICLES} "
        r"any ?more\b", "deny", is_unnamed=True),
    row("pet", rf"{WE_HAVE} {RECENT}(?:had to )?(?:give|gave|given) (?:the|my|our) {_PETS} away\b",
        "deny", is_unnamed=True),
    row("pet", rf"{WE_HAVE} {RECENT}(?:had to )?(?:rehomed?|put down|give up|gave up|given up) "
        rf"(?:the|my|our) {_PETS}{_WHEN_END}", "deny", is_unnamed=True),
    row("pet", rf"\b{_MINE} {_PETS} {DEATH}{_WHEN_END}", "deny", is_unnamed=True),
    row("employer", rf"{HAVE} {RECENT}(?:left|quit|lost|resigned from) my (?P<value>job){_END}",
        "deny", is_unnamed=True),
    row("employer", rf"\bI (?:just |recently )?(?:was|got|have been) (?:just )?"
        rf"(?P<value>fired|laid off|made redundant){_WHEN_END}", "deny", is_unnamed=True),
    row("employer", rf"{I_AM} (?:now |currently )?(?P<value>unemployed|out of work|between jobs)"
        r"(?=[.,;!]|$| (?:now|since|and|but|again|at the moment)\b)", "deny", is_unnamed=True),
    row("team", rf"{I_AM} (?:no longer|not(?=[^.,;!?]* any ?more\b)) (?:part of |on |in )?"
        r"(?:an? |the |our )?(?P<value>team|member)(?: of the team)?(?: any ?more)?(?=[.,;!]|$)",
        "deny", is_unnamed=True),
    row("partner", rf"\b[Mm]y {_PARTNERS} and I {RECENT}{_APART}\b", "deny", is_unnamed=True),
    row("partner", rf"^[Mm]e and my {_PARTNERS} {RECENT}{_APART}\b", "deny", is_unnamed=True),
    row("partner", rf"\b[Mm]y {_PARTNERS} (?:just )?(?:left|dumped) me{_WHEN_END}", "deny",
        is_unnamed=True),
    row("partner", rf"{I_AM} (?P<value>single|divorced) (?:again|now)(?=[.,;!]|$| and\b)", "deny",
        is_unnamed=True),
)  # fmt: skip

_GERMAN_VEHICLES = r"(?P<value>(?i:Auto|Wagen|Zweitwagen|Motorrad|Motorroller|Transporter))"
_GERMAN_PETS = (
    r"(?P<value>(?i:Hund|H\u00fcndin|Katze|Kater|Kaninchen|Pferd|Pony|Hamster|Meerschweinchen|Papagei|"
    r"Wellensittich|Schildkr\u00f6te))"
)
_GERMAN_PARTNERS = r"(?P<value>(?i:Frau|Mann|Partner(?:in)?|Freund(?:in)?|Verlobter?))"
_MY = r"(?:mein|unser)"
_THE = r"(?:den|die|das|meine?n?|unsere?n?)"
_MINE_NOW = r"(?:meine?n?|unsere?n?)"
_I_HAVE = r"\b(?:[Ii]ch habe|[Ww]ir haben)"
_SOLD = r"(?:verkauft|verschrottet|abgegeben|abgemeldet|weggegeben)\b"

GERMAN_UNNAMED: Final = (
    row("vehicle", rf"{_I_HAVE} {AT_TIMES}{_MINE_NOW} {_GERMAN_VEHICLES} (?:\w+ ){{0,3}}?{_SOLD}",
        "deny", is_unnamed=True),
    row("vehicle", rf"{_I_HAVE} {MEANWHILE}kein {_GERMAN_VEHICLES} mehr\b", "deny",
        is_unnamed=True),
    row("vehicle", rf"\b(?i:{_MY}) {_GERMAN_VEHICLES} (?:wurde|ist) (?:\w+ )?"
        r"(?:gestohlen|geklaut|verkauft|verschrottet)\b", "deny", is_unnamed=True),
    row("pet", rf"{_I_HAVE} {AT_TIMES}{_THE} {_GERMAN_PETS} (?:\w+ ){{0,2}}?"
        r"(?:abgegeben|weggegeben|verkauft|einschläfern lassen)\b", "deny", is_unnamed=True),
    row("pet", rf"\b(?:[Ii]ch musste|[Ww]ir mussten) {AT_TIMES}{_THE} {_GERMAN_PETS} (?:\w+ )?"
        r"(?:abgeben|weggeben|einschläfern(?: lassen)?)\b", "deny", is_unnamed=True),
    row("pet", rf"\b(?i:{_MY})e? {_GERMAN_PETS} ist (?:gestern |letzte Woche |leider |jetzt |"
        r"plötzlich )*(?:gestorben|tot)\b", "deny", is_unnamed=True),
    row("pet", rf"{_I_HAVE} {MEANWHILE}keinen? {_GERMAN_PETS} mehr\b", "deny", is_unnamed=True),
    row("employer", r"\b[Ii]ch habe (?:\w+ ){0,2}?meinen (?P<value>(?i:Job)) "
        r"(?!bei\b)(?:\w+ ){0,2}?(?:gekündigt(?![^.!?]*\b(?:letzter|zum|ab|bis)\b)|"
        r"verloren|aufgegeben|hingeschmissen)\b",
        "deny", is_unnamed=True),
    row("employer", rf"\b[Ii]ch bin {MEANWHILE}(?P<value>arbeitslos|ohne Job)\b", "deny",
        is_unnamed=True),
    row("partner", rf"\b[Mm]eine? {_GERMAN_PARTNERS} und ich (?:haben uns (?:\w+ ){{0,2}}?getrennt|"
        r"sind (?:jetzt |inzwischen )?(?:getrennt|geschieden|nicht mehr zusammen))\b", "deny",
        is_unnamed=True),
    row("partner", r"\b[Ii]ch bin (?:jetzt |wieder )+(?P<value>Single|geschieden)\b", "deny",
        is_unnamed=True),
)  # fmt: skip
