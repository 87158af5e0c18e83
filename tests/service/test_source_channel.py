"""An origin may lower authority, never raise it; the channel decides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tenure
from tenure.schema.errors import Forbidden
from tenure.schema.policy import Policy
from tenure.schema.slots import BUILT_IN_KINDS, UNPROVEN, Vocabulary
from tenure.schema.vocabulary import Authority, Precedence
from tenure.service.writing.trust import Channel, WriteContext, channel, effective_level
from tenure.tests.support.refusals import refused

KINDS = {kind.name: kind for kind in BUILT_IN_KINDS}
GRANTABLE = frozenset({"platform", "policy", "workspace", "system_of_record"})


def sent(
    origin: str,
    *,
    ceiling: int = 2,
    stated: int | None = None,
    granted: frozenset[str] = frozenset(),
    trust: float | None = None,
) -> Channel:
    return channel(
        tenure.Write(source_origin=origin, authority_level=stated, source_authority=trust),
        WriteContext(
            tenure.Principal(authority_level=ceiling, source_kinds=granted), Vocabulary(), Policy()
        ),
    )


@pytest.mark.parametrize(
    ("origin", "ceiling", "level"),
    [
        ("system://s", 0, 0),
        ("policy://p", 1, 1),
        ("policy://p", 3, 3),
        ("workspace://w", 0, 2),
        ("workspace://w", 3, 3),
        ("record://r", 0, 2),
        ("user://u", 0, 2),
        ("user://u", 3, 3),
        ("agent://a", 0, 3),
        ("agent://a", 4, 4),
        ("tenure://o", 1, 2),
        ("doc://d", 0, 4),
        ("tool://t", 2, 4),
        ("https://w", 2, 4),
        ("model://m", 0, 4),
        ("odd://o", 0, 4),
    ],
)
def test_a_write_that_states_no_level_gets_the_weaker(
    origin: str, ceiling: int, level: int
) -> None:
    assert sent(origin, ceiling=ceiling, granted=GRANTABLE).authority == level


@pytest.mark.parametrize("origin", ["system://s", "policy://p", "workspace://w", "record://r"])
def test_an_ungranted_origin_counts_as_other(origin: str) -> None:
    found = sent(origin, ceiling=0, trust=1.0)
    assert found == Channel(UNPROVEN, Authority.USER, 0.5, ("origin_unproven",))
    assert sent(origin, trust=0.2).source_authority == 0.2


def test_a_granted_origin_is_believed() -> None:
    found = sent("record://hr", granted=frozenset({"system_of_record"}))
    assert (found.kind.name, found.source_authority, found.warnings) == (
        "system_of_record",
        0.95,
        (),
    )


def test_a_level_above_the_ceiling_is_refused() -> None:
    with refused(Forbidden, "authority_above_ceiling") as caught:
        sent("user://u", ceiling=2, stated=1)
    assert caught.value.data == {"stated": 1, "ceiling": 2}


@pytest.mark.parametrize("stated", [2, 3, 4])
def test_a_level_within_the_ceiling_is_taken(stated: int) -> None:
    found = sent("https://w", stated=stated)
    assert (found.authority, found.warnings) == (stated, ())


@pytest.mark.parametrize("stated", [None, 0, 2, 4])
def test_a_model_is_always_level_4(stated: int | None) -> None:
    found = sent("model://m", ceiling=0, stated=stated, trust=1.0)
    assert (found.authority, found.source_authority) == (4, 0.3)
    assert found.warnings == (() if stated == 4 else ("authority_lowered",))


@pytest.mark.parametrize(
    ("origin", "ceiling", "warned"),
    [("https://w", 2, True), ("agent://a", 2, True), ("agent://a", 3, False),
     ("user://u", 0, False), ("https://w", 4, False)],
)  # fmt: skip
def test_a_lowered_level_is_warned_of(origin: str, ceiling: int, warned: bool) -> None:
    assert ("authority_lowered" in sent(origin, ceiling=ceiling).warnings) is warned


def test_stated_trust_stands_where_the_origin_is_proven() -> None:
    assert sent("user://u", trust=0.99).source_authority == 0.99


@given(
    st.sampled_from([f"{scheme}://x" for kind in BUILT_IN_KINDS for scheme in kind.schemes]),
    st.sampled_from(Authority),
    st.none() | st.sampled_from(Authority),
    st.frozensets(st.sampled_from(sorted(KINDS))),
)
def test_no_origin_ever_raises_authority(
    origin: str, ceiling: Authority, stated: Authority | None, granted: frozenset[str]
) -> None:
    try:
        found = sent(origin, ceiling=ceiling, stated=stated, granted=granted)
    except Forbidden:
        assert stated is not None
        assert stated < ceiling
        return
    assert found.authority >= ceiling
    if found.authority <= 1 and stated is None:
        assert found.kind.name in ("platform", "policy")
        assert found.kind.name in granted


@pytest.mark.parametrize(
    ("kind", "level"),
    [("system_of_record", 2), ("workspace", 3), ("platform", 3), ("policy", 3),
     ("user_statement", 4), ("agent", 5), ("other", 7), ("derived", 5), ("document", 6),
     ("tool", 6), ("web", 7), ("model", 8)],
)  # fmt: skip
def test_source_rank_reorders_levels_2_to_4_only(kind: str, level: int) -> None:
    rank = KINDS[kind].rank
    for stated in (2, 3, 4):
        found = effective_level(Authority(stated), rank, Precedence.SOURCE_RANK)
        assert found == level
        assert effective_level(Authority(stated), rank, Precedence.AUTHORITY) == stated
    for stated in (0, 1):
        assert effective_level(Authority(stated), rank, Precedence.SOURCE_RANK) == stated


# ---- A passage of a person's talk obeys the partition by origin, as claims do; a document does
# not.


@pytest.mark.parametrize(
    ("layer", "is_shown"),
    [("user", False), ("session", False), ("tenant", True), ("corpus", True)],
)
def test_only_a_shared_layer_shows_a_passage_of_another_site(
    memory: tenure.Memory, layer: str, is_shown: bool
) -> None:
    here, there = (
        memory.bind(tenure.Principal(user="ada", session="s1", origins={site}, roles={"steward"}))
        for site in ("https://mill.example", "https://quarry.example")
    )
    here.write(
        content="The mill opens at six.",
        object_type="retrieved_passage",
        layer=layer,
        source_origin="https://mill.example/hours",
    )

    texts = [
        bound.compile("assistant", "When does the mill open?", budget_tokens=600).text
        for bound in (here, there)
    ]
    assert ["opens at six" in text for text in texts] == [True, is_shown]
