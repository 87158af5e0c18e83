"""Make the pieces of an envelope, from stored objects and from the request's own items.

Stored facts become cells, rules become instructions, and the rest stays verbatim. An instruction
absorbs the objects whose values its template uses. An object whose value the gate masks never
climbs the ladder, and its value is not shown. The request's items are turns, evidence, tools,
rules, notes and media.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...resolution.known import Known
from ...schema.claim import Version
from ...schema.compile_terms import (
    SECTIONS,
    Conversion,
    Ladder,
    PriorityTier,
    Reason,
    SectionName,
    Stage,
)
from ...schema.errors import InvalidInput
from ...schema.slots import kind_of
from ...schema.uncertainty import allow_unknown
from ...schema.values import canonical_json, fields_of, iso
from ...schema.vocabulary import Enforcement, EntityState, ObjectType
from ..format.lines import WHO_LENGTH, who_of
from ..format.rows import since_mark
from ..ir.context import CompileContext, Variation
from ..ir.outputs import Snippet
from ..ir.records import (
    Candidate,
    EnforcementRule,
    Piece,
    RequestItem,
    TextChange,
    Verdict,
    Via,
    version_of,
)
from ..request.request import Constraint, Media, Turn
from ..safety.canonical_text import canonicalise
from ..text.relevance import FULL, one_line
from ..tokens.counting import room_of, size_of
from .ladder import (
    Step,
    Values,
    block_level,
    climb,
    enforcement_of,
    is_offered,
    item_key,
    kind_of_block,
    section_of,
    shown_value,
    stored_key,
)
from .untrusted_tools import tool_line, tool_name, tool_pieces

_S = SectionName

_POLICIES = frozenset({_S.SYSTEM_POLICY, _S.TENANT_POLICY, _S.PROJECT_POLICY})

_RULES = frozenset(
    {ObjectType.POLICY_RULE, ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.TOOL_SCHEMA}
)
"""What no cap leaves out."""

_SPEECH_SOURCES = frozenset({"user_statement", "agent"})
"""Kinds of sources whose passages are what their subject said; elsewhere it is the topic."""

_MASK = "[masked]"

_EARLIER = " (earlier)"
"""Behind who said what holds no more, so that no line presents it as current."""

_CELL_CHARS = 200
_ROW_SIGN = re.compile(r"(?<= )\|(?= )|\[(?=\d+\])")

_BUDGETS = 3
"""How many budgets the passages may fill that become pieces: one more than the pieces may that
compete in the end (`fitting.fit`)."""

_FEW_PASSAGES = 96
"""Passages that become pieces whatever the budget is."""

_VERBATIM = frozenset({_S.EVIDENCE, _S.PINNED_KNOWLEDGE, _S.HISTORY, _S.USER_REQUEST})

_LADDER_OF = {
    _S.TOOLS: Ladder.NORMALIZED_FACT,
    _S.SKILLS: Ladder.BEHAVIORAL_GUIDANCE,
    _S.TASK_CONTRACT: Ladder.TASK_CONTEXT,
    _S.ERRORS: Ladder.TASK_CONTEXT,
    _S.TASK_PROGRESS: Ladder.TASK_CONTEXT,
    _S.ACCEPTANCE: Ladder.BEHAVIORAL_GUIDANCE,
}

_LABELS = {
    (True, True): "Constraint",
    (True, False): "Prohibition",
    (False, True): "Wish",
    (False, False): "Wish to avoid",
}
"""By whether a constraint binds, and whether it says what to do (C-146)."""


@dataclass(frozen=True, slots=True)
class _View:
    """What the pieces of stored objects are made with."""

    context: CompileContext
    masked_ids: frozenset[str]
    names: Mapping[str, str]
    """A name for every raw entity."""
    review_marks: Mapping[str, str]
    """For each raw entity that waits for a review: the words that say whose its facts may be."""


def memory_pieces(
    candidates: Iterable[Candidate],
    snippets: Iterable[Snippet],
    *,
    masked_ids: frozenset[str],
    known: Known,
    context: CompileContext,
) -> tuple[list[Piece], list[TextChange], list[Verdict]]:
    """Return the pieces of the stored objects that were selected, and those of rescued texts."""
    view = _View(context, masked_ids, display_names(known), _review_marks(known))

    # By first tx and id: what is written later stands later, so a cached prefix keeps its bytes.
    stored_candidates = [candidate for candidate in candidates if candidate.version is not None]
    stored_candidates.sort(key=lambda candidate: stored_key(version_of(candidate)))

    # Templates may take values from all that was selected, also from what a cap leaves out.
    values = _values(stored_candidates, masked_ids)
    stored_candidates, verdicts = _newest_tools(stored_candidates, context)
    best, cap_verdicts = _cap(stored_candidates, context.rules.section_items, context.budget)
    verdicts += cap_verdicts
    steps, merged_ids = _climb(best, values, view, verdicts)

    pieces: list[Piece] = []
    changes: list[TextChange] = []
    for candidate, step in steps:
        if candidate.object_id not in merged_ids:
            pieces += _pieces_of(candidate, step, view, changes, verdicts)

    for snippet in snippets:
        pieces.append(_with_date(_snippet_piece(snippet), snippet.candidate, view))
        changes.append(TextChange(pieces[-1].object_id, Conversion.TRUNCATED, snippet.companion_id))
    return pieces, changes, verdicts


def display_names(known: Known) -> dict[str, str]:
    """Return a name for every raw entity.

    Two entities of one name get a piece of their ids, so that no row can mix them up.
    """
    root_of = {raw: known.canonical.get(raw, raw) for raw in known.entities}
    names = dict.fromkeys(known.canonical, "")
    bearers: dict[str, set[str]] = {}
    for raw, root in root_of.items():
        if root in known.entities:
            names[raw] = known.entities[root].name
            bearers.setdefault(names[raw].casefold(), set()).add(root)

    for raw, root in root_of.items():
        if root in known.entities and len(bearers[names[raw].casefold()]) > 1:
            names[raw] = f"{names[raw]} #{root[:6]}"
    return names


def _review_marks(known: Known) -> dict[str, str]:
    """Return the words that follow a fact whose entity waits for a review."""
    bearers: dict[str, set[str]] = {}
    for entity in known.entities.values():
        if entity.state is EntityState.ACTIVE:
            bearers.setdefault(entity.name.casefold(), set()).add(entity.entity_id)

    words: dict[str, str] = {}
    for raw in known.entities:
        owner = known.entities.get(known.canonical.get(raw, raw))
        if owner is not None and owner.state is EntityState.PENDING:
            count = len(bearers.get(owner.name.casefold(), ()))
            group = "the two" if count == 2 else f"the {count}"
            words[raw] = f"said of one of {group}; undecided" if count > 1 else "undecided of whom"
    return words


def _values(candidates: Iterable[Candidate], masked_ids: frozenset[str]) -> Values:
    values: dict[tuple[str, str], tuple[Candidate, ...]] = {}
    for candidate in candidates:
        slot, subject = version_of(candidate).details.slot, candidate.subject
        if slot is None or subject is None or candidate.via & Via.OUTDATED:
            continue
        if candidate.object_id in masked_ids:
            continue
        key = subject, slot
        values[key] = (*values.get(key, ()), candidate)
    return values


def _newest_tools(
    candidates: list[Candidate], context: CompileContext
) -> tuple[list[Candidate], list[Verdict]]:
    """Leave out the tools of which a newer version is there, and those above the policy's number.

    A version that nobody signed is never newer than one that the store vouches for.
    """
    tools = list(filter(_is_tool, candidates))
    ages: dict[int, tuple[bool, int, str]] = {}
    for tool in tools:
        ages[id(tool)] = (is_offered(version_of(tool), context), *_transaction_key(tool))

    newest: dict[str, Candidate] = {}
    for tool in sorted(tools, key=lambda tool: ages[id(tool)]):
        newest[tool_name(tool.text) or tool.object_id] = tool

    # The oldest first, so that a further tool never moves one out of a cached prefix.
    callable_tools = [tool for tool in newest.values() if ages[id(tool)][0]]
    callable_tools.sort(key=_transaction_key)
    surplus_ids = set(map(id, callable_tools[context.rules.stored_tools :]))

    verdicts: list[Verdict] = []
    for tool in tools:
        successor = newest[tool_name(tool.text) or tool.object_id]
        if successor is not tool:
            verdict = Verdict(Stage.CONVERT, tool.object_id, Reason.SUPERSEDED, successor.object_id)
            verdicts.append(verdict)
            surplus_ids.add(id(tool))
        elif id(tool) in surplus_ids:
            verdicts.append(cap_verdict(tool.object_id, tool.score, tool.tier.value))

    return [candidate for candidate in candidates if id(candidate) not in surplus_ids], verdicts


def _is_tool(candidate: Candidate) -> bool:
    return version_of(candidate).details.object_type is ObjectType.TOOL_SCHEMA


def _transaction_key(candidate: Candidate) -> tuple[int, str]:
    return version_of(candidate).row.claim.tx, candidate.object_id


def _cap(
    candidates: list[Candidate], limit: int, budget: int
) -> tuple[list[Candidate], list[Verdict]]:
    """Leave out what no section could hold: it would cost time and change nothing."""
    loose: list[Candidate] = []
    for candidate in candidates:
        is_rule = version_of(candidate).details.object_type in _RULES
        if not candidate.by_task and not is_rule:
            loose.append(candidate)
    loose.sort(key=lambda candidate: (-candidate.score, candidate.object_id))

    verdicts: list[Verdict] = []
    surplus: set[int] = set()
    counts = {True: 0, False: 0}
    room = room_of(budget, _BUDGETS)
    for candidate in loose:
        counts[candidate.is_passage] += 1
        is_late = candidate.is_passage and room <= 0 and counts[True] > _FEW_PASSAGES

        # Facts are short, and few of them compete: only passages fill the room.
        if candidate.is_passage:
            room -= size_of(candidate.text)
        if is_late or counts[candidate.is_passage] > limit:
            surplus.add(id(candidate))
            verdicts.append(cap_verdict(candidate.object_id, candidate.score, candidate.tier.value))
    return [candidate for candidate in candidates if id(candidate) not in surplus], verdicts


def cap_verdict(object_id: str, score: int, tier: str) -> Verdict:
    """Return the verdict on what a section's number of items leaves out."""
    return Verdict(Stage.CONVERT, object_id, Reason.SECTION_CAP, "", score, tier)


