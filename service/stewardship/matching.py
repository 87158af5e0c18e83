"""Duplicates in the register: compare every entity with every other, through blocking keys.

The entities are taken in order of their ids, a stretch at a time, and each name is looked up as a
write would do it. So the cost is that of as many mentions, and memory holds one stretch. Each pair
is seen once, from the smaller id. Findings are proposals: nothing is merged, and a judged pair is
not asked about again. The end of a stretch is enough to continue, in this or another process.

Decided reviews are labels that train the model. `most_telling` orders pairs by how much a person's
decision would teach it. Checklist: C-048, C-053.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ...resolution.bind import fuzzy_lookup
from ...resolution.context import PairContext, PersonContext
from ...resolution.identifiers import SHARED_FROM, StatedIdentifier, stated_identifiers
from ...resolution.known import Known, Lookup
from ...resolution.model import Model as Model
from ...resolution.model import default_model
from ...resolution.model import model_from_json as model_from_json
from ...resolution.names import with_visible_identifiers
from ...resolution.normalize import NameForm, form_of, normalize
from ...resolution.register import Register
from ...resolution.score import measure_names, name_ceiling, score_pair
from ...resolution.scorer import NameScorer
from ...schema.answers import EntityView
from ...schema.entity import MAX_NAME, NAMESAKES, Entity, EntityRef, Judgement, Review
from ...schema.errors import InvalidInput
from ...schema.policy import ResolutionPolicy
from ...schema.principal import STEWARD, Sight
from ...schema.records import short_repr
from ...schema.slots import UNKNOWN_TYPE, Vocabulary, compatible
from ...schema.vocabulary import EntityState, JudgedBy, JudgementVerdict, ReviewState
from ...store.port.store import Reader
from ..backend.caller import Caller, argument_checks
from ..reading.entities import entity_views
from ..reading.view import View, point_of, sight_of, words_of
from .review_page import (
    EntityComparison,
    PairVerdicts,
    StatedFacts,
    comparison_of,
    facts_about,
    facts_of_cluster,
    pair_context,
)

STRETCH = 500
"""Entities of one crossing, unless the caller says otherwise."""
MOST_PAIRS = 100
"""Pairs that a crossing returns, unless the caller says otherwise."""
_NAMES_MAX = 8
"""Names of one entity that are looked up; further ones are spellings of these nearly always."""
_AT_ONCE = 100
"""Names that are looked up together: one trip to a server."""
_WORTH_A_LOOK = -2.0
"""Log-odds of the names alone from which the facts about both entities are read."""
_LIVE = {EntityState.ACTIVE.value, EntityState.PENDING.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicatePair:
    """Two entities that may be one."""

    __repr__ = short_repr

    comparison: EntityComparison
    settles: int
    """Facts that a merge would bring together with partners: those of the smaller entity."""

    @property
    def worth(self) -> float:
        """What a look at the pair is worth: its score times what it would settle."""
        return round(self.comparison.candidate.score * (1 + self.settles), 6)

    @property
    def pair_id(self) -> str:
        """The two canonical ids, the smaller one first."""
        return f"{self.comparison.left.entity_id}:{self.comparison.right.entity_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """What a stretch of the register brought."""

    __repr__ = short_repr

    pairs: tuple[DuplicatePair, ...]
    """The best pairs, those whose merge would settle most first."""
    after: str
    """Where the next stretch starts; empty when the register has been crossed to its end."""
    entities: int
    """Entities of this stretch."""
    names: int
    """Names of theirs that were looked up."""
    comparisons: int
    """Pairs whose names were compared."""


class Label(NamedTuple):
    """A labelled pair of names, with the columns that the evaluation in `bench/` reads."""

    pair_id: str
    kind: str
    name1: str
    name2: str
    is_match: str
    cluster1: str
    cluster2: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RescoredCase:
    """An automatic bind that the current model doubts."""

    __repr__ = short_repr

    merge_id: str
    left: str
    right: str
    names: tuple[str, str]
    was: float | None
    """The score it was bound with."""
    now: float
    vetoes: tuple[str, ...]
    model_version: str
    """The model that made it."""


@argument_checks
@dataclass(frozen=True, slots=True)
class Matching(Caller):
    """The matching of names over a whole register, as one steward sees it."""

    _view: View
    model: Model | None = field(default=None, compare=False)
    """The model that scores; the shipped one without it."""

    def xref(
        self,
        *,
        type: str | None = None,
        after: str = "",
        entities: int = STRETCH,
        limit: int = MOST_PAIRS,
    ) -> Crossing:
        """Return the likeliest duplicates of the next entities among all entities.

        Start with `after=""` and go on with the `after` of the answer until it is empty. Of
        each stretch the `limit` best pairs are kept. Nothing is written.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `out_of_range`, `unknown_vocabulary`.
        """
        self.principal.require(STEWARD)
        if type is not None:
            words_of(self._view).check("entity_type", (type,))
        counts: tuple[object, ...] = (entities, limit)
        if not all(isinstance(count, int) and count >= 1 for count in counts):
            raise InvalidInput("cross 1 or more entities, keep 1 or more", code="out_of_range")

        sight = sight_of(self.principal, None)
        with self._reading() as reader:
            raw_ids = reader.entity_ids(type=type, after=after, most=entities)
            stretch = _views(reader, raw_ids, sight)
            proposals = self._proposals(reader, stretch, sight)
            pairs = self._pairs(reader, stretch, proposals.pairs, sight)

        # By what a merge would settle, times how likely it is; ties by score, then by id.
        pairs.sort(key=lambda p: (-p.worth, -p.comparison.candidate.log_odds, p.pair_id))
        return Crossing(
            pairs=tuple(pairs[:limit]),
            after=raw_ids[-1] if len(raw_ids) == entities else "",
            entities=len(stretch),
            names=proposals.names,
            comparisons=proposals.comparisons,
        )

    def audit(self) -> tuple[RescoredCase, ...]:
        """Score every standing automatic bind with the current model, by names alone.

        Return those that would not bind today, the least likely first; nothing changes.
        Context that was known then is taken as given: a scope once shared is still shared.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(STEWARD)
        with self._reading() as reader:
            return rescore_cases(reader, self._backend.policy.resolution)

    def labels(self) -> tuple[Label, ...]:
        """Return what decided reviews teach: a labelled pair of names each, by age.

        Reviews of the band alone teach a bias; audits, which are drawn at random, are among
        them for that reason.

        Raises:
            Forbidden: `privilege_required`.
        """
        self.principal.require(STEWARD)
        scopes = sight_of(self.principal, None).scopes
        with self._reading() as reader:
            cases = reader.reviews()

        return tuple(filter(None, [_label(case) for case in cases if case.scope_id in scopes]))

    def _proposals(
        self, reader: Reader, stretch: Mapping[str, EntityView], sight: Sight
    ) -> _Proposals:
        """The pairs that share blocking keys and whose names may be worth a look."""
        scorer, bands = NameScorer(self.model), self._backend.policy.resolution
        mentions: list[tuple[str, EntityRef]] = []
        for view in stretch.values():
            for name in view.aliases[:_NAMES_MAX]:
                # Older stores hold longer names than a mention may have.
                mentions.append((view.entity_id, EntityRef(name=name[:MAX_NAME], type=view.type)))
        scopes, tx_us = sorted(sight.scopes), reader.clock().last_us
        proposals = _Proposals(names=len(mentions))

        # A name alone costs a statement a step; a part shares them, and stays small in memory.
        for first in range(0, len(mentions), _AT_ONCE):
            part = mentions[first : first + _AT_ONCE]
            lookups: list[tuple[Lookup, list[str]]] = []
            for _, ref in part:
                # Who identifies them and how they were judged is read of the few that remain, and
                # a common name makes no pair here less likely: nobody waits for one.
                lookup = replace(fuzzy_lookup(ref, scorer, bands), names_only=True, family=None)
                lookups.append((lookup, scopes))
            answers = reader.known_each(lookups, tx_us=tx_us)
            for (root, ref), known in zip(part, answers, strict=True):
                self._propose(root, ref, known, proposals)

        self._propose_holders(reader, stretch, sight, proposals)
        return proposals

    def _propose_holders(
        self, reader: Reader, stretch: Mapping[str, EntityView], sight: Sight, proposals: _Proposals
    ) -> None:
        """Note the entities of greater id that share an identifier, whatever their names."""
        rows: list[tuple[str, StatedIdentifier]] = []
        pairs: set[tuple[str, str]] = set()
        bands = self._backend.policy.resolution
        for view in stretch.values():
            for scheme, value in view.identifiers:
                ref = EntityRef(name=view.name, external_ids={scheme: value})
                for row in stated_identifiers(ref, bands.attributes):
                    rows.append((view.entity_id, row))
                    pairs.update(row.pairs)
        lookup = Lookup(identifiers=tuple(sorted(pairs)))
        known = reader.known(lookup, scopes=sorted(sight.scopes), tx_us=reader.clock().last_us)
        register = Register(with_visible_identifiers(known, sight))
        for root, row in rows:
            holders = set(map(register.root, register.owners(row.pairs)))
            for partner in holders if len(holders) <= SHARED_FROM else ():
                if partner > root:
                    proposals.pairs[root, partner] = None

    def _propose(self, root: str, ref: EntityRef, known: Known, proposals: _Proposals) -> None:
        """Note the entities of greater id that a name may stand for as well."""
        model = self.model or default_model()
        form = form_of(ref.name, ref.type)
        for alias in known.aliases:
            partner = known.canonical.get(alias.entity_id, alias.entity_id)
            entity = known.entities.get(partner)
            # Each pair once, from its smaller id: the greater one meets it when it is crossed.
            if partner <= root or entity is None or not compatible(ref.type, entity.type):
                continue

            kind = entity.type if ref.type == UNKNOWN_TYPE else ref.type
            names: list[NameForm] = [form_of(alias.surface, kind)]
            # The ceiling of the names is cheap; facts are read only where it leaves hope.
            proposals.comparisons += 1
            if name_ceiling(measure_names(form, names, kind, model), model) >= _WORTH_A_LOOK:
                proposals.pairs[root, partner] = None

    def _pairs(
        self,
        reader: Reader,
        stretch: Mapping[str, EntityView],
        proposals: Iterable[tuple[str, str]],
        sight: Sight,
    ) -> list[DuplicatePair]:
        """The pairs that reach a suggestion with all that is known about both."""
        id_pairs = sorted(proposals)
        partner_ids = {partner_id for _, partner_id in id_pairs}

        views = {**_views(reader, sorted(partner_ids), sight), **stretch}
        members: list[str] = []
        for view in views.values() if id_pairs else ():
            members += view.members
        standing_verdicts = PairVerdicts.from_known(
            reader.entities(members, tx_us=reader.clock().last_us), sight
        )
        policy, now_us = self._backend.policy, point_of(self._view).valid_us
        facts = facts_about(reader, members, self.principal, policy, now_us=now_us)

        pairs: list[DuplicatePair] = []
        for left_id, right_id in id_pairs:
            left, right = views.get(left_id), views.get(right_id)
            # A name of the partner may have proposed it that the caller may not see.
            if left is None or right is None or not {left.state, right.state} <= _LIVE:
                continue
            pair = self._pair(left, right, facts, standing_verdicts)
            bands = policy.resolution.of_type(left.type)
            if pair is not None and pair.comparison.candidate.score >= bands.suggest_from:
                pairs.append(pair)
        return pairs

    def _pair(
        self,
        left: EntityView,
        right: EntityView,
        facts: Mapping[str, StatedFacts],
        standing_verdicts: PairVerdicts,
    ) -> DuplicatePair | None:
        verdict = standing_verdicts.verdict(left, right)
        if verdict is JudgementVerdict.NON_MATCH:
            return None

        words: Vocabulary = words_of(self._view)
        context = pair_context(
            left,
            right,
            facts,
            self._backend.policy,
            words,
            scopes=standing_verdicts.scopes_of(left) & standing_verdicts.scopes_of(right),
            unsure=verdict is JudgementVerdict.UNSURE,
        )
        bands = self._backend.policy.resolution
        comparison = comparison_of(left, right, context=context, bands=bands, model=self.model)
        # A merge settles the facts of the entity that has fewer.
        counts = [facts_of_cluster(entity, facts).count for entity in (left, right)]
        return DuplicatePair(comparison=comparison, settles=min(counts))


