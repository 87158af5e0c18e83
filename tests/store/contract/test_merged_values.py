"""A merge reaches the values of facts, and an un-merge gives each back. On every store.

The metamorphic tests tell random histories of people who are merged, as subjects and as values, in
another order: what is shown must not depend on when the merge came.
"""

import random
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from tenure import Memory
from tenure.tests.store.builders import Open, person
from tenure.tests.support.sampling import size

Shown = list[tuple[str, frozenset[str]]]
FAST, SLOW = 3, size(5, 197)
SLOTS = ("manager", "friend")
DAYS = tuple(f"2026-0{month}-01T00:00:00Z" for month in range(1, 7))


def two_people(memory: Memory) -> tuple[str, str]:
    lou = memory.write(person("Lou Moreau", staff="L-17"), "office", "1").entity
    louis = memory.write(person("Louis Marchand", staff="L-52"), "office", "1").entity
    assert lou and louis
    return lou, louis


def values(memory: Memory, slot: str, **point: Any) -> tuple[Any, ...]:
    return tuple(v.id for v in memory.as_of(**point).slot("Nils Berg", slot).values)


def test_two_friends_who_are_one_are_one_value_with_two_sources(memory: Memory) -> None:
    lou, louis = two_people(memory)
    for friend in (lou, louis):
        memory.write("Nils Berg", "friend", friend)
    before = memory.as_of()
    merge = memory.entities.merge(lou, louis, reason="one person")
    assert any("/friend/" in slot for slot in merge.replanned_slots)
    assert values(memory, "friend") == (merge.canonical_id,)
    assert len(before.slot("Nils Berg", "friend").values) == 2

    memory.entities.unmerge(merge.merge_id, reason="two people")
    assert set(values(memory, "friend")) == {lou, louis}
    assert memory.doctor() == ()


def test_a_manager_under_two_names_is_one_stretch(memory: Memory) -> None:
    lou, louis = two_people(memory)
    memory.write("Nils Berg", "manager", lou, valid_from=DAYS[0])
    memory.write("Nils Berg", "manager", louis, valid_from=DAYS[2])
    merge = memory.entities.merge(lou, louis, reason="one person")
    (stretch,) = memory.as_of().timeline("Nils Berg", "manager")
    assert stretch.valid_from == datetime(2026, 1, 1, tzinfo=UTC)
    assert stretch.state.value.id == merge.canonical_id
    memory.entities.unmerge(merge.merge_id, reason="two people")
    segments = memory.as_of().timeline("Nils Berg", "manager")
    assert [segment.state.value.id for segment in segments] == [lou, louis]


def test_a_tie_of_two_names_is_settled_and_opens_again(memory: Memory) -> None:
    lou, louis = two_people(memory)
    for manager in (lou, louis):
        memory.write("Nils Berg", "manager", manager, valid_from=DAYS[0])
    (tie,) = memory.actions()
    merge = memory.entities.merge(lou, louis, reason="one person")
    assert memory.as_of().slot("Nils Berg", "manager").status == "clean"
    assert memory.actions() == ()
    assert [action.action_id for action in memory.actions("closed")] == [tie.action_id]
    memory.entities.unmerge(merge.merge_id, reason="two people")
    assert memory.as_of().slot("Nils Berg", "manager").status == "disputed"
    assert len(memory.actions()) == 1


def test_the_same_under_either_name_is_confirmed_and_stays_with_its_name(memory: Memory) -> None:
    lou, louis = two_people(memory)
    merge = memory.entities.merge(lou, louis, reason="one person")
    memory.write("Nils Berg", "manager", louis, valid_from=DAYS[0])
    assert memory.write("Nils Berg", "manager", lou, valid_from=DAYS[0]).outcome == "confirmed"
    memory.write("Jo Wend", "manager", louis, valid_from=DAYS[0])
    memory.entities.unmerge(merge.merge_id, reason="two people")
    assert memory.as_of().value("Jo Wend", "manager").id == louis


@pytest.mark.parametrize("merged_first", [False, True])
def test_a_retraction_takes_back_who_was_one_at_its_moment(
    memory: Memory, *, merged_first: bool
) -> None:
    lou, louis = two_people(memory)
    memory.write("Nils Berg", "friend", lou)
    if merged_first:
        memory.entities.merge(lou, louis, reason="one person")
    memory.write("Nils Berg", "friend", louis, op="retract")
    if not merged_first:
        memory.entities.merge(lou, louis, reason="one person")
    assert len(values(memory, "friend")) == (0 if merged_first else 1)


def test_a_compile_names_who_somebody_is_by_now(memory: Memory) -> None:
    lou, louis = two_people(memory)
    memory.write("Nils Berg", "manager", louis, valid_from=DAYS[0])
    memory.write(louis, "phone", "5550177")

    def lines() -> list[str]:
        asked = "What is the phone of Louis Marchand, and who is the manager of Nils Berg?"
        text = memory.compile("assistant", asked, budget_tokens=800).text
        return sorted(line.rpartition(" [")[0] for line in text.splitlines() if " | " in line)

    said = lines()
    assert f"Nils Berg | manager = Louis Marchand (since {DAYS[0][:10]})" in said
    merge = memory.entities.merge(lou, louis, reason="one person")
    name = memory.as_of().entity(merge.canonical_id).name
    assert f"Nils Berg | manager = {name} (since {DAYS[0][:10]})" in lines()
    memory.entities.unmerge(merge.merge_id, reason="two people")
    assert lines() == said


