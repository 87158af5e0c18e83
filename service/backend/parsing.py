"""Small parsers of the edge: shares, entity references, decay rules and enforcement.

Each takes what a caller may write and returns a checked value, or refuses with a sentence
that says what to do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, cast

from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput
from ...schema.layers import DecayRule
from ...schema.limits import LENGTHS, check_text
from ...schema.principal import Scope
from ...schema.values import Value, canonical_json
from ...schema.vocabulary import Enforcement, parse


def scope_of(stated: Scope | Mapping[str, Any] | None) -> Scope | None:
    """A stated scope, None for none.

    Raises:
        InvalidInput: `bad_scope`.
    """
    if stated is None or isinstance(stated, Scope):
        return stated

    names = {item.name for item in fields(Scope)}
    if not isinstance(stated, Mapping) or set(stated) - names:
        raise InvalidInput(
            f"a scope has user, project and session, such as {{'user': 'ann'}}, not {stated!r:.80}",
            code="bad_scope",
        )

    for name, value in stated.items():
        if value is not None:
            check_text(value, f"scope {name}", most=LENGTHS["scope"])

    return Scope(**stated)


def check_reason(reason: str) -> None:
    """Refuse a reason that is no short text, or that holds a secret: it is kept for ever.

    Raises:
        InvalidInput: `bad_field`, `too_large`, `unstorable_text`, `secret_in_content`.
    """
    check_text(reason, "reason", most=LENGTHS["reason"])
    check_secrets(reason, "the reason")


def check_secrets(text: str, place: str) -> None:
    """Refuse a text with a key, token or password; the refusal never repeats it.

    Raises:
        InvalidInput: `secret_in_content`.
    """
    # Its patterns take longer to build than a store to open, and few calls state a text.
    from ...compiler.safety.credentials import find_credentials

    if find_credentials(text):
        raise InvalidInput(
            f"{place} holds a key, token or password; tenure never stores one. Remove it and try "
            "again",
            code="secret_in_content",
        )


def share(value: object, field: str) -> float:
    """Return a number of 0 to 1."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise InvalidInput(f"{field} must be a number of 0 to 1", code="out_of_range", field=field)


def entity_ref(members: Mapping[str, Any]) -> EntityRef:
    """Return the reference of a mapping."""
    unknown = set(members) - {f.name for f in fields(EntityRef)}
    if unknown or "name" not in members:
        raise InvalidInput(
            f"an entity has name, type, aliases and external_ids; got {sorted(map(str, members))}",
            code="bad_entity",
        )

    return EntityRef(**members)


def mention(value: object) -> EntityRef | str:
    """Return what names an entity: a name, an id or a reference."""
    if isinstance(value, Mapping):
        return entity_ref(cast("Mapping[str, Any]", value))
    if isinstance(value, EntityRef):
        return value
    if isinstance(value, str) and value.strip():
        return value

    raise InvalidInput(
        f"{value!r} names no entity; give a name, an id or an EntityRef",
        code="value_type_mismatch",
        value_type="entity",
    )


def spoken_name(entity: object) -> str:
    """Return the name by which a caller named an entity."""
    if isinstance(entity, EntityRef):
        return entity.name
    if isinstance(entity, Mapping):
        return str(cast("Mapping[str, Any]", entity).get("name", ""))

    return str(entity or "")


def shown_value(value: Value | None) -> str:
    """Return a value as it reads in a sentence."""
    if value is None:
        return "none"

    plain = value.plain
    return plain if isinstance(plain, str) else value.json


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


def enforcement(rule: Mapping[str, Any] | None) -> str | None:
    """Return the carrier of a hard constraint as canonical JSON."""
    if rule is None:
        return None
    if set(rule) - {"kind", "spec"} or "kind" not in rule:
        raise InvalidInput("enforcement has kind and spec", code="bad_enforcement")

    kind = parse(Enforcement, rule["kind"])
    try:
        spec = canonical_json(rule.get("spec") or {})
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"enforcement: spec is no JSON: {error}", code="bad_enforcement"
        ) from error

    from ...compiler.request.enforcement import check_enforcement

    check_enforcement(kind, spec)

    return canonical_json({"kind": kind.value, "spec": rule.get("spec")})
