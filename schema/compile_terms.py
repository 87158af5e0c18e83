"""The fixed lists of the compiler: stages, tiers, sections, ladder, phases and reason codes.

`SECTIONS` maps the vocabularies of the five sources to one table: a section's budget tier,
stability class, strongest authority, slot kind and eviction rule. The wire order of an envelope is
stability class, then authority (strongest first, in `turn` weakest first), then the order of this
table.

The layers of a context pack (source 001), the four kinds of memory (source 000, 6.3.5) and the
phases and injectors of source 004 are other words for these sections; they decide nothing about an
envelope. Slack is what a budget keeps free. Between the second and the third phase comes the
history. An injector's token budget is a cap where its section is optional, and no cap where its
text may not be dropped. Checklist C-079, C-087, C-112, C-123, C-129, C-197, C-225, C-228, C-295 to
C-299, C-317.

>>> layer_tokens({"tools": 40, "memory": 10, "turn_memory": 5}, slack=100)["memory"]
15
>>> strategy_of(SectionName.MEMORY).value
'session'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cache
from typing import Final, NamedTuple

from .vocabulary import ObjectType, StateLayer

_HOW_TO: Final = frozenset(
    {ObjectType.PREFERENCE, ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.TOOL_SCHEMA}
)
_SPEECH_KINDS: Final = frozenset({"user_statement", "agent"})


class Stage(StrEnum):
    """The ten stages, in order."""

    NORMALIZE = "normalize"
    RESOLVE = "resolve"
    GATE = "gate"
    VALIDATE = "validate"
    RANK = "rank"
    RESCUE = "rescue"
    CONVERT = "convert"
    CONTAIN = "contain"
    ORDER = "order"
    EMIT = "emit"


class PriorityTier(StrEnum):
    """How much an object matters to the task; irrelevant ones are omitted (C-079)."""

    CRITICAL = "critical"
    IMPORTANT = "important"
    USEFUL = "useful"
    MINIMAL = "minimal"
    IRRELEVANT = "irrelevant"


class Stability(StrEnum):
    """How long the bytes of a block stay the same; the first four are cache zones 1 to 4."""

    STATIC = "static"
    SCOPE = "scope"
    SESSION = "session"
    HISTORY = "history"
    TURN = "turn"


class BlockKind(StrEnum):
    """What a model may take a block for."""

    INSTRUCTION = "instruction"
    """To be followed, within the authority of its level."""
    DATA = "data"
    """To be read, never followed; the only kind that is escaped."""
    DIALOGUE = "dialogue"
    """A turn or the request, verbatim."""


class OverflowPolicy(StrEnum):
    """What happens when content does not fit (C-139)."""

    TRUNCATE_LOWEST = "truncate_lowest"
    CASCADE_COMPRESS = "cascade_compress"
    DEFER_RETRIEVAL = "defer_retrieval"
    FAIL_LOUD = "fail_loud"
    PAGINATE = "paginate"


class InjectionPolicy(StrEnum):
    """What happens to text that a detector suspects."""

    QUARANTINE = "quarantine"
    REJECT = "reject"


class ToolProtocol(StrEnum):
    """How a tool is called (C-128)."""

    MCP = "mcp"
    JSON_RPC = "json_rpc"
    GRPC = "grpc"
    NATIVE = "native"


class TimeoutClass(StrEnum):
    """How soon a tool answers: within 2 s, within 30 s, or later (C-128)."""

    FAST = "fast"
    MEDIUM = "medium"
    SLOW = "slow"


class CompiledAs(StrEnum):
    """The form an object took in the envelope, strongest first (C-112)."""

    HARD_CONSTRAINT = "hard_constraint"
    BEHAVIORAL_GUIDANCE = "behavioral_guidance"
    TASK_CONTEXT = "task_context"
    SCOPED_MEMORY = "scoped_memory"
    REFERENCE = "reference"
    EVIDENCE = "evidence"


class Ladder(IntEnum):
    """The six levels of the fact-to-instruction ladder (C-033)."""

    RAW_OBSERVATION = 0
    NORMALIZED_FACT = 1
    SCOPED_MEMORY = 2
    TASK_CONTEXT = 3
    BEHAVIORAL_GUIDANCE = 4
    HARD_CONSTRAINT = 5

    @property
    def compiled_as(self) -> CompiledAs:
        """The trace's word for this level."""
        return list(CompiledAs)[5 - self]


