"""Everyday sentences, and what the rules of extraction take from them.

    python -P bench/bench_sentences.py [--missed] [--held-out] [--typed] [--small]

Each line of `SAID` is something that people say with the claims that are in it; each of `UNSAID`
is a question, a wish, a joke, a quotation, a plan that fell through or somebody else's word, with
none. They were written without the rules at hand and without any data set. Printed are, by kind,
the share of the claims that were found, and the sentences from which something was taken that is
not there; `--missed` lists them. `--held-out` reads those of `sentences_held_out.py` in their
place, which no rule was made for; `--typed` those of `sentences_typed.py`, in its two parts, and
lists of the first alone; `--small` those of `sentences_small.py`, likewise. Reads no data.
"""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table

from tenure.bench.sentences_held_out import ENGLISH, GERMAN, HeldOut
from tenure.bench.sentences_small import (
    ENGLISH_SMALL_DEV,
    ENGLISH_SMALL_HELD_OUT,
    GERMAN_SMALL_DEV,
    GERMAN_SMALL_HELD_OUT,
    ORDINARY,
)
from tenure.bench.sentences_typed import (
    ENGLISH_DEV,
    ENGLISH_HELD_OUT,
    GERMAN_DEV,
    GERMAN_HELD_OUT,
)
from tenure.service.extraction.rules import RuleExtractor

NOW = datetime(2026, 6, 17, 9, 30, tzinfo=UTC)  # a Wednesday

