"""Gather: ask the store for everything a compile may need, in few batched reads.

The only step of a compile that reads. What it knows that it will ask it tells the reader first
(`Reader.expect`), so that a server answers a compile in three round trips: the names, the
candidates, and what belongs to these. It decides nothing but caps: which rows are proposed is
settled by the text, the vectors, the entities that the request names with their surroundings,
and what stands without any query. Whether a row is current, visible, relevant or fits is the
business of the stages, so that losers and expired rows reach the trace.

What the walk visits is capped by the policy, breadth first, in the order in which the store
ranks the facts around an entity. Sources: settled 8 ("Candidates of a compile"), 3 and 10;
checklist C-076, C-092.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Final

from ...resolution.bind import lookup_of
from ...resolution.known import Known, Lookup
from ...schema.claim import Version
from ...schema.policy import CompilePolicy, Policy
from ...schema.principal import Principal, Sight
from ...schema.terms import STOP_WORDS
from ...schema.vocabulary import ActionKind
from ...store.port.records import Expected, Names, Walk, held_ask
from ...store.port.store import Ask, Found, Reader
from ...store.port.vectors import VectorScore
from ..ir.context import CompileContext, project_of, question, scopes_of
from ..ir.snapshot import (
    NO_VECTORS,
    BindMentions,
    Bound,
    Proposed,
    Snapshot,
    VectorIndex,
    Via,
    members_of,
    root_of,
)
from ..request.request import CompileRequest
from ..text.relevance import COSINE_FULL
from .binding import bindable
from .leads import derived_ask, mark_outdated, placeholder_ask, rival_ask
from .redaction import guessed
from .rerank import Reranker, reranked

_EDGE: Final = " \t\r\n.,;:!?\"'()[]{}<>"


@dataclass(slots=True)
class _Net:
    """What has been caught so far, by (object id, vid)."""

    context: CompileContext
    sight: Sight
    rows: dict[tuple[str, int], Proposed] = field(default_factory=dict[tuple[str, int], Proposed])
    withheld: dict[str, int] = field(default_factory=dict[str, int])
    cut: bool = False
    reads: int = 0

    def take(self, source: str, found: Found, via: Via, *, hop: int = 0) -> None:
        """Add what a read found."""
        self.reads += 1
        self.cut |= found.cut
        if found.withheld:
            self.withheld[source] = self.withheld.get(source, 0) + found.withheld
        self.add(found.versions, via, hop=hop)

    def add(self, versions: Iterable[Version], via: Via, *, hop: int = 0) -> None:
        """Add rows; ways of finding a row add up, the fewest hops count."""
        rows, way = self.rows, via.value
        for version in versions:
            row = version.row
            key = row.claim.object_id, row.vid
            known = rows.get(key)
            if known is None:
                rows[key] = Proposed(version, way, hop)
            else:
                rows[key] = Proposed(known.version, known.via | way, min(known.hop, hop))


def gather(
    context: CompileContext,
    reader: Reader,
    *,
    bind: BindMentions,
    index: VectorIndex | None = None,
    reranker: Reranker | None = None,
) -> Snapshot:
    """Return the snapshot of a compile, from one consistent reader."""
    request, net = context.request, _Net(context, context.principal.sight(context.scopes))
    words = tuple(spoken_mentions(request, context.rules))
    answers = tuple(bind((*request.entities, *words)))
    named = answers[: len(request.entities)]
    spoken = tuple(bound for bound in answers[len(request.entities) :] if bound.entities)
    own, known = _own_entities(context, reader)
    roots = _roots((*named, *spoken))
    known = _joined(known, _entities(context, reader, roots)) if roots else known
    net.reads += 2 + bool(roots)
    names = [known.entities[root].name for root in roots if root in known.entities]
    expansion = _expansion(context, reader, roots)
    asked = (*names, *expansion)
    about = sorted({raw for root in {*roots, *own.values()} for raw in members_of(known, root)})
    near = list(dict.fromkeys(raw for root in roots for raw in members_of(known, root)))
    _expect_candidates(net, reader, index, names=asked, about=about, near=near)
    _find_text(net, reader, names=asked, limit=_text_limit(context, index))
    _find_quarantined(net, reader, names=names)
    _find_standing(net, reader)
    _find_slots(net, reader, about)
    _walk(net, reader, near)
    _find_pinned(net, reader)
    vectors = _find_vectors(net, reader, index)  # last: their search goes on beside the others
    _forget_guessed(net, vectors, names=asked)
    capped = _cap(net)
    found = net.rows.values()
    rivals, placeholders = rival_ask(found, context), placeholder_ask(found, context)
    derived = derived_ask(found, context)
    _expect_rest(net, reader, [ask for ask in (rivals, placeholders, derived) if ask])
    _find(net, reader, "rival", rivals, Via.RIVAL)
    _find(net, reader, "template", placeholders, Via.TEMPLATE)
    if derived is not None:
        net.reads += 1
        mark_outdated(net.rows, reader, derived, sight=net.sight, point=context.point)
    vectors = _score_rest(net, index, vectors)
    ids = _entity_ids(net.rows.values())
    known = _joined(known, _entities(context, reader, ids)) if ids else known
    return Snapshot(
        proposed=tuple(net.rows[key] for key in sorted(net.rows)),
        named=named,
        spoken=spoken,
        own=own,
        expansion=expansion,
        known=known,
        vectors=vectors,
        reranked=reranked(reranker, net.rows.values(), question(context, asked), context),
        withheld=tuple(sorted(net.withheld.items())),
        cut=net.cut,
        capped=capped,
        round_trips=net.reads + bool(ids),
    )


def names_asked(request: CompileRequest, principal: Principal, rules: CompilePolicy) -> Names:
    """Return the names that a compile looks up first, to open its reader with them.

    Raises:
        Forbidden: `scope_not_yours`, for a project that is not the caller's.
    """
    mentions = (*request.entities, *spoken_mentions(request, rules))
    project = project_of(request, principal)
    lookup = lookup_of(bindable(mentions))
    pairs = {*lookup.identifiers, *_own_identifiers(principal, project)}
    return Names(
        replace(lookup, identifiers=tuple(sorted(pairs))),
        tuple(dict.fromkeys((*principal.sight().scopes, *scopes_of(principal, project)))),
    )


def spoken_mentions(request: CompileRequest, rules: CompilePolicy) -> list[str]:
    """Return the runs of words of the query and the request that may be names, each once."""
    found: dict[str, None] = {}
    texts = dict.fromkeys((request.query, request.user_request))
    for text in texts:
        words = text.split()[: rules.query_words]
        for size in range(rules.mention_words, 0, -1):
            for start in range(len(words) - size + 1):
                run = " ".join(words[start : start + size]).strip(_EDGE)
                bare = [word.strip(_EDGE).casefold() for word in words[start : start + size]]
                if run and bare[0] not in STOP_WORDS and bare[-1] not in STOP_WORDS:
                    found.setdefault(run)
    return list(found)


def _roots(bound: Sequence[Bound]) -> tuple[str, ...]:
    return tuple(
        sorted(
            {entity for each in bound for entity in each.entities[:1] if len(each.entities) == 1}
        )
    )


def _expansion(context: CompileContext, reader: Reader, roots: Sequence[str]) -> tuple[str, ...]:
    """Return the visible aliases of the named entities, where the policy widens queries."""
    if not context.rules.query_expansion or not roots:
        return ()
    known = reader.entities(roots, tx_us=context.point.tx_us)
    mine = {raw for raw in known.entities if known.canonical.get(raw, raw) in roots}
    found = {
        alias.surface
        for alias in known.aliases
        if alias.entity_id in mine and alias.scope_id in context.scopes
    }
    return tuple(sorted(found))


def _own_entities(context: CompileContext, reader: Reader) -> tuple[dict[str, str], Known]:
    """Find the entities that are the caller, the request's project and the tenant."""
    pairs = _own_identifiers(context.principal, context.project)
    known = reader.known(
        Lookup(identifiers=pairs), scopes=sorted(context.scopes), tx_us=context.point.tx_us
    )
    asked = set(pairs)
    own = {
        i.scheme: root_of(known, i.entity_id)
        for i in known.identifiers
        if (i.scheme, i.value) in asked
    }
    return own, known


