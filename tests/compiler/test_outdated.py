"""What no longer holds, or was taken back, comes last, and under `omit` stays out."""

from dataclasses import replace
from typing import Any

import pytest

from tenure.schema.interval import INF_US, MIN_US, Interval
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import DAY, NOW, Bench, uid

SAID = "The nova office stood in Rome when we wrote this."


def bench(**claims: dict[str, Any]) -> tuple[Bench, str]:
    """Return a world of one passage and the claims that were extracted from it."""
    made = Bench().rules(outdated_passages="omit")
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


@pytest.mark.parametrize(("query", "stays"), [("nova office", True), ("nova team", False)])
def test_a_denial_keeps_its_passage_only_where_it_answers(query: str, stays: bool) -> None:
    made, _ = bench(
        rome={
            "op": "deny",
            "value": "Rome",
            "reason": "denial",
            "claim": "nova office: Rome",
            "text": SAID,
        }
    )
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
    quotes = {"office in Rome": True, SAID: False}
    for quote, stands in quotes.items():
        made, passage = bench(rome={"claim": quote})
        envelope = made.compile(query="nova office", budget_tokens=4_000)
        shown = made.compiled(envelope)
        assert "rome" in shown
        assert ("said" in shown) is stands, quote
        if not stands:
            omitted = {each.object_id: each for each in envelope.trace.omitted_objects}
            assert omitted[passage].reason == "duplicate_of"


OFFICE: dict[str, Any] = {"subject": "Nova", "slot": "office", "derived_from": ("said",)}
TEAM: dict[str, Any] = {"subject": "Nova", "slot": "team", "derived_from": ("said",)}
DENIED = {"status": "overridden", "reason": "denied", "head": True}


def turn_of(*rows: dict[str, Any]) -> Bench:
    """Return a world of one turn that said two things: a team that ended, and an office."""
    made = Bench().rules(outdated_passages="omit")
    made.world.add(
        "said", text=SAID, object_type="retrieved_passage", layer="user", origin="chat://a",
        why="nova",
    )  # fmt: skip
    made.world.person("Nova", "project")
    made.world.add("team", claim="the team of Nova", **TEAM, **ENDED)
    for number, row in enumerate(rows):
        made.world.add(f"row {number}", object_id=uid("office"), **OFFICE, **row)
        if row.get("is_cut"):
            version = made.world.rows[-1]
            asserted = replace(version.row.claim, interval=Interval(MIN_US, INF_US))
            made.world.rows[-1] = replace(version, row=replace(version.row, claim=asserted))
    return made


GAVE_UP = "I gave the office of our team up."


def denied_office(text: str = GAVE_UP, **rows: dict[str, Any]) -> Bench:
    """Return a world in which somebody said that his office is no more, and what else he has."""
    made = Bench(principal=Principal(user="ann")).rules(outdated_passages="omit")
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
        ("Where is my team?", {}, True),  # a word that no claim has
        ("Where is an office?", {}, True),
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


def test_what_was_said_again_is_not_over() -> None:
    bench = turn_of({"valid": (MIN_US, NOW), "is_cut": True, "value": "Rome"})
    bench.world.add("again", value="Rome", **{**OFFICE, "derived_from": ("later",)})
    assert SAID in bench.compile(query="nova office").text


@pytest.mark.parametrize("rows", [({"tx_end": NOW},), (DENIED,)], ids=["retracted", "denied"])
def test_by_default_no_rule_removes_words_and_they_come_last(rows: tuple[Any, ...]) -> None:
    made = turn_of(*rows).rules(outdated_passages="last")
    made.world.add("new", text="The nova office is in Oslo.", object_type="retrieved_passage",
                   layer="user", origin="chat://b", why="nova")  # fmt: skip
    envelope = made.compile(query="Which nova office is there now?")
    (line,) = [line for line in envelope.text.splitlines() if SAID in line]
    assert "(earlier)" in line
    scores = {made.world.name_of(o.object_id): o.score for o in envelope.trace.compiled_objects}
    assert scores["new"] > scores["said"]


def test_a_question_about_the_past_ranks_what_ended_as_anything_else() -> None:
    made = turn_of(DENIED).rules(outdated_passages="last")
    for query, is_last in (
        ("Where is the nova office?", True),
        ("Where was the nova office?", False),
    ):
        envelope = made.compile(query=query)
        scores = {made.world.name_of(o.object_id): o.score for o in envelope.trace.compiled_objects}
        assert (scores["said"] < 400_000) is is_last


def test_words_that_no_claim_has_and_a_value_that_is_named_are_asked_for() -> None:
    made, _ = bench(rome={**ENDED, "value": "Rome"})
    for query, stays in (("nova office", False), ("nova office Rome", True), ("who wrote", True)):
        assert (SAID in made.compile(query=query).text) is stays, query


# ---- What has decayed or was demoted stays out, unless the request asks for it by name (C-031).

AGED: list[dict[str, Any]] = [{"decay": (1.0, 0.9)}, {"demoted": True}]


def filled(row: dict[str, Any]) -> Bench:
    bench = Bench()
    row = {"subject": "Sam Rivera", "slot": "office", "value": "Rome", **row}
    bench.world.add("office", **row)
    return bench


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_age_keeps_out_what_the_request_does_not_ask_for_by_name(row: dict[str, Any]) -> None:
    bench = filled(row)
    envelope = bench.compile(query="a report about Sam Rivera")
    assert "office" not in bench.compiled(envelope)
    assert bench.omitted(envelope)["office"][0] in ("decayed_below_threshold", "retired")


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_a_slot_that_is_asked_for_by_name_is_answered_however_old(row: dict[str, Any]) -> None:
    bench = filled(row)
    envelope = bench.compile(query="Which office has Sam Rivera?")
    assert bench.compiled(envelope) == {"office": "turn_memory"}
    assert envelope.gaps == ()


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_a_pinned_object_stands_however_old(row: dict[str, Any]) -> None:
    bench = filled(row)
    envelope = bench.compile(query="x", pinned=[uid("office")])
    assert bench.compiled(envelope) == {"office": "pinned_knowledge"}


@pytest.mark.parametrize("row", AGED, ids=lambda row: next(iter(row)))
def test_of_two_scopes_the_nearer_answers_though_it_has_aged(row: dict[str, Any]) -> None:
    bench = filled({**row, "scope": {"user": "ann"}})
    bench.world.add("shared", subject="Sam Rivera", slot="office", value="Oslo")
    envelope = bench.compile(query="Which office has Sam Rivera?")
    assert "office" in bench.compiled(envelope)


def test_the_slot_of_another_entity_is_not_asked_for() -> None:
    bench = filled(AGED[0])
    bench.world.add("tall", subject="Lee Chan", slot="specialty", value="maps")
    envelope = bench.compile(query="Which office has Lee Chan?")
    assert "office" not in bench.compiled(envelope)
