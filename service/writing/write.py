"""The write use-case: sanitise, resolve, reconcile, apply.

Sanitising happens here, on the caller's thread; resolution, reconciliation and the apply run
under the tenant's write lock in `store.commit`, shared with whoever writes at the same time.
Checklist: C-055.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, cast

from ...resolution.keys import is_id
from ...resolution.names import KnownNames, NameRow
from ...schema.claim import Assertion, Authorship, Content, Version
from ...schema.errors import Conflict, Forbidden, InvalidInput, NotFound, TenureError
from ...schema.interval import INF_US, MIN_US
from ...schema.principal import OPERATE, visible_scopes
from ...schema.signing import key_digest, key_id, signed_manifest
from ...schema.slots import RULE_KINDS, STRUCTURE_SLOTS, Vocabulary
from ...schema.values import canonical_json
from ...schema.vocabulary import Authority, ObjectType, Op, Outcome, Status
from ...schema.write import Draft, Receipt, Submission, Write
from ...store.port.store import Point, WriteTx
from ..backend.backend import DELETE, UPSERT, event_id
from ..backend.caller import Caller, instant, unknown_object
from ..reading.view import View
from .draft import INJECTION, check_shape, sanitize
from .trust import References, Source, WriteContext, may_offer_tools, recorded_authorship


@dataclass(frozen=True, slots=True)
class RecordedGroup:
    """The events of a history that have one stamp."""

    recorded_us: int
    events: tuple[Mapping[str, Any], ...]
    writes: tuple[Write, ...]
    """What the events say, in their order."""
    object_ids: tuple[str, ...]
    """Made from what the group says, so that a second run finds it stored."""

    @classmethod
    def from_events(
        cls, tenant: str, recorded_us: int, events: Iterable[tuple[Mapping[str, Any], Write]]
    ) -> RecordedGroup:
        """The group of a tenant's events and their writes."""
        members, writes = zip(*events, strict=True)
        texts = enumerate(map(canonical_json, members))
        object_ids = [event_id(tenant, recorded_us, number, text) for number, text in texts]
        return cls(recorded_us, members, writes, tuple(object_ids))


def referenced_ids(writes: Iterable[Write]) -> set[str]:
    """The ids of the objects that writes address or are derived from."""
    object_ids: set[str] = set()
    for write in writes:
        object_ids.update(map(str, filter(None, (write.object_id, *write.derived_from))))
    return object_ids


def named_ids(writes: Iterable[Write]) -> set[str]:
    """The ids by which writes name their subjects and values."""
    ids: set[str] = set()
    for write in writes:
        ids.update(
            end for end in (write.subject, write.value) if isinstance(end, str) and is_id(end)
        )
    return ids


