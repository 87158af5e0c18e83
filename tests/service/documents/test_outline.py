"""Outlines come back as they were, and a difference names what changed by ids alone."""

import json

from tenure.service.documents.cutting import Heading
from tenure.service.documents.outline import DocumentOutline, OutlineEntry, difference, passage_keys

KEY = b"k" * 32


def keys(*passages: tuple[str, str]) -> tuple[str, ...]:
    return passage_keys("doc", KEY, passages)


def entries(of: tuple[str, ...]) -> tuple[OutlineEntry, ...]:
    return tuple(OutlineEntry(key, key, 1, 1, number * 10, 9) for number, key in enumerate(of))


def outline(*entries: OutlineEntry) -> DocumentOutline:
    return DocumentOutline(
        root="a",
        digest="d",
        title="T",
        media_type="text/plain",
        reader="text/1",
        cutter=1,
        headings=(Heading(1, "A", 1, 0), Heading(2, "B", 3, 40)),
        entries=entries,
        dated="text",
        flagged=1,
    )


def test_an_outline_comes_back_from_json():
    first, second = keys(("a", "x"), ("b", "y"))
    stored = outline(
        OutlineEntry(first, first, 1, 0, 0, 9, "\n"),
        OutlineEntry(first, second, 3, 2, 42, 7, " "),
    )
    assert DocumentOutline.from_value(json.loads(json.dumps(stored.to_value()))) == stored


def test_nine_thousand_passages_fit_a_value():
    many = keys(*((f"t{number}", f"text {number}") for number in range(9_000)))
    rows = [OutlineEntry(key, key, n // 20, n // 5, n * 250, 249) for n, key in enumerate(many)]
    assert len(json.dumps(outline(*rows).to_value(), separators=(",", ":"))) < 400_000


def test_equal_passages_differ_by_their_number_and_keys_by_the_tenant():
    assert len(set(keys(("a", "x"), ("a", "x"), ("b", "x")))) == 3
    assert keys(("a", "x\ny")) != keys(("a", "x y"))
    assert passage_keys("doc", b"other", [("a", "x")]) != keys(("a", "x"))


def test_a_difference_names_what_closes_opens_and_moves():
    x, y, z, moved = keys(("a", "x"), ("a", "y"), ("a", "z"), ("b", "x"))
    stays = difference(entries((x, y)), [(y, "y"), (z, "z")], {})
    assert (stays.ids, stays.closed, stays.opened, stays.moved) == ((y, z), (x,), (1,), ())
    assert stays.kept == 1
    # Under another heading a passage keeps its id, and one that comes back takes its own.
    assert difference(entries((x,)), [(moved, "x")], {"x": [x]}) == ((x,), (), (), (0,))
    assert difference((), [(x, "x")], {}).ids == (x,)


def test_a_new_passage_never_takes_the_id_of_one_that_moved_away():
    (first,), (second,) = keys(("a", "x")), keys(("b", "x"))
    moved = OutlineEntry(first, second, 1, 1, 0, 9)
    diff = difference([moved], [(second, "x"), (first, "x")], {})
    assert diff.ids[0] == first
    assert diff.ids[1] not in (first, second)
    assert len(set(diff.ids)) == 2
