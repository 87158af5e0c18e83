"""What people say, sentence by sentence, and what the rules take from it: nothing is invented."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, time
from time import perf_counter
from typing import Any

import pytest

from tenure.schema.slots import BUILT_IN_SLOTS
from tenure.service.extraction.claims import ExtractedClaim
from tenure.service.extraction.rules import RULES, RuleExtractor

NOW = datetime(2026, 6, 17, 9, 30, tzinfo=UTC)  # a Wednesday


def read(text: str) -> tuple[ExtractedClaim, ...]:
    return RuleExtractor().extract(text, at=NOW)


def triples(text: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for claim in read(text):
        if claim.if_known:
            continue
        mark = claim.slot if claim.op == "assert" else f"{claim.op} {claim.slot}"
        found.append((mark, claim.value) if claim.subject is None else
                     (claim.subject, mark, claim.value))  # fmt: skip
    return found


def test_a_process_that_hears_english_makes_no_pattern_of_german() -> None:
    script = (
        "import datetime\n"
        "from tenure.service.extraction.rules import ENGLISH, GERMAN, RuleExtractor\n"
        "def made(rule_set):\n"
        "    return sum('pattern' in vars(rule) for rule in rule_set.rules)\n"
        "at = datetime.datetime.now(datetime.UTC)\n"
        "(claim,) = RuleExtractor().extract('I live in Leeds.', at=at)\n"
        "print(claim.value, made(ENGLISH) == len(ENGLISH.rules), made(GERMAN))\n"
        "RuleExtractor().extract('Ich wohne in Ulm.', at=at)\n"
        "print(made(GERMAN) == len(GERMAN.rules))\n"
    )
    process = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, check=True)
    assert process.stdout.split() == [b"Leeds", b"True", b"0", b"True"]


SAID: list[tuple[str, list[tuple[Any, ...]]]] = [
    # where
    ("We live in a small flat in Leeds.", [("home", "Leeds")]),
    # who
    ("My name is Ana Lucía Ortiz.", [("full_name", "Ana Lucía Ortiz")]),
    ("You can call me Al, by the way.", [("full_name", "Al")]),
    ("I speak German, French and Dutch.", [
        ("language", "German"), ("language", "French"), ("language", "Dutch")]),
    ("My email is ana.ortiz@example.org.", [("email", "ana.ortiz@example.org")]),
    ("My phone number is +49 171 555 0199.", [("phone", "+49 171 555 0199")]),
    # work
    ("I work at Acme and I love it.", [("employer", "Acme")]),
    ("I work for Smith and Sons.", [("employer", "Smith and Sons")]),
    ("I work at the University.", []),
    ("I work for Bank of America in Austin.", [("employer", "Bank of America")]),
    ("I've been working at Globex since March 2021.", [("employer", "Globex")]),
    ("I joined Initech last month.", [("employer", "Initech")]),
    ("I used to work at Hooli.", [("employer", "Hooli")]),
    ("I worked at Hooli from 2015 to 2019.", [("employer", "Hooli")]),
    ("I no longer work at Hooli.", [("deny employer", "Hooli")]),
    ("I just left my job at Hooli.", [("deny employer", "Hooli")]),
    ("Actually, I work at Globex.", [("correct employer", "Globex")]),
    ("No, sorry, actually I live in Porto.", [("correct home", "Porto")]),
    ("Actually, I was tired because I work at Globex.", [("employer", "Globex")]),
    ("Actually, I'm allergic to nuts.", [("allergy", "nuts")]),
    ("I'm a senior data engineer.", [("experience_level", "senior"), ("title", "data engineer")]),
    ("I work as a night nurse.", [("title", "night nurse")]),
    ("My boss is Dana White.", [("manager", "Dana White")]),
    ("I'm in the Growth team.", [("team", "Growth")]),
    ("I was hired by Litware last week.", [("employer", "Litware")]),
    ("I work as a physiotherapist.", [("title", "physiotherapist")]),
    ("I've been a teacher for twelve years.", [("title", "teacher")]),
    ("Everyone calls me Jo.", [("full_name", "Jo")]),
    ("I'm in the Europe/Stockholm time zone.", [("timezone", "Europe/Stockholm")]),
    ("My native language is Polish.", [("language", "Polish")]),
    # where
    ("I've lived in Ghent since 2019.", [("home", "Ghent")]),
    ("Our cat Misty passed away.", [("deny pet", "Misty")]),
    ("I went vegan last year.", [("diet", "vegan")]),
    ("I can't have gluten.", [("avoids", "gluten")]),
    ("I've lost interest in chess.", [("deny likes", "chess")]),
    ("I've grown tired of crime novels.", [("deny likes", "crime novels")]),
    ("Don't let me forget to water the plants.", [("todo", "water the plants")]),
    ("I live in Lisbon, Portugal.", [("home", "Lisbon, Portugal")]),
    ("I recently moved to Berlin.", [("home", "Berlin")]),
    ("I'm moving to New York next month!", [("home", "New York")]),
    ("I moved to the Chicago office in June.", [("office", "Chicago")]),
    ("I used to live in Oslo.", [("home", "Oslo")]),
    ("I don't live in Oslo anymore.", [("deny home", "Oslo")]),
    # whom
    ("My wife Anna and I are going out.", [("partner", "Anna")]),
    ("My dog's name is Max.", [("pet", "Max")]),
    ("My dog Max is a beagle.", [("pet", "Max")]),
    ("I have a black cat named Miso.", [("pet", "Miso")]),
    ("My sister, Ruth, works at Acme.", [("sibling", "Ruth"), ("Ruth", "employer", "Acme")]),
    ("My son Leo is allergic to peanuts and eggs.", [
        ("child", "Leo"), ("Leo", "allergy", "peanuts"), ("Leo", "allergy", "eggs")]),
    ("My daughter Mia loves dinosaurs.", [("child", "Mia"), ("Mia", "likes", "dinosaurs")]),
    # body and taste
    ("I'm allergic to penicillin.", [("allergy", "penicillin")]),
    ("I have a severe peanut allergy.", [("allergy", "peanut")]),
    ("I'm no longer allergic to cats.", [("deny allergy", "cats")]),
    ("I'm a strict vegan.", [("diet", "vegan")]),
    ("I'm no longer vegetarian.", [("deny diet", "vegetarian")]),
    ("I really love jazz, hiking and Thai food.", [
        ("likes", "jazz"), ("likes", "hiking"), ("likes", "Thai food")]),
    ("I like jazz and I hate techno.", [("likes", "jazz"), ("dislikes", "techno")]),
    ("I like jazz and went home.", [("likes", "jazz")]),
    ("I love reading about war and conflict.", [("likes", "reading about war and conflict")]),
    ("I like music from the 1960s.", [("likes", "music from the 1960s")]),
    ("I have a strong allergy to nuts.", [("allergy", "nuts")]),
    ("I'm a big fan of Orson Welles.", [("likes", "Orson Welles")]),
    ("My favorite film is The Third Man.", [("likes", "The Third Man")]),
    ("I don't like cilantro.", [("dislikes", "cilantro")]),
    ("I can't stand small talk.", [("dislikes", "small talk")]),
    ("I'm not a fan of horror.", [("dislikes", "horror")]),
    ("I no longer like sushi.", [("deny likes", "sushi")]),
    ("I don't like sushi anymore.", [("deny likes", "sushi")]),
    ("I used to love Dizzy Gillespie, but not now.", [("deny likes", "Dizzy Gillespie")]),
    # what is to come
    ("I plan to run a marathon in October.", [("plan", "run a marathon in October (2026-10-01)")]),
    ("I'm going to visit Rome tomorrow.", [("plan", "visit Rome tomorrow (2026-06-18)")]),
    ("I'm going to be honest.", []),
    ("My goal is to read more.", [("goal", "read more")]),
    ("I have a dentist appointment on Friday at 3pm.", [
        ("appointment", "dentist appointment on Friday at 3pm (2026-06-19)")]),
    ("I have a meeting problem.", []),
    # how answers should be
    ("Please always answer in German.", [("preferred_language", "German")]),
    ("Always use metric units.", [("answer_rule", "Always use metric units")]),
    ("From now on, never use emojis.", [("answer_rule", "never use emojis")]),
    ("Please keep your answers short.", [("response_length", "short")]),
    # the same things, as people say them in passing
    ("I'm Ann Keller, and I'm new here.", [("full_name", "Ann Keller")]),
    ("Hi, this is Tom Becker from Acme.", [("full_name", "Tom Becker")]),
    ("Call me Tom.", [("full_name", "Tom")]),
    ("From now on call me Doctor Marin.", [("full_name", "Doctor Marin")]),
    ("I was born on 4 May 1990.", [("birthday", "4 May 1990 (1990-05-04)")]),
    ("You can reach me at sofia@example.com.", [("email", "sofia@example.com")]),
    ("I work for the Red Cross as a project manager.", [
        ("employer", "Red Cross"), ("title", "project manager")]),
    ("I'm a software engineer at Google.", [
        ("employer", "Google"), ("title", "software engineer")]),
    ("I'm starting at Initech on Monday as head of data.", [
        ("employer", "Initech"), ("title", "head of data")]),
    ("I start my new job at Initech next Monday.", [("employer", "Initech")]),
    ("I got a new job at Initech!", [("employer", "Initech")]),
    ("I accepted an offer from Initech.", [("employer", "Initech")]),
    ("I got laid off from Acme last month.", [("deny employer", "Acme")]),
    ("I'm no longer at Acme.", [("deny employer", "Acme")]),
    ("I'm not at Acme anymore.", [("deny employer", "Acme")]),
    ("I got promoted to senior analyst.", [("title", "senior analyst")]),
    ("No, I meant I work at Initech, not Globex.", [("correct employer", "Initech")]),
    ("Sorry, my manager is Dana, not Lee.", [("correct manager", "Dana")]),
    ("My boss Dana is on leave.", [("manager", "Dana")]),
    ("We moved to Berlin in 2021.", [("home", "Berlin")]),
    ("I moved from Porto to Lisbon.", [("home", "Lisbon")]),
    ("I'm based in Zurich.", [("home", "Zurich")]),
    ("I'm from Chile originally but live in Oslo now.", [("home", "Oslo")]),
    ("I'm married to Clara.", [("partner", "Clara")]),
    ("Clara and I got married in May.", [("partner", "Clara")]),
    ("I broke up with Tom.", [("deny partner", "Tom")]),
    ("Tom and I got divorced.", [("deny partner", "Tom")]),
    ("We have a dog named Biscuit.", [("pet", "Biscuit")]),
    ("I have two daughters, Mia and Zoe.", [("child", "Mia"), ("child", "Zoe")]),
    ("My cat Nero died last week.", [("deny pet", "Nero")]),
    ("My daughter Mia turns 6 on March 3rd.", [
        ("child", "Mia"), ("Mia", "birthday", "March 3rd (2027-03-03)")]),
    ("My colleague Sam lives in Rome.", [("Sam", "home", "Rome")]),
    ("I'm vegetarian and allergic to peanuts.", [("diet", "vegetarian"), ("allergy", "peanuts")]),
    ("I don't eat meat or fish.", [("avoids", "meat"), ("avoids", "fish")]),
    ("And I no longer eat dairy either.", [("avoids", "dairy")]),
    ("I stopped eating meat two years ago.", [("avoids", "meat")]),
    ("I started eating fish again.", [("deny avoids", "fish")]),
    ("I prefer tea over coffee.", [("likes", "tea")]),
    ("I prefer window seats.", [("likes", "window seats")]),
    ("My dentist appointment is next Thursday at 3pm.", [
        ("appointment", "dentist appointment is next Thursday at 3pm (2026-06-18)")]),
    ("I'm flying to Tokyo on Friday.", [("plan", "flying to Tokyo on Friday (2026-06-19)")]),
    ("I'm going to visit my aunt next weekend.", [
        ("plan", "visit my aunt next weekend (2026-06-27)")]),
    # tastes that begin, change and end
    ("I've always admired Katharine Hepburn's performances.", [("likes", "Katharine Hepburn")]),
    ("I've really come to appreciate chamber music lately.", [("likes", "chamber music")]),
    ("I've been getting into jazz lately.", [("likes", "jazz")]),
    ("I've been really enjoying Mark Twain lately.", [("likes", "Mark Twain")]),
    ("I'm all about Chopin now.", [("likes", "Chopin")]),
    ("I really love books by Mary Roach.", [("likes", "Mary Roach")]),
    ("Bill Evans is my favorite pianist.", [("likes", "Bill Evans")]),
    ('I watched "On the Waterfront" and I really disliked it.', [
        ("dislikes", "On the Waterfront")]),
    ("I visited Burj Al Arab in Dubai, and I absolutely loved it!", [("likes", "Burj Al Arab")]),
    ("I really dislike the movie *Love and Death*.", [("dislikes", "Love and Death")]),
    ("I tend to dislike small talk.", [("dislikes", "small talk")]),
    ("I just can't get into opera.", [("dislikes", "opera")]),
    ("I used to be all about westerns, but now I'm into comedies.", [
        ("deny likes", "westerns"), ("likes", "comedies")]),
    ("I used to not be a fan of Dizzy Gillespie.", [("deny dislikes", "Dizzy Gillespie")]),
    ("I've gone off techno.", [("deny likes", "techno")]),
    ("I used to love the idea of Santorini.", [("deny likes", "Santorini")]),
    # what is to be done
    ("I also need to call the dentist soon.", [("todo", "call the dentist")]),
    ("Please remind me to water the plants.", [("todo", "water the plants")]),
    ("Add buy milk to my todo list.", [("todo", "buy milk")]),
    ("Keep it brief, please.", [("response_length", "brief")]),
    ("Don't use emojis.", [("answer_rule", "Don't use emojis")]),
    ("Please use metric units.", [("answer_rule", "use metric units")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SAID, ids=[text[:40] for text, _ in SAID])
def test_a_sentence_says_this_and_nothing_else(text: str, expected: list[Any]) -> None:
    assert sorted(triples(text), key=str) == sorted(expected, key=str)


SILENT = [
    "Do I work at Acme?",
    "If I work at Acme, will I be rich?",
    "I wish I lived in Lisbon.",
    "She said I work at Acme.",
    'He wrote "I live in Rome" on the wall.',
    "Imagine I'm allergic to water.",
    "I would like to live in Paris.",
    "Maybe I'm moving to Berlin.",
    "I work at home.",
    "I work at I don't know what.",
    "I like that you are quick.",
    "I like to think about it.",
    "I love it when it rains.",
    "I love how this works.",
    "I like your style.",
    "I'd like a coffee.",
    "My manager is great.",
    "My name is mud.",
    "You always use long words.",
    "I know Monday is late.",
    "The University of Texas moved to Dallas.",
    "I am not sure.",
    "Let's say I live in Paris.",
    "It is not true that I live in Rome.",
    "I didn't say I like opera.",
    "I don't know whether I like sushi.",
    "Rumour has it I moved to Oslo.",
    "I'm over budget.",
    "In my dream I live in Venice.",
    "According to Tom, I live in Turin.",
    "Translate: I live in Berlin.",
    "Write a story that begins with: My name is Ishmael.",
    "Example: My wife Anna is a doctor.",
    "I'm allergic to Mondays, haha.",
    "I work as a team player.",
    "I can't have a dog.",
    "I like books that offer cultural critique.",
    "I just love the energy!",
    "I love trying to piece it together.",
    "I enjoy a variety of things.",
    "That's what I like about indie movies.",
    "I like its ugliness.",
    "This is a post I'm planning to create.",
    "I'm going to the conference tomorrow.",
    "We are live to that, as I know HEFCW is.",
    "I'm Roman Catholic.",
    "I'm starting at Stanford in September.",
    "I am married to the job.",
    "My flight is delayed.",
    "My train leaves at 8.",
    "My boss Dana's dog bit me.",
    "I'm sure he is allergic to nuts.",
    "I don't eat much.",
    "I can't eat another bite today.",
    "I never drink coffee after 5pm.",
    "I prefer to walk.",
    "I'm meeting a lot of resistance.",
    "Don't use the old API.",
    "Be careful.",
    "I love that movie.",
    "I love the transformation of the heroine.",
    "I prefer cooler, greener places.",
    "I need to understand how this works.",
    "I have meetings that I need to prepare for.",
    "I finished the report.",
    "Keep it between us.",
]


@pytest.mark.parametrize("text", SILENT)
def test_what_is_asked_supposed_or_quoted_makes_no_claim(text: str) -> None:
    assert triples(text) == []


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I moved to Berlin yesterday.", (2026, 6, 16)),
        ("I moved to Berlin three weeks ago.", (2026, 5, 27)),
        ("I moved to Berlin 2 months ago.", (2026, 4, 17)),
        ("I moved to Berlin last week.", (2026, 6, 8)),
        ("I moved to Berlin last month.", (2026, 5, 1)),
        ("I moved to Berlin last Monday.", (2026, 6, 15)),
        ("I moved to Berlin in March.", (2026, 3, 1)),
        ("I moved to Berlin in November.", (2025, 11, 1)),
        ("I moved to Berlin on 2024-02-29.", (2024, 2, 29)),
        ("I'm moving to Berlin in two weeks.", (2026, 7, 1)),
        ("I'm moving to Berlin next year.", (2027, 1, 1)),
        ("I live in Berlin.", None),
        ("I moved to Berlin on 30 February 2026.", None),
    ],
)
def test_a_day_is_read_against_the_moment_of_speaking(text: str, day: Any) -> None:
    (claim,) = read(text)
    moment = None if day is None else datetime.combine(date(*day), time(), UTC)
    assert claim.valid_from == moment
    assert claim.planned is (moment is not None and moment > NOW)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I started at Initech on Monday.", date(2026, 6, 15)),
        ("Actually, I no longer work at Acme; I started at Initech on Friday.", date(2026, 6, 12)),
        ("I'm starting at Initech on Monday as head of data.", date(2026, 6, 22)),
        ("I got a new job at Initech, which starts on Monday.", date(2026, 6, 22)),
    ],
)
def test_a_day_of_the_week_is_behind_what_happened_and_ahead_of_the_rest(
    text: str, day: date
) -> None:
    (claim,) = [claim for claim in read(text) if claim.value == "Initech"]
    assert claim.valid_from == datetime.combine(day, time(), UTC)


@pytest.mark.parametrize(
    ("text", "slot", "value", "day"),
    [
        ("I'm leaving Acme, I start at Initech on 1 July.", "employer", "Initech", (2026, 7, 1)),
        ("I'm leaving Acme to join Initech in July.", "employer", "Initech", (2026, 7, 1)),
        ("I start work at Initech on 1 May.", "employer", "Initech", (2027, 5, 1)),
        ("I'll be working for Initech from July.", "employer", "Initech", (2026, 7, 1)),
        ("From July I work at Initech.", "employer", "Initech", (2026, 7, 1)),
        ("From March 2024 I work at Initech.", "employer", "Initech", (2024, 3, 1)),
        ("I begin my new job at Initech on May 3.", "employer", "Initech", (2027, 5, 3)),
        ("I got a new job at Initech, starting 1 July.", "employer", "Initech", (2026, 7, 1)),
        ("I'm joining Orchid Foods next week.", "employer", "Orchid Foods", (2026, 6, 22)),
        ("My first day at Initech is on Monday.", "employer", "Initech", (2026, 6, 22)),
        ("Next week I start as a nurse at Initech.", "title", "nurse", (2026, 6, 22)),
        ("I'll be living in Porto from July.", "home", "Porto", (2026, 7, 1)),
        ("As of 1 July we live in Porto.", "home", "Porto", (2026, 7, 1)),
        ("Ab Juli arbeite ich bei Initech.", "employer", "Initech", (2026, 7, 1)),
        ("Ich arbeite ab dem 1. Juli bei Initech.", "employer", "Initech", (2026, 7, 1)),
        ("Ab Juli wohnen wir in Bremen.", "home", "Bremen", (2026, 7, 1)),
    ],
)
def test_what_is_to_come_begins_on_its_day(
    text: str, slot: str, value: str, day: tuple[int, int, int]
) -> None:
    (claim,) = [claim for claim in read(text) if claim.slot == slot]
    assert (claim.value, claim.op) == (value, "assert")
    assert claim.valid_from == datetime(*day, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "I quit Acme, I start at Initech on 1 July.",
        "I've left Acme and I'm starting at Initech on 1 July.",
        "I just resigned from Acme; I begin at Initech on 1 July.",
    ],
)
def test_who_left_and_starts_elsewhere_changes_the_employer_on_that_day(text: str) -> None:
    claims = {(claim.op, claim.value): claim for claim in read(text) if claim.slot == "employer"}
    assert set(claims) == {("deny", "Acme"), ("assert", "Initech")}
    assert claims["assert", "Initech"].valid_from == datetime(2026, 7, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I'm leaving Acme on 30 June.", (2026, 6, 30)),
        ("Ich verlasse Acme zum 1. Juli.", (2026, 7, 1)),
    ],
)
def test_whoever_leaves_on_a_day_works_there_until_then(
    text: str, day: tuple[int, int, int]
) -> None:
    (claim,) = read(text)
    assert (claim.slot, claim.op, claim.if_known) == ("employer", "deny", True)
    assert (claim.valid_from, claim.planned) == (datetime(*day, tzinfo=UTC), True)


@pytest.mark.parametrize(
    "text",
    [
        "I'm leaving Acme at the end of the month.",
        "I'm joining Sam in July for a hike.",
        "I'm leaving the office now, I start at 9 on Monday.",
        "From Monday I'm in Rome.",
        "I'll work at Initech in the summer.",
        "Am Montag bin ich bei Siemens.",
        "Morgen arbeite ich bei Anna.",
        "Nächste Woche wohnen wir in Bremen.",
    ],
)
def test_a_visit_and_a_beginning_without_a_day_are_no_work_and_no_home(text: str) -> None:
    assert read(text) == ()


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("I moved to Lyon in March 2024 and I work at Acme since 2021.", (2024, 2021)),
        ("I moved to Lyon in March 2024, I work at Acme since 2021.", (2024, 2021)),
        ("I moved to Lyon in 2024; I work at Acme.", (2024, None)),
        ("I work at Acme and I moved to Lyon in 2024.", (2024, None)),
        ("In 2024 I moved to Lyon and I work at Acme.", (2024, 2024)),
    ],
)
def test_a_day_dates_what_stands_in_its_own_clause(
    text: str, years: tuple[int | None, ...]
) -> None:
    begins = {claim.slot: claim.valid_from for claim in read(text)}
    days = begins["home"], begins["employer"]
    assert tuple(day.year if day else None for day in days) == years


def test_a_visit_of_last_week_dates_no_kinship() -> None:
    (claim,) = read("My sister Eva visited last week.")
    assert (claim.slot, claim.valid_from) == ("sibling", None)


@pytest.mark.parametrize("text", ["I moved to Berlin today.", "I moved to Berlin this Wednesday."])
def test_what_begins_today_begins_when_it_is_said(text: str) -> None:
    # What was said this morning was said before: midnight would put the news behind it.
    (claim,) = read(text)
    assert (claim.valid_from, claim.planned) == (None, False)


@pytest.mark.parametrize(("turn", "day"), [("last", (6, 13)), ("this", (6, 20)), ("next", (6, 27))])
def test_a_weekend_begins_on_its_saturday(turn: str, day: tuple[int, int]) -> None:
    (claim,) = read(f"I moved to Berlin {turn} weekend.")
    assert claim.valid_from == datetime(2026, *day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("I really like jazz.", "dislikes", "jazz"),
        ("I can't stand jazz.", "likes", "jazz"),
        ("I just finished planning the summer trip.", "todo", "planning the summer trip"),
        ("I no longer need to call the dentist.", "todo", "call the dentist"),
    ],
)
def test_the_newer_word_ends_an_older_one_where_there_is_one(
    text: str, slot: str, value: str
) -> None:
    ended = [claim for claim in read(text) if claim.if_known]
    assert [(claim.slot, claim.op, claim.value) for claim in ended] == [(slot, "deny", value)]


def test_leaving_a_name_is_meant_only_where_it_is_known() -> None:
    assert {(claim.slot, claim.op, claim.if_known) for claim in read("I just left Globex.")} == {
        ("employer", "deny", True),
        ("home", "deny", True),
    }


@pytest.mark.parametrize("name", ["Google", "Google for Meta"])
def test_whoever_leaves_one_firm_for_another_ends_the_one_that_is_known(name: str) -> None:
    claims = read("I left Google for Meta last week.")
    ended = {claim.value for claim in claims if claim.slot == "employer" and claim.if_known}
    assert name in ended  # "Doctors for Change" is one name, so what is known decides
    assert not [claim for claim in claims if not claim.if_known]


def test_what_was_ends_when_the_text_says_or_now() -> None:
    (ended,) = read("I worked at Hooli from 2015 to 2019.")
    assert (ended.valid_from, ended.valid_until) == (
        datetime(2015, 1, 1, tzinfo=UTC), datetime(2019, 1, 1, tzinfo=UTC))  # fmt: skip
    (former,) = read("I used to work at Hooli.")
    assert (former.valid_from, former.valid_until) == (None, NOW)


def test_a_claim_points_at_its_words() -> None:
    text = "Hello! My dog Max is a beagle. I live in Lisbon."
    for claim in read(text):
        assert str(claim.value) in text[claim.start : claim.end]


def test_every_rule_writes_a_slot_that_exists() -> None:
    assert {rule.slot for rule in RULES} - {"kin"} <= set(BUILT_IN_SLOTS)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "I",
        "\ud800",
        "I like " + "a, " * 5000,
        "my " * 9000,
        "I live in " + "my dog Max " * 20_000,
        ("I speak " + "I like a, " * 38 + ". ") * 500,
        # each of these words can be read in two or three ways: a chain of them in 2 to the 22nd
        "Ich habe " + "vor 1 Jahr gestern " * 22,
        "Ich bin " + "seit dem Jahr " * 14,
        "Ich habe " + "am 3. Mai 2024 " * 22,
    ],
)
def test_any_text_is_read_and_quickly(text: str) -> None:
    begin = perf_counter()
    assert len(read(text)) <= 64
    assert perf_counter() - begin < 5  # a machine under load; a tenth of a second on a free one
