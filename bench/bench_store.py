"""Figures of a store at the port: writing in batches, and every kind of read.

    python bench/bench_store.py [10000 100000 1000000] [--folder PATH]

Builds tenants of so many version rows (entities with 10 slots, 5 generations each, one slot
in ten pointing at another entity), then prints medians and 99th percentiles in microseconds
of reads at random places, and their growth from the first size to the last. Reads include
decoding. The last lines are a slot of 10,000 generations and writes by 16 threads through the
group-commit queue.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tenure.bench.script import parser_of
from tenure.schema.claim import Assertion, Claim, Content, Details, Look, Permissions, Row, slot_key
from tenure.schema.interval import INF_US, Interval
from tenure.schema.principal import Scope, Sight
from tenure.schema.terms import terms
from tenure.schema.vocabulary import Authority, ObjectType, Op, RetirementRule, StateLayer, Status
from tenure.store.commit.queue import CommitQueue
from tenure.store.port.records import Closing, NextReads, Walk
from tenure.store.port.store import (
    Ask,
    Batch,
    Clock,
    Page,
    Point,
    Reader,
    SlotRead,
    SlotRecord,
    Store,
    TxEvent,
)
from tenure.store.sqlite import SqliteStore
from tenure.store.timeline.ledger import RowLedger

TENANT = "bench"
GENERATIONS, SLOTS = 5, 10
BATCH = 500
SIGHT = Sight(scopes=("project=nova", "tenant", "user=ann"), tags=("*", "member"), clearance=2)
SHOWN, HIDDEN = Look(Status.CLEAN, "", True), Look(Status.OVERRIDDEN, "newer_valid_from", False)
WORDS = [f"word{n}" for n in range(5_000)]


def assertion(
    number: int, subject: int, slot: int, since: int, tx: int, rng: random.Random
) -> Assertion:
    """Return a claim with about 25 words of content."""
    text = " ".join(rng.choices(WORDS, k=25))
    about = f"entity-{subject}"
    points = f"entity-{rng.randrange(max(subject, 1))}" if slot == 0 else None
    return Assertion(
        claim=Claim(
            object_id=f"object-{number}",
            slot_key=slot_key(about, f"slot{slot}", "tenant"),
            op=Op.ASSERT,
            value_key=f"s:{number}",
            interval=Interval(since, INF_US),
            since_us=since,
            level=2,
            source_authority=800,
            confidence=800,
            tx=tx,
            ordinal=0,
        ),
        details=Details(
            scope=Scope(),
            slot=f"slot{slot}",
            subject_id=about,
            value_entity_id=points,
            authority_level=Authority.USER,
            source_origin="user://chat",
            source_kind="user_statement",
            object_type=ObjectType.IDENTITY_FACT,
            layer=StateLayer.TENANT,
            applicable_task_types=(),
            sensitivity=(),
            decay_rule=None,
            retirement_rule=RetirementRule.ARCHIVE,
            update_path="append",
            derived_from=(),
            origins=("user://chat",),
            planned=False,
            actor="ann",
            resolved_via="exact",
        ),
        content=Content(
            value_json=f'"{number}"',
            text=text,
            normalized_claim=text[:80],
            why_it_matters="benchmark",
            behavioral_implication=None,
            enforcement=None,
            terms=" ".join(terms(text)),
        ),
        permissions=Permissions(),
    )


def history(
    versions: int,
) -> Iterator[tuple[Assertion, tuple[Closing, ...], tuple[Row, ...], bool]]:
    """Yield writes of a history that holds so many rows: what a plan would make of them."""
    rng = random.Random(7)
    entities = max(versions // (SLOTS * (1 + 3 * (GENERATIONS - 1))), 1)
    heads: dict[tuple[int, int], Row] = {}
    vid = tx = 1
    for generation in range(GENERATIONS):
        for subject in range(entities):
            for slot in range(SLOTS):
                stated = assertion(tx, subject, slot, generation * 1_000, tx, rng)
                before = heads.get((subject, slot))
                shown = Row(vid, stated.claim, stated.claim.interval, SHOWN, tx)
                rows = [shown]
                close: tuple[Closing, ...] = ()
                if before is not None:
                    start = before.interval.start_us
                    end = generation * 1_000
                    rows.append(Row(vid + 1, before.claim, Interval(start, end), SHOWN, tx))
                    rows.append(Row(vid + 2, before.claim, Interval(end, INF_US), HIDDEN, tx))
                    close = (Closing(before.vid, tx),)
                heads[subject, slot] = shown
                yield stated, close, tuple(rows), generation == 0
                vid += len(rows)
                tx += 1


def fill(store: Store, versions: int) -> tuple[int, float]:
    """Write a history in batches, and return its claims and the seconds that took."""
    store.ensure(TENANT)
    written, spent = 0, 0.0
    source = history(versions)
    while part := list(islice(source, BATCH)):
        last = part[-1][0].claim.tx
        events = tuple(
            TxEvent(
                seq=c.claim.tx,
                tx=c.claim.tx,
                actor="ann",
                op="write",
                object_ids=(c.claim.object_id,),
            )
            for c, *_ in part
        )
        batch = Batch(
            clock=Clock(last, last, part[-1][2][-1].vid + 1, 0),
            events=events,
            slots=tuple(
                SlotRecord(c.claim.slot_key, c.details.subject_id, c.details.slot, "tenant", False)
                for c, _, _, new in part
                if new
            ),
            claims=tuple(c for c, *_ in part),
            close=tuple(x for _, close, _, _ in part for x in close),
            rows=tuple(_netted(part)),
        )
        batch = replace(batch, close=_stored_only(batch))
        start = time.perf_counter()
        with store.writing(TENANT) as tx:
            tx.lock()
            tx.apply(batch)
        spent += time.perf_counter() - start
        written += len(part)
    return written, spent


def _netted(
    part: Sequence[tuple[Assertion, tuple[Closing, ...], tuple[Row, ...], bool]],
) -> Iterator[Row]:
    """Yield the rows of a batch, those that it closes itself born closed."""
    closed = {x.vid: x.tx for _, close, _, _ in part for x in close}
    for _, _, rows, _ in part:
        for row in rows:
            yield replace(row, tx_end=closed.get(row.vid, INF_US))


def _stored_only(batch: Batch) -> tuple[Closing, ...]:
    own = {row.vid for row in batch.rows}
    return tuple(closing for closing in batch.close if closing.vid not in own)


def timed(call: Callable[[int], object], count: int) -> tuple[float, float]:
    """Return the median and the 99th percentile of calls, in microseconds."""
    times = []
    for number in range(count):
        start = time.perf_counter()
        call(number)
        times.append((time.perf_counter() - start) * 1e6)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.99)]


def reads(reader: Reader, entities: int, last: int) -> dict[str, Callable[[int], object]]:
    """Return the reads by name; each takes a number that it may vary by."""
    rng = random.Random(11)

    def who() -> str:
        return f"entity-{rng.randrange(entities)}"

    def point(*, now: bool) -> Point:
        return Point(rng.randrange(GENERATIONS * 1_000), last if now else rng.randrange(last))

    def slot(now: bool) -> object:
        ask = Ask(subjects=(who(),), slots=(f"slot{rng.randrange(SLOTS)}",))
        return reader.versions(ask, sight=SIGHT, point=point(now=now))

    def timeline(_: int) -> object:
        ask = Ask(subjects=(who(),), heads=False, at_valid=False, at_tx=False)
        return reader.versions(ask, sight=SIGHT, point=point(now=True))

    def two_hops(now: bool) -> object:
        at, start = point(now=now), who()
        steps = Walk((start,), limit=50, room=50)
        reader.expect(lambda: NextReads(sight=SIGHT, point=at, walk=steps))
        near = reader.around([start], sight=SIGHT, point=at, limit=50).versions
        ends = (e for v in near for e in (v.details.subject_id, v.details.value_entity_id))
        ids = [e for e in dict.fromkeys(ends) if e and e != start][:50]
        if not ids:
            return Page(near, 0)
        far = reader.around(ids, sight=SIGHT, point=at, limit=50).versions
        return Page(tuple({v.row.vid: v for v in (*near, *far)}.values()), 0)

    def search(now: bool) -> object:
        return reader.matching(rng.sample(WORDS, 4), sight=SIGHT, point=point(now=now), limit=1_000)

    def changes(_: int) -> object:
        start = rng.randrange(last)
        return reader.changes(start, start + 10, sight=SIGHT)

    return {
        "slot now": lambda _: slot(True),
        "slot as of": lambda _: slot(False),
        "facts now": lambda _: reader.versions(
            Ask(subjects=(who(),)), sight=SIGHT, point=point(now=True)
        ),
        "facts as of": lambda _: reader.versions(
            Ask(subjects=(who(),)), sight=SIGHT, point=point(now=False)
        ),
        "entity timeline": timeline,
        "two hops now": lambda _: two_hops(True),
        "two hops as of": lambda _: two_hops(False),
        "search now": lambda _: search(True),
        "search as of": lambda _: search(False),
        "changes of 10 writes": changes,
    }


def measure(versions: int, folder: Path) -> dict[str, float]:
    """Build one size, print its figures and return the medians."""
    path = folder / f"bench{versions}.db"
    store = SqliteStore(path)
    claims, spent = fill(store, versions)
    size = sum(p.stat().st_size for p in folder.glob(f"{path.name}*")) / 1e6
    print(
        f"\n{versions:,} rows, {claims:,} claims, {size:.0f} MB: "
        f"{claims / spent:,.0f} writes/s in batches of {BATCH}"
    )
    found = {}
    with store.reading(TENANT) as reader:
        entities = max(claims // (SLOTS * GENERATIONS), 1)
        for name, call in reads(reader, entities, reader.clock().last_us).items():
            count = 100 if "search" in name else 400
            timed(call, count // 4)
            median, tail = timed(call, count)
            print(f"  {name:22} p50 {median:10.1f} us   p99 {tail:10.1f} us")
            found[name] = median
    store.close()
    return found


def asked(reader: Any, ask: Ask, point: Point, _round: int) -> object:
    return reader.versions(ask, sight=SIGHT, point=point)


def deep_slot(folder: Path) -> None:
    """Print reads of one slot with 10,000 generations."""
    store = SqliteStore(folder / "deep.db")
    store.ensure(TENANT)
    rng = random.Random(3)
    ledger, clock = RowLedger(1), None
    slot = ("entity-0", "slot1", "tenant")
    key = slot_key(*slot)
    with store.writing(TENANT) as tx:
        clock = tx.lock()
        for number in range(1, 10_001):
            stated = assertion(number, 0, 1, number, number, rng)
            ledger = RowLedger(clock.next_vid)
            ledger.load(slot, tx.open_rows([SlotRead((key,), stated.claim.interval, False)])[0])
            ledger.write(slot, stated.claim, many=False)
            ledger.settle(number)
            event = TxEvent(seq=number, tx=number, actor="ann", op="write", object_ids=())
            clock = Clock(number, number, ledger.next_vid, 0)
            tx.apply(
                Batch(
                    clock=clock,
                    events=(event,),
                    slots=(SlotRecord(key, "entity-0", "slot1", "tenant", False),),
                    claims=(stated,),
                    close=ledger.closings,
                    rows=ledger.rows,
                )
            )
    print("\none slot, 10,000 changes")
    ask = Ask(subjects=("entity-0",), slots=("slot1",))
    with store.reading(TENANT) as reader:
        for name, point in (
            ("now, newest", Point(20_000, 10_000)),
            ("now, middle", Point(5_000, 10_000)),
            ("now, before all", Point(0, 10_000)),
            ("as of, newest then", Point(9_000, 5_000)),
            ("as of, middle", Point(2_500, 5_000)),
            ("as of, before all", Point(0, 5_000)),
        ):
            median, tail = timed(partial(asked, reader, ask, point), 300)
            print(f"  {name:22} p50 {median:10.1f} us   p99 {tail:10.1f} us")
    store.close()


def group_commit(folder: Path, threads: int = 16, each: int = 150) -> None:
    """Print durable single writes by threads that share commits, and by one thread."""
    for workers in (1, threads):
        store = SqliteStore(folder / f"group{workers}.db")
        store.ensure(TENANT)

        def run(jobs: Sequence[tuple[int, int]], store: Store = store) -> Sequence[int | Exception]:
            with store.writing(TENANT) as tx:
                clock, rng = tx.lock(), random.Random(5)
                stated, events, rows, slots = [], [], [], []
                for place, (worker, step) in enumerate(jobs, start=1):
                    number = clock.seq + place
                    one = assertion(number, worker * 1_000 + step, 1, 0, number, rng)
                    stated.append(one)
                    slots.append(
                        SlotRecord(
                            one.claim.slot_key, one.details.subject_id, "slot1", "tenant", False
                        )
                    )
                    events.append(
                        TxEvent(
                            seq=number,
                            tx=number,
                            actor="a",
                            op="write",
                            object_ids=(one.claim.object_id,),
                        )
                    )
                    rows.append(
                        Row(
                            clock.next_vid + place - 1, one.claim, one.claim.interval, SHOWN, number
                        )
                    )
                tx.open_rows([SlotRead((s.slot_key,), Interval(0, 9), False) for s in slots])
                last = clock.seq + len(jobs)
                tx.apply(
                    Batch(
                        clock=Clock(last, last, clock.next_vid + len(jobs), 0),
                        events=tuple(events),
                        slots=tuple(slots),
                        claims=tuple(stated),
                        rows=tuple(rows),
                    )
                )
            return [0 for _ in jobs]

        queue: CommitQueue[tuple[int, int], int] = CommitQueue(run)

        def work(worker: int, queue: CommitQueue[tuple[int, int], int] = queue) -> None:
            for step in range(each):
                queue.submit((worker, step))

        members = [threading.Thread(target=work, args=(n,)) for n in range(workers)]
        start = time.perf_counter()
        for member in members:
            member.start()
        for member in members:
            member.join()
        rate = workers * each / (time.perf_counter() - start)
        print(f"  {workers:2} threads: {rate:8,.0f} durable writes/s")
        store.close()


def main() -> None:
    parser = parser_of(__doc__, folder=Path)
    parser.add_argument("sizes", nargs="*", type=int, default=[10_000, 100_000])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        folder = Path(name)
        found = [measure(size, folder) for size in given.sizes]
        if len(found) > 1:
            print(f"\ngrowth from {given.sizes[0]:,} to {given.sizes[-1]:,} rows")
            for read, median in found[-1].items():
                print(f"  {read:22} x {median / found[0][read]:.2f}")
        deep_slot(folder)
        print("\ngroup commit")
        group_commit(folder)


if __name__ == "__main__":
    main()
