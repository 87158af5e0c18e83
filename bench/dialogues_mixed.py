"""Forty mixed dialogues: work, shopping, health, travel, family and support, with 2 to 4 questions.

They were written before their writer read the rules, as people type to an assistant: lower case,
typos, several facts in a sentence, corrections, hedges, jokes, quotes, suppositions and what is so
of others. A turn that begins with `~` takes back or ends something, as in `dialogues.py`.
"""

from __future__ import annotations

from typing import NamedTuple


class Query(NamedTuple):
    """A question, and what a context for it needs, whatever the case of its letters."""

    question: str
    current: tuple[str, ...] = ()  # to be shown
    stale: tuple[str, ...] = ()  # not to be shown, but in the words of a turn with `~`
    invented: tuple[str, ...] = ()  # not to be shown, but in the words of any turn


class Talk(NamedTuple):
    """What one person says on successive days, and what is asked after the last."""

    turns: tuple[str, ...]
    queries: tuple[Query, ...]


ENGLISH: tuple[Talk, ...] = (
    Talk(
        (
            "quick intro: I'm a nurse at St. Vincent's, been there since 2019",
            "my coworker Dana works nights at Mercy General and she hates it",
            "~got the transfer!! starting next month I'm on the day shift instead of nights",
            "we use Epic for charting, password resets go through Trevor in IT",
        ),
        (
            Query("Where do I work?", ("St. Vincent",), invented=("Mercy",)),
            Query("Which shift will I be on next month?", ("day shift",)),
            Query("Who do I call when I'm locked out of Epic?", ("Trevor",)),
        ),
    ),
    Talk(
        (
            "I bought a Bosch dishwasher from Currys last week, order no. 88213",
            "it makes a grinding noise and the bottom tray doesn't get water",
            "~the technician came yesterday, it was a stuck spoon. works fine now",
            "if I'd known, I would have bought a Miele",
        ),
        (
            Query("What's my order number for the dishwasher?", ("88213",)),
            Query("Is the dishwasher still broken?", ("works fine",)),
            Query("Which dishwasher do I own?", ("Bosch",), invented=("Miele",)),
        ),
    ),
    Talk(
        (
            "I was diagnosed with type 2 diabetes in 2021 and I take metformin 500 twice a day",
            "my dad has high blood pressure, he takes ramipril",
            "~the doc upped my metformin to 1000 mg since the last checkup",
            "I sometimes get dizzy when I skip breakfast",
        ),
        (
            Query("What medication do I take?", ("metformin", "1000"), invented=("ramipril",)),
            Query("Which conditions do I have?", ("diabetes",), invented=("blood pressure",)),
            Query("When do I get dizzy?", ("skip breakfast",)),
        ),
    ),
    Talk(
        (
            "planning a trip to Japan in April with my husband Raj, we land in Osaka on the 3rd",
            "Raj is vegetarian so we need restaurants that work for him. I eat everything",
            "~change of plans: we're flying into Tokyo, not Osaka, same date",
            "our budget is about 4,000 pounds for two weeks",
        ),
        (
            Query("Where do we land in Japan?", ("Tokyo",), ("Osaka on",)),
            Query("Am I vegetarian?", ("eat everything",), invented=("ann | diet = vegetarian",)),
            Query("What's our budget for the trip?", ("4,000",)),
        ),
    ),
    Talk(
        (
            "my kids are Leo (8) and Nina (5), Leo plays football on tuesdays",
            "Nina started ballet this week, thursdays at 4",
            "~Leo quit football, he does judo on mondays now",
            "my sister's boy Max plays football too",
        ),
        (
            Query("What sport does Leo do?", ("judo",), ("Leo plays football",)),
            Query("When is Nina's ballet class?", ("thursdays",)),
            Query("What are my children called?", ("Leo", "Nina"), invented=("child = Max",)),
        ),
    ),
    Talk(
        (
            "my laptop is a thinkpad x1 carbon gen 9 running ubuntu 22.04",
            "wifi drops every hour or so since the last kernel update",
            "~I went back to kernel 5.15 and the wifi is stable again",
            "~upgraded to ubuntu 24.04 yesterday, all good",
        ),
        (
            Query("Which version of ubuntu do I run?", ("24.04",), ("22.04",)),
            Query("What laptop do I have?", ("thinkpad",)),
            Query("How did I get the wifi to work?", ("5.15",)),
        ),
    ),
    Talk(
        (
            "I sold my car in january and bought an e-bike, a Gazelle",
            "I might get a motorbike licence one day, who knows",
            "~the Gazelle got stolen on friday :(",
            "insurance paid 1,800 for it",
        ),
        (
            Query("How do I get around, do I have a bike?", ("stolen",)),
            Query("How much did the insurance pay?", ("1,800",)),
            Query("Do I have a motorbike?", invented=("motorbike",)),
        ),
    ),
    Talk(
        (
            "i live in a 2 bed flat in hackney with my gf maya and our dog pickle",
            "~me and maya split up, she moved out on sunday",
            "pickle stays with me tho",
            "my rent is 1650 a month, due on the 1st",
        ),
        (
            Query("Who do I live with?", ("split up", "pickle"), ("with my gf maya",)),
            Query("When is my rent due?", ("1st",)),
            Query("What's my dog's name?", ("pickle",)),
        ),
    ),
    Talk(
        (
            "I'm the product manager for checkout, my team is Ines, Bo and Karthik",
            "the release is planned for March 12",
            "~release slipped to March 26 because of the payment audit",
            "Bo said he's quitting but he was joking",
            "~Ines moved to the search team, Priya took her place",
        ),
        (
            Query("When is the release?", ("March 26",), ("March 12",)),
            Query("Why did the release slip?", ("audit",)),
            Query("Who is on my team?", ("Priya",), ("team is Ines",)),
        ),
    ),
    Talk(
        (
            "I've got a gluten thing, not celiac, just sensitive",
            "my shoe size is 9.5 uk and I wear medium shirts",
            "~I've gone up to a large in shirts lol",
            "I can't wear wool, it itches",
        ),
        (
            Query("What size shirt should I order?", ("large",), ("medium",)),
            Query("What's my shoe size?", ("9.5",)),
            Query("Would a wool jumper suit me?", ("wool",)),
            Query("What should a baker know about me?", ("gluten",)),
        ),
    ),
    Talk(
        (
            "Mum's 70th is on June 14, we're throwing a party at the Old Mill",
            "~the Old Mill is booked out so it's at Aunt Vera's garden now",
            "Mum is allergic to lilies, no lilies please",
            "I'm in charge of the cake: lemon, 40 people",
        ),
        (
            Query("Where is mum's party?", ("Vera",), ("party at the Old Mill",)),
            Query("Which flowers can't we have at the party?", ("lilies",)),
            Query("Do I have allergies?", invented=("lilies",)),
            Query("How many people is the cake for?", ("40",)),
        ),
    ),
    Talk(
        (
            "I start at Deloitte on the 1st of March, quitting Asda end of feb",
            "my new boss will be someone called Fiona Grant",
            "~Deloitte pulled the offer. so I'm staying at Asda for now",
        ),
        (
            Query("Where do I work?", ("Asda",), invented=("Deloitte",)),
            Query("What happened with Deloitte?", ("pulled the offer",)),
        ),
    ),
    Talk(
        (
            "I run 10k three times a week, best time 48:20",
            "hurt my left knee on saturday, physio says no running for six weeks",
            "I swim instead, at the Tooting lido",
            "~physio cleared me today, I can run again!",
        ),
        (
            Query("Am I allowed to run?", ("cleared",)),
            Query("What's my best 10k time?", ("48:20",)),
            Query("Where do I go swimming?", ("Tooting",)),
        ),
    ),
    Talk(
        (
            "can you help me pick a phone? i have an iphone 11, battery is dying",
            "budget is max 600 euros and i dont want anything bigger than 6.2 inch",
            "~ok i ordered the pixel 9a, arrives tuesday",
            "my brother swears by samsung but i cant stand their software",
        ),
        (
            Query("Which phone did I order?", ("pixel 9a",)),
            Query("What phone brand do I dislike?", ("samsung",)),
            Query("How big may a phone be for me?", ("6.2",)),
        ),
    ),
    Talk(
        (
            "My name is Siobhan, everyone gets the spelling wrong. Please call me Shiv",
            "I grew up in Cork but I've lived in Toronto for ten years now",
            "I'm a landscape architect, self employed",
            "honestly if I won the lottery I'd move to Crete and paint all day",
        ),
        (
            Query("What should you call me?", ("Shiv",)),
            Query("Where do I live?", ("Toronto",), invented=("Crete",)),
            Query("Where did I grow up?", ("Cork",)),
            Query("What do I do for a living?", ("landscape architect",)),
        ),
    ),
    Talk(
        (
            "I have a meeting with the bank on Wednesday about the mortgage",
            "~bank moved it to next Monday at 10",
            "the flat costs 315k, we put down 60k",
            "my wife Elena thinks the 5 year fix is better, I'd rather have 2 years",
        ),
        (
            Query("When is my meeting with the bank?", ("Monday",), ("on Wednesday",)),
            Query("What deposit do we pay for the flat?", ("60k",)),
            Query("Which fix do I prefer?", ("2 years",)),
        ),
    ),
    Talk(
        (
            "I've been sober for 14 months, please don't suggest bars or wine",
            'my therapist said "you are allowed to be angry" and it stuck with me',
            "therapy is every other Tuesday at 5:30",
            "~we moved therapy to Thursdays, same time",
        ),
        (
            Query("Where could I take a date on Saturday?", ("sober",)),
            Query("Which day is therapy?", ("Thursdays",), ("every other Tuesday",)),
        ),
    ),
    Talk(
        (
            "we're vegan at home, though my son eats cheese at his friend's place",
            "our oven is broken so only stovetop recipes pls",
            "~oven's fixed!",
            "also no coriander, tastes like soap to me",
        ),
        (
            Query("What can I cook tonight?", ("vegan", "coriander")),
            Query("Can I bake something?", ("fixed",)),
        ),
    ),
    Talk(
        (
            "I'm thinking about learning either Spanish or Portuguese, leaning Portuguese",
            "I already speak Dutch and a bit of French",
            "~signed up for a Portuguese course, starts on the 2nd, every wednesday evening",
            "my colleague Joris speaks Mandarin, so jealous",
        ),
        (
            Query("Which languages do I speak?", ("Dutch", "French"), invented=("Mandarin",)),
            Query("Which course did I sign up for?", ("Portuguese",)),
            Query("When is my course?", ("wednesday",)),
        ),
    ),
    Talk(
        (
            "our cat Miso is diabetic and gets insulin twice a day",
            "the vet is Dr. Hallam on Green Lane, 020 7946 0011",
            "~Miso doesn't need insulin any more, diet food only",
            "I'm not a dog person at all",
        ),
        (
            Query("Does Miso still get insulin?", ("diet food",), ("gets insulin",)),
            Query("What's the vet's phone number?", ("7946",)),
            Query("Do I have diabetes?", invented=("diabet",)),
        ),
    ),
    Talk(
        (
            "The server room code is changing. Our staging box is at 10.0.4.17, prod at 10.0.4.20",
            "we deploy with Ansible on Fridays (I know, I know)",
            "~we stopped deploying on Fridays, it's Tuesdays now",
            "~staging moved to 10.0.7.3",
            "someone suggested Kubernetes, over my dead body",
        ),
        (
            Query("What's the IP of staging?", ("10.0.7.3",), ("10.0.4.17",)),
            Query("When do we deploy?", ("Tuesdays",), ("on Fridays (",)),
            Query("What do we use to deploy?", ("Ansible",), invented=("Kubernetes",)),
        ),
    ),
    Talk(
        (
            "im 34 weeks pregnant, due date is march 21, its a girl",
            "we wanna call her Juniper but dont tell my mother in law",
            "~baby came early!! born on saturday, 2.6 kg, both fine",
            "I'm on maternity leave until september",
        ),
        (
            Query("Am I still pregnant?", ("born on saturday",)),
            Query("Until when am I on leave?", ("september",)),
            Query("What's the name for the baby?", ("Juniper",)),
        ),
    ),
    Talk(
        (
            "I cancelled Netflix and got Disney+ for the kids, 9.99 a month",
            "my Spotify is on the family plan, paid by my dad",
            "~I quit the gym as well, too expensive at 55 a month",
            "~Actually scratch the Disney one, I went with Apple TV",
        ),
        (
            Query("Am I a member of a gym?", ("quit the gym",)),
            Query("Which streaming service do I have for films?", ("Apple TV",)),
            Query("Who pays for my Spotify?", ("dad",)),
        ),
    ),
    Talk(
        (
            "Hi! I teach year 4 at Oakfield Primary, 27 kids in my class",
            "~two kids left so it's 25 now",
            "three of them have nut allergies, so no nuts at the bake sale",
            "our school trip goes to the Science Museum on May 8",
        ),
        (
            Query("How many pupils are in my class?", ("25",), ("27",)),
            Query("Where is the school trip going?", ("Science Museum",)),
            Query("What must I not bring to the bake sale?", ("nuts",)),
            Query("Am I allergic to nuts?", invented=("nut",)),
        ),
    ),
    Talk(
        (
            "I have two accounts, Monzo for daily stuff and Barclays for savings",
            "~closed the Barclays one, savings are with Chase now",
            "my credit card is due on the 17th every month",
            "saving for a campervan, 8k so far, need 20k",
        ),
        (
            Query("Where are my savings?", ("Chase",), ("Barclays for savings",)),
            Query("When is the card due?", ("17th",)),
            Query("What am I saving for?", ("campervan",)),
        ),
    ),
    Talk(
        (
            "i'm moving to leeds in june, found a flatshare near hyde park",
            "~leeds fell through, staying in sheffield another year",
            "my flatmate owen is moving to leeds tho lol",
            "i work part time at a record shop called Bear Tree",
        ),
        (
            Query("Where do I live?", ("sheffield",), invented=("home = leeds",)),
            Query("Where do I work?", ("Bear Tree",)),
            Query("Am I moving to Leeds?", ("fell through",)),
        ),
    ),
)

