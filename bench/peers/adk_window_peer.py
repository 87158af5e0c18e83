"""ADK's events compaction in a real `App`: one invocation a user message, tools that answer so."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncGenerator, Sequence
from typing import Any

warnings.simplefilter("ignore")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import EventsCompactionConfig
from google.adk.apps.base_events_summarizer import BaseEventsSummarizer
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions, EventCompaction
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.genai import types
from window_channel import Channel, Message, call_of

KEPT_EVENTS = 20
"""As many as LangChain keeps messages."""
SUMMARY_HEAD = "Summary:\n"

channel = Channel()


def part_texts(part: types.Part) -> list[tuple[str, str]]:
    """Who said what in a part; nobody is named for words."""
    if part.function_call:
        arguments = json.dumps(part.function_call.args)
        return [("call", f"{part.function_call.name} {arguments}")]
    if part.function_response:
        return [("tool", str((part.function_response.response or {}).get("result", "")))]
    return [("", part.text)] if part.text else []


class ScriptedSummariser(BaseEventsSummarizer):
    """Hands what was said to the bench; an earlier summary goes on as such."""

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """The event that stands for others from now on."""
        sayings: list[tuple[str, str]] = []
        for event in events:
            speaker = "user" if event.author == "user" else "assistant"
            for part in (event.content.parts if event.content else None) or ():
                for kind, text in part_texts(part):
                    is_summary = text.startswith(SUMMARY_HEAD)
                    sayings.append(("summary" if is_summary else kind or speaker, text))

        text = SUMMARY_HEAD + channel.summary(sayings)
        compaction = EventCompaction(
            start_timestamp=events[0].timestamp,
            end_timestamp=events[-1].timestamp,
            compacted_content=types.Content(role="model", parts=[types.Part(text=text)]),
        )
        actions = EventActions(compaction=compaction)
        return Event(author="user", actions=actions, invocation_id=Event.new_id())


class Script:
    """The recorded messages in their order."""

    def __init__(self, chain: Sequence[Message]) -> None:
        self.chain = chain
        self.place = 0

    def next_of(self, role: str) -> Message | None:
        """The next message where it is of a role, None at the end of a turn."""
        if self.place >= len(self.chain) or self.chain[self.place]["role"] != role:
            return None
        self.place += 1
        return self.chain[self.place - 1]


class ScriptedModel(BaseLlm):
    """Answers as the record does, and reports the tokens of what it was sent."""

    script: Any

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Tell the request, and give the recorded answer."""
        texts: list[str] = []
        for content in llm_request.contents:
            for part in content.parts or ():
                texts += [text for _, text in part_texts(part)]
        opens_turn = self.script.chain[self.script.place - 1]["role"] == "user"
        contents = [
            content.model_dump(mode="json", exclude_none=True) for content in llm_request.contents
        ]
        tokens = channel.sent(texts, contents, opens_turn=opens_turn)

        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=tokens)
        content = types.Content(role="model", parts=self._parts())
        yield LlmResponse(content=content, usage_metadata=usage)

    def _parts(self) -> list[types.Part]:
        message = self.script.next_of("assistant")
        if message is None:
            return [types.Part(text="Goodbye.")]
        call = call_of(message)
        parts = [types.Part(text=message["content"])] if message["content"] else []
        if call:
            _, name, arguments = call
            function = types.FunctionCall(name=name, args=json.loads(arguments))
            parts.append(types.Part(function_call=function))
        return parts


class RecordedTool(BaseTool):
    """Gives the recorded result."""

    def __init__(self, name: str, script: Script) -> None:
        super().__init__(name=name, description=name)
        self.script = script

    def _get_declaration(self) -> types.FunctionDeclaration:
        return types.FunctionDeclaration(name=self.name, description=self.name)

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        """The next recorded result, whatever is asked."""
        message = self.script.next_of("tool")
        return {"result": message["content"] if message else ""}


def replay(chain: list[Message], trigger: int) -> None:
    """Send the chain through an app, and compact where ADK says so."""
    asyncio.run(conversation(chain, trigger))


async def conversation(chain: list[Message], trigger: int) -> None:
    """One session of one user, an invocation a user message."""
    script = Script(chain)
    names = sorted({call[1] for message in chain if (call := call_of(message))})
    tools: list[Any] = [RecordedTool(name, script) for name in names]
    agent = LlmAgent(name="desk", model=ScriptedModel(model="scripted", script=script), tools=tools)
    config = EventsCompactionConfig(
        summarizer=ScriptedSummariser(), token_threshold=trigger, event_retention_size=KEPT_EVENTS
    )
    app = App(name="airline", root_agent=agent, events_compaction_config=config)
    runner = InMemoryRunner(app=app)
    session = await runner.session_service.create_session(app_name="airline", user_id="u")

    while (message := script.next_of("user")) is not None:
        content = types.Content(role="user", parts=[types.Part(text=message["content"])])
        run = runner.run_async(user_id="u", session_id=session.id, new_message=content)
        async for _ in run:
            pass


channel.serve(replay)
