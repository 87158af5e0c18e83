"""Phrases with which somebody takes back what he said, in English and in German.

Each is a piece of a regular expression, read without regard to capitals. The ways to take back
begin a sentence, so that nobody else's word is taken for the speaker's.
"""

from __future__ import annotations

from typing import Final

_LEAD: Final = (
    r"^(?:(?:oh|ah|no|nope|ok|okay|well|sorry|oops|wait|hold on|actually|please|hey|hmm|yes|"
    r"and|but|correction|my mistake|my bad)\b[,.!:]* )*"
)
_ERASE: Final = r"(?:forget|ignore|disregard|delete|erase|remove|strike|scratch|discard|drop)"
_SAYING: Final = r"(?:said|told you|mentioned|wrote|claimed)"
_SAID_THAT: Final = rf"(?:(?:that )?I (?:once |just |ever )?{_SAYING} )?"
_CLAUSE: Final = r"(?:that |(?=(?:I|we)\b))(?P<clause>(?:I|we|my|our)\b.+)"
_UNTRUE: Final = (
    r"(?:wrong|false|an? (?:joke|lie|typo|misunderstanding)|untrue|nonsense|incorrect|"
    r"not (?:true|right|correct|so|the case))"
)
_WRONG: Final = rf"(?:{_UNTRUE}|an? (?:mistake|error))"
"""Alone, "that was a mistake" regrets what was done, and says that it was."""
ENDING: Final = r"(?:no longer (?:true|so|the case|right)|not (?:true|so|the case|right) any ?more)"
_THAT_IS: Final = (
    r"(?:that|this|it)(?:['\u2019]s| is| was| isn['\u2019]t| wasn['\u2019]t| has been)"
    r"(?: (?:just|all|completely|simply|actually|only|plain))*"
)
_DENIAL: Final = (
    r"(?:that|this|it) (?:isn['\u2019]t|wasn['\u2019]t) (?:true|right|correct|so|the case)"
)
_VERDICT: Final = rf"(?:{_THAT_IS} (?:{ENDING}|{_WRONG})|{_DENIAL}(?: any ?more)?)"
ENGLISH_TRAILER: Final = (
    rf"[,;.:\u2013-]* ?(?:(?:but|and|because|since|as) )?(?:{_VERDICT}|I was (?:wrong|joking|"
    r"kidding|lying|mistaken)|I made (?:that|it) up)(?: of me)?[.! ]*$"
)
ENGLISH_COURTESY: Final = (
    r"(?:,? (?:please|thanks|thank you|sorry|again|okay|ok|will you|would you))+[.! ]*$"
)
ENGLISH_CLAUSES: Final = (
    rf"{_LEAD}(?:you (?:can|may|should) (?:now |safely )?)?{_ERASE}(?: the (?:fact|part|note|bit))?"
    rf" {_SAID_THAT}{_CLAUSE}",
    rf"{_LEAD}(?:it|that)(?:['\u2019]s| is) (?:{ENDING}|{_UNTRUE}) (?:any ?more )?{_CLAUSE}",
    rf"{_LEAD}(?:it|that) isn['\u2019]t true (?:any ?more )?{_CLAUSE}",
    rf"{_LEAD}I (?:was (?:wrong|mistaken|lying|joking|kidding)|lied|misspoke|made a mistake)"
    rf"(?: when I {_SAYING}| in saying)? {_CLAUSE}",
    rf"{_LEAD}I take (?:it )?back {_CLAUSE}",
    rf"{_LEAD}I never {_SAYING} {_CLAUSE}",
)
ENGLISH_ADMISSION: Final = rf"{_LEAD}I (?:once |just )?{_SAYING} {_CLAUSE}"
"""Counts only before a verdict on it: "I said I live in Ulm, that was wrong"."""
ENGLISH_TOPIC: Final = (
    rf"{_LEAD}(?:(?:you (?:can|may) )?{_ERASE}|I take back) (?:what|everything|anything|all)"
    rf"(?: that)? (?:I|I['\u2019]ve|I have) (?:ever |just )?{_SAYING}(?: earlier| before)? about "
    r"(?:my |the )?(?P<topic>[\w'\u2019-]+(?: [\w'\u2019-]+){0,3}?)(?=[,.;!]|$)"
)
ENGLISH_UNSAYING: Final = (
    rf"{_LEAD}(?:(?:scratch|strike|disregard|ignore|forget|delete|erase) (?:that|this|"
    rf"what I (?:just )?{_SAYING}|my last (?:message|sentence|statement))|I take (?:that|it) back|"
    r"I didn['\u2019]t mean (?:that|it)|I misspoke|I lied(?: about that)?|"
    r"I was (?:wrong|mistaken|joking|kidding|lying)(?: about that)?|"
    rf"what I (?:just )?{_SAYING} (?:is|was) {_WRONG})(?=[,;.:!]|$| (?:please|again|sorry)\b)"
)
ENGLISH_LAST: Final = (
    rf"{_LEAD}(?:{_THAT_IS} {ENDING}|{_DENIAL} any ?more|"
    rf"(?:that|this)(?: was|wasn['\u2019]t) (?:just |only |all )?{_UNTRUE})(?=[,;.:!]|$)"
)
ENGLISH_SAME_SLOT: Final = (
    rf"{_LEAD}(?:{_VERDICT}|wrong|not true)[,;:.!\u2013-]+ (?P<rest>(?:I|we|my|our)\b.+)"
)

