"""Rules of vehicles: what somebody drives, bought, and got rid of.

A car is known by its make, as "I have a" is said of anything. Makes that are words of their own
("Mini", "Golf") count only behind "drive", and what is rented or driven for a day is nobody's.
"""

from __future__ import annotations

from typing import Final

from .german_phrases import ADVERB_FIRST, AT_TIMES, MEANWHILE, WHEN_FIRST
from .german_phrases import RELATIVE as GERMAN_RELATIVE
from .phrases import DO_NOT, HAVE, IS, RECENT, RELATIVE, WE_HAVE
from .rule import former_rows, row

_MAKES = (
    r"(?i:alfa romeo|aston martin|audi|bmw|bentley|buick|byd|cadillac|chevrolet|chevy|chrysler|"
    r"citro[eë]n|cupra|dacia|dodge|ducati|ferrari|fiat|ford|harley(?:[ -]davidson)?|honda|hyundai|"
    r"jeep|kia|lamborghini|lancia|land rover|lexus|maserati|mazda|mercedes(?:[ -]benz)?|mini "
    r"cooper|mitsubishi|nissan|opel|peugeot|polestar|porsche|range rover|renault|rivian|saab|"
    r"seat (?:ibiza|leon|ateca|arona)|[sš]koda|smart (?:fortwo|forfour)|subaru|suzuki|tesla|toyota|"
    r"vauxhall|vespa|volkswagen|volvo|vw)"
)
_MODELS = (
    r"Golf|Polo|Passat|Tiguan|Touran|Corsa|Astra|Fiesta|Focus|Clio|Twingo|Civic|Corolla|Yaris|"
    r"Prius|Octavia|Fabia|Mini|Smart|Seat|Jaguar|Ibiza|Panda"
)
_MODEL_WORDS = (
    r"(?: (?!(?:I|And|But|My|We|Baujahr)\b)(?:[A-ZÄÖÜ][\w.-]*|\d[\w.-]*|octavia|fabia|golf|polo|"
    r"corsa|civic|corolla|fiesta|focus|yaris|astra|clio|passat|panda)\b(?!\.\d)){0,3}"
)
_BRAND = rf"(?:{_MAKES}{_MODEL_WORDS})"
_CAR = rf"(?:{_BRAND}|(?:{_MODELS}){_MODEL_WORDS})"
"""What "drive" or "sold the" stands before: there a model is enough."""

_LOOKS = (
    r"(?:(?!(?:rented|rental|hired|hire|borrowed|toy|model|lego|miniature|cheap)\b)"
    r"[a-z][\w-]* ){0,3}(?:\d{4} )?"
)
_I_DO = r"\b(?:I|[Ww]e) (?:(?:now|currently|still|also|actually|usually) )*"
_USE_END = (
    r"(?=[.,;!:)]|$| (?:and|but|now|that|which|with|from|since|because|so|these days|to work|"
    r"any ?more|any longer|every day)\b)"
)
_DEAL_END = (
    r"(?=[.,;!:)]|$| (?:and|but|now|that|which|with|from|because|so|last|in|this|yesterday|today|"
    r"two|three|a|on|for (?:about |only )?[$\u20ac\u00a3\d])(?!\w))"
)
_RID = (
    r"(?:sold|scrapped|gave away|given away|got rid of|gotten rid of|wrecked|totall?ed|"
    r"wrote off|written off|crashed)"
)

VEHICLE_RULES: Final = (
    # what somebody has
    row("vehicle", rf"(?:{_I_DO}drive|\b(?:I|[Ww]e)(?: have|['\u2019]ve) been driving) an? "
        rf"{_LOOKS}(?P<value>{_CAR}){_USE_END}"),
    row("vehicle", rf"(?:{_I_DO}(?:have|own|lease)|\b(?:I|[Ww]e)(?: have|['\u2019]ve) got) an? "
        rf"{_LOOKS}(?P<value>{_BRAND}){_USE_END}"),
    # Of two cars in one sentence the second has no verb of its own.
    row("vehicle", rf"(?:{_I_DO}(?:drive|have|own)) an? {_LOOKS}{_CAR},? and an? {_LOOKS}"
        rf"(?P<value>{_CAR}){_USE_END}"),
    row("vehicle", rf"{WE_HAVE} {RECENT}(?:bought|got|gotten|leased|purchased|picked up) "
        rf"(?:an?|our|my) {_LOOKS}(?P<value>{_BRAND}){_DEAL_END}"),
    row("vehicle", rf"{WE_HAVE} {RECENT}(?:traded|swapped|exchanged) (?:in )?(?:the|my|our) "
        rf"{_LOOKS}{_CAR}(?: in)? for an? {_LOOKS}(?P<value>{_CAR}){_DEAL_END}"),
    row("vehicle", rf"\b(?:[Mm]y|[Oo]ur) (?:new |current |family )?(?:car|vehicle|van|truck|"
        rf"motorbike|motorcycle|scooter){IS} (?:now )?an? {_LOOKS}(?P<value>{_CAR})"
        rf"{_USE_END}"),
    row("vehicle", rf"{RELATIVE}(?:now )?(?:drives|owns|has|bought|just bought) an? {_LOOKS}"
        rf"(?P<value>{_BRAND}){_DEAL_END}"),
    # What is sold is meant by a word of it, and only where it is known: "the Skoda", of a Skoda
    # Octavia.
    row("vehicle", rf"{WE_HAVE} {RECENT}{_RID} (?:the|my|our) {_LOOKS}(?P<value>{_CAR})"
        rf"(?=[.,;!]|$|{_DEAL_END}| for\b| and\b)", "deny", if_known=True),
    row("vehicle", rf"{WE_HAVE} {RECENT}(?:traded|swapped|exchanged) (?:in )?(?:the|my|our) "
        rf"{_LOOKS}(?P<value>{_CAR})(?: in)?(?= for\b|[.,!]|$)", "deny", if_known=True),
    row("vehicle", rf"\b(?:[Mm]y|[Oo]ur) {_LOOKS}(?P<value>{_CAR}) (?:was|got|has been) "
        r"(?:stolen|sold|scrapped|written off|totall?ed)\b", "deny", if_known=True),
    row("vehicle", rf"\b(?:I|[Ww]e) (?:no longer|{DO_NOT}) (?:drive|have|own) (?:an?|the|my|our) "
        rf"{_LOOKS}(?P<value>{_CAR}){_USE_END}", "deny", if_known=True),
    *former_rows("vehicle", rf"\b(?:I|[Ww]e) used to (?:drive|have|own) an? {_LOOKS}"
        rf"(?P<value>{_CAR}){_USE_END}"),
    row("vehicle", rf"{HAVE} never (?:actually |really )?(?:drove|driven|had|owned|bought) an? "
        rf"{_LOOKS}(?P<value>{_CAR}){_USE_END}", "retract"),
)  # fmt: skip

