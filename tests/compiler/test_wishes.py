"""Whom a request is for: their wishes, and the other facts of what the question is about."""

from dataclasses import replace
from typing import Any

import pytest

from tenure.schema.principal import Principal
from tenure.schema.slots import Slot
from tenure.schema.vocabulary import SlotKind
from tenure.tests.compiler.fake_reader import Bench

PROPOSAL = {
    "title": "Swarm robotics for mapping",
    "timeline": "two years in three phases",
    "lead": "Dr. Mills",
}


def documents(bench: Bench) -> None:
    for name, title in (("first", PROPOSAL["title"]), ("second", "Seeds for dry soil")):
        for slot, value in {**PROPOSAL, "title": title}.items():
            bench.world.add(f"{name} {slot}", subject=name, type="document", slot=slot,
                            value=value, claim=f"{slot}: {value}")  # fmt: skip


def test_the_other_facts_of_what_the_question_is_about_come_with_it() -> None:
    bench = Bench()
    documents(bench)
    shown = bench.compiled(bench.compile(query="Write about swarm robotics mapping"))
    assert set(shown) == {"first title", "first timeline", "first lead"}


def test_strict_activation_takes_no_siblings() -> None:
    bench = Bench().rules(activation="strict")
    documents(bench)
    shown = bench.compiled(bench.compile(query="Write about swarm robotics mapping"))
    assert "first lead" not in shown


def wishes(bench: Bench, **row: Any) -> Bench:
    slots: dict[str, Slot] = {}
    for noun, area in (("actors", "film"), ("climates", "travel")):
        slot = Slot(
            name=f"liked_{noun}", description=f"{area}: {noun} liked", kind=SlotKind.PREFERENCE
        )
        slots[slot.name] = slot
    bench.vocabulary = replace(bench.vocabulary, slots={**bench.vocabulary.slots, **slots})
    bench.world.person("Ann", user="ann")

    for person in ("Ann", "Bob"):
        for noun, value in (("actors", "Neve Campbell"), ("climates", "Alpine")):
            stated = {"subject": person, "slot": f"liked_{noun}", "value": value}
            row = {"object_type": "preference", "vocabulary": bench.vocabulary, **row}
            bench.world.add(f"{person} {noun}", **stated, **row)
    return bench


def test_the_wishes_of_the_caller_are_shown_whatever_is_asked() -> None:
    bench = wishes(Bench())
    envelope = bench.compile(query="Can you suggest a movie?")
    assert set(bench.compiled(envelope)) == {"Ann actors", "Ann climates"}
    asked = bench.compile(query="Which liked climates are there?")
    scores = {bench.world.name_of(o.object_id): o.score for o in asked.trace.compiled_objects}
    assert scores["Ann climates"] > scores["Ann actors"]


def test_what_a_slot_says_of_its_subject_answers_a_question_too() -> None:
    bench = Bench()
    slot = Slot(name="deputy", description="who stands in for somebody who is absent")
    bench.vocabulary = replace(bench.vocabulary, slots={**bench.vocabulary.slots, slot.name: slot})
    stated = {"type": "system", "slot": "deputy", "vocabulary": bench.vocabulary}
    bench.world.add("asked", subject="hub", value="Ann", claim="Ann", why="zeta", **stated)
    question = "Who stands in while the owner of hub is absent?"
    shown = bench.compiled(bench.compile(query=question, entities=["hub"]))
    assert "asked" in shown


def test_a_taste_reads_as_what_it_is() -> None:
    envelope = wishes(Bench()).compile(query="Can you suggest a movie?")
    assert "User likes actors: Neve Campbell." in envelope.text


def test_a_person_whom_the_request_names_is_whom_it_is_for() -> None:
    bench = wishes(Bench(principal=Principal()))
    shown = bench.compiled(bench.compile(query="Can you suggest a movie?", entities=["Bob"]))
    assert set(shown) == {"Bob actors", "Bob climates"}
    assert bench.compiled(bench.compile(query="Can you suggest a movie?")) == {}


def test_what_a_cached_zone_cannot_hold_goes_to_the_turn_by_the_question() -> None:
    bench = wishes(Bench().rules(section_shares=(("guidance", 0.0),)), scope={"user": "ann"})
    for number in range(40):
        bench.world.add(f"style {number}", subject="Ann", slot="code_style",
                        value=f"word{number} " * 9, scope={"user": "ann"})  # fmt: skip
    shown = bench.compiled(bench.compile(query="Can you suggest a movie?", budget_tokens=500))
    assert shown["Ann actors"] == "turn_guidance"
    assert len(shown) < 30


