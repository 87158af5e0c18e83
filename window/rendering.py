"""The messages of a window that grows, kept from one request to the next.

Between edits a window only grows, so of a request nearly all messages are those of the one before.
They are written once, and each request hands out branch: a caller may mark a block for the cache,
or change what it likes, and no later request knows of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from .layout import Messages, add_tail, add_units, require_target
from .state import WindowState
from .units import WindowUnit

_Message = dict[str, Any]
_Copier = Callable[[_Message], _Message]


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What one provider was sent of a window, and the units that it says."""

    units: tuple[WindowUnit, ...] = ()
    uses: Counter[str] = field(default_factory=Counter[str])
    """How often each call id was sent: a further use needs a suffix."""
    messages: tuple[tuple[_Copier, _Message], ...] = ()
    """Each message with what branch it, chosen once by its shape."""


_EMPTY_PREFIX: Final = _Prefix()


class RenderedHistory:
    """The messages that a session has rendered, by provider."""

    def __init__(self) -> None:
        self._prefixes: dict[str, _Prefix] = {}

    def messages(self, state: WindowState, target: str, tail: str = "") -> Messages:
        """The same messages as `native_messages`, at the cost of what came since.

        Raises:
            Conflict: `open_calls`, while a call waits for its result.
            InvalidInput: `unknown_vocabulary`, for another target.
        """
        require_target(target)
        prefix = self._prefixes.get(target, _EMPTY_PREFIX)

        # An edit, an erasure or another model leaves other units; then all is written anew. Units
        # that stayed are the same objects, which a comparison of tuples tells at once.
        if state.units[: len(prefix.units)] != prefix.units:
            prefix = _EMPTY_PREFIX
        if len(prefix.units) < len(state.units):
            prefix = _longer_prefix(prefix, state.units, target)
            # A frozen value in the place of another one: requests may be rendered in two threads.
            self._prefixes[target] = prefix

        messages = [copier(message) for copier, message in prefix.messages]
        add_tail(messages, tail, target)
        return messages


def _longer_prefix(prefix: _Prefix, units: tuple[WindowUnit, ...], target: str) -> _Prefix:
    """A prefix with the units that came since."""
    uses = Counter(prefix.uses)
    # The last message may go on: a provider takes two texts of one role as one message.
    last = [copier(message) for copier, message in prefix.messages[-1:]]
    add_units(last, units[len(prefix.units) :], target, uses)

    additions = [(_copier(message), message) for message in last]
    return _Prefix(units, uses, (*prefix.messages[:-1], *additions))


def _copier(message: _Message) -> _Copier:
    """The cheapest way to copy a message; nearly all are a role and some texts."""
    nested_names = _nested_names(message)
    if not nested_names:
        return dict[str, Any].copy
    if nested_names == ["content"] and all(map(_is_flat, message["content"])):
        return _copy_of_texts
    return _copy_of_tree


def _nested_names(tree: dict[str, Any]) -> list[str]:
    return [name for name, value in tree.items() if isinstance(value, dict | list)]


def _is_flat(block: object) -> bool:
    return isinstance(block, dict) and not _nested_names(cast("dict[str, Any]", block))


def _copy_of_texts(message: _Message) -> _Message:
    return message | {"content": [*map(dict[str, Any].copy, message["content"])]}


def _copy_of_tree(message: _Message) -> _Message:
    branch: _Message = _copy_of(message)
    return branch


def _copy_of(tree: Any) -> Any:
    # Texts and numbers, nearly all that there is, are met here without a call of their own.
    if isinstance(tree, dict):
        branch = dict(cast("dict[str, Any]", tree))
        for name, value in branch.items():
            if isinstance(value, dict | list):
                branch[name] = _copy_of(value)
        return branch
    if isinstance(tree, list):
        branches: list[Any] = tree  # pyright: ignore[reportUnknownVariableType]
        return list(map(_copy_of, branches))
    return tree
