"""Stage 7, convert: what each object contributes, said once and as far up as it may climb.

Facts become cells of their entity's row, preferences and rules become instructions
(`ladder`), passages and turns stay verbatim. What an instruction consumed is merged into it; a
text that another one contains becomes a pointer; a stored passage whose own claims are here is
left out. The compiler's own two texts are added: the containment sentence and the goal recap.

Invariants: an object is in one section only; nothing is summarised by a model; an object of
level 4 is never an instruction. Source 003, stage 7; checklist C-082, C-083, C-148, C-154.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ...resolution.known import Known
from ...schema.compile_terms import (
    Conversion,
    Reason,
    SectionName,
    Stage,
)
from ...schema.entity import Entity
from ..conversion.pieces import cap_verdict, item_pieces, memory_pieces, own_text
from ..format.grammar import CONTAINMENT_SENTENCE
from ..ir.context import CompileContext
from ..ir.outputs import Converted, Gated, Ranked, Rescued
from ..ir.records import Asked, Candidate, Piece, Snapshot, TextChange, Verdict, Via
from ..ranking.answers import unanswered_line, unlisted_line
from ..request.request import Media
from ..text.duplicates import Text, duplicates
from ..text.relevance import one_line

_S = SectionName

_COMPARABLE = frozenset({_S.EVIDENCE, _S.PINNED_KNOWLEDGE, _S.TURN_MEMORY})


def convert(
    ranked: Ranked,
    rescued: Rescued,
    gated: Gated,
    snapshot: Snapshot,
    context: CompileContext,
    *,
    answers: Sequence[Asked] = (),
) -> Converted:
    """Return the pieces of all selected objects, and a line on what is asked and not shown."""
    pieces, changes, verdicts = memory_pieces(
        ranked.candidates,
        rescued.snippets,
        masked_ids=gated.masked_ids,
        known=_known_of(gated.candidates, snapshot),
        context=context,
    )
    request_pieces, request_changes, request_verdicts = item_pieces(ranked.candidates, context)
    pieces += request_pieces
    pieces += _own_texts(context)
    if ranked.discussed:
        # Talk answers the question: a slot without a fact is not unknown.
        answers = [record for record in answers if record.why != "no_value"]
    line = f"{unanswered_line(answers)} {unlisted_line(ranked, snapshot)}".strip()
    if line:
        # It quotes names and the question, so it is data, whatever they say.
        pieces.append(own_text(_S.TURN_MEMORY, 4, "tenure://unanswered", line))
    changes += request_changes
    verdicts += request_verdicts

    # Before anything is compared: what is taken out on trial must not make another a duplicate.
    if context.ablation:
        ablation = context.ablation
        pieces = [p for p in pieces if ablation.isdisjoint((p.section.value, p.object_id))]
    pieces = _without_quoted(pieces, verdicts)
    pieces = _without_duplicates(pieces, changes, verdicts, context)
    pieces = _cap(pieces, verdicts, context.rules.section_items)
    for piece in pieces:
        if piece.cell:  # it gave its sentence up to be a cell of its entity's row (C-082)
            changes.append(TextChange(piece.object_id, Conversion.TABLE_ROW))
    return Converted(tuple(pieces), tuple(changes), tuple(verdicts))


def _known_of(candidates: Iterable[Candidate], snapshot: Snapshot) -> Known:
    """Return the entities that the candidates and the request speak of.

    A namesake that only a refused row speaks of gives nobody's name a piece of an id.
    """
    known = snapshot.known
    raw_ids: set[str] = set()
    for bound in (*snapshot.subjects, *snapshot.query_subjects):
        raw_ids.update(bound.entities)
    for candidate in candidates:
        if candidate.version is not None:
            details = candidate.version.details
            raw_ids.update(filter(None, (details.subject_id, details.value_entity_id)))

    # By the root, because a merge leaves old rows under the raw id that they were written with.
    canonical = known.canonical
    roots = {canonical.get(raw, raw) for raw in raw_ids}
    entities: dict[str, Entity] = {}
    for raw_id, entity in known.entities.items():
        if canonical.get(raw_id, raw_id) in roots:
            entities[raw_id] = entity
    return replace(known, entities=entities)


def _without_quoted(pieces: Sequence[Piece], verdicts: list[Verdict]) -> list[Piece]:
    """Leave out stored passages whose own claims are among the pieces and say as much."""
    claim_of: dict[str, str] = {}
    for piece in pieces:
        version = piece.candidate.version if piece.candidate is not None else None
        if version is not None and not piece.alone:
            for source in version.details.derived_from:
                claim_of[source] = piece.object_id

    remaining: list[Piece] = []
    for piece in pieces:
        candidate = piece.candidate
        says_more = candidate is not None and candidate.via & Via.SAYS_MORE
        if piece.section is _S.EVIDENCE and piece.object_id in claim_of and not says_more:
            verdicts.append(_duplicate(piece.object_id, claim_of[piece.object_id]))
        else:
            remaining.append(piece)
    return remaining


def _without_duplicates(
    pieces: Sequence[Piece],
    changes: list[TextChange],
    verdicts: list[Verdict],
    context: CompileContext,
) -> list[Piece]:
    """Leave out texts that another piece contains, and point to it instead."""
    rules = context.rules
    comparable = [(n, piece) for n, piece in enumerate(pieces) if _is_comparable(piece)]
    sayings = Counter(_saying(piece) for _, piece in comparable)
    texts: list[Text] = []
    for position, piece in comparable:
        # What one speaker said in the same words is said once, whenever it was.
        said = _saying(piece)
        text = _as_text(position, piece)
        texts.append(text._replace(guard=said) if said and sayings[said] > 1 else text)
    if len(texts) < 2:
        return list(pieces)

    containers = duplicates(texts, words=rules.shingle_words, threshold=rules.duplicate_containment)

    remaining: list[Piece] = []
    for position, piece in enumerate(pieces):
        container = containers.get(str(position))
        if container is None:
            remaining.append(piece)
            continue
        target = pieces[int(container)].object_id
        verdicts.append(_duplicate(piece.object_id, target))
        changes.append(TextChange(piece.object_id, Conversion.POINTER, target))
    return remaining


def _duplicate(object_id: str, target: str) -> Verdict:
    return Verdict(Stage.CONVERT, object_id, Reason.DUPLICATE_OF, target)


def _is_comparable(piece: Piece) -> bool:
    return piece.section in _COMPARABLE and piece.alone and not piece.required


def _saying(piece: Piece) -> tuple[str, ...]:
    """Who said a text, and its words; empty for what no known speaker said."""
    candidate = piece.candidate
    if candidate is None or candidate.subject is None or candidate.version is None:
        return ()
    if candidate.version.details.slot is not None:
        return ()
    return candidate.subject, one_line(piece.text).casefold()


def _as_text(position: int, piece: Piece) -> Text:
    candidate = piece.candidate
    assert candidate is not None  # the compiler's own words are required, so nothing repeats them

    guard: tuple[str, ...] = ()
    version, item = candidate.version, candidate.request_item
    if version is not None and candidate.subject is not None:
        span = version.row.interval
        guard = candidate.subject, str(span.start_us), str(span.end_us)
    if item is not None and isinstance(item.part, Media):
        guard = ("media", item.part.uri)  # what is sent next to a text is not said by another

    loose = 0 if piece.section is _S.PINNED_KNOWLEDGE else 1
    rank = (candidate.level, loose, -piece.value, position)
    return Text(str(position), piece.text, guard, rank)


def _cap(pieces: Sequence[Piece], verdicts: list[Verdict], limit: int) -> list[Piece]:
    """Keep the best few of each section that may lose items."""
    sections: dict[SectionName, list[Piece]] = {}
    for piece in pieces:
        loose = sections.setdefault(piece.section, [])
        if not piece.required and piece.section is not _S.HISTORY:
            loose.append(piece)

    surplus: set[int] = set()
    for loose in sections.values():
        loose.sort(key=lambda piece: (-piece.value, piece.object_id))
        for piece in loose[limit:]:
            surplus.add(id(piece))
            verdicts.append(cap_verdict(piece.object_id, piece.value, piece.tier.value))
    return [piece for piece in pieces if id(piece) not in surplus]


def _own_texts(context: CompileContext) -> Iterator[Piece]:
    """Yield what the compiler itself says: the containment sentence and the goal recap."""
    yield own_text(_S.SYSTEM_POLICY, 0, "tenure://containment", CONTAINMENT_SENTENCE)
    request = context.request
    if not request.goal and not request.step:
        return

    words: list[str] = []
    if request.goal:
        words.append(f"Goal: {one_line(request.goal)}")
    if request.step:
        words.append(f"{context.variation.shape('label')}: {one_line(request.step)}")
    recap = _cut_recap(context.variation.shape("separator").join(words), context)
    ceiling = int(context.principal.authority_level)
    yield own_text(_S.GOAL_RECAP, ceiling, "tenure://recap", recap)


def _cut_recap(text: str, context: CompileContext) -> str:
    """Return the recap, cut at a word: it is repeated every turn, so it stays short."""
    limit, words = context.rules.recap_tokens, text.split(" ")
    while len(words) > 1 and context.counter.upper_bound(" ".join(words)) > limit:
        words = words[: max(1, len(words) * 9 // 10)]
    short = " ".join(words)
    return short if len(short) == len(text) else short + " …"
