"""Crosswalk: the words of sources 000 and 001 for a section, and for a remembered object.

A section belongs to one of the seven layers of a context pack (source 001), and the table says
when its content may leave; slack is what a budget keeps free and is no text. A remembered
object is of one of four kinds of memory (source 000, 6.3.5). All are other words for what
`SECTIONS` and the layers of state settle, so nothing here decides what enters an envelope.

>>> layer_tokens({"tools": 40, "memory": 10, "turn_memory": 5}, slack=100)["memory"]
15

Checklist C-123, C-129, C-197, C-225, C-228.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from .compile_terms import SectionName
from .vocabulary import ObjectType, StateLayer


class PackLayer(StrEnum):
    """The seven layers of a context pack."""

    INSTRUCTION = "instruction"
    TASK = "task"
    TOOLS = "tools"
    EVIDENCE = "evidence"
    MEMORY = "memory"
    CONVERSATION = "conversation"
    SLACK = "slack"


class Eviction(StrEnum):
    """When the content of a section may leave an envelope."""

    NEVER = "never"
    ON_TASK_CHANGE = "on_task_change"
    ON_SCOPE_CHANGE = "on_scope_change"
    WHILE_CLOSED = "while_closed"
    """Never while the task is open."""
    STALE_OR_IRRELEVANT = "stale_or_irrelevant"
    UNPINNED_FIRST = "unpinned_first"
    OLDEST_FIRST = "oldest_first"
    """Summarised or folded, the oldest first."""
    LEAST_RELEVANT_FIRST = "least_relevant_first"
    LOWEST_SCORE_FIRST = "lowest_score_first"

    @property
    def keeps(self) -> bool:
        """Whether a budget alone can never take the content out."""
        return self in (
            Eviction.NEVER,
            Eviction.ON_TASK_CHANGE,
            Eviction.ON_SCOPE_CHANGE,
            Eviction.WHILE_CLOSED,
        )


class MemoryKind(StrEnum):
    """What kind of memory an object is."""

    SESSION = "session"
    EPISODIC = "episodic"
    """What happened or was decided."""
    SEMANTIC = "semantic"
    """What is true."""
    PROCEDURAL = "procedural"
    """How things are done."""


_S, _L, _E = SectionName, PackLayer, Eviction
PLACES: Final[Mapping[SectionName, tuple[PackLayer, Eviction]]] = {
    _S.TOOLS: (_L.TOOLS, _E.ON_TASK_CHANGE),
    _S.SYSTEM_POLICY: (_L.INSTRUCTION, _E.NEVER),
    _S.TENANT_POLICY: (_L.INSTRUCTION, _E.NEVER),
    _S.PROJECT_POLICY: (_L.INSTRUCTION, _E.ON_SCOPE_CHANGE),
    _S.SKILLS: (_L.INSTRUCTION, _E.ON_SCOPE_CHANGE),
    _S.TASK_CONTRACT: (_L.TASK, _E.ON_TASK_CHANGE),
    _S.MEMORY: (_L.MEMORY, _E.STALE_OR_IRRELEVANT),
    _S.GUIDANCE: (_L.MEMORY, _E.STALE_OR_IRRELEVANT),
    _S.PINNED_KNOWLEDGE: (_L.EVIDENCE, _E.UNPINNED_FIRST),
    _S.HISTORY: (_L.CONVERSATION, _E.OLDEST_FIRST),
    _S.EVIDENCE: (_L.EVIDENCE, _E.LEAST_RELEVANT_FIRST),
    _S.TURN_MEMORY: (_L.MEMORY, _E.LOWEST_SCORE_FIRST),
    _S.ERRORS: (_L.MEMORY, _E.LOWEST_SCORE_FIRST),
    _S.TURN_GUIDANCE: (_L.MEMORY, _E.LOWEST_SCORE_FIRST),
    _S.TASK_PROGRESS: (_L.TASK, _E.WHILE_CLOSED),
    _S.ACCEPTANCE: (_L.TASK, _E.NEVER),
    _S.USER_REQUEST: (_L.TASK, _E.NEVER),
    _S.GOAL_RECAP: (_L.TASK, _E.NEVER),
}
"""Layer and eviction rule of each section."""

_HOW_TO: Final = frozenset(
    {ObjectType.PREFERENCE, ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.TOOL_SCHEMA}
)
_SPEECH_KINDS: Final = frozenset({"user_statement", "agent"})


USUAL_SHARES: Final[Mapping[PackLayer, tuple[int, int]]] = {
    PackLayer.INSTRUCTION: (60, 80),
    PackLayer.TASK: (60, 100),
    PackLayer.TOOLS: (40, 60),
    PackLayer.SLACK: (100, 150),
}
"""Usual least and most of the layers that nothing is taken from, in permille (source 001).

They stand in a text whole, however large, and what they leave is divided: so these reserve nothing,
and tell which layer to make smaller. Of slack it is the share that a profile's floors leave free.
"""
_PERMILLE: Final = 1_000


def layers_above(layers: Mapping[str, int], budget: int) -> dict[str, int]:
    """The fixed layers that take more of a budget than is usual, in permille, the largest first.

    >>> layers_above({"instruction": 50, "task": 90, "tools": 400}, 1_000)
    {'tools': 400}
    """
    above: dict[str, int] = {}
    for layer, (_, most) in USUAL_SHARES.items():
        permille = layers.get(layer.value, 0) * _PERMILLE // max(1, budget)
        if layer is not PackLayer.SLACK and permille > most:
            above[layer.value] = permille
    return dict(sorted(above.items(), key=lambda share: -share[1]))


def layer_tokens(sections: Mapping[str, int], *, slack: int) -> dict[str, int]:
    """The tokens of each of the seven layers, in their order; slack is what is free."""
    # All seven stand there, the empty ones too: whoever charts them need not know the list.
    tokens = dict.fromkeys((layer.value for layer in PackLayer), 0)
    for name, size in sections.items():
        tokens[PLACES[SectionName(name)][0].value] += size
    return {**tokens, PackLayer.SLACK.value: slack}


def memory_kind(object_type: ObjectType, layer: StateLayer, source_kind: str) -> MemoryKind:
    """The kind of memory of an object.

    >>> memory_kind(ObjectType.PREFERENCE, StateLayer.USER, "user_statement").value
    'procedural'
    """
    # Where an object lives says more than what it is: a session forgets all of its kinds.
    if layer in (StateLayer.SESSION, StateLayer.TASK):
        return MemoryKind.SESSION
    if object_type in _HOW_TO:
        return MemoryKind.PROCEDURAL

    told = object_type is ObjectType.RETRIEVED_PASSAGE and source_kind in _SPEECH_KINDS
    if told or object_type is ObjectType.PROJECT_DECISION:
        return MemoryKind.EPISODIC

    return MemoryKind.SEMANTIC
