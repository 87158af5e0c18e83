"""The tunables of a window, and five kinds of agent with a policy to start from."""

from dataclasses import fields
from typing import Any

import pytest

from tenure.schema.errors import InvalidInput
from tenure.schema.window_policy import (
    AGENT_POLICIES,
    PROFILES,
    AgentProfile,
    BudgetProfile,
    BudgetShares,
    EvictionPolicy,
    WindowPolicy,
    Zones,
    policy_from,
    tunables,
)
from tenure.tests.support.refusals import refused


def test_what_is_stated_counts_and_the_rest_keeps_its_default() -> None:
    policy = policy_from({"eviction": "lru", "half_life_turns": 4, "zones": {"target": 400}})
    assert policy == WindowPolicy(
        eviction=EvictionPolicy.LRU, half_life_turns=4, zones=Zones(target=400)
    )
    assert policy_from({}) == WindowPolicy()
    assert policy_from({"zones": None}) == WindowPolicy()


def test_shares_of_ones_own_win_over_those_of_the_profile() -> None:
    support = policy_from({"profile": "support"})
    assert support.budget.message_history == 70
    own = policy_from({"profile": "support", "shares": {"tool_results": 10, "system_prompt": 8}})
    assert own.budget == BudgetShares(8, 4, 65, 10, 8, 5)
    assert policy_from(own.to_plain()) == own
    assert [row.name for row in tunables(own)][-1] == "shares.output_reserve"


def test_every_profile_adds_up_and_leaves_the_answer_out() -> None:
    assert set(PROFILES) == set(BudgetProfile)
    components = [share.name for share in fields(BudgetShares) if share.name != "output_reserve"]
    for shares in PROFILES.values():
        assert sum(shares.tokens(name, 95_000) for name in components) == 95_000


def test_every_tunable_has_its_reason() -> None:
    rows = tunables(WindowPolicy(zones=Zones(target=400)))
    assert all(row.reason for row in rows)
    stated = {row.name: (row.value, row.default) for row in rows}
    assert stated["zones.target"] == (400, 600)
    assert stated["newest_units"] == (4, 4)
    assert len(tunables(WindowPolicy())) == len(rows) - 6


@pytest.mark.parametrize(
    ("values", "code", "words"),
    [
        ({"newest_unit": 3}, "unknown_vocabulary", "newest_units"),
        ({"cooldown_steps": 3}, "bad_policy", "zones.edit"),
        ({"zones": {"yelow": 3}}, "unknown_vocabulary", "yellow"),
        ({"eviction": "lfu"}, "unknown_vocabulary", "lru"),
        ({"newest_units": True}, "bad_policy", "newest_units"),
        ({"page_tokens": "4000"}, "bad_policy", "page_tokens"),
        ({"page_tokens": 0}, "bad_policy", "page_tokens"),
        ({"half_life_turns": float("nan")}, "bad_policy", "half_life_turns"),
        ({"result_rate": 11.0}, "bad_policy", "result_rate"),
        ({"zones": 5}, "bad_policy", "zones"),
        ({"zones": {"target": 990}}, "bad_policy", "rise"),
        ({"shares": {"tool_results": 22}}, "bad_policy", "not 110"),
        ({"shares": {"tool_results": -12, "message_history": 89}}, "bad_policy", "negative"),
        ({"shares": {"tool_result": 12}}, "unknown_vocabulary", "tool_results"),
        ({"shares": [6, 4]}, "bad_policy", "per cent"),
        ({"profile": "novel"}, "unknown_vocabulary", "research"),
    ],
)
def test_what_cannot_be_meant_is_refused(values: dict[str, Any], code: str, words: str) -> None:
    with refused(InvalidInput, code) as refusal:
        policy_from(values)
    assert words in str(refusal.value)


@pytest.mark.parametrize("field", ["eviction", "profile", "fading"])
def test_a_word_counts_as_its_member_and_an_unknown_one_is_refused(field: str) -> None:
    """An unknown word stood in the policy until the first edit of a full window read it."""
    usual = getattr(WindowPolicy(), field)
    assert getattr(WindowPolicy(**{field: usual.value}), field) is usual
    with refused(InvalidInput, "unknown_vocabulary"):
        WindowPolicy(**{field: "bogus"})


# ---- Five kinds of agent, each with a policy to start from


def test_every_kind_of_agent_has_a_policy_that_a_file_could_state() -> None:
    assert set(AGENT_POLICIES) == set(AgentProfile)
    for policy in AGENT_POLICIES.values():
        plain = {name: value for name, value in policy.to_plain().items() if value is not None}
        assert policy_from(plain) == policy


def test_each_starts_from_another_eviction_policy() -> None:
    evictions = [policy.eviction for policy in AGENT_POLICIES.values()]
    assert len(set(evictions)) == 5
    assert AGENT_POLICIES[AgentProfile.CRITICAL].eviction is EvictionPolicy.HYBRID
