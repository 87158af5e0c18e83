"""The scorer: decide by names, context and vetoes what an exact look-up could not. Pure.

`NameScorer` gathers the candidates of a mention (names that share blocking keys, and names learned
in the same transaction), excludes those of another type or identifier, scores each entity over all
its visible names, applies the bands and explains every candidate. A pending entity is a candidate
only if no settled one fits, and never binds. A mention must fit all automatic members of a cluster.
A name of unknown type that may be a person's is judged as one. Embeddings are not used.

Two kinds of names leave a suggestion only. A name may resemble a known one without a score: similar
in shape, another language, a short form, or equal once a learned short form is expanded. And if
many visible people share a family name (`policy.resolution.common_family_name`), one more is most
likely another person; asking for each would make the queue grow faster than the register.
`docs/design/resolution.md`; checklist C-047 to C-052.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nsmallest
from operator import attrgetter

from anyascii import anyascii

from ..schema.entity import (
    SUGGESTION,
    Alias,
    Entity,
    EntityCandidate,
    EntityRef,
    Feature,
    Judgement,
    Resolution,
)
from ..schema.policy import ResolutionPolicy
from ..schema.principal import TENANT_SCOPE
from ..schema.slots import UNKNOWN_TYPE
from ..schema.vocabulary import (
    AttributeKind,
    CandidateSource,
    Decision,
    EntityState,
    JudgedBy,
    JudgementVerdict,
)
from .bind import SCORE_REASON, Doubt, evidence_for, is_trusted, is_unlike, short_words
from .blocking import (
    CANDIDATE_LIMIT,
    KIND_WEIGHT,
    LOOK_ALIKE,
    SHORT_NAME,
    BlockKey,
    KeyKind,
    Posting,
    block_keys,
    heaviest,
    hit_weight,
    is_in_short,
    look_alike,
    near_names,
)
from .clusters import Clusters
from .compare import Measures
from .context import PairContext, PersonContext, context_ceiling, context_of
from .extract import may_be_person
from .identifiers import (
    CONTRADICTED_FROM,
    SHARED_FROM,
    Weighed,
    holders_of,
    stated_identifiers,
    weigh,
)
from .keys import alias_key, folded
from .known import FamilyName, NearTest
from .model import Model, default_model
from .names import name_cache
from .normalize import form_of
from .register import Register, Rules
from .renderings import RENDERING, is_rendering
from .score import (
    MARGIN_SCORE,
    PairScore,
    ScoredEntity,
    decide,
    measure_names,
    name_ceiling,
    probability,
    score_measured,
    score_pair,
    with_veto,
)
from .vetoes import COMPARATORS, VetoCode, differs_in_form_alone, has_extra_words

SHORT_FORM = "learned_short_form"
"""The line of evidence that says so."""

GENERIC_FROM = 3
"""Live entities of a scope that share an alias, from which it tells nothing."""
_CHAIN_FROM = 3
_AUTOMATIC = frozenset({JudgedBy.RULE, JudgedBy.MODEL})
_CANDIDATES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A candidate entity with the names it may be scored under."""

    root: Entity
    surfaces: tuple[str, ...]
    generic: bool
    source: CandidateSource
    measures: tuple[Measures, ...]
    """What comparing the mention with each of these names has found."""
    evidence: Weighed
    """What the write states of the mention, against what is stored of the entity."""
    contacts: tuple[Feature, ...] = ()
    """The soft identifiers that the mention and the entity have in common."""
    is_near: bool = False
    """Whether a value that cannot change differs by what may be a slip."""
    is_contact: bool = False
    """Whether one of them reaches one person or house."""


