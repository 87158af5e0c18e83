"""Why something stayed out of an envelope, and what it lacks, in words for people.

The report: what a picture or a page of an envelope is made from.

`EnvelopeReport` is what a page needs of an envelope, texts here so that the envelope can draw
itself. `entries` are its blocks in the order of the text, each with its zone, tier and tokens.
Nothing depends on the run: the sidecar (latency, run id, wall time) is no part of a page, so the
same envelope has the same page, byte for byte. Checklist C-176.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple

from ...schema.compile_terms import PriorityTier, Stability
from ...schema.records import packaged_table, short_repr
from ...schema.values import iso
from ..format.grammar import Block
from ..ir.records import Gap
from ..render.cache_plan import RenderPlan
from ..trace.manifest import Manifest, principal_of
from ..trace.metrics import Quality
from ..trace.trace import CompiledObject, QuarantinedObject, SectionUse, Trace


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    return packaged_table(__package__, "words.toml")


def gap_words(code: str) -> str:
    """A gap as a clause.

    >>> gap_words("ambiguous_entity")
    'the name fits several'
    """
    return _words()["gaps"][code]


def reason_words(reason: str) -> str:
    """A reason as a clause.

    >>> reason_words("over_budget")
    'worth less than what took its tokens'
    """
    return _words()["reasons"].get(reason, reason.replace("_", " "))


_ANCHOR: Final = re.compile(r"(?:(?<=\s)|(?<=\])|^)\[(\d+)\](?=[\s\[]|$)", re.MULTILINE)
"""The number of an object: at the start or the end of a line, or next to another number."""
_TIERS = tuple(tier.value for tier in PriorityTier)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeReport:
    """An envelope, as far as a page looks at it."""

    __repr__ = short_repr

    envelope_id: str
    tokens: int
    """The counter's estimate of the text."""
    tokens_upper: int
    """The counter's upper bound; never above the budget."""
    digest: str
    """SHA-256 of the text in UTF-8."""
    blocks: tuple[Block, ...]
    """What `parse_envelope(text)` returns."""
    sections: tuple[SectionUse, ...]
    """In wire order."""
    manifest: Manifest
    gaps: tuple[Gap, ...]
    plan: RenderPlan
    """What renderers work from."""
    _tell: Callable[[], Trace] = field(repr=False, compare=False)
    _measure: Callable[[], Quality] = field(repr=False, compare=False)

    @property
    def trace(self) -> Trace:
        """What went in and what stayed out, and why: worked out when first asked."""
        return self._tell()

    @property
    def quality(self) -> Quality:
        """The eight quality metrics with their alerts, worked out when asked."""
        return self._measure()


class TextPart(NamedTuple):
    """A stretch of a block's text, or the number of a source in it."""

    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that the model did not get as truth."""

    object_id: str
    words: str
    """Its opening words; empty where the reader of the page may not have them."""
    reason: str
    is_apart: bool
    """Set apart rather than left out."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A block as a page shows it."""

    number: int
    """Its position in the text, from 1."""
    block: Block
    zone: Stability
    tier: str
    """Of its most important object; empty for what the compiler says itself."""
    tokens: int
    """Of the block with its heading and boundary lines."""
    objects: tuple[CompiledObject, ...]
    parts: tuple[TextPart, ...]
    """Its text, with the numbers of its own objects apart."""
    opens_section: bool
    """Whether the block before stands in another section."""
    dates: Mapping[str, str]
    """The day on which each object was recorded, or found by the caller, by its id."""


def question_of(report: EnvelopeReport) -> str:
    """What was asked: the query, else the words of the user, else the goal."""
    request: Mapping[str, object] = json.loads(report.manifest.request)
    for name in ("query", "user_request", "goal"):
        text = request.get(name)
        if isinstance(text, str) and text:
            return text
    return ""


def head_facts(report: EnvelopeReport) -> list[tuple[str, str]]:
    """For whom an envelope is, of when, and how much of the budget it took."""
    caller, manifest = principal_of(report.manifest), report.manifest
    roles = f" ({', '.join(sorted(caller.roles))})" if caller.roles else ""
    budget = int(report.trace.budget["budget_tokens"])
    return [
        ("task", report.trace.active_task.replace("_", " ")),
        ("for", f"{caller.user or 'nobody in particular'}{roles}"),
        ("true on", _day(manifest.valid_us)),
        ("as known on", _day(manifest.tx_us)),
        ("budget", f"{report.tokens:,} of {budget:,} tokens"),
    ]


def _day(at_us: int) -> str:
    return (iso(at_us) or "open")[:10]


def omissions(report: EnvelopeReport, words: Mapping[str, str]) -> tuple[Omission, ...]:
    """What stayed out, then what was set apart, each with its words where they are given."""
    rows: list[Omission] = []
    for verdict in report.trace.left_out:
        opening = words.get(verdict.object_id, "")
        is_apart = isinstance(verdict, QuarantinedObject)
        rows.append(Omission(verdict.object_id, opening, verdict.reason, is_apart))
    return tuple(rows)


def entries(report: EnvelopeReport) -> tuple[Entry, ...]:
    """The blocks in the order of the text."""
    return tuple(_entries(report))


def _entries(report: EnvelopeReport) -> Iterator[Entry]:
    by_anchor = {source.anchor: source for source in report.trace.compiled_objects}
    dates = {row.object_id: row.retrieved_at[:10] for row in report.trace.provenance}
    section = ""
    for number, segment in enumerate(report.plan.segments, 1):
        # Some pieces may be words of the compiler itself: they have a number and are no object.
        anchors = segment.block.object_ids
        sources = {anchor: by_anchor[anchor] for anchor in anchors if anchor in by_anchor}
        tiers = sorted((source.priority_tier for source in sources.values()), key=_TIERS.index)
        yield Entry(
            number,
            segment.block,
            segment.stability,
            tiers[0] if tiers else "",
            report.plan.counter.count(segment.text),
            tuple(sources.values()),
            tuple(_parts(segment.block.text, sources)),
            segment.block.section != section,
            {source.object_id: dates.get(source.object_id, "") for source in sources.values()},
        )
        section = segment.block.section


def _parts(text: str, anchors: Container[str]) -> Iterator[TextPart]:
    # A number in brackets that is no source of this block is a number that somebody wrote.
    position = 0
    for match in _ANCHOR.finditer(text):
        if match[1] in anchors:
            yield TextPart(text[position : match.start()])
            yield TextPart(match[0], match[1])
            position = match.end()
    yield TextPart(text[position:])
