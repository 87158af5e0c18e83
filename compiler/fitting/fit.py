"""Fitting: which pieces go in, so that the text keeps to its budget.

Required pieces go in first. Then the optional sections of zone 3, each under a cap that looks
neither at the query nor at history, so that a cached prefix keeps its bytes. Of the turn the
critical objects come first, by rank. The rest of the budget is divided between the turn's sections
by `allocate`, over the utility curves that their items really have, frames included; inside a
section the exact knapsack, the variety of `facility_location`, or the newest turns decide. What is
left is filled with what still fits. Costs are estimates of the parts; `order` measures the
assembled text and asks again with more `slack`. What happens to the rest depends on the overflow
policy. Checklist C-123, C-124, C-138 to C-141, C-212 to C-217.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...schema.compile_terms import OverflowPolicy, PriorityTier, Reason, SectionName
from ..budget.allocate import allocate
from ..budget.diversity import Similarity, facility_location, mmr
from ..budget.items import Item
from ..budget.knapsack import knapsack
from ..budget.section import Section, concave_envelope
from ..ir.context import CompileContext, SectionShare
from ..ir.piece import Piece, Short
from ..request.request import Evidence
from ..text.relevance import FULL, terms_of
from ..text.sentences import Statement, statements
from .assemble import frame_tokens, heading_tokens, label_tokens, piece_tokens
from .price import mu, token_cost, worth_its_price
from .shorten import excerpt, fold
from .tabulate import may_be_cut, tabulated

_S: Final = SectionName
ZONE_THREE: Final = (_S.GUIDANCE, _S.MEMORY, _S.PINNED_KNOWLEDGE)
TURN: Final = (_S.HISTORY, _S.EVIDENCE, _S.TURN_MEMORY, _S.ERRORS, _S.TURN_GUIDANCE)
_SAID: Final = frozenset({_S.EVIDENCE, _S.PINNED_KNOWLEDGE, _S.MEMORY, _S.TURN_MEMORY})
"""Sections whose statements an excerpt need not repeat."""
_VARIED: Final = 24
"""Items up to which variety is weighed: similarity of more pairs costs too much."""
_COPY_PERMILLE: Final = 850
"""Shared words from which one text is a near copy of another: where R29 would merge them."""
_LEAST_EXCERPT: Final = 24
"""Tokens below which an excerpt says nothing."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A piece that stays out."""

    piece: Piece
    reason: Reason
    tokens: int
    detail: str = ""


@dataclass(slots=True)
class Fit:
    """The pieces that go in, and those that do not."""

    context: CompileContext
    room: int
    """Tokens left."""
    page: int = 0
    """Tokens that the turn's items had to begin with."""
    chosen: list[Piece] = field(default_factory=list[Piece])
    dropped: list[Dropped] = field(default_factory=list[Dropped])
    shortened: list[Short] = field(default_factory=list[Short])
    allocated: dict[str, int] = field(default_factory=dict[str, int])
    shadow_price: float = 0.0
    opened: set[SectionName] = field(default_factory=set[SectionName])
    shared: set[SectionName] = field(default_factory=set[SectionName])
    labels: set[tuple[SectionName, str]] = field(default_factory=set[tuple[SectionName, str]])
    spent: dict[SectionName, int] = field(default_factory=dict[SectionName, int])
    """Tokens that critical objects of the turn took before the rest was divided."""
    sizes: dict[int, tuple[Piece, int]] = field(default_factory=dict[int, tuple[Piece, int]])
    """What pieces take by themselves, by identity; the piece is held so that its id stays its."""

    def bare(self, piece: Piece) -> int:
        """Return what a piece takes by itself; asked several times of each."""
        known = self.sizes.get(id(piece))
        if known is None:
            known = piece, piece_tokens(piece, self.context.counter)
            self.sizes[id(piece)] = known
        return known[1]

    def cost(self, piece: Piece) -> int:
        """Return what a piece adds now, with the frames that it would open."""
        counter = self.context.counter
        tokens = self.bare(piece)
        if piece.section not in self.opened:
            tokens += heading_tokens(piece.section, counter)
        if not piece.alone and piece.section not in self.shared:
            tokens += frame_tokens(piece, counter)
        if piece.cell and (piece.section, piece.label) not in self.labels:
            tokens += label_tokens(piece.label, counter)
        return tokens

    def take(self, piece: Piece) -> None:
        """Put a piece in."""
        self.room -= self.cost(piece)
        self.opened.add(piece.section)
        if not piece.alone:
            self.shared.add(piece.section)
        if piece.cell:
            self.labels.add((piece.section, piece.label))
        self.chosen.append(piece)

    def drop(self, piece: Piece, reason: Reason, detail: str = "") -> None:
        """Leave a piece out."""
        self.dropped.append(Dropped(piece, reason, self.cost(piece), detail))


