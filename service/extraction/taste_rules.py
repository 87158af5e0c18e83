"""Rules of taste: what somebody likes or not, began to, or is over with.

Tastes change in more words than they are stated in ("I used to be all about westerns, but I'm not
into them anymore"), and an end that is missed leaves two tastes that contradict each other. So
whoever comes to like a thing takes back that he disliked it, and what is taken back is matched with
what he said before and not with the letters of the denial alone (`taken_back`).
"""

from __future__ import annotations

import re
from typing import Final

from ...schema.terms import content_terms
from .phrases import DO_NOT, HAVE, I_AM, IS, ITEM, ITEMS, NAME, RECENT, RELATIVE, SURE, TITLE
from .rule import row

_ADV = (
    r"(?:(?:really|actually|also|just|truly|absolutely|totally|always|recently|finally|even|now|so|"
    r"all) )*"
)
_LIKE = r"(?:like|love|enjoy|adore|appreciate|admire)"
_SPEAKERS = r"\b(?:I|[Ww]e(?: both| all)?) "
_PAST_LIKE = r"(?:liked|loved|enjoyed|adored|appreciated|admired)"
_HATE = (
    r"(?:hate|dislike|detest|can['\u2019]t stand(?! (?:up|by|still|here|there|back|down|"
    r"straight|on)\b)|"
    r"cannot stand|can['\u2019]t bear)"
)
_FAN = r"(?:an? )?(?:(?:big|huge|great|massive|real) )?fan of"
_FAVOURITE = r"(?:all-time |absolute |new )?(?:favou?rite|fave?)"
_GERUND = r"(?:the idea of (?:visiting |going to )?|listening to )?"
_VERBS = (
    rf"\bI(?:['\u2019]ve| have)? {_ADV}(?:watched|rewatched|read|reread|saw|visited|heard|tried|"
    r"listened to|finished(?: reading| watching)?|went to) "
    rf"(?P<value>{TITLE}+|{NAME})[^.!?]{{0,60}}?(?:[,;]? (?:and|but)|[,;]| \u2013| -)(?: I)? "
    rf"{_ADV}"
)
_THING = (
    r"(?:it|that (?:movie|film|book|novel|song|album|show|series|place|one))\b(?! when| if| that)"
)
_WHILE = r"(?![^.!?;]*\bany ?more\b)"
_HABIT = rf"\bI(?:['\u2019]ve)? {_ADV}used to {_ADV}"

