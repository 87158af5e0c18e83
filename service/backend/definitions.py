"""Definitions: from a `define` line to a tenant's vocabulary.

A definition is an event of an append-only list; the vocabulary of a version is the built-in
set with the first so many definitions applied. What a definition of a known slot does not
state is inherited from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, cast

from ...schema.errors import InvalidInput, did_you_mean, quoted
from ...schema.layers import DecayRule
from ...schema.limits import check_text, check_texts
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


def with_definition(
    known: Vocabulary, definition: dict[str, Any], *, used: bool = False
) -> Vocabulary:
    """Return a vocabulary with the definition of a `define` line.

    What a definition of a known slot does not state is inherited from it.

    Raises:
        InvalidInput: for a field or a word that does not exist.
    """
    members = dict(definition)
    kind, name = members.pop("define", None), members.get("name")
    if not isinstance(kind, str) or not isinstance(name, str):
        raise InvalidInput("a definition has define and name", code="bad_definition")

    if kind != "slot":
        _check_fields(kind.replace("_", " "), members, ("name", "description", "parent"))
        word = TenantWord(name, str(members.get("description", "")), members.get("parent"))
        return known.define(kind, word)

    return known.define("slot", _slot(known, members), used=used)


def _check_fields(kind: str, members: Iterable[str], known: Collection[str]) -> None:
    for name in members:
        if name not in known:
            raise InvalidInput(
                f"a {kind} has no field {quoted(name)}: {did_you_mean(name, known)}",
                code="bad_definition",
            )


def _slot(known: Vocabulary, members: dict[str, Any]) -> Slot:
    base = known.slots.get(members["name"]) or BUILT_IN_SLOTS.get(members["name"])
    _check_fields("slot", members, Slot.__dataclass_fields__)
    values = {name: _READ[name](value) for name, value in members.items() if value is not None}
    if base is None and not values.get("description"):
        raise InvalidInput(
            f"slot {members['name']!r} needs a description: what it says of its subject",
            code="bad_definition",
        )

    defaults = {f: getattr(base, f) for f in Slot.__dataclass_fields__} if base else {}

    return Slot(**{**defaults, **values})


def _templates(plain: object) -> tuple[tuple[str, str], ...]:
    texts = cast("Mapping[object, object]", plain) if isinstance(plain, Mapping) else {"*": plain}
    return tuple(sorted((_text(task), _text(text)) for task, text in texts.items()))


def _text(plain: object) -> str:
    check_text(plain, "a text of a definition")
    return str(plain)


def _texts(plain: object) -> tuple[str, ...]:
    check_texts(plain, "a list of a definition")
    return tuple(cast("Iterable[str]", plain))


def decay(rule: DecayRule | Mapping[str, float] | None) -> DecayRule | None:
    """Return a decay rule, None for none."""
    if rule is None or isinstance(rule, DecayRule):
        return rule
    try:
        return DecayRule(**rule)
    except TypeError as error:
        raise InvalidInput(
            "decay_rule has half_life_days and minimum_threshold", code="bad_decay_rule"
        ) from error


def _flag(plain: object) -> bool:
    if not isinstance(plain, bool):
        raise InvalidInput(f"a flag is true or false, not {plain!r}", code="bad_definition")
    return plain


_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "name": _text,
    "description": _text,
    "cardinality": lambda v: parse(Cardinality, v),
    "value_type": lambda v: parse(ValueType, v),
    "subject_types": _texts,
    "kind": lambda v: parse(SlotKind, v),
    "precedence": lambda v: parse(Precedence, v),
    "why_it_matters": _text,
    "applicable_task_types": _texts,
    "instruction": _templates,
    "sensitivity": lambda v: tuple(parse(Sensitivity, word) for word in _texts(v)),
    "decay_rule": decay,
    "retirement_rule": lambda v: parse(RetirementRule, v),
    "synonyms": _texts,
    "limits": _flag,
    "constant": _flag,
}
