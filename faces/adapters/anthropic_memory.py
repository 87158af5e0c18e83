"""The memory tool of Anthropic (`memory_20250818`) over a memory: files that keep their history.

    runner = client.beta.messages.run_tools(..., tools=[anthropic_memory_tool(memory)])

The model views, creates, edits, deletes and renames files under `/memories`; each file is a record
of the caller's own, whichever path the model asks for. A rename is one write, and so is deleting a
folder. Answers are worded as those of the SDK's tool on a file system, which models know.
anthropic 2.12.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ...schema.errors import TenureError
from .langchain import Path, Record, Records, begins
from .openai import joined_class

if TYPE_CHECKING:
    from ...service.client.memory import Memory

_ROOT: Final = "/memories"
_LINE_NUMBER_WIDTH: Final = 6
_CONTEXT_LINES: Final = 2
"""Lines part before and after a change."""
_LEVELS: Final = 2
"""Of a folder that is viewed."""
_ARGUMENTS: Final[Mapping[str, Mapping[str, type]]] = {
    "view": {"path": str},
    "create": {"path": str, "file_text": str},
    "str_replace": {"path": str, "old_str": str, "new_str": str},
    "insert": {"path": str, "insert_line": int, "insert_text": str},
    "delete": {"path": str},
    "rename": {"old_path": str, "new_path": str},
}
"""What each command needs; of what a model left out the SDK hands on None."""


def anthropic_memory_tool(memory: Memory) -> Any:
    """Return the memory tool for an `Anthropic` client.

    Raises:
        ModuleNotFoundError: without the extra `[anthropic]`.
    """
    tools: Any = import_module("anthropic.lib.tools")
    tool = joined_class("TenureMemoryTool", MemoryCommands, tools.BetaAbstractMemoryTool)()
    tool.files = MemoryFiles(Records(memory, "anthropic"), tools.ToolError)
    return tool


def async_anthropic_memory_tool(memory: Memory) -> Any:
    """Return the memory tool for an `AsyncAnthropic` client; commands run on a thread.

    Raises:
        ModuleNotFoundError: without the extra `[anthropic]`.
    """
    tools: Any = import_module("anthropic.lib.tools")
    tool = joined_class(
        "AsyncTenureMemoryTool", AsyncMemoryCommands, tools.BetaAsyncAbstractMemoryTool
    )()
    tool.files = MemoryFiles(Records(memory, "anthropic"), tools.ToolError)
    return tool


class MemoryCommands:
    """The six commands as the SDK calls them."""

    files: MemoryFiles

    def view(self, command: Any) -> str:
        """Show a file with line numbers, or a folder two levels deep."""
        return self.files.run(command)

    create = str_replace = insert = delete = rename = view


class AsyncMemoryCommands:
    """The six commands as the SDK awaits them."""

    files: MemoryFiles

    async def view(self, command: Any) -> str:
        """Show a file with line numbers, or a folder two levels deep."""
        return await asyncio.to_thread(self.files.run, command)

    create = str_replace = insert = delete = rename = view


class MemoryFiles:
    """The commands on files; `error_type` is what the SDK tells a model of."""

    def __init__(self, records: Records, error_type: type[Exception]) -> None:
        """Take the records that are the files."""
        self._records = records
        self._error_type = error_type

    def run(self, command: Any) -> str:
        """Run a command by its name; what the memory refuses is told to the model."""
        commands = {
            "view": self.view,
            "create": self.create,
            "str_replace": self.str_replace,
            "insert": self.insert,
            "delete": self.delete,
            "rename": self.rename,
        }
        for name, kind in _ARGUMENTS[command.command].items():
            if not isinstance(getattr(command, name, None), kind):
                noun = "a text" if kind is str else "a whole number"
                raise self._error_type(f"{command.command} needs `{name}`, {noun}")

        try:
            return commands[command.command](command)
        except TenureError as refusal:
            raise self._error_type(str(refusal)) from refusal

    def view(self, command: Any) -> str:
        """Show a file with line numbers, or a folder two levels deep."""
        path = self._path(command.path)
        record = self._records.get(path) if path else None
        if record is None:
            return self._folder(command.path, path)

        lines = str(record.value).split("\n")
        start, end = 1, len(lines)
        if command.view_range and len(command.view_range) == 2:
            start = max(1, command.view_range[0])
            end = len(lines) if command.view_range[1] == -1 else command.view_range[1]
        listing = _number_lines(lines, start, end)
        return f"Here's the content of {command.path} with line numbers:\n{listing}"

    def create(self, command: Any) -> str:
        """Create a file."""
        path = self._file_path(command.path)
        if next(self._records.entries(path), None) is not None:
            raise self._error_type(f"File {command.path} already exists")

        self._require_folders(path)
        self._records.put({path: command.file_text})
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        """Replace a text that stands in a file once."""
        record = self._file(command.path)
        text = str(record.value)
        count = text.count(command.old_str)
        if count != 1:
            problem = "did not appear verbatim" if not count else f"appeared {count} times"
            raise self._error_type(
                f"No replacement was performed, old_str `{command.old_str}` {problem} in "
                f"{command.path}. Please ensure it is unique"
            )

        line = text[: text.index(command.old_str)].count("\n") + 1
        new_text = text.replace(command.old_str, command.new_str)
        self._records.put({record.path: new_text})
        snippet = _number_lines(new_text.split("\n"), line - _CONTEXT_LINES, line + _CONTEXT_LINES)
        return (
            "The memory file has been edited. Here is the snippet showing the change "
            f"(with line numbers):\n{snippet}"
        )

    def insert(self, command: Any) -> str:
        """Insert a text behind a line; 0 is before the first."""
        record = self._file(command.path)
        lines = str(record.value).splitlines()
        if not 0 <= command.insert_line <= len(lines):
            raise self._error_type(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )

        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        self._records.put({record.path: "\n".join(lines) + "\n"})
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        """Delete a file, or a folder with all files below it; the history keeps them."""
        path = self._file_path(command.path)
        records = self._tree_records(command.path, path)
        self._records.put({record.path: None for record in records})
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        """Rename a file or a folder, in one write."""
        old, new = self._file_path(command.old_path), self._file_path(command.new_path)
        if next(self._records.entries(new), None) is not None:
            raise self._error_type(f"The destination {command.new_path} already exists")
        if begins(new, old):
            raise self._error_type(f"{command.new_path} lies inside {command.old_path}")

        self._require_folders(new)
        values: dict[Path, Any] = {}
        for record in self._tree_records(command.old_path, old):
            values[record.path] = None
            values[(*new, *record.path[len(old) :])] = record.value
        self._records.put(values)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    # --- inside

    def _path(self, address: str) -> Path:
        """The labels below `/memories`; none of them leads up."""
        root, _, tail = address.strip().partition(_ROOT)
        labels = tuple(label for label in tail.split("/") if label)
        if root or (tail and not tail.startswith("/")):
            raise self._error_type(f"Path must start with {_ROOT}, got: {address}")
        if {".", ".."} & {*labels}:
            raise self._error_type(f"Path {address} would escape {_ROOT} directory")
        return labels

    def _file_path(self, address: str) -> Path:
        path = self._path(address)
        if not path:
            raise self._error_type(f"{_ROOT} itself is no file, and it stays")
        return path

    def _require_folders(self, path: Path) -> None:
        """Refuse a path below a file: deleting the file would take it along."""
        for depth in range(1, len(path)):
            if self._records.get(path[:depth]) is not None:
                address = "/".join((_ROOT, *path[:depth]))
                raise self._error_type(f"{address} is a file, and nothing stands below it")

    def _file(self, address: str) -> Record:
        record = self._records.get(self._file_path(address))
        if record is None:
            raise self._unknown(address)
        return record

    def _tree_records(self, address: str, path: Path) -> list[Record]:
        records = [*self._records.entries(path)]
        if not records:
            raise self._unknown(address)
        return records

    def _unknown(self, address: str) -> Exception:
        return self._error_type(f"The path {address} does not exist. Please provide a valid path.")

    def _folder(self, address: str, path: Path) -> str:
        records = [*self._records.entries(path)]
        if path and not records:
            raise self._unknown(address)

        sizes: dict[str, int] = {"": 0}
        for record in records:
            labels, size = record.path[len(path) :], len(str(record.value).encode())
            sizes[""] += size
            for depth in range(1, min(len(labels), _LEVELS) + 1):
                # As in the provider's own tool: it can be viewed, and is not listed.
                if labels[depth - 1].startswith("."):
                    break
                is_folder = depth < len(labels)
                name = "/" + "/".join(labels[:depth]) + ("/" if is_folder else "")
                sizes[name] = sizes.get(name, 0) + size

        base = address.rstrip("/")
        rows = [
            f"Here're the files and directories up to {_LEVELS} levels deep in {address}, "
            "excluding hidden items:"
        ]
        for name, size in sizes.items():
            rows.append(f"{_size(size)}\t{base}{name}")
        return "\n".join(rows)


def _number_lines(lines: list[str], start: int, end: int) -> str:
    first = max(1, start)
    rows: list[str] = []
    for number, line in enumerate(lines[first - 1 : end], first):
        margin = str(number).rjust(_LINE_NUMBER_WIDTH)
        rows.append(f"{margin}\t{line}")
    return "\n".join(rows)


def _size(size: int) -> str:
    return f"{size}B" if size < 1024 else f"{size / 1024:.1f}K"