@dataclass(frozen=True, slots=True)
class Writer(Caller):
    """The write use-case of one caller."""

    words: Vocabulary | None = None
    """What its drafts are made with, unless there is a newer one by then; None: the newest."""
    outlines: ClassVar[bool] = False
    """Whether its writes may be outlines of documents."""

    def write_for(self, write: Write, model: Version) -> Receipt:
        """Write what another claim holds, with its author, words and source.

        Where it could direct somebody, the words of a page or a tool stay behind: they would come
        at the level of this caller.
        """
        (draft,) = self.drafts([write])
        draft = by_author(draft, model.details.authorship)
        source, content = model.details, draft.content
        directs = draft.slot is not None and draft.slot.kind in RULE_KINDS
        if model.content and not (directs and source.authority_level >= Authority.RETRIEVED):
            content = _with_words(content, model.content)
        details = replace(
            draft.details,
            source_origin=source.source_origin,
            update_path=source.update_path,
            origins=tuple(sorted({*draft.details.origins, *source.origins})),
        )
        draft = replace(draft, content=content, details=details)
        return self.submit([draft])[0]

    def write_many(
        self, writes: Sequence[Write], *, dry_run: bool = False, ids: Sequence[str] = ()
    ) -> tuple[Receipt, ...]:
        """Return the receipts of writes that share one transaction and one stamp.

        Raises:
            TenureError: what the first write that cannot be taken raises; nothing is written.
        """
        self._check_size(len(writes))
        if not writes:
            return ()

        words = self._backend.known_words(self._tenant)
        writer = replace(self, words=words)
        while True:
            try:
                drafts = writer.drafts(writes, ids)
                if len(drafts) == 1:  # else another one may state it
                    writer._check_stated(drafts[0])
                moves = list(filter(None, map(writer._moved_start, writes)))
                if moves:
                    drafts = [*writer.drafts(moves), *drafts]
                return writer.submit(drafts, dry_run=dry_run)[len(moves) :]
            except (Conflict, Forbidden, InvalidInput, NotFound):
                # What is refused with an older vocabulary may be right with the newest.
                if words is None or words.version == self._words_now().version:
                    raise
                writer, words = self, None

    def _words_now(self) -> Vocabulary:
        """The vocabulary that its drafts are made with."""
        return self.words or self._backend.vocabulary(self._tenant)

    def _check_stated(self, draft: Draft) -> None:
        """Refuse to retract a plain value that was never stated.

        An entity is not checked, since a later merge may make it equal to a stated one. A write
        with a key is not checked, since it may be a retry that has a receipt.

        Raises:
            NotFound: `unknown_value`.
        """
        slot, subject = draft.slot, draft.subject
        is_new = draft.op is Op.RETRACT and draft.plain_key is None
        if is_new and slot is not None and subject is not None and not slot.relates:
            now = Point(self._backend.now_us(), INF_US - 1)
            view = View(self._backend, self.principal, now, self._words_now())
            view._check_stated(  # pyright: ignore[reportPrivateUsage]
                subject, slot, draft.value_key
            )

    def _moved_start(self, write: Write) -> Write | None:
        """What takes back a value before the later start that a correction states for it.

        A correction that states the value which holds says that it did not hold before. None for
        any other write.
        """
        subject, slot, value = write.subject, write.slot, write.value
        if write.op != Op.CORRECT or write.valid_from is None or slot is None or value is None:
            return None

        start_us = instant(write.valid_from, field="valid_from")
        # Of the two open ends one is no later start, and the other begins nothing.
        if subject is None or not MIN_US < start_us < INF_US:
            return None
        # One snapshot answers, so that its last stamp need not be known before.
        point = Point(start_us, INF_US - 1)
        view = View(self._backend, self.principal, point, self._words_now())
        since = view._value_start(  # pyright: ignore[reportPrivateUsage]
            subject, slot, value, write.scope
        )
        if since is None:
            return None
        return replace(write, op=Op.RETRACT, valid_from=since, expected=None, idempotency_key=None)

    def replay(self, groups: Sequence[RecordedGroup]) -> list[tuple[Receipt, ...]]:
        """Return the receipts of each group of a history; all are in one transaction, or none.

        The groups rise by their stamps, and none refers to what an earlier one of them makes.

        Raises:
            TenureError: what the first group that cannot be taken raises, `tx_backwards` among it.
        """
        self.principal.require(OPERATE)
        submissions = self._submissions(groups)
        with self._backend.span_of(UPSERT, self._tenant) as span:
            answers = self._backend.queue(self._tenant).submit(
                lambda tx: self._commit_all(tx, submissions)
            )
            if isinstance(answers, TenureError):
                raise answers

            for submission, receipts in zip(submissions, answers, strict=True):
                self.embed(submission.drafts, receipts)
                if span is not None:
                    span.records(receipt.object_id for receipt in receipts)

        return cast("list[tuple[Receipt, ...]]", answers)

    def _submissions(self, groups: Sequence[RecordedGroup]) -> list[Submission]:
        """The submission of each group; what all of them refer to is read once."""
        writes = [write for group in groups for write in group.writes]
        context = WriteContext(self.principal, self._words_now(), self._backend.policy)
        objects = self._known_objects(writes)

        submissions: list[Submission] = []
        for group in groups:
            self._check_size(len(group.writes))
            known = replace(objects, drafts={})
            drafts: list[Draft] = []
            for draft, event in zip(
                self._drafts(group.writes, group.object_ids, context, known),
                group.events,
                strict=True,
            ):
                authorship = recorded_authorship(draft.details, event.get("writer"))
                drafts.append(by_author(draft, authorship))
            # An import only counts its receipts.
            submissions.append(self.submission(drafts, group.recorded_us, has_reader=False))
        return submissions

    def _commit_all(
        self, tx: WriteTx, submissions: Sequence[Submission]
    ) -> list[tuple[Receipt, ...]]:
        answers: list[tuple[Receipt, ...]] = []
        for result in self._backend.commit(tx, submissions):
            # Raised inside of the transaction, which takes the other groups back.
            if isinstance(result, TenureError):
                raise result
            answers.append(result)
        return answers

    def submit(
        self,
        drafts: Sequence[Draft],
        *,
        dry_run: bool = False,
    ) -> tuple[Receipt, ...]:
        """Return the receipts of drafts that share one transaction and one stamp."""
        submission = self.submission(drafts)
        tenant = self._tenant
        takes_back = all(draft.op in (Op.RETRACT, Op.DELETE) for draft in drafts)
        with self._backend.span_of(DELETE if takes_back else UPSERT, tenant) as span:
            if dry_run:
                # The commit of a write but for its last step: a preview cannot say anything else.
                (result,) = self._backend.queue(tenant).submit(
                    lambda tx: self._backend.commit(tx, [submission], dry_run=True)
                )
            else:
                result = self._backend.queue(tenant).submit(submission)
            # A value until here: raised inside, it would end the transaction that others share.
            if isinstance(result, TenureError):
                raise result

            if not dry_run:
                self.embed(drafts, result)
            if span is not None:
                span.records(receipt.object_id for receipt in result)

        return cast("tuple[Receipt, ...]", result)

    def submission(
        self, drafts: Sequence[Draft], stated_tx: int | None = None, *, has_reader: bool = True
    ) -> Submission:
        """What the queue of the store is given for drafts that share a stamp."""
        return Submission(
            drafts=tuple(map(self._with_signature, drafts)),
            scopes=visible_scopes(self.principal),
            actor=self._actor,
            stated_tx=stated_tx,
            writer=self.principal,
            has_reader=has_reader,
            vocabulary=self.words.version if self.words else None,
        )

    def _with_signature(self, draft: Draft) -> Draft:
        """A draft whose tool the store vouches for, where its writer may offer tools.

        What a detector suspects is never signed, whoever wrote it.
        """
        details, is_suspect = draft.details, draft.quarantine or INJECTION in draft.warnings
        if details.object_type is not ObjectType.TOOL_SCHEMA or is_suspect:
            return draft
        if not may_offer_tools(details):
            return draft

        text = signed_manifest(
            draft.content.text,
            self._backend.secret(self._tenant),
            object_id=draft.object_id,
            scope_id=details.scope.scope_id,
        )
        return replace(draft, content=replace(draft.content, text=text))

    def embed(self, drafts: Iterable[Draft], receipts: Iterable[Receipt]) -> None:
        """Have vectors made for what was stored; the caller does not wait for them."""
        embedding = self._backend.embedding
        if embedding is None:
            return
        contents = (
            (draft.object_id, draft.content)
            for draft, receipt in zip(drafts, receipts, strict=True)
            if receipt.outcome is not Outcome.REFUSED
            and not receipt.replayed
            and draft.details.slot not in STRUCTURE_SLOTS
        )
        embedding.enqueue(self._tenant, contents)

    def _check_size(self, count: int) -> None:
        limit = self._backend.policy.write.max_batch
        if count > limit:
            raise InvalidInput(
                f"{count} writes in one transaction, the policy allows {limit}; split them, or "
                "raise policy.write.max_batch",
                code="too_large",
            )

    def object_id(self, write: Write) -> str:
        """Return the id the object of a write takes: that of its key, else a new one.

        Raises:
            InvalidInput: `bad_key`.
        """
        if write.idempotency_key is None:
            return self._backend.ids()
        if not 1 <= len(write.idempotency_key) <= 256:
            raise InvalidInput("an idempotency key has 1 to 256 characters", code="bad_key")
        # The key makes the id: a retry meets its first write without a look-up before.
        return key_id(self._tenant, self._key_digest(write.idempotency_key))

    def with_key(self, draft: Draft) -> Draft:
        """A draft that carries the digest of its key, which is its caller's alone."""
        if draft.plain_key is None:
            return draft
        return replace(draft, idempotency_key=self._key_digest(draft.plain_key))

    def _key_digest(self, key: str) -> str:
        # A user may try again from another session; who has no user is told apart by that alone.
        principal = self.principal
        session = principal.session if principal.user is None else None
        return key_digest(self._backend.secret(self._tenant), (principal.user, session), key)

    def drafts(
        self,
        writes: Sequence[Write],
        ids: Sequence[str] = (),
        *,
        earlier: Sequence[Draft] = (),
        widens: bool = False,
    ) -> list[Draft]:
        """Return the checked drafts of writes; what they refer to is read once.

        `earlier` are drafts of the same submission, to which the writes may refer too; only a
        promotion `widens`.

        Raises:
            TenureError: what the first write that cannot be taken raises, with its number where
                there are several.
        """
        for number, write in enumerate(writes, start=1):
            with _counted(number, len(writes)):
                check_shape(write)
        ids = ids or [self.object_id(write) for write in writes]
        context = WriteContext(
            self.principal, self._words_now(), self._backend.policy, widens, self.outlines
        )
        known = self._known_objects(writes)
        known.drafts.update({draft.object_id: draft for draft in earlier})
        return self._drafts(writes, ids, context, known)

    def _drafts(
        self,
        writes: Sequence[Write],
        ids: Sequence[str],
        context: WriteContext,
        known: _KnownObjects,
    ) -> list[Draft]:
        drafts: list[Draft] = []
        for number, (write, object_id) in enumerate(zip(writes, ids, strict=True), start=1):
            with _counted(number, len(writes)):
                references = known.references_of(write)
                draft = sanitize(write, context, object_id=object_id, references=references)
                draft = self.with_key(draft)
            # A later write of the batch may be derived from this one, which no store has yet.
            known.drafts[object_id] = draft
            drafts.append(draft)
        return drafts

    def _known_objects(self, writes: Sequence[Write]) -> _KnownObjects:
        """Return what the writes refer to, as the caller may see it."""
        object_ids, entity_ids = referenced_ids(writes), named_ids(writes)
        versions: dict[str, Version] = {}
        rows: tuple[NameRow, ...] = ()
        if object_ids:
            with self._reading() as reader:
                # What may not be seen, or was erased, is as good as absent: both refuse alike.
                for version in self._rows_of(reader, sorted(object_ids)):
                    if version.visible and version.content:
                        versions[version.row.claim.object_id] = version
                        details = version.details
                        ends = details.subject_id, details.value_entity_id
                        entity_ids.update(filter(None, ends))
                rows = reader.name_rows(sorted(entity_ids), tx_us=INF_US - 1)
        # Most writes refer to no object: then one statement reads the names, without a snapshot.
        elif entity_ids:
            rows = self._backend.store.name_rows(self._tenant, sorted(entity_ids))

        names = KnownNames(frozenset(entity_ids), rows, self.principal.sight())
        return _KnownObjects(versions, names)


