"""The planner case by case: relations, bookkeeping, verbs, statuses, outcomes, ties, folds."""

from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.claim import CLEAN_HEAD, Claim, Look, Row
from tenure.schema.errors import Fault
from tenure.schema.interval import Interval
from tenure.schema.values import NO_VALUE_KEY
from tenure.schema.vocabulary import ClaimVerdict, EdgeKind, Op, Outcome, Status
from tenure.store.timeline.reconcile import (
    DENIED_HEAD,
    IDLE,
    TIED_HEAD,
    Plan,
    Tie,
    fold,
    net,
    plan,
    rows_after,
    ties_of,
)
from tenure.store.timeline.rule import DOMINATED_ROW
from tenure.store.timeline.rule import looks as looks_at_an_instant
from tenure.tests.store.core_checks import (
    EXAMPLES,
    check_examples,
    check_thirteen,
    marked,
    says,
    thirteen,
)
from tenure.tests.store.ledger import Ledger
from tenure.tests.support.refusals import refused

LOWER = Look(Status.OVERRIDDEN, "lower_authority", False)
OLDER = Look(Status.OVERRIDDEN, "newer_valid_from", False)
LESS_TRUSTED = Look(Status.DISPUTED, "lower_trust", False)

A = says("A", "a", 10, 20)
"""The stored claim of most tests."""


def stored(*claims: Claim, many: bool = False) -> list[Row]:
    """Return the rows after some claims, numbered as a store would."""
    ledger = Ledger(many=many)
    for claim in claims:
        ledger.write(claim)
    return ledger.live


def planned(*claims: Claim, many: bool = False) -> Plan:
    """Return the plan of the last claim, over the rows of those before it."""
    return plan(stored(*claims[:-1], many=many), claims[-1], many=many)


def after(*claims: Claim, many: bool = False) -> frozenset[str]:
    return marked(stored(*claims, many=many))


def looks(*claims: Claim) -> dict[str, Look]:
    rows = looks_at_an_instant(claims)
    return {claim.object_id: look for claim, look in rows if look != DOMINATED_ROW}


# The thirteen relations and their bookkeeping


def test_thirteen_relations_have_three_outcomes_each() -> None:
    assert len(thirteen()) == 39
    assert check_thirteen() == 78


@pytest.mark.parametrize("case", thirteen(), ids=lambda case: f"{case[0]}-{case[1]}")
def test_the_books_of_every_outcome(case: tuple[str, str, int, int, frozenset[str]]) -> None:
    name, strength, start, end, rows = case
    b = says("B", "b", start, end, level={"stronger": 1, "weaker": 3, "equal": 2}[strength], tx=2)
    before = stored(A)
    done = plan(before, b)
    both = A.interval.intersection(b.interval)
    if both is None:
        assert (done.close, done.edges, done.relations) == ((), (), ())
        assert done.outcome is Outcome.ACCEPTED
        return
    (edge,), (met,) = done.edges, done.relations
    assert met.relation == edge.relation == name
    assert met.interval == edge.interval == both
    assert edge.tx == 2
    remnants = [row for row in done.insert if row.claim.object_id == "A"]
    assert all(row.continues == before[0].vid for row in remnants)
    assert all(row.continues is None for row in done.insert if row.claim.object_id == "B")
    assert {row.tx_start for row in done.insert} == {2}
    if any("~" in row for row in rows):
        assert (edge.kind, edge.src, edge.dst) == (EdgeKind.CONFLICTS_WITH, "B", "A")
        assert (met.verdict, met.reason) == (ClaimVerdict.TIES, "unresolved_tie")
        assert done.close == tuple(before)
        assert done.ties == (Tie(both, ("A", "B")),)
        assert done.outcome is Outcome.DISPUTED
    elif any("Bx" in row for row in rows):
        assert (edge.kind, edge.src, edge.dst) == (EdgeKind.OVERRIDES, "A", "B")
        assert met.verdict is ClaimVerdict.LOSES
        assert done.close == ()
        hidden = f"Bx[{start},{end})" in rows
        assert done.outcome is (Outcome.OVERRIDDEN if hidden else Outcome.CLIPPED)
    else:
        assert (edge.kind, edge.src, edge.dst) == (EdgeKind.SUPERSEDES, "B", "A")
        assert met.verdict is ClaimVerdict.WINS
        assert done.close == tuple(before)
        assert done.outcome is Outcome.ACCEPTED
    reason = {"stronger": "lower_authority", "weaker": "lower_authority"}.get(strength)
    assert met.reason == edge.reason == (reason or met.reason)
    assert met.reason in ("lower_authority", "newer_valid_from", "unresolved_tie")


