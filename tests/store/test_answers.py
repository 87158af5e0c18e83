"""The whole of a slot's valid time as stretches with one answer."""

from tenure import Principal, connect

JAN, APR, JUL, OCT = (f"2026-{month:02}-01T00:00:00Z" for month in (1, 4, 7, 10))
SAM = {"name": "Sam Rivera", "type": "person", "external_ids": {"crm": "1"}}


def test_time_without_an_answer_is_no_stretch() -> None:
    with connect(":memory:") as memory:
        memory.write(subject=SAM, slot="office", value="Rome", valid_from=JAN, valid_until=APR)
        memory.write(subject=SAM, slot="office", value="Oslo", valid_from=JUL, valid_until=OCT)
        stretches = memory.as_of().timeline(SAM, "office")
    assert [stretch.state.value for stretch in stretches] == ["Rome", "Oslo"]


def test_what_loses_cuts_no_stretch_of_a_dispute() -> None:
    with connect(":memory:") as memory:
        memory.write(subject=SAM, slot="office", value="Paris", valid_from=APR, valid_until=JUL)
        ann = memory.bind(Principal(tenant=memory.principal.tenant, user="ann"))
        for value in ("Rome", "Oslo"):
            ann.write(
                subject=SAM,
                slot="office",
                value=value,
                valid_from=JAN,
                valid_until=OCT,
                scope={"user": "ann"},
            )
        (stretch,) = ann.as_of().timeline(SAM, "office")
    assert stretch.state.status == "disputed"
    assert [candidate.value for candidate in stretch.state.candidates] == ["Rome", "Oslo"]
