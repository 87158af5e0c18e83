"""Erasing, reclassifying, retiring, settling: over every store that is there."""

from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.schema.claim import Permissions
from tenure.schema.entity import EntityRef
from tenure.schema.errors import Conflict, Forbidden, InvalidInput, NotFound
from tenure.schema.interval import INF_US
from tenure.schema.layers import DecayKind, DecayPolicy
from tenure.schema.policy import ResolutionPolicy
from tenure.schema.principal import Scope, Sight
from tenure.schema.values import whole_repr
from tenure.schema.vocabulary import (
    ActionKind,
    Classification,
    EntityState,
    ObjectType,
    Op,
    RetirementRule,
    StateLayer,
    Status,
)
from tenure.store.operations.actions import Powers, resolve
from tenure.store.operations.change import Mandate, reclassify
from tenure.store.operations.erase import erase
from tenure.store.operations.sweep import SweepRules, close_scope, is_due, sweep
from tenure.store.port.store import Ask, Point
from tenure.store.port.tables import RECEIPTS
from tenure.tests.store.drafts import DAY, decay, draft, uid, write
from tenure.tests.store.small_store import SmallStore
from tenure.tests.support.refusals import refused
from tenure.tests.support.sampling import examples

POLICY = ResolutionPolicy()
SEES = Sight(scopes=("project=nova", "session=s1", "tenant", "user=u"), tags=("*",), clearance=3)


def order(name: str, now: int = 1000, reason: str = "asked") -> Mandate:
    return Mandate(operation_id=uid(name), actor="steward", now_us=now, reason=reason)


def heads(store: Any, valid: int, tx: int | None = None, slot: str | None = "office") -> list[Any]:
    with store.reading("default") as reader:
        point = Point(valid, reader.clock().last_us if tx is None else tx)
        asked = Ask(slots=(slot,) if slot else ())
        return list(reader.versions(asked, sight=SEES, point=point).versions)


def shown(store: Any, valid: int, tx: int | None = None, slot: str | None = "office") -> list[str]:
    """Return the object names that an instant shows, `erased` or `gap` in their place."""
    found = []
    for version in heads(store, valid, tx, slot):
        if version.erased:
            found.append("erased")
        elif version.row.look.status is Status.CLEAN:
            gap = version.row.claim.op.value == "delete"
            found.append("gap" if gap else NAMES.get(version.row.claim.object_id, "?"))
    return sorted(found)


NAMES = {uid(name): name for name in "abcdefgh"}


def actions(store: Any, kind: ActionKind | None = None) -> list[Any]:
    with store.reading("default") as reader:
        found = reader.actions(open_only=True, tx_us=reader.clock().last_us)
    return [a for a in found if kind is None or a.kind is kind]


def erased(store: Any, name: str, **more: Any) -> Any:
    with store.writing("default") as tx:
        return erase(tx, object_id=uid(name), mandate=order(f"erase {name}", **more))


def entity(store: Any, name: str) -> str:
    """Return the raw id of the entity that the write of this name is about."""
    with store.writing("default") as tx:
        tx.lock()
        subject = tx.assertions([uid(name)])[uid(name)].details.subject_id
    assert subject is not None
    return str(subject)


# --- erase


def test_an_erased_claim_lets_what_it_hid_resurface(store: Any) -> None:
    write(store, draft("a", value="NYC"), now=10)
    write(store, draft("b", value="Rome", span=(5, INF_US)), now=20)
    receipt = erased(store, "b", now=30)
    assert receipt.object_ids == (uid("b"),)
    assert shown(store, 7) == ["a"]
    assert shown(store, 7, tx=20) == ["erased"]
    assert shown(store, 7, tx=15) == ["a"]
    with store.reading("default") as reader:
        edges = reader.edges([uid("b")], tx_us=30)
    assert ("erased", uid("a"), uid("b")) in [(e.reason, e.src, e.dst) for e in edges]


