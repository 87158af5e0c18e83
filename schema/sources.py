"""Where a claim comes from: source kinds, their trust and the level they default to.

The scheme of `source_origin` names the kind. An origin may lower authority, never raise it:
kinds that would raise it must be granted to the caller (`Principal.source_kinds`), else the
origin counts as `other` with the warning `origin_unproven`.

Invariants: a stated level is never stronger than the caller's ceiling; a `model` origin is
level 4 whatever is stated. Checklist C-017, C-018.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from .errors import Forbidden
from .vocabulary import Authority, Precedence


@dataclass(frozen=True, slots=True)
class SourceKind:
    """One row of the table of source kinds."""

    name: str
    schemes: tuple[str, ...]
    """URI schemes that stand for this kind, without `://`."""
    source_authority: float
    """Default trust, 0 to 1."""
    default_level: int | None
    """The strongest level a write of this kind takes when it states none; None: the ceiling."""
    rank: int
    """Place among the sources of a `source_rank` slot; 0 is the strongest."""
    granted: bool = False
    """Only a caller that is granted this kind may speak for it."""


BUILT_IN_KINDS: Final = tuple(
    SourceKind(*row)
    for row in (
        ("platform", ("system",), 1.0, None, 1, True),
        ("policy", ("policy",), 1.0, None, 1, True),
        ("workspace", ("workspace",), 0.9, 2, 1, True),
        ("system_of_record", ("record",), 0.95, 2, 0, True),
        ("user_statement", ("user", "chat"), 0.8, 2, 2, False),
        ("agent", ("agent",), 0.6, 3, 3, False),
        ("derived", ("tenure",), 0.5, 2, 3, False),
        ("document", ("doc", "file", "artifact", "s3", "email", "imap", "slack"), 0.7, 4, 4, False),
        ("tool", ("tool", "mcp"), 0.6, 4, 4, False),
        ("web", ("https", "http", "web", "rss", "ftp"), 0.4, 4, 5, False),
        ("model", ("model",), 0.3, 4, 6, False),
        ("other", (), 0.5, 4, 5, False),
    )
)
"""The kinds that every tenant knows; a lower rank is a source nearer to the fact."""

_END_OF_HOST: Final = re.compile(r"[/?#\\]")
"""What browsers take for the end of a host; a user before `@` is no part of it."""

OTHER_KIND: Final = BUILT_IN_KINDS[-1]
"""What an unknown scheme is: the word of nobody, as weak as a page of the web."""

UNPROVEN: Final = replace(OTHER_KIND, default_level=2, rank=3)
"""A known kind that the caller was not granted: the caller's own word, and no more."""


@dataclass(frozen=True, slots=True)
class Channel:
    """What the authenticated channel says of a write's source."""

    kind: SourceKind
    authority: Authority
    source_authority: float
    warnings: tuple[str, ...]


def kind_of(origin: str, kinds: Mapping[str, SourceKind]) -> SourceKind:
    """The kind that the scheme of an origin names, `other` when none does.

    >>> kind_of("https://example.org", {k.name: k for k in BUILT_IN_KINDS}).name
    'web'
    """
    scheme, separator, _ = origin.partition("://")
    if separator:
        for kind in kinds.values():
            if scheme.lower() in kind.schemes:
                return kind

    return OTHER_KIND


def channel(
    origin: str,
    *,
    kinds: Mapping[str, SourceKind],
    granted_kinds: frozenset[str],
    ceiling: Authority,
    stated_level: Authority | None,
    stated_trust: float | None,
) -> Channel:
    """Kind, level and trust of a write from its origin and its caller.

    Raises:
        Forbidden: `authority_above_ceiling`.
    """
    kind = kind_of(origin, kinds)
    warnings: list[str] = []
    # Anybody can write `hr://` before an origin. Only a granted kind is believed; else the
    # write counts as one of unknown origin, with a warning instead of a refusal.
    if kind.granted and kind.name not in granted_kinds:
        kind = UNPROVEN
        warnings.append("origin_unproven")

    if stated_level is not None and stated_level < ceiling:
        raise Forbidden(
            f"authority_level {int(stated_level)} is above this caller's ceiling {int(ceiling)}; "
            "state a weaker level or none",
            code="authority_above_ceiling",
            stated=int(stated_level),
            ceiling=int(ceiling),
        )

    level = _level(kind, ceiling, stated_level)
    if level > (max(ceiling, Authority.USER) if stated_level is None else stated_level):
        warnings.append("authority_lowered")

    # Stated trust may lower what the kind gives, and raise it only for a proven origin.
    trust = kind.source_authority if stated_trust is None else stated_trust
    if kind.name == "model" or "origin_unproven" in warnings:
        trust = min(trust, kind.source_authority)

    return Channel(kind, level, trust, tuple(warnings))


def _level(kind: SourceKind, ceiling: Authority, stated_level: Authority | None) -> Authority:
    if kind.name == "model":
        return Authority.RETRIEVED
    if stated_level is not None:
        return stated_level
    if kind.default_level is None:
        return ceiling

    return Authority(max(ceiling, kind.default_level))


def effective_level(level: Authority, kind_rank: int, precedence: Precedence) -> int:
    """The first part of a conflict key, as a rising number: lower is stronger.

    On a `source_rank` slot levels 0 and 1 stay, and 2 to 4 become 2 plus the rank of the
    source kind, so that a system of record beats a remark but never a platform rule.

    >>> effective_level(Authority.USER, 0, Precedence.SOURCE_RANK)
    2
    """
    if precedence is Precedence.AUTHORITY or level <= Authority.DEVELOPER:
        return int(level)
    return 2 + kind_rank


def origin_partition(origin: str, kind: str) -> str | None:
    """The partition of a web or tool origin, None for any other kind (C-092).

    >>> origin_partition("https://Example.org/a/b?c", "web")
    'https://example.org'
    """
    if kind not in ("web", "tool"):
        return None
    scheme, _, path = origin.partition("://")
    host = _END_OF_HOST.split(path, maxsplit=1)[0].rpartition("@")[2]
    return f"{scheme.lower()}://{host.lower()}"
