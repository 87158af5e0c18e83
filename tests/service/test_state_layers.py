"""The layers of state over a whole store: who sees them, how long they live, what they weigh."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from tenure.schema.errors import InvalidInput
from tenure.schema.layers import DecayPolicy
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import Principal
from tenure.service.client.connect import connect
from tenure.service.client.memory import Memory
from tenure.tests.support.refusals import refused

HOUR = 3_600_000_000
NOTE = {"why_it_matters": "alpha plan"}


@dataclass
class Clock:
    """A clock that is moved by hand, in microseconds."""

    now: int = 1_767_225_600_000_000
    steps: list[int] = field(default_factory=list)

    def __call__(self) -> int:
        self.now += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def owner(clock: Clock) -> Iterator[Memory]:
    with connect(":memory:", clock=clock) as memory:
        yield memory


def asked(memory: Memory) -> str:
    envelope = memory.compile("code_generation", "alpha plan")
    return "".join(b.text for b in envelope.blocks if b.section != "user_request")


def test_each_layer_is_seen_by_its_own_and_by_nobody_else(owner: Memory) -> None:
    ann = Principal(user="ann", session="s1", projects={"nova"}, roles={"steward"})
    other_session = Principal(user="ann", session="s2", projects=frozenset({"atlas"}))
    bob = Principal(user="bob", session="s3", projects=frozenset({"nova"}))
    hers = owner.bind(ann)
    for layer in ("session", "task", "project", "user", "tenant"):
        hers.write(content=f"alpha in {layer}.", layer=layer, **NOTE)

    def seen(who: Principal) -> set[str]:
        text = asked(owner.bind(who))
        return {w for w in ("session", "task", "project", "user", "tenant") if f"in {w}." in text}

    assert seen(ann) == {"session", "task", "project", "user", "tenant"}
    assert seen(other_session) == {"user", "tenant"}
    assert seen(bob) == {"project", "tenant"}


def test_a_layer_without_its_id_is_refused(owner: Memory) -> None:
    for layer in ("session", "task", "project"):
        with refused(InvalidInput, "scope_missing"):
            owner.write(content="alpha.", layer=layer, **NOTE)


def test_working_memory_lives_until_its_time_or_its_session_ends(
    owner: Memory, clock: Clock
) -> None:
    ann = owner.bind(Principal(user="ann", session="s1"))
    until = "2026-01-01T01:00:00Z"
    ann.write(content="alpha step three is open.", layer="task", valid_until=until, **NOTE)
    ann.write(content="alpha goal is the report.", layer="session", **NOTE)
    assert "step three" in asked(ann)
    clock.now += 2 * HOUR
    assert "step three" not in asked(ann)
    assert "goal is the report" in asked(ann)
    owner.close_scope("session", "s1")
    clock.now += HOUR
    assert "goal is the report" not in asked(ann)


@pytest.mark.parametrize("layer", ["session", "task"])
def test_a_closed_session_leaves_no_fact_of_its_layers_in_force(
    owner: Memory, clock: Clock, layer: str
) -> None:
    ann = owner.bind(Principal(user="ann", session="s1"))
    ann.write("Sam", "office", "Chicago", layer=layer)
    ann.write("Sam", "preferred_language", "German", layer=layer)
    assert len(owner.close_scope("session", "s1").archived) == 2
    clock.now += HOUR
    view = ann.as_of()
    assert [view.value("Sam", slot) for slot in ("office", "preferred_language")] == [None, None]
    assert view.search("retirement").hits == ()


def test_an_explicit_word_weighs_more_than_an_inferred_one(owner: Memory) -> None:
    said = owner.write(content="The alpha plan is fixed for May.", authority_level=2, **NOTE)
    guess = owner.write(
        content="The alpha plan is fixed for June.", source_origin="agent://a", **NOTE
    )
    envelope = owner.compile("code_generation", "alpha plan fixed")
    scores = {o.object_id: o.score for o in envelope.trace.compiled_objects}
    assert scores[said.object_id] > scores[guess.object_id]


@pytest.mark.parametrize(("curve", "last_day"), [("half_life", 23), ("step", 10), ("sigmoid", 11)])
def test_the_policy_says_along_which_curve_a_type_fades(
    clock: Clock, curve: str, last_day: int
) -> None:
    decay = DecayPolicy(kinds=(("retrieved_passage", curve),))
    with connect(":memory:", clock=clock, policy=replace(DEFAULT, decay=decay)) as owner:
        rule = {"half_life_days": 10.01, "minimum_threshold": 0.2}
        page: dict[str, Any] = {"subject": "Sam", "slot": "skill", "value": "alpha page", **NOTE}
        page |= {"object_type": "retrieved_passage", "decay_rule": rule}
        owner.write(**page)
        start = clock.now

        def on_day(day: int) -> tuple[bool, int]:
            clock.now = start + day * 24 * HOUR
            return "alpha page" in asked(owner), owner.sweep(dry_run=True).touched

        seen = [on_day(day) for day in range(30)]
        assert seen == [(True, 0)] * (last_day + 1) + [(False, 1)] * (29 - last_day)
        assert owner.write(**page).outcome == "confirmed"
        start = clock.now
        assert [on_day(day) for day in (0, last_day, last_day + 1)] == [(True, 0)] * 2 + [
            (False, 1)
        ]


def test_corpus_text_and_beliefs_fade_and_policy_does_not(owner: Memory, clock: Clock) -> None:
    owner.write(content="alpha page.", source_origin="doc://a/1", **NOTE)
    owner.write(content="alpha guess.", object_type="inferred_belief", authority_level=3, **NOTE)
    owner.write(content="alpha rule.", object_type="policy_rule", authority_level=1, **NOTE)
    assert all(word in asked(owner) for word in ("alpha page", "alpha guess", "alpha rule"))
    clock.now += 90 * 24 * HOUR
    envelope = owner.compile("code_generation", "alpha plan")
    assert "alpha rule" in envelope.text
    reasons = [o.reason for o in envelope.trace.omitted_objects]
    assert reasons == ["decayed_below_threshold", "decayed_below_threshold"]
