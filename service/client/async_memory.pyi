"""Every method of the client, awaited. Made by `tests/async_stub.py`; do not edit."""

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, Self, Unpack

from ...compiler.envelope.envelope import Envelope
from ...compiler.gathering.rerank import Reranker
from ...compiler.render.media import Originals, SentMedia
from ...compiler.trace.manifest import Manifest
from ...resolution.bind import Scorer
from ...resolution.extract import MentionExtractor
from ...resolution.model import Model
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
from ...schema.artifact import MAX_BYTES, Artifact, Original
from ...schema.context_object import ContextObject
from ...schema.document import Citation
from ...schema.entity import Resolution, Review
from ...schema.policy import DEFAULT, Policy
from ...schema.principal import OWNER, Principal, Scope
from ...schema.slots import (
    ActionStatus,
    GraphForm,
    Remembered,
    ReviewKind,
    ReviewStatus,
    Slot,
    Vocabulary,
)
from ...schema.window_policy import WindowPolicy
from ...schema.write import Moment, Receipt, Write
from ...store.port.records import DATABASE, SessionSummary
from ...store.search.caches import DEFAULT_BOUNDS, CacheBounds
from ...store.transfer.artifact_files import ArtifactFiles
from ...store.transfer.restore import Watch
from ...window.checkpoint import Probe, ScratchpadEntry, TaskBootstrap, TaskCheckpoint
from ...window.events import Note, WindowEvent
from ...window.intake import Message
from ...window.ledger import EditPlan
from ...window.report import FidelityJudge
from ...window.state import WindowState
from ...window.subsystems import Subsystems
from ..backend.backend import Clock, Ids, uuid7, wall_clock
from ..backend.words import (
    ClassificationWord,
    DefinedList,
    LayerWord,
    ObjectTypeWord,
    ScopeKind,
    WriteFields,
)
from ..compilation.compile import Replayable, RequestFields
from ..compilation.recompile import RequestTerms, WhatIf
from ..documents.records import (
    Document,
    DocumentComparison,
    DocumentReport,
    DocumentVersion,
    DocumentView,
    SyncReport,
)
from ..documents.terms import PutFields, SyncFields
from ..encoders.encoder import Encoder
from ..extraction.claims import Extractor
from ..reading.envelopes import StoredEnvelope
from ..reading.mentions import ResolvedMention, StatedMentions
from ..reading.objects import StoredTool
from ..reading.view import EntityLike
from ..sessions.core import Listener
from ..sessions.decision import RequestTarget, SessionContext, Usage, WindowDecision
from ..sessions.originals import Rehydration
from ..sessions.reading import SessionReport
from ..sessions.session import NoteStatus, NoteWord, ResultKind
from ..sessions.sessions import SessionView
from ..sessions.summarising import Summariser, SummaryReport
from ..sessions.terms import SessionTerms
from ..stewardship.entities import AliasView, EntityPage
from ..stewardship.matching import MOST_PAIRS, STRETCH, Crossing, Label, RescoredCase
from ..stewardship.review_page import EntityComparison, QueueState, ReviewPage
from ..stewardship.reviews import CaseGroup
from ..stewardship.transfer import TransferReport
from ..visual.plane import TimePlane
from ..writing.ingest_report import IngestReport
from ..writing.observe import IngestFields
from ..writing.vocabulary import SlotFields
from .connect import Cells, Durability
from .memory import Memory

class AsyncPart: ...

class AsyncView(AsyncPart):
    @property
    def valid(self) -> datetime | None: ...
    @property
    def tx(self) -> datetime | None: ...
    async def slot(
        self, entity: EntityLike, slot: str, scope: Scope | Mapping[str, str] | None = None
    ) -> SlotState: ...
    async def value(self, entity: EntityLike, slot: str, default: Any = None) -> Any: ...
    async def facts(self, entity: EntityLike) -> dict[str, SlotState]: ...
    async def timeline(self, entity: EntityLike, slot: str) -> tuple[Segment, ...]: ...
    async def plane(self, entity: EntityLike, slot: str) -> TimePlane: ...
    async def entity(self, mention: EntityLike) -> EntityView: ...
    async def neighbourhood(
        self, entity: EntityLike, hops: int = 2, limit: int = 50
    ) -> Neighbourhood: ...
    async def search(
        self,
        text: str,
        limit: int = 10,
        entity: EntityLike | None = None,
        object_type: ObjectTypeWord | None = None,
    ) -> SearchResult: ...
    async def object(self, object_id: str) -> ContextObject: ...

