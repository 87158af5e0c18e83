"""What typed talk leaves out, put back before the sentence patterns read it.

People drop the pronoun that everybody supplies ("moved to Leeds", "bin umgezogen"), say it once for
two verbs ("I live in Graz and work at Acme"), and leave off a capital, an apostrophe or an ending
("i dont", "ich hab"). A form that may have another subject is left as it stands: an English verb in
the past counts as the speaker's only at the head of a text that names nobody else, and a German
one where its ending is that of "ich". A name in small letters is given its capital.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .small_names import english_names, german_names
from .written_out import INTRODUCTIONS, Edit

_SMALL_I: Final = re.compile(r"(?<![\w'\u2019.])i(?=\s|['\u2019](?:m|ve|ll|d)\b)")
_NO_APOSTROPHE: Final = re.compile(
    r"(?<![\w'\u2019])(?:i(?=(?:m|ve) [a-z])|(?:(?:do|did|does|is|are|was|have)n|can)(?=t\b))"
)
_ASIDE: Final = re.compile(r"(?<=\w)(?= (?:btw|tbh|atm|rn|imo|imho|ngl|fyi|tho)\b)", re.IGNORECASE)
"""Where a comma would stand before a word that is said by the way."""
_PRONOUN_IS: Final = re.compile(
    r"(?<=, )(?:[Ss]he|[Hh]e)(?P<verb>['\u2019]s)(?= (?:an?|"
    r"allergic) )"
)
_NEGATED_VERB: Final = (
    r"(?:(?:do|did|does|is|are|was|have|had|would|could|should|wo)n|ca)['\u2019]?t"
)
_HEAD: Final = (
    r"^(?:(?i:hey|hi|so|well|oh|ok|okay|yeah|yes|yep|no|btw|by the way|also|and|but|anyway|"
    r"honestly|tbh|fyi|update)\b[,:!]? )*"
)
_DIETS: Final = r"(?:an? )?(?:vegan|vegetarian|pescatarian)"
_DROPPED_I: Final = re.compile(
    rf"{_HEAD}(?P<verb>(?i:(?:just |finally |recently )*(?:"
    r"been (?:living|working|based|eating|with|at|in|into)|moved (?:to|from|back|out|into)|"
    r"relocated|lived in|worked (?:at|for|as)|used to|got (?:an?|the|my) (?:new )?(?:job|role|"
    r"position|offer|dog|cat|puppy|kitten)|got (?:hired|promoted|engaged|married|laid|fired)|"
    r"started (?:an?|my) (?:new )?(?:job|role|position)|started (?:at|working|work)|joined|"
    r"quit my|left my|lost my|went (?:vegan|vegetarian)|gave up|had to put|"
    r"ca(?:n['\u2019]?t|nnot) (?:stand|bear|eat|drink|have)|"
    r"don['\u2019]?t (?:like|live|work|enjoy)) ))"
)
_DROPPED_I_AM: Final = re.compile(
    rf"{_HEAD}(?P<predicate>(?i:allergic to |(?:big|huge|not a) fan of |no longer {_DIETS}\b|"
    rf"not {_DIETS} any ?more\b))"
)
_THIRD_PERSON: Final = re.compile(
    r"\b(?:he|she|they|him|her|his|their|[Mm]y (?:\w+ )?(?:wife|husband|partner|girlfriend|"
    r"boyfriend|son|daughter|mother|mom|mum|father|dad|brother|sister|friend|boss|manager|"
    r"colleague|neighbou?r|cousin|aunt|uncle))\b"
)
_SHARED_I: Final = re.compile(
    r"\b(?P<subject>[Ii]|[Ww]e)(?:['\u2019]?(?:m|re|ve))? (?:(?!\b(?:[Ii]|we|who|that|which|they|"
    r"he|she|it|you|him|her|them|people|someone|somebody|everyone|to (?=[a-z])|will|can|could|"
    r"should|would|must|might|may|let|make|help|see|saw|watch|watched|hear|heard|not|never|no|if|"
    rf"when|whenever|unless|where|{_NEGATED_VERB})\b|['\u2019](?:ll|d)\b)[^.;:!?\n]){{2,80}}?"
    r" (?:and|but) (?=(?:now |currently |also |still |really |just )*"
    r"(?:live in|work (?:at|for|as|from)|moved to|started (?:at|working|a new)|love|like|"
    r"hate|enjoy|speak|prefer|report to|used to|teach|have (?:an?|two|three)|"
    r"take|drive an?|bought an?|"
    r"don['\u2019]?t (?:eat|drink|like)|can['\u2019]?t (?:eat|drink|stand))\b)"
)

_BARE_NAME: Final = re.compile(
    r"(?:(?i:oh|btw|also|and|but|ps|fyi|by the way|remember|note|so)\b[,:]? )*+"
    r"(?!(?i:i|you|he|she|it|we|they|my|our|your|the|an?|this|that|there|here|who|what|which|"
    r"everyone|everybody|somebody|someone|nobody|people|nothing|something|just|never|not)\b)"
    r"(?P<name>[A-Za-zÀ-ÖØ-öø-ÿ][\w-]*+) (?:[A-Z][\w-]*+ )?+(?=(?:is|was|has|hates|loves|likes|"
    r"enjoys|dislikes|works|lives|moved|just|suffers|takes|drives|can['\u2019]t|cannot|"
    r"doesn['\u2019]t|does not|never|turns|started|got) )"
)
"""A name that opens a sentence about somebody, of whom one may have told before."""
_GERMAN_BARE_NAME: Final = re.compile(
    r"(?:(?i:ach|übrigens|und|aber|ps|also)\b[,:]? )*+"
    r"(?!(?i:ich|du|er|sie|es|wir|ihr|man|der|die|das|mein\w*|unser\w*|dein\w*|eine?|hier|da|wer|was|"
    r"jeder|alle|niemand|heute|morgen|gestern|jetzt|nun)\b)"
    r"(?P<name>[A-Za-zÀ-ÖØ-öø-ÿ][\w-]*+) (?=(?:ist|mag|liebt|hasst|isst|trinkt|verträgt|arbeitet|"
    r"wohnt|lebt|hat|leidet|nimmt|fährt|wird) )"
)


def english_edits(sentence: str, *, is_first: bool) -> Iterator[Edit]:
    """What an English sentence leaves out; `is_first` at the head of a text."""
    for match in _SMALL_I.finditer(sentence):
        yield Edit(match.start(), 1, "I")
    for match in _NO_APOSTROPHE.finditer(sentence):
        letters = "I" if match.group() == "i" else match.group()
        yield Edit(match.start(), len(letters), f"{letters}'")
    for match in _ASIDE.finditer(sentence):
        yield Edit(match.start(), 0, ",")
    for match in _PRONOUN_IS.finditer(sentence):
        yield Edit(match.start("verb"), 2, " is")
    for match in _SHARED_I.finditer(sentence):
        yield Edit(match.end(), 0, "we " if match["subject"].lower() == "we" else "I ")
    yield from english_names(sentence)
    yield from _introduction(_BARE_NAME.match(sentence), INTRODUCTIONS[0])

    # Behind others, or in a word about them, what is left out may be one of them.
    if is_first and not _THIRD_PERSON.search(sentence):
        verb = _DROPPED_I.match(sentence)
        predicate = _DROPPED_I_AM.match(sentence)
        if verb is not None:
            yield _before(sentence, verb.start("verb"), "I ")
        elif predicate is not None:
            yield _before(sentence, predicate.start("predicate"), "I'm ")


def _introduction(match: re.Match[str] | None, words: str) -> Iterator[Edit]:
    if match is None:
        return

    start, name = match.start("name"), match["name"]
    if name[0].isupper():
        yield Edit(start, 0, words)
    else:
        yield Edit(start, 1, words + name[0].upper(), name)


def _before(sentence: str, start: int, words: str) -> Edit:
    return Edit(start, 1, words + sentence[start].lower())


_STEMS: Final = (
    "hab|wohn|leb|arbeit|ess|trink|heiß|find|hör|spiel|fahr|flieg|steh|zieh|komm|hass|lieb|fang|"
    "vertrag|nehm"
)
_NO_ENDING: Final = re.compile(
    rf"(?:(?<=\b[Ii]ch )(?:{_STEMS})|(?:^|(?<=und ))(?i:hab)|(?<=und )(?:{_STEMS}))(?=[ ,.])"
    rf"|\b(?i:{_STEMS})(?= ich\b)"
)
_SHORT_ARTICLE: Final = re.compile(r"(?<= )['\u2019]?(?=nen? (?:[a-zäöüß]+ )?[A-ZÄÖÜ])")
_DOUBLE_S: Final = re.compile(r"\b[Hh]ei(?P<letters>ss)(?:e|t)\b")
_DROPPED_ICH: Final = re.compile(
    r"^(?:(?i:hallo|hi|hey|moin|also|und|aber|ja|nein|nee|ach|ok|okay|übrigens)\b[,:!]? )*"
    # A bare stem is an order ("Spiel einen Arzt"), and "Liebe Anna" opens a letter.
    rf"(?P<verb>(?i:bin|hab|(?!lieb|komm)(?:{_STEMS})e))(?= (?!(?:ich|du|er|sie|es|wir|ihr|mich "
    r"nicht)\b))"
)
_SHARED_ICH: Final = re.compile(
    r"\b[Ii]ch (?:(?!\b(?:du|er|sie|es|wir|ihr|man|der|die|das|nicht|nie|kein\w*)\b)[^.;:!?\n])"
    rf"{{2,80}}? und (?=(?:bin|mag|(?:{_STEMS})e?)\b(?! ich\b))"
)


def german_edits(sentence: str, *, is_first: bool) -> Iterator[Edit]:
    """What a German sentence leaves out; the ending of the verb says who does it."""
    for match in _NO_ENDING.finditer(sentence):
        yield Edit(match.end(), 0, "e")
    for match in _SHORT_ARTICLE.finditer(sentence):
        yield Edit(match.start(), len(match.group()), "ei")
    for match in _DOUBLE_S.finditer(sentence):
        yield Edit(match.start("letters"), 2, "ß")
    for match in _SHARED_ICH.finditer(sentence):
        yield Edit(match.end(), 0, "ich ")
    yield from german_names(sentence)
    yield from _introduction(_GERMAN_BARE_NAME.match(sentence), INTRODUCTIONS[1])

    verb = _DROPPED_ICH.match(sentence)
    if verb is not None:
        yield _before(sentence, verb.start("verb"), "ich ")
    elif sentence[:1].islower():
        yield Edit(0, 1, sentence[0].upper())
