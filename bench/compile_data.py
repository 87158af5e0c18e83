"""Stores that a compile is measured over: talk as people talk, and a dense graph of relations.

Talk is that of `talk/meetings.jsonl.gz`. Its 11,582 turns are told again until there are enough:
each retelling maps every word but the commonest to another one that is about as common, names of
speakers too, so that what is told is about something else in the same language: a word of a
question stands in as many turns as it would in that much real talk. Turns of a meeting follow each
other, a minute apart.

The graph is small and dense: 70 people, 15 organisations and five relations of many values.
Without the folder that TENURE_SHARED names there is no talk.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from tenure import EntityRef, Memory, Write, connect
from tenure.bench.script import SHARED
from tenure.bench.talk_data import MEETINGS, meetings
from tenure.schema.principal import TENANT_SCOPE

START = datetime(2023, 1, 9, 9, tzinfo=UTC)
COMMONEST = 250
"""Words that every retelling keeps: those of the language, of which no talk is without."""
BAND = 64
"""Words of about the same frequency, which change places."""
RELATIONS = ("works_with", "advises", "reviews", "member_of", "consults_for")
PEOPLE, ORGANISATIONS, FACTS = 70, 15, 1_000
_WORD = re.compile(r"[^\W\d_]+")


def shared_talk() -> list[dict[str, Any]]:
    """The meetings as they were; none where the data is not there."""
    path = SHARED / MEETINGS
    return list(meetings(path, None)) if path.is_file() else []


class Retelling:
    """The same talk about something else: number 0 is the talk as it was."""

    def __init__(self, ranking: Sequence[str], number: int) -> None:
        self.number = number
        self._other: dict[str, str] = {}
        chance = random.Random(number)
        for first in range(COMMONEST, len(ranking), BAND):
            band = ranking[first : first + BAND]
            others = list(band)
            if number:
                chance.shuffle(others)
            self._other.update(zip(band, others, strict=True))

    def __call__(self, text: str) -> str:
        """A text in the words of this retelling."""
        return _WORD.sub(self._word, text)

    def _word(self, match: re.Match[str]) -> str:
        word = match.group()
        other = self._other.get(word.lower(), word)
        return other.capitalize() if word[0].isupper() else other


def ranking_of(talk: Sequence[Mapping[str, Any]]) -> list[str]:
    """The words of talk, the commonest first."""
    counts: Counter[str] = Counter()
    for meeting in talk:
        for turn in meeting["turns"]:
            counts.update(_WORD.findall(f"{turn['speaker']} {turn['text']}".lower()))
    return sorted(counts, key=lambda word: (-counts[word], word))


def talk_writes(turns: int) -> Iterator[Write]:
    """Yield so many turns, as `observe` writes them."""
    talk = shared_talk()
    ranking, count, number = ranking_of(talk), 0, 0
    while count < turns:
        retelling = Retelling(ranking, number)
        for meeting in talk:
            origin = f"chat://{meeting['conversation']}-{number}"
            for turn in meeting["turns"]:
                if not _WORD.search(turn["text"]) or count == turns:
                    continue
                count += 1
                speaker = retelling(turn["speaker"])
                yield Write(
                    subject=EntityRef(name=speaker, type="person"),
                    content=retelling(turn["text"]),
                    object_type="retrieved_passage",
                    layer="user",
                    scope=TENANT_SCOPE,
                    source_origin=origin,
                    valid_from=START + timedelta(minutes=count),
                    why_it_matters=f"what {speaker} said in {origin}",
                )
        number += 1


class TalkQuestion(NamedTuple):
    """A question that somebody asked of the talk, in the words of one of its retellings."""

    text: str
    evidence: tuple[str, ...]
    """The turns that answer it."""


def talk_questions(count: int, turns: int, seed: int) -> list[TalkQuestion]:
    """Questions to the talk, in the words of any of its retellings; none without the data."""
    talk = shared_talk()
    if not talk:
        return []
    ranking, chance = ranking_of(talk), random.Random(seed)
    questions: list[tuple[str, tuple[str, ...]]] = []
    for meeting in talk:
        texts = {turn["id"]: turn["text"] for turn in meeting["turns"]}
        for question in meeting["questions"]:
            evidence = tuple(texts[number] for number in question["evidence"] if number in texts)
            questions.append((question["question"], evidence))

    retellings = [Retelling(ranking, n) for n in range(-(-turns // 11_582))]
    samples: list[TalkQuestion] = []
    for text, evidence in chance.sample(questions, count):
        retelling = chance.choice(retellings)
        samples.append(TalkQuestion(retelling(text), tuple(map(retelling, evidence))))
    return samples


def person(number: int) -> EntityRef:
    """One of the people of the graph."""
    return EntityRef(name=f"Person {number} Quill", type="person")


def organisation(number: int) -> EntityRef:
    """One of its organisations."""
    return EntityRef(name=f"Organisation {number} Works", type="organization")


def graph_writes(facts: int) -> Iterator[Write]:
    """Yield relations between people, and of people to organisations."""
    chance = random.Random(11)
    for _ in range(facts):
        relation = chance.choice(RELATIONS)
        is_about_people = RELATIONS.index(relation) < 3
        other = chance.randrange(PEOPLE if is_about_people else ORGANISATIONS)
        yield Write(
            subject=person(chance.randrange(PEOPLE)),
            slot=relation,
            value=person(other) if is_about_people else organisation(other),
        )


def graph_questions(count: int, seed: int) -> list[str]:
    """Questions about one person and one organisation."""
    chance = random.Random(seed)
    questions: list[str] = []
    for _ in range(count):
        relation = chance.choice(RELATIONS).replace("_", " ")
        first, second = chance.randrange(PEOPLE), chance.randrange(ORGANISATIONS)
        questions.append(
            f"Which {relation} has {person(first).name} at {organisation(second).name}?"
        )
    return questions


def define_relations(memory: Memory) -> None:
    """Define the relations of the graph."""
    for relation in RELATIONS:
        memory.vocabulary.define_slot(
            relation,
            value_type="entity",
            cardinality="many",
            description=f"whom it {relation.replace('_', ' ')}",
        )


def filled(
    path: Path,
    writes: Iterator[Write],
    embed: Callable[[Memory], None],
    prepare: Callable[[Memory], None] | None = None,
) -> tuple[float, float]:
    """Write into a file, and its vectors; return the seconds of both."""
    began = time.perf_counter()
    with connect(str(path)) as memory:
        if prepare is not None:
            prepare(memory)
        while batch := list(islice(writes, 5_000)):
            memory.write_many(batch)
        written = time.perf_counter()
        embed(memory)
    return written - began, time.perf_counter() - written