class AsyncEnvelopes(AsyncPart):
    async def list(
        self,
        limit: int = 100,
        *,
        object_id: str | None = None,
        session: str | None = None,
        task: str | None = None,
        since: Moment = None,
        until: Moment = None,
    ) -> tuple[StoredEnvelope, ...]: ...
    async def get(self, envelope_id: str) -> Manifest: ...

class AsyncArtifacts(AsyncPart):
    async def put(
        self,
        data: bytes | str,
        *,
        name: str = "",
        media_type: str | None = None,
        origin: str = "",
        scope: Scope | Mapping[str, str] | None = None,
        security_classification: ClassificationWord | None = None,
        allow_roles: Sequence[str] = (),
        deny_roles: Sequence[str] = (),
        object_ids: Sequence[str] = (),
    ) -> Artifact: ...
    async def get(
        self, address: str, *, scope: Scope | Mapping[str, str] | None = None
    ) -> bytes: ...
    async def text(self, address: str) -> str: ...
    async def info(
        self, address: str, *, scope: Scope | Mapping[str, str] | None = None
    ) -> Artifact: ...
    async def exists(self, address: str) -> bool: ...
    async def list(self, limit: int = 100) -> tuple[Artifact, ...]: ...
    async def erase(self, address: str, *, reason: str) -> None: ...
    async def rehydrate(self, pointer: str, *, envelope: Envelope | None = None) -> Original: ...

class AsyncDocuments(AsyncPart):
    async def put(
        self,
        data: bytes | str,
        *,
        name: str,
        effective: Moment = None,
        url: str | None = None,
        **terms: Unpack[PutFields],
    ) -> DocumentReport: ...
    async def sync(self, folder: str | Path, **options: Unpack[SyncFields]) -> SyncReport: ...
    async def list(
        self, *, source: str | None = None, valid: Moment = None, tx: Moment = None
    ) -> tuple[DocumentView, ...]: ...
    async def get(self, name: str, *, valid: Moment = None, tx: Moment = None) -> Document: ...
    async def versions(self, name: str) -> tuple[DocumentVersion, ...]: ...
    async def compare(
        self, name: str, a: Moment, b: Moment, *, tx: Moment = None
    ) -> DocumentComparison: ...
    async def cite(
        self, object_ids: Sequence[str], *, valid: Moment = None, tx: Moment = None
    ) -> dict[str, Citation]: ...
    async def remove(self, name: str, *, effective: Moment = None) -> DocumentReport: ...
    async def reclassify(
        self,
        name: str,
        *,
        security_classification: ClassificationWord | None = None,
        allow_roles: Sequence[str] | None = None,
        deny_roles: Sequence[str] | None = None,
    ) -> int: ...

class AsyncWords(AsyncPart):
    async def define_slot(self, name: str, **fields: Unpack[SlotFields]) -> Slot: ...
    async def define(
        self, what: DefinedList, name: str, *, description: str = "", parent: str | None = None
    ) -> tuple[str, ...]: ...
    async def apply(self, definition: Mapping[str, Any]) -> Vocabulary: ...
    async def slots(self) -> Mapping[str, Slot]: ...
    async def tools(self) -> tuple[StoredTool, ...]: ...
    async def values(self, what: DefinedList) -> tuple[str, ...]: ...

class AsyncActions(AsyncPart):
    async def __call__(self, status: ActionStatus = "open") -> tuple[Action, ...]: ...
    async def list(self, status: ActionStatus = "open") -> tuple[Action, ...]: ...
    async def resolve(
        self,
        action_id: str,
        *,
        winner: str | None = None,
        value: Any = None,
        accept: bool | None = None,
    ) -> ActionReceipt | Receipt: ...
    async def undo(self, action_id: str) -> ActionReceipt: ...

class AsyncEntities(AsyncPart):
    async def resolve(
        self,
        mention: EntityLike,
        type: str | None = None,
        *,
        scope: Scope | Mapping[str, str] | None = None,
        near: Sequence[str] = (),
    ) -> Resolution: ...
    async def get(self, entity: EntityLike) -> EntityPage: ...
    async def compare(self, a: EntityLike, b: EntityLike) -> EntityComparison: ...
    async def list(
        self, type: str | None = None, *, after: str = "", limit: int | None = None
    ) -> tuple[EntityView, ...]: ...
    async def add_alias(
        self, entity: str, alias: str, *, scope: Scope | Mapping[str, str] | None = None
    ) -> AliasView: ...
    async def merge(self, a: str, b: str, *, reason: str = "") -> MergeReceipt: ...
    async def unmerge(self, merge_id: str, *, reason: str = "") -> UnmergeReceipt: ...
    async def export(
        self, path: str | Path | None = None, *, format: GraphForm = "graphml"
    ) -> str: ...
    async def relations(self) -> tuple[tuple[str, str, str], ...]: ...

