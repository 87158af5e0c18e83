"""Squarify: a rectangle divided by weight into tiles that are as square as they can be.

The algorithm of Bruls, Huizing and van Wijk (2000), in whole numbers: aspect ratios are compared
as fractions and every cut is rounded once, so the tiles cover the rectangle exactly, never
overlap, and are the same on every machine. A tile may be empty where its weight is less than
half a unit.

>>> squarify([6, 3, 1], Tile(0, 0, 100, 60))
[Tile(x=0, y=0, width=60, height=60), Tile(x=60, y=0, width=40, height=45), \
Tile(x=60, y=45, width=40, height=15)]
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Tile(NamedTuple):
    """A rectangle in whole units."""

    x: int
    y: int
    width: int
    height: int

    @property
    def area(self) -> int:
        """Return the units it covers."""
        return self.width * self.height


def squarify(weights: Sequence[int], whole: Tile) -> list[Tile]:
    """Return a tile for each weight, in the given order, which should fall.

    Weights below 1 count as 1.
    """
    left = [max(1, weight) for weight in weights]
    tiles: list[Tile] = []
    while left:
        count = _row(left, whole) if whole.area else len(left)
        row, total = left[:count], sum(left)
        left = left[count:]
        upright = whole.width >= whole.height
        strip, whole = _cut(whole, sum(row), total)
        tiles += _laid(row, strip, upright=upright)
    return tiles


def _row(weights: Sequence[int], whole: Tile) -> int:
    """Return how many of the first weights make the row whose worst tile is squarest."""
    short, scale = min(whole.width, whole.height), Fraction(whole.area, sum(weights))
    best, count, held = None, 0, 0
    for weight in weights:
        held += weight
        across = Fraction(held * scale, short)
        sides = [Fraction(each * scale, across) for each in (weights[0], weight)]
        worst = max(max(across / side, side / across) for side in sides)
        if best is not None and worst > best:
            break
        best, count = worst, count + 1
    return count


def _cut(whole: Tile, part: int, total: int) -> tuple[Tile, Tile]:
    """Return a strip of a share across the long side, and the rest."""
    x, y, width, height = whole
    if width >= height:
        cut = (2 * width * part + total) // (2 * total)
        return Tile(x, y, cut, height), Tile(x + cut, y, width - cut, height)
    cut = (2 * height * part + total) // (2 * total)
    return Tile(x, y, width, cut), Tile(x, y + cut, width, height - cut)


def _laid(row: Sequence[int], strip: Tile, *, upright: bool) -> list[Tile]:
    """Return the tiles of a row along its strip."""
    tiles: list[Tile] = []
    for at, weight in enumerate(row):
        rest = sum(row[at:])
        x, y, width, height = strip
        if upright:
            cut = (2 * height * weight + rest) // (2 * rest)
            tile, strip = Tile(x, y, width, cut), Tile(x, y + cut, width, height - cut)
        else:
            cut = (2 * width * weight + rest) // (2 * rest)
            tile, strip = Tile(x, y, cut, height), Tile(x + cut, y, width - cut, height)
        tiles.append(tile)
    return tiles
