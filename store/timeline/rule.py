"""The rule of one instant: which of the claims that cover it is shown, and how the rest look.

Among the live claims the one with the greatest key is shown. Equal greatest keys with different
values tie: all are excluded, and nothing weaker takes their place. If several claims say the same,
only the strongest counts. A denial hides the leading value if its key is greater and ties with it
if equal; it offers no other value, and is idle otherwise. The verbs say which stored claims a
withdrawal names, and whether a write adds a claim.

Nothing here knows of intervals; `reconcile` cuts time into stretches and asks for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from ...schema.claim import CLEAN_HEAD, Claim, Key, Look
from ...schema.vocabulary import Op, Status

Reach = Callable[[Claim, Claim], bool]
"""Whether a withdrawal may act on a stored claim: slots of a cluster differ over time."""

TIED_HEAD: Final = Look(Status.DISPUTED, "unresolved_tie", True)
DENIED_HEAD: Final = Look(Status.OVERRIDDEN, "denied", True)
IN_FORCE: Final = Look(Status.CLEAN, "denial", True)
IDLE: Final = Look(Status.CLEAN, "denial", False)
DOMINATED_ROW: Final = Look(Status.OVERRIDDEN, "dominated", False)
"""Of a claim beside a stronger one that says the same; no store ever holds such a row."""

_Best = dict[tuple[bool, str], tuple[Key, Claim]]


def everywhere(_withdrawal: Claim, _claim: Claim) -> bool:
    """Let every withdrawal reach every claim: the slot was always one."""
    return True


def looks(alive: Iterable[Claim]) -> list[tuple[Claim, Look]]:
    """Return how the claims covering one instant look, of one value on a `many` slot.

    Of claims that say the same only the strongest counts; the others are dominated, and get no
    row. Of several denials of a value the strongest decides, whatever the order of arrival.
    """
    best, hidden_by_twins = _strongest(alive)
    top, lead = _lead(best)
    heads = _heads(lead, _foe(best, lead))
    looks_of_all: list[tuple[Claim, Look]] = []
    for key, c in best.values():
        looks_of_all.append((c, heads.get(c.object_id) or _hidden_look(c, key, lead, top)))

    for c in hidden_by_twins:
        looks_of_all.append((c, DOMINATED_ROW))
    return looks_of_all


def _strongest(alive: Iterable[Claim]) -> tuple[_Best, list[Claim]]:
    """Return the strongest claim of each saying, equal keys by the smaller id, and the rest."""
    best: _Best = {}
    hidden_by_twins: list[Claim] = []
    for c in alive:
        saying, entry = c.says, (c.key, c)
        strongest = best.setdefault(saying, entry)
        if strongest is entry:
            continue
        if (entry[0], strongest[1].object_id) > (strongest[0], c.object_id):
            best[saying] = entry
            hidden_by_twins.append(strongest[1])
        else:
            hidden_by_twins.append(c)

    return best, hidden_by_twins


def _lead(best: _Best) -> tuple[Key | None, list[Claim]]:
    """The greatest key of a claim that is no denial, and the claims that have it."""
    top: Key | None = None
    lead: list[Claim] = []
    for key, c in best.values():
        if c.op is Op.DENY:
            continue
        if top is None or key > top:
            top, lead = key, [c]
        elif key == top:
            lead.append(c)

    return top, lead


def _foe(best: _Best, lead: list[Claim]) -> tuple[Key, Claim] | None:
    """Return the denial that reaches the one leading value, if there is one."""
    if len(lead) != 1 or lead[0].says_nothing:
        return None

    foe = best.get((True, lead[0].value_key))
    return foe if foe and foe[0] >= lead[0].key else None


def _heads(lead: list[Claim], foe: tuple[Key, Claim] | None) -> dict[str, Look]:
    if foe and foe[0] > lead[0].key:
        return {lead[0].object_id: DENIED_HEAD, foe[1].object_id: IN_FORCE}
    if foe:
        return {lead[0].object_id: TIED_HEAD, foe[1].object_id: TIED_HEAD}

    look = TIED_HEAD if len(lead) > 1 else CLEAN_HEAD
    return {c.object_id: look for c in lead}


def _hidden_look(c: Claim, key: Key, lead: list[Claim], top: Key | None) -> Look:
    if c.op is Op.DENY and not (len(lead) == 1 and lead[0].value_key == c.value_key):
        return IDLE

    assert top is not None  # a claim that is no idle denial is hidden by a positive one
    return loses(key, top)


def loses(key: Key, top: Key) -> Look:
    """Return how a claim looks that a greater key hides."""
    if key.strength != top.strength:
        return Look(Status.OVERRIDDEN, "lower_authority", False)
    if key.since_us != top.since_us:
        return Look(Status.OVERRIDDEN, "newer_valid_from", False)
    return Look(Status.DISPUTED, "lower_trust", False)


def named(new: Claim, incumbent: Claim, many: bool, reach: Reach) -> bool:
    """Tell whether the verb of a withdrawal names a stored claim, level apart."""
    if not new.op.withdraws or not reach(new, incumbent):
        return False
    if new.target is not None:
        return incumbent.object_id == new.target
    if new.op is Op.RETRACT or (many and not new.says_nothing):
        return incumbent.value_key == new.value_key
    return True


def acts_on_own_value(new: Claim) -> bool:
    """Tell whether a write to a slot of many values acts on claims of its own value alone."""
    if not new.op.withdraws:
        return True
    return new.target is None and (new.op is Op.RETRACT or not new.says_nothing)


def withdrawn(new: Claim, incumbent: Claim, many: bool, reach: Reach) -> bool:
    """Tell whether a write withdraws a stored claim: never one of a stronger level."""
    return incumbent.level >= new.level and named(new, incumbent, many, reach)


def adds(new: Claim, many: bool) -> bool:
    """Tell whether the write adds a claim: no value takes no part among many."""
    return new.op is not Op.RETRACT and not (many and new.op is Op.DELETE)
