"""Stage 9, order: what goes in, in the one order of the text, within the budget.

Pieces are fitted by estimate, assembled, and the assembled text is measured by the counter's
upper bound. If it is too long, the same is done again with that much less room: a bounded
loop, each round of which gives away tokens, down to the required pieces alone. If even they do
not fit, the compile fails loud and says by how much.

Invariant: the upper bound of the text never exceeds the budget. Checklist C-085, C-138, C-139,
C-215.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ...schema.compile_terms import (
    PLACES,
    GapCode,
    OverflowPolicy,
    Reason,
    SectionName,
    Stage,
)
from ...schema.errors import ContextBudgetExhausted
from ..conversion.pieces import own_text
from ..fitting.assemble import assemble, seal_of
from ..fitting.fit import Fit, fit, overflow_of, required_alone
from ..fitting.ledger import Drop
from ..format.grammar import Seal
from ..ir.context import CompileContext
from ..ir.outputs import Assembled, Contained, Ordered
from ..ir.records import Gap, Piece, Short, TextChange, Verdict

_DELIBERATE = frozenset({Reason.ITEM_LARGER_THAN_SECTION, Reason.BELOW_FLOOR})
"""What a policy that fails loud leaves out all the same: the policy itself says so."""

_TIGHT_FROM = 3
"""Rounds that take from the turn alone; after these the cached sections give too."""


def order(contained: Contained, context: CompileContext) -> Ordered:
    """Return the pieces that fit, as text.

    Raises:
        ContextBudgetExhausted: `required_over_budget`; `ladder_exhausted` when the policy allows
            nothing to be left out.
    """
    pieces: list[Piece] = []
    for piece in contained.pieces:
        if piece.required or piece.object_id not in context.skip:
            pieces.append(piece)
    result, assembled, tokens = _within_budget(tuple(pieces), context, seal_of(context))

    losses: list[int] = []
    is_deferred = False
    for drop in result.drops:
        is_deferred = is_deferred or drop.reason is Reason.RETRIEVAL_DEFERRED
        if drop.reason not in _DELIBERATE:
            losses.append(drop.tokens)
    if overflow_of(context) is OverflowPolicy.FAIL_LOUD and losses:
        raise _content_error(sum(losses), context)

    return Ordered(
        assembled,
        tokens,
        tuple(result.shorts),
        tuple(sorted(result.allocation.items())),
        result.shadow_price,
        _changes(result.shorts),
        tuple(map(_verdict, result.drops)),
        (Gap(GapCode.RETRIEVAL_PENDING),) if is_deferred else (),
    )


def _verdict(drop: Drop) -> Verdict:
    piece = drop.piece
    return Verdict(
        Stage.ORDER,
        piece.object_id,
        drop.reason,
        drop.detail,
        piece.value,
        piece.tier.value,
    )


def _changes(shorts: Iterable[Short]) -> tuple[TextChange, ...]:
    changes: list[TextChange] = []
    for short in shorts:
        for object_id in short.object_ids:
            changes.append(TextChange(object_id, short.conversion))
    return tuple(changes)


def _within_budget(
    pieces: tuple[Piece, ...], context: CompileContext, seal: Seal
) -> tuple[Fit, Assembled, int]:
    """Fit and measure until the text keeps to the budget."""
    slack = 0
    for attempt in range(context.rules.shrink_rounds):
        result = fit(pieces, context, slack=slack, tight=attempt >= _TIGHT_FROM)
        is_bare = all(piece.required for piece in result.pieces)
        assembled = assemble([*_missing_turns(result), *result.pieces], seal)
        tokens = context.counter.upper_bound(assembled.text)
        if tokens > context.budget and is_bare:
            # The line about turns that were left out gives way to what is required.
            assembled = assemble(result.pieces, seal)
            tokens = context.counter.upper_bound(assembled.text)
        if tokens <= context.budget:
            return result, assembled, tokens

        # A few tokens more than the excess, since estimates of parts are a little low.
        slack += tokens - context.budget + 8
        # With nothing left to give away, the rounds that remain would all be the same.
        if is_bare:
            break

    result = required_alone(pieces, context)
    assembled = assemble(result.pieces, seal)
    tokens = context.counter.upper_bound(assembled.text)
    if tokens > context.budget:
        raise _required_error(result.pieces, tokens - context.budget, context)
    return result, assembled, tokens


def _missing_turns(result: Fit) -> Iterator[Piece]:
    """Yield a line that says how many turns of the history were left out, if any were."""
    turns = calls = 0
    for drop in result.drops:
        if drop.piece.section is SectionName.HISTORY:
            turns += drop.piece.scheme != "tool"
            calls += bool(drop.piece.pair) and drop.piece.scheme != "tool"
    if turns:
        words = "1 earlier turn" if turns == 1 else f"{turns} earlier turns"
        with_calls = f", {calls} with tool calls" if calls else ""
        text = f"[{words} left out{with_calls}; ask with a larger budget]"
        yield own_text(SectionName.HISTORY, 4, "tenure://left-out", text)


def _required_error(
    pieces: Iterable[Piece], shortfall: int, context: CompileContext
) -> ContextBudgetExhausted:
    """A refusal that names the layers which nothing is taken from, with their sizes (C-225)."""
    sizes: Counter[str] = Counter()
    for piece in pieces:
        sizes[PLACES[piece.section][0].value] += context.counter.count(piece.text)

    parts = [f"{layer} {tokens}" for layer, tokens in sizes.most_common()]
    return ContextBudgetExhausted(
        f"the required content needs {shortfall} tokens more than the budget of {context.budget} "
        f"(texts: {', '.join(parts)}): raise budget_tokens, lower reserve_tokens, or split the "
        "step so that it needs less",
        code="required_over_budget",
        shortfall=shortfall,
        budget_tokens=context.budget,
        layers=dict(sizes),
    )


def _content_error(shortfall: int, context: CompileContext) -> ContextBudgetExhausted:
    return ContextBudgetExhausted(
        f"the content needs {shortfall} tokens more than the budget of {context.budget}: raise "
        "budget_tokens, lower reserve_tokens, or ask with less",
        code="ladder_exhausted",
        shortfall=shortfall,
        budget_tokens=context.budget,
    )
