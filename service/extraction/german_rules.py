"""Sentence patterns of German, as people say it of themselves.

A subordinate clause has its verb at the end, which no pattern reads: "dass ich in Köln wohne" is
somebody's word and no claim.
"""

from __future__ import annotations

import re
from typing import Final

from .german_phrases import (
    A_LITTLE,
    ADVERB_FIRST,
    ADVERBS,
    AIMS,
    BY_DAY,
    CALLED_OFF,
    CHORES,
    DAY,
    DEATH,
    EMPLOYER,
    END,
    FIRMS,
    FRIENDS,
    FROM_THEN,
    GOES_ON,
    HABITS,
    IN_LAND,
    INTENT,
    JOURNEYS,
    KIN,
    LANGUAGE,
    MONTH,
    MY_KIN,
    NAMES,
    NO_HABIT,
    OCCASION,
    OF_MY_KIN,
    ONE_NAME,
    PERIOD,
    PLACE,
    PLURAL_KIN,
    RELATIVE,
    THING,
    THING_END,
    THING_FIRST,
    THINGS,
    TRADE,
    UNITS,
    USERS,
    WHEN,
    WHEN_FIRST,
    WORD,
    WORKPLACE_END,
)
from .rule import row

GERMAN_RULES: Final = (
    # who
    row("full_name", rf"\b[Ii]ch heiße (?P<value>{ONE_NAME}){END}"),
    row("full_name", rf"\b[Mm]ein Name ist (?!(?:Programm|Hase)\b)(?P<value>{ONE_NAME}){END}"),
    row("full_name", rf"^(?:Bitte )?[Nn]enn(?:e|t)? mich (?:bitte |einfach )?"
        rf"(?!(?:Schatz|Liebling|Chef|Boss|Meister|Idiot)\b)(?P<value>{ONE_NAME})(?=[.,!]|$)"),
    row("full_name", rf"\b[Ii]ch heiße eigentlich (?P<value>{ONE_NAME}){END}", "correct"),
    row("full_name", rf"^[Ee]igentlich heiße ich (?P<value>{ONE_NAME}){END}"),
    row("full_name", r"\b(?:[Dd]u kannst mich|[Ii]hr könnt mich) (?:gern |gerne |einfach |ruhig )*"
        rf"(?P<value>{ONE_NAME}) nennen\b"),
    row("full_name", r"\b(?:[Aa]lle|[Mm]eine Freunde|[Dd]ie meisten) nennen mich (?:nur |einfach )?"
        rf"(?P<value>{ONE_NAME})(?=[.,!]|$)"),
    # Two nouns may stand side by side, too ("ich bin Python Entwickler").
    row("full_name", r"^(?:Hallo|Hi|Hey|Moin|Servus|Guten Tag)(?: zusammen)?[,!]? ich bin "
        rf"(?:der |die )?(?P<value>{WORD} (?!\w*{USERS}){WORD}){END}"),
    row("full_name", r"^(?:(?:Hallo|Hi|Hey|Moin|Servus|Guten Tag)(?: zusammen)?[,!]? |(?=[Hh]ier "
        r"(?:spricht|schreibt)))"
        rf"[Hh]ier (?:ist|spricht|schreibt) (?P<value>{WORD}(?: {WORD})+)(?=[.,!]|$)"),
    row("full_name", r"^(?:Hallo|Hi|Hey|Moin|Servus|Guten Tag)(?: zusammen)?[,!]? ich bin "
        rf"(?:der |die )(?P<value>{WORD})(?= aus [A-ZÄÖÜ])"),
    row("birthday", rf"\b[Ii]ch habe am (?P<value>{DAY}) Geburtstag\b"),
    row("birthday", rf"^[Aa]m (?P<value>{DAY}) habe ich Geburtstag\b"),
    row("birthday", rf"\b[Mm]ein Geburtstag ist (?:am |der )(?P<value>{DAY})"),
    row("birthday", rf"\b[Ii]ch (?:bin|wurde) am (?P<value>{DAY}) (?:in {PLACE} )?geboren\b"),
    row("language", r"\b[Ii]ch spreche (?:(?:fließend|auch|gut|etwas|ein bisschen|ein wenig) )*"
        rf"(?P<value>{LANGUAGE}(?:, {LANGUAGE})*(?: und {LANGUAGE})?)(?=[.,;!]|$|{A_LITTLE})",
        is_list=True),
    row("language", rf"\b[Ii]ch spreche (?:\w+ )?{LANGUAGE}{A_LITTLE} (?P<value>{LANGUAGE})"
        r"(?=[.,;!]|$)"),
    row("language", rf"\b[Mm]eine Muttersprache ist (?P<value>{LANGUAGE})"),
    row("email", r"\b[Mm]eine (?:E-?Mail|Mail)(?:-?[Aa]dresse)? (?:ist|lautet) "
        r"(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    row("phone", r"\b[Mm]eine (?:Telefon-?|Handy-?)?[Nn]ummer (?:ist|lautet) "
        r"(?P<value>\+?[\d ()/-]{6,20}\d)"),
    # work
    row("employer", rf"\b[Ii]ch arbeite {ADVERBS}bei {EMPLOYER}{WORKPLACE_END}"),
    row("employer", rf"\b[Ii]ch arbeite {ADVERBS}i(?:n der|m) [A-ZÄÖÜ]\w+ bei {EMPLOYER}"
        rf"{WORKPLACE_END}"),
    row("employer", rf"{ADVERB_FIRST}arbeite ich bei {EMPLOYER}{WORKPLACE_END}"),
    row("employer", rf"\b[Ii]ch bin {ADVERBS}(?:{TRADE}) bei {EMPLOYER}{WORKPLACE_END}"),
    row("employer", rf"\b[Ii]ch bin {ADVERBS}bei {EMPLOYER} (?:angestellt|beschäftigt)\b"),
    row("employer", rf"\b[Ii]ch bin seit (?:{MONTH} )?\d{{4}} bei {EMPLOYER}{WORKPLACE_END}"),
    row("employer", rf"\b[Mm]ein (?:neuer )?Arbeitgeber (?:ist|heißt) {EMPLOYER}{END}"),
    row("employer", rf"\b[Ii]ch habe {WHEN}*(?:einen|den|eine|die) (?:neuen? )?(?:Job|Stelle|"
        rf"Arbeitsstelle) bei {EMPLOYER}(?: bekommen| gefunden| angenommen)?(?=[.,;!]|$)"),
    row("employer", rf"\b[Ii]ch habe {WHEN}*bei {EMPLOYER} angefangen\b"),
    row("employer", rf"{WHEN_FIRST}habe ich bei {EMPLOYER} angefangen\b"),
    row("employer", rf"\b[Ii]ch (?:fange|beginne|starte) {WHEN}+bei {EMPLOYER}(?: an)?{END}",
        is_dated=True),
    row("employer", rf"{WHEN_FIRST}(?:fange|beginne|starte) ich bei {EMPLOYER}(?: an)?{END}",
        is_dated=True),
    row("employer", rf"(?:\b[Ii]ch arbeite {FROM_THEN}|^{FROM_THEN} arbeite ich) bei {EMPLOYER}"
        rf"{WORKPLACE_END}", is_dated=True),
    row("employer", rf"\b[Ii]ch verlasse {EMPLOYER}"
        r"(?= (?:am|zum|nächste[nrs]?)\b)", "deny", if_known=True, is_dated=True),
    row("employer", rf"\b[Ii]ch wechsle {WHEN}+zu {EMPLOYER}{END}", is_dated=True),
    row("employer", rf"^[Ee]igentlich arbeite ich {ADVERBS}bei {EMPLOYER}{WORKPLACE_END}"),
    row("employer", rf"\b[Ii]ch bin {ADVERBS}bei (?:der |dem )?(?P<value>{FIRMS}){WORKPLACE_END}"),
    row("employer", rf"\b[Ii]ch bin {ADVERBS}wieder bei {EMPLOYER}{WORKPLACE_END}", if_known=True),
    row("employer", rf"\b[Bb]ei {EMPLOYER} habe ich {WHEN}*gekündigt\b", "deny"),
    row("employer", rf"\b[Bb]ei {EMPLOYER} arbeite ich {ADVERBS}(?=[.,;!]|$|als\b)"),
    row("employer", rf"\b[Bb]ei {EMPLOYER} (?:arbeite|bin) ich (?:\w+ ){{0,2}}nicht "
        rf"mehr\b", "deny"),
    row("employer", rf"\b[Ii]ch habe {WHEN}*bei {EMPLOYER} aufgehört\b", "deny"),
    row("employer", rf"\b[Ii]ch bin nicht mehr bei {EMPLOYER}{WORKPLACE_END}", "deny",
        if_known=True),
    row("employer", rf"\b[Ii]ch wurde {WHEN}*(?:bei|von) {EMPLOYER} entlassen\b", "deny"),
    row("employer", rf"\b[Ii]ch arbeite nicht mehr bei {EMPLOYER}{WORKPLACE_END}",
        "deny"),
    row("employer", rf"\b[Ii]ch habe {WHEN}*bei {EMPLOYER} gekündigt\b", "deny"),
    row("employer", rf"(?:\b[Ii]ch habe (?:früher |{PERIOD} )?|^(?:Früher|{PERIOD}) habe ich )bei "
        rf"{EMPLOYER} gearbeitet\b", is_former=True),
    row("employer", rf"(?:\b[Ii]ch war {PERIOD}|^{PERIOD} war ich) bei {EMPLOYER}{WORKPLACE_END}",
        is_former=True),
    row("title", rf"\b[Ii]ch bin {ADVERBS}(?:gelernte[r]? )?(?P<value>{TRADE})"
        r"(?=[.,;!]|$| (?:bei|in|an|am|im|von Beruf|und)\b)"),
    row("title", r"^[Vv]on Beruf bin ich (?:eigentlich )?"
        r"(?P<value>[A-ZÄÖÜ][a-zäöüß-]+)(?=[.,;!]|$| und\b)"),
    row("title", r"\b[Ii]ch bin von Beruf (?P<value>[A-ZÄÖÜ][a-zäöüß-]+)(?=[.,;!]|$| und\b)"),
    row("title", rf"{RELATIVE}ist {ADVERBS}(?P<value>{TRADE})(?=[.,;!]|$| (?:bei|in|an|am|im|von "
        rf"Beruf|und)\b)"),
    row("title", rf"{RELATIVE}arbeitet {ADVERBS}als (?P<value>{TRADE})\b"),
    row("title", rf"\b[Ii]ch arbeite {ADVERBS}als (?P<value>{TRADE})\b"),
    row("title", rf"\b[Ii]ch bin keine? (?P<value>{TRADE}) mehr(?=[.,;!]|$)", "deny"),
    row("manager", r"\b[Mm]eine? (?:neue[r]? )?(?:Chefin|Chef|Vorgesetzte[r]?) "
        rf"(?:heißt|ist (?:Herr|Frau)) (?:Herr |Frau )?(?P<value>{ONE_NAME}){END}"),
    # where
    row("home", rf"\b(?:[Ii]ch wohne|[Ii]ch lebe|[Ww]ir wohnen|[Ww]ir leben) {ADVERBS}"
        r"(?:(?:mit (?:mein|unser)e[rmn]? [A-ZÄÖÜ]\w+|allein|alleine|zusammen) )?"
        rf"{IN_LAND}(?P<value>{PLACE}){END}"),
    row("home", rf",? (?:wohne|lebe) aber (?:jetzt |inzwischen |nun |heute |mittlerweile |schon "
        rf"lange )*{IN_LAND}"
        rf"(?P<value>{PLACE}){END}"),
    row("home", rf"\b(?:[Mm]eine (?:neue )?Wohnung|[Mm]ein (?:neues )?(?:Haus|Zuhause)|[Uu]nsere "
        rf"(?:neue )?Wohnung|"
        rf"[Uu]nser (?:neues )?(?:Haus|Zuhause)) (?:liegt|ist|steht|befindet sich) "
        rf"{IN_LAND}(?P<value>{PLACE}){END}"),
    row("home", rf"^[Ii]n (?P<value>{PLACE}) (?:wohne|lebe) ich (?:\w+ ){{0,3}}?nicht "
        rf"mehr\b", "deny"),
    row("home", rf"^[Ii]n (?P<value>{PLACE}) (?:wohne ich|lebe ich|wohnen wir|leben wir) "
        rf"{ADVERBS}?(?=[.,;!]|$|gern)"),
    row("home", rf"\b[Ii]ch bin in (?P<value>{PLACE}) zu ?[Hh]ause\b"),
    row("home", rf"\b[Ii]ch heiße {ONE_NAME} und (?:wohne|lebe) {IN_LAND}"
        rf"(?P<value>{PLACE}){END}"),
    row("home", rf"{ADVERB_FIRST}(?:wohne|lebe) ich {IN_LAND}(?P<value>{PLACE}){END}"),
    row("home", rf"\b(?:[Ii]ch bin|[Ww]ir sind) {WHEN}*"
        rf"(?:von {PLACE} )?nach (?P<value>{PLACE}) (?:um)?gezogen\b"),
    row("home", rf"{WHEN_FIRST}(?:bin ich|sind wir) (?:von {PLACE} )?nach (?P<value>{PLACE}) "
        r"(?:um)?gezogen\b"),
    row("home", rf"(?:\b(?:[Ii]ch wohne|[Ww]ir wohnen) {FROM_THEN}|"
        rf"^{FROM_THEN} (?:wohne ich|wohnen wir)) {IN_LAND}(?P<value>{PLACE}){END}",
        is_dated=True),
    row("home", rf"\b(?:[Ii]ch ziehe|[Ww]ir ziehen) {WHEN}+(?:von {PLACE} )?"
        rf"nach (?P<value>{PLACE})(?: um)?{END}", is_dated=True),
    row("home", rf"{WHEN_FIRST}(?:ziehe ich|ziehen wir) (?:von {PLACE} )?"
        rf"nach (?P<value>{PLACE})(?: um)?{END}", is_dated=True),
    row("home", rf"^(?:Ich|Wir)\b[^.!?;]{{0,60}}? (?:und|aber) (?:wohnen?|leben?) (?:jetzt|nun|"
        rf"inzwischen|heute) {IN_LAND}(?P<value>{PLACE}){END}"),
    row("home", rf"^[Ee]igentlich (?:wohne|lebe) ich {ADVERBS}{IN_LAND}(?P<value>{PLACE}){END}"),
    row("home", rf"\b[Ii]ch (?:wohne|lebe) nicht (?:mehr )?{IN_LAND}{PLACE}, sondern "
        rf"{IN_LAND}(?P<value>{PLACE}){END}"),
    row("home", rf"\b[Ii]ch (?:wohne|lebe) nicht mehr {IN_LAND}(?P<value>{PLACE}){END}", "deny"),
    row("home", r"(?:\b[Ii]ch habe früher|^Früher habe ich) "
        rf"{IN_LAND}(?P<value>{PLACE}) (?:gewohnt|gelebt)\b", is_former=True),
    row("home", rf"^Früher habe ich {IN_LAND}{PLACE} (?:gewohnt|gelebt), (?:und |aber )?(?:jetzt|"
        rf"heute|inzwischen) (?:(?:wohne|lebe) ich )?{IN_LAND}(?P<value>{PLACE}){END}"),
    # whom
    *(row(slot, rf"{MY_KIN}(?:{words}) (?:heißt|namens) (?P<value>{ONE_NAME})"
          rf"(?:{END}|(?= und [a-zäöüß]+t\b))", is_timeless=True) for slot, words in KIN.items()),
    *(row(slot, rf"{MY_KIN}(?:{words}),? (?P<value>{ONE_NAME}){GOES_ON}",
          is_timeless=True) for slot, words in KIN.items()),
    *(row(slot, rf"\b(?:[Ii]ch habe|[Ww]ir haben) eine?n? (?:\w+ )?(?:{words})"
          rf"(?: namens (?P<value>{ONE_NAME})(?=[.,!]|$| (?:adoptiert|bekommen|gekauft)\b))",
          is_timeless=True)
      for slot, words in KIN.items()),
    *(row(slot, rf"\b(?:[Ii]ch habe|[Ww]ir haben) eine?n? (?:\w+ )?(?:{words}), (?:(?:der|die|das) "
          rf"(?={ONE_NAME} heißt\b)|(?:er|sie|es|der|die|das) heißt )(?P<value>{ONE_NAME})"
          rf"(?:(?= heißt\b)|{END})", is_timeless=True) for slot, words in KIN.items()),
    *(row(slot, rf"\b(?:[Ii]ch habe|[Ww]ir haben) (?:zwei|drei|vier|fünf|\d) (?:{words})"
          rf"(?:,| namens|:) (?P<value>{NAMES})(?=[.,!]|$)", is_list=True, is_timeless=True)
      for slot, words in PLURAL_KIN.items()),
    *(row(slot, rf"{MY_KIN}(?:{words}) heißen (?P<value>{NAMES})(?=[.,!]|$)", is_list=True,
          is_timeless=True) for slot, words in PLURAL_KIN.items()),
    row("kin", rf"{OF_MY_KIN}(?P<value>{ONE_NAME})", is_timeless=True,
        is_first_name=True),
    row("pet", rf"{MY_KIN}(?:{KIN['pet']}),? (?P<value>{ONE_NAME}){DEATH}", "deny"),
    row("pet", rf"^(?P<value>{ONE_NAME}){DEATH}", "deny", if_known=True),
    row("friend", rf"{MY_KIN}(?:{FRIENDS}),? (?:heißt )?(?P<value>{ONE_NAME})"
        rf"(?:{GOES_ON}|(?=[.,!]|$))", is_timeless=True),
    row("partner", rf"\b[Ii]ch bin {ADVERBS}mit (?P<value>{ONE_NAME}) verheiratet\b"),
    row("partner", rf"\b[Ii]ch habe {WHEN}*(?P<value>{ONE_NAME}) geheiratet\b"),
    row("partner", rf"^(?P<value>{ONE_NAME}) und ich haben {WHEN}*geheiratet\b"),
    row("partner", rf"\b[Ii]ch habe mich {WHEN}*von (?P<value>{ONE_NAME}) (?:getrennt|scheiden "
        r"lassen)\b", "deny"),
    row("partner", rf"^(?P<value>{ONE_NAME}) und ich haben uns {WHEN}*getrennt\b", "deny"),
    row("birthday", rf"{RELATIVE}hat am (?P<value>{DAY}) Geburtstag\b"),
    row("birthday", rf"{RELATIVE}wird am (?P<value>{DAY}) (?:\d+|[a-zäöü]+)(?: Jahre alt)?"
        r"(?=[.,!]|$)"),
    row("employer", rf"{RELATIVE}arbeitet {ADVERBS}bei {EMPLOYER}{WORKPLACE_END}"),
    row("home", rf"{RELATIVE}(?:wohnt|lebt) {ADVERBS}{IN_LAND}(?P<value>{PLACE}){END}"),
    row("allergy", rf"{RELATIVE}ist allergisch (?:gegen|auf) (?P<value>{THINGS}){THING_END}",
        is_list=True),
    row("avoids", rf"{RELATIVE}(?:isst|trinkt|verträgt) (?:gar |überhaupt |leider )?keine?n? "
        rf"(?P<value>{THINGS}){THING_END}", is_list=True),
    row("likes", rf"{RELATIVE}(?:mag|liebt) (?:sehr |auch |besonders )?(?P<value>{THINGS})(?! "
        rf"nicht\b)"
        rf"{THING_END}", is_list=True),
    row("likes", rf"{RELATIVE}(?:isst|trinkt|hört|liest|spielt) (?:sehr )?gerne? "
        rf"(?P<value>{THINGS}){THING_END}",
        is_list=True),
    row("dislikes", rf"{RELATIVE}(?:mag keine?n?|hasst) (?P<value>{THINGS}){THING_END}",
        is_list=True),
    row("diet", rf"{RELATIVE}ist {ADVERBS}(?P<value>Vegetarier(?:in)?|Veganer(?:in)?)(?=[.,;!]|$|"
        rf" und)"),
    # body and taste
    row("allergy", r"\b[Ii]ch bin (?:stark |sehr |leider |auch |schwer )*allergisch "
        rf"(?:gegen|auf) (?P<value>{THINGS}){THING_END}", is_list=True),
    row("allergy", rf"\b[Ii]ch bin (?:stark |sehr |leider |auch )*gegen (?P<value>{THINGS}) "
        r"allergisch\b", is_list=True),
    row("allergy", rf"^Gegen (?P<value>{THINGS}) bin ich (?:(?:stark|sehr|auch|leider|übrigens) )*"
        r"allergisch\b", is_list=True),
    row("allergy", rf"\b[Ii]ch reagiere (?:stark |sehr |leider |auch )*allergisch (?:gegen|auf) "
        rf"(?P<value>{THINGS}){THING_END}", is_list=True),
    row("avoids", rf"^(?P<value>{THING_FIRST}) vertrage ich (?:gar |überhaupt |leider |"
        rf"grundsätzlich )*nicht"
        r"(?=[.,;!]|$| mehr\b)"),
    row("likes", rf"^(?:[Aa]m liebsten|[Bb]esonders gerne?) (?:esse|trinke|höre|lese|schaue|"
        rf"spiele|mag) ich "
        rf"(?P<value>{THINGS}){THING_END}", is_list=True),
    row("likes", r"\b[Ii]ch (?:stehe (?:total |voll |sehr )?auf|schwärme für|bin (?:ganz |total "
        r")?verrückt nach) "
        rf"(?!Platz\b|Zehenspitzen\b|Leitern\b|Abruf\b)(?P<value>{THINGS}){THING_END}",
        is_list=True),
    row("likes", rf"^(?P<value>{THING_FIRST}) (?:mag|liebe) ich(?: sehr| total| besonders| "
        rf"wahnsinnig)?"
        r"(?: gerne?)?(?=[.,;!]|$)"),
    row("dislikes", rf"^[Mm]it (?P<value>{THING}) kann ich (?:\w+ ){{0,2}}nichts anfangen\b"),
    row("dislikes", rf"^(?P<value>{THING_FIRST}) (?:mag ich (?:gar |überhaupt |absolut |leider "
        rf")*nicht|kann ich "
        r"(?:gar |überhaupt |absolut )*nicht (?:ausstehen|leiden))(?=[.,;!]|$)"),
    row("dislikes", rf"^(?P<value>{THING_FIRST}) (?:ist|sind) (?:gar |überhaupt |einfach "
        rf")*(?:nicht mein Ding|nichts für mich)\b"),
    row("allergy", r"\b[Ii]ch habe eine (?:starke |schwere |leichte )?"
        r"(?P<value>Pollen|[A-ZÄÖÜ][a-zäöüß]+?)(?:(?<=e)n)?allergie\b"),
    row("allergy", r"\b[Ii]ch (?:bin (?P<value>laktose|gluten)intolerant)\b"),
    row("allergy", r"\b[Ii]ch habe eine (?P<value>Laktose|Fruktose|Gluten|Histamin)-?"
        r"(?:intoleranz|unverträglichkeit)\b"),
    row("allergy", r"\b[Ii]ch bin nicht (?:mehr )?allergisch (?:gegen|auf) "
        rf"(?P<value>{THINGS}){THING_END}", "deny", is_list=True),
    row("diet", rf"\b[Ii]ch bin {ADVERBS}(?P<value>Vegetarier(?:in)?|Veganer(?:in)?)"
        r"(?=[.,;!]|$| und)"),
    row("diet", rf"\b[Ii]ch (?:lebe|esse|ernähre mich) {ADVERBS}(?P<value>vegan|vegetarisch)"
        r"(?=[.,;!]|$| und)"),
    row("diet", rf"{ADVERB_FIRST}(?:lebe|esse|ernähre) ich (?:mich )?"
        r"(?P<value>vegan|vegetarisch)(?=[.,;!]|$| und)"),
    row("diet", rf"\b[Ii]ch bin {ADVERBS}(?P<value>vegan)(?=[.,;!]|$| und)"),
    row("diet", r"\b[Ii]ch bin keine? (?P<value>Vegetarier(?:in)?|Veganer(?:in)?) mehr\b", "deny"),
    row("diet", r"\b[Ii]ch (?:bin|lebe|esse|ernähre mich) nicht mehr "
        r"(?P<value>vegan|vegetarisch)\b", "deny"),
    row("avoids", r"\b[Ii]ch (?:esse|trinke|vertrage) (?:gar |überhaupt )?keine?n? (?!Wort\b|"
        rf"Frühstück\b|Mittagessen\b|Abendessen\b|Tropfen\b|Bissen\b)(?P<value>{THINGS})"
        rf"{THING_END}", is_list=True),
    row("avoids", rf"\b[Ii]ch (?:darf|kann) (?:gar |leider )?keine?n? (?P<value>{THINGS}) "
        r"(?:essen|trinken|vertragen|zu mir nehmen)\b", is_list=True),
    row("avoids", rf"\b[Ii]ch (?:esse|trinke) (?:jetzt |inzwischen )?wieder (?P<value>{THINGS})"
        rf"{THING_END}", "deny", is_list=True),
    row("likes", rf"\b[Ii]ch (?:mag|liebe) (?:auch |gern |besonders )?(?P<value>{THINGS})"
        rf"(?! nicht\b){THING_END}", is_list=True),
    row("likes", rf"\b[Ii]ch (?:esse|trinke|höre) am liebsten (?P<value>{THINGS}){THING_END}",
        is_list=True),
    row("likes", r"\b[Ii]ch (?:esse|trinke|höre|lese|schaue|spiele|mag) lieber "
        rf"(?P<value>{THING}) als (?!du\b|er\b|sie\b|ihr\b)\w+"),
    row("likes", r"\b[Ii]ch (?:esse|trinke|höre|lese|schaue|spiele|mag) "
        r"(?:(?:sehr|auch|total|immer|echt|richtig|wirklich|super|besonders) )*"
        rf"gerne? (?P<value>{THINGS}){THING_END}", is_list=True),
    row("likes", rf"\b[Mm]eine? Lieblings[a-zäöüß]+ (?:ist|sind) (?:jetzt )?(?P<value>{THINGS})"
        rf"(?=[.,;!]|$)", is_list=True),
    row("likes", r"\b[Ii]ch bin (?:ein |eine )?(?:großer |riesiger |absoluter |echter )?Fan von "
        rf"(?P<value>{ONE_NAME}|{THINGS})(?=[.,;!]|$)", is_list=True),
    row("likes", rf"\b[Ii]ch interessiere mich (?:sehr |auch |besonders )?für (?P<value>{THINGS})"
        rf"{THING_END}", is_list=True),
    row("likes", rf"\b[Ii]ch mag (?P<value>{THINGS}) nicht mehr\b", "deny", is_list=True),
    row("likes", rf"^(?P<value>{THING_FIRST}) mag ich (?:\w+ )?nicht mehr\b", "deny"),
    row("likes", rf"\b[Ii]ch mag keine?n? (?P<value>{THINGS}) mehr\b", "deny", is_list=True),
    row("likes", rf"(?:\b[Ii]ch mochte früher|^Früher mochte ich) (?P<value>{THINGS})"
        r"(?! nicht\b)(?=[.,;!]|$)", "deny", is_list=True),
    row("dislikes", r"\b[Ii]ch (?:esse|trinke|höre|lese|schaue|spiele) (?:gar )?nicht (?:so )?"
        rf"gerne? (?P<value>{THINGS}){THING_END}", is_list=True),
    row("dislikes", rf"\b[Ii]ch finde (?P<value>{THINGS}) (?:(?:echt|total|so|sehr|ziemlich|"
        r"einfach|richtig) )*(?:langweilig|eklig|furchtbar|schrecklich|doof|blöd|nervig|ätzend)"
        r"(?=[.,;!]|$)", is_list=True),
    row("dislikes", rf"\b[Ii]ch kann (?P<value>{THINGS}) (?:gar |überhaupt )?nicht "
        r"(?:ausstehen|leiden)\b", is_list=True),
    row("dislikes", rf"\b[Ii]ch bin kein (?:großer )?Fan von (?P<value>{ONE_NAME}|{THINGS})"
        r"(?=[.,;!]|$)", is_list=True),
    row("dislikes", rf"\b[Ii]ch mag keine?n? (?P<value>{THINGS})(?! mehr\b){THING_END}",
        is_list=True),
    row("dislikes", rf"\b[Ii]ch mag (?P<value>{THINGS}) nicht(?=[.,;!]|$)", is_list=True),
    row("dislikes", rf"\b[Ii]ch hasse (?P<value>{THINGS}){THING_END}", is_list=True),
    # what is to come
    row("appointment", rf"\b[Ii]ch habe {CALLED_OFF}(?P<value>(?:[\w.:]+ ){{0,6}}?(?:einen|ein|"
        rf"eine|meinen|meine) (?:[a-zäöü]+ )?{OCCASION}[^.!?;\n]{{0,60}})", is_dated=True),
    row("appointment", rf"^[^.,!?]{{3,30}}? habe ich {CALLED_OFF}(?P<value>(?:[\w.:]+ ){{0,4}}?"
        rf"(?:einen|ein|eine|meinen|meine) (?:[a-zäöü]+ )?{OCCASION}[^.!?;\n]{{0,60}})",
        is_dated=True),
    row("appointment", rf"\b[Mm]eine? {CALLED_OFF}(?P<value>{OCCASION}(?: (?:bei|beim|mit|nach|zu|"
        r"zum|zur) [^.!?,]{2,40}?)? (?:ist|geht|startet|beginnt) (?:[^.!?\n]|(?<=\d)\. ?(?=\w))"
        r"{2,80})", is_dated=True),
    row("plan", rf"\b(?:[Ii]ch|[Ww]ir) {NO_HABIT}(?P<value>{JOURNEYS}n? "
        r"(?:[^.!?\n]|(?<=\d)\.(?= \w)){2,100})",
        is_dated=True),
    row("plan", rf"{WHEN_FIRST}{NO_HABIT}(?P<value>{JOURNEYS}n? (?:ich|wir)"
        r"(?: [^.!?\n]{2,100})?)",
        is_dated=True),
    row("plan", rf"\b[Ii]ch (?:plane|habe vor), (?P<value>{INTENT})(?=[.,!]|$)"),
    row("goal", r"\b[Mm]ein (?:neues |großes |nächstes )?Ziel ist(?: es)?, "
        rf"(?P<value>{INTENT})(?=[.,!]|$)"),
    row("goal", rf"\b[Ii]ch (?:will|möchte) (?P<value>{BY_DAY} (?:den|die|das|mein\w*|eine?n?|"
        rf"mindestens|\d+) [^.!?\n]{{2,60}}?{AIMS})(?=[.,!]|$)"),
    row("todo", r"\b[Ii]ch muss (?:noch |unbedingt |dringend |bald |auch )*"
        rf"(?P<value>(?:[\w.:-]+ ){{1,8}}?{CHORES})(?=[.,!]|$)"),
    row("todo", r"\b[Ii]ch muss (?:noch|unbedingt|dringend|bald) (?P<value>(?:mein\w*|unser\w*) "
        r"(?:[a-zäöü]+ )?[A-ZÄÖÜ][\w-]+ (?:(?:zum|zur|vom|beim|bei|für|nach|in) (?:\w+ "
        r")?[A-ZÄÖÜ][\w-]+ )?"
        rf"(?!{CHORES}|sein\b|haben\b|werden\b)[a-zäöü]{{4,}}n)(?=[.,!]|$)"),
    row("todo", r"^(?:[Bb]itte )?[Ee]rinnere? mich (?:bitte |morgen |heute |später |nächste Woche |"
        r"(?:am|um) \w+ )*(?:daran|dran), "
        r"(?P<value>[^.!?\n]{3,80})"),
    row("todo", r"^(?:[Bb]itte )?[Ee]rinnere? mich (?:bitte |morgen |heute |später )*an "
        r"(?P<value>(?:den|die|das|mein\w*) [^.!?\n]{2,60})"),
    # how to answer
    row("response_length", r"^(?:[Bb]itte )?(?:[Ff]asse? dich|[Hh]alte (?:dich|deine Antworten)|"
        r"[Aa]ntworte(?: mir)?) (?:bitte |immer |ab jetzt |künftig )*"
        r"(?P<value>kurz|knapp|ausführlich)(?=[.,!]|$| und\b)"),
    row("answer_rule", r"^(?:[Bb]itte )?(?P<value>(?:[Vv]erwende|[Bb]enutze?|[Nn]utze?) "
        rf"(?:bitte |mir )?keine {HABITS}[^.!?\n]{{0,60}})"),
    row("answer_rule", rf"^(?:[Bb]itte )?(?P<value>[Kk]eine {HABITS})(?: mehr)?(?:,? bitte)?"
        r"[.!]?$"),
    row("answer_rule", r"^(?:[Bb]itte )?(?P<value>(?:[Vv]erwende|[Bb]enutze?|[Nn]utze?) "
        rf"(?:bitte |immer )*{UNITS}[^.!?\n]{{0,60}})"),
    row("answer_rule", rf"^(?:Ab jetzt|Ab sofort|In Zukunft|Künftig),? (?:bitte )?"
        rf"(?P<value>(?:ohne|keine) {HABITS})"),
    row("answer_rule", r"^(?:[Bb]itte )?(?P<value>(?:[Dd]uze|[Ss]ieze?) mich)\b(?! nicht)"),
    row("answer_rule", r"^(?:[Bb]itte )?(?P<value>(?:[Nn]enne?|[Zz]eige?|[Ee]rkläre?|[Rr]unde|"
        r"[Ff]rage?|[Gg]ib) (?:mir |mich )?(?:bitte )?(?:immer|nie|niemals) [^.!?\n]{3,120})"),
    row("preferred_language", r"^[Bb]itte (?:immer |nur |ab jetzt |künftig )*auf "
        rf"(?P<value>{LANGUAGE}) (?:antworten|schreiben)\b"),
    row("preferred_language", r"^(?:[Bb]itte |[Aa]b jetzt |[Aa]b sofort |[Ii]n Zukunft )+"
        r"(?:antworte|schreib|schreibe|sprich)(?: mir| mit mir)?(?: bitte)?(?: immer| nur)? auf "
        rf"(?P<value>{LANGUAGE})\b"),
    row("preferred_language", r"^(?:[Aa]ntworte|[Ss]chreibe?|[Ss]prich)(?: mir| mit mir)? "
        rf"(?:(?:bitte|immer|ab jetzt|ab sofort|künftig|in Zukunft|nur|noch) )+auf "
        rf"(?P<value>{LANGUAGE})\b"),
)  # fmt: skip