def fit(pieces: Sequence[Piece], context: CompileContext, *, slack: int, tight: bool) -> Fit:
    """Return the pieces that fit the budget less a slack.

    The slack falls on the turn; `tight` lets it fall on zone 3 too, when the turn has nothing
    left to give.
    """
    found = Fit(context, context.budget)
    loose: dict[SectionName, list[Piece]] = {}
    for piece in sorted(pieces, key=lambda p: (p.section, p.key)):
        if piece.required:
            found.take(piece)
        else:
            loose.setdefault(piece.section, []).append(piece)
    found.room -= slack if tight else 0
    for section in ZONE_THREE:
        _fit_stable(found, section, loose.get(section, []))
    found.room -= 0 if tight else slack
    found.page = found.room
    _fit_turn(found, {name: loose.get(name, []) for name in TURN})
    return found


def required_alone(pieces: Sequence[Piece], context: CompileContext) -> Fit:
    """Return the required pieces alone."""
    found = Fit(context, context.budget)
    for piece in sorted(pieces, key=lambda p: (p.section, p.key)):
        if piece.required:
            found.take(piece)
        else:
            found.drop(piece, Reason.OVER_BUDGET)
    return found


def _fit_stable(found: Fit, section: SectionName, pieces: Sequence[Piece]) -> None:
    """Choose the pieces of a section in zone 3 under its cap."""
    if not pieces:
        return
    cap = _limits(found, section)[1]
    room = min(cap, found.room)
    chosen = _packed(found, pieces, room)
    for piece in pieces:
        if piece.object_id in chosen:
            found.take(piece)
        elif found.cost(piece) > cap:
            found.drop(piece, Reason.ITEM_LARGER_THAN_SECTION)
        else:
            found.drop(piece, Reason.SECTION_CAP if room == cap else Reason.OVER_BUDGET)


