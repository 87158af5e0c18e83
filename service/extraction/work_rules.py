"""Rules of work: for whom somebody works or worked, as what, under whom and where."""

from __future__ import annotations

from typing import Final

from .phrases import (
    CHIEF,
    DO_NOT,
    FIRM,
    HAVE,
    I_AM,
    I_SOON,
    I_WILL,
    IS,
    LASTING,
    LEVELS,
    NAME,
    OFFICE,
    PRAISE,
    PROPER,
    RECENT,
    ROLE,
    SERVICES,
    TOOLS,
    TRADES,
    WORD,
)
from .rule import row

WORK_RULES: Final = (
    row("experience_level", rf"{I_AM} an? (?P<value>{LEVELS})\b"),
    # What somebody does: a trade that is known, or any word behind "work as".
    row("title", rf"(?:{I_AM}|\bI work as) an? (?:(?:{LEVELS}) )?"
        rf"(?P<value>(?!{PRAISE}\b)(?:[a-z][a-z-]* ){{0,3}}?(?:{TRADES}))\b"
        r"(?! (?:at heart|of sorts|fan)|['\u2019]s)"),
    row("title", rf"{I_AM} an? (?:freelance|self-employed|qualified|chartered|registered|licensed) "
        rf"(?P<value>(?![^.,!]*\b(?:{TRADES})\b)[a-z][a-z-]+(?: [a-z-]+)?)"
        r"(?=[.,!]|$| and\b| at\b| in\b)"),
    row("title", rf"\b[Mm]y job{IS} (?:as )?(?:an? )?(?:{LEVELS} )?(?P<value>{ROLE})"
        r"(?=[.,!]|$| at\b| in\b)"),
    row("title", rf"\bI was an? (?:(?:{LEVELS}) )?(?P<value>{ROLE})"
        r"(?= (?:for (?:\w+ ){1,2}?years|until|till|before)\b|,? (?:and |but )?now\b)",
        is_former=True),
    row("title", rf"\bI (?:now |currently )?work as an? (?![^.,!]*\b(?:{TRADES}|team|couple|group|"
        r"pair|whole|rule|hobby)\b)(?P<value>[a-z][a-z-]+(?: (?!at\b|for\b|in\b|and\b|on\b)"
        r"[a-z-]+){0,2})(?=[.,!]|$| at\b| for\b| in\b| and\b)"),
    row("title", rf"\bI(?: have|['\u2019]ve) been an? (?:(?:{LEVELS}) )?(?P<value>{ROLE})"
        r"(?= (?:for|since)\b)"),
    row("title", rf"^[Aa]s an? (?:(?:{LEVELS}) )?(?P<value>{ROLE}),? I (?:(?:also|often|usually|"
        r"mostly|always|only|mainly) )?(?:work|have to|get|see|need|spend|deal with|am)\b"),
    row("title", rf"\b[Mm]y (?:job )?title{IS} (?P<value>[\w-]+(?: [\w-]+){0,3})"),
    row("title", r"\b(?:[Tt]hey|[Mm]y boss|[Mm]y manager|[Tt]he company|[Ww]ork)(?: has| have|"
        r"['\u2019]ve)? (?:just |finally |recently )?(?:made me|promoted me to|appointed me(?: "
        r"as)?)"
        rf" (?:an? |the )?(?P<value>(?:(?:{LEVELS}) )?{ROLE})(?!['\u2019])"),
    row("title", r"^(?:[Ff]or a living,? |[Bb]y (?:trade|profession|training),? |"
        r"[Pp]rofessionally,? )"
        rf"{I_AM} an? (?P<value>[a-z][a-z-]+(?: [a-z-]+)?)(?=[.,!]|$| and\b| at\b| in\b)"),
    row("title", rf"{I_AM} an? (?P<value>[a-z][a-z-]+(?: [a-z-]+)?) by (?:trade|profession|"
        rf"training)\b"),
    row("title", rf"{I_AM} (?:now |currently )?(?:the )?"
        r"(?P<value>(?:head|director|VP|vice president) of [a-z]+"
        r"(?: (?!and\b|at\b|for\b|in\b|on\b)[a-z]+)?)"),
    row("title", rf"{I_AM} (?:now |currently )?(?:the )?(?P<value>{OFFICE})"
        r"(?= (?:at|for) |[.,!]|$)"),
    row("title", r"\bI(?: got| was| have been|['\u2019]ve been) (?:just )?promoted to "
        rf"(?:an? |the )?(?P<value>(?:(?:{LEVELS}) )?{ROLE})"),
    row("title", rf"(?:\bI (?:now |currently )?work|{I_AM} (?:working|starting|joining)|"
        rf"{HAVE} {RECENT}(?:joined|started|been working|worked)) "
        rf"(?:(?:for|at|with) )?{PROPER}{NAME}[^.!?]{{0,30}}? as (?:an? |the |their )?"
        rf"(?:(?:{LEVELS}) )?(?P<value>{ROLE})"),
    row("title", rf"{I_AM} (?:now |currently )?the (?:new )?(?P<value>{CHIEF})(?= of [A-Z])"),
    # What somebody no longer does.
    row("title", rf"\bI used to be an? (?:(?:{LEVELS}) )?(?P<value>{ROLE})", is_former=True),
    row("title", rf"{I_AM} no longer an? (?:(?:{LEVELS}) )?(?P<value>{ROLE})(?=[.,!;]|$| at\b)",
        "deny"),
    row("title", rf"{I_AM} not an? (?:(?:{LEVELS}) )?(?P<value>{ROLE}) any ?more\b", "deny"),
    row("specialty", r"\bI speciali[sz]e in (?P<value>[\w-]+(?: (?!and I\b)[\w-]+){0,6})"),
    row("skill", rf"^I (?:also )?know (?P<value>(?:{TOOLS})(?:\.\w+)?)(?=[.,;!]?$|[,;] | and\b)"),
    # For whom: a name must follow, so that "I work for fun" names nobody.
    row("employer", rf"\bI (?:now |currently |still )?work "
        r"(?:remotely |full-time |part-time |nights |days |shifts |weekends )?"
        rf"(?:for|at) {PROPER}(?P<value>{NAME})"),
    row("employer", rf"{I_AM} (?:now |currently |still )?working (?:for|at) "
        rf"{PROPER}(?P<value>{NAME})"),
    row("employer", rf"{I_AM} (?:now |currently |still )?employed (?:by|at|with) "
        rf"{PROPER}(?P<value>{NAME})"),
    row("employer", r"\bI (?:just |recently )?(?:was|got|have been) (?:just |recently )?hired "
        rf"(?:by|at) {PROPER}(?P<value>{NAME})"),
    row("employer", rf"{I_AM} (?:now )?(?:an? |the )?(?:(?:{LEVELS}) )?{ROLE} (?:at|for) "
        rf"{PROPER}(?P<value>{NAME})"),
    row("employer", rf"{I_AM} (?:now |currently )?(?:the )?{OFFICE} (?:at|for) "
        rf"{PROPER}(?P<value>{NAME})"),
    row("employer", rf"\bI (?:now |currently |still )?teach (?:[\w-]+ ){{0,3}}?at "
        rf"{PROPER}(?P<value>{NAME})"),
    row("employer", rf"{HAVE} been (?:working )?at {PROPER}(?P<value>{NAME})(?<!['\u2019]s)"
        r"(?= for (?:\w+ ){1,3}?(?:years?|months?)\b)"),
    row("employer", rf"{HAVE} been with {PROPER}(?P<value>{FIRM})(?<!['\u2019]s)(?= {LASTING})"),
    row("employer", rf"\bI(?: now| currently|['\u2019]m| am)? (?:run|manage|lead|head|oversee|"
        r"supervise|running|managing|leading|heading) (?:the|an?|all|our|their) "
        rf"(?:[a-z][\w-]*(?: |(?= at))){{1,4}}?at {PROPER}(?P<value>{NAME})(?=[,.!;]|$| and\b|"
        r" now\b| these\b| since\b)"),
    row("employer", rf"{I_AM} (?:now |currently )?working (?:over|out|down|up) at "
        rf"{PROPER}(?P<value>{NAME})"),
    row("employer", rf"\bI (?:get|earn) my (?:pay|salary|paycheck|pay ?cheque|living) (?:at|from) "
        rf"{PROPER}(?P<value>{NAME})"),
    row("employer", rf"{HAVE} {RECENT}(?:handed|put|given|gave|turned) in (?:my )?(?:two "
        rf"weeks['\u2019] )?"
        rf"(?:notice|resignation) at {PROPER}(?P<value>{NAME})", "deny"),
    row("employer", rf"^(?:[Aa]fter|[Ff]ollowing) (?:\w+ ){{1,3}}?(?:years?|months?) (?:at|with) "
        rf"{PROPER}(?P<value>{FIRM}),? I(?: have|['\u2019]ve)? {RECENT}(?:left|quit|resigned|"
        r"moved on)\b", "deny"),
    row("employer", rf"\bI (?:had )?spent (?:\w+ ){{1,3}}?(?:years?|months?) (?:at|with) "
        rf"{PROPER}(?P<value>{FIRM})(?=[,.!;]|$| before\b| as\b| and\b)", is_former=True),
    row("employer", rf"{I_AM} (?:starting|joining) (?:work )?(?:at |with )?{PROPER}"
        rf"(?P<value>{NAME})(?=[^.!?]*\bas (?:an? |the |their )?(?:(?:{LEVELS}) )?{ROLE})"),
    row("employer", r"\bI(?:['\u2019]m| am)? (?:start|started|begin|began|starting) (?:my|a) new "
        rf"(?:job|role|position) (?:at|with) {PROPER}(?P<value>{NAME})"),
    row("employer", rf"{HAVE} {RECENT}(?:got|found|landed|took) (?:a|the|my) "
        rf"(?:new )?(?:job|role|position) (?:at|with) {PROPER}(?P<value>{NAME})"),
    row("employer", rf"{HAVE} {RECENT}accepted (?:an?|the) (?:job )?offer (?:at|from|"
        rf"with) {PROPER}(?P<value>{NAME})"),
    row("employer", rf"{HAVE} (?:(?:been working|worked) (?:for|at)|been (?:at|with)) "
        rf"(?P<value>{NAME})"
        r"(?=[^.!?]*\bsince (?!(?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|"
        r"ten|noon|midnight|lunch|breakfast|this)\b))"),
    row("employer", rf"{HAVE} {RECENT}(?:joined (?!{SERVICES}(?! as\b))|"
        rf"started (?:working )?(?:at|for) )(?P<value>{NAME})(?! (?:for|on|at) (?:an? )?(?:lunch|"
        r"dinner|breakfast|drinks?|coffee|walk|run|beer|call|meeting|ride|game|trip)\b)"),
    row("employer", rf"\bI (?:now |currently |still )?work (?:for|at) an? (?:[a-z-]+ ){{0,3}}?"
        rf"(?:called|named) (?P<value>{NAME})"),
    row("employer", rf"\b[Mm]y (?:company|firm){IS} called (?P<value>{NAME})"),
    row("employer", rf"\b[Mm]y (?:new )?employer{IS} (?P<value>{NAME})"),
    row("employer", rf"{I_AM} back (?:working )?(?:at|with) {PROPER}(?P<value>{NAME})"
        r"(?=[.,!;]|$| now\b| again\b| since\b| as\b| and\b)", if_known=True),
    row("employer", rf"\bI (?:used to work|previously worked|formerly worked) (?:for|at) "
        rf"(?P<value>{NAME})", is_former=True),
    row("employer", rf"\bI worked (?:for|at) (?P<value>{NAME})(?![^.!?]*\bsince\b)",
        is_former=True),
    row("employer", rf"\bI (?:no longer work|{DO_NOT} work) (?:for|at) (?P<value>{NAME})",
        "deny"),
    row("employer", rf"{HAVE} {RECENT}(?:left|quit|lost) my (?:old )?job (?:at|with) "
        rf"{PROPER}(?P<value>{NAME})", "deny"),
    # A name may hold "for", and what follows it may be where one went: what is known decides.
    row("employer", rf"{HAVE} {RECENT}(?:left|quit) {PROPER}(?P<value>{WORD}(?: {WORD})*)"
        r"(?= for (?:the )?[A-Z])", "deny", if_known=True),
    row("employer", rf"{HAVE} {RECENT}(?:left|quit) {PROPER}(?P<value>{NAME})",
        "deny", if_known=True),
    row("employer", r"\bI (?:just )?(?:resigned|(?:was|got) (?:just )?(?:fired|laid off|let go)) "
        rf"from {PROPER}(?P<value>{NAME})", "deny"),
    row("employer", rf"(?:used to work|worked) (?:for|at) {NAME},? (?:but|and) (?:now )?"
        rf"{I_AM} (?:now )?(?:at|with) {PROPER}(?P<value>{NAME})"),
    # What is to come counts only with its day; until then the work is where it was. Who starts
    # somewhere may be a student: it is told by "work", by a role, or by what somebody leaves.
    row("employer", rf"(?:{I_SOON}(?:start|starting|begin|beginning) (?:work|working)|"
        rf"{I_WILL}(?:work|working)) (?:at|with|for) {PROPER}(?P<value>{NAME})", is_dated=True),
    row("employer", rf"{I_SOON}(?:start|starting|begin|beginning) as "
        rf"(?:an? |the |their )?(?:(?:{LEVELS}) )?{ROLE} (?:at|with|for) {PROPER}"
        rf"(?P<value>{NAME})", is_dated=True),
    row("employer", rf"{I_SOON}(?:join|joining) {PROPER}(?P<value>{FIRM})", is_dated=True),
    row("employer", rf"{I_AM} leaving {NAME}[^.!?]{{0,25}}?(?:,|;| and| to) (?:{I_SOON})?"
        r"(?:(?:start|starting|begin|beginning) (?:at|with)|join|joining) "
        rf"{PROPER}(?P<value>{NAME})", is_dated=True),
    row("employer", rf"{HAVE} {RECENT}(?:left|quit|resigned from) {NAME}[^.!?]{{0,25}}?"
        rf"(?:,|;| and) {I_SOON}(?:start|starting|begin|beginning) (?:at|with) "
        rf"{PROPER}(?P<value>{NAME})", is_dated=True),
    row("employer", rf"\b[Mm]y first day (?:of work )?(?:at|with) {PROPER}(?P<value>{NAME})"
        r"(?= (?:is|will be)\b)", is_dated=True),
    row("employer", rf"{I_AM} leaving {PROPER}(?P<value>{NAME})(?= (?:on|next)\b)",
        "deny", if_known=True, is_dated=True),
    row("title", rf"{I_SOON}(?:start|starting|begin|beginning) (?:work |working )?as "
        rf"(?:an? |the |their )?(?:(?:{LEVELS}) )?(?P<value>{ROLE})", is_dated=True),
    row("employer", rf"{HAVE} {RECENT}(?:left|quit) {NAME}(?:,| and| but)+ (?:{I_AM} )?(?:now )?"
        rf"(?:at|with|joined) {PROPER}(?P<value>{FIRM})(?=[.,!;]|$| now\b| instead\b)"),
    row("employer", rf"{HAVE} {RECENT}(?:left|quit) {NAME}[^.!?]{{0,25}}? (?:and|to) join(?:ed)? "
        rf"{PROPER}(?P<value>{NAME})(?=[.,!;]|$| as\b)"),
    row("employer", rf"{I_AM} (?:now |currently )?the (?:new )?(?:{CHIEF}) of {PROPER}"
        rf"(?P<value>{NAME})"),
    row("employer", rf"{I_AM} (?:on|in|part of) the [a-z][\w-]+(?: [a-z][\w-]+)? team at {PROPER}"
        rf"(?P<value>{NAME})"),
    row("employer", rf"{I_AM} no longer (?:working )?at {PROPER}(?P<value>{NAME})", "deny"),
    row("employer", rf"{I_AM} not (?:working )?at {PROPER}(?P<value>{NAME}) any ?more\b", "deny"),
    row("manager", rf"\b[Mm]y (?:new |line )?(?:manager|boss|supervisor|team lead)"
        r"(?: (?:at the moment|right now|now|these days|at work|there|here))?(?: is|['\u2019]s) "
        r"(?:now |currently )?(?:called |named )?"
        rf"(?P<value>{NAME})(?<!['\u2019]s)"),
    row("manager", rf"\b[Mm]y (?:new )?(?:manager|boss),? (?P<value>{NAME})(?<!['\u2019]s)",
        is_timeless=True),
    row("manager", rf"\bI (?:now )?report (?:directly |straight )?to (?P<value>{NAME})"),
    row("manager", rf"^(?P<value>{NAME}){IS} (?:now )?my (?:new |line )?(?:manager|boss|supervisor)"
        r"(?=[.,!;]|$| and\b| now\b| at\b)"),
    row("team", rf"{I_AM} (?:on|in|part of) the (?P<value>{NAME}) team"),
    row("team", rf"{I_AM} (?:on|in|part of) the "
        r"(?!(?:same|other|best|right|wrong|whole|new|old|first|second|winning|losing|home|away|"
        r"small|big|entire|core|local|national)\b)"
        r"(?P<value>[a-z][\w-]+(?: [a-z][\w-]+)?) team(?=[.,!]|$| at\b| and\b| now\b)"),
    row("office", rf"{HAVE} (?:just )?moved to the (?P<value>{NAME}) office"),
    row("office", rf"\bI work (?:from|in|out of) the (?P<value>{NAME}) office"),
    row("office", rf"{I_AM} (?:now )?(?:in|at|based in) the (?P<value>{NAME}) office"
        r"(?! (?:today|tonight|tomorrow|this|right|for|on|until|till)\b)"),
    row("office", rf"\bI (?:no longer|{DO_NOT}) work (?:from|in) the (?P<value>{NAME}) office",
        "deny"),
)  # fmt: skip
