"""Records as JSON: what comes back is what was written, and what does not fit is refused."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.claim import Look, Permissions
from tenure.schema.entity import EntityCandidate, Feature
from tenure.schema.interval import Interval
from tenure.schema.layers import DecayRule
from tenure.schema.policy import Policy
from tenure.schema.principal import Principal
from tenure.schema.record_json import from_plain, to_plain
from tenure.schema.values import canonical_json
from tenure.schema.vocabulary import CandidateSource, Classification, Outcome, Status
from tenure.schema.write import Receipt
from tenure.store.port.store import Usage, VectorRow

text = st.text(max_size=8)
records = st.one_of(
    st.builds(
        Permissions,
        classification=st.sampled_from(Classification),
        allow=st.lists(text).map(tuple),
        deny=st.lists(text).map(tuple),
    ),
    st.builds(VectorRow, text, text, text, st.binary(max_size=8)),
    st.builds(Look, st.sampled_from(Status), text, st.booleans()),
    st.builds(Usage, text, st.integers(), st.integers()),
    st.builds(DecayRule, st.sampled_from([1, 0.5, 180]), st.sampled_from([0, 0.25, 1])),
    st.builds(
        EntityCandidate,
        entity=text,
        name=text,
        score=st.floats(allow_nan=False, allow_infinity=False),
        log_odds=st.floats(allow_nan=False, allow_infinity=False),
        source=st.sampled_from(CandidateSource),
        features=st.lists(st.builds(Feature, text, st.just(0.5), st.just(1.0), text)).map(tuple),
        vetoes=st.lists(text).map(tuple),
    ),
)


@given(records)
def test_a_record_comes_back_as_it_was(record: Any) -> None:
    assert from_plain(type(record), json.loads(json.dumps(to_plain(record)))) == record


@pytest.mark.parametrize(
    "record",
    [
        Policy(),
        Principal(user="ann", roles=frozenset({"lead", "auditor"})),
        Receipt(object_id="a", tx=datetime(2026, 1, 1, tzinfo=UTC), outcome=Outcome.CLIPPED),
    ],
)
def test_the_records_that_are_stored_whole_come_back(record: Any) -> None:
    assert from_plain(type(record), json.loads(canonical_json(to_plain(record)))) == record


@dataclass(frozen=True)
class _Lone:
    name: str


def test_a_record_of_one_field_comes_back_too() -> None:
    assert to_plain(_Lone("a")) == {"name": "a"}
    assert from_plain(_Lone, {"name": "a"}) == _Lone("a")


def test_a_set_is_written_in_order() -> None:
    assert to_plain(Principal(roles=frozenset({"c", "a", "b"})))["roles"] == ["a", "b", "c"]


def test_a_value_of_no_record_is_refused() -> None:
    with pytest.raises(ValueError, match="a record holds no object"):
        to_plain((object(),))


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        (Interval, {"start_us": 1}),
        (Interval, {"start_us": 1, "end_us": 2, "more": 3}),
        (Interval, {"start_us": 1, "end_us": "2"}),
        (Interval, {"start_us": True, "end_us": 2}),
        (Interval, {"start_us": 5, "end_us": 2}),
        (Interval, [1, 2]),
        (Interval, None),
        (Look, ["clean", ""]),
        (Look, "clean"),
        (Look, ["fifth", "", True]),
        (DecayRule, {"half_life_days": True, "minimum_threshold": 0.5}),
        (VectorRow, {"object_id": "a", "encoder_id": "b", "part": "c", "vec16": "!"}),
        (VectorRow, {"object_id": "a", "encoder_id": "b", "part": "c", "vec16": 5}),
        (Permissions, {"classification": "public", "allow": "*", "deny": []}),
        (str, 5),
        (Receipt, {"object_id": "a"}),
        (frozenset[str], "abc"),
        (datetime, "2026-01-01"),
    ],
)
def test_what_does_not_fit_is_refused(kind: type, plain: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_plain(kind, plain)
