"""Phrases that the German sentence patterns are put together from.

German writes every noun with a capital, so a capital makes no name here: a name ends its clause or
stands before a word that goes on with it, and nouns that are no place and no employer are listed.
"""

from __future__ import annotations

from typing import Final

WORD: Final = r"[A-ZÄÖÜ][\w&'\u2019-]*"
NO_NAME: Final = (
    r"(?!(?:Ich|Du|Er|Sie|Es|Wir|Ihr|Der|Die|Das|Ein|Eine|Mein|Meine|Und|Aber|Herr|Frau|Montags?|"
    r"Dienstags?|Mittwochs?|Donnerstags?|Freitags?|Samstags?|Sonntags?)\b)"
)
NAME: Final = rf"{NO_NAME}{WORD}(?: (?:(?:von|van|de|und|&) )?{NO_NAME}{WORD}){{0,3}}"
ONE_NAME: Final = rf"{NO_NAME}{WORD}(?: (?:(?:von|van|de) )?{NO_NAME}{WORD}){{0,2}}"
END: Final = r"(?=[.,;!]|$| und (?:ich|wir|meine?|arbeite|wohne|lebe|bin|habe|komme|mag|liebe)\b)"
MONTH: Final = (
    r"(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)"
)
_UNIT: Final = r"(?:Tage?n?|Wochen?|Monate?n?|Jahre?n?)"
_WEEKDAY: Final = r"(?:Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag|Sonntag|Wochenende)"
DAY: Final = rf"\d{{1,2}}\.(?: {MONTH}(?: \d{{4}})?|\d{{1,2}}\.(?:\d{{4}})?)"
_SINCE: Final = (
    rf"seit (?:(?:dem|Anfang|Mitte|Ende) )?(?:\d{{4}}|{MONTH}(?: \d{{4}})?|{DAY}|kurzem|langem|"
    rf"letzte[mr] {_UNIT}|(?:\w+ )?(?:\w+ )?{_UNIT})"
)
# Each word of a chain is taken whole: "seit dem Jahr" can be read in three ways, and a chain of
# them in three to the power of its length.
ADVERBS: Final = (
    r"(?>(?:übrigens|leider|ja|halt|eben|nämlich|jetzt|nun|inzwischen|mittlerweile|derzeit|aktuell|momentan|zurzeit|heute|noch|schon|"
    rf"auch|wieder|{_SINCE}) )*"
)
PERIOD: Final = (
    rf"(?:(?:(?:[Vv]on|[Ss]eit) (?:{MONTH} )?\d{{4}} bis|[Bb]is(?: Anfang| Mitte| Ende)?) "
    rf"(?:{MONTH} )?\d{{4}}|[Bb]is (?:letzte[ns]|vorige[ns]|vergangene[ns]) "
    rf"(?:{_UNIT}|Sommer|Herbst|Winter|Frühjahr|{MONTH})|[Bb]is vor (?:kurzem|(?:\w+ "
    rf"){{1,2}}{_UNIT}))"
)
WHEN: Final = (
    r"(?>(?:gestern|vorgestern|heute|morgen|übermorgen|gerade|kürzlich|neulich|vor kurzem|endlich|"
    r"schon|dann|(?:im Jahr )?\d{4}|(?:am|zum|ab dem|ab) "
    rf"(?:{DAY}|{MONTH}|{_WEEKDAY})|(?:im|Anfang|Mitte|Ende) {MONTH}(?: \d{{4}})?|"
    rf"(?:letzt|vorig|vergangen|dies|nächst|kommend)e[mnrs]? (?:{_UNIT}|{_WEEKDAY})|"
    rf"(?:vor|in) \w+ {_UNIT}) )"
)
# The whole chain, or nothing of it.
MEANWHILE: Final = f"(?>{ADVERBS})"
AT_TIMES: Final = f"(?>{WHEN}*)"
WHEN_FIRST: Final = rf"^(?:(?i:{WHEN}))+"
"""When something was or will be, at the head of a sentence, before the verb."""
FROM_THEN: Final = (
    rf"[Aa]b (?:dem )?(?:{DAY}|{MONTH}(?: \d{{4}})?|"
    rf"(?:nächste|kommende)[mnr] (?:{_UNIT}|{_WEEKDAY}))"
)
"""From a day on, where a day alone would be a visit."""
ADVERB_FIRST: Final = (
    r"^(?:Jetzt|Inzwischen|Mittlerweile|Derzeit|Aktuell|Momentan|Zurzeit|Seit [^.,!?]{3,25}?) "
)
NO_PLACE: Final = (
    r"(?!(?:Miete|Untermiete|Angst|Frieden|Armut|Scheidung|Trennung|Partnerschaft|Saus|Sorge|"
    r"Gedanken|Hause|Norden|Süden|Osten|Westen|Freiheit|Sünde|Würde|Wohlstand|Erinnerungen|"
    r"Büchern|Beziehung|Teilzeit|Vollzeit|Ordnung|Schuss|Flammen|Trümmern|Schutt|Gefahr|Bau|"
    r"Planung|Konkurrenz|Verbindung|Sichtweite|Laufweite|Reichweite)\b)"
)
PLACE: Final = rf"{NO_PLACE}{ONE_NAME}"
IN_LAND: Final = (
    r"in (?:der (?=(?:Schweiz|Türkei|Ukraine|Slowakei|Mongolei)\b)|"
    r"den (?=(?:Niederlanden|USA)\b))?"
)
NO_EMPLOYER: Final = (
    r"(?!(?:Regen|Nacht|Tag|Tage|Tageslicht|Hitze|Kälte|Bedarf|Licht|Gelegenheit|Wind|Wetter|"
    r"Sonne|Sonnenschein|Schnee|Musik|Kerzenlicht|Freunden|Freundinnen|Kunden|Kundinnen|Bekannten|"
    r"Mama|Papa|Oma|Opa|Problemen|Fragen|Stress|Lärm|Ruhe|Kaffee|Gewitter|Laune)\b)"
)
EMPLOYER: Final = rf"(?:der |dem )?(?P<value>{NO_EMPLOYER}{NAME})"
WORKPLACE_END: Final = r"(?=[.,;!]|$| als\b| in\b| und (?:ich|wir|wohne|lebe|bin|habe)\b)"
TRADE: Final = (
    r"(?:[A-ZÄÖÜ][a-zäöüß]+-?(?:lehrer|entwickler|ingenieur|berater|pfleger|(?<!Beg)(?<!Abl)leiter|"
    r"manager|techniker|händler|verkäufer|fahrer|forscher|wissenschaftler|assistent|bauer)|"
    r"Lehrer|Entwickler|Ingenieur|Berater|Pfleger|Leiter|Manager|Techniker|Verkäufer|Friseur|"
    r"Maurer|Maler|Metzger|Schlosser|Landwirt|Förster|"
    r"Architekt|Journalist|Redakteur|Übersetzer|Apotheker|Elektriker|Bäcker|Tischler|Schreiner|"
    r"Mechaniker|Gärtner|Fotograf|Musiker|Psychologe|Therapeut|Erzieher|Physiker|Chemiker|"
    r"Buchhalter|Designer|Student|Polizist|Pilot|Bibliothekar|Professor)(?:in)?"
    r"|(?:(?:Zahn|Tier|Kinder|Haus|Not|Augen|Ober)(?:arzt|ärztin)|Arzt|Ärztin|Anwalt|Anwältin|Koch|Köchin|Hebamme|Krankenschwester|Psychologin)"
)
KIN: Final = {
    "partner": "Frau|Mann|Ehefrau|Ehemann|Partner|Partnerin",
    "child": "Tochter|Sohn",
    "parent": "Mutter|Vater|Mama|Papa",
    "sibling": "Schwester|Bruder",
    "pet": "Hund|Hündin|Katze|Kater|Kätzchen|Welpe|Welpen|Kaninchen|Pferd|Pony|Hamster|Papagei|"
    "Meerschweinchen|Wellensittich|Schildkröte",
}
SLOT_OF_KIN: Final = {word: slot for slot, words in KIN.items() for word in words.split("|")}
FRIENDS: Final = "beste[rn]? Freund(?:in)?"
ACQUAINTANCES: Final = "Kolleg(?:e|in)|Nachbar(?:in)?|Tante|Onkel|Cousine?|Oma|Opa"
FIRMS: Final = (
    r"(?:[A-ZÄÖÜ][\w-]*(?:bank|werke?|bahn|gruppe|versicherung|kasse|verlag|konzern|klinik|"
    r"stiftung)|"
    r"[A-ZÄÖÜ][\w&-]*(?: (?:und |& )?[A-ZÄÖÜ][\w&-]*)* (?:AG|SE|KG|GmbH|eG))\b"
)
"""What is named like an employer, so that "bei" leads to no doctor and no aunt."""
PLURAL_KIN: Final = {
    "parent": "Eltern",
    "child": "Kinder|Töchter|Söhne|Jungs|Mädchen",
    "sibling": "Brüder|Schwestern|Geschwister",
    "pet": "Hunde|Katzen|Kater|Pferde",
}
MY_KIN: Final = (
    # A subordinate clause has its verb last: "weil mein Sohn Fieber hat" names no son.
    r"\b(?<!weil )(?<!wenn )(?<!dass )(?<!da )(?<!ob )(?<!obwohl )(?<!als )"
    r"(?:[Mm]eine?|[Uu]nsere?) (?:(?:ältere|jüngere|große|kleine|älteste|jüngste)[rsn]? )?"
)
OF_MY_KIN: Final = (
    r"\b(?:[Mm]ein|[Uu]nser)e[rmn] (?:(?:ältere|jüngere|große|kleine|älteste|jüngste)[rn] )?"
    rf"(?P<kin>{'|'.join(SLOT_OF_KIN)}),? "
)
"""In the case that a preposition asks for: behind it stands whatever one does with somebody."""
DEATH: Final = r" ist (?:\w+ ){0,3}?(?:gestorben|tot|verstorben|eingeschläfert)\b"
GOES_ON: Final = (
    rf"(?!{DEATH})"
    r"(?= (?:ist|hat|geht|kommt|war|wird|feiert|heiratet|schläft|kann|mag|liebt|"
    r"arbeitet|wohnt|lebt|studiert|spielt|"
    r"und ich)\b)"
)
THING: Final = (
    r"(?:(?!(?:(?:k?ein|[mds]ein|ihr|unser|eur)e?[nrms]?|"
    r"(?:dies|jed|jen|all|welch|solch|ander)e[nrms]?|der|den|unter|hinter|immer|lieber|aber)\b)"
    r"[a-zäöü]+(?:e|en|er|es) )?"
    r"(?!(?:Dir|Dich|Euch|Ihnen|Sie)\b)[A-ZÄÖÜ][\wäöüß-]+"
)
THING_FIRST: Final = (
    r"(?!(?:\w*(?:weise|lich|mals?|tags|wegs|falls|dem|halb|tens|zu|her|hin|fach)|Heute|Gestern|"
    r"Morgens?|"
    r"Abends?|Mittags|Nachts|Jetzt|Nun|Dann|Danke|Bitte|Ja|Nein|Das|Dies|Es|So|Da|Hier|Dort|"
    r"Sonst|Auch|"
    r"Nur|Leider|Gerade|Eigentlich|Vielleicht|Oft|Selten|Gerne?|Früher|Lieber|Meistens?|Immer|Also|"
    r"Deswegen|Trotzdem|Darum|Wieder|Schon|Bald|Etwas|Alles|Nichts|Vieles|Manches|Sowas|Einiges|"
    r"Viel|"
    r"Menschen|Dich|Euch|Sie|Ihn|Absicht)\b)"
    rf"{THING}"
)
"""A thing at the head of a sentence, where an adverb has a capital, too."""
THINGS: Final = rf"{THING}(?:, {THING})*(?: (?:und|oder) {THING})?"
THING_END: Final = (
    r"(?=[.,;!]|$| (?:sehr|nicht|wirklich|über alles|weil|seit|und ich)\b| mehr\b| wegen\b)"
)
RELATIVE: Final = (
    rf"{MY_KIN}(?:{'|'.join(KIN.values())}|{FRIENDS}|{ACQUAINTANCES}),? (?P<subject>{ONE_NAME}) "
)
NAMES: Final = rf"{ONE_NAME}(?:, {ONE_NAME})* und {ONE_NAME}"
OCCASION: Final = (
    r"(?:[A-ZÄÖÜ][a-zäöüß-]*(?:termin|flug|prüfung|gespräch|untersuchung|besprechung)|Termin|"
    r"Flug|Gespräch|"
    r"Prüfung|Meeting|Interview|Besprechung|Hochzeit|Operation)\b"
)
CALLED_OFF: Final = (
    r"(?![^.!?]*\b(?:abgesagt|verpasst|verschoben|vergessen|gestrichen|gehabt|fällt aus|"
    r"ausgefallen|"
    r"storniert|annulliert|bestanden|[a-zäöü]*ge[a-zäöü]{2,}(?:t|en))\b)"
)
INTENT: Final = r"[^.!?\n]{3,120}?\b(?:zu [a-zäöüß]+|[a-zäöüß]{2,}zu[a-zäöüß]+n)"
CHORES: Final = (
    r"(?:verlängern|kaufen|anrufen|bezahlen|buchen|abholen|putzen|reparieren|einreichen|abgeben|"
    r"kündigen|bestellen|schicken|verschicken|organisieren|vorbereiten|überweisen|zurückgeben|"
    r"umtauschen|abschicken|beantragen|erledigen)"
)
JOURNEYS: Final = r"(?:fliege|fahre|reise|besuche|heirate)"
NO_HABIT: Final = (
    r"(?![^.!?]*\b(?:seit|jede[nrs]?|immer|oft|nie|nicht|meistens|manchmal|normalerweise|gerne?)\b)"
)
USERS: Final = r"(?i:entwickler|nutzer|user|fan|kund|student|mitarbeiter|anfänger)(?:in|e)?\b"
HABITS: Final = (
    r"(?:Emojis?|Ausrufezeichen|Aufzählungen|Aufzählungszeichen|Tabellen|Markdown|Überschriften|"
    r"Abkürzungen|Anglizismen|Fachbegriffe|Floskeln|Fremdwörter)\b"
)
UNITS: Final = (
    r"(?:metrische Einheiten|Celsius|Fahrenheit|Kilometer|Stichpunkte|Markdown|einfache Sprache|"
    r"das 24-Stunden-Format)\b"
)
A_LITTLE: Final = " und (?:ein bisschen|ein wenig|etwas)"
LANGUAGE: Final = (
    r"(?:[A-ZÄÖÜ][a-zäöü]+sch|Tamil|Hindi|Urdu|Bengali|Farsi|Paschtu|Suaheli|Swahili|Esperanto|"
    r"Mandarin|Ukrainisch|Thai|Telugu|Punjabi|Ivrit|Latein)"
)
AIMS: Final = (
    r"(?:machen|schaffen|lernen|abnehmen|sparen|lesen|schreiben|kaufen|abschließen|laufen|bestehen|"
    r"bekommen|beenden|erreichen|veröffentlichen)"
)
BY_DAY: Final = (
    r"bis (?:zum |zur |Ende |Anfang |Mitte |nächste[nrs]? |kommende[nrs]? )?[\w.]+"
    r"(?: [A-ZÄÖÜ\d]\w*)?"
)
"""Until when something is to be reached."""