_GERMAN_LOOKS = r"(?:(?!(?:geliehen|gemietet)e[nr]?\b)[a-zäöüß]+e[nrs]? ){0,2}"
_HELD_END = r"(?=[.,;!]|$| (?:und|aber|seit|von|aus|mit|Baujahr|als Zweitwagen|weil)\b)"
_PURCHASE = r"(?:gebraucht )?(?:gekauft|geleast|zugelegt|abgeholt|angeschafft)\b"
_GERMAN_RID = r"(?:verkauft|verschrottet|abgegeben|abgemeldet|in Zahlung gegeben|weggegeben)\b"

GERMAN_VEHICLE_RULES: Final = (
    # what somebody has
    row("vehicle", rf"\b(?:[Ii]ch fahre|[Ww]ir fahren) {MEANWHILE}eine?n? {_GERMAN_LOOKS}"
        rf"(?P<value>{_CAR}){_HELD_END}"),
    row("vehicle", rf"{ADVERB_FIRST}(?:fahre ich|fahren wir) eine?n? {_GERMAN_LOOKS}"
        rf"(?P<value>{_CAR}){_HELD_END}"),
    row("vehicle", rf"\b(?:[Ii]ch habe|[Ww]ir haben|[Ii]ch besitze|[Ww]ir besitzen) {MEANWHILE}"
        rf"eine?n? {_GERMAN_LOOKS}(?P<value>{_BRAND}){_HELD_END}"),
    row("vehicle", rf"(?:\b(?:[Ii]ch habe|[Ww]ir haben) (?:mir |uns )?{AT_TIMES}|{WHEN_FIRST}"
        rf"(?:habe ich|haben wir) (?:mir |uns )?)eine?n? {_GERMAN_LOOKS}(?P<value>{_CAR}) "
        rf"{_PURCHASE}"),
    row("vehicle", r"\b(?:[Mm]ein|[Uu]nser) (?:neue[rs] )?(?:Auto|Wagen|Fahrzeug|Zweitwagen|"
        rf"Dienstwagen|Firmenwagen|Motorrad) ist (?:jetzt )?eine? {_GERMAN_LOOKS}"
        rf"(?P<value>{_CAR}){_HELD_END}"),
    row("vehicle", rf"{GERMAN_RELATIVE}(?:fährt|hat) {MEANWHILE}eine?n? {_GERMAN_LOOKS}"
        rf"(?P<value>{_BRAND}){_HELD_END}"),
    # what is gone, or never was
    row("vehicle", rf"\b(?:[Ii]ch habe|[Ww]ir haben) {AT_TIMES}(?:den|die|das|meinen?|unseren?) "
        rf"{_GERMAN_LOOKS}(?P<value>{_CAR}) (?:\w+ ){{0,3}}?{_GERMAN_RID}", "deny",
        if_known=True),
    row("vehicle", rf"\b(?:[Ii]ch|[Ww]ir) (?:fahren?|haben?|besitzen?) {MEANWHILE}keine?n? "
        rf"{_GERMAN_LOOKS}(?P<value>{_CAR})(?: mehr\b|(?=[.,;!]|$))", "deny", if_known=True),
    row("vehicle", rf"\b(?:[Ii]ch|[Ww]ir) (?:fahren?|haben?) (?:den|die|das) (?P<value>{_CAR}) "
        r"nicht mehr\b", "deny", if_known=True),
    *former_rows("vehicle", r"(?:\b(?:[Ii]ch hatte|[Ii]ch fuhr) früher|^Früher (?:hatte|fuhr) ich) "
        rf"eine?n? {_GERMAN_LOOKS}(?P<value>{_CAR}){_HELD_END}"),
    row("vehicle", rf"\b[Ii]ch hatte (?:noch )?(?:nie|niemals) eine?n? (?P<value>{_CAR})"
        r"(?=[.,;!]|$)", "retract"),
)  # fmt: skip
