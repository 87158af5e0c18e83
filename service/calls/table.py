"""The table of calls: everything that a caller at the edge may ask of a memory.

A row names a method of the client, the permission of a key, whether it writes, and the shape of its
answer; its request is read off the method. HTTP routes, their description and the remote client are
made from these rows, so all have the same calls. A public method without a row must be in
`EMBEDDED_ONLY` with its reason. An envelope travels between processes as an `EnvelopeRecord`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ...compiler.envelope.checks import HardConstraint
from ...compiler.envelope.envelope import Envelope
from ...compiler.format.grammar import parse_envelope
from ...compiler.ir.records import Asked, Gap
from ...compiler.render.cache_plan import BlockSegment, RenderPlan
from ...compiler.tokens.capabilities import Capability
from ...compiler.tokens.counting import counter_for
from ...compiler.trace.manifest import Manifest
from ...compiler.trace.metrics import Quality
from ...compiler.trace.trace import SectionUse, Trace
from ...schema.answers import (
    Action,
    ActionReceipt,
    Change,
    EntityView,
    ErasureReceipt,
    Explanation,
    HistoryRow,
    LogEntry,
    MergeReceipt,
    Neighbourhood,
    ReclassifyReceipt,
    ReviewReceipt,
    SearchResult,
    Segment,
    SlotState,
    SweepReceipt,
    UnmergeReceipt,
)
from ...schema.artifact import Artifact, Original
from ...schema.context_object import ContextObject
from ...schema.document import Citation
from ...schema.entity import Resolution, Review, SlotValue
from ...schema.policy import Policy
from ...schema.records import short_repr
from ...schema.slots import Slot
from ...schema.write import Receipt
from ...store.port.records import SessionSummary
from ..compilation.recompile import WhatIf
from ..documents.records import (
    Document,
    DocumentComparison,
    DocumentReport,
    DocumentVersion,
    DocumentView,
)
from ..reading.envelopes import StoredEnvelope
from ..reading.mentions import ResolvedMention
from ..reading.objects import StoredTool
from ..sessions.decision import WindowDecision
from ..sessions.originals import Rehydration
from ..sessions.sessions import SessionView
from ..stewardship.entities import AliasView, EntityPage
from ..stewardship.matching import Crossing, Label, RescoredCase
from ..stewardship.review_page import EntityComparison, QueueState, ReviewPage
from ..stewardship.reviews import CaseGroup
from ..visual.plane import TimePlane
from ..writing.ingest_report import IngestReport
from .parts import call_function

_OF_PLAN: Final = frozenset({"segments", "capability", "model", "cache_key"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeRecord:
    """An envelope with its trace and figures."""

    __repr__ = short_repr

    envelope_id: str
    text: str
    tokens: int
    tokens_upper: int
    digest: str
    sections: tuple[SectionUse, ...]
    constraints: tuple[HardConstraint, ...]
    manifest: Manifest
    gaps: tuple[Gap, ...]
    asked: tuple[Asked, ...]
    unmatched: tuple[str, ...]
    segments: tuple[BlockSegment, ...]
    capability: Capability
    model: str
    cache_key: str
    sidecar: Mapping[str, Any]
    trace: Trace
    quality: Quality
    citations: Mapping[str, Citation]

    @classmethod
    def from_envelope(cls, envelope: Envelope) -> EnvelopeRecord:
        """The record of an envelope."""
        # Trace and quality are worked out when they are asked for; here is the last place that can.
        fields: dict[str, Any] = {}
        for name in cls.__dataclass_fields__:
            holder = envelope.plan if name in _OF_PLAN else envelope
            fields[name] = getattr(holder, name)

        return cls(**fields)

    def envelope(self) -> Envelope:
        """The envelope again; its further pages stay where it was compiled."""
        sidecar = dict(self.sidecar)
        # The time of the compile may have come as a text.
        if isinstance(sidecar.get("at"), str):
            sidecar["at"] = datetime.fromisoformat(sidecar["at"])
        return Envelope(
            envelope_id=self.envelope_id,
            text=self.text,
            tokens=self.tokens,
            tokens_upper=self.tokens_upper,
            digest=self.digest,
            blocks=parse_envelope(self.text),
            sections=self.sections,
            constraints=self.constraints,
            manifest=self.manifest,
            gaps=self.gaps,
            asked=self.asked,
            unmatched=self.unmatched,
            plan=RenderPlan(
                segments=self.segments,
                model=self.model,
                capability=self.capability,
                counter=counter_for(self.model),
                cache_key=self.cache_key,
            ),
            sidecar=sidecar,
            _tell=lambda: self.trace,
            _measure=lambda: self.quality,
            _cite=lambda _manifest, _anchors: self.citations,
        )


class Permit(StrEnum):
    """What a key may be allowed to do; each call needs one."""

    READ = "memory:read"
    WRITE = "memory:write"
    COMPILE = "context:compile"
    DECIDE = "review:decide"
    ERASE = "erase:execute"
    ISSUE = "token:issue"
    ADMIN = "admin:*"


class PointInTime(NamedTuple):
    """A point on both axes, as a view holds it."""

    valid: datetime | None
    tx: datetime | None


@dataclass(frozen=True, slots=True)
class Call:
    """A row of the table."""

    name: str
    """The method, behind the name of its part and a dot where it is a part's."""
    answer: Any
    """The type of the answer."""
    permit: Permit = Permit.READ
    writes: bool = False

    @property
    def part(self) -> str:
        """The name of its part, empty for a method of the memory itself."""
        return self.name.rpartition(".")[0]

    @property
    def method(self) -> str:
        """The name of the method; a part that is itself a question is called."""
        name = self.name.rpartition(".")[2]
        return "__call__" if self.part == name else name

    @property
    def function(self) -> Any:
        """The method as its class defines it."""
        return call_function(self.name)


