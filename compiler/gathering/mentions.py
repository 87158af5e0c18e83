"""The names that a compile looks up, and whom they mean.

Stated entities, words of the query, and the caller's own; bound by id, identifier or exact visible
alias, in one look-up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ...resolution.bind import locate
from ...resolution.identifiers import lookup_of
from ...resolution.register import Register
from ...schema.entity import MAX_NAME, is_visible
from ...schema.policy import CompilePolicy
from ...schema.principal import Principal, own_identifier
from ...schema.terms import STOP_WORDS
from ...schema.vocabulary import EntityState
from ...store.port.records import Names
from ...store.port.store import IdentityReads
from ..ir.context import project_of, scopes_of
from ..ir.records import Bound
from ..request.request import CompileRequest

_POSSESSIVE: Final = re.compile("['\u2019]s$")
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

    Longer runs come first, and none begins or ends with a word such as `the`.
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
                    runs.setdefault(_POSSESSIVE.sub("", run))
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


def bindable(mentions: Sequence[str]) -> list[str]:
    """Return the mentions that can name anything."""
    return [m for m in mentions if len(m) <= MAX_NAME and is_visible(m)]


@dataclass(frozen=True, slots=True)
class ExactBinder:
    """Binds mentions over what a reader knows at a tx: the default of `BindMentions`.

    A compile is a read, so it never scores and never creates; what a name may mean is decided by
    `resolution.bind`.
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

        # In the order of the request, whose stated entities come first: callers slice by it.
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