def _own_identifiers(principal: Principal, project: str | None) -> tuple[tuple[str, str], ...]:
    who = {"user": principal.user, "project": project, "tenant": principal.tenant}
    return tuple(sorted((scheme, value) for scheme, value in who.items() if value))


def _entities(context: CompileContext, reader: Reader, ids: Sequence[str]) -> Known:
    lookup = Lookup(entity_ids=tuple(ids), names_only=True)
    return reader.known(lookup, scopes=(), tx_us=context.point.tx_us)


def _joined(a: Known, b: Known) -> Known:
    return Known(
        entities={**a.entities, **b.entities},
        canonical={**a.canonical, **b.canonical},
        identifiers=tuple(dict.fromkeys((*a.identifiers, *b.identifiers))),
    )


def _expect_candidates(
    net: _Net,
    reader: Reader,
    index: VectorIndex | None,
    *,
    names: Iterable[str],
    about: Sequence[str],
    near: Sequence[str],
) -> None:
    """Tell the reader what is asked next: all candidates but those that others lead to."""
    context, rules = net.context, net.context.rules

    def expected() -> Expected:
        asks = [_slots_ask(about), _pinned_ask(context), _vectors_ask(net, index)]
        walk = Walk(tuple(near), rules.neighbour_facts, rules.neighbour_entities)
        return Expected(
            sight=net.sight,
            point=context.point,
            terms=tuple(sorted(question(context, names))),
            limit=_text_limit(context, index),
            asks=tuple(ask for ask in asks if ask is not None),
            held=rules.standing_candidates,
            standing=tuple(_own_scopes(context)),
            walk=walk if near else None,
        )

    reader.expect(expected)


