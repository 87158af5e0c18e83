"""Measure resolving a mention: time at rising sizes, hits and misses apart and mixed; recall.

    python bench/bench_resolve.py [--sizes 10000 100000] [--asks 400] [--rounds 1] [--json FILE]
    python bench/bench_resolve.py --bulk --sizes 10000 1000000 --rounds 5

The names are made of syllables with a common last word, like those of services and teams; they
are put through the port of the store with their blocking keys, and `new_entities_per_s` is that
of `write_many` at the size, scoring included, with plain facts and with relations, a second being
one of the process's own time. The mix, asked
of `memory.entities.resolve` in turn: 40 % an exact name, 20 % an identifier, 10 % a name with one
letter dropped, 10 % a name with a legal form more, 20 % a name nobody has. `scored` are the last
three kinds: those that no exact key decides.

`--bulk` fills each size into a file of its own, the blocking keys sorted into their table at once,
and then measures times alone: the same rows, and a million names in minutes. `--rounds` repeats
the times and keeps the calmest round of each kind, since neighbours only ever add to them. The
last line says how much the p50 of what is scored grows from the first size to the last.

Recall: how often the entity that is meant is among the candidates of blocking, for slips of known
names, and for the labelled alias pairs (`--data`) among all these names. The process alone on the
machine gives the honest times; `cpu` is the time of the thread, which neighbours disturb less.
"""

from __future__ import annotations

import json
import random
import sqlite3
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

from tenure import EntityRef, Memory, Write, connect
from tenure.bench.fit_resolution import ALIASES, read_pairs
from tenure.bench.script import fresh_memory, options_of, write_json
from tenure.resolution.keys import alias_key
from tenure.resolution.known import Lookup
from tenure.resolution.scorer import NameScorer
from tenure.schema.entity import Alias, Entity, Identifier
from tenure.schema.interval import INF_US, MIN_US
from tenure.schema.principal import TENANT_SCOPE
from tenure.schema.vocabulary import EntityState
from tenure.store.port.store import Batch, TxEvent

SYLLABLES = (
    "an be cor da el fi gra ho in jo ka lu mo ne or pa qui ro sa ti u vel wi xa yo ze"
).split()
LAST = ("Service", "Labs", "Group", "Systems", "Gateway", "Analytics", "Foods", "Partners")
BATCH = 10_000
WRITTEN = 300
SCHEME = "bench"
KINDS = ("dropped letter", "variant", "unknown")
"""The kinds that no exact key decides."""
MIX = ("exact",) * 4 + ("identifier",) * 2 + ("dropped letter", "variant") + ("unknown",) * 2


