"""The table of calls: everything that a caller at the edge may ask of a memory.

A row names a method of the client, what a key must be allowed for it, whether it writes, and
the shape of its answer; its request is read off the method itself. HTTP routes, their
description and the remote client are made from these rows, so none of them can know a call
that the others don't. A public method in no row must stand in `EMBEDDED_ONLY` with its reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ...compiler.trace.manifest import Manifest
from ...schema.answers import (
    Action,
    Change,
    EntityView,
    Explanation,
    HistoryRow,
    LogEntry,
    Neighbourhood,
    SearchResult,
    Segment,
    SlotState,
)
from ...schema.artifact import Artifact, Original
from ...schema.context_object import ContextObject
from ...schema.entity import Resolution, Review
from ...schema.operation import (
    ActionReceipt,
    ErasureReceipt,
    MergeReceipt,
    ReclassifyReceipt,
    ReviewReceipt,
    SweepReceipt,
    UnmergeReceipt,
)
from ...schema.policy import Policy
from ...schema.slots import Slot
from ...schema.write import Receipt
from ...store.port.sessions import SessionSummary
from ..artifacts.artifacts import Artifacts
from ..client.memory import Memory
from ..compilation.recompile import WhatIf
from ..reading.envelopes import Envelopes, StoredEnvelope
from ..reading.mentions import ResolvedMention
from ..reading.tools import StoredTool
from ..reading.view import View
from ..stewardship.actions import Actions
from ..stewardship.comparing import EntityComparison
from ..stewardship.entities import AliasView, Entities, EntityPage
from ..stewardship.matching import Crossing, Label, Matching
from ..stewardship.prompts import PromptPreview
from ..stewardship.rescoring import RescoredCase
from ..stewardship.review_groups import CaseGroup
from ..stewardship.review_page import QueueState, ReviewPage
from ..stewardship.reviews import Reviews
from ..stewardship.transfer import Transfer
from ..visual.plane import TimePlane
from ..writing.ingest_report import IngestReport
from ..writing.vocabulary import Words
from .envelope import EnvelopeRecord


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


PARTS: Final[Mapping[str, type]] = MappingProxyType(
    {
        "": Memory,
        "actions": Actions,
        "artifacts": Artifacts,
        "entities": Entities,
        "resolution": Matching,
        "envelopes": Envelopes,
        "reviews": Reviews,
        "transfer": Transfer,
        "view": View,
        "vocabulary": Words,
    }
)
"""The classes of the client, by the name that stands before the dot of a call."""


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
        return getattr(PARTS[self.part], self.method)


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
    Call("sessions", tuple[SessionSummary, ...]),
    Call("doctor", tuple[str, ...], Permit.ADMIN),
    Call("policy", Policy),
    Call("as_of", PointInTime),
    Call("view.slot", SlotState),
    Call("view.value", Any),
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
    Call("resolution.doubtful", tuple[RescoredCase, ...], Permit.DECIDE),
    Call("reviews.list", tuple[Review, ...]),
    Call("reviews.get", ReviewPage),
    Call("reviews.preview", PromptPreview, Permit.DECIDE),
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
        "vocabulary.apply": "the form of an import's line; define and define_slot say the same",
        "artifacts.rehydrate": "the same as rehydrate of the memory",
        "view.valid": "as_of answers it",
        "view.tx": "as_of answers it",
    }
)
"""The public names that stay in the process of the store, each with its reason."""

BY_NAME: Final[Mapping[str, Call]] = MappingProxyType({call.name: call for call in CALLS})

DECISIONS: Final = frozenset({"reviews.accept", "reviews.reject", "reviews.unsure", "reviews.undo"})
"""Calls that must state the version of what they decide about."""


def path_of(call: Call) -> str:
    """The path of a call over HTTP.

    >>> path_of(BY_NAME["view.slot"]), path_of(BY_NAME["write_many"])
    ('/v1/view/slot', '/v1/write:batch')
    """
    if call.name == "write_many":
        return "/v1/write:batch"
    return "/v1/" + call.name.replace(".", "/")
