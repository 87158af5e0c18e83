"""Keys are integers and belong to the claim; rows know whether they are open."""

from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.schema.claim import (
    CLEAN_HEAD,
    EMPTY_CONTENT,
    Key,
    Permissions,
    Row,
    milli,
    slot_key,
    text_key,
)
from tenure.schema.interval import Interval
from tenure.schema.vocabulary import Classification, Op, Status
from tenure.tests.store.core_checks import says

CLAIM = says("A", "a", 10, 20, tx=3, level=2, trust=800, confidence=700, ordinal=4)


def test_the_key_orders_level_then_start_then_trust() -> None:
    assert CLAIM.key == Key(-2, 10, 800, 700)
    rising = [
        replace(CLAIM, level=3, since_us=99, source_authority=1000),
        CLAIM,
        replace(CLAIM, confidence=701),
        replace(CLAIM, source_authority=801, confidence=0),
        replace(CLAIM, since_us=11, source_authority=0),
        replace(CLAIM, level=1, since_us=0),
    ]
    shuffled = [rising[n] for n in (3, 0, 5, 1, 4, 2)]
    assert sorted(shuffled, key=lambda c: c.key) == rising


def test_the_key_takes_the_asserted_start_not_the_interval() -> None:
    assert replace(CLAIM, interval=Interval(15, 20)).key == CLAIM.key


def test_what_a_claim_says() -> None:
    assert CLAIM.says == replace(CLAIM, object_id="B", op=Op.CORRECT).says
    assert CLAIM.says != replace(CLAIM, op=Op.DENY).says
    assert replace(CLAIM, value_key="").says_nothing
    assert not CLAIM.says_nothing
    assert CLAIM.order == (3, 4)


def test_a_row_is_live_until_its_transaction_end() -> None:
    row = Row(1, CLAIM, CLAIM.interval, CLEAN_HEAD, 3)
    assert row.live
    assert not replace(row, tx_end=9).live
    assert row.row_key == replace(row, vid=7, tx_start=8, tx_end=9, continues=1).row_key
    assert row.row_key != replace(row, look=CLEAN_HEAD._replace(status=Status.DISPUTED)).row_key


def test_a_claim_never_changes() -> None:
    with pytest.raises(FrozenInstanceError):
        CLAIM.level = 0  # type: ignore[misc]


def test_everyone_may_see_an_object_of_which_nobody_said_otherwise() -> None:
    assert Permissions() == Permissions(classification=Classification.PUBLIC, allow=("*",), deny=())


def test_an_emptied_content_says_nothing() -> None:
    assert EMPTY_CONTENT.value_json == "null"
    assert not any(
        (
            EMPTY_CONTENT.text,
            EMPTY_CONTENT.normalized_claim,
            EMPTY_CONTENT.why_it_matters,
            EMPTY_CONTENT.terms,
        )
    )
    assert EMPTY_CONTENT.behavioral_implication is EMPTY_CONTENT.enforcement is None


@given(st.integers(0, 1000))
def test_thousandths_survive_the_float(thousandths: int) -> None:
    assert milli(thousandths / 1000) == thousandths


def test_keys_of_slots_hold_ids_only() -> None:
    assert slot_key("e1", "office", "user=ann") == "e1/office/user=ann"
    assert text_key("o1") == "text:o1"