def names(count: int, seed: int = 1) -> list[str]:
    """Return distinct names, the same for the same seed."""
    rng = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        words = ["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4))).capitalize() for _ in "ab"]
        found[f"{' '.join(words)} {rng.choice(LAST)}"] = None
    return list(found)


def stock(memory: Memory, fresh: list[str], first: int = 0, type: str = "organization") -> None:
    """Put entities with one name each through the port of the store, numbered from a place on."""
    scorer, store = NameScorer(), memory._backend.store
    numbered = [(raw_id(place), name) for place, name in enumerate(fresh, first)]
    for at in range(0, len(numbered), BATCH):
        named = numbered[at : at + BATCH]
        with store.writing(memory.principal.tenant) as tx:
            clock = tx.lock()
            at_us = clock.last_us + 1
            event = TxEvent(seq=clock.seq + 1, tx=at_us, actor="bench", op="write", object_ids=())
            tx.apply(
                Batch(
                    clock=clock._replace(seq=event.seq, last_us=at_us),
                    events=(event,),
                    entities=tuple(_entity(raw, name, type, at_us) for raw, name in named),
                    aliases=tuple(_alias(raw, name, type, at_us) for raw, name in named),
                    identifiers=tuple(
                        Identifier(entity_id=raw, scheme=SCHEME, value=raw, tx_start=at_us)
                        for raw, _ in named
                    ),
                    block_keys={
                        alias_key(name): scorer.stored_keys(name, type) for _, name in named
                    },
                )
            )


def stock_in_bulk(path: Path, fresh: Sequence[str], type: str = "organization") -> None:
    """Fill a closed store with the rows that `stock` writes, table by table, the keys sorted.

    The first name must have been stocked: its rows say how the others look.
    """
    scorer = NameScorer()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(
            "PRAGMA synchronous = OFF; PRAGMA cache_size = -2000000; PRAGMA temp_store = FILE;"
            "DROP INDEX block_key_by_norm; DELETE FROM block_key; DELETE FROM block_count;"
            "DELETE FROM norm; CREATE TEMP TABLE line (k TEXT, n INTEGER, kind TEXT);"
        )
        (at_us,) = db.execute("SELECT tx_start FROM entity").fetchone()
        db.execute("BEGIN")
        rest = list(enumerate(fresh))[1:]
        entities = (_entity(raw_id(place), name, type, at_us) for place, name in rest)
        db.executemany(
            "INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((e.entity_id, e.name, e.type, e.state.value, e.scope_id, e.tx_start, e.created_by, 1)
             for e in entities),
        )  # fmt: skip
        aliases = (_alias(raw_id(place), name, type, at_us) for place, name in rest)
        db.executemany(
            "INSERT INTO alias VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
            ((a.entity_id, a.surface, a.norm, a.type, a.scope_id, a.ordinal, a.valid_from,
              a.valid_until, a.tx_start, a.tx_end, a.object_id) for a in aliases),
        )  # fmt: skip
        db.executemany(
            "INSERT INTO identifier VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)",
            (
                (raw_id(place), SCHEME, raw_id(place), at_us, INF_US, TENANT_SCOPE.scope_id, "")
                for place, _ in rest
            ),
        )

        ordered = sorted(fresh, key=alias_key)
        norms = enumerate(map(alias_key, ordered), 1)
        db.executemany("INSERT INTO norm (norm_id, norm) VALUES (?, ?)", norms)
        db.executemany(
            "INSERT INTO line VALUES (?, ?, ?)",
            ((key, number, kind) for number, name in enumerate(ordered, 1)
             for key, kind in scorer.stored_keys(name, type)),
        )  # fmt: skip
        db.execute("COMMIT")
        db.executescript(
            "BEGIN; INSERT INTO block_key SELECT k, n, kind FROM line ORDER BY k, n;"
            "INSERT INTO block_count SELECT k, min(kind), count(*) FROM block_key GROUP BY k;"
            "INSERT INTO block_count SELECT '', 'norms', count(*) FROM norm;"
            "CREATE INDEX block_key_by_norm ON block_key (norm_id); COMMIT;"
        )


def raw_id(place: int) -> str:
    """Return the id of the entity at a place."""
    return str(uuid.uuid5(uuid.UUID(int=7), str(place)))


def _entity(raw: str, name: str, type: str, at_us: int) -> Entity:
    return Entity(
        entity_id=raw, name=name, type=type, state=EntityState.ACTIVE, scope_id="tenant",
        tx_start=at_us, created_by=raw, recorded=True,
    )  # fmt: skip


def _alias(raw: str, name: str, type: str, at_us: int) -> Alias:
    return Alias(
        entity_id=raw, surface=name, norm=alias_key(name), type=type, scope_id="tenant",
        ordinal=0, valid_from=MIN_US, valid_until=INF_US, tx_start=at_us, object_id=raw,
    )  # fmt: skip


def asks(known: list[str], rng: random.Random) -> dict[str, Callable[[], EntityRef]]:
    """Return a maker of mentions for each kind of the mix."""
    strangers = iter(names(10_000, seed=2))

    def dropped() -> EntityRef:
        return EntityRef(name=slips(rng.choice(known), rng)["dropped"], type="organization")

    return {
        "exact": lambda: EntityRef(name=rng.choice(known), type="organization"),
        "identifier": lambda: EntityRef(
            name="Anything", external_ids={SCHEME: raw_id(rng.randrange(len(known)))}
        ),
        "dropped letter": dropped,
        "variant": lambda: EntityRef(name=f"{rng.choice(known)} GmbH", type="organization"),
        "unknown": lambda: EntityRef(name=next(strangers), type="organization"),
    }


