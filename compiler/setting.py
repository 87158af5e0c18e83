"""The setting of one compile: everything a stage may look at beside its input.

Built once by the driver and passed to every stage unchanged. Time, principal, keys and policy
are values here; nothing in the compiler reads a clock or an environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ..schema.errors import Forbidden, InvalidInput
from ..schema.policy import CompilePolicy, Policy
from ..schema.principal import Principal, only_project, visible_scopes
from ..schema.slots import Vocabulary
from ..store.port import Point
from .counting import TokenCounter
from .request import CompileRequest

COMPILER_VERSION: Final = "1"
"""Raised whenever the same inputs would give other bytes; a manifest of another is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """The fixed circumstances of a compile."""

    request: CompileRequest
    principal: Principal
    vocabulary: Vocabulary
    policy: Policy
    point: Point
    keys: tuple[bytes, ...]
    """The tenant's keys, one an epoch, oldest first."""
    epoch: int
    """The key that seals this envelope, as a place in `keys`."""
    counter: TokenCounter
    budget: int
    """B: the most tokens of the text, by the counter's upper bound."""
    reserve: int
    """R: tokens kept for the answer."""
    project: str | None
    """The one project whose scopes are read."""
    scopes: frozenset[str]
    """Canonical ids of the visible scopes."""
    task_types: tuple[str, ...]
    """The active task type and its parent."""
    encoder_id: str | None = None
    skip: frozenset[str] = frozenset()
    """Objects that earlier pages have shown."""
    page: int = 1
    without: frozenset[str] = frozenset()
    """Object ids and sections that an ablation leaves out."""

    @property
    def rules(self) -> CompilePolicy:
        """Return the compiler's part of the policy."""
        return self.policy.compile


def project_of(request: CompileRequest, principal: Principal) -> str | None:
    """Return the project of a compile: the stated one, else the principal's only one.

    Raises:
        Forbidden: `scope_not_yours`.
    """
    if request.project is None:
        return only_project(principal)
    if request.project not in principal.projects and not principal.privileged:
        raise Forbidden(
            f"project {request.project!r} is not among this caller's projects; "
            "name one of them or none",
            code="scope_not_yours",
        )
    return request.project


def scopes_of(principal: Principal, project: str | None) -> frozenset[str]:
    """Return the visible scopes, with at most one project among them."""
    if project is None:
        return visible_scopes(replace(principal, projects=frozenset()))
    return visible_scopes(principal, project=project)


def sealing_epoch(keys: Sequence[bytes], epoch: int | None) -> int:
    """Return the epoch whose key seals: the stated one, else the newest.

    Raises:
        InvalidInput: `bad_manifest`, for an epoch the tenant never had; `no_key` without keys.
    """
    if not keys:
        raise InvalidInput("a compile needs the tenant's key; the store holds it", code="no_key")
    if epoch is None:
        return len(keys) - 1
    if not 0 <= epoch < len(keys):
        raise InvalidInput(
            f"the manifest names key epoch {epoch}; this tenant has {len(keys)}",
            code="bad_manifest",
        )
    return epoch