@dataclass(frozen=True, slots=True)
class NameScorer:
    """Scores mentions with a fitted model; the shipped one unless another is given."""

    model: Model | None = None

    def keys(self, mention: EntityRef) -> tuple[tuple[str, int], ...]:
        """Blocking keys of a mention with their weights in thousandths."""
        return tuple((key, KIND_WEIGHT[kind]) for key, kind in _keys(mention.name, mention.type))

    def near(self, mention: EntityRef) -> NearTest:
        """What tells which stored names are worth scoring against a mention."""
        return partial(near_names, mention.name, mention.type)

    def family(self, mention: EntityRef, bands: ResolutionPolicy) -> FamilyName | None:
        """The family name whose bearers are to be counted; None of what is no person."""
        return family_name(mention, bands.common_family_name)

    def stored_keys(self, surface: str, entity_type: str) -> tuple[tuple[str, str], ...]:
        """The (key, kind) pairs under which a new alias is found."""
        return tuple((key, kind.label) for key, kind in _keys(surface, entity_type))

    def judge(self, mention: EntityRef, known: Register, rules: Rules) -> Resolution:
        """Bind, review or new with the evidence; `entity` is the one to bind to.

        A mention of no type is judged by the bands of its best candidate's.
        """
        candidates = self._candidates(mention, known, rules)
        candidates = self._with_holders(mention, candidates, known, rules)
        candidates = self._promising(mention, candidates, known, rules)
        by_root = {candidate.root.entity_id: candidate for candidate in candidates}

        ready_candidates = [c for c in candidates if c.root.state is not EntityState.PENDING]
        scores = [self._score(mention, candidate, known, rules) for candidate in ready_candidates]

        # A pending entity may turn out to be anyone, so it speaks only where nobody else fits,
        # and its margin veto keeps it from ever binding.
        if all(score.pair.score <= rules.bands.review_above for score in scores):
            for candidate in candidates:
                if candidate.root.state is EntityState.PENDING:
                    score = self._score(mention, candidate, known, rules)
                    scores.append(replace(score, pair=with_veto(score.pair, VetoCode.MARGIN)))

        measures_of = {root: candidate.measures for root, candidate in by_root.items()}
        scores = without_common_names(mention, scores, measures_of, known, rules)
        best = min(scores, key=lambda score: (-score.pair.score, score.entity_id), default=None)
        kind = _kind(mention, by_root[best.entity_id].root) if best else mention.type
        agreed_ids = {
            candidate.root.entity_id
            for candidate in candidates
            if any(map(attrgetter("weight"), candidate.contacts))
        }
        verdict = decide(scores, rules.bands.of_type(kind), agreed_ids)
        best_scores = verdict.ranked[:_CANDIDATES_SHOWN]
        is_bound = verdict.decision is Decision.BIND and verdict.winner is not None
        candidates_shown = [_as_candidate(row, by_root[row.entity_id]) for row in best_scores]
        look_alikes: list[EntityCandidate] = []
        if verdict.decision is Decision.NEW:
            look_alikes = _resembling(mention, verdict.ranked, by_root, known, rules)
        is_suggested = verdict.suggestion is not None or bool(look_alikes)
        reason = SCORE_REASON
        if verdict.decision is Decision.NEW:
            reason = SUGGESTION if is_suggested else "no_candidate"
        shown = {row.entity: row for row in (*candidates_shown, *look_alikes)}
        ahead = {row.entity: row for row in look_alikes}

        return Resolution(
            decision=verdict.decision,
            entity=verdict.winner.entity_id if verdict.winner and is_bound else None,
            score=best_scores[0].pair.score if best_scores else 0.0,
            reason=reason,
            candidates=tuple((ahead | shown).values()),
            model_version=self._model.version,
        )

    def doubts(
        self, mention: EntityRef, raw: str, outcome: Resolution, known: Register, rules: Rules
    ) -> tuple[Doubt, ...]:
        """The automatic binds that a name under review, now `raw`, has made ambiguous.

        Had it come first, the margin rule would have asked. So the order of writes decides what
        is bound until a person looks, and never what is one in the end. What a person judged is
        not reopened.
        """
        doubts: list[Doubt] = []
        context = PairContext(person_context=PersonContext.ASSUMED)
        is_asked = outcome.decision is Decision.REVIEW
        for candidate in outcome.candidates if is_asked else ():
            if candidate.score < rules.bands.review_above:
                continue
            members = known.members(candidate.entity)
            has_evidence = bool(weigh(mention, candidate.entity, known, rules).agrees)
            for row in known.rows_between(members):
                is_automatic = row.judged_by in _AUTOMATIC
                if not is_automatic or row.verdict is not JudgementVerdict.MATCH:
                    continue
                bound = _last_end(known.entity(row.left_id), known.entity(row.right_id))
                if bound is None or not rules.knows(bound, known):
                    continue
                # A birth date or a contact that speaks for the two is more than a name says.
                attributes = dict(rules.bands.attributes)
                if not has_evidence and any(_rests_on(row, name) for name in attributes):
                    continue
                kind = _kind(mention, bound)
                names = [form_of(mention.name, kind)]
                pair = score_pair(form_of(bound.name, kind), names, kind, context, self._model)
                if pair.score >= rules.bands.review_above:
                    past_evidence = _as_judged(row, known.entity(candidate.entity), candidate)
                    rival = EntityCandidate(
                        entity=raw,
                        name=pair.name,
                        score=min(pair.score, MARGIN_SCORE),
                        log_odds=pair.log_odds,
                        source=CandidateSource.BLOCKING,
                        features=pair.features,
                        vetoes=(*pair.vetoes, VetoCode.MARGIN.value),
                    )
                    doubts.append(Doubt(bound.entity_id, past_evidence, rival))
        doubts += _doubts_of_contacts(mention, raw, known, rules)
        return tuple(doubts[:_CANDIDATES_SHOWN])

    @property
    def _model(self) -> Model:
        return self.model or default_model()

    def _candidates(self, mention: EntityRef, known: Register, rules: Rules) -> list[_Candidate]:
        """The entities that may be meant, best blocking weight first, then by id."""
        weights: Counter[tuple[str, str]] = Counter()
        weights.update(known.proposals_of((alias_key(mention.name), mention.type, rules.scopes)))
        weights.update(self._fresh(mention, known))
        order = sorted(weights, key=lambda pair: (-weights[pair], pair[1], pair[0]))
        neighbours = [pair for pair in rules.beside if pair not in weights]

        aliases_of: dict[str, list[Alias]] = {}
        roots_by_norm: dict[str, set[str]] = {}
        for raw, norm in (*order[:CANDIDATE_LIMIT], *neighbours):
            for alias in known.named(norm):
                if alias.entity_id != raw or not rules.shows(alias, known):
                    continue
                if not is_trusted(alias, known, rules):
                    continue
                root = known.root(raw)
                aliases_of.setdefault(root, []).append(alias)
                roots_by_norm.setdefault(norm, set()).add(root)

        surfaces = {alias.surface for aliases in aliases_of.values() for alias in aliases}
        near_surfaces = near_names(mention.name, mention.type, surfaces)
        candidates: list[_Candidate] = []
        for root, aliases in aliases_of.items():
            close = [alias for alias in aliases if alias.surface in near_surfaces]
            entity = known.entity(root) if close else None
            if entity is None:
                continue
            evidence = _evidence(mention, entity, known, rules)
            if evidence is None:
                continue
            is_generic = all(len(roots_by_norm[alias.norm]) >= GENERIC_FROM for alias in close)
            names = tuple(dict.fromkeys(alias.surface for alias in close))
            measures = self._measures(mention, entity, names)
            source = _source(aliases[0], root, rules)
            candidate = _Candidate(entity, names, is_generic, source, measures, evidence)
            # What the write says of the mention that cannot change.
            lines = tuple([line for line in evidence.agrees if line.weight])
            ceiling = name_ceiling(measures, self._model) if lines else 0.0
            if lines and probability(ceiling) >= rules.bands.suggest_from:
                candidate = replace(candidate, contacts=lines, is_contact=True)
            elif evidence.near:
                candidate = replace(candidate, is_near=True)
            candidates.append(candidate)
        return candidates

    def _with_holders(
        self, mention: EntityRef, candidates: list[_Candidate], known: Register, rules: Rules
    ) -> list[_Candidate]:
        """The candidates with what soft identifiers say, and those that hold one besides.

        A value counts by how few entities of unlike name have it: a family shares an address, and
        a house of three or more tells nothing about any of them.
        """
        by_root = {candidate.root.entity_id: candidate for candidate in candidates}
        suggest_from = rules.bands.suggest_from
        for row in stated_identifiers(mention, rules.bands.attributes):
            if row.kind is None or not row.weight:
                continue
            holders = self._holders(mention, holders_of(row, known, rules), by_root, known, rules)
            unlike = 0
            likeness: dict[str, bool] = {}
            for root, holder in holders.items():
                ceiling = name_ceiling(holder.measures, self._model)
                likeness[root] = probability(ceiling) >= suggest_from
                unlike += not likeness[root]
            if unlike >= SHARED_FROM:
                continue

            for root, holder in holders.items():
                weight = round(row.weight / max(1, unlike), 6) if likeness[root] else 0.0
                line = Feature(row.scheme, 1.0, weight, f"equal: {row.value!r}")
                is_contact = likeness[root] and COMPARATORS[row.kind].is_contact
                by_root[root] = replace(
                    holder,
                    contacts=(*holder.contacts, line),
                    is_contact=holder.is_contact or is_contact,
                )
        return list(by_root.values())

    def _holders(
        self,
        mention: EntityRef,
        roots: Iterable[str],
        by_root: Mapping[str, _Candidate],
        known: Register,
        rules: Rules,
    ) -> dict[str, _Candidate]:
        holders: dict[str, _Candidate] = {}
        for root in roots:
            entity = known.entity(root)
            if root in by_root:
                holders[root] = by_root[root]
                continue
            evidence = _evidence(mention, entity, known, rules) if entity else None
            if entity is None or evidence is None:
                continue
            members = filter(None, map(known.entity, known.members(root)))
            names = tuple(member.name for member in members if rules.knows(member, known))
            if names:
                measures = self._measures(mention, entity, names)
                source = CandidateSource.IDENTIFIER
                holders[root] = _Candidate(entity, names, False, source, measures, evidence)
        return holders

    def _measures(
        self, mention: EntityRef, entity: Entity, names: Iterable[str]
    ) -> tuple[Measures, ...]:
        kind = _kind(mention, entity)
        forms = [form_of(name, kind) for name in names]
        return measure_names(form_of(mention.name, mention.type), forms, kind, self._model)

    def _fresh(self, mention: EntityRef, known: Register) -> Counter[tuple[str, str]]:
        """The weights of names that this transaction has taught, of the heaviest alone.

        Names come into question by weight, then by name: the others never would, and in a large
        batch a common word is shared by thousands.
        """
        postings: list[Posting[str]] = []
        for key, kind in _keys(mention.name, mention.type):
            norms = known.sharing(key)
            if not norms:
                continue
            total = max(len(norms), CANDIDATE_LIMIT)
            weight = hit_weight(kind.label, KIND_WEIGHT[kind], postings=len(norms), total=total)
            if weight:
                postings.append(Posting(weight, norms))

        postings.sort(key=lambda posting: -posting.weight)
        weights = heaviest(postings, CANDIDATE_LIMIT)
        best = nsmallest(CANDIDATE_LIMIT, weights, key=lambda norm: (-weights[norm], norm))

        proposals: Counter[tuple[str, str]] = Counter()
        for norm in best:
            for alias in known.named(norm):
                proposals[alias.entity_id, norm] = weights[norm]
        return proposals

    def _promising(
        self, mention: EntityRef, candidates: list[_Candidate], known: Register, rules: Rules
    ) -> list[_Candidate]:
        """The candidates that may reach a band, the best few, and those that are worth a look.

        The others could reach no suggestion with all the context that may speak for them. Of
        numbered names (`Order 17`) nearly all candidates are such.
        """
        if len(candidates) <= _CANDIDATES_SHOWN:
            return candidates

        bar = min(rules.bands.suggest_from, rules.bands.review_above, rules.bands.bind_at)
        context_bound = context_ceiling(mention, known, rules, self._model)
        ceilings: dict[str, float] = {}
        for candidate in candidates:
            ceilings[candidate.root.entity_id] = name_ceiling(candidate.measures, self._model)
        best_ids = nsmallest(_CANDIDATES_SHOWN, ceilings, lambda root: (-ceilings[root], root))
        promising: list[_Candidate] = []
        for candidate in candidates:
            root = candidate.root.entity_id
            may_reach = probability(ceilings[root] + context_bound) >= bar
            if may_reach or root in best_ids or _likeness(mention, candidate, known, rules):
                promising.append(candidate)
        return promising

    def _score(
        self, mention: EntityRef, candidate: _Candidate, known: Register, rules: Rules
    ) -> ScoredEntity:
        context = context_of(
            mention,
            candidate.root.entity_id,
            candidate.surfaces,
            known,
            rules,
            generic=candidate.generic,
        )
        if candidate.contacts:
            kinds = dict(rules.bands.attributes)
            agreed_kinds = {kinds.get(line.name) for line in candidate.contacts if line.weight}
            context = replace(
                context,
                attributes=candidate.contacts,
                same_contact=candidate.is_contact,
                same_house=agreed_kinds == {AttributeKind.PHONE.value},
            )
        kind = _kind(mention, candidate.root)
        pair = score_measured(candidate.measures, kind, context, self._model)

        # Names of unknown type that may be a person's must also hold as a person's, because
        # people share names and things seldom do.
        if kind == UNKNOWN_TYPE and may_be_person(mention.name) and may_be_person(pair.name):
            form, names = form_of(mention.name, "person"), [form_of(pair.name, "person")]
            as_person = score_pair(form, names, "person", context, self._model)
            pair = min(pair, as_person, key=lambda p: (p.score, p.log_odds))

        may_merge = pair.score > rules.bands.review_above
        if may_merge and not self._fits_cluster(mention, candidate, pair, context, known, rules):
            pair = with_veto(pair, VetoCode.CHAIN)
        if candidate.is_near:
            pair = with_veto(pair, VetoCode.ATTRIBUTE_CONFLICT)
        if not may_merge:
            return ScoredEntity(candidate.root.entity_id, pair)

        evidence = candidate.evidence
        if kind == PERSON and not pair.vetoes and evidence.is_stated and not evidence.agrees:
            pair = with_veto(pair, VetoCode.PERSON_WITHOUT_CONTEXT)

        objections = 0
        # The firms of a group share addresses, so that one in common speaks for no firm.
        if kind != PERSON or not evidence.agrees:
            pairing = next(row for row in candidate.measures if row.right.original == pair.name)
            objections = len(evidence.unshared) + (not differs_in_form_alone(pairing))
            # Two names with a legal form are two entries of a register, each given in full.
            if pairing.left.legal and pairing.right.legal and has_extra_words(pairing):
                objections += VetoCode.DISTINCTION.value not in pair.vetoes
            objections += VetoCode.LEGAL_FORM.value in pair.vetoes
        if objections >= CONTRADICTED_FROM:
            pair = with_veto(pair, VetoCode.CONTRADICTED)
            review_above = rules.bands.of_type(kind).review_above
            pair = replace(pair, score=min(pair.score, review_above))
        return ScoredEntity(candidate.root.entity_id, pair)

    def _fits_cluster(
        self,
        mention: EntityRef,
        candidate: _Candidate,
        pair: PairScore,
        context: PairContext,
        known: Register,
        rules: Rules,
    ) -> bool:
        """Whether a mention fits all names that were bound automatically, not only its best match.

        Else a bare name would carry one legal form to another, and the order of writes would
        decide who is one. What a person or a register tied on is taken as it is, only a cluster
        of three or more must fit with a second member.
        """
        # What others made in scopes of theirs is no part of what this writer knows.
        members: dict[str, Entity] = {}
        for raw in known.members(candidate.root.entity_id):
            member = known.entity(raw)
            if member is not None and rules.knows(member, known):
                members[raw] = member
        if len(members) <= 1:
            return True

        kind = _kind(mention, candidate.root)
        form = form_of(mention.name, mention.type)
        automatic = _bound_beside(pair.name, tuple(members), known, rules)
        review_above = rules.bands.review_above
        fits = 0
        for raw, member in members.items():
            names = [form_of(member.name, kind)]
            with_member = score_pair(form, names, kind, context, self._model)
            if raw in automatic and (with_member.vetoes or with_member.score <= review_above):
                return False
            fits += with_member.score >= review_above
        return fits > 1 or len(members) < _CHAIN_FROM


