"""What somebody tries who means harm, case by case of the abuse table. On every store.

`tests/service/test_abuse_cases.py` names the test of each of the forty cases; those stand here that
had none of their own.
"""

import time

import pytest

from tenure import InvalidInput, Memory, NotFound, TenureError, Write
from tenure.schema.principal import OWNER
from tenure.schema.values import whole_repr
from tenure.tests.store.builders import Open, caller

SAM = "Sam Rivera"
PAGE = {"source_origin": "web://example.org/page"}
SYNTAX = [
    "'; DROP TABLE version; --",
    '" OR "1"="1',
    "`) DETACH DELETE n //",
    "}) RETURN n; MATCH (m) DELETE m //",
    "$tenant {tenant_id: 'x'}",
    'NEAR("a" "b", 10) OR col:*',
    "a* AND NOT (b OR c) ^2~",
    "%_\\ [0-9]",
    "{{7*7}} ${7*7} <%= 7 %>",
]


def test_no_edge_crosses_to_a_tenant_that_holds_an_equal_name(open_memory: Open) -> None:
    """Case 5."""
    ours, theirs = open_memory(principal=OWNER), open_memory(principal=OWNER)
    for memory, canary in ((ours, "OURS"), (theirs, "QUOKKA")):
        memory.write(SAM, "manager", {"name": "Eve Park", "type": "person"})
        memory.write("Eve Park", "office", canary)
    around = ours.as_of().neighbourhood(SAM, hops=2)
    assert "OURS" in whole_repr(around)
    assert "QUOKKA" not in whole_repr(around)
    assert not around.withheld

    (foreign,) = (e.entity_id for e in theirs.entities.list() if e.name == "Eve Park")
    with pytest.raises(NotFound):
        ours.entities.get(foreign)
    assert ours.as_of().slot(foreign, "office").status == "unknown"


@pytest.mark.parametrize("level", [3, 4])
def test_a_claim_does_not_win_by_being_repeated(memory: Memory, level: int) -> None:
    """Case 20."""
    memory.write(SAM, "office", "Rome", valid_from="2026-01-01T00:00:00Z")
    origin = PAGE if level == 4 else {"source_origin": "agent://helper"}
    for number in range(30):
        memory.write(SAM, "office", "Vault", valid_from="2026-01-01T00:00:00Z",
                     authority_level=level, idempotency_key=f"k{number}", **origin)  # fmt: skip
    state = memory.as_of().slot(SAM, "office")
    assert (state.status, state.value) == ("clean", "Rome")
    assert len(memory.entities.list()) == 1


@pytest.mark.parametrize("start", ["-infinity", "1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z"])
def test_a_weaker_claim_does_not_win_by_its_date(memory: Memory, start: str) -> None:
    """Cases 28 and 31."""
    first = memory.write(SAM, "office", "Rome", valid_from="2026-01-01T00:00:00Z")
    before = memory.as_of().tx
    receipt = memory.write(SAM, "office", "Vault", valid_from=start, **PAGE)
    assert receipt.tx > first.tx
    assert memory.as_of().slot(SAM, "office").value == "Rome"
    assert memory.as_of().slot(SAM, "office").status == "clean"
    # What was believed before is believed of that time for ever.
    then = memory.as_of(tx=before, valid="2020-01-01T00:00:00Z").slot(SAM, "office")
    assert then.status == "unknown"


def test_stamps_rise_although_the_clock_jumps_back(open_memory: Open) -> None:
    """Case 29."""
    moments = iter([2_000_000_000_000_000, 1_000_000_000_000_000, 0, -5])
    last = [2_000_000_000_000_000]

    def clock() -> int:
        last[0] = next(moments, last[0])
        return last[0]

    memory = open_memory(clock=clock)
    stamps = [memory.write(SAM, "office", f"floor {number}").tx for number in range(4)]
    assert stamps == sorted(set(stamps))
    with pytest.raises(InvalidInput):
        memory.write(SAM, "office", "Rome", tx="2000-01-01T00:00:00Z")  # type: ignore[call-arg]
    with pytest.raises(InvalidInput):
        memory.write(SAM, "office", "Rome", recorded_at="2000-01-01T00:00:00Z")  # type: ignore[call-arg]