def slips(name: str, rng: random.Random) -> dict[str, str]:
    """Return other ways to write a name, by kind."""
    at, (first, *rest) = rng.randrange(1, 5), name.split()
    return {
        "dropped": name[:at] + name[at + 1 :],
        "swapped": name[:at] + name[at + 1] + name[at] + name[at + 2 :],
        "turned": " ".join([*rest, first]),
        "joined": first + "".join(rest),
        "shortened": " ".join([first, *rest[:-1]]),
        "legal": f"{name} GmbH",
    }


def calmest(memory: Memory, known: list[str], count: int, rounds: int) -> dict[str, Any]:
    """Return of each kind the points of the round with the lowest p50 of the thread's time."""
    measure(memory, known, 100)  # warms the file and the forms of common names
    rows = [measure(memory, known, count) for _ in range(rounds)]
    return {
        kind: min((row[kind] for row in rows), key=lambda points: points["cpu_p50_ms"])
        for kind in rows[0]
    }


def measure(memory: Memory, known: list[str], count: int) -> dict[str, Any]:
    """Return p50 and p95 in milliseconds, by kind, over the mix and over what is scored."""
    made = asks(known, random.Random(3))
    times: dict[str, list[tuple[float, float]]] = {kind: [] for kind in made}
    entities = memory.entities
    for number in range(count):
        kind = MIX[number % len(MIX)]
        mention = made[kind]()
        cpu, began = time.thread_time(), time.perf_counter()
        entities.resolve(mention)
        times[kind].append((time.perf_counter() - began, time.thread_time() - cpu))
    rows = {"mix": [t for found in times.values() for t in found],
            "scored": [t for kind in KINDS for t in times[kind]]}  # fmt: skip
    return {name: points(found) for name, found in (rows | times).items()}