def _bound_beside(
    name: str, members: Sequence[str], known: Register, rules: Rules
) -> frozenset[str]:
    """The members that rules alone tied to those of a name."""
    rows: list[Judgement] = []
    for row in known.rows_between(members):
        if row.judged_by in _AUTOMATIC:
            rows.append(row)

    clusters = Clusters(rows)
    bound: set[str] = set()
    for raw in members:
        member = known.entity(raw)
        if member is not None and member.name == name:
            bound.update(clusters.of(raw))

    # Known by an alias alone: whoever was stated to bear it speaks for all of the cluster.
    return frozenset(bound or members)


def _resembling(
    mention: EntityRef,
    ranking: Sequence[ScoredEntity],
    by_root: Mapping[str, _Candidate],
    known: Register,
    rules: Rules,
) -> list[EntityCandidate]:
    """Who has the name of a new entity, but drawn or written in another way.

    Their score proves nothing; a person should see both.
    """
    entries: list[EntityCandidate] = []
    for score in ranking:
        candidate = by_root[score.entity_id]
        if candidate.root.state is EntityState.PENDING:
            continue
        line = _likeness(mention, candidate, known, rules)
        if line is not None:
            entry = _as_candidate(score, candidate)
            features = entry.features if line in entry.features else (*entry.features, line)
            entries.append(replace(entry, features=features))
    return entries[:_CANDIDATES_SHOWN]


