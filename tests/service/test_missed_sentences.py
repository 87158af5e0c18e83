"""Everyday sentences that the rules of extraction once missed, or read wrongly."""

from __future__ import annotations

import pytest

from tenure.tests.service.rule_claims import claims_of

SAID: dict[str, list[str]] = {
    "I already speak Dutch and a bit of French.": ["language=Dutch", "language=French"],
    "Ich spreche Englisch und ein bisschen Spanisch.": ["language=Englisch", "language=Spanisch"],
    "We're vegan at home.": ["diet=vegan"],
    "I used to live in Bonn, now I'm in Cologne.": ["home=Bonn until 2026-06-17", "home=Cologne"],
    "Früher habe ich in Bonn gewohnt, jetzt in Köln-Ehrenfeld.": [
        "home=Bonn until 2026-06-17",
        "home=Köln-Ehrenfeld",
    ],
    "Ich habe eine Penicillinallergie.": ["allergy=Penicillin"],
    "My doctor took me off metformin and put me on ramipril.": [
        "deny medication=metformin",
        "medication=ramipril",
    ],
    "I switched from metformin to ramipril.": [
        "deny medication=metformin",
        "medication=ramipril",
    ],
    "Der Arzt hat Bisoprolol abgesetzt, jetzt nehme ich Ramipril.": [
        "deny medication=Bisoprolol",
        "medication=Ramipril",
    ],
    # Behind "and" somebody else does something.
    "I love tea and Ben drinks coffee.": ["likes=tea"],
    "I like jazz, and Anna likes metal.": ["likes=jazz"],
    "I hate cilantro, and Tom thinks I'm mad.": ["dislikes=cilantro"],
    "I love jazz and Thai dishes.": ["likes=jazz and Thai dishes"],
    "I speak Italian and Marta speaks Greek.": ["language=Italian"],
    "Remind me to tell Bob I live in Rome.": ["todo=tell Bob"],
    "My name is Tobias Lindqvist, but everyone calls me Tobi.": [
        "full_name=Tobias Lindqvist",
    ],
    "I'm called Benedikt.": [
        "full_name=Benedikt",
    ],
    "The name's Olga Petrov.": [
        "full_name=Olga Petrov",
    ],
    "I turn 40 on May 9.": [
        "birthday=May 9 (2027-05-09)",
    ],
    "I'll be 30 on 4 October.": [
        "birthday=4 October (2026-10-04)",
    ],
    "Ann's birthday is on 2 June.": [
        "Ann: birthday=2 June (2027-06-02)",
    ],
    "I'm Head of Sales at Contoso.": [
        "employer=Contoso",
        "title=Head of Sales",
    ],
    "I'm Head of Marketing.": [
        "title=Head of Marketing",
    ],
    "I'm VP of Sales for Initech.": [
        "employer=Initech",
        "title=VP of Sales",
    ],
    "I teach maths at Riverside High.": [
        "employer=Riverside High",
    ],
    "I've been at Philips for eleven years.": [
        "employer=Philips",
    ],
    "I'm on the payments team.": [
        "team=payments",
    ],
    "I'm part of the platform engineering team.": [
        "team=platform engineering",
    ],
    "Home for me is Tallinn.": [
        "home=Tallinn",
    ],
    "My twin brother Leo hates mushrooms.": [
        "Leo: dislikes=mushrooms",
        "sibling=Leo",
    ],
    "My youngest son Ali plays chess.": [
        "child=Ali",
    ],
    "My hamster is called Ziggy.": [
        "pet=Ziggy",
    ],
    "We have two guinea pigs, Salt and Pepper.": [
        "pet=Pepper",
        "pet=Salt",
    ],
    "I keep kosher.": [
        "diet=kosher",
    ],
    "I eat halal.": [
        "diet=halal",
    ],
    "I'm on a low-carb diet.": [
        "diet=low-carb diet",
    ],
    "I follow a strict vegan diet.": [
        "diet=vegan diet",
    ],
    "Actually, I'm allergic to almonds, not peanuts.": [
        "allergy=almonds",
        "deny allergy=peanuts",
    ],
    "I'm allergic to bees, but not to wasps.": [
        "allergy=bees",
        "deny allergy=wasps",
    ],
    "I'm allergic to dust and not ashamed.": [
        "allergy=dust",
    ],
    "I want to get my driving licence by Christmas.": [
        "goal=get my driving licence by Christmas",
    ],
    "I aim to save 5,000 euros by June.": [
        "goal=save 5,000 euros by June",
    ],
    "I want to run a marathon by 2028.": [
        "goal=run a marathon by 2028",
    ],
    "I'm seeing the doctor on Thursday.": [
        "appointment=the doctor on Thursday (2026-06-18)",
    ],
    "Our wedding is on August 21.": [
        "appointment=wedding is on August 21 (2026-08-21)",
    ],
    'Put "buy stamps" on my todo list.': [
        "todo=buy stamps",
    ],
    "From now on, explain every step.": [
        "answer_rule=explain every step",
    ],
    "From now on, answer in Dutch.": [
        "preferred_language=Dutch",
    ],
    "Write code in Rust from now on.": [
        "answer_rule=Write code in Rust",
    ],
    "Stop apologising from now on.": [
        "answer_rule=Stop apologising",
    ],
    "Reply in Spanish from now on.": [
        "preferred_language=Spanish",
    ],
    "You can reach me at +47 555 0199.": [
        "phone=+47 555 0199",
    ],
    "I'm in the Pacific time zone.": [
        "timezone=Pacific",
    ],
    "I'm on Eastern time.": [
        "timezone=Eastern",
    ],
    "We're meeting Ana on Friday.": [
        "plan=meeting Ana on Friday (2026-06-19)",
    ],
    "I work at Home Depot.": [
        "employer=Home Depot",
    ],
    "I speak Catalan, Spanish and English.": [
        "language=Catalan",
        "language=English",
        "language=Spanish",
    ],
    "Wir haben ein Kätzchen namens Pepper adoptiert.": [
        "pet=Pepper",
    ],
    "Meine Schildkröte heißt Erna.": [
        "pet=Erna",
    ],
    "Ich esse lieber Reis als Nudeln.": [
        "likes=Reis",
    ],
    "Ich will bis Weihnachten den Führerschein machen.": [
        "goal=bis Weihnachten den Führerschein machen",
    ],
    "Ich möchte bis 2027 mindestens 5000 Euro sparen.": [
        "goal=bis 2027 mindestens 5000 Euro sparen (2027-01-01)",
    ],
    "Mein Vorstellungsgespräch ist am 12. Mai.": [
        "appointment=Vorstellungsgespräch ist am 12. Mai (2027-05-12)",
    ],
    "Mein Flug geht am 3. September um 7 Uhr.": [
        "appointment=Flug geht am 3. September um 7 Uhr (2026-09-03)",
    ],
    "Erinnere mich morgen daran, den Klempner anzurufen.": [
        "todo=den Klempner anzurufen from 2026-06-18, planned",
    ],
    "Meine Muttersprache ist Tamil.": [
        "language=Tamil",
    ],
    "Ich spreche Thai und Englisch.": [
        "language=Englisch",
        "language=Thai",
    ],
    "I'm Ulrike, by the way.": [
        "full_name=Ulrike",
    ],
    "I'm a dental hygienist at Bright Smiles.": [
        "employer=Bright Smiles",
        "title=dental hygienist",
    ],
    "I'm a barista at Blue Bottle.": [
        "employer=Blue Bottle",
        "title=barista",
    ],
    "I work nights at the General Hospital.": [
        "employer=General Hospital",
    ],
    "I'm the new CFO of Aurubis.": [
        "employer=Aurubis",
        "title=CFO",
    ],
    "My line manager is Ottilie Krantz.": [
        "manager=Ottilie Krantz",
    ],
    "I'm on the growth team at Canva.": [
        "employer=Canva",
        "team=growth",
    ],
    "I share a flat in Ghent with two friends.": [
        "home=Ghent",
    ],
    "My parents, Jean and Marie, live in Lyon.": [
        "parent=Jean",
        "parent=Marie",
    ],
    "My kids Emma and Jonas are at school.": [
        "child=Emma",
        "child=Jonas",
    ],
    "I have three brothers: Ivo, Jan and Karel.": [
        "sibling=Ivo",
        "sibling=Jan",
        "sibling=Karel",
    ],
    "We just got a puppy, Waffles.": [
        "pet=Waffles",
    ],
    "I'm crazy about cheesecake.": [
        "likes=cheesecake",
    ],
    "I find golf boring.": [
        "dislikes=golf",
    ],
    "My daughter Eva has a nut allergy.": [
        "Eva: allergy=nut",
        "child=Eva",
    ],
    "My friend Olu is vegan.": [
        "Olu: diet=vegan",
        "friend=Olu",
    ],
    "My sister Pia got a job at Ikea.": [
        "Pia: employer=Ikea",
        "sibling=Pia",
    ],
    "I've been vegetarian since 2010.": [
        "diet=vegetarian from 2010-01-01",
    ],
    "I'm training for a half marathon in October.": [
        "plan=training for a half marathon in October (2026-10-01)",
    ],
    "My driving test is on 3 July.": [
        "appointment=driving test is on 3 July (2026-07-03)",
    ],
    "I've got a job interview on Thursday at 9.": [
        "appointment=job interview on Thursday at 9 (2026-06-18)",
    ],
    "In future, skip the introductions.": [
        "answer_rule=skip the introductions",
    ],
    "Ich arbeite in der Buchhaltung bei Lidl.": [
        "employer=Lidl",
    ],
    "Meine Eltern heißen Karl und Ilse.": [
        "parent=Ilse",
        "parent=Karl",
    ],
    "Ich darf kein Gluten essen.": [
        "avoids=Gluten",
    ],
    "Ich bin gegen Nüsse allergisch.": [
        "allergy=Nüsse",
    ],
    "Seit 2019 lebe ich vegan.": [
        "diet=vegan from 2019-01-01",
    ],
    "Morgen um 9 habe ich ein Gespräch mit Frau Ott.": [
        "appointment=ein Gespräch mit Frau Ott (2026-06-18)",
    ],
    "Ab jetzt bitte ohne Emojis.": [
        "answer_rule=ohne Emojis",
    ],
}

