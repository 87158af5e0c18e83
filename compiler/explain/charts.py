"""Charts: the budget as a stacked bar and the tokens as a treemap, as SVG.

Both are words and rectangles alone: no script, no style attribute, no request. Each has a title
and a description that say in words what it shows, and is drawn in whole numbers, so the same
envelope gives the same bytes. Colours tell the cache zone, never the meaning alone: every tile
and legend line says its name and its tokens. Words outside tiles take the colour of the page.
Source 000, 6.11.2; checklist C-176; ecosystem 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from ...schema.compile_terms import Stability
from .markup import Markup, element, joined
from .report import Entry, Shown, entries
from .treemap import Tile, squarify

WIDTH: Final = 960
INK: Final = "#14202e"
"""Of words on a tile; every fill below has a contrast of 7 to 1 with it or more."""
FILLS: Final[Mapping[Stability, str]] = MappingProxyType(
    {
        Stability.STATIC: "#a9c4ec",
        Stability.SCOPE: "#9fd6cb",
        Stability.SESSION: "#d6c2ee",
        Stability.HISTORY: "#f4d793",
        Stability.TURN: "#f6b9a6",
    }
)
_ADAPT: Final = Markup("svg{color:#14202e}@media(prefers-color-scheme:dark){svg{color:#e6ebf2}}")
"""Of a picture that stands alone; inside a page the page sets the colour."""
_TILES: Final = 150
"""Blocks of a section that are drawn one by one; the smaller ones share a tile."""
_BAR: Final = 44
_LINE: Final = 20
_HEAD: Final = 18
_GLYPH: Final = 7
"""Units that a letter takes, on the safe side."""


class Picture(NamedTuple):
    """What frames a drawing."""

    name: str
    """Prefix of its ids, so that several may stand on one page."""
    title: str
    told: str
    """The same in words."""
    height: int
    alone: bool
    """Whether it is a file of its own, and not a part of a page."""


def framed(picture: Picture, shapes: Iterable[Markup]) -> Markup:
    """Return a drawing as an SVG element with its title and description."""
    ids = f"{picture.name}-title {picture.name}-desc"
    style = (element("style", _ADAPT),) if picture.alone else ()
    return element(
        "svg",
        element("title", picture.title, id=f"{picture.name}-title"),
        element("desc", picture.told, id=f"{picture.name}-desc"),
        *style,
        *shapes,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {picture.height}",
        role="img",
        aria_labelledby=ids,
        font_family="system-ui, sans-serif",
        font_size="13",
        fill="currentColor",
    )


def words(x: int, y: int, text: str, *, most: int, fill: str | None = None) -> Markup:
    """Return words that begin at a point and take at most so many units."""
    return element("text", shortened(text, most // _GLYPH), x=x, y=y, fill=fill)


def shortened(text: str, most: int) -> str:
    """Return a text of at most so many characters.

    >>> shortened("deployment", 6), shortened("office", 6), shortened("office", 1)
    ('deplo…', 'office', '')
    """
    if len(text) <= most:
        return text
    return text[: most - 1] + "…" if most > 1 else ""


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "token"), plural(1200, "token")
    ('1 token', '1,200 tokens')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def budget_svg(shown: Shown, *, alone: bool = True) -> str:
    """Return the budget as a stacked bar: a part for each section, and what stays free."""
    whole = int(shown.trace.budget["budget_tokens"])
    parts = [(use.name, use.tokens, FILLS[use.stability]) for use in shown.sections]
    free = max(0, whole - shown.tokens_upper)
    lines = (len(parts) + 3) // 3
    told = ", ".join(f"{name} {tokens:,}" for name, tokens, _ in parts)
    picture = Picture(
        "tenure-budget",
        f"Token budget: {shown.tokens_upper:,} of {plural(whole, 'token')} used",
        f"Tokens by section: {told or 'none'}; free {free:,}.",
        _BAR + 14 + _LINE * lines,
        alone,
    )
    bar = _bar(parts, sum(tokens for _, tokens, _ in parts) + free)
    return framed(picture, [*bar, *_legend([*parts, ("free", free, "none")])])


def _bar(parts: Sequence[tuple[str, int, str]], whole: int) -> Iterator[Markup]:
    yield _box(Tile(0, 0, WIDTH, _BAR), "none")
    begun = 0
    for name, tokens, fill in parts:
        left = begun * WIDTH // max(1, whole)
        begun += tokens
        tile = Tile(left, 0, begun * WIDTH // max(1, whole) - left, _BAR)
        said = element("title", f"{name}: {plural(tokens, 'token')}")
        yield element("g", said, _box(tile, fill), *_label(tile, name, _BAR // 2 + 5))


def _legend(parts: Sequence[tuple[str, int, str]]) -> Iterator[Markup]:
    column = WIDTH // 3
    for place, (name, tokens, fill) in enumerate(parts):
        x, y = place % 3 * column, _BAR + 12 + place // 3 * _LINE
        yield _box(Tile(x, y, 12, 12), fill)
        yield words(x + 18, y + 11, f"{name} {tokens:,}", most=column - 20)


def _box(tile: Tile, fill: str) -> Markup:
    return element(
        "rect",
        x=tile.x,
        y=tile.y,
        width=tile.width,
        height=tile.height,
        fill=fill,
        stroke="#5b6b7f",
        stroke_width="1",
    )


def _label(tile: Tile, text: str, y: int) -> tuple[Markup, ...]:
    """Return the words on a tile, none when not even a part of them fits."""
    if tile.width < 4 * _GLYPH:
        return ()
    return (words(tile.x + 5, y, text, most=tile.width - 8, fill=INK),)


class _Part(NamedTuple):
    """A block, or the smallest blocks of a section together."""

    name: str
    tokens: int


def treemap_svg(shown: Shown, *, alone: bool = True) -> str:
    """Return the tokens as a treemap: a tile for each section, in it one for each block."""
    sections: dict[str, list[Entry]] = {}
    for entry in entries(shown):
        sections.setdefault(entry.block.section, []).append(entry)
    sizes = {name: sum(e.tokens for e in held) for name, held in sections.items()}
    order = sorted(sections, key=lambda name: (-sizes[name], name))
    tiles = squarify([sizes[name] for name in order], Tile(0, 0, WIDTH, WIDTH // 2))
    told = ", ".join(f"{name} {sizes[name]:,} in {len(sections[name])} blocks" for name in order)
    picture = Picture(
        "tenure-treemap",
        f"Where {plural(shown.tokens, 'token')} went, by section and block",
        f"Tokens by section: {told or 'none'}.",
        WIDTH // 2,
        alone,
    )
    drawn = (_section(name, sections[name], t) for name, t in zip(order, tiles, strict=True))
    return framed(picture, drawn)


def _section(name: str, held: Sequence[Entry], tile: Tile) -> Markup:
    tokens, fill = sum(entry.tokens for entry in held), FILLS[held[0].zone]
    head = _HEAD if tile.height > 2 * _HEAD else 0
    said = f"{name}: {plural(tokens, 'token')}"
    caption = _label(tile, said, tile.y + 14) if head else ()
    inner = Tile(tile.x, tile.y + head, tile.width, tile.height - head)
    parts = _parts(held)
    laid = squarify([part.tokens for part in parts], inner)
    blocks = joined(_block(p, t, fill) for p, t in zip(parts, laid, strict=True) if t.area)
    return element("g", element("title", said), _box(tile, fill), *caption, blocks)


def _parts(held: Sequence[Entry]) -> list[_Part]:
    """Return the blocks of a section, largest first, the smallest in one."""
    ranked = sorted(held, key=lambda entry: (-entry.tokens, entry.number))
    parts = [_Part(f"{e.number} {e.block.origin}", e.tokens) for e in ranked[:_TILES]]
    rest = ranked[_TILES:]
    if rest:
        parts.append(_Part(f"{len(rest)} more blocks", sum(entry.tokens for entry in rest)))
    return parts


def _block(part: _Part, tile: Tile, fill: str) -> Markup:
    said = element("title", f"{part.name}: {plural(part.tokens, 'token')}")
    label = _label(tile, part.name, tile.y + 15) if tile.height >= _HEAD else ()
    return element("g", said, _box(tile, fill), *label)
