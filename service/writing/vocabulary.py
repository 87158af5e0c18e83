"""The tenant's bounded lists at the edge: to read, and to extend with the privilege."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict, Unpack

from ...schema.layers import DecayRule
from ...schema.principal import DEFINE
from ...schema.slots import Slot, Vocabulary
from ..backend.caller import Caller, argument_checks, check_definition, check_fields
from ..backend.words import (
    CardinalityWord,
    DefinedList,
    PrecedenceWord,
    RetirementWord,
    SensitivityWord,
    SlotKindWord,
    ValueTypeWord,
)
from ..reading.objects import StoredTool, ToolReader


class SlotFields(TypedDict, total=False):
    """What a definition of a slot may state."""

    cardinality: CardinalityWord | None
    value_type: ValueTypeWord | None
    subject_types: Sequence[str] | None
    precedence: PrecedenceWord | None
    kind: SlotKindWord | None
    description: str | None
    why_it_matters: str | None
    applicable_task_types: Sequence[str] | None
    instruction: str | Mapping[str, str] | None
    sensitivity: Sequence[SensitivityWord] | None
    decay_rule: DecayRule | Mapping[str, float] | None
    retirement_rule: RetirementWord | None
    synonyms: Sequence[str] | None
    limits: bool | None
    constant: bool | None


@argument_checks
@dataclass(frozen=True, slots=True)
class Words(Caller):
    """The vocabulary of one tenant."""

    def define_slot(self, name: str, **fields: Unpack[SlotFields]) -> Slot:
        """Define a slot, or redefine one; what is not stated is inherited. Idempotent.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `slot_in_use` when cardinality or value type would change.
        """
        check_fields(SlotFields, fields, "field of a slot")
        definition: dict[str, Any] = {"define": "slot", "name": name}
        for field, value in fields.items():
            if value is not None:
                definition[field] = asdict(value) if isinstance(value, DecayRule) else value

        return self.apply(definition).slot(name)

    def define(
        self, what: DefinedList, name: str, *, description: str = "", parent: str | None = None
    ) -> tuple[str, ...]:
        """Define a task type, role, entity type or source kind; return the list's words."""
        definition = {"define": what, "name": name, "description": description, "parent": parent}
        self.apply({k: v for k, v in definition.items() if v is not None})
        return self.values(what)

    def apply(self, definition: Mapping[str, Any]) -> Vocabulary:
        """Apply a `define` line of the import format and return the new vocabulary."""
        self.principal.require(DEFINE)
        check_definition(definition)
        return self._backend.define(self._tenant, dict(definition))

    def slots(self) -> Mapping[str, Slot]:
        """Return the slots by name."""
        return self._words_now().slots

    def tools(self) -> tuple[StoredTool, ...]:
        """The stored tools that the caller may see, by name, the newest of a name first."""
        return ToolReader(self._backend, self.principal).tools()

    def values(self, what: DefinedList) -> tuple[str, ...]:
        """Return the words of a list: `task_type`, `role`, `entity_type`, `source_kind`."""
        return self._words_now().values(what)
