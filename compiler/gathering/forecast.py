"""What a compile will ask for, told before it is asked.

A server is asked for the names of a request and, in the same round trip, for all that is asked next
if they mean what they seem to: the words of the request with no other name of anybody in it, the
slots of whom the names mean, what stands around these, and what all these facts lead to. Nothing
here changes an answer: what was not foretold is asked when its time comes.
"""

from __future__ import annotations

from dataclasses import replace

from ...schema.policy import Policy
from ...schema.principal import Principal, Sight
from ...store.port.records import NEWEST, Names, NextReads, OpeningReads, Walk
from ...store.port.store import Point
from ..ir.context import project_of, question_terms, scopes_of
from ..request.request import CompileRequest
from .candidates import own_scopes, pinned_ask, rivals_ask, siblings_ask, slots_ask
from .mentions import compile_names, own_identifiers
from .text_pool import text_limit


def opening_names(
    request: CompileRequest,
    principal: Principal,
    policy: Policy,
    valid_us: int,
    user: str | None = None,
) -> Names:
    """The names of a compile at the last stamp, with what it asks next of whom they mean.

    `user` is for whom it is compiled, by a user's id or a name.

    Raises:
        Forbidden: `scope_not_yours`, for a project that is not the caller's.
    """
    rules = policy.compile
    names = compile_names(request, principal, rules, user)
    project = project_of(request, principal)
    sight = principal.sight(scopes_of(principal, project))
    reads = replace(
        candidate_reads(request, policy, sight, Point(valid_us, NEWEST)),
        terms=tuple(sorted(question_terms(request, rules))),
        walk=Walk((), rules.neighbour_facts, rules.neighbour_entities),
    )
    # Around whom it is compiled for is walked, be it the caller.
    pairs = [pair for pair in own_identifiers(principal, project) if pair != ("user", user)]
    return names._replace(
        reads=OpeningReads(
            reads,
            slots_ask(policy, ()),
            tuple(pairs),
            siblings=siblings_ask(()) if rules.subject_lift else None,
            rivals=rivals_ask(()) if len(sight.scopes) > 1 else None,
        )
    )


def candidate_reads(
    request: CompileRequest, policy: Policy, sight: Sight, point: Point
) -> NextReads:
    """The reads of candidates that depend on no name: those of a search by words alone."""
    pinned = pinned_ask(request)
    return NextReads(
        sight=sight,
        point=point,
        limit=text_limit(policy),
        asks=(pinned,) if pinned else (),
        held=policy.compile.standing_candidates,
        standing=own_scopes(sight),
    )