class AsyncMatching(AsyncPart):
    @property
    def model(self) -> Model | None: ...
    async def xref(
        self,
        *,
        type: str | None = None,
        after: str = "",
        entities: int = STRETCH,
        limit: int = MOST_PAIRS,
    ) -> Crossing: ...
    async def audit(self) -> tuple[RescoredCase, ...]: ...
    async def labels(self) -> tuple[Label, ...]: ...

class AsyncReviews(AsyncPart):
    async def list(
        self, status: ReviewStatus = "open", *, kind: ReviewKind = "blocking"
    ) -> tuple[Review, ...]: ...
    async def get(self, review_id: str) -> ReviewPage: ...
    async def open(self, a: str, b: str, *, reason: str = "") -> Review: ...
    async def accept(
        self,
        review_id: str,
        *,
        entity: str | None = None,
        remember: Remembered = "scope",
        version: int | None = None,
        reason: str = "",
    ) -> ReviewReceipt: ...
    async def reject(
        self,
        review_id: str,
        *,
        parts: Sequence[Sequence[str]] = (),
        version: int | None = None,
        reason: str = "",
    ) -> ReviewReceipt: ...
    async def unsure(
        self, review_id: str, *, version: int | None = None, reason: str = ""
    ) -> ReviewReceipt: ...
    async def undo(
        self, review_id: str, *, version: int | None = None, reason: str = ""
    ) -> ReviewReceipt: ...
    async def progress(self) -> QueueState: ...
    async def matching(
        self,
        *,
        mention: str | None = None,
        scope: str | None = None,
        type: str | None = None,
        source: str | None = None,
    ) -> tuple[Review, ...]: ...
    async def groups(self, by: str = "mention") -> tuple[CaseGroup, ...]: ...
    async def decide_all(
        self, cases: Sequence[Review], decision: str, *, reason: str = ""
    ) -> tuple[ReviewReceipt, ...]: ...

class AsyncTransfer(AsyncPart):
    async def export(
        self,
        path: str | Path,
        *,
        keys: bool = True,
        replace: bool = False,
        watch: Callable[[int], None] | None = None,
    ) -> TransferReport: ...
    async def lines(self, *, keys: bool = False) -> Iterator[str]: ...
    async def import_file(
        self,
        path: str | Path,
        *,
        resume: bool = False,
        accept_future: bool = False,
        watch: Watch | None = None,
    ) -> TransferReport: ...
    async def abort(self) -> None: ...

class AsyncSessions(AsyncPart):
    async def list(self) -> tuple[SessionSummary, ...]: ...
    async def show(self, name: str) -> SessionView: ...
    async def compile(
        self, name: str, query: str | None = None, *, target: RequestTarget = "anthropic"
    ) -> dict[str, Any]: ...
    async def compact(
        self, name: str, *, focus: str = "", keep: Sequence[str] = (), to: int | None = None
    ) -> WindowDecision: ...
    async def undo(self, name: str, edit: int) -> WindowDecision: ...
    async def rehydrate(self, name: str, request: str) -> Rehydration: ...