def test_the_worked_examples_answer_as_written() -> None:
    assert EXAMPLES.is_file()
    assert check_examples() == 78


# One instant


@pytest.mark.parametrize(
    ("other", "look"),
    [
        (says("B", "b", 10, level=1), LOWER),
        (says("B", "b", 11), OLDER),
        (says("B", "b", 10, trust=801), LESS_TRUSTED),
        (says("B", "b", 10, confidence=801), LESS_TRUSTED),
        (says("B", "b", 10), TIED_HEAD),
        (says("B", "b", 9), CLEAN_HEAD),
        (says("B", "b", 10, trust=799, confidence=1000), CLEAN_HEAD),
        (says("B", "b", 10, confidence=799), CLEAN_HEAD),
        (says("B", "b", 99, level=3), CLEAN_HEAD),
        (says("B", "b", 9, trust=1000), CLEAN_HEAD),
        (says("B", "a", 11, op=Op.DENY), DENIED_HEAD),
        (says("B", "a", 10, op=Op.DENY), TIED_HEAD),
        (says("B", "a", 9, op=Op.DENY), CLEAN_HEAD),
        (says("B", "b", 11, op=Op.DENY), CLEAN_HEAD),
    ],
)
def test_one_claim_beside_another(other: Claim, look: Look) -> None:
    assert looks(A, other)["A"] == look
    assert looks(other, A)["A"] == look


def test_a_denial_never_hides_a_gap() -> None:
    gap = says("G", NO_VALUE_KEY, 10, op=Op.DELETE)
    assert looks(gap, says("D", "a", 12, op=Op.DENY)) == {"G": CLEAN_HEAD, "D": IDLE}
    assert looks(gap, says("D", NO_VALUE_KEY, 12, op=Op.DENY))["G"] == CLEAN_HEAD


# Verbs


@pytest.mark.parametrize("op", [Op.CORRECT, Op.DELETE, Op.RETRACT])
def test_a_weaker_writer_withdraws_nothing_stronger(op: Op) -> None:
    value = NO_VALUE_KEY if op is Op.DELETE else "a"
    done = planned(A, says("W", value, 10, 20, op=op, level=3))
    assert done.close == ()
    assert [(m.verdict, m.reason) for m in done.relations] == [
        (ClaimVerdict.LOSES, "weaker_authority")
    ]
    assert [e.kind for e in done.edges] == [EdgeKind.OVERRIDES]


@pytest.mark.parametrize("op", [Op.CORRECT, Op.DELETE, Op.RETRACT])
@pytest.mark.parametrize("level", [2, 3])
def test_an_equal_or_stronger_writer_withdraws(op: Op, level: int) -> None:
    value = NO_VALUE_KEY if op is Op.DELETE else "a"
    weak = says("W", "a", 10, 20, level=level)
    done = planned(weak, says("N", value, 10, 20, op=op, level=2))
    (edge,) = done.edges
    assert (edge.kind, edge.src, edge.dst) == (EdgeKind.SUPERSEDES, "N", "W")
    reason = {Op.CORRECT: "declared_correction", Op.DELETE: "deleted", Op.RETRACT: "retracted"}
    assert edge.reason == reason[op]
    assert {row.claim.object_id for row in done.close} == {"W"}


def test_an_edge_names_a_hidden_row_only_when_it_is_withdrawn() -> None:
    old = says("O", "old", 0, 20)
    assert [e.dst for e in planned(old, A, says("B", "b", 11, 20)).edges] == ["A"]
    correct = planned(old, A, says("B", "b", 11, 20, op=Op.CORRECT))
    assert sorted(e.dst for e in correct.edges) == ["A", "O"]


# Many values


