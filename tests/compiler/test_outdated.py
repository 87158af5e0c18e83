"""A passage whose claims have all ended is history, and no evidence unless it is pinned."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.tests.compiler.fake_reader import DAY, NOW, Bench

SAID = "The nova office stood in Rome when we wrote this."


def bench(**claims: dict[str, Any]) -> tuple[Bench, str]:
    """Return a world of one passage and the claims that were extracted from it."""
    made = Bench()
    passage = made.world.add(
        "said", text=SAID, object_type="retrieved_passage", level=4, origin="doc://d", why="nova"
    )
    nova = made.world.person("Nova", "project")
    for name, stated in claims.items():
        made.world.add(
            name, subject="Nova", slot="office", derived_from=("said", "other"), **stated
        )
    assert nova
    return made, passage


def reasons(made: Bench, **given: Any) -> dict[str, str]:
    envelope = made.compile(query="nova office", **given)
    return {made.world.name_of(o.object_id): o.detail for o in envelope.trace.omitted_objects}


ENDED = {"valid": (NOW - 9 * DAY, NOW - DAY)}


def test_a_passage_whose_only_claim_has_ended_is_no_evidence() -> None:
    made, passage = bench(rome=ENDED)
    envelope = made.compile(query="nova office")
    assert SAID not in envelope.text
    found = {o.object_id: (o.stage, o.reason, o.detail) for o in envelope.trace.omitted_objects}
    assert found[passage] == ("validate", "superseded", "claims_ended")


@pytest.mark.parametrize(
    "claims",
    [
        {},
        {"rome": ENDED, "team": {}},
        {"rome": {"valid": (NOW + DAY, NOW + 2 * DAY)}},
        {"rome": {"status": "quarantined", "reason": "policy_hold"}},
    ],
    ids=["without claims", "one of them holds", "not begun", "set apart"],
)
def test_a_passage_that_may_still_hold_is_not_history(claims: dict[str, dict[str, Any]]) -> None:
    made, _ = bench(**claims)
    assert "claims_ended" not in reasons(made).values()


def test_what_a_denial_hides_holds_no_more() -> None:
    made, _ = bench(rome={"status": "overridden", "reason": "denied", "head": True})
    assert reasons(made)["said"] == "claims_ended"


@pytest.mark.parametrize(("query", "stays"), [("nova office Rome", True), ("nova office", False)])
def test_a_denial_keeps_its_passage_only_where_it_answers(query: str, stays: bool) -> None:
    made, _ = bench(rome={"op": "deny", "value": "Rome", "reason": "denial"})
    envelope = made.compile(query=query)
    assert (SAID in envelope.text) is stays


def test_a_summary_says_nothing_about_its_source() -> None:
    made, _ = bench()
    made.world.add(
        "summary", text="gone", object_type="inferred_belief", derived_from=("said",), **ENDED
    )
    assert "claims_ended" not in reasons(made).values()


def test_what_the_request_pins_and_a_policy_that_shows_keep_it() -> None:
    made, passage = bench(rome=ENDED)
    assert SAID in made.compile(query="nova office", pinned=[passage]).text
    made.rules(outdated_passages="show")
    assert SAID in made.compile(query="nova office").text


def test_a_passage_stands_beside_its_claim_only_where_it_says_more() -> None:
    quotes = {"office in Rome": True, "The nova office stood in Rome": False}
    for quote, stands in quotes.items():
        made, passage = bench(rome={"claim": quote})
        envelope = made.compile(query="nova office", budget_tokens=4_000)
        shown = made.compiled(envelope)
        assert "rome" in shown
        assert ("said" in shown) is stands, quote
        if not stands:
            omitted = {each.object_id: each for each in envelope.trace.omitted_objects}
            assert omitted[passage].reason == "duplicate_of"


@pytest.mark.parametrize(
    ("query", "stays"),
    [
        ("Where was the nova office before?", True),
        ("Who was the nova owner before?", False),
        ("Where is the nova office?", False),
    ],
)
def test_a_question_what_a_slot_had_is_answered_by_what_has_ended(query: str, stays: bool) -> None:
    made, _ = bench(rome=ENDED)
    assert (SAID in made.compile(query=query).text) is stays
