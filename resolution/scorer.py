"""The scorer: what an exact look-up could not decide, decided by names, context and vetoes.

`NameScorer` gathers the candidates of a mention (stored names that share blocking keys, and
names learned in the same transaction), excludes those of another type or another identifier,
scores each entity over all its visible names, applies the bands and explains every candidate.
A pending entity is a candidate only where no settled one fits, and never binds. A MATCH into
a cluster of three or more needs a second member that fits too. Names of unknown type that may
be a person's are judged as a person's.

Embeddings propose nothing here and decide nothing anywhere. Pure; the same register gives the
same answer. `docs/design/resolution.md`; checklist C-047 to C-052.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from heapq import nsmallest

from rapidfuzz.fuzz import token_set_ratio

from ..schema.entity import Alias, Entity, EntityCandidate, EntityRef, Feature, Resolution
from ..schema.principal import TENANT_SCOPE
from ..schema.slots import UNKNOWN_TYPE, compatible
from ..schema.vocabulary import CandidateSource, Decision, EntityState
from .bind import Rules, excludes
from .blocking import CANDIDATE_LIMIT, KIND_WEIGHT, BlockKey, block_keys
from .compare import Measures
from .context import PairContext, PersonContext
from .extract import is_name_of_a_thing
from .keys import alias_key
from .lexicon import lexicon, nicknames
from .model import Model, default_model
from .normalize import NameForm, normalize
from .postings import Posting, heaviest, hit_weight
from .register import Register
from .score import (
    MARGIN_SCORE,
    PairScore,
    Scored,
    decide,
    measured,
    name_ceiling,
    probability,
    score_measured,
    score_pair,
)
from .vetoes import VetoCode

GENERIC_FROM = 3
"""Live entities of a scope that share an alias, from which it tells nothing."""
RARE_DEGREE = 5
"""Relations up to which a neighbour that two have in common is evidence alone."""
_CHAIN_FROM = 3
_SHARED_WORDS_MIN = 70.0
"""Shared share of words, in per cent, below which no pair reaches a suggestion."""
_CANDIDATES_SHOWN = 5
_ROLE = re.compile(r"\b(?:C[A-Z]O|SVP|EVP|VP|head|director|lead|president|chair)\b")
_DOCUMENT = re.compile(r"\b[A-Z]{2,}-\d+\b")


@lru_cache(maxsize=65_536)
def _form(surface: str, entity_type: str) -> NameForm:
    return normalize(surface, entity_type)


@lru_cache(maxsize=4_096)
def _keys(surface: str, entity_type: str) -> tuple[BlockKey, ...]:
    return block_keys(_form(surface, entity_type))


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

    def near(self, mention: EntityRef) -> Callable[[str], bool]:
        """What tells whether a stored name is worth scoring against a mention."""
        return partial(_is_near, mention.name, mention.type)

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

        settled = [c for c in candidates if c.root.state is not EntityState.PENDING]
        scores = [self._score(mention, candidate, known, rules) for candidate in settled]

        # A pending entity may turn out to be anyone, so it speaks only where nobody else fits,
        # and its margin veto keeps it from ever binding.
        if all(score.pair.score <= rules.bands.review_above for score in scores):
            for candidate in candidates:
                if candidate.root.state is EntityState.PENDING:
                    score = self._score(mention, candidate, known, rules)
                    scores.append(replace(score, pair=_with_veto(score.pair, VetoCode.MARGIN)))

        verdict = decide(scores, rules.bands.of_type(_type_of(mention, scores, by_root)))
        shown = verdict.ranked[:_CANDIDATES_SHOWN]
        is_bound = verdict.decision is Decision.BIND and verdict.winner is not None

        return Resolution(
            decision=verdict.decision,
            entity=verdict.winner.entity_id if verdict.winner and is_bound else None,
            score=shown[0].pair.score if shown else 0.0,
            reason=_reason(verdict.decision, suggested=verdict.suggestion is not None),
            candidates=tuple([_shown(score, by_root[score.entity_id]) for score in shown]),
            model_version=self._model.version,
        )

    @property
    def _model(self) -> Model:
        return self.model or default_model()

    def _candidates(self, mention: EntityRef, known: Register, rules: Rules) -> list[_Candidate]:
        """The entities that may be meant, best blocking weight first, then by id."""
        weights: Counter[tuple[str, str]] = Counter()
        weights.update(known.proposed((alias_key(mention.name), mention.type, rules.scopes)))
        weights.update(self._fresh(mention, known))
        order = sorted(weights, key=lambda pair: (-weights[pair], pair[1], pair[0]))
        neighbours = [pair for pair in rules.beside if pair not in weights]

        aliases_of: dict[str, list[Alias]] = {}
        roots_by_norm: dict[str, set[str]] = {}
        sources: dict[str, CandidateSource] = {}
        for raw, norm in (*order[:CANDIDATE_LIMIT], *neighbours):
            for alias in known.named(norm):
                if alias.entity_id != raw or alias.scope_id not in rules.scopes:
                    continue
                root = known.root(raw)
                aliases_of.setdefault(root, []).append(alias)
                roots_by_norm.setdefault(norm, set()).add(root)
                sources.setdefault(root, _source(alias, root, rules))

        near = self.near(mention)
        candidates: list[_Candidate] = []
        for root, aliases in aliases_of.items():
            entity = known.entity(root)
            close = [alias for alias in aliases if near(alias.surface)]
            if not close or entity is None or not _may_be(mention, entity, known):
                continue
            is_generic = all(len(roots_by_norm[alias.norm]) >= GENERIC_FROM for alias in close)
            names = _names_of([alias.surface for alias in close], root, known, rules)
            measures = self._measures(mention, entity, names)
            candidates.append(_Candidate(entity, names, is_generic, sources[root], measures))
        return candidates

    def _measures(
        self, mention: EntityRef, entity: Entity, names: Iterable[str]
    ) -> tuple[Measures, ...]:
        kind = _kind(mention, entity)
        forms = [_form(name, kind) for name in names]
        return measured(_form(mention.name, mention.type), forms, kind, self._model)

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
        context_bound = _context_ceiling(mention, known, rules, self._model)
        ceilings: dict[str, float] = {}
        for candidate in candidates:
            ceiling = name_ceiling(candidate.measures, self._model) + context_bound
            ceilings[candidate.root.entity_id] = round(ceiling, 6)

        ranking = sorted(ceilings, key=lambda root: (-ceilings[root], root))
        roots = set(ranking[:_CANDIDATES_SHOWN])
        roots.update(root for root in ranking if probability(ceilings[root]) >= bar)
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
    ) -> Scored:
        context = _context(mention, candidate, known, rules)
        kind = _kind(mention, candidate.root)
        pair = score_measured(candidate.measures, kind, context, self._model)

        # Names of unknown type that may be a person's must also hold as a person's, because
        # people share names and things seldom do.
        if kind == UNKNOWN_TYPE and may_be_person(mention.name) and may_be_person(pair.name):
            form, names = _form(mention.name, "person"), [_form(pair.name, "person")]
            as_person = score_pair(form, names, "person", context, self._model)
            pair = min(pair, as_person, key=lambda p: (p.score, p.log_odds))

        may_merge = pair.score > rules.bands.review_above
        if may_merge and self._is_chained(mention, candidate, known, rules):
            pair = _with_veto(pair, VetoCode.CHAIN)
        return Scored(candidate.root.entity_id, pair)

    def _is_chained(
        self, mention: EntityRef, candidate: _Candidate, known: Register, rules: Rules
    ) -> bool:
        """Whether a large cluster is reached through one member alone."""
        members = known.members(candidate.root.entity_id)
        if len(members) < _CHAIN_FROM:
            return False

        kind = _kind(mention, candidate.root)
        form = _form(mention.name, mention.type)
        context = PairContext(person_context=PersonContext.ASSUMED)
        fits = 0
        for raw in members:
            if member := known.entity(raw):
                pair = score_pair(form, [_form(member.name, kind)], kind, context, self._model)
                fits += pair.score >= rules.bands.review_above
        return fits < 2


def _kind(mention: EntityRef, entity: Entity) -> str:
    """The type whose names the two are compared as."""
    return mention.type if mention.type != UNKNOWN_TYPE else entity.type


def may_be_person(name: str) -> bool:
    """Whether a name of unknown type may be a person's: two to four plain words.

    >>> may_be_person("Priya Natarajan"), may_be_person("Order Service")
    (True, False)
    """
    form = _form(name, UNKNOWN_TYPE)
    if form.legal or not 2 <= len(form.tokens) <= 4 or form.digits:
        return False
    if form.tokens[0] in nicknames() or form.tokens[0] in lexicon().titles:
        return True

    return all(word.isalpha() for word in form.tokens) and not is_name_of_a_thing(form.tokens)


def _type_of(
    mention: EntityRef, scores: Iterable[Scored], by_root: Mapping[str, _Candidate]
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


@lru_cache(maxsize=4_096)
def _is_near(surface: str, entity_type: str, name: str) -> bool:
    """Whether two names are worth the whole comparison; a shared common word is not."""
    left, right = _form(surface, entity_type), _form(name, entity_type)
    if left.joined == right.joined or not _short_forms(left).isdisjoint(_short_forms(right)):
        return True
    return token_set_ratio(left.ordered, right.ordered, score_cutoff=_SHARED_WORDS_MIN) > 0


def _short_forms(form: NameForm) -> set[str]:
    return {form.joined, *form.acronyms}


def _may_be(mention: EntityRef, entity: Entity, known: Register) -> bool:
    """Exclude what cannot be meant: another type, another identifier, an erased entity."""
    live = entity.state in (EntityState.ACTIVE, EntityState.PENDING)
    fits = compatible(mention.type, entity.type)
    return live and fits and not excludes(mention, entity.entity_id, known)


def _names_of(surfaces: Iterable[str], root: str, known: Register, rules: Rules) -> tuple[str, ...]:
    """The proposed names of a cluster and the visible names of its members."""
    names = list(surfaces)
    for raw in known.members(root):
        member = known.entity(raw)
        if member and member.name and member.scope_id in rules.scopes:
            names.append(member.name)
    return tuple(dict.fromkeys(names))


def _context(
    mention: EntityRef, candidate: _Candidate, known: Register, rules: Rules
) -> PairContext:
    root = candidate.root.entity_id
    lifts = rules.bands.person_context_scope == TENANT_SCOPE.scope_id
    surfaces = (mention.name, *mention.aliases)
    handles = _handles(mention)
    stored_handles = _handles_of(root, known) if handles else set[str]()

    return PairContext(
        same_handle=not handles.isdisjoint(stored_handles),
        same_scope=_same_scope(candidate, known, rules),
        neighbour_overlap=_overlap(rules, root),
        mentioned_together=not known.named_now.isdisjoint(known.members(root)),
        attribute_conflict=_domains_differ(mention, root, known),
        direct_edge=not rules.related.isdisjoint(known.members(root)),
        generic_alias=candidate.generic,
        person_context=PersonContext.TENANT if lifts else PersonContext.NONE,
        same_role=_shares(_ROLE, surfaces, candidate.surfaces),
        same_document=_shares(_DOCUMENT, surfaces, candidate.surfaces),
        same_path=not _paths(surfaces).isdisjoint(_paths(candidate.surfaces)),
        same_email_domain=not _domains(handles).isdisjoint(_domains(stored_handles)),
        authority=rules.authority,
    )


def _context_ceiling(mention: EntityRef, known: Register, rules: Rules, model: Model) -> float:
    """The most that context may add for any candidate: what cannot be there counts 0."""
    absent = {
        "same_handle": not _handles(mention),
        "neighbour_overlap": not rules.neighbours,
        "same_scope": rules.scope_id == TENANT_SCOPE.scope_id,
        "mentioned_together": not known.named_now,
    }
    return sum(max(model.context[name], 0.0) for name in model.context if not absent.get(name))


def _same_scope(candidate: _Candidate, known: Register, rules: Rules) -> bool:
    """Whether the mention stands in, or inside, a narrow scope that names the entity."""
    scope_parts = set(rules.scope_id.split(","))
    for surface in candidate.surfaces:
        for alias in known.named(alias_key(surface)):
            # Being of one tenant tells two names apart from nobody else.
            if alias.scope_id == TENANT_SCOPE.scope_id:
                continue
            is_same = known.root(alias.entity_id) == candidate.root.entity_id
            if is_same and scope_parts.issuperset(alias.scope_id.split(",")):
                return True
    return False


def _handles(mention: EntityRef) -> set[str]:
    surfaces = (mention.name, *mention.aliases, *mention.external_ids.values())
    return {alias_key(text) for text in surfaces if "@" in text}


def _handles_of(root: str, known: Register) -> set[str]:
    return {alias_key(value) for value in known.held(root).values() if "@" in value}


def _domains(handles: Iterable[str]) -> set[str]:
    """The domains of addresses; a handle without one has none."""
    return {domain for handle in handles if "." in (domain := handle.rpartition("@")[2])}


def _domains_differ(mention: EntityRef, root: str, known: Register) -> bool:
    """Whether both sides state a web domain and the two differ."""
    stated_domain = mention.external_ids.get("domain")
    stored_domain = known.held(root).get("domain") if stated_domain else None
    return bool(stored_domain) and stated_domain != stored_domain


def _overlap(rules: Rules, root: str) -> int:
    """How much of what stands around either stands around both, in thousandths."""
    neighbours = rules.neighbours
    if not neighbours:
        return 0

    stored_neighbours = rules.around(root)
    common = neighbours & stored_neighbours
    # One common neighbour tells little, unless hardly anyone else has it.
    if len(common) == 1 and len(rules.around(*common)) > RARE_DEGREE:
        return 0
    return round(1000 * len(common) / len(neighbours | stored_neighbours))


def _shares(
    shape: re.Pattern[str], surfaces: Sequence[str], stored_surfaces: Sequence[str]
) -> bool:
    """Whether both sides say one thing of a shape, such as the same role."""
    # Names hold no line break, so a match never runs from one into the next.
    matches = shape.findall("\n".join(surfaces))
    return bool(matches) and not set(matches).isdisjoint(shape.findall("\n".join(stored_surfaces)))


def _paths(names: Iterable[str]) -> set[str]:
    return {name.rsplit("/", 1)[-1].casefold() for name in names if "/" in name}


def _with_veto(pair: PairScore, code: VetoCode) -> PairScore:
    return replace(pair, score=min(pair.score, MARGIN_SCORE), vetoes=(*pair.vetoes, code.value))


def _reason(decision: Decision, *, suggested: bool) -> str:
    if decision is Decision.NEW:
        return "possible_same_as" if suggested else "no_candidate"
    return "scored"


def _shown(score: Scored, candidate: _Candidate) -> EntityCandidate:
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
