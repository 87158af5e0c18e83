"""The envelope: what a compile returns, frozen.

`text` is what a model reads; everything else says what it is made of. `blocks` are what the text
parses to, `trace` says why, `manifest` pins the inputs, `sidecar` holds what depends on the
run (run id, wall time, latency) and is part of no hash. Trace and quality follow from what the
stages said, and are worked out when asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Final, Literal, TypedDict, Unpack, overload

from ...schema.document import Citation
from ...schema.errors import InvalidInput, Unavailable, unknown, unknown_field
from ...schema.records import FrozenDict, short_repr
from ..explain.diagnosis import Suspicion, diagnosis
from ..explain.lineage import Descent, descents
from ..explain.page import budget_svg, fragment, lineage_svg, page
from ..explain.report import EnvelopeReport
from ..ir.records import Asked
from ..render.cache_plan import RenderPlan, hit_status
from ..render.media import Originals, native_parts
from ..render.providers import render_adk, render_anthropic, render_openai
from ..trace.accounting import StageAccount, accounting
from ..trace.manifest import Manifest
from ..trace.metrics import Quality
from ..trace.trace import Trace
from .checks import CheckReport, HardConstraint, check_output

NOTHING_BESIDE: Final[Mapping[str, Any]] = FrozenDict({})

Citing = Callable[[Manifest, Mapping[str, str]], Mapping[str, Citation]]
"""How to learn where passages are in their documents, from the object ids by their numbers."""

ObjectWords = Callable[["Envelope"], Mapping[str, str]]
"""How to learn the opening words of an envelope's objects, by id."""


class RenderOptions(TypedDict, total=False):
    """What `render` takes for a provider; ADK has neither `expected_reads` nor `ttl_s`."""

    max_tokens: int | None
    """The most tokens of the answer, under the provider's name for it. Anthropic requires it."""
    expected_reads: float
    """How often a prefix that is written to the provider's cache will be read."""
    ttl_s: int
    """How long the cache keeps a prefix, in seconds."""
    contract: Literal["system", "payload"]
    """Where the tenant's rules are."""
    media: Originals | None
    """The bytes, URL or `SentMedia` of each picture, recording and film, by its address."""


