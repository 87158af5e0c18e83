"""The fact-to-instruction ladder: how far an object climbs, and with which words.

Levels 0 to 3 are data of rising purpose. Level 4 needs an object that is clean, active, of
level 3 or stronger, about nobody pending, about or belonging to the caller, and a template.
Level 5 needs also authority 0 or 1, or a constraint that the user stated. Templates: the
slot's own, else the object's stated implication, else the one of (slot kind, task type). A
`{slot}` placeholder consumes that slot of the same subject; one that has no clean value drops
the template. No model is asked.

>>> spoken('"concise"')
'concise'

Sources: D1; settled 10 ("Climbing to 4-5"); checklist C-026, C-033 to C-040, C-147.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from ...schema.claim import Version
from ...schema.compile_terms import Ladder
from ...schema.vocabulary import Enforcement, ObjectType, SlotKind
from ..ir.candidate import Placed, Ranked, content_of
from ..ir.context import Setting
from ..ir.piece import Carrier
from ..text.relevance import one_line
from ..text.templates import built_in, parts_of, placeholders

_KIND_OF_TYPE: Final = {
    ObjectType.PREFERENCE: SlotKind.PREFERENCE,
    ObjectType.ACTIONABLE_CONSTRAINT: SlotKind.DIRECTIVE,
    ObjectType.POLICY_RULE: SlotKind.DIRECTIVE,
    ObjectType.PROJECT_DECISION: SlotKind.DECISION,
}


_HARD: Final = frozenset({ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.POLICY_RULE})


Values = Mapping[tuple[str, str], tuple[Ranked, ...]]
"""The clean objects by (subject, slot), in order of (first tx, object id)."""


class Step(NamedTuple):
    """Where an object ends on the ladder."""

    ladder: Ladder
    instruction: str = ""
    """The rendered words of levels 4 and 5."""
    consumed: tuple[Ranked, ...] = ()
    """Objects whose values stand in the instruction."""
    carrier: Carrier | None = None


def climb(ranked: Ranked, setting: Setting, *, values: Values, names: Mapping[str, str]) -> Step:
    """Return how far a stored object climbs."""
    version = stored(ranked.placed)
    if ranked.placed.candidate.is_passage:
        return Step(Ladder.RAW_OBSERVATION)
    resting = Ladder.SCOPED_MEMORY if ranked.by_task else Ladder.TASK_CONTEXT
    if not _may_instruct(ranked.placed, version):
        return Step(resting)
    rendered = _rendered(ranked, version, setting, values=values, names=names)
    if rendered is None:
        return Step(resting)
    text, consumed = rendered
    weakest = max([ranked.placed.candidate.level, *(r.placed.candidate.level for r in consumed)])
    if weakest > 3:
        return Step(resting)
    carrier = carrier_of(version)
    hard = weakest <= 2 and _may_bind(version) and not _too_soft(carrier, setting)
    ladder = Ladder.HARD_CONSTRAINT if hard else Ladder.BEHAVIORAL_GUIDANCE
    return Step(ladder, text, consumed, carrier if hard else None)


def _may_instruct(placed: Placed, version: Version) -> bool:
    return version.details.authority_level <= 3 and not placed.pending and placed.ours


def _may_bind(version: Version) -> bool:
    """Tell whether authority and kind allow a hard constraint."""
    details = version.details
    if details.object_type not in _HARD or details.authority_level > 2:
        return False
    stated = details.source_kind == "user_statement"
    return details.authority_level <= 1 or (
        stated and details.object_type is ObjectType.ACTIONABLE_CONSTRAINT
    )


def _too_soft(carrier: Carrier, setting: Setting) -> bool:
    return setting.rules.safety_critical and carrier.enforcement is Enforcement.STATED


def carrier_of(version: Version) -> Carrier:
    """Return how code enforces a stored rule; `stated` when it names no way."""
    text = content_of(version).enforcement
    if text is None:
        return Carrier(Enforcement.STATED, "{}")
    held = json.loads(text)
    spec = json.dumps(held.get("spec", {}), sort_keys=True, separators=(",", ":"))
    return Carrier(Enforcement(held.get("kind", Enforcement.STATED)), spec)


def _rendered(
    ranked: Ranked,
    version: Version,
    setting: Setting,
    *,
    values: Values,
    names: Mapping[str, str],
) -> tuple[str, tuple[Ranked, ...]] | None:
    """Return the instruction of an object and what it consumed; None without a template."""
    details, content = version.details, content_of(version)
    slot = setting.vocabulary.slots.get(details.slot or "")
    own = slot.template(setting.task_types) if slot else None
    if own is not None:
        filled = _filled(own, ranked, values=values, names=names)
        if filled is not None:
            return filled
    if content.behavioral_implication:
        return one_line(content.behavioral_implication), ()
    kind = slot.kind if slot else _KIND_OF_TYPE.get(details.object_type)
    general = built_in(kind, setting.task_types) if kind is not None else None
    if general is None:
        return None
    word = (details.slot or _word(details.object_type)).replace("_", " ")
    return _substituted(general, {"slot": word, "value": shown_value(version, names)}), ()


def _word(object_type: ObjectType) -> str:
    return {
        ObjectType.ACTIONABLE_CONSTRAINT: "constraint",
        ObjectType.POLICY_RULE: "rule",
        ObjectType.PROJECT_DECISION: "decision",
    }.get(object_type, object_type.value)


def _filled(
    template: str, ranked: Ranked, *, values: Values, names: Mapping[str, str]
) -> tuple[str, tuple[Ranked, ...]] | None:
    """Fill the placeholders of a slot's own template from clean slots of the same subject."""
    version = stored(ranked.placed)
    subject, own = ranked.placed.subject or "", version.details.slot or ""
    words: dict[str, str] = {}
    consumed: dict[str, Ranked] = {}
    for name in placeholders(template):
        found = (ranked,) if name == "value" else values.get((subject, name), ())
        if name == own:
            found = values.get((subject, own), (ranked,))
        if not found or any(each.placed.pending for each in found):
            return None
        words[name] = ", ".join(shown_value(stored(each.placed), names) for each in found)
        if name != "value":
            others = (each for each in found if each is not ranked)
            consumed.update((each.placed.candidate.object_id, each) for each in others)
    return _substituted(template, words), tuple(consumed.values())


def _substituted(template: str, words: Mapping[str, str]) -> str:
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
        return names.get(raw, spoken(content.value_json))
    return spoken(content.value_json)


def spoken(value_json: str) -> str:
    """Return a canonical JSON value as words: a text bare, all else as JSON."""
    value = json.loads(value_json)
    return value if isinstance(value, str) else value_json


def stored(placed: Placed) -> Version:
    """Return the row of a candidate that the store brought."""
    assert placed.candidate.version is not None  # callers pass stored rows only
    return placed.candidate.version
