"""Properties of the planner over drawn histories, against a painted grid and a second oracle."""

import random
from dataclasses import replace
from itertools import groupby, permutations

import portion  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure.schema.claim import Claim, Edge, Row
from tenure.schema.vocabulary import EdgeKind, Op, Status
from tenure.store.timeline.reconcile import Plan, fold, plan, rows_after, ties_of
from tenure.tests.store.core_checks import check_history, check_random, check_tiling, says
from tenure.tests.store.ledger import Ledger, answers, recorded
from tenure.tests.store.painted_grid import painted, standing, undominated
from tenure.tests.strategies import DAYS, PLAIN, History, histories
from tenure.tests.support.sampling import examples, size

HEAVY = size(3_000, 100_000)
"""Random histories of the slow comparison."""

POINTS = range(-1, DAYS + 1)


def timeline(ledger: Ledger, tx: int) -> list[object]:
    return [ledger.at(valid, tx) for valid in POINTS]


@given(histories())
@settings(max_examples=examples(500))
def test_the_planner_agrees_with_the_painted_grid(history: History) -> None:
    check_history(history.claims, many=history.many)


@given(histories())
@settings(max_examples=examples(300))
def test_heads_and_denials_are_enough_for_assert_and_deny(history: History) -> None:
    check_history(history.claims, many=history.many, frugal=True)


@pytest.mark.slow
def test_the_planner_agrees_with_the_painted_grid_on_many_random_histories() -> None:
    assert check_random(HEAVY, seed=2026) > 40 * HEAVY


@given(histories())
@settings(max_examples=examples(300))
def test_no_instant_is_lost_and_no_claim_has_two_rows_at_one(history: History) -> None:
    check_tiling(history.claims, many=history.many)


@given(histories(verbs=PLAIN, size=4, shared=False))
@settings(max_examples=examples(150))
def test_plain_asserts_and_denials_commute(history: History) -> None:
    shown = set()
    for order in permutations(history.claims):
        renumbered = [replace(c, tx=n + 1, ordinal=0) for n, c in enumerate(order)]
        ledger = recorded(renumbered, many=history.many)
        shown.add(tuple(timeline(ledger, len(order))))
    assert len(shown) == 1


@given(histories(verbs=PLAIN, size=7), st.randoms(use_true_random=False))
@settings(max_examples=examples(200))
def test_the_order_inside_a_write_does_not_matter_either(
    history: History, source: random.Random
) -> None:
    shuffled = list(history.claims)
    source.shuffle(shuffled)
    one = [replace(c, tx=1, ordinal=n) for n, c in enumerate(shuffled)]
    last = history.claims[-1].tx
    ledger = recorded(history.claims, many=history.many)
    assert timeline(recorded(one, many=history.many), 1) == timeline(ledger, last)


@given(histories(cardinality=(False,)))
@settings(max_examples=examples(200))
def test_no_instant_has_two_clean_values(history: History) -> None:
    ledger = recorded(history.claims)
    for tx in {c.tx for c in history.claims}:
        for valid in POINTS:
            clean = {
                row.claim.value_key
                for row in ledger.rows
                if valid in row.interval
                and row.tx_start <= tx < row.tx_end
                and row.look.head
                and row.look.status is Status.CLEAN
                and row.claim.op is not Op.DENY
            }
            assert len(clean) <= 1


@given(histories())
@settings(max_examples=examples(150))
def test_no_later_write_changes_an_earlier_answer(history: History) -> None:
    ledger = Ledger(many=history.many)
    told: dict[int, list[object]] = {0: timeline(ledger, 0)}
    for tx, group in groupby(history.claims, key=lambda c: c.tx):
        ledger.write(*group)
        told[tx] = timeline(ledger, tx)
        assert all(timeline(ledger, known) == answer for known, answer in told.items())


@given(histories())
@settings(max_examples=examples(150))
def test_history_only_grows(history: History) -> None:
    ledger = Ledger(many=history.many)
    for _, group in groupby(history.claims, key=lambda c: c.tx):
        before = list(ledger.rows)
        ledger.write(*group)
        for old, new in zip(before, ledger.rows, strict=False):
            assert replace(new, tx_end=old.tx_end) == old
            assert new == old or old.live
        assert all(row.tx_start < row.tx_end for row in ledger.rows)


@given(histories(shared=False))
@settings(max_examples=examples(200))
def test_a_fold_equals_planning_one_by_one(history: History) -> None:
    rows: tuple[Row, ...] = ()
    for claim in history.claims:
        rows = rows_after(rows, plan(rows, claim, many=history.many))
    folded = fold(reversed(history.claims), many=history.many)
    assert {row.row_key for row in folded} == {row.row_key for row in rows}


def _own(withdrawal: Claim, claim: Claim) -> bool:
    return withdrawal.slot_key == claim.slot_key


@given(histories(size=7), st.lists(st.sampled_from("st"), min_size=7, max_size=7))
@settings(max_examples=examples(400))
def test_a_fold_over_merged_slots_loses_no_claim(history: History, slots: list[str]) -> None:
    """Also a claim that a stronger one of the other slot repeated for a while."""
    merged = [replace(c, slot_key=s) for c, s in zip(history.claims, slots, strict=False)]
    rows = fold(merged, many=history.many, reach=_own)
    for valid in POINTS:
        alive = standing(merged, valid, history.many, apart=True)
        here = [row for row in rows if valid in row.interval]
        assert sorted(row.claim.object_id for row in here) == sorted(undominated(alive))
        heads = [row for row in here if row.look.head]
        assert answers(heads, history.many) == painted(merged, valid, history.many, apart=True)


