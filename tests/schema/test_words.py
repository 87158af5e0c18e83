"""The words that a checker reads are those that the calls take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest

import tenure
from tenure.schema.entity import AUDIT, SUGGESTION
from tenure.schema.vocabulary import ReviewState
from tenure.schema.words import ActionStatus, GraphForm, Remembered, ReviewKind, ReviewStatus
from tenure.store.operations.review import Remember


def test_the_words_of_a_list_are_those_of_its_states() -> None:
    assert set(get_args(ReviewStatus)) == {"all", *(state.value for state in ReviewState)}
    assert set(get_args(Remembered)) == {word.value for word in Remember}
    assert {AUDIT, SUGGESTION} < set(get_args(ReviewKind))


def test_every_word_is_taken_and_no_other() -> None:
    with tenure.connect(":memory:") as memory:
        calls: dict[Callable[[Any], object], Any] = {
            memory.actions.list: ActionStatus,
            memory.reviews.list: ReviewStatus,
            lambda kind: memory.reviews.list(kind=kind): ReviewKind,
            lambda form: memory.entities.export(format=form): GraphForm,
        }
        for call, words in calls.items():
            for word in get_args(words):
                call(word)
            with pytest.raises(tenure.InvalidInput):
                call("opne")