def points(found: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return p50, p95 and the p50 of the thread's own time in milliseconds."""
    wall = sorted(seconds * 1_000 for seconds, _ in found)
    return {
        "n": len(wall),
        "p50_ms": round(statistics.median(wall), 3),
        "p95_ms": round(wall[int(len(wall) * 0.95)], 3),
        "cpu_p50_ms": round(statistics.median(seconds * 1_000 for _, seconds in found), 3),
    }


def write_rates(memory: Memory, size: int, taken: AbstractSet[str]) -> dict[str, int]:
    """Return how many new entities a second `write_many` makes, scoring included.

    `new` is with a plain fact each, `related` with a relation to one of ten known entities,
    which is evidence of whom the name means. Names of which `taken` has the key stay free for
    the sizes to come.
    """
    free = (name for name in names(3 * WRITTEN, seed=size) if alias_key(name) not in taken)
    fresh = [EntityRef(name=n, type="organization") for n in islice(free, 2 * WRITTEN)]
    plain = [Write(subject=one, slot="noted", value="x") for one in fresh[:WRITTEN]]
    related = [
        Write(subject=one, slot="works_with", value=raw_id(place % 10))
        for place, one in enumerate(fresh[WRITTEN:])
    ]
    return {"new": _rate(memory, plain), "related": _rate(memory, related)}


def _rate(memory: Memory, writes: Sequence[Write]) -> int:
    began = time.process_time()
    memory.write_many(writes)
    return round(len(writes) / (time.process_time() - began))


def define_slots(memory: Memory) -> None:
    """Define the slots that the written entities have."""
    words = memory.vocabulary
    words.define_slot("noted", description="what was noted")
    words.define_slot("works_with", description="who", value_type="entity", cardinality="many")


def recall_of_slips(memory: Memory, known: list[str], count: int = 200) -> dict[str, float]:
    """Return by kind of slip how often the name that is meant is among the candidates."""
    rng = random.Random(5)
    hits: dict[str, int] = {}
    for name in rng.sample(known, count):
        for kind, said in slips(name, rng).items():
            hits[kind] = hits.get(kind, 0) + (alias_key(name) in proposed(memory, said))
    return {kind: round(found / count, 4) for kind, found in hits.items()}


def recall_of_pairs(memory: Memory, folder: Path) -> dict[str, dict[str, float]]:
    """Return by kind how often the other name of a labelled pair is among the candidates."""
    pairs = read_pairs(folder)
    found: dict[str, dict[str, float]] = {}
    place = 10_000_000
    for kind in sorted({pair.entity_type for pair in pairs}):
        ours = [pair for pair in pairs if pair.entity_type == kind]
        labelled = sorted({name for pair in ours for name in (pair.left, pair.right)})
        fresh = list({alias_key(name): name for name in labelled}.values())
        stock(memory, fresh, place, kind)
        place += len(fresh)
        matches = [pair for pair in ours if pair.is_match
                   and alias_key(pair.left) != alias_key(pair.right)]  # fmt: skip
        hits = sum(
            alias_key(p.right) in proposed(memory, p.left, kind, itself=True) for p in matches
        )
        found[kind] = {"recall": round(hits / len(matches), 4), "n": len(matches)}
    return found


def proposed(
    memory: Memory, said: str, type: str = "organization", *, itself: bool = False
) -> frozenset[str]:
    """Return the names that blocking proposes for a mention; itself does not take a place."""
    keys = NameScorer().keys(EntityRef(name=said, type=type))
    lookup = Lookup(block_keys=keys, limit=50 + itself)
    with memory._backend.store.reading(memory.principal.tenant) as reader:
        known = reader.known(lookup, scopes=("tenant",), tx_us=reader.clock().last_us)
    return frozenset(norm for _, norm in known.weights)


def growth(report: dict[str, Any]) -> float:
    """Return how much the p50 of what is scored grows from the first size to the last."""
    times = [row["scored"]["cpu_p50_ms"] for row in report.values()]
    return float(round(times[-1] / times[0], 2))


def in_bulk(known: list[str], sizes: Sequence[int], count: int, rounds: int) -> None:
    """Measure each size in a file of its own that is filled at once."""
    taken = frozenset(map(alias_key, known))
    report: dict[str, Any] = {}
    for size in sorted(sizes):
        with tempfile.TemporaryDirectory() as folder:
            path, began = Path(folder) / "bench.db", time.perf_counter()
            with connect(str(path)) as memory:
                stock(memory, known[:1])
            stock_in_bulk(path, known[:size])
            row: dict[str, Any] = {"stocked_s": round(time.perf_counter() - began, 1)}
            with connect(str(path)) as memory:
                row |= calmest(memory, known[:size], count, rounds)
                define_slots(memory)
                row["new_entities_per_s"] = write_rates(memory, size, taken)
        report[str(size)] = row
        print(size, json.dumps(row), flush=True)
    print("growth of what is scored", growth(report), flush=True)


def main() -> None:
    """Run the benchmark."""
    chosen = options_of(
        __doc__,
        sizes=[10_000, 100_000],
        asks=400,
        rounds=1,
        bulk=False,
        data=ALIASES,
        json=Path,
    )
    known = names(max(chosen.sizes))
    if chosen.bulk:
        in_bulk(known, chosen.sizes, chosen.asks, chosen.rounds)
        return
    taken = frozenset(map(alias_key, known))
    report: dict[str, Any] = {}
    with fresh_memory() as memory:
        define_slots(memory)
        loaded = 0
        for size in sorted(chosen.sizes):
            began = time.perf_counter()
            stock(memory, known[loaded:size], loaded)
            row: dict[str, Any] = {"stocked_s": round(time.perf_counter() - began, 1)}
            loaded = size
            row |= calmest(memory, known[:size], chosen.asks, chosen.rounds)
            row["recall_of_slips"] = recall_of_slips(memory, known[:size])
            row["new_entities_per_s"] = write_rates(memory, size, taken)
            report[str(size)] = row
            print(size, json.dumps(row), flush=True)
        print("growth of what is scored", growth(report), flush=True)
        if chosen.data.is_dir():
            report["recall_of_pairs"] = recall_of_pairs(memory, chosen.data)
            print("labelled pairs", json.dumps(report["recall_of_pairs"]), flush=True)
    write_json(chosen.json, report)


if __name__ == "__main__":
    main()
