"""The worked examples and Allen's table, asked through the public client of each store."""

import itertools
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, Write

EXAMPLES = json.loads((Path(__file__).parents[2] / "data/bitemporal-examples.json").read_text())


def at(text: str | None, default: str) -> str:
    if text is None:
        return default
    return text if "T" in text else f"{text}T00:00:00Z"


def load(memory: Memory, writes: list[dict[str, Any]]) -> None:
    memory.vocabulary.define_slot("s", description="the slot of the example")
    for tx, group in itertools.groupby(writes, key=lambda w: w["tx"]):
        memory.replay_import(
            [
                {
                    "recorded_at": at(tx, ""),
                    "op": write["op"],
                    "subject": {"name": "Acme", "type": "organization"},
                    "slot": "s",
                    "value": write["value"],
                    "valid_from": at(write["valid_from"], "-infinity"),
                    "valid_until": at(write["valid_to"], "infinity"),
                    "authority_level": write["authority"],
                    "source_authority": write["trust"],
                    "confidence": write["trust"],
                }
                for write in group
            ]
        )


def answer(memory: Memory, query: dict[str, Any]) -> Any:
    view = memory.as_of(valid=at(query["valid_at"], ""), tx=at(query["tx_asof"], ""))
    state = view.slot("Acme", "s")
    if state.status == "disputed":
        return {
            "quarantined": sorted(
                ("!" if c.op == "deny" else "") + c.value for c in state.candidates
            )
        }
    return state.value if state.status == "clean" else None


@pytest.mark.parametrize("example", EXAMPLES, ids=[e["name"] for e in EXAMPLES])
def test_worked_example_answers_as_written(memory: Memory, example: dict[str, Any]) -> None:
    load(memory, example["writes"])
    for query in example["queries"]:
        expected = query["expect"]
        if isinstance(expected, dict):
            expected = {"quarantined": sorted(expected["quarantined"])}
        assert answer(memory, query) == expected, query


T0 = datetime(2026, 1, 1, tzinfo=UTC)
SPANS = {
    "before": (25, 30),
    "meets": (20, 30),
    "overlaps": (15, 25),
    "finished_by": (15, 20),
    "contains": (12, 18),
    "starts": (10, 30),
    "equals": (10, 20),
    "started_by": (10, 15),
    "during": (5, 25),
    "finishes": (5, 20),
    "overlapped_by": (5, 15),
    "met_by": (5, 10),
    "after": (2, 5),
}
A = (10, 20)
NEWER_B = {"before", "meets", "overlaps", "finished_by", "contains"}
EQUAL_START = {"starts", "equals", "started_by"}


def expected_day(day: int, b: tuple[int, int], case: str, relation: str) -> str:
    """Return what one day shows: the rule in words, painted for a single day."""
    in_a, in_b = A[0] <= day < A[1], b[0] <= day < b[1]
    if not in_a or not in_b:
        return "A" if in_a else "B" if in_b else "-"
    if case == "stronger":
        return "B"
    if case == "weaker":
        return "A"
    if relation in EQUAL_START:
        return "tie"
    return "B" if b[0] > A[0] else "A"


@pytest.mark.parametrize("last", ["A", "B"])
def test_allen_table_shows_the_same_in_every_order(memory: Memory, last: str) -> None:
    """Each relation with a stronger, a weaker and an equal writer, a subject a case."""
    cases = list(itertools.product(SPANS, {"stronger": 1, "weaker": 3, "equal": 2}.items()))
    writes: dict[str, list[Write]] = {"A": [], "B": []}
    for relation, (case, level_b) in cases:
        for value, span, level in (("A", A, 2), ("B", SPANS[relation], level_b)):
            since, until = (T0 + timedelta(days=day) for day in span)
            stated = Write(subject=f"{relation} {case}", slot="office", value=value,
                           valid_from=since, valid_until=until, authority_level=level,
                           source_origin="user://chat")  # fmt: skip
            writes[value].append(stated)
    for value in sorted(writes, key=lambda value: value == last):
        memory.write_many(writes[value])

    view = memory.as_of()
    for relation, (case, _) in cases:
        days = ["-"] * 35
        for stretch in view.timeline(f"{relation} {case}", "office"):
            assert stretch.valid_from is not None and stretch.valid_until is not None
            tied = "tie" if stretch.state.status == "disputed" else None
            for day in range((stretch.valid_from - T0).days, (stretch.valid_until - T0).days):
                days[day] = tied or stretch.state.value
        expected = [expected_day(day, SPANS[relation], case, relation) for day in range(35)]
        assert days == expected, (relation, case)