def test_a_dominated_claim_without_a_row_comes_back(store: Any) -> None:
    write(store, draft("a", value="NYC", span=(0, 100)), now=10)
    write(store, draft("b", value="NYC", span=(0, 100), confidence=900), now=20)
    assert shown(store, 50) == ["b"]
    receipt = erased(store, "b", now=30)
    assert shown(store, 50) == ["a"]
    assert receipt.independent == (uid("a"),)


def test_a_withdrawal_of_the_erased_value_alone_goes_with_it(store: Any) -> None:
    write(store, draft("a", value="NYC"), now=10)
    write(store, draft("b", value="Rome", span=(5, INF_US)), now=20)
    write(store, draft("c", value="Rome", op="retract", span=(8, INF_US)), now=25)
    receipt = erased(store, "b", now=30)
    assert receipt.object_ids == tuple(sorted((uid("b"), uid("c"))))
    assert receipt.independent == ()
    assert shown(store, 9) == ["a"]


def test_a_withdrawal_that_reached_another_claim_stays_in_force(store: Any) -> None:
    write(store, draft("a", value="Rome", span=(0, INF_US)), now=10)
    write(store, draft("b", value="Rome", span=(5, INF_US)), now=20)
    write(store, draft("c", value="Rome", op="retract", span=(0, INF_US)), now=25)
    receipt = erased(store, "b", now=30)
    assert receipt.object_ids == (uid("b"),)
    assert receipt.independent == tuple(sorted((uid("a"), uid("c"))))
    assert shown(store, 9) == []


def test_derived_objects_are_erased_or_flagged_stale(store: Any) -> None:
    write(store, draft("a", value="Rome"), now=10)
    write(store, draft("b", subject="Bob", value="Oslo"), now=11)
    text: dict[str, Any] = {"slot": None, "subject": None}
    write(store, draft("c", text="alone", derived_from=(uid("a"),), **text), now=12)
    both = (uid("a"), uid("b"))
    write(store, draft("d", text="She sits in Rome", derived_from=both, **text), now=13)
    write(store, draft("e", text="Two people", derived_from=both, **text), now=14)
    receipt = erased(store, "a", now=30)
    assert receipt.object_ids == tuple(sorted(map(uid, "acd")))
    assert receipt.stale == (uid("e"),)
    assert [v.stale for v in heads(store, 50, slot=None) if v.row.claim.object_id == uid("e")] == [
        True
    ]
    assert [a.kind for a in actions(store)] == [ActionKind.REGENERATE_SUMMARY]


def test_a_source_that_holds_the_words_is_listed_and_stays(store: Any) -> None:
    write(store, draft("a", slot=None, subject=None, text="I moved to Rome"), now=10)
    write(store, draft("b", value="Rome", derived_from=(uid("a"),)), now=11)
    assert erased(store, "b", now=30).independent == (uid("a"),)


def test_an_erasure_is_idempotent_and_its_receipt_holds_no_words(store: Any) -> None:
    write(store, draft("a", value="Rome"), now=10)
    first = erased(store, "a", now=30)
    again = erased(store, "a", now=99)
    assert again.replayed
    assert again.object_ids == first.object_ids
    assert again.tx == first.tx
    assert "Rome" not in whole_repr(first)
    with store.writing("default") as tx, pytest.raises(NotFound):
        erase(tx, object_id=uid("a"), mandate=order("another"))


def test_erasing_a_quarantined_claim_closes_its_row_and_its_action(store: Any) -> None:
    write(store, draft("a", value="Rome", quarantine="policy_hold"), now=10)
    erased(store, "a", now=30)
    assert actions(store) == []
    with store.writing("default") as tx:
        tx.lock()
        assert tx.rows_of([uid("a")]) == ()


def test_erasing_a_tying_claim_ends_the_tie(store: Any) -> None:
    write(store, draft("a", value="NYC", span=(0, 10)), now=10)
    write(store, draft("b", value="Rome", span=(0, 10)), now=20)
    assert shown(store, 5) == []
    erased(store, "b", now=30)
    assert shown(store, 5) == ["a"]
    assert actions(store) == []


