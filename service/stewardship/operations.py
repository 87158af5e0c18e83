"""Privileged operations: erase, reclassify, promote, sweep, close a scope, re-embed.

Each checks its privilege first, then runs alone in one transaction with its own stamp. An operation
id makes a retry return the first receipt. After an erasure the store scrubs what the file may still
hold.

`RequestSearch` finds the kept envelopes whose request names what is about to be erased. A request
names an entity if its mentions were bound to it, if it has an identifier or a name of two words, or
a name of one word that is not a common word ("Will") and that the request bound to no other entity.

Re-embedding makes the missing vectors of an encoder, batch by batch: for a first encoder, a change
of encoder, or after a crash. It can be stopped and run again. Vectors of other encoders stay.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Final, cast

from ...compiler.trace.manifest import stored_document, stored_manifest
from ...resolution.normalize import plain_letters
from ...schema.answers import ErasedEnvelope, ErasureReceipt, ReclassifyReceipt, SweepReceipt
from ...schema.claim import EMPTY_CONTENT, Version
from ...schema.errors import InvalidInput, NotFound, Unavailable
from ...schema.interval import INF_US
from ...schema.principal import (
    ERASE,
    EVERYONE_TAG,
    OPERATE,
    PROMOTE,
    TENANT_SCOPE,
    Principal,
    Scope,
    visible_scopes,
)
from ...schema.terms import STOP_WORDS
from ...schema.values import moment
from ...schema.write import Receipt, Write
from ...store.operations.change import Mandate, reclassify
from ...store.operations.erase import erase
from ...store.operations.sweep import SweepRules, close_scope, sweep
from ...store.port.store import ManifestRecord, Reader, RecordKind, WriteTx
from ...store.timeline.state import plain_value
from ...window.events import EventKind
from ..artifacts.artifacts import ArtifactKeeper
from ..backend.backend import DELETE, Backend
from ..backend.caller import Caller, permissions_as_stated, scope_of, unknown_object
from ..documents.state import disagreements
from ..encoders.encoder import Encoder, Progress, ShowProgress
from ..reading.envelopes import stored_envelope
from ..reading.view import EntityLike, find
from ..writing.write import Writer
from .session_texts import (
    ErasurePatterns,
    TalkSearch,
    empty_texts,
    name_patterns,
    object_patterns,
    session_texts,
)

_FIRST_LOOK: Final = 100
"""Envelopes that are looked at first under the lock; more only where more came."""

SWEPT_AT_ONCE: Final = 500
"""Objects that one transaction of a sweep retires by default."""
_SWEPT_LISTS: Final = ("archived", "demoted", "asked", "erased", "approvals")


WatchErasure = Callable[[str, int], None]
"""Told a step of an erasure (`objects`, `artifacts`, `sessions`) and how many it repeats."""


@dataclass(frozen=True, slots=True)
class Steward(Caller):
    """The privileged operations of one caller."""

    def doctor(self) -> tuple[str, ...]:
        """Check what is stored of the tenant; return a sentence for each thing that is broken."""
        self._backend.settle()
        with self._reading() as reader:
            documents = tuple(disagreements(reader, self.principal.sight()))
        faults = self._backend.store.check(self._tenant)
        return (*faults, *documents, *self._damaged_grants())

    def _damaged_grants(self) -> tuple[str, ...]:
        if self._backend.artifacts is None:
            return ()

        try:
            names = self._backend.artifacts.damaged(self._tenant)
        except Unavailable as error:
            return (str(error),)  # the facts are sound nevertheless

        return tuple(
            f"the grant {name} of an artifact is damaged and gives no access; put the same bytes "
            "again as before, or restore the file from a copy"
            for name in names
        )

    def erase(
        self,
        object_id: str | None,
        entity: EntityLike | None,
        reason: str,
        *,
        document: str | None = None,
        watch: WatchErasure | None = None,
    ) -> ErasureReceipt:
        """Empty an object, or an entity with all that is said about it; a tombstone stays.

        The texts of sessions that name the entity, or repeat the object, are emptied too.
        `watch` is told each step that is done, and how many were emptied in it.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `missing_reason`, `reason_names_erased`, or when not exactly one of the
                two is named.
            NotFound: `unknown_object`, `unknown_entity`.
        """
        if document is not None and entity is None:
            from ..documents.keeping import DocumentKeeper

            entity = DocumentKeeper(self._backend, self.principal).entity_id(document)
        with self._backend.span_of(DELETE, self._tenant) as span:
            receipt = self._erase(object_id, entity, reason, watch or (lambda _step, _count: None))
            if span is not None:
                span.records(receipt.object_ids)
        return receipt

    def _erase(
        self, object_id: str | None, entity: EntityLike | None, reason: str, watch: WatchErasure
    ) -> ErasureReceipt:
        self.principal.require(ERASE)
        if not reason.strip():
            raise InvalidInput("an erasure needs a reason for its tombstone", code="missing_reason")

        if (object_id is None) is (entity is None):
            raise InvalidInput(
                "name an object_id or an entity, one of them", code="missing_subject"
            )

        root = None if entity is None else self._entity(entity)
        # A manifest still waiting to be stored would bring back what is erased now.
        self._backend.settle()
        with self._reading() as reader:
            family, texts = frozenset[str](), tuple[str, ...]()
            if root is not None:
                entities = reader.entities((root,), tx_us=reader.clock().last_us).entities
                family, patterns = frozenset(entities), name_patterns(reader, entities)
            else:
                # Whoever may erase an object need not be allowed to see it.
                assertions = reader.assertions((object_id or "",)).values()
                patterns = object_patterns(assertions)
                texts = tuple(map(attrgetter("content.text"), assertions))
            patterns.check_reason(reason)
            # Before the lock, as they read all that is kept; what came meanwhile is little.
            requests, talk = RequestSearch(patterns, family), TalkSearch(patterns)
            requests.look_through(reader)
            talk.look_through(reader)

        def work(tx: WriteTx, mandate: Mandate) -> ErasureReceipt:
            tx.lock()
            talk.look_at_newer(tx.reader())
            receipt = erase(
                tx,
                object_id=object_id,
                entity=root,
                along=tuple(talk.claims),
                envelopes=requests.recipients,
                mandate=mandate,
            )
            # Here, not afterwards: who erases may die in between, and nobody would ask again.
            empty_texts(tx, talk.places, mandate, EventKind.TEXTS_ERASED)
            return replace(receipt, sessions=talk.sessions)

        receipt = self._operate(work, reason)
        watch("objects", len(receipt.object_ids))
        self._backend.forget_answers(
            self._tenant,
            receipt.object_ids,
            texts=texts,
            repeats=patterns.repeats,
            names=(*receipt.entity_ids, *receipt.envelopes),
        )

        keeper = ArtifactKeeper(self._backend, self.principal)
        receipt = replace(receipt, artifacts=keeper.erase_with(receipt.object_ids, reason=reason))
        watch("artifacts", len(receipt.artifacts))

        watch("sessions", len(receipt.sessions))
        return receipt

    def erase_session(self, session: str, reason: str) -> tuple[str, ...]:
        """Empty every text of a session and close it; its chain of events stays.

        Its checkpoints are objects and are erased: their ids are returned, sorted. The envelopes
        that were compiled for it are emptied too, since a query is the words of its user.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `missing_reason`.
            NotFound: `unknown_session`.
        """
        self.principal.require(ERASE)
        if not reason.strip():
            raise InvalidInput("an erasure needs a reason for its tombstone", code="missing_reason")

        # A manifest still waiting to be stored would bring back what is erased now.
        self._backend.settle()

        def work(tx: WriteTx, mandate: Mandate) -> tuple[str, ...]:
            tx.lock()
            sessions, places, claims_said = session_texts(tx.reader(), session)
            # Envelopes first: Neo4j's index still names what this transaction has deleted.
            tx.empty(sessions, ())
            claims = tuple(tx.assertions(claims_said))
            receipt = erase(tx, along=claims, mandate=mandate) if claims else None
            empty_texts(tx, places, mandate, EventKind.TEXTS_ERASED, EventKind.CLOSED)
            return receipt.object_ids if receipt else ()

        object_ids = self._operate(work, reason)
        self._backend.forget_answers(self._tenant, object_ids)
        return object_ids

    def reclassify(
        self,
        object_id: str,
        classification: str | None,
        allow: Sequence[str] | None,
        deny: Sequence[str] | None,
    ) -> ReclassifyReceipt:
        """Change who may see an object, at all times at once; what is not stated stays.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_object`.
        """
        self.principal.require(OPERATE)
        with self._reading() as reader:
            rows = self._rows_of(reader, [object_id])
        if not rows:
            raise unknown_object(object_id)

        # What is not stated stays as it is, also for a steward who may not read the object.
        permissions = permissions_as_stated(
            rows[0].permissions, self._words_now(), classification, allow, deny
        )
        return self._operate(
            lambda tx, mandate: reclassify(tx, object_id, permissions, mandate=mandate)
        )

    def promote(self, object_id: str, scope: Scope | Mapping[str, str]) -> Receipt:
        """Say what an object says to more people: in a scope that holds fewer of its ids.

        The promoted object is one of its own, derived from the first, and speaks with the
        promoter's standing. Retracting it takes the promotion back.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `bad_scope` for a scope that is no wider; `source_quarantined`.
            NotFound: `unknown_object`.
        """
        self.principal.require(PROMOTE)
        target = scope_of(scope) or TENANT_SCOPE
        with self._reading() as reader:
            rows = self._visible_rows(reader, object_id)
            open_rows = [row for row in rows if row.row.tx_end == INF_US] or rows
            claim = open_rows[-1]
            subject = self._name_of(reader, claim.details.subject_id)
            value_entity = self._name_of(reader, claim.details.value_entity_id)

        present = claim.details.scope
        if target == present or not present.is_within(target):
            raise InvalidInput(
                f"scope {target.scope_id} is not wider than {present.scope_id}, the scope of the "
                "object; name fewer of its ids, or none for the whole tenant",
                code="bad_scope",
            )

        writer = Writer(self._backend, self.principal)
        write = replace(
            self._widened_write(claim, target),
            subject=subject,
            value=value_entity or (plain_value(claim) if claim.details.slot else None),
        )
        drafts = writer.drafts([write], widens=True)

        return writer.submit(drafts)[0]

    def _name_of(self, reader: Reader, entity_id: str | None) -> str | None:
        """The name of an entity, for the wider scope to learn; its id where not clear."""
        if entity_id is None:
            return None

        last_us = reader.clock().last_us
        entity = reader.entities([entity_id], tx_us=last_us).entities.get(entity_id)
        if entity is None:
            return entity_id

        roots, register = find(reader, entity.name, self.principal.sight(), last_us)

        return entity.name if roots == (register.root(entity_id),) else entity_id

    def _widened_write(self, claim: Version, scope: Scope) -> Write:
        details, permissions = claim.details, claim.permissions
        content = claim.content or EMPTY_CONTENT
        decay = details.decay_rule
        return Write(
            slot=details.slot,
            op=claim.row.claim.op.value,
            valid_from=moment(claim.row.interval.start_us) or "-infinity",
            valid_until=moment(claim.row.interval.end_us),
            content=content.text,
            object_type=details.object_type.value,
            scope=scope,
            source_origin=details.source_origin,
            source_authority=claim.row.claim.source_authority / 1000,
            confidence=claim.row.claim.confidence / 1000,
            authority_level=max(details.authority_level, self.principal.authority_level),
            why_it_matters=content.why_it_matters,
            applicable_task_types=details.applicable_task_types,
            behavioral_implication=content.behavioral_implication,
            enforcement=None if content.enforcement is None else json.loads(content.enforcement),
            security_classification=permissions.classification.value,
            sensitivity=tuple(label.value for label in details.sensitivity),
            allow_roles=() if EVERYONE_TAG in permissions.allow else permissions.allow,
            deny_roles=permissions.deny,
            decay_rule=decay,
            retirement_rule=details.retirement_rule.value,
            update_path=details.update_path,
            derived_from=(claim.row.claim.object_id,),
            planned=details.planned,
        )

    def sweep(
        self, *, dry_run: bool, limit: int, watch: Callable[[SweepReceipt], None] | None = None
    ) -> SweepReceipt:
        """Retire what has decayed, `limit` objects a transaction, until nothing is due.

        `watch` is told the sum so far after each transaction.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `out_of_range` for a limit below 1.
        """
        self.principal.require(OPERATE)
        if limit < 1:
            # With nothing retired a batch, what remains would never end.
            raise InvalidInput(f"limit {limit}: ask for 1 or more", code="out_of_range")

        rules = SweepRules(
            may_erase=self.principal.holds(ERASE),
            limit=limit,
            decay=self._backend.policy.decay,
        )

        def batch(tx: WriteTx, mandate: Mandate) -> SweepReceipt:
            return sweep(tx, mandate=mandate, rules=rules, dry_run=dry_run)

        total = self._operate(batch)
        while total.remaining and not dry_run:
            if watch is not None:
                watch(total)
            last = self._operate(batch)
            lists = {name: getattr(total, name) + getattr(last, name) for name in _SWEPT_LISTS}
            total = replace(last, **lists)

        if not dry_run:
            self._backend.forget_answers(self._tenant, total.erased)
            keeper = ArtifactKeeper(self._backend, self.principal)
            keeper.erase_with(total.erased, reason="retired")

        return total

    def close_scope(self, kind: str, scope: str) -> SweepReceipt:
        """Retire what lived only until a session, task or project closed.

        Whoever is in a session may close it, for its own user alone; an operator closes it for
        everybody. All else is an operator's.

        Raises:
            Forbidden: `privilege_required`.
        """
        principal = self.principal
        own_session = principal.session is not None and scope == principal.session
        scopes: frozenset[str] | None = None
        if principal.privileged or kind != "session" or not own_session:
            principal.require(OPERATE)
        else:
            scopes = visible_scopes(principal)

        return self._operate(
            lambda tx, mandate: close_scope(tx, kind, scope, mandate=mandate, scopes=scopes)
        )

    def _entity(self, entity: EntityLike) -> str:
        with self._reading() as reader:
            roots, _ = find(reader, entity, self.principal.sight(), reader.clock().last_us)

        if len(roots) != 1:
            raise NotFound(
                f"{entity!r} names {len(roots)} entities; give an entity id",
                code="unknown_entity",
            )

        return roots[0]


def re_embed(
    backend: Backend,
    principal: Principal,
    encoder: Encoder | None = None,
    *,
    progress: ShowProgress | None = None,
) -> Progress:
    """Make the vectors that the caller's tenant lacks; the store's own encoder by default.

    `progress` is called after each batch.

    Raises:
        Forbidden: `privilege_required`.
        InvalidInput: `bad_encoder` when there is none, `bad_vector` when it fails.
    """
    principal.require(OPERATE)
    backend.open(principal.tenant)
    embedding = backend.embedding
    if encoder is None or (embedding is not None and encoder is embedding.encoder):
        if embedding is None:
            raise InvalidInput(
                "this store was opened without an encoder; connect(encoder='onnx'), or give one",
                code="bad_encoder",
            )
        embedding.flush()
        return embedding.catch_up(principal.tenant, progress)

    from ..encoders.models import Embedding  # it needs numpy, which a server need not have

    return Embedding(backend.store, encoder).catch_up(principal.tenant, progress)


@dataclass(slots=True)
class RequestSearch:
    """The search of an erasure over the requests of kept envelopes."""

    patterns: ErasurePatterns
    entity_ids: frozenset[str] = frozenset()
    """What is erased, under every merged id; none where an object is."""
    _envelope_ids: set[str] = field(default_factory=set[str])
    _newest_id: str = ""
    """The last envelope that was looked at."""

    def look_through(self, reader: Reader) -> None:
        """Look at every envelope that is kept."""
        for record in reader.records(RecordKind.MANIFEST):
            assert isinstance(record, ManifestRecord)
            self._look_at(record.envelope_id, record.manifest)
            self._newest_id = record.envelope_id

    def recipients(
        self, reader: Reader, object_ids: Sequence[str], entity_ids: Collection[str]
    ) -> tuple[ErasedEnvelope, ...]:
        """The envelopes that held one of these objects or whose request names what is erased."""
        limit, newer_pairs = _FIRST_LOOK, self._newer(reader, _FIRST_LOOK)
        while len(newer_pairs) == limit:
            limit *= 10
            newer_pairs = self._newer(reader, limit)
        for envelope_id, text in newer_pairs:
            self._look_at(envelope_id, text)

        envelopes: list[ErasedEnvelope] = []
        for envelope_id in sorted(self._envelope_ids.union(reader.envelopes_of(object_ids))):
            manifest = reader.manifest(envelope_id) or ""
            try:
                envelopes.append(self._read_recipient(manifest, object_ids, entity_ids))
            except InvalidInput:  # emptied before, or damaged: nothing tells who received it
                envelopes.append(ErasedEnvelope(envelope_id=envelope_id))
        return tuple(envelopes)

    def _read_recipient(
        self, text: str, object_ids: Sequence[str], entity_ids: Collection[str]
    ) -> ErasedEnvelope:
        manifest = stored_manifest(text)
        envelope = stored_envelope(manifest)
        own_ids = {entity_id for _, entity_id in manifest.own}
        is_erased = not own_ids.isdisjoint(entity_ids) or self._is_said_in(envelope.user)
        return ErasedEnvelope(
            envelope_id=envelope.envelope_id,
            user=None if is_erased else envelope.user,
            session=None if self._is_said_in(envelope.session) else envelope.session,
            project=None if self._is_said_in(envelope.project) else envelope.project,
            task=envelope.task,
            valid=envelope.valid,
            tx=envelope.tx,
            tokens=envelope.tokens,
            object_ids=tuple(sorted(set(object_ids).intersection(manifest.compiled))),
        )

    def _is_said_in(self, name: str | None) -> bool:
        return name is not None and (self.patterns.repeats(name) or self.patterns.may_repeat(name))

    def _newer(self, reader: Reader, limit: int) -> list[tuple[str, str]]:
        newer_pairs: list[tuple[str, str]] = []
        for envelope_id, text in reader.manifests(limit=limit):
            if envelope_id == self._newest_id:
                break
            newer_pairs.append((envelope_id, text))
        return newer_pairs

    def _look_at(self, envelope_id: str, text: str) -> None:
        if text and self._is_named_in(stored_document(text)):
            self._envelope_ids.add(envelope_id)

    def _is_named_in(self, manifest: dict[str, Any]) -> bool:
        # An envelope of an earlier version may lack a field; its words are looked at all the same.
        mentions = [*manifest.get("named", ()), *manifest.get("spoken", ())]
        bound_ids = {entity_id for _, ids, _ in mentions for entity_id in ids}
        bound_ids.update(entity_id for _, entity_id in manifest.get("own", ()))
        if not self.entity_ids.isdisjoint(bound_ids):
            return True

        request = json.loads(manifest["request"])
        surfaces = [surface for surface, _, _ in mentions]
        words = "\n".join([*surfaces, *manifest.get("expansion", ()), *_texts(request)])
        if self.patterns.repeats(words):
            return True
        bound_words = "\n".join(surface for surface, ids, _ in mentions if ids)
        return bool(self.entity_ids) and self._may_name(words, bound_words)

    def _may_name(self, words: str, bound_words: str) -> bool:
        """Whether a single word may mean it, as none does that was bound to others."""
        words, bound_words = plain_letters(words), plain_letters(bound_words)
        for pattern in self.patterns.common:
            match = pattern.search(words)
            if match and match[0] not in STOP_WORDS and not pattern.search(bound_words):
                return True
        return False


def _texts(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in cast("dict[str, object]", value).values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in cast("list[object]", value):
            yield from _texts(member)