def test_what_a_user_tells_of_somebody_elses_wishes_is_told_of_that_one() -> None:
    bench = wishes(Bench(), scope={"user": "ann"})
    for name, kind in (("Tom", "person"), ("Team", "team")):
        bench.world.person(name, kind)
        bench.world.add(f"{name} taste", subject=name, slot="likes", value=f"{name} films",
                        type=kind, scope={"user": "ann"})  # fmt: skip
    text = bench.compile(query="Which films does Tom like?", entities=["Tom", "Team"]).text
    assert "User likes Tom films" not in text
    assert "Tom | likes = Tom films" in text


def standing(*texts: str, **stated: Any) -> Bench:
    """Preferences of the caller, in the order in which they were stated."""
    bench = Bench()
    bench.world.person("Ann", user="ann")
    for number, text in enumerate(texts):
        row = {"claim": text, "object_type": "preference", "scope": {"user": "ann"}, **stated}
        bench.world.add(f"wish {number}", text=text, subject="Ann", **row)
    return bench


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Never use bullet points.", "From now on always use bullet points."),
        ("Use emojis.", "No emojis please."),
        ("Answer in English.", "Please answer in Danish from now on."),
        ("Be brief.", "Keep your answers detailed."),
        ("Always reply in JSON.", "Return your answers as YAML."),
        ("Use a formal tone.", "Write casually."),
        ("Always use metric units.", "Give distances in miles."),
        ("Antworte auf Deutsch.", "Answer in English."),
        ("Verwende Emojis.", "Bitte keine Emojis."),
    ],
)
def test_a_newer_wish_about_the_same_manner_replaces_the_older(older: str, newer: str) -> None:
    bench = standing(older, newer)
    envelope = bench.compile(query="Explain what a fugue is.")
    assert set(bench.compiled(envelope)) == {"wish 1"}
    reason, detail = bench.omitted(envelope)["wish 0"]
    assert (reason, bench.world.name_of(detail)) == ("superseded", "wish 1")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Never use emojis.", "Always use bullet points."),
        ("Answer in English.", "Be brief."),
        ("Be brief.", "Be brief and use a formal tone."),
        ("Do not guess.", "Guess what I mean from the files."),
        ("No tables in mails.", "Use tables for figures."),
        ("Answer in English or in German.", "Answer in French when I do."),
        ("Answer as long as you need.", "Be brief."),
    ],
)
def test_wishes_that_one_answer_can_keep_are_both_shown(first: str, second: str) -> None:
    bench = standing(first, second)
    shown = bench.compiled(bench.compile(query="Explain what a fugue is."))
    assert set(shown) == {"wish 0", "wish 1"}


def test_a_wish_that_a_stronger_rule_denies_is_left_out_and_named() -> None:
    bench = Bench()
    bench.world.person("Ann", user="ann")
    bench.world.add("rule", text="Answer in English.", object_type="policy_rule", level=1)
    bench.world.add("wish", subject="Ann", slot="preferred_language", value="Danish",
                    object_type="preference", scope={"user": "ann"})  # fmt: skip
    envelope = bench.compile(query="Explain what a fugue is.")
    assert set(bench.compiled(envelope)) == {"rule"}
    assert bench.omitted(envelope)["wish"][0] == "overridden"
    (finding,) = envelope.trace.lint
    named = [bench.world.name_of(i) for i in (finding.rule, finding.against_id, finding.effective)]
    assert (finding.code, *named) == ("conflicting_instructions", "rule", "wish", "rule")


def test_two_rules_of_one_level_that_deny_each_other_are_both_shown_as_a_conflict() -> None:
    bench = Bench()
    for name, text in (("house", "Answer in English."), ("team", "Answer in Danish.")):
        bench.world.add(name, text=text, object_type="policy_rule", level=1, subject=name)
    envelope = bench.compile(query="Explain what a fugue is.")
    assert set(bench.compiled(envelope)) == {"house", "team"}
    assert [finding.code for finding in envelope.trace.lint] == ["conflicting_instructions"]


def test_with_strict_activation_a_wish_for_another_topic_neither_stands_nor_replaces() -> None:
    bench = standing("Use metric units.", why="quoting distances").rules(activation="strict")
    bench.world.add("other", text="Use miles.", claim="Use miles.", object_type="preference",
                    why="races", scope={"user": "ann"}, subject="Ann")  # fmt: skip
    assert bench.compiled(bench.compile(query="Explain what a fugue is.")) == {}
    shown = bench.compiled(bench.compile(query="Quoting the distances to Bonn"))
    assert set(shown) == {"wish 0"}


def test_somebody_elses_wish_replaces_none_of_the_callers() -> None:
    bench = standing("Be brief.")
    bench.world.person("Bob")
    bench.world.add("Bob's", text="Be detailed.", claim="Be detailed.", subject="Bob",
                    object_type="preference")  # fmt: skip
    shown = bench.compiled(bench.compile(query="Should answers to Bob be detailed?"))
    assert "wish 0" in shown
