"""A conversation observed as a list of messages: who speaks decides what it is."""

from collections.abc import Iterator
from typing import Any

import pytest

from tenure import InvalidInput, Memory, Principal, connect, parse_envelope

TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You are a travel agent. I live in Rome."},
    {"role": "user", "content": "I live in Lisbon and I'm allergic to peanuts."},
    {"role": "assistant", "content": "I live in Paris. Shall I look for flights?",
     "tool_calls": [{"id": "c1", "type": "function",
                     "function": {"name": "search", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "c1", "name": "search", "content": "I work at Globex."},
]  # fmt: skip


@pytest.fixture
def ann() -> Iterator[Memory]:
    with connect(":memory:") as memory:
        yield memory.bind(Principal(user="ann", roles=frozenset({"agent"}), session="s1"))


def test_the_user_speaks_for_himself_and_the_rest_is_kept_at_its_level(ann: Memory) -> None:
    receipts = ann.observe(TALK)
    objects = [ann.explain(receipt.object_id).object for receipt in receipts]
    passages = [each for each in objects if each.object_type.value == "retrieved_passage"]
    assert [(p.source_origin.partition("/")[0], int(p.authority_level)) for p in passages] == [
        ("chat:", 2), ("agent:", 3), ("agent:", 3), ("tool:", 4),
    ]  # fmt: skip
    assert "Rome" not in str(objects)
    view = ann.as_of()
    assert view.value("ann", "home") == "Lisbon"
    assert view.slot("ann", "allergy").values == ("peanuts",)
    assert view.value("ann", "employer") is None
    assert view.entity("ann").external_ids["user"] == "ann"


def test_a_stated_speaker_is_who_the_user_is(ann: Memory) -> None:
    ann.observe(TALK[:2], speaker="Ana Ortiz")
    assert ann.as_of().value("Ana Ortiz", "home") == "Lisbon"


def test_what_was_said_is_found_in_a_compile_for_a_conversation(ann: Memory) -> None:
    ann.observe(TALK)
    question = {"role": "user", "content": "May I eat peanuts?"}
    envelope = ann.compile("conversation", "allergic to peanuts", history=[question])
    assert "peanuts" in envelope.text
    assert ann.compile("assistant", "peanuts").text


EVERYDAY = (
    ("2026-03-02", "I'm Ann Keller, I work at Globex. I moved to Lisbon with my partner Tom."),
    ("2026-03-02", "I'm vegetarian and allergic to peanuts, so eating out is an adventure."),
    ("2026-03-09", "We have a dog named Biscuit."),
    ("2026-05-04", "Actually, I just left Globex. I'm starting at Initech as head of data."),
    ("2026-05-04", "And I no longer eat dairy either. I left Amazon a one-star review."),
)


@pytest.mark.parametrize(
    ("question", "shown", "hidden"),
    [
        (
            "Suggest a restaurant for dinner",
            ("vegetarian", "peanuts", "dairy"),
            ("Globex", "Lisbon"),
        ),
        ("What do you know about me?", ("Biscuit", "Initech", "Lisbon"), ("Globex",)),
        ("What's my pet called?", ("Biscuit",), ("Tom", "Initech", "phone")),
        ("Where does Ann work?", ("Initech",), ("Globex", "peanuts", "Biscuit")),
        ("Recommend a book", (), ("Globex",)),
    ],
)
def test_what_somebody_said_in_passing_answers_everyday_questions(
    ann: Memory, question: str, shown: tuple[str, ...], hidden: tuple[str, ...]
) -> None:
    for day, text in EVERYDAY:
        ann.observe([{"role": "user", "content": text}], at=f"{day}T09:00:00Z")
    envelope = ann.compile("assistant", question, budget_tokens=800)
    blocks = parse_envelope(envelope.text)
    # Turns fill a context that has room for them; facts have to bear on the question.
    text = "\n".join(block.text for block in blocks if block.section == "turn_memory")
    assert [word for word in shown if word not in text] == []
    assert [word for word in hidden if word in text] == []


def test_who_leaves_what_he_never_had_leaves_nothing(ann: Memory) -> None:
    for day, text in EVERYDAY:
        ann.observe([{"role": "user", "content": text}], at=f"{day}T09:00:00Z")
    assert "Amazon" not in str(ann.history("ann", "employer"))
    employers = [segment.state for segment in ann.as_of().timeline("ann", "employer")]
    assert [state.status.value for state in employers] == ["clean", "clean"]


def test_what_is_taken_back_is_what_was_said_in_other_words(ann: Memory) -> None:
    for day, text in (
        ("2026-03-02", "I really love old western movies. I enjoy books by Mary Roach."),
        ("2026-03-02", "I need to plan the summer trip."),
        ("2026-03-03", "I'm into Thai food."),
        ("2026-04-01", "I used to like westerns, but I can't stand Mary Roach's books."),
        ("2026-04-01", "I just finished planning our summer trip. I used to like movies."),
    ):
        ann.observe([{"role": "user", "content": text}], at=f"{day}T09:00:00Z")
    before, now = ann.as_of("2026-03-15T00:00:00Z"), ann.as_of()
    assert set(before.slot("ann", "likes").values) == {
        "old western movies", "books by Mary Roach", "Thai food",
    }  # fmt: skip
    assert now.slot("ann", "likes").values == ("Thai food",)
    assert now.slot("ann", "dislikes").values == ("Mary Roach's books",)
    assert before.slot("ann", "todo").values == ("plan the summer trip",)
    assert now.slot("ann", "todo").values == ()


def test_what_is_no_message_is_refused_before_anything_is_written(ann: Memory) -> None:
    with pytest.raises(InvalidInput):
        ann.observe([TALK[1], {"role": "user"}])
    assert ann.as_of().search("peanuts").hits == ()


def test_in_a_store_of_his_own_the_user_is_its_owner(memory: Memory) -> None:
    memory.observe([{"role": "user", "content": "I live in Lisbon. I'm allergic to peanuts."}])
    memory.observe([TALK[2]])
    assert memory.as_of().value("the owner", "home") == "Lisbon"

    home = memory.compile("assistant", "Where do I live?", budget_tokens=800)
    dinner = memory.compile("assistant", "Suggest a restaurant", budget_tokens=800)
    assert "home = Lisbon" in home.text
    assert "peanuts" in dinner.text
    assert memory.replay(home).text == home.text

    # Nobody else is this person, and what was said in passing directs nobody.
    memory.observe([{"role": "user", "content": "Always answer in German."}])
    bob = memory.bind(Principal(user="bob"))
    assert "Lisbon" not in bob.compile("assistant", "Suggest a restaurant").text
    for envelope in (memory.compile("assistant", "Hello"), bob.compile("assistant", "Hello")):
        blocks = parse_envelope(envelope.text)
        german = {block.kind for block in blocks if "German" in block.text}
        assert german <= {"data"}


def test_a_session_of_nobody_makes_no_claims(memory: Memory) -> None:
    nobody = memory.bind(Principal(session="s1", roles=frozenset({"owner"})))
    assert len(nobody.observe(TALK[1:2])) == 1


@pytest.mark.parametrize(
    "said", ["I'm allergic to bees.", [{"role": "user", "content": "I'm allergic to bees."}]]
)
@pytest.mark.parametrize("speaker", [None, "ann"])
def test_words_are_the_users_unless_another_speaker_is_named(
    ann: Memory, said: Any, speaker: str | None
) -> None:
    receipts = ann.observe(said, speaker=speaker)
    assert ann.as_of().slot("ann", "allergy").values == ("bees",)
    assert receipts[0].detail == ""
    assert ann.as_of().entity("ann").external_ids["user"] == "ann"


@pytest.mark.parametrize("origin", ["https://a.example", "file:///notes.txt", "agent://helper"])
def test_a_text_from_elsewhere_is_nobodys_word_unless_a_speaker_is_named(
    ann: Memory, origin: str
) -> None:
    (receipt,) = ann.observe("I'm allergic to bees.", source_origin=origin)
    assert receipt.entity is None
    assert receipt.detail == ""


def test_a_text_of_nobody_says_what_to_name(memory: Memory, ann: Memory) -> None:
    (receipt,) = memory.observe("I'm allergic to bees.")
    assert receipt.detail.startswith("no claims were looked for: the text has no speaker")
    named, claim = memory.observe("I'm allergic to bees.", speaker="Ana Ortiz")
    assert named.detail == "" and claim.entity == named.entity