UNSAID = (
    "I work at Night.",
    "I go by Train.",
    "I speak Java and Python.",
    "I'm meeting expectations this week.",
    "I'm meeting the deadline on Friday.",
    "I'm called on to speak at every meeting.",
    "I'm called Lucky by nobody.",
    "The name's not important.",
    "The name is Bond.",
    "Today's birthday is on everyone's lips.",
    "The company's birthday is on 9 August.",
    "I'll be 10 minutes late on Friday.",
    "I'm Director of Photography on a film.",
    "I teach yoga at night.",
    "I've been at Lisa's for two months.",
    "I'm on the winning team.",
    "I'm in the same team as Bo.",
    "Home is where the heart is.",
    "I keep kosher salt in the kitchen.",
    "I'm on a diet.",
    "My brother is on a keto diet.",
    "I want to get this done by Friday.",
    "I want to write your summary by Monday.",
    "I want to learn by doing.",
    "I want to read the news by Reuters.",
    "I'm seeing a therapist.",
    "I'm seeing someone tomorrow.",
    "Our product is on sale tomorrow.",
    "Put milk on my list.",
    "Show me the file.",
    "Call me at 10:30.",
    "Reach me on 12/05/2026.",
    "I'm on time.",
    "Ich trinke lieber Kaffee als du.",
    "Ich will bis heute Abend nichts machen.",
    "Erinnere mich nicht daran.",
    "Ich spreche Klartext.",
    "I'm Sorry, by the way.",
    "I find this boring.",
    "My parents and Tom came.",
    "I have two sons: one is tall.",
    "We've got a cat, Tom says.",
    "I share a room in Slack with Ann.",
    "My friend is vegan.",
    "I'm training for a new job.",
    "I've got a meeting.",
    "I'm fond of you.",
    "In the future, cars will fly.",
    "We left Lima for Quito last year.",
    "My hearing is bad on Mondays.",
    "My line manager is on leave.",
    "Ich darf keinen Fehler machen.",
    "Ich arbeite im Garten bei Regen.",
    "Meine Eltern heißen mich willkommen.",
    "Am Montag habe ich keine Gespräche.",
    "Ab jetzt bitte ohne Zucker.",
    "Ich bin gegen Gewalt.",
    "I can't eat nuts around Leo.",
    "My wife and I separated the laundry.",
    "My girlfriend and I split up the bill.",
    "My husband and I are separated by the sea.",
    "Sue and I broke up the fight.",
    "Mein Mann und ich sind getrennt gereist.",
    "Meine Frau und ich haben uns getrennt angemeldet.",
    "Ich habe keinen Hund mehr gesehen.",
    "Ich habe kein Auto mehr gefunden.",
    "I lost my job application.",
    "I'm not a team player any more.",
    "I speak a little too fast.",
    "Mr.Lehoux, please keep it brief.",
    "I like the idea of of rubber too.",
    "I'm in the Berlin office today.",
)


@pytest.mark.parametrize("sentence", SAID)
def test_what_is_said_is_found_and_nothing_else(sentence: str) -> None:
    assert claims_of(sentence) == SAID[sentence]


@pytest.mark.parametrize("sentence", UNSAID)
def test_what_is_not_said_is_not_found(sentence: str) -> None:
    assert claims_of(sentence) == []
