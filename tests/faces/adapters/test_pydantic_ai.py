"""A memory as a capability: each request carries its compiled context, the history does not."""

from collections.abc import Iterator
from typing import Any

import pytest

from tenure import Memory, Principal, connect

pytest.importorskip("pydantic_ai", reason="runs in an environment of its own")

from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from tenure.faces.adapters.openai import pydantic_ai_memory

QUESTION = "Where is Sam Rivera's office?"


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.write(subject="Sam Rivera", slot="office", value="Chicago")
        yield opened.bind(Principal(tenant="default", user="ann"))


class Recorder:
    """A model that keeps what it was asked, and answers as it was told to."""

    def __init__(self, *answers: ModelResponse) -> None:
        self.answers = [*answers, ModelResponse(parts=[TextPart("done")])]
        self.requests: list[tuple[list[Any], AgentInfo]] = []

    def __call__(self, messages: list[Any], info: AgentInfo) -> ModelResponse:
        self.requests.append((messages, info))
        return self.answers[len(self.requests) - 1]


def prompt_of(messages: list[Any]) -> Any:
    (content,) = [p.content for m in messages for p in m.parts if p.part_kind == "user-prompt"]
    return content


def test_a_request_carries_the_compiled_context_and_the_history_does_not(memory: Memory) -> None:
    model = Recorder()
    agent = Agent(FunctionModel(model), capabilities=[pydantic_ai_memory(memory)])
    result = agent.run_sync(QUESTION)
    ((messages, info),) = model.requests
    assert "Sam Rivera | office = Chicago" in prompt_of(messages)
    assert QUESTION in prompt_of(messages)
    assert "quoted data" in str(info.instructions)
    assert prompt_of(result.all_messages()) == QUESTION


def test_pictures_stay_beside_the_compiled_text(memory: Memory) -> None:
    model = Recorder()
    agent = Agent(FunctionModel(model), capabilities=[pydantic_ai_memory(memory)])
    picture = BinaryContent(data=b"\x89PNG", media_type="image/png")
    agent.run_sync([QUESTION, picture])
    text, media = prompt_of(model.requests[0][0])
    assert "Chicago" in text
    assert media == picture


def test_the_model_recalls_and_remembers_as_the_caller_alone(memory: Memory) -> None:
    model = Recorder(
        ModelResponse(
            parts=[ToolCallPart("remember", {"text": "The badge printer is on floor two"})]
        ),
        ModelResponse(parts=[ToolCallPart("recall", {"query": "badge printer"})]),
    )
    agent = Agent(FunctionModel(model), capabilities=[pydantic_ai_memory(memory)])
    result = agent.run_sync("Remember where the badge printer is")
    returns = [
        part.content
        for message in result.all_messages()
        for part in message.parts
        if part.part_kind == "tool-return"
    ]
    assert returns == ["accepted", ["The badge printer is on floor two"]]
    bob = memory.bind(Principal(tenant="default", user="bob"))
    assert bob.as_of().search("badge printer").hits == ()


def test_options_reach_the_compile(memory: Memory) -> None:
    model = Recorder()
    capability = pydantic_ai_memory(memory, "code_generation", goal="rebook the flight")
    Agent(FunctionModel(model), capabilities=[capability]).run_sync(QUESTION)
    assert "rebook the flight" in prompt_of(model.requests[0][0])
