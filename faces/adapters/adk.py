"""Google ADK: an envelope over each request, a memory service, and sessions as a plugin.

    agent = LlmAgent(..., before_model_callback=before_model(memory, "code_generation"))
    runner = Runner(..., memory_service=adk_memory_service(memory))
    app = App(name="desk", root_agent=agent, plugins=[session_plugin(memory, window=128_000)])

The callback compiles for the user's words and rewrites the request: instruction and tools are
replaced, the text of the user's turn becomes the envelope's turn zone, and the last contents before
it and all parts that are no text stay. A rewritten request is rewritten again, never stacked. The
history is ADK's own and is not compiled, so that nothing is said twice.

The memory service stores what was said in a session as passages of its user, each event once. The
user is the one of the runner, never an argument of a model. A memory that is bound to a user serves
that user alone; one that is bound to none serves each user without the roles of its owner.

The plugin records messages, calls and results, and replaces the contents of each request by the
window; the agent's instruction and tools stay. Its session has the name of the ADK's session and
belongs to the ADK's user. If a request is refused as too long, the plugin makes room and raises the
error again. A late result of a closed call is shown in the running turn, behind its call. Requests
with tools also offer `recall_original`.

Written for google-adk 2.13.0; source 001, "ADK integration"; checklist C-198, C-200, C-221 to
C-224.
"""

from __future__ import annotations

import asyncio
import threading
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from itertools import takewhile
from types import new_class
from typing import TYPE_CHECKING, Any, Final, Unpack
from urllib.parse import quote

from ...schema.answers import SearchHit
from ...schema.compile_terms import SECTIONS, SectionName, Stability
from ...schema.errors import (
    Conflict,
    ContextBudgetExhausted,
    Fault,
    Forbidden,
    InvalidInput,
    NotFound,
)
from ...schema.principal import Principal
from ...service.compilation.shown import parse_envelope, turn_parts
from ...service.sessions.decision import SessionUsage
from .adk_state import Record, allowed_tools, correlation, given_of
from .langchain import Records
from .openai import joined_class

if TYPE_CHECKING:
    from ...service.client.memory import Memory
    from ...service.compilation.shown import Envelope, Originals
    from ...service.sessions.session import Session
    from ...service.sessions.terms import SessionTerms

KEEP_CONTENTS: Final = 5
"""Contents of the conversation that stay before the user's turn (C-222)."""


def before_model(
    memory: Memory,
    task: str,
    *,
    keep: int = KEEP_CONTENTS,
    record: Record | None = None,
    media: Originals | bool = True,
    **options: Any,
) -> Callable[..., None]:
    """Return an ADK `before_model_callback` that compiles and rewrites each request.

    `given` goes to `memory.compile`, over what the run's state says; `user_request` and `query`
    are the user's own words unless they are stated there, `model` is the request's. `record` is
    called after each rewrite. Media of the envelope are laid beside its text as `memory.media`
    makes them ready; `media` may bring originals of what is no artifact, and False leaves all out.
    """

    def callback(callback_context: Any, llm_request: Any) -> None:
        words = user_text(llm_request)
        state = getattr(callback_context, "state", None)
        known = {} if state is None else given_of(state)
        request: dict[str, Any] = {"query": words, "user_request": words, **known, **options}
        if llm_request.model and "model" not in request:
            request["model"] = llm_request.model

        envelope = memory.compile(task, **request)
        originals = None if isinstance(media, bool) else media
        ready = None if media is False else memory.media(envelope, originals=originals)
        rewrite(llm_request, envelope, keep=keep, media=ready)
        if state is None:
            return

        limit_tools(llm_request, state)
        if record is not None:
            record(correlation(callback_context, envelope))

    return callback


def limit_tools(llm_request: Any, state: Any) -> None:
    """Leave a request only the functions that the state's step may call, in place."""
    tools: list[Any] = list(llm_request.config.tools or ())
    for tool in tools:
        declarations = getattr(tool, "function_declarations", None)
        if not declarations:
            continue
        names = allowed_tools(state, [function.name for function in declarations])
        tool.function_declarations = [f for f in declarations if f.name in names]

    names = allowed_tools(state, llm_request.tools_dict)
    llm_request.tools_dict = {name: llm_request.tools_dict[name] for name in names}