BAD_TIMES = [
    {"valid_from": "2026-02-01T00:00:00Z", "valid_until": "2026-01-01T00:00:00Z"},
    {"valid_from": "2026-02-01T00:00:00Z", "valid_until": "2026-02-01T00:00:00Z"},
    {"valid_from": "9999-12-31T23:59:59.9999999Z"},
    {"valid_from": "10000-01-01T00:00:00Z"},
    {"valid_from": "2016-12-31T23:59:60Z"},
    {"valid_from": "2026-01-01T00:00:00"},
    {"valid_from": "2026-02-30T00:00:00Z"},
    {"valid_from": "infinity"},
    {"valid_until": "-infinity"},
    {"valid_from": "yesterday"},
]


def test_a_time_that_is_none_is_refused_by_code(memory: Memory) -> None:
    """Case 30."""
    for times in BAD_TIMES:
        with pytest.raises(InvalidInput) as caught:
            memory.write(SAM, "office", "Rome", **times)
        assert caught.value.code
        assert memory.as_of().tx is None, times


@pytest.mark.parametrize("op", ["correct", "retract", "delete"])
def test_an_object_of_another_cannot_be_overtaken_by_its_id(open_memory: Open, op: str) -> None:
    """Cases 1 and 32."""
    memory, foreign = open_memory(principal=OWNER), open_memory(principal=OWNER)
    text = {"why_it_matters": "what was said", "object_type": "retrieved_passage"}
    other = foreign.write(content="A remark of theirs.", **text)
    private = caller(memory, user="ann").write(
        content="Ann's own remark.", scope={"user": "ann"}, **text
    )
    change = {"content": "another remark"} if op == "correct" else {}
    bob = caller(memory, user="bob")
    errors = []
    for object_id in (other.object_id, private.object_id, "00000000-0000-0000-0000-000000000000"):
        with pytest.raises(NotFound) as caught:
            bob.write(object_id=object_id, op=op, **change)
        errors.append((caught.value.code, str(caught.value).replace(object_id, "")))
        with pytest.raises(NotFound):
            bob.write(SAM, "office", "Rome", derived_from=[object_id])
    assert len(set(errors)) == 1
    assert foreign.explain(other.object_id).superseded_by == ()


def test_no_budget_and_no_hub_keeps_a_compile_busy(memory: Memory) -> None:
    """Case 34."""
    memory.write_many(
        [Write(subject=f"Member {n} Lee", slot="manager", value="Hub Park") for n in range(150)]
    )
    began = time.perf_counter()
    envelope = memory.compile(
        "analytical_reporting", "who reports to Hub Park", entities=["Hub Park"],
        budget_tokens=10**9,
    )  # fmt: skip
    assert time.perf_counter() - began < 60
    assert envelope.tokens < 100_000
    assert envelope.trace.retrieval_metadata["candidates_cut"] is True
    for budget in (0, -1, 10**400, float("nan")):
        with pytest.raises(TenureError) as caught:
            memory.compile("analytical_reporting", "x", budget_tokens=budget)  # type: ignore[arg-type]
        assert caught.value.code


@pytest.mark.parametrize("text", SYNTAX)
def test_syntax_of_a_query_language_is_only_text(memory: Memory, text: str) -> None:
    """Case 35."""
    other = memory.write("Eve Park", "office", "Oslo")
    receipt = memory.write(
        {"name": text, "type": "person", "external_ids": {"crm": text}},
        "office", text, idempotency_key=text,
    )  # fmt: skip
    view = memory.as_of()
    assert view.slot(text, "office").value == text
    assert view.slot({"name": "x", "external_ids": {"crm": text}}, "office").value == text
    assert view.search(text) is not None
    assert memory.compile("analytical_reporting", text, entities=[text]).text
    assert memory.history(text, "office")[0].object_id == receipt.object_id
    assert memory.write(text, "office", "gone", idempotency_key=f"{text}2").outcome

    eve = view.slot("Eve Park", "office").object
    assert eve is not None
    assert eve.object_id == other.object_id
    assert memory.doctor() == ()
