"""The fixed lists of the compiler: stages, tiers, sections, ladder and reason codes.

`SECTIONS` is the one mapping table between the vocabularies of the five sources: a
section's budget tier, stability class, strongest authority, slot kind and eviction rule.
The wire order of an envelope follows from it: stability class, then the section's authority
(strongest first, in `turn` weakest first), then the order of this table.
Checklist C-079, C-087, C-112, C-123, C-317.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cache
from typing import Final


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
"""The mapping table; TURN_GUIDANCE stands after ERRORS."""


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
