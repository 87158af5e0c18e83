"""Stage 5, rank: what the active task needs, how much, and why the rest stays out.

First the activation gate: a remembered object of levels 2 to 4 enters only if the active task
type is one of its own *and* the request matches it: a shared content term with its condition
`why_it_matters`, its claim or its slot, or a near vector. Preferences and directives pass on
the task type alone. What stands without the query is marked `by_task`: it may live in a
cached zone. Then a composite score of relevance, authority and freshness gives the tier.

Invariant: a score is a whole number of millionths; ties never depend on a float.
Checklist C-032, C-079, C-133, C-134.
"""

from __future__ import annotations

from functools import cached_property

from ...schema.claim import Version
from ...schema.compile_terms import PriorityTier, Reason, SectionName, Stage
from ...schema.vocabulary import ObjectType
from ..conversion.direction import is_offered
from ..gathering.mentions import bound_names, people_of, speakers_of
from ..gathering.redaction import is_masked, masks, nearest_vector, public_terms
from ..gathering.rerank import blend
from ..gathering.siblings import lifted_by_subject
from ..gathering.talk import lifted_scores, selective_cosines
from ..ir.candidate import Candidate, content_of, freshness_of, is_talk, version_of
from ..ir.context import CompileContext, Topic, question
from ..ir.outputs import Ranked, Validated
from ..ir.snapshot import Snapshot, Via
from ..ir.verdicts import Verdict
from ..text.related_words import unspoken_terms
from ..text.relevance import (
    FULL,
    TALK_LENGTH,
    Document,
    fuse,
    lexical,
    micro,
    term_counts,
    term_text,
    terms_of,
)

_STANDING_TYPES = frozenset(
    {ObjectType.PREFERENCE, ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.POLICY_RULE}
)

# Looked up once: on Python 3.11 a member of an enumeration takes as long as a call.
_VIA_PIN, _VIA_STANDING = int(Via.PINNED), int(Via.STANDING)
_SLOT, _NEIGHBOUR = int(Via.SLOT), int(Via.NEIGHBOUR)
_TALK, _SIBLING, _VECTOR = int(Via.TALK), int(Via.SIBLING), int(Via.VECTOR)
_TOOL = ObjectType.TOOL_SCHEMA
_IRRELEVANT = PriorityTier.IRRELEVANT.value


def rank(validated: Validated, snapshot: Snapshot, context: CompileContext) -> Ranked:
    """Return the relevant candidates with their scores, and verdicts on the others."""
    activation = _Activation(context, snapshot, validated.candidates)
    active: list[Candidate] = []
    verdicts: list[Verdict] = []
    for candidate in validated.candidates:
        detail, by_task = activation.answer(candidate)
        if detail:
            verdicts.append(
                Verdict(
                    Stage.RANK,
                    candidate.object_id,
                    Reason.IRRELEVANT_TO_ACTIVE_TASK,
                    detail,
                    None,
                    _IRRELEVANT,
                )
            )
        else:
            active.append(candidate._replace(by_task=True) if by_task else candidate)

    scale = _Scale(context, snapshot)
    candidates = _score_all(active, activation, scale)
    relevant: list[Candidate] = []
    passed_over: list[tuple[Candidate, Verdict]] = []
    for candidate in candidates:
        verdict = scale.floor_verdict(candidate)
        if verdict is None:
            relevant.append(candidate)
        elif candidate.is_passage:
            passed_over.append((candidate, verdict))
        else:
            verdicts.append(verdict)

    for candidate in validated.archival:
        passed_over.append((candidate, _demotion(candidate)))
    passed_over.sort(key=lambda pair: (-pair[0].relevance, pair[0].object_id))

    # Kept for the manifest, so that a replay scores no words again.
    scores: list[tuple[str, int]] = []
    for candidate in candidates:
        if candidate.lexical:
            scores.append((candidate.object_id, candidate.lexical))
    return Ranked(tuple(relevant), tuple(passed_over), tuple(scores), tuple(verdicts))


