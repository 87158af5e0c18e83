"""A mapping that is part of a value: nobody changes it, everybody may copy it."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from tenure.schema.frozen_dict import FrozenDict

COUNTS = FrozenDict({"a": 1, "b": 2})


@pytest.mark.parametrize(
    "change",
    [
        lambda counts: operator.setitem(counts, "a", 3),
        lambda counts: operator.delitem(counts, "a"),
        lambda counts: operator.ior(counts, {"c": 3}),
        lambda counts: counts.update(c=3),
        lambda counts: counts.setdefault("c", 3),
        lambda counts: counts.pop("a"),
        lambda counts: counts.popitem(),
        lambda counts: counts.clear(),
    ],
)
def test_nothing_changes_it(change: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match="copy it with dict"):
        change(COUNTS)
    assert COUNTS == {"a": 1, "b": 2}


def test_many_entries_print_by_their_names() -> None:
    assert repr(COUNTS) == "{'a': 1, 'b': 2}"
    slots = FrozenDict({f"slot_{number}": "what it says " * 5 for number in range(60)})
    assert repr(slots).startswith("<entries: 'slot_0', 'slot_1', ")
    assert repr(slots).endswith(", … of 60>")
    assert len(repr(slots)) < 200
    assert repr(FrozenDict({"office": "Austin " * 40})) == "<entries: 'office'>"


def test_copies_are_equal_and_as_frozen() -> None:
    for twin in (copy.copy(COUNTS), copy.deepcopy(COUNTS), pickle.loads(pickle.dumps(COUNTS))):
        assert (type(twin), twin) == (FrozenDict, COUNTS)
    assert dict(COUNTS) | {"c": 3} == {"a": 1, "b": 2, "c": 3}
    assert json.dumps(COUNTS) == '{"a": 1, "b": 2}'
