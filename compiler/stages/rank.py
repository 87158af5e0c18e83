"""Stage 5, rank: what the active task needs, how much, and why the rest stays out.

Admission is a table whose first fitting row decides, and which no score overrules: the request's
own items and pins enter, then levels 0 and 1, then nothing of another task type, no tool that is
not offered, and with `activation="strict"` nothing whose condition does not bear on the question.
All else is left to the sum of `ranking.signals`. What applies without the query is marked
`by_task`: it may stay in a cached zone. A composite of relevance, authority and freshness gives
the score and the tier.

A turn whose claims have all ended or were taken back stays a candidate behind everything that
holds, unless the question asks what was. Invariant: a score is a whole number of millionths; ties
never depend on a float. Checklist C-032, C-079, C-133, C-134.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final

from ...schema.claim import Version
from ...schema.compile_terms import PriorityTier, Reason, SectionName, Stage
from ...schema.vocabulary import Authority, ObjectType, SlotKind
from ..conversion.ladder import is_offered
from ..gathering.rerank import blend
from ..ir.context import CompileContext
from ..ir.outputs import Ranked, Validated
from ..ir.records import (
    Candidate,
    Snapshot,
    Verdict,
    Via,
    content_of,
    freshness_of,
    is_masked,
    masks,
    nearest_vector,
    public_terms,
    version_of,
)
from ..ranking.asked import Topic, speakers_of, topic_of
from ..ranking.near import Links, edges_of, find_links
from ..ranking.signals import (
    document_of,
    is_vital,
    own_turns,
    standing_floor,
    subject_shares,
    summed,
    text_scores,
    turn_scores,
)
from ..ranking.talk import runs_of
from ..text.directives import Directive, are_opposite, directive_of, rival_choice
from ..text.relevance import FULL, Document, fuse, micro, slot_terms, term_counts, terms_of

_STANDING_TYPES = frozenset(
    {ObjectType.PREFERENCE, ObjectType.ACTIONABLE_CONSTRAINT, ObjectType.POLICY_RULE}
)
_WISHES = frozenset({SlotKind.PREFERENCE, SlotKind.DIRECTIVE})

# Looked up once: on Python 3.11 a member of an enumeration takes as long as a call.
_VIA_PIN, _VIA_STANDING = int(Via.PINNED), int(Via.STANDING)
_HISTORY = int(Via.OUTDATED)
_TOOL = ObjectType.TOOL_SCHEMA
_IRRELEVANT = PriorityTier.IRRELEVANT.value
_MOST_NEAR: Final = 40
"""Facts that only their link brought."""
_PAST_WEIGHT: Final = 1_000
"""The relevance of a turn that no longer holds is divided by this; a past fact has at most this."""


Focus = tuple[Topic, Links]
"""What a request asks, and which candidates are linked to it."""


def focus_of(candidates: Iterable[Candidate], snapshot: Snapshot, context: CompileContext) -> Focus:
    """The focus of a request among some candidates."""
    topic, edges = topic_of(snapshot, context), edges_of(candidates, snapshot.known)
    hubs = {(entity, slot): count for entity, slot, count in snapshot.hubs}
    return topic, find_links(edges, topic, context.vocabulary, hubs)


def rank(
    validated: Validated,
    snapshot: Snapshot,
    context: CompileContext,
    focus: Focus | None = None,
) -> Ranked:
    """Return the relevant candidates with their scores, and verdicts on the others.

    `focus` is that of the validated candidates, where the caller has it already.
    """
    topic, links = focus or focus_of(validated.candidates, snapshot, context)
    admission = _Admission(context, snapshot, topic)
    active: list[Candidate] = []
    verdicts: list[Verdict] = []
    for candidate in validated.candidates:
        detail, by_task = admission.answer(candidate)
        if detail:
            reason = Reason.IRRELEVANT_TO_ACTIVE_TASK
            refusal = Verdict(Stage.RANK, candidate.object_id, reason, detail, None, _IRRELEVANT)
            verdicts.append(refusal)
        else:
            active.append(candidate._replace(by_task=True) if by_task else candidate)
    conflicts = _find_conflicts(active, admission)
    verdicts += conflicts.values()
    active = [candidate for candidate in active if candidate.object_id not in conflicts]

    scale = _Scale(context, snapshot)
    candidates, scorer = _score_all(active, topic, links, admission, scale)
    unmatched = scorer.unmatched
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
        demotion = Verdict(Stage.VALIDATE, candidate.object_id, Reason.RETIRED, "demoted")
        passed_over.append((candidate, demotion))
    passed_over.sort(key=lambda pair: (-pair[0].relevance, pair[0].object_id))

    past_facts = _past_facts(validated, links, admission, scale, verdicts)
    for candidate in past_facts:
        # To leave a masked value out of the unknown words would confirm it.
        if is_masked(candidate, snapshot, context):
            continue
        unmatched -= terms_of(content_of(version_of(candidate)).value_json)
    relevant += past_facts
    # Kept for the manifest, so that a replay scores no words again.
    scores = [(c.object_id, c.lexical) for c in candidates if c.lexical]
    return Ranked(
        tuple(relevant),
        tuple(passed_over),
        tuple(scores),
        tuple(verdicts),
        seeds=tuple(sorted(topic.names)),
        asked=_asked_of(topic),
        asked_slots={slot: topic.slots[slot].words for slot in sorted(topic.slots)},
        unknown_names=topic.names_of(unmatched),
        unmatched=tuple(sorted(unmatched)),
        discussed=bool(topic.slots) and scorer.is_discussed(),
    )


def _asked_of(topic: Topic) -> tuple[tuple[str, str], ...]:
    """What the question asks: (canonical subject, slot), the slot empty for a whole subject."""
    # A name that means nobody is asked of, and nothing of the caller.
    subjects = sorted(topic.names.keys() | (topic.own if not topic.unknown else frozenset()))
    slots = sorted(topic.slots)
    if not slots:
        return tuple((subject, "") for subject in sorted(topic.names))
    pairs = ((subject, slot) for subject in subjects for slot in slots)
    return tuple(pair for pair in pairs if pair not in topic.inverse)


def _find_conflicts(active: Iterable[Candidate], admission: _Admission) -> dict[str, Verdict]:
    """Return a verdict on each directive for the caller that a stronger one contradicts, by id.

    The stronger level counts, then the narrower scope. Of one speaker the newer one counts; two
    speakers of one level are both shown, and lint names them.
    """
    directives = filter(admission.directs, active)
    stronger: list[tuple[Candidate, Directive]] = []
    verdicts: dict[str, Verdict] = {}
    for candidate in sorted(directives, key=_strength):
        version = version_of(candidate)
        directive = directive_of(
            candidate.text, admission.context.language, version.details.slot or ""
        )
        for winner, rule in stronger:
            is_equal = _strength(winner)[:2] == _strength(candidate)[:2]
            if is_equal and (winner.subject or "") != candidate.subject:
                continue
            if rival_choice(rule, directive) or are_opposite(rule, directive):
                reason = Reason.SUPERSEDED if is_equal else Reason.OVERRIDDEN
                verdicts[candidate.object_id] = Verdict(
                    Stage.RANK, candidate.object_id, reason, winner.object_id
                )
                break
        else:
            stronger.append((candidate, directive))
    return verdicts


def _strength(candidate: Candidate) -> tuple[int, int, int, int]:
    """Return the strength of a directive, the smallest first."""
    version = version_of(candidate)
    claim = version.row.claim
    return claim.level, -version.details.scope.specificity, -claim.since_us, -version.row.vid


class _Admission:
    """The table of admission of one compile."""

    def __init__(self, context: CompileContext, snapshot: Snapshot, topic: Topic) -> None:
        self.context, self.snapshot, self.topic = context, snapshot, topic
        self.tasks = frozenset(context.task_types)
        self.near = round(context.rules.activation_cosine * 16_000_000)
        self.strict = context.rules.activation == "strict"

    def answer(self, candidate: Candidate) -> tuple[str, bool]:
        """Return why an object may not enter, empty when it may, and whether the task sufficed."""
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
            if is_on_offer or not self.topic.terms.isdisjoint(self._words(candidate)):
                return "", is_on_offer
            return ("tool_unsigned" if named else "activation"), False
        if self.strict and not candidate.is_passage and not self._bears(candidate):
            return "activation", False
        return "", stands and self.is_wish(candidate) and self._is_meant(candidate)

    def is_wish(self, candidate: Candidate) -> bool:
        """Whether it says how somebody wants something, whatever is asked."""
        version = candidate.version
        if version is None:
            return False
        if version.details.slot is None:
            return version.details.object_type in _STANDING_TYPES
        slot = self.context.vocabulary.slots.get(version.details.slot)
        return slot is not None and slot.kind in _WISHES

    def _is_own(self, candidate: Candidate) -> bool:
        return candidate.ours or candidate.subject in self.topic.people

    def _is_meant(self, candidate: Candidate) -> bool:
        """Whether a wish counts for this request: that of another person does not."""
        if candidate.subject is None or self._is_own(candidate):
            return True
        return version_of(candidate).details.object_type is not ObjectType.PREFERENCE

    def directs(self, candidate: Candidate) -> bool:
        """Whether it says to the caller how an answer has to be."""
        return (
            (candidate.by_task or self._is_own(candidate))
            and self.is_wish(candidate)
            and candidate.level <= Authority.INFERRED_MEMORY
            and not is_masked(candidate, self.snapshot, self.context)
        )

    def _words(self, candidate: Candidate) -> frozenset[str]:
        version = version_of(candidate)
        if masks(version.details, self.context, self.snapshot.own_ids):
            return public_terms(version, self.context)
        content = content_of(version)
        return terms_of(f"{content.text}\n{content.normalized_claim}\n{content.why_it_matters}")

    def _bears(self, candidate: Candidate) -> bool:
        """Whether the condition of an object bears on the question."""
        vector = self.snapshot.vectors.get(candidate.object_id)
        if vector is not None and vector.why >= self.near:
            return True
        condition = content_of(version_of(candidate)).why_it_matters
        return not self.topic.terms.isdisjoint(terms_of(condition))


@dataclass(slots=True)
class _Scored:
    """The competing candidates with what they are scored by, each list in the same order."""

    candidates: list[Candidate]
    documents: list[Document]
    terms: list[frozenset[str]]
    """By which each may be found: the names of a fact's own ends are none."""
    held: list[frozenset[str]]
    """Those that it holds."""