def _demotion(candidate: Candidate) -> Verdict:
    return Verdict(Stage.VALIDATE, candidate.object_id, Reason.RETIRED, "demoted")


class _Activation:
    """The activation gate of one compile."""

    def __init__(
        self, context: CompileContext, snapshot: Snapshot, candidates: tuple[Candidate, ...]
    ) -> None:
        self.context = context
        self.snapshot = snapshot
        self.candidates = candidates
        self.terms = question(context, (*bound_names(snapshot), *snapshot.expansion))
        self.tasks = frozenset(context.task_types)
        self.near = round(context.rules.activation_cosine * 16_000_000)
        self.strict = context.rules.activation == "strict"
        request = context.request
        wording = "\n".join((request.query, request.user_request, request.goal))
        self.topic = Topic(wording, context.vocabulary.slots)

        self.people = people_of(snapshot)
        # Whether a text shares a term with the question: many objects have the same condition.
        self.bearing: dict[str, bool] = {}

    @cached_property
    def speakers(self) -> frozenset[str]:
        """Whose words may answer, whatever they are; nobody's where a fact answers."""
        speakers = speakers_of(self.snapshot, self.tasks)
        if speakers and any(map(self._is_answer, self.candidates)):
            return frozenset()
        return speakers

    def _is_answer(self, candidate: Candidate) -> bool:
        """Whether it is a fact that bears on the question, or fills a slot that it asks.

        What stands anyway answers nothing, nor does what only limits: a diet is not what to cook.
        """
        version = candidate.version
        if version is None or not version.details.slot or self._stands_alone(version):
            return False
        fact = self._fact_of_people(candidate)
        is_asked = fact is not None and fact.details.slot in self.topic.asked_slots
        return is_asked or self._matches(version)

    def answer(self, candidate: Candidate) -> tuple[str, bool]:
        """Return why an object is not active, empty when it is, and whether the task sufficed."""
        version, via = candidate.version, candidate.via
        if version is None or via & _VIA_PIN:
            return "", False

        details = version.details
        stands = bool(via & _VIA_STANDING)
        if details.authority_level <= 1 and details.object_type is not _TOOL:
            return "", stands
        if details.applicable_task_types and self.tasks.isdisjoint(details.applicable_task_types):
            return "task_type", False
        if details.object_type is _TOOL:
            # A tool is offered for the task types it names; words alone lead to a line about it.
            named = bool(details.applicable_task_types)
            is_on_offer = named and is_offered(version, self.context)
            if is_on_offer or self._matches(version):
                return "", is_on_offer
            return ("tool_unsigned" if named else "activation"), False
        if via & _TALK or self._stands_alone(version):
            return "", stands
        if not self.strict and (via & _SIBLING or self._is_open_passage(candidate)):
            return "", False
        if not self.strict and (self._is_of_area(candidate) or self.is_own_talk(candidate)):
            return "", False

        rivals = (rival.version for rival in candidate.rivals if rival.version is not None)
        active = any(map(self._matches, (version, *rivals)))
        return ("" if active else "activation"), False

    def _is_open_passage(self, candidate: Candidate) -> bool:
        """Whether it is quoted text that meaning led to, which no gate asks for words."""
        version = candidate.version
        is_near = bool(candidate.via & _VECTOR) and candidate.is_passage
        return is_near and version is not None and not self.masks(version)

    def masks(self, version: Version) -> bool:
        """Whether what a row says is hidden from the caller."""
        return masks(version.details, self.context, self.snapshot.own_ids)

    def _stands_alone(self, version: Version) -> bool:
        details = version.details
        if details.slot is None:
            return details.object_type in _STANDING_TYPES
        return self.topic.stands_alone(version)

    def wish(self, candidate: Candidate) -> int:
        """The least relevance of what somebody wishes whom the request is for; 0 for all else.

        A wish holds whatever is asked. One of the question's own area stands before the others,
        and so does what else is known of that person in it: a diet, where to eat is asked.
        """
        version, rules = candidate.version, self.context.rules
        if version is None or not (candidate.by_task or candidate.subject in self.people):
            return 0
        if self._is_of_area(candidate):
            return micro(rules.area_relevance)
        if not self._stands_alone(version):
            return 0

        is_of_area = self._is_wish_of_area(version)
        return micro(rules.area_relevance if is_of_area else rules.wish_relevance)

    def _is_of_area(self, candidate: Candidate) -> bool:
        """Whether it fills a slot of the question's area, of somebody whom the request is for."""
        version = self._fact_of_people(candidate)
        if version is None:
            return False
        is_asked = version.details.slot in self.topic.asked_slots
        return (is_asked or self.topic.has_slot_of(version)) and not self.masks(version)

    def _is_wish_of_area(self, version: Version) -> bool:
        condition = content_of(version).why_it_matters
        if self.topic.has_slot_of(version, condition):
            return True
        return self.topic.has_taste_of(version) and not self.masks(version)

    def is_vital(self, candidate: Candidate) -> bool:
        """Whether the question asks for it, or it limits what may be answered."""
        version = self._fact_of_people(candidate)
        if version is None:
            return False
        return self.topic.is_asked_or_limited_by(version) and not self.masks(version)

    def _fact_of_people(self, candidate: Candidate) -> Version | None:
        """The row of a fact of somebody whom the request is for; None for all else."""
        version = candidate.version
        if version is None or not version.details.slot or candidate.subject not in self.people:
            return None
        return version

    def is_own_talk(self, candidate: Candidate) -> bool:
        """Whether it is a turn of somebody whose words may answer, which no claim stands for."""
        version = candidate.version
        if version is None or candidate.subject not in self.speakers:
            return False
        return is_talk(version) and not candidate.via & Via.CLAIMED and not self.masks(version)

    def recency(self, candidates: list[Candidate]) -> dict[str, int]:
        """The turns of whom the request is about, numbered from the oldest: the newest lead."""
        turns = sorted(filter(self.is_own_talk, candidates), key=lambda c: version_of(c).row.vid)
        return {turn.object_id: place for place, turn in enumerate(turns, 1)}

    def unspoken(self, version: Version) -> list[str]:
        """The words of the question that a turn has others for, and has not itself."""
        return unspoken_terms(self.terms, term_counts(content_of(version).terms)[0].keys())

    def _matches(self, version: Version) -> bool:
        content = content_of(version)
        vector = self.snapshot.vectors.get(version.row.claim.object_id)
        if vector is not None and vector.why >= self.near:
            return True
        if self.masks(version):
            return not self.terms.isdisjoint(public_terms(version, self.context))
        if self._bears(content.why_it_matters):
            return True
        if self.strict:
            return False
        if vector is not None and vector.content >= self.near:
            return True

        slot = version.details.slot
        definition = self.context.vocabulary.slots.get(slot) if slot else None
        if definition and self._bears(definition.description):
            return True
        if self.terms.isdisjoint(term_counts(content.terms)[0]):
            return is_talk(version) and bool(self.unspoken(version))
        if slot is None or not (content.normalized_claim and content.text):
            return True  # the shared term is the claim's: there is no other text
        return not self.terms.isdisjoint(terms_of(content.normalized_claim))

    def _bears(self, text: str) -> bool:
        known = self.bearing.get(text)
        if known is None:
            known = self.bearing[text] = not self.terms.isdisjoint(terms_of(text))
        return known


