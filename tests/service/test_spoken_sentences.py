"""Everyday sentences of another hand: what is taken from each, and what is not."""

from __future__ import annotations

import pytest

from tenure.tests.service.rule_claims import claims_of

SAID: dict[str, list[str]] = {
    "Hey there, Priyanka here.": [
        "full_name=Priyanka",
    ],
    "Most people just call me Beth.": [
        "full_name=Beth",
    ],
    "I've been with Halcyon Freight for about six years now.": [
        "employer=Halcyon Freight",
    ],
    "These days I'm working over at Brightwater Labs.": [
        "employer=Brightwater Labs",
    ],
    "I run the night shift at Kestrel Foods.": [
        "employer=Kestrel Foods",
    ],
    "I handed in my notice at Kestrel Foods on Friday.": [
        "deny employer=Kestrel Foods from 2026-06-12",
    ],
    "Before this I spent four years at Ormsby Bank.": [
        "employer=Ormsby Bank until 2026-06-17",
    ],
    "I'm starting a new job at Pinnacle Rail on Monday.": [
        "employer=Pinnacle Rail from 2026-06-22, planned",
    ],
    "I've been a paramedic since 2015.": [
        "title=paramedic from 2015-01-01",
    ],
    "They made me head of logistics last week.": [
        "title=head of logistics from 2026-06-08",
    ],
    "My boss at the moment is Yolanda Price.": [
        "manager=Yolanda Price",
    ],
    "I've lived in Aberdeen all my life.": [
        "home=Aberdeen",
    ],
    "We ended up settling in Tampere.": [
        "home=Tampere",
    ],
    "My flat is in Leith.": [
        "home=Leith",
    ],
    "I grew up in Tucson but I've been in Halifax since 2019.": [
        "home=Halifax from 2019-01-01",
    ],
    "We're relocating to Malmö at the end of August.": [
        "home=Malmö",
    ],
    "I don't live in Bristol any longer, I'm in Cardiff now.": [
        "deny home=Bristol",
        "home=Cardiff",
    ],
    "My husband's name is Anselm.": [
        "partner=Anselm",
    ],
    "I've been married to Corinne for eleven years.": [
        "partner=Corinne",
    ],
    "We have two kids, Odette and Rufus.": [
        "child=Odette",
        "child=Rufus",
    ],
    "Our little one, Saskia, turns four on July 9.": [
        "Saskia: birthday=July 9 (2026-07-09)",
        "child=Saskia",
    ],
    "My cat is called Biscuit and she's a menace.": [
        "pet=Biscuit",
    ],
    "We just got a puppy and named him Waffles.": [
        "pet=Waffles",
    ],
    "My sister Noor is a nurse at St. Bride's Hospital.": [
        "Noor: title=nurse",
        "sibling=Noor",
    ],
    "My mate Declan has just moved to Perth.": [
        "Declan: home=Perth",
    ],
    "My brother Tariq works in a bakery in Leeds.": [
        "sibling=Tariq",
    ],
    "My aunt Rosalind can't eat gluten.": [
        "Rosalind: avoids=gluten",
    ],
    "My daughter Ines loves dinosaurs.": [
        "Ines: likes=dinosaurs",
        "child=Ines",
    ],
    "Liam, my eldest, is allergic to cashews.": [
        "Liam: allergy=cashews",
        "child=Liam",
    ],
    "I'm a huge fan of Korean cinema.": [
        "likes=Korean cinema",
    ],
    "Nothing beats a good ramen for me.": [
        "likes=ramen",
    ],
    "I'm really keen on bouldering.": [
        "likes=bouldering",
    ],
    "Lately I've been hooked on crosswords.": [
        "likes=crosswords",
    ],
    "My favourite band is still Radiohead.": [
        "likes=Radiohead",
    ],
    "I can't stand coriander.": [
        "dislikes=coriander",
    ],
    "Olives are not my thing at all.": [
        "dislikes=Olives",
    ],
    "I'm not a big fan of horror movies.": [
        "dislikes=horror movies",
    ],
    "I used to love sushi but I've gone off it.": [
        "deny likes=sushi",
    ],
    "I'm allergic to penicillin, so please keep that in mind.": [
        "allergy=penicillin",
    ],
    "Shellfish gives me hives, I'm badly allergic to it.": [
        "allergy=Shellfish",
    ],
    "I have coeliac disease, so no gluten for me.": [
        "avoids=gluten",
        "health_condition=coeliac disease",
    ],
    "I gave up alcohol in January.": [
        "avoids=alcohol from 2026-01-01",
    ],
    "I don't eat pork.": [
        "avoids=pork",
    ],
    "I've been vegetarian since college.": [
        "diet=vegetarian",
    ],
    "We're off to Iceland in three weeks.": [
        "plan=off to Iceland in three weeks (2026-07-08)",
    ],
    "I'm hoping to finish my thesis by October.": [
        "goal=finish my thesis by October",
    ],
    "Next Thursday I've got a dentist appointment at 3pm.": [
        "appointment=dentist appointment at 3pm (2026-06-18)",
    ],
    "My driving test is on the 14th of August.": [
        "appointment=driving test is on the 14th of August (2026-08-14)",
    ],
    "I have to be at the embassy on Tuesday at nine.": [
        "appointment=at the embassy on Tuesday at nine (2026-06-23)",
    ],
    "Remind me to water the plants on Sunday.": [
        "todo=water the plants on Sunday from 2026-06-21, planned",
    ],
    "I still need to renew my passport.": [
        "todo=renew my passport",
    ],
    "From now on, keep your answers under three sentences.": [
        "answer_rule=keep your answers under three sentences",
    ],
    "Please don't use emojis when you write to me.": [
        "answer_rule=don't use emojis when you write to me",
    ],
    "Always give me temperatures in Celsius.": [
        "answer_rule=Always give me temperatures in Celsius",
    ],
    "Sorry, I meant Dundee, I live in Dundee.": [
        "home=Dundee",
    ],
    "Actually my birthday is on 2 November.": [
        "correct birthday=2 November (2026-11-02)",
    ],
    "I'm turning forty on September 12.": [
        "birthday=September 12 (2026-09-12)",
    ],
    "Hallo, hier ist Friederike Baumann.": [
        "full_name=Friederike Baumann",
    ],
    "Nenn mich einfach Jojo.": [
        "full_name=Jojo",
    ],
    "Seit drei Jahren arbeite ich bei Nordlicht Energie.": [
        "employer=Nordlicht Energie from 2023-06-17",
    ],
    "Ich bin jetzt bei der Hansebank.": [
        "employer=Hansebank",
    ],
    "Ich habe vor kurzem bei Wagner & Söhne angefangen.": [
        "employer=Wagner & Söhne",
    ],
    "Bis letztes Jahr war ich bei Sonnwerk.": [
        "employer=Sonnwerk until 2026-06-17",
    ],
    "Bei Sonnwerk habe ich gekündigt.": [
        "deny employer=Sonnwerk",
    ],
    "Von Beruf bin ich Tischlerin.": [
        "title=Tischlerin",
    ],
    "Ich arbeite als Hebamme in einer Klinik.": [
        "title=Hebamme",
    ],
    "Ich wohne jetzt in Görlitz.": [
        "home=Görlitz",
    ],
    "Wir sind letzten Monat nach Flensburg gezogen.": [
        "home=Flensburg from 2026-05-01",
    ],
    "Ich komme aus Kassel, lebe aber in Bremen.": [
        "home=Bremen",
    ],
    "In Hamburg wohne ich schon lange nicht mehr.": [
        "deny home=Hamburg",
    ],
    "Meine Wohnung liegt in Potsdam.": [
        "home=Potsdam",
    ],
    "Mein Mann heißt Detlef.": [
        "partner=Detlef",
    ],
    "Ich bin seit 2012 mit Annika verheiratet.": [
        "partner=Annika from 2012-01-01",
    ],
    "Wir haben zwei Töchter, Merle und Jette.": [
        "child=Jette",
        "child=Merle",
    ],
    "Unser Kater heißt Moritz.": [
        "pet=Moritz",
    ],
    "Meine Schwester Katrin wohnt in Ulm.": [
        "Katrin: home=Ulm",
        "sibling=Katrin",
    ],
    "Mein Bruder Jens ist Lehrer in Kiel.": [
        "Jens: title=Lehrer",
        "sibling=Jens",
    ],
    "Meine Kollegin Sabine verträgt keine Milch.": [
        "Sabine: avoids=Milch",
    ],
    "Unsere Tochter Lina mag Pferde.": [
        "Lina: likes=Pferde",
        "child=Lina",
    ],
    "Ich esse total gern Linsensuppe.": [
        "likes=Linsensuppe",
    ],
    "Am liebsten höre ich Jazz.": [
        "likes=Jazz",
    ],
    "Ich stehe auf alte Krimis.": [
        "likes=alte Krimis",
    ],
    "Mit Fußball kann ich nichts anfangen.": [
        "dislikes=Fußball",
    ],
    "Rosenkohl mag ich überhaupt nicht.": [
        "dislikes=Rosenkohl",
    ],
    "Früher mochte ich Kaffee, heute trinke ich nur noch Tee.": [
        "deny likes=Kaffee",
    ],
    "Ich reagiere allergisch auf Haselnüsse.": [
        "allergy=Haselnüsse",
    ],
    "Ich habe eine Pollenallergie.": [
        "allergy=Pollen",
    ],
    "Ich vertrage keine Laktose.": [
        "avoids=Laktose",
    ],
    "Ich lebe seit Januar vegan.": [
        "diet=vegan from 2026-01-01",
    ],
    "Am Freitag habe ich um zehn einen Zahnarzttermin.": [
        "appointment=um zehn einen Zahnarzttermin (2026-06-19)",
    ],
    "Nächste Woche fliege ich nach Lissabon.": [
        "plan=fliege ich nach Lissabon (2026-06-22)",
    ],
    "Erinnere mich bitte daran, die Miete zu überweisen.": [
        "todo=die Miete zu überweisen",
    ],
    "Ich muss noch mein Auto anmelden.": [
        "todo=mein Auto anmelden",
    ],
    "Antworte mir bitte immer auf Deutsch.": [
        "preferred_language=Deutsch",
    ],
    "Mein Geburtstag ist am 5. Mai.": [
        "birthday=5. Mai (2027-05-05)",
    ],
}

