"""Entries first, claims second: what the first round trip says wins over what is kept."""

from typing import Any

import pytest

from tenure.schema.errors import NotFound
from tenure.schema.principal import Sight
from tenure.store.neo4j import codec
from tenure.store.neo4j.answers import ReadAnswer, answers_of
from tenure.store.neo4j.calls import ClaimCache
from tenure.store.neo4j.cypher.template import LINE_NAMES
from tenure.tests.store.builders import ALL, Say
from tenure.tests.support.refusals import refused

WIDTH = LINE_NAMES.index("value_entity_id")


def line(object_id: str, *, erased: bool = False, tx: int = 10) -> list[Any]:
    stated = Say(object_id=object_id, text=f"text of {object_id}").assertion(tx, 0)
    row = codec.claim_row(stated, live=True, tenant="acme")["props"]
    row |= {"object_id": object_id, "slot_key": stated.claim.slot_key, "erased": erased}
    values = [row.get(name) for name in LINE_NAMES]
    if erased:
        values[LINE_NAMES.index("value_json")] = None
    return values


def entry(
    object_id: str, *, seen: bool = True, erased: bool = False, scope: str = "tenant"
) -> list[Any]:
    row = [int(object_id), 0, 9, 10, 99, "clean", "", True, None]
    return [object_id, 10, seen, erased, scope, 0, ["*"], [], [row]]


def record(*entries: list[Any], lines: list[Any] | None = None) -> dict[str, Any]:
    return {"place": 0, "claims": list(entries), "marks": [], "lines": lines or [], "note": None}


class ScriptedCalls:
    """Answers the second round trip from lines, and keeps what was asked."""

    def __init__(self, cache: ClaimCache, *lines: list[Any]) -> None:
        self.claims = cache.claims_of("acme", "one", erased_seq=0, snapshot_us=50)
        self._lines = {values[0]: values for values in lines}
        self.asked: list[list[Any]] = []

    def rows(self, text: str, **bound: Any) -> list[dict[str, Any]]:
        self.asked += [ask for part in bound["parts"] for ask in part]
        answers: list[list[Any]] = []
        for number, object_id, seen in reversed(self.asked):  # a server may answer in any order
            if object_id in self._lines:
                values = self._lines[object_id]
                answers.append([number, values if seen else values[:WIDTH]])
        return [{"lines": answers}]


def read(calls: ScriptedCalls, *records: dict[str, Any], sight: Sight = ALL) -> ReadAnswer:
    (answer,) = answers_of(calls, records, sight)  # type: ignore[arg-type]
    return answer


def texts(answer: ReadAnswer) -> list[str | None]:
    contents = [v.content for claim in answer.claims for v in claim.versions(50)]
    return [None if content is None else content.text for content in contents]


def test_only_the_claims_that_are_not_known_are_asked_for() -> None:
    cache = ClaimCache(64)
    cold = ScriptedCalls(cache, line("1"), line("2"))
    assert texts(read(cold, record(entry("1"), entry("2")))) == ["text of 1", "text of 2"]
    assert [ask[1] for ask in cold.asked] == ["1", "2"]

    warm = ScriptedCalls(cache, line("3"))
    assert texts(read(warm, record(entry("1"), entry("3")))) == ["text of 1", "text of 3"]
    assert [ask[1] for ask in warm.asked] == ["3"]


def test_a_short_answer_says_everything_itself() -> None:
    calls = ScriptedCalls(ClaimCache(64))
    assert texts(read(calls, record(entry("1"), lines=[line("1")]))) == ["text of 1"]
    assert texts(read(calls, record(entry("1")))) == ["text of 1"]
    assert calls.asked == []


def test_what_is_not_seen_is_not_taken_from_what_is_kept() -> None:
    cache = ClaimCache(64)
    read(ScriptedCalls(cache, line("1")), record(entry("1")))
    calls = ScriptedCalls(cache, line("1"))
    answer = read(calls, record(entry("1", seen=False)))
    assert texts(answer) == [None]
    assert not answer.claims[0].visible
    assert [ask[2] for ask in calls.asked] == [False]


def test_of_a_foreign_scope_nothing_is_asked() -> None:
    calls = ScriptedCalls(ClaimCache(64))
    answer = read(calls, record(entry("1", seen=False, scope="user=bob")))
    assert list(answer.claims[0].versions(50)) == []
    assert calls.asked == []


def test_what_the_first_trip_calls_erased_is_not_taken_from_what_is_kept() -> None:
    cache = ClaimCache(64)
    read(ScriptedCalls(cache, line("1")), record(entry("1")))
    answer = read(ScriptedCalls(cache, line("1", erased=True)), record(entry("1", erased=True)))
    (version,) = answer.claims[0].versions(50)
    assert (version.erased, version.content) == (True, None)


def test_a_claim_that_the_second_trip_calls_erased_is_shown_as_erased() -> None:
    cache = ClaimCache(64)
    answer = read(ScriptedCalls(cache, line("1", erased=True)), record(entry("1")))
    (version,) = answer.claims[0].versions(50)
    assert (version.erased, version.content) == (True, None)
    # and not kept as what it was
    again = ScriptedCalls(cache, line("1", erased=True))
    read(again, record(entry("1")))
    assert len(again.asked) == 1


def test_a_claim_that_the_second_trip_hides_is_hidden() -> None:
    class Hiding(ScriptedCalls):
        def rows(self, text: str, **bound: Any) -> list[dict[str, Any]]:
            (answer,) = super().rows(text, **bound)
            return [{"lines": [[number, values[:WIDTH]] for number, values in answer["lines"]]}]

    answer = read(Hiding(ClaimCache(64), line("1")), record(entry("1")))
    (version,) = answer.claims[0].versions(50)
    assert (version.visible, version.content) == (False, None)


@pytest.mark.parametrize("lines", [(), (line("1", tx=11),)], ids=["gone", "another"])
def test_a_tenant_that_is_removed_between_the_trips_is_not_read(lines: Any) -> None:
    with refused(NotFound, "unknown_tenant"):
        read(ScriptedCalls(ClaimCache(64), *lines), record(entry("1")))
