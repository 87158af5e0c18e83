"""The state of an ADK run as a request, and the ids that join a rewrite to its run.

Three keys are read: `plan` (goal, step, acceptance, constraints, progress, errors, and the ids of
task and step), `tools` (what this step may call: names of ADK's own tools, or whole tools that
replace them), and `knowledge` (evidence, entities, pinned objects; a plain list is evidence).
Unknown fields are refused by the compile that reads them. Nothing is written into the state.
Source 001, "ADK context alignment"; checklist C-223, C-224; google-adk 2.13.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ...schema.errors import InvalidInput
from ...schema.values import fields_of, items_of
from ...service.compilation.shown import stored_ids

if TYPE_CHECKING:
    from ...service.compilation.shown import Envelope

_PLAN: Final = ("goal", "step", "acceptance", "constraints", "progress", "errors")
_KNOWLEDGE: Final = ("evidence", "entities", "pinned", "skills")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """What joins the envelope of one model call to the run it belongs to."""

    session_id: str
    invocation_id: str
    event: int
    """How many events the session had before the call."""
    task_id: str
    step_id: str
    object_ids: tuple[str, ...]
    """Stored objects in the envelope, in the order of the text."""
    pack_id: str
    digest: str


Record = Callable[[Correlation], None]
"""Takes the ids of each rewrite, for a log or a span."""


def given_of(state: Any) -> dict[str, Any]:
    """Return the parameters of a compile that a run's state holds.

    `state` is a mapping, or ADK's `State`; keys that are absent or empty give nothing.

    Raises:
        InvalidInput: `bad_request`, for tools of which some are names and some whole tools.
    """
    plan, knowledge = fields_of(state.get("plan")), state.get("knowledge")
    known = fields_of(knowledge) or {"evidence": items_of(knowledge)}
    parameters = {**_stated(plan, _PLAN), **_stated(known, _KNOWLEDGE)}
    names, tools = _names_and_tools(state)
    if names and tools:
        raise InvalidInput("state.tools holds names or whole tools, not both", code="bad_request")

    return {**parameters, "tools": tools} if tools else parameters


def allowed_tools(state: Any, names: Iterable[str]) -> tuple[str, ...]:
    """Return which tools of a request this step may call: all, where the state names none."""
    allowed_names, _ = _names_and_tools(state)
    if not allowed_names:
        return tuple(names)
    return tuple(name for name in names if name in allowed_names)


def _stated(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: fields[name] for name in names if fields.get(name)}


def _names_and_tools(state: Any) -> tuple[list[str], list[Any]]:
    """What a state's `tools` holds: names, and whole tools."""
    names: list[str] = []
    tools: list[Any] = []
    for tool in items_of(state.get("tools")):
        if isinstance(tool, str):
            names.append(tool)
        else:
            tools.append(tool)
    return names, tools


def correlation(context: Any, envelope: Envelope) -> Correlation:
    """Return the ids of a rewrite; what a context does not know stays empty."""
    plan = fields_of(context.state.get("plan"))
    session = getattr(context, "session", None)
    return Correlation(
        session_id=str(getattr(session, "id", "") or ""),
        invocation_id=str(getattr(context, "invocation_id", "") or ""),
        event=len(getattr(session, "events", None) or ()),
        task_id=_id(plan, "task_id"),
        step_id=_id(plan, "step_id"),
        object_ids=stored_ids(envelope.manifest),
        pack_id=envelope.manifest.pack_id,
        digest=envelope.digest,
    )


def _id(plan: Mapping[str, Any], name: str) -> str:
    return str(plan.get(name) or "")
