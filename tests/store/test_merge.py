"""Merging and un-merging entities, and the reviews that decide it, over every store."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.schema.answers import ActionReceipt, ReviewReceipt
from tenure.schema.entity import EntityRef
from tenure.schema.errors import Conflict, InvalidInput, NotFound
from tenure.schema.interval import ALL_TIME, INF_US
from tenure.schema.policy import ResolutionPolicy
from tenure.schema.principal import Scope
from tenure.schema.vocabulary import (
    ActionKind,
    EdgeKind,
    JudgedBy,
    JudgementVerdict,
    Op,
    ReviewState,
    Status,
)
from tenure.store.operations.actions import Powers, resolve
from tenure.store.operations.change import Mandate
from tenure.store.operations.erase import erase
from tenure.store.operations.merge import merge
from tenure.store.operations.review import Remember, accept, reject, undo, unsure
from tenure.store.operations.split import unmerge
from tenure.store.port.store import Batch, SlotRead
from tenure.store.port.tables import SLOTS
from tenure.store.timeline.reconcile import fold
from tenure.tests.store.drafts import draft, uid, write
from tenure.tests.store.small_store import SmallStore
from tenure.tests.support.refusals import refused
from tenure.tests.support.sampling import examples

POLICY = ResolutionPolicy()


def order(name: str, now: int = 1000) -> Mandate:
    return Mandate(operation_id=uid(name), actor="steward", now_us=now, reason="seen")


def raw(store: Any, name: str) -> str:
    with store.writing("default") as tx:
        tx.lock()
        return str(tx.assertions([uid(name)])[uid(name)].details.subject_id)


def people(store: Any, *names: str, **more: Any) -> list[str]:
    """Write one office fact about each, and return the raw ids."""
    for n, name in enumerate(names):
        write(store, draft(name, subject=name, value=name, span=(n, INF_US), **more), now=n)
    return [raw(store, name) for name in names]


def merged(store: Any, a: str, b: str, name: str = "m1", **more: Any) -> Any:
    with store.writing("default") as tx:
        return merge(tx, a, b, mandate=order(name), policy=POLICY, **more)


def unmerged(store: Any, name: str = "m1", **more: Any) -> Any:
    with store.writing("default") as tx:
        return unmerge(tx, uid(name), mandate=order(f"un {name}", now=2000), **more)


def roots(store: Any, ids: list[str], tx_us: int | None = None) -> list[str]:
    with store.writing("default") as tx:
        last = tx.lock().last_us
        known = tx.entities(ids, tx_us=last if tx_us is None else tx_us)
    return [known.canonical.get(one, one) for one in ids]


def states(store: Any, ids: list[str]) -> list[str]:
    with store.writing("default") as tx:
        known = tx.entities(ids, tx_us=tx.lock().last_us)
    return [known.entities[one].state.value for one in ids]


def judgements(store: Any, *ids: str) -> list[Any]:
    with store.writing("default") as tx:
        tx.lock()
        return [j for j in tx.judgements(entity_ids=ids) if j.tx_end == INF_US]


def opened(store: Any, kind: ActionKind) -> list[Any]:
    with store.reading("default") as reader:
        found = reader.actions(open_only=True, tx_us=reader.clock().last_us)
    return [a for a in found if a.kind is kind]


def timeline(store: Any, ids: list[str], slot: str = "office") -> list[tuple[Any, ...]]:
    """Return the deciding rows of the slots of some raw ids, neighbours joined."""
    with store.writing("default") as tx:
        tx.lock()
        keys = tuple(r.slot_key for r in tx.find(SLOTS, "subject_id", ids) if r.slot == slot)
        (rows,) = tx.open_rows((SlotRead(keys, ALL_TIME, full=True),))
    return heads_of(rows)


def heads_of(rows: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for row in sorted(rows, key=lambda r: (r.claim.object_id, r.interval)):
        if not row.look.head:
            continue
        one = (row.claim.object_id, row.look, row.interval.start_us, row.interval.end_us)
        if found and found[-1][:2] == one[:2] and found[-1][3] == one[2]:
            one = (*one[:2], found.pop()[2], one[3])
        found.append(one)
    return sorted(found)


# --- merge


def test_a_merge_plans_the_slots_of_both_as_one_and_keeps_the_past(store: Any) -> None:
    a, b = people(store, "a", "b")
    receipt = merged(store, b, a)
    assert receipt.canonical_id == a  # the older, whatever the order of arguments
    assert receipt.members == tuple(sorted((a, b)))
    assert receipt.replanned_slots == (f"{a}/office/tenant",)
    assert roots(store, [a, b]) == [a, a]
    assert roots(store, [a, b], tx_us=10) == [a, b]
    assert states(store, [a, b]) == ["active", "merged"]
    assert [(found[0], found[2]) for found in timeline(store, [a, b])] == sorted(
        [(uid("a"), 0), (uid("b"), 1)]
    )
    with store.reading("default") as reader:
        edges = [e for e in reader.edges([uid("a")], tx_us=1000) if e.merge_id == uid("m1")]
    assert [(e.kind, e.src, e.dst, e.reason) for e in edges] == [
        (EdgeKind.SUPERSEDES, uid("b"), uid("a"), "entity_merged")
    ]


def test_a_merge_never_depends_on_the_order_of_arguments() -> None:
    found = []
    for turn in (False, True):
        with closing(SmallStore()) as one:
            ids = people(one, "a", "b")
            merged(one, *(reversed(ids) if turn else ids))
            found.append((one.state.rows, one.state.judgements, one.state.entities))
    assert found[0] == found[1]


def test_a_retry_and_a_second_merge_return_the_first_facts(store: Any) -> None:
    a, b = people(store, "a", "b")
    first = merged(store, a, b)
    for again in (merged(store, a, b), merged(store, b, a, "m2")):
        assert again.replayed
        assert (again.merge_id, again.canonical_id) == (first.merge_id, a)
        assert (again.tx, again.replanned_slots) == (first.tx, first.replanned_slots)
    with store.reading("default") as reader:
        assert reader.clock().last_us == 1000


def test_a_tie_that_a_merge_makes_waits_for_a_person_and_goes_with_the_unmerge(
    store: Any,
) -> None:
    for n, name in enumerate("ab"):
        write(store, draft(name, subject=name, value=name), now=n)
    a, b = raw(store, "a"), raw(store, "b")
    receipt = merged(store, a, b)
    (action,) = opened(store, ActionKind.SETTLE_TIE)
    assert receipt.actions == (action.action_id,)
    assert action.members == tuple(sorted((uid("a"), uid("b"))))
    unmerged(store)
    assert opened(store, ActionKind.SETTLE_TIE) == []
    merged(store, a, b, "m2", judged_by=JudgedBy.HUMAN)
    assert opened(store, ActionKind.SETTLE_TIE) == []  # the standing NON_MATCH refused


def test_an_entity_that_is_not_there_is_not_merged(store: Any) -> None:
    (a,) = people(store, "a")
    with pytest.raises(NotFound):
        merged(store, a, uid("nobody"))
    with store.writing("default") as tx:
        erase(tx, entity=a, mandate=order("erase"))
    b = people(store, "b")[0]
    with pytest.raises(NotFound):
        merged(store, a, b)


def test_a_cluster_has_a_largest_size(store: Any) -> None:
    ids = people(store, "a", "b", "c")
    merged(store, *ids[:2])
    with store.writing("default") as tx, pytest.raises(Conflict) as refusal:
        merge(tx, ids[0], ids[2], mandate=order("m2"), policy=ResolutionPolicy(max_cluster=2))
    assert refusal.value.code == "cluster_too_large"


def test_a_member_of_record_survives(store: Any) -> None:
    (a,) = people(store, "a")
    known = EntityRef(name="b", external_ids={"hr": "7"})
    write(store, draft("b", subject=known, value="b", source_kind="system_of_record"), now=5)
    b = raw(store, "b")
    assert merged(store, a, b).canonical_id == b


# --- writing on a merged cluster


def test_a_write_to_either_name_plans_the_whole_cluster(store: Any) -> None:
    a, b = people(store, "a", "b")
    merged(store, a, b)
    (receipt,) = write(store, draft("c", subject="b", value="c", span=(50, INF_US)), now=1100)
    assert receipt.entity == a
    assert set(receipt.superseded) == {uid("b")}
    (gone,) = write(store, draft("d", subject="a", op="delete", span=(60, INF_US)), now=1200)
    assert {met.object_id for met in gone.relations} >= {uid("a"), uid("b"), uid("c")}
    assert [f[0] for f in timeline(store, [a, b]) if f[3] == INF_US] == [uid("d")]


def test_a_withdrawal_acts_on_the_slots_that_were_one_at_its_own_time(store: Any) -> None:
    a, b = people(store, "a", "b")
    write(store, draft("x", subject="a", op="delete", span=(10, INF_US)), now=20)
    merged(store, a, b)
    # the deletion never knew of b: its own gap competes, b's claim is not withdrawn
    assert (uid("b"), 1) in [(f[0], f[2]) for f in timeline(store, [a, b])]
    write(store, draft("y", subject="a", op="correct", value="y", span=(5, INF_US)), now=1100)
    assert [f[0] for f in timeline(store, [a, b]) if f[3] == INF_US] == [uid("y")]
    unmerged(store)
    assert [f[0] for f in timeline(store, [b])] == [uid("b")]  # on its own slot only
    assert [f[0] for f in timeline(store, [a]) if f[3] == INF_US] == [uid("y")]


# --- judgements


def test_a_standing_judgement_refuses_and_opens_one_action(store: Any) -> None:
    a, b = people(store, "a", "b")
    merged(store, a, b)
    unmerged(store)
    for name in ("m2", "m3"):
        refusal = merged(store, a, b, name)
        assert isinstance(refusal, Conflict)
        assert refusal.code == "existing_non_match"
        assert refusal.data["merge_id"] == uid("m1")
    (action,) = opened(store, ActionKind.MERGE_CONFLICT)
    assert action.members == tuple(sorted((a, b)))
    with store.writing("default") as tx:
        done = resolve(
            tx,
            action.action_id,
            accept=True,
            mandate=order("m4", now=3000),
            policy=POLICY,
            powers=Powers(),
        )
    assert isinstance(done, ActionReceipt)
    assert done.merge is not None
    assert done.merge.canonical_id == a
    assert roots(store, [a, b]) == [a, a]
    assert opened(store, ActionKind.MERGE_CONFLICT) == []
    assert [j.verdict for j in judgements(store, a)] == [JudgementVerdict.MATCH]


def test_a_stronger_judge_overrules_a_weaker_one(store: Any) -> None:
    a, b = people(store, "a", "b")
    merged(store, a, b, judged_by=JudgedBy.RULE)
    unmerged(store, judged_by=JudgedBy.RULE)
    assert isinstance(merged(store, a, b, "m2", judged_by=JudgedBy.MODEL), Conflict)
    assert merged(store, a, b, "m3").canonical_id == a
    assert [j.judged_by for j in judgements(store, a, b)] == [JudgedBy.HUMAN]
    assert opened(store, ActionKind.MERGE_CONFLICT) == []  # what was asked about is settled


def test_a_judgement_between_any_two_members_stands_in_the_way(store: Any) -> None:
    a, b, c = people(store, "a", "b", "c")
    merged(store, b, c, "m1")
    unmerged(store, "m1")
    merged(store, a, b, "m2")
    refusal = merged(store, a, c, "m3")
    assert isinstance(refusal, Conflict)
    # Named are the two that were asked about: somebody may see those and not what was judged.
    assert refusal.data["entities"] == tuple(sorted((a, c)))


# --- un-merge


def test_unmerge_takes_back_one_merge_and_leaves_later_ones(store: Any) -> None:
    a, b, c = people(store, "a", "b", "c")
    merged(store, a, b, "m1")
    merged(store, a, c, "m2")
    receipt = unmerged(store, "m1")
    assert receipt.parts == tuple(sorted(((a, c), (b,))))
    assert roots(store, [a, b, c]) == [a, b, a]
    assert states(store, [a, b, c]) == ["active", "active", "merged"]
    assert roots(store, [a, b, c], tx_us=1500) == [a, a, a]
    again = unmerged(store, "m1")
    assert again.replayed
    assert again.parts == receipt.parts


def test_unmerge_refuses_while_other_merges_hold_the_sides_together(store: SmallStore) -> None:
    a, b, c = people(store, "a", "b", "c")
    merged(store, a, b, "m1")
    merged(store, a, c, "m2")
    (row,) = (j for j in store.state.judgements.values() if j.merge_id == uid("m2"))
    other: dict[str, Any] = {"judgement_id": uid("j"), "merge_id": uid("m3")}
    left, right = sorted((b, c))
    joined = replace(row, left_id=left, right_id=right, **other)
    with store.writing("default") as tx:
        tx.apply(Batch(clock=tx.lock(), judgements=(joined,)))
    with refused(Conflict, "still_connected") as refusal:
        unmerged(store, "m1")
    assert refusal.value.data["merges"] == tuple(sorted((uid("m2"), uid("m3"))))


# --- reviews


def waiting(store: Any) -> tuple[Any, list[str]]:
    """Write two people of one name and a mention that may be either; return the case."""
    for name, scheme in (("a", "1"), ("b", "2")):
        who = EntityRef(name="Sam Rivera", type="person", external_ids={"hr": scheme})
        write(store, draft(name, subject=who, value=name, span=(1, INF_US)), now=10)
    write(store, draft("c", subject="Sam Rivera", value="c", span=(5, INF_US)), now=20)
    return case_of(store), [raw(store, "a"), raw(store, "b"), raw(store, "c")]


def case_of(store: Any) -> Any:
    with store.reading("default") as reader:
        (case,) = [case for case in reader.reviews() if case.blocking]
    return case


def decide(store: Any, how: Any, case: Any, name: str = "d1", **more: Any) -> Any:
    now = 1000 + int(name[1:])
    if how is accept:
        more["policy"] = POLICY
    with store.writing("default") as tx:
        return how(tx, case.review_id, mandate=order(name, now=now), **more)


def test_accept_merges_the_pending_entity_into_a_candidate(store: Any) -> None:
    case, (a, b, c) = waiting(store)
    done = decide(store, accept, case, entity=b)
    assert done.canonical_id == b
    assert done.merge.merge_id == uid("d1")
    assert roots(store, [a, b, c]) == [a, b, b]
    assert states(store, [b, c]) == ["active", "merged"]
    found = case_of(store)
    assert (found.state, found.version) == (ReviewState.ACCEPTED, 2)
    assert (found.decided_entity, found.merge_id) == (b, uid("d1"))
    assert [f[0] for f in timeline(store, [b, c]) if f[3] == INF_US] == [uid("c")]


def test_accept_takes_the_best_candidate_by_default(store: Any) -> None:
    case, (a, b, _) = waiting(store)
    assert decide(store, accept, case).canonical_id == min(a, b)


def test_reject_makes_an_entity_of_its_own(store: Any) -> None:
    case, (a, b, c) = waiting(store)
    decide(store, reject, case)
    assert states(store, [a, b, c]) == ["active"] * 3
    assert [j.verdict for j in judgements(store, c)] == [JudgementVerdict.NON_MATCH] * 2
    assert case_of(store).state is ReviewState.REJECTED
    assert isinstance(merged(store, a, c), Conflict)


def test_unsure_is_recorded_and_may_be_decided_later(store: Any) -> None:
    case, (a, _, c) = waiting(store)
    decide(store, unsure, case)
    assert states(store, [c]) == ["pending"]
    assert {j.verdict for j in judgements(store, c)} == {JudgementVerdict.UNSURE}
    assert case_of(store).state is ReviewState.UNSURE
    decide(store, accept, case, "d2", entity=a)
    assert roots(store, [c]) == [a]


def test_undo_takes_the_merge_back_and_says_nothing_else(store: Any) -> None:
    case, (a, b, c) = waiting(store)
    before = timeline(store, [a]), timeline(store, [c])
    decide(store, accept, case, entity=a)
    done = decide(store, undo, case, "d2")
    assert done.unmerge.merge_id == uid("d1")
    assert states(store, [a, b, c]) == ["active", "active", "pending"]
    assert case_of(store).state is ReviewState.UNDONE
    assert (timeline(store, [a]), timeline(store, [c])) == before
    assert judgements(store, c) == []  # nobody has said that they differ
    with refused(Conflict, "not_decided"):
        decide(store, undo, case, "d3")
    again = decide(store, accept, case, "d4", entity=a)
    assert again.canonical_id == a


def named(store: Any, entity: str) -> list[tuple[str, bool]]:
    with store.writing("default") as tx:
        known = tx.entities([entity], tx_us=tx.lock().last_us)
    return sorted(
        (a.scope_id, a.merge_id is not None) for a in known.aliases if a.entity_id == entity
    )


def test_what_an_accepted_case_teaches(store: Any) -> None:
    case, (a, _, c) = waiting(store)
    assert named(store, c) == [("tenant", False)]
    decide(store, accept, case, entity=a, remember=Remember.NO)
    assert named(store, c) == []
    decide(store, undo, case, "d2")
    assert named(store, c) == [("tenant", False)]


def test_an_alias_for_every_scope_closes_with_its_merge(store: Any) -> None:
    for name in "ab":
        who = EntityRef(name="Sam", type="person", external_ids={"hr": name})
        write(store, draft(name, subject=who, value=name), now=10)
    seen = ("tenant", "user=u")
    write(store, draft("c", subject="Sam", value="c", scope=Scope(user="u")), scopes=seen, now=20)
    case, (a, c) = case_of(store), (raw(store, "a"), raw(store, "c"))
    decide(store, accept, case, entity=a, remember=Remember.ALL)
    assert named(store, c) == [("tenant", True), ("user=u", False)]
    decide(store, undo, case, "d2")
    assert named(store, c) == [("user=u", False)]


def test_a_merge_by_hand_decides_the_case(store: Any) -> None:
    case, (a, _, c) = waiting(store)
    merged(store, a, c)
    assert case_of(store).state is ReviewState.ACCEPTED
    assert case_of(store).merge_id == uid("m1")
    unmerged(store)
    decide(store, undo, case, "d2")
    assert case_of(store).state is ReviewState.UNDONE


def test_a_standing_judgement_leaves_the_case_open(store: Any) -> None:
    case, (a, _, c) = waiting(store)
    merged(store, a, c)
    unmerged(store)
    decide(store, undo, case, "d2")
    with store.writing("default") as tx:
        tx.lock()
    assert isinstance(merged(store, a, c, "m2"), Conflict)
    decide(store, unsure, case, "d3")
    refusal = decide(store, accept, case, "d4", entity=a)
    assert isinstance(refusal, Conflict)
    assert case_of(store).state is ReviewState.UNSURE


def test_a_verdict_that_stands_is_not_written_twice(store: Any) -> None:
    case, (a, _, c) = waiting(store)
    decide(store, accept, case, entity=a)
    decide(store, undo, case, "d2")
    decide(store, reject, case, "d3")
    assert len(judgements(store, c)) == 2


def test_an_accepted_case_of_what_is_one_already_writes_its_decision_alone(store: Any) -> None:
    case, (a, b, _) = waiting(store)
    decide(store, accept, case, entity=a)
    merged(store, a, b, "m1")
    assert isinstance(decide(store, undo, case, "d2"), ReviewReceipt)
    refused = decide(store, accept, case, "d3", entity=b)  # over its own NON_MATCH to a
    assert refused.canonical_id == min(roots(store, [a, b]))


def test_a_case_without_candidates_needs_an_entity(store: SmallStore) -> None:
    case, (a, _, _) = waiting(store)
    bare = replace(case, candidates=(), version=case.version + 1)
    with store.writing("default") as tx:
        tx.apply(Batch(clock=tx.lock(), reviews=(bare,)))
    with pytest.raises(InvalidInput):
        decide(store, accept, case)
    assert decide(store, accept, case, entity=a).canonical_id == a


# --- properties

VALUES = st.sampled_from(["x", "y", "z"])
WRITE = st.tuples(
    st.sampled_from(["A", "B", "C"]),
    st.sampled_from([Op.ASSERT, Op.ASSERT, Op.ASSERT, Op.CORRECT, Op.RETRACT, Op.DELETE, Op.DENY]),
    VALUES,
    st.integers(0, 6),
    st.integers(1, 6),
    st.integers(1, 3),
)
HISTORY = st.lists(WRITE, min_size=2, max_size=12)


def play(store: SmallStore, history: list[Any], slot: str, first: int = 0) -> None:
    for n, (who, op, value, start, length, level) in enumerate(history, first):
        plain = op is Op.DELETE and slot == "office"
        write(
            store,
            draft(
                f"w{n}",
                subject=who,
                slot=slot,
                value=None if plain else value,
                op=op,
                span=(start, start + length),
                level=level,
            ),
            now=10 + n,
        )


def everybody(store: SmallStore) -> list[str]:
    entities = store.state.entities
    return sorted(entities, key=lambda one: entities[one].name)


@given(HISTORY, st.sampled_from(["office", "skill"]))
@settings(max_examples=examples(120))
def test_a_fold_gives_the_stored_timeline(history: list[Any], slot: str) -> None:
    with closing(SmallStore()) as store:
        play(store, history, slot)
        for one in everybody(store):
            with store.writing("default") as tx:
                tx.lock()
                keys = [r.slot_key for r in tx.find(SLOTS, "subject_id", [one])]
                again = fold(tx.slot_claims(keys), many=slot == "skill")
            assert heads_of(again) == timeline(store, [one], slot)


@given(HISTORY, st.sampled_from(["office", "skill"]), st.booleans())
@settings(max_examples=examples(120))
def test_unmerge_is_the_identity_on_what_was_not_written_after(
    history: list[Any], slot: str, three: bool
) -> None:
    with closing(SmallStore()) as store:
        play(store, history, slot)
        ids = everybody(store)
        if len(ids) < 2:
            return
        before = {one: timeline(store, [one], slot) for one in ids}
        names = [(entity.name, entity.state) for entity in store.state.entities.values()]
        merged(store, ids[0], ids[1], "m1")
        if three and len(ids) > 2:
            merged(store, ids[0], ids[2], "m2")
            unmerged(store, "m1")
            unmerged(store, "m2")
        else:
            unmerged(store, "m1")
        assert {one: timeline(store, [one], slot) for one in ids} == before
        assert [(entity.name, entity.state) for entity in store.state.entities.values()] == names
        assert roots(store, ids) == ids
        assert opened(store, ActionKind.MERGE_CONFLICT) == []


@given(HISTORY, HISTORY, st.sampled_from(["office", "skill"]))
@settings(max_examples=examples(80))
def test_after_an_unmerge_each_slot_holds_what_it_would_have_had_alone(
    history: list[Any], later: list[Any], slot: str
) -> None:
    with closing(SmallStore()) as store, closing(SmallStore()) as apart:
        play(store, history, slot)
        play(apart, history, slot)
        ids = everybody(store)
        if len(ids) < 2:
            return
        merged(store, ids[0], ids[1], "m1")
        play(store, later, slot, first=2000)
        play(apart, later, slot, first=2000)
        unmerged(store, "m1")
        assert everybody(store) == everybody(apart)
        for one in ids:
            assert timeline(store, [one], slot) == timeline(apart, [one], slot)


@given(HISTORY, HISTORY, st.sampled_from(["office", "skill"]))
@settings(max_examples=examples(80))
def test_a_merged_cluster_never_shows_two_clean_values(
    history: list[Any], later: list[Any], slot: str
) -> None:
    with closing(SmallStore()) as store:
        play(store, history, slot)
        ids = everybody(store)
        if len(ids) < 2:
            return
        merged(store, ids[0], ids[1], "m1")
        play(store, later, slot, first=2000)
        state = store.state
        rows = [
            row
            for row in state.rows.values()
            if row.live
            and row.look.head
            and row.look.status is Status.CLEAN
            and row.claim.op is not Op.DENY
            and state.claims[row.claim.object_id].details.subject_id in ids[:2]
        ]
        for n, row in enumerate(rows):
            for other in rows[n + 1 :]:
                same = slot == "office" or row.claim.value_key == other.claim.value_key
                assert not (same and row.interval.overlaps(other.interval))
