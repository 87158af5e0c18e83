"""One table of columns: what both stores write, read and list follows from its rows."""

from dataclasses import dataclass, fields, make_dataclass, replace
from typing import Any

import pytest

from tenure.schema.claim import Assertion, Claim, Content, Details, Look, Permissions, Row
from tenure.schema.interval import INF_US, Interval
from tenure.schema.layers import DecayRule
from tenure.schema.vocabulary import Classification, Sensitivity, Status
from tenure.store.neo4j import codec as graph
from tenure.store.neo4j.codec import ClaimEntry
from tenure.store.neo4j.cypher import template as cypher
from tenure.store.port.claim_columns import (
    CLAIM_COLUMNS,
    PERMISSION_COLUMNS,
    SECRET_COLUMNS,
    Column,
    ColumnForm,
    column_list,
    decoder,
    encoder,
    names_of,
)
from tenure.store.sqlite import codec as embedded
from tenure.tests.store.builders import Say

STORED = (*CLAIM_COLUMNS, *SECRET_COLUMNS, *PERMISSION_COLUMNS)
MOOD = Column("mood", "details.mood", ColumnForm(str.upper, str.lower))


def full() -> Assertion:
    """An assertion whose every optional field says something."""
    plain = Say(object_id="o1").assertion(1, 0)
    return replace(
        plain,
        claim=replace(plain.claim, target="o0"),
        details=replace(
            plain.details,
            value_entity_id="e2",
            decay_rule=DecayRule(30.0, 0.25),
            sensitivity=(Sensitivity.PERSONAL,),
            applicable_task_types=("coding",),
            derived_from=("o0",),
            planned=True,
        ),
        content=replace(plain.content, behavioral_implication="be brief", enforcement="{}"),
        permissions=Permissions(
            classification=Classification.CONFIDENTIAL, allow=("lead",), deny=("guest",)
        ),
    )


def line_of(stated: Assertion) -> tuple[Any, ...]:
    """What `sqlite3` returns of an assertion that was written."""
    written = dict(
        zip(names_of(embedded.IN_CLAIM), embedded.claim_line(1, stated)[1:-3], strict=True)
    )
    written |= zip(names_of(embedded.IN_CONTENT), embedded.content_line(1, stated)[1:], strict=True)
    written |= {"claim_id": 1, "slot_key": stated.claim.slot_key, "signature": "s", "erased": 0}
    written |= {"turn": None}
    permissions = embedded.permit_line("tenant", stated.permissions)[1:]
    return (*(written[name] for name in embedded.LAYOUT), *permissions)


@pytest.mark.parametrize("stated", [Say(object_id="o1").assertion(1, 0), full()])
def test_what_is_written_is_what_is_read(stated: Assertion) -> None:
    assert embedded.assertion(line_of(stated)) == stated
    node = graph.claim_row(stated, tenant="acme", live=True)["props"]
    assert graph.assertion(node) == stated


@pytest.mark.parametrize("stated", [Say(object_id="o1").assertion(1, 0), full()])
def test_what_a_node_leaves_out_reads_as_an_older_node_that_says_it(stated: Assertion) -> None:
    columns = (*CLAIM_COLUMNS, *SECRET_COLUMNS)
    node = graph.claim_row(stated, tenant="acme", live=True)["props"]
    older_node = node | dict(zip(names_of(columns), encoder(columns)(stated), strict=True))
    bodies = [
        graph.body([properties.get(name) for name in cypher.LINE_NAMES])
        for properties in (node, older_node)
    ]

    assert len(node) < len(older_node)
    assert graph.assertion(node) == graph.assertion(older_node) == stated
    assert graph.claim(node) == graph.claim(older_node) == stated.claim
    assert bodies[0] == bodies[1]


def test_a_node_leaves_out_nothing_that_differs() -> None:
    plain = Say(object_id="o1").assertion(1, 0)
    stated = replace(
        plain,
        claim=replace(plain.claim, since_us=7),
        details=replace(plain.details, update_path=""),
        content=replace(plain.content, normalized_claim=""),
    )
    node = graph.claim_row(stated, tenant="acme", live=True)["props"]
    assert (node["since_us"], node["update_path"], node["normalized_claim"]) == (7, "", "")
    assert graph.assertion(node) == stated


def test_a_clean_row_gives_no_reason_and_reads_as_an_older_one_that_gave_none() -> None:
    claim = Say(object_id="o1").assertion(1, 0).claim
    row = Row(1, claim, Interval(1, 5), Look(Status.CLEAN, "", True), 1, INF_US)
    node = graph.version_row(row)
    assert node["reason"] is None
    # What is read has its times as numbers.
    times = {"valid_from": 1, "valid_until": 5, "tx_start": 1, "tx_end": INF_US}
    seen = node | times
    assert graph.row(seen, claim) == graph.row(seen | {"reason": ""}, claim) == row


def test_a_hidden_claim_has_neither_value_nor_content() -> None:
    stated = full()
    veiled = embedded.body(line_of(stated)[: -len((*SECRET_COLUMNS, *PERMISSION_COLUMNS))])
    assert veiled.content is None
    assert veiled.claim == replace(stated.claim, value_key="")
    assert veiled.details == replace(stated.details, value_entity_id=None)


def test_every_field_of_a_claim_has_its_columns() -> None:
    attributes = {column.attribute for column in STORED}
    for root, record in (("claim", Claim), ("details", Details), ("content", Content)):
        assert {f"{root}.{field.name}" for field in fields(record)} <= attributes


def test_both_stores_list_every_column() -> None:
    assert set(names_of(STORED)) <= {*cypher.LINE_NAMES, *ClaimEntry._fields}
    assert set(names_of((*CLAIM_COLUMNS, *SECRET_COLUMNS))) <= set(embedded.LAYOUT)


def test_a_new_column_reaches_both_languages_the_encoder_and_the_decoder() -> None:
    moody = make_dataclass("Moody", [("actor", str), ("mood", str)], frozen=True, slots=True)
    wide = (*CLAIM_COLUMNS, MOOD)
    columns = tuple(column for column in wide if column.name in {"actor", "mood"})

    assert column_list(wide).endswith(", c.mood")
    assert column_list(wide, "n").endswith(", n.mood")
    assert names_of(wide)[-1] == "mood"

    line = encoder(columns, "details")(moody("ann", "calm"))
    assert line == ["ann", "CALM"]
    assert decoder(moody, "details", columns, ("mood", "actor"))(line[::-1]) == moody("ann", "calm")
    assert decoder(moody, "details", columns, ("actor",))(line) == moody("ann", None)


def test_a_field_without_a_column_is_refused_at_import() -> None:
    short = tuple(column for column in CLAIM_COLUMNS if column.name != "actor")
    with pytest.raises(TypeError, match="the columns of details do not make a Details"):
        decoder(Details, "details", (*short, *SECRET_COLUMNS), names_of(short))


def test_a_record_that_checks_itself_is_refused_at_import() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        mood: str

        def __post_init__(self) -> None:
            raise ValueError(self.mood)

    with pytest.raises(TypeError, match="do not make a Checked"):
        decoder(Checked, "details", (MOOD,), ("mood",))


def test_the_columns_of_an_interval_are_joined() -> None:
    columns = tuple(column for column in CLAIM_COLUMNS if column.attribute == "claim.interval")
    spanned = make_dataclass("Spanned", [("interval", Interval)], frozen=True, slots=True)
    record = spanned(Interval(1, 5))
    line = encoder(columns, "claim")(record)
    assert line == [1, 5]
    assert decoder(spanned, "claim", columns, names_of(columns))(line) == record
