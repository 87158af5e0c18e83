"""One hostile member of a commit group harms nobody else in it."""

from dataclasses import replace
from typing import Any

import pytest

from tenure import InvalidInput, Memory, Write
from tenure.schema.write import Submission
from tenure.service.writing.write import Writer


def submission(memory: Memory, subject: str, *, text: str | None = None) -> Submission:
    writer = Writer(memory._backend, memory.principal)
    (draft,) = writer.drafts([Write(subject=subject, slot="office", value="Rome")])
    if text is not None:
        draft = replace(draft, content=replace(draft.content, text=text))
    return Submission((draft,), frozenset({"tenant"}), "service")


def test_a_name_that_only_the_commit_refuses_fails_alone(memory: Memory) -> None:
    unseen = submission(memory, "Bob")
    unseen = replace(unseen, drafts=(replace(unseen.drafts[0], subject="\u200b"),))
    group = [submission(memory, "Ann"), unseen, submission(memory, "Lee")]
    first, broken, last = memory._backend._run(memory.principal.tenant, group)
    assert first[0].outcome == last[0].outcome == "accepted"
    assert isinstance(broken, InvalidInput) and broken.code == "bad_name"
    assert memory.doctor() == ()


def test_what_no_store_can_keep_fails_alone(memory: Memory) -> None:
    memory.write(subject="Kim", slot="office", value="Oslo")
    group = [
        submission(memory, "Ann"),
        submission(memory, "Bob", text="lone \ud800 surrogate"),
        submission(memory, "Lee"),
    ]
    first, broken, last = memory._backend._run(memory.principal.tenant, group)
    assert first[0].outcome == last[0].outcome == "accepted"
    assert isinstance(broken, Exception)

    answers = [memory.as_of().value(name, "office") for name in ("Ann", "Bob", "Lee", "Kim")]
    assert answers == ["Rome", None, "Rome", "Oslo"]
    assert memory.doctor() == ()


FIELDS: list[dict[str, Any]] = [
    {"subject": "Sam{}"},
    {"subject": {"name": "Sam", "aliases": ["S{}"]}},
    {"subject": {"name": "Sam", "external_ids": {"user": "s{}"}}},
    {"subject": "Sam", "why_it_matters": "x{}"},
    {"subject": "Sam", "source_origin": "user://{}"},
    {"subject": "Sam", "update_path": "{}"},
    {"subject": "Sam", "behavioral_implication": "{}"},
]


@pytest.mark.parametrize("character", ["\x00", "\ud800"])
def test_it_is_refused_at_the_edge(memory: Memory, character: str) -> None:
    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{}", character)
        if isinstance(value, list):
            return [filled(member) for member in value]
        return {key: filled(member) for key, member in value.items()}

    for fields in FIELDS:
        with pytest.raises(InvalidInput):
            memory.write(slot="office", value="Rome", **filled(fields))
        assert memory.as_of().tx is None, fields
    assert memory.doctor() == ()


def test_an_escape_that_is_only_text_is_kept(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="a \\u0000 b")
    assert memory.as_of().value("Sam", "office") == "a \\u0000 b"
