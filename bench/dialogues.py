"""Sixty everyday dialogues in which something is said, and then changed, ended or taken back.

They were written before their writer read the rules. A turn that begins with `~` takes back or
ends something: its own words may stand in a context, whatever they name. `SMALL_TALK` goes before
each dialogue, so that what bears on the question has something to outrank. `bench_dialogues.py`
asks the questions, and says by a seed which half nobody mended by.
"""

from __future__ import annotations

from typing import NamedTuple


class Dialogue(NamedTuple):
    """What one person says on successive days, and what a context for the question needs."""

    turns: tuple[str, ...]
    question: str
    current: tuple[str, ...] = ()  # to be shown
    stale: tuple[str, ...] = ()  # not to be shown, but in the words of a turn with `~`


SMALL_TALK = {
    "en": (
        "I love science fiction films, Arrival most of all.",
        "I don't like horror films.",
        "We watched an old western last night and it was great fun.",
        "I'm reading a long novel about the sea.",
        "My favourite band is Radiohead.",
        "It rained the whole weekend here.",
        "I really enjoy French comedies.",
        "The new printer at the office is noisy.",
        "I like documentaries about volcanoes.",
        "I prefer short answers.",
        "The neighbours are building a shed.",
        "I like to sit in the back row at the cinema.",
        "Our street has new lamps since this week.",
        "I enjoy thrillers from Scandinavia.",
        "The trains were late again this morning.",
        "I love animated films, too.",
        "There was a street musician at the station.",
        "I find musicals boring.",
        "The library opens later on Saturdays now.",
        "I collect old postcards.",
        "The lift in our building is broken again.",
        "I like jazz in the evening.",
        "Somebody left an umbrella at the office.",
        "My colleague tells the same joke every day.",
        "I watched a series about sailors to the end.",
        "The wifi is slow in the afternoon.",
        "I enjoy crosswords on the train.",
        "The park is full of leaves.",
        "I don't like long trailers before a film.",
        "We painted the hallway in light blue.",
        "The clocks go back this Sunday.",
        "I love black-and-white photography.",
        "The postman rang twice today.",
        "I am fond of silent films.",
        "The meeting was moved to another room.",
        "My favourite director is Agnès Varda.",
    ),
    "de": (
        "Ich liebe Science-Fiction-Filme, vor allem Arrival.",
        "Horrorfilme mag ich nicht.",
        "Gestern haben wir einen alten Western geschaut, das war lustig.",
        "Ich lese gerade einen langen Roman über das Meer.",
        "Meine Lieblingsband ist Radiohead.",
        "Es hat das ganze Wochenende geregnet.",
        "Ich mag französische Komödien sehr.",
        "Der neue Drucker im Büro ist laut.",
        "Ich mag Dokumentationen über Vulkane.",
        "Ich bevorzuge kurze Antworten.",
        "Die Nachbarn bauen einen Schuppen.",
        "Im Kino sitze ich gern in der letzten Reihe.",
        "Unsere Straße hat seit dieser Woche neue Laternen.",
        "Ich mag Krimis aus Skandinavien.",
        "Die Züge waren heute früh wieder zu spät.",
        "Trickfilme liebe ich auch.",
        "Am Bahnhof spielte ein Straßenmusiker.",
        "Musicals finde ich langweilig.",
        "Die Bibliothek öffnet samstags jetzt später.",
        "Ich sammle alte Postkarten.",
        "Der Aufzug im Haus ist wieder kaputt.",
        "Abends höre ich gern Jazz.",
        "Jemand hat im Büro einen Schirm vergessen.",
        "Mein Kollege erzählt jeden Tag denselben Witz.",
        "Ich habe eine Serie über Seeleute zu Ende geschaut.",
        "Das WLAN ist am Nachmittag langsam.",
        "Im Zug löse ich gern Kreuzworträtsel.",
        "Der Park ist voller Laub.",
        "Lange Trailer vor dem Film mag ich nicht.",
        "Wir haben den Flur hellblau gestrichen.",
        "Am Sonntag wird die Uhr umgestellt.",
        "Ich liebe Schwarzweißfotografie.",
        "Der Postbote hat heute zweimal geklingelt.",
        "Ich mag Stummfilme.",
        "Die Besprechung wurde in einen anderen Raum verlegt.",
        "Meine Lieblingsregisseurin ist Agnès Varda.",
    ),
}