def test_an_erased_entity_takes_all_that_is_said_about_it(store: Any) -> None:
    write(store, draft("a", value="Rome"), now=10)
    write(store, draft("b", slot="skill", value="Go"), now=11)
    write(store, draft("c", subject="Bob", slot="manager", value="Ann"), now=12)
    write(store, draft("d", subject="Bob", value="Oslo"), now=13)
    ann = entity(store, "a")
    with store.writing("default") as tx:
        receipt = erase(tx, entity=ann, mandate=order("erase Ann", now=30))
    assert receipt.entity_ids == (ann,)
    assert receipt.object_ids == tuple(sorted(map(uid, "abc")))
    assert shown(store, 5) == ["d"]
    assert shown(store, 5, slot="manager") == []
    with store.writing("default") as tx:
        known = tx.entities([ann], tx_us=tx.lock().last_us)
        assert known.entities[ann].state is EntityState.ERASED
        assert known.entities[ann].name == ""
        with pytest.raises(NotFound):
            erase(tx, entity=ann, mandate=order("again"))


# --- reclassify


def test_a_reclassified_object_takes_its_dependants_along_and_never_widens_them(
    store: Any,
) -> None:
    write(store, draft("a", value="Rome"), now=10)
    secret = Permissions(classification=Classification.CONFIDENTIAL, allow=("hr", "legal"))
    text: dict[str, Any] = {"slot": None, "subject": None, "text": "t", "derived_from": (uid("a"),)}
    write(store, draft("b", permissions=Permissions(allow=("legal", "sales")), **text), now=11)
    with store.writing("default") as tx:
        receipt = reclassify(tx, uid("a"), secret, mandate=order("r1", now=20))
    assert receipt.tightened == (uid("b"),)
    with store.writing("default") as tx:
        tx.lock()
        held = tx.assertions([uid("a"), uid("b")])
    assert held[uid("a")].permissions == secret
    assert held[uid("b")].permissions.allow == ("legal",)
    with store.writing("default") as tx:
        wide = reclassify(tx, uid("a"), Permissions(), mandate=order("r2", now=30))
    assert wide.tightened == ()
    with store.writing("default") as tx, pytest.raises(NotFound):
        reclassify(tx, uid("nothing"), secret, mandate=order("r3"))


# --- sweep


def decaying(name: str, rule: RetirementRule, **more: Any) -> Any:
    given: dict[str, Any] = {
        "value": name,
        "decay_rule": decay(1, 0.5),
        "retirement_rule": rule,
    } | more
    return draft(name, **given)


def swept(store: Any, now: int, *, dry_run: bool = False, **rules: Any) -> Any:
    with store.writing("default") as tx:
        mandate = order(f"sweep {now}", now=now)
        return sweep(tx, mandate=mandate, rules=SweepRules(**rules), dry_run=dry_run)


