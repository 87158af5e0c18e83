"""Values that no longer hold and still stand in a session's requests as if they did.

A seeded conversation states facts about people, each written to the store and linked to its
message; later ones replace, correct or end earlier ones. Before each answer the request is made,
and every value that the store has overtaken is looked for in it: it is shown as current when it
stands in the history and no line of the turn says what holds now. The same conversation is run
without links, which is what a window without a store behind it does.

Run: `python bench/bench_overtaken.py [--turns 200] [--window 16384]`. Reads no data.
"""

from __future__ import annotations

import argparse
import json
import random

from tenure import Memory, connect
from tenure.service.sessions.session import Session

SEED = 15
PEOPLE = 12
SLOT = "office"
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


def replayed(memory: Memory, turns: int, window: int, *, links: bool) -> tuple[int, int, int, int]:
    """Requests, overtaken values standing in them, of these shown as current, and edits."""
    chance = random.Random(SEED)
    session = memory.session("linked" if links else "bare", window=window)
    current: dict[int, str] = {}
    overtaken: set[str] = set()
    standing = wrong = 0
    for turn in range(turns):
        person = chance.randrange(PEOPLE)
        value = value_of(turn)
        op = chance.choice(("assert", "assert", "correct"))
        session.on_turn_start(spoken(person, value, turn))
        receipt = memory.write(subject=f"Person {person}", slot=SLOT, value=value, op=op)
        if person in current:
            overtaken.add(current[person])
        current[person] = value
        if chance.random() < 0.1:
            memory.write(subject=f"Person {person}", slot=SLOT, op="delete")
            overtaken.add(current.pop(person))
        if links:
            session.link([receipt])
        stands, is_wrong = shown_as_current(session, overtaken)
        standing += stands
        wrong += is_wrong
        session.on_turn_end("Noted.")
    return turns, standing, wrong, session.state.edits


def main() -> None:
    parser = argparse.ArgumentParser(description="Superseded values shown as current.")
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--window", type=int, default=16_384)
    arguments = parser.parse_args()
    print(f"{'history':12} {'requests':>8} {'standing':>9} {'as current':>11} {'edits':>6}")
    for links in (True, False):
        with connect(":memory:") as memory:
            row = replayed(memory, arguments.turns, arguments.window, links=links)
        name = "linked" if links else "not linked"
        print(f"{name:12} {row[0]:8} {row[1]:9} {row[2]:11} {row[3]:6}", flush=True)


if __name__ == "__main__":
    main()
