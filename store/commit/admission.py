"""Admission: from a sanitised draft to a resolved claim, under the tenant's write lock.

Mentions are bound against the register as it is under the lock, so sixteen writers that name one
new entity make one. A claim without a resolved subject cannot be stated: only an `Admitted` reaches
the planner, and a write that is not admitted raises. A bind by score leaves its judgement and the
review cases that it opens.

A write may teach one entity a name that another one has. The write is accepted, the bare name is
ambiguous from then on, and a suggestion about the two entities says why. That write makes it once,
unless the two were judged already or a register numbers them apart. Checklist: C-050 to C-055.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...resolution.bind import (
    SAME_IDENTIFIER,
    SCORE_REASON,
    Doubt,
    Scorer,
    alias_owners,
    are_apart,
    bind,
)
from ...resolution.clusters import pair
from ...resolution.identifiers import Lesson, fresh_identifiers, stated_identifiers
from ...resolution.keys import (
    MentionOrId,
    alias_key,
    as_ref,
    entity_id,
    free_ordinal,
    is_description,
    of_slot_type,
)
from ...resolution.known import Teacher
from ...resolution.names import short_id
from ...resolution.register import Register, Rules, better_known, rules_of, taught_level
from ...schema.claim import FULL_TRUST, Assertion, Claim, MentionLink, slot_key, text_key
from ...schema.entity import (
    AUDIT,
    DOUBTED,
    SUGGESTION,
    Alias,
    Entity,
    EntityCandidate,
    EntityRef,
    Feature,
    Judgement,
    Resolution,
    Review,
)
from ...schema.errors import InvalidInput
from ...schema.interval import ALL_TIME, MIN_US, Interval
from ...schema.policy import ResolutionPolicy
from ...schema.principal import TENANT_SCOPE
from ...schema.slots import STRUCTURE_SLOTS, compatible
from ...schema.values import canonical_value
from ...schema.vocabulary import (
    Authority,
    CandidateSource,
    Decision,
    EntityState,
    JudgedBy,
    JudgementVerdict,
    Op,
    ValueType,
)
from ...schema.write import Draft, Span, Submission, check_start
from ..port.store import SlotRecord, WriteTx
from ..timeline.ledger import PlanningSlot
from .evidence import RECORD, StoredFacts, evidence_of, lines_key
from .namesakes import ClaimLine, Subject, namesake_review, namesakes, subject_of
from .surroundings import Neighbourhoods, VisibleRelations, surroundings_of

_TAKES_BACK = (Op.RETRACT, Op.DELETE)


@dataclass(frozen=True, slots=True)
class AdmittedClaim:
    """A draft with everything bound."""

    draft: Draft
    assertion: Assertion
    slot: SlotRecord
    planning: PlanningSlot
    slot_keys: tuple[str, ...]
    """The slot of every member of the subject's cluster."""
    resolution: Resolution | None
    root: str | None
    """Canonical id of the subject."""
    pending: bool
    reviews: tuple[Review, ...]
    """Cases that subject, entity value and mentions have opened, suggestions included."""
    mentions: tuple[MentionLink, ...] = ()
    warnings: tuple[str, ...] = ()
    """Why aliases that subject and value state were not kept."""

    def with_clusters(self, register: Register) -> AdmittedClaim:
        """Return it under the clusters that the whole write has made."""
        raw = self.slot.subject_id
        if raw is None or self.slot.slot is None:
            return self

        root, name, scope_id = register.root(raw), self.slot.slot, self.slot.scope_id
        keys = register.slot_keys(raw, name, scope_id)

        return replace(self, root=root, planning=(root, name, scope_id), slot_keys=keys)


@dataclass(frozen=True, slots=True)
class _Binding:
    raw: str
    resolution: Resolution
    pending: bool
    reviews: tuple[Review, ...] = ()
    warnings: tuple[str, ...] = ()