def test_values_of_a_many_slot_never_conflict() -> None:
    b = says("B", "b", 10, 20)
    assert after(A, b, many=True) == {"A[10,20)", "B[10,20)"}
    done = planned(A, b, many=True)
    assert (done.close, done.edges, done.outcome) == ((), (), Outcome.ACCEPTED)
    # A receipt tells what was met, which claims of other values are not.
    assert done.relations == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from([Op.ASSERT, Op.DENY, Op.CORRECT, Op.RETRACT, Op.DELETE]),
            st.sampled_from(["", "a", "b", "c"]),
            st.integers(0, 9),
            st.integers(1, 9),
            st.integers(1, 3),
        ),
        max_size=12,
    )
)
def test_a_fold_of_many_values_is_that_of_each_value(
    history: list[tuple[Op, str, int, int, int]],
) -> None:
    claims: list[Claim] = []
    for number, (op, value, start, length, level) in enumerate(history):
        # No value is what a deletion of all values names.
        if value or op is Op.DELETE:
            span = start, start + length
            claims.append(says(str(number), value, *span, op=op, level=level, tx=number))

    rows: list[Row] = []
    for value in "abc":
        own = [claim for claim in claims if claim.value_key in (value, "")]
        rows += fold(own, many=True)
    assert marked(list(fold(claims, many=True))) == marked(rows)


def test_a_delete_on_a_many_slot_never_takes_part() -> None:
    later = says("L", "a", 12, 20)
    for value in ("a", NO_VALUE_KEY):
        gap = says("G", value, 12, 20, op=Op.DELETE)
        assert after(gap, later, many=True) == {"L[12,20)"}
        assert planned(gap, many=True).insert == ()


def test_a_delete_of_a_named_value_needs_a_many_slot() -> None:
    with refused(Fault, "invariant_broken", match="give it the key of no value"):
        plan([], says("G", "a", 1, op=Op.DELETE))


def test_each_value_of_a_many_slot_has_a_tie_of_its_own() -> None:
    b = says("B", "b", 10, 20)
    no_a, no_b = says("D", "a", 10, 20, op=Op.DENY), says("E", "b", 10, 15, op=Op.DENY)
    rows = stored(A, no_a, b, no_b, many=True)
    expected = (Tie(Interval(10, 15), ("B", "E")), Tie(Interval(10, 20), ("A", "D")))
    assert ties_of(rows, many=True) == expected
    assert planned(A, no_a, b, no_b, many=True).ties == expected[:1]


# Outcomes


@pytest.mark.parametrize(
    ("before", "new", "outcome"),
    [
        ((), A, Outcome.ACCEPTED),
        ((A,), replace(A, object_id="B"), Outcome.CONFIRMED),
        ((A,), says("B", "a", 5, 20), Outcome.ACCEPTED),
        ((A,), says("B", "a", 12, 15), Outcome.CONFIRMED),
        ((A,), replace(A, object_id="B", level=3), Outcome.CONFIRMED),
        ((A, says("C", "a", 20, 30)), says("B", "a", 12, 25), Outcome.CONFIRMED),
        ((A,), says("B", "b", 5, 30), Outcome.CLIPPED),
        ((A,), says("B", "b", 5, 15), Outcome.CLIPPED),
        ((A,), says("B", "b", 12, 15, level=3), Outcome.OVERRIDDEN),
        ((A,), says("B", "b", 10, 20), Outcome.DISPUTED),
        ((A,), says("B", "b", 10, 20, trust=700), Outcome.DISPUTED),
        ((A, says("C", "c", 15, 30, level=1)), says("B", "b", 10, 30), Outcome.DISPUTED),
        ((A,), says("B", "b", 5, 20, op=Op.CORRECT), Outcome.ACCEPTED),
        ((A,), says("B", "b", 5, 20, op=Op.CORRECT, level=3), Outcome.CLIPPED),
        ((A,), says("B", "b", 12, 20, op=Op.CORRECT, level=3), Outcome.REFUSED),
        ((A,), says("B", "a", 10, 20, op=Op.CORRECT), Outcome.CONFIRMED),
        ((A,), says("B", NO_VALUE_KEY, 10, 20, op=Op.DELETE), Outcome.ACCEPTED),
        ((A,), says("B", NO_VALUE_KEY, 10, 30, op=Op.DELETE, level=3), Outcome.CLIPPED),
        ((A,), says("B", NO_VALUE_KEY, 10, 20, op=Op.DELETE, level=3), Outcome.REFUSED),
        ((A,), says("B", "a", 10, 20, op=Op.RETRACT), Outcome.ACCEPTED),
        ((A,), says("B", "other", 10, 20, op=Op.RETRACT), Outcome.ACCEPTED),
        ((A,), says("B", "a", 10, 20, op=Op.RETRACT, level=3), Outcome.REFUSED),
        ((A, says("C", "a", 20, 30, level=3)),
         says("B", "a", 10, 30, op=Op.RETRACT, level=3), Outcome.CLIPPED),
        ((), says("B", "a", 10, 20, op=Op.RETRACT), Outcome.ACCEPTED),
        ((A,), says("B", "a", 12, 20, op=Op.DENY), Outcome.ACCEPTED),
        ((A,), says("B", "a", 10, 20, op=Op.DENY), Outcome.DISPUTED),
        ((A,), says("B", "a", 5, 10, op=Op.DENY), Outcome.ACCEPTED),
        ((A,), says("B", "a", 5, 20, op=Op.DENY), Outcome.CLIPPED),
        ((A,), says("B", "a", 5, 20, op=Op.DENY, level=3), Outcome.CLIPPED),
        ((A,), says("B", "a", 10, 20, op=Op.DENY, level=3), Outcome.OVERRIDDEN),
        ((says("D", "a", 12, 30, op=Op.DENY),), says("B", "a", 12, 30, op=Op.DENY),
         Outcome.CONFIRMED),
        ((says("D", "a", 12, 30, op=Op.DENY),), says("B", "a", 11, 30), Outcome.CLIPPED),
        ((says("D", "a", 12, 30, op=Op.DENY),), says("B", "a", 11, 12), Outcome.ACCEPTED),
        ((says("D", "a", 12, 30, op=Op.DENY, level=1),), says("B", "a", 12, 30),
         Outcome.OVERRIDDEN),
        ((says("G", NO_VALUE_KEY, 10, 20, op=Op.DELETE),),
         says("B", NO_VALUE_KEY, 10, 20, op=Op.DELETE), Outcome.CONFIRMED),
    ],
)  # fmt: skip
def test_the_outcome_of_a_write(before: tuple[Claim, ...], new: Claim, outcome: Outcome) -> None:
    assert planned(*before, new).outcome is outcome


