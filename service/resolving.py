"""Resolving without writing: what a mention would be bound to, and why.

The same pipeline as a write: exact keys first, then candidates by blocking keys, scores,
vetoes and bands. Nothing is created, and only aliases the caller may see take part.
Sources: API "Entities and review"; resolution 2; checklist C-047 to C-049.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..resolution.bind import Named, Rules, as_ref, bind, fuzzy_lookup, lookup_of, needs_scoring
from ..resolution.keys import alias_key, is_id
from ..resolution.known import Known, merged
from ..resolution.register import Register
from ..schema.entity import Resolution
from ..schema.principal import TENANT_SCOPE, Principal
from ..store.port import Point, Reader
from .backend import Backend
from .view import Who, named, sight_of


@dataclass(frozen=True, slots=True)
class Resolving:
    """The resolve use-case of one caller."""

    backend: Backend
    principal: Principal

    def resolve(
        self, mention: Who, type: str | None, scope_id: str, near: Sequence[str]
    ) -> Resolution:
        """Return the decision on a mention; `near` are entities known to stand around it."""
        wanted = named(mention)
        if type is not None and not (isinstance(wanted, str) and is_id(wanted)):
            wanted = replace(as_ref(wanted), type=type)
        with self.backend.store.reading(self.principal.tenant) as reader:
            return self.among(reader, wanted, scope_id, near)

    def among(
        self,
        reader: Reader,
        wanted: Named,
        scope_id: str = TENANT_SCOPE.scope_id,
        near: Sequence[str] = (),
    ) -> Resolution:
        """Return the decision on a mention over one snapshot; `entity` is canonical."""
        scopes = frozenset(sight_of(self.principal, None).scopes) | {scope_id}
        rules = Rules(scopes, scope_id, self.backend.policy.resolution)
        last, scorer = reader.clock().last_us, self.backend.scorer
        exact = reader.known(lookup_of([wanted]), scopes=sorted(scopes), tx_us=last)
        register = Register(exact)
        if scorer and needs_scoring(wanted, register, rules):
            ref = as_ref(wanted)
            lookup = fuzzy_lookup(ref, scorer, rules.bands)
            found = reader.known(lookup, scopes=sorted(scopes), tx_us=last)
            beside = self._beside(reader, near) if near else Known()
            weights = _named_there(beside, scopes) | dict(found.weights)
            register = Register(merged((exact, found, beside)))
            register.propose((alias_key(ref.name), ref.type, scopes), weights)
            if near:
                rules = self._surrounded(reader, rules, register, weights, near)
        done = bind(wanted, register, rules, scorer)
        return replace(done, entity=register.root(done.entity)) if done.entity else done

    def _beside(self, reader: Reader, near: Sequence[str]) -> Known:
        """Return the entities one step from those around the mention, with their names."""
        last = reader.clock().last_us
        around = reader.entities(near, tx_us=last)
        ends = {end for pair in self._relations(reader, sorted(around.entities)) for end in pair}
        return reader.entities(sorted(ends), tx_us=last)

    def _relations(self, reader: Reader, raw: Sequence[str]) -> list[tuple[str, str]]:
        """Return the two raw ends of each visible relation of entities."""
        last, fanout = reader.clock().last_us, self.backend.policy.read.neighbourhood_fanout
        point, sight = Point(max(self.backend.now_us(), last), last), sight_of(self.principal, None)
        found = reader.around(raw, sight=sight, point=point, limit=fanout).versions
        ends = ((v.details.subject_id, v.details.value_entity_id) for v in found)
        return [(subject, value) for subject, value in ends if subject and value]

    def _surrounded(
        self,
        reader: Reader,
        rules: Rules,
        register: Register,
        weights: Mapping[tuple[str, str], int],
        near: Sequence[str],
    ) -> Rules:
        """Return the rules with what stands around each candidate."""
        around: dict[str, set[str]] = {}
        roots = sorted({register.root(raw) for raw, _ in weights})
        raw = sorted({m for root in roots for m in register.members(root)})
        for ends in self._relations(reader, raw):
            a, b = map(register.root, ends)
            around.setdefault(a, set()).add(b)
            around.setdefault(b, set()).add(a)
        return replace(
            rules,
            neighbours=frozenset(register.root(raw) for raw in near),
            around={root: frozenset(ends) for root, ends in around.items()},
        )


def _named_there(beside: Known, scopes: frozenset[str]) -> dict[tuple[str, str], int]:
    """Return the visible names of neighbours as proposals of the least weight."""
    return {(a.entity_id, a.norm): 1 for a in beside.aliases if a.scope_id in scopes}
