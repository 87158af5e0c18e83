"""The time plane: the beliefs of one slot over both clocks, which draw themselves."""

from __future__ import annotations

from dataclasses import dataclass

from ...schema.short_repr import short_repr
from .beliefs import BeliefPlane


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePlane(BeliefPlane):
    """Beliefs with a marked point, as text for a terminal and as SVG for pages and notebooks."""

    __repr__ = short_repr

    def text(self, width: int = 80) -> str:
        """Draw it in characters, at most `width` of them a line."""
        from .plane_text import plane_text

        return plane_text(self, width)

    def svg(self) -> str:
        """Draw it as SVG, with a title and a description in words."""
        from .plane_svg import plane_svg

        return plane_svg(self)

    def phone_svg(self) -> str:
        """Draw it as SVG for a narrow page: long values stand below it, by number."""
        from .plane_svg import PHONE_WIDTH, plane_svg

        return plane_svg(self, PHONE_WIDTH)

    def _repr_html_(self) -> str:
        from .plane_svg import WIDTH

        # A cell of a notebook is narrower than the picture, which keeps its own size elsewhere.
        fixed_size = f'width="{WIDTH}" height="'
        head, _, tail = self.svg().partition(fixed_size)
        _, _, remainder = tail.partition('"')
        return f'{head}width="100%"{remainder}'