UNSAID = [
    "Hey, same here.",
    "Hi, nothing here.",
    "Same here.",
    "Right here, please.",
    "It's Game Over, by the way.",
    "It's New York, by the way.",
    "It's Black Friday here.",
    "I've been with Anna for three years.",
    "I've been with Tom for ages.",
    "I've been with Vodafone for ten years and the coverage is bad.",
    "I run the marathon at Boston every year.",
    "I run the tests at Night.",
    "I lead a hike at Yosemite on Sunday.",
    "I run a 5k at Central Park every week.",
    "I handle everything at Home.",
    "I spent two years at Oxford.",
    "I spent three months at Yale.",
    "After two hours at Heathrow I left.",
    "After three months with Ben I left.",
    "I start at Paragraph 3 on Monday.",
    "I start at Chapter 4 next week.",
    "They made me a coffee.",
    "They made me a teacher's pet.",
    "I'm a night owl by nature.",
    "For a living, I'm a bit of everything.",
    "I've been in Paris for two weeks.",
    "We've been in Rome for a few days.",
    "I've been in Berlin since Monday.",
    "I've been in Sales for ten years.",
    "We've been in Business since 1990.",
    "We settled in for the night.",
    "We call Dad home.",
    "I call Mom home on Sundays.",
    "We got a dog and named him after Uncle Bob.",
    "I named the file Report.",
    "Paris, my friend, is lovely.",
    "Texas, my friend, is hot.",
    "Our baby is due in May.",
    "My eldest is Nine.",
    "My youngest Monday client.",
    "My mother never drinks alone.",
    "Nothing beats Monday mornings, haha.",
    "Nothing beats a try.",
    "Nothing beats it.",
    "I can't get enough of it.",
    "I'm keen on helping you.",
    "I'm not keen on olives.",
    "I'm hooked on your every word.",
    "I have a thing for tomorrow.",
    "I have a thing for you to read.",
    "I've got a passion for that.",
    "Work gives me hives.",
    "Monday gives me a rash.",
    "That gives me hives.",
    "There is no sugar for me to add.",
    "There is no fish for me today.",
    "I gave up meat for Lent.",
    "I quit sugar for a week.",
    "I'm off fish duty.",
    "I'm off milk run.",
    "I'm hoping to finish this by Friday.",
    "I hope to read it by Monday.",
    "I have to be in the mood on Friday.",
    "I have to be in the office tomorrow.",
    "I'm off to bed.",
    "Keep calm from now on.",
    "From now on, keep moving.",
    "I'm turning red on Monday.",
    "I'm turning the corner on May 3.",
    "Hier ist Schluss jetzt.",
    "Hier ist Nutella Brot.",
    "Hier ist Max nicht.",
    "Ich bin bei der Bank und hole Geld.",
    "Ich bin gerade bei der Sparkasse.",
    "Ich bin jetzt bei der Bahn.",
    "Bei Regen habe ich aufgehört.",
    "Bei Seite 30 habe ich aufgehört.",
    "Bei Kapitel Drei habe ich angefangen.",
    "Bei Sonnenschein arbeite ich draußen.",
    "Von Beruf bin ich Mensch geblieben.",
    "Mein Haus steht in Flammen.",
    "Mein Haus steht in Konkurrenz dazu.",
    "Meine Wohnung ist in Ordnung.",
    "Unsere Wohnung ist in Schuss.",
    "Ich bin in Gedanken zu Hause.",
    "In Gedanken wohne ich noch dort.",
    "In Frieden leben wir gern.",
    "In Mathe lebe ich nicht.",
    "Mein Freund Tim liebt Lina.",
    "Ich stehe auf Platz drei.",
    "Ich stehe auf Englisch da.",
    "Ich stehe auf und gehe.",
    "Bücher mag ich nicht vorlesen.",
    "Morgen mag ich nicht.",
    "Heute trinke ich nicht.",
    "Abends esse ich nicht.",
    "Danke mag ich nicht.",
    "Ja mag ich.",
    "Menschen mag ich.",
    "Ich muss noch einen Moment warten.",
    "Ich muss bald die Augen schließen.",
    "Ich muss noch ein Stück fahren.",
    "Am liebsten mag ich Dich.",
    "Ich muss noch den Kopf schütteln.",
    "Bis letztes Jahr war ich bei Oma.",
    "Bis vor kurzem war ich bei Mama.",
]


@pytest.mark.parametrize("sentence", SAID)
def test_what_is_said_is_found(sentence: str) -> None:
    assert claims_of(sentence) == sorted(SAID[sentence])


@pytest.mark.parametrize("sentence", UNSAID)
def test_what_only_looks_like_it_is_left(sentence: str) -> None:
    assert claims_of(sentence) == []