class AsyncSession(AsyncPart):
    async def on_turn_start(
        self, message: Message, *, key: str | None = None
    ) -> WindowDecision: ...
    async def on_step(
        self, message: Message, usage: Usage | None = None, *, key: str | None = None
    ) -> WindowDecision: ...
    async def on_tool_result(
        self, call_id: str, content: Any, kind: ResultKind | None = None, *, is_error: bool = False
    ) -> WindowDecision: ...
    async def late_result(
        self, call_id: str, content: Any, kind: ResultKind | None = None, *, is_error: bool = False
    ) -> WindowDecision: ...
    async def on_turn_end(
        self, message: Message | None = None, usage: Usage | None = None, *, milestone: str = ""
    ) -> WindowDecision: ...
    async def on_overflow(self, error: str | BaseException | None = None) -> WindowDecision: ...
    async def adopt(self, messages: Iterable[Message]) -> WindowDecision: ...
    async def compact(
        self, *, focus: str = "", keep: Iterable[int | str] = (), to: int | None = None
    ) -> WindowDecision: ...
    async def undo(self, edit: int) -> WindowDecision: ...
    async def forget(self, item: int | str) -> WindowDecision: ...
    async def pin(self, item: int | str, *, until: int | None = None) -> WindowDecision: ...
    async def unpin(self, item: int | str) -> WindowDecision: ...
    async def note(
        self, category: NoteWord, text: str, *, status: NoteStatus | None = None
    ) -> int: ...
    async def drop_note(self, note: int) -> WindowDecision: ...
    async def link(
        self, receipts: Iterable[Receipt], item: int | str | None = None
    ) -> WindowDecision: ...
    async def abandon(self, call_id: str) -> WindowDecision: ...
    async def fork(self, name: str, *, at: int | None = None) -> AsyncSession: ...
    async def delegate(
        self, name: str, task: str, *, budget_tokens: int = 50000
    ) -> AsyncSession: ...
    async def conclude(self, conclusion: str, *, since: int, task: str = "") -> WindowDecision: ...
    async def use(
        self,
        model: str | None = None,
        *,
        tools: Sequence[Any] | None = None,
        system: str | None = None,
        window: int | None = None,
        reserve_tokens: int | None = None,
    ) -> WindowDecision: ...
    async def checkpoint(self, *, predecessor: str | None = None) -> TaskCheckpoint: ...
    async def close(self) -> WindowDecision: ...
    async def summarise(self, summariser: Summariser | str, *, most: int = 8) -> SummaryReport: ...
    @property
    def state(self) -> WindowState: ...
    async def checkpoints(self) -> tuple[HistoryRow, ...]: ...
    @property
    def notes(self) -> tuple[Note, ...]: ...
    async def compile(
        self, query: str | None = None, *, task: str = "system_orchestration", **options: Any
    ) -> SessionContext: ...
    async def replay(self, reference: Replayable) -> SessionContext: ...
    async def would_fit(self, text: str) -> bool: ...
    async def rehydrate(self, request: int | str) -> Rehydration: ...
    async def scratchpad(self) -> tuple[ScratchpadEntry, ...]: ...
    async def media(self, item: int | str) -> list[dict[str, Any]]: ...
    async def tools(self, target: RequestTarget = "anthropic") -> list[dict[str, Any]]: ...
    async def events(self, after: int = 0) -> tuple[WindowEvent, ...]: ...
    async def report(self, *, judge: FidelityJudge | None = None) -> SessionReport: ...
    async def preview(
        self, *, focus: str = "", keep: Iterable[int | str] = (), to: int | None = None
    ) -> EditPlan | None: ...
    async def conclusion(self) -> str: ...
    async def bootstrap(
        self, probes: Mapping[str, Probe] | None = None, *, budget_tokens: int = 4000
    ) -> TaskBootstrap: ...
    async def listen(self, listener: Listener | None) -> None: ...

