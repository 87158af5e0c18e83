"""Resolving without writing: what a mention would be bound to, and why.

The same pipeline as a write: exact keys first, then candidates by blocking keys, scores,
vetoes and bands. Nothing is created, and only aliases the caller may see take part.
Sources: API "Entities and review"; resolution 2; checklist C-047 to C-049.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...resolution.bind import Named, Rules, as_ref, bind, fuzzy_lookup, lookup_of, needs_scoring
from ...resolution.keys import alias_key, is_id
from ...resolution.known import Known, merge_known
from ...resolution.register import Register
from ...schema.entity import Resolution
from ...schema.principal import TENANT_SCOPE
from ...store.commit.surroundings import Circle
from ...store.port.store import Point, Reader
from ..backend.caller import Caller
from .view import Who, named, sight_of


@dataclass(frozen=True, slots=True)
class Resolver(Caller):
    """The resolve use-case of one caller."""

    def resolve(
        self, mention: Who, type: str | None, scope_id: str, near: Sequence[str]
    ) -> Resolution:
        """Return the decision on a mention; `near` are entities known to stand around it."""
        wanted = named(mention)
        if type is not None and not (isinstance(wanted, str) and is_id(wanted)):
            wanted = replace(as_ref(wanted), type=type)
        with self._reading() as reader:
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
            around = self._circle(reader, scopes)
            known = reader.entities(near, tx_us=last) if near else Known()
            beside = around.read_names(sorted(known.entities), scorer.near(ref))
            register = Register(merge_known((exact, found, replace(known, aliases=()), beside)))
            register.propose((alias_key(ref.name), ref.type, scopes), found.weights)
            if near:
                around.read_around((raw for raw, _ in found.weights), register)
                rules = around.rules(rules, frozenset(map(register.root, near)), register)
        done = bind(wanted, register, rules, scorer)
        return replace(done, entity=register.root(done.entity)) if done.entity else done

    def _circle(self, reader: Reader, scopes: frozenset[str]) -> Circle:
        last, limit = reader.clock().last_us, self.backend.policy.read.neighbourhood_fanout
        point = Point(max(self.backend.now_us(), last), last)
        return Circle(reader, self.principal.sight(scopes), point, limit)
