"""Tiles cover their rectangle exactly, in proportion, and none overlaps another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.explain.treemap import Tile, squarify

WEIGHTS = st.lists(st.integers(0, 5_000), max_size=40).map(lambda w: sorted(w, reverse=True))
SIDES = st.integers(0, 300)


@given(WEIGHTS, SIDES, SIDES)
def test_tiles_cover_the_whole_and_never_overlap(weights, width, height) -> None:
    whole = Tile(3, 5, width, height)
    tiles = squarify(weights, whole)
    assert len(tiles) == len(weights)
    if weights:
        assert sum(tile.area for tile in tiles) == whole.area
    seen = [t for t in tiles if t.area]
    for place, a in enumerate(seen):
        assert whole.x <= a.x and a.x + a.width <= whole.x + whole.width
        assert whole.y <= a.y and a.y + a.height <= whole.y + whole.height
        for b in seen[place + 1 :]:
            apart = a.x + a.width <= b.x or b.x + b.width <= a.x
            assert apart or a.y + a.height <= b.y or b.y + b.height <= a.y


def test_areas_follow_the_weights_and_tiles_are_nearly_square() -> None:
    # the example of the authors of the algorithm
    weights = [6, 6, 4, 3, 2, 2, 1]
    tiles = squarify(weights, Tile(0, 0, 600, 400))
    for weight, tile in zip(weights, tiles, strict=True):
        assert abs(tile.area - weight * 10_000) < 600
    ratios = [max(t.width / t.height, t.height / t.width) for t in tiles]
    assert max(ratios) < 2.8
    assert sum(ratios) / len(ratios) < 1.7