@dataclass(slots=True)
class _Proposals:
    names: int
    comparisons: int = 0
    pairs: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])


def most_telling(pairs: Iterable[DuplicatePair]) -> tuple[DuplicatePair, ...]:
    """Pairs by how near their score lies to a bound of the bands, the nearest first.

    There a word of a person moves most decisions. Of equals the more likely comes first.
    """
    return tuple(sorted(pairs, key=lambda pair: (_doubt(pair), -pair.worth, pair.pair_id)))


def label_of(pair: DuplicatePair, *, is_match: bool) -> Label:
    """A person's word about a pair, as a label."""
    left, right = pair.comparison.left, pair.comparison.right
    kind = right.type if left.type == UNKNOWN_TYPE else left.type
    cluster = left.entity_id if is_match else right.entity_id
    answer = "yes" if is_match else "no"
    names = pair.comparison.names
    return Label(pair.pair_id, kind, *names, answer, left.entity_id, cluster)


def _doubt(pair: DuplicatePair) -> float:
    score, comparison = pair.comparison.candidate.score, pair.comparison
    return round(min(abs(score - comparison.bind_at), abs(score - comparison.review_above)), 6)


def _views(reader: Reader, raw_ids: Sequence[str], sight: Sight) -> dict[str, EntityView]:
    """The entities whose canonical id is among these and whose names may be seen, by that id."""
    tx_us = reader.clock().last_us
    known = reader.entities(raw_ids, tx_us=tx_us)
    roots: list[str] = []
    for raw in raw_ids:
        if raw in known.entities and known.canonical.get(raw, raw) == raw:
            roots.append(raw)

    views = entity_views(reader, known, roots, sight, tx_us)
    return {view.entity_id: view for view in views if view.aliases}


