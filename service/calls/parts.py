"""Where the methods of the client are: each part's class as text, loaded when it is asked for.

A command of the terminal needs one of these classes; loading all of them takes longer than it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "": "client.memory:Memory",
        "actions": "stewardship.actions:Actions",
        "artifacts": "artifacts.artifacts:Artifacts",
        "documents": "documents.documents:Documents",
        "entities": "stewardship.entities:Entities",
        "resolution": "stewardship.matching:Matching",
        "envelopes": "reading.envelopes:Envelopes",
        "reviews": "stewardship.reviews:Reviews",
        "sessions": "sessions.sessions:Sessions",
        "transfer": "stewardship.transfer:Transfer",
        "view": "reading.view:View",
        "vocabulary": "writing.vocabulary:Words",
    }
)
"""The classes of the client, by the name that comes before the dot of a call."""


RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "plane": "timeline --grid",
        "resolution doubtful": "resolution audit",
        "resolution how": "resolution explain",
        "resolution why": "resolution score",
        "review bulk": "review decide-all",
        "resolution.doubtful": "resolution.audit",
        "sessions.sessions": "sessions.list",
        "/v1/resolution/doubtful": "/v1/resolution/audit",
        "/v1/sessions/sessions": "/v1/sessions/list",
        "/v1/view/plane": "/v1/view/timeline/grid",
    }
)
"""Commands, calls and addresses that have another name now: they are refused with the new one."""


def part_class(part: str) -> Any:
    """The class of a part, the memory itself for the empty name."""
    module, _, name = PARTS[part].partition(":")
    return getattr(import_module(f"...{module}", __name__), name)


def call_function(call: str) -> Any:
    """The method that a call names, as its class defines it.

    A part that is a question itself is called.
    """
    part, _, method = call.rpartition(".")
    return getattr(part_class(part), "__call__" if part == method else method)