def _climb(
    candidates: Iterable[Candidate], values: Values, view: _View, verdicts: list[Verdict]
) -> tuple[list[tuple[Candidate, Step]], set[str]]:
    """Return how far each object climbs, and the ids of those that others are made of."""
    steps: list[tuple[Candidate, Step]] = []
    merged_ids: set[str] = set()
    for candidate in candidates:
        object_id = candidate.object_id
        if object_id in merged_ids:
            continue
        is_over = bool(candidate.via & Via.OUTDATED) and not candidate.is_passage
        if is_over or object_id in view.masked_ids:
            ladder = Ladder.SCOPED_MEMORY if candidate.by_task else Ladder.TASK_CONTEXT
            steps.append((candidate, Step(ladder)))
            continue

        step = climb(candidate, view.context, values=values, names=view.names)
        steps.append((candidate, step))

        # A value that is in an instruction already would only be said twice.
        for source in step.sources:
            merged_ids.add(source.object_id)
            reason = Reason.MERGED_INTO
            verdicts.append(Verdict(Stage.CONVERT, source.object_id, reason, object_id))
    return steps, merged_ids


def _pieces_of(
    candidate: Candidate,
    step: Step,
    view: _View,
    changes: list[TextChange],
    verdicts: list[Verdict],
) -> Iterator[Piece]:
    version = version_of(candidate)
    # A piece is as weak as the weakest of what it is made of, and belongs to the cached zones only
    # if no part of it was found by the question.
    by_task, level, value = candidate.by_task, candidate.level, candidate.score
    for source in step.sources:
        by_task = by_task and source.by_task
        level = max(level, source.level)
        value = max(value, source.score)

    section = section_of(
        version,
        step.ladder,
        via=candidate.via,
        by_task=by_task,
        passage=candidate.is_passage,
        offered=_is_tool(candidate) and is_offered(version, view.context),
    )
    base = _base(candidate, section, level, step.ladder)

    if section is _S.TOOLS:
        base = base._replace(ladder=Ladder.NORMALIZED_FACT, required=False)
        yield from tool_pieces(base, candidate.level, verdicts)
    elif _is_tool(candidate):
        yield base._replace(text=tool_line(candidate.text), alone=True)
    elif section in _POLICIES:
        # A policy binds by where it is: no template may say it in other words.
        enforcement = enforcement_of(version)
        yield base._replace(ladder=Ladder.HARD_CONSTRAINT, enforcement=enforcement)
    elif step.instruction:
        source_ids = [source.object_id for source in step.sources]
        yield base._replace(
            object_ids=(candidate.object_id, *source_ids),
            text=step.instruction,
            required=base.required or step.ladder is Ladder.HARD_CONSTRAINT,
            enforcement=step.enforcement,
            value=max(value, 0),
        )
    else:
        yield _fact(base, candidate, view, changes)


