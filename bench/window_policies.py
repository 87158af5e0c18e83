"""The windows that `bench_window.py` compares: ours, and what others do, in the same terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from tenure.bench.window_measure import FRAMING, MODEL, tokens
from tenure.bench.window_runs import Message, words_of
from tenure.schema.window_policy import WindowPolicy
from tenure.window.editing import NO_WISH, due_reason, planned_edit, target_tokens
from tenure.window.events import EventKind, WindowEvent
from tenure.window.forms import arrival_text
from tenure.window.intake import message_parts
from tenure.window.layout import native_messages
from tenure.window.report import read_pressure
from tenure.window.state import EMPTY_STATE, part_tokens
from tenure.window.step import step
from tenure.window.units import MessagePart, PartKind, part_body

_IDENTIFIER = re.compile(r"(?=[A-Za-z0-9_./#@:-]{0,79}[0-9_/])[A-Za-z0-9_./#@:-]{6,80}")
_PEER_TOKENS = 2_000


class Ours:
    """The window of tenure without its store: events, fold and edit are the product's."""

    def __init__(self, limit: int, policy: WindowPolicy | None = None) -> None:
        self.policy = policy or WindowPolicy()
        self.state = EMPTY_STATE
        self.edits = 0
        body = {"model": MODEL, "window": _window_of(limit), "limit": limit, "policy": ""}
        self._put(EventKind.OPENED, body, ("", "", "", ""))

    def add(self, message: Message) -> None:
        match message["role"]:
            case "user":
                if self.state.in_turn:
                    self._put(EventKind.TURN_ENDED, {})
                self._parts(EventKind.TURN_STARTED, message_parts(message, "user"))
            case "assistant":
                self._parts(EventKind.STEP_MADE, message_parts(message, "assistant"))
            case _:
                self._result(message)

    def request(self) -> list[Message]:
        return native_messages(self.state, "openai")

    def _result(self, message: Message) -> None:
        call_id, full = message["tool_call_id"], message["content"] or ""
        unit = next(u for u in reversed(self.state.units) if call_id in u.open_calls)
        part = MessagePart(
            kind=PartKind.RESULT, text=full, call_id=call_id, name=message.get("name") or "run"
        )
        text = arrival_text(self.state, self.policy, unit, part)
        self._parts(EventKind.RESULT_CAME, (part,), standing=text)

    def _parts(
        self, kind: EventKind, parts: Sequence[MessagePart], standing: str | None = None
    ) -> None:
        texts = [part.text for part in parts]
        if standing is not None:
            parts = [MessagePart(**{**_fields(parts[0]), "text": standing})]
            texts = [standing, *([texts[0]] if standing != texts[0] else [])]
        lines = [part_body(part, part_tokens(self.state, part)) for part in parts]
        self._put(kind, {"parts": lines}, tuple(texts))
        if not self.state.open_units and kind is not EventKind.STEP_MADE:
            self._edit()

    def _edit(self) -> None:
        state, policy = self.state, self.policy
        reason = due_reason(state, policy, read_pressure(state, policy))
        if reason is None:
            return
        plan = planned_edit(state, policy, reason, target_tokens(state, policy))
        if plan:
            self._apply(plan)
        if self.state.tokens > self.state.limit:
            wish = NO_WISH._replace(desperate=True)
            plan = planned_edit(self.state, policy, reason, self.state.limit, wish=wish)
            if plan:
                self._apply(plan)

    def _apply(self, plan: Any) -> None:
        counts = [self.state.count(text) for text in plan.texts]
        self._put(EventKind.EDITED, {**plan.body, "tokens": counts}, plan.texts)
        self.edits += 1

    def _put(self, kind: EventKind, body: Mapping[str, Any], texts: tuple[str, ...] = ()) -> None:
        seq = self.state.seq + 1
        self.state = step(self.state, WindowEvent(seq=seq, kind=kind, body=body, texts=texts))


def _fields(part: MessagePart) -> dict[str, Any]:
    return {name: getattr(part, name) for name in part.__slots__}