def _likeness(
    mention: EntityRef, candidate: _Candidate, known: Register, rules: Rules
) -> Feature | None:
    """What makes a candidate worth a look, whatever its score; None for nothing."""
    line = resemblance(mention.name, candidate.surfaces, _kind(mention, candidate.root))
    line = line or learned_short_form(mention, candidate.surfaces, known, rules)
    return line or next(iter(candidate.contacts), None)


def _last_end(left: Entity | None, right: Entity | None) -> Entity | None:
    """The end of an automatic row that was written last: the surface that it bound."""
    if left is None or right is None:
        return None
    return max(left, right, key=lambda entity: (entity.tx_start, entity.entity_id))


def _as_judged(row: Judgement, root: Entity | None, candidate: EntityCandidate) -> EntityCandidate:
    """A candidate with the evidence that the row of its bind keeps."""
    evidence = json.loads(row.evidence)
    return replace(
        candidate,
        name=root.name if root else candidate.name,
        score=row.score or 0.0,
        log_odds=row.log_odds or 0.0,
        features=tuple([Feature(*line) for line in evidence["features"]]),
        vetoes=tuple(evidence["vetoes"]),
    )


def _doubts_of_contacts(
    mention: EntityRef, raw: str, known: Register, rules: Rules
) -> Iterator[Doubt]:
    """Yield the automatic binds that rested on a contact which has become that of a house."""
    for row in stated_identifiers(mention, rules.bands.attributes):
        holders = sorted(holders_of(row, known, rules)) if row.kind and row.weight else []
        for root in holders if len(holders) > SHARED_FROM else ():
            entity = known.entity(root)
            for judgement in known.rows_between(known.members(root)):
                bound = _last_end(*map(known.entity, (judgement.left_id, judgement.right_id)))
                if entity is None or bound is None or not _rests_on(judgement, row.scheme):
                    continue
                ref = EntityRef(name=bound.name, type=bound.type)
                if sum(is_unlike(ref, holder, known) for holder in holders) < SHARED_FROM:
                    continue
                line = Feature(row.scheme, 1.0, 0.0, f"{row.value!r} is held by {len(holders)}")
                rival = EntityCandidate(
                    entity=raw,
                    name=mention.name,
                    score=rules.bands.review_above,
                    log_odds=0.0,
                    source=CandidateSource.IDENTIFIER,
                    features=(line,),
                    vetoes=(VetoCode.MARGIN.value,),
                )
                past = replace(rival, entity=root, vetoes=())
                yield Doubt(bound.entity_id, _as_judged(judgement, entity, past), rival)


