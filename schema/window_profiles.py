"""Where to start: an eviction policy for each of five kinds of agent.

A starting point and no more. What to change after that is read off the records of edits, after
some real runs. The first two rows say simple policies that are as good there and easier to follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from .frozen_dict import FrozenDict
from .window_policy import EvictionPolicy, WindowPolicy
from .window_shares import BudgetProfile


class AgentProfile(StrEnum):
    """What an agent mostly does."""

    CHAT = "chat"
    """Simple questions and answers."""
    EXPLORATION = "exploration"
    """Long loops of calls, most of which lead nowhere."""
    MIXED = "mixed"
    """Content of very different weight."""
    REPETITIVE = "repetitive"
    """The same outputs, again and again."""
    CRITICAL = "critical"
    """Production, where a wrong eviction is dear."""


AGENT_POLICIES: Final[Mapping[AgentProfile, WindowPolicy]] = FrozenDict(
    {
        AgentProfile.CHAT: WindowPolicy(
            eviction=EvictionPolicy.FIFO, profile=BudgetProfile.SUPPORT
        ),
        AgentProfile.EXPLORATION: WindowPolicy(
            eviction=EvictionPolicy.TYPE_BASED, profile=BudgetProfile.RESEARCH, result_rate=0.3
        ),
        AgentProfile.MIXED: WindowPolicy(eviction=EvictionPolicy.PRIORITY),
        AgentProfile.REPETITIVE: WindowPolicy(
            eviction=EvictionPolicy.SEMANTIC_MERGE, profile=BudgetProfile.CODE_REVIEW
        ),
        AgentProfile.CRITICAL: WindowPolicy(),
    }
)
"""The policy to begin with; `tenure session config --profile` prints it."""