ENGLISH: tuple[Dialogue, ...] = (
    Dialogue(
        ("I'm allergic to walnuts.", "~Forget that I'm allergic to walnuts, that was wrong."),
        "Which allergies do I have?",
        stale=("walnuts",),
    ),
    Dialogue(
        (
            "I'm allergic to penicillin.",
            "I'm allergic to bees.",
            "~I'm not allergic to bees after all.",
        ),
        "What am I allergic to?",
        ("penicillin",),
        ("bees",),
    ),
    Dialogue(
        ("I live in Ulm.", "~Actually, I never lived in Ulm. I live in Augsburg."),
        "Where do I live?",
        ("Augsburg",),
        ("Ulm",),
    ),
    Dialogue(
        ("My sister is called Ingrid.", "~Scratch that. My sister's name is Sigrid."),
        "What's my sister's name?",
        ("Sigrid",),
        ("Ingrid",),
    ),
    Dialogue(
        ("I work at Acme.", "~I left Acme.", "I'm back at Acme."),
        "Who do I work for?",
        ("Acme",),
    ),
    Dialogue(
        ("I'm a vegetarian.", "~I'm not a vegetarian anymore."),
        "Suggest something for lunch.",
        stale=("vegetarian",),
    ),
    Dialogue(
        ("I love steak.", "~I no longer eat meat."),
        "What's for dinner?",
        ("meat",),
    ),
    Dialogue(("I'm vegetarian now.",), "What's for dinner tonight?", ("vegetarian",)),
    Dialogue(
        ("I drink four cups of coffee a day.", "~I stopped drinking coffee."),
        "What can I drink with breakfast?",
        ("coffee",),
    ),
    Dialogue(("I can't stand mushrooms.",), "Cook something for me.", ("mushrooms",)),
    Dialogue(("I have a peanut allergy.",), "Can you suggest a snack for the trip?", ("peanut",)),
    Dialogue(
        ("I'm lactose intolerant.", "I love pistachio ice cream."),
        "Which dessert should I order?",
        ("lactose",),
    ),
    Dialogue(
        ("She told me to forget that I'm allergic to walnuts.", "I'm allergic to walnuts."),
        "What am I allergic to?",
        ("walnuts",),
    ),
    Dialogue(
        ("I'm allergic to shellfish.", "Did I say I'm allergic to shellfish?"),
        "Do I have allergies?",
        ("shellfish",),
    ),
    Dialogue(
        ("I live in Leeds.", "If I no longer lived in Leeds, I'd be happier."),
        "Which city is my home?",
        ("Leeds",),
    ),
    Dialogue(
        ("My dog is called Biscuit.", "~Biscuit died last week."),
        "Which pets do I have?",
        stale=(),
        current=("died",),
    ),
    Dialogue(
        (
            "We have a cat named Olive.",
            "~We had to give Olive away.",
            "We got a puppy, his name is Rufus.",
        ),
        "What is my pet called?",
        ("Rufus",),
    ),
    Dialogue(
        ("My girlfriend is Hannah.", "~Hannah and I broke up."),
        "Who is my partner?",
        stale=("girlfriend is Hannah", "partner: Hannah"),
    ),
    Dialogue(
        ("My manager is Mr. Okoye.", "My new manager is Lena Fuchs."),
        "Who is my manager?",
        ("Lena Fuchs",),
        ("Okoye",),
    ),
    Dialogue(
        (
            "I'm training for the Berlin marathon.",
            "~I'm not running the Berlin marathon after all.",
        ),
        "What are my plans for sport?",
        current=("after all",),
    ),
    Dialogue(
        ("I have a dentist appointment on Friday.", "~The dentist appointment is cancelled."),
        "Which appointments do I have?",
        current=("cancelled",),
    ),
    Dialogue(
        ("I like olives.", "~I don't like olives anymore.", "I like olives again."),
        "Do I like olives on my pizza?",
        ("like",),
    ),
    Dialogue(
        ("I prefer tea.", "~Actually I prefer coffee these days.", "~No wait, I'm back to tea."),
        "What should I have to drink?",
        ("tea",),
    ),
    Dialogue(
        ("I take metformin every morning.", "~My doctor took me off metformin."),
        "What medication do I take?",
        current=("off metformin",),
    ),
    Dialogue(
        ("I have asthma.", "~That's not true anymore."),
        "Which illnesses do I have?",
        stale=("asthma",),
    ),
    Dialogue(
        ("I play the cello.", "~I gave up the cello.", "I picked up the cello again."),
        "Which instrument do I play?",
        ("cello",),
    ),
    Dialogue(
        ("I smoke.", "~I quit smoking in March."),
        "Do I smoke?",
        ("quit",),
    ),
    Dialogue(
        (
            "I live in Bristol with my wife Joan.",
            "We moved to Cardiff.",
            "~We moved back to Bristol.",
        ),
        "Where is home for me now?",
        ("Bristol",),
        (),
    ),
    Dialogue(
        ("My phone number is 555 0143.", "~That number was wrong, it's 555 0199."),
        "What's my phone number?",
        ("555 0199",),
        ("555 0143",),
    ),
    Dialogue(
        ("My birthday is on May 4.", "~Sorry, my birthday is on May 14."),
        "When is my birthday?",
        ("May 14",),
    ),
    Dialogue(
        ("I'm allergic to cats.", "My brother Tom says he's not allergic to cats anymore."),
        "What am I allergic to?",
        ("allergic to cats",),
    ),
    Dialogue(
        ("I hate cilantro.", "~I take back what I said about cilantro, I don't hate it."),
        "Which herbs should I avoid when cooking?",
        stale=("hate cilantro.", "dislikes: cilantro"),
    ),
    Dialogue(
        ("I work at Globex as a welder.", "~I no longer work at Globex.", "I work at Initech now."),
        "What's my job?",
        ("Initech",),
        ("at Globex as",),
    ),
    Dialogue(
        ("My daughter Mia goes to Hill School.", "My son is called Ben."),
        "What are my children called?",
        ("Mia", "Ben"),
    ),
    Dialogue(
        ("I speak Italian.", "~I said I speak Italian, that was a joke."),
        "Which languages do I speak?",
        stale=("Italian",),
    ),
    Dialogue(
        ("I've got two kids.", "I don't eat pork.", "I eat gluten-free."),
        "Plan a menu for Sunday.",
        ("pork", "gluten"),
    ),
    Dialogue(
        ("I drive a Volvo.", "~I sold the Volvo."),
        "Which car do I drive?",
        current=("sold",),
    ),
    Dialogue(
        ("I'm going to Lisbon in May.", "~I'm not going to Lisbon anymore."),
        "What trips have I planned?",
        current=("anymore",),
    ),
    Dialogue(
        ("Never suggest fish to me.", "I'm on a low-salt diet."),
        "What could I cook for my parents on Saturday?",
        ("fish", "low-salt"),
    ),
    Dialogue(
        ("I'm allergic to latex.", "~Please delete that I'm allergic to latex."),
        "Any allergies the dentist should know of?",
        stale=("latex",),
    ),
)