class AsyncMemory:
    def __init__(
        self, opening: Callable[[], Awaitable[Memory]], *, shared: bool = False
    ) -> None: ...
    async def opened(self) -> Memory: ...
    async def __aenter__(self) -> Self: ...
    def __await__(self) -> Generator[Any, None, Self]: ...
    def bind(self, principal: Principal) -> AsyncMemory: ...
    async def __aexit__(self, *exc: object) -> None: ...
    async def close(self) -> None: ...
    async def as_of(self, valid: Moment = None, tx: Moment = None) -> AsyncView: ...
    async def erase(
        self,
        object_id: str | None = None,
        *,
        entity: EntityLike | None = None,
        document: str | None = None,
        reason: str,
    ) -> ErasureReceipt: ...
    async def erase_session(
        self, name: str, *, user: str | None = None, reason: str
    ) -> tuple[str, ...]: ...
    async def reclassify(
        self,
        object_id: str,
        *,
        security_classification: ClassificationWord | None = None,
        allow_roles: Sequence[str] | None = None,
        deny_roles: Sequence[str] | None = None,
    ) -> ReclassifyReceipt: ...
    async def promote(self, object_id: str, *, scope: Scope | Mapping[str, str]) -> Receipt: ...
    async def sweep(self, *, dry_run: bool = False, limit: int = 500) -> SweepReceipt: ...
    async def close_scope(self, kind: ScopeKind, scope: str) -> SweepReceipt: ...
    async def doctor(self) -> tuple[str, ...]: ...
    async def history(self, entity: EntityLike, slot: str) -> tuple[HistoryRow, ...]: ...
    async def diff(
        self, tx1: Moment, tx2: Moment, entity: EntityLike | None = None
    ) -> tuple[Change, ...]: ...
    async def log(
        self,
        since: Moment = None,
        *,
        until: Moment = None,
        entity: EntityLike | None = None,
        limit: int = 50,
    ) -> tuple[LogEntry, ...]: ...
    async def explain(self, object_id: str) -> Explanation: ...
    async def flush(self) -> None: ...
    async def policy(self) -> Policy: ...
    @property
    def vocabulary(self) -> AsyncWords: ...
    async def write(
        self,
        subject: EntityLike | None = None,
        slot: str | None = None,
        value: Any = None,
        *,
        dry_run: bool = False,
        **fields: Unpack[WriteFields],
    ) -> Receipt: ...
    async def write_many(
        self, writes: Iterable[Write], *, dry_run: bool = False
    ) -> list[Receipt]: ...
    async def observe(
        self,
        text: str | Sequence[Mapping[str, Any]],
        speaker: EntityLike | None = None,
        *,
        source_origin: str = "chat://local",
        at: Moment = None,
        why_it_matters: str | None = None,
        applicable_task_types: Sequence[str] = (),
        mentions: StatedMentions = (),
        layer: LayerWord = "user",
        decay_rule: Mapping[str, float] | None = None,
    ) -> list[Receipt]: ...
    async def ingest(self, path: str | Path, **fields: Unpack[IngestFields]) -> IngestReport: ...
    async def replay_import(self, events: Iterable[Mapping[str, Any]]) -> IngestReport: ...
    async def export(
        self, path: str | Path, *, keys: bool = True, replace: bool = False
    ) -> TransferReport: ...
    async def import_file(
        self, path: str | Path, *, resume: bool = False, accept_future: bool = False
    ) -> TransferReport: ...
    @property
    def transfer(self) -> AsyncTransfer: ...
    async def compile(
        self, task: str, query: str = "", **fields: Unpack[RequestFields]
    ) -> Envelope: ...
    async def session(
        self,
        name: str,
        *,
        policy: WindowPolicy | str | Path | None = None,
        subsystems: Subsystems | None = None,
        **terms: Unpack[SessionTerms],
    ) -> AsyncSession: ...
    @property
    def sessions(self) -> AsyncSessions: ...
    async def replay(
        self, manifest: Manifest | Envelope | StoredEnvelope | Mapping[str, Any] | str
    ) -> Envelope: ...
    async def what_if(self, envelope_id: str, **terms: Unpack[RequestTerms]) -> WhatIf: ...
    @property
    def envelopes(self) -> AsyncEnvelopes: ...
    @property
    def artifacts(self) -> AsyncArtifacts: ...
    @property
    def documents(self) -> AsyncDocuments: ...
    async def media(
        self, envelope: Envelope, *, originals: Originals | None = None
    ) -> dict[str, SentMedia]: ...
    async def rehydrate(self, pointer: str, *, envelope: Envelope | None = None) -> Original: ...
    @property
    def actions(self) -> AsyncActions: ...
    async def mentions(self, text: str) -> tuple[ResolvedMention, ...]: ...
    @property
    def entities(self) -> AsyncEntities: ...
    @property
    def reviews(self) -> AsyncReviews: ...
    @property
    def resolution(self) -> AsyncMatching: ...

def aconnect(
    url: str | PathLike[str] = "memory.db",
    *,
    principal: Principal = OWNER,
    policy: Policy = DEFAULT,
    auth: tuple[str, str] | None = None,
    database: str = DATABASE,
    cells: Cells = (),
    vector_index: bool = False,
    durability: Durability = "full",
    caches: CacheBounds = DEFAULT_BOUNDS,
    encoder: Encoder | str | None = None,
    extractor: Extractor | str | None = None,
    answers: str | None = None,
    mentions: MentionExtractor | str | None = None,
    reranker: Reranker | None = None,
    scorer: Scorer | None = None,
    clock: Clock = wall_clock,
    ids: Ids = uuid7,
    tenant_key: bytes | None = None,
    artifacts: ArtifactFiles | str | None = None,
    artifact_bytes: int = MAX_BYTES,
    token: str | None = None,
) -> AsyncMemory: ...
