"""Gather: read everything a compile may need from the store, in few batched reads.

This is the only step that reads. It announces expected reads first (`Reader.expect`), so that a
server answers in one round trip if all matches are facts, in two if candidates lead to more, and in
three if a name does not mean what it seems to. It decides only caps: text, vectors, the named
entities with their neighbourhood and the always-on rows propose candidates. The stages decide what
is current, visible, relevant and fits, so losers and expired rows reach the trace. The walk around
an entity is breadth first, in the store's ranking, capped by the policy.

Siblings are other current facts about the few subjects whose facts cover most of the question: a
question with a document's title wants its timeline, which shares no word with it. Each is lifted by
the share of the question that the subject covers, less for a subject of many facts.
Checklist C-076, C-092.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import Final

from ...resolution.known import Known, Lookup
from ...resolution.names import with_visible_identifiers, with_visible_names
from ...resolution.register import Register
from ...schema.claim import Version
from ...schema.principal import own_identifier
from ...schema.vocabulary import ActionKind
from ...store.port.records import NOBODY, NextReads, OwnIds, Walk, held_ask, own_ids_in
from ...store.port.store import Ask, Page, Reader
from ...store.port.vectors import VectorScore
from ..ir.context import CompileContext, question
from ..ir.records import (
    NO_SCORES,
    NO_VECTORS,
    PERSON,
    BindMentions,
    Bound,
    Snapshot,
    VectorIndex,
    Via,
    content_of,
    guessed,
    masks,
    members_of,
    root_of,
)
from ..ranking.asked import asked_slots, asks_own, asks_past, roots_of
from ..ranking.signals import covers_of
from ..text.relevance import COSINE_FULL, terms_of
from .candidates import (
    Candidates,
    newest_rows,
    own_scopes,
    pinned_ask,
    slots_ask,
    told_withheld,
)
from .follow_up import derived_ask, mark_passages, placeholder_ask, rival_ask
from .mentions import own_identifiers, spoken_mentions
from .nearest import add_nearest, vectors_ask, with_scores
from .rerank import Reranker, rerank_scores
from .text_pool import add_talk, add_text, text_limit

_SUBJECTS: Final = 4
"""Subjects whose other facts are read: those that cover most of the question."""

_LEAST_COVER: Final = 0.5
"""Share of the best subject's cover from which another one is read."""


@dataclass(frozen=True, slots=True)
class _Names:
    """Whom the request is about."""

    request_subjects: tuple[Bound, ...]
    """The request's own entities."""
    query_subjects: tuple[Bound, ...]
    """Mentions found in the query."""
    own_subjects: Mapping[str, str]
    """Canonical id by what it is to the caller."""
    own_ids: OwnIds
    """Raw ids of the entity that is the caller beyond doubt."""
    expansion: tuple[str, ...]
    """Other names of the named entities."""
    words: tuple[str, ...]
    """The names that are searched for."""
    subjects: tuple[str, ...]
    """Raw ids whose slots are read: the named entities and the caller's own."""
    centre: tuple[str, ...]
    """Raw ids of the named entities, from which the walk sets out."""