def admit(
    submission: Submission,
    register: Register,
    *,
    tx: int,
    bands: ResolutionPolicy,
    scorer: Scorer | None,
    neighbourhoods: Mapping[frozenset[str], VisibleRelations],
    reads: WriteTx | None = None,
) -> tuple[AdmittedClaim, ...]:
    """Return the admitted claims of a submission, teaching the register what they create.

    `neighbourhoods` have what stands around its mentions, where some of them must be scored, by
    the scopes that these may use.

    Raises:
        TenureError: whatever the first draft that cannot be admitted raises.
    """
    claims: list[AdmittedClaim] = []
    namesake_lines = namesakes(submission.drafts, register) if len(submission.drafts) > 1 else {}
    surroundings: Mapping[frozenset[str], Neighbourhoods] = {}
    if neighbourhoods:
        surroundings = surroundings_of(submission, neighbourhoods, register, bands)

    evidence = evidence_of(submission.record or submission.drafts, bands)
    for ordinal, draft in enumerate(submission.drafts):
        rules = replace(rules_of(submission, draft, bands), authority=draft.details.authority_level)
        beside_draft = surroundings.get(rules.scopes)
        key = lines_key(draft)
        if reads is not None and key is not None:
            facts = evidence.get(key, {})
            origin, slots = draft.details.source_origin, frozenset(facts)
            stored = StoredFacts(reads, register, rules, origin, slots, tx)
            rules = replace(rules, evidence=facts, stored=stored)
        claim = _Admission(draft, register, rules, scorer, tx, namesake_lines, beside_draft)
        claims.append(claim.admit(ordinal))

    if register.moved:
        return tuple(claim.with_clusters(register) for claim in claims)

    return tuple(claims)