def _window_of(limit: int) -> int:
    """W of a limit: the nearest window whose reserve leaves so much."""
    return limit + max(4_096, limit // 9)


class Truncation:
    """The oldest units leave as soon as the trigger is passed, just enough of them."""

    keeps = 1.0

    def __init__(self, limit: int, trigger: float = 1.0) -> None:
        self.limit, self.trigger = limit, trigger
        self.units: list[list[Message]] = []

    def add(self, message: Message) -> None:
        if message["role"] == "tool" and self.units:
            self.units[-1].append(_capped(message, self.limit // 4))
        else:
            self.units.append([message])

    def request(self) -> list[Message]:
        if self._load() > self.trigger * self.limit:
            while self._load() > self.keeps * self.trigger * self.limit and len(self.units) > 1:
                self.units.pop(0)
        return [message for unit in self.units for message in unit]

    def _load(self) -> int:
        return sum(_size(message) for unit in self.units for message in unit)


class SlidingWindow(Truncation):
    """At the trigger everything but the newest half of it leaves."""

    keeps = 0.5


class ClearToolUses(Truncation):
    """The provider's rule: at the trigger all but three results are cleared; then truncation."""

    def request(self) -> list[Message]:
        if self._load() > self.trigger * self.limit:
            results = [m for unit in self.units for m in unit if m["role"] == "tool"]
            for message in results[:-3]:
                message["content"] = "[cleared]"
        return super().request()


class LedgerPeer(Truncation):
    """The oldest half leaves into a list of identifiers of 2,000 tokens, by one pattern."""

    keeps = 0.5

    def __init__(self, limit: int, trigger: float = 1.0) -> None:
        super().__init__(limit, trigger)
        self.names: dict[str, None] = {}

    def request(self) -> list[Message]:
        before = list(self.units)
        messages = super().request()
        for unit in before[: len(before) - len(self.units)]:
            for message in unit:
                for word in _IDENTIFIER.findall(words_of(message)):
                    self.names.pop(word, None)
                    self.names[word] = None
        text = " ".join(self.names)
        while tokens(text) > _PEER_TOKENS:
            self.names.pop(next(iter(self.names)))
            text = " ".join(self.names)
        head = [{"role": "user", "content": f"Names so far: {text}"}] if text else []
        return [*head, *messages]


class LangChainPeer(Truncation):
    """LangChain's `SummarizationMiddleware`, with a list of identifiers as its summary."""

    def __init__(self, limit: int, trigger: float = 0.8) -> None:
        super().__init__(limit, trigger)
        module: Any = import_module("langchain.agents.middleware")
        fakes: Any = import_module("langchain_core.language_models.fake_chat_models")
        messages: Any = import_module("langchain_core.messages")
        self.messages: list[Any] = []
        self.extra = 0

        class Lister(fakes.GenericFakeChatModel):  # type: ignore[misc]
            """Lists the identifiers of what it is asked to summarise."""

            def _generate(own, prompt: Any, *rest: Any, **options: Any) -> Any:
                text = "\n".join(str(message.content) for message in prompt)
                names = " ".join(dict.fromkeys(_IDENTIFIER.findall(text)))[-8_000:]
                self.extra += tokens(text) + 5 * tokens(names)
                results: Any = import_module("langchain_core.outputs")
                generation = results.ChatGeneration(message=messages.AIMessage(names))
                return results.ChatResult(generations=[generation])

        self.middleware = module.SummarizationMiddleware(
            model=Lister(messages=iter(())),
            trigger=("tokens", int(self.trigger * limit)),
            keep=("messages", 20),
            token_counter=lambda batch: sum(tokens(str(m.content)) + FRAMING for m in batch),
        )

    def add(self, message: Message) -> None:
        utils: Any = import_module("langchain_core.messages.utils")
        if message["role"] == "tool":
            message = _capped(message, self.limit // 4)
        (converted,) = utils.convert_to_messages([message])
        converted.id = f"m{len(self.messages)}-{id(message)}"
        self.messages.append(converted)

    def request(self) -> list[Message]:
        utils: Any = import_module("langchain_core.messages.utils")
        update = self.middleware.before_model({"messages": self.messages}, None)
        if update:
            self.messages = [m for m in update["messages"] if m.type != "remove"]
        plain: list[Message] = utils.convert_to_openai_messages(self.messages)
        return plain


def _capped(message: Message, most: int) -> Message:
    content = message["content"] or ""
    if tokens(content) <= most:
        return dict(message)
    return {**message, "content": content[: len(content) * most // tokens(content)]}


def _size(message: Message) -> int:
    return tokens(words_of(message)) + FRAMING
