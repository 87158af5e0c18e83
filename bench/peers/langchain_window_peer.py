"""LangChain's `SummarizationMiddleware`, run before each call of the model, as an agent runs it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langgraph.graph.message import add_messages
from window_channel import Channel, Message, call_of

KEPT_MESSAGES = 20
"""The middleware's own default."""

channel = Channel()


def native(message: Message, number: int) -> AnyMessage:
    """A message of the chain as LangChain's."""
    text = message["content"] or ""
    if message["role"] == "user":
        return HumanMessage(text, id=f"m{number}")
    if message["role"] == "tool":
        return ToolMessage(text, tool_call_id=message["tool_call_id"], id=f"m{number}")
    call = call_of(message)
    calls = []
    if call:
        call_id, name, arguments = call
        calls = [{"id": call_id, "name": name, "args": json.loads(arguments), "type": "tool_call"}]
    return AIMessage(text, tool_calls=calls, id=f"m{number}")


def sayings(message: AnyMessage) -> list[tuple[str, str]]:
    """A message as a summariser reads it."""
    if message.additional_kwargs.get("lc_source") == "summarization":
        return [("summary", str(message.content))]
    speaker = {"human": "user", "ai": "assistant", "tool": "tool"}[message.type]
    calls = [("call", text) for text in call_texts(message)]
    return [(speaker, str(message.content)), *calls]


def call_texts(message: AnyMessage) -> list[str]:
    """The calls of a message, as they are sent."""
    if not isinstance(message, AIMessage):
        return []
    return [f"{call['name']} {json.dumps(call['args'])}" for call in message.tool_calls]


def summary(messages: Sequence[AnyMessage]) -> str:
    """What the middleware puts in the place of messages."""
    return channel.summary([saying for message in messages for saying in sayings(message)])


def replay(chain: list[Message], trigger: int) -> None:
    """Send the chain, message by message, and compact where the middleware says so."""
    middleware: Any = SummarizationMiddleware(
        FakeListChatModel(responses=[""]),
        trigger=("tokens", trigger),
        keep=("messages", KEPT_MESSAGES),
        trim_tokens_to_summarize=None,
        summarizer=summary,
    )
    messages: list[AnyMessage] = []
    for number, message in enumerate(chain):
        if message["role"] == "assistant":
            after_user = chain[number - 1]["role"] == "user"
            messages = requested(middleware, messages, opens_turn=after_user)
        messages = add_messages(messages, [native(message, number)])
    requested(middleware, messages, opens_turn=False)


def requested(middleware: Any, messages: list[AnyMessage], *, opens_turn: bool) -> list[AnyMessage]:
    """Compact where it is due, and tell the request of a model call."""
    update = middleware.before_model({"messages": messages}, None)
    if update:
        messages = add_messages(messages, update["messages"])
    texts: list[str] = []
    for message in messages:
        texts += [text for text in (str(message.content), *call_texts(message)) if text]
    channel.sent(texts, convert_to_openai_messages(messages), opens_turn=opens_turn)
    return messages


channel.serve(replay)