def _writing(name: str, answer: Any, permit: Permit = Permit.WRITE) -> Call:
    return Call(name, answer, permit, writes=True)


CALLS: Final[tuple[Call, ...]] = (
    _writing("write", Receipt),
    _writing("write_many", list[Receipt]),
    _writing("observe", list[Receipt]),
    _writing("replay_import", IngestReport, Permit.ADMIN),
    _writing("promote", Receipt, Permit.DECIDE),
    _writing("reclassify", ReclassifyReceipt, Permit.ADMIN),
    _writing("erase", ErasureReceipt, Permit.ERASE),
    _writing("erase_session", tuple[str, ...], Permit.ERASE),
    _writing("sweep", SweepReceipt, Permit.ADMIN),
    _writing("close_scope", SweepReceipt, Permit.ADMIN),
    Call("compile", EnvelopeRecord, Permit.COMPILE),
    Call("replay", EnvelopeRecord, Permit.COMPILE),
    Call("history", tuple[HistoryRow, ...]),
    Call("diff", tuple[Change, ...]),
    Call("log", tuple[LogEntry, ...]),
    Call("explain", Explanation),
    Call("mentions", tuple[ResolvedMention, ...]),
    Call("rehydrate", Original),
    Call("sessions.list", tuple[SessionSummary, ...]),
    Call("sessions.show", SessionView),
    Call("sessions.compile", dict[str, Any], Permit.COMPILE),
    _writing("sessions.compact", WindowDecision),
    _writing("sessions.undo", WindowDecision),
    Call("sessions.rehydrate", Rehydration),
    Call("doctor", tuple[str, ...], Permit.ADMIN),
    Call("policy", Policy),
    Call("as_of", PointInTime),
    Call("view.slot", SlotState),
    Call("view.value", SlotValue),
    Call("view.facts", dict[str, SlotState]),
    Call("view.timeline", tuple[Segment, ...]),
    Call("view.plane", TimePlane),
    Call("view.entity", EntityView),
    Call("view.neighbourhood", Neighbourhood),
    Call("view.search", SearchResult),
    Call("view.object", ContextObject),
    Call("vocabulary.slots", dict[str, Slot]),
    Call("vocabulary.tools", tuple[StoredTool, ...]),
    Call("vocabulary.values", tuple[str, ...]),
    _writing("vocabulary.define_slot", Slot, Permit.ADMIN),
    _writing("vocabulary.define", tuple[str, ...], Permit.ADMIN),
    Call("entities.resolve", Resolution),
    Call("entities.get", EntityPage),
    Call("entities.compare", EntityComparison),
    Call("entities.list", tuple[EntityView, ...]),
    Call("entities.relations", tuple[tuple[str, str, str], ...]),
    _writing("entities.add_alias", AliasView),
    _writing("entities.merge", MergeReceipt, Permit.DECIDE),
    _writing("entities.unmerge", UnmergeReceipt, Permit.DECIDE),
    Call("resolution.xref", Crossing, Permit.DECIDE),
    Call("resolution.labels", tuple[Label, ...], Permit.DECIDE),
    Call("resolution.audit", tuple[RescoredCase, ...], Permit.DECIDE),
    Call("reviews.list", tuple[Review, ...]),
    Call("reviews.get", ReviewPage),
    Call("reviews.groups", tuple[CaseGroup, ...]),
    Call("reviews.matching", tuple[Review, ...]),
    Call("reviews.progress", QueueState),
    _writing("reviews.open", Review, Permit.DECIDE),
    _writing("reviews.accept", ReviewReceipt, Permit.DECIDE),
    _writing("reviews.reject", ReviewReceipt, Permit.DECIDE),
    _writing("reviews.unsure", ReviewReceipt, Permit.DECIDE),
    _writing("reviews.undo", ReviewReceipt, Permit.DECIDE),
    _writing("reviews.decide_all", tuple[ReviewReceipt, ...], Permit.DECIDE),
    Call("actions.actions", tuple[Action, ...]),
    Call("actions.list", tuple[Action, ...]),
    _writing("actions.resolve", ActionReceipt | Receipt, Permit.DECIDE),
    _writing("actions.undo", ActionReceipt, Permit.DECIDE),
    Call("envelopes.list", tuple[StoredEnvelope, ...]),
    Call("envelopes.get", Manifest),
    Call("what_if", WhatIf, Permit.COMPILE),
    Call("artifacts.list", tuple[Artifact, ...]),
    Call("artifacts.info", Artifact),
    Call("artifacts.get", bytes),
    Call("artifacts.text", str),
    Call("artifacts.exists", bool),
    _writing("artifacts.put", Artifact),
    _writing("artifacts.erase", None, Permit.ERASE),
    _writing("documents.put", DocumentReport),
    _writing("documents.remove", DocumentReport),
    _writing("documents.reclassify", int, Permit.ADMIN),
    Call("documents.list", tuple[DocumentView, ...]),
    Call("documents.get", Document),
    Call("documents.versions", tuple[DocumentVersion, ...]),
    Call("documents.compare", DocumentComparison),
    Call("documents.cite", dict[str, Citation]),
)
"""Every call of the edge, in the order of the description."""