@dataclass(frozen=True, slots=True)
class _KnownObjects:
    """What writes may refer to, by object id."""

    versions: Mapping[str, Version]
    """What is stored, as the caller may see it."""
    names: KnownNames
    """The names of the entities that they are about, or that writes name by id."""
    drafts: dict[str, Draft] = field(default_factory=dict[str, Draft])
    """What comes before them in the same call."""

    def references_of(self, write: Write) -> References:
        """What a write refers to.

        Raises:
            NotFound: `unknown_object`.
            InvalidInput: `source_quarantined`.
        """
        versions = self.versions
        target = _assertion(versions, write.object_id) if write.object_id else None
        sources: list[Source] = []
        for object_id in map(str, write.derived_from):
            draft, version = self.drafts.get(object_id), versions.get(object_id)
            status = version.row.look.status if version else None
            if (draft and draft.quarantine) or status is Status.QUARANTINED:
                raise InvalidInput(
                    f"object {object_id} is quarantined, so no claim can derive from it. Accept it "
                    "first; see `tenure actions list` (memory.actions())",
                    code="source_quarantined",
                    object_id=object_id,
                )
            if draft is None:
                assertion = _assertion(versions, object_id)
                trust = assertion.claim.source_authority
                sources.append(Source(assertion.details, assertion.permissions, trust))
            else:
                sources.append(Source(draft.details, draft.permissions, draft.source_authority))
        return References(target, tuple(sources), self.names)


@contextmanager
def _counted(number: int, total: int) -> Generator[None]:
    """Put the number of a write in front of its refusal, where it is one of several."""
    try:
        yield
    except TenureError as error:
        if total == 1:
            raise
        data: dict[str, Any] = {**error.data, "write": number}
        sentence = f"write {number} of {total}: {error}"
        raise type(error)(sentence, code=error.code, **data) from error


def _assertion(versions: Mapping[str, Version], object_id: str) -> Assertion:
    version = versions.get(object_id)
    if version is None or version.content is None:
        raise unknown_object(object_id)
    return Assertion(
        claim=version.row.claim,
        details=version.details,
        content=version.content,
        permissions=version.permissions,
    )


def _with_words(content: Content, words_content: Content) -> Content:
    """The texts of a claim behind which another's own words stand."""
    if words_content.text in (words_content.normalized_claim, content.text):
        return content
    words = dict.fromkeys((*content.terms.split(), *words_content.terms.split()))
    text = f"{content.text}. {' '.join(words_content.text.split())}"
    return replace(content, text=text, terms=" ".join(words))


def by_author(draft: Draft, authorship: Authorship) -> Draft:
    """A draft that counts as another's word."""
    return replace(draft, details=replace(draft.details, authorship=authorship))
