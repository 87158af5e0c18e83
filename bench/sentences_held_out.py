"""Sentences held out: no rule was made for them or mended since they were read.

Who wrote them knows the rules, so that they are plain ones and flatter; of freer wordings less is
found. A claim is written `slot: word`, `no slot: word` or `past slot: word`, with `Name's` before
it where it is somebody else's; it is found if the slot's value holds the word.
`bench_sentences.py` prints the shares.
"""

from __future__ import annotations

HeldOut = tuple[tuple[str, tuple[str, ...]], ...]

ENGLISH: HeldOut = (
    ("Good morning, my name is Renata Okafor.", ("full_name: Renata Okafor",)),
    ("Please call me Gus, nobody uses Augustus.", ("full_name: Gus",)),
    ("I work for the city library in Ghent.", ()),
    ("I'm employed at Larkspur Dairy as a driver.", ("employer: Larkspur Dairy",)),
    ("I joined Moorgate Insurance back in 2021.", ("employer: Moorgate Insurance",)),
    ("My new employer is Tern Robotics.", ("employer: Tern Robotics",)),
    ("I no longer work for Moorgate Insurance.", ("no employer: Moorgate Insurance",)),
    ("Until March I was at Copperfield Mills.", ("past employer: Copperfield Mills",)),
    ("I'm a vet and I mostly treat horses.", ("title: vet",)),
    ("I teach chemistry at Fernhill School.", ("employer: Fernhill School",)),
    ("My line manager is Bogdan Ilic.", ("manager: Bogdan Ilic",)),
    ("I live on a houseboat in Amsterdam.", ("home: Amsterdam",)),
    ("Last spring we moved from Oslo to Trieste.", ("home: Trieste",)),
    ("I'm originally from Lagos but live in Dublin these days.", ("home: Dublin",)),
    ("We no longer live in Dublin.", ("no home: Dublin",)),
    ("My wife Mireille is expecting.", ("partner: Mireille",)),
    ("My girlfriend is called Zuzana.", ("partner: Zuzana",)),
    ("Our son Teodor just started school.", ("child: Teodor",)),
    ("My parents, Ivo and Marta, visit every Easter.", ("parent: Ivo", "parent: Marta")),
    ("I've got a tortoise named Speedy.", ("pet: Speedy",)),
    ("My best friend Kwame lives in Accra.", ("friend: Kwame", "Kwame's home: Accra")),
    ("My sister Petra is allergic to cats.", ("sibling: Petra", "Petra's allergy: cats")),
    ("My uncle Lars doesn't drink alcohol.", ("Lars's avoids: alcohol",)),
    ("I adore baroque music.", ("likes: baroque music",)),
    ("I'm into birdwatching these days.", ("likes: birdwatching",)),
    ("I don't like crowded beaches.", ("dislikes: crowded beaches",)),
    ("I prefer trains to planes.", ("likes: trains",)),
    ("Mushrooms make me gag.", ("dislikes: Mushrooms",)),
    ("I no longer enjoy gardening.", ("no likes: gardening",)),
    ("I have a severe latex allergy.", ("allergy: latex",)),
    ("I can't have lactose.", ("avoids: lactose",)),
    ("I went vegan two years ago.", ("diet: vegan",)),
    ("I'm flying to Porto on 3 July.", ("plan: Porto",)),
    ("We're getting married on September 5.", ("plan: married",)),
    ("My goal is to run a half marathon.", ("goal: half marathon",)),
    ("I have an eye check-up on Monday.", ("appointment: check-up",)),
    ("The plumber comes on Thursday morning.", ("appointment: plumber",)),
    ("Remind me to call the bank tomorrow.", ("todo: call the bank",)),
    ("Always answer in French.", ("preferred_language: French",)),
    ("Keep your replies brief.", ("response_length: brief",)),
    ("My birthday is June 30.", ("birthday: June 30",)),
)  # fmt: skip

GERMAN: HeldOut = (
    ("Guten Tag, ich heiße Rüdiger Albers.", ("full_name: Rüdiger Albers",)),
    ("Du kannst mich gern Lulu nennen.", ("full_name: Lulu",)),
    ("Ich arbeite seit kurzem bei Fischer Optik.", ("employer: Fischer Optik",)),
    ("Mein neuer Arbeitgeber heißt Talbrücke GmbH.", ("employer: Talbrücke GmbH",)),
    ("Ich arbeite nicht mehr bei Fischer Optik.", ("no employer: Fischer Optik",)),
    ("Ich bin Krankenpfleger im Nachtdienst.", ("title: Krankenpfleger",)),
    ("Wir leben inzwischen in Salzburg.", ("home: Salzburg",)),
    ("Im März bin ich nach Jena gezogen.", ("home: Jena",)),
    ("Ich wohne nicht mehr in Jena.", ("no home: Jena",)),
    ("Meine Freundin heißt Paulina.", ("partner: Paulina",)),
    ("Mein Sohn Oskar kommt bald in die Schule.", ("child: Oskar",)),
    ("Wir haben einen Hund namens Fiete.", ("pet: Fiete",)),
    ("Meine Oma Gerda lebt in Cuxhaven.", ("Gerda's home: Cuxhaven",)),
    ("Mein Bruder Malte ist gegen Nüsse allergisch.", ("sibling: Malte", "Malte's allergy: Nüsse")),
    ("Ich trinke gern Kräutertee.", ("likes: Kräutertee",)),
    ("Krimis lese ich am liebsten.", ("likes: Krimis",)),
    ("Ich kann Karneval nicht leiden.", ("dislikes: Karneval",)),
    ("Oliven finde ich eklig.", ("dislikes: Oliven",)),
    ("Ich esse kein Schweinefleisch.", ("avoids: Schweinefleisch",)),
    ("Ich bin seit zwei Jahren Vegetarierin.", ("diet: Vegetarierin",)),
    ("Ich bin allergisch gegen Bienenstiche.", ("allergy: Bienenstiche",)),
    ("Morgen habe ich um acht einen Arzttermin.", ("appointment: Arzttermin",)),
    ("Am 3. Juli fahren wir nach Rügen.", ("plan: Rügen",)),
    ("Ich muss noch die Steuererklärung abgeben.", ("todo: Steuererklärung",)),
    ("Bitte antworte immer auf Englisch.", ("preferred_language: Englisch",)),
    ("Fass dich bitte kurz.", ("response_length: kurz",)),
)  # fmt: skip
