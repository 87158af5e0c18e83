"""How much of an English sentence is a statement of the speaker's.

What is supposed, hoped, played, quoted or reported states nothing. Most of these words stand before
what they take back, and the sentence counts up to them; some stand behind it ("I live in Malibu, in
my dreams"), and take their own clause or the whole sentence with them.
"""

from __future__ import annotations

import re
from typing import Final

from .phrases import TITLE

_QUOTATION: Final = re.compile(
    '"[^"\n]*"|\u201c[^\u201d\n]*\u201d|\u201e[^\u201c\u201d\n]*[\u201c\u201d]'
    "|\u00ab[^\u00bb\n]*\u00bb|\\*[A-Z][^*\n]+\\*"
    # An apostrophe inside a word opens and closes nothing.
    r"|(?<!\w)['\u2018][A-Za-z][^'\u2019\n]*(?:['\u2019]\w[^'\u2019\n]*)*['\u2019](?!\w)"
)
_NO_STATEMENT: Final = re.compile(
    r"^\W*(?:(?:please|now|and|then),? )*(?:translate|rewrite|rephrase|paraphrase|proofread|"
    r"summari[sz]e|correct (?:this|the|my)|spell|pronounce|write (?:an?|me|the|this|down|to)|"
    r"(?:for )?examples?\b:?|e\.g\.|say:|sentence:|prompt:|quote:|role-?play|act as|pretend|"
    r"(?:tell|ask|inform|email|text|message) (?!me\b)(?:\w+ ){1,3}?(?:that|I|I['\u2019]m|my|we)\b|"
    r"(?:subject|draft|caption|headline|bio|status|slogan|dear \w+)\b ?[:,])"
    r"|\b(?:ha(?:ha)+|lol|lmao|rofl|just kidding|kidding|j/k|jk)\b",
    re.IGNORECASE,
)
"""What makes a sentence work for the assistant, an example or a joke, and no word about oneself."""

_HEDGE: Final = re.compile(
    r"\b(?:if|wish|would|might|maybe|perhaps|could|imagine|pretend|suppose|unless|hypothetically|"
    r"think|thinks|thought|says|said|claims|claimed|told|asked|heard|like saying|as though|"
    r"whether|rumou?r|not true|a lie|(?:didn['\u2019]t|did not|never|don['\u2019]t) say|"
    r"let['\u2019]s say|for the sake of|goes like|lyrics|"
    r"supposedly|allegedly|apparently|seemingly|reportedly)\b"
    r"|\b(?:begins|starts|ends|opens) with\b|(?:n['\u2019]?t|\bnot|\bnever) say\b|\bsay(?:ing)?:"
    # Before somebody does something, these are an attitude, or what has yet to come about.
    r"|\b(?:mention(?:s|ed|ing)|assum\w+|believ\w+|guess(?:ed|ing)?|reckon\w*|swears?|swore|"
    r"doubt\w*|insist\w*|suspect\w*|fear\w*|hop(?:e|ed|ing)|dream\w*|jok(?:e|ed|ing)|bet|feels|"
    r"seems|looks|like|no way|as if|once|until|till|as soon as|in case|whenever|"
    r"when I grow up|suggest\w*|pretend\w*|wonder\w*|(?<!to )say|saying|wrote|goes|forget|true|"
    r"lied|prove[ds]?)(?= (?:that |like )?(?:I|we|my|our)\b)|\bnot (?:that|like) (?:I|we|my|our)\b"
    # Where a place stands first, what is said holds in it alone: "In Minecraft I live in a cave".
    r"|^(?-i:(?:In|in) (?!(?:January|February|March|April|May|June|July|August|September|October|"
    r"November|December)\b)[A-Z][\w'\u2019-]*(?: (?:of |the )*[A-Z\d][\w'\u2019-]*)*)"
    r",? (?=(?:I|my|we|our)\b)"
    r"|^by (?:\d{4}|the time)\b"
    # What the assistant is to remind somebody to tell others is for them.
    r"|\btell (?!you\b|me\b)[\w'\u2019-]+(?P<told> )(?=(?:that )?(?:I|we|my|our)\b)",
    re.IGNORECASE,
)

