"""One tenant with many users: does everybody still find what is their own, and what does it cost?

    python -P bench/bench_users.py [--users 100 1000 8000] [--asks 60] [--turns 30] [--vectors]

An assistant keeps what each user said, in a scope of the user's own. All of them talk of the same
things in the same words, as users of one assistant do; what differs is the answer. Each question
holds words that everybody uses, and one that only strangers said. Shown are the share of questions
whose answer is in the envelope, and the median time of a compile (CPU of the thread), beside those
of a user who has the store for herself; and that of a list of the people whom one user named, two
for each, which is asked for after the compiles. With `--vectors` every text has one, made of its
words at random, so that time is measured and not meaning.
"""

from __future__ import annotations

import random
import statistics
import time
from typing import Final

from tenure import Memory, Principal, Scope, Write
from tenure.bench.bench_compile import TermVectors, embed
from tenure.bench.script import fresh_memory, options_of, print_table

BUDGET: Final = 300
BATCH: Final = 960
TOPICS: Final = (
    ("On Sundays we cook dinner together, mostly {}.", "What dinner do we cook on Sundays{}?"),
    ("My dentist moved her practice to {} last spring.", "Where is the practice of my dentist{}?"),
    ("The password hint for the bank is {}, remember that.", "What is my password hint{}?"),
    ("For my birthday I want a book about {}.", "Which book do I want for my birthday{}?"),
    ("The garden needs {} before the frost comes.", "What does the garden need{}?"),
    ("Our landlord is called {} and lives upstairs.", "What is our landlord called{}?"),
    ("I take the train to {} every morning.", "Which train do I take in the morning{}?"),
    ("My sister plays the violin in {}.", "Where does my sister play the violin{}?"),
    ("The cat only eats {} since the winter.", "What does the cat eat{}?"),
    ("I left the spare keys with {}.", "Who has the spare keys{}?"),
    ("The meeting with the accountant is about {}.", "What is the accountant meeting about{}?"),
    ("On Fridays I go swimming with {}.", "With whom do I go swimming on Fridays{}?"),
)
"""What users say of themselves, and how they ask for it."""
CHATTER: Final = (
    "Thanks, that helped a lot with the {}.",
    "Can you look at the {} again tomorrow?",
    "I was late because of the {} this morning.",
    "The {} took longer than we thought it would.",
)
PLACES: Final = ("Oslo", "Lima", "Cork", "Pisa", "Graz", "Bonn", "Kyoto", "Tunis")
"""What a question names beside: some users talk of it, who is asked about never did."""
SYLLABLES: Final = "ka lo mi ne ru sa te vo zi ba du fe gi ho ju".split()


def word(rng: random.Random) -> str:
    """A name that hardly anybody else says."""
    return "".join(rng.choices(SYLLABLES, k=4))


def said_by(user: int, turns: int) -> tuple[list[str], list[str]]:
    """What a user said, and the answers to the questions of `TOPICS`."""
    rng = random.Random(user)
    answers = [word(rng) for _ in TOPICS]
    texts = [text.format(answer) for (text, _), answer in zip(TOPICS, answers, strict=True)]
    texts.append(f"Next year we travel to {rng.choice(PLACES)}." if user % 8 else "We stay here.")
    texts += [rng.choice(CHATTER).format(word(rng)) for _ in range(turns - len(texts))]
    rng.shuffle(texts)
    return texts, answers


def fill(memory: Memory, users: int, turns: int) -> None:
    """Write what all users said, some hundred turns a transaction."""
    writes: list[Write] = []
    for user in range(users):
        for text in said_by(user, turns)[0]:
            scope = Scope(user=f"u{user}")
            writes.append(Write(content=text, why_it_matters="what a user said", scope=scope))
        if len(writes) >= BATCH:
            memory.write_many(writes)
            writes.clear()
    if writes:
        memory.write_many(writes)


def name_people(memory: Memory, users: int) -> None:
    """Each user names two people of her own."""
    writes: list[Write] = []
    for user in range(users):
        for kinship in ("Aunt", "Uncle"):
            person = {"name": f"{kinship} {word(random.Random(user))}", "type": "person"}
            scope = Scope(user=f"u{user}")
            writes.append(Write(subject=person, slot="office", value="Oslo", scope=scope))
    for first in range(0, len(writes), BATCH):
        memory.write_many(writes[first : first + BATCH])


def listing_ms(memory: Memory, users: int, count: int = 9) -> float:
    """The median milliseconds in which a user lists the people that she named."""
    times: list[float] = []
    for number in range(count):
        user_memory = memory.bind(Principal(user=f"u{number * users // count}"))
        began = time.thread_time()
        people = user_memory.entities.list()
        times.append((time.thread_time() - began) * 1000)
        assert len(people) == len({entity.entity_id for entity in people}) >= 2
    return statistics.median(times)


def measure(memory: Memory, users: int, *, asks: int, turns: int) -> tuple[float, float]:
    """The share of answers that are in the envelope, and the median milliseconds of a compile."""
    rng = random.Random(users)
    times: list[float] = []
    answered = 0
    for number in range(asks):
        # Every eighth user travels nowhere: the place in the question is one of strangers.
        user = rng.randrange(0, users, 8)
        topic = number % len(TOPICS)
        question = TOPICS[topic][1].format(f", or was it in {rng.choice(PLACES)}")
        user_memory = memory.bind(Principal(user=f"u{user}"))
        began = time.thread_time()
        envelope = user_memory.compile("assistant", question, budget_tokens=BUDGET)
        times.append((time.thread_time() - began) * 1000)
        answered += said_by(user, turns)[1][topic] in envelope.text
    return 100 * answered / asks, statistics.median(times)


def main() -> None:
    """Run the benchmark."""
    options = options_of(__doc__, users=[100, 1_000, 8_000], asks=60, turns=30, vectors=False)
    encoder = TermVectors() if options.vectors else None
    rows: list[tuple[str, ...]] = []
    for users in (1, *options.users):
        with fresh_memory(encoder=encoder) as memory:
            fill(memory, users, options.turns)
            if encoder is not None:
                embed(memory, encoder)
            share, ms = measure(memory, users, asks=options.asks, turns=options.turns)
            name_people(memory, users)
            listing = listing_ms(memory, users)
        claims = f"{users * options.turns:,}"
        rows.append((f"{users:,}", claims, f"{share:.0f}", f"{ms:.1f}", f"{listing:.1f}"))
    print_table("users", "claims", "answered %", "compile ms", "list ms", rows=rows)


if __name__ == "__main__":
    main()
