"""Google ADK: keep the context window of an app's conversations in sessions of tenure.

    App(name="desk", root_agent=agent, plugins=[session_plugin(memory, window=128_000)])

The plugin records each user message, each answer of the model with its calls, and each result,
and lays what stands in the window over every request: contents are replaced, the agent's own
instruction and tools stay, and behind the instruction stands what the store adds. The session of
tenure has the name of the ADK's session and belongs to the ADK's user. A refusal of a request as
too long makes room and is raised again, so that the next request fits.

The ADK's own events stay as they are: its history is no longer what the model reads.
Settled with google-adk 2.13.0.
"""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from types import new_class
from typing import TYPE_CHECKING, Any, Final, Unpack

from ..sessions.decision import SessionUsage

if TYPE_CHECKING:
    from ..client.memory import Memory
    from ..sessions.opening import SessionTerms
    from ..sessions.session import Session

_Key = tuple[str, str]
"""A user and a session, as the ADK names them."""
_OVERFLOW: Final = re.compile(
    r"(?i)exceeds the maximum number of tokens|context (length|window)|prompt is too long"
    r"|input token count"
)
"""How providers say that a request is too long (2026-11)."""


def session_plugin(memory: Memory, **terms: Unpack[SessionTerms]) -> Any:
    """A plugin for an ADK `App` that keeps its conversations in sessions of `memory`.

    `terms` are those of `memory.session`; the model, and the first agent's instruction and tools,
    are taken from the first request where they are not stated.

    Raises:
        ModuleNotFoundError: without google-adk.
    """
    base: Any = import_module("google.adk.plugins.base_plugin").BasePlugin
    plugin_type: Any = new_class("TenurePlugin", (SessionCallbacks, base))
    return plugin_type(memory, terms)


class SessionCallbacks:
    """What the ADK calls of a plugin; its own class adds the callbacks that are not needed."""

    def __init__(self, memory: Memory, terms: SessionTerms) -> None:
        """Take the memory, and what sessions are opened with."""
        super().__init__(name="tenure")  # type: ignore[call-arg]
        self._memory = memory
        self._terms = terms
        self._sessions: dict[_Key, Session] = {}
        self._waiting: dict[_Key, Mapping[str, Any]] = {}
        """User messages of sessions that begin with their first request, which has their terms."""

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:
        """Keep a user's message; the first one waits for the request that opens the session."""
        key = _key(invocation_context)
        message = {**_plain(user_message), "id": invocation_context.invocation_id}
        session = self._sessions.get(key)
        if session is None:
            self._waiting[key] = message
        else:
            await asyncio.to_thread(_begin_turn, session, message)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Lay what stands in the window over a request."""
        key = _key(callback_context)
        instruction = _instruction(llm_request)
        session = self._sessions.get(key)
        if session is None:
            session = await asyncio.to_thread(self._opened, key, llm_request, instruction)
            self._sessions[key] = session
        message = self._waiting.pop(key, None)
        if message is not None:
            await asyncio.to_thread(_begin_turn, session, message)

        context = await asyncio.to_thread(session.compile)
        request = context.render("gemini")
        types: Any = import_module("google.genai.types")
        llm_request.contents = [types.Content.model_validate(c) for c in request["contents"]]

        parts = request.get("system_instruction", {}).get("parts", ())
        system = "".join(part["text"] for part in parts)
        # The agent's instruction may hold values of the run's state, so it is always today's.
        addition = system.removeprefix(context.state.system).strip()
        texts = (instruction, addition)
        llm_request.config.system_instruction = "\n\n".join(filter(None, texts)) or None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Record an answer of the model."""
        content = llm_response.content
        if llm_response.partial or llm_response.error_code or not (content and content.parts):
            return
        for part in content.parts:
            if part.function_call and not part.function_call.id:
                # As the ADK would name it in a moment; results come under this id.
                part.function_call.id = f"adk-{uuid.uuid4()}"

        usage = llm_response.usage_metadata
        session = self._sessions[_key(callback_context)]
        await asyncio.to_thread(session.on_step, _plain(content), _usage(usage))

    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: Any, error: Exception
    ) -> None:
        """Make room when a request was refused as too long; the ADK raises the error again."""
        session = self._sessions.get(_key(callback_context))
        if session is not None and _OVERFLOW.search(str(error)):
            await asyncio.to_thread(session.on_overflow, str(error))

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> None:
        """Record a result; a tool that runs on has none yet, and its call stays open."""
        if result is None or (tool.is_long_running and not result):
            return
        session = self._sessions[_key(tool_context)]
        await asyncio.to_thread(session.on_tool_result, tool_context.function_call_id, result)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> None:
        """Record a failure as the call's result: a call without one is refused by providers."""
        session = self._sessions[_key(tool_context)]
        hook = session.on_tool_result
        await asyncio.to_thread(
            hook, tool_context.function_call_id, f"{type(error).__name__}: {error}", is_error=True
        )

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Close the turn; one with an open call goes on when its result comes."""
        session = self._sessions.get(_key(invocation_context))
        if session is not None and session.state.in_turn and not session.state.open_units:
            await asyncio.to_thread(session.on_turn_end)

    def _opened(self, key: _Key, llm_request: Any, instruction: str) -> Session:
        user, name = key
        declarations = [_plain(tool) for tool in llm_request.config.tools or ()]
        terms: SessionTerms = {
            "model": llm_request.model or "generic",
            "system": instruction,
            "tools": declarations,
            **self._terms,
        }
        caller = self._memory.principal
        # A memory that is bound to a user stays so, whatever name the app gives.
        principal = replace(caller, user=caller.user or user)
        return self._memory.bind(principal).session(name, **terms)


def _key(context: Any) -> _Key:
    """The user and the session of a callback's context."""
    session = context.session
    return session.user_id, session.id


def _plain(model: Any) -> dict[str, Any]:
    dump: Callable[..., dict[str, Any]] = model.model_dump
    return dump(mode="json", exclude_none=True)


def _instruction(llm_request: Any) -> str:
    instruction = llm_request.config.system_instruction
    return instruction if isinstance(instruction, str) else ""


def _usage(usage: Any) -> SessionUsage | None:
    if usage is None or usage.prompt_token_count is None:
        return None
    return SessionUsage(
        input=usage.prompt_token_count,
        output=usage.candidates_token_count or 0,
        cache_reads=usage.cached_content_token_count or 0,
    )


def _begin_turn(session: Session, message: Mapping[str, Any]) -> None:
    """Record a user's message, and close what an earlier run left open."""
    responses: list[Mapping[str, Any]] = []
    speech: list[Mapping[str, Any]] = []
    for part in message.get("parts", ()):
        response = part.get("function_response")
        responses += [response] if response else []
        speech += [] if response else [part]

    for response in responses:
        session.on_tool_result(str(response.get("id", "")), response.get("response"))
    if not speech:
        return
    for unit in session.state.open_units:
        for call_id in unit.open_calls:
            session.abandon(call_id)
    if session.state.in_turn:
        session.on_turn_end()
    session.on_turn_start({**message, "parts": speech})