@pytest.mark.parametrize(
    ("value", "level", "outcome"),
    [
        ("a", 2, Outcome.ACCEPTED),
        ("a", 3, Outcome.REFUSED),
        ("c", 3, Outcome.ACCEPTED),
        (NO_VALUE_KEY, 2, Outcome.ACCEPTED),
        (NO_VALUE_KEY, 3, Outcome.CLIPPED),
    ],
)
def test_the_outcome_of_a_delete_on_a_many_slot(value: str, level: int, outcome: Outcome) -> None:
    weak = says("W", "w", 10, 20, level=3)
    gap = says("G", value, 10, 20, op=Op.DELETE, level=level)
    assert planned(A, weak, gap, many=True).outcome is outcome


# Relations and edges of denials and confirmations


def verdicts(done: Plan) -> list[tuple[str, ClaimVerdict, str]]:
    return [(m.object_id, m.verdict, m.reason) for m in done.relations]


def edges(done: Plan) -> list[tuple[EdgeKind, str, str]]:
    return [(e.kind, e.src, e.dst) for e in done.edges]


def test_a_confirmation_confirms() -> None:
    done = planned(A, says("B", "a", 12, 15, level=3))
    assert verdicts(done) == [("A", ClaimVerdict.CONFIRMS, "")]
    assert edges(done) == [(EdgeKind.CONFIRMS, "B", "A")]
    assert (done.close, done.insert) == ((), ())


@pytest.mark.parametrize("op", [Op.CORRECT, Op.DELETE])
def test_a_restatement_by_a_withdrawal_confirms_and_supersedes(op: Op) -> None:
    value = NO_VALUE_KEY if op is Op.DELETE else "a"
    first = says("A", value, 10, 20, op=Op.DELETE if op is Op.DELETE else Op.ASSERT)
    done = planned(first, says("B", value, 10, 20, op=op))
    assert [m.verdict for m in done.relations] == [ClaimVerdict.CONFIRMS]
    assert edges(done) == [(EdgeKind.SUPERSEDES, "B", "A")]


def test_an_effective_denial_supersedes() -> None:
    done = planned(A, says("D", "a", 12, 20, op=Op.DENY))
    assert verdicts(done) == [("A", ClaimVerdict.WINS, "denied")]
    assert edges(done) == [(EdgeKind.SUPERSEDES, "D", "A")]


def test_a_weaker_denial_loses() -> None:
    done = planned(A, says("D", "a", 10, 20, op=Op.DENY, level=3))
    assert verdicts(done) == [("A", ClaimVerdict.LOSES, "lower_authority")]
    assert edges(done) == [(EdgeKind.OVERRIDES, "A", "D")]


