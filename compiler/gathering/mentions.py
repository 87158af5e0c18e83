"""The names that a compile looks up, and whom they mean.

Stated entities, words of the query, and the caller's own; bound by id, identifier or exact visible
alias, in one look-up.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from ...resolution.keys import lookup_of
from ...resolution.locate import locate
from ...resolution.register import Register
from ...schema.entity import MAX_NAME, is_visible
from ...schema.policy import CompilePolicy
from ...schema.principal import Principal, own_identifier
from ...schema.terms import STOP_WORDS
from ...schema.vocabulary import EntityState
from ...store.port.records import Names
from ...store.port.store import IdentityReads
from ..ir.context import project_of, scopes_of
from ..ir.snapshot import PERSON, Bound, Snapshot
from ..request.request import CompileRequest

_ANSWERING_TASKS: Final = frozenset({"conversation", "assistant", "analytical_reporting"})
"""Task types whose result a person reads as an answer."""

_EDGE: Final = " \t\r\n.,;:!?\"'()[]{}<>"


def compile_names(
    request: CompileRequest, principal: Principal, rules: CompilePolicy, user: str | None = None
) -> Names:
    """Return the names that a compile looks up first, to open its reader with them.

    `user` is for whom it is compiled, by a user's id or a name.

    Raises:
        Forbidden: `scope_not_yours`, for a project that is not the caller's.
    """
    mentions = [*request.entities, *spoken_mentions(request, rules)]
    project = project_of(request, principal)
    pairs = set(own_identifiers(principal, project))
    if user:
        mentions.append(user)
        pairs.add(("user", user))

    lookup = lookup_of(bindable(mentions))
    pairs.update(lookup.identifiers)
    scopes = (*principal.sight().scopes, *scopes_of(principal, project))
    return Names(replace(lookup, identifiers=tuple(sorted(pairs))), tuple(dict.fromkeys(scopes)))


def spoken_mentions(request: CompileRequest, rules: CompilePolicy) -> list[str]:
    """Return the runs of words of the query and the request that may be names, each once.

    Longer runs stand first, and none begins or ends with a word such as `the`.
    """
    runs: dict[str, None] = {}
    for text in dict.fromkeys((request.query, request.user_request)):
        words = text.split()[: rules.query_words]
        bare = [word.strip(_EDGE).casefold() for word in words]
        for size in range(rules.mention_words, 0, -1):
            for start in range(len(words) - size + 1):
                end = start + size
                # Inside a name a stop word belongs to it, as in Bank of Spain.
                run = " ".join(words[start:end]).strip(_EDGE)
                ends = {start, end - 1}
                if run and all(bare[i] not in STOP_WORDS or _is_name(words, i) for i in ends):
                    runs.setdefault(run)
    return list(runs)


def _is_name(words: Sequence[str], place: int) -> bool:
    """Whether a common word is written as a name, as in "When did Will move?"."""
    word = words[place].strip(_EDGE)
    return place > 0 and len(word) > 1 and word.istitle() and words[place - 1][-1] not in ".?!:"


def own_identifiers(principal: Principal, project: str | None) -> tuple[tuple[str, str], ...]:
    """Return the (scheme, value) pairs of the caller, the request's project and the tenant."""
    pairs = [("tenant", principal.tenant), own_identifier(principal)]
    if project:
        pairs.append(("project", project))
    return tuple(sorted(pair for pair in pairs if pair is not None))


def roots_of(bindings: Sequence[Bound]) -> tuple[str, ...]:
    """Return the entities that mentions mean without doubt, sorted."""
    roots: set[str] = set()
    for bound in bindings:
        if len(bound.entities) == 1:
            roots.add(bound.entities[0])
    return tuple(sorted(roots))


def people_of(snapshot: Snapshot) -> frozenset[str]:
    """Whom the request is for: the entities it names, the caller's own user, or who is meant."""
    named_ids: set[str] = set()
    for bound in snapshot.subjects:
        if len(bound.entities) == 1:
            named_ids.add(bound.entities[0])

    # Who is only meant is no binding: a name among the query's terms would lift all their facts.
    for kind in ("user", PERSON):
        if kind in snapshot.own_subjects:
            named_ids.add(snapshot.own_subjects[kind])
    return frozenset(named_ids)


def bound_names(snapshot: Snapshot) -> list[str]:
    """List the names of the entities that the request's mentions mean."""
    entities = snapshot.known.entities
    names: list[str] = []
    for bound in (*snapshot.subjects, *snapshot.query_subjects):
        if len(bound.entities) == 1 and bound.entities[0] in entities:
            names.append(entities[bound.entities[0]].name)
    return names


def speakers_of(snapshot: Snapshot, task_types: AbstractSet[str]) -> frozenset[str]:
    """Whose words may answer, whatever they are: whom a request is for, and whom it names.

    Nobody's where code is written or data extracted: there talk has to bear on the request.
    """
    if _ANSWERING_TASKS.isdisjoint(task_types):
        return frozenset()

    return people_of(snapshot).union(roots_of(snapshot.query_subjects))


def bindable(mentions: Sequence[str]) -> list[str]:
    """Return the mentions that can name anything."""
    return [m for m in mentions if len(m) <= MAX_NAME and is_visible(m)]


@dataclass(frozen=True, slots=True)
class ExactBinder:
    """Binds mentions over what a reader knows at a tx: the default of `BindMentions`.

    A compile is a read, so it never scores and never creates; what a name may mean is decided by
    `resolution.locate`.
    """

    reader: IdentityReads
    scopes: frozenset[str]
    """Canonical ids of the scopes whose aliases are visible."""
    tx_us: int

    def __call__(self, mentions: Sequence[str]) -> tuple[Bound, ...]:
        """Return what each mention means, in order."""
        names = bindable(mentions)
        if not names:
            return tuple(Bound(mention, ()) for mention in mentions)

        # All mentions in one look-up: on a server each one is a round trip. Whom a name means is
        # said by no identifier and no judgement.
        lookup = replace(lookup_of(names), names_only=True)
        known = self.reader.known(lookup, scopes=sorted(self.scopes), tx_us=self.tx_us)
        register = Register(known)
        fit = set(names)

        # In the order of the request, whose stated entities stand first: callers slice by it.
        bindings: list[Bound] = []
        for mention in mentions:
            binding = self._bound(mention, register) if mention in fit else Bound(mention, ())
            bindings.append(binding)
        return tuple(bindings)

    def _bound(self, mention: str, register: Register) -> Bound:
        entity_ids = locate(mention, register, self.scopes)
        waits = False
        for entity_id in entity_ids:
            entity = register.entity(entity_id)
            waits |= entity is not None and entity.state is EntityState.PENDING
        return Bound(mention, entity_ids, waits)