GERMAN: tuple[Dialogue, ...] = (
    Dialogue(
        (
            "Ich bin gegen Walnüsse allergisch.",
            "~Vergiss, dass ich gegen Walnüsse allergisch bin.",
        ),
        "Welche Allergien habe ich?",
        stale=("Walnüsse",),
    ),
    Dialogue(("Ich esse kein Fleisch mehr.",), "Was koche ich heute?", ("Fleisch",)),
    Dialogue(("Ich bin jetzt Vegetarierin.",), "Was gibt es zum Abendessen?", ("Vegetarier",)),
    Dialogue(
        ("Ich wohne in Ulm.", "~Ich habe nie in Ulm gewohnt.", "Ich wohne in Kempten."),
        "Wo wohne ich?",
        ("Kempten",),
        ("Ulm",),
    ),
    Dialogue(("Ich habe eine Nussallergie.",), "Was soll ich backen?", ("Nuss",)),
    Dialogue(
        (
            "Ich arbeite bei Siemens.",
            "~Ich arbeite nicht mehr bei Siemens.",
            "Ich bin jetzt bei Bosch.",
        ),
        "Bei welcher Firma arbeite ich?",
        ("Bosch",),
    ),
    Dialogue(
        ("Mein Hund heißt Bello.", "~Das stimmt nicht, mein Hund heißt Balu."),
        "Wie heißt mein Hund?",
        ("Balu",),
        ("Bello",),
    ),
    Dialogue(("Ich vertrage keine Laktose.",), "Welchen Nachtisch soll ich machen?", ("Laktose",)),
    Dialogue(
        ("Ich trinke gern Kaffee.", "~Ich trinke keinen Kaffee mehr."),
        "Was soll ich zum Frühstück trinken?",
        ("Kaffee",),
    ),
    Dialogue(
        ("Meine Freundin heißt Clara.", "~Clara und ich haben uns getrennt."),
        "Wer ist meine Partnerin?",
        ("getrennt",),
    ),
    Dialogue(
        (
            "Ich bin gegen Pollen allergisch.",
            "Habe ich gesagt, dass ich gegen Pollen allergisch bin?",
        ),
        "Wogegen bin ich allergisch?",
        ("Pollen",),
    ),
    Dialogue(
        ("Ich mag Oliven.", "~Ich mag doch keine Oliven."),
        "Passen Oliven auf meine Pizza?",
        stale=("likes: Oliven",),
        current=("Oliven",),
    ),
    Dialogue(
        ("Ich ziehe nach Graz.", "~Aus dem Umzug nach Graz wird nichts."),
        "Welche Pläne habe ich?",
        ("nichts",),
    ),
    Dialogue(
        ("Meine Chefin ist Frau Weber.", "Meine neue Chefin heißt Anna Kraus."),
        "Wer ist meine Chefin?",
        ("Anna Kraus",),
        ("Weber",),
    ),
    Dialogue(
        (
            "Ich bin gegen Erdbeeren allergisch.",
            "~Das war falsch, ich bin nicht gegen Erdbeeren allergisch.",
        ),
        "Habe ich Allergien?",
        stale=("Erdbeeren",),
    ),
    Dialogue(
        ("Ich spiele Geige.", "~Ich spiele nicht mehr Geige.", "Ich spiele wieder Geige."),
        "Welches Instrument spiele ich?",
        ("Geige",),
    ),
    Dialogue(
        ("Mein Bruder sagt, er wohnt nicht mehr in Kiel.", "Ich wohne in Kiel."),
        "Wo wohne ich?",
        ("Kiel",),
    ),
    Dialogue(
        ("Ich hasse Rosenkohl.", "Ich esse vegan."),
        "Koch mir etwas Leckeres.",
        ("Rosenkohl", "vegan"),
    ),
    Dialogue(
        ("Ich habe am Montag einen Termin beim Zahnarzt.", "~Der Termin beim Zahnarzt fällt aus."),
        "Welche Termine habe ich?",
        ("fällt aus",),
    ),
    Dialogue(
        ("Ich nehme Ibuprofen.", "~Ich nehme kein Ibuprofen mehr."),
        "Welche Medikamente nehme ich?",
        stale=("nehme Ibuprofen",),
    ),
)
