"""The hook of a turn: compile what is known for what the user typed, then keep it.

A client runs it with the turn as JSON on standard input, and puts what it prints before the
model. Compiling comes first, or the prompt would find itself.
"""

from __future__ import annotations

import json
from typing import Any, Final

from ...schema.errors import InvalidInput, TenureError
from ..client.memory import Memory
from .install import HOOK_EVENT

BUDGET_TOKENS: Final = 1_500
_ORIGIN: Final = "chat://agent-client"


def answer_turn(memory: Memory, text: str) -> str:
    """What a client is to put before the model for a turn.

    A turn is never held up by the memory: what it refuses is told to the user, and the model
    answers without it.

    Raises:
        InvalidInput: `bad_request` for an input that is no turn.
    """
    try:
        turn: Any = json.loads(text)
        prompt = str(turn["prompt"]).strip()
    except (ValueError, KeyError, RecursionError, TypeError) as error:
        raise InvalidInput(
            "a hook gets one JSON object with the prompt on standard input", code="bad_request"
        ) from error

    output: dict[str, Any] = {}
    try:
        if prompt:
            envelope = memory.compile("assistant", prompt, budget_tokens=BUDGET_TOKENS)
            context = {"hookEventName": HOOK_EVENT, "additionalContext": envelope.text}
            output["hookSpecificOutput"] = context
            memory.observe(prompt, memory.principal.user, source_origin=_ORIGIN)
    except TenureError as error:
        output["systemMessage"] = f"tenure kept nothing of this turn: {error} [{error.code}]"

    return json.dumps(output, ensure_ascii=False)