def gather(
    context: CompileContext,
    reader: Reader,
    *,
    bind: BindMentions,
    index: VectorIndex | None = None,
    reranker: Reranker | None = None,
) -> Snapshot:
    """Return the snapshot of a compile, from one consistent reader."""
    candidates = Candidates(context, reader, context.principal.sight(context.scopes))
    if context.request.query_vector is None:
        index = None
    names, known = _names(candidates, bind)
    candidates.own_ids, candidates.known_ids = names.own_ids, frozenset(known.entities)
    terms = question(context, names.words)
    _expect_candidates(candidates, index, names, terms)

    add_text(candidates, terms, limit=text_limit(context.policy, beside_vectors=index is not None))
    # Aliases only widen a search of what may be shown.
    _add_quarantined(candidates, question(context, names.words[: -len(names.expansion) or None]))
    _add_standing(candidates)
    _add_slots(candidates, names.subjects)
    _add_neighbourhood(candidates, names.centre)
    candidates.add_ask("pinned", pinned_ask(context.request), Via.PINNED)
    vectors = NO_VECTORS
    if index is not None:  # last: its search runs with the others
        vectors = add_nearest(candidates, index)

    _forget_guessed(candidates, vectors, terms)
    if candidates.background is None:
        add_talk(candidates)
    capped_ids = _cap(candidates)
    leaders = leading_subjects(candidates, terms, names.subjects)
    is_own = not names.centre and asks_own(context)
    _add_follow_up(candidates, leaders, names.subjects if is_own else (), capped_ids)
    if index is not None:
        vectors = with_scores(candidates, index, vectors)

    ids = candidates.entity_ids()
    if ids:
        known = _union(known, _entities(context, reader, ids))
    rows = candidates.rows
    scores = NO_SCORES
    if reranker is not None:
        scores = rerank_scores(reranker, rows.values(), terms, context)

    return Snapshot(
        proposals=tuple(map(rows.__getitem__, sorted(rows))),
        subjects=names.request_subjects,
        query_subjects=names.query_subjects,
        own_subjects=names.own_subjects,
        people=context.people if len(context.people) > 1 else (),
        own_ids=names.own_ids,
        expansion=names.expansion,
        known=known,
        vectors=vectors,
        rerank_scores=scores,
        background=candidates.background,
        withheld=told_withheld(context.principal, candidates.withheld),
        cut=candidates.cut,
        hubs=_hubs_of(candidates.hubs, known),
        capped_ids=capped_ids,
        round_trips=candidates.reads + bool(ids),
    )


def _hubs_of(
    hubs: Iterable[tuple[str, str, int]], known: Known
) -> tuple[tuple[str, str, int], ...]:
    """The relations of entities that were not wholly read, by canonical id, sorted."""
    counts: Counter[tuple[str, str]] = Counter()
    for raw, slot, count in hubs:
        counts[root_of(known, raw), slot] += count
    return tuple(sorted((*relation, count) for relation, count in counts.items()))


# --- the names


def _names(candidates: Candidates, bind: BindMentions) -> tuple[_Names, Known]:
    """Bind the mentions, and read the entities that they and the caller are."""
    context, reader = candidates.context, candidates.reader
    request = context.request
    mentions = (*request.entities, *spoken_mentions(request, context.rules))
    bindings = tuple(bind(mentions))
    subjects = bindings[: len(request.entities)]
    # A word of the query that names nobody is just a word; a stated entity would be a gap.
    query_subjects = tuple(bound for bound in bindings[len(request.entities) :] if bound.entities)

    own_subjects, known = _own_entities(context, reader)
    roots = roots_of((*subjects, *query_subjects))
    # Of several with wishes none is meant, and none of theirs is read.
    person = context.people[0] if len(context.people) == 1 else None
    ids = [*roots, person] if person else roots
    if ids:
        known = _union(known, _entities(context, reader, ids))
    if person:
        own_subjects[PERSON] = root_of(known, person)
    candidates.reads += 2 + bool(ids)

    expansion = _expansion(context, reader, roots)
    words = [known.entities[root].name for root in roots if root in known.entities]
    centre: dict[str, None] = {}
    for root in roots:
        centre.update(dict.fromkeys(members_of(known, root)))

    # The walk begins at whom the request names; of the caller only his slots are asked for.
    members: dict[str, Sequence[str]] = {}
    for root in own_subjects.values():
        members[root] = members_of(known, root)
    own_ids = NOBODY
    if "user" in own_subjects:
        sight = context.principal.sight(context.scopes)
        own_ids = own_ids_in(known, own_identifier(context.principal), sight)
    return (
        _Names(
            request_subjects=subjects,
            query_subjects=query_subjects,
            own_subjects=own_subjects,
            own_ids=own_ids,
            expansion=expansion,
            words=(*words, *expansion),
            subjects=tuple(sorted({*centre, *chain.from_iterable(members.values())})),
            centre=tuple(centre),
        ),
        known,
    )


def _expansion(context: CompileContext, reader: Reader, roots: Sequence[str]) -> tuple[str, ...]:
    """Return the visible aliases of the named entities, where the policy widens queries."""
    if not context.rules.query_expansion or not roots:
        return ()

    known = reader.entities(roots, tx_us=context.point.tx_us)
    members = {raw_id for raw_id in known.entities if known.canonical.get(raw_id, raw_id) in roots}

    surfaces: set[str] = set()
    for alias in known.aliases:
        if alias.entity_id in members and alias.scope_id in context.scopes:
            surfaces.add(alias.surface)
    return tuple(sorted(surfaces))


