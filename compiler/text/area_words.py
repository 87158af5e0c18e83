"""The words of everyday fields, in English and in German, and what people eat and drink.

A question and a slot are of a field if they hold a word of it. A taste is of the field that its
value speaks of: "User dislikes mushrooms" is about food, and no word of the slot says so. Names of
foods tell that of a taste alone, as many of them mean something else in a question: an apple, a
turkey, a date.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

WORDS: Final = MappingProxyType(
    {
        "film": "film movie cinema actor actress director series show episode watch watched "
        "streaming documentary screen television tv western thriller sitcom "
        "Film Filme Filmen Kino Serie Serien Regisseur Regisseurin Schauspieler Schauspielerin "
        "Fernsehen Doku Dokumentation Dokumentationen Krimi Krimis Komödie Komödien Stummfilme "
        "Horrorfilme",
        "music": "music song songs album artist band singer concert playlist listen listened "
        "genre track melody composer jazz "
        "Musik Lied Lieder Sänger Sängerin Konzert Konzerte Komponist Band",
        "books": "books book novel author reading read literature library writer poem poetry "
        "bestseller story "
        "Buch Bücher Roman Romane Autor Autorin lesen Lektüre Literatur Gedicht Gedichte",
        "food": "food meal eat eating cook cooking recipe dish restaurant dinner lunch breakfast "
        "cuisine snack ingredient drink coffee tea vegetarian vegan allergy diet supper brunch "
        "menu dessert bake baking barbecue bbq groceries grocery picnic takeaway takeout "
        "hungry appetizer starter beverage "
        "essen Essen esse isst kochen koche kocht backen backe Rezept Rezepte Gericht Gerichte "
        "Mahlzeit Abendessen Abendbrot Mittagessen Mittag Frühstück frühstücken Restaurant "
        "Nachtisch Dessert Vorspeise Hauptgang Beilage Speise Speisen Speisekarte Menü Imbiss "
        "Snack Zutaten Zutat trinken trinke trinkt Getränk Getränke Kaffee Tee Hunger hungrig "
        "grillen Picknick vegetarisch Vegetarier Vegetarierin Veganer Veganerin Allergie Diät "
        "Ernährung Kuchen Pizza Einkaufsliste",
        "travel": "travel trip vacation holiday destination visit visited place region climate "
        "country city flight hotel tour beach journey sightseeing "
        "Reise Reisen reisen Urlaub Ferien Reiseziel Flug Hotel Strand Ausflug",
        "sport": "sport workout exercise gym run running training fitness team match steps hike "
        "hiking yoga swim "
        "Sport Training trainieren Fitness laufen joggen wandern schwimmen Verein",
        "health": "health doctor medicine medication allergy symptom sleep therapy illness "
        "Gesundheit Arzt Ärztin Medikament Medikamente Allergie Krankheit Krankheiten Schlaf "
        "Therapie Symptome",
        "shopping": "shop shopping buy purchase price brand gift store budget "
        "einkaufen kaufen Geschenk Geschenke Laden Preis Marke",
        "home": "home house apartment garden furniture kitchen room decoration "
        "Wohnung Haus Zuhause Garten Möbel Küche Zimmer",
        "style": "clothes clothing fashion wear outfit shoes style colour color dress "
        "Kleidung Mode Schuhe Outfit Farbe Kleid",
        "games": "game games play player puzzle console board Spiel Spiele spielen Brettspiel",
        "work": "work job office meeting colleague project career deadline "
        "Arbeit Beruf Büro Besprechung Kollege Kollegin Projekt Karriere",
        "learning": "learn learning course study lesson language school university teach "
        "lernen Kurs Studium Schule Universität Sprache",
        "technology": "computer phone software app device laptop programming code tool editor "
        "Rechner Handy Gerät programmieren",
        "money": "money expense spending savings bank invoice cost budget salary "
        "Geld Ausgaben Rechnung Kosten Gehalt sparen",
    }
)

FOODS: Final = (
    "food meat beef pork lamb chicken turkey duck bacon ham sausage steak burger fish salmon tuna "
    "cod herring anchovy shellfish shrimp prawn crab lobster oyster mussel squid seafood sushi egg "
    "milk cheese butter cream yogurt yoghurt dairy lactose gluten wheat rye bread toast pasta "
    "noodle spaghetti rice quinoa oat cereal porridge potato fries tomato onion garlic pepper "
    "chili mushroom olive caper cucumber carrot celery broccoli cauliflower cabbage kale spinach "
    "lettuce salad beetroot radish pumpkin squash zucchini courgette aubergine eggplant asparagus "
    "artichoke bean lentil chickpea pea corn tofu soy soya avocado apple pear peach plum cherry "
    "grape melon banana pineapple mango kiwi lemon lime orange grapefruit strawberry raspberry "
    "blueberry berry fruit fig date raisin coconut vegetable nut peanut walnut almond cashew "
    "hazelnut pistachio sesame honey sugar chocolate candy sweet liquorice licorice cake cookie "
    "biscuit pie pastry ice gelato soup stew curry sauce mayonnaise mustard ketchup vinegar spice "
    "cilantro coriander parsley basil dill mint ginger cinnamon salt oil coffee espresso tea juice "
    "soda cola water wine beer whisky whiskey vodka alcohol caffeine pizza taco ramen dumpling "
    "tapas kebab falafel hummus kimchi spicy sprout leek turnip offal liver "
    "Fleisch Rind Rindfleisch Schwein Schweinefleisch Huhn Hähnchen Pute Ente Speck Schinken Wurst "
    "Fisch Lachs Thunfisch Hering Sardellen Meeresfrüchte Krabben Garnelen Muscheln Ei Eier Milch "
    "Käse Sahne Joghurt Quark Laktose Weizen Brot Brötchen Nudeln Reis Hafer Kartoffeln Tomaten "
    "Zwiebeln Knoblauch Paprika Pilze Champignons Oliven Kapern Gurken Karotten Möhren Sellerie "
    "Brokkoli Blumenkohl Kohl Rosenkohl Grünkohl Spinat Salat Rote Bete Kürbis Zucchini Aubergine "
    "Spargel Bohnen Linsen Erbsen Mais Äpfel Birnen Pflaumen Kirschen Trauben Bananen Ananas "
    "Zitronen Orangen Erdbeeren Himbeeren Beeren Obst Gemüse Nüsse Nuss Erdnüsse Walnüsse Mandeln "
    "Haselnüsse Honig Zucker Schokolade Süßigkeiten Lakritz Kuchen Kekse Eis Suppe Eintopf Soße "
    "Senf Essig Koriander Petersilie Ingwer Zimt Kaffee Tee Saft Limonade Wein Bier Alkohol "
    "Koffein Leber Innereien"
)
"""What a taste for food is a taste for."""