_GERMAN_LEAD: Final = (
    r"^(?:(?:ach|oh|nein|nee|ok|okay|sorry|entschuldigung|moment|halt|quatsch|bitte|ja|also|"
    r"eigentlich|korrektur|und|aber)\b[,.!:]* )*"
)
_GERMAN_ERASE: Final = (
    r"(?:vergiss|vergesst|vergessen Sie|ignoriere?|lösche?|streiche?|entferne?)"
    r"(?: (?:bitte|wieder|doch))*"
)
_GERMAN_CLAUSE: Final = (
    r"dass (?P<clause>(?:ich|wir|(?:mein|unser)e? (?:[a-zäöüß]+ )?[A-ZÄÖÜ][\wäöüß-]+) .+)"
)
_GERMAN_WRONG: Final = r"(?:falsch|gelogen|Unsinn|Quatsch|ein (?:Fehler|Irrtum|Scherz|Witz))"
_GERMAN_NOT_SO: Final = r"(?:stimmt|gilt|stimmte|trifft) (?:so |gar |ja )*nicht(?: zu)?"
_GERMAN_ENDING: Final = (
    r"(?:(?:stimmt|gilt|trifft) (?:so )?nicht mehr(?: zu)?|ist nicht mehr (?:so|wahr|aktuell))"
)
_GERMAN_VERDICT: Final = (
    rf"das (?:{_GERMAN_ENDING}|{_GERMAN_NOT_SO}|(?:war|ist) (?:nur |leider )?(?:{_GERMAN_WRONG}|"
    r"nicht (?:wahr|richtig)))"
)
GERMAN_TRAILER: Final = (
    rf"[,;.:\u2013-]* ?(?:(?:aber|denn|und) )?(?:{_GERMAN_VERDICT}|ich habe mich "
    r"(?:geirrt|vertan)|(?:weil )?das (?:nicht stimmt|falsch (?:war|ist)))[.! ]*$"
)
GERMAN_COURTESY: Final = r"(?:,? (?:bitte|danke|sorry|wieder))+[.! ]*$"
_GERMAN_SAID: Final = r"(?:gesagt|erzählt|erwähnt|geschrieben|behauptet)"
GERMAN_CLAUSES: Final = (
    rf"{_GERMAN_LEAD}(?:du kannst )?{_GERMAN_ERASE},? {_GERMAN_CLAUSE}",
    rf"{_GERMAN_LEAD}es (?:{_GERMAN_ENDING}|{_GERMAN_NOT_SO}|ist (?:{_GERMAN_WRONG}|nicht wahr)),? "
    rf"{_GERMAN_CLAUSE}",
    rf"{_GERMAN_LEAD}ich (?:habe mich geirrt|lag falsch|habe gelogen|nehme (?:es )?zurück)"
    rf"(?:, als ich {_GERMAN_SAID} habe|, als ich sagte)?,? {_GERMAN_CLAUSE}",
    rf"{_GERMAN_LEAD}ich habe nie {_GERMAN_SAID},? {_GERMAN_CLAUSE}",
)
GERMAN_ADMISSION: Final = (
    rf"{_GERMAN_LEAD}ich (?:habe (?:dir )?{_GERMAN_SAID}|sagte),? {_GERMAN_CLAUSE}"
)
GERMAN_TOPIC: Final = (
    rf"{_GERMAN_LEAD}(?:{_GERMAN_ERASE}|ich nehme zurück),? (?:alles,? )?was ich (?:dir )?"
    r"(?:über|zu|von) (?:meine[nrm]? |den |die |das )?"
    rf"(?P<topic>[\w-]+(?: [\w-]+){{0,2}}?) {_GERMAN_SAID} habe"
)
GERMAN_UNSAYING: Final = (
    rf"{_GERMAN_LEAD}(?:(?:vergiss|streich|streiche|ignorier|ignoriere|lösch|lösche) das"
    r"(?: wieder| bitte)*|das nehme ich zurück|ich nehme das zurück|"
    r"ich habe mich (?:geirrt|vertan|versprochen))(?=[,;.:!]|$)"
)
GERMAN_LAST: Final = (
    rf"{_GERMAN_LEAD}das (?:{_GERMAN_ENDING}|war (?:nur )?(?:falsch|gelogen|Unsinn|Quatsch|"
    r"ein (?:Irrtum|Scherz|Witz)|nicht (?:wahr|richtig)))(?=[,;.:!]|$)"
)
GERMAN_SAME_SLOT: Final = (
    rf"{_GERMAN_LEAD}(?:{_GERMAN_VERDICT}|falsch)[,;:.!\u2013-]+ "
    r"(?P<rest>(?:ich|wir|meine?|unsere?)\b.+)"
)


GERMAN_REMINDER: Final = rf"{_GERMAN_LEAD}vergiss (?:bitte )?nicht,? {_GERMAN_CLAUSE}"
ENGLISH_REMINDER: Final = (
    rf"{_LEAD}(?:(?:don['\u2019]t|do not|never) forget|remember|keep in mind) {_CLAUSE}"
)
