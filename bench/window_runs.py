"""Recorded runs of agents as long sessions, and what each later call needs from them.

Service: runs of a tool-using agent, one customer after another, or six customers in rotation, a
turn each. Coding: demonstrations of a shell agent, one command a step. Messages have OpenAI's form.
A need is a value of a call's arguments (six characters or more) that stood verbatim in an earlier
user or tool message; it is a first use if no assistant message has named it before. Half of the
sessions are for tuning, the others are held out. Reads the folder `TENURE_SHARED`.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tenure.bench.script import SHARED

Message = dict[str, Any]
DATA = SHARED / "data" / "transcripts"
SHORTEST = 6
CUSTOMERS = 6
"""That are served in rotation."""
_SHELL = "run"
_TASKS = 16
"""Customers of one service session."""
_COMMAND = re.compile(r"```\s*\n(.*?)\n```|<command>\n(.*?)\n</command>", re.DOTALL)
_BREAKS = re.compile(r"""[\s'"=;|&()<>,`{}\[\]]+""")


@dataclass(frozen=True)
class Run:
    """The messages of one session."""

    name: str
    messages: Sequence[Message]


def service_runs(*, held_out: bool) -> list[Run]:
    """Sessions of customers in turn; held-out sessions are other trials."""
    runs: list[Run] = []
    for number, tasks in _sessions(held_out):
        runs.append(Run(f"service {number}", list(chain.from_iterable(tasks))))
    return runs


def rotating_runs(*, held_out: bool) -> list[Run]:
    """The same customers, six at a time, one turn each."""
    runs: list[Run] = []
    for number, tasks in _sessions(held_out):
        messages: list[Message] = []
        for place in range(0, len(tasks), CUSTOMERS):
            desks = list(map(_turns, tasks[place : place + CUSTOMERS]))
            while any(desks):
                for turns in desks:
                    messages += turns.pop(0) if turns else []
        runs.append(Run(f"rotation {number}", messages))
    return runs


def coding_runs(*, held_out: bool) -> list[Run]:
    """Sessions of a shell agent: every other demonstration."""
    with gzip.open(DATA / "shell.jsonl.gz", "rt", encoding="utf-8") as lines:
        demonstrations = [json.loads(line)["history"] for line in lines]
    messages: list[Message] = []
    for number, history in enumerate(demonstrations):
        if number % 2 == held_out:
            messages += _shell_messages(history, number)
    return [Run("coding", messages)]


SETS = {"service": service_runs, "rotation": rotating_runs, "coding": coding_runs}


def _sessions(held_out: bool) -> Iterator[tuple[int, list[list[Message]]]]:
    """Yield the numbers of two sessions, and the messages of each of their tasks."""
    by_task: dict[str, list[list[Message]]] = {}
    with gzip.open(DATA / "airline-dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line)
            messages = [m for m in run["messages"] if m["role"] != "system"]
            by_task.setdefault(str(run["run"]).split("-")[0], []).append(messages)

    first = 2 if held_out else 0
    for number in (first, first + 1):
        tasks = [trials[number % len(trials)] for trials in by_task.values()]
        half = tasks[_TASKS:] if number % 2 else tasks[:_TASKS]
        yield number, [_with_own_ids(task, f"{number}-{place}") for place, task in enumerate(half)]


def _with_own_ids(messages: Sequence[Message], prefix: str) -> list[Message]:
    """Messages whose calls have ids of their own: the recorded ones repeat."""
    own: list[Message] = []
    ids: dict[str, str] = {}
    for message in messages:
        copy = json.loads(json.dumps(message))
        for call in copy.get("tool_calls") or ():
            ids[call["id"]] = f"c{prefix}-{len(own)}"
            call["id"] = ids[call["id"]]
        if copy["role"] == "tool":
            copy["tool_call_id"] = ids[copy["tool_call_id"]]
        own.append(copy)
    return own


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message["role"] == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _shell_messages(history: Sequence[Message], number: int) -> Iterator[Message]:
    """A demonstration with its commands as calls, and what they printed as results."""
    waiting = ""
    for place, message in enumerate(history):
        role, content = message["role"], message["content"] or ""
        if role == "assistant":
            match = _COMMAND.search(content)
            command = (match[1] or match[2]) if match else str(message.get("action") or "")
            waiting = f"s{number}-{place}"
            function = {"name": _SHELL, "arguments": json.dumps({"command": command})}
            call = {"id": waiting, "type": "function", "function": function}
            thought = content[: match.start()].strip() if match else content
            yield {"role": "assistant", "content": thought, "tool_calls": [call]}
        elif role != "system" and waiting:
            yield {"role": "tool", "tool_call_id": waiting, "name": _SHELL, "content": content}
            waiting = ""
        elif role == "user":
            yield {"role": "user", "content": content}
    if waiting:
        yield {"role": "tool", "tool_call_id": waiting, "name": _SHELL, "content": "done"}


def argument_values(message: Message) -> list[str]:
    """The values that calls of a message state, of six characters or more, each once."""
    values: dict[str, None] = {}
    for call in message.get("tool_calls") or ():
        # A command is one text of many words; each is a value. Other values are taken whole.
        splits = call["function"]["name"] == _SHELL
        for text in _texts(json.loads(call["function"]["arguments"] or "{}")):
            parts = _BREAKS.split(text) if splits else [text]
            values |= dict.fromkeys(part for part in parts if len(part) >= SHORTEST)
    return list(values)


def _texts(tree: Any) -> Iterator[str]:
    if isinstance(tree, dict):
        for inner in tree.values():
            yield from _texts(inner)
    elif isinstance(tree, list):
        for inner in tree:
            yield from _texts(inner)
    elif isinstance(tree, str):
        yield tree


def words_of(message: Message) -> str:
    """All words of a message, those of its calls included."""
    calls = message.get("tool_calls") or ()
    parts = [f"{c['function']['name']} {c['function']['arguments']}" for c in calls]
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False)
    return "\n".join([content, *parts])