def _base(candidate: Candidate, section: SectionName, level: int, ladder: Ladder) -> Piece:
    level = block_level(section, level)
    key = stored_key(version_of(candidate))
    # Evidence is ordered by score, the best last and next to the request; all else by age.
    if section is _S.EVIDENCE:
        key = (candidate.score, *key[1:])
    return Piece(
        object_ids=(candidate.object_id,),
        section=section,
        kind=kind_of_block(section, level),
        level=level,
        origin=candidate.origin,
        text=candidate.text,
        ladder=ladder,
        tier=candidate.tier,
        value=candidate.score,
        key=key,
        required=SECTIONS[section].required,
        alone=level >= 4 or candidate.is_passage,
        candidate=candidate,
        relevance=0 if candidate.by_task else candidate.relevance,
    )


def _fact(piece: Piece, candidate: Candidate, view: _View, changes: list[TextChange]) -> Piece:
    """Give a fact its cell, masked where the gate says so."""
    version = version_of(candidate)
    slot, subject = version.details.slot, candidate.subject
    masked = piece.object_id in view.masked_ids
    if masked:
        changes.append(TextChange(piece.object_id, Conversion.MASKED))
    if slot is None or subject is None:
        return piece._replace(text=_MASK) if masked else _with_date(piece, candidate, view)

    # The stored text is there to be found: it may hold a masked value or an old name.
    # Its own signs of a row are escaped, so that it forges no cell and no anchor.
    value = _MASK if masked else _ROW_SIGN.sub(r"\\\g<0>", shown_value(version, view.names))
    label = one_line(view.names.get(subject, ""))
    cell = f"{slot.replace('_', ' ')} = {value}"
    if candidate.via & Via.OUTDATED:
        cell += _days(version)
    else:
        piece = piece._replace(date="" if masked else _start(version))
    if subject in view.review_marks:
        cell += f" ({view.review_marks[subject]})"
    is_plain = "\n" not in cell and len(cell) <= _CELL_CHARS and cell.isprintable()
    if label and is_plain and not piece.alone:
        return piece._replace(text=f"{label} | {cell}", label=label, cell=cell)
    cell += since_mark(piece.date)
    return piece._replace(text=f"{label} | {cell}" if label else cell)


