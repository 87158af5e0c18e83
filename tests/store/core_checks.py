"""What any right planner must pass: the thirteen relations, worked examples, a painted grid.

The tests run these checks on the planner; the mutant tests run them on wrong planners and
expect each to fail. Every check raises AssertionError at the first difference.
"""

import json
import random
from datetime import UTC, datetime
from functools import cache
from itertools import permutations
from pathlib import Path
from types import ModuleType
from typing import Any

from tenure.schema.claim import Claim, Row, milli
from tenure.schema.interval import INF_US, MIN_US, Interval, relation
from tenure.schema.values import NO_VALUE_KEY, micros
from tenure.schema.vocabulary import Op
from tenure.store.timeline import reconcile
from tenure.tests.strategies import DAYS, VERBS

from .ledger import Ledger, recorded
from .painted_grid import Answer, painted, standing, undominated

EXAMPLES = Path(__file__).parent.parent / "data" / "bitemporal-examples.json"

THIRTEEN = """
before        25 30 | A[10,20) B[25,30)                     | A[10,20) B[25,30)           | A[10,20) B[25,30)
meets         20 30 | A[10,20) B[20,30)                     | A[10,20) B[20,30)           | A[10,20) B[20,30)
overlaps      15 25 | A[10,15) Ax[15,20) B[15,25)           | A[10,20) Bx[15,20) B[20,25) | stronger
finished_by   15 20 | A[10,15) Ax[15,20) B[15,20)           | A[10,20) Bx[15,20)          | stronger
contains      12 18 | A[10,12) Ax[12,18) B[12,18) A[18,20)  | A[10,20) Bx[12,18)          | stronger
starts        10 30 | Ax[10,20) B[10,30)                    | A[10,20) Bx[10,20) B[20,30) | A~[10,20) B~[10,20) B[20,30)
equals        10 20 | Ax[10,20) B[10,20)                    | A[10,20) Bx[10,20)          | A~[10,20) B~[10,20)
started_by    10 15 | Ax[10,15) B[10,15) A[15,20)           | A[10,20) Bx[10,15)          | A~[10,15) B~[10,15) A[15,20)
during         5 25 | B[5,25) Ax[10,20)                     | B[5,10) A[10,20) Bx[10,20) B[20,25) | weaker
finishes       5 20 | B[5,20) Ax[10,20)                     | B[5,10) A[10,20) Bx[10,20)  | weaker
overlapped_by  5 15 | B[5,15) Ax[10,15) A[15,20)            | B[5,10) A[10,20) Bx[10,15)  | weaker
met_by         5 10 | B[5,10) A[10,20)                      | B[5,10) A[10,20)            | B[5,10) A[10,20)
after          2  5 | B[2,5) A[10,20)                       | B[2,5) A[10,20)             | B[2,5) A[10,20)
"""  # noqa: E501 - a table reads best as one
"""A = [10,20) is stored, B = [start, end) is written; `x` hidden, `~` tied. The last three
columns: B stronger, B weaker, equal level and trust (or as one of the two)."""

_LEVEL_OF_B = {"stronger": 1, "weaker": 3, "equal": 2}


def says(
    object_id: str,
    value: str,
    start: int,
    end: int = INF_US,
    *,
    tx: int = 1,
    op: Op = Op.ASSERT,
    level: int = 2,
    trust: int = 800,
    confidence: int = 800,
    ordinal: int = 0,
    target: str | None = None,
    since: int | None = None,
) -> Claim:
    """Return a claim with everything that does not matter filled in."""
    return Claim(
        object_id=object_id,
        slot_key="s",
        op=op,
        value_key=value,
        interval=Interval(start, end),
        since_us=start if since is None else since,
        level=level,
        source_authority=trust,
        confidence=confidence,
        tx=tx,
        ordinal=ordinal,
        target=target,
    )


@cache
def thirteen() -> tuple[tuple[str, str, int, int, frozenset[str]], ...]:
    """Return (relation, strength of B, start, end, rows) of the 39 cases."""
    cases = []
    for line in THIRTEEN.strip().splitlines():
        head, *columns = (part.strip() for part in line.split("|"))
        name, start, end = head.split()
        table = dict(zip(_LEVEL_OF_B, columns, strict=True))
        for strength, column in table.items():
            rows = frozenset(table.get(column, column).split())
            cases.append((name, strength, int(start), int(end), rows))
    return tuple(cases)


def marked(rows: list[Row]) -> frozenset[str]:
    """Return rows in the notation of the table, neighbours that look the same joined."""
    pieces: list[list[Any]] = []
    for row in sorted(rows, key=lambda r: (r.claim.object_id, r.interval)):
        mark = "" if row.look.head and row.look.status.value == "clean" else "x"
        mark = "~" if row.look.reason == "unresolved_tie" else mark
        name, (start, end) = (
            row.claim.object_id + mark,
            (row.interval.start_us, row.interval.end_us),
        )
        if pieces and pieces[-1][0] == name and pieces[-1][2] == start:
            pieces[-1][2] = end
        else:
            pieces.append([name, start, end])
    return frozenset(f"{name}[{start},{end})" for name, start, end in pieces)