@dataclass(frozen=True, slots=True)
class _Admission:
    """One draft on its way in."""

    draft: Draft
    register: Register
    rules: Rules
    scorer: Scorer | None
    tx: int
    namesake_lines: Mapping[Subject, tuple[ClaimLine, ...]]
    surroundings: Neighbourhoods | None

    def admit(self, ordinal: int) -> AdmittedClaim:
        draft = self.draft
        self.register.restrict(draft.object_id, draft.permissions, self.rules.actor)
        subject = self._subject()
        value = self._value(subject)
        links, cases = self._links()

        # A write that addresses a stored object has its subject already.
        raw = subject.raw if subject else draft.details.subject_id
        root = self.register.root(raw) if raw else None
        record = self._slot(raw)
        planning: PlanningSlot = record.slot_key, "", record.scope_id
        slot_keys: tuple[str, ...] = (record.slot_key,)
        if record.slot is not None and root is not None:
            planning = root, record.slot, record.scope_id
            slot_keys = self.register.slot_keys(root, record.slot, record.scope_id)

        is_pending = False
        reviews: list[Review] = []
        warnings: dict[str, None] = {}
        for binding in (subject, value):
            if binding is not None:
                is_pending = is_pending or binding.pending
                reviews += binding.reviews
                warnings |= dict.fromkeys(binding.warnings)

        return AdmittedClaim(
            draft=draft,
            assertion=self._assertion(record, subject, value, ordinal),
            slot=record,
            planning=planning,
            slot_keys=slot_keys,
            resolution=subject.resolution if subject else None,
            root=root,
            pending=is_pending,
            reviews=(*reviews, *cases),
            mentions=links,
            warnings=tuple(warnings),
        )

    def _assertion(
        self, record: SlotRecord, subject: _Binding | None, value: _Binding | None, ordinal: int
    ) -> Assertion:
        draft = self.draft
        details, content = draft.details, draft.content
        value_id, value_key, value_json = self._value_parts(value)
        details = replace(
            details,
            subject_id=subject.raw if subject else details.subject_id,
            resolved_via=subject.resolution.reason if subject else details.resolved_via,
            value_entity_id=value_id,
        )
        if value_json is not None:
            content = replace(content, value_json=value_json)

        return Assertion(
            claim=self._claim(record.slot_key, value_key, ordinal),
            details=details,
            content=content,
            permissions=draft.permissions,
            quarantine=draft.quarantine,
        )

    def _links(self) -> tuple[tuple[MentionLink, ...], tuple[Review, ...]]:
        """Return what the names inside the text link it to, and the cases they open."""
        links: list[MentionLink] = []
        cases: list[Review] = []
        for span in self.draft.mentions:
            bound = self._mention_binding(span)
            if bound is None:
                continue
            cases += bound.reviews
            object_id, raw = self.draft.object_id, bound.raw
            links.append(
                MentionLink(object_id=object_id, entity_id=raw, start=span.start, end=span.end)
            )

        return tuple(links), tuple(cases)

    def _mention_binding(self, span: Span) -> _Binding | None:
        """Bind a name inside the text; what was only found names nobody new and teaches none."""
        resolution = bind(span.mention, self.register, self.rules, self.scorer)
        if resolution.decision is Decision.NEW and not span.stated:
            return None
        if resolution.entity is None or resolution.reason == SCORE_REASON:
            ref, _ = self._with_kept_aliases(as_ref(span.mention), resolution)
            return self._create(ref, f"mention/{span.start}", resolution)

        self.register.named_now.add(resolution.entity)
        return _Binding(resolution.entity, resolution, False)

    def _subject(self) -> _Binding | None:
        draft = self.draft
        if draft.slot_key is not None or draft.subject is None:
            return None

        types = draft.slot.subject_types if draft.slot else ()
        bound = self._bind(draft.subject, "subject", types)
        if self.rules.stored is not None:
            said = {*self.rules.evidence.items(), (RECORD, draft.details.source_origin)}
            self.register.said_now.setdefault(bound.raw, set()).update(said)
        entity = self.register.entity(bound.raw)
        if entity and draft.slot and types and not any(compatible(entity.type, t) for t in types):
            # Not by its name in the register, which may be one that the caller may not see.
            raise InvalidInput(
                f"slot {draft.slot.name!r} is about {' or '.join(types)}, but "
                f"{as_ref(draft.subject).name!r} is of type {entity.type}: use another slot",
                code="subject_type_mismatch",
                entity=bound.raw,
            )

        return bound

    def _value(self, subject: _Binding | None) -> _Binding | None:
        mention = self.draft.value_mention
        if mention is None:
            return None
        family = frozenset(self.register.members(subject.raw)) if subject else frozenset[str]()

        return self._bind(mention, "value", (), family)

    def _value_parts(self, value: _Binding | None) -> tuple[str | None, str, str | None]:
        """Return raw id, key and JSON of the value."""
        draft = self.draft
        if value is None:
            return draft.details.value_entity_id, draft.value_key, None

        # What was said: who is one with it is a matter of the moment that a plan or a view has.
        said = canonical_value(value.raw, ValueType.ENTITY)

        return value.raw, said.key, said.json

    def _bind(
        self,
        mention: MentionOrId,
        role: str,
        types: Sequence[str],
        related: frozenset[str] = frozenset(),
    ) -> _Binding:
        mention_typed = of_slot_type(mention, types)
        rules = replace(self.rules, related=related) if related else self.rules
        if role != "subject":
            types = self.draft.slot.value_types if self.draft.slot else ()
            rules = replace(rules, evidence={}, stored=None, types=types)
        if self.surroundings:
            rules = self.surroundings.rules(rules, mention_typed, self.register)

        scorer = None if self.draft.details.slot in STRUCTURE_SLOTS else self.scorer
        resolution = bind(mention_typed, self.register, rules, scorer)
        lines = self._namesake_lines(role)
        if lines and resolution.decision is not Decision.REVIEW:
            resolution = namesake_review(as_ref(mention_typed), lines, self.register, self.rules)

        ref, warnings = self._with_kept_aliases(as_ref(mention_typed), resolution)
        if resolution.entity is None or resolution.reason == SCORE_REASON:
            return replace(self._create(ref, role, resolution), warnings=warnings)

        self.register.named_now.add(resolution.entity)
        cases: list[Review] = []
        if isinstance(mention_typed, EntityRef):
            score, object_id = rules.bands.review_above, self.draft.object_id
            for shared in shared_names(ref.aliases, resolution.entity, self.register, self.rules):
                cases.append(shared_name_case(shared, score, object_id, self.tx))
            self._teach(ref, resolution.entity)

        entity = self.register.entity(self.register.root(resolution.entity))
        pending = entity is not None and entity.state is EntityState.PENDING

        return _Binding(resolution.entity, resolution, pending, tuple(cases), warnings)

    def _with_kept_aliases(
        self, ref: EntityRef, resolution: Resolution
    ) -> tuple[EntityRef, tuple[str, ...]]:
        """A mention with the aliases that the write may teach, and why others are left out.

        An alias is a way to hijack an entity. Retrieved text and tools teach none, a description
        ("the boss") names nobody, and one entity's name is no alias of another one.
        """
        if not ref.aliases:
            return ref, ()
        if self.draft.quarantine or self.draft.details.authority_level > Authority.USER:
            return replace(ref, aliases=()), ("alias_untrusted",)

        owners: Mapping[str, frozenset[str]] = {}
        if resolution.reason != SAME_IDENTIFIER:
            owners = alias_owners(ref, resolution.entity, self.register, self.rules)
        reasons: dict[str, str] = dict.fromkeys(owners, "alias_of_other")
        reasons |= dict.fromkeys(filter(is_description, ref.aliases), "alias_describes")
        kept_names = tuple(name for name in ref.aliases if name not in reasons)
        return replace(ref, aliases=kept_names), tuple(sorted(set(reasons.values())))

    def _namesake_lines(self, role: str) -> tuple[ClaimLine, ...]:
        """Return the lines of a subject that this write says two things about at once."""
        if role != "subject" or not self.namesake_lines:
            return ()

        subject = subject_of(self.draft, self.register)
        return self.namesake_lines.get(subject, ()) if subject else ()

    def _create(self, ref: EntityRef, role: str, resolution: Resolution) -> _Binding:
        pending = resolution.decision is Decision.REVIEW
        new = Entity(
            entity_id=entity_id(self.draft.object_id, role, ref.name),
            name=ref.name,
            type=ref.type,
            state=EntityState.PENDING if pending else EntityState.ACTIVE,
            scope_id=self.rules.scope_id,
            tx_start=self.tx,
            created_by=self.draft.object_id,
            recorded=self._of_record(ref),
        )
        self.register.learn(entities=[new])
        self.register.named_now.add(new.entity_id)
        if resolution.decision is Decision.BIND:
            self.register.join(match_row(self.draft.object_id, new.entity_id, resolution, self.tx))

        self._learn_names(ref, new)
        own_case = self._case(ref, new.entity_id, resolution)
        cases = [own_case] if own_case else []
        cases += self._doubts(ref, new.entity_id, resolution)

        resolution = replace(resolution, entity=new.entity_id)
        return _Binding(new.entity_id, resolution, pending, tuple(cases))

    def _doubts(self, ref: EntityRef, raw: str, resolution: Resolution) -> Iterator[Review]:
        """Yield a case for each automatic bind that a new name has made ambiguous."""
        is_scored = resolution.reason == SCORE_REASON and resolution.decision is Decision.REVIEW
        if not self.scorer or not (is_scored or ref.external_ids):
            return

        for doubt in self.scorer.doubts(ref, raw, resolution, self.register, self.rules):
            entity = self.register.entity(doubt.entity_id)
            if entity is None:
                continue
            yield doubted_case(entity, doubt, self.draft.object_id, self.tx)

    def _case(self, ref: EntityRef, raw: str, resolution: Resolution) -> Review | None:
        """Return the case a person should see: one that waits, a suggestion, or an audit."""
        reason = resolution.reason
        if resolution.decision is not Decision.REVIEW:
            if not resolution.candidates or reason not in (SCORE_REASON, SUGGESTION):
                return None
            if is_sampled(raw, self.rules.bands.audit_share):
                reason = AUDIT
            elif reason == SCORE_REASON:
                return None

        return Review(
            review_id=entity_id(self.draft.object_id, "review", raw),
            entity_id=raw,
            mention=ref.name,
            type=ref.type,
            scope_id=self.rules.scope_id,
            candidates=resolution.candidates,
            reason=reason,
            object_id=self.draft.object_id,
            opened_tx=self.tx,
        )

    def _of_record(self, ref: EntityRef) -> bool:
        stated_rows = stated_identifiers(ref, self.rules.bands.attributes)
        return bool(stated_rows) and self.draft.details.is_of_record

    def _teach(self, ref: EntityRef, raw: str) -> None:
        """Let a bound entity learn names, identifiers and its type from a trusted write."""
        entity = self.register.entity(raw)
        # What is quarantined teaches nothing, until somebody releases it.
        if entity is None or self.draft.quarantine:
            return
        if self.draft.details.authority_level > Authority.USER:
            self._vouch(ref.name, entity)
            return

        known_entity = better_known(
            entity, ref, self.draft.details.scope, recorded=self._of_record(ref)
        )
        if known_entity is not entity:
            self.register.learn(entities=[known_entity])
            self.register.settle(raw)
            entity = self.register.entity(raw) or known_entity

        self._learn_names(ref, entity)

    def _vouch(self, surface: str, entity: Entity) -> None:
        """Strengthen a name that it has, since another may hijack it; one without any is named."""
        family = self.register.members(entity.entity_id)
        if len(family) == 1 and entity.name == short_id(entity.entity_id):  # all were erased
            self.register.learn(entities=[replace(entity, name=surface)])
        elif not any(a.entity_id in family for a in self.register.named(alias_key(surface))):
            return
        self._learn_name(surface, entity)

    def _learn_name(self, surface: str, entity: Entity) -> None:
        """Write a name row, unless one as strong and as wide is open already."""
        norm = alias_key(surface)
        namesakes = self.register.named(norm)
        family = set(self.register.members(entity.entity_id))
        reach = {self.rules.scope_id, TENANT_SCOPE.scope_id}
        level = taught_level(self.draft.details.authority_level, self.draft.quarantine)
        for alias in namesakes:
            own = alias.entity_id in family and alias.scope_id in reach
            if own and self.register.taught_level(alias) <= level and self._is_open(alias):
                return
        if not norm:
            return

        in_scope = [alias for alias in namesakes if alias.scope_id == self.rules.scope_id]
        ordinal = free_ordinal(alias.ordinal for alias in in_scope)
        if self.scorer and all(alias.type != entity.type for alias in namesakes):
            self.register.block(norm, self.scorer.stored_keys(surface, entity.type))
        self.register.taught(self.draft.object_id, level)
        self.register.learn(aliases=[self._alias(surface, norm, entity, ordinal)])

    def _is_open(self, alias: Alias) -> bool:
        """Whether all who may read this write know a name already."""
        restriction = self.register.restriction(alias.object_id)
        return restriction is None or self.draft.permissions.is_within(restriction.permissions)

    def _learn_names(self, ref: EntityRef, entity: Entity) -> None:
        draft = self.draft
        for surface in dict.fromkeys((ref.name, *ref.aliases)):
            self._learn_name(surface, entity)
        if not ref.external_ids:
            return

        vouches = draft.details.directs or draft.details.is_of_record
        lesson = Lesson(draft.object_id, draft.details.scope, draft.permissions, self.tx, vouches)
        known, rules = self.register, self.rules
        identifiers = fresh_identifiers(ref, entity.entity_id, lesson, known, rules)
        known.state(identifiers, Teacher(rules.actor, vouches))

    def _alias(self, surface: str, norm: str, entity: Entity, ordinal: int) -> Alias:
        return Alias(
            entity_id=entity.entity_id,
            surface=surface,
            norm=norm,
            type=entity.type,
            scope_id=self.rules.scope_id,
            ordinal=ordinal,
            tx_start=self.tx,
            object_id=self.draft.object_id,
        )

    def _slot(self, raw: str | None) -> SlotRecord:
        draft, scope_id = self.draft, self.rules.scope_id
        name = draft.slot.name if draft.slot else None
        many = bool(draft.slot and draft.slot.many)
        if draft.slot_key is not None:
            return SlotRecord(draft.slot_key, raw, name, scope_id, many)
        if draft.slot is None or raw is None:
            return SlotRecord(text_key(draft.object_id), raw, None, scope_id, False)
        return SlotRecord(slot_key(raw, draft.slot.name, scope_id), raw, name, scope_id, many)

    def _claim(self, key: str, value_key: str, ordinal: int) -> Claim:
        draft = self.draft
        check_start(draft, self.tx)
        since = self.tx if draft.valid_from is None else draft.valid_from
        trust, confidence = draft.source_authority, draft.confidence
        if draft.slot is not None and draft.slot.constant and draft.op not in _TAKES_BACK:
            # What cannot change holds from the first: no later word and no trust outdoes another.
            since, trust, confidence = MIN_US, FULL_TRUST, FULL_TRUST
        interval = ALL_TIME if draft.whole_extent else Interval(since, draft.valid_until)

        return Claim(
            object_id=draft.object_id,
            slot_key=key,
            op=draft.op,
            value_key=value_key,
            interval=interval,
            since_us=interval.start_us,
            level=draft.level,
            source_authority=trust,
            confidence=confidence,
            tx=self.tx,
            ordinal=ordinal,
        )