def test_a_denial_of_another_value_stands_apart() -> None:
    done = planned(A, says("D", "b", 12, 20, op=Op.DENY))
    assert verdicts(done) == [("A", ClaimVerdict.APART, "")]
    assert edges(done) == []


@pytest.mark.parametrize("start", [10, 12])
def test_a_denial_of_one_member_of_a_tie_meets_nothing(start: int) -> None:
    done = planned(A, says("B", "b", 10, 20), says("D", "a", start, 20, op=Op.DENY))
    assert [v for _, v, _ in verdicts(done)] == [ClaimVerdict.APART, ClaimVerdict.APART]
    assert (edges(done), done.ties) == ([], ())


@pytest.mark.parametrize(
    ("level", "start", "edge"),
    [
        (2, 11, (EdgeKind.OVERRIDES, "D", "B")),
        (2, 12, (EdgeKind.CONFLICTS_WITH, "B", "D")),
        (1, 12, (EdgeKind.SUPERSEDES, "B", "D")),
    ],
)
def test_an_idle_denial_comes_to_bear(
    level: int, start: int, edge: tuple[EdgeKind, str, str]
) -> None:
    idle = says("D", "b", 12, 30, op=Op.DENY)
    assert edges(planned(idle, says("B", "b", start, 30, level=level))) == [edge]


def test_a_value_that_is_hidden_anyway_does_not_meet_its_denial() -> None:
    ruling, denial = says("P", "p", 0, 30, level=0), says("D", "b", 12, 30, op=Op.DENY)
    done = planned(ruling, denial, says("B", "b", 12, 30))
    assert verdicts(done)[1] == ("D", ClaimVerdict.APART, "")
    assert edges(done) == [(EdgeKind.OVERRIDES, "P", "B")]


def test_relations_come_in_order_of_place() -> None:
    done = planned(
        says("Z", "z", 1, 5, tx=1), says("Y", "y", 3, 9, tx=2), says("N", "n", 0, 9, level=1, tx=3)
    )
    assert [m.object_id for m in done.relations] == ["Z", "Z", "Y"]
    assert [m.interval.start_us for m in done.relations] == [1, 3, 3]


# Rows


def test_a_quarantined_row_takes_no_part() -> None:
    held = replace(stored(A)[0], look=Look(Status.QUARANTINED, "policy_hold", False))
    for op in (Op.ASSERT, Op.CORRECT, Op.DENY):
        done = plan([held], says("B", "b", 10, 20, op=op))
        assert (done.close, done.relations, done.edges, done.ties) == ((), (), (), ())
        assert done.outcome is Outcome.ACCEPTED
    retract = plan([held], says("B", "a", 10, 20, op=Op.RETRACT))
    assert (retract.close, retract.insert) == ((), ())


def test_the_order_of_the_rows_does_not_matter() -> None:
    rows = stored(says("Z", "z", 1, 50), says("Y", "y", 3, 9), says("X", "x", 5, 30, level=3))
    new = says("N", "n", 2, 40, op=Op.CORRECT)
    for order in permutations(rows):
        assert plan(order, new) == plan(rows, new)


# Targets and reach


def test_a_withdrawal_with_a_target_touches_that_claim_only() -> None:
    old = says("O", "old", 0, 30)
    gone = says("R", "whatever", 0, 30, op=Op.RETRACT, target="A")
    done = planned(old, A, gone)
    assert marked(stored(old, A, gone)) == {"O[0,30)"}
    assert {m.object_id: m.verdict for m in done.relations} == {
        "O": ClaimVerdict.APART,
        "A": ClaimVerdict.WINS,
    }


def test_retiring_a_claim_puts_the_gap_exactly_there() -> None:
    """Archive: the gap takes the key of the retired claim, so nothing else changes (settled 5)."""
    old, newer = says("O", "old", 0, 30), says("N", "new", 15, 30)
    gap = says("G", NO_VALUE_KEY, 12, 30, op=Op.DELETE, target="A", since=10)
    assert after(old, A, newer, gap) == {
        "O[0,10)", "Ox[10,30)", "A[10,12)", "G[12,15)", "Gx[15,30)", "N[15,30)",
    }  # fmt: skip
    assert [m.verdict for m in planned(A, newer, gap).relations if m.object_id == "N"] == [
        ClaimVerdict.APART
    ]


def test_a_target_of_a_stronger_level_is_refused() -> None:
    gone = says("R", "a", 10, 20, op=Op.RETRACT, target="A", level=3)
    done = planned(A, gone)
    assert (done.close, done.outcome) == ((), Outcome.REFUSED)