class CacheHitStatus(StrEnum):
    """Whether a provider served the prefix from its cache (C-111)."""

    NONE = "NONE"
    PARTIAL_HIT = "PARTIAL_HIT"
    FULL_HIT = "FULL_HIT"
    UNKNOWN = "UNKNOWN"


class ValidationStatus(StrEnum):
    """The result of the checks on an envelope; a quality metric outside its target is a warning."""

    CLEAN = "CLEAN"
    WARNINGS = "WARNINGS"
    FAILED = "FAILED"


class Reason(StrEnum):
    """Why an object is not in the envelope (C-106, C-317)."""

    NEIGHBOURHOOD_CAP = "neighbourhood_cap"
    ENTITY_PENDING = "entity_pending"
    PERMISSION_DENIED = "permission_denied"
    EXPIRED_VALID_TIME = "expired_valid_time"
    NOT_YET_VALID = "not_yet_valid"
    SUPERSEDED = "superseded"
    OVERRIDDEN = "overridden"
    DISPUTED_LOWER_TRUST = "disputed_lower_trust"
    DENIED_VALUE = "denied_value"
    DECAYED_BELOW_THRESHOLD = "decayed_below_threshold"
    RETIRED = "retired"
    AWAITING_CONFIRMATION = "awaiting_confirmation"
    STALE_DERIVATION = "stale_derivation"
    ERASED = "erased"
    CONFLICTING_CLAIM_UNRESOLVED = "conflicting_claim_unresolved"
    POLICY_HOLD = "policy_hold"
    INJECTION_SUSPECTED = "injection_suspected"
    IRRELEVANT_TO_ACTIVE_TASK = "irrelevant_to_active_task"
    BELOW_FLOOR = "below_floor"
    PARENT_REMAINDER = "parent_remainder"
    DUPLICATE_OF = "duplicate_of"
    MERGED_INTO = "merged_into"
    FIDELITY_REJECTED = "fidelity_rejected"
    OVER_BUDGET = "over_budget"
    SECTION_CAP = "section_cap"
    ITEM_LARGER_THAN_SECTION = "item_larger_than_section"
    SECTION_DROPPED = "section_dropped"
    RETRIEVAL_DEFERRED = "retrieval_deferred"
    NEXT_PAGE = "next_page"
    INVALID_ENCODING = "invalid_encoding"
    PROVENANCE_MISSING = "provenance_missing"


QUARANTINE_REASONS: Final = frozenset(
    {Reason.CONFLICTING_CLAIM_UNRESOLVED, Reason.POLICY_HOLD, Reason.INJECTION_SUSPECTED}
)
"""Reasons that put an object under `quarantined_objects` instead of `omitted_objects`."""


class GateDetail(StrEnum):
    """Why the gate withheld an object; only an auditor sees it."""

    TENANT_MISMATCH = "tenant_mismatch"
    SCOPE_MISMATCH = "scope_mismatch"
    ROLE_DENIED = "role_denied"
    CLEARANCE_TOO_LOW = "clearance_too_low"
    ORIGIN_PARTITION = "origin_partition"
    PROJECT_SIGNATURE = "project_signature"
    AUTHORITY_INSUFFICIENT = "authority_insufficient"
    SENSITIVITY = "sensitivity"


class Conversion(StrEnum):
    """What was done to the text of a compiled object."""

    POINTER = "pointer"
    SUMMARIZED = "summarized"
    TRUNCATED = "truncated"
    EXTERNALIZED = "externalized"
    FOLDED = "folded"
    TABLE_ROW = "table_row"
    MASKED = "masked"


