"""Google ADK: keep the context window of an app's conversations in sessions of tenure.

    App(name="desk", root_agent=agent, plugins=[session_plugin(memory, window=128_000)])

The plugin records each user message, each answer of the model with its calls, and each result,
and lays what stands in the window over every request: contents are replaced, the agent's own
instruction and tools stay, and behind the instruction stands what the store adds. The session of
tenure has the name of the ADK's session and belongs to the ADK's user. A refusal of a request as
too long makes room and is raised again, so that the next request fits.

A tool that runs on may answer for the time being and once more later, and a call may wait for a
person while the conversation goes on: a result that comes to a call that is closed by then stands
in the running turn, behind its call.

The ADK's own events stay as they are: its history is no longer what the model reads.
Settled with google-adk 2.13.0.
"""

from __future__ import annotations

import asyncio
import re
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from types import new_class
from typing import TYPE_CHECKING, Any, Final, Unpack

from ...schema.errors import Conflict, NotFound
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
_LATE_RESULTS: Final = threading.Lock()
"""The ADK runs tools beside each other: of two late results one call stands after the other."""
_CONFIRMATION: Final = "adk_request_confirmation"
"""The call by which the ADK itself asks the user; no model makes it, so no session has it."""
_LATE: Final = "[A call from earlier has its result now.]"
_AGREED: Final = {
    True: "[The user agreed to the call that waited.]",
    False: "[The user did not agree to the call that waited.]",
}


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
        session = await self._running(key, _terms_of(llm_request, instruction))
        await asyncio.to_thread(_ready_for_a_request, session)
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
        session = await self._running(_key(tool_context))
        await asyncio.to_thread(_take_result, session, tool_context.function_call_id, result)

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> None:
        """Record a failure as the call's result: a call without one is refused by providers."""
        session = await self._running(_key(tool_context))
        text = f"{type(error).__name__}: {error}"
        await asyncio.to_thread(
            _take_result, session, tool_context.function_call_id, text, is_error=True
        )

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Close the turn; one with an open call goes on when its result comes."""
        session = self._sessions.get(_key(invocation_context))
        if session is not None and session.state.in_turn and not session.state.open_units:
            await asyncio.to_thread(session.on_turn_end)

    async def _running(self, key: _Key, terms: SessionTerms | None = None) -> Session:
        """The session, with the user's message that waited for it.

        Without terms it is one that another process began: a call that was confirmed runs before
        there is a request.
        """
        session = self._sessions.get(key)
        if session is None:
            session = await asyncio.to_thread(self._opened, key, terms or {})
            self._sessions[key] = session
        message = self._waiting.pop(key, None)
        if message is not None:
            await asyncio.to_thread(_begin_turn, session, message)
        return session

    def _opened(self, key: _Key, terms: SessionTerms) -> Session:
        user, name = key
        caller = self._memory.principal
        # A memory that is bound to a user stays so, whatever name the app gives.
        principal = replace(caller, user=caller.user or user)
        # The app's own terms win over those that the first request states.
        known_terms: SessionTerms = {**terms, **self._terms}
        return self._memory.bind(principal).session(name, **known_terms)


def _terms_of(llm_request: Any, instruction: str) -> SessionTerms:
    """What a request says of its session."""
    declarations = [_plain(tool) for tool in llm_request.config.tools or ()]
    return {
        "model": llm_request.model or "generic",
        "system": instruction,
        "tools": declarations,
    }


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
        _take_response(session, response)
    if speech:
        _close_turn(session)
        session.on_turn_start({**message, "parts": speech})


def _take_response(session: Session, response: Mapping[str, Any]) -> None:
    """Record what a user's message answers: a call of the model, or a question of the ADK."""
    content: Mapping[str, Any] = response.get("response") or {}
    if response.get("name") == _CONFIRMATION:
        _close_turn(session)
        # Our words alone: a hint or a payload may hold anything.
        session.on_turn_start(_AGREED[content.get("confirmed") is True])
        return

    parts = response.get("parts")
    try:
        _take_result(session, str(response.get("id", "")), [content, *parts] if parts else content)
    except NotFound as error:
        # Another question of the ADK's own, such as for a password, which no log is to hold.
        if error.code != "unknown_call":
            raise


def _take_result(session: Session, call_id: str, content: Any, *, is_error: bool = False) -> None:
    """Record a result, also of a call that was given up or answered for the time being."""
    try:
        session.on_tool_result(call_id, content, is_error=is_error)
    except (Conflict, NotFound) as error:
        if error.code not in ("unknown_call", "already_answered"):
            raise
        _take_late_result(session, call_id, content, is_error=is_error)


def _take_late_result(session: Session, call_id: str, content: Any, *, is_error: bool) -> None:
    """Record a result behind its call, said once more in a turn that waits for nothing."""
    with _LATE_RESULTS:
        _give_up_open_calls(session)
        if not session.state.in_turn:
            session.on_turn_start(_LATE)
        session.late_result(call_id, content, is_error=is_error)


def _ready_for_a_request(session: Session) -> None:
    """See to it that a turn runs and no call waits: so says every provider of a request."""
    _give_up_open_calls(session)
    if not session.state.in_turn:
        session.on_turn_start(_LATE)


def _close_turn(session: Session) -> None:
    _give_up_open_calls(session)
    if session.state.in_turn:
        session.on_turn_end()


def _give_up_open_calls(session: Session) -> None:
    """Answer open calls for the time being; what comes for them later is a late result."""
    for unit in session.state.open_units:
        for call_id in unit.open_calls:
            session.abandon(call_id)