_OF_ITS_CLAUSE: Final = re.compile(
    # "I'm a vegetarian, if that matters" stays one; "I'm moving if they pay" is not settled.
    r"(?<![,;:])(?<! and)(?<! but)(?<! so)(?<! even) (?:if|unless|provided)\b"
    r"(?! (?:that|it) (?:helps|matters|counts)| anyone| anybody| possible|"
    r" you (?:must|want|need|like|prefer|can|could))"
    r"|\bin (?:my|the|a|an|this|that|another|his|her|our) (?:\w+ )?(?:dreams?|nightmares?|novel|"
    r"book|"
    r"film|movie|story|games?|play|poem|song|scenario|example|role-?play|universe|sketch|campaign|"
    r"head|mind|past life|next life|(?:ideal|perfect|parallel) world|show|series|musical|essay|"
    r"letter|email|cover letter)\b"
    r"|\bin (?:theory|another life|a past life|a parallel universe)\b"
    r"|\b(?:according to|on paper|on the form|for tax purposes|or at least)\b",
    re.IGNORECASE,
)
"""What takes back the clause that it stands in, also from behind."""

_CLAUSE: Final = re.compile(r"(?:,? (?:and|but|so) |[,;:] |\. )(?=(?:I|we|my|our|[Ww]e|[Mm]y)\b)")
_AFTERTHOUGHT: Final = re.compile(
    r"(?:(?:,| -| \u2013| \u2014| \() ?(?:or )?(?:maybe|perhaps|probably|possibly|hopefully|not|"
    r"I(?: (?:think|guess|suppose|believe|hope|assume|reckon)|['\u2019]m told)|or something|"
    r"(?:so )?(?:he|she|they|people|(?-i:[A-Z]\w+)|(?:my|the|our) \w+) "
    r"(?:said|says?|claim(?:s|ed)?|thinks?|thought|swears?|insists?|tells? me|told me)|"
    r"(?:says|said) (?:no ?one|nobody|he|she|they|(?-i:[A-Z]\w+)|my \w+)(?: ever)?)"
    r"|,? (?:allegedly|apparently|supposedly|reportedly))"
    r"(?: (?:so|it|once|anyway|yesterday|now|though|ever))?[\s.!)]*$",
    re.IGNORECASE,
)
"""The end of a sentence that makes all of it a guess, somebody else's word, or a joke."""

_OTHERS_CLAUSE: Final = re.compile(
    r"(?:,? (?:and|but|so)|[,;]) (?:(?!I\b)[A-Z][\w'\u2019-]*|he|she|they|"
    r"(?:my|the|our|his|her) \w+) $"
)
"""Who supposes or reports it, where the clause before is the speaker's own."""


def without_quotations(sentence: str) -> str:
    """A sentence with a stand-in for what is quoted; the positions stay as they were."""
    return _QUOTATION.sub(lambda match: TITLE * len(match.group()), sentence)


def is_statement(sentence: str) -> bool:
    """Whether a sentence without its quotations may state something at all."""
    return _NO_STATEMENT.search(sentence) is None


def statement_of(sentence: str) -> str:
    """The part of an English sentence that the speaker states.

    >>> statement_of("I live in Oslo, and I might move to Bergen.")
    'I live in Oslo, and I '
    >>> statement_of("I live in Oslo, and I'm a queen in my dreams.")
    'I live in Oslo, and '
    """
    if _AFTERTHOUGHT.search(sentence):
        return ""

    hedge = _HEDGE.search(sentence)
    end = len(sentence)
    if hedge is not None:
        end = hedge.start() if hedge["told"] is None else hedge.start("told")
        report = _OTHERS_CLAUSE.search(sentence, 0, end)
        end = end if report is None else report.start()
    frame = _OF_ITS_CLAUSE.search(sentence)
    if frame is None or frame.start() > end:
        return sentence[:end]

    clauses = [match.end() for match in _CLAUSE.finditer(sentence, 0, frame.start())]
    return sentence[: max(clauses, default=0)]
