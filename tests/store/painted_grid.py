"""A brute-force model of a slot: paint every (tx, valid) cell from the rule in words.

It knows nothing of rows, cuts or pieces and shares no code with the planner: each cell holds
the set of claims that nobody has withdrawn there, and the answer is read off that set.
"""

from collections.abc import Iterable, Sequence

from tenure.schema.claim import Claim

Answer = tuple[str, frozenset[str]]
"""`value`, `gap`, `tie`, `denied` or `unknown`, and what is said; a denial starts with `!`."""

UNKNOWN: Answer = ("unknown", frozenset())


def rank(claim: Claim) -> tuple[int, int, int, int]:
    """Lower levels first, then newer starts, then trust: the greatest rank is shown."""
    return (-claim.level, claim.since_us, claim.source_authority, claim.confidence)


def standing(
    written: Iterable[Claim], valid: int, many: bool, *, apart: bool = False
) -> list[Claim]:
    """Return the claims that cover an instant and that nobody has withdrawn there.

    `apart`: a withdrawal acts on claims of its own slot key only, as before a merge.
    """
    alive: list[Claim] = []
    for claim in written:
        if not claim.interval.start_us <= valid < claim.interval.end_us:
            continue
        verb, value = claim.op.value, claim.value_key
        if verb in ("correct", "delete", "retract"):
            everything = verb != "retract" and (value == "" or not many)
            alive = [
                old
                for old in alive
                if old.level < claim.level
                or not (everything or old.value_key == value)
                or (apart and old.slot_key != claim.slot_key)
            ]
        if verb in ("assert", "correct", "deny") or (verb == "delete" and not many):
            alive.append(claim)
    return alive


def shown(alive: Sequence[Claim]) -> Answer:
    """Return what is shown where these claims stand, all of one value on a `many` slot."""
    asserted = [c for c in alive if c.op.value != "deny"]
    if not asserted:
        return UNKNOWN
    greatest = max(rank(c) for c in asserted)
    leading = {c.value_key for c in asserted if rank(c) == greatest}
    if len(leading) > 1:
        return ("tie", frozenset(leading))
    (value,) = leading
    if value == "":
        return ("gap", frozenset())
    denials = [rank(c) for c in alive if c.op.value == "deny" and c.value_key == value]
    if denials and max(denials) > greatest:
        return ("denied", frozenset({value}))
    if denials and max(denials) == greatest:
        return ("tie", frozenset({value, "!" + value}))
    return ("value", frozenset({value}))


def painted(
    written: Iterable[Claim], valid: int, many: bool, *, apart: bool = False
) -> frozenset[Answer]:
    """Return every answer at an instant: one where a slot holds one value, else one a value."""
    alive = standing(written, valid, many, apart=apart)
    if not many:
        return frozenset({shown(alive)})
    values = {c.value_key for c in alive}
    found = {shown([c for c in alive if c.value_key == value]) for value in values}
    return frozenset(found - {UNKNOWN}) or frozenset({UNKNOWN})


def undominated(alive: Iterable[Claim]) -> set[str]:
    """Return the ids of the claims that no stronger claim repeats: those that need a row."""
    strongest: dict[tuple[bool, str], Claim] = {}
    for claim in sorted(alive, key=lambda c: c.object_id, reverse=True):
        said = (claim.op.value == "deny", claim.value_key)
        if said not in strongest or rank(claim) >= rank(strongest[said]):
            strongest[said] = claim
    return {claim.object_id for claim in strongest.values()}
