"""Stage 5, rank: what the active task needs, how much, and why the rest stays out.

First the activation gate: a remembered object of levels 2 to 4 enters only if the active task
type is one of its own *and* the request matches it: a shared content term with its condition
`why_it_matters`, its claim or its slot, or a near vector. Preferences and directives pass on
the task type alone. What stands without the query is marked `by_task`: it may live in a
cached zone. Then a composite score of relevance, authority and freshness gives the tier.

Invariant: a score is a whole number of millionths; ties never depend on a float.
Sources: settled 10 ("Activation"); checklist C-032, C-079, C-133, C-134.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...schema.claim import Version
from ...schema.compile_terms import PriorityTier, Reason, SectionName, Stage
from ...schema.vocabulary import ObjectType, SlotKind
from ...store.port.vectors import VectorScore
from ..gathering.redaction import masks, public_terms
from ..gathering.rerank import blended
from ..ir.candidate import Candidate, Placed, Ranked, content_of, freshness
from ..ir.context import Setting, question
from ..ir.outputs import Ranking, Validated
from ..ir.snapshot import Snapshot, Via
from ..ir.verdicts import Verdict
from ..text.relevance import FULL, counted, fused, lexical, micro, term_text, terms_of

_STANDS = frozenset({SlotKind.PREFERENCE, SlotKind.DIRECTIVE})


# looked up once: on Python 3.11 a member of an enumeration takes as long as a call
_PINNED, _STANDING = int(Via.PINNED), int(Via.STANDING)


_SLOT, _NEIGHBOUR = int(Via.SLOT), int(Via.NEIGHBOUR)


_TOOL = ObjectType.TOOL_SCHEMA


_IRRELEVANT = PriorityTier.IRRELEVANT.value


_STANDING_TYPES = frozenset(
    {ObjectType.PREFERENCE, ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.POLICY_RULE}
)


def rank(validated: Validated, setting: Setting) -> Ranking:
    """Return the relevant candidates with their scores, and verdicts on the others."""
    test = _Activation(setting, validated.gated.resolved.snapshot)
    gated: list[tuple[Placed, bool]] = []
    verdicts: list[Verdict] = []
    for placed in validated.placed:
        detail, by_task = test.answer(placed)
        if detail:
            reason = Reason.IRRELEVANT_TO_ACTIVE_TASK
            object_id = placed.candidate.object_id
            verdicts.append(Verdict(Stage.RANK, object_id, reason, detail, None, _IRRELEVANT))
        else:
            gated.append((placed, by_task))
    scale = _Scale(setting, test.snapshot.reranked)
    scored = _scored(gated, test, scale)
    items: list[Ranked] = []
    below: list[tuple[Ranked, Verdict]] = []
    for ranked in scored:
        verdict = scale.below(ranked)
        if verdict is None:
            items.append(ranked)
        elif ranked.placed.candidate.is_passage:
            below.append((ranked, verdict))
        else:
            verdicts.append(verdict)
    below += [(_archival(placed), _demoted(placed)) for placed in validated.archival]
    below.sort(key=lambda pair: (-pair[0].relevance, pair[0].placed.candidate.object_id))
    scores = tuple((r.placed.candidate.object_id, r.text) for r in scored if r.text)
    return Ranking(validated, tuple(items), tuple(below), scores, tuple(verdicts))


class _Activation:
    """The activation gate of one compile."""

    def __init__(self, setting: Setting, snapshot: Snapshot) -> None:
        self.setting = setting
        self.snapshot = snapshot
        entities = snapshot.known.entities
        bound = (*snapshot.named, *snapshot.spoken)
        names = [
            entities[b.entities[0]].name
            for b in bound
            if len(b.entities) == 1 and b.entities[0] in entities
        ]
        self.asked = question(setting, (*names, *snapshot.expansion))
        self.tasks = frozenset(setting.task_types)
        self.near = round(setting.rules.activation_cosine * 16_000_000)
        self.strict = setting.rules.activation == "strict"
        self.bearing: dict[str, bool] = {}
        """Whether a text shares a term with the question: many objects have the same condition."""

    def answer(self, placed: Placed) -> tuple[str, bool]:
        """Return why an object is not active, empty when it is, and whether the task sufficed."""
        version, via = placed.candidate.version, placed.candidate.via
        if version is None or via & _PINNED:
            return "", False
        details = version.details
        stands = bool(via & _STANDING)
        if details.authority_level <= 1:
            return "", stands
        if details.applicable_task_types and self.tasks.isdisjoint(details.applicable_task_types):
            return "task_type", False
        if details.object_type is _TOOL:
            return "", stands
        if self._stands_alone(version):
            return "", stands
        beaten = (each.version for each in placed.beaten if each.version is not None)
        active = any(map(self._matches, (version, *beaten)))
        return ("" if active else "activation"), False

    def _stands_alone(self, version: Version) -> bool:
        details = version.details
        if details.slot is None:
            return details.object_type in _STANDING_TYPES
        definition = self.setting.vocabulary.slots.get(details.slot)
        return definition is not None and definition.kind in _STANDS

    def _matches(self, version: Version) -> bool:
        content = content_of(version)
        vector = self.snapshot.vectors.get(version.row.claim.object_id)
        if vector is not None and vector.why >= self.near:
            return True
        if masks(version.details, self.setting):
            return not self.asked.isdisjoint(public_terms(version, self.setting))
        if self._bears(content.why_it_matters):
            return True
        if self.strict:
            return False
        slot = version.details.slot
        definition = self.setting.vocabulary.slots.get(slot) if slot else None
        if definition and self._bears(definition.description):
            return True
        if self.asked.isdisjoint(counted(content.terms)[0]):
            return False
        if slot is None or not (content.normalized_claim and content.text):
            return True  # the shared term is the claim's: there is no other text
        return not self.asked.isdisjoint(terms_of(content.normalized_claim))

    def _bears(self, text: str) -> bool:
        known = self.bearing.get(text)
        if known is None:
            known = self.bearing[text] = not self.asked.isdisjoint(terms_of(text))
        return known


def _scored(gated: list[tuple[Placed, bool]], test: _Activation, scale: _Scale) -> list[Ranked]:
    competing = [placed for placed, by_task in gated if not by_task and _competes(placed)]
    recorded = test.snapshot.texts
    if recorded is None:
        scores = _texts(competing, test)
    else:
        scores = [recorded.get(placed.candidate.object_id, 0) for placed in competing]
    texts = dict(zip(map(id, competing), scores, strict=True))
    return [
        scale.ranked(placed, by_task, texts.get(id(placed)), _nearest(placed, test))
        for placed, by_task in gated
    ]


def _texts(competing: list[Placed], test: _Activation) -> list[int]:
    """Return the lexical scores; the winner of a slot has that of the best it won from."""
    rules = test.setting.rules
    losers = [(place, each) for place, p in enumerate(competing) for each in p.beaten]
    documents = [_document(placed.candidate, test.setting) for placed in competing]
    documents += [_document(each, test.setting) for _, each in losers]
    scores = lexical(test.asked, documents, k1=rules.bm25_k1, b=rules.bm25_b)
    found = scores[: len(competing)]
    for (place, _), score in zip(losers, scores[len(competing) :], strict=True):
        found[place] = max(found[place], score)
    return found


def _nearest(placed: Placed, test: _Activation) -> VectorScore | None:
    """Return the vector score of an object, or of what it won its slot from where that is best."""
    vectors = test.snapshot.vectors
    own = vectors.get(placed.candidate.object_id)
    if not placed.beaten:
        return own
    shown = (each for each in placed.beaten if not _masked(each, test.setting))
    held = (own, *(vectors.get(each.object_id) for each in shown))
    scores = [score for score in held if score is not None]
    return max(scores, key=lambda score: score.content, default=None)


def _masked(candidate: Candidate, setting: Setting) -> bool:
    return candidate.version is not None and masks(candidate.version.details, setting)


def _competes(placed: Placed) -> bool:
    given = placed.candidate.given
    return given is None or given.section is SectionName.EVIDENCE


def _document(candidate: Candidate, setting: Setting) -> tuple[str, ...]:
    """Return the terms a candidate is scored by: its own, its condition's and its slot's."""
    version = candidate.version
    if version is None:
        return (term_text(candidate.text),)
    content = content_of(version)
    definition = setting.vocabulary.slots.get(version.details.slot or "")
    why, about = content.why_it_matters, definition.description if definition else ""
    if masks(version.details, setting):
        return tuple(map(term_text, dict.fromkeys((why, about))))
    if about == why or not about:
        return (content.terms, term_text(why)) if why else (content.terms,)
    return content.terms, term_text(why), term_text(about)


class _Scale:
    """The policy's numbers as whole numbers, worked out once."""

    def __init__(self, setting: Setting, opinions: Mapping[str, int]) -> None:
        rules = setting.rules
        self.setting = setting
        self.opinions = opinions
        self.relevance = round(rules.relevance_weight * 1000)
        whole = rules.authority_weight + rules.freshness_weight
        self.authority = round(1000 * rules.authority_weight / whole) if whole else 500
        self.cuts = tuple(zip(map(micro, rules.tier_cuts), PriorityTier, strict=False))
        least = rules.relevance_floor
        self.floors = {True: micro(least), False: micro(max(least, rules.memory_floor))}
        self.graph = round(1000 * rules.graph_weight)
        self.help = round(1000 * rules.utility_weight)
        self.brief = round(1000 * rules.brevity_weight)
        request = setting.request
        wanted = (request.step, *(item.text for item in request.acceptance))
        self.wanted = terms_of("\n".join(wanted))
        self.stale = micro(rules.freshness_floor)

    def ranked(
        self, placed: Placed, by_task: bool, text: int | None, vector: VectorScore | None
    ) -> Ranked:
        """Return a candidate with its scores; `text` is None for what does not compete."""
        level = placed.candidate.level
        fresh = freshness(placed, self.setting)
        strong = (4 - level) * FULL // 4
        merit = (self.authority * strong + (1000 - self.authority) * fresh) // 1000
        if text is None:
            tier = PriorityTier.CRITICAL if level <= 1 else PriorityTier.IMPORTANT
            return Ranked(placed, merit, 0, 0, tier, by_task, fresh)
        weight = self.setting.rules.lexical_weight
        hidden = _masked(placed.candidate, self.setting)
        cosine = vector.content if vector is not None and not hidden else None
        relevance = fused(text, cosine, lexical_weight=weight)
        if self.opinions:
            opinion = self.opinions.get(placed.candidate.object_id)
            stored = placed.candidate.version is not None
            share = self.setting.rules.rerank_weight if stored else 0.0
            relevance = blended(relevance, opinion, share)
        rest = 1000 - self.relevance - self.graph
        near = _near(placed.candidate.via)
        score = (self.relevance * relevance + self.graph * near + rest * merit) // 1000
        if self.help or self.brief:
            score = self._with_use(score, placed.candidate.text)
        return Ranked(placed, score, relevance, text, self.tier(score), by_task, fresh)

    def _with_use(self, score: int, text: str) -> int:
        """Blend a score with what a text does for the step, and how few tokens it takes."""
        shared = len(self.wanted & terms_of(text))
        use = shared * FULL // len(self.wanted) if self.wanted else 0
        size = self.setting.counter.count(text)
        blend = 1000 * score + self.help * use + self.brief * (FULL * 100 // (100 + size))
        return blend // (1000 + self.help + self.brief)

    def tier(self, score: int) -> PriorityTier:
        """Return the tier of a composite score."""
        for cut, tier in self.cuts:
            if score >= cut:
                return tier
        return PriorityTier.MINIMAL

    def below(self, ranked: Ranked) -> Verdict | None:
        """Return the floor an object is below; pinned, standing and given ones have none."""
        candidate = ranked.placed.candidate
        if ranked.by_task or candidate.version is None or candidate.via & _PINNED:
            return None
        if ranked.relevance == 0:
            reason, detail = Reason.IRRELEVANT_TO_ACTIVE_TASK, "score"
        elif ranked.relevance < self.floors[candidate.is_passage]:
            reason, detail = Reason.BELOW_FLOOR, "relevance"
        elif ranked.fresh < self.stale:
            reason, detail = Reason.BELOW_FLOOR, "freshness"
        else:
            return None
        return Verdict(Stage.RANK, candidate.object_id, reason, detail, ranked.score, _IRRELEVANT)


def _near(via: int) -> int:
    """Return how near a candidate is to what the request names, in millionths."""
    if via & _SLOT:
        return FULL
    return FULL // 2 if via & _NEIGHBOUR else 0


def _archival(placed: Placed) -> Ranked:
    return Ranked(placed, 0, 0, 0, PriorityTier.IRRELEVANT, False, FULL)


def _demoted(placed: Placed) -> Verdict:
    object_id = placed.candidate.object_id
    return Verdict(Stage.VALIDATE, object_id, Reason.RETIRED, "demoted")