def match_row(object_id: str, raw: str, resolution: Resolution, tx: int) -> Judgement:
    """The row that ties a surface bound by score to its entity, the centre of a star."""
    assert resolution.entity is not None  # the decision is to bind
    best, (left, right) = resolution.candidates[0], pair(raw, resolution.entity)
    return Judgement(
        judgement_id=entity_id(object_id, "judgement", raw),
        merge_id=entity_id(object_id, "merge", raw),
        left_id=left,
        right_id=right,
        verdict=JudgementVerdict.MATCH,
        judged_by=JudgedBy.RULE,
        actor="resolution",
        score=best.score,
        log_odds=best.log_odds,
        evidence=best.evidence,
        model_version=resolution.model_version,
        reason=resolution.reason,
        tx_start=tx,
    )


def doubted_case(entity: Entity, doubt: Doubt, object_id: str, tx: int) -> Review:
    """The case of an automatic bind that a name under review has made ambiguous."""
    # The id is the bind's own, so that a bind is doubted once, whoever comes later.
    review_id = entity_id(entity.entity_id, DOUBTED, entity.name)
    case = suggestion(
        entity, doubt.bound_to, review_id=review_id, object_id=object_id, opened_tx=tx
    )
    return replace(case, candidates=(doubt.bound_to, doubt.rival), reason=DOUBTED)


