"""The request's own items as objects: which section, which level, which id.

Caller text carries the caller's ceiling and is never stronger; a section's authority only
sorts. Evidence and tool results are level 4 unless the caller states less and may. Ids
are uuid5 over (tenant, section, content, occurrence), so equal items of a call stay apart and
the same call gives the same ids. Checklist C-075, C-126 to C-130.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from ...schema.compile_terms import SectionName
from ...schema.principal import Principal
from ...schema.values import canonical_json, whole_repr
from ...schema.vocabulary import Authority, ObjectType
from ..request.request import (
    CompileRequest,
    Constraint,
    Evidence,
    Media,
    NamedText,
    Role,
    Tool,
    Turn,
)

_NAMESPACE: Final[UUID] = uuid5(NAMESPACE_URL, "tenure/request-item")
_WEAKEST: Final = int(Authority.RETRIEVED)

Part = Turn | Evidence | Media | Tool | Constraint | NamedText | None


class RequestItem(NamedTuple):
    """An item of the request."""

    object_id: str
    section: SectionName
    level: int
    origin: str
    text: str
    """What is rendered, before containment."""
    position: int
    """Its place in its list, which sequences keep."""
    part: Part
    """The typed part of the request it is; None for the goal, the step and the request itself."""

    @property
    def object_type(self) -> ObjectType:
        """Return what kind of context object the item is (C-015)."""
        return _TYPE_OF_SECTION.get(self.section, ObjectType.ACTIONABLE_CONSTRAINT)


class _Draft(NamedTuple):
    section: SectionName
    level: int
    origin: str
    text: str
    part: Part


_S: Final = SectionName
_TYPE_OF_SECTION: Final = {
    _S.TOOLS: ObjectType.TOOL_SCHEMA,
    _S.PINNED_KNOWLEDGE: ObjectType.RETRIEVED_PASSAGE,
    _S.HISTORY: ObjectType.RETRIEVED_PASSAGE,
    _S.EVIDENCE: ObjectType.RETRIEVED_PASSAGE,
    _S.ERRORS: ObjectType.INFERRED_BELIEF,
    _S.TASK_PROGRESS: ObjectType.IDENTITY_FACT,
}
_LEVEL_OF_ROLE: Final = {Role.USER: 2, Role.ASSISTANT: 3, Role.TOOL: 4, Role.SYSTEM: 0}


def items_of_request(
    request: CompileRequest, principal: Principal, media_texts: Sequence[str]
) -> tuple[RequestItem, ...]:
    """Return the items of a request in the order of their sections' fields.

    `media_texts` are the texts of the request's media, one each (`media_plan`).
    """
    occurrences: dict[str, int] = {}
    positions: dict[SectionName, int] = {}
    items: list[RequestItem] = []
    for draft in _drafts(request, int(principal.authority_level), media_texts):
        # The whole part counts, not its text alone: two results of one text differ by their call.
        body = canonical_json([draft.text, draft.origin, whole_repr(draft.part)])
        content = hashlib.sha256(body.encode("utf-8", "backslashreplace")).hexdigest()
        key = f"{draft.section.value} {content}"
        occurrence = occurrences[key] = occurrences.get(key, 0) + 1
        name = canonical_json([principal.tenant, draft.section.value, content, occurrence])
        position = positions[draft.section] = positions.get(draft.section, -1) + 1
        items.append(RequestItem(str(uuid5(_NAMESPACE, name)), *draft[:4], position, draft.part))
    return tuple(items)


def _drafts(request: CompileRequest, ceiling: int, media_texts: Sequence[str]) -> Iterator[_Draft]:
    # A larger level is weaker: what an item claims for itself can only lower its trust.
    user_level = max(ceiling, int(Authority.USER))
    for tool in request.tools:
        own_level = user_level if tool.authority_level is None else tool.authority_level
        yield _Draft(
            _S.TOOLS,
            max(ceiling, own_level),
            tool.origin or "request://tools",
            tool_text(tool),
            tool,
        )
    for skill in request.skills:
        yield _Draft(_S.SKILLS, ceiling, "request://skills", _with_name(skill), skill)
    if request.goal:
        yield _Draft(_S.TASK_CONTRACT, ceiling, "request://goal", request.goal, None)
    for rule in request.constraints:
        yield _Draft(_S.TASK_CONTRACT, ceiling, "request://constraints", rule.text, rule)
    for pin in request.pinned:
        yield _evidence(_S.PINNED_KNOWLEDGE, pin, ceiling)
    for turn in request.history:
        yield _turn(turn, ceiling)
    for evidence in request.evidence:
        yield _evidence(_S.EVIDENCE, evidence, ceiling)
    for media, text in zip(request.media, media_texts, strict=True):
        yield _Draft(_S.EVIDENCE, _WEAKEST, media.origin, text, media)
    for lesson in request.errors:
        level = max(ceiling, int(Authority.INFERRED_MEMORY))
        yield _Draft(_S.ERRORS, level, "request://errors", _with_name(lesson), lesson)
    for note in request.progress:
        yield _Draft(_S.TASK_PROGRESS, user_level, "request://progress", _with_name(note), note)
    if request.step:
        yield _Draft(_S.TASK_PROGRESS, user_level, "request://step", f"Now: {request.step}", None)
    for item in request.acceptance:
        yield _Draft(_S.ACCEPTANCE, ceiling, "request://acceptance", item.text, item)
    if request.wish:
        yield _Draft(_S.USER_REQUEST, user_level, "request://user", request.wish, None)


def _with_name(note: NamedText) -> str:
    return f"{note.name}: {note.text}" if note.name else note.text


def _evidence(section: SectionName, evidence: Evidence, ceiling: int) -> _Draft:
    own_level = _WEAKEST if evidence.authority_level is None else evidence.authority_level
    level = max(ceiling, own_level)
    text = f"{evidence.title}\n{evidence.text}" if evidence.title else evidence.text
    return _Draft(section, level, evidence.origin, text, evidence)


def _turn(turn: Turn, ceiling: int) -> _Draft:
    level = max(ceiling, _LEVEL_OF_ROLE[turn.role])
    name = f"/{turn.name}" if turn.name else ""
    # renderers give `system://` turns a provider's system role: only who may speak so gets it
    speaker = "request" if turn.role is Role.SYSTEM and ceiling > 1 else turn.role.value
    return _Draft(_S.HISTORY, level, f"{speaker}://history{name}", turn.text, turn)


def tool_text(tool: Tool) -> str:
    """Return a tool as canonical JSON, empty fields left out (C-305)."""
    fields = {
        "name": tool.name,
        "description": tool.description,
        "input_schema": json.loads(tool.input_schema),
        "output_schema": json.loads(tool.output_schema),
        "protocol": tool.protocol,
        "authorization_scope": tool.authorization_scope,
        "timeout_class": tool.timeout_class,
    }
    return canonical_json({name: value for name, value in fields.items() if value})
