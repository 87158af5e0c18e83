"""The time plane: what it holds, its answer in words, and how it is drawn."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

import tenure
from tenure.faces.cli.demo import NOW, take_tour
from tenure.faces.cli.main import app
from tenure.schema.principal import OWNER, Principal
from tenure.service.visual.plane import BeliefState, TimePlane, axis

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
ORCHID = ("Orchid Foods", "pricing_tier")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plane") / "demo.db"
    take_tour(str(path))
    return path


@pytest.fixture(scope="module")
def orchids(file: Path) -> Iterator[tenure.Memory]:
    with tenure.connect(str(file), clock=lambda: NOW) as orchids:
        yield orchids


def test_the_drawing_at_eighty_columns(orchids: tenure.Memory) -> None:
    assert orchids.as_of(MARCH, MARCH).plane(*ORCHID).text() == (
        "   known ^  Orchid Foods, pricing tier\n"
        " 15 Jul 26| | standard       | premium       | enterprise ->\n"
        "  6 Jul 26| | standard       | premium                     | enterprise . ->\n"
        "  1 Apr 26| | standard       | premium ->\n"
        " 10 Jan 26| | standard ->\n"
        "          |                   o 1 Mar 26, as known on 1 Mar 26 = standard\n"
        "          +-1 Jan 26---------15 Feb 26-------1 Jul 26------1 Jan 27--> true when\n"
        "o where you ask; . planned\n"
        "\n"
        "On 1 March 2026 we believed standard. Today we know it was premium: billing entered "
        "it late, on 1 April 2026.\n"
    )


def test_the_plane_says_what_questions_answer(orchids: tenure.Memory) -> None:
    # Every cell between two edges of either time, and every edge itself.
    for entity, slot in (ORCHID, ("Atlas", "deadline"), ("Sam Rivera", "office")):
        plane = orchids.as_of().plane(entity, slot)
        known_edges = [band.known_from for band in plane.bands]
        for valid, known in product(around(plane.valid_edges()), around(known_edges)):
            state = orchids.as_of(valid, known).slot(entity, slot)
            belief = replace(plane, valid=valid, known=known).answer
            status = {"planned": "clean"}.get(belief.state, belief.state) if belief else "unknown"
            assert status == state.status.value, (slot, valid, known)
            if state.status.value == "clean":
                assert belief is not None
                assert belief.value == str(state.value).removesuffix("T00:00:00Z")


def around(edges: tuple[datetime, ...] | list[datetime]) -> list[datetime]:
    gaps = [first + (last - first) / 2 for first, last in pairwise(edges)]
    day = timedelta(days=1)
    return sorted({edges[0] - day, *edges, *gaps, edges[-1] + day})


@pytest.mark.parametrize(
    ("valid", "known", "sentence"),
    [
        (NOW, NOW, "On 15 July 2026 it is enterprise: billing entered it late, on 15 July 2026."),
        (
            MARCH,
            NOW,
            "On 1 March 2026 it was premium: billing entered it late, on 1 April 2026.",
        ),
        (
            datetime(2026, 1, 20, tzinfo=UTC),
            MARCH,
            "On 1 March 2026 we believed about 20 January 2026: standard; that is still what we "
            "know.",
        ),
        (
            datetime(2025, 1, 1, tzinfo=UTC),
            NOW,
            "On 1 January 2025 it was not known.",
        ),
    ],
)
def test_the_answer_in_words(
    orchids: tenure.Memory, valid: datetime, known: datetime, sentence: str
) -> None:
    assert orchids.as_of(valid, known).plane(*ORCHID).sentence == sentence


def test_a_tie_shows_both_words(orchids: tenure.Memory) -> None:
    plane = orchids.as_of().plane("Atlas", "deadline")
    assert plane.answer is not None
    assert plane.answer.state is BeliefState.DISPUTED
    assert plane.answer.value == "2026-09-30 / 2026-10-15"
    assert "~ disputed" in plane.text()
    assert "url(#plane-hatch)" in plane.svg()


def test_a_relation_shows_names(orchids: tenure.Memory) -> None:
    plane = orchids.as_of().plane("Sam Rivera", "manager")
    assert plane.answer is not None
    assert plane.answer.value == "William Nakamura"


def test_the_days_of_many_short_terms_do_not_run_together(tmp_path: Path) -> None:
    with tenure.connect(str(tmp_path / "terms.db")) as memory:
        for year in range(1985, 2015):
            memory.write(
                "Joe Barton",
                "seat",
                "TX-6",
                valid_from=f"{year}-01-03T00:00:00Z",
                valid_until=f"{year}-10-18T00:00:00Z",
            )
        (scale,) = [
            line
            for line in memory.as_of().plane("Joe Barton", "seat").text(80).splitlines()
            if line.endswith("> true when")
        ]

    # Between two labels stands the line of the axis: a day whose label has no room has none.
    labels = re.findall(r"[^-+>]+", scale.strip().removesuffix("> true when"))
    assert labels
    assert all(re.fullmatch(r"\d+ \w{3} \d\d", label) for label in labels)


def test_a_plan_is_ahead_and_says_so(tmp_path: Path) -> None:
    with tenure.connect(":memory:", clock=lambda: MARCH) as memory:
        memory.write("Sam", "office", "Rome", valid_from="2026-04-01T00:00:00Z")
        plane = memory.as_of("2026-05-01T00:00:00Z").plane("Sam", "office")
    assert plane.sentence.startswith("On 1 May 2026 it will be, as planned, Rome")
    assert "stroke-dasharray" in plane.svg()


def test_a_denial_and_an_erasure_leave_their_word(memory: tenure.Memory) -> None:
    memory.write("Sam", "office", "Rome", valid_from="2026-01-01T00:00:00Z")
    memory.write("Sam", "office", "Rome", op="deny", valid_from="2026-02-01T00:00:00Z")
    memory.write("Ann", "title", "cook")
    kept = memory.write("Ann", "office", "Rome")
    memory.erase(kept.object_id, reason="asked for")
    assert "| denied ->" in memory.as_of().plane("Sam", "office").text()
    assert "Rome" not in memory.as_of().plane("Ann", "office").text()


def test_what_may_not_be_seen_is_not_drawn(memory: tenure.Memory) -> None:
    memory.write("Sam", "office", "Rome", valid_from="2026-01-01T00:00:00Z")
    memory.write(
        "Sam",
        "office",
        "canary",
        op="correct",
        valid_from="2026-02-01T00:00:00Z",
        allow_roles=("auditor",),
    )
    plane = memory.bind(Principal(user="ann")).as_of().plane("Sam", "office")
    assert "canary" not in plane.text() + plane.svg()
    assert plane.answer is not None
    assert plane.answer.state is BeliefState.WITHHELD


def test_many_values_stand_together(memory: tenure.Memory) -> None:
    memory.write("Sam", "skill", "Rust", valid_from="-infinity", valid_until=NOW)
    memory.write("Sam", "skill", "Go", valid_from="-infinity", valid_until=NOW)
    plane = memory.as_of("2020-01-01T00:00:00Z").plane("Sam", "skill")
    assert sorted(str(plane.answer.value).split(", ")) == ["Go", "Rust"]
    assert "2020" in plane.sentence
    assert "o 1 Jan 20" in plane.text(120)
    assert ElementTree.fromstring(plane.svg()) is not None


def test_a_merge_is_an_edge_of_knowledge(memory: tenure.Memory) -> None:
    first = memory.write("Sam Lee", "office", "Rome", valid_from="2026-01-01T00:00:00Z")
    second = memory.write("Samuel Leeds", "office", "Oslo", valid_from="2026-02-01T00:00:00Z")
    before = memory.as_of()
    memory.entities.merge(first.entity, second.entity)
    plane = memory.as_of().plane("Sam Lee", "office")
    then = replace(plane, valid=before.valid, known=before.tx)
    assert plane.answer.value == "Oslo"
    assert then.answer.value == before.value("Sam Lee", "office") == "Rome"


def test_nothing_known_is_said(orchids: tenure.Memory) -> None:
    plane = orchids.as_of().plane("Sam Rivera", "team")
    assert plane.text() == "Samantha Rivera, team: nothing was ever known\n"
    assert plane.answer is None
    assert plane.latest is None
    assert "not known" in plane.svg()


def test_an_unknown_slot_or_entity_is_refused(orchids: tenure.Memory) -> None:
    with pytest.raises(tenure.InvalidInput, match="pricing_tier"):
        orchids.as_of().plane("Orchid Foods", "pricing")
    with pytest.raises(tenure.NotFound):
        orchids.as_of().plane("Nobody", "office")


def test_a_long_answer_is_cut_where_it_stands_under_the_drawing(memory: tenure.Memory) -> None:
    memory.write("Sam Rivera", "office", "Room " + "x" * 200)
    lines = memory.as_of().plane("Sam Rivera", "office").text(80).split("\n\n")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert any("= Room x" in line and line.endswith("…") for line in lines)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_is_wider_than_asked(orchids: tenure.Memory, width: int) -> None:
    for entity, slot in (ORCHID, ("Atlas", "deadline"), ("Sam Rivera", "manager")):
        lines = orchids.as_of().plane(entity, slot).text(width).split("\n\n")[0].splitlines()
        drawn = [line for line in lines if re.match(r"[^|+]*[|+]", line) and "as known" not in line]
        assert max(map(len, drawn)) <= width


def test_the_picture_is_inert_and_says_what_it_shows(memory: tenure.Memory) -> None:
    name = "<script>alert(1)</script>\u202e"
    memory.write(name, "office", "</svg><script>")
    plane = memory.as_of().plane(name, "office")
    drawing = ElementTree.fromstring(plane.svg())
    tags = {element.tag.rpartition("}")[2] for element in drawing.iter()}
    assert tags <= {"svg", "title", "desc", "defs", "pattern", "rect", "text", "line", "circle"}
    assert not any("style" in element.attrib for element in drawing.iter())
    assert drawing.attrib["role"] == "img"
    assert "\u202e" not in plane.svg() + plane.text()
    fluid = re.sub(r' width="960" height="\d+"', ' width="100%"', plane.svg(), count=1)
    assert plane._repr_html_() == fluid != plane.svg()


def texts_of(drawing: str) -> list[str]:
    elements = ElementTree.fromstring(drawing).iter()
    return [element.text or "" for element in elements if element.tag.endswith("text")]


def test_each_value_has_its_name_and_its_colour_and_so_has_what_lost(memory: tenure.Memory) -> None:
    for office, month in (("Rome", 1), ("Oslo", 3), ("Rome", 5)):
        memory.write("Sam Rivera", "office", office, valid_from=f"2026-0{month}-01T00:00:00Z")
    memory.write(
        "Sam Rivera", "office", "Lima",
        valid_from="2026-03-01T00:00:00Z", source_origin="https://x.example",
    )  # fmt: skip
    plane = memory.as_of().plane("Sam Rivera", "office")
    fills: dict[str, set[str]] = {}
    drawing = plane.svg()
    for rectangle, box in zip(
        plane.rectangles(),
        re.findall(r'<rect class="clean"[^>]* fill="([^"]+)"', drawing),
        strict=True,
    ):
        fills.setdefault(rectangle.belief.words, set()).add(box)
    assert {words: len(colours) for words, colours in fills.items()} == {"Rome": 1, "Oslo": 1}
    assert len(set.union(*fills.values())) == 2
    assert "Lima" in texts_of(drawing)


def test_a_place_of_the_picture_asks_the_point_that_it_shows(memory: tenure.Memory) -> None:
    for month in range(1, 5):
        memory.write(
            "Sam Rivera", "office", f"Room {month}", valid_from=f"2026-0{month}-01T00:00:00Z"
        )
    plane = memory.as_of().plane("Sam Rivera", "office")
    moments = [*around(plane.valid_edges())]
    for valid, band in product(moments, plane.bands):
        asked = replace(plane, valid=valid, known=band.known_from)
        cross = re.findall(r'<circle class="cross" cx="(\d+)" cy="(\d+)"', asked.svg())
        ((x, y),) = cross
        shown = asked.at(int(x), int(y))
        assert shown.answer == asked.answer


def test_a_plane_of_before_anything_was_known_says_so(memory: tenure.Memory) -> None:
    receipt = memory.write("Sam Rivera", "office", "Rome", valid_from="2026-01-01T00:00:00Z")
    view = memory.as_of("2026-03-01T00:00:00Z", "2020-01-01T00:00:00Z")
    sentence = view.plane(str(receipt.entity), "office").sentence
    assert sentence.startswith(
        "On 1 January 2020 nothing was known of it. Today we know it was Rome"
    )
    view = memory.as_of("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z")
    sentence = view.plane(str(receipt.entity), "office").sentence
    assert sentence == "On 1 January 2020 nothing was known of it. Nor is it today."


def test_edges_keep_the_room_they_need_and_the_order_of_time() -> None:
    edges = [NOW, NOW + timedelta(days=1), NOW + timedelta(days=900)]
    for needs in ([0, 10, 10, 10], [5, 100, 100, 100]):
        scale = axis(edges, needs, 10, 90)
        assert list(scale.positions) == sorted(scale.positions)
        assert 10 <= scale.positions[0] <= scale.positions[-1] <= 90
        middle = scale.position(NOW + timedelta(days=450))
        assert scale.positions[1] <= middle <= scale.positions[2]


def test_the_command_draws_it(file: Path, tmp_path: Path) -> None:
    words = ["--store", str(file), "timeline", *ORCHID, "--grid", "--valid", MARCH.isoformat()]
    result = CliRunner().invoke(app, [*words, "--svg", str(tmp_path / "plane.svg")])
    assert "| premium" in result.stdout
    assert (tmp_path / "plane.svg").read_text().startswith("<svg")
    answer = CliRunner().invoke(app, ["--json", *words]).stdout
    assert '"value": "premium"' in answer


def test_the_owner_reads_who_entered_it(orchids: tenure.Memory) -> None:
    plane = orchids.bind(replace(OWNER)).as_of().plane(*ORCHID)
    assert isinstance(plane, TimePlane)
    assert {belief.actor for band in plane.bands for belief in band.beliefs} == {"service"}
