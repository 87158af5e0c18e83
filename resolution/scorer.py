"""The scorer: what an exact look-up could not decide, decided by names, context and vetoes.

`NameScorer` gathers the candidates of a mention (stored names that share blocking keys, and
names learned in the same transaction), excludes those of another type or another identifier,
scores each entity over all its visible names, applies the bands and explains every candidate.
A pending entity is a candidate only where no settled one fits, and never binds. A MATCH into
a cluster of three or more needs a second member that fits too. Names of unknown type that may
be a person's are judged as a person's.

Embeddings propose nothing here and decide nothing anywhere. Pure; the same register gives the
same answer. Sources: resolution 2 to 6 and 8; settled 9; checklist C-047 to C-052.
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
_CHAIN_FROM = 3
_NEAR = 70.0
"""Shared share of words, in per cent, below which no pair reaches a suggestion."""
_SHOWN = 5
_ROLE = re.compile(r"\b(?:C[A-Z]O|SVP|EVP|VP|head|director|lead|president|chair)\b")
_DOCUMENT = re.compile(r"\b[A-Z]{2,}-\d+\b")


@lru_cache(maxsize=65_536)
def _form(surface: str, entity_type: str) -> NameForm:
    return normalize(surface, entity_type)


@lru_cache(maxsize=4_096)
def _keys(surface: str, entity_type: str) -> tuple[BlockKey, ...]:
    return block_keys(_form(surface, entity_type))


@dataclass(frozen=True, slots=True)
class _Found:
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
        """The blocking keys of a mention with their weights in thousandths."""
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
        found = self._promising(mention, self._candidates(mention, known, rules), known, rules)
        waits = [one for one in found if one.root.state is EntityState.PENDING]
        ready = [one for one in found if one.root.state is not EntityState.PENDING]
        scored = [self._score(mention, one, known, rules) for one in ready]
        if waits and all(s.pair.score <= rules.bands.review_above for s in scored):
            scored += [_held(self._score(mention, one, known, rules)) for one in waits]

        by_root = {one.root.entity_id: one for one in found}
        verdict = decide(scored, rules.bands.of_type(_type_of(mention, scored, by_root)))
        bound = verdict.winner if verdict.decision is Decision.BIND else None
        best = verdict.ranked[0].pair if verdict.ranked else None

        return Resolution(
            decision=verdict.decision,
            entity=bound.entity_id if bound else None,
            score=best.score if best else 0.0,
            reason=_reason(verdict.decision, suggested=verdict.suggestion is not None),
            candidates=tuple(
                _candidate(one, by_root[one.entity_id]) for one in verdict.ranked[:_SHOWN]
            ),
            model_version=self._model.version,
        )

    @property
    def _model(self) -> Model:
        return self.model or default_model()

    def _candidates(self, mention: EntityRef, known: Register, rules: Rules) -> list[_Found]:
        """The entities that may be meant, best blocking weight first, then by id."""
        weights: Counter[tuple[str, str]] = Counter()
        weights.update(known.proposed((alias_key(mention.name), mention.type, rules.scopes)))
        weights.update(self._fresh(mention, known))
        order = sorted(weights, key=lambda pair: (-weights[pair], pair[1], pair[0]))
        surfaces: dict[str, list[Alias]] = {}
        shared: dict[str, set[str]] = {}
        sources: dict[str, CandidateSource] = {}
        beside = [pair for pair in rules.beside if pair not in weights]
        for raw, norm in (*order[:CANDIDATE_LIMIT], *beside):
            for alias in known.named(norm):
                if alias.entity_id != raw or alias.scope_id not in rules.scopes:
                    continue
                root = known.root(raw)
                surfaces.setdefault(root, []).append(alias)
                shared.setdefault(norm, set()).add(root)
                sources.setdefault(root, _source(alias, root, rules))

        found: list[_Found] = []
        for root, aliases in surfaces.items():
            entity = known.entity(root)

            close = [
                alias for alias in aliases if _is_near(mention.name, mention.type, alias.surface)
            ]

            if not close or entity is None or not _may_be(mention, entity, known):
                continue

            generic = all(len(shared[alias.norm]) >= GENERIC_FROM for alias in close)
            names = _names_of([alias.surface for alias in close], root, known, rules)
            measures = self._measured(mention, entity, names)
            found.append(_Found(entity, names, generic, sources[root], measures))

        return found

    def _measured(
        self, mention: EntityRef, entity: Entity, names: Iterable[str]
    ) -> tuple[Measures, ...]:
        kind = _kind(mention, entity)
        forms = [_form(name, kind) for name in names]
        return measured(_form(mention.name, mention.type), forms, kind, self._model)

    def _promising(
        self, mention: EntityRef, found: list[_Found], known: Register, rules: Rules
    ) -> list[_Found]:
        """The candidates that may reach a band, and the few best that are shown anyway.

        What is left out could not reach a suggestion with all the context that may speak for it.
        """
        if len(found) <= _SHOWN:
            return found

        bands = rules.bands
        bar = min(bands.suggest_from, bands.review_above, bands.bind_at)
        most = _context_ceiling(mention, known, rules, self._model)
        ceilings = {
            one.root.entity_id: round(name_ceiling(one.measures, self._model) + most, 6)
            for one in found
        }

        ranked = sorted(found, key=lambda one: (-ceilings[one.root.entity_id], one.root.entity_id))
        kept = {
            one.root.entity_id
            for place, one in enumerate(ranked)
            if place < _SHOWN or probability(ceilings[one.root.entity_id]) >= bar
        }
        return [one for one in found if one.root.entity_id in kept]

    def _fresh(self, mention: EntityRef, known: Register) -> Counter[tuple[str, str]]:
        """The weights of names that this transaction has taught, of the heaviest alone.

        Names come into question by weight, then by name: the others never would, and in a large
        batch a common word is shared by thousands.
        """
        found: list[Posting[str]] = []
        for key, kind in _keys(mention.name, mention.type):
            norms = known.sharing(key)
            if not norms:
                continue
            total = max(len(norms), CANDIDATE_LIMIT)
            weight = hit_weight(kind.label, KIND_WEIGHT[kind], postings=len(norms), total=total)
            found += [Posting(weight, norms)] if weight else []

        found.sort(key=lambda posting: -posting.weight)
        weights = heaviest(found, CANDIDATE_LIMIT)
        best = nsmallest(CANDIDATE_LIMIT, weights, key=lambda norm: (-weights[norm], norm))

        return Counter(
            {(alias.entity_id, norm): weights[norm] for norm in best for alias in known.named(norm)}
        )

    def _score(self, mention: EntityRef, one: _Found, known: Register, rules: Rules) -> Scored:
        context = _context(mention, one, known, rules)
        kind = _kind(mention, one.root)
        pair = score_measured(one.measures, kind, context, self._model)
        if kind == UNKNOWN_TYPE and all(map(may_be_person, (mention.name, pair.name))):
            forms = [_form(pair.name, "person")]
            strict = score_pair(
                _form(mention.name, "person"), forms, "person", context, self._model
            )
            pair = min(pair, strict, key=lambda p: (p.score, p.log_odds))

        if pair.score > rules.bands.review_above and self._is_chained(mention, one, known, rules):
            pair = _capped(pair, VetoCode.CHAIN)

        return Scored(one.root.entity_id, pair)

    def _is_chained(self, mention: EntityRef, one: _Found, known: Register, rules: Rules) -> bool:
        """Whether a large cluster is reached through one member alone."""
        members = [known.entity(raw) for raw in known.members(one.root.entity_id)]
        if len(members) < _CHAIN_FROM:
            return False

        kind = _kind(mention, one.root)
        form = _form(mention.name, mention.type)
        context = PairContext(person_context=PersonContext.ASSUMED)
        fits = sum(
            score_pair(form, [_form(member.name, kind)], kind, context, self._model).score
            >= rules.bands.review_above
            for member in members
            if member
        )
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


def _type_of(mention: EntityRef, scored: Iterable[Scored], by_root: Mapping[str, _Found]) -> str:
    if mention.type != UNKNOWN_TYPE:
        return mention.type
    best = min(scored, key=lambda one: (-one.pair.score, one.entity_id), default=None)
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
def _is_near(wanted: str, entity_type: str, name: str) -> bool:
    """Whether two names are worth the whole comparison; a shared common word is not."""
    mine, other = _form(wanted, entity_type), _form(name, entity_type)
    if mine.joined == other.joined or not _short_forms(mine).isdisjoint(_short_forms(other)):
        return True
    return token_set_ratio(mine.ordered, other.ordered, score_cutoff=_NEAR) > 0


def _short_forms(form: NameForm) -> set[str]:
    return {form.joined, *form.acronyms}


def _may_be(mention: EntityRef, entity: Entity, known: Register) -> bool:
    """Exclude what cannot be meant: another type, another identifier, an erased entity."""
    live = entity.state in (EntityState.ACTIVE, EntityState.PENDING)
    fits = compatible(mention.type, entity.type)
    return live and fits and not excludes(mention, entity.entity_id, known)


def _names_of(surfaces: Iterable[str], root: str, known: Register, rules: Rules) -> tuple[str, ...]:
    """The proposed names of a cluster and the visible names of its members."""
    members = [known.entity(raw) for raw in known.members(root)]
    own = [m.name for m in members if m and m.scope_id in rules.scopes and m.name]
    return tuple(dict.fromkeys((*surfaces, *own)))


def _context(mention: EntityRef, one: _Found, known: Register, rules: Rules) -> PairContext:
    root = one.root.entity_id
    lifts = rules.bands.person_context_scope == TENANT_SCOPE.scope_id
    mine = (mention.name, *mention.aliases)
    handles = _handles(mention)
    others = _handles_of(root, known) if handles else set[str]()

    return PairContext(
        same_handle=not handles.isdisjoint(others),
        same_scope=_same_scope(one, known, rules),
        neighbour_overlap=_overlap(rules, root),
        mentioned_together=not known.named_now.isdisjoint(known.members(root)),
        attribute_conflict=_domains_differ(mention, root, known),
        direct_edge=not rules.related.isdisjoint(known.members(root)),
        generic_alias=one.generic,
        person_context=PersonContext.TENANT if lifts else PersonContext.NONE,
        same_role=_shares(_ROLE, mine, one.surfaces),
        same_document=_shares(_DOCUMENT, mine, one.surfaces),
        same_path=not _paths(mine).isdisjoint(_paths(one.surfaces)),
        same_email_domain=not _domains(handles).isdisjoint(_domains(others)),
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

    return sum(
        max(weight, 0.0) for name, weight in model.context.items() if not absent.get(name, False)
    )


def _same_scope(one: _Found, known: Register, rules: Rules) -> bool:
    """Whether the mention stands in, or inside, a narrow scope that names the entity."""
    mine = set(rules.scope_id.split(","))

    named = {
        alias.scope_id
        for surface in one.surfaces
        for alias in known.named(alias_key(surface))
        if known.root(alias.entity_id) == one.root.entity_id
    }

    narrow = named - {TENANT_SCOPE.scope_id}
    return any(set(scope.split(",")) <= mine for scope in narrow)


def _handles(mention: EntityRef) -> set[str]:
    stated = (mention.name, *mention.aliases, *mention.external_ids.values())
    return {alias_key(text) for text in stated if "@" in text}


def _handles_of(root: str, known: Register) -> set[str]:
    return {alias_key(value) for value in known.held(root).values() if "@" in value}


def _domains(handles: Iterable[str]) -> set[str]:
    """The domains of addresses; a handle without one has none."""
    ends = (handle.rpartition("@")[2] for handle in handles)
    return {end for end in ends if "." in end}


def _domains_differ(mention: EntityRef, root: str, known: Register) -> bool:
    """Whether both sides state a web domain and the two differ."""
    mine = mention.external_ids.get("domain")
    other = known.held(root).get("domain") if mine else None
    return bool(other) and mine != other


def _overlap(rules: Rules, root: str) -> int:
    """How much of what stands around either stands around both, in thousandths."""
    mine = rules.neighbours
    if not mine:
        return 0
    other = rules.around(root)
    return round(1000 * len(mine & other) / len(mine | other))


def _shares(shape: re.Pattern[str], mine: Sequence[str], others: Sequence[str]) -> bool:
    found = {match for text in mine for match in shape.findall(text)}
    return bool(found) and any(match in found for text in others for match in shape.findall(text))


def _paths(names: Iterable[str]) -> set[str]:
    return {name.rsplit("/", 1)[-1].casefold() for name in names if "/" in name}


def _held(one: Scored) -> Scored:
    return replace(one, pair=_capped(one.pair, VetoCode.MARGIN))


def _capped(pair: PairScore, code: VetoCode) -> PairScore:
    return replace(pair, score=min(pair.score, MARGIN_SCORE), vetoes=(*pair.vetoes, code.value))


def _reason(decision: Decision, *, suggested: bool) -> str:
    if decision is Decision.NEW:
        return "possible_same_as" if suggested else "no_candidate"
    return "scored"


def _candidate(one: Scored, found: _Found) -> EntityCandidate:
    pair = one.pair
    authority = Feature("source", 1.0, 0.0, f"found by {found.source.value}: {pair.name!r}")
    return EntityCandidate(
        entity=one.entity_id,
        name=pair.name,
        score=pair.score,
        log_odds=pair.log_odds,
        source=found.source,
        features=(*pair.features, authority),
        vetoes=pair.vetoes,
    )