def _expect_rest(net: _Net, reader: Reader, asks: Sequence[Ask]) -> None:
    """Tell the reader what the candidates lead to."""
    point = net.context.point

    def expected() -> Expected | None:
        ids = _entity_ids(net.rows.values())
        if not (asks or ids):
            return None
        return Expected(sight=net.sight, point=point, asks=tuple(asks), entity_ids=tuple(ids))

    reader.expect(expected)


def _find(net: _Net, reader: Reader, source: str, ask: Ask | None, via: Via) -> None:
    if ask is not None:
        net.take(source, reader.versions(ask, sight=net.sight, point=net.context.point), via)


def _text_limit(context: CompileContext, index: VectorIndex | None) -> int:
    alone = index is None or context.request.query_vector is None
    wanted = context.rules.text_candidates if alone else context.rules.text_beside_vectors
    return min(wanted, context.policy.read.text_candidates)


def _find_text(net: _Net, reader: Reader, *, names: Iterable[str], limit: int) -> None:
    if terms := sorted(question(net.context, names)):
        found = reader.matching(terms, sight=net.sight, point=net.context.point, limit=limit)
        net.take("text", found, Via.TEXT)


def _find_quarantined(net: _Net, reader: Reader, *, names: Iterable[str]) -> None:
    """Find what was set apart and bears on the question, so that the trace can name it."""
    context, asked = net.context, question(net.context, names)
    waiting = reader.actions(
        open_only=True, tx_us=context.point.tx_us, kind=ActionKind.REVIEW_QUARANTINE
    )
    if not waiting or not asked:
        return
    ask = held_ask([action.object_id for action in waiting], context.rules.standing_candidates)
    found = reader.versions(ask, sight=net.sight, point=context.point)
    bearing = [v for v in found.versions if v.content and asked & set(v.content.terms.split())]
    net.take("quarantined", Found(tuple(bearing), found.withheld), Via.TEXT)


def vectors_wanted(policy: Policy) -> int:
    """Return how many of the nearest claims a compile asks for."""
    return min(policy.compile.vector_candidates, policy.read.vector_candidates)


def _vectors_ask(net: _Net, index: VectorIndex | None) -> Ask | None:
    query = net.context.request.query_vector
    if index is None or query is None:
        return None
    return index.expected(query, limit=vectors_wanted(net.context.policy))


def _find_vectors(
    net: _Net, reader: Reader, index: VectorIndex | None
) -> Mapping[str, VectorScore]:
    query = net.context.request.query_vector
    if index is None or query is None:
        return NO_VECTORS
    near = index.nearest(query, limit=vectors_wanted(net.context.policy))
    if near.versions:
        net.take("vector", Found(tuple(near.versions), 0), Via.VECTOR)
    return {score.object_id: score for score in near.scores}


def _score_rest(
    net: _Net, index: VectorIndex | None, found: Mapping[str, VectorScore]
) -> Mapping[str, VectorScore]:
    query = net.context.request.query_vector
    if index is None or query is None:
        return found
    rest = sorted({object_id for object_id, _ in net.rows} - found.keys())
    return {**found, **{score.object_id: score for score in index.scores(query, rest)}}