SAID: dict[str, list[tuple[str, tuple[str, ...]]]] = {
    "who": [
        ("Hi, I'm Petra Lindqvist.", ("full_name=Petra Lindqvist",)),
        ("My name's Tomas, nice to meet you.", ("full_name=Tomas",)),
        ("Everyone calls me Jo.", ("full_name=Jo",)),
        ("I go by Max.", ("full_name=Max",)),
        ("You can reach me at petra@lindqvist.example.", ("email=petra@lindqvist.example",)),
        ("My number is +46 70 123 45 67.", ("phone=+46 70 123 45 67",)),
        ("My birthday is on March 3.", ("birthday=March 3 (2027-03-03)",)),
        ("I was born on 4 May 1988.", ("birthday=4 May 1988 (1988-05-04)",)),
        ("I speak Swedish and Finnish.", ("language=Swedish", "language=Finnish")),
        ("My native language is Polish.", ("language=Polish",)),
        ("I'm in the Europe/Stockholm time zone.", ("timezone=Europe/Stockholm",)),
    ],
    "work": [
        ("I work at Northwind these days.", ("employer=Northwind",)),
        ("I'm currently employed by Contoso.", ("employer=Contoso",)),
        ("I started at Fabrikam in May.", ("employer=Fabrikam",)),
        ("I've just joined Fabrikam.", ("employer=Fabrikam",)),
        ("I got a job at Tailspin Toys!", ("employer=Tailspin Toys",)),
        ("I was hired by Litware last week.", ("employer=Litware",)),
        ("I work as a physiotherapist.", ("title=physiotherapist",)),
        ("I'm a nurse at Mercy Hospital.", ("employer=Mercy Hospital", "title=nurse")),
        ("I've been a teacher for twelve years.", ("title=teacher",)),
        ("I used to work for Adatum.", ("employer=Adatum",)),
        ("I quit my job at Northwind yesterday.", ("deny employer=Northwind",)),
        ("I don't work at Contoso anymore.", ("deny employer=Contoso",)),
        ("I got laid off from Litware.", ("deny employer=Litware",)),
        ("I got promoted to team lead.", ("title=team lead",)),
        ("My manager is Helena Brandt.", ("manager=Helena Brandt",)),
        ("I report to Joao Costa now.", ("manager=Joao Costa",)),
    ],
    "where": [
        ("I live in Gothenburg.", ("home=Gothenburg",)),
        ("We moved to Lyon two weeks ago.", ("home=Lyon",)),
        ("I'm based in Nairobi.", ("home=Nairobi",)),
        ("I just relocated to Denver, Colorado.", ("home=Denver, Colorado",)),
        ("We bought a house in Utrecht and live there now.", ()),
        ("I no longer live in Malmö.", ("deny home=Malmö",)),
        ("I don't live in Oslo any more, I live in Bergen.", ("deny home=Oslo", "home=Bergen")),
        ("Actually, I live in Uppsala.", ("correct home=Uppsala",)),
        ("My home is in Tallinn.", ("home=Tallinn",)),
        ("I've lived in Ghent since 2019.", ("home=Ghent",)),
        ("I'm moving to Kyoto next month.", ("home=Kyoto",)),
        ("My sister Ana lives in Turin.", ("Ana: home=Turin", "sibling=Ana")),
    ],
    "family": [
        ("My wife Ingrid is a doctor.", ("partner=Ingrid", "Ingrid: title=doctor")),
        ("My husband's name is Olu.", ("partner=Olu",)),
        ("I'm married to Sven.", ("partner=Sven",)),
        ("Karin and I got married in June.", ("partner=Karin",)),
        ("I have two kids, Elsa and Nils.", ("child=Elsa", "child=Nils")),
        ("My son is called Theo.", ("child=Theo",)),
        ("Our daughter Maja started school.", ("child=Maja",)),
        ("My dog Max is sick.", ("pet=Max",)),
        ("We have a cat named Misty.", ("pet=Misty",)),
        ("We adopted a puppy called Bosse.", ("pet=Bosse",)),
        ("Our cat Misty passed away.", ("deny pet=Misty",)),
        ("My mother is Greta.", ("parent=Greta",)),
        ("My best friend Lina works at Adatum.", ("friend=Lina", "Lina: employer=Adatum")),
        ("I broke up with Kim.", ("deny partner=Kim",)),
    ],
    "taste": [
        ("I love jazz.", ("likes=jazz",)),
        ("I really enjoy hiking and climbing.", ("likes=hiking", "likes=climbing")),
        ("I'm a big fan of Agnes Varda.", ("likes=Agnes Varda",)),
        ("I'm really into pottery.", ("likes=pottery",)),
        ("My favourite food is ramen.", ("likes=ramen",)),
        ("My favorite band is Radiohead.", ("likes=Radiohead",)),
        ("I can't stand horror movies.", ("dislikes=horror movies",)),
        ("I hate cilantro.", ("dislikes=cilantro",)),
        ("I don't like spicy food.", ("dislikes=spicy food",)),
        ("I'm not a fan of musicals.", ("dislikes=musicals",)),
        ("I no longer like sushi.", ("deny likes=sushi",)),
        ("I used to love techno.", ("deny likes=techno",)),
        ("I'm not into westerns anymore.", ("deny likes=westerns",)),
        ("I've grown tired of crime novels.", ("deny likes=crime novels",)),
        ("I've lost interest in chess.", ("deny likes=chess",)),
        ("I prefer tea over coffee.", ("likes=tea",)),
        ("I've started to enjoy opera.", ("likes=opera",)),
        ("Jazz just isn't my thing.", ("dislikes=Jazz",)),
    ],
    "body": [
        ("I'm allergic to penicillin.", ("allergy=penicillin",)),
        ("I have a peanut allergy.", ("allergy=peanut",)),
        ("I'm lactose intolerant.", ("allergy=lactose",)),
        ("I'm a vegetarian.", ("diet=vegetarian",)),
        ("I went vegan last year.", ("diet=vegan",)),
        ("I'm no longer vegan.", ("deny diet=vegan",)),
        ("I don't eat pork.", ("avoids=pork",)),
        ("I gave up drinking alcohol.", ("avoids=alcohol",)),
        ("I can't have gluten.", ("avoids=gluten",)),
        ("Turns out I'm not allergic to nuts after all.", ("deny allergy=nuts",)),
        ("My son Theo is allergic to eggs.", ("Theo: allergy=eggs", "child=Theo")),
    ],
    "to come": [
        ("I'm flying to Rome on Friday.", ("plan=flying to Rome on Friday (2026-06-19)",)),
        (
            "I have a dentist appointment tomorrow at 3pm.",
            ("appointment=dentist appointment tomorrow at 3pm (2026-06-18)",),
        ),
        (
            "My interview with Litware is next Monday.",
            ("appointment=interview with Litware is next Monday (2026-06-22)",),
        ),
        ("I plan to run a marathon.", ("plan=run a marathon",)),
        ("I'm planning to learn Japanese.", ("plan=learn Japanese",)),
        ("My goal is to save 5000 euros.", ("goal=save 5000 euros",)),
        ("I need to renew my passport.", ("todo=renew my passport",)),
        ("Remind me to call mum.", ("todo=call mum",)),
        ("Don't let me forget to water the plants.", ("todo=water the plants",)),
        ("I have to pick up the kids at four.", ("todo=pick up the kids at four",)),
        ("I want to learn to sail this year.", ("goal=learn to sail this year",)),
    ],
    "how to answer": [
        ("Please always answer in German.", ("preferred_language=German",)),
        ("From now on, reply in Spanish.", ("preferred_language=Spanish",)),
        ("Keep your answers short, please.", ("response_length=short",)),
        ("I prefer detailed explanations.", ("response_length=detailed",)),
        ("Never use emojis.", ("answer_rule=Never use emojis",)),
        ("Please don't use bullet points.", ("answer_rule=don't use bullet points",)),
        ("Always cite your sources.", ("answer_rule=Always cite your sources",)),
        ("Use metric units.", ("answer_rule=Use metric units",)),
        ("Can you stop using emojis?", ()),
        ("Be brief.", ("response_length=brief",)),
    ],
}
"""By kind: a sentence, and its claims as `[subject: ][operation ]slot=value`."""

