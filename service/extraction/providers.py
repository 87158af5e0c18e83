"""Asking a model for claims or a summary: OpenAI, Anthropic, and what speaks OpenAI's protocol.

Each provider is its maker's own SDK, which brings the time-outs and the retries; an extra
installs it. Claims are held to a JSON Schema by the provider where it can, and every answer is
checked here in any case: a local server may ignore the schema, and a cut answer is no answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, Final, NamedTuple, Protocol, cast

from ...schema.errors import InvalidInput, Unavailable
from ...schema.values import fields_of

TIMEOUT_S: Final = 30.0
"""For one attempt."""

RETRIES: Final = 2

_MOST_TOKENS: Final = 4_000
"""Of an answer: some sixty claims."""

_SUMMARY_TOKENS: Final = 1_000
"""Of a summary: what is not shorter than a message is refused anyway."""

_TOOL: Final = "record_claims"


class ClaimProposal(NamedTuple):
    """What a model proposed, unchecked."""

    claims: list[Any]
    tokens_in: int
    tokens_out: int


class BrokenAnswer(Unavailable):
    """An answer came and is no use: cut, no JSON, or none of what was asked for."""


class Provider(Protocol):
    """A model that proposes claims."""

    @property
    def id(self) -> str:
        """The provider, the model and the address: equal for equal answers."""
        ...

    def propose(self, instructions: str, text: str, schema: Mapping[str, Any]) -> ClaimProposal:
        """Ask for the claims of a text.

        Raises:
            Unavailable: `extractor_unavailable` when no whole answer came; `BrokenAnswer` where
                fewer texts may get one.
        """
        ...


class _SdkProvider:
    """A model behind the SDK of a provider, at its maker or at an address of one's own."""

    kind: ClassVar[str]
    client: ClassVar[str]
    """The class of the SDK that asks."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
    ) -> None:
        """Open a client; a server at an own address may do without a key in the environment.

        Raises:
            Unavailable: `extractor_unavailable` when the extra or the key is missing.
        """
        self._library: Any = extractor_library(self.kind)
        self._model = model
        self.id = f"{self.kind}:{model}" + (f"@{base_url}" if base_url else "")

        variable = f"{self.kind.upper()}_API_KEY"
        key = os.environ.get(variable) or ("none" if base_url else None)
        if key is None:
            raise _unavailable(self.id, f"set {variable}")
        self._client = getattr(self._library, self.client)(
            api_key=key, base_url=base_url, timeout=timeout_s, max_retries=retries
        )


class OpenAIProvider(_SdkProvider):
    """A model behind OpenAI's chat completions; the key is in `OPENAI_API_KEY`."""

    kind = "openai"
    client = "OpenAI"

    def propose(self, instructions: str, text: str, schema: Mapping[str, Any]) -> ClaimProposal:
        """Ask for the claims of a text; see `Provider`."""
        response_format = {
            "type": "json_schema",
            "json_schema": {"name": _TOOL, "strict": True, "schema": dict(schema)},
        }
        turns = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": text},
        ]
        message, usage = self._ask(turns, _MOST_TOKENS, response_format=response_format)
        return _proposal(self.id, message.content, usage, "prompt", "completion")

    def summarise(self, prompt: str) -> str:
        """The plain text that a prompt asks for.

        Raises:
            Unavailable: `extractor_unavailable` when no whole answer came, or one that calls a
                tool.
        """
        message, _ = self._ask([{"role": "user", "content": prompt}], _SUMMARY_TOKENS)
        if message.tool_calls or message.refusal or not isinstance(message.content, str):
            raise _unavailable(self.id, "the answer is no text")
        return message.content

    def _ask(self, turns: Sequence[Any], most_tokens: int, **options: Any) -> tuple[Any, Any]:
        """The message of a whole answer, and its usage."""
        try:
            completion = self._client.chat.completions.create(
                model=self._model,
                messages=turns,
                temperature=0,
                max_completion_tokens=most_tokens,
                **options,
            )
        except (self._library.OpenAIError, ValueError) as error:
            raise _unavailable(self.id, str(error)) from error

        # The SDK hands on what it cannot read, such as the login page of a proxy, as a plain text.
        if not isinstance(completion, self._library.types.chat.ChatCompletion):
            raise _unavailable(self.id, "what answered is no chat completion")
        reply: Any = completion
        choice = (reply.choices or [None])[0]
        if choice is None or choice.message is None:
            raise _unavailable(self.id, "the answer holds no message")
        # Half a list of claims reads as a whole one where the JSON happens to close.
        if choice.finish_reason != "stop":
            raise _broken_answer(self.id, f"the answer was cut ({choice.finish_reason})")
        return choice.message, reply.usage


