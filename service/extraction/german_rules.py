"""Sentence patterns of German, as people say it of themselves.

German writes every noun with a capital, so a capital makes no name here: a name ends its clause or
stands before a word that goes on with it, and nouns that are no place and no employer are listed.
A subordinate clause has its verb at the end, which no pattern reads: "dass ich in Köln wohne" is
somebody's word and no claim.
"""

from __future__ import annotations

import re
from typing import Final

from .rule import row

_WORD: Final = r"[A-ZÄÖÜ][\w&'\u2019-]*"
_NO_NAME: Final = (
    r"(?!(?:Ich|Du|Er|Sie|Es|Wir|Ihr|Der|Die|Das|Ein|Eine|Mein|Meine|Und|Aber|Herr|Frau|Montags?|"
    r"Dienstags?|Mittwochs?|Donnerstags?|Freitags?|Samstags?|Sonntags?)\b)"
)
_NAME: Final = rf"{_NO_NAME}{_WORD}(?: (?:(?:von|van|de|und) )?{_NO_NAME}{_WORD}){{0,3}}"
_ONE_NAME: Final = rf"{_NO_NAME}{_WORD}(?: (?:(?:von|van|de) )?{_NO_NAME}{_WORD}){{0,2}}"
_END: Final = r"(?=[.,;!]|$| und (?:ich|wir|meine?|arbeite|wohne|lebe|bin|habe|komme|mag|liebe)\b)"
_ADVERBS: Final = (
    r"(?:(?:jetzt|nun|inzwischen|mittlerweile|derzeit|aktuell|momentan|zurzeit|heute|noch|schon|"
    r"auch|wieder|seit (?:\d{4}|kurzem|langem|Jahren|(?:\w+ )?(?:\w+ )?(?:Tagen|Wochen|Monaten|"
    r"Jahren|Jahr|Monat|Woche))) )*"
)
_ADVERB_FIRST: Final = (
    r"^(?:Jetzt|Inzwischen|Mittlerweile|Derzeit|Aktuell|Momentan|Zurzeit|Seit [^.,!?]{3,25}?) "
)
_NO_PLACE: Final = (
    r"(?!(?:Miete|Untermiete|Angst|Frieden|Armut|Scheidung|Trennung|Partnerschaft|Saus|Sorge|"
    r"Gedanken|Hause|Norden|Süden|Osten|Westen|Freiheit|Sünde|Würde|Wohlstand|Erinnerungen|Büchern|Beziehung|Teilzeit|Vollzeit)\b)"
)
_PLACE: Final = rf"{_NO_PLACE}{_ONE_NAME}"
_IN_LAND: Final = (
    r"in (?:der (?=(?:Schweiz|Türkei|Ukraine|Slowakei|Mongolei)\b)|"
    r"den (?=(?:Niederlanden|USA)\b))?"
)
_NO_EMPLOYER: Final = (
    r"(?!(?:Regen|Nacht|Tag|Tage|Tageslicht|Hitze|Kälte|Bedarf|Licht|Gelegenheit|Wind|Wetter|"
    r"Sonne|Sonnenschein|Schnee|Musik|Kerzenlicht|Freunden|Freundinnen|Kunden|Kundinnen|Bekannten|"
    r"Mama|Papa|Oma|Opa|Problemen|Fragen|Stress|Lärm|Ruhe|Kaffee|Gewitter|Laune)\b)"
)
_EMPLOYER: Final = rf"(?:der |dem )?(?P<value>{_NO_EMPLOYER}{_NAME})"
_WORKPLACE_END: Final = r"(?=[.,;!]|$| als\b| in\b| und (?:ich|wir|wohne|lebe|bin|habe)\b)"
_TRADE: Final = (
    r"(?:(?:Software|Daten|Projekt|Produkt|Grund|Kranken|Alten|Büro|Industrie|Elektro|Steuer)-?)?"
    r"(?:[Ll]ehrer|[Ee]ntwickler|[Ii]ngenieur|[Bb]erater|[Pp]fleger|[Ll]eiter|[Mm]anager|"
    r"Architekt|Journalist|Redakteur|Übersetzer|Apotheker|Elektriker|Bäcker|Tischler|Schreiner|"
    r"Mechaniker|Gärtner|Fotograf|Musiker|Psychologe|Therapeut|Erzieher|Physiker|Chemiker|"
    r"Buchhalter|Designer|Student|Polizist|Pilot|Bibliothekar|Professor)(?:in)?"
    r"|(?:Arzt|Ärztin|Anwalt|Anwältin|Koch|Köchin|Hebamme|Krankenschwester|Psychologin)"
)
_KIN: Final = {
    "partner": "Frau|Mann|Ehefrau|Ehemann|Partner|Partnerin",
    "child": "Tochter|Sohn",
    "parent": "Mutter|Vater|Mama|Papa",
    "sibling": "Schwester|Bruder",
    "pet": "Hund|Hündin|Katze|Kater|Kaninchen|Pferd|Hamster|Papagei",
}
_MY_KIN: Final = (
    r"\b(?:[Mm]eine?|[Uu]nsere?) (?:(?:ältere|jüngere|große|kleine|älteste|jüngste)[rsn]? )?"
)
_GOES_ON: Final = (
    r"(?= (?:ist|hat|geht|kommt|war|wird|kann|mag|liebt|arbeitet|wohnt|lebt|studiert|spielt|"
    r"und ich)\b)"
)
_THING: Final = (
    r"(?:(?!(?:(?:k?ein|[mds]ein|ihr|unser|eur)e?[nrms]?|"
    r"(?:dies|jed|jen|all|welch|solch|ander)e[nrms]?|der|den|unter|hinter|immer|lieber|aber)\b)"
    r"[a-zäöü]+(?:e|en|er|es) )?"
    r"(?!(?:Dir|Dich|Euch|Ihnen|Sie)\b)[A-ZÄÖÜ][\wäöüß-]+"
)
_THINGS: Final = rf"{_THING}(?:, {_THING})*(?: (?:und|oder) {_THING})?"
_THING_END: Final = (
    r"(?=[.,;!]|$| (?:sehr|nicht|wirklich|über alles|weil|seit|und ich)\b| mehr\b| wegen\b)"
)
_LANGUAGE: Final = r"[A-ZÄÖÜ][a-zäöü]+sch"

