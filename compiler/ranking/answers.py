"""What becomes of each thing that a question asks: known, disputed, unknown, cut or withheld.

Asked are each named entity in each asked slot that its type may have, a named entity as a whole
where no slot is asked, and each name that means no known entity. Of several asked slots, one that
the way from a named entity fills, or another one, is asked of that one alone. A word may mean
several slots: where one of them has a value, the empty others are not asked. `answers_of` runs
before the text is fitted, so it knows of no cut; `finished` says after it what the budget left out.
That something is withheld is said only of an entity and a slot that the request names, and where
no value is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter

from ...resolution.compare import TYPO, osa
from ...resolution.normalize import form_of
from ...schema.compile_terms import GapCode
from ...schema.slots import UNKNOWN_TYPE
from ...schema.vocabulary import SlotKind
from ..ir.context import CompileContext
from ..ir.outputs import Gated, Ranked, Resolved, Validated
from ..ir.records import Asked, Candidate, Piece, Snapshot, Via, is_masked, root_of

_MOST_NEAR = 3
"""The most suggestions for an unknown name."""
_NOT_LISTED = "not_listed"
"""Why the facts of an entity are left out that is the value of too many."""
_ROUND = 100
_FRAME = 12
"""Tokens of the frame of a piece that the budget left out."""


def answers_of(
    resolved: Resolved,
    gated: Gated,
    validated: Validated,
    ranked: Ranked,
    snapshot: Snapshot,
    context: CompileContext,
) -> tuple[Asked, ...]:
    """The state of each thing that is asked, before anything is cut."""
    slot_of = {candidate.object_id: _slot_of(candidate) for candidate in resolved.candidates}
    hidden = {slot_of.get(verdict.object_id) for verdict in gated.refusals}
    hidden.update(snapshot.withheld_slots)
    disputed: set[tuple[str, str]] = set()
    for gap in validated.gaps:
        if gap.code is GapCode.DISPUTED_VALUE:
            disputed.add((gap.subject, gap.detail))
    lost = {slot_of.get(verdict.object_id): verdict.reason for verdict in validated.verdicts}

    clean: dict[tuple[str, str], list[str]] = {}
    on_the_way = dict.fromkeys(_slot_of(c) for c in ranked.candidates if c.way)
    as_values: set[tuple[str, str]] = set()
    for candidate in ranked.candidates:
        subject, slot = _slot_of(candidate)
        is_over = bool(candidate.via & Via.OUTDATED)
        value = _entity_value(candidate, snapshot)
        if subject and not (is_over and (subject, slot) in hidden | disputed):
            clean.setdefault((subject, slot), []).append(candidate.object_id)
            clean.setdefault((subject, ""), []).append(candidate.object_id)
            # A fact says something of the entity that is its value too, unless it is masked.
            if value and value != subject and not is_masked(candidate, snapshot, context):
                clean.setdefault((value, ""), []).append(candidate.object_id)
        if value and candidate.vital:
            as_values.add((value, slot))

    filled_pairs = [*on_the_way, *filter(clean.__contains__, ranked.asked)]
    filled_slots = {slot for _, slot in filled_pairs if len(ranked.asked_slots) > 1}

    hubs = frozenset(map(itemgetter(0), snapshot.hubs))
    records: list[Asked] = []
    ends = (pair for pair in on_the_way if pair[1] in ranked.asked_slots)
    for subject, slot in dict.fromkeys((*ranked.asked, *ends)):
        entity = snapshot.known.entities.get(subject)
        definition = context.vocabulary.slots.get(slot)
        types = definition.subject_types if definition is not None else ()
        key = subject, slot
        is_foreign = entity is not None and types and entity.type not in (*types, UNKNOWN_TYPE)
        is_mutual = definition is not None and definition.kind is SlotKind.ASSOCIATION
        is_elsewhere = (
            slot in filled_slots
            or (is_mutual and key in as_values)
            or any(
                (subject, other) in clean and ranked.asked_slots[slot] <= words
                for other, words in ranked.asked_slots.items()
            )
        )
        if key not in clean and (is_foreign or (is_elsewhere and key not in hidden | disputed)):
            continue
        record = Asked(subject=subject, slot=slot, name=entity.name if entity else "")
        if key in clean and key not in disputed:
            record = replace(record, state="known", object_ids=tuple(sorted(clean[key])))
        elif slot and key in hidden:
            record = replace(record, state="withheld", why="withheld")
        elif key in disputed:
            record = replace(record, state="disputed", why="disputed_value")
        else:
            why = lost[key].value if key in lost else "no_value"
            record = replace(record, why=why)
            if not slot and subject in hubs:
                record = replace(record, state="cut", why=_NOT_LISTED)
        records.append(record)

    for record in _unknown_names(ranked, resolved):
        near_names: tuple[str, ...] = ()
        if record.why == GapCode.UNKNOWN_ENTITY:
            near_names = _near_names(record.name, validated.candidates, snapshot, context)
        records.append(replace(record, near_names=near_names))
    return tuple(records)


def _slot_of(candidate: Candidate) -> tuple[str, str]:
    version = candidate.version
    slot = version.details.slot if version is not None else None
    return candidate.subject or "", slot or ""


def _entity_value(candidate: Candidate, snapshot: Snapshot) -> str:
    """The canonical id of the entity that is the value of a fact, or empty."""
    version = candidate.version
    value = version.details.value_entity_id if version is not None else None
    return root_of(snapshot.known, value) if value else ""


def _unknown_names(ranked: Ranked, resolved: Resolved) -> Iterator[Asked]:
    """The names that mean no known entity, or several."""
    for gap in resolved.gaps:
        if gap.code in (GapCode.UNKNOWN_ENTITY, GapCode.AMBIGUOUS_ENTITY):
            yield Asked(subject=gap.subject, why=gap.code.value, name=gap.subject)
    for name in ranked.unknown_names:
        for slot in ranked.asked_slots or ("",):
            yield Asked(subject=name, slot=slot, why=GapCode.UNKNOWN_ENTITY.value, name=name)


def _near_names(
    name: str, candidates: Iterable[Candidate], snapshot: Snapshot, context: CompileContext
) -> tuple[str, ...]:
    """The known names that a name may be a misspelling of, the nearest first.

    They are those of facts that share a word with the question and that the caller may read, so a
    name of which every word is misspelt has no near one.
    """
    known, known_names = snapshot.known, set[str]()
    for candidate in candidates:
        version = candidate.version
        if version is None or not version.details.slot or is_masked(candidate, snapshot, context):
            continue
        for end in filter(None, (candidate.subject, version.details.value_entity_id)):
            entity = known.entities.get(root_of(known, end))
            known_names.update([] if entity is None else [entity.name])

    compact = form_of(name, UNKNOWN_TYPE).compact
    spellings: list[tuple[int, str]] = []
    for known_name in known_names:
        likeness = osa(compact, form_of(known_name, UNKNOWN_TYPE).compact)
        if likeness >= TYPO:
            spellings.append((-likeness, known_name))
    return tuple(known_name for _, known_name in sorted(spellings)[:_MOST_NEAR])


def finished(
    answers: Iterable[Asked],
    shown: Iterable[Piece],
    offered: Iterable[Piece],
    tokens: int,
    context: CompileContext,
) -> tuple[Asked, ...]:
    """The records with what the budget left out, and a budget that would show it."""
    shown_ids: set[str] = set()
    for piece in shown:
        shown_ids.update(piece.object_ids)
    left_out = [piece for piece in offered if piece.object_id not in shown_ids]
    left_out.sort(key=lambda piece: (-piece.value, piece.object_id))

    records: list[Asked] = []
    for record in answers:
        if record.state != "known" or shown_ids.intersection(record.object_ids):
            shown_of = tuple(i for i in record.object_ids if i in shown_ids)
            records.append(replace(record, object_ids=shown_of))
            continue

        budget = tokens
        for piece in left_out:
            budget += context.counter.upper_bound(piece.text) + _FRAME
            if piece.object_id in record.object_ids:
                break
        else:
            budget = 0
        needed = -(-budget * 102 // (100 * _ROUND)) * _ROUND
        why = "over_budget" if budget else "section_cap"
        records.append(replace(record, state="cut", why=why, budget_tokens=needed))
    return tuple(records)


def unanswered_line(answers: Sequence[Asked]) -> str:
    """One line on what is asked and not known; empty where all is.

    >>> unanswered_line([Asked(subject="x", slot="phone", why="no_value", name="Mira Falk")])
    'Not known: Mira Falk phone.'
    """
    namesakes = {record.name for record in answers if record.why == "ambiguous_entity"}
    by_state: dict[str, list[str]] = {}
    for record in answers:
        # Of a subject as a whole what is shown is the answer, be it little.
        if (
            record.state == "known"
            or not record.name
            or (not record.slot and record.why in ("no_value", _NOT_LISTED))
        ):
            continue
        if record.name in namesakes and record.state == "unknown":
            by_state.setdefault("namesakes", []).append(record.name)
        else:
            by_state.setdefault(record.state, []).append(record.words)
    openings = {
        "namesakes": "Undecided which one is meant",
        "unknown": "Not known",
        "disputed": "Disputed, undecided",
        "withheld": "Withheld",
        "cut": "Left out by the budget",
    }
    parts: list[str] = []
    for state, opening in openings.items():
        if state in by_state:
            parts.append(f"{opening}: {'; '.join(dict.fromkeys(by_state[state]))[:120]}.")
    return " ".join(parts)


def unlisted_line(ranked: Ranked, snapshot: Snapshot) -> str:
    """One line on asked relations of named entities that are too many to list, with their number.

    Empty where all are listed. Personal data is not counted.
    """
    parts: list[str] = []
    for entity, slot, count in snapshot.hubs:
        is_asked = slot in ranked.asked_slots or not ranked.asked_slots
        if entity not in ranked.seeds or not is_asked:
            continue
        listed = sum(
            (_entity_value(candidate, snapshot), _slot_of(candidate)[1]) == (entity, slot)
            for candidate in ranked.candidates
        )
        if count > listed:
            name = snapshot.known.entities[entity].name
            parts.append(f"{slot.replace('_', ' ')} = {name} ({count})")
    return f"Not all listed: {'; '.join(parts)}." if parts else ""