_PageState = tuple[Mapping[str, Any], Trace, Quality, Mapping[str, Citation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope(EnvelopeReport):
    """A compiled context."""

    __repr__ = short_repr

    text: str
    constraints: tuple[HardConstraint, ...]
    asked: tuple[Asked, ...] = ()
    """What the question asks and what became of it: known, disputed, unknown, cut, withheld."""
    unmatched: tuple[str, ...] = ()
    """Content terms of the question that nothing visible holds."""
    sidecar: Mapping[str, Any] = field(default_factory=lambda: NOTHING_BESIDE)
    """Run id, wall time and latency, added by the service."""
    _turn: Callable[[], Envelope] | None = field(default=None, repr=False, compare=False)
    _words: ObjectWords | None = field(default=None, repr=False, compare=False)
    _cite: Citing | None = field(default=None, repr=False, compare=False)
    _anchors: Mapping[str, str] = field(default_factory=dict[str, str], repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle it with its trace, its quality and its further pages worked out.

        Whom to ask for words stays behind: a copy elsewhere has no memory to ask, and it holds no
        text of what stayed out.
        """
        states: list[_PageState] = []
        envelope: Envelope | None = self
        while envelope is not None:
            states.append(envelope._state())
            envelope = envelope.next
        return _envelope_of_pages, (states,)

    def _state(self) -> _PageState:
        values: dict[str, Any] = {}
        for item in fields(self):
            if not item.name.startswith("_"):
                values[item.name] = getattr(self, item.name)
        citations: dict[str, Citation] = {}
        with suppress(Unavailable):  # the store was closed before anybody asked for them
            citations.update(self.citations)
        return values, self.trace, self.quality, citations

    def __copy__(self) -> Envelope:
        return self  # nothing in it can be changed, so a copy can be told from it by nothing

    def __deepcopy__(self, memo: object) -> Envelope:
        return self

    @property
    def next(self) -> Envelope | None:
        """The next page of a paginated compile, None when there is none."""
        if self._turn is None:
            return None
        return self._turn().with_words(self._words).with_citations(self._cite)

    @property
    def citations(self) -> Mapping[str, Citation]:
        """Page, heading and dates of the passages of documents, by their number in the text.

        They are read when first asked, with the caller's permissions of today.
        """
        return {} if self._cite is None else self._cite(self.manifest, self._anchors)

    def with_citations(self, cite: Citing | None) -> Envelope:
        """The same envelope, with a function that reads its citations."""
        return replace(self, _cite=cite)

    @property
    def cut_budget(self) -> int:
        """A budget that shows all that was asked and cut; 0 where nothing was."""
        return max((record.budget_tokens for record in self.asked), default=0)

    @property
    def diagnosis(self) -> tuple[Suspicion, ...]:
        """What in it can have made an answer wrong, and which part to look at first."""
        return diagnosis(self.trace, self.quality)

    @property
    def stages(self) -> tuple[StageAccount, ...]:
        """How many objects each stage met and left out, and why."""
        return accounting(self.trace)

    @property
    def lineage(self) -> tuple[Descent, ...]:
        """Where each object came from and which block holds it, in the order of the text."""
        return descents(self)

    def to_html(self, *, words: Mapping[str, str] | None = None) -> str:
        """A page that shows it whole: self-contained, without scripts.

        `words` are the opening words of objects by their ids. An envelope does not hold the text
        of what stayed out: without `words` the memory that compiled it is asked, while it is
        open, for what its caller may read today.
        """
        return page(self, self._object_words() if words is None else words)

    def _repr_html_(self) -> str:
        return fragment(self, self._object_words())

    def with_words(self, words: ObjectWords | None) -> Envelope:
        """The same envelope with whom to ask for the opening words of its objects, by id."""
        return replace(self, _words=words)

    def _object_words(self) -> Mapping[str, str]:
        return {} if self._words is None else self._words(self)

    def budget_svg(self) -> str:
        """The budget as a stacked bar, as an SVG picture."""
        return budget_svg(self)

    def lineage_svg(self) -> str:
        """Return origins, objects and blocks as a graph, as an SVG picture."""
        return lineage_svg(self)

    def check(self, output: object) -> CheckReport:
        """Which hard constraints a model's output breaks.

        `output` is its text, a message as OpenAI, Anthropic or Gemini write it, or a mapping with
        `text` and `tool_calls`.
        """
        return check_output(self.constraints, output)

    @overload
    def render(self, target: Literal["text"], *, media: Originals | None = ...) -> str: ...
    @overload
    def render(
        self, target: Literal["anthropic", "openai", "adk"], **options: Unpack[RenderOptions]
    ) -> dict[str, Any]: ...
    def render(self, target: str, **options: Any) -> Any:
        """The request for a provider: a dict, or for `text` the text itself.

        `memory.media(envelope)` makes `media`; without it the request is text alone. The other
        options are those of `RenderOptions`.

        Raises:
            InvalidInput: `unknown_vocabulary` for a target that does not exist; `unknown_field`
                for an option that it does not have; `out_of_range` for `max_tokens` below 1;
                `bad_media` for media that this target cannot send as planned.
        """
        if target not in _RENDERERS:
            raise unknown("render target", target, _RENDERERS)

        renderer = _RENDERERS[target]
        names: Mapping[str, object] = getattr(renderer, "__kwdefaults__", {})
        for option in options:
            if option not in names:
                raise unknown_field(option, names, f" of render({target!r})")
        limit = options.get("max_tokens")
        if limit is not None and limit < 1:
            raise InvalidInput("max_tokens is at least 1", code="out_of_range", field="max_tokens")
        return renderer(self.plan, **options)

    def reported(self, *, cached_tokens: int, retries: int = 0) -> Envelope:
        """The same envelope with what its provider reported, once it was sent.

        `cached_tokens` is what the usage of the answer says was read from a cache. The trace
        then has the cache status: a full hit reads at least the prefix that was expected.

        Raises:
            InvalidInput: `bad_request`, for a number below 0.
        """
        if min(cached_tokens, retries) < 0:
            raise InvalidInput("give what was reported, at least 0", code="bad_request")

        expected_tokens = int(self.trace.cache_metadata["expected_cached_tokens"])
        trace = replace(
            self.trace,
            cache_hit_status=hit_status(cached_tokens, expected_tokens),
            cached_tokens_read=cached_tokens,
            downstream_retries_triggered=retries,
        )
        return replace(self, _tell=lambda: trace)

    def with_sidecar(self, **measurements: Any) -> Envelope:
        """The same envelope with more in its sidecar."""
        return replace(self, sidecar=FrozenDict({**self.sidecar, **measurements}))


def _envelope_of_pages(pages: Sequence[_PageState]) -> Envelope:
    """An envelope from what was worked out of it and of its further pages."""
    (values, trace, quality, citations), *page_states = pages
    return Envelope(
        **values,
        _tell=lambda: trace,
        _measure=lambda: quality,
        _turn=partial(_envelope_of_pages, page_states) if page_states else None,
        _cite=lambda _manifest, _anchors: citations,
    )


def _render_text(plan: RenderPlan, *, media: Originals | None = None) -> str:
    native_parts(plan, "text", media)
    return "".join(segment.text for segment in plan.segments)


_RENDERERS: Final[Mapping[str, Callable[..., Any]]] = FrozenDict(
    {
        "anthropic": render_anthropic,
        "openai": render_openai,
        "adk": render_adk,
        "text": _render_text,
    }
)