GERMAN_SPEECH: Final = re.compile(
    r"\b(?:[Ii]ch|[Ww]ir|[Mm]eine?[rmns]?|[Uu]nsere?[rmns]?|[Mm]ich|[Bb]ei mir|[Aa]ntworte|"
    r"[Ss]chreibe?|[Ss]prich|[Bb]itte|"
    r"[Kk]eine|[Ff]asse?|[Hh]alte|[Nn]enne?|[Zz]eige|[Ee]rkläre|[Vv]erwende|[Bb]enutze?|[Nn]utze?|"
    r"[Ee]rinnere?|[Hh]ier (?:ist|spricht|schreibt))\b"
)
"""Words of which every pattern has one, so that other languages cost a look."""

GERMAN_HEDGE: Final = re.compile(
    r"\b(?:wenn|falls|würde|würden|hätte|wäre|vielleicht|könnte|möglicherweise|angenommen|"
    r"wünschte|glaub\w*|denk\w*|(?:ge)?sag(?:e|t\w*)?|(?:ge)?mein(?:t|te[nst]*)|vermut\w*|schätz\w*|"
    r"hoff\w*|anscheinend|scheinbar|behaupt\w*|fragt\w*|erzähl\w*|angeblich|"
    r"stell dir vor|"
    r"stimmt nicht|gelogen|geträumt|ob|dass|zum Beispiel|z\. ?B\.|Übersetze?|übersetze?|haha\w*|"
    r"Scherz|Spaß|Rolle|Traum|Roman|Film|Lied)\b",
    re.IGNORECASE,
)
"""What makes a German sentence suppose, report or play, wherever it stands."""

GERMAN_CORRECTION: Final = re.compile(
    r"(?:(?:ach|oh|nein|sorry|entschuldigung|moment|quatsch),? )*"
    r"(?:eigentlich|korrektur:?|genauer gesagt|besser gesagt)(?!\w)",
    re.IGNORECASE,
)

GERMAN_REPLACED_VALUE: Final = re.compile(r",? (?:und )?nicht (?:mehr )?(?:in |bei )?(?=[A-ZÄÖÜ])")