def _own_entities(context: CompileContext, reader: Reader) -> tuple[dict[str, str], Known]:
    """Find the entities that are the caller, the request's project and the tenant."""
    pairs = own_identifiers(context.principal, context.project)
    known = reader.known(
        Lookup(identifiers=pairs), scopes=sorted(context.scopes), tx_us=context.point.tx_us
    )
    known = with_visible_identifiers(known, context.principal.sight(context.scopes))
    register = Register(known)
    own_subjects: dict[str, str] = {}
    for pair in pairs:
        for raw in register.owners([pair]):
            kind = "user" if pair == own_identifier(context.principal) else pair[0]
            own_subjects[kind] = root_of(known, raw)
    return own_subjects, _visible(context, reader, known)


def _entities(context: CompileContext, reader: Reader, ids: Sequence[str]) -> Known:
    lookup = Lookup(entity_ids=tuple(ids), names_only=True)
    known = reader.known(lookup, scopes=(), tx_us=context.point.tx_us)
    return _visible(context, reader, known)


def _visible(context: CompileContext, reader: Reader, known: Known) -> Known:
    """Entities under the strongest names that the caller may see, with the levels of these."""
    if not known.entities:
        return known
    rows = reader.name_rows(sorted(known.entities), tx_us=context.point.tx_us)
    return with_visible_names(known, rows, context.principal.sight(context.scopes))


def _union(left: Known, right: Known) -> Known:
    return Known(
        entities={**left.entities, **right.entities},
        canonical={**left.canonical, **right.canonical},
        identifiers=tuple(dict.fromkeys((*left.identifiers, *right.identifiers))),
        teachers={**left.teachers, **right.teachers},
        restrictions={**left.restrictions, **right.restrictions},
        name_levels={**left.name_levels, **right.name_levels},
    )


# --- what is asked next


def _expect_candidates(
    candidates: Candidates, index: VectorIndex | None, names: _Names, terms: frozenset[str]
) -> None:
    """Tell the reader what is asked next: all candidates but the follow-up reads."""
    context, rules, policy = candidates.context, candidates.context.rules, candidates.context.policy

    def prefetch() -> NextReads:
        slots = slots_ask(policy, names.subjects) if names.subjects else None
        vectors = vectors_ask(context, index) if index is not None else None
        walk = Walk(names.centre, rules.neighbour_facts, rules.neighbour_entities)
        return NextReads(
            sight=candidates.sight,
            point=context.point,
            terms=tuple(sorted(terms)),
            limit=text_limit(policy, beside_vectors=index is not None),
            asks=tuple(filter(None, (slots, pinned_ask(context.request), vectors))),
            held=rules.standing_candidates,
            standing=own_scopes(candidates.sight),
            walk=walk if names.centre else None,
        )

    candidates.reader.expect(prefetch)


# --- the reads


def _add_quarantined(candidates: Candidates, terms: frozenset[str]) -> None:
    """Add what was quarantined and bears on the question, so that the trace can name it."""
    waiting = candidates.reader.actions(
        open_only=True, tx_us=candidates.point.tx_us, kind=ActionKind.REVIEW_QUARANTINE
    )
    if not waiting or not terms:
        return

    ids = [action.object_id for action in waiting]
    page = candidates.read(held_ask(ids, candidates.context.rules.standing_candidates))

    # They are read by id, not by words, so their words are compared with the question here.
    bearing: list[Version] = []
    for version in page.versions:
        if version.content and terms & set(version.content.terms.split()):
            bearing.append(version)
    candidates.add_read("quarantined", Page(tuple(bearing), page.withheld), Via.TEXT)


def _add_standing(candidates: Candidates) -> None:
    """Add what applies without any query: rules, preferences, decisions of the caller's scopes."""
    page = candidates.reader.standing(
        sight=candidates.sight, point=candidates.point, scopes=own_scopes(candidates.sight)
    )

    # A tenant may have thousands. The cap cuts from the weak end, so that adding a rule of a
    # user can never push out one of the platform.
    limit = candidates.context.rules.standing_candidates
    if len(page.versions) > limit:
        strongest = sorted(page.versions, key=_strength)[:limit]
        page = Page(tuple(strongest), page.withheld, cut=True)
    candidates.add_read("standing", page, Via.STANDING)


