"""Other words for the words of a question, as far as everyday talk needs them.

"What career did Ann leave?" is answered by "I quit my job": no word is shared. Two tables help. The
first holds forms of one word that no stem joins: went and go, mice and mouse, 2 and two. The second
holds words of which people use one in the question and another in the answer: wife and partner,
trip and holiday. An encoder finds what no table foresees.

A turn of talk with a related word counts as if it had the word that was asked, and facts do not:
they are found by their slots. Nothing else is decided here.

>>> sorted(related_words(frozenset({"career"}))["job"])
['career']
>>> sorted(related_words(frozenset({"study"}))["studi"])
['study']
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from ...schema.terms import terms

_FORMS: Final = """
awake awoke awoken; become became; begin began begun; bite bit bitten; blow blew blown
break broke broken; bring brought; build built; burn burnt; buy bought; catch caught
choose chose chosen choice; come came; deal dealt; dig dug; draw drew drawn; dream dreamt
drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt
fight fought; find found; fly flew flown flight; forget forgot forgotten; forgive forgave forgiven
freeze froze frozen; get got gotten; give gave given; go goes went gone; grow grew grown growth
hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew known; lay laid; lead led
lean leant; learn learnt; leave left; lend lent; lose lost loss; make made; mean meant; meet met
pay paid; prove proven; ride rode ridden; ring rang rung; run ran; say said; see saw seen
seek sought; sell sold sale; send sent; shake shook shaken; shine shone; shoot shot; show shown
sing sang sung; sink sank sunk; sit sat; sleep slept; slide slid; smell smelt
speak spoke spoken speech; spend spent; spill spilt; stand stood; steal stole stolen; stick stuck
strike struck; swear swore sworn; sweep swept; swim swam swum; take took taken; teach taught
tear tore torn; tell told; think thought; throw threw thrown; understand understood
wake woke woken; wear wore worn; win won; write wrote written
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice
live life lives; wife wives; half halves; knife knives
die dead death; marry marriage wedding; injure injury; decide decision; celebrate celebration
arrive arrival; adopt adoption; invite invitation; perform performance; apply application
graduate graduation; recommend recommendation; suggest suggestion; appoint appointment
employ employer employment; engage engagement; organise organize; allergy allergic
colour color; favourite favorite; neighbour neighbor; grey gray; theatre theater; centre center
mum mom mother mommy mummy; dad father daddy; grandma grandmother granny
grandpa grandfather granddad; travel travelled travelling; cancel cancelled; jewellery jewelry
one 1 first 1st; two 2 second 2nd; three 3 third 3rd; four 4 fourth 4th; five 5 fifth 5th
six 6 sixth; seven 7 seventh; eight 8 eighth; nine 9 ninth; ten 10 tenth; eleven 11; twelve 12
twenty 20; thirty 30; forty 40; fifty 50; hundred 100; thousand 1000
gehen geht ging gegangen; fahren fährt fuhr gefahren; kaufen kauft kaufte gekauft
essen isst aß gegessen; trinken trinkt trank getrunken; lesen liest las gelesen
schreiben schreibt schrieb geschrieben; sehen sieht sah gesehen; treffen trifft traf getroffen
fliegen fliegt flog geflogen Flug; geben gibt gab gegeben; nehmen nimmt nahm genommen
finden findet fand gefunden; sprechen spricht sprach gesprochen; werden wird wurde geworden
beginnen beginnt begann begonnen Beginn; ziehen zieht zog gezogen; umziehen umgezogen Umzug
arbeiten arbeitet arbeite gearbeitet Arbeit; wohnen wohnt wohne gewohnt Wohnung
spielen spielt spielte gespielt Spiel; lernen lernt lernte gelernt; heiraten geheiratet Hochzeit
mögen mag mochte; laufen läuft lief gelaufen; schlafen schläft schlief geschlafen
verlieren verlor verloren; gewinnen gewann gewonnen; Kind Kinder; Sohn Söhne; Tochter Töchter
Bruder Brüder; Mutter Mama; Vater Papa; Oma Großmutter; Opa Großvater; Buch Bücher
eins ein eine 1 erste ersten; zwei 2 zweite zweiten; drei 3 dritte dritten; vier 4; fünf 5; zehn 10
"""
"""Groups of forms of one word, or as good as that."""

_SENSES: Final = """
wife husband partner spouse girlfriend boyfriend fiance fiancee; kid child son daughter
parent mother father; brother sister sibling twin
aunt uncle cousin nephew niece grandma grandpa relative family
job work career employ profession occupation position; quit resign leave notice
hire employ recruit; boss manager supervisor; colleague coworker team; salary wage income pay
company firm business; shop store; house home flat apartment place; rent lease landlord
move relocate; roommate flatmate; buy purchase; sell sale
cost price pay spend expensive bill fee euro dollar; save savings budget
trip travel holiday vacation journey getaway tour; plane flight fly airport
car drive vehicle; bike bicycle cycle; commute bus train; film movie cinema
song music tune sing; instrument guitar piano violin; concert gig festival; book novel read
poem poetry literary verse; picture photo image; paint art drawing artwork sketch
doctor physician nurse; ill illness sick flu disease; hospital clinic
hurt injure pain sprain ache wound; therapist therapy counselor counselling psychologist
vet animal pet; medicine medication tablet pill drug
allergy intolerant intolerance; dog puppy; cat kitten; pet dog cat; eat food meal dish cuisine
dinner supper; vegetarian vegan meat; dessert sweet cake cookie pastry; bread bake bakery
begin start open launch; end finish complete; delay postpone late; like love enjoy fond
hobby paint knit collect; hate dislike detest; afraid scared fear frighten terrify; sad upset grief
worry anxious nervous stress; exercise workout gym sport fitness; run jog; race marathon
win prize award trophy medal; compete competition contest tournament; school university college
study major degree subject; class course lesson workshop; exam test; birthday born age
marry wedding engage; party celebrate; gift present; name call nickname
volunteer charity donate; faith church religion religious; meeting appointment
phone mobile number; computer laptop; country city town; beach sea ocean; mountain hike climb
garden plant flower; baby pregnant birth; accident crash; lawyer attorney solicitor; police officer
shift hour schedule
Frau Ehefrau Partnerin Freundin; Mann Ehemann Partner Freund; Kind Sohn Tochter
Eltern Mutter Vater; Geschwister Bruder Schwester; Arbeit Beruf Job Stelle; Chef Vorgesetzte
Firma Unternehmen Arbeitgeber; wohnen Haus Zuhause; Urlaub Reise Ferien; Auto Wagen; Rad Fahrrad
Film Kino; Lied Musik; Arzt Ärztin Doktor; krank Krankheit Krankheiten
Medikament Medikamente Tabletten Medizin; Krankenhaus Klinik; Tier Haustier
Essen Gericht Mahlzeit; beginnen anfangen Start; Preis Kosten Euro; Geschenk Geburtstag
Sport Training; Schule Uni Universität Studium
"""
"""Groups of words of which one asks for what another tells."""


@lru_cache(maxsize=1)
def _tables() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]]]:
    return _groups_of(_FORMS), _groups_of(_SENSES)


def _groups_of(table: str) -> dict[str, frozenset[str]]:
    """The terms that stand beside a term in any group of a table, itself among them."""
    members: dict[str, frozenset[str]] = {}
    for group in table.replace("\n", ";").split(";"):
        group_terms = frozenset(terms(group))
        for term in group_terms:
            members[term] = members.get(term, frozenset()) | group_terms
    return members


def _forms_of(term: str) -> frozenset[str]:
    """A term and what else its word may have become as one."""
    forms = _tables()[0].get(term, frozenset()) | {term}
    if len(term) <= 3:
        return forms

    # "studied" and "applies" lose an ending of which "study" and "apply" keep a letter.
    if term.endswith("y") and term[-2] not in "aeiou":
        return forms | {f"{term[:-1]}i"}
    if term.endswith("i"):
        return forms | {f"{term[:-1]}y"}
    return forms


@lru_cache(maxsize=4_096)
def _variants_of(term: str) -> frozenset[str]:
    variants = set(_forms_of(term))
    senses = _tables()[1]
    for form in _forms_of(term):
        for neighbour in senses.get(form, ()):
            variants |= _forms_of(neighbour)
    return frozenset(variants - {term})


@lru_cache(maxsize=64)
def related_words(question: frozenset[str]) -> Mapping[str, frozenset[str]]:
    """The terms of a question that each related term stands for; none of its own is related."""
    meanings: dict[str, frozenset[str]] = {}
    for term in sorted(question):
        for variant in _variants_of(term) - question:
            meanings[variant] = meanings.get(variant, frozenset()) | {term}
    return meanings


def unspoken_terms(question: frozenset[str], text_terms: AbstractSet[str]) -> list[str]:
    """The terms of a question that a text does not hold, but other words for them, sorted.

    >>> unspoken_terms(frozenset({"career", "leav"}), {"quit", "job", "bank"})
    ['career', 'leav']
    """
    meanings = related_words(question)
    unspoken: set[str] = set()
    for term in meanings.keys() & text_terms:
        unspoken |= meanings[term]
    return sorted(unspoken - text_terms)