UNSAID: dict[str, list[str]] = {
    "asked": [
        "Do I live in Gothenburg?",
        "Should I move to Lyon?",
        "What would happen if I worked at Contoso?",
        "Is my name Petra?",
        "Who said I love jazz?",
        "Could you pretend my name is Bob?",
        "Can I be allergic to water?",
    ],
    "supposed": [
        "If I lived in Oslo, I'd ski every day.",
        "I wish I worked at Fabrikam.",
        "I might move to Kyoto.",
        "Maybe I'm allergic to cats.",
        "Imagine I have a dog named Rex.",
        "Suppose I am a surgeon at Mercy Hospital.",
        "I would love jazz if it were shorter.",
        "Let's say I live in Paris.",
        "I almost moved to Lyon.",
        "I could live in Nairobi.",
        "I'd hate to live in Malmö.",
        "One day I will live in Kyoto.",
        "In my dream I live in Venice.",
        "For the sake of argument, I work at Contoso.",
    ],
    "quoted": [
        'She said "I live in Oslo".',
        "He told me I work too much at Northwind.",
        "The song goes like: I love Paris in the springtime.",
        'The sign reads "I hate Mondays".',
        "My character says I am allergic to iron.",
        "According to Tom, I live in Turin.",
        "Translate: I live in Berlin.",
        "How do you say I am a vegetarian in Dutch?",
        "In the novel, I work at Hooli and nobody notices.",
        "Write a story that begins with: My name is Ishmael.",
        "Correct this sentence: I lives in Rome.",
        "Example: My wife Anna is a doctor.",
    ],
    "of others": [
        "The new guy works at Litware.",
        "People like spicy food.",
        "Someone I know lives in Tallinn.",
        "My neighbour's dog bit me.",
        "Half of my class is allergic to nuts.",
        "Her name is Ingrid.",
        "They moved to Denver.",
        "A colleague of mine hates cilantro.",
        "The minister plans to resign tomorrow.",
    ],
    "joked": [
        "I live in my inbox.",
        "I'm allergic to Mondays, haha.",
        "My middle name is Danger.",
        "I'm married to my job.",
        "I work for peanuts.",
        "I'm a slave to my phone.",
        "I could eat a horse.",
        "I love it when plans change, not.",
        "I hate to say it, but you are right.",
        "I'm dying to see Rome.",
    ],
    "fallen through": [
        "I was going to move to Lyon but it fell through.",
        "We were planning to visit Kyoto, but we cancelled.",
        "I wanted to join Fabrikam but they said no.",
        "My flight to Rome on Friday was cancelled.",
        "I nearly got a job at Litware.",
        "I turned down the job at Contoso.",
        "I had planned to run a marathon.",
        "We didn't move to Utrecht after all.",
        "I never worked at Hooli.",
        "My appointment tomorrow got cancelled.",
    ],
    "of the moment": [
        "I love this!",
        "I like that idea.",
        "I'm in Lisbon for the weekend.",
        "I need to think about it.",
        "I hate when that happens.",
        "I'm working on the report.",
        "I'm going to be late.",
        "I have a question.",
        "I like your answer.",
        "I'd like a coffee.",
        "I don't eat much today.",
        "I'm at Northwind right now waiting for a friend.",
    ],
}
"""By kind: sentences that make no claim."""


def claims_of(text: str, *, dated: bool = False) -> list[str]:
    """The claims of a sentence, written as they are in `SAID`; dated, with what is over marked."""
    lines: list[str] = []
    for claim in RuleExtractor().extract(text, at=NOW):
        if claim.if_known or claim.if_subject_known:
            continue
        subject = f"{claim.subject}: " if claim.subject else ""
        op = "" if claim.op == "assert" else f"{claim.op} "
        if dated:
            op = "past " if claim.op == "deny" or claim.valid_until else ""
        lines.append(f"{subject}{op}{claim.slot}={claim.value}")
    return lines


