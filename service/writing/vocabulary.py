"""The tenant's bounded lists at the edge: to read, and to extend with the privilege.

Source: API "Vocabulary"; settled 1, 4, 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...schema.layers import DecayRule
from ...schema.principal import DEFINE, Principal
from ...schema.slots import Slot, Vocabulary
from ..backend.backend import Backend


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabulary of one tenant."""

    backend: Backend
    principal: Principal

    def define_slot(
        self,
        name: str,
        *,
        cardinality: str | None = None,
        value_type: str | None = None,
        subject_types: Sequence[str] | None = None,
        precedence: str | None = None,
        kind: str | None = None,
        description: str | None = None,
        why_it_matters: str | None = None,
        applicable_task_types: Sequence[str] | None = None,
        instruction: str | Mapping[str, str] | None = None,
        sensitivity: Sequence[str] | None = None,
        decay_rule: DecayRule | Mapping[str, float] | None = None,
        retirement_rule: str | None = None,
    ) -> Slot:
        """Define a slot, or redefine one; what is not stated is inherited. Idempotent.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `slot_in_use` when cardinality or value type would change.
        """
        if isinstance(decay_rule, DecayRule):
            decay_rule = asdict(decay_rule)
        given = {k: v for k, v in locals().items() if k != "self" and v is not None}
        return self.apply({"define": "slot", **given}).slot(name)

    def define(
        self, what: str, name: str, *, description: str = "", parent: str | None = None
    ) -> tuple[str, ...]:
        """Define a task type, role, entity type or source kind; return the list's words."""
        stated = {"define": what, "name": name, "description": description, "parent": parent}
        self.apply({k: v for k, v in stated.items() if v is not None})
        return self.values(what)

    def apply(self, definition: Mapping[str, Any]) -> Vocabulary:
        """Apply a `define` line of the import format and return the new vocabulary."""
        self.principal.require(DEFINE)
        return self.backend.define(self.principal.tenant, dict(definition))

    def slots(self) -> Mapping[str, Slot]:
        """Return the slots by name."""
        return self.backend.vocabulary(self.principal.tenant).slots

    def values(self, what: str) -> tuple[str, ...]:
        """Return the words of a list: `task_type`, `role`, `entity_type`, `source_kind`."""
        return self.backend.vocabulary(self.principal.tenant).values(what)