GERMAN: tuple[Talk, ...] = (
    Talk(
        (
            "ich bin Erzieherin in einer Kita in Freiburg, 30 Stunden die Woche",
            "mein Mann Jonas arbeitet bei der Sparkasse",
            "~ab April stocke ich auf 38 Stunden auf",
            "unsere Tochter Lotta kommt im Herbst in die Schule",
        ),
        (
            Query("Wie viele Stunden arbeite ich?", ("38",), ("30 Stunden",)),
            Query(
                "Was bin ich von Beruf?", ("Erzieherin",), invented=("ann | employer = Sparkasse",)
            ),
            Query("Wie heißt meine Tochter?", ("Lotta",)),
        ),
    ),
    Talk(
        (
            "Ich habe Zöliakie, also bitte nichts mit Weizen",
            "Meine Mitbewohnerin Pia isst kein Schweinefleisch",
            "Mein Herd hat nur zwei Platten",
            "~Wir haben jetzt einen neuen Herd mit Backofen!",
        ),
        (
            Query("Was könnte ich heute kochen?", ("Zöliakie",)),
            Query("Habe ich einen Backofen?", ("Backofen",)),
            Query("Was isst Pia nicht?", ("Schweinefleisch",)),
        ),
    ),
    Talk(
        (
            "wir fahren im Juli nach Dänemark, Ferienhaus bei Blåvand vom 4. bis 18.",
            "~das Haus ist doch erst ab dem 11. frei, wir bleiben bis zum 25.",
            "der Hund kommt mit, er heißt Kalle und ist ein Dackel",
            "vielleicht kommt meine Schwester auch, ist noch nicht sicher",
        ),
        (
            Query("Ab wann sind wir in Dänemark?", ("11.",), ("4. bis 18.",)),
            Query("Wie heißt unser Hund?", ("Kalle",)),
            Query("Kommt meine Schwester mit?", ("nicht sicher",)),
        ),
    ),
    Talk(
        (
            "Mein Auto ist ein alter Golf, Baujahr 2009, der TÜV läuft im Mai ab",
            "~Ich habe mein Auto verkauft, 1.900 Euro hab ich noch gekriegt",
            "Ich fahre jetzt mit der Bahn, Deutschlandticket",
            "Wenn ich im Lotto gewinne, kaufe ich mir einen Porsche",
        ),
        (
            Query("Habe ich ein Auto?", ("verkauft",), ("Auto ist ein alter Golf",), ("Porsche",)),
            Query("Wie komme ich zur Arbeit?", ("Bahn",)),
            Query("Wie viel habe ich für das Auto bekommen?", ("1.900",)),
        ),
    ),
    Talk(
        (
            "ich hab ne Penicillinallergie, und gegen Katzen auch, glaub ich",
            "mein Hausarzt ist Dr. Brandt in der Lindenstraße",
            "~ich war beim Allergologen: gegen Katzen bin ich nicht allergisch",
            "mein Sohn Emil hat Neurodermitis",
        ),
        (
            Query("Wogegen bin ich allergisch?", ("Penicillin",), invented=("Katzen",)),
            Query("Wer ist mein Hausarzt?", ("Brandt",)),
            Query("Welche Krankheiten habe ich?", invented=("Neurodermitis",)),
        ),
    ),
    Talk(
        (
            "Ich leite das Projekt Nordstern, Abgabe ist am 30. April",
            "~Der Kunde hat die Abgabe auf den 15. Mai verschoben",
            "Im Team sind Svenja und Marek, Marek ist aber noch zwei Wochen in Elternzeit",
            "Der Chef meinte, wir sollen das Budget nicht überziehen: 45.000 Euro",
        ),
        (
            Query("Wann ist die Abgabe von Nordstern?", ("15. Mai",), ("30. April",)),
            Query("Wie hoch ist das Budget?", ("45.000",)),
            Query("Wer fehlt gerade im Team?", ("Marek",)),
        ),
    ),
    Talk(
        (
            "Ich suche ein Fahrrad für meine Tochter, sie ist 7 und 1,25 m groß",
            "bis 300 Euro, gern gebraucht",
            "~hat sich erledigt, wir haben eins von Woom bekommen",
            "Mein Mann meinte zum Spaß, er will auch eins in Pink",
        ),
        (
            Query("Brauchen wir noch ein Fahrrad?", ("erledigt",)),
            Query("Wie groß ist meine Tochter?", ("1,25",)),
        ),
    ),
    Talk(
        (
            "mein drucker (hp envy 6000) wird im wlan nicht gefunden",
            "router ist eine fritzbox 7590, die hab ich schon neu gestartet",
            "~nach dem firmware update geht der drucker wieder",
            "der pc meiner mutter hat noch windows 10, ich selber hab nen mac",
        ),
        (
            Query("Welchen Router habe ich?", ("7590",)),
            Query("Geht mein Drucker?", ("geht der drucker wieder",)),
            Query("Welchen Computer benutze ich?", ("mac",)),
        ),
    ),
    Talk(
        (
            "Ich trainiere dienstags und donnerstags im Ruderverein in Köln",
            "~ich habe den Ruderverein gekündigt, mein Rücken macht nicht mehr mit",
            "stattdessen mache ich Pilates bei Frau Sommer, mittwochs um 18 Uhr",
            "Früher habe ich in Bonn gewohnt, jetzt in Köln-Ehrenfeld",
        ),
        (
            Query("Welchen Sport mache ich?", ("Pilates",), ("donnerstags im Ruderverein",)),
            Query("Wo wohne ich?", ("Ehrenfeld",)),
            Query("Warum habe ich den Ruderverein gekündigt?", ("Rücken",)),
        ),
    ),
    Talk(
        (
            "Hab meinen Job bei Zalando gekündigt, am 31.3. ist mein letzter Tag",
            "Danach fange ich bei der Stadt Potsdam an, als Sachbearbeiterin",
            "meine Kollegin Gül geht auch, zu Otto nach Hamburg",
            "mein Lieblingsessen ist Königsberger Klopse, aber ohne Kapern",
        ),
        (
            Query("Wo fange ich nach dem März an?", ("Potsdam",)),
            Query("Was esse ich am liebsten?", ("Klopse", "ohne Kapern")),
            Query("Wo arbeite ich?", invented=("Otto",)),
        ),
    ),
    Talk(
        (
            "Meine Freundin Jule und ich heiraten am 22. August in Lüneburg",
            "eingeladen sind 80 Leute",
            "~wir haben noch 15 dazu eingeladen, es sind jetzt 95",
            "keine Rosen bitte, Jule hasst Rosen",
            "Trauzeuge ist mein Bruder Henrik",
        ),
        (
            Query("Wie viele Gäste kommen zur Hochzeit?", ("95",), ("80 Leute",)),
            Query("Welche Blumen sollen wir nicht nehmen?", ("Rosen",)),
            Query("Wer ist mein Trauzeuge?", ("Henrik",)),
        ),
    ),
    Talk(
        (
            "Ich nehme seit Jahren Blutdrucktabletten, Bisoprolol 5 mg",
            "~der Arzt hat Bisoprolol abgesetzt, jetzt nehme ich Ramipril",
            "meine Frau nimmt Schilddrüsentabletten",
            "nächste Kontrolle ist am 9. März",
        ),
        (
            Query("Welche Medikamente nehme ich?", ("Ramipril",), invented=("Schilddrüsen",)),
            Query("Wann ist die nächste Kontrolle?", ("9. März",)),
        ),
    ),
    Talk(
        (
            "Wir suchen eine Wohnung in Leipzig, 3 Zimmer, bis 1100 warm",
            "~ab sofort bis 1250 warm, billiger findet man nichts",
            "Haustiere: zwei Meerschweinchen",
            "in Grünau wollen wir nicht wohnen",
            "meine Mutter wohnt in Halle",
        ),
        (
            Query("Wie viel Miete können wir zahlen?", ("1250",), ("bis 1100",)),
            Query("Wo wollen wir nicht hin?", ("Grünau",)),
            Query("Welche Haustiere haben wir?", ("Meerschweinchen",)),
            Query("Wo wohne ich?", invented=("ann | home = Halle",)),
        ),
    ),
    Talk(
        (
            "mein arzt sagt ich soll weniger salz essen, hab bluthochdruck",
            "ich koche meistens abends für zwei, für mich und meinen vater",
            "~vater ist wieder zu hause, ich koche nur noch für mich",
            "tomaten vertrag ich nicht so gut",
        ),
        (
            Query("Für wie viele Personen koche ich?", ("nur noch für mich",), ("für zwei",)),
            Query("Worauf soll ich beim Essen achten?", ("salz", "tomaten")),
        ),
    ),
)
