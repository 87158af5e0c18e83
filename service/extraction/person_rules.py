"""Rules of the person: the name, the birthday, languages, and where somebody is reached."""

from __future__ import annotations

from typing import Final

from .phrases import DAY, I_AM, IS, NAME, NO_DATE, NO_OTHER, NUMBER, ORIGINS, TOOLS, WORD, ZONES
from .rule import row

PERSON_RULES: Final = (
    row("full_name", rf"\b[Mm]y (?:full )?name{IS} (?P<value>{NAME})"),
    row("full_name", rf"\b(?:[Yy]ou can|[Pp]lease|[Jj]ust|[Ff]rom now on,?) call me "
        rf"(?P<value>{NAME})"),
    row("full_name", rf"^[Cc]all me (?P<value>{NAME})"),
    # Who says both means the short one for speaking.
    row("full_name", r"^(?![^.!?]*\bname(?: is|['\u2019]s) )[^.!?]*?"
        r"\b(?:[Ee]very(?:one|body) calls|(?:[Pp]eople|[Mm]y friends) call) me "
        rf"(?P<value>{NAME})"),
    row("full_name", rf"^{I_AM} (?!(?:{ORIGINS}|Sorry|Back|Fine|Happy|Busy|Tired|Done)\b)"
        rf"(?P<value>{WORD}),? by the way\b"),
    row("full_name", rf"^{I_AM} (?:called|named) (?P<value>{NAME})(?=[,.!]|$| and I\b)"),
    row("full_name", rf"^[Tt]he name['\u2019]s (?P<value>{NAME})(?=[,.!]|$)"),
    row("full_name", rf"\bI go by (?P<value>{NAME})(?=[,.!]|$| and\b)"),
    row("full_name", rf"^(?:(?:[Hh]i|[Hh]ello|[Hh]ey)(?: \w+)?[,!]? )?{I_AM} (?!(?:{ORIGINS})\b)"
        rf"(?P<value>{WORD} {WORD})(?=[,.!]|$| from\b| and I\b)"),
    row("full_name", r"^(?:(?:[Hh]i|[Hh]ello|[Hh]ey)(?: \w+)?[,!]? |[Bb]y the way,? |"
        r"[Bb][Tt][Ww],? )"
        r"(?:(?:(?:a )?(?:quick|short) )?intro(?:duction)?: )?"
        rf"(?:{I_AM}|[Tt]his is) (?!(?:{ORIGINS}|Team)\b)(?P<value>{NAME})"
        r"(?=[,.!]|$| from\b| and I\b| here\b)"),
    row("full_name", r"^(?:[Hh]i|[Hh]ello|[Hh]ey)(?: there| all| everyone)?[,!] "
        rf"(?P<value>(?!(?:Same|Right|Over|Out|Back|New|Nothing|Nobody|Everyone|Everybody|Anyone|"
        rf"All)\b)"
        rf"{NAME}) here(?=[,.!]|$| from\b)"),
    row("full_name", rf"^(?P<value>(?!(?:Right|Over|Out|Back|Not|All)\b){WORD} {WORD}) "
        rf"here(?=[,.!]|$)"),
    row("birthday", rf"\b[Mm]y birthday(?: is|['\u2019]s) (?:on )?"
        rf"(?P<value>{DAY}|(?:the )?\w+ ?\w* ?(?:of )?\w+)"),
    row("birthday", rf"\bI was born on (?P<value>{DAY})"),
    row("birthday", r"\bI(?:['\u2019]ll| will|['\u2019]m| am)? (?:turn|be turning|turning|be) "
        rf"{NUMBER} on (?P<value>{DAY})"),
    row("birthday", r"^(?P<subject>(?!(?:Mom|Mum|Dad|Today|Tomorrow|Christmas|Jesus|It|That|There|"
        r"Here|Who|What)\b)[A-Z]\w+(?: [A-Z]\w+)?)['\u2019]s birthday is (?:on )?"
        rf"(?P<value>{DAY})"),
    row("language", r"\bI (?:(?:also|already|now) )*speak (?:(?:fluent|basic|some|a little|a bit "
        rf"of) )?(?P<value>(?!(?:{TOOLS})\b){NAME}"
        rf"(?:(?:,| and|, and) {NO_OTHER}(?!(?:{TOOLS})\b){NAME})*)", is_list=True),
    row("language", rf"\bI (?:(?:also|already|now) )*speak {NAME},? and (?:some|a little|a bit of) "
        rf"(?P<value>(?!(?:{TOOLS})\b){NAME})"),
    row("language", rf"{I_AM} (?:fairly |almost |also )?fluent in (?P<value>(?!(?:{TOOLS})\b){NAME}"
        rf"(?:(?:,| and|, and) {NO_OTHER}(?!(?:{TOOLS})\b){NAME})*)", is_list=True),
    row("language", rf"\b[Mm]y (?:native language|mother tongue|first language){IS} "
        rf"(?P<value>{NAME})"),
    row("email", rf"\b[Mm]y e-?mail(?: address)?{IS} "
        r"(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    row("email", r"\b(?:[Rr]each|[Ee]mail|[Ww]rite to|[Cc]ontact) me (?:at|on|under) "
        r"(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    row("phone", rf"\b[Mm]y (?:(?:phone|mobile|cell)(?: number)?|number){IS} "
        r"(?P<value>\+?[\d ()/-]{6,20}\d)"),
    row("phone", rf"\b(?:[Rr]each|[Cc]all|[Tt]ext|[Cc]ontact|[Rr]ing) me (?:at|on|under) {NO_DATE}"
        r"(?P<value>\+?[\d ()/-]{6,20}\d)(?![\d:])"),
    row("timezone", rf"{I_AM} (?:in|on) (?:the )?"
        rf"(?P<value>(?:{ZONES})(?: [Ss]tandard| [Dd]aylight)?)"
        r" [Tt]ime(?: ?zone)?\b"),
    row("timezone", rf"\b[Mm]y time ?zone{IS} "
        r"(?P<value>[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?)"),
    row("timezone", rf"{I_AM} (?:in|on) (?:the )?(?P<value>[A-Z][A-Za-z_]+/[A-Z][A-Za-z_]+)"),
)  # fmt: skip