def _score_all(active: list[Candidate], activation: _Activation, scale: _Scale) -> list[Candidate]:
    context = activation.context
    competing = list(filter(_competes, active))
    documents: list[Document] = []
    for candidate in competing:
        documents.append(_document(candidate, activation))

    # A replay takes the scores that were recorded: those who stood beside may be gone by now.
    recorded_scores = activation.snapshot.texts
    scores: list[int] = []
    if recorded_scores is None:
        scores += _lexical_scores(competing, documents, activation)
    else:
        for candidate in competing:
            scores.append(recorded_scores.get(candidate.object_id, 0))

    cosines: list[int | None] = [None] * len(competing)
    if activation.snapshot.vectors:
        for position, candidate in enumerate(competing):
            cosines[position] = scale.cosine_of(candidate)
    has_talk = any(candidate.is_turn for candidate in competing)
    if has_talk:
        cosines = selective_cosines(competing, cosines, context.rules)

    relevances: list[int] = []
    for candidate, score, cosine in zip(competing, scores, cosines, strict=True):
        relevances.append(scale.relevance_of(candidate, score, cosine))
    if has_talk:
        relevances = lifted_scores(competing, relevances, context.rules)
    relevances = lifted_by_subject(competing, relevances, documents, activation.terms, context)

    recency = activation.recency(competing)
    words: dict[int, tuple[int, int]] = {}
    for candidate, score, relevance in zip(competing, scores, relevances, strict=True):
        floor = max(activation.wish(candidate), recency.get(candidate.object_id, 0))
        words[id(candidate)] = score, max(relevance, floor)

    # What the task alone chose is placed without a look at the question; where its zone is full,
    # the question decides whether it stands in the turn.
    candidates: list[Candidate] = []
    for candidate in active:
        ranked = scale.with_score(candidate, words.get(id(candidate)))
        if candidate.by_task:
            ranked = ranked._replace(relevance=activation.wish(candidate))
        candidates.append(ranked._replace(vital=True) if activation.is_vital(candidate) else ranked)
    return candidates