EMBEDDED_ONLY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bind": "a remote caller is who the credential says; the client binds by a token",
        "close": "ends the process's own hold on the store",
        "flush": "waits for work of this process",
        "media": "works on the bytes of an envelope that the caller holds",
        "ingest": "reads a path of this machine; POST /v1/ingest takes the lines",
        "export": "writes a path of this machine",
        "import_file": "reads a path of this machine",
        "transfer.abort": "POST /v1/import/abort does it",
        "transfer.export": "writes a path of this machine; GET /v1/export streams it",
        "transfer.lines": "GET /v1/export streams them",
        "transfer.import_file": "reads a path of this machine; POST /v1/import takes the lines",
        "session": "the window belongs to the process that runs the agent",
        "entities.export": "writes a path of this machine",
        "resolution.model": "a value of this process; the client's scorer is set by connect",
        "documents.sync": "reads a folder of this machine; the client sends what has changed",
        "vocabulary.apply": "the form of an import's line; define and define_slot say the same",
        "artifacts.rehydrate": "the same as rehydrate of the memory",
        "view.valid": "as_of answers it",
        "view.tx": "as_of answers it",
    }
)
"""The public names that stay in the process of the store, each with its reason."""

BY_NAME: Final[Mapping[str, Call]] = MappingProxyType({call.name: call for call in CALLS})

RAW_BODIES: Final[Mapping[str, str]] = MappingProxyType({"documents.put": "data"})
"""Calls whose body may be the bytes of one field; the others then stand in the query."""

_PATHS: Final = {"view.plane": "view/timeline/grid", "write_many": "write:batch"}

DECISIONS: Final = frozenset({"reviews.accept", "reviews.reject", "reviews.unsure", "reviews.undo"})
"""Calls that must state the version of what they decide about."""


def path_of(call: Call) -> str:
    """The path of a call over HTTP.

    >>> path_of(BY_NAME["view.slot"]), path_of(BY_NAME["write_many"])
    ('/v1/view/slot', '/v1/write:batch')
    """
    return "/v1/" + _PATHS.get(call.name, call.name.replace(".", "/"))
