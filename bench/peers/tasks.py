"""What is measured: each task opens a store of its own and returns its figures by name.

Times are of the process: CPU of all its threads, and wall. Whatever is asked of a time is asked
with the clock of the process set to the day on which it happens (`time_machine`), so that no peer
needs a way to state when something was recorded.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import time_machine
from facts import (
    COMPANIES,
    NEIGHBOURS,
    RELATIONS,
    SLOTS,
    SPELLINGS,
    START,
    changes,
    first_facts,
    month,
    names,
    newcomers,
    questions,
)
from peer import Fact, Peer

Figures = dict[str, float | str | None]
Opener = Callable[[Path, Sequence[str]], Peer]

WRITERS = 16
QUESTIONS = 50
LIMIT = 10


@contextmanager
def opened(opener: Opener) -> Iterator[Peer]:
    """A peer on an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        peer = opener(Path(folder), SLOTS)
        try:
            yield peer
        finally:
            peer.close()


def milliseconds(work: Callable[[], object], calls: int) -> tuple[float, float]:
    """CPU and wall of a call in milliseconds, over so many calls in one piece of work."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    spent = time.process_time() - cpu, time.perf_counter() - wall
    return spent[0] * 1000 / calls, spent[1] * 1000 / calls


def write_all(peer: Peer, facts: Sequence[Fact]) -> None:
    """Write facts one by one."""
    for fact in facts:
        peer.write(fact)


def known_names(opener: Opener, count: int) -> Figures:
    """Writes about seventy known people, then searches over what was written."""
    with opened(opener) as peer:
        write_all(peer, first_facts())
        facts = changes(count)
        cpu, wall = milliseconds(lambda: write_all(peer, facts), count)

        asked = list(questions(facts, QUESTIONS))
        peer.search(asked[0][0], LIMIT)
        answers: list[list[str]] = []
        searching = milliseconds(
            lambda: answers.extend(peer.search(question, LIMIT) for question, _ in asked),
            len(asked),
        )

    expected = [value for _, value in asked]
    first = sum(
        bool(texts) and texts[0].endswith(value)
        for texts, value in zip(answers, expected, strict=True)
    )
    among = sum(
        any(text.endswith(value) for text in texts)
        for texts, value in zip(answers, expected, strict=True)
    )
    return {
        "write known, CPU ms": cpu,
        "write known, wall ms": wall,
        "search, CPU ms": searching[0],
        "search, wall ms": searching[1],
        "search, first is right %": 100 * first / len(expected),
        "search, right in ten %": 100 * among / len(expected),
    }


def new_names(opener: Opener, count: int) -> Figures:
    """Writes that each name a person whom the store has not met."""
    with opened(opener) as peer:
        write_all(peer, newcomers(count + 20)[count:])
        facts = newcomers(count)
        cpu, wall = milliseconds(lambda: write_all(peer, facts), count)
    return {"write new, CPU ms": cpu, "write new, wall ms": wall}


def as_of(opener: Opener, _: int) -> Figures:
    """Twenty people, a change and a late correction; five questions about each.

    In January the store learns A from January on, in June B from June on, and in September that
    from March to May it was C. Asked is what was true in a month, as known on a day.
    """
    people = names(20)
    lessons = (
        (datetime(2024, 1, 5, tzinfo=UTC), "A", month(1), None),
        (datetime(2024, 6, 5, tzinfo=UTC), "B", month(6), None),
        (datetime(2024, 9, 5, tzinfo=UTC), "C", month(3), month(5)),
    )
    probes = ((2, 2, "A"), (7, 7, "B"), (4, 7, "A"), (4, 10, "C"), (7, 4, "A"))

    right = 0
    # The store is opened on the day of its first lesson too.
    with time_machine.travel(datetime(2024, 1, 4, tzinfo=UTC)) as clock, opened(opener) as peer:
        for recorded, letter, start, end in lessons:
            clock.move_to(recorded)
            for name in people:
                peer.write(Fact(name, "role", f"{letter} of {name}", start, end))

        clock.move_to(datetime(2024, 12, 1, tzinfo=UTC))
        try:
            for name in people:
                for valid, known, letter in probes:
                    middle = timedelta(days=14)
                    values = peer.values_at(
                        name, "role", month(valid) + middle, month(known) + middle
                    )
                    right += values == [f"{letter} of {name}"]
        except NotImplementedError:
            return {"as of two times, right of 100": None}
    return {"as of two times, right of 100": right}


def arrivals(opener: Opener, _: int) -> Figures:
    """Two values of one slot in each of Allen's relations, the older told first and last.

    Violated is a relation when at some mid-month two values hold, or one value that covers it
    alone is not returned. Either value may win where both cover.
    """
    kept = 0
    with time_machine.travel(datetime(2025, 1, 1, tzinfo=UTC)) as clock, opened(opener) as peer:
        cases = [(relation, turned) for relation in RELATIONS for turned in (False, True)]
        for number, (relation, turned) in enumerate(cases):
            subject = names(len(cases))[number]
            start, end = RELATIONS[relation]
            told = [
                Fact(subject, "role", "old", month(4), month(8)),
                Fact(subject, "role", "new", month(start), month(end)),
            ]
            if turned:
                told.reverse()
            for fact in told:
                clock.shift(timedelta(days=1))
                peer.write(fact)

            try:
                kept += not _is_violated(peer, told, clock)
            except NotImplementedError:
                return {"relations x orders kept of 26": None}
    return {"relations x orders kept of 26": kept}


def _is_violated(peer: Peer, told: Sequence[Fact], clock: time_machine.Coordinates) -> bool:
    """Whether some mid-month shows two values, or lacks the one that covers it."""
    clock.shift(timedelta(hours=1))
    known = datetime.now(UTC)
    for number in range(1, 12):
        instant = month(number) + timedelta(days=14)
        values = peer.values_at(told[0].subject, "role", instant, known)
        covering = [f.value for f in told if f.start <= instant < (f.end or instant)]
        if len(values) > 1 or (len(covering) == 1 and values != covering):
            return True
    return False


def identity(opener: Opener, _: int) -> Figures:
    """Entities after sixteen writers named twenty companies at once, four spellings, neighbours."""
    together = [[Fact(name, "role", "supplier", START) for name in COMPANIES]] * WRITERS
    try:
        with opened(opener) as peer:
            for spelling in SPELLINGS:
                write_all(
                    peer,
                    [Fact(spelling.format(name), "role", "supplier", START) for name in COMPANIES],
                )
            spelled = peer.entities()

        with opened(opener) as peer:
            write_all(peer, [Fact(name, "role", "open", START) for name in NEIGHBOURS])
            apart = peer.entities()

        # Last, because what a process loads for its first writes is measured in no other line.
        with opened(opener) as peer:
            cpu, wall = time.process_time(), time.perf_counter()
            refused = peer.write_together(together)
            calls = WRITERS * len(COMPANIES)
            cpu = (time.process_time() - cpu) * 1000 / calls
            wall = (time.perf_counter() - wall) * 1000 / calls
            concurrent = peer.entities()
    except NotImplementedError:
        return {"16 writers, entities of 20": None}
    return {
        "16 writers, entities of 20": concurrent,
        "16 writers, refused writes": refused,
        "16 writers, CPU ms a write": cpu,
        "16 writers, wall ms a write": wall,
        "four spellings, entities of 20": spelled,
        "forty look-alikes, entities of 40": apart,
    }


TASKS: dict[str, Callable[[Opener, int], Figures]] = {
    "known": known_names,
    "new": new_names,
    "as of": as_of,
    "relations": arrivals,
    "identity": identity,
}