def _competes(candidate: Candidate) -> bool:
    """Tell whether a candidate is scored by its words; what the task alone chose is not."""
    if candidate.by_task:
        return False
    item = candidate.request_item
    return item is None or item.section is SectionName.EVIDENCE


def _lexical_scores(
    competing: list[Candidate], own_documents: list[Document], activation: _Activation
) -> list[int]:
    """Return the lexical scores; the winner of a slot has that of the best it won from."""
    context = activation.context
    rules = context.rules
    documents = list(own_documents)
    shares = [TALK_LENGTH if c.is_turn else rules.bm25_b for c in competing]
    winners: list[int] = []
    for position, candidate in enumerate(competing):
        for rival in candidate.rivals:
            winners.append(position)
            documents.append(_document(rival, activation))
            shares.append(rules.bm25_b)

    background = activation.snapshot.background
    scores = lexical(activation.terms, documents, k1=rules.bm25_k1, b=shares, background=background)
    own_scores, rival_scores = scores[: len(competing)], scores[len(competing) :]
    for position, score in zip(winners, rival_scores, strict=True):
        own_scores[position] = max(own_scores[position], score)
    return own_scores


def _document(candidate: Candidate, activation: _Activation) -> tuple[str, ...]:
    """Return the terms a candidate is scored by: its own, its condition's and its slot's."""
    context = activation.context
    version = candidate.version
    if version is None:
        return (term_text(candidate.text),)

    content = content_of(version)
    definition = context.vocabulary.slots.get(version.details.slot or "")
    condition, topic = content.why_it_matters, definition.description if definition else ""
    if activation.masks(version):
        return tuple(map(term_text, dict.fromkeys((condition, topic))))
    if candidate.is_turn:
        parts = content.terms, term_text(condition), " ".join(activation.unspoken(version))
        return tuple(filter(None, parts))
    if topic == condition or not topic:
        return (content.terms, term_text(condition)) if condition else (content.terms,)
    return content.terms, term_text(condition), term_text(topic)