def _rests_on(judgement: Judgement, scheme: str) -> bool:
    """Whether a rule tied two names with a contact in its evidence."""
    if judgement.judged_by not in _AUTOMATIC or judgement.verdict is not JudgementVerdict.MATCH:
        return False
    features = [Feature(*line) for line in json.loads(judgement.evidence)["features"]]
    return any(line.name == scheme and line.weight > 0 for line in features)


def _kind(mention: EntityRef, entity: Entity) -> str:
    """The type whose names the two are compared as."""
    return mention.type if mention.type != UNKNOWN_TYPE else entity.type


def _source(alias: Alias, root: str, rules: Rules) -> CandidateSource:
    """How a candidate was found, as a steward would say it."""
    if alias.scope_id == rules.scope_id != TENANT_SCOPE.scope_id:
        in_session = "session=" in alias.scope_id
        return CandidateSource.SESSION if in_session else CandidateSource.SCOPED_REGISTER

    if not rules.neighbours.isdisjoint(rules.neighbours_of(root)):
        return CandidateSource.NEIGHBOURHOOD

    return CandidateSource.BLOCKING


def _evidence(mention: EntityRef, entity: Entity, known: Register, rules: Rules) -> Weighed | None:
    """What a write states of a candidate; None for what cannot be meant.

    That is another type, another identifier and an erased entity.
    """
    live = entity.state in (EntityState.ACTIVE, EntityState.PENDING)
    if not live or not rules.fits(mention.type, entity.type):
        return None
    return evidence_for(mention, known.root(entity.entity_id), entity.type, known, rules)


