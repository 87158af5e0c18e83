"""Values that no longer hold and still stand in a session's requests as if they did.

A seeded conversation states facts about people, each written to the store and linked to its
message; later ones replace, correct or end earlier ones. Before each answer the request is made,
and every value that the store has overtaken is looked for in it: it is shown as current when it
stands in the history and no line of the turn says what holds now. The same conversation is run
without links, which is what a window without a store behind it does.

With `--lives` the conversations are those of four people over four weeks, and the claims are
written as their protocol states them. A request is made after each of their sessions. A value
stands there when a sentence does that stated it: words that take it back name it as well.

Run: `python bench/bench_overtaken.py [--turns 200] [--window 16384] [--lives]`. `--lives` reads
the folder `TENURE_SHARED` (by default `shared` beside the checkout).
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, NamedTuple

from tenure import Memory, connect
from tenure.bench.lives_data import (
    LIVES,
    Life,
    moment_of,
    norm,
    person_of,
    said_by_user,
    slots_of,
)
from tenure.bench.script import SHARED, options_of
from tenure.bench.talk_data import Clock
from tenure.compiler.text.sentences import subunits
from tenure.service.sessions.session import Session

SEED = 15
PEOPLE = 12
SLOT = "office"
Verb = Literal["assert", "correct"]
VERBS: Final[tuple[Verb, ...]] = ("assert", "assert", "correct")
HEAD = "no longer so:"


def value_of(number: int) -> str:
    """A value that stands in no other message."""
    return f"Office {number:03}-{chr(65 + number % 26)}"


def spoken(person: int, value: str, turn: int) -> str:
    filler = " ".join(f"detail{turn}x{place}" for place in range(40))
    return f"Person {person} works in {value}. {filler}"


def shown_as_current(session: Session, values: set[str]) -> tuple[int, int]:
    """How many overtaken values stand in the next request, and how many of them as current."""
    request = session.compile("Who works where?").render("anthropic")
    history = json.dumps(request["messages"], ensure_ascii=False)
    body, _, lines = history.partition(HEAD)
    standing = [value for value in values if value in body]
    return len(standing), sum(value not in lines for value in standing)


class Statement(NamedTuple):
    """What is said in one turn, and what becomes of it."""

    person: int
    value: str
    op: Verb
    ends: bool
    """Whether it holds no longer before the turn is over."""


def statements(turns: int) -> Iterator[Statement]:
    """One statement a turn, the same in every run."""
    chance = random.Random(SEED)
    for turn in range(turns):
        person = chance.randrange(PEOPLE)
        op = chance.choice(VERBS)
        yield Statement(person, value_of(turn), op, chance.random() < 0.1)


def replayed(memory: Memory, turns: int, window: int, *, links: bool) -> tuple[int, int, int, int]:
    """Requests, overtaken values standing in them, of these shown as current, and edits."""
    session = memory.session("linked" if links else "bare", window=window)
    current: dict[int, str] = {}
    overtaken: set[str] = set()
    standing = wrong = 0
    for turn, (person, value, op, ends) in enumerate(statements(turns)):
        session.on_turn_start(spoken(person, value, turn))
        receipt = memory.write(subject=f"Person {person}", slot=SLOT, value=value, op=op)
        if person in current:
            overtaken.add(current[person])
        current[person] = value
        if ends:
            memory.write(subject=f"Person {person}", slot=SLOT, op="delete")
            overtaken.add(current.pop(person))
        if links:
            session.link([receipt])
        stands, is_wrong = shown_as_current(session, overtaken)
        standing += stands
        wrong += is_wrong
        session.on_turn_end("Noted.")
    return turns, standing, wrong, session.state.edits


class LifeTalk:
    """What one person said over four weeks, in one session, with the claims of each day."""

    def __init__(self, memory: Memory, record: dict[str, Any], window: int, *, links: bool) -> None:
        self.memory, self.record, self.links = memory, record, links
        self.session = memory.session("life", window=window)
        self.life = Life(record["person"])
        self.statements: dict[tuple[str, str, str], set[str]] = {}
        """The sentences that stated each value of a subject and slot."""
        self.requests = self.standing = self.wrong = 0

    def go_through(self, clock: Clock) -> None:
        """Say everything, write what the protocol says of each day, and look at each request."""
        for number, day in enumerate(self.record["sessions"]):
            clock.now = moment_of(day)
            units = list(self._said(day))
            written = len(self.life.writes)
            self.life.take(day)
            for _, claim in self.life.writes[written:]:
                self._write(claim, units)
            self._look(f"What is new on day {number}?")

    def _said(self, day: dict[str, Any]) -> Iterator[tuple[int, str]]:
        """The number and the words of each message of the user."""
        for turn in said_by_user(day):
            self.session.on_turn_start(turn["message"])
            yield self.session.state.units[-1].number, turn["message"]
            self.session.on_turn_end("I see.")

    def _write(self, claim: dict[str, Any], units: Iterable[tuple[int, str]]) -> None:
        is_own = claim["subject"] == self.life.person
        subject = person_of(self.life.person) if is_own else claim["subject"]
        receipt = self.memory.write(**{**claim, "subject": subject})
        if claim["op"] != "assert":
            return

        value = norm(claim["value"])
        key = (claim["subject"], claim["slot"], str(claim["value"]))
        for number, text in units:
            sentences = {part for part in subunits(text) if f" {value} " in f" {norm(part)} "}
            if sentences and self.session.state.unit(number) is not None:
                self.statements.setdefault(key, set()).update(sentences)
                if self.links:
                    self.session.link([receipt], number)

    def _look(self, query: str) -> None:
        request = self.session.compile(query).render("anthropic")
        # A text of words alone is read as it stands, not as JSON writes it.
        body, _, lines = _words_of(request["messages"]).partition(HEAD)
        self.requests += 1
        for (subject, slot, value), sentences in self.statements.items():
            if value in self.life.current[subject, slot]:
                continue
            if any(sentence in body for sentence in sentences):
                self.standing += 1
                self.wrong += json.dumps(value, ensure_ascii=False)[:39] not in lines


def _words_of(messages: Iterable[dict[str, Any]]) -> str:
    return "\n".join(block.get("text", "") for message in messages for block in message["content"])


def life_row(window: int, *, links: bool) -> tuple[int, int, int, int]:
    """The same figures over four people."""
    totals = [0, 0, 0, 0]
    with gzip.open(SHARED / LIVES, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    for record in records:
        life = Life(record["person"])
        for day in record["sessions"]:
            life.take(day)
        clock = Clock()
        with connect(":memory:", clock=clock) as memory:
            for name, fields in slots_of(life).items():
                memory.vocabulary.define_slot(name, **fields)
            talk = LifeTalk(memory, record, window, links=links)
            talk.go_through(clock)
        row = (talk.requests, talk.standing, talk.wrong, talk.session.state.edits)
        totals = [total + count for total, count in zip(totals, row, strict=True)]
    requests, standing, wrong, edits = totals
    return requests, standing, wrong, edits


def main() -> None:
    arguments = options_of(__doc__, turns=200, window=16_384, lives=False)
    print(f"{'history':12} {'requests':>8} {'standing':>9} {'as current':>11} {'edits':>6}")
    for links in (True, False):
        if arguments.lives:
            row = life_row(arguments.window, links=links)
        else:
            with connect(":memory:") as memory:
                row = replayed(memory, arguments.turns, arguments.window, links=links)
        name = "linked" if links else "not linked"
        print(f"{name:12} {row[0]:8} {row[1]:9} {row[2]:11} {row[3]:6}", flush=True)


if __name__ == "__main__":
    main()
