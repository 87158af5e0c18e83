"""The shape of a write: each field is of its type, short enough, and can be stored.

The table of the edge over `schema/limits.py`: a write through the API is held to the same shapes
as a line of an import file, so that nothing behind it meets a type it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, cast

from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput
from ...schema.layers import DecayRule
from ...schema.limits import (
    ALIASES,
    IDENTIFIERS,
    LENGTHS,
    check_json,
    check_number,
    check_text,
    check_texts,
)
from ...schema.principal import Scope
from ...schema.values import NO_FIELDS
from ...schema.write import Write

Check = Callable[[object, str], None]
"""Refuses the value of a field, given its name."""


def check_shape(write: Write) -> None:
    """Refuse a write with a field that is malformed, too long, too deep or cannot be stored.

    Raises:
        InvalidInput: `bad_field`, `too_large`, `too_deep`, `out_of_range`, `unstorable_text`.
    """
    whatever: object = write
    if not isinstance(whatever, Write):
        raise InvalidInput(
            f"a write is a tenure.Write, not {type(whatever).__name__}; Write(**fields) makes one",
            code="bad_field",
            field="writes",
        )

    for value, (name, default, check) in zip(_values_of(write), _CHECKS, strict=True):
        # Most fields of most writes are left out.
        if value is default or value == default:
            continue
        check(value, name)


def _text(value: object, field: str) -> None:
    check_text(value, field, most=LENGTHS.get(field))


def _list(value: object, field: str) -> None:
    check_texts(value, field)


def _moment(value: object, field: str) -> None:
    if not isinstance(value, datetime):
        check_text(value, field, most=64)


def _entity(value: object, field: str) -> None:
    if isinstance(value, str):
        check_text(value, field)
    elif isinstance(value, EntityRef):
        _names(value.aliases, value.external_ids, field)
        for text in (value.name, value.type, *value.aliases, *value.external_ids.values()):
            check_text(text, field)
    elif isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        check_json(members, field)
        identifiers = members.get("external_ids") or NO_FIELDS
        if not isinstance(identifiers, Mapping):
            raise InvalidInput(
                f"{field}: external_ids must be an object", code="bad_field", field=field
            )
        aliases = members.get("aliases") or ()
        check_texts(aliases, field, most=ALIASES)
        _names(aliases, cast("Mapping[str, Any]", identifiers), field)
    else:
        raise InvalidInput(
            f"{field} must be a name, an id or an EntityRef, not {type(value).__name__}",
            code="bad_field",
            field=field,
        )


def _names(aliases: Any, identifiers: Mapping[str, Any], field: str) -> None:
    # Each name is looked up under the tenant's write lock, so that many of them hold up everybody.
    if len(aliases) > ALIASES or len(identifiers) > IDENTIFIERS:
        raise InvalidInput(
            f"{field} has {len(aliases)} aliases and {len(identifiers)} identifiers; one write "
            f"takes {ALIASES} and {IDENTIFIERS}",
            code="too_large",
            field=field,
        )


def _value(value: object, field: str) -> None:
    if isinstance(value, EntityRef):
        _entity(value, field)
    else:
        check_json(value, field)


def _object(*kinds: type) -> Check:
    """A check for a mapping, or one of these types."""

    def check(value: object, field: str) -> None:
        if isinstance(value, kinds):
            return
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{field} must be an object", code="bad_field", field=field)

        check_json(cast("object", value), field)

    return check


def _flag(value: object, field: str) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{field} must be true or false", code="bad_field", field=field)


_OTHER_CHECKS: Final[Mapping[str, Check]] = {
    "subject": _entity,
    "value": _value,
    "valid_from": _moment,
    "valid_until": _moment,
    "scope": _object(Scope),
    "decay_rule": _object(DecayRule),
    "enforcement": _object(),
    "source_authority": check_number,
    "confidence": check_number,
    "authority_level": check_number,
    "planned": _flag,
    **dict.fromkeys(
        (
            "applicable_task_types",
            "sensitivity",
            "allow_roles",
            "deny_roles",
            "derived_from",
        ),
        _list,
    ),
}
_CHECKS: Final = tuple(
    (name, item.default, _OTHER_CHECKS.get(name, _text))
    for name, item in Write.__dataclass_fields__.items()
)
_values_of: Final = attrgetter(*Write.__dataclass_fields__)
"""All fields of a write in one call, in the order of their checks."""