def _as_candidate(score: ScoredEntity, candidate: _Candidate) -> EntityCandidate:
    pair = score.pair
    authority = Feature("source", 1.0, 0.0, f"found by {candidate.source.value}: {pair.name!r}")
    return EntityCandidate(
        entity=score.entity_id,
        name=pair.name,
        score=pair.score,
        log_odds=pair.log_odds,
        source=candidate.source,
        features=(*pair.features, authority),
        vetoes=pair.vetoes,
    )


def resemblance(mention: str, names: Iterable[str], kind: str) -> Feature | None:
    """What makes one of an entity's names worth a look; None for nothing.

    >>> resemblance("Sasha Petrov", ["Alexander Petrov"], "person").name
    'rendering'
    """
    form = form_of(mention, kind)
    for name in names:
        stored_form = form_of(name, kind)
        pair = f"{mention!r} / {name!r}"
        if look_alike(form, stored_form):
            return Feature(LOOK_ALIKE, 1.0, 0.0, f"drawn alike: {pair}")
        if is_rendering(form, stored_form):
            return Feature(RENDERING, 1.0, 0.0, f"one name as two languages write it: {pair}")
        if is_in_short(form, stored_form):
            return Feature(SHORT_NAME, 1.0, 0.0, f"one says the other in short: {pair}")
    return None