def suggestion(
    younger: Entity,
    elder: EntityCandidate,
    *,
    review_id: str,
    object_id: str,
    opened_tx: int,
) -> Review:
    """The case that asks whether two stored entities are one, and that nothing waits for."""
    return Review(
        review_id=review_id,
        entity_id=younger.entity_id,
        mention=younger.name,
        type=younger.type,
        scope_id=younger.scope_id,
        candidates=(elder,),
        reason=SUGGESTION,
        object_id=object_id,
        opened_tx=opened_tx,
    )


def is_sampled(raw: str, share: float) -> bool:
    """Whether an automatic decision is drawn for the audit: by its id, so always the same.

    >>> is_sampled("x", 1.0), is_sampled("x", 0.0)
    (True, False)
    """
    draw = int.from_bytes(hashlib.sha256(raw.encode()).digest()[:4])
    return draw < round(share * 2**32)


@dataclass(frozen=True, slots=True)
class SharedName:
    """A name that two stored entities have."""

    surface: str
    elder: Entity
    younger: Entity


def shared_names(
    surfaces: Sequence[str],
    raw: str,
    register: Register,
    rules: Rules,
) -> Iterator[SharedName]:
    """Yield each other entity that has one of the names which a write is about to teach."""
    family = register.members(raw)
    entity = register.entity(register.root(raw))
    surface_of: dict[str, str] = {}
    for surface in surfaces:
        aliases = register.named(alias_key(surface))
        if any(alias.entity_id in family and rules.shows(alias, register) for alias in aliases):
            continue  # it was taught before, and asked about then
        for alias in aliases:
            if rules.shows(alias, register):
                surface_of.setdefault(register.root(alias.entity_id), surface)

    for root, surface in sorted(surface_of.items()):
        other = register.entity(root)
        if entity is None or other is None or other.state is not EntityState.ACTIVE:
            continue
        is_possible = compatible(entity.type, other.type)
        if is_possible and not are_apart(entity.entity_id, root, register, rules):
            elder, younger = sorted((entity, other), key=lambda e: (e.tx_start, e.entity_id))
            yield SharedName(surface, elder, younger)


def shared_name_case(shared: SharedName, score: float, object_id: str, tx: int) -> Review:
    """The suggestion about two entities of one name, opened by a write at a transaction time.

    `score` is shown until something else is said of either: no comparison has been made.
    """
    elder, younger = shared.elder, shared.younger
    candidate = EntityCandidate(
        entity=elder.entity_id,
        name=elder.name,
        score=score,
        log_odds=round(math.log(max(score, 1e-6) / (1 - score)), 6),
        source=CandidateSource.ALIAS,
        features=(Feature("alias", 1.0, 0.0, f"both are called {shared.surface!r}"),),
    )
    return suggestion(
        younger,
        candidate,
        review_id=entity_id(object_id, "shared_name", f"{elder.entity_id} {younger.entity_id}"),
        object_id=object_id,
        opened_tx=tx,
    )