def _strength(version: Version) -> tuple[int, int, str]:
    claim = version.row.claim
    return int(version.details.authority_level), -claim.tx, claim.object_id


def _add_slots(candidates: Candidates, subjects: Sequence[str]) -> None:
    """Add the slots of entities: all heads at the instant, and the newest other rows."""
    if not subjects:
        return

    ask = slots_ask(candidates.context.policy, subjects)
    page = candidates.read(ask)
    valid = candidates.point.valid_us
    versions: list[Version] = []
    in_order = sorted(
        newest_rows(page.versions, ask), key=lambda v: (v.row.claim.slot_key, -v.row.vid)
    )
    for _, rows in groupby(in_order, key=lambda v: v.row.claim.slot_key):
        extras = candidates.context.policy.read.slot_extras
        for version in rows:
            if version.row.look.head and valid in version.row.interval:
                versions.append(version)
            elif extras:
                extras -= 1
                versions.append(version)
    candidates.add_read("slot", Page(tuple(versions), page.withheld, page.cut), Via.SLOT)


def _add_neighbourhood(candidates: Candidates, centre: Sequence[str]) -> None:
    """Visit what stands around the named entities: two hops, breadth first, capped."""
    rules = candidates.context.rules
    known = set(centre)
    frontier, room = list(centre), rules.neighbour_entities
    for hop in (1, 2):
        if not frontier:
            return
        page = candidates.reader.around(
            frontier, sight=candidates.sight, point=candidates.point, limit=rules.neighbour_facts
        )
        candidates.add_read("neighbour", page, Via.NEIGHBOUR, hop=hop)
        ends: Counter[str] = Counter()
        for version in page.versions:
            details = version.details
            ends.update(filter(None, dict.fromkeys((details.subject_id, details.value_entity_id))))
        candidates.hubs += page.fans
        fresh = [end for end in ends if end not in known]
        candidates.cut |= len(fresh) > room
        frontier = fresh[:room]
        room -= len(frontier)
        known.update(frontier)


def _forget_guessed(
    candidates: Candidates, vectors: Mapping[str, VectorScore], terms: frozenset[str]
) -> None:
    """Forget what only masked words or their vector led to: it was never retrieved."""
    context = candidates.context
    threshold = round(context.rules.activation_cosine * COSINE_FULL)
    for key, proposal in list(candidates.rows.items()):
        page = key[0] in vectors and vectors[key[0]].why >= threshold
        if not page and guessed(proposal, terms, context, candidates.own_ids):
            del candidates.rows[key]


def _cap(candidates: Candidates) -> tuple[str, ...]:
    """Leave out neighbours, the farthest first, then text matches, beyond the cap.

    Returns the objects that the caller may see among them.
    """
    surplus = len(candidates.rows) - candidates.context.rules.candidates
    if surplus <= 0:
        return ()

    loose: list[tuple[bool, int, tuple[str, int]]] = []
    for key, proposal in candidates.rows.items():
        if not proposal.via & ~(Via.NEIGHBOUR | Via.TALK | Via.TEXT):
            loose.append((bool(proposal.via & Via.TEXT), -proposal.hop, key))
    candidates.cut = True
    capped = [candidates.rows.pop(key).version for _, _, key in sorted(loose)[:surplus]]
    return tuple(sorted({version.row.claim.object_id for version in capped if version.visible}))


