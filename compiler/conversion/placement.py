"""Placement: which section an object stands in; the first line that fits wins.

    policy_rule      level 0 system_policy; level 1 tenant_policy, of a project project_policy;
                     levels 2-3 as a constraint; level 4 evidence
    tool_schema      tools, when the task type or a pin chose it and its manifest is signed;
                     else turn_memory, as a line about it
    ladder 4-5       guidance when the task type alone chose it, else turn_guidance
    pinned           pinned_knowledge
    passage          evidence
    by task alone    memory
    by the query     turn_memory

Invariant: whatever stands in the zones 1 to 3 was chosen without a look at the query, so that
those zones keep their bytes from turn to turn.
"""

from __future__ import annotations

from ...schema.claim import Version
from ...schema.compile_terms import SECTIONS, BlockKind, Ladder, SectionName
from ...schema.interval import INF_US
from ...schema.vocabulary import ObjectType
from ..ir.snapshot import Via

_S = SectionName


def section_of(
    version: Version, ladder: Ladder, *, via: int, by_task: bool, passage: bool, offered: bool
) -> SectionName:
    """Return the section of a stored object; `offered` tells whether a tool may be called."""
    details = version.details
    if details.object_type is ObjectType.POLICY_RULE and details.authority_level in (0, 1, 4):
        return _of_rule(version)
    if details.object_type is ObjectType.TOOL_SCHEMA:
        return _S.TOOLS if offered and (by_task or via & Via.PINNED) else _S.TURN_MEMORY
    if ladder >= Ladder.BEHAVIORAL_GUIDANCE:
        return _S.GUIDANCE if by_task else _S.TURN_GUIDANCE
    if via & Via.PINNED:
        return _S.PINNED_KNOWLEDGE
    if passage:
        return _S.EVIDENCE
    return _S.MEMORY if by_task else _S.TURN_MEMORY


def _of_rule(version: Version) -> SectionName:
    details = version.details
    if details.authority_level == 0:
        return _S.SYSTEM_POLICY
    if details.authority_level == 4:
        return _S.EVIDENCE
    return _S.PROJECT_POLICY if details.scope.project else _S.TENANT_POLICY


def kind_of_block(section: SectionName, level: int) -> BlockKind:
    """Return what a block is to the model: level 4 is data wherever it stands."""
    return BlockKind.DATA if level >= 4 else SECTIONS[section].kind


def block_level(section: SectionName, level: int) -> int:
    """Return the level a block bears: never stronger than its section allows.

    >>> block_level(SectionName.MEMORY, 0)
    2
    """
    return max(level, SECTIONS[section].authority)


def stored_key(version: Version) -> tuple[int, int, str]:
    """Return the place of a stored object inside its section: by first tx, then id."""
    return version.row.claim.tx, 0, version.row.claim.object_id


def item_key(position: int, object_id: str) -> tuple[int, int, str]:
    """Return the place of a request item: after all stored ones, in the request's order."""
    return INF_US, position, object_id
