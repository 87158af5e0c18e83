"""Definitions: from a `define` line to a tenant's vocabulary.

A definition is an event of an append-only list; the vocabulary of a version is the built-in
set with the first so many definitions applied. What a definition of a known slot does not
state is inherited from it. Sources: settled 1 and 4; API "Vocabulary" and "Import format".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast

from ...schema.errors import InvalidInput
from ...schema.layers import DecayRule
from ...schema.slots import BUILT_IN_SLOTS, Slot, TenantWord, Vocabulary
from ...schema.vocabulary import (
    Cardinality,
    Precedence,
    RetirementRule,
    Sensitivity,
    SlotKind,
    ValueType,
    parse,
)


def defined(known: Vocabulary, definition: dict[str, Any], *, used: bool = False) -> Vocabulary:
    """Return a vocabulary with the definition of a `define` line.

    What a definition of a known slot does not state is inherited from it.

    Raises:
        InvalidInput: for a field or a word that does not exist.
    """
    held = dict(definition)
    what, name = held.pop("define", None), held.get("name")
    if not isinstance(what, str) or not isinstance(name, str):
        raise InvalidInput("a definition has define and name", code="bad_definition")
    if what != "slot":
        extra = set(held) - {"name", "description", "parent"}
        if extra:
            raise InvalidInput(f"a {what} has no {sorted(extra)}", code="bad_definition")
        word = TenantWord(name, str(held.get("description", "")), held.get("parent"))
        return known.define(what, word)
    return known.define("slot", _slot(known, held), used=used)


def _slot(known: Vocabulary, held: dict[str, Any]) -> Slot:
    base = known.slots.get(held["name"]) or BUILT_IN_SLOTS.get(held["name"])
    unknown = set(held) - set(Slot.__dataclass_fields__)
    if unknown:
        raise InvalidInput(f"a slot has no {sorted(unknown)}", code="bad_definition")
    stated = {name: _READ[name](value) for name, value in held.items() if value is not None}
    if base is None and not stated.get("description"):
        raise InvalidInput(
            f"slot {held['name']!r} needs a description: what it says of its subject",
            code="bad_definition",
        )
    inherited = {f: getattr(base, f) for f in Slot.__dataclass_fields__} if base else {}
    return Slot(**{**inherited, **stated})


def _templates(given: Any) -> tuple[tuple[str, str], ...]:
    pairs = cast("dict[str, Any]", given) if isinstance(given, dict) else {"*": given}
    return tuple(sorted((str(task), str(text)) for task, text in pairs.items()))


def _decay(given: Any) -> DecayRule:
    return given if isinstance(given, DecayRule) else DecayRule(**given)


_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "name": str,
    "description": str,
    "cardinality": lambda v: parse(Cardinality, v),
    "value_type": lambda v: parse(ValueType, v),
    "subject_types": tuple,
    "kind": lambda v: parse(SlotKind, v),
    "precedence": lambda v: parse(Precedence, v),
    "why_it_matters": str,
    "applicable_task_types": tuple,
    "instruction": _templates,
    "sensitivity": lambda v: tuple(parse(Sensitivity, s) for s in v),
    "decay_rule": _decay,
    "retirement_rule": lambda v: parse(RetirementRule, v),
}
