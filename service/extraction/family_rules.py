"""Rules of family, friends and pets: who they are, and what is said of them by name."""

from __future__ import annotations

from typing import Final

from .phrases import (
    AND_I,
    BREEDS,
    CHILD,
    DAY,
    DEATH,
    I_AM,
    IS,
    ITEMS,
    KINS,
    LEVELS,
    MY_KIN,
    NAME,
    NO_ALLERGY,
    NO_FOOD,
    NO_NAME,
    NUMBER,
    ORIGINS,
    PETS,
    PLACE,
    PLURAL_KINS,
    RECENT,
    RELATIVE,
    ROLE,
    WE_HAVE,
    WHOLLY,
)
from .rule import row

FAMILY_RULES: Final = (
    # "My mother is German" names nobody.
    row("kin", rf"{MY_KIN}(?:['\u2019]s name{IS}|{IS} (?:called|named)|,? (?:is )?)"
        rf" ?(?!(?:{ORIGINS}|{BREEDS}|Happy|Vegan|Vegetarian|OK|"
        r"[A-Z]\w+ed (?:this|that|it|me|us|him|the|an?))\b)"
        rf"(?P<value>{NAME})(?<!['\u2019]s)(?!,? {DEATH}| (?:down|to sleep)\b)",
        is_timeless=True),
    row("kin", rf"{MY_KIN},? (?!(?:{ORIGINS}|{BREEDS})\b){NO_NAME}(?P<value>[A-Z][\w-]*+)"
        r"(?=['\u2019]s \w)", is_timeless=True),
    row("kin", rf"{WE_HAVE} {RECENT}(?:have |got |gotten |adopted |bought )?an? (?:\w+ )?"
        rf"(?P<kin>{KINS}),? (?:called|named) (?P<value>{NAME})"),
    row("kin", rf"{WE_HAVE} (?:have |got )?an? (?:\w+ )?(?P<kin>{KINS}), (?P<value>{NAME})"
        r"(?=,? and (?:an?|two|three)\b|[.!]|$)", is_timeless=True),
    row("kin", rf"{WE_HAVE} (?:have |got )?an? (?:\w+ )?(?:{KINS}),? (?:called |named "
        rf")?{NAME},? and an? "
        rf"(?:\w+ )?(?P<kin>{KINS}),? (?:called |named )?(?P<value>{NAME})(?=[.!,]|$)",
        is_timeless=True),
    row("kin", rf"\b(?:[Mm]y|[Oo]ur) (?:two |three |four )?(?P<kin>{PLURAL_KINS}),? "
        r"(?:are (?:called |named )?)?"
        rf"(?P<value>{NAME}(?:, {NAME})*,? and {NAME})(?=[,.!]|$| live\b| are\b| love\b| both\b)",
        is_list=True, is_timeless=True),
    row("kin", rf"{WE_HAVE} {RECENT}(?:have |got |gotten |adopted |bought )?an? (?:\w+ )?"
        rf"(?P<kin>{KINS})(?:,| and) (?:her|his|its) name{IS} (?P<value>{NAME})",
        is_timeless=True),
    row("kin", rf"\b(?:I|[Ww]e) {RECENT}(?:have|got|adopted|['\u2019]ve got) an? (?:[\w-]+ )?"
        rf"(?P<kin>{PETS}), (?P<value>{NAME})(?=[.!]|$)", is_timeless=True),
    row("kin", rf"\b(?:I|[Ww]e)(?: have|(?: have|['\u2019]ve)? got| adopted) (?:\w+ "
        rf")?(?P<kin>{PLURAL_KINS})[,:]? (?:called |named )?"
        rf"(?P<value>{NAME}(?:, {NAME})*,? and {NAME})", is_list=True, is_timeless=True),
    row("kin", rf"\b(?:I|[Ww]e)(?: have|['\u2019]ve)? {RECENT}(?:have|got|gotten|adopted|bought|"
        rf"rescued) "
        rf"an? (?:[\w-]+ )?(?P<kin>{PETS})[^.!?]{{0,40}}? and (?:we |I )?(?:named|called) (?:him|"
        rf"her|it|them) "
        rf"(?P<value>{NAME})", is_timeless=True),
    row("kin", rf"^(?P<value>{NAME}), (?:my|our) (?:\w+ )?(?!friend\b)(?P<kin>{KINS}),",
        is_timeless=True),
    row("child", rf"\b{CHILD},? (?:is called |is named )?(?P<value>{NAME})(?<!['\u2019]s)"
        r"(?=[,.!]|$| is\b| turns\b|"
        r" has\b| just\b| loves\b| likes\b| goes\b| started\b)", is_timeless=True),
    row("child", rf"^(?P<value>{NAME}), (?:my|our) (?:eldest|oldest|youngest|firstborn|toddler|"
        rf"little one),",
        is_timeless=True),
    row("pet", rf"\b(?:[Mm]y|[Oo]ur) (?:\w+ )?(?:{PETS}),? (?P<value>{NAME}),? "
        rf"{DEATH}", "deny"),
    row("pet", rf"^(?P<value>{NAME}),? {DEATH}", "deny", if_known=True),
    row("pet", rf"{WE_HAVE} (?:had to )?(?:give|gave|given) (?P<value>{NAME}) away\b", "deny",
        if_known=True),
    row("pet", rf"\b(?:put|putting) (?:my|our) (?:\w+ )?(?:{PETS}),? (?P<value>{NAME}),? "
        r"(?:down|to sleep)"
        r"(?=[.,!;:]|$| (?:last|on|in|this|yesterday|today|a|two)\b)", "deny"),
    row("partner", rf"\bI(?: have|['\u2019]ve) been (?:happily )?(?:married|engaged) to "
        rf"(?P<value>{NAME})"
        r"(?=[.,!]|$| for\b| since\b)"),
    row("partner", rf"(?:{I_AM} (?:married|engaged) to|\bI {RECENT}(?:got engaged to|married)) "
        rf"(?P<value>{NAME})"),
    row("partner", rf"{AND_I}{RECENT}(?:got|are|have been) (?:married|engaged)\b"),
    row("partner", rf"\b(?:I|[Ww]e) {RECENT}(?:broke|split) up with (?P<value>{NAME})",
        "deny"),
    row("partner", rf"{AND_I}{RECENT}(?:broke up|split up|"
        r"separated|(?:got|are) (?:divorced|separated))\b(?! (?:the|a|an|our|my)\b)", "deny"),
    row("birthday", rf"{RELATIVE}(?:turns|will turn|is turning|will be) (?:{NUMBER}|"
        rf"[a-z]{{3,8}}) on "
        rf"(?P<value>{DAY})"),
    row("birthday", rf"{RELATIVE}was born on (?P<value>{DAY})"),
    row("title", rf"{RELATIVE}(?:is|works as) an? (?:(?:{LEVELS}) )?(?P<value>{ROLE})"
        r"(?=[.,!]|$| (?:at|in|for|and)\b)"),
    row("employer", rf"{RELATIVE}is an? (?:(?:{LEVELS}) )?{ROLE} (?:at|for) (?P<value>{NAME})"),
    row("avoids", rf"{RELATIVE}(?:can['\u2019]t|cannot|doesn['\u2019]t|does not|never) "
        rf"(?:eat|eats|drink|drinks|have) (?:any )?{NO_FOOD}(?P<value>{ITEMS}){WHOLLY}",
        is_list=True),
    row("home", rf"{RELATIVE}(?:has |just |recently )*moved (?:from {PLACE} )?to (?P<value>{PLACE})"
        r"(?! (?:office|team)\b)"),
    row("employer", rf"{RELATIVE}works (?:for|at) (?P<value>{NAME})"),
    row("home", rf"{RELATIVE}(?:works (?:for|at) {NAME} and )?lives in (?P<value>{PLACE})"),
    row("employer", rf"{RELATIVE}{RECENT}(?:got a (?:new )?job|started) at (?P<value>{NAME})"),
    row("diet", rf"{RELATIVE}is (?:now )?(?:an? )?(?P<value>vegetarian|vegan|pescatarian)"
        r"(?=[.,!]|$| (?:and|now|too|as well|so)\b)"),
    row("allergy", rf"{RELATIVE}has an? (?:severe |mild |strong |bad |serious )?"
        r"(?!severe|mild|strong|bad|serious)(?P<value>\w+) allergy\b"),
    row("allergy", rf"{RELATIVE}is allergic to {NO_ALLERGY}(?P<value>{ITEMS})", is_list=True),
)  # fmt: skip