class GapCode(StrEnum):
    """What the envelope should have held and does not."""

    NO_VALUE = "no_value"
    DISPUTED_VALUE = "disputed_value"
    UNKNOWN_ENTITY = "unknown_entity"
    AMBIGUOUS_ENTITY = "ambiguous_entity"
    USER_UNSTATED = "user_unstated"
    EVIDENCE_NEEDED = "evidence_needed"
    RETRIEVAL_PENDING = "retrieval_pending"
    ACCEPTANCE_MISSING = "acceptance_missing"
    ERASED = "erased"


class SectionName(StrEnum):
    """The logical sections of an envelope."""

    TOOLS = "tools"
    SYSTEM_POLICY = "system_policy"
    TENANT_POLICY = "tenant_policy"
    PROJECT_POLICY = "project_policy"
    SKILLS = "skills"
    TASK_CONTRACT = "task_contract"
    MEMORY = "memory"
    GUIDANCE = "guidance"
    PINNED_KNOWLEDGE = "pinned_knowledge"
    HISTORY = "history"
    EVIDENCE = "evidence"
    TURN_MEMORY = "turn_memory"
    ERRORS = "errors"
    TURN_GUIDANCE = "turn_guidance"
    TASK_PROGRESS = "task_progress"
    ACCEPTANCE = "acceptance"
    USER_REQUEST = "user_request"
    GOAL_RECAP = "goal_recap"


@dataclass(frozen=True, slots=True)
class SectionRule:
    """One row of the mapping table."""

    name: SectionName
    tier: int
    """Budget tier 0 (invariant) to 4 (history); C-123."""
    stability: Stability
    authority: int
    """The strongest authority a block of this section may carry."""
    kind: BlockKind
    """The kind of a block whose own authority is not 4; level 4 is always data."""
    required: bool
    """Never dropped when given: only `fail_loud` applies."""

    @property
    def ordinal(self) -> int:
        """The place in the mapping table."""
        return list(SectionName).index(self.name)


_S, _B = SectionName, BlockKind
SECTIONS: Final = {
    rule.name: rule
    for rule in (
        SectionRule(_S.TOOLS, 1, Stability.STATIC, 1, _B.INSTRUCTION, True),
        SectionRule(_S.SYSTEM_POLICY, 0, Stability.STATIC, 0, _B.INSTRUCTION, True),
        SectionRule(_S.TENANT_POLICY, 0, Stability.SCOPE, 1, _B.INSTRUCTION, True),
        SectionRule(_S.PROJECT_POLICY, 1, Stability.SCOPE, 1, _B.INSTRUCTION, True),
        SectionRule(_S.SKILLS, 1, Stability.SCOPE, 1, _B.INSTRUCTION, True),
        SectionRule(_S.TASK_CONTRACT, 1, Stability.SESSION, 1, _B.INSTRUCTION, True),
        SectionRule(_S.MEMORY, 3, Stability.SESSION, 2, _B.DATA, False),
        SectionRule(_S.GUIDANCE, 3, Stability.SESSION, 2, _B.INSTRUCTION, False),
        SectionRule(_S.PINNED_KNOWLEDGE, 2, Stability.SESSION, 3, _B.DATA, False),
        SectionRule(_S.HISTORY, 4, Stability.HISTORY, 2, _B.DIALOGUE, False),
        SectionRule(_S.EVIDENCE, 2, Stability.TURN, 4, _B.DATA, False),
        SectionRule(_S.TURN_MEMORY, 3, Stability.TURN, 3, _B.DATA, False),
        SectionRule(_S.ERRORS, 3, Stability.TURN, 3, _B.DATA, False),
        SectionRule(_S.TURN_GUIDANCE, 3, Stability.TURN, 2, _B.INSTRUCTION, False),
        SectionRule(_S.TASK_PROGRESS, 1, Stability.TURN, 2, _B.INSTRUCTION, True),
        SectionRule(_S.ACCEPTANCE, 1, Stability.TURN, 2, _B.INSTRUCTION, True),
        SectionRule(_S.USER_REQUEST, 1, Stability.TURN, 2, _B.DIALOGUE, True),
        SectionRule(_S.GOAL_RECAP, 1, Stability.TURN, 1, _B.INSTRUCTION, True),
    )
}
"""The mapping table; TURN_GUIDANCE comes after ERRORS."""


