"""`compile(user=…)`: whom a request is for."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Memory, Principal, connect
from tenure.store.port.store import Page
from tenure.store.sqlite.reader import SqliteReader


def define_liked_actors(memory: Memory) -> None:
    memory.vocabulary.define_slot(
        "liked_actors",
        kind="preference",
        cardinality="many",
        description="film: actors that the user likes",
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with connect(str(tmp_path / "tenant.db")) as memory:
        define_liked_actors(memory)
        for person, actor in (("ann", "Neve Campbell"), ("bob", "Alec Guinness")):
            subject = {"name": person.title(), "type": "person", "external_ids": {"user": person}}
            memory.write(subject=subject, slot="liked_actors", value=actor)
        yield memory


def test_the_wishes_of_the_stated_user_are_shown(memory: Memory) -> None:
    envelope = memory.compile("assistant", "Can you suggest a movie?", user="bob")
    assert "Alec Guinness" in envelope.text
    assert "Neve Campbell" not in envelope.text
    assert memory.replay(envelope).text == envelope.text


def test_a_user_that_nobody_is_leaves_a_gap(memory: Memory) -> None:
    envelope = memory.compile("assistant", "Can you suggest a movie?", user="nobody")
    assert [(gap.code, gap.subject) for gap in envelope.gaps] == [("unknown_entity", "nobody")]
    with pytest.raises(InvalidInput, match="give the id of a user"):
        memory.compile("assistant", "Can you suggest a movie?", user=" ")


def test_with_the_wishes_of_several_nobody_is_meant_unless_stated(memory: Memory) -> None:
    envelope = memory.compile("assistant", "Can you suggest a movie?")
    assert "Alec Guinness" not in envelope.text
    assert "Neve Campbell" not in envelope.text


def test_with_the_wishes_of_several_the_gap_names_them_and_a_stated_one_leaves_none(
    memory: Memory,
) -> None:
    envelope = memory.compile("assistant", "Can you suggest a movie?")
    (gap,) = envelope.gaps
    people = [memory.entities.resolve(name).entity for name in ("Bob", "Ann")]
    assert (gap.code, gap.subject) == ("user_unstated", "")
    assert gap.detail.split() == sorted(map(str, people))
    assert memory.replay(envelope).gaps == envelope.gaps
    assert memory.replay(envelope).text == envelope.text

    assert memory.compile("assistant", "Can you suggest a movie?", user="bob").gaps == ()
    assert memory.compile("assistant", "What of Bob?", entities=["Bob"]).gaps == ()


def test_many_people_with_wishes_leave_one_gap_that_lists_a_few(memory: Memory) -> None:
    for number in range(20):
        memory.write(subject=f"person:Guest {number}", slot="liked_actors", value="Alec Guinness")
    (gap,) = memory.compile("assistant", "Can you suggest a movie?").gaps
    assert gap.code == "user_unstated"
    assert len(gap.detail.split()) == 8


def test_one_person_under_more_ids_than_are_listed_is_still_the_only_one(memory: Memory) -> None:
    people = [str(memory.entities.resolve(name).entity) for name in ("Bob", "Ann")]
    for number in range(20):
        receipt = memory.write(
            subject=f"person:Guest {number}", slot="liked_actors", value="Alec Guinness"
        )
        people.append(str(receipt.entity))
    first, *others = people
    for other in others:
        memory.entities.merge(other, first, reason="one person under many names")

    envelope = memory.compile("assistant", "Can you suggest a movie?")
    assert envelope.gaps == ()
    assert "Neve Campbell" in envelope.text


def test_a_compile_for_nobody_asks_for_whole_wishes_of_the_caller_s_scopes_alone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    scopes: list[tuple[str, ...]] = []
    real = SqliteReader.standing

    def standing(reader: SqliteReader, **ask: Any) -> Page:
        scopes.append(tuple(ask["scopes"]))
        return real(reader, **ask)

    monkeypatch.setattr(SqliteReader, "standing", standing)
    memory.compile("assistant", "Can you suggest a movie?")
    assert all("tenant" not in own for own in scopes)


def test_the_only_person_with_wishes_is_meant_when_nobody_is_stated(memory: Memory) -> None:
    people = [memory.entities.resolve(name).entity for name in ("Bob", "Ann")]
    bob, ann = (str(entity) for entity in people)
    memory.entities.merge(bob, ann, reason="one person under two names")
    envelope = memory.compile("assistant", "Can you suggest a movie?")
    assert "Alec Guinness" in envelope.text
    assert "Neve Campbell" in envelope.text
    assert memory.replay(envelope).text == envelope.text


def test_the_facts_of_the_only_person_with_wishes_are_left_to_questions_about_them(
    tmp_path: Path,
) -> None:
    with connect(str(tmp_path / "alone.db")) as memory:
        define_liked_actors(memory)
        memory.write(subject="person:Ann Lee", slot="liked_actors", value="Neve Campbell")
        memory.write(subject="person:Ann Lee", slot="office", value="Chicago")
        memory.write(subject="company:Orchid Foods", slot="pricing_tier", value="silver")

        unrelated = memory.compile("assistant", "Which tier has Orchid Foods?")
        assert "silver" in unrelated.text
        assert "Neve Campbell" in unrelated.text
        assert "Chicago" not in unrelated.text
        assert memory.replay(unrelated).text == unrelated.text

        same = memory.what_if(unrelated.envelope_id)
        assert (same.added_ids, same.removed_ids) == ((), ())

        related = memory.compile("assistant", "In which office is everybody?")
        assert "Chicago" in related.text


def test_what_another_person_likes_is_shown_where_it_is_asked() -> None:
    with connect(":memory:", principal=Principal(user="mia")) as mia:
        mia.observe([{"role": "user", "content": "Our daughter Lena loves dinosaurs."}])
        mia.observe([{"role": "user", "content": "My boss Karl hates meetings. I love hiking."}])

        plain = mia.compile("code_generation", "Write a parser for dates.").text
        assert "hiking" in plain
        assert "dinosaurs" not in plain and "meetings" not in plain
        assert "dinosaurs" in mia.compile("assistant", "What does Lena like?").text


def test_what_somebody_said_of_himself_later_stands_beside_what_he_said_first(
    tmp_path: Path,
) -> None:
    messages = [
        {"role": "user", "content": "Hi, I'm Ana. I work at Acme since 2021."},
        {"role": "assistant", "content": "Nice to meet you."},
        {"role": "user", "content": "I hate flying. Oh, and Acme let me go, Globex took me on."},
    ]
    with connect(str(tmp_path / "talk.db")) as owner:
        for principal in (owner.principal, Principal(user="ana")):
            person = owner.bind(principal)
            person.observe(messages)
            envelope = person.compile("conversation", "Where do I work?", budget_tokens=1000)
            assert "Globex took me on" in envelope.text, principal
            assert person.replay(envelope).text == envelope.text