class AnthropicProvider(_SdkProvider):
    """A model behind Anthropic's messages; the schema is that of a tool it has to call.

    The key is in `ANTHROPIC_API_KEY`.
    """

    kind = "anthropic"
    client = "Anthropic"

    def propose(self, instructions: str, text: str, schema: Mapping[str, Any]) -> ClaimProposal:
        """Ask for the claims of a text; see `Provider`."""
        tool = {
            "name": _TOOL,
            "description": "Record the claims that the text makes.",
            "input_schema": dict(schema),
        }
        # The messages API has no temperature any more; a forced tool leaves little to chance.
        reply = self._ask(
            text,
            _MOST_TOKENS,
            system=instructions,
            tools=[tool],
            tool_choice={"type": "tool", "name": _TOOL},
        )
        blocks: list[Any] = reply.content or []
        for block in blocks:
            if block.type == "tool_use" and block.name == _TOOL:
                return _proposal(self.id, block.input, reply.usage, "input", "output")
        raise _broken_answer(self.id, "the answer calls no tool")

    def summarise(self, prompt: str) -> str:
        """The plain text that a prompt asks for.

        Raises:
            Unavailable: `extractor_unavailable` when no whole answer came, or one that calls a
                tool.
        """
        reply = self._ask(prompt, _SUMMARY_TOKENS)
        blocks: list[Any] = reply.content or []
        if any(block.type != "text" for block in blocks):
            raise _unavailable(self.id, "the answer is no text")
        return "\n".join(block.text for block in blocks)

    def _ask(self, text: str, most_tokens: int, **options: Any) -> Any:
        """The message of a whole answer."""
        try:
            message = self._client.messages.create(
                model=self._model,
                messages=[{"role": "user", "content": text}],
                max_tokens=most_tokens,
                **options,
            )
        except (self._library.AnthropicError, ValueError) as error:
            raise _unavailable(self.id, str(error)) from error

        if not isinstance(message, self._library.types.Message):
            raise _unavailable(self.id, "what answered is no message")
        reply: Any = message
        if reply.stop_reason not in ("tool_use", "end_turn"):
            raise _broken_answer(self.id, f"the answer was cut ({reply.stop_reason})")
        return reply


def _proposal(provider: str, answer: object, usage: Any, before: str, after: str) -> ClaimProposal:
    """Take an answer apart; `before` and `after` begin the names of the two token counts."""
    if isinstance(answer, str):
        try:
            answer = json.loads(answer)
        except (ValueError, RecursionError) as error:
            raise _broken_answer(provider, "the answer is no JSON") from error

    claims: object = fields_of(answer).get("claims")
    if not isinstance(claims, list):
        raise _broken_answer(provider, "the answer holds no claims")

    return ClaimProposal(
        claims=cast("list[object]", claims),
        tokens_in=getattr(usage, f"{before}_tokens", None) or 0,
        tokens_out=getattr(usage, f"{after}_tokens", None) or 0,
    )


def extractor_library(name: str) -> Any:
    """The package that the extra of its name installs.

    Raises:
        Unavailable: `extractor_unavailable` where it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise Unavailable(
            f"{name} is not installed; run: pip install 'tenure[{name}]'",
            code="extractor_unavailable",
        ) from error


def _unavailable(provider: str, cause: str) -> Unavailable:
    reason = " ".join(cause.split())[:200]
    return Unavailable(f"{provider}: {reason}", code="extractor_unavailable", reason=reason)


def _broken_answer(provider: str, reason: str) -> BrokenAnswer:
    return BrokenAnswer(f"{provider}: {reason}", code="extractor_unavailable", reason=reason)


PROVIDERS: Final[Mapping[str, type[OpenAIProvider] | type[AnthropicProvider]]] = {
    provider.kind: provider for provider in (OpenAIProvider, AnthropicProvider)
}


def provider_named(name: str) -> OpenAIProvider | AnthropicProvider:
    """Open the provider that a setting names: `openai:MODEL` or `anthropic:MODEL[@ADDRESS]`.

    Raises:
        InvalidInput: `bad_extractor`.
        Unavailable: `extractor_unavailable`.
    """
    kind, _, target = name.partition(":")
    model, _, base_url = target.partition("@")

    if kind not in PROVIDERS or not model or (base_url and "://" not in base_url):
        raise InvalidInput(
            f"extractor={name!r}: give rules, openai:MODEL, anthropic:MODEL, a model at an "
            "address of yours such as openai:qwen3@http://localhost:8000/v1, or an object with "
            "extract()",
            code="bad_extractor",
        )
    return PROVIDERS[kind](model, base_url=base_url or None)