def is_found(claim: str, wanted: str) -> bool:
    """Whether a dated claim is the one that `slot: word` or `Name's slot: word` asks for."""
    head, _, word = wanted.removeprefix("maybe ").partition(": ")
    name, _, slot = head.rpartition("'s ")
    sign, _, slot = slot.rpartition(" ")
    start = f"{f'{name}: ' if name else ''}{'past ' if sign else ''}{slot}="
    return claim.startswith(start) and word.casefold() in claim.removeprefix(start).casefold()


def read_held_out(title: str, sentences: HeldOut, *, missed: bool) -> None:
    """Print what is found of sentences that no rule was made for."""
    expected = found = invented = 0
    for text, wanted in sentences:
        claims = claims_of(text, dated=True)
        needed = [part for part in wanted if not part.startswith("maybe ")]
        hits = [part for part in needed if any(is_found(claim, part) for claim in claims)]
        surplus = [claim for claim in claims if not any(is_found(claim, part) for part in wanted)]
        expected += len(needed)
        found += len(hits)
        invented += len(surplus)
        if missed and (surplus or len(hits) < len(needed)):
            print(f"{text}  found {hits} of {needed}  invented {surplus}")

    share = 100 * found / expected
    print(f"{title}: {len(sentences)} sentences, found {found} of {expected} claims ", end="")
    print(f"({share:.0f} %), {invented} invented")


def read_ordinary(*, missed: bool) -> None:
    """Print how many claims are found in prose that makes none."""
    claims_by_text = {text: claims for text in ORDINARY if (claims := claims_of(text))}
    count = sum(map(len, claims_by_text.values()))
    print(f"ordinary prose: {len(ORDINARY)} sentences, {count} invented")
    for text, claims in claims_by_text.items() if missed else ():
        print(f"{text}  invented {claims}")


def main() -> None:
    """Read all sentences and print the table."""
    parser = argparse.ArgumentParser(description="what the rules take from everyday sentences")
    parser.add_argument("--missed", action="store_true", help="list what is missed or invented")
    parser.add_argument("--held-out", action="store_true", help="sentences no rule was made for")
    parser.add_argument("--typed", action="store_true", help="talk as people type it")
    parser.add_argument("--small", action="store_true", help="people and pets in small letters")
    options = parser.parse_args()
    if options.typed:
        read_held_out("English, read", ENGLISH_DEV, missed=options.missed)
        read_held_out("German, read", GERMAN_DEV, missed=options.missed)
        read_held_out("English, unread", ENGLISH_HELD_OUT, missed=False)
        read_held_out("German, unread", GERMAN_HELD_OUT, missed=False)
        return

    if options.small:
        read_held_out("English, read", ENGLISH_SMALL_DEV, missed=options.missed)
        read_held_out("German, read", GERMAN_SMALL_DEV, missed=options.missed)
        read_held_out("English, unread", ENGLISH_SMALL_HELD_OUT, missed=False)
        read_held_out("German, unread", GERMAN_SMALL_HELD_OUT, missed=False)
        read_ordinary(missed=options.missed)
        return

    if options.held_out:
        read_held_out("English", ENGLISH, missed=options.missed)
        read_held_out("German", GERMAN, missed=options.missed)
        return

    counts: Counter[str] = Counter()
    faults: list[str] = []
    table = Table(title="everyday sentences")
    for heading in ("kind", "sentences", "claims", "found", "invented"):
        table.add_column(heading, justify="left" if heading == "kind" else "right")

    for kind, sentences in SAID.items():
        expected = found = invented = 0
        for text, wanted in sentences:
            claims = claims_of(text)
            missing = [claim for claim in wanted if claim not in claims]
            surplus = [claim for claim in claims if claim not in wanted]
            expected += len(wanted)
            found += len(wanted) - len(missing)
            invented += len(surplus)
            if missing or surplus:
                faults.append(f"{text}  missing {missing}  invented {surplus}")
        table.add_row(kind, *map(str, (len(sentences), expected, found, invented)))
        counts.update(expected=expected, found=found, invented=invented)

    for kind, texts in UNSAID.items():
        invented = 0
        for text in texts:
            claims = claims_of(text)
            invented += len(claims)
            if claims:
                faults.append(f"{text}  invented {claims}")
        table.add_row(kind, str(len(texts)), "0", "0", str(invented))
        counts["invented"] += invented

    Console(width=100).print(table)
    precision = counts["found"] / max(1, counts["found"] + counts["invented"])
    print(
        f"found {counts['found']} of {counts['expected']} claims, {counts['invented']} invented: "
        f"precision {100 * precision:.1f} %"
    )
    if options.missed:
        print("\n".join(faults))


if __name__ == "__main__":
    main()
