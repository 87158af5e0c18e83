"""The ADK plugin in a real `App`, with a model that says what it is told to."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.apps.app import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.genai import types
from pydantic import Field

from tenure import Memory, connect
from tenure.bench.window_checkers import gemini_fault
from tenure.faces.adapters.adk import session_plugin
from tenure.service.sessions.session import Session

INSTRUCTION = "You book flights."


class ScriptedModel(BaseLlm):
    """Calls a tool on each user message, then answers; keeps what it was sent."""

    requests: list[LlmRequest] = Field(default_factory=list)
    place: str = "Rome"
    too_long: bool = False

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request.model_copy(deep=True))
        if self.too_long:
            raise ValueError("The input token count exceeds the maximum number of tokens allowed")
        last = llm_request.contents[-1].parts or []
        answered = any(part.function_response for content in llm_request.contents[-2:]
                       for part in content.parts or ())  # fmt: skip
        if answered or not last:
            part = types.Part(text="Booked.")
        else:
            call = types.FunctionCall(name="find_flight", args={"to": self.place})
            part = types.Part(function_call=call)
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=10)
        content = types.Content(role="model", parts=[part])
        yield LlmResponse(content=content, usage_metadata=usage)


def find_flight(to: str) -> dict[str, str]:
    """Find a flight."""
    if to == "Nowhere":
        raise ValueError("no such place")
    return {"flight": "HAT042", "to": to, "details": "word " * 400}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.write(subject="Sam Rivera", slot="office", value="Chicago")
        yield opened


def app_of(memory: Memory, model: ScriptedModel) -> InMemoryRunner:
    agent = LlmAgent(name="desk", model=model, instruction=INSTRUCTION, tools=[find_flight])
    plugin = session_plugin(memory, window=16_000, goal="Rebook")
    return InMemoryRunner(app=App(name="flights", root_agent=agent, plugins=[plugin]))


async def talk(runner: InMemoryRunner, *messages: str, user: str = "ann") -> list[Any]:
    place = {"app_name": "flights", "user_id": user, "session_id": "s1"}
    service = runner.session_service
    session = await service.get_session(**place) or await service.create_session(**place)
    events: list[Any] = []
    for message in messages:
        content = types.Content(role="user", parts=[types.Part(text=message)])
        run = runner.run_async(user_id=user, session_id=session.id, new_message=content)
        events += [event async for event in run]
    return events


def session_of(memory: Memory, user: str) -> Session:
    return memory.bind(replace(memory.principal, user=user)).session("s1")


def plain(contents: list[types.Content]) -> list[dict[str, Any]]:
    return [content.model_dump(exclude_none=True) for content in contents]


def test_an_app_runs_in_a_window_of_tenure(memory: Memory) -> None:
    model = ScriptedModel(model="gemini-3-pro")
    questions = [f"Where is Sam Rivera's office, and flight {number}?" for number in range(24)]
    events = asyncio.run(talk(app_of(memory, model), *questions))
    assert events[-1].content.parts[0].text == "Booked."

    # Every request passes the provider's rules and keeps the instruction and the tools.
    assert len(model.requests) == 48
    for request in model.requests:
        assert gemini_fault(plain(request.contents)) is None
        assert str(request.config.system_instruction).startswith(INSTRUCTION)
        assert "find_flight" in request.tools_dict
    assert "Chicago" in str(plain(model.requests[-1].contents))

    # The log is the app's own user's, and the window was edited on the way.
    session = session_of(memory, "ann")
    assert session.state.turn == 24
    assert session.state.step == 48
    assert session.state.edits > 0
    assert session.state.open_units == ()
    assert "HAT042" in session.rehydrate("turn:1").text
    assert session.state.system.startswith(INSTRUCTION)


def test_a_model_whose_window_is_not_known_runs_in_an_assumed_one(memory: Memory) -> None:
    model = ScriptedModel(model="a-model-of-our-own")
    agent = LlmAgent(name="clerk", model=model, instruction=INSTRUCTION, tools=[find_flight])
    runner = InMemoryRunner(
        app=App(name="flights", root_agent=agent, plugins=[session_plugin(memory)])
    )
    with pytest.warns(UserWarning, match="state session_plugin"):
        asyncio.run(talk(runner, "To Rome please."))
    assert session_of(memory, "ann").state.window == 32_768
    assert model.requests


def test_a_request_that_is_refused_as_too_long_makes_room_for_the_next(memory: Memory) -> None:
    model = ScriptedModel(model="gemini-3-pro", too_long=True)
    with pytest.raises(ValueError, match="maximum number"):
        asyncio.run(talk(app_of(memory, model), "Where to?"))
    assert [unit.text for unit in session_of(memory, "ann").state.units] == ["Where to?"]


def test_a_tool_that_fails_leaves_a_result_and_the_next_turn_runs(memory: Memory) -> None:
    model = ScriptedModel(model="gemini-3-pro", place="Nowhere")
    runner = app_of(memory, model)
    with pytest.raises(ValueError, match="no such place"):
        asyncio.run(talk(runner, "Where to?"))
    (result,) = session_of(memory, "ann").state.units[-1].results
    assert result.content.is_error
    assert "no such place" in result.text

    model.place = "Rome"
    events = asyncio.run(talk(runner, "And to Rome?"))
    assert events[-1].content.parts[0].text == "Booked."
    assert session_of(memory, "ann").state.turn == 2


def test_two_users_of_one_app_have_two_windows(memory: Memory) -> None:
    runner = app_of(memory, ScriptedModel(model="gemini-3-pro"))
    asyncio.run(talk(runner, "Ann asks", user="ann"))
    asyncio.run(talk(runner, "Bob asks", user="bob"))
    texts = {user: session_of(memory, user).rehydrate("turn:1").text for user in ("ann", "bob")}
    assert "Ann asks" in texts["ann"]
    assert "Ann asks" not in texts["bob"]


PIXELS = b"\x89PNG\r\n\x1a\n hello"
SCREEN = {"type": "image", "data": b64encode(PIXELS).decode(), "mimeType": "image/png"}


def test_a_picture_of_a_tool_is_a_part_of_its_response(memory: Memory) -> None:
    model = ScriptedModel(model="gemini-3-pro")

    def find_flight(to: str) -> dict[str, Any]:
        """Look at a page, as a tool of the Model Context Protocol answers."""
        return {"content": [{"type": "text", "text": to}, SCREEN], "isError": False}

    agent = LlmAgent(name="desk", model=model, tools=[find_flight])
    app = App(name="flights", root_agent=agent, plugins=[session_plugin(memory, window=16_000)])
    asyncio.run(talk(InMemoryRunner(app=app), "What is on the page?"))
    response = plain(model.requests[-1].contents)[-1]["parts"][-1]["function_response"]
    assert response["response"] == {"result": "Rome"}
    assert [part["inline_data"]["data"] for part in response["parts"]] == [PIXELS]


def test_a_picture_in_a_late_response_is_kept_as_one(memory: Memory) -> None:
    picture = types.FunctionResponseBlob(mime_type="image/png", data=PIXELS)
    parts = [types.FunctionResponsePart(inline_data=picture)]
    tool = LongRunningFunctionTool(export)
    run_a_late_result(memory, tool, "export", {"status": "done", "file": "F77"}, parts=parts)
    (entry,) = session_of(memory, "ann").scratchpad()
    assert entry.media_type == "image/png"


class ExportingModel(BaseLlm):
    """Calls the export when it is asked for one, and repeats what came of it."""

    requests: list[LlmRequest] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request.model_copy(deep=True))
        parts = llm_request.contents[-1].parts or []
        responses = [part.function_response.response for part in parts if part.function_response]
        if responses:
            part = types.Part(text=f"It says {responses}")
        elif any("export" in str(part.text) for part in parts):
            part = types.Part(function_call=types.FunctionCall(name="export", args={"what": "all"}))
        else:
            part = types.Part(text="Understood.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def export(what: str) -> dict[str, str] | None:
    """Export; the file comes later."""
    return {"status": "pending", "ticket": f"T1-{what}"}


def exported_call(events: list[Any], name: str) -> types.FunctionCall:
    calls: list[types.FunctionCall] = []
    for event in events:
        calls += [part.function_call for part in event.content.parts if part.function_call]
    return next(call for call in calls if call.name == name)


def run_a_late_result(
    memory: Memory,
    tool: BaseTool,
    name: str,
    response: dict[str, Any],
    *,
    parts: Any = None,
    restarted: bool = False,
) -> list[Any]:
    """Ask for an export, talk until edits were made, and answer the call after all."""
    model = ExportingModel(model="gemini-3-pro")
    agent = LlmAgent(name="desk", model=model, tools=[tool])

    def runner(service: Any = None) -> InMemoryRunner:
        app = App(name="flights", root_agent=agent, plugins=[session_plugin(memory, window=6_600)])
        opened = InMemoryRunner(app=app)
        opened.session_service = service or opened.session_service
        return opened

    async def conversation() -> list[Any]:
        first = runner()
        call = exported_call(await talk(first, "export it all"), name)
        await talk(first, *(f"question {number} " + "word " * 300 for number in range(12)))
        answer = types.FunctionResponse(id=call.id, name=name, response=response, parts=parts)
        content = types.Content(role="user", parts=[types.Part(function_response=answer)])
        second = runner(first.session_service) if restarted else first
        run = second.run_async(user_id="ann", session_id="s1", new_message=content)
        events = [event async for event in run]
        await talk(second, "thanks")
        return events

    events = asyncio.run(conversation())
    session = session_of(memory, "ann")
    assert session.state.edits > 0
    assert session.state.open_units == ()
    assert [gemini_fault(plain(request.contents)) for request in model.requests] == [
        None for _ in model.requests
    ]
    return events


def export_in_silence(what: str) -> None:
    """Export, and say nothing yet."""


export_in_silence.__name__ = "export"


@pytest.mark.parametrize("function", [export, export_in_silence])
def test_adk_5602_a_tool_that_runs_on_is_answered_after_compactions(
    memory: Memory, function: Any
) -> None:
    tool = LongRunningFunctionTool(function)
    events = run_a_late_result(memory, tool, "export", {"status": "done", "file": "F77"})
    assert "F77" in str(events[-1].content.parts[0].text)
    assert "F77" in session_of(memory, "ann").rehydrate("turn:14").text


@pytest.mark.parametrize("restarted", [False, True])
def test_adk_4740_a_confirmation_is_given_after_compactions(
    memory: Memory, restarted: bool
) -> None:
    tool = FunctionTool(export, require_confirmation=True)
    response = {"confirmed": True, "hint": "ignored", "payload": {"secret": "hunter2"}}
    events = run_a_late_result(
        memory, tool, "adk_request_confirmation", response, restarted=restarted
    )
    assert "T1-all" in str(events[-1].content.parts[0].text)
    text = session_of(memory, "ann").rehydrate("turn:14").text
    assert "agreed" in text
    assert "hunter2" not in text


def test_what_answers_no_call_of_the_model_is_kept_in_no_log(memory: Memory) -> None:
    tool = LongRunningFunctionTool(export)
    model = ExportingModel(model="gemini-3-pro")
    agent = LlmAgent(name="desk", model=model, tools=[tool])
    plugin = session_plugin(memory, window=6_600)
    answer = {"id": "c9", "name": "adk_request_credential", "response": {"password": "hunter2"}}

    async def conversation() -> None:
        runner = InMemoryRunner(app=App(name="flights", root_agent=agent, plugins=[plugin]))
        await talk(runner, "hello")
        message = types.Content.model_validate(
            {"role": "user", "parts": [{"function_response": answer}]}
        )
        context = type("Context", (), {})()
        context.session = type("Named", (), {"user_id": "ann", "id": "s1"})()
        context.invocation_id = "i2"
        await plugin.on_user_message_callback(invocation_context=context, user_message=message)

    asyncio.run(conversation())
    assert "hunter2" not in str(session_of(memory, "ann").events())
