"""The scorer: what an exact look-up could not decide, decided by names, context and vetoes.

`NameScorer` gathers the candidates of a mention (stored names that share blocking keys, and
names learned in the same transaction), excludes those of another type or another identifier,
scores each entity over all its visible names, applies the bands and explains every candidate.
A pending entity is a candidate only where no settled one fits, and never binds. Who joins a
cluster must fit all that was bound there automatically. Names of unknown type that may
be a person's are judged as a person's.

Embeddings propose nothing here and decide nothing anywhere. Pure; the same register gives the
same answer. `docs/design/resolution.md`; checklist C-047 to C-052.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import nsmallest

from ..schema.entity import (
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
from ..schema.slots import UNKNOWN_TYPE, compatible
from ..schema.vocabulary import (
    CandidateSource,
    Decision,
    EntityState,
    JudgedBy,
    JudgementVerdict,
)
from .bind import Doubt, excluding_schemes, is_trusted
from .blocking import CANDIDATE_LIMIT, KIND_WEIGHT, BlockKey, block_keys, near_names
from .clusters import Clusters
from .common_names import family_name, without_common_names
from .compare import Measures
from .context import PairContext, PersonContext
from .extract import may_be_person
from .keys import alias_key
from .known import FamilyName, NearTest
from .model import Model, default_model
from .name_cache import name_cache
from .normalize import form_of
from .pair_context import context_ceiling, context_of
from .postings import Posting, heaviest, hit_weight
from .register import Register, Rules
from .resemblance import learned_short_form, may_resemble, resemblance
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
)
from .vetoes import VetoCode

GENERIC_FROM = 3
"""Live entities of a scope that share an alias, from which it tells nothing."""
_CHAIN_FROM = 3
_AUTOMATIC = frozenset({JudgedBy.RULE, JudgedBy.MODEL})
_CANDIDATES_SHOWN = 5


@name_cache(1_000)
def _keys(surface: str, entity_type: str) -> tuple[BlockKey, ...]:
    return block_keys(form_of(surface, entity_type))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A candidate entity with the names it may be scored under."""

    root: Entity
    surfaces: tuple[str, ...]
    generic: bool
    source: CandidateSource
    measures: tuple[Measures, ...]
    """What comparing the mention with each of these names has found."""


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
                    scores.append(replace(score, pair=_with_veto(score.pair, VetoCode.MARGIN)))

        measures_of = {root: candidate.measures for root, candidate in by_root.items()}
        scores = without_common_names(mention, scores, measures_of, known, rules)
        verdict = decide(scores, rules.bands.of_type(_type_of(mention, scores, by_root)))
        best_scores = verdict.ranked[:_CANDIDATES_SHOWN]
        is_bound = verdict.decision is Decision.BIND and verdict.winner is not None
        candidates_shown: list[EntityCandidate] = []
        for row in best_scores:
            candidates_shown.append(_as_candidate(row, by_root[row.entity_id]))
        look_alikes: list[EntityCandidate] = []
        if verdict.decision is Decision.NEW:
            look_alikes = _resembling(mention, verdict.ranked, by_root, known, rules)
        is_suggested = verdict.suggestion is not None or bool(look_alikes)

        return Resolution(
            decision=verdict.decision,
            entity=verdict.winner.entity_id if verdict.winner and is_bound else None,
            score=best_scores[0].pair.score if best_scores else 0.0,
            reason=_reason(verdict.decision, suggested=is_suggested),
            candidates=_with_look_alikes(candidates_shown, look_alikes),
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
        for candidate in outcome.candidates:
            if candidate.score < rules.bands.review_above:
                continue
            members = known.members(candidate.entity)
            for row in known.rows_between(members):
                is_automatic = row.judged_by in _AUTOMATIC
                if not is_automatic or row.verdict is not JudgementVerdict.MATCH:
                    continue
                bound = _last_end(known.entity(row.left_id), known.entity(row.right_id))
                if bound is None or not rules.knows(bound, known):
                    continue
                pair = self._pair_of(bound, mention)
                if pair.score >= rules.bands.review_above:
                    past_evidence = _as_judged(row, known.entity(candidate.entity), candidate)
                    doubts.append(Doubt(bound.entity_id, past_evidence, _rival(raw, pair)))
        return tuple(doubts[:_CANDIDATES_SHOWN])

    def _pair_of(self, bound: Entity, mention: EntityRef) -> PairScore:
        kind = _kind(mention, bound)
        context = PairContext(person_context=PersonContext.ASSUMED)
        names = [form_of(mention.name, kind)]
        return score_pair(form_of(bound.name, kind), names, kind, context, self._model)

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
        first_alias: dict[str, Alias] = {}
        surfaces: set[str] = set()
        for raw, norm in (*order[:CANDIDATE_LIMIT], *neighbours):
            for alias in known.named(norm):
                if alias.entity_id != raw or not rules.shows(alias, known):
                    continue
                if not is_trusted(alias, known, rules):
                    continue
                root = known.root(raw)
                aliases_of.setdefault(root, []).append(alias)
                roots_by_norm.setdefault(norm, set()).add(root)
                first_alias.setdefault(root, alias)
                surfaces.add(alias.surface)

        near_surfaces = near_names(mention.name, mention.type, surfaces)
        candidates: list[_Candidate] = []
        for root, aliases in aliases_of.items():
            close = [alias for alias in aliases if alias.surface in near_surfaces]
            entity = known.entity(root) if close else None
            if entity is None or not _may_be(mention, entity, known, rules):
                continue
            is_generic = all(len(roots_by_norm[alias.norm]) >= GENERIC_FROM for alias in close)
            names = tuple(dict.fromkeys(alias.surface for alias in close))
            measures = self._measures(mention, entity, names)
            source = _source(first_alias[root], root, rules)
            candidates.append(_Candidate(entity, names, is_generic, source, measures))
        return candidates

    def _measures(
        self, mention: EntityRef, entity: Entity, names: Iterable[str]
    ) -> tuple[Measures, ...]:
        kind = _kind(mention, entity)
        forms = [form_of(name, kind) for name in names]
        return measure_names(form_of(mention.name, mention.type), forms, kind, self._model)

    def _promising(
        self, mention: EntityRef, candidates: list[_Candidate], known: Register, rules: Rules
    ) -> list[_Candidate]:
        """The candidates that may reach a band, and the few best that are shown anyway.

        What is left out could not reach a suggestion with all the context that may speak for it.
        """
        if len(candidates) <= _CANDIDATES_SHOWN:
            return candidates

        bands = rules.bands
        bar = min(bands.suggest_from, bands.review_above, bands.bind_at)
        context_bound = context_ceiling(mention, known, rules, self._model)
        ceilings: dict[str, float] = {}
        for candidate in candidates:
            ceiling = name_ceiling(candidate.measures, self._model) + context_bound
            ceilings[candidate.root.entity_id] = round(ceiling, 6)

        ranking = sorted(ceilings, key=lambda root: (-ceilings[root], root))
        roots = set(ranking[:_CANDIDATES_SHOWN])
        roots.update(root for root in ranking if probability(ceilings[root]) >= bar)
        for candidate in candidates:
            if may_resemble(mention.name, candidate.surfaces, mention.type):
                roots.add(candidate.root.entity_id)
        return [candidate for candidate in candidates if candidate.root.entity_id in roots]

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
            pair = _with_veto(pair, VetoCode.CHAIN)
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
        """Whether a mention fits every name that was bound automatically beside its best match.

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
        line = resemblance(mention.name, candidate.surfaces, _kind(mention, candidate.root))
        line = line or learned_short_form(mention, candidate.surfaces, known, rules)
        if line is not None:
            entry = _as_candidate(score, candidate)
            entries.append(replace(entry, features=(*entry.features, line)))
    return entries[:_CANDIDATES_SHOWN]


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


def _rival(raw: str, pair: PairScore) -> EntityCandidate:
    return EntityCandidate(
        entity=raw,
        name=pair.name,
        score=min(pair.score, MARGIN_SCORE),
        log_odds=pair.log_odds,
        source=CandidateSource.BLOCKING,
        features=pair.features,
        vetoes=(*pair.vetoes, VetoCode.MARGIN.value),
    )


def _kind(mention: EntityRef, entity: Entity) -> str:
    """The type whose names the two are compared as."""
    return mention.type if mention.type != UNKNOWN_TYPE else entity.type


def _type_of(
    mention: EntityRef, scores: Iterable[ScoredEntity], by_root: Mapping[str, _Candidate]
) -> str:
    if mention.type != UNKNOWN_TYPE:
        return mention.type
    best = min(scores, key=lambda score: (-score.pair.score, score.entity_id), default=None)
    return by_root[best.entity_id].root.type if best else UNKNOWN_TYPE


def _source(alias: Alias, root: str, rules: Rules) -> CandidateSource:
    """How a candidate was found, as a steward would say it."""
    if alias.scope_id == rules.scope_id != TENANT_SCOPE.scope_id:
        in_session = "session=" in alias.scope_id
        return CandidateSource.SESSION if in_session else CandidateSource.SCOPED_REGISTER

    if not rules.neighbours.isdisjoint(rules.around(root)):
        return CandidateSource.NEIGHBOURHOOD

    return CandidateSource.BLOCKING


def _may_be(mention: EntityRef, entity: Entity, known: Register, rules: Rules) -> bool:
    """Exclude what cannot be meant: another type, another identifier, an erased entity."""
    live = entity.state in (EntityState.ACTIVE, EntityState.PENDING)
    fits = compatible(mention.type, entity.type)
    if not (live and fits):
        return False
    return not excluding_schemes(mention, entity.entity_id, known, rules)


def _with_veto(pair: PairScore, code: VetoCode) -> PairScore:
    return replace(pair, score=min(pair.score, MARGIN_SCORE), vetoes=(*pair.vetoes, code.value))


def _reason(decision: Decision, *, suggested: bool) -> str:
    if decision is Decision.NEW:
        return "possible_same_as" if suggested else "no_candidate"
    return "scored"


def _with_look_alikes(
    candidates: Sequence[EntityCandidate], look_alikes: Sequence[EntityCandidate]
) -> tuple[EntityCandidate, ...]:
    entries: dict[str, EntityCandidate] = {}
    for row in (*look_alikes, *candidates):
        entries.setdefault(row.entity, row)
    return tuple(entries.values())


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
