"""Structural variation: off by default, in the turn alone, keyed, and in the trace."""

from typing import Any

from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.format.grammar import parse_envelope
from tenure.compiler.ir.context import NO_VARIATION, SHAPES, variation
from tenure.schema.compile_terms import Stability
from tenure.schema.principal import Principal
from tenure.tests.compiler.fake_reader import Bench, texts_of

ASK: dict[str, Any] = {
    "query": "alpha",
    "goal": "ship alpha",
    "step": "test it",
    "progress": ["wrote it"],
    "errors": ["The build was slow."],
    "evidence": ["alpha is a letter"],
}


def turn(number: int, *, on: bool = True, session: str | None = "s1") -> Envelope:
    bench = Bench(principal=Principal(user="ann", session=session))
    bench.rules(structural_variation=on)
    return bench.compile(**ASK, history=[f"turn {i}" for i in range(number)])


def test_nothing_varies_unless_the_policy_says_so() -> None:
    assert turn(3, on=False).trace.variation == {}
    recaps = {b.text for n in range(4) for b in turn(n, on=False).blocks if "recap" in b.section}
    assert recaps == {"Goal: ship alpha Now: test it"}


def test_the_same_turn_of_the_same_session_has_the_same_bytes() -> None:
    assert turn(3).text == turn(3).text
    assert turn(3).trace.variation == turn(3).trace.variation
    assert turn(3).trace.to_dict()["variation"] == dict(turn(3).trace.variation)


def test_only_the_four_elements_of_the_turn_vary() -> None:
    envelopes = [turn(number) for number in range(12)]
    assert all(set(e.trace.variation) == set(SHAPES) for e in envelopes)
    for element, shapes in SHAPES.items():
        assert {e.trace.variation[element] for e in envelopes} == set(range(len(shapes)))
    fixed = (Stability.STATIC, Stability.SCOPE, Stability.SESSION)
    assert len({e.plan.text_of(*fixed) for e in envelopes}) == 1
    words = {s.strip() for e in envelopes for b in e.blocks if b.section == "goal_recap"
             for s in [b.text]}  # fmt: skip
    assert len(words) > 3
    for envelope in envelopes:
        assert parse_envelope(envelope.text) == envelope.blocks
        varied = {b.section for b in envelope.blocks} & {"errors", "task_progress", "goal_recap"}
        assert len(varied) == 3
        said = texts_of(envelope, "evidence", "user_request")
        assert said == ["alpha is a letter", "alpha"]


def test_the_choice_hangs_on_key_session_and_turn() -> None:
    one = [variation(b"key", "s", n).choices for n in range(20)]
    assert one != [variation(b"other", "s", n).choices for n in range(20)]
    assert one != [variation(b"key", "t", n).choices for n in range(20)]
    assert len({tuple(sorted(c.items())) for c in one}) > 5
    assert NO_VARIATION.wording("progress", "done {text}") == "done {text}"
    assert turn(2, session=None).trace.variation
