"""The tunables of a window: each with its reason, and what a file may not state."""

from __future__ import annotations

from typing import Any

import pytest

from tenure.schema.errors import InvalidInput
from tenure.schema.window_policy import (
    EvictionPolicy,
    WindowPolicy,
    Zones,
    policy_from,
    tunables,
)


def test_what_is_stated_counts_and_the_rest_keeps_its_default() -> None:
    policy = policy_from({"eviction": "lru", "half_life_turns": 4, "zones": {"target": 400}})
    assert policy == WindowPolicy(
        eviction=EvictionPolicy.LRU, half_life_turns=4, zones=Zones(target=400)
    )
    assert policy_from({}) == WindowPolicy()
    assert policy_from({"zones": None}) == WindowPolicy()


def test_every_tunable_has_its_reason() -> None:
    rows = tunables(WindowPolicy(zones=Zones(target=400)))
    assert all(row.reason for row in rows)
    stated = {row.name: (row.value, row.default) for row in rows}
    assert stated["zones.target"] == (400, 600)
    assert stated["cooldown_steps"] == (5, 5)
    assert len(tunables(WindowPolicy())) == len(rows) - 5


@pytest.mark.parametrize(
    ("values", "code", "words"),
    [
        ({"cooldown_step": 3}, "unknown_vocabulary", "cooldown_steps"),
        ({"zones": {"yelow": 3}}, "unknown_vocabulary", "yellow"),
        ({"eviction": "lfu"}, "unknown_vocabulary", "lru"),
        ({"cooldown_steps": True}, "bad_policy", "cooldown_steps"),
        ({"page_tokens": "4000"}, "bad_policy", "page_tokens"),
        ({"page_tokens": 0}, "bad_policy", "page_tokens"),
        ({"half_life_turns": float("nan")}, "bad_policy", "half_life_turns"),
        ({"zones": 5}, "bad_policy", "zones"),
        ({"zones": {"target": 990}}, "bad_policy", "rise"),
    ],
)
def test_what_cannot_be_meant_is_refused(values: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        policy_from(values)
    assert refusal.value.code == code
    assert words in str(refusal.value)