def _label(case: Review) -> Label | None:
    """What a decided case says of its two names; None where it says nothing of names."""
    is_decided = case.state in (ReviewState.ACCEPTED, ReviewState.REJECTED)
    if not is_decided or case.reason == NAMESAKES or not case.candidates:
        return None

    by_id = {entry.entity: entry for entry in case.candidates}
    candidate = by_id.get(case.decided_entity or "", case.candidates[0])
    # Accepted as somebody who was no candidate: what was proposed was wrong.
    is_own = case.decided_entity in (None, candidate.entity)
    is_match = case.state is ReviewState.ACCEPTED and is_own
    cluster = case.entity_id if is_match else candidate.entity
    names, answer = (case.mention, candidate.name), "yes" if is_match else "no"
    return Label(case.review_id, case.type, *names, answer, case.entity_id, cluster)


def rescore_cases(reader: Reader, bands: ResolutionPolicy) -> tuple[RescoredCase, ...]:
    """Return the standing binds by rule that score below the bind band now, lowest first.

    A new model never rewrites old judgements; it only says which of them deserve a look. Names are
    scored as they were, with the context that the judgement kept.
    """
    known = reader.entities(reader.entity_ids(), tx_us=reader.clock().last_us)
    doubts: list[RescoredCase] = []
    for row in known.judgements:
        # What a person or a register has judged is not for a model to doubt.
        if row.verdict is not JudgementVerdict.MATCH or row.judged_by is not JudgedBy.RULE:
            continue
        left, right = known.entities[row.left_id], known.entities[row.right_id]
        pair = _rescored_pair(row, left, right)
        if pair.now < bands.of_type(left.type).bind_at or pair.vetoes:
            doubts.append(pair)

    return tuple(sorted(doubts, key=lambda pair: (pair.now, pair.merge_id)))


def _rescored_pair(row: Judgement, left: Entity, right: Entity) -> RescoredCase:
    lines = {line[0] for line in json.loads(row.evidence).get("features", ())}
    # The context of the bind is read off its evidence: what was shared then is shared still.
    context = PairContext(
        same_handle="same_handle" in lines,
        same_scope="same_scope" in lines,
        mentioned_together="mentioned_together" in lines,
        person_context=PersonContext.TENANT,
    )
    kind = right.type if left.type == UNKNOWN_TYPE else left.type
    form, right_form = normalize(left.name, kind), normalize(right.name, kind)
    pair = score_pair(form, (right_form,), kind, context, default_model())

    return RescoredCase(
        merge_id=row.merge_id or row.judgement_id,
        left=row.left_id,
        right=row.right_id,
        names=(left.name, right.name),
        was=row.score,
        now=pair.score,
        vetoes=pair.vetoes,
        model_version=row.model_version,
    )
