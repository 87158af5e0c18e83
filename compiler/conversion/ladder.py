"""The fact-to-instruction ladder: where an object is shown, and whether it may instruct.

Levels 0 to 3 are data. Level 4 needs a clean, active object of level 2 or stronger that is about no
pending entity, is about or belongs to the caller, comes from a writer who may direct the caller,
and has a template. Level 5 also needs authority 0 or 1, or a constraint that the user stated.

An object of level 0 or 1 speaks for the platform or the tenant. One of level 2 directs only its own
writer, or every user if the writer had a directive role. What one user says about another user, a
project or the tenant is data. What an agent writes (level 3) is data for all, because a model may
copy it from a page; a person can confirm it.

The zones 1 to 3 are chosen without reading the query, so their bytes stay the same from turn to
turn. No model is involved. Checklist C-026, C-033 to C-040, C-147.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ...schema.claim import Version
from ...schema.compile_terms import SECTIONS, BlockKind, Ladder, SectionName
from ...schema.interval import INF_US
from ...schema.policy import DetectorLimit
from ...schema.signing import is_signed
from ...schema.values import Value
from ...schema.vocabulary import Authority, Enforcement, ObjectType, SlotKind
from ..ir.context import CompileContext
from ..ir.records import Candidate, EnforcementRule, Via, content_of, version_of
from ..safety.detect import ScanVerdict, TextChannel, scan, thresholds_of, verdict
from ..safety.phrases import TOOL_CALL
from ..text.relevance import one_line
from ..text.templates import built_in, parts_of, placeholders, taste

_RECORD_KINDS: Final = frozenset({"system_of_record", "workspace", "policy", "platform"})
"""Granted sources, whose facts may fill the template of another entity."""

_VALUE_CHARS: Final = 80
_CODE_SUFFIXES: Final = (
    "js|ts|py|md|rs|go|net|java|cpp|cs|ya?ml|toml|json|txt|csv|pdf|html|css|sh|sql|xml"
)
_ADDRESS: Final = re.compile(
    r"://|\bwww\.|\bmailto:|\S@\w|\b\d{1,3}(?:\.\d{1,3}){3}\b"
    rf"|\b[\w-]{{2,}}\.(?!(?:{_CODE_SUFFIXES})\b)[a-z]{{2,}}\b",
    re.IGNORECASE,
)
"""A web or mail address; names of files and of libraries such as Node.js are none."""
_S = SectionName

_KIND_OF_TYPE: Final = {
    ObjectType.PREFERENCE: SlotKind.PREFERENCE,
    ObjectType.ACTIONABLE_CONSTRAINT: SlotKind.DIRECTIVE,
    ObjectType.POLICY_RULE: SlotKind.DIRECTIVE,
    ObjectType.PROJECT_DECISION: SlotKind.DECISION,
}

_WORD_OF_TYPE: Final = {
    ObjectType.ACTIONABLE_CONSTRAINT: "constraint",
    ObjectType.POLICY_RULE: "rule",
    ObjectType.PROJECT_DECISION: "decision",
}

_RULE_TYPES: Final = frozenset({ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.POLICY_RULE})

Values = Mapping[tuple[str, str], tuple[Candidate, ...]]
"""The clean objects by (subject, slot), in order of (first tx, object id)."""


def may_direct(version: Version, context: CompileContext) -> bool:
    """Tell whether an object may become an instruction for the caller."""
    details, author = version.details, version.details.authorship
    if details.authority_level <= Authority.DEVELOPER:
        return True
    if details.authority_level > Authority.USER:
        return False
    if author.directs:
        return True

    principal, scope = context.principal, details.scope
    by_user = author.user is not None and author.user == principal.user
    in_session = scope.session is not None and scope.session == principal.session
    # Text without an author, such as a flagged one, has no session and never instructs a model.
    by_session = author.user is None and author.session == principal.session
    return by_user or (in_session and by_session)


def is_directive(text: str) -> bool:
    """Whether free text is short and plain enough to become an instruction.

    It is one line without addresses and without calls of tools. What a person wants of an answer
    needs no more, and what an attacker wants of an agent needs one of them.
    """
    if len(text) > _VALUE_CHARS or not text.isprintable():
        return False
    return _ADDRESS.search(text) is None and TOOL_CALL.search(text) is None


def may_fill(version: Version, value: str, context: CompileContext) -> bool:
    """Tell whether a value may be in the instruction of another object.

    A record system may say what somebody's title is, and the title then shapes an answer: one
    short line that no detector flags.
    """
    if may_direct(version, context):
        return True
    if version.details.source_kind not in _RECORD_KINDS:
        return False
    return is_directive(value) and is_unsuspected(
        value, TextChannel.DOCUMENT, context.policy.write.detectors
    )


@lru_cache(maxsize=4096)
def is_unsuspected(text: str, channel: TextChannel, limits: tuple[DetectorLimit, ...]) -> bool:
    """Tell whether the detectors pass a text of a channel, by the limits of a policy."""
    thresholds = thresholds_of(limits)
    findings = scan(text, channel, thresholds=thresholds)
    return verdict(findings, channel, thresholds=thresholds) is ScanVerdict.PASS


def is_offered(version: Version, context: CompileContext) -> bool:
    """Whether a model may call a stored tool: the store signed its present manifest.

    The store signs for whoever may offer tools, when the tool is written (`schema.signing`).
    """
    object_id, scope_id = version.row.claim.object_id, version.details.scope.scope_id
    text = content_of(version).text
    return is_signed(text, context.keys, object_id=object_id, scope_id=scope_id)


def section_of(
    version: Version, ladder: Ladder, *, via: int, by_task: bool, passage: bool, offered: bool
) -> SectionName:
    """Return the section of a stored object. `offered`: whether a model may call the tool."""
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
    """Return the role of a block for the model. Level 4 is data in every section."""
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


class Step(NamedTuple):
    """Where an object ends on the ladder."""

    ladder: Ladder
    instruction: str = ""
    """The rendered words of levels 4 and 5."""
    sources: tuple[Candidate, ...] = ()
    """Other objects whose values are in the instruction."""
    enforcement: EnforcementRule | None = None


class _Words(NamedTuple):
    """An instruction, and the other objects it took values from."""

    text: str
    sources: tuple[Candidate, ...] = ()


def climb(
    candidate: Candidate, context: CompileContext, *, values: Values, names: Mapping[str, str]
) -> Step:
    """Return how far a stored object climbs."""
    version = version_of(candidate)
    if candidate.is_passage:
        return Step(Ladder.RAW_OBSERVATION)

    data = Step(Ladder.SCOPED_MEMORY if candidate.by_task else Ladder.TASK_CONTEXT)
    if candidate.pending or not candidate.ours or not may_direct(version, context):
        return data

    words = _instruction(candidate, context, values=values, names=names)
    if words is None:
        return data

    # An instruction is as weak as the weakest value in it, so that none is laundered.
    weakest = candidate.level
    for source in words.sources:
        weakest = max(weakest, source.level)
    if weakest > 2 or (weakest == 2 and not _may_instruct(words, candidate, context, names)):
        return data

    # Where safety counts, a rule that no code can check is advice and must not look like more.
    enforcement = enforcement_of(version)
    soft = context.rules.safety_critical and enforcement.kind is Enforcement.STATED
    if weakest <= 2 and _may_bind(version) and not soft:
        return Step(Ladder.HARD_CONSTRAINT, words.text, words.sources, enforcement)
    return Step(Ladder.BEHAVIORAL_GUIDANCE, words.text, words.sources)


def _may_instruct(
    words: _Words, candidate: Candidate, context: CompileContext, names: Mapping[str, str]
) -> bool:
    """Tell whether a user's own words may instruct: short, plain, and unlike an attack.

    The write warned of an attack. Claims of earlier stores were never looked at, and a template
    may join values that are harmless apart.
    """
    version = version_of(candidate)
    stated = content_of(version)
    values = [shown_value(version_of(part), names) for part in (candidate, *words.sources)]
    if stated.behavioral_implication:
        values.append(one_line(stated.behavioral_implication))
    if not all(map(is_directive, values)):
        return False

    texts = dict.fromkeys((words.text, stated.text))
    limits = context.policy.write.detectors
    return all(is_unsuspected(text, TextChannel.USER, limits) for text in texts)


def _may_bind(version: Version) -> bool:
    """Tell whether authority and kind allow a hard constraint."""
    details = version.details
    if details.object_type not in _RULE_TYPES or details.authority_level > 2:
        return False
    by_user = details.source_kind == "user_statement"
    return details.authority_level <= 1 or (
        by_user and details.object_type is ObjectType.ACTIONABLE_CONSTRAINT
    )


def enforcement_of(version: Version) -> EnforcementRule:
    """Return how code enforces a stored rule; `stated` when it names no way."""
    text = content_of(version).enforcement
    if text is None:
        return EnforcementRule(Enforcement.STATED, "{}")

    fields = json.loads(text)
    spec = json.dumps(fields.get("spec", {}), sort_keys=True, separators=(",", ":"))
    return EnforcementRule(Enforcement(fields.get("kind", Enforcement.STATED)), spec)


def _instruction(
    candidate: Candidate, context: CompileContext, *, values: Values, names: Mapping[str, str]
) -> _Words | None:
    """Return the instruction of an object and what it consumed; None without a template."""
    version = version_of(candidate)
    details, content = version.details, content_of(version)

    # The slot's own words first: whoever defined it knows best what its values ask for.
    slot = context.vocabulary.slots.get(details.slot or "")
    template = slot.template(context.task_types) if slot else None
    if template is not None:
        words = _fill_template(template, candidate, context, values=values, names=names)
        if words is not None:
            return words

    if content.behavioral_implication:
        return _Words(one_line(content.behavioral_implication))

    kind = slot.kind if slot else _KIND_OF_TYPE.get(details.object_type)
    general = built_in(kind, context.task_types) if kind is not None else None
    if kind is SlotKind.PREFERENCE and details.slot:
        general = taste(details.slot) or general
    if general is None:
        return None
    noun = details.slot or _WORD_OF_TYPE.get(details.object_type, details.object_type.value)
    value = shown_value(version, names)
    return _Words(_substitute(general, {"slot": noun.replace("_", " "), "value": value}))


def _fill_template(
    template: str,
    candidate: Candidate,
    context: CompileContext,
    *,
    values: Values,
    names: Mapping[str, str],
) -> _Words | None:
    """Fill the placeholders of a slot's own template from clean slots of the same subject."""
    subject, own_slot = candidate.subject or "", version_of(candidate).details.slot or ""
    words: dict[str, str] = {}
    sources: dict[str, Candidate] = {}
    for name in placeholders(template):
        if name == "value":
            members: tuple[Candidate, ...] = (candidate,)
        else:
            default = (candidate,) if name == own_slot else ()
            members = values.get((subject, name), default)
        if not members:
            return None

        # One value that may not be here drops the whole template: half a rule is another rule.
        value_texts: list[str] = []
        for member in members:
            value = shown_value(version_of(member), names)
            may_stand = member is candidate or may_fill(version_of(member), value, context)
            if member.pending or not may_stand:
                return None
            if member is not candidate:
                sources[member.object_id] = member
            value_texts.append(value)

        words[name] = ", ".join(value_texts)
    return _Words(_substitute(template, words), tuple(sources.values()))


def _substitute(template: str, words: Mapping[str, str]) -> str:
    """Put words into a template; braces inside a value stay what they are."""
    parts: list[str] = []
    for literal, name in parts_of(template):
        parts.append(literal)
        if name is not None:
            parts.append(words.get(name, ""))
    return one_line("".join(parts))


def shown_value(version: Version, names: Mapping[str, str]) -> str:
    """Return the value of a fact as words: an entity by its name, a text as it is."""
    content = content_of(version)
    if version.details.slot is None or content.value_json == "null":
        return content.text or content.normalized_claim
    words = Value(version.row.claim.value_key, content.value_json).words
    return names.get(version.details.value_entity_id or "", words)