class Said(NamedTuple):
    """One write of a history; people by their number, 0 and 1 are merged."""

    op: str
    subject: int
    slot: str
    value: int
    day: str


def history_of(seed: int, ops: tuple[str, ...]) -> list[Said]:
    rng = random.Random(seed)
    return [
        Said(rng.choice(ops), rng.choice((0, 1, 2)), rng.choice(SLOTS), rng.choice((0, 1, 3)),
             rng.choice(DAYS))
        for _ in range(rng.randint(3, 8))
    ]  # fmt: skip


class World:
    """Four people of a store, told a history."""

    def __init__(self, memory: Memory, number: str) -> None:
        self.memory = memory
        names = ("Lou Moreau", "Otto Marchand", "Nils Berg", "Jo Wend")
        self.ids: list[str] = []
        for place, name in enumerate(names):
            ref = person(f"{name} {number}", staff=f"{number}-{place}")
            self.ids.append(str(memory.write(ref, "office", "1", valid_from=DAYS[0]).entity))
        self.merge_id = ""

    def tell(self, history: list[Said]) -> None:
        for said in history:
            if {said.subject, said.value} <= {0, 1}:
                continue  # a relation between the two is asked about before they are merged
            self.memory.write(
                self.ids[said.subject], said.slot, self.ids[said.value], op=said.op,
                valid_from=said.day,
            )  # fmt: skip

    def merge(self) -> None:
        merge = self.memory.entities.merge(self.ids[0], self.ids[1], reason="one person")
        self.merge_id = merge.merge_id

    def unmerge(self) -> None:
        self.memory.entities.unmerge(self.merge_id, reason="two people")

    def shown(self, *, as_one: bool, tx: Any = None) -> Shown:
        """What every slot shows on every day, people by their number."""
        numbers = {raw: str(place) for place, raw in enumerate(self.ids)}
        if as_one:
            numbers[self.ids[1]] = "0"
        answers: Shown = []
        for day in DAYS:
            view = self.memory.as_of(day, tx)
            for raw in self.ids[:3]:
                for slot in SLOTS:
                    state = view.slot(raw, slot)
                    people = frozenset(numbers[value.id] for value in state.values)
                    answers.append((str(state.status), people))
        return answers


def check(memory: Memory, seed: int) -> None:
    every = ("assert", "assert", "deny", "retract", "correct")
    said = history_of(seed, every)
    # (A) Without what may take back a fact of the other side: it acts on who was one at its own
    # moment. So a correction counts where its slot has no further fact of either.
    history = history_of(seed, ("assert", "assert", "deny", "correct"))
    facts = {line[1:4] for line in history if not {0, 1}.isdisjoint({line.subject, line.value})}
    plain: list[Said] = []
    for line in history:
        if line.op != "correct" or line.slot not in {fact[1] for fact in facts - {line[1:4]}}:
            plain.append(line)
    before, after = World(memory, f"{seed}a"), World(memory, f"{seed}b")
    before.tell(plain)
    known = before.shown(as_one=False)
    last = memory.as_of().tx
    before.merge()
    after.merge()
    after.tell(plain)
    assert before.shown(as_one=True) == after.shown(as_one=True), seed
    # (C) as of before the merge.
    assert before.shown(as_one=False, tx=last) == known, seed

    # (B) and (B2): an un-merge leaves what was said.
    alone, undone, between = (World(memory, f"{seed}{name}") for name in "cde")
    alone.tell(said)
    undone.tell(said)
    undone.merge()
    undone.unmerge()
    between.merge()
    between.tell(said)
    between.unmerge()
    assert undone.shown(as_one=False) == alone.shown(as_one=False), seed
    assert between.shown(as_one=False) == alone.shown(as_one=False), seed


def test_a_merge_and_its_undo_commute_with_what_is_written(memory: Memory) -> None:
    for seed in range(FAST):
        check(memory, seed)


@pytest.mark.slow
def test_many_merges_and_their_undos_commute_with_what_is_written(memory: Memory) -> None:
    for seed in range(FAST, FAST + SLOW):
        check(memory, seed)


def test_an_export_of_before_comes_in_with_what_was_said(open_memory: Open, tmp_path: Any) -> None:
    source = open_memory()
    lou, louis = two_people(source)
    for friend in (lou, louis):
        source.write("Nils Berg", "friend", friend)
    merge = source.entities.merge(lou, louis, reason="one person")
    path = tmp_path / "export.jsonl"
    source.export(path)

    target = open_memory()
    target.import_file(path)
    assert values(target, "friend") == (merge.canonical_id,)
    target.entities.unmerge(merge.merge_id, reason="two people")
    assert set(values(target, "friend")) == {lou, louis}