def _own_scopes(context: CompileContext) -> list[str]:
    return sorted(context.scopes - {"tenant"})


def _find_standing(net: _Net, reader: Reader) -> None:
    context = net.context
    mine = _own_scopes(context)
    found = reader.standing(sight=net.sight, point=context.point, scopes=mine)
    limit = context.rules.standing_candidates
    if len(found.versions) > limit:
        kept = sorted(found.versions, key=_strongest)[:limit]
        found = Found(tuple(kept), found.withheld, cut=True)
    net.take("standing", found, Via.STANDING)


def _strongest(version: Version) -> tuple[int, int, str]:
    claim = version.row.claim
    return int(version.details.authority_level), -claim.tx, claim.object_id


def _slots_ask(subjects: Sequence[str]) -> Ask | None:
    return Ask(subjects=tuple(subjects), heads=False, at_valid=False) if subjects else None


def _find_slots(net: _Net, reader: Reader, subjects: Sequence[str]) -> None:
    """Read the slots of entities: all heads at the instant, and the newest other rows."""
    ask = _slots_ask(subjects)
    if ask is None:
        return
    found = reader.versions(ask, sight=net.sight, point=net.context.point)
    valid, extras = net.context.point.valid_us, net.context.policy.read.slot_extras
    kept: list[Version] = []
    ordered = sorted(found.versions, key=lambda v: (v.row.claim.slot_key, -v.row.vid))
    for _, rows in groupby(ordered, key=lambda v: v.row.claim.slot_key):
        others = extras
        for version in rows:
            if version.row.look.head and valid in version.row.interval:
                kept.append(version)
            elif others:
                others -= 1
                kept.append(version)
    net.take("slot", Found(tuple(kept), found.withheld, found.cut), Via.SLOT)


def _walk(net: _Net, reader: Reader, near: Sequence[str]) -> None:
    """Visit what stands around the named entities: two hops, breadth first, capped."""
    context = net.context
    seen = dict.fromkeys(near)
    edge, room = list(seen), context.rules.neighbour_entities
    for hop in (1, 2):
        if not edge:
            return
        found = reader.around(
            edge, sight=net.sight, point=context.point, limit=context.rules.neighbour_facts
        )
        net.take("neighbour", found, Via.NEIGHBOUR, hop=hop)
        ends = (
            end
            for version in found.versions
            for end in (version.details.subject_id, version.details.value_entity_id)
            if end
        )
        fresh = [end for end in dict.fromkeys(ends) if end not in seen]
        net.cut |= len(fresh) > room
        edge = fresh[:room]
        room -= len(edge)
        seen.update(dict.fromkeys(edge))


def _pinned_ask(context: CompileContext) -> Ask | None:
    ids = context.request.pinned_ids
    return Ask(objects=ids) if ids else None


def _find_pinned(net: _Net, reader: Reader) -> None:
    _find(net, reader, "pinned", _pinned_ask(net.context), Via.PINNED)


def _forget_guessed(net: _Net, vectors: Mapping[str, VectorScore], *, names: Iterable[str]) -> None:
    """Forget what only masked words or their vector led to: it was never retrieved."""
    context = net.context
    if not context.rules.mask_personal_for:
        return
    asked = question(context, names)
    near = round(context.rules.activation_cosine * COSINE_FULL)
    guesses = [
        key
        for key, (version, via, _) in net.rows.items()
        if guessed(version, via, asked, context)
        and (key[0] not in vectors or vectors[key[0]].why < near)
    ]
    for key in guesses:
        del net.rows[key]


def _cap(net: _Net) -> tuple[str, ...]:
    """Leave out neighbours, the farthest first, then text matches, beyond the cap."""
    over = len(net.rows) - net.context.rules.candidates
    if over <= 0:
        return ()
    loose = [
        (proposed.via & ~Via.NEIGHBOUR != 0, -proposed.hop, key)
        for key, proposed in net.rows.items()
        if not proposed.via & ~(Via.NEIGHBOUR | Via.TEXT)
    ]
    dropped = [key for _, _, key in sorted(loose)[:over]]
    for key in dropped:
        del net.rows[key]
    net.cut = True
    return tuple(sorted({object_id for object_id, _ in dropped}))


def _entity_ids(rows: Iterable[Proposed]) -> list[str]:
    found: set[str] = set()
    for proposed in rows:
        details = proposed.version.details
        found.update(e for e in (details.subject_id, details.value_entity_id) if e)
    return sorted(found)
