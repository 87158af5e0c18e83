"""Stage 9, order: what goes in, in the one wire order, within the budget.

Pieces are fitted by estimate, assembled, and the assembled text is measured by the counter's
upper bound. If it is too long, the same is done again with that much less room: a bounded
loop, each round of which gives away tokens, down to the required pieces alone. If even they do
not fit, the compile fails loud and says by how much.

Invariant: the upper bound of the text never exceeds the budget. Sources: R3, R38, R42; settled
10 ("Budget", "Order"); checklist C-085, C-138, C-139, C-215.
"""

from __future__ import annotations

from ...schema.compile_terms import GapCode, OverflowPolicy, Reason, Stage
from ...schema.errors import ContextBudgetExhausted
from ..fitting.assemble import assemble, seal_of
from ..fitting.fit import Fit, bare, fit, overflow_of
from ..format.grammar import Seal
from ..ir.context import Setting
from ..ir.outputs import Assembled, Contained, Ordered
from ..ir.piece import Piece
from ..ir.verdicts import Change, Gap, Verdict

_CHOSEN = frozenset({Reason.ITEM_LARGER_THAN_SECTION, Reason.BELOW_FLOOR})
"""What a policy that fails loud leaves out all the same: the policy itself says so."""


def order(contained: Contained, setting: Setting) -> Ordered:
    """Return the pieces that fit, as text.

    Raises:
        ContextBudgetExhausted: `required_over_budget`; `ladder_exhausted` when the policy allows
            nothing to be left out.
    """
    pieces = tuple(
        piece for piece in contained.pieces if piece.required or piece.object_id not in setting.skip
    )
    found, assembled, tokens = _within(pieces, setting, seal_of(setting))
    policy = overflow_of(setting)
    lost = [d for d in found.dropped if d.reason not in _CHOSEN]
    if policy is OverflowPolicy.FAIL_LOUD and lost:
        raise _exhausted("ladder_exhausted", sum(d.tokens for d in lost), setting)
    verdicts = tuple(
        Verdict(
            Stage.ORDER,
            dropped.piece.object_id,
            dropped.reason,
            dropped.detail,
            dropped.piece.value,
            dropped.piece.tier.value,
        )
        for dropped in found.dropped
    )
    changes = tuple(
        Change(object_id, short.conversion)
        for short in found.shortened
        for object_id in short.object_ids
    )
    deferred = any(d.reason is Reason.RETRIEVAL_DEFERRED for d in found.dropped)
    return Ordered(
        contained,
        assembled,
        tokens,
        tuple(found.shortened),
        tuple(sorted(found.allocated.items())),
        found.shadow_price,
        changes,
        verdicts,
        (Gap(GapCode.RETRIEVAL_PENDING),) if deferred else (),
    )


def _within(pieces: tuple[Piece, ...], setting: Setting, seal: Seal) -> tuple[Fit, Assembled, int]:
    """Fit and measure until the text keeps to the budget."""
    slack = tokens = 0
    for round_ in range(setting.rules.shrink_rounds):
        found = fit(pieces, setting, slack=slack, tight=round_ > 2)
        assembled = assemble(found.chosen, seal)
        tokens = setting.counter.upper_bound(assembled.text)
        if tokens <= setting.budget:
            return found, assembled, tokens
        slack += tokens - setting.budget + 8
        if all(piece.required for piece in found.chosen):
            break
    found = bare(pieces, setting)
    assembled = assemble(found.chosen, seal)
    tokens = setting.counter.upper_bound(assembled.text)
    if tokens > setting.budget:
        raise _exhausted("required_over_budget", tokens - setting.budget, setting)
    return found, assembled, tokens


def _exhausted(code: str, shortfall: int, setting: Setting) -> ContextBudgetExhausted:
    what = "the required content" if code == "required_over_budget" else "the content"
    return ContextBudgetExhausted(
        f"{what} needs {shortfall} tokens more than the budget of {setting.budget}: raise "
        "budget_tokens, lower reserve_tokens, or ask with less",
        code=code,
        shortfall=shortfall,
        budget_tokens=setting.budget,
    )