def check_thirteen(planner: ModuleType = reconcile) -> int:
    """Check the 39 cases in both orders of arrival; return how many timelines were compared."""
    compared = 0
    for name, strength, start, end, rows in thirteen():
        a, b = says("A", "a", 10, 20), says("B", "b", start, end, level=_LEVEL_OF_B[strength])
        assert relation(a.interval, b.interval).value == name
        for tx, order in enumerate(permutations((a, b))):
            ledger = Ledger(planner=planner)
            for claim in order:
                ledger.write(claim)
            assert marked(ledger.live) == rows, (name, strength, tx, marked(ledger.live))
            compared += 1
    return compared


def _instant(text: str | None, default: int) -> int:
    if text is None:
        return default
    moment = datetime.fromisoformat(text)
    return micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def example_claims(example: dict[str, Any]) -> tuple[Claim, ...]:
    """Return the writes of a worked example; a null start is an open one there (settled 2)."""
    return tuple(
        Claim(
            object_id=f"{index}",
            slot_key=write["slot"],
            op=Op(write["op"]),
            value_key=NO_VALUE_KEY if write["op"] == "delete" else write["value"],
            interval=Interval(
                _instant(write["valid_from"], MIN_US), _instant(write["valid_to"], INF_US)
            ),
            since_us=_instant(write["valid_from"], MIN_US),
            level=write["authority"],
            source_authority=milli(write["trust"]),
            confidence=milli(write["trust"]),
            tx=_instant(write["tx"], 0),
            ordinal=index,
        )
        for index, write in enumerate(example["writes"])
    )


def expected(answer: object) -> frozenset[frozenset[str]]:
    """Return the values that may be shown: none of them for an unknown or denied one."""
    if isinstance(answer, dict):
        return frozenset({frozenset({"tie", *answer["quarantined"]})})
    return frozenset({frozenset({answer})}) if isinstance(answer, str) else frozenset()


def _spoken(answers: frozenset[Answer]) -> frozenset[frozenset[str]]:
    return frozenset(
        said | {"tie"} if state == "tie" else said
        for state, said in answers
        if state in ("tie", "value")
    )


def check_examples(planner: ModuleType = reconcile) -> int:
    """Check every query of the worked examples; return how many there were."""
    asked = 0
    for example in json.loads(EXAMPLES.read_text(encoding="utf-8")):
        for frugal in (False, True):
            ledger = recorded(example_claims(example), planner=planner, frugal=frugal)
            for query in example["queries"]:
                valid, tx = _instant(query["valid_at"], 0), _instant(query["tx_asof"], 0)
                found = _spoken(ledger.at(valid, tx))
                assert found == expected(query["expect"]), (example["name"], query, found)
                asked += 1
    return asked


def check_history(
    written: tuple[Claim, ...],
    *,
    many: bool,
    planner: ModuleType = reconcile,
    frugal: bool = False,
) -> int:
    """Compare a history with the painted grid at every point of both axes."""
    ledger = recorded(written, many=many, planner=planner, frugal=frugal)
    stamps = sorted({claim.tx for claim in written})
    for tx in (0, *stamps):
        known = [claim for claim in written if claim.tx <= tx]
        for valid in range(-1, DAYS + 1):
            found, right = ledger.at(valid, tx), painted(known, valid, many)
            assert found == right, (valid, tx, found, right, written)
    return (len(stamps) + 1) * (DAYS + 2)


def check_tiling(
    written: tuple[Claim, ...], *, many: bool, planner: ModuleType = reconcile
) -> None:
    """Check that the open rows of each claim tile its undominated live portion exactly."""
    rows = recorded(written, many=many, planner=planner).live
    for valid in range(-1, DAYS + 1):
        have = sorted(row.claim.object_id for row in rows if valid in row.interval)
        assert have == sorted(undominated(standing(written, valid, many))), (valid, written)


def random_history(source: random.Random, *, many: bool) -> tuple[Claim, ...]:
    """Return a random history of the same shape as `strategies.histories`."""
    written, tx = [], 0
    for index in range(source.randint(2, 6)):
        tx += source.random() < 0.75 or not index
        op = source.choice(VERBS + (Op.ASSERT,) * 3)
        nothing = op is Op.DELETE and (not many or source.random() < 0.5)
        start = source.randrange(DAYS)
        written.append(
            says(
                f"{source.randint(0, 9)}-{index}",
                NO_VALUE_KEY if nothing else source.choice("ABC"),
                start,
                source.choice((source.randint(start + 1, DAYS), DAYS)),
                tx=tx,
                op=op,
                level=source.choice((2, 2, 2, 1, 3)),
                trust=source.choice((800, 800, 900)),
                confidence=source.choice((800, 800, 700)),
                ordinal=index,
            )
        )
    return tuple(written)


def check_random(count: int, planner: ModuleType = reconcile, seed: int = 7) -> int:
    """Check random histories against the grid and for tiling; return the points compared."""
    source, points = random.Random(seed), 0
    for number in range(count):
        many, frugal = number % 4 == 3, number % 2 == 1
        written = random_history(source, many=many)
        points += check_history(written, many=many, planner=planner, frugal=frugal)
        check_tiling(written, many=many, planner=planner)
    return points


def check_all(planner: ModuleType, histories: int = 400) -> None:
    """Run every check on a planner."""
    check_thirteen(planner)
    check_examples(planner)
    check_random(histories, planner)
