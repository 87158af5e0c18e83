"""The fact-to-instruction ladder: how far an object climbs, and with which words.

Levels 0 to 3 are data of rising purpose. Level 4 needs an object that is clean, active, of
level 3 or stronger, about nobody pending, about or belonging to the caller, written by someone
who may direct the caller (`direction`), and a template.
Level 5 needs also authority 0 or 1, or a constraint that the user stated. Templates: the
slot's own, else the object's stated implication, else the one of (slot kind, task type). A
`{slot}` placeholder consumes that slot of the same subject; one that has no clean value drops
the template. No model is asked.

>>> plain_text('"concise"')
'concise'

Checklist C-026, C-033 to C-040, C-147.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from ...schema.claim import Version
from ...schema.compile_terms import Ladder
from ...schema.vocabulary import Enforcement, ObjectType, SlotKind
from ..ir.candidate import Candidate, content_of, version_of
from ..ir.context import CompileContext
from ..ir.piece import EnforcementRule
from ..safety.detect import TextChannel
from ..text.relevance import one_line
from ..text.templates import built_in, parts_of, placeholders, taste
from .direction import is_unsuspected, may_direct, may_fill

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


class Step(NamedTuple):
    """Where an object ends on the ladder."""

    ladder: Ladder
    instruction: str = ""
    """The rendered words of levels 4 and 5."""
    sources: tuple[Candidate, ...] = ()
    """Other objects whose values stand in the instruction."""
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
    if weakest > 3 or (weakest >= 2 and _is_suspected(words.text, version, context)):
        return data

    # Where safety counts, a rule that no code can check is advice and must not look like more.
    enforcement = enforcement_of(version)
    soft = context.rules.safety_critical and enforcement.kind is Enforcement.STATED
    if weakest <= 2 and _may_bind(version) and not soft:
        return Step(Ladder.HARD_CONSTRAINT, words.text, words.sources, enforcement)
    return Step(Ladder.BEHAVIORAL_GUIDANCE, words.text, words.sources)


def _is_suspected(words: str, version: Version, context: CompileContext) -> bool:
    """Tell whether a user's own words read like an attack: they are kept, and guide nobody.

    The write warned of them. Claims of earlier stores were never looked at, and a template may
    join values that are harmless apart.
    """
    texts = dict.fromkeys((words, content_of(version).text))
    limits = context.policy.write.detectors
    return not all(is_unsuspected(text, TextChannel.USER, limits) for text in texts)


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

        # One value that may not stand here drops the whole template: half a rule is another rule.
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
    if version.details.value_entity_id is not None:
        raw = version.details.value_entity_id
        return names.get(raw, plain_text(content.value_json))
    return plain_text(content.value_json)


def plain_text(value_json: str) -> str:
    """Return a canonical JSON value as words: a text bare, all else as JSON."""
    value = json.loads(value_json)
    return value if isinstance(value, str) else value_json