def test_a_withdrawal_acts_only_within_its_reach() -> None:
    left = says("L", "a", 0, 30)
    right = replace(says("R", "a", 5, 30, tx=2), slot_key="other")
    gone = says("W", "a", 0, 30, op=Op.RETRACT, tx=3)

    def own(withdrawal: Claim, claim: Claim) -> bool:
        return withdrawal.slot_key == claim.slot_key

    assert marked(list(fold([left, right, gone], reach=own))) == {"R[5,30)"}
    assert fold([left, right, gone]) == ()
    blocked = plan(stored(replace(right, level=1)), gone, reach=own)
    assert (blocked.outcome, blocked.close) == (Outcome.ACCEPTED, ())
    assert [m.verdict for m in blocked.relations] == [ClaimVerdict.APART]


# Ties


def test_a_tie_covers_the_intersection_only() -> None:
    done = planned(A, says("B", "b", 10, 15))
    assert done.ties == (Tie(Interval(10, 15), ("A", "B")),)


def test_a_withdrawal_may_uncover_a_tie() -> None:
    b, cover = says("B", "b", 10, 20), says("C", "c", 5, 30, level=1)
    uncover = says("R", "c", 5, 30, op=Op.RETRACT, level=1)
    assert planned(A, cover, b, uncover).ties == (Tie(Interval(10, 20), ("A", "B")),)


def test_standing_ties_are_joined_over_their_rows() -> None:
    b = says("B", "b", 10, 20)
    rows = stored(A, b, says("C", "c", 12, 15, op=Op.CORRECT))
    assert ties_of(rows) == (
        Tie(Interval(10, 12), ("A", "B")),
        Tie(Interval(15, 20), ("A", "B")),
    )
    cut = stored(A, says("B", "b", 10, 15), says("C", "b", 10, 20))
    assert ties_of(cut) == (
        Tie(Interval(10, 15), ("A", "B")),
        Tie(Interval(15, 20), ("A", "C")),
    )
    pieces = [replace(row, interval=Interval(n, n + 1)) for row in stored(A, b) for n in (10, 11)]
    assert ties_of(pieces) == (Tie(Interval(10, 12), ("A", "B")),)


def test_a_lone_tied_row_is_no_tie() -> None:
    """Rows of the other member may be withheld from whoever asks."""
    assert ties_of(stored(A, says("B", "b", 10, 20))[:1]) == ()


# Folding and netting


def test_a_fold_goes_by_stamp_then_place() -> None:
    base = says("A", "a", 0, 9, tx=1)
    gone = says("R", "a", 0, 9, op=Op.RETRACT, tx=1, ordinal=1)
    assert fold([gone, base]) == ()


def test_netting_never_writes_what_one_stamp_opens_and_replaces() -> None:
    ledger = Ledger()
    ledger.write(says("A", "base", 0, 30, tx=1))
    ledger.write(
        says("B", "oops", 10, 30, tx=2),
        says("R", "oops", 10, 30, op=Op.RETRACT, tx=2, ordinal=1),
    )
    assert [(row.claim.object_id, row.interval.end_us) for row in ledger.rows if row.live] == [
        ("A", 10),
        ("A", 30),
    ]
    assert all(row.claim.object_id == "A" for row in ledger.rows)


def test_netting_leaves_a_row_alone_that_ends_as_it_began() -> None:
    (row,) = stored(A)
    again = replace(row, vid=0, tx_start=9)
    assert net([row], [again]) == ((), ())
    other = replace(row, claim=replace(A, object_id="B"))
    assert net([row], [other]) == ((row,), (other,))


def test_a_row_cut_twice_under_one_stamp_still_names_the_stored_row() -> None:
    (row,) = stored(says("A", "a", 0, 30))
    rows = rows_after([row], plan([row], says("B", "b", 10, 20, tx=2)))
    rows = rows_after(rows, plan(rows, says("C", "c", 22, 25, tx=2, ordinal=1)))
    remnants = [r for r in net([row], rows)[1] if r.claim.object_id == "A"]
    assert len(remnants) > 2
    assert {r.continues for r in remnants} == {row.vid}


def test_applying_a_plan_replaces_rows_by_identity() -> None:
    (row,) = stored(A)
    done = plan([row], says("B", "b", 12, 20, level=1))
    twin = replace(row)
    assert twin in rows_after([twin, row], done)