@cache
def wire_key(name: SectionName) -> tuple[int, int, int]:
    """The sort key of a section in the layout.

    >>> wire_key(SectionName.TOOLS) < wire_key(SectionName.USER_REQUEST)
    True
    """
    rule = SECTIONS[name]
    stability = list(Stability).index(rule.stability)
    authority = -rule.authority if rule.stability is Stability.TURN else rule.authority
    return stability, authority, rule.ordinal


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


_L, _E = PackLayer, Eviction
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

USUAL_SHARES: Final[Mapping[PackLayer, tuple[int, int]]] = {
    PackLayer.INSTRUCTION: (60, 80),
    PackLayer.TASK: (60, 100),
    PackLayer.TOOLS: (40, 60),
    PackLayer.SLACK: (100, 150),
}
"""Usual least and most of the layers that nothing is taken from, in permille (source 001).

They are in a text whole, however large, and what they leave is divided: so these reserve nothing,
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
    # All seven are there, the empty ones too: whoever charts them need not know the list.
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


class Phase(StrEnum):
    """The parts of a request, in their order."""

    SYSTEM = "system"
    USER_CONTEXT = "user_context"
    HISTORY = "history"
    RUNTIME = "runtime"


class CacheStrategy(StrEnum):
    """How long a provider may keep a phase."""

    STABLE = "stable"
    SESSION = "session"
    DYNAMIC = "dynamic"
    """Not at all."""


class Injector(NamedTuple):
    """One of the nine sources of content."""

    name: str
    sections: tuple[SectionName, ...]
    most_tokens: int | None
    """Its budget in source 004; None where the source states none."""


_ROWS: Final[Mapping[Stability, tuple[Phase, CacheStrategy]]] = {
    Stability.STATIC: (Phase.SYSTEM, CacheStrategy.STABLE),
    Stability.SCOPE: (Phase.SYSTEM, CacheStrategy.STABLE),
    Stability.SESSION: (Phase.USER_CONTEXT, CacheStrategy.SESSION),
    Stability.HISTORY: (Phase.HISTORY, CacheStrategy.SESSION),
    Stability.TURN: (Phase.RUNTIME, CacheStrategy.DYNAMIC),
}
INJECTORS: Final = (
    Injector("system_role", (_S.SYSTEM_POLICY, _S.TENANT_POLICY, _S.PROJECT_POLICY), 2_000),
    Injector("tool_system_role", (_S.TOOLS,), 3_000),
    Injector("skill_prompt", (_S.SKILLS,), 1_000),
    Injector("user_memory", (_S.MEMORY,), 500),
    Injector("knowledge", (_S.PINNED_KNOWLEDGE,), 800),
    Injector("playbook_hint", (_S.GUIDANCE,), 300),
    Injector("plan", (_S.TASK_PROGRESS,), 300),
    Injector("error_retention", (_S.ERRORS,), None),
    Injector("todo_rewriter", (_S.GOAL_RECAP,), None),
)
"""The injectors of source 004, in the order of its phases."""


def phase_of(section: SectionName) -> Phase:
    """The phase that a section belongs to."""
    return _ROWS[SECTIONS[section].stability][0]


def strategy_of(section: SectionName) -> CacheStrategy:
    """How long a provider may keep a section."""
    return _ROWS[SECTIONS[section].stability][1]


def caps() -> tuple[tuple[str, int], ...]:
    """The budgets of the injectors whose sections may lose content, by section."""
    return tuple(
        (section.value, injector.most_tokens)
        for injector in INJECTORS
        for section in injector.sections
        if injector.most_tokens is not None and not SECTIONS[section].required
    )
