"""Evidence of real talk in a context, where other users of the tenant talk at the same time.

    python -P bench/bench_talk_users.py [--others 0 1 9 29] [--meetings 5] [--budget 1000 2000 4000]

Each meeting is observed by a user of its own, as in `bench_talk.py`, in a store in which so many
other users observe a turn of other meetings between any two. Nobody sees what the others said, so
a user should be answered as one who is alone. Printed is the recall by budget beside that of BM25
over the user's own turns. The folder that TENURE_SHARED names holds the data.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import tenure
from tenure.bench.bench_talk import Asking, Method, options_of, percent
from tenure.bench.talk_data import MEETINGS, START, Clock, meetings, turns_of
from tenure.bench.talk_results import Counts
from tenure.schema.policy import DEFAULT

STRANGERS = 4
"""Meetings whose turns the other users say."""


class AskingAmongOthers(Asking):
    """One meeting, heard by one of several users."""

    stranger_count: int
    chatter: list[str]

    @contextmanager
    def _loaded(self, method: Method) -> Iterator[tuple[tenure.Memory, dict[int, str]]]:
        clock = Clock()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "talk.db")
            owner = tenure.connect(path, clock=clock, durability="normal")
            users = [
                owner.bind(tenure.Principal(user=f"user{number}", roles=frozenset({"member"})))
                for number in range(self.stranger_count + 1)
            ]
            memory, texts = users[0], cycle(self.chatter)
            objects: dict[int, str] = {}
            for turn in turns_of(self.meeting):
                clock.now = turn.day
                origin = f"chat://{self.meeting['conversation']}"
                heard = memory.observe(turn.text, turn.speaker, at=turn.day, source_origin=origin)
                objects[turn.id] = heard[0].object_id
                for number, user in enumerate(users[1:]):
                    user.observe(next(texts), at=turn.day, source_origin=f"chat://other{number}")

            owner.flush()
            clock.now = START + timedelta(days=1)
            yield memory, objects
            owner.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="evidence of talk among many users")
    parser.add_argument("--others", type=int, nargs="*", default=[0, 1, 9, 29])
    parser.add_argument("--meetings", type=int, default=5)
    parser.add_argument("--budget", type=int, nargs="*", default=[1000, 2000, 4000])
    arguments = parser.parse_args()
    shared = os.environ.get("TENURE_SHARED")
    if not shared or not Path(shared, MEETINGS).is_file():
        print("no talk to ask about: set TENURE_SHARED to the folder that holds data/")
        return

    options: Any = options_of([])
    options.budget, options.pack = arguments.budget, DEFAULT
    talk = list(meetings(Path(shared, MEETINGS), arguments.meetings + STRANGERS))
    chatter = [turn.text for meeting in talk[arguments.meetings :] for turn in turns_of(meeting)]

    print("evidence recall in % by budget:", *(f"{budget:>7,}" for budget in arguments.budget))
    show("BM25", [Asking(m, options, None).by(Method("bm25")) for m in talk[: arguments.meetings]])
    for stranger_count in arguments.others:
        counts: list[Counts] = []
        for meeting in talk[: arguments.meetings]:
            asking = AskingAmongOthers(meeting, options, None)
            asking.stranger_count, asking.chatter = stranger_count, chatter
            counts.append(asking.by(Method("tenure")))
        show(f"tenure, {stranger_count} other users", counts)


def show(name: str, counts: list[Counts]) -> None:
    """Print the recall of some meetings together."""
    shares = [
        percent([share for count in counts for share in count.recall[budget]])
        for budget in counts[0].recall
    ]
    print(f"{name:30}", *(f"{share:7.1f}" for share in shares), flush=True)


if __name__ == "__main__":
    main()