class _Scale:
    """The policy's numbers as whole numbers, worked out once."""

    def __init__(self, context: CompileContext, snapshot: Snapshot) -> None:
        rules = context.rules
        self.context = context
        self.snapshot = snapshot
        self.opinions = snapshot.rerank_scores
        self.relevance = round(rules.relevance_weight * 1000)
        total_weight = rules.authority_weight + rules.freshness_weight
        self.authority = (
            round(1000 * rules.authority_weight / total_weight) if total_weight else 500
        )
        self.cuts = tuple(zip(map(micro, rules.tier_cuts), PriorityTier, strict=False))
        floor = rules.relevance_floor
        self.floors = {True: micro(floor), False: micro(max(floor, rules.memory_floor))}
        self.graph = round(1000 * rules.graph_weight)
        self.usefulness = round(1000 * rules.utility_weight)
        self.brevity = round(1000 * rules.brevity_weight)
        self.stale = micro(rules.freshness_floor)

        request = context.request
        goals = (request.step, *(item.text for item in request.acceptance))
        self.goal_terms = terms_of("\n".join(goals))

    def with_score(self, candidate: Candidate, words: tuple[int, int] | None) -> Candidate:
        """Return a candidate with its scores.

        `words` are its lexical score and its relevance; None for what does not compete.
        """
        level = candidate.level
        freshness = freshness_of(candidate, self.context)
        strength = (4 - level) * FULL // 4
        merit = (self.authority * strength + (1000 - self.authority) * freshness) // 1000
        if words is None:
            tier = PriorityTier.CRITICAL if level <= 1 else PriorityTier.IMPORTANT
            return candidate._replace(score=merit, tier=tier, freshness=freshness)

        lexical_score, relevance = words
        merit_weight = 1000 - self.relevance - self.graph
        proximity = _proximity(candidate.via)
        score = (self.relevance * relevance + self.graph * proximity + merit_weight * merit) // 1000
        if self.usefulness or self.brevity:
            score = self._with_use(score, candidate.text)
        return candidate._replace(
            score=score,
            relevance=relevance,
            lexical=lexical_score,
            tier=self._tier(score),
            freshness=freshness,
        )

    def cosine_of(self, candidate: Candidate) -> int | None:
        """Return how near a candidate is, where it has a vector that the caller may use."""
        vector = nearest_vector(candidate, self.snapshot, self.context)
        if vector is None or is_masked(candidate, self.snapshot, self.context):
            return None
        return vector.content

    def relevance_of(self, candidate: Candidate, text: int, cosine: int | None) -> int:
        """Return what its words, its nearness and a re-ranker say of a candidate."""
        relevance = fuse(text, cosine, lexical_weight=self.context.rules.lexical_weight)
        if not self.opinions:
            return relevance

        opinion = self.opinions.get(candidate.object_id)
        share = self.context.rules.rerank_weight if candidate.version is not None else 0.0
        return blend(relevance, opinion, share)

    def _with_use(self, score: int, text: str) -> int:
        """Blend a score with what a text does for the step, and how few tokens it takes."""
        common = len(self.goal_terms & terms_of(text))
        use = common * FULL // len(self.goal_terms) if self.goal_terms else 0
        size = self.context.counter.count(text)
        brevity = FULL * 100 // (100 + size)
        blend = 1000 * score + self.usefulness * use + self.brevity * brevity
        return blend // (1000 + self.usefulness + self.brevity)

    def _tier(self, score: int) -> PriorityTier:
        for cut, tier in self.cuts:
            if score >= cut:
                return tier
        return PriorityTier.MINIMAL

    def floor_verdict(self, candidate: Candidate) -> Verdict | None:
        """Return the floor an object is below; what is pinned, stands or is brought has none."""
        version = candidate.version
        if candidate.by_task or version is None or candidate.via & _VIA_PIN:
            return None
        # A turn of talk is short and says little alone: free tokens decide, and no floor.
        if candidate.relevance and is_talk(version):
            return None
        if candidate.relevance == 0:
            reason, detail = Reason.IRRELEVANT_TO_ACTIVE_TASK, "score"
        elif candidate.relevance < self.floors[candidate.is_passage]:
            reason, detail = Reason.BELOW_FLOOR, "relevance"
        elif candidate.freshness < self.stale:
            reason, detail = Reason.BELOW_FLOOR, "freshness"
        else:
            return None
        return Verdict(
            Stage.RANK, candidate.object_id, reason, detail, candidate.score, _IRRELEVANT
        )


def _proximity(via: int) -> int:
    """Return how near a candidate is to what the request names, in millionths."""
    if via & _SLOT:
        return FULL
    return FULL // 2 if via & _NEIGHBOUR else 0