def _start(version: Version) -> str:
    """Return the day, month or year since which a fact was stated to hold; else empty.

    What a rule made of talk begins when it was said, and that is no stated day.
    """
    start_us, claim = version.row.interval.start_us, version.row.claim
    is_stamp = start_us == claim.tx or bool(version.details.derived_from)
    return version.stated_start or ("" if is_stamp else (iso(start_us) or "")[:10])


def _days(version: Version) -> str:
    """Return the days of a fact that held once."""
    start, interval = version.stated_start, version.row.interval
    first, last = iso(interval.start_us) or "", iso(interval.end_us) or ""
    if first[:10] != last[:10]:
        first, last = first[:10], last[:10]
    return f" ({start or first} to {last})" if first else f" (until {last})"


def _with_date(piece: Piece, candidate: Candidate, view: _View) -> Piece:
    """Say of a passage whose words it holds, and of which day it is."""
    if not candidate.is_passage:
        return piece

    version = version_of(candidate)
    details = version.details

    # The subject of a document is its topic, and did not speak.
    said = kind_of(details.source_origin, view.context.source_kinds).name in _SPEECH_SOURCES
    speaker = view.names.get(candidate.subject, "") if said and candidate.subject else ""
    mark = _EARLIER if candidate.via & Via.OUTDATED else ""
    return piece._replace(
        speaker=who_of(f"{canonicalise(speaker).text[: WHO_LENGTH - len(mark)]}{mark}"),
        date=(iso(version.row.interval.start_us) or "")[:10],
        written_us=version.row.claim.tx,
    )


def _snippet_piece(snippet: Snippet) -> Piece:
    candidate = snippet.candidate
    piece = _base(candidate, _S.EVIDENCE, candidate.level, Ladder.RAW_OBSERVATION)
    return piece._replace(text=snippet.text, alone=True)


def item_pieces(
    candidates: Iterable[Candidate], context: CompileContext
) -> tuple[list[Piece], list[TextChange], list[Verdict]]:
    """Return the pieces of the request's own items.

    Raises:
        InvalidInput: `bad_request`, for a constraint that nothing enforces where safety counts.
    """
    pieces: list[Piece] = []
    changes: list[TextChange] = []
    verdicts: list[Verdict] = []
    for candidate in candidates:
        item = candidate.request_item
        if item is None:
            continue

        piece = _piece(candidate, item, context)
        if isinstance(item.part, Media):
            changes += _media_changes(item, context)
        if item.section is _S.TOOLS:
            pieces += tool_pieces(piece, candidate.level, verdicts)
        else:
            pieces.append(piece)
    return pieces, changes, verdicts