def _add_follow_up(
    candidates: Candidates,
    leaders: Sequence[str],
    own_ids: Sequence[str],
    capped_ids: Sequence[str],
) -> None:
    """Read what the candidates lead to: rivals, template values, ended claims, siblings."""
    context, rows = candidates.context, candidates.rows.values()
    rivals, placeholders = rival_ask(rows, context), placeholder_ask(rows, context)
    derived, ends = derived_ask(rows, context), _ends_ask(candidates, (*leaders, *own_ids))
    siblings = None
    if leaders:
        # What was so is in rows that decide nothing now.
        siblings = Ask(subjects=tuple(leaders))
        if asks_past(context):
            siblings = replace(slots_ask(context.policy, leaders), texts=0)
    asks = filter(None, (rivals, placeholders, siblings, derived, ends))
    _expect_follow_up(candidates, tuple(asks))

    candidates.add_ask("rival", rivals, Via.RIVAL)
    candidates.add_ask("template", placeholders, Via.TEMPLATE)
    candidates.add_ask("neighbour", ends, Via.NEIGHBOUR)
    if siblings is not None:
        add_siblings(candidates, siblings, capped_ids)
    if derived is not None:
        candidates.reads += 1
        claims = candidates.read(derived).versions
        mark_passages(candidates.rows, claims, context)


def _ends_ask(candidates: Candidates, leaders: Sequence[str]) -> Ask | None:
    """The ask for the asked slots of the entities where the walk ended.

    The last step of a chain may share no word with the question but those of its slot. No walk
    begins at whom the question names by a part of the name, or at the caller, so there the first
    step ends it. What limits answers is read too: a dinner for "my family".
    """
    context, ends = candidates.context, dict[str, None]()
    slots = asked_slots(context).keys() if leaders else frozenset[str]()
    for version, via, hop in candidates.rows.values():
        details = version.details
        is_end = via & Via.NEIGHBOUR and hop == 2
        is_end = is_end or (details.subject_id in leaders and details.slot in slots)
        if details.value_entity_id is not None and is_end and version.visible:
            ends[details.value_entity_id] = None
    if ends and not leaders:
        slots = asked_slots(context).keys()
    if not (ends and slots):
        return None
    limits = {slot.name for slot in context.vocabulary.slots.values() if slot.limits}
    subjects = tuple(ends)[: context.rules.neighbour_entities]
    return Ask(subjects=subjects, slots=tuple(sorted(slots | limits)))


def _expect_follow_up(candidates: Candidates, asks: Sequence[Ask]) -> None:
    """Tell the reader what the candidates lead to."""

    def prefetch() -> NextReads | None:
        ids = candidates.entity_ids()
        if not (asks or ids):
            return None
        return NextReads(
            sight=candidates.sight,
            point=candidates.point,
            asks=tuple(asks),
            entity_ids=tuple(ids),
        )

    candidates.reader.expect(prefetch)


def leading_subjects(
    candidates: Candidates, terms: frozenset[str], known_subjects: Iterable[str]
) -> list[str]:
    """The subjects that the question's words led to, whose other facts are read."""
    facts: list[tuple[str, Version]] = []
    for version, via, _ in candidates.rows.values():
        subject = version.details.subject_id
        if subject is not None and via & Via.TEXT and _is_fact(version, candidates):
            facts.append((subject, version))
    if {subject for subject, _ in facts}.issubset(known_subjects):
        return []  # as for most questions that name somebody: their words need no count

    terms_of_subject: dict[str, set[str]] = {}
    for subject, version in facts:
        # The words of a raw text around a fact lead nowhere.
        content = content_of(version)
        words = terms_of(content.normalized_claim or content.text)
        terms_of_subject.setdefault(subject, set()).update(terms & words)

    covers = covers_of(terms, terms_of_subject)
    best = max(covers.values(), default=0.0)
    leaders = [name for name, cover in covers.items() if cover and cover >= _LEAST_COVER * best]

    # By name last: two subjects of one cover must be read in the same order on every run.
    leaders.sort(key=lambda subject: (-covers[subject], subject))
    return sorted(set(leaders[:_SUBJECTS]).difference(known_subjects))


def add_siblings(candidates: Candidates, ask: Ask, capped_ids: Sequence[str]) -> None:
    """Add the visible facts of an ask, but for those that a cap left out already.

    How many are hidden is not counted: words of the question led here, and a count would let
    them guess.
    """
    candidates.reads += 1
    surplus_ids = frozenset(capped_ids)
    for version in candidates.read(ask).versions:
        if version.visible and version.row.claim.object_id not in surplus_ids:
            candidates.add([version], Via.SIBLING)


def _is_fact(version: Version, candidates: Candidates) -> bool:
    details = version.details
    if not version.visible or version.content is None or details.slot is None:
        return False
    return not masks(details, candidates.context, candidates.own_ids)