TASTE_RULES: Final = (
    row("dislikes", rf"\bI find (?P<value>{ITEM}) (?:really |very |so |pretty |rather )?"
        r"(?:boring|annoying|awful|disgusting|unbearable|dull|tedious|revolting)(?=[.!,]|$)",
        is_list=True),
    row("likes", rf"{RELATIVE}{SURE}(?:likes|loves|enjoys) (?P<value>{ITEMS})", is_list=True),
    row("dislikes", rf"{RELATIVE}{SURE}(?:hates|dislikes) (?P<value>{ITEMS})", is_list=True),
    # what is liked
    row("likes", rf"(?<!what )(?<!as ){_SPEAKERS}{SURE}{_LIKE} {_GERUND}(?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("likes", rf"{HAVE} {_ADV}{_PAST_LIKE} (?P<value>{ITEMS}){_WHILE}", is_list=True),
    row("likes", rf"{HAVE} {_ADV}(?:come|came|grown|grew|started|begun|began|learned|learnt) to "
        rf"{_ADV}{_LIKE} (?P<value>{ITEMS})", is_list=True),
    row("likes", rf"{HAVE} {_ADV}(?:been )?(?:getting|gotten|got) {_ADV}(?:more )?into "
        rf"(?P<value>{ITEMS})", is_list=True),
    row("likes", rf"(?:{I_AM}|{HAVE} {_ADV}been) {_ADV}(?:finding myself )?{_ADV}(?:much )?"
        rf"(?:more )?(?:into|enjoying|loving|obsessed with|drawn to|(?:crazy|mad) about|fond of|"
        r"keen on(?! (?:helping|seeing|hearing|getting|doing|trying|making|starting)\b)|hooked "
        r"on|partial to|a sucker for(?! punishment)) "
        rf"(?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("likes", rf"(?:{I_AM}|{HAVE} {_ADV}been) {_ADV}all about (?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("likes", rf"{_VERBS}(?:{_PAST_LIKE}|{_LIKE}) {_THING}"),
    row("likes", rf"{I_AM} {_ADV}{_FAN} (?P<value>{ITEMS}){_WHILE}", is_list=True),
    row("likes", r"\bI (?:really |usually |generally |always |much |now )*prefer (?!not\b)"
        r"(?!(?:the )?(?:first|second|third|last|latter|former|other|option|red|blue|new|old) "
        r"?(?:one|option|version|[A-Z\d])?(?=[.,!;]|$| over\b| to\b))"
        r"(?![\w -]{0,30}\b(?:answers|replies|responses|explanations|code|examples|summaries)\b)"
        rf"(?P<value>{ITEM})"
        r"(?=[.!;]|$| over\b| to\b| rather\b| and\b| when\b| for\b|"
        r", (?:but|and|so|thanks|please|if|because|since|though|although|when)\b)"),
    row("likes", rf"\b[Mm]y {_FAVOURITE} (?!of\b|one\b|thing\b|part\b)[\w -]{{2,24}}?{IS} "
        r"(?:now |still |"
        rf"definitely |probably |always )?"
        rf"(?P<value>{ITEM})"),
    row("likes", rf"(?P<value>{NAME}) (?:is|are) (?:definitely |still |now )?(?:my|one of my) "
        rf"{_FAVOURITE}"),
    row("likes", r"^(?!(?i:that|this|it|which|what|yours?|mine|here|there|today|the)\b)"
        rf"(?P<value>{ITEM}) (?:is|are) (?:definitely |still |now |absolutely )?(?:my|our) "
        rf"{_FAVOURITE}s?(?=[.!,]|$)"),
    row("likes", rf"\b[Nn]othing beats (?!(?:a )?(?:try|trying|that|this)\b)(?:an? (?:good |nice "
        rf"|proper |hot |cold )?)?(?P<value>{ITEM})"
        r"(?=[.!,]|$| for me\b| after\b| on\b| in\b)"),
    row("likes", rf"\bI {_ADV}(?:can['\u2019]t|cannot) get enough of (?P<value>{ITEMS})",
        is_list=True),
    row("likes", rf"\bI(?: have|['\u2019]ve)? (?:got )?a (?:real )?(?:soft spot|weakness|passion) "
        rf"for (?P<value>{ITEMS})", is_list=True),
    # what is not
    row("dislikes", rf"{_SPEAKERS}{_ADV}(?:tend to )?{_HATE} (?P<value>{ITEMS})", is_list=True),
    row("dislikes", rf"{HAVE} {_ADV}(?:hated|disliked|detested) (?P<value>{ITEMS})",
        is_list=True),
    row("dislikes", rf"{_VERBS}(?:{DO_NOT} {_ADV}(?:like|enjoy)|hated|disliked|detested) {_THING}"),
    row("dislikes", rf"\bI {_ADV}{DO_NOT} {SURE}(?:{_LIKE}|care for) (?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("dislikes", rf"\bI {_ADV}(?:can['\u2019]t|cannot|could not|couldn['\u2019]t) {_ADV}"
        rf"(?:get|seem to get) into (?P<value>{ITEMS})", is_list=True),
    row("dislikes", rf"{I_AM} {_ADV}not (?:really |exactly |that |particularly |at all )?"
        rf"(?:{_FAN}|(?:that )?into) (?P<value>{ITEMS}){_WHILE}", is_list=True),
    row("dislikes", rf"^(?P<value>{ITEM}) {_ADV}(?:isn|aren|is not|are not)(?:['\u2019]t)? "
        rf"{_ADV}(?:for me|my (?:thing|cup of tea))\b"),
    # what is over
    row("likes", rf"{_HABIT}(?:{_LIKE}|prefer|(?:be )?(?:{_ADV}|more )(?:into|about|obsessed with)|"
        rf"be {_ADV}{_FAN}) (?:more )?{_GERUND}(?P<value>{ITEMS})", "deny", is_list=True),
    row("dislikes", rf"{_HABIT}(?:{_HATE}|not {_ADV}(?:{_LIKE}|be {_ADV}(?:{_FAN}|into))|"
        rf"never {_LIKE}) (?P<value>{ITEMS})", "deny", is_list=True),
    row("likes", rf"\bI no longer {_LIKE} (?P<value>{ITEMS})", "deny", is_list=True),
    row("likes", rf"\bI {_ADV}{DO_NOT} {SURE}{_LIKE} (?P<value>{ITEMS}) (?:that much |as much )?"
        r"any ?more\b", "deny", is_list=True),
    row("likes", rf"{I_AM} {_ADV}(?:not|no longer) (?:really |that |so )?(?:{_FAN}|into) "
        rf"(?P<value>{ITEMS}) any ?more\b", "deny", is_list=True),
    row("likes", rf"{HAVE} {RECENT}{_ADV}(?:gone|went) off (?P<value>{ITEMS})", "deny",
        is_list=True),
    row("likes", rf"{HAVE} {RECENT}{_ADV}(?:grown|got|gotten|become) (?:tired|sick|bored|weary) of "
        rf"{_GERUND}(?P<value>{ITEMS})", "deny", is_list=True),
    row("likes", rf"{HAVE} {RECENT}{_ADV}(?:lost (?:all |my )?(?:interest in|taste for|love for|"
        rf"love of|passion for)|fallen out of love with|grown out of) {_GERUND}"
        rf"(?P<value>{ITEMS})", "deny", is_list=True),
    row("likes", rf"{I_AM} {_ADV}(?:over|done with) (?!budget|here|there|capacity|my\b)(?=[a-z])"
        rf"(?P<value>{ITEM}s)(?=[.!,]|$)", "deny"),
    row("dislikes", rf"\bI no longer {_HATE} (?P<value>{ITEMS})", "deny", is_list=True),
)  # fmt: skip

OPPOSITES: Final = {"likes": "dislikes", "dislikes": "likes"}

_ARTS = (
    "work|works|movies?|films?|music|books?|novels?|writing|stories|poems|poetry|plays|acting|"
    "performances?|songs?|albums?|paintings?|art|designs?|style|writing style|acting style|"
    "directing|storytelling"
)
_OF_A_MAKER: Final = re.compile(rf"(?P<maker>[A-Z].*?)['\u2019]s? (?:[a-z]+ )?(?:{_ARTS})")
_BY_A_MAKER: Final = re.compile(
    rf"(?:(?:the |reading |watching )?(?:{_ARTS}) (?:by|of|from) )?(?:the )?"
    r"(?:(?:director|author|actor|actress|composer|writer|singer|band|musician|artist|painter) )?"
    r"(?P<maker>[A-Z].*)"
)


def taste_of(value: str) -> str:
    """What a taste is about: whoever likes somebody's films likes his work, in whatever words.

    >>> taste_of("director Fred Zinnemann's movies"), taste_of("books by Mary Roach")
    ('Fred Zinnemann', 'Mary Roach')
    >>> taste_of("Thai food")
    'Thai food'
    """
    owner = _OF_A_MAKER.search(value)
    if owner is not None and owner.end() == len(value):
        value = owner["maker"]
    maker = _BY_A_MAKER.fullmatch(value)
    return value if maker is None else maker["maker"]


_FILLERS: Final = content_terms(
    "some idea kind sort bit new old own movie film book novel music song album work style "
    "reading watching listening visiting going planning scheduling type thing"
)
"""Words that name no thing of their own: "movies" alone takes no single taste back."""


def is_meant(denial: str, known: str) -> bool:
    """Whether a denial means a known value: one says all the words of the other.

    >>> is_meant("westerns", "old western movies"), is_meant("jazz", "techno")
    (True, False)
    """
    words, known_words = content_terms(denial) - _FILLERS, content_terms(known) - _FILLERS
    return bool(words and known_words) and (words <= known_words or known_words <= words)
