"""Classes of ours joined with the base classes of a framework that may not be installed."""

from __future__ import annotations

from types import new_class
from typing import Any


def joined_class(name: str, own_class: type, framework_class: Any) -> Any:
    """Return a subclass of both, made when the framework is there.

    Our own methods win; what the framework adds to them comes along.
    """
    members = {"__module__": own_class.__module__, "__doc__": own_class.__doc__}
    return new_class(name, (own_class, framework_class), {}, lambda body: body.update(members))