def _score_all(
    active: list[Candidate],
    topic: Topic,
    links: Links,
    admission: _Admission,
    scale: _Scale,
) -> tuple[list[Candidate], _Telling]:
    context, snapshot = scale.context, scale.snapshot
    entries = _entries(list(filter(_competes, active)), topic, scale)
    competing = entries.candidates

    # A replay takes the scores that were recorded: the others that were scored may be gone by now.
    recorded = snapshot.texts
    if recorded is None:
        texts = text_scores(competing, entries.documents, entries.terms, snapshot, context)
    else:
        texts = [recorded.get(candidate.object_id, 0) for candidate in competing]

    cosines: list[int | None] = [None] * len(competing)
    if snapshot.vectors:
        cosines = list(map(scale.cosine_of, competing))
    own_texts: list[int] = []
    for candidate, text, cosine in zip(competing, texts, cosines, strict=True):
        own_texts.append(scale.relevance_of(candidate, text, cosine))

    shares = subject_shares(competing, entries.documents, entries.terms, topic, context)
    scorer = _Telling(topic, links, context, entries)
    relevances: list[int] = []
    for place in range(len(competing)):
        relevances.append(scorer.relevance(place, own_texts[place], shares))
    _order_turns(competing, relevances, cosines, topic, scale)

    people = topic.people & speakers_of(snapshot, admission.tasks)
    if people and not any(relevances) and (topic.whole or topic.names):
        # "What do you know about me?" shares no word with any fact.
        for place, candidate in enumerate(competing):
            if candidate.subject in people and not candidate.is_passage:
                relevances[place] = summed([("near", FULL)])
    _lift_ways(competing, relevances, links)
    _cut_near(competing, relevances, own_texts, links)

    masked = [is_masked(candidate, snapshot, context) for candidate in competing]
    speakers = frozenset[str]()
    if not (links.asked or scorer.has_answer or admission.strict):
        speakers = speakers_of(snapshot, admission.tasks)
    floors = own_turns(competing, speakers, masked)
    is_last = context.rules.outdated_passages == "last" and not topic.past
    words: dict[int, tuple[int, int]] = {}
    for place, candidate in enumerate(competing):
        is_wish = admission.is_wish(candidate)
        standing = standing_floor(candidate, topic, context, is_wish=is_wish)
        relevance = max(relevances[place], floors.get(place, 0), standing)
        if candidate.via & _HISTORY and is_last and not candidate.via & _VIA_PIN:
            relevance = max(1, relevance // _PAST_WEIGHT) if relevance else 0
        words[id(candidate)] = texts[place], relevance

    # What the task alone chose is placed without a look at the question; where its zone is full,
    # the question decides whether it is in the turn.
    candidates: list[Candidate] = []
    for candidate in active:
        ranked = scale.with_score(candidate, words.get(id(candidate)))
        if candidate.by_task:
            is_wish = admission.is_wish(candidate)
            floor = standing_floor(candidate, topic, context, is_wish=is_wish)
            ranked = ranked._replace(relevance=floor)
        is_needed = is_vital(candidate, topic, links, context)
        if is_needed and not is_masked(candidate, snapshot, context):
            ranked = ranked._replace(vital=True)
        link_ids = links.way_of(candidate.object_id)
        candidates.append(ranked._replace(way=link_ids) if link_ids else ranked)
    return candidates, scorer


def _competes(candidate: Candidate) -> bool:
    """Tell whether a candidate is scored by its words; what the task alone chose is not."""
    if candidate.by_task:
        return False
    item = candidate.request_item
    return item is None or item.section is SectionName.EVIDENCE


def _entries(competing: list[Candidate], topic: Topic, scale: _Scale) -> _Scored:
    known = scale.snapshot.known
    documents: list[Document] = []
    terms: list[frozenset[str]] = []
    held: list[frozenset[str]] = []
    for candidate in competing:
        document = document_of(candidate, scale.snapshot, scale.context)
        ends: tuple[str | None, ...] = ()
        version = candidate.version
        if version is not None and version.details.slot:
            value = version.details.value_entity_id
            ends = candidate.subject, known.canonical.get(value, value) if value else None
        own = topic.own_terms(ends)
        documents.append(document)
        terms.append(own)
        parts = [own.intersection(term_counts(text)[0]) for text in document]
        held.append(frozenset[str]().union(*parts))
    return _Scored(competing, documents, terms, held)


class _Telling:
    """What each candidate gets of the signals, and which facts a question leaves out."""

    def __init__(
        self, topic: Topic, links: Links, context: CompileContext, entries: _Scored
    ) -> None:
        self.topic, self.links, self.context, self.entries = topic, links, context, entries
        self.floor = micro(context.rules.relevance_floor)
        self.has_answer = False
        held = frozenset[str]().union(*entries.held)
        self.unmatched = topic.free_terms - held - topic.slot_words
        strangers = topic.names_of(self.unmatched)
        self.stranger_terms = terms_of("\n".join(strangers)) if topic.slots else frozenset[str]()
        self.is_of_stranger = not (topic.names or topic.subjects.isdisjoint(strangers))
        # Asked for as a whole: nothing in the store holds a further word of the question.
        self.is_whole = not any(own & topic.further_terms for own in entries.held)

    def relevance(self, place: int, text: int, shares: dict[str, int]) -> int:
        """The sum of a candidate's signals; 0 for a fact that the question is not about."""
        candidate = self.entries.candidates[place]
        version = candidate.version
        if version is None or candidate.is_passage or not version.details.slot:
            return text

        object_id, slot = candidate.object_id, version.details.slot
        is_asked = object_id in self.links.asked
        is_counting = object_id in self.links.counting
        # A question about a stranger is not answered by somebody with the same first name.
        if self.is_of_stranger:
            return 0
        matching_terms = self.entries.held[place] - self.topic.slot_words
        if (
            self.stranger_terms
            and matching_terms <= self.stranger_terms
            and (matching_terms or not self.topic.names)
        ):
            return 0
        has_further = bool(self._further(place))
        if not (is_asked or is_counting or has_further):
            is_linked = object_id in self.links.by_id
            if self.links.pointed and is_linked:
                # The other end of an asked relation answers the question the wrong way round.
                is_own = slot not in self.topic.slots
                at_seed = is_own and not self.links.by_id[object_id].distance
                return self.floor if self.links.by_synonym and at_seed else 0
            has_subject = bool(self.topic.names) or (self.topic.about_own and self.links.pointed)
            if slot in self.topic.slots and (has_subject or self.topic.unknown):
                return 0
            if has_subject and not is_linked:
                return 0
        # What a rule made from conversation has to be asked for.
        if version.details.derived_from and not self._may_appear(candidate, is_asked=is_asked):
            return 0

        signals = [("text", text), ("subject", shares.get(candidate.subject or "", 0))]
        if is_counting and object_id in self.links.by_id:
            signals.append(("near", self.links.by_id[object_id].nearness))
        if is_asked:
            signals.append(("asked", self.links.asked[object_id]))
        relevance = summed(signals)
        self.has_answer |= has_further and bool(text)
        return relevance

    def is_discussed(self) -> bool:
        """Whether turns have half of what is asked without names, and none of them made a claim.

        In the same words or in others. Where a turn made one, facts say what became of it.
        """
        terms, language = self.topic.free_terms, self.context.language
        origins: set[bool] = set()
        for place, candidate in enumerate(self.entries.candidates):
            if candidate.is_turn:
                turn_terms = frozenset(term_counts(" ".join(self.entries.documents[place]))[0])
                matches = (terms & turn_terms).union(language.unspoken_terms(terms, turn_terms))
                if 2 * len(matches) >= len(terms):
                    origins.add(bool(candidate.via & Via.CLAIMED))
        return origins == {False}

    def _further(self, place: int) -> frozenset[str]:
        """The terms beyond names and asked slots that a fact says itself, not its slot for it.

        What its writer said of when it matters counts with the words of an asked slot, too.
        """
        version = version_of(self.entries.candidates[place])
        content = content_of(version)
        own = terms_of(content.normalized_claim or content.text) & self.topic.further_terms
        return self.entries.held[place] & (own | self._stated(version))

    def _stated(self, version: Version) -> frozenset[str]:
        """The terms of the question in what the writer said of when a fact matters."""
        slot = self.context.vocabulary.slots.get(version.details.slot or "")
        condition = content_of(version).why_it_matters
        if slot is not None and condition == slot.description:
            return frozenset()
        return terms_of(condition) & self.topic.free_terms

    def _may_appear(self, candidate: Candidate, *, is_asked: bool) -> bool:
        """Whether the question asks its slot, value or whole subject, or names when it matters."""
        version = version_of(candidate)
        slot = version.details.slot or ""
        definition = self.context.vocabulary.slots.get(slot)
        if is_asked or slot in self.topic.slots or (definition is not None and definition.limits):
            return True
        values = terms_of(content_of(version).value_json)
        if self._stated(version) or not values.isdisjoint(self.topic.free_terms):
            return True
        # Where an asked slot is filled, nothing is asked as a whole.
        if self.links.pointed:
            return False
        is_own = self.topic.whole and candidate.subject in self.topic.own
        return is_own or (self.is_whole and candidate.subject in self.topic.names)


def _order_turns(
    competing: Sequence[Candidate],
    relevances: list[int],
    cosines: Sequence[int | None],
    topic: Topic,
    scale: _Scale,
) -> None:
    """Give the turns of talk their order by windows; the best one keeps its relevance."""
    turns = {
        place: version_of(candidate)
        for place, candidate in enumerate(competing)
        if candidate.is_turn
    }
    best = max((relevances[place] for place in turns), default=0)
    scores = turn_scores(competing, cosines, runs_of(turns), topic, scale.snapshot, scale.context)
    for place, score in scores.items():
        relevances[place] = max(1, score * (best or FULL // 4) // FULL) if score else 0


def _past_facts(
    validated: Validated,
    links: Links,
    admission: _Admission,
    scale: _Scale,
    verdicts: list[Verdict],
) -> list[Candidate]:
    """Return the facts that held once and that a question about the past asks, the latest first.

    They rank behind everything that holds.
    """
    topic, canonical = admission.topic, scale.snapshot.known.canonical
    subjects = topic.names.keys() | topic.own
    past_candidates = [candidate for candidate, _ in validated.ended_facts]
    if not (topic.past and past_candidates):
        verdicts += map(itemgetter(1), validated.ended_facts)
        return []
    candidates = (*validated.candidates, *past_candidates)
    valued_slots = frozenset(_valued_slots(candidates, topic, scale))
    asked_facts: list[Candidate] = []
    for candidate, verdict in validated.ended_facts:
        version = version_of(candidate)
        value = version.details.value_entity_id or ""
        slot = version.details.slot or ""
        is_valued = (candidate.subject, slot) in valued_slots
        is_linked = is_valued or candidate.subject in subjects
        is_linked |= canonical.get(value, value) in topic.names
        is_asked = slot in topic.slots or is_valued or topic.changes
        if not links.asked:
            is_asked |= not topic.free_terms.isdisjoint(slot_terms(slot))
        if not is_asked and not is_masked(candidate, scale.snapshot, scale.context):
            words = terms_of(content_of(version).value_json)
            is_asked = bool(words) and words <= topic.free_terms
        if is_linked and is_asked and not admission.answer(candidate)[0]:
            asked_facts.append(candidate._replace(via=candidate.via | Via.OUTDATED))
        else:
            verdicts.append(verdict)

    asked_facts.sort(key=lambda c: (-version_of(c).row.interval.end_us, c.object_id))
    for place, candidate in enumerate(asked_facts):
        asked_facts[place] = scale.with_score(candidate, (0, max(1, _PAST_WEIGHT - place)))
    return asked_facts


def _valued_slots(
    candidates: Iterable[Candidate], topic: Topic, scale: _Scale
) -> Iterator[tuple[str | None, str]]:
    """Yield each (subject, slot) of which the question names one value and may ask another.

    "Who was CTO before Nina Okafor?" names no company. A masked value leads nowhere: to show what
    came before it would confirm it.
    """
    canonical = scale.snapshot.known.canonical
    for candidate in candidates:
        version = candidate.version
        slot = version.details.slot if version is not None else None
        if version is None or not slot or is_masked(candidate, scale.snapshot, scale.context):
            continue
        if slot not in topic.slots and candidate.subject not in topic.names:
            continue
        value = version.details.value_entity_id or ""
        words = terms_of(content_of(version).value_json)
        if canonical.get(value, value) in topic.names or (words and words <= topic.terms):
            yield candidate.subject, slot


def _lift_ways(competing: Sequence[Candidate], relevances: list[int], links: Links) -> None:
    """Give a fact of a way at least the relevance of what it carries."""
    places = {candidate.object_id: place for place, candidate in enumerate(competing)}
    for place, candidate in enumerate(competing):
        for object_id in links.way_of(candidate.object_id) if relevances[place] else ():
            if object_id in places:
                way = places[object_id]
                relevances[way] = max(relevances[way], relevances[place])


def _cut_near(
    competing: Sequence[Candidate], relevances: list[int], texts: Sequence[int], links: Links
) -> None:
    """Leave out what only its link brought, beyond a number, the farthest first."""
    brought: list[int] = []
    for place, candidate in enumerate(competing):
        is_linked = candidate.object_id in links.by_id
        if is_linked and relevances[place] and not texts[place]:
            brought.append(place)

    def order(place: int) -> tuple[int, int, str]:
        # A way has at least the relevance of what it carries: of equals the nearer one stays.
        object_id = competing[place].object_id
        return -relevances[place], links.by_id[object_id].distance, object_id

    for place in sorted(brought, key=order)[_MOST_NEAR:]:
        relevances[place] = 0


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
        self.floor = micro(rules.relevance_floor)
        self.stale = micro(rules.freshness_floor)
        self.near = round(rules.activation_cosine * 16_000_000)

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
        score = (self.relevance * relevance + (1000 - self.relevance) * merit) // 1000
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
        # Every text is a little near to every question, and a fact that is asked shares a word.
        vector = self.snapshot.vectors.get(candidate.object_id)
        nearest = max(cosine or 0, vector.why if vector is not None else 0)
        if cosine is not None and not text and nearest < self.near and not candidate.is_passage:
            cosine = 0
        relevance = fuse(text, cosine, lexical_weight=self.context.rules.lexical_weight)
        if not self.opinions:
            return relevance

        opinion = self.opinions.get(candidate.object_id)
        share = self.context.rules.rerank_weight if candidate.version is not None else 0.0
        return blend(relevance, opinion, share)

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
        # A turn of talk is short and says little alone: free tokens decide, and no floor. What
        # holds no more comes last, and below no floor either: no rule removes words.
        if candidate.relevance and (candidate.is_turn or candidate.via & _HISTORY):
            return None
        if candidate.relevance == 0:
            reason, detail = Reason.IRRELEVANT_TO_ACTIVE_TASK, "score"
        elif candidate.relevance < self.floor:
            reason, detail = Reason.BELOW_FLOOR, "relevance"
        elif candidate.freshness < self.stale:
            reason, detail = Reason.BELOW_FLOOR, "freshness"
        else:
            return None
        return Verdict(
            Stage.RANK, candidate.object_id, reason, detail, candidate.score, _IRRELEVANT
        )
