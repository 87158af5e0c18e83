"""What no longer holds, or was taken back, is no evidence as talk either, unless it is pinned."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tenure.schema.interval import INF_US, MIN_US, Interval
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench, uid

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


OFFICE: dict[str, Any] = {"subject": "Nova", "slot": "office", "derived_from": ("said",)}
TEAM: dict[str, Any] = {"subject": "Nova", "slot": "team", "derived_from": ("said",)}
DENIED = {"status": "overridden", "reason": "denied", "head": True}


def turn_of(*rows: dict[str, Any], layer: str = "user", text: str = SAID, quote: str = "") -> Bench:
    """Return a world of one turn that says two things: a team, and an office in these rows."""
    made = Bench()
    made.world.add(
        "said", text=text, object_type="retrieved_passage", layer=layer, origin="chat://a",
        why="nova",
    )  # fmt: skip
    made.world.person("Nova", "project")
    made.world.add("team", claim="the team of Nova", **TEAM)
    for number, row in enumerate(rows):
        words = {"text": quote} if quote else {}
        made.world.add(f"row {number}", object_id=uid("office"), **OFFICE, **words, **row)
        if row.get("is_cut"):
            version = made.world.rows[-1]
            asserted = replace(version.row.claim, interval=Interval(MIN_US, INF_US))
            made.world.rows[-1] = replace(version, row=replace(version.row, claim=asserted))
    return made


@pytest.mark.parametrize(
    "rows",
    [
        ({"tx_end": NOW},),
        (DENIED,),
        ({"valid": (MIN_US, NOW), "is_cut": True}, {"valid": (NOW, INF_US), **DENIED}),
        ({"valid": (MIN_US, NOW), "is_cut": True},),
    ],
    ids=["retracted", "denied", "denied from a day on", "corrected from a day on"],
)
def test_a_turn_of_which_a_part_was_taken_back_is_no_evidence(rows: tuple[Any, ...]) -> None:
    made = turn_of(*rows)
    envelope = made.compile(query="nova office")
    assert SAID not in envelope.text
    omitted = {o.object_id: (o.stage, o.reason, o.detail) for o in envelope.trace.omitted_objects}
    assert omitted[uid("said")] == ("validate", "superseded", "claim_taken_back")
    assert SAID in made.compile(query="nova office", pinned=[uid("said")]).text

    made.rules(outdated_passages="show")
    assert "claim_taken_back" not in reasons(made).values()


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"valid": (MIN_US, NOW - DAY)},
        {"valid": (NOW + DAY, INF_US)},
        {"status": "overridden", "reason": "newer_valid_from", "head": False},
        {"op": "deny", "reason": "denial", "tx_end": NOW},
        {"tx": 2 * NOW},
    ],
    ids=["holds", "ended by itself", "not begun", "gave way", "a denial", "not known yet"],
)
def test_a_turn_of_which_nothing_was_taken_back_stays(row: dict[str, Any]) -> None:
    made = turn_of(row)
    assert "claim_taken_back" not in reasons(made).values()
    assert SAID in made.compile(query="nova office").text


def test_a_page_is_more_than_one_of_its_sentences() -> None:
    assert "claim_taken_back" not in reasons(turn_of(DENIED, layer="corpus")).values()


def test_what_was_is_told_by_a_turn_that_denies_and_by_none_that_retracts() -> None:
    past = {"query": "Where was the nova office before?"}
    assert SAID in turn_of(DENIED).compile(**past).text
    assert SAID not in turn_of({"tx_end": NOW}).compile(**past).text

    made, _ = bench(rome={"tx_end": NOW})
    assert SAID not in made.compile(**past).text


GAVE_UP = "I gave the office of our team up."


def denied_office(text: str = GAVE_UP, **rows: dict[str, Any]) -> Bench:
    """Return a world in which somebody said that his office is no more, and what else he has."""
    made = Bench(principal=Principal(user="ann"))
    made.world.person("Ann", user="ann")
    made.world.add(
        "said", text=text, object_type="retrieved_passage",
        layer="user", origin="chat://a", why="nova", subject="Ann",
    )  # fmt: skip
    made.world.add(
        "denial", subject="Ann", slot="office", value="Rome", op="deny", reason="denial",
        derived_from=("said",), text=GAVE_UP,
    )  # fmt: skip
    for name, row in rows.items():
        made.world.add(name, subject="Ann", **row)
    return made


@pytest.mark.parametrize(
    ("query", "rows", "stays"),
    [
        ("Where is my office?", {}, True),
        ("Where is my team?", {}, False),
        ("Where is an office?", {}, False),
        ("Where is my office?", {"new": {"slot": "office", "value": "Oslo"}}, False),
        ("Where is my office?", {"old": {"slot": "office", "value": "Oslo", **ENDED}}, True),
        ("Where is my office?", {"team": {"slot": "team", "value": "Core"}}, True),
    ],
)
def test_a_denial_answers_where_its_slot_is_asked_and_empty(
    query: str, rows: dict[str, dict[str, Any]], stays: bool
) -> None:
    made = denied_office(**rows)
    omitted = made.omitted(made.compile(query=query))
    assert (omitted.get("said") != ("superseded", "claims_ended")) is stays


def test_a_turn_that_ends_something_stays_for_a_number() -> None:
    query = "Which deposit came back?"
    for addition, stays in (("900 euros of the deposit came back.", True), ("It was cold.", False)):
        turn = f"{GAVE_UP} {addition}"
        world = denied_office(turn, new={"slot": "office", "value": "Oslo"})
        envelope = world.compile(query=query)
        assert (turn in envelope.text) is stays
        omitted = world.omitted(envelope)
        assert (omitted.get("said") == ("superseded", "claims_ended")) is not stays


REST = (
    "The nova office stood in Rome and the gate code is 4471. "
    "It was cold. Dr. Ada keeps the nova keys."
)


@pytest.mark.parametrize(
    ("row", "query", "shown"),
    [
        (DENIED, "gate code", "[…] the gate code is 4471. […]"),
        ({"tx_end": NOW}, "Who has the gate keys?", "[…] the gate code is 4471. […] Dr. Ada keeps"),
        (DENIED, "office in Rome", None),
    ],
)
def test_the_clauses_beside_what_is_over_are_quoted_where_they_are_asked_for(
    row: dict[str, Any], query: str, shown: str | None
) -> None:
    bench = turn_of(row, text=REST, quote="nova office stood in Rome")
    envelope = bench.compile(query=query, entities=["Nova"])
    assert ("4471" in envelope.text) is (shown is not None)
    assert (shown or "") in envelope.text
    assert "stood in Rome" not in envelope.text


def test_of_a_turn_with_very_many_clauses_nothing_is_quoted() -> None:
    turn = f"{REST} {' '.join(f'Room {number} has chairs.' for number in range(40))}"
    bench = turn_of(DENIED, text=turn, quote="nova office stood in Rome")
    assert "4471" not in bench.compile(query="gate code", entities=["Nova"]).text


def test_so_are_those_of_a_turn_of_which_all_claims_have_ended() -> None:
    bench = denied_office(
        f"{GAVE_UP} The deposit is with Ada.", new={"slot": "office", "value": "Oslo"}
    )
    text = bench.compile(query="Who has the deposit?").text
    assert "[…] The deposit is with Ada." in text
    assert GAVE_UP not in text


def test_what_was_said_again_is_not_over() -> None:
    bench = turn_of({"valid": (MIN_US, NOW), "is_cut": True, "value": "Rome"})
    bench.world.add("again", value="Rome", **{**OFFICE, "derived_from": ("later",)})
    assert SAID in bench.compile(query="nova office").text