def _piece(candidate: Candidate, item: RequestItem, context: CompileContext) -> Piece:
    level = block_level(item.section, item.level)
    ladder, enforcement = _form(item, level, context)
    key = item_key(item.position, item.object_id)
    # What the request states counts in full; only evidence has to compete for its place.
    value, tier = FULL, PriorityTier.CRITICAL
    if item.section is _S.EVIDENCE:
        key = (candidate.score, *key[1:])
        value, tier = candidate.score, candidate.tier
    return Piece(
        object_ids=(item.object_id,),
        section=item.section,
        kind=kind_of_block(item.section, level),
        level=level,
        origin=item.origin,
        text=_wording(item, context.variation),
        ladder=ladder,
        tier=tier,
        value=value,
        key=key,
        required=SECTIONS[item.section].required,
        alone=level >= 4 or item.section in _VERBATIM,
        pair=item.part.call_id if isinstance(item.part, Turn) else "",
        enforcement=enforcement,
        candidate=candidate,
        relevance=candidate.relevance,
    )


def own_text(section: SectionName, level: int, origin: str, text: str) -> Piece:
    """A text that the compiler itself says, which is always shown."""
    level = block_level(section, level)
    return Piece(
        object_ids=(origin,),
        section=section,
        kind=kind_of_block(section, level),
        level=level,
        origin=origin,
        text=text,
        ladder=Ladder.TASK_CONTEXT,
        tier=PriorityTier.CRITICAL,
        value=FULL,
        key=(-1, 0, origin),
        required=True,
        alone=True,
    )


def _media_changes(item: RequestItem, context: CompileContext) -> list[TextChange]:
    """Return the line that replaces a media item, or says how it was made smaller."""
    media = context.media_entry(item.position)
    if media.reference or media.withheld:
        return [TextChange(item.object_id, Conversion.EXTERNALIZED, media.item.method)]

    details: list[str] = []
    if media.region:
        details.append("cropped")
    if media.size:
        details.append("downsampled")
    if media.note:
        details.append(media.note)
    return [TextChange(item.object_id, Conversion.TRUNCATED, detail) for detail in details]


def _form(
    item: RequestItem, level: int, context: CompileContext
) -> tuple[Ladder, EnforcementRule | None]:
    """Return the form of an item: a hard constraint where code can hold the answer to it."""
    data = _LADDER_OF.get(item.section, Ladder.RAW_OBSERVATION)
    constraint = item.part
    if not isinstance(constraint, Constraint) or level > 2 or not constraint.binds:
        return data, None

    # An acceptance item says what is judged in the end, which code need not hold the answer to.
    only_stated = constraint.enforcement is Enforcement.STATED
    if item.section is _S.ACCEPTANCE and only_stated:
        return data, None
    if context.rules.safety_critical and only_stated:
        raise InvalidInput(
            f"constraint {constraint.text!r:.80} is only stated and this policy is "
            "safety-critical: give it an enforcement (schema, grammar, pattern or tool_policy)",
            code="bad_request",
        )
    return Ladder.HARD_CONSTRAINT, EnforcementRule(constraint.enforcement, _spec(constraint))


def _spec(constraint: Constraint) -> str:
    """Return what an enforcement needs; its schema with ways out where it says so."""
    schematic = constraint.enforcement in (Enforcement.SCHEMA, Enforcement.GRAMMAR)
    if not constraint.uncertain or not schematic:
        return constraint.spec

    spec = fields_of(json.loads(constraint.spec))
    if fields_of(spec.get("schema")):
        return canonical_json({**spec, "schema": allow_unknown(fields_of(spec["schema"]))})
    return canonical_json(allow_unknown(spec))


def _wording(item: RequestItem, shapes: Variation) -> str:
    """Return the words an item is shown with."""
    if item.section is _S.TASK_PROGRESS and item.part is None:
        return item.text.replace("Now", shapes.shape("label"), 1)
    if item.section is _S.TASK_PROGRESS:
        return shapes.wording("progress", item.text)
    if item.section is _S.ERRORS:
        return shapes.wording("list", item.text)
    if item.section is _S.TASK_CONTRACT:
        if isinstance(item.part, Constraint):
            return f"{_LABELS[item.part.binds, item.part.positive]}: {item.text}"
        return f"Goal: {item.text}"
    return item.text
