"""The division of a token budget between sections, exact in whole tokens.

    maximise   sum of  w (base + alpha ln(1 + (t - t_min) / beta)) - mu cost t  over included
    subject to sum t <= budget,  t_min <= t <= t_max if included, else 0,  required ones included

>>> from tenure.compiler.budget.allocate import Section, allocate
>>> answer = allocate(
...     [
...         Section("evidence", w=1, alpha=5, beta=10, t_min=0, t_max=20),
...         Section("memory", w=1, alpha=1, beta=10, t_min=0, t_max=100),
...     ],
...     70,
... )
>>> dict(answer.tokens), round(answer.shadow_price, 6)
({'evidence': 20, 'memory': 50}, 0.016667)

The answer does not depend on the order of the sections. A fixed set is solved by `waterfill`, a
coarser grid than one token by `grid`, the choice between optional sections by
`optional_sections`. Nothing here shortens a text. Source 000, 6.2 and 6.4.4; checklist C-115 to
C-122, C-138, C-140, C-141; R12.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from ...schema.errors import ContextBudgetExhausted, InvalidInput
from ..optional_sections import choose
from ..problem import Problem, Solution
from .section import (
    Allocation,
    Section,
    allocation,
    read_sections,
    significant,
)

__all__ = ["Allocation", "Section", "allocate"]


def allocate(
    sections: Iterable[Section | Mapping[str, object]],
    budget: int,
    mu: float = 0,
    quantum: int = 1,
) -> Allocation:
    """Divide the budget so that utility less cost is greatest.

    Of equal optima the one with the smallest sorted tuple of included ids is taken, and equal
    gains go to the smaller id. With `mu` above 0 tokens may stay unused.

    Args:
        sections: Sections, or mappings with the same field names; ids must differ.
        budget: Tokens for all sections together, at least 0.
        mu: Utility that one unit of cost is worth.
        quantum: Step of the sizes above the floor: every section but at most one stands at its
            floor plus whole quanta, or at its cap.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, with the `shortfall` in tokens.
        InvalidInput: `bad_section` or `bad_budget`.
    """
    _check_limits(budget, mu, quantum)
    problem = Problem(read_sections(sections), budget, float(mu), quantum)
    floors = sum(section.t_min for section in problem.sections if section.required)
    if floors > budget:
        raise ContextBudgetExhausted(
            f"the required sections need at least {floors} tokens and the budget is {budget}: "
            f"raise it by {floors - budget} or lower a floor",
            code="required_over_budget",
            shortfall=floors - budget,
            required_tokens=floors,
            budget_tokens=budget,
        )
    return _answer(problem, choose(problem))


def _answer(problem: Problem, best: Solution) -> Allocation:
    tokens = {section.id: 0 for section in problem.sections}
    tokens.update(zip(best.ids, best.tokens, strict=True))
    return allocation(
        tokens,
        best.ids,
        objective=best.value,
        shadow_price=significant(problem.price_of(best.places)),
    )


def _check_limits(budget: object, mu: float, quantum: object) -> None:
    for name, value, least in (("budget", budget, 0), ("quantum", quantum, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InvalidInput(
                f"{name} must be a whole number of at least {least}, not {value!r}",
                code="bad_budget",
            )
    if isinstance(mu, bool) or not math.isfinite(mu) or mu < 0:
        raise InvalidInput(
            f"mu must be a finite number of at least 0, not {mu!r}", code="bad_budget"
        )
