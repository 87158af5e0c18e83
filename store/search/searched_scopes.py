"""Where a search looks: in the scopes of its caller, so that the words of strangers do not count.

How much a word tells is a matter of how few hold it. Of a tenant with thousands of users everybody
says "dinner", and to each of them it still tells which of their own memories is meant.
"""

from __future__ import annotations

from typing import Final

from ...schema.principal import AUDIT, Sight

_MOST_SCOPES: Final = 64
"""Scopes that one search names. A caller of more sees so much that the tenant's counts serve."""


def searched_scopes(sight: Sight) -> tuple[str, ...]:
    """The scopes that a search of a sight is narrowed to; none for the whole tenant.

    Who audits is told how much of the tenant is withheld, so such a search meets all of it.
    """
    is_auditor = not AUDIT.roles.isdisjoint(sight.tags)
    return () if is_auditor or len(sight.scopes) > _MOST_SCOPES else sight.scopes
