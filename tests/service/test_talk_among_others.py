"""Who talks while others do is answered as one who is alone: their turns are not in the way."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import tenure
from tenure import Envelope, Memory, Principal, connect
from tenure.schema.policy import DEFAULT
from tenure.tests.source_tree import data_table

START = datetime(2026, 6, 1, tzinfo=UTC)
ANSWER = "By the old quay, behind the yellow crane."
TALK = [
    *[f"Small talk number {number} of the day." for number in range(12)],
    "Where does the ferry to Velmora leave?",
    *[f"Give me second number {number}." for number in range(9)],
    ANSWER,
    *[f"Further words {number} of no weight." for number in range(40)],
]


DAY = START + timedelta(days=1)


def bound(owner: Memory, user: str) -> Memory:
    return owner.bind(Principal(user=user, roles=frozenset({"member"})))


def talk_beside(speaker: Memory, strangers: Sequence[Memory], turns: Sequence[str]) -> list[str]:
    """Have each turn observed, and one of every stranger behind it; return the objects."""
    ids: list[str] = []
    for minute, text in enumerate(turns):
        at = START + timedelta(minutes=minute)
        ids += [o.object_id for o in speaker.observe(text, at=at, source_origin="chat://ann")]
        for number, stranger in enumerate(strangers):
            origin = f"chat://{number}"
            stranger.observe(f"Noise {minute} of {number}.", at=at, source_origin=origin)
    return ids


def shown(envelope: Envelope, turns: Sequence[str] = TALK) -> list[str]:
    return [text for text in turns if text in envelope.text]


def test_who_talks_among_others_is_answered_as_one_who_is_alone() -> None:
    answers: list[list[list[str]]] = []
    for others in (0, 9, 29):
        with connect(":memory:", clock=lambda: DAY) as owner:
            ann, strangers = bound(owner, "ann"), [bound(owner, f"u{n}") for n in range(others)]
            talk_beside(ann, strangers, TALK)
            envelopes = [
                ann.compile("conversation", "the ferry to Velmora", budget_tokens=budget)
                for budget in (300, 500, 900)
            ]
            assert not any("Noise" in envelope.text for envelope in envelopes)
            assert ann.replay(envelopes[1]).text == envelopes[1].text
            answers.append(list(map(shown, envelopes)))
    assert answers == [answers[0]] * 3
    assert [ANSWER in texts for texts in answers[0]] == [False, True, True]


def test_of_years_of_talk_among_others_the_best_passage_is_read() -> None:
    policy = replace(
        DEFAULT, compile=replace(DEFAULT.compile, text_candidates=8, talk_candidates=24)
    )
    answers: list[list[str]] = []
    turns = [f"The ferry of day {number} was late." for number in range(60)]
    turns[30:30] = ["Which ferry leaves for Velmora?", "Let me see.", ANSWER]
    for others in (0, 5):
        with connect(":memory:", clock=lambda: DAY, policy=policy) as owner:
            ann, strangers = bound(owner, "ann"), [bound(owner, f"u{n}") for n in range(others)]
            talk_beside(ann, strangers, turns)
            envelope = ann.compile("conversation", "the ferry to Velmora", budget_tokens=400)
            answers.append(shown(envelope, turns))
    assert answers[0] == answers[1]
    assert ANSWER in answers[0]


def test_what_was_erased_or_retracted_between_two_turns_leaves_them_where_they_are() -> None:
    with connect(":memory:", clock=lambda: DAY) as owner:
        ann, strangers = bound(owner, "ann"), [bound(owner, f"u{n}") for n in range(3)]
        ids = talk_beside(ann, strangers, TALK)
        place = TALK.index(ANSWER)
        owner.erase(ids[place - 1], reason="asked to")
        ann.write(object_id=ids[place - 2], op="retract")
        envelope = ann.compile("conversation", "the ferry to Velmora", budget_tokens=500)
        assert ANSWER in envelope.text
        assert not {TALK[place - 1], TALK[place - 2]} & set(shown(envelope))


def test_a_turn_that_was_promoted_stands_in_both_scopes() -> None:
    with connect(":memory:", clock=lambda: DAY) as owner:
        ann, bob = bound(owner, "ann"), bound(owner, "bob")
        ids = talk_beside(ann, [bob], TALK)
        owner.bind(Principal(user="ann", roles=frozenset({"owner"}))).promote(
            ids[TALK.index(ANSWER)], scope={}
        )
        assert ANSWER in bob.compile("conversation", "the yellow crane", budget_tokens=500).text
        assert ANSWER not in bob.compile("conversation", "Velmora", budget_tokens=500).text
        assert ANSWER in ann.compile("conversation", "the ferry", budget_tokens=500).text


def test_turns_of_other_sessions_do_not_stand_between() -> None:
    with connect(":memory:", clock=lambda: DAY) as owner:
        ann, *others = [
            owner.bind(Principal(user="ann", session=f"s{n}", roles=frozenset({"member"})))
            for n in range(9)
        ]
        for minute, text in enumerate(TALK):
            at = START + timedelta(minutes=minute)
            ann.observe(text, at=at, source_origin="chat://ann", layer="session")
            for other in others:
                other.observe(
                    f"Noise {minute}.", at=at, source_origin="chat://ann", layer="session"
                )
        envelope = ann.compile("conversation", "the ferry to Velmora", budget_tokens=500)
        assert ANSWER in envelope.text
        assert "Noise" not in envelope.text


def test_a_shared_talk_of_several_speakers_stands_together_for_everybody() -> None:
    with connect(":memory:", clock=lambda: DAY) as owner:
        ann, eve = bound(owner, "ann"), bound(owner, "eve")
        for minute, text in enumerate(TALK):
            at = START + timedelta(minutes=minute)
            owner.observe(
                text, ("Nora Quill", "Tom Ferrow")[minute % 2], at=at, source_origin="chat://quay"
            )
            for number in range(9):
                eve.observe(f"Noise {minute} of {number}.", at=at, source_origin="chat://eve")
        envelope = ann.compile("conversation", "the ferry to Velmora", budget_tokens=500)
        assert ANSWER in envelope.text
        assert "Noise" not in envelope.text


# ---- From a chat as it is typed to what the model reads of it.


@pytest.mark.parametrize("budget", [500, 2_000])
@pytest.mark.parametrize(("question", "answer", "former"), data_table("talk.toml")["chat_answers"])
def test_the_answer_is_shown_and_what_is_over_is_not(
    question: str, answer: str, former: str, budget: int
) -> None:
    with tenure.connect(":memory:") as store:
        memory = store.bind(Principal(tenant="default", user="ann"))
        for day, text in data_table("talk.toml")["chat"]:
            memory.observe([{"role": "user", "content": text}], at=f"{day}T10:00:00Z")
        envelope = memory.compile("assistant", question, budget_tokens=budget)

    assert answer in envelope.text
    # No rule removes what was said: it stays among the words of its day, and in no row of facts.
    told = [block.text for block in envelope.blocks if block.section != "evidence"]
    assert not former or former not in "\n".join(told)
