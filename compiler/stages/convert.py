"""Stage 7, convert: what each object contributes, said once and as far up as it may climb.

Facts become cells of their entity's row (D5), preferences and rules become instructions
(`ladder`), passages and turns stay verbatim. What an instruction consumed is merged into it; a
text that another one contains becomes a pointer; a stored passage whose own claims are here is
left out. The compiler's own two texts are added: the containment sentence and the goal recap.

Invariants: an object stands in one section only; nothing is summarised by a model; an object of
level 4 is never an instruction. Sources: source 003, stage 7; D1; D5; settled 10; checklist
C-082, C-083, C-148, C-154.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ...resolution.known import Known
from ...schema.compile_terms import (
    SECTIONS,
    BlockKind,
    Conversion,
    Ladder,
    PriorityTier,
    Reason,
    SectionName,
    Stage,
)
from ...schema.errors import InvalidInput
from ...schema.uncertainty import allow_unknown
from ...schema.values import canonical_json, fields_of
from ...schema.vocabulary import Enforcement, ObjectType
from ..conversion.ladder import Step, carrier_of, climb, shown_value, stored
from ..conversion.placement import given_key, kind_of_block, section_of, shown_level, stored_key
from ..conversion.untrusted_tools import untrusted_tool
from ..fitting.entity_rows import keep_prose
from ..format.block import CONTAINMENT_SENTENCE
from ..ir.candidate import Ranked
from ..ir.context import Setting
from ..ir.outputs import Converted, Rescued, Snippet
from ..ir.piece import Carrier, Piece
from ..ir.request_items import Given
from ..ir.variation import Variation
from ..ir.verdicts import Change, Verdict
from ..request.request import Constraint, Media, Turn
from ..text.duplicates import Text, duplicates
from ..text.relevance import FULL, one_line

_S = SectionName


_ALONE = frozenset({_S.EVIDENCE, _S.PINNED_KNOWLEDGE, _S.HISTORY, _S.USER_REQUEST})


_LADDER_OF = {
    _S.TOOLS: Ladder.NORMALIZED_FACT,
    _S.SKILLS: Ladder.BEHAVIORAL_GUIDANCE,
    _S.TASK_CONTRACT: Ladder.TASK_CONTEXT,
    _S.ERRORS: Ladder.TASK_CONTEXT,
    _S.TASK_PROGRESS: Ladder.TASK_CONTEXT,
    _S.ACCEPTANCE: Ladder.BEHAVIORAL_GUIDANCE,
}


_COMPARED = frozenset({_S.EVIDENCE, _S.PINNED_KNOWLEDGE, _S.TURN_MEMORY})


_MASK = "[masked]"


_CELL_CHARS = 200


def convert(rescued: Rescued, setting: Setting) -> Converted:
    """Return the pieces of all selected objects."""
    maker = _Maker(rescued, setting)
    pieces = [*maker.stored_pieces(), *maker.snippets(), *maker.given_pieces()]
    pieces += [*_own_texts(setting)]
    if left_out := setting.without:
        pieces = [
            p for p in pieces if p.section.value not in left_out and p.object_id not in left_out
        ]
    pieces = maker.without_quoted(pieces)
    pieces = maker.without_duplicates(pieces)
    pieces = maker.capped(pieces)
    pieces = keep_prose(pieces, setting.counter)
    return Converted(rescued, tuple(pieces), tuple(maker.changes), tuple(maker.verdicts))


def told_apart(known: Known) -> tuple[dict[str, str], frozenset[str]]:
    """Return a name for every raw entity, and those whose name others bear too.

    Two entities of one name get a piece of their ids, so that no row can mix them up.
    """
    root = {raw: known.canonical.get(raw, raw) for raw in known.entities}
    name = {raw: known.entities[top].name for raw, top in root.items() if top in known.entities}
    bearers: dict[str, set[str]] = {}
    for raw, shown in name.items():
        bearers.setdefault(shown.casefold(), set()).add(root[raw])
    shared = frozenset(raw for raw, shown in name.items() if len(bearers[shown.casefold()]) > 1)
    marked = {raw: f"{name[raw]} #{root[raw][:6]}" for raw in shared}
    return {**dict.fromkeys(known.canonical, ""), **name, **marked}, shared


class _Maker:
    """Makes pieces and remembers what it did to which object."""

    def __init__(self, rescued: Rescued, setting: Setting) -> None:
        self.rescued = rescued
        self.setting = setting
        self.changes: list[Change] = []
        self.verdicts: list[Verdict] = []
        validated = rescued.ranking.validated
        self.masked = validated.gated.masked
        known = validated.gated.resolved.snapshot.known
        self.names, self.namesakes = told_apart(known)

    def stored_pieces(self) -> Iterator[Piece]:
        """Yield the pieces of the stored objects that were selected."""
        items = [r for r in self.rescued.items if r.placed.candidate.version is not None]
        items.sort(key=lambda ranked: stored_key(stored(ranked.placed)))
        values = self._values(items)
        items = self._best(items)
        merged: set[str] = set()
        steps: list[tuple[Ranked, Step]] = []
        for ranked in items:
            object_id = ranked.placed.candidate.object_id
            if object_id in merged:
                continue
            step = climb(ranked, self.setting, values=values, names=self.names)
            if object_id in self.masked:
                step = Step(Ladder.SCOPED_MEMORY if ranked.by_task else Ladder.TASK_CONTEXT)
            consumed = [c.placed.candidate.object_id for c in step.consumed]
            merged.update(consumed)
            for other in consumed:
                self._omit(other, Reason.MERGED_INTO, object_id)
            steps.append((ranked, step))
        for ranked, step in steps:
            if ranked.placed.candidate.object_id not in merged:
                yield from self._stored(ranked, step)

    def _best(self, items: list[Ranked]) -> list[Ranked]:
        """Leave out what no section could hold: it would cost time and change nothing."""
        most = self.setting.rules.section_items
        loose = [r for r in items if not r.by_task and not _may_be_rule(r)]
        loose.sort(key=lambda r: (-r.score, r.placed.candidate.object_id))
        seen = {True: 0, False: 0}
        dropped: set[int] = set()
        for ranked in loose:
            passage = ranked.placed.candidate.is_passage
            seen[passage] += 1
            if seen[passage] > most:
                dropped.add(id(ranked))
                object_id = ranked.placed.candidate.object_id
                self._cap(object_id, ranked.score, ranked.tier)
        return [ranked for ranked in items if id(ranked) not in dropped]

    def _values(self, items: Iterable[Ranked]) -> dict[tuple[str, str], tuple[Ranked, ...]]:
        values: dict[tuple[str, str], tuple[Ranked, ...]] = {}
        for ranked in items:
            slot, subject = stored(ranked.placed).details.slot, ranked.placed.subject
            if slot is not None and subject is not None:
                object_id = ranked.placed.candidate.object_id
                if object_id not in self.masked:
                    values[subject, slot] = (*values.get((subject, slot), ()), ranked)
        return values

    def _omit(self, object_id: str, reason: Reason, detail: str = "") -> None:
        self.verdicts.append(Verdict(Stage.CONVERT, object_id, reason, detail))

    def _cap(self, object_id: str, score: int, tier: PriorityTier) -> None:
        stage, reason = Stage.CONVERT, Reason.SECTION_CAP
        self.verdicts.append(Verdict(stage, object_id, reason, "", score, tier.value))

    def _stored(self, ranked: Ranked, step: Step) -> Iterator[Piece]:
        version, candidate = stored(ranked.placed), ranked.placed.candidate
        by_task = ranked.by_task and all(c.by_task for c in step.consumed)
        levels = [candidate.level, *(c.placed.candidate.level for c in step.consumed)]
        section = section_of(
            version, step.ladder, via=candidate.via, by_task=by_task, passage=candidate.is_passage
        )
        base = self._base(ranked, section, max(levels), step.ladder)
        if section is _S.TOOLS:
            yield from self._tool(base._replace(ladder=Ladder.NORMALIZED_FACT), candidate.text)
        elif section in (_S.SYSTEM_POLICY, _S.TENANT_POLICY, _S.PROJECT_POLICY):
            yield base._replace(ladder=Ladder.HARD_CONSTRAINT, carrier=carrier_of(version))
        elif step.instruction:
            consumed = tuple(c.placed.candidate.object_id for c in step.consumed)
            yield base._replace(
                object_ids=(candidate.object_id, *consumed),
                text=step.instruction,
                required=base.required or step.ladder is Ladder.HARD_CONSTRAINT,
                carrier=step.carrier,
                value=max(ranked.score, *(c.score for c in step.consumed), 0),
            )
        else:
            yield self._fact(base, ranked)

    def _base(self, ranked: Ranked, section: SectionName, level: int, ladder: Ladder) -> Piece:
        version, candidate = stored(ranked.placed), ranked.placed.candidate
        level = shown_level(section, level)
        key = stored_key(version)
        return Piece(
            object_ids=(candidate.object_id,),
            section=section,
            kind=kind_of_block(section, level),
            level=level,
            origin=candidate.origin,
            text=candidate.text,
            ladder=ladder,
            tier=ranked.tier,
            value=ranked.score,
            key=(ranked.score, *key[1:]) if section is _S.EVIDENCE else key,
            required=SECTIONS[section].required,
            alone=level >= 4 or candidate.is_passage,
            placed=ranked.placed,
            relevance=ranked.relevance,
        )

    def _fact(self, piece: Piece, ranked: Ranked) -> Piece:
        """Give a fact its cell, masked where the gate says so."""
        version, object_id = stored(ranked.placed), piece.object_id
        slot, subject = version.details.slot, ranked.placed.subject
        masked = object_id in self.masked
        if masked:
            self.changes.append(Change(object_id, Conversion.MASKED))
        if slot is None or subject is None:
            return piece._replace(text=_MASK) if masked else piece
        value = _MASK if masked else shown_value(version, self.names)
        label = self.names.get(subject, "")
        cell = f"{slot.replace('_', ' ')} = {value}"
        plain = "\n" not in cell and len(cell) <= _CELL_CHARS and cell.isprintable()
        unclear = masked or not piece.text or subject in self.namesakes
        text = f"{label} {cell}" if unclear else piece.text
        if piece.alone or not label or not plain:
            return piece._replace(text=text)
        return piece._replace(text=text, label=one_line(label), cell=cell)

    def _tool(self, piece: Piece, text: str) -> Iterator[Piece]:
        """Yield a tool; of a level-4 one the checked part and, as evidence, what it says."""
        source = piece.placed.candidate.level if piece.placed is not None else piece.level
        if source < 4:
            yield piece._replace(text=text)
            return
        shown, described = untrusted_tool(text)
        if shown is None:
            self._omit(piece.object_id, Reason.POLICY_HOLD, "tool_name")
            return
        yield piece._replace(text=shown)
        if described:
            rule = SECTIONS[_S.EVIDENCE]
            yield piece._replace(
                section=_S.EVIDENCE,
                kind=BlockKind.DATA,
                level=shown_level(_S.EVIDENCE, 4),
                text=described,
                required=rule.required,
                key=(0, *piece.key[1:]),
            )

    def snippets(self) -> Iterator[Piece]:
        """Yield the rescued pieces of sources that stay out."""
        for snippet in self.rescued.snippets:
            yield self._snippet(snippet)

    def _snippet(self, snippet: Snippet) -> Piece:
        level = snippet.ranked.placed.candidate.level
        piece = self._base(snippet.ranked, _S.EVIDENCE, level, Ladder.RAW_OBSERVATION)
        self.changes.append(Change(piece.object_id, Conversion.TRUNCATED, snippet.beside))
        return piece._replace(text=snippet.text, alone=True)

    def given_pieces(self) -> Iterator[Piece]:
        """Yield the pieces of the request's own items."""
        for ranked in self.rescued.items:
            given = ranked.placed.candidate.given
            if given is not None:
                yield from self._given(ranked, given)

    def _given(self, ranked: Ranked, given: Given) -> Iterator[Piece]:
        level = shown_level(given.section, given.level)
        ladder, carrier = self._rule(given, level)
        place = given_key(given.place, given.object_id)
        evidence = given.section is _S.EVIDENCE
        piece = Piece(
            object_ids=(given.object_id,),
            section=given.section,
            kind=kind_of_block(given.section, level),
            level=level,
            origin=given.origin,
            text=_worded(given, self.setting.variation),
            ladder=ladder,
            tier=ranked.tier if evidence else PriorityTier.CRITICAL,
            value=ranked.score if evidence else FULL,
            key=(ranked.score, *place[1:]) if evidence else place,
            required=SECTIONS[given.section].required,
            alone=level >= 4 or given.section in _ALONE,
            pair=given.item.call_id if isinstance(given.item, Turn) else "",
            carrier=carrier,
            placed=ranked.placed,
            relevance=ranked.relevance,
        )
        if isinstance(given.item, Media):
            self._note_media(given)
        if given.section is _S.TOOLS:
            yield from self._tool(piece, piece.text)
        else:
            yield piece

    def _note_media(self, given: Given) -> None:
        """Say what stands in for a media item, or how it was made smaller."""
        object_id = given.object_id
        shown = self.setting.shown(given.place)
        if shown.reference or shown.withheld:
            self.changes.append(Change(object_id, Conversion.EXTERNALIZED, shown.item.method))
            return
        steps = {"cropped": shown.region, "downsampled": shown.size}
        said = [step for step, done in steps.items() if done] + [shown.note] * bool(shown.note)
        self.changes += [Change(object_id, Conversion.TRUNCATED, each) for each in said]

    def _rule(self, given: Given, level: int) -> tuple[Ladder, Carrier | None]:
        """Return the form of an item: a hard constraint where code can hold the answer to it."""
        resting = _LADDER_OF.get(given.section, Ladder.RAW_OBSERVATION)
        item = given.item
        if not isinstance(item, Constraint) or level > 2 or not item.binds:
            return resting, None
        if given.section is _S.ACCEPTANCE and item.enforcement is Enforcement.STATED:
            return resting, None
        if self.setting.rules.safety_critical and item.enforcement is Enforcement.STATED:
            raise InvalidInput(
                f"constraint {item.text!r:.80} is only stated and this policy is safety-critical: "
                "give it an enforcement (schema, grammar, pattern or tool_policy)",
                code="bad_request",
            )
        return Ladder.HARD_CONSTRAINT, Carrier(item.enforcement, _spec(item))

    def without_quoted(self, pieces: list[Piece]) -> list[Piece]:
        """Leave out stored passages whose own claims are among the pieces."""
        sources: dict[str, str] = {}
        for piece in pieces:
            version = piece.placed.candidate.version if piece.placed is not None else None
            if version is not None and not piece.alone:
                sources.update((source, piece.object_id) for source in version.details.derived_from)
        kept: list[Piece] = []
        for piece in pieces:
            if piece.section is _S.EVIDENCE and piece.object_id in sources:
                self._omit(piece.object_id, Reason.DUPLICATE_OF, sources[piece.object_id])
            else:
                kept.append(piece)
        return kept

    def without_duplicates(self, pieces: list[Piece]) -> list[Piece]:
        """Leave out texts that another piece contains, and point to it instead."""
        texts = [_as_text(place, piece) for place, piece in enumerate(pieces) if _is_text(piece)]
        rules = self.setting.rules
        threshold = rules.duplicate_containment
        found = duplicates(texts, words=rules.shingle_words, threshold=threshold)
        kept: list[Piece] = []
        for place, piece in enumerate(pieces):
            said = found.get(str(place))
            if said is None:
                kept.append(piece)
                continue
            target = pieces[int(said)].object_id
            self._omit(piece.object_id, Reason.DUPLICATE_OF, target)
            self.changes.append(Change(piece.object_id, Conversion.POINTER, target))
        return kept

    def capped(self, pieces: list[Piece]) -> list[Piece]:
        """Keep the best few of each section that may lose items."""
        most = self.setting.rules.section_items
        sections: dict[SectionName, list[Piece]] = {}
        for piece in pieces:
            sections.setdefault(piece.section, []).append(piece)
        dropped: set[int] = set()
        for section, members in sections.items():
            loose = [p for p in members if not p.required and section is not _S.HISTORY]
            loose.sort(key=lambda p: (-p.value, p.object_id))
            for piece in loose[most:]:
                dropped.add(id(piece))
                self._cap(piece.object_id, piece.value, piece.tier)
        return [piece for piece in pieces if id(piece) not in dropped]


