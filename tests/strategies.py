"""Hypothesis strategies that several test files share: claims and their histories."""

from dataclasses import dataclass

from hypothesis import strategies as st

from tenure.schema.claim import Claim
from tenure.schema.interval import Interval
from tenure.schema.values import NO_VALUE_KEY
from tenure.schema.vocabulary import Op

DAYS = 8
"""Valid instants of the small axis that histories are drawn on: 0 to 7."""

PLAIN = (Op.ASSERT, Op.DENY)
"""The verbs that commute."""

VERBS = tuple(Op)


@dataclass(frozen=True, slots=True)
class History:
    """Claims of one slot in order of writing; claims with one tx are one write."""

    claims: tuple[Claim, ...]
    many: bool = False


@st.composite
def claims(draw: st.DrawFn, index: int, tx: int, many: bool, verbs: tuple[Op, ...]) -> Claim:
    """Return a claim that can meet any other one: few values, levels and trusts."""
    op = draw(st.sampled_from(verbs))
    value = draw(st.sampled_from("ABC"))
    if op is Op.DELETE and (not many or draw(st.booleans())):
        value = NO_VALUE_KEY
    if op is Op.RETRACT and not many and draw(st.integers(0, 4)) == 0:
        value = NO_VALUE_KEY
    start = draw(st.integers(0, DAYS - 1))
    end = draw(st.integers(start + 1, DAYS) | st.just(DAYS))
    return Claim(
        object_id=f"{draw(st.integers(0, 9))}-{index}",  # ids do not rise with the order of writing
        slot_key="s",
        op=op,
        value_key=value,
        interval=Interval(start, end),
        since_us=start,
        level=draw(st.sampled_from((2, 2, 2, 1, 3))),
        source_authority=draw(st.sampled_from((800, 800, 900))),
        confidence=draw(st.sampled_from((800, 800, 700))),
        tx=tx,
        ordinal=index,
    )


@st.composite
def histories(
    draw: st.DrawFn,
    *,
    verbs: tuple[Op, ...] = VERBS,
    cardinality: tuple[bool, ...] = (False, True),
    size: int = 6,
    shared: bool = True,
) -> History:
    """Return a history of up to `size` claims, some of them in one write."""
    many = draw(st.sampled_from(cardinality))
    written, tx = [], 0
    for index in range(draw(st.integers(1, size))):
        tx += 0 if shared and index and draw(st.integers(0, 3)) == 0 else 1
        written.append(draw(claims(index, tx, many, verbs)))
    return History(tuple(written), many)
