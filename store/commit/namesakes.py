"""Namesakes: one name that, in one write, has two values that only two people can have.

The sign of two people is: two values for one slot of cardinality one, from one source, with one
start, about a person named without an identifier, and neither by `correct`. A tie of values would
hide it. Every line of that name in that write then waits under one pending entity, whose review
lists the groups of values. `groups` applies the same rule to stored claims, so that a steward
splits by today's claims. Pure; decides who must be asked, not who is who.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...resolution.keys import MentionOrId, alias_key, as_ref, is_id
from ...resolution.register import Register, Rules
from ...schema.entity import NAMESAKES, EntityCandidate, EntityRef, Feature, Resolution
from ...schema.vocabulary import CandidateSource, Decision, Op
from ...schema.write import Draft

PERSON = "person"


class Subject(NamedTuple):
    """A bare name in a scope."""

    norm: str
    scope_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimLine:
    """What one claim says, as far as two lines can contradict each other."""

    object_id: str
    slot: str
    value: str
    """Equal for equal values only."""
    text: str
    """The value as a person reads it."""
    since_us: int | None
    """None: the stamp of the write."""
    until_us: int
    source: str
    plain: bool
    """An assert on a slot of cardinality one."""


def contradict(a: ClaimLine, b: ClaimLine) -> bool:
    """Tell whether two lines cannot both be true of one person."""
    if not (a.plain and b.plain) or (a.slot, a.source) != (b.slot, b.source):
        return False
    return a.since_us == b.since_us and a.value != b.value


def groups(lines: Sequence[ClaimLine]) -> tuple[tuple[ClaimLine, ...], ...]:
    """Return lines in groups that do not contradict themselves, in order of writing.

    A line joins the newest group that it does not contradict, so that a source's run of lines
    about one person stays together.
    """
    parts: list[list[ClaimLine]] = []
    for line in lines:
        for part in reversed(parts):
            if not any(contradict(line, other_line) for other_line in part):
                part.append(line)
                break
        else:
            parts.append([line])

    return tuple(map(tuple, parts))


def namesakes(drafts: Iterable[Draft], register: Register) -> dict[Subject, tuple[ClaimLine, ...]]:
    """Return the lines of each subject of a write that seems to be several people."""
    by_subject: dict[Subject, list[ClaimLine]] = {}
    for draft in drafts:
        subject = subject_of(draft, register)
        if subject and draft.slot:
            by_subject.setdefault(subject, []).append(_line(draft))

    namesake_lines: dict[Subject, tuple[ClaimLine, ...]] = {}
    for subject, lines in by_subject.items():
        if _contradicts(lines):
            namesake_lines[subject] = tuple(lines)
    return namesake_lines


def _contradicts(lines: Sequence[ClaimLine]) -> bool:
    values: dict[tuple[str, str, int | None], str] = {}
    for line in lines:
        place = (line.slot, line.source, line.since_us)
        if line.plain and values.setdefault(place, line.value) != line.value:
            return True
    return False


def subject_of(draft: Draft, register: Register) -> Subject | None:
    """Return the bare person's name that a draft is about, None for any other subject."""
    mention = draft.subject
    if mention is None or draft.slot_key is not None:
        return None
    if isinstance(mention, str) and is_id(mention):
        return None

    ref = as_ref(mention)
    types = draft.slot.subject_types if draft.slot else ()
    known_types = {alias.type for alias in register.named(alias_key(ref.name))}
    is_person = ref.type == PERSON or tuple(types) == (PERSON,) or PERSON in known_types
    if ref.external_ids or not is_person:
        return None

    return Subject(alias_key(ref.name), draft.details.scope.scope_id)


def _line(draft: Draft) -> ClaimLine:
    single = draft.slot is not None and not draft.slot.many
    return ClaimLine(
        object_id=draft.object_id,
        slot=draft.slot.name if draft.slot else "",
        value=draft.value_key or _value_name(draft.value_mention),
        text=draft.content.normalized_claim or draft.content.text,
        since_us=draft.valid_from,
        until_us=draft.valid_until,
        source=draft.details.source_origin,
        plain=draft.op is Op.ASSERT and single,
    )


def _value_name(mention: MentionOrId | None) -> str:
    if mention is None:
        return ""
    return (
        mention if isinstance(mention, str) and is_id(mention) else alias_key(as_ref(mention).name)
    )


def namesake_review(
    ref: EntityRef, lines: Sequence[ClaimLine], register: Register, rules: Rules
) -> Resolution:
    """Return the decision on a name that seems to be several people: ask, with both stories."""
    stories: list[Feature] = []
    for number, group in enumerate(groups(lines), 1):
        texts = dict.fromkeys(line.text for line in group)
        stories.append(Feature(f"group {number}", 1.0, 0.0, "; ".join(texts)))

    roots: set[str] = set()
    for alias in register.named(alias_key(ref.name)):
        if rules.shows(alias, register):
            roots.add(register.root(alias.entity_id))

    # Each of them is called so; which one is meant, the two stories may tell a person.
    candidates: list[EntityCandidate] = []
    for root in sorted(roots):
        entity = register.entity(root)
        if entity is None:
            continue
        candidate = EntityCandidate(
            entity=entity.entity_id,
            name=entity.name,
            score=0.94,
            log_odds=2.752,
            source=CandidateSource.EXACT,
            features=tuple(stories),
            vetoes=("single_valued_conflict",),
        )
        candidates.append(candidate)

    return Resolution(
        decision=Decision.REVIEW,
        entity=None,
        score=0.94,
        reason=NAMESAKES,
        candidates=tuple(candidates),
    )