def test_strength_decides_what_is_due(store: Any) -> None:
    write(store, decaying("a", RetirementRule.ARCHIVE), now=0)
    assert swept(store, DAY).touched == 0  # exactly at the threshold
    assert swept(store, DAY + DAY // 100).archived == (uid("a"),)


def test_a_denial_never_decays_and_each_type_fades_along_its_own_curve(store: Any) -> None:
    step = DecayPolicy(kinds=((ObjectType.IDENTITY_FACT, DecayKind.STEP),))
    write(store, decaying("a", RetirementRule.ARCHIVE, decay_rule=decay(1, 0.2)), now=0)
    # After 1.5 half-lives a curve that halves has .35 left, and a step .1.
    now = DAY + DAY // 2
    assert swept(store, now, dry_run=True).touched == 0
    assert swept(store, now, decay=step, dry_run=True).touched == 1

    (stored,) = heads(store, 0)
    assert is_due(stored, 9 * DAY, step)
    denial = replace(stored.row.claim, op=Op.DENY)
    assert not is_due(replace(stored, row=replace(stored.row, claim=denial)), 9 * DAY, step)


def test_archive_leaves_a_gap_from_now_on_and_nothing_resurfaces(store: Any) -> None:
    write(store, draft("b", value="older", span=(-DAY, INF_US)), now=0)
    write(store, decaying("a", RetirementRule.ARCHIVE), now=1)
    now = 3 * DAY
    receipt = swept(store, now)
    assert receipt.archived == (uid("a"),)
    assert shown(store, now) == ["gap"]
    assert shown(store, now - 1) == ["a"]
    assert shown(store, now, tx=now - 1) == ["a"]
    assert swept(store, now + DAY).touched == 0
    with store.reading("default") as reader:
        edges = reader.edges([uid("a")], tx_us=now)
    assert [e.reason for e in edges if e.dst == uid("a")] == ["retired"]


def test_archive_touches_no_other_value_of_the_slot(store: Any) -> None:
    more: dict[str, Any] = {"slot": "skill", "subject": "Ann"}
    write(store, decaying("a", RetirementRule.ARCHIVE, **more), now=0)
    write(store, draft("b", value="Go", **more), now=1)
    swept(store, 3 * DAY)
    assert shown(store, 3 * DAY, slot="skill") == ["b"]


def test_an_archived_claim_stays_away_when_the_slot_is_folded_again(store: Any) -> None:
    write(store, decaying("a", RetirementRule.ARCHIVE), now=0)
    swept(store, 3 * DAY)
    write(store, draft("b", value="new", span=(4 * DAY, INF_US)), now=4 * DAY)
    erased(store, "b", now=5 * DAY)
    assert shown(store, 6 * DAY) == ["gap"]
    assert shown(store, 2 * DAY) == ["a"]


def test_an_old_passage_is_archived_like_any_claim(store: Any) -> None:
    passage: dict[str, Any] = {"slot": None, "subject": None, "text": "old news"}
    write(store, decaying("a", RetirementRule.ARCHIVE, **passage), now=0)
    assert swept(store, 3 * DAY).archived == (uid("a"),)
    assert shown(store, 3 * DAY, slot=None) == ["gap"]
    assert shown(store, DAY, slot=None) == ["a"]


def test_an_archived_claim_gives_up_its_hidden_pieces_too(store: Any) -> None:
    write(store, decaying("a", RetirementRule.ARCHIVE, level=3), now=0)
    write(store, draft("b", value="freeze", span=(4 * DAY, 5 * DAY), level=1), now=1)
    write(store, draft("c", value="a", op="retract", span=(8 * DAY, 9 * DAY), level=3), now=2)
    write(store, draft("d", value="base", span=(-1, INF_US), level=4), now=3)
    swept(store, 3 * DAY)
    days = {3: ["gap"], 4: ["b"], 6: ["gap"], 8: ["d"], 9: ["gap"]}
    assert {day: shown(store, day * DAY) for day in days} == days
    assert shown(store, 2 * DAY) == ["a"]


def test_a_claim_that_has_ended_leaves_no_gap(store: Any) -> None:
    write(store, draft("a", value="NYC", span=(0, DAY), quarantine="policy_hold"), now=0)
    write(store, decaying("b", RetirementRule.TRIGGER_USER_CONFIRMATION, span=(0, 4 * DAY)), now=1)
    swept(store, 3 * DAY)
    (action,) = actions(store, ActionKind.CONFIRM_DUE)
    done = settled(store, action, accept=False, now=6 * DAY)
    assert done.object_ids == (uid("b"),)
    assert shown(store, 2 * DAY) == ["b"]


def test_a_retirement_that_is_not_approved_stays_archived(store: Any) -> None:
    write(store, decaying("a", RetirementRule.HARD_DELETE), now=0)
    swept(store, 3 * DAY)
    (action,) = actions(store)
    assert settled(store, action, accept=False, now=5 * DAY).outcome == "rejected"
    assert actions(store) == []
    assert shown(store, 2 * DAY) == ["a"]


def test_a_released_correction_is_an_assert(store: Any) -> None:
    write(store, draft("a", value="NYC", span=(9, INF_US)), now=10)
    held = draft("b", value="Rome", op="correct", span=(5, INF_US), quarantine="policy_hold")
    write(store, held, now=20)
    settled(store, actions(store)[0], accept=True)
    assert shown(store, 9) == ["a"]
    with store.reading("default") as reader:
        (receipt,) = reader.find(
            RECEIPTS, "object_id", [v.row.claim.object_id for v in heads(store, 6)]
        )
    assert '"clipped"' in receipt.body


def test_numbers_and_relations_are_erased_like_words(store: Any) -> None:
    nova = EntityRef(name="Nova", type="project")
    write(store, draft("a", subject=nova, slot="budget", value=125000), now=10)
    write(store, draft("z", slot=None, subject=None, text="a source"), now=10)
    text: dict[str, Any] = {"slot": None, "subject": None, "derived_from": (uid("a"), uid("z"))}
    write(store, draft("b", text="It has 125000 to spend", **text), now=11)
    write(store, draft("c", text="It has money", **text), now=12)
    write(store, draft("d", subject="Bob", slot="manager", value="Ann"), now=13)
    text["derived_from"] = (uid("d"), uid("z"))
    write(store, draft("e", text="He has one", **text), now=14)
    assert erased(store, "a").object_ids == tuple(sorted((uid("a"), uid("b"))))
    assert erased(store, "d", now=2000).stale == (uid("e"),)


def test_an_erased_text_lists_its_corrections(store: Any) -> None:
    passage: dict[str, Any] = {"slot": None, "subject": None}
    write(store, draft("a", text="one", **passage), now=10)
    addressed: dict[str, Any] = {
        "slot_key": f"text:{uid('a')}",
        "op": "correct",
        "span": (5, INF_US),
    }
    write(store, draft("b", text="two", **passage, **addressed), now=20)
    assert erased(store, "a").independent == (uid("b"),)
    assert shown(store, 9, slot=None) == ["b"]


def test_a_quarantined_twin_is_listed_as_independent(store: Any) -> None:
    write(store, draft("a", value="Rome"), now=10)
    write(store, draft("b", value="Rome", quarantine="policy_hold"), now=11)
    assert erased(store, "a").independent == (uid("b"),)


def test_an_erased_pending_entity_ends_its_case(store: Any) -> None:
    for name in "ab":
        who = EntityRef(name="Sam", type="person", external_ids={"hr": name})
        write(store, draft(name, subject=who, value=name), now=10)
    write(store, draft("c", subject="Sam", value="c"), now=20)
    pending = entity(store, "c")
    with store.writing("default") as tx:
        erase(tx, entity=pending, mandate=order("erase c"))
    with store.reading("default") as reader:
        (case,) = (c for c in reader.reviews() if c.reason != "possible_same_as")
    assert (case.state.value, case.mention) == ("rejected", "")


def test_demoted_stays_live_in_the_archival_tier(store: Any) -> None:
    write(store, decaying("a", RetirementRule.DEMOTE_TO_ARCHIVAL), now=0)
    assert swept(store, 3 * DAY).demoted == (uid("a"),)
    (version,) = heads(store, 3 * DAY)
    assert version.demoted
    assert swept(store, 9 * DAY).touched == 0


def test_a_confirmation_is_asked_once_and_moves_the_anchor(store: Any) -> None:
    write(store, decaying("a", RetirementRule.TRIGGER_USER_CONFIRMATION), now=0)
    assert swept(store, 3 * DAY).asked == (uid("a"),)
    assert swept(store, 4 * DAY).touched == 0
    (action,) = actions(store, ActionKind.CONFIRM_DUE)
    assert heads(store, 4 * DAY)[0].confirm_due
    settled(store, action, accept=True, now=5 * DAY)
    assert not heads(store, 5 * DAY)[0].confirm_due
    assert heads(store, 5 * DAY)[0].last_confirmed_us == 5 * DAY
    assert swept(store, 5 * DAY + DAY // 2).touched == 0
    assert swept(store, 7 * DAY).asked == (uid("a"),)


def test_an_unconfirmed_object_is_archived(store: Any) -> None:
    write(store, decaying("a", RetirementRule.TRIGGER_USER_CONFIRMATION), now=0)
    swept(store, 3 * DAY)
    (action,) = actions(store)
    settled(store, action, accept=False, now=5 * DAY)
    assert shown(store, 6 * DAY) == ["gap"]
    assert actions(store) == []


def test_a_hard_delete_needs_the_privilege(store: Any) -> None:
    write(store, decaying("a", RetirementRule.HARD_DELETE), now=0)
    receipt = swept(store, 3 * DAY)
    assert receipt.approvals == (uid("a"),)
    assert shown(store, 4 * DAY) == ["gap"]
    (action,) = actions(store, ActionKind.RETIRE_APPROVAL)
    with pytest.raises(Forbidden):
        settled(store, action, accept=True, now=5 * DAY)
    done = settled(store, action, accept=True, now=5 * DAY, may_erase=True)
    assert done.erasure.object_ids == (uid("a"),)
    assert shown(store, 2 * DAY) == []
    assert shown(store, 2 * DAY, tx=3 * DAY - 1) == ["erased"]
    assert actions(store) == []


def test_a_privileged_sweep_erases_at_once(store: Any) -> None:
    write(store, decaying("a", RetirementRule.HARD_DELETE), now=0)
    write(store, decaying("b", RetirementRule.ARCHIVE, subject="Bob"), now=1)
    receipt = swept(store, 3 * DAY, may_erase=True)
    assert (receipt.erased, receipt.archived) == ((uid("a"),), (uid("b"),))
    assert shown(store, 2 * DAY) == ["b"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b"]),
            st.sampled_from(RetirementRule),
            st.integers(0, 4),
            st.integers(1, 5),
            st.integers(1, 3),
        ),
        max_size=8,
    ),
    st.integers(0, 9),
    st.booleans(),
)
@settings(max_examples=examples(80))
def test_a_second_sweep_finds_nothing_to_do(history: list[Any], now: int, may_erase: bool) -> None:
    with closing(SmallStore()) as store:
        for n, (who, rule, start, length, level) in enumerate(history):
            span = (start * DAY, (start + length) * DAY)
            one = draft(
                f"s{n}",
                subject=who,
                value=f"v{n % 3}",
                span=span,
                level=level,
                decay_rule=decay(level, 0.5),
                retirement_rule=rule,
            )
            write(store, one, now=n)
        swept(store, now * DAY, may_erase=may_erase)
        while swept(store, now * DAY, may_erase=may_erase).touched:
            # an erased claim may let an older one resurface that is due as well
            assert may_erase
        rows = dict(store.state.rows)
        assert swept(store, now * DAY, may_erase=may_erase).touched == 0
        assert store.state.rows == rows


