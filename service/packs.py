"""Policy packs from their stored form, for replays under an older policy.

Source: settled 6 ("Policy packs are stored by hash").
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Any, get_args, get_origin, get_type_hints

from ..schema.errors import InvalidInput
from ..schema.policy import Policy


def policy_from_json(text: str) -> Policy:
    """Return the pack of canonical JSON.

    Raises:
        InvalidInput: `bad_policy` for a pack that this version does not know.
    """
    try:
        policy: Policy = _built(Policy, json.loads(text))
    except (TypeError, ValueError, KeyError) as error:
        raise InvalidInput(
            f"the stored policy cannot be read: {error}", code="bad_policy"
        ) from error
    return policy


def _built(kind: Any, held: Any) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{f.name: _built(hints[f.name], held[f.name]) for f in fields(kind)})
    if get_origin(kind) is tuple and is_dataclass(get_args(kind)[0]):
        return tuple(_built(get_args(kind)[0], item) for item in held)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return kind(held)
    return _tuples(held)


def _tuples(held: Any) -> Any:
    if isinstance(held, list):
        return tuple(_tuples(item) for item in held)  # pyright: ignore[reportUnknownVariableType]
    return held
