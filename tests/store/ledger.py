"""The smallest store that can be: rows in a list, closed once, read at (valid, tx).

It applies what a planner says and nothing else, so a test of it is a test of the planner. The
planner is a parameter, so that mutants of it can be put in its place.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from types import ModuleType

from tenure.schema.claim import Claim, Row
from tenure.schema.vocabulary import Op, Status
from tenure.store.timeline import reconcile
from tenure.store.timeline.reconcile import Plan

from .painted_grid import UNKNOWN, Answer


class Ledger:
    """A slot with its whole history."""

    def __init__(
        self, *, many: bool = False, planner: ModuleType = reconcile, frugal: bool = False
    ) -> None:
        """`frugal`: assert and deny read the heads and the denials only."""
        self.many = many
        self.rows: list[Row] = []
        self._planner = planner
        self._frugal = frugal

    @property
    def live(self) -> list[Row]:
        return [row for row in self.rows if row.live]

    def write(self, *claims: Claim) -> list[Plan]:
        """Write claims under one stamp, netted, and return the plan of each."""
        before = tuple(self.live)
        rows: tuple[Row, ...] = before
        plans: list[Plan] = []
        for claim in claims:
            done = self._planner.plan(self._read(rows, claim), claim, many=self.many)
            rows = self._planner.rows_after(rows, done)
            plans.append(done)
        close, insert = self._planner.net(before, rows)
        closed = {id(row) for row in close}
        tx = claims[0].tx
        kept = [replace(row, tx_end=tx) if id(row) in closed else row for row in self.rows]
        fresh = [replace(row, vid=len(kept) + n + 1) for n, row in enumerate(insert)]
        self.rows = kept + fresh
        return plans

    def _read(self, rows: Sequence[Row], claim: Claim) -> list[Row]:
        met = [row for row in rows if row.interval.overlaps(claim.interval)]
        if not self._frugal or claim.op not in (Op.ASSERT, Op.DENY):
            return met
        return [row for row in met if row.look.head or row.claim.op is Op.DENY]

    def at(self, valid: int, tx: int) -> frozenset[Answer]:
        """Return the answers at a point of both axes, in the words of the painted grid."""
        heads = [
            row
            for row in self.rows
            if row.look.head and valid in row.interval and row.tx_start <= tx < row.tx_end
        ]
        return answers(heads, self.many)


def recorded(
    written: Iterable[Claim],
    *,
    many: bool = False,
    planner: ModuleType = reconcile,
    frugal: bool = False,
) -> Ledger:
    """Return a ledger after a history; claims with one tx are one write."""
    ledger = Ledger(many=many, planner=planner, frugal=frugal)
    for _, group in groupby(written, key=lambda c: c.tx):
        ledger.write(*group)
    return ledger


def answers(heads: Sequence[Row], many: bool) -> frozenset[Answer]:
    """Return what the heads at one instant show."""
    if not many:
        return frozenset({_answer(heads)})
    values = {row.claim.value_key for row in heads}
    found = {_answer([row for row in heads if row.claim.value_key == value]) for value in values}
    return frozenset(found) or frozenset({UNKNOWN})


def _answer(heads: Sequence[Row]) -> Answer:
    said = frozenset(
        ("!" if row.claim.op is Op.DENY else "") + row.claim.value_key for row in heads
    )
    if not heads:
        return UNKNOWN
    if any(row.look.reason == "unresolved_tie" for row in heads):
        return ("tie", said)
    if any(row.look.reason == "denied" for row in heads):
        return ("denied", frozenset(value for value in said if not value.startswith("!")))
    clean = [row for row in heads if row.look.status is Status.CLEAN]
    assert len(clean) == len(heads) == 1, heads
    return ("gap", frozenset()) if clean[0].claim.says_nothing else ("value", said)