def learned_short_form(
    mention: EntityRef, names: Iterable[str], known: Register, rules: Rules
) -> Feature | None:
    """What makes a name worth a look because one of its words is an alias here; None for nothing.

    Only of an alias that means one entity: two that are called PG tell nothing.
    """
    words = alias_key(mention.name).split()
    for short in short_words(mention):
        owner = _owner(short, known, rules)
        if owner is None or alias_key(owner.name) == short:
            continue
        in_full = " ".join([owner.name if word == short else word for word in words])
        form = form_of(in_full, mention.type)
        for name in names:
            if form_of(name, mention.type).ordered == form.ordered:
                detail = f"{short!r} is an alias of {owner.name!r}: {mention.name!r} / {name!r}"
                return Feature(SHORT_FORM, 1.0, 0.0, detail)
    return None


def _owner(short: str, known: Register, rules: Rules) -> Entity | None:
    """The one settled entity that a word is an alias of, as the caller sees it."""
    owners: dict[str, Entity] = {}
    for alias in known.named(short):
        entity = known.entity(known.root(alias.entity_id))
        is_visible = rules.shows(alias, known) and is_trusted(alias, known, rules)
        if entity is not None and is_visible and entity.state is EntityState.ACTIVE:
            owners[entity.entity_id] = entity
    return next(iter(owners.values())) if len(owners) == 1 else None


