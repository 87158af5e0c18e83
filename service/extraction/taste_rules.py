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
from .phrases import DO_NOT, HAVE, I_AM, ITEM, ITEMS, LATELY, NAME, QUOTED, RELATIVE, SURE
from .rule import row

_ALSO = (
    r"(?:(?:really|actually|also|just|truly|absolutely|totally|always|recently|finally|even|now|so|"
    r"all) )*"
)
_LIKE = r"(?:like|love|enjoy|adore|appreciate|admire)"
_LIKED = r"(?:liked|loved|enjoyed|adored|appreciated|admired)"
_HATE = r"(?:hate|dislike|detest|can['\u2019]t stand|cannot stand|can['\u2019]t bear)"
_FAN = r"(?:an? )?(?:(?:big|huge|great|massive|real) )?fan of"
_FAVOURITE = r"(?:all-time |absolute |new )?favou?rite"
_OF = r"(?:the idea of (?:visiting |going to )?|listening to )?"
_TASTED = (
    rf"\bI(?:['\u2019]ve| have)? {_ALSO}(?:watched|rewatched|read|reread|saw|visited|heard|tried|"
    r"listened to|finished(?: reading| watching)?|went to) "
    rf"(?P<value>{QUOTED}+|{NAME})[^.!?]{{0,60}}?(?:[,;]? (?:and|but)|[,;]| \u2013| -)(?: I)? "
    rf"{_ALSO}"
)
_IT = r"(?:it|that (?:movie|film|book|novel|song|album|show|series|place|one))\b(?! when| if| that)"
_WHILE = r"(?![^.!?;]*\bany ?more\b)"
_USED = rf"\bI(?:['\u2019]ve)? {_ALSO}used to {_ALSO}"

TASTE_RULES: Final = (
    row("likes", rf"{RELATIVE}{SURE}(?:likes|loves|enjoys) (?P<value>{ITEMS})", is_list=True),
    row("dislikes", rf"{RELATIVE}{SURE}(?:hates|dislikes) (?P<value>{ITEMS})", is_list=True),
    # what is liked
    row("likes", rf"(?<!what )(?<!as )\bI {SURE}{_LIKE} {_OF}(?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("likes", rf"{HAVE} {_ALSO}{_LIKED} (?P<value>{ITEMS}){_WHILE}", is_list=True),
    row("likes", rf"{HAVE} {_ALSO}(?:come|came|grown|grew|started|begun|began|learned|learnt) to "
        rf"{_ALSO}{_LIKE} (?P<value>{ITEMS})", is_list=True),
    row("likes", rf"{HAVE} {_ALSO}(?:been )?(?:getting|gotten|got) {_ALSO}(?:more )?into "
        rf"(?P<value>{ITEMS})", is_list=True),
    row("likes", rf"(?:{I_AM}|{HAVE} {_ALSO}been) {_ALSO}(?:finding myself )?{_ALSO}(?:much )?"
        rf"(?:more )?(?:into|enjoying|loving|obsessed with|drawn to) (?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("likes", rf"(?:{I_AM}|{HAVE} {_ALSO}been) {_ALSO}all about (?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("likes", rf"{_TASTED}(?:{_LIKED}|{_LIKE}) {_IT}"),
    row("likes", rf"{I_AM} {_ALSO}{_FAN} (?P<value>{ITEMS}){_WHILE}", is_list=True),
    row("likes", r"\bI (?:really |usually |generally |always |much |now )*prefer "
        r"(?![\w -]{0,30}\b(?:answers|replies|responses|explanations|code|examples|summaries)\b)"
        rf"(?P<value>{ITEM})"
        r"(?=[.!;]|$| over\b| to\b| rather\b| and\b| when\b| for\b|"
        r", (?:but|and|so|thanks|please|if|because|since|though|although|when)\b)"),
    row("likes", rf"\b[Mm]y {_FAVOURITE} [\w -]{{2,24}}? is (?:now )?(?P<value>{ITEM})"),
    row("likes", rf"(?P<value>{NAME}) (?:is|are) (?:definitely |still |now )?(?:my|one of my) "
        rf"{_FAVOURITE}"),
    # what is not
    row("dislikes", rf"\bI {_ALSO}(?:tend to )?{_HATE} (?P<value>{ITEMS})", is_list=True),
    row("dislikes", rf"{HAVE} {_ALSO}(?:hated|disliked|detested) (?P<value>{ITEMS})",
        is_list=True),
    row("dislikes", rf"{_TASTED}(?:{DO_NOT} {_ALSO}(?:like|enjoy)|hated|disliked|detested) {_IT}"),
    row("dislikes", rf"\bI {_ALSO}{DO_NOT} {SURE}(?:{_LIKE}|care for) (?P<value>{ITEMS}){_WHILE}",
        is_list=True),
    row("dislikes", rf"\bI {_ALSO}(?:can['\u2019]t|cannot|could not|couldn['\u2019]t) {_ALSO}"
        rf"(?:get|seem to get) into (?P<value>{ITEMS})", is_list=True),
    row("dislikes", rf"{I_AM} {_ALSO}not (?:really |exactly |that |particularly |at all )?"
        rf"(?:{_FAN}|(?:that )?into) (?P<value>{ITEMS}){_WHILE}", is_list=True),
    row("dislikes", rf"^(?P<value>{ITEM}) {_ALSO}(?:isn|aren|is not|are not)(?:['\u2019]t)? "
        rf"{_ALSO}(?:for me|my (?:thing|cup of tea))\b"),
    # what is over
    row("likes", rf"{_USED}(?:{_LIKE}|prefer|(?:be )?(?:{_ALSO}|more )(?:into|about|obsessed with)|"
        rf"be {_ALSO}{_FAN}) (?:more )?{_OF}(?P<value>{ITEMS})", "deny", is_list=True),
    row("dislikes", rf"{_USED}(?:{_HATE}|not {_ALSO}(?:{_LIKE}|be {_ALSO}(?:{_FAN}|into))|"
        rf"never {_LIKE}) (?P<value>{ITEMS})", "deny", is_list=True),
    row("likes", rf"\bI no longer {_LIKE} (?P<value>{ITEMS})", "deny", is_list=True),
    row("likes", rf"\bI {_ALSO}{DO_NOT} {SURE}{_LIKE} (?P<value>{ITEMS}) (?:that much |as much )?"
        r"any ?more\b", "deny", is_list=True),
    row("likes", rf"{I_AM} {_ALSO}(?:not|no longer) (?:really |that |so )?(?:{_FAN}|into) "
        rf"(?P<value>{ITEMS}) any ?more\b", "deny", is_list=True),
    row("likes", rf"{HAVE} {LATELY}{_ALSO}(?:gone|went) off (?P<value>{ITEMS})", "deny",
        is_list=True),
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


def is_meant(denied: str, known: str) -> bool:
    """Whether a denial means a known value: one says all the words of the other.

    >>> is_meant("westerns", "old western movies"), is_meant("jazz", "techno")
    (True, False)
    """
    words, others = content_terms(denied) - _FILLERS, content_terms(known) - _FILLERS
    return bool(words and others) and (words <= others or others <= words)