def _spec(item: Constraint) -> str:
    """Return what a constraint's enforcement needs; its schema with ways out where it says so."""
    if not item.uncertain or item.enforcement not in (Enforcement.SCHEMA, Enforcement.GRAMMAR):
        return item.spec
    held = fields_of(json.loads(item.spec))
    if fields_of(held.get("schema")):
        return canonical_json({**held, "schema": allow_unknown(fields_of(held["schema"]))})
    return canonical_json(allow_unknown(held))


def _may_be_rule(ranked: Ranked) -> bool:
    """Tell whether an object may become a rule, which no cap leaves out."""
    kind = stored(ranked.placed).details.object_type
    return kind in (
        ObjectType.POLICY_RULE,
        ObjectType.ACTIONABLE_CONSTRAINT,
        ObjectType.TOOL_SCHEMA,
    )


def _is_text(piece: Piece) -> bool:
    return piece.section in _COMPARED and piece.alone and not piece.required


def _as_text(place: int, piece: Piece) -> Text:
    placed = piece.placed
    version = placed.candidate.version if placed is not None else None
    guard: tuple[str, ...] = ()
    if version is not None and placed is not None and placed.subject is not None:
        span = version.row.interval
        guard = placed.subject, str(span.start_us), str(span.end_us)
    given = placed.candidate.given if placed is not None else None
    if given is not None and isinstance(given.item, Media):
        guard = ("media", given.item.uri)  # what is sent beside a text is not said by another
    level = placed.candidate.level if placed is not None else piece.level
    pinned = 0 if piece.section is _S.PINNED_KNOWLEDGE else 1
    return Text(str(place), piece.text, guard, (level, pinned, -piece.value, place))