def _limits(found: Fit, section: SectionName) -> tuple[int, int]:
    """Return the fewest and the most tokens of a section."""
    budget = found.context.budget
    share = found.context.shares.get(section.value, SectionShare(0, 1000))
    most = -(-budget * share.most // 1000)
    most = min(most, dict(found.context.rules.section_tokens).get(section.value, most))
    return min(most, budget * share.least // 1000), most


def _packed(found: Fit, pieces: Sequence[Piece], room: int) -> frozenset[str]:
    """Return the most valuable pieces that fit a room, frames counted once."""
    costs = {piece.object_id: found.cost(piece) for piece in pieces}
    if sum(costs.values()) <= room:
        return frozenset(costs)
    shared = max((costs[p.object_id] - found.bare(p) for p in pieces), default=0)
    items = [Item(p.object_id, found.bare(p), max(p.value, 1)) for p in pieces]
    return frozenset(knapsack(items, max(0, room - shared)))


def _fit_turn(found: Fit, loose: dict[SectionName, list[Piece]]) -> None:
    """Divide what is left between the sections of the turn."""
    loose = _worthwhile(found, loose) if found.context.rules.cost_weight else loose
    sizes = {name: _size(found, pieces) for name, pieces in loose.items() if pieces}
    if sum(sizes.values()) <= found.room:
        for name in sizes:
            for piece in loose[name]:
                found.take(piece)
        return
    loose = _after_critical(found, loose)
    sizes = {name: _size(found, pieces) for name, pieces in loose.items() if pieces}
    rations = _rations(found, loose, sizes)
    chosen: set[str] = set()
    for name in sizes:
        chosen |= _chosen(found, name, loose[name], rations.get(name, 0))
    left: list[tuple[Piece, Reason]] = []
    for piece in _by_worth([piece for name in sizes for piece in loose[name]]):
        if piece.object_id in chosen and found.cost(piece) <= found.room:
            found.take(piece)
        else:
            ration = rations.get(piece.section, 0)
            left.append((piece, Reason.OVER_BUDGET if ration else Reason.SECTION_DROPPED))
    _fill(found, left)


def _worthwhile(
    found: Fit, loose: dict[SectionName, list[Piece]]
) -> dict[SectionName, list[Piece]]:
    """Leave out what brings less than its tokens cost; turns are never judged by that."""
    kept: dict[SectionName, list[Piece]] = {name: [] for name in loose}
    for name, pieces in loose.items():
        for piece in pieces:
            if name is _S.HISTORY or worth_its_price(piece, found.bare, found.context):
                kept[name].append(piece)
            else:
                found.drop(piece, Reason.BELOW_FLOOR, "cost")
    return kept


def _after_critical(
    found: Fit, loose: dict[SectionName, list[Piece]]
) -> dict[SectionName, list[Piece]]:
    """Take the best critical objects, under their sections' caps, and return what is left.

    They go in by rank, evidence for the acceptance items first (C-212), up to the first that
    does not fit, so that a larger budget never loses one of them for something else. Turns go
    by age, not by tier, and a near copy of a better one waits with the rest, where variety
    counts; so does evidence under `mmr`.
    """
    by_mmr = found.context.rules.evidence_selection == "mmr"
    apart = {_S.HISTORY, _S.EVIDENCE} if by_mmr else {_S.HISTORY}
    ranked = [
        piece
        for name, pieces in loose.items()
        for piece in pieces
        if name not in apart and piece.tier is PriorityTier.CRITICAL
    ]
    taken: set[str] = set()
    ranked.sort(key=lambda p: (not _covers(p), -p.value, p.object_id))
    for piece in _no_copies(ranked):
        cost, spent = found.cost(piece), found.spent.get(piece.section, 0)
        if cost > min(found.room, _limits(found, piece.section)[1] - spent):
            break
        found.take(piece)
        found.spent[piece.section] = spent + cost
        taken.add(piece.object_id)
    return {
        name: [piece for piece in pieces if piece.object_id not in taken]
        for name, pieces in loose.items()
    }


def _no_copies(ranked: Sequence[Piece]) -> list[Piece]:
    """Return the pieces that are no near copy of a better ranked one; rows never are."""
    words = {piece.object_id: terms_of(piece.text) for piece in ranked if piece.alone}
    alike, kept = _likeness(words), list[Piece]()
    for piece in ranked:
        rivals = [other.object_id for other in kept if other.alone] if piece.alone else []
        if all(alike(piece.object_id, rival) < _COPY_PERMILLE for rival in rivals):
            kept.append(piece)
    return kept


def _by_worth(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the turns in their order, then the most valuable first.

    Rations do not count the frames of a section: what no longer fits because of them must be
    what is worth least.
    """
    return sorted(
        pieces,
        key=lambda p: (0, 0, "") if p.section is _S.HISTORY else (1, -p.value, p.object_id),
    )


def _size(found: Fit, pieces: Sequence[Piece]) -> int:
    bare = sum(found.bare(piece) for piece in pieces)
    return bare + _frame(found, pieces) + _heads(found, pieces)


def _frame(found: Fit, pieces: Sequence[Piece]) -> int:
    """Return what a section costs before its first item: heading, and the frame of its rows."""
    counter, section = found.context.counter, pieces[0].section
    rows = () if section in found.shared else (p for p in pieces if not p.alone)
    frames = {(piece.kind, piece.origin): piece for piece in rows}
    shared = max((frame_tokens(piece, counter) for piece in frames.values()), default=0)
    return shared + (0 if section in found.opened else heading_tokens(section, counter))


def _heads(found: Fit, pieces: Sequence[Piece]) -> int:
    """Return the tokens of all heads of rows."""
    labels = {p.label for p in pieces if p.cell and (p.section, p.label) not in found.labels}
    return sum(label_tokens(label, found.context.counter) for label in sorted(labels))


def _rations(
    found: Fit,
    loose: dict[SectionName, list[Piece]],
    sizes: dict[SectionName, int],
) -> dict[SectionName, int]:
    """Return the tokens of each section by the exact allocator."""
    weights = found.context.weights
    sections: list[Section] = []
    floors = sum(
        min(max(0, _limits(found, name)[0] - found.spent.get(name, 0)), size)
        for name, size in sizes.items()
    )
    for name in sizes:
        curve = concave_envelope(_trace(found, name, loose[name]))
        least, cap = (max(0, each - found.spent.get(name, 0)) for each in _limits(found, name))
        scaled = tuple((tokens, value / FULL) for tokens, value in curve)
        sections.append(
            Section(
                name.value,
                w=weights.get(name.value, 0.5),
                alpha=1.0,
                beta=1.0,
                t_min=min(least, sizes[name], scaled[-1][0]) if floors <= found.room else 0,
                t_max=min(sizes[name], cap, scaled[-1][0]),
                cost=token_cost(name, found.context),
                curve=scaled,
            )
        )
    answer = allocate(sections, max(0, found.room), mu=mu(found.context))
    for section, spent in found.spent.items():
        found.allocated[section.value] = spent
    for given, tokens in answer.tokens.items():
        found.allocated[given] = found.allocated.get(given, 0) + tokens
    found.shadow_price = answer.shadow_price
    return {SectionName(name): tokens for name, tokens in answer.tokens.items()}


def _trace(found: Fit, name: SectionName, pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Return (tokens, value) after each item, taken in the order in which it pays most.

    The first item pays for the section's heading and frame too, so that a section which would
    be opened for little is weighed with all that it costs.
    """
    if name is _S.HISTORY:
        ranked = [piece for unit in _units(pieces) for piece in unit]
        values = _recency(len(ranked), found.context.rules.history_full_turns)
    else:
        ranked = sorted(
            pieces, key=lambda p: (-p.value * 1000 // max(1, found.bare(p)), p.object_id)
        )
        values = [max(1, piece.value) for piece in ranked]
    points: list[tuple[int, int]] = []
    tokens, value, labels = _frame(found, pieces), 0, set[str]()
    for piece, worth in zip(ranked, values, strict=True):
        tokens += found.bare(piece)
        if piece.cell and piece.label not in labels and (name, piece.label) not in found.labels:
            labels.add(piece.label)
            tokens += label_tokens(piece.label, found.context.counter)
        value += worth
        points.append((tokens, value))
    return points


def _recency(count: int, half: int) -> list[int]:
    return [round(FULL * 2.0 ** (-age / max(1, half))) for age in range(count)]


def _units(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Return the turns newest first, those of one tool call together."""
    units: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda p: p.key, reverse=True):
        if units and piece.pair and units[-1][-1].pair == piece.pair:
            units[-1].append(piece)
        else:
            units.append([piece])
    return units


def _chosen(found: Fit, name: SectionName, pieces: Sequence[Piece], ration: int) -> frozenset[str]:
    """Return the items of a section that its ration takes, its frames paid first."""
    ration = max(0, ration - _frame(found, pieces) - _heads(found, pieces))
    if name is _S.HISTORY:
        return _newest(found, pieces, ration)
    items = [Item(p.object_id, found.bare(p), max(1, p.value)) for p in pieces]
    if name is _S.EVIDENCE and found.context.rules.evidence_selection == "mmr":
        return _by_mmr(found, pieces, items, ration)
    if name is _S.EVIDENCE and len(items) <= _VARIED:
        words = {p.object_id: terms_of(p.text) for p in pieces}
        covers = _checklist(pieces)
        picked = facility_location(items, _likeness(words), ration, checklist=covers)
        return frozenset(picked.ids)
    return frozenset(knapsack(items, ration))


def _by_mmr(
    found: Fit, pieces: Sequence[Piece], items: Sequence[Item], ration: int
) -> frozenset[str]:
    """Return the evidence that maximal marginal relevance takes from the best few."""
    rules = found.context.rules
    best = sorted(items, key=lambda item: (-item.value, item.id))[: rules.mmr_items]
    alike = _likeness({p.object_id: terms_of(p.text) for p in pieces})
    picked = mmr(
        best,
        lambda a, b: alike(a, b) * (FULL // 1000),
        ration,
        relevance_permille=round(1000 * rules.mmr_relevance),
    )
    return frozenset(picked.ids)


def _likeness(words: dict[str, frozenset[str]]) -> Similarity:
    def alike(a: str, b: str) -> int:
        one, other = words[a], words[b]
        union = len(one | other)
        return 1000 * len(one & other) // union if union else 1000

    return alike


def _checklist(pieces: Iterable[Piece]) -> dict[str, dict[str, int]]:
    """Return how far evidence bears on acceptance items, as its own provenance states."""
    covers: dict[str, dict[str, int]] = {}
    for piece in pieces:
        for entry in _covers(piece):
            covers.setdefault(entry, {})[piece.object_id] = FULL * 1000
    return covers


def _covers(piece: Piece) -> tuple[str, ...]:
    """Return the acceptance items that a piece of evidence states to bear on."""
    item = piece.candidate.request_item if piece.candidate is not None else None
    part = item.part if item is not None else None
    return part.covers if isinstance(part, Evidence) else ()


def _newest(found: Fit, pieces: Sequence[Piece], ration: int) -> frozenset[str]:
    """Return the newest turns that fit, a tool call and its result together."""
    kept: set[str] = set()
    room = ration
    for unit in _units(pieces):
        need = sum(found.bare(piece) for piece in unit)
        if need > room:
            break
        room -= need
        kept.update(piece.object_id for piece in unit)
    return frozenset(kept)


def _fill(found: Fit, left: list[tuple[Piece, Reason]]) -> None:
    """Use what is left of the room, then shorten or drop what is left of the pieces."""
    policy = overflow_of(found.context)
    rest: list[tuple[Piece, Reason]] = []
    for piece, reason in sorted(left, key=lambda pair: (-pair[0].value, pair[0].object_id)):
        if piece.section is not _S.HISTORY and found.cost(piece) <= found.room:
            found.take(piece)
        else:
            rest.append((piece, reason))
    if policy is OverflowPolicy.CASCADE_COMPRESS:
        rest = _compressed(found, rest)
    for piece, reason in rest:
        found.drop(piece, _reason(found, piece, reason, policy))


def overflow_of(context: CompileContext) -> OverflowPolicy:
    """Return the overflow policy: a safety-critical pack fails loud (C-139)."""
    rules = context.rules
    return OverflowPolicy.FAIL_LOUD if rules.safety_critical else OverflowPolicy(rules.overflow)


def _reason(found: Fit, piece: Piece, reason: Reason, policy: OverflowPolicy) -> Reason:
    if policy is OverflowPolicy.PAGINATE:
        larger = found.cost(piece) > found.page
        return Reason.ITEM_LARGER_THAN_SECTION if larger else Reason.NEXT_PAGE
    if policy is OverflowPolicy.DEFER_RETRIEVAL and piece.section is _S.EVIDENCE:
        return Reason.RETRIEVAL_DEFERRED
    return reason


def _compressed(found: Fit, rest: list[tuple[Piece, Reason]]) -> list[tuple[Piece, Reason]]:
    """Take shorter forms of what did not fit: folded turns, then excerpts of texts."""
    turns = [piece for piece, _ in rest if piece.section is _S.HISTORY]
    folded = fold(turns, room=found.room, counter=found.context.counter)
    taken: set[str] = set()
    if folded is not None and found.cost(folded.piece) <= found.room:
        found.take(folded.piece)
        found.shortened.append(folded)
        taken.update(folded.object_ids)
    said = list[Statement]()
    for piece in (piece for piece, _ in rest if piece.section is not _S.HISTORY):
        room = found.room - frame_tokens(piece, found.context.counter)
        if room < _LEAST_EXCERPT or not may_be_cut(piece):
            continue
        said = said or statements(p.text for p in found.chosen if p.section in _SAID)
        short = tabulated(piece, room=room, context=found.context)
        if short is None and piece.alone:
            short = excerpt(piece, room=room, context=found.context, said=said)
        if short is not None and found.cost(short.piece) <= found.room:
            found.take(short.piece)
            said += statements([short.piece.text])
            found.shortened.append(short)
            taken.add(piece.object_id)
    return [(piece, reason) for piece, reason in rest if piece.object_id not in taken]