def user_text(llm_request: Any) -> str:
    """Return what the user said last, without what an earlier rewrite put around it."""
    turn = _last_user(list(llm_request.contents))
    if turn is None:
        return ""

    parts = llm_request.contents[turn].parts or ()
    blocks = _blocks(_text_of(parts))
    if not blocks:
        return "\n".join(part.text for part in parts if part.text)

    for block in blocks:
        if block.section == SectionName.USER_REQUEST.value:
            return str(block.text)
    return ""


def rewrite(
    llm_request: Any,
    envelope: Envelope,
    *,
    keep: int = KEEP_CONTENTS,
    media: Originals | None = None,
) -> None:
    """Rewrite an `LlmRequest` in place; `media` is what is sent beside the text, if anything.

    Raises:
        InvalidInput: `bad_request`, for a negative `keep`; `bad_media` for media that cannot be
            sent as planned. The request is then as it was.
    """
    types: Any = import_module("google.genai.types")  # comes with the caller's ADK
    if keep < 0:
        raise InvalidInput("keep at least 0 contents", code="bad_request")

    adk_request: Mapping[str, Any] = envelope.render("adk")
    turn_media = [types.Part.model_validate(part) for part in turn_parts(envelope.plan, media)]
    config = adk_request["config"]
    stable = [config["system_instruction"], *adk_request["_dynamic_instructions"]]
    llm_request.config.system_instruction = "".join(stable)
    llm_request.config.tools = _tools(llm_request, config.get("tools", []), types)
    answer = config.get("response_json_schema")
    # The agent's own schema stays, and Gemini takes none beside functions.
    if answer and not (llm_request.config.tools or llm_request.config.response_schema):
        llm_request.config.response_mime_type = config["response_mime_type"]
        llm_request.config.response_json_schema = answer
    contents = list(llm_request.contents)
    turn = _last_user(contents)
    before = contents if turn is None else contents[:turn]
    after = [] if turn is None else contents[turn + 1 :]
    before = [content for content in before if not _ours(content)]
    session = envelope.plan.text_of(Stability.SESSION)
    opening = [types.Content(role="user", parts=[types.Part(text=session)])] if session else []
    extras = [] if turn is None else _other_parts(contents[turn].parts or ())
    last = types.Content(role="user", parts=[*extras, *turn_media])
    llm_request.contents = [*opening, *_tail(before, keep), last, *after]


def _tools(llm_request: Any, declarations: list[Any], types: Any) -> list[Any]:
    """Return the envelope's tools, and ADK's own that are no functions (search, code execution).

    A request whose envelope holds no tool keeps its tools: there is nothing to replace them by.
    """
    present = list(llm_request.config.tools or [])
    if not declarations:
        return present

    tools: list[Any] = []
    for tool in present:
        if not getattr(tool, "function_declarations", None):
            tools.append(tool)
    for declaration in declarations:
        tools.append(types.Tool.model_validate(declaration))
    return tools


def _tail(contents: list[Any], keep: int) -> list[Any]:
    """Return the last contents, never parting a function's answer from its call."""
    start = max(0, len(contents) - keep)
    while 0 < start < len(contents) and _answers(contents[start]):
        start -= 1

    return contents[start:]


def _answers(content: Any) -> bool:
    return any(part.function_response is not None for part in content.parts or ())


def _last_user(contents: list[Any]) -> int | None:
    """Return the place of the user's last own turn; a function's answer is none."""
    for place in range(len(contents) - 1, -1, -1):
        content = contents[place]
        if content.role == "user" and not _answers(content) and not _ours(content):
            return place
    return None


def _other_parts(parts: Sequence[Any]) -> list[Any]:
    """Return the user's own parts that are no text; of an earlier rewrite those before its text.

    What stands between the texts of a rewrite are the media of its envelope.
    """
    if _blocks(_text_of(parts)):
        return [*takewhile(lambda part: not part.text, parts)]
    return [part for part in parts if not part.text]


