"""Connect a client to the memory: its server entry, and the hook that runs at every turn.

A memory that only the model may call stays empty, so the hook compiles what is known for the user's
text, then stores the text. Compiling comes first, or the prompt would find itself. A client passes
the turn as JSON on standard input and puts the output before the model. Installation returns whole
files, so that the change can be shown before anything is written.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast

from ...schema.errors import InvalidInput, TenureError, Unavailable, unknown
from ...schema.limits import json_of, toml_of, utf8_of
from ...service.backend.files import check_name
from ...service.client.memory import Memory
from ...service.compilation.shown import Envelope

SERVER_NAME: Final = "tenure"
HOOK_EVENT: Final = "UserPromptSubmit"
"""The event that all three clients raise before a model sees what the user typed."""

_OWN_SECTIONS: Final = frozenset({"system_policy", "user_request"})

BUDGET_TOKENS: Final = 1_500
_QUESTIONS: Final = re.compile(r"(?:[^.!?]*\?\s*)+")
"""A prompt of questions alone."""
_ORIGIN: Final = "chat://agent-client"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of a client as it will stand."""

    path: Path
    text: str
    is_new: bool

    def write(self) -> None:
        """Write it; the folders before it are made.

        Raises:
            Conflict: `file_exists`, for a link.
            Unavailable: `file_unwritable`.
        """
        check_name(self.path, replace=True)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(self.text, encoding="utf-8")
        except OSError as error:
            raise Unavailable(
                f"{self.path} cannot be written: {error.strerror or error}", code="file_unwritable"
            ) from error


def install_changes(client: str, folder: Path, options: Sequence[str]) -> tuple[FileChange, ...]:
    """The files of a project that connect a client; `options` stand before the command.

    Raises:
        InvalidInput: `unknown_vocabulary` for a client that is not known; `bad_settings` for a
            file of it that is not what it should be.
    """
    if client not in CLIENTS:
        raise unknown("client", client, CLIENTS)
    return CLIENTS[client](folder, options)


def _claude_code(folder: Path, options: Sequence[str]) -> tuple[FileChange, ...]:
    return (
        _json_change(folder / ".mcp.json", {"mcpServers": {SERVER_NAME: _server(options)}}),
        _json_change(folder / ".claude" / "settings.json", {"hooks": _nested_hook(options)}),
    )


def _codex(folder: Path, options: Sequence[str]) -> tuple[FileChange, ...]:
    return (
        _with_toml_table(folder / ".codex" / "config.toml", _server(options)),
        _json_change(folder / ".codex" / "hooks.json", {"hooks": _nested_hook(options)}),
    )


def _vscode(folder: Path, options: Sequence[str]) -> tuple[FileChange, ...]:
    server = {"type": "stdio", **_server(options)}
    hook = {"type": "command", "command": _hook_command(options)}
    return (
        _json_change(folder / ".vscode" / "mcp.json", {"servers": {SERVER_NAME: server}}),
        _json_change(folder / ".github" / "hooks" / "tenure.json", {"hooks": {HOOK_EVENT: [hook]}}),
    )


CLIENTS: Final[Mapping[str, Callable[[Path, Sequence[str]], tuple[FileChange, ...]]]] = (
    MappingProxyType({"claude-code": _claude_code, "codex": _codex, "vscode": _vscode})
)


def _server(options: Sequence[str]) -> dict[str, Any]:
    # A client starts it with a PATH of its own, in which no environment of Python is active.
    return {"command": sys.executable, "args": ["-P", "-m", "tenure", *options, "mcp"]}


def _hook_command(options: Sequence[str]) -> str:
    words = [sys.executable, "-P", "-m", "tenure", *options, "mcp", "hook"]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def _nested_hook(options: Sequence[str]) -> dict[str, Any]:
    hook = {"type": "command", "command": _hook_command(options)}
    return {HOOK_EVENT: [{"hooks": [hook]}]}


def _json_change(path: Path, addition: Mapping[str, Any]) -> FileChange:
    """A JSON file with more in it; what it holds stays, and ours is there once."""
    tree: Any = {}
    if path.is_file():
        tree = json_of(_file_text(path), _place_of(path), code="bad_settings")
    if not isinstance(tree, dict):
        raise _unreadable(path, "it is no object")

    text = json.dumps(_union(tree, addition), indent=2, ensure_ascii=False) + "\n"
    return FileChange(path, text, not path.is_file())


def _union(tree: Any, addition: Any) -> Any:
    if isinstance(tree, dict) and isinstance(addition, Mapping):
        union: dict[str, Any] = dict(tree)  # pyright: ignore[reportUnknownArgumentType]
        for name, value in addition.items():  # pyright: ignore[reportUnknownVariableType]
            union[name] = _union(union[name], value) if name in union else value
        return union
    # Lists are hooks: other tools may have theirs there, and a second run must not double ours.
    if isinstance(tree, list) and isinstance(addition, list):
        entries: list[Any] = [*tree]
        additions = cast("list[Any]", addition)  # type: ignore[redundant-cast]  # for pyright
        return entries + [entry for entry in additions if entry not in entries]
    return addition


def _with_toml_table(path: Path, server: Mapping[str, Any]) -> FileChange:
    """A TOML file with the table of the server behind what it holds."""
    text = _file_text(path) if path.is_file() else ""
    tables = toml_of(text, _place_of(path), code="bad_settings").get("mcp_servers", {})
    # tomllib only reads, so that a table is put behind the text and never changed within it.
    if SERVER_NAME in tables:
        if tables[SERVER_NAME] == server:
            return FileChange(path, text, is_new=False)
        raise _unreadable(path, f"it has another [mcp_servers.{SERVER_NAME}]; remove it first")

    # The strings of JSON are strings of TOML too.
    table = [f"[mcp_servers.{SERVER_NAME}]"]
    for name, value in server.items():
        table.append(f"{name} = {json.dumps(value)}")
    return FileChange(path, text + ("\n" if text else "") + "\n".join(table) + "\n", not text)


def _file_text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error
    return utf8_of(content, _place_of(path), code="bad_settings")


def _unreadable(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(f"{path} cannot be changed: {reason}", code="bad_settings")


def _place_of(path: Path) -> str:
    return f"{path} cannot be changed: it"


def holds_memory(envelope: Envelope) -> bool:
    """Whether an envelope says more than the rules of its format and the request itself."""
    return any(block.object_ids and block.section not in _OWN_SECTIONS for block in envelope.blocks)


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
            if holds_memory(envelope):
                context = {"hookEventName": HOOK_EVENT, "additionalContext": envelope.text}
                output["hookSpecificOutput"] = context
            # The log of envelopes keeps a question; as evidence it would answer later ones.
            if not _QUESTIONS.fullmatch(prompt):
                memory.observe(prompt, source_origin=_ORIGIN)
    except TenureError as error:
        output["systemMessage"] = f"tenure kept nothing of this turn: {error} [{error.code}]"

    return json.dumps(output, ensure_ascii=False)