def test_a_dry_run_and_batches(store: Any) -> None:
    for name in "abc":
        write(store, decaying(name, RetirementRule.ARCHIVE, subject=name), now=0)
    with store.reading("default") as reader:
        before = reader.clock()
    dry = swept(store, 3 * DAY, dry_run=True)
    with store.reading("default") as reader:
        assert reader.clock() == before
    assert len(dry.archived) == 3
    first, second = swept(store, 3 * DAY, limit=2), swept(store, 3 * DAY, limit=2)
    assert (first.remaining, second.remaining) == (True, False)
    assert {*first.archived, *second.archived} == set(dry.archived)


def test_a_closed_session_retires_what_lived_in_it(store: Any) -> None:
    session = Scope(session="s1")
    layers = {"a": StateLayer.SESSION, "b": StateLayer.TASK, "c": StateLayer.USER}
    for name, layer in layers.items():
        write(
            store,
            draft(name, subject=name, value="x", scope=session, layer=layer),
            scopes=("session=s1", "tenant"),
        )
    write(store, draft("d", subject="d", value="x", layer=StateLayer.SESSION))
    with store.writing("default") as tx:
        task = close_scope(tx, "task", "s1", mandate=order("t", now=100))
    with store.writing("default") as tx:
        done = close_scope(tx, "session", "s1", mandate=order("s", now=200))
    assert (task.archived, done.archived) == ((uid("b"),), (uid("a"),))
    assert shown(store, 300) == ["c", "d", "gap", "gap"]
    with store.writing("default") as tx:
        assert close_scope(tx, "session", "s1", mandate=order("s2", now=300)).touched == 0
        with pytest.raises(InvalidInput):
            close_scope(tx, "user", "u", mandate=order("u"))


