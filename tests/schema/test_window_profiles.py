"""Five kinds of agent, each with a policy to start from."""

from tenure.schema.window_policy import EvictionPolicy, policy_from
from tenure.schema.window_profiles import AGENT_POLICIES, AgentProfile


def test_every_kind_of_agent_has_a_policy_that_a_file_could_state() -> None:
    assert set(AGENT_POLICIES) == set(AgentProfile)
    for policy in AGENT_POLICIES.values():
        plain = {name: value for name, value in policy.to_plain().items() if value is not None}
        assert policy_from(plain) == policy


def test_each_starts_from_another_eviction_policy() -> None:
    evictions = [policy.eviction for policy in AGENT_POLICIES.values()]
    assert len(set(evictions)) == 5
    assert AGENT_POLICIES[AgentProfile.CRITICAL].eviction is EvictionPolicy.HYBRID
