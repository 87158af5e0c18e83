"""`Memory`: the client of tenure, the same over every store.

A memory is a store seen by one principal. It is immutable and cheap: `bind` gives the same
store to another caller. Writes return receipts, reads are methods of a `View`, and nothing
here holds state of a request. `Upkeep` holds its views, history, erasure and maintenance.

>>> from tenure import connect
>>> with connect(":memory:") as memory:
...     receipt = memory.write(subject="Sam Rivera", slot="office", value="Chicago")
...     memory.as_of().value("Sam Rivera", "office")
'Chicago'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from ...schema.policy import Policy
from ...schema.principal import Principal, Scope, check_principal
from ...schema.vocabulary import StateLayer, parse
from ...schema.write import Moment, Receipt, Write
from ..backend.caller import Caller, argument_checks, check_field_names
from ..backend.words import ClassificationWord, LayerWord, ScopeKind, WriteFields

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ...compiler.render.media import Originals, SentMedia
    from ...compiler.trace.manifest import Manifest
    from ...schema.answers import (
        Change,
        ErasureReceipt,
        Explanation,
        HistoryRow,
        LogEntry,
        ReclassifyReceipt,
        SweepReceipt,
    )
    from ...schema.artifact import Original
    from ...schema.window_policy import WindowPolicy
    from ...window.subsystems import Subsystems
    from ..artifacts.artifacts import Artifacts
    from ..compilation.compile import RequestFields
    from ..compilation.recompile import RequestTerms, WhatIf
    from ..documents.documents import Documents
    from ..reading.audit import Auditor
    from ..reading.envelopes import Envelopes, StoredEnvelope
    from ..reading.mentions import ResolvedMention, StatedMentions
    from ..reading.view import EntityLike, View
    from ..sessions.session import Session
    from ..sessions.sessions import Sessions
    from ..sessions.terms import SessionTerms
    from ..stewardship.actions import Actions
    from ..stewardship.entities import Entities
    from ..stewardship.matching import Matching
    from ..stewardship.operations import Steward
    from ..stewardship.reviews import Reviews
    from ..stewardship.transfer import Transfer, TransferReport
    from ..writing.ingest_report import IngestReport
    from ..writing.observe import IngestFields
    from ..writing.vocabulary import Words
    from ..writing.write import Writer


@argument_checks
@dataclass(frozen=True, slots=True)
class Upkeep(Caller):
    """What was believed, who did what, and what is taken out or kept in order."""

    def as_of(self, valid: Moment = None, tx: Moment = None) -> View:
        """Return the view of (valid, tx); None means now.

        `as_of()` is what is true now, `as_of(t, t)` what was believed at t, and `as_of(v, k)`
        what was true at v as known at k.
        """
        from ..reading.view import pinned_now

        return pinned_now(self._backend, self.principal, valid, tx)

    def erase(
        self,
        object_id: str | None = None,
        *,
        entity: EntityLike | None = None,
        document: str | None = None,
        reason: str,
    ) -> ErasureReceipt:
        """Empty an object, or an entity with all that is said about it; a tombstone stays.

        A `document`, by its name, goes with every version, its original and its passages.

        Now the slots show what resurfaces; at an earlier tx they show `erased`. The reason stays:
        name a case in it.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `missing_reason`, `missing_subject`, `reason_names_erased`.
            NotFound: `unknown_object`, `unknown_entity`, `unknown_document`.
        """
        return self._steward().erase(object_id, entity, reason, document=document)

    def erase_session(self, name: str, *, user: str | None = None, reason: str) -> tuple[str, ...]:
        """Empty every text of a session, this caller's or a user's, and close it.

        The ids of the objects that went with it are returned, sorted: its checkpoints.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_session`.
        """
        scope = Scope(user=user or self.principal.user, session=name)
        return self._steward().erase_session(scope.scope_id, reason)

    def reclassify(
        self,
        object_id: str,
        *,
        security_classification: ClassificationWord | None = None,
        allow_roles: Sequence[str] | None = None,
        deny_roles: Sequence[str] | None = None,
    ) -> ReclassifyReceipt:
        """Change who may see an object, at all times at once; what is not stated stays.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_object`.
        """
        roles = allow_roles, deny_roles
        return self._steward().reclassify(object_id, security_classification, *roles)

    def promote(self, object_id: str, *, scope: Scope | Mapping[str, str]) -> Receipt:
        """Say what an object says in a wider scope; `scope={}` is the whole tenant.

        The promoted object is a new one, derived from the first; retract it to take it back.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `bad_scope`, `source_quarantined`.
            NotFound: `unknown_object`.
        """
        return self._steward().promote(object_id, scope)

    def sweep(self, *, dry_run: bool = False, limit: int = 500) -> SweepReceipt:
        """Retire what has decayed below its threshold, `limit` objects at once; privileged."""
        return self._steward().sweep(dry_run=dry_run, limit=limit)

    def close_scope(self, kind: ScopeKind, scope: str) -> SweepReceipt:
        """Retire what lived only until a `session`, `task` or `project` closed.

        Who is in a session closes it for its own user; all else is an operator's.
        """
        return self._steward().close_scope(kind, scope)

    def doctor(self) -> tuple[str, ...]:
        """Check every invariant of the tenant; return a sentence for each that is broken."""
        return self._steward().doctor()

    def history(self, entity: EntityLike, slot: str) -> tuple[HistoryRow, ...]:
        """Return every version of a slot on both axes, oldest transaction first."""
        return self._auditor().history(entity, slot)

    def diff(
        self, tx1: Moment, tx2: Moment, entity: EntityLike | None = None
    ) -> tuple[Change, ...]:
        """Return the changes of belief after tx1, up to and with tx2, in order of tx."""
        return self._auditor().diff(tx1, tx2, entity)

    def log(
        self,
        since: Moment = None,
        *,
        until: Moment = None,
        entity: EntityLike | None = None,
        limit: int = 50,
    ) -> tuple[LogEntry, ...]:
        """Who did what and when, newest first: the caller's own transactions.

        Auditors, administrators and owners read those of everybody. `since` is left out of the
        span and `until` is in it; with `entity` only what changed the beliefs about it.
        """
        from ..reading.audit import TransactionLog

        return TransactionLog(self._backend, self.principal).entries(since, until, entity, limit)

    def explain(self, object_id: str) -> Explanation:
        """Return where an object comes from, what it met, and what was compiled from it.

        The id of a write that confirmed or took back what stood leads to what stood, and that of
        what another line of the same write replaced to what replaced it.

        Raises:
            NotFound: `unknown_object`, also for what the caller may not see.
        """
        return self._auditor().explain(object_id)

    def _steward(self) -> Steward:
        from ..stewardship.operations import Steward

        return Steward(self._backend, self.principal)

    def _auditor(self) -> Auditor:
        from ..reading.audit import Auditor

        return Auditor(self._backend, self.principal, self.as_of())


@argument_checks
@dataclass(frozen=True, slots=True)
class Memory(Upkeep):
    """A store, seen by one caller."""

    def bind(self, principal: Principal) -> Memory:
        """Return the same store for another caller.

        Raises:
            InvalidInput: `bad_principal`, for what is no `Principal`.
        """
        check_principal(principal)
        self._backend.open(principal.tenant)
        return Memory(self._backend, principal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Finish what is queued and close the store; nothing acknowledged is lost."""
        self._backend.close()

    def flush(self) -> None:
        """Wait until all that was written can be found by meaning too, and all logs are kept.

        Raises:
            TenureError: what making the vectors met; the claims themselves are safe, and the
                next call tries again.
        """
        self._backend.flush()

    @property
    def policy(self) -> Policy:
        """The policy pack in force."""
        return self._backend.policy

    @property
    def vocabulary(self) -> Words:
        """Return the tenant's bounded lists, to read and to extend."""
        from ..writing.vocabulary import Words

        return Words(self._backend, self.principal)

    def write(
        self,
        subject: EntityLike | None = None,
        slot: str | None = None,
        value: Any = None,
        *,
        dry_run: bool = False,
        **fields: Unpack[WriteFields],
    ) -> Receipt:
        """Write one claim, or one text, and return its receipt.

        The subject is a name, an entity id or an `EntityRef`; it is resolved before the
        write. The further fields are those of `Write`: `valid_from` defaults to the write's own
        stamp, `valid_until` to open. With `dry_run` the receipt says what would happen and
        nothing is written.

        Raises:
            InvalidInput: for anything malformed, unknown, too large or missing.
            Forbidden: for a level or a scope that is not the caller's.
            Conflict: `idempotency_mismatch`, `identifier_conflict`; `stale_version`, when not
                what the write `expected` is in the slot.
        """
        check_field_names(WriteFields, fields, "field of a write")
        write = Write(subject=subject, slot=slot, value=value, **fields)
        return self._writer().write_many((write,), dry_run=dry_run)[0]

    def write_many(self, writes: Iterable[Write], *, dry_run: bool = False) -> list[Receipt]:
        """Write several claims in order, in one transaction with one stamp: all or nothing."""
        return list(self._writer().write_many(tuple(writes), dry_run=dry_run))

    def observe(
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
    ) -> list[Receipt]:
        """Keep a text verbatim and write the claims it makes about its speaker.

        The receipt of the passage comes first, then one for each claim; all share one
        transaction. `at` is when it was said, now by default. `text` may be the messages of a
        conversation as a provider takes them, each kept in a transaction of its own: those of
        the user are said by `speaker`, by default the caller's own user, those of the assistant
        and of tools by nobody, at the levels of their origins `agent://` and `tool://`.

        The passage is linked to the entities it names; `mentions` states some as (start, end,
        whom), and these win over what is found. `explain` tells the links.

        Text and claims are in the caller's user, else in its session. A `layer` of `session`,
        `task` or `project` narrows that, and they end with it; `decay_rule` (`half_life_days`,
        `minimum_threshold`) is that of the text, which else does not fade.

        Raises:
            InvalidInput: `bad_mention`, `scope_missing`, or whatever a write would refuse.
        """
        from ..writing.observe import Observation, Observer

        frame = Observation(
            text="",
            speaker=speaker,
            source_origin=source_origin,
            at=at,
            why_it_matters=why_it_matters,
            applicable_task_types=applicable_task_types,
            mentions=mentions,
            layer=parse(StateLayer, layer),
            decay_rule=decay_rule,
        )
        return Observer(self._backend, self.principal).observe_all(text, frame)

    def ingest(self, path: str | Path, **fields: Unpack[IngestFields]) -> IngestReport:
        """Import a JSON Lines file or a table (`.csv`) and report what it did.

        The whole file is looked at before anything is written; `check` stops there, and its report
        names every line that would be refused. With `keep_going` refused lines go to
        `NAME.rejects.jsonl` next to the file, and `retry` tries those of such a file again.
        `mapping` says which column of a table fills which field; `replay` loads a history: lines
        with one `recorded_at` are one transaction, and those stored already are skipped. `.gz` is
        unpacked, and `-` is standard input.

        Raises:
            TenureError: the one line that cannot be taken, with its number in front.
            InvalidInput: `rejected_lines`, with all of them; `bad_mapping`, `bad_settings`.
        """
        from ..writing.ingest import Importer
        from ..writing.observe import choices_of

        return Importer(self._backend, self.principal, choices_of(path, fields)).file(path)

    def replay_import(self, events: Iterable[Mapping[str, Any]]) -> IngestReport:
        """Load a history of events with explicit, rising `recorded_at`; privileged.

        Raises:
            TenureError: the first event that cannot be taken, with its place in front.
        """
        from ..writing.ingest import import_history

        return import_history(self._backend, self.principal, events)

    def export(
        self, path: str | Path, *, keys: bool = True, replace: bool = False
    ) -> TransferReport:
        """Write everything of the tenant into a file (`.gz` is packed); privileged.

        The file is lossless and only its owner may read it; `keys` adds the tenant's secret keys.

        Raises:
            Conflict: `file_exists`, unless `replace`.
        """
        return self.transfer.export(path, keys=keys, replace=replace)

    def import_file(
        self, path: str | Path, *, resume: bool = False, accept_future: bool = False
    ) -> TransferReport:
        """Import an export into this tenant, which must be empty, or `resume`; privileged.

        An export that ends later than the clock is refused, unless `accept_future`: every later
        write would carry its stamp.

        Raises:
            Conflict: `tenant_not_empty`; `in_progress`, without `resume`.
            InvalidInput: `bad_export`, `tx_in_future`; nothing was written.
        """
        return self.transfer.import_file(path, resume=resume, accept_future=accept_future)

    @property
    def transfer(self) -> Transfer:
        """Return the tenant as a file: `.export`, `.import_file` that can be watched, `.abort`."""
        from ..stewardship.transfer import Transfer

        return Transfer(self._backend, self.principal)

    def compile(self, task: str, query: str = "", **fields: Unpack[RequestFields]) -> Envelope:
        """Compile the context envelope of a task: permission-safe, current, within budget.

        `task` is a task type; the further fields are those of a request, `user` whom it is for.
        The same view, request and policy give the same bytes. What stayed out is in
        `envelope.trace`, with the stage and the reason.

        Raises:
            InvalidInput: for an unknown task type or a malformed item.
            ContextBudgetExhausted: when required blocks alone are larger than the budget.
        """
        from ..compilation.compile import Compiler

        return Compiler(self._backend, self.principal).compile(task, {"query": query, **fields})

    def session(
        self,
        name: str,
        *,
        policy: WindowPolicy | str | Path | None = None,
        subsystems: Subsystems | None = None,
        **terms: Unpack[SessionTerms],
    ) -> Session:
        """Open or resume a session of this caller: the window of an agent, kept in the store.

        `window` is needed for a model whose window is not known; a session keeps the terms of its
        first call. `policy` may be the path of a TOML or YAML file; `subsystems` are parts of the
        window manager of your own (`tenure.window.subsystems`).

        Raises:
            InvalidInput: `bad_scope`, `unknown_window`, `window_too_small`, `bad_policy`,
                `bad_subsystem`.
        """
        from ..sessions.session import Session
        from ..sessions.terms import SessionRules, opened_core

        rules = SessionRules(policy, subsystems)
        core = opened_core(self._backend, self.principal, name, rules, terms)
        return Session(self._backend, self.principal, core)

    @property
    def sessions(self) -> Sessions:
        """Return this caller's windows: `.list()` names them, `.show(name)` looks into one."""
        from ..sessions.sessions import Sessions

        return Sessions(self._backend, self.principal)

    def replay(
        self, manifest: Manifest | Envelope | StoredEnvelope | Mapping[str, Any] | str
    ) -> Envelope:
        """Return the same bytes again, from a manifest, an envelope or an envelope id.

        Raises:
            InvalidInput: `bad_manifest`.
            NotFound: `unknown_object`; `erased`, when something it held was erased.
            Forbidden: when the caller may not read today all that it holds.
        """
        from ..compilation.compile import Compiler

        self._backend.settle()
        return Compiler(self._backend, self.principal).replay(manifest)

    def what_if(self, envelope_id: str, **terms: Unpack[RequestTerms]) -> WhatIf:
        """An envelope next to what its request gives under another budget, roles, valid or tx."""
        from ..compilation.recompile import Recompiler

        return Recompiler(self._backend, self.principal).what_if(envelope_id, terms)

    @property
    def envelopes(self) -> Envelopes:
        """Return the stored envelopes: `.list(…)`, and `.get(id)` for a manifest."""
        from ..reading.envelopes import Envelopes

        return Envelopes(self._backend, self.principal)

    @property
    def artifacts(self) -> Artifacts:
        """Return the originals kept next to the facts: `.put`, `.get`, `.list`, `.erase`."""
        from ..artifacts.artifacts import Artifacts

        return Artifacts(self._backend, self.principal)

    @property
    def documents(self) -> Documents:
        """Return the documents: `.put`, `.sync`, `.get`, `.versions`, `.compare`, `.remove`."""
        from ..documents.documents import Documents

        return Documents(self._backend, self.principal)

    def media(
        self, envelope: Envelope, *, originals: Originals | None = None
    ) -> dict[str, SentMedia]:
        """Return the pictures, recordings and films of an envelope, ready for its `render`.

        Artifacts are read with the caller's permissions, and cropped, resized or cut as planned;
        what goes out whole on the web is passed on as its URL. `originals` brings the bytes of
        anything else, by its `uri`, or by the address of a part that is cut already.

        Raises:
            NotFound: `unknown_artifact`, also for what the caller may not see; `erased`.
            InvalidInput: `bad_media`, for what is damaged, or cannot be made as planned here.
            Unavailable: `media_unavailable`, where Pillow is needed and not installed.
        """
        from ..artifacts.media import MediaReady

        return MediaReady(self.artifacts, originals or {}).of(envelope)

    def rehydrate(self, pointer: str, *, envelope: Envelope | None = None) -> Original:
        """Return what an artifact's address, or an object's id, represents, whole.

        With `envelope` also what a number that its text shows represents, such as `[7]`.

        Raises:
            NotFound: `unknown_artifact`, `unknown_object`, `erased`.
        """
        return self.artifacts.rehydrate(pointer, envelope=envelope)

    @property
    def actions(self) -> Actions:
        """Return the resolver queue: `actions()` lists it, `.resolve(id, …)` settles one."""
        from ..stewardship.actions import Actions

        return Actions(self._backend, self.principal)

    def mentions(self, text: str) -> tuple[ResolvedMention, ...]:
        """Return the names in a text with what each means; nothing is created."""
        from ..reading.mentions import MentionFinder

        return MentionFinder(self._backend, self.principal).mentions(text)

    @property
    def entities(self) -> Entities:
        """Return the register: `.resolve`, `.get`, `.list`, `.add_alias`, `.merge`, `.unmerge`."""
        from ..stewardship.entities import Entities

        return Entities(self._backend, self.principal, self.as_of)

    @property
    def reviews(self) -> Reviews:
        """Return the review queue: `.list`, `.get`, `.accept`, `.reject`, `.unsure`, `.undo`."""
        from ..stewardship.reviews import Reviews

        return Reviews(self._backend, self.principal, self.as_of())

    @property
    def resolution(self) -> Matching:
        """Return the matching of names: `.xref` duplicates, `.audit` of binds, `.labels` taught."""
        from ..stewardship.matching import Matching

        return Matching(self._backend, self.principal, self.as_of())

    def _writer(self) -> Writer:
        from ..writing.write import Writer

        return Writer(self._backend, self.principal)