def _last(history: History) -> tuple[Plan, list[Row], Claim]:
    *before, last = history.claims
    rows = recorded(before, many=history.many).live
    return plan(rows, last, many=history.many), rows, last


@given(histories())
@settings(max_examples=examples(200))
def test_a_plan_touches_nothing_outside_the_written_interval(history: History) -> None:
    done, rows, new = _last(history)
    assert set(map(id, done.close)) <= set(map(id, rows))
    assert all(row.interval.overlaps(new.interval) for row in done.close)
    outside = [n for n in range(DAYS) if n not in new.interval]
    covered = [
        sorted((r.claim.object_id, r.look, n) for r in side for n in outside if n in r.interval)
        for side in (done.close, done.insert)
    ]
    assert covered[0] == covered[1]


@given(histories())
@settings(max_examples=examples(200))
def test_a_plan_never_closes_a_row_to_write_it_again(history: History) -> None:
    done, _, _ = _last(history)
    assert not {row.row_key for row in done.close} & {row.row_key for row in done.insert}


@given(histories())
@settings(max_examples=examples(200))
def test_new_ties_are_those_that_were_not_there_before(history: History) -> None:
    done, rows, _ = _last(history)
    after = ties_of(rows_after(rows, done), many=history.many)
    for tie in done.ties:
        assert any(
            tie.members == t.members
            and t.interval.start_us <= tie.interval.start_us
            and tie.interval.end_us <= t.interval.end_us
            for t in after
        )
    before = {tie.members for tie in ties_of(rows, many=history.many)}
    assert {tie.members for tie in after} - before == {t.members for t in done.ties} - before


@given(
    st.lists(
        st.tuples(st.integers(0, 19), st.integers(1, 9), st.sampled_from(["a", "b", "c", ""])),
        min_size=1,
        max_size=12,
    )
)
@settings(max_examples=examples(200))
def test_corrections_of_one_source_paint_like_an_interval_dict(
    written: list[tuple[int, int, str]],
) -> None:
    """`portion` splits and joins like FOR PORTION OF: an oracle that nobody here wrote."""
    ledger, oracle = Ledger(), portion.IntervalDict()
    for tx, (start, length, value) in enumerate(written):
        op = Op.CORRECT if value else Op.DELETE
        ledger.write(says(f"{tx}", value, start, start + length, tx=tx, op=op))
        oracle[portion.closedopen(start, start + length)] = value
        for valid in range(30):
            right = oracle.get(valid)
            (found,) = ledger.at(valid, tx)
            if right is None:
                assert found[0] == "unknown"
            else:
                assert found == (("value", {right}) if right else ("gap", set()))


def test_a_chain_of_open_changes_reads_two_rows_a_write() -> None:
    rows: list[Row] = []
    read = 0
    for n in range(300):
        new = says(f"{n:04}", f"v{n}", n, tx=n)
        heads = [r for r in rows if r.look.head and r.interval.overlaps(new.interval)]
        read += len(heads)
        done = plan(heads, new)
        closed = set(map(id, done.close))
        rows = [r for r in rows if id(r) not in closed] + list(done.insert)
    assert read == 299
    assert len([r for r in rows if r.look.head]) == 300


_LOOKS = {
    ("clean", "", True),
    ("clean", "denial", True),
    ("clean", "denial", False),
    ("overridden", "denied", True),
    ("overridden", "lower_authority", False),
    ("overridden", "newer_valid_from", False),
    ("disputed", "lower_trust", False),
    ("disputed", "unresolved_tie", True),
}
"""The table of statuses; a quarantine is set elsewhere."""


@given(histories())
@settings(max_examples=examples(200))
def test_every_row_looks_as_the_table_of_statuses_says(history: History) -> None:
    for row in recorded(history.claims, many=history.many).rows:
        assert tuple(row.look) in _LOOKS


def _looks_of(rows: tuple[Row, ...], claim_id: str, edge: Edge) -> set[str]:
    return {
        row.look.reason or "shown"
        for row in rows
        if row.claim.object_id == claim_id and row.interval.overlaps(edge.interval)
    }


@given(histories(verbs=(Op.ASSERT, Op.DENY, Op.CORRECT)))
@settings(max_examples=examples(400))
def test_an_edge_tells_what_the_rows_show(history: History) -> None:
    done, rows, new = _last(history)
    after = rows_after(rows, done)
    for edge in done.edges:
        found = [_looks_of(after, end, edge) for end in (edge.src, edge.dst)]
        if edge.kind is EdgeKind.CONFLICTS_WITH:
            # a new claim that a stored one dominates has no row, and ties through that one
            assert all("unresolved_tie" in looks for looks in found if looks), (edge, after)
        if edge.kind is EdgeKind.OVERRIDES:
            assert edge.dst == new.object_id
            assert found[1] != {"shown"}, (edge, after)
        if edge.kind is EdgeKind.SUPERSEDES:
            assert edge.src == new.object_id
            assert found[1] != {"shown"}, (edge, after)


@given(histories())
@settings(max_examples=examples(200))
def test_a_tie_of_the_new_claim_has_an_edge_to_each_member(history: History) -> None:
    done, rows, new = _last(history)
    heads = {row.claim.object_id for row in rows if row.look.head or row.claim.op is Op.DENY}
    linked = {e.dst for e in done.edges if e.kind is EdgeKind.CONFLICTS_WITH}
    for tie in done.ties:
        if new.object_id in tie.members:
            assert (set(tie.members) - {new.object_id}) & heads <= linked
