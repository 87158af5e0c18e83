"""pydantic-ai: a memory as a capability of an agent.

    agent = Agent("openai:gpt-5", capabilities=[pydantic_ai_memory(memory)])

Before each request the context is compiled for what the user said last: its stable part becomes an
instruction, its turn takes the place of the user's text in this request alone, and the history of
the run stays as it was. With two tools, `recall` and `remember`, the model asks for more and keeps
what it learns; whose memory that is comes from the memory handed in, never from a call.
pydantic-ai 2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from .joining import joined_class

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope
    from ..client.memory import Memory

_HITS: Final = 10


def pydantic_ai_memory(memory: Memory, task: str = "assistant", **options: Any) -> Any:
    """Return a capability that compiles the context of each request from a memory.

    `task` is a task type, `options` are those of `memory.compile`.

    Raises:
        ModuleNotFoundError: without the extra `[pydantic-ai]`.
    """
    capabilities: Any = import_module("pydantic_ai.capabilities")
    base: Any = capabilities.AbstractCapability
    capability = joined_class("TenureMemory", ContextCapability, base)()
    capability.memory = memory
    capability.compile_fields = {"task": task, **options}
    return capability


class ContextCapability:
    """What the capability does; the framework's base class answers everything else."""

    memory: Memory
    compile_fields: Mapping[str, Any]

    def get_toolset(self) -> Any:
        """The tools `recall` and `remember`."""
        toolsets: Any = import_module("pydantic_ai.toolsets")
        memory = self.memory

        def recall(query: str) -> list[str]:
            """Search the memory for what is true now."""
            return [hit.object.content for hit in memory.as_of().search(query, _HITS).hits]

        def remember(text: str) -> str:
            """Keep a statement, verbatim."""
            receipts = memory.observe(text, None, source_origin="agent://pydantic-ai")
            return receipts[0].outcome.value

        return toolsets.FunctionToolset([recall, remember])

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        """Lay the compiled context over one request; nothing of it enters the history."""
        place = _user_turn(request_context.messages)
        if place is None:
            return request_context

        words = _words(request_context.messages[place])
        fields: dict[str, Any] = {"query": words, "user_request": words, **self.compile_fields}
        envelope = await asyncio.to_thread(lambda: self.memory.compile(**fields))
        system, turn = _zone_texts(envelope)

        messages = [*request_context.messages]
        messages[place] = _with_words(messages[place], turn)
        parameters = request_context.model_request_parameters
        part: Any = import_module("pydantic_ai.messages").InstructionPart(system, dynamic=True)
        instructions = [*(parameters.instruction_parts or ()), part]
        return replace(
            request_context,
            messages=messages,
            model_request_parameters=replace(parameters, instruction_parts=instructions),
        )


def _user_turn(messages: Any) -> int | None:
    """The place of the last message in which the user said something."""
    for place in range(len(messages) - 1, -1, -1):
        if _words(messages[place]):
            return place
    return None


def _words(message: Any) -> str:
    texts: list[str] = []
    for part in message.parts:
        if part.part_kind == "user-prompt":
            contents = [part.content] if isinstance(part.content, str) else part.content
            for content in contents:
                if isinstance(content, str):
                    texts.append(content)
    return "\n".join(texts)


def _with_words(message: Any, text: str) -> Any:
    """A message whose user's texts are replaced by one; pictures and files stay."""
    parts: list[Any] = []
    for part in message.parts:
        if part.part_kind != "user-prompt":
            parts.append(part)
            continue
        contents: list[Any] = [] if isinstance(part.content, str) else [*part.content]
        media = [content for content in contents if not isinstance(content, str)]
        if text or media:
            parts.append(replace(part, content=[text, *media] if media else text))
        text = ""
    return replace(message, parts=parts)


def _zone_texts(envelope: Envelope) -> tuple[str, str]:
    """The stable part of an envelope, and its turn."""
    texts = {"system": "", "user": ""}
    for message in envelope.render("openai")["messages"]:
        texts["system" if message["role"] == "system" else "user"] += message["content"]
    return texts["system"], texts["user"]