# --- actions


def settled(
    store: Any, action: Any, *, accept: bool, now: int = 1000, may_erase: bool = False
) -> Any:
    with store.writing("default") as tx:
        return resolve(
            tx,
            action.action_id,
            accept=accept,
            mandate=order(f"settle {now}", now=now),
            policy=POLICY,
            powers=Powers(may_erase=may_erase),
        )


def test_a_released_claim_competes_like_any_other(store: Any) -> None:
    write(store, draft("a", value="NYC"), now=10)
    write(store, draft("b", value="Rome", span=(5, INF_US), quarantine="policy_hold"), now=20)
    (action,) = actions(store)
    done = settled(store, action, accept=True)
    (released,) = done.object_ids
    assert [v.row.claim.object_id for v in heads(store, 9)] == [released]
    assert shown(store, 3) == ["a"]
    assert actions(store) == []
    with store.writing("default") as tx:
        tx.lock()
        assert tx.rows_of([uid("b")]) == ()
    with refused(Conflict, "already_decided"):
        settled(store, action, accept=True)


def test_a_rejected_claim_stays_out(store: Any) -> None:
    write(store, draft("a", value="NYC"), now=10)
    write(store, draft("b", value="Rome", span=(5, INF_US), quarantine="policy_hold"), now=20)
    settled(store, actions(store)[0], accept=False)
    assert shown(store, 9) == ["a"]
    assert actions(store) == []


