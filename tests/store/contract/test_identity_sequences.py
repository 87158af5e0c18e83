"""Random merges, un-merges, splits and reviews: the views follow who is one, nothing else does.

A sequence is drawn from a seed. Beside the store runs a ledger of what was said: the standing
judgements, and which case waits. After every step the judgements and the clusters of the store
are those of the ledger, and whenever the same people are one and the same cases wait as at some
time before, every view is as it was then.
"""

import random
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tenure import Conflict, EntityRef, Memory, Write
from tenure.schema.interval import INF_US
from tenure.tests.store.builders import Open
from tenure.tests.support.sampling import size

FRIENDS = ("Alder Trading", "Beech Trading", "Cedar Trading", "Damson Trading")
OFFICES = ("Oslo", "Rome", "Oslo", "Bern")
STEPS = 14
SAMPLE = 8
SEQUENCES = size(3 * SAMPLE, 200)

Row = tuple[str, str, str]
"""Two raw ids in order, and what is said of them."""


def row(a: str, b: str, verdict: str) -> Row:
    return min(a, b), max(a, b), verdict


def known(raw: str | None) -> str:
    assert raw is not None
    return raw


@dataclass
class Ledger:
    """What was said, and what a reader should therefore see."""

    memory: Memory
    rng: random.Random
    friends: list[str] = field(default_factory=list)
    waiting: str = ""
    """The raw id of who may be one of the friends."""
    people: list[str] = field(default_factory=list)
    """The raw ids under the name that two people have; one until it is split."""
    cases: dict[str, str] = field(default_factory=dict)
    """Review id by what it is about."""
    parts: list[list[str]] = field(default_factory=list)
    rows: dict[Row, str] = field(default_factory=dict)
    """The standing judgements, and by what each was said."""
    states: dict[str, str] = field(default_factory=dict)
    views: dict[Hashable, Any] = field(default_factory=dict)

    def set_up(self) -> None:
        memory = self.memory
        for slot in ("office_town", "state", "district_no"):
            memory.vocabulary.define_slot(slot, description=slot)
        for number, (name, office) in enumerate(zip(FRIENDS, OFFICES, strict=True)):
            subject = EntityRef(name=name, type="organization")
            since = f"20{10 + number}-01-01T00:00:00Z"
            written = memory.write(subject, "office_town", office, valid_from=since)
            self.friends.append(known(written.entity))

        # The acronym fits one friend: a question about a name that is near.
        asked = EntityRef(name="AT", type="organization")
        self.waiting = known(memory.write(asked, "office_town", "Kyiv").entity)
        lines = [
            Write(
                subject=EntityRef(name="Mike Rogers", type="person"),
                slot=slot,
                value=value,
                valid_from="2003-01-07T00:00:00Z",
                source_origin="import://congress",
            )
            for story in (("Alabama", "3"), ("Michigan", "8"))
            for slot, value in zip(("state", "district_no"), story, strict=True)
        ]
        told = memory.write_many(lines)
        self.people = [known(told[0].entity)]
        ids = [receipt.object_id for receipt in told]
        self.parts = [ids[:2], ids[2:]]
        for case in memory.reviews.list():
            about = "namesakes" if case.reason == "namesakes" else "near"
            self.cases[about] = case.review_id
            self.states[about] = "open"
        assert sorted(self.cases) == ["namesakes", "near"]

    # --- steps; each changes the store and says so in the ledger

    def merge(self) -> None:
        a, b = self.rng.sample(self.friends, 2)
        if self.root(a) == self.root(b):
            return
        parting = [r for r in self.rows if r[2] == "NON_MATCH" and self.between(r, a, b)]
        try:
            merged = self.memory.entities.merge(a, b, reason="one")
        except Conflict as refusal:
            assert refusal.code == "existing_non_match"
            assert parting
            return
        assert not parting
        self.rows.pop(row(a, b, "UNSURE"), None)
        self.rows[row(a, b, "MATCH")] = merged.merge_id

    def unmerge(self) -> None:
        merges = [
            r for r, said in self.rows.items() if r[2] == "MATCH" and not said.startswith("@")
        ]
        if not merges:
            return
        chosen = self.rng.choice(sorted(merges))
        self.memory.entities.unmerge(self.rows.pop(chosen))
        left, right, _ = chosen
        self.rows[row(left, right, "NON_MATCH")] = "unmerge"

    def decide(self) -> None:
        """Decide the case of the near name, or take the decision back."""
        about, state = "near", self.states["near"]
        if state in ("accepted", "rejected") or (state == "unsure" and self.rng.random() < 0.5):
            self.memory.reviews.undo(self.cases[about])
            self.forget("@near")
            self.states[about] = "open"
            return

        decision = self.rng.choice(["accept", "reject", "unsure"])
        target = self.rng.choice(self.friends)
        if decision == "accept":
            self.memory.reviews.accept(self.cases[about], entity=target)
            self.forget("@near")
            self.rows[row(self.waiting, target, "MATCH")] = "@near"
        else:
            getattr(self.memory.reviews, decision)(self.cases[about])
            self.forget("@near")
            verdict = "NON_MATCH" if decision == "reject" else "UNSURE"
            for candidate in self.candidates():
                self.rows[row(self.waiting, candidate, verdict)] = "@near"
        self.states[about] = {"accept": "accepted", "reject": "rejected"}.get(decision, decision)

    def split(self) -> None:
        """Split the namesakes, or take the decision back; or say that they are one after all."""
        state, case = self.states["namesakes"], self.cases["namesakes"]
        if state != "open":
            undone = self.memory.reviews.undo(case)
            if state == "rejected":
                self.forget("@split")
                assert undone.merge is not None
                self.rows[self.of_people("MATCH")] = "@split"
            self.states["namesakes"] = "open"
            return

        if self.rng.random() < 0.3:
            self.memory.reviews.accept(case)
            self.states["namesakes"] = "accepted"
            return

        parts = self.parts if len(self.people) == 1 else ()
        self.memory.reviews.reject(case, parts=parts)
        if len(self.people) == 1:
            listed = [entity.entity_id for entity in self.memory.entities.list("person")]
            self.people += [raw for raw in listed if raw not in self.people]
        self.forget("@split")
        self.rows[self.of_people("NON_MATCH")] = "@split"
        self.states["namesakes"] = "rejected"

    # --- what follows from what was said

    def forget(self, said: str) -> None:
        self.rows = {r: by for r, by in self.rows.items() if by != said}

    def of_people(self, verdict: str) -> Row:
        one, other = self.people
        return row(one, other, verdict)

    def candidates(self) -> set[str]:
        with self.memory._backend.store.reading(self.memory.principal.tenant) as reader:
            case = reader.review(self.cases["near"])
        assert case is not None
        return {self.root(candidate.entity) for candidate in case.candidates}

    def clusters(self) -> list[list[str]]:
        parts = [{raw} for raw in (*self.friends, self.waiting, *self.people)]
        for left, right, verdict in self.rows:
            if verdict == "MATCH":
                joined = [part for part in parts if left in part or right in part]
                parts = [part for part in parts if part not in joined]
                parts.append(set().union(*joined))
        return sorted(sorted(part) for part in parts)

    def members(self, raw: str) -> list[str]:
        return next(part for part in self.clusters() if raw in part)

    def root(self, raw: str) -> str:
        order = [*self.friends, self.waiting, *self.people]  # the oldest first
        return min(self.members(raw), key=order.index)

    def between(self, judged: Row, a: str, b: str) -> bool:
        left, right = self.members(a), self.members(b)
        one, other = judged[:2]
        return (one in left and other in right) or (one in right and other in left)

    def check(self) -> None:
        """Compare the store with the ledger, and the views with those of an equal ledger."""
        raws = [*self.friends, self.waiting, *self.people]
        assert self.stored_rows(raws) == set(self.rows)

        view = self.memory.as_of()
        shown: dict[str, Any] = {}
        for raw in raws:
            entity = view.entity(raw)
            assert entity.entity_id == self.root(raw)
            facts = view.facts(raw)
            slots = {slot: (fact.status, fact.values) for slot, fact in facts.items()}
            shown[raw] = (entity.state, slots)

        key = repr((self.clusters(), sorted(self.states.items())))
        assert self.views.setdefault(key, shown) == shown

    def stored_rows(self, raws: list[str]) -> set[Row]:
        with self.memory._backend.store.writing(self.memory.principal.tenant) as tx:
            tx.lock()
            rows = tx.judgements(entity_ids=raws)
        standing = [judged for judged in rows if judged.tx_end == INF_US]
        return {(judged.left_id, judged.right_id, judged.verdict.value) for judged in standing}


def run(memory: Memory, seed: int) -> None:
    ledger = Ledger(memory, random.Random(seed))
    ledger.set_up()
    ledger.check()
    steps = (ledger.merge, ledger.unmerge, ledger.decide, ledger.decide, ledger.split)
    for _ in range(STEPS):
        ledger.rng.choice(steps)()
        ledger.check()
    assert memory.doctor() == ()


@pytest.mark.parametrize("seed", range(SAMPLE))
def test_views_follow_who_is_one_after_a_sample_of_sequences(open_memory: Open, seed: int) -> None:
    run(open_memory(), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SAMPLE, SEQUENCES))
def test_views_follow_who_is_one_after_many_sequences(open_memory: Open, seed: int) -> None:
    run(open_memory(), seed)