def _worded(given: Given, shapes: Variation) -> str:
    """Return the words an item is shown with."""
    if given.section is _S.TASK_PROGRESS and given.item is None:
        return given.text.replace("Now", shapes.shape("label"), 1)
    if given.section is _S.TASK_PROGRESS:
        return shapes.worded("progress", given.text)
    if given.section is _S.ERRORS:
        return shapes.worded("list", given.text)
    if given.section is _S.TASK_CONTRACT:
        if isinstance(given.item, Constraint):
            return f"{'Constraint' if given.item.binds else 'Wish'}: {given.text}"
        return f"Goal: {given.text}"
    return given.text


def _own_texts(setting: Setting) -> Iterator[Piece]:
    """Yield what the compiler itself says: the containment sentence and the goal recap."""
    yield _own_text(_S.SYSTEM_POLICY, 0, "tenure://containment", CONTAINMENT_SENTENCE)
    request = setting.request
    if request.goal or request.step:
        words = [f"Goal: {one_line(request.goal)}"] if request.goal else []
        label = setting.variation.shape("label")
        words += [f"{label}: {one_line(request.step)}"] if request.step else []
        ceiling = int(setting.principal.authority_level)
        recap = _shortened(setting.variation.shape("separator").join(words), setting)
        yield _own_text(_S.GOAL_RECAP, ceiling, "tenure://recap", recap)


def _own_text(section: SectionName, level: int, origin: str, text: str) -> Piece:
    level = shown_level(section, level)
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


def _shortened(text: str, setting: Setting) -> str:
    """Return the recap, cut at a word so that it keeps to its tokens (R5)."""
    most, words = setting.rules.recap_tokens, text.split(" ")
    while len(words) > 1 and setting.counter.upper_bound(" ".join(words)) > most:
        words = words[: max(1, len(words) * 9 // 10)]
    short = " ".join(words)
    return short if len(short) == len(text) else short + " …"