PERSON = "person"


def family_name(mention: EntityRef, limit: int) -> FamilyName | None:
    """The family name of a person, as a store finds its bearers; None of any other name.

    >>> family_name(EntityRef(name="Sam Rivera", type="person"), 5)
    FamilyName(key='t:rivera', ending=' rivera', limit=5)
    """
    is_unknown = mention.type == UNKNOWN_TYPE
    if mention.type != PERSON and not (is_unknown and may_be_person(mention.name)):
        return None
    core = form_of(mention.name, PERSON).core
    if len(core) < 2:
        return None

    # The key of a word has no accents, a stored name has.
    for word in reversed(folded(mention.name).split()):
        letters = [letter for letter in anyascii(word).lower() if letter.isalnum()]
        if "".join(letters) == core[-1]:
            return FamilyName(f"{KeyKind.TOKEN.value}:{core[-1]}", f" {word}", limit)
    return None


def without_common_names(
    mention: EntityRef,
    scores: Sequence[ScoredEntity],
    measures_of: Mapping[str, Sequence[Measures]],
    known: Register,
    rules: Rules,
) -> list[ScoredEntity]:
    """The scores, those of people whose names are only near at most a suggestion's.

    Only of people whom no context speaks for: a common project or an address still asks.
    """
    review_above = rules.bands.review_above
    near_ids: set[str] = set()
    for score in scores:
        pair = score.pair
        lacks_context = VetoCode.PERSON_WITHOUT_CONTEXT.value in pair.vetoes
        names = [row for row in measures_of[score.entity_id] if row.right.original == pair.name]
        is_alike = any(row.same_tokens or row.same_joined for row in names)
        if pair.score > review_above and lacks_context and not is_alike:
            near_ids.add(score.entity_id)

    # Nobody is counted unless somebody would be asked.
    limit = rules.bands.common_family_name
    family = family_name(mention, limit) if near_ids else None
    if family is None:
        return list(scores)
    query = alias_key(mention.name), mention.type, rules.scopes
    if known.bearers_of(query) + known.bearers_now(family, rules) < limit:
        return list(scores)

    capped_scores: list[ScoredEntity] = []
    for score in scores:
        pair = score.pair
        if score.entity_id in near_ids:
            vetoes = (*pair.vetoes, VetoCode.COMMON_NAME.value)
            pair = replace(pair, score=review_above, vetoes=vetoes)
        capped_scores.append(ScoredEntity(score.entity_id, pair))
    return capped_scores


@name_cache(1_000)
def _keys(surface: str, entity_type: str) -> tuple[BlockKey, ...]:
    return block_keys(form_of(surface, entity_type))