@pytest.mark.parametrize("accept", [True, False])
def test_a_stale_belief_is_verified_or_archived(store: Any, accept: bool) -> None:
    write(store, draft("a", value="NYC"), now=10)
    derived: dict[str, Any] = {
        "derived_from": (uid("a"),),
        "object_type": ObjectType.INFERRED_BELIEF,
    }
    write(store, draft("b", subject="Bob", value="near", **derived), now=11)
    write(store, draft("c", value="Rome", span=(5, INF_US)), now=20)
    (action,) = actions(store, ActionKind.REVERIFY_BELIEF)
    settled(store, action, accept=accept)
    found = [v for v in heads(store, 2000) if v.details.subject_id == entity(store, "b")]
    assert [v.stale for v in found] == [False]
    assert shown(store, 2000) == (["b", "c"] if accept else ["c", "gap"])


class CountedReads:
    """A write transaction that counts the calls of each of its methods."""

    def __init__(self, tx: Any) -> None:
        self._tx = tx
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self._tx, name)


@pytest.mark.parametrize("slot", [None, "team"], ids=["texts", "values"])
def test_an_erasure_reads_the_claims_of_a_subject_once(store: Any, slot: str | None) -> None:
    calls: list[Counter[str]] = []
    for name, size in (("Ann", 3), ("Bea", 30)):
        drafts = []
        for number in range(size):
            text = f"{name} said {number}" if slot is None else f"team {name} {number}"
            value = None if slot is None else text
            value_key = f"{name} {number}" if slot is None else ""
            more = {"value_key": value_key} if slot is None else {}
            span = (number, number + 1)
            drafts.append(draft(f"{name}{number}", name, slot, value, span=span, text=text, **more))
        receipts = write(store, *drafts, now=100 + size)
        with store.writing("default") as tx:
            counted = CountedReads(tx)
            entity = receipts[0].entity
            receipt = erase(counted, entity=entity, mandate=order(f"erase {name}", 1000 + size))
        assert len(receipt.object_ids) == size
        calls.append(counted.calls)
    assert calls[0] == calls[1]