GERMAN_RULES: Final = (
    # who
    row("full_name", rf"\b[Ii]ch heiße (?P<value>{_ONE_NAME}){_END}"),
    row("full_name", rf"\b[Mm]ein Name ist (?!(?:Programm|Hase)\b)(?P<value>{_ONE_NAME}){_END}"),
    row("full_name", rf"^(?:Bitte )?[Nn]enn(?:e|t)? mich (?:bitte |einfach )?"
        rf"(?!(?:Schatz|Liebling|Chef|Boss|Meister|Idiot)\b)(?P<value>{_ONE_NAME})(?=[.,!]|$)"),
    row("language", r"\b[Ii]ch spreche (?:fließend |auch |gut )?"
        rf"(?P<value>{_LANGUAGE}(?:, {_LANGUAGE})*(?: und {_LANGUAGE})?)(?=[.,;!]|$)",
        is_list=True),
    row("language", rf"\b[Mm]eine Muttersprache ist (?P<value>{_LANGUAGE})"),
    row("email", r"\b[Mm]eine (?:E-?Mail|Mail)(?:-?[Aa]dresse)? (?:ist|lautet) "
        r"(?P<value>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)"),
    row("phone", r"\b[Mm]eine (?:Telefon-?|Handy-?)?[Nn]ummer (?:ist|lautet) "
        r"(?P<value>\+?[\d ()/-]{6,20}\d)"),
    # work
    row("employer", rf"\b[Ii]ch arbeite {_ADVERBS}bei {_EMPLOYER}{_WORKPLACE_END}"),
    row("employer", rf"{_ADVERB_FIRST}arbeite ich bei {_EMPLOYER}{_WORKPLACE_END}"),
    row("employer", rf"\b[Ii]ch bin {_ADVERBS}(?:{_TRADE}) bei {_EMPLOYER}{_WORKPLACE_END}"),
    row("employer", rf"\b[Ii]ch arbeite nicht mehr bei {_EMPLOYER}{_WORKPLACE_END}",
        "deny"),
    row("employer", rf"\b[Ii]ch habe (?:gerade |gestern )?bei {_EMPLOYER} gekündigt\b", "deny"),
    row("employer", r"(?:\b[Ii]ch habe (?:früher )?|^Früher habe ich )bei "
        rf"{_EMPLOYER} gearbeitet\b", is_former=True),
    row("title", rf"\b[Ii]ch bin {_ADVERBS}(?:gelernte[r]? )?(?P<value>{_TRADE})"
        r"(?=[.,;!]|$| (?:bei|in|an|am|im|von Beruf|und)\b)"),
    row("title", rf"\b[Ii]ch arbeite {_ADVERBS}als (?P<value>{_TRADE})\b"),
    row("manager", r"\b[Mm]eine? (?:neue[r]? )?(?:Chefin|Chef|Vorgesetzte[r]?) "
        rf"(?:heißt|ist (?:Herr|Frau)) (?:Herr |Frau )?(?P<value>{_ONE_NAME}){_END}"),
    # where
    row("home", rf"\b(?:[Ii]ch wohne|[Ii]ch lebe|[Ww]ir wohnen|[Ww]ir leben) {_ADVERBS}"
        rf"{_IN_LAND}(?P<value>{_PLACE}){_END}"),
    row("home", rf"\b[Ii]ch heiße {_ONE_NAME} und (?:wohne|lebe) {_IN_LAND}"
        rf"(?P<value>{_PLACE}){_END}"),
    row("home", rf"{_ADVERB_FIRST}(?:wohne|lebe) ich {_IN_LAND}(?P<value>{_PLACE}){_END}"),
    row("home", r"\b(?:[Ii]ch bin|[Ww]ir sind) (?:gerade |kürzlich |vor kurzem |neulich )?"
        rf"(?:von {_PLACE} )?nach (?P<value>{_PLACE}) (?:um)?gezogen\b"),
    row("home", rf"\b[Ii]ch (?:wohne|lebe) nicht (?:mehr )?{_IN_LAND}{_PLACE}, sondern "
        rf"{_IN_LAND}(?P<value>{_PLACE}){_END}"),
    row("home", rf"\b[Ii]ch (?:wohne|lebe) nicht mehr {_IN_LAND}(?P<value>{_PLACE}){_END}", "deny"),
    row("home", r"(?:\b[Ii]ch habe früher|^Früher habe ich) "
        rf"{_IN_LAND}(?P<value>{_PLACE}) (?:gewohnt|gelebt)\b", is_former=True),
    # whom
    *(row(slot, rf"{_MY_KIN}(?:{words}) (?:heißt|namens) (?P<value>{_ONE_NAME}){_END}",
          is_timeless=True) for slot, words in _KIN.items()),
    *(row(slot, rf"{_MY_KIN}(?:{words}),? (?P<value>{_ONE_NAME}){_GOES_ON}",
          is_timeless=True) for slot, words in _KIN.items()),
    # body and taste
    row("allergy", r"\b[Ii]ch bin (?:stark |sehr |leider |auch |schwer )*allergisch "
        rf"(?:gegen|auf) (?P<value>{_THINGS}){_THING_END}", is_list=True),
    row("allergy", r"\b[Ii]ch habe eine (?:starke |schwere |leichte )?"
        r"(?P<value>[A-ZÄÖÜ][a-zäöüß]+?)(?:n)?allergie\b"),
    row("allergy", r"\b[Ii]ch bin nicht (?:mehr )?allergisch (?:gegen|auf) "
        rf"(?P<value>{_THINGS}){_THING_END}", "deny", is_list=True),
    row("diet", rf"\b[Ii]ch bin {_ADVERBS}(?P<value>Vegetarier(?:in)?|Veganer(?:in)?)"
        r"(?=[.,;!]|$| und)"),
    row("diet", rf"\b[Ii]ch (?:lebe|esse|ernähre mich) {_ADVERBS}(?P<value>vegan|vegetarisch)"
        r"(?=[.,;!]|$| und)"),
    row("avoids", r"\b[Ii]ch (?:esse|trinke|vertrage) (?:gar |überhaupt )?keine?n? (?!Wort\b|"
        rf"Frühstück\b|Mittagessen\b|Abendessen\b|Tropfen\b|Bissen\b)(?P<value>{_THINGS})"
        rf"{_THING_END}", is_list=True),
    row("likes", rf"\b[Ii]ch (?:mag|liebe) (?:auch |gern |besonders )?(?P<value>{_THINGS})"
        rf"(?! nicht\b){_THING_END}", is_list=True),
    row("likes", rf"\b[Ii]ch (?:esse|trinke|höre) am liebsten (?P<value>{_THINGS}){_THING_END}",
        is_list=True),
    row("dislikes", rf"\b[Ii]ch mag keine?n? (?P<value>{_THINGS}){_THING_END}", is_list=True),
    row("dislikes", rf"\b[Ii]ch mag (?P<value>{_THINGS}) nicht(?=[.,;!]|$)", is_list=True),
    row("dislikes", rf"\b[Ii]ch hasse (?P<value>{_THINGS}){_THING_END}", is_list=True),
    # how to answer
    row("preferred_language", r"^(?:[Bb]itte |[Aa]b jetzt |[Aa]b sofort |[Ii]n Zukunft )+"
        r"(?:antworte|schreib|schreibe|sprich)(?: mir| mit mir)?(?: bitte)?(?: immer| nur)? auf "
        rf"(?P<value>{_LANGUAGE})\b"),
    row("preferred_language", r"^(?:Antworte|Schreib|Schreibe|Sprich)(?: mir| mit mir)? "
        rf"(?:bitte |immer |ab jetzt |künftig )+auf (?P<value>{_LANGUAGE})\b"),
)  # fmt: skip

GERMAN_SPEECH: Final = re.compile(
    r"\b(?:[Ii]ch|[Ww]ir|[Mm]eine?|[Uu]nsere?|[Mm]ich|[Aa]ntworte|[Ss]chreibe?|[Ss]prich)\b"
)
"""Words of which every pattern has one, so that other languages cost a look."""

GERMAN_HEDGE: Final = re.compile(
    r"\b(?:wenn|falls|würde|würden|hätte|wäre|vielleicht|könnte|möglicherweise|angenommen|"
    r"wünschte|glaub\w*|denk\w*|sagt\w*|behaupt\w*|fragt\w*|erzähl\w*|angeblich|stell dir vor|"
    r"stimmt nicht|gelogen|geträumt|ob|dass|zum Beispiel|z\. ?B\.|Übersetze?|übersetze?|haha\w*|"
    r"Scherz|Spaß|Rolle|Traum|Roman|Film|Lied)\b",
    re.IGNORECASE,
)
"""What makes a German sentence suppose, report or play, wherever it stands."""
