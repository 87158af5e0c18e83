"""Nobody learns of another's memory: with it and without it, every answer is the same.

Two stores are written in step. Into the second another user also writes what only they may see:
facts, talk of a session of the same name, cases, merges and aliases of their own, with the names,
the keys and the files of the first user. Then each call of that user is made over both. Clock and
ids are given by the step, so that an answer can differ by what the other wrote alone.

Not compared: row numbers, and ids of envelopes that are made from the last stamp of the tenant.
When a fact that all may see was last read is the tenant's to know. That something of a named entity
is withheld is told (`docs/design/trust.md`). Turns of talk are near by their row numbers, so that
nothing is observed here.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import tenure
from tenure.tests.service.two_worlds import (
    IDENTIFIERS,
    NAMES,
    SLOTS,
    WORDS,
    World,
    differences,
    hidden_step_of,
    outcome,
    step_of,
)
from tenure.tests.support.sampling import part


def reads_of(
    memory: tenure.Memory, ids: tuple[str, ...]
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls that a user reads by, each with what it is called here."""
    view = memory.as_of()
    for name in (*NAMES, "S. Rivera", "Acme Co"):
        yield f"facts {name}", partial(view.facts, name)
        yield f"entity {name}", partial(view.entity, name)
        yield f"neighbourhood {name}", partial(view.neighbourhood, name)
        yield f"page {name}", partial(memory.entities.get, name)
        yield f"resolve {name}", partial(memory.entities.resolve, name)
        yield f"log {name}", partial(memory.log, entity=name)
        yield f"rehearsal {name}", partial(memory.write, name, "title", "Boss", dry_run=True)
    for scheme, values in IDENTIFIERS.items():
        for value in values:
            person = {"name": "Somebody", "type": "person", "external_ids": {scheme: value}}
            yield f"entity {scheme}={value}", partial(view.entity, person)
            yield f"facts {scheme}={value}", partial(view.facts, person)
            yield f"resolve {scheme}={value}", partial(memory.entities.resolve, person)
            yield (
                f"rehearsal {scheme}={value}",
                partial(memory.write, person, "title", "Boss", dry_run=True),
            )
    for name in NAMES:
        for slot in SLOTS:
            yield f"history {name} {slot}", partial(memory.history, name, slot)
            yield f"timeline {name} {slot}", partial(view.timeline, name, slot)
    for pair in itertools.combinations(NAMES, 2):
        yield f"compare {pair}", partial(memory.entities.compare, *pair)
    for word in WORDS:
        question = f"What of the {word} of Sam Rivera?"
        yield f"search {word}", partial(view.search, word, limit=50)
        yield (
            f"compile {word}",
            partial(memory.compile, "analytical_reporting", question, budget_tokens=2_000),
        )
    for object_id in ids:
        yield f"explain {object_id}", partial(memory.explain, object_id)
    yield "entities", memory.entities.list
    yield "relations", memory.entities.relations
    yield "cases", partial(memory.reviews.list, "all", kind="all")
    yield "progress", memory.reviews.progress
    yield "actions", lambda: memory.actions.list("all")
    yield "diff", lambda: memory.diff("2000-01-01T00:00:00Z", None)
    yield "log", lambda: memory.log(limit=500)
    yield "sessions", memory.sessions.list
    yield "events", lambda: list(memory.session("s1", window=20_000).events())
    yield "artifacts", memory.artifacts.list
    yield "mentions", lambda: memory.mentions(f"I met {', '.join(NAMES)} and S. Rivera.")


@pytest.mark.parametrize("seed", part(range(12)))
def test_what_another_user_hides_changes_no_answer(seed: int) -> None:
    draw = random.Random(seed)
    worlds = World(), World()
    own_scopes: tuple[Any, ...] = (
        {"user": "ann"},
        {"user": "ann", "session": "s1"},
        {"project": "apollo"},
        {},
        {},
    )
    leaks: list[str] = []

    for step in range(2, 120, 2):
        if draw.random() < 0.5:
            hidden = hidden_step_of(draw)
            outcome(partial(hidden, worlds[1].at(step)))
            continue
        action = step_of(draw, own_scopes, hides=False)
        answers: list[Any] = []
        for world in worlds:
            # A write first: what is read is read at the same last stamp in both.
            world.at(step - 1).ann.write("Mark", "title", f"{step}", scope={"user": "ann"})
            world.at(step)
            answers.append(outcome(partial(action, world.ann)))
        leaks += [f"step {step}{where}" for where in differences(*answers)]

    for world in worlds:
        world.at(121).ann.write("Mark", "title", "last", scope={"user": "ann"})
        world.at(122)
    entries = worlds[0].ann.log(limit=500)
    ids = tuple(sorted({object_id for entry in entries for object_id in entry.objects}))
    left_reads, right_reads = (reads_of(world.ann, ids) for world in worlds)
    for (name, left), (_, right) in zip(left_reads, right_reads, strict=True):
        for world in worlds:
            world.at(122)
        leaks += [f"{name}{where}" for where in differences(outcome(left), outcome(right))]

    for world in worlds:
        world.owner.close()
    assert leaks == []