def _text_of(parts: Sequence[Any]) -> str:
    return "".join(part.text or "" for part in parts)


def _ours(content: Any) -> bool:
    """Tell whether a content is the session zone of an earlier rewrite."""
    zones: set[Stability] = set()
    for block in _blocks(_text_of(content.parts or ())):
        section = SECTIONS[SectionName(block.section)]
        zones.add(section.stability)
    return zones == {Stability.SESSION}


def _blocks(text: str) -> tuple[Any, ...]:
    try:
        return parse_envelope(text)
    except (InvalidInput, Fault):
        return ()


_LIMIT: Final = 10
"""Memories of one search."""
_UNKNOWN_SESSION: Final = "-"


def adk_memory_service(memory: Memory) -> Any:
    """Return a memory service of ADK over a memory.

    Raises:
        ModuleNotFoundError: without the extra `[adk]`.
    """
    services: Any = import_module("google.adk.memory.base_memory_service")
    base: Any = services.BaseMemoryService
    return joined_class("TenureMemoryService", UserMemories, base)(memory)


class UserMemories:
    """What `BaseMemoryService` asks for."""

    def __init__(self, memory: Memory) -> None:
        """Take the memory of a user, or of the application."""
        self._memory = memory

    async def add_session_to_memory(self, session: Any) -> None:
        """Keep what was said in a session; what was kept before is left out."""
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep what some events of a session say."""
        memory = self._user_memory(user_id)
        address = (app_name, session_id or _UNKNOWN_SESSION)
        await asyncio.to_thread(_keep_events, memory, address, events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[Any],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Keep texts that the application states itself."""
        memory = self._user_memory(user_id)
        for entry in memories:
            text = _text(entry.content)
            if text:
                origin = _origin("agent", app_name, _UNKNOWN_SESSION)
                await asyncio.to_thread(
                    memory.observe, text, None, source_origin=origin, at=entry.timestamp
                )

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> Any:
        """Return what the memory knows for a query: facts, and texts of the same application."""
        services: Any = import_module("google.adk.memory.base_memory_service")
        entries: Any = import_module("google.adk.memory.memory_entry")
        memory = self._user_memory(user_id)
        hits = await asyncio.to_thread(_hits, memory, app_name, query)
        memories = [entries.MemoryEntry.model_validate(_entry(hit)) for hit in hits]
        return services.SearchMemoryResponse(memories=memories)

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Retract a memory by the id that a search told; the history keeps it."""
        if memory_id is not None:
            memory = self._user_memory(user_id)
            await asyncio.to_thread(
                memory.write,
                op="retract",
                object_id=memory_id,
                source_origin=_origin("chat", app_name, _UNKNOWN_SESSION),
            )

    def _user_memory(self, user_id: str) -> Memory:
        """The memory as one user has it.

        Raises:
            Forbidden: `scope_not_yours`, where the memory is bound to another user.
        """
        principal = self._memory.principal
        if principal.user is None:
            return self._memory.bind(Principal(tenant=principal.tenant, user=user_id))
        if principal.user != user_id:
            raise Forbidden(
                f"this memory belongs to {principal.user!r}; hand the service one that is bound to "
                "no user, or to the user whose sessions it keeps",
                code="scope_not_yours",
            )
        return self._memory


def _keep_events(memory: Memory, address: tuple[str, str], events: Iterable[Any]) -> None:
    """Observe the events that were not observed before, in their order."""
    records = Records(memory, "adk")
    record = records.get(address)
    kept_ids: list[str] = [] if record is None else list(record.value)
    for event in events:
        text = _text(event.content)
        if not text or event.id in kept_ids:
            continue

        is_user = event.author == "user"
        origin = _origin("chat" if is_user else "agent", *address)
        message = {"role": "user" if is_user else "assistant", "content": text}
        if is_user:
            memory.observe([message], source_origin=origin, at=_time(event.timestamp))
        else:
            memory.observe(text, None, source_origin=origin, at=_time(event.timestamp))
        kept_ids.append(event.id)
        records.put({address: kept_ids})


def _hits(memory: Memory, app_name: str, query: str) -> list[SearchHit]:
    own_root = f"{quote(app_name, safe='')}/"
    hits: list[SearchHit] = []
    for hit in memory.as_of().search(query, 5 * _LIMIT).hits:
        root = hit.object.source_origin.partition("://")[2]
        if hit.object.slot == "record" or (
            hit.object.slot is None and not root.startswith(own_root)
        ):
            continue
        hits.append(hit)
    # A text says itself what was read from it: its claims would give the sentence twice.
    texts = {hit.object.object_id for hit in hits}
    return [hit for hit in hits if texts.isdisjoint(hit.object.derived_from)][:_LIMIT]


def _entry(hit: SearchHit) -> dict[str, Any]:
    source = hit.object
    is_user = source.source_origin.startswith("chat://")
    since = source.valid_from or source.tx_start
    return {
        "id": source.object_id,
        "content": {
            "role": "user" if is_user else "model",
            "parts": [{"text": source.content}],
        },
        "author": "user" if is_user else source.source_origin.partition("://")[0],
        "timestamp": since.isoformat(),
        "custom_metadata": {
            "source": source.source_origin,
            "authority_level": int(source.authority_level),
        },
    }


def _origin(scheme: str, app_name: str, session_id: str) -> str:
    return f"{scheme}://{quote(app_name, safe='')}/{quote(session_id, safe='')}"


def _text(content: Any) -> str:
    parts = getattr(content, "parts", None) or ()
    texts: list[str] = []
    for part in parts:
        if part.text and not part.thought:
            texts.append(part.text)
    return "\n".join(texts)


def _time(timestamp: float) -> datetime:
    return datetime.fromtimestamp(timestamp, UTC)


_Key = tuple[str, str]
"""A user and a session, as the ADK names them."""
_LATE_RESULTS: Final = threading.Lock()
"""The ADK runs tools beside each other: of two late results one call stands after the other."""
_CONFIRMATION: Final = "adk_request_confirmation"
"""The call by which the ADK itself asks the user; no model makes it, so no session has it."""
_LATE: Final = "[A call from earlier has its result now.]"
_ASSUMED_WINDOW: Final = 32_768
"""Of a model that no table knows: an agent must not stop for it, and few models have less."""
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
        self._recall = self._recall_tool()
        self._waiting: dict[_Key, Mapping[str, Any]] = {}
        """User messages of sessions that begin with their first request, which has their terms."""

    def _recall_tool(self) -> Any:
        """The tool that reads originals; a function of its own, since the ADK copies requests."""

        async def recall_original(request: str, tool_context: Any) -> str:
            """Read in full what left this conversation or is shortened in it.

            Args:
                request: An address that is shown (window://57), turn:12, a question, or a cursor.
                tool_context: The ADK's own.
            """
            session = await self._running(_key(tool_context))
            try:
                page = await asyncio.to_thread(session.rehydrate, request)
            except NotFound as error:
                return str(error)
            return page.text

        return import_module("google.adk.tools.function_tool").FunctionTool(recall_original)

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
        # Requests show addresses, so the model needs the tool that reads them.
        if llm_request.tools_dict:
            llm_request.append_tools([self._recall])
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
        if session is None:
            return
        try:
            await asyncio.to_thread(session.on_overflow, str(error))
        except (InvalidInput, ContextBudgetExhausted) as refusal:
            # Another kind of error, or nothing may leave: the ADK raises the model's own error.
            if refusal.code not in ("not_an_overflow", "required_over_budget"):
                raise

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
        known_terms: SessionTerms = {"resume": True, **terms, **self._terms}
        memory = self._memory.bind(principal)
        try:
            return memory.session(name, **known_terms)
        except InvalidInput as error:
            if error.code != "unknown_window":
                raise
        warnings.warn(
            f"the window of {known_terms.get('model')!r} is not known: {_ASSUMED_WINDOW:,} tokens "
            "are assumed; state session_plugin(memory, window=…)",
            stacklevel=2,
        )
        known_terms["window"] = _ASSUMED_WINDOW
        return memory.session(name, **known_terms)


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
        _ready_for_a_request(session)
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
