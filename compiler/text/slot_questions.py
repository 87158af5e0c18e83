"""Which built-in slots a question asks somebody's facts of, in the words that people ask with.

"What do I do for a living?" shares no word with `title`, nor "Who is my boss?" with `manager`. The
facts of who asks are at hand in any case; this says which of them are meant. A question without "I"
or "my" may be about anybody, and names nothing here, but for what is near or local: that is said of
where one lives.

>>> sorted(slots_asked("Where do I work?")), sorted(slots_asked("Who's my boss?"))
(['employer'], ['manager'])
>>> sorted(slots_asked("Where does Tom work?")), sorted(slots_asked("A florist nearby?"))
([], ['home'])

"Where did I work before?" asks what a slot had, so that what has ended is the answer.

>>> asks_what_was("Where did I work before?"), asks_what_was("What do I eat before a run?")
(True, False)
"""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import Final

_WORDS: Final = MappingProxyType(
    {
        # "Who am I supposed to call?" asks for somebody else, so the words must end there.
        "full_name": r"my (?:\w+ )?name|am I called|who am I(?=\W*(?:\n|$))|heiße ich|"
        r"mein\w* (?:\w+)?name",
        "title": r"my (?:job|profession|occupation|title|role|trade)|do for (?:a living|work)|"
        r"I do (?:for a living|professionally)|mein\w* (?:Beruf|Job)|(?:bin|arbeite|mache) ich "
        r"(?:von Beruf|beruflich|als was)|als was arbeite ich",
        "employer": r"(?:where|who|whom|what company)\b.{0,20}\b(?:do|am|did) I (?:now |currently "
        r")?(?:work|employed|working)|my (?:employer|company|job|workplace|firm)|"
        r"do I (?:still )?have a job|am I (?:still )?(?:employed|unemployed|out of work)|"
        r"(?:wo|bei wem|für wen) arbeite ich|habe ich (?:noch )?(?:einen|keinen) Job|"
        r"bin ich arbeitslos|mein\w* (?:Arbeitgeber|Firma|Job)",
        # "The boss" may be anybody's: a possessive makes it the speaker's.
        "manager": r"my (?:\w+ )?(?:boss|manager|supervisor)|I report to|"
        r"mein\w* (?:Chef|Chefin|Vorgesetzte\w*)",
        "team": r"my team|team (?:am I|do I)|mein\w* Team",
        "office": r"my office|I work from|office (?:am I|do I)|mein\w* Büro",
        "home": r"(?:do|did) I live|where(?: is|['\u2019]s) (?:my )?home|"
        r"am I (?:living|based)|my (?:\w+ )?(?:home|city|town|address|"
        r"place|area|neighbou?rhood|hometown)|nearby|near (?:me|us|here)|"
        r"close to (?:me|my place|home)|around here|in my (?:area|city|town)|"
        r"(?:city|town|country) (?:am I|do I)|(?:wohne|lebe) ich|mein\w* (?:Wohnort|Adresse|Stadt|"
        r"Zuhause)|(?:hier )?in (?:meiner|der) Nähe",
        "timezone": r"my time ?zone|time (?:is it|zone) .{0,20}\bme\b|mein\w* Zeitzone",
        "birthday": r"my (?:birthday|age|date of birth)|was I born|old am I|I turn|do I turn|"
        r"mein\w* (?:Geburtstag|Alter)|(?:bin|wurde) ich geboren|alt bin ich",
        # German has one word for a man and a husband, as for a woman and a wife.
        "partner": r"my (?:\w+ )?(?:wife|husband|partner|spouse|girlfriend|boyfriend|fianc\w+)|"
        r"I(?:['\u2019]m| am)? (?:married|engaged|dating)|"
        r"am I (?:married|engaged|dating|with|single)|"
        r"(?:bin|lebe) ich (?:noch )?(?:verheiratet|Single|vergeben|allein)|"
        r"mein\w* (?:Frau|Mann|Partner\w*|Freundin)|ich verheiratet",
        # Who speaks of the family means the children of it, too.
        "child": r"my (?:\w+ )?(?:kids?|child|children|sons?|daughters?|family)|"
        r"I have .{0,12}(?:kids|children)|mein\w* (?:Kind\w*|Sohn|Söhne|Tochter|Töchter|Familie)",
        "sibling": r"my (?:\w+ )?(?:brothers?|sisters?|siblings?)|"
        r"I have .{0,12}(?:brothers|sisters|siblings)|"
        r"mein\w* (?:Br[uü]der|Schwestern?|Geschwister)",
        "parent": r"my (?:\w+ )?(?:mother|father|mum|mom|dad|parents)|"
        r"mein\w* (?:Mutter|Vater|Mama|Papa|Eltern)",
        "friend": r"my (?:\w+ )?friends?|mein\w* (?:\w+ )?Freund\w*",
        "pet": r"my (?:\w+ )?(?:pets?|dogs?|cats?|puppy|kitten|animals?)|I have .{0,12}pets|"
        r"(?:pets?|dogs?|cats?) do I have|do I (?:still )?have (?:any |an? )?(?:pets?|dogs?|cats?)|"
        r"(?:Haustiere?|Hunde?|Katzen?) habe ich|habe ich (?:noch )?(?:ein\w* |kein\w* )?"
        r"(?:Haustiere?|Hunde?|Katzen?)|mein\w* (?:Haustier\w*|Hund\w*|Katzen?|Kater)",
        "language": r"languages? (?:do|can) I|I speak|my (?:native |first )?languages?|"
        r"Sprachen? (?:spreche|kann) ich|mein\w* (?:Muttersprache|Sprachen?)",
        "email": r"my e-?mail|mein\w* E-?Mail\w*",
        "phone": r"my (?:\w+ )?(?:phone|number|mobile)|mein\w* (?:\w*[Nn]ummer|Telefon\w*)",
        "allergy": r"I(?:['\u2019]m| am)? allergic|am I allergic|my allerg\w+|mein\w* Allergie\w*|"
        r"ich .{0,20}allergisch",
        "health_condition": r"my (?:\w+ )?(?:illness(?:es)?|diseases?|health(?! insurance)\b|"
        r"(?:health |medical )?conditions?|diagnos[ei]s)|"
        r"(?:illness(?:es)?|diseases?|conditions?) do I have(?! to\b)|"
        r"do I (?:have|suffer from) (?:\w+ ){0,2}(?:illness(?:es)?|diseases?|conditions?)|"
        r"I(?: was|['\u2019]ve been)? diagnosed|was I diagnosed|mein\w* (?:\w*[Kk]rankheit\w*|"
        r"\w*[Ee]rkrankung\w*|Diagnosen?|Gesundheit)|(?:Krankheit|Erkrankung)\w* habe ich|"
        r"(?:woran|worunter) leide ich",
        "medication": r"my (?:\w+ )?(?:medications?|medicines?|meds|pills|tablets|prescriptions?|"
        r"drugs)|(?:medications?|medicines?|meds|pills|tablets|drugs) (?:do|am|should|must) I|"
        r"was I prescribed|mein\w* (?:Medi(?:kament\w*|zin)|Tabletten|Pillen)|"
        r"(?:Medikament\w*|Tabletten|Medizin|Arznei\w*) (?:nehme|muss|soll) ich",
        "vehicle": r"my (?:\w+ )?(?:cars?|vehicles?|van|truck|motorbike|motorcycle|scooter)|"
        r"(?:car|vehicle)s? do I|what do I drive|do I (?:still )?(?:have|own|drive) an? (?:car|van|"
        r"truck|motorbike|motorcycle|scooter)|(?:habe|besitze|fahre) ich (?:noch )?k?ein(?:en)? "
        r"(?:Auto|Wagen|Motorrad)|mein\w* (?:Autos?|Wagen|"
        r"Fahrzeuge?|Motorrad)|(?:Autos?|Wagen|Fahrzeuge?) (?:habe|fahre) ich|"
        r"was fahre ich(?=\W*(?:\n|$))",
        # Where food is asked for at all, the area brings diets and allergies.
        "diet": r"my diet|(?:do|can|should) I eat|mein\w* Ernährung|(?:esse|ernähre) ich",
        "goal": r"my (?:\w+ )?goals?|I (?:want to|trying to) (?:achieve|reach)|mein\w* Ziele?",
        "plan": r"my (?:\w+ )?plans?|(?:do|have) I (?:have )?planned|coming up|my (?:week|weekend|"
        r"schedule|calendar|agenda)|mein\w* (?:Pläne?|Woche|Kalender)|habe ich (?:\w+ )?vor\b",
        # A week and a calendar hold plans and appointments alike.
        "appointment": r"my (?:\w+ )?(?:appointments?|schedule|calendar|agenda|meetings?|week)|"
        r"I have .{0,20}appointments?|coming up|mein\w* (?:Termine?|Kalender|Woche)|"
        r"habe ich .{0,20}(?:Termine?|vor\b)",
        "todo": r"my (?:\w+ )?(?:to-?dos?(?: list)?|to do list|tasks?|list|chores)|"
        r"I (?:still )?(?:have|need) to (?:do|get done)|muss ich (?:\w+ )?(?:erledigen|machen|tun)|"
        r"mein\w* (?:Aufgaben|Liste)",
    }
)
_OF_EVERYTHING: Final = (
    r"(?:know|tell me|remember|remembers?|learned) about (?:me|myself)|about myself|"
    r"who am I(?=\W*(?:\n|$))|"
    r"(?:bio|biography|cv|résumé|resume|profile|cover letter|introduction) (?:of|for|about) me|"
    r"my (?:bio|biography|cv|résumé|resume|profile|introduction)|introduce me|describe me|"
    r"über mich|wer bin ich(?=\W*(?:\n|$))|mein\w* Lebenslauf|stell mich vor"
)
"""Who asks so asks of a whole person."""
_PORTRAIT: Final = frozenset(
    "full_name title employer home partner child language skill specialty birthday".split()
)
_OF_THE_PAST: Final = (
    r"(?:did|was|were|had|have|has|lived|worked)\b[^.!?]{0,60}\bbefore(?=\W*(?:$|\n|[.!?]|(?:I|we|he|she|"
    r"they|that|this|then|now|moving|changing|joining)\b))|"
    r"used to|did\b[^.!?]{0,40}\buse to|previous(?:ly)?|former(?:ly)?|in the past|"
    r"no longer|not any ?more|until recently|back then|at (?:that|the) time|my (?:old|ex|last) |"
    r"(?:habe|hatte|war|bin|wohnte|arbeitete)\b[^.!?]{0,60}\b(?:vorher|zuvor|davor|früher|damals)|"
    r"früher\w*|ehemalig\w*|nicht mehr|bisherig\w*"
)
_LONGEST: Final = 2_000
"""Characters that are read: a request that is longer brings its own text."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    portrait = re.compile(rf"\b(?:{_OF_EVERYTHING})\b", re.IGNORECASE)
    slots: dict[str, re.Pattern[str]] = {}
    for slot, words in _WORDS.items():
        slots[slot] = re.compile(rf"\b(?:{words})(?!\w)", re.IGNORECASE)
    return portrait, slots


@lru_cache(maxsize=1)
def _past_pattern() -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_OF_THE_PAST})", re.IGNORECASE)


@lru_cache(maxsize=1024)
def asks_what_was(text: str) -> bool:
    """Whether a text asks what was so and may be so no more."""
    return _past_pattern().search(text[:_LONGEST]) is not None


@lru_cache(maxsize=1024)
def slots_asked(text: str) -> frozenset[str]:
    """The built-in slots that a text asks the speaker's own facts of."""
    portrait, patterns = _patterns()
    question = text[:_LONGEST]
    slots = {slot for slot, pattern in patterns.items() if pattern.search(question)}
    if portrait.search(question):
        slots |= _PORTRAIT
    return frozenset(slots)
