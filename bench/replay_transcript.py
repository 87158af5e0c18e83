"""Replay a transcript through window policies, and print what the requests of each come to.

Nothing is asked of a model: the answers are in the transcript. So policies are compared on one
conversation, in seconds, before one of them runs an agent. A transcript is read in the form in
which its provider keeps it, as JSON or JSON Lines.

Run: `python bench/replay_transcript.py FILE [--model gpt-5] [--window 32768] [--policy fifo lru]`
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from tenure import connect
from tenure.bench.script import parser_of
from tenure.bench.window_checkers import FAULTS
from tenure.compiler.tokens.capabilities import capability
from tenure.schema.errors import ContextBudgetExhausted, InvalidInput, NotFound, Unavailable
from tenure.schema.limits import json_of, utf8_of
from tenure.schema.vocabulary import parse
from tenure.schema.window_policy import EvictionPolicy, WindowPolicy
from tenure.service.client.memory import Memory
from tenure.service.sessions.originals import full_history
from tenure.service.sessions.results import Entry, ToolAnswer, Utterance, transcript_steps
from tenure.service.sessions.session import Session
from tenure.service.sessions.terms import window_limit
from tenure.window.events import EventKind
from tenure.window.layout import native_messages

_LISTS: Final = ("messages", "contents", "input", "events")
_NO_EDITS: Final = "none"
_ENDLESS: Final = 1 << 40
"""A window in which nothing is ever edited, to compare with."""
_USUAL: Final = (_NO_EDITS, EvictionPolicy.FIFO, EvictionPolicy.HYBRID, EvictionPolicy.LRU)


@dataclass(slots=True)
class ReplayTally:
    """What one replay came to."""

    policy: str
    requests: int = 0
    tokens: int = 0
    largest: int = 0
    oversized: int = 0
    """Requests above what the window takes."""
    faulty: int = 0
    """Requests that break a rule of one of three providers."""
    shut_out: int = 0
    """Messages that found no room at all."""
    edits: int = 0
    cache_reads: int = 0
    cost: int = 0
    """In thousandths of a base-priced input token."""
    facts_standing: int = 0
    """Permille of the identifiers of the whole conversation that stand at its end."""

    @property
    def mean(self) -> int:
        """Tokens of a request on average."""
        return self.tokens // max(1, self.requests)


def compare_policies(
    memory: Memory,
    entries: Sequence[Entry],
    names: Sequence[str],
    *,
    model: str,
    window: int | None,
) -> list[ReplayTally]:
    """The tally of each eviction policy, and of no edits at all, over one transcript.

    Raises:
        InvalidInput: `unknown_vocabulary`, `unknown_window`, `window_too_small`, `bad_message`.
    """
    size, limit = window_limit(model, window, None)
    tallies: list[ReplayTally] = []
    for name in names or _USUAL:
        if name == _NO_EDITS:
            policy, room = WindowPolicy(), _ENDLESS
        else:
            policy, room = WindowPolicy(eviction=parse(EvictionPolicy, name)), size

        session = memory.session(f"replay {name}", policy=policy, model=model, window=room)
        tallies.append(
            replay_steps(session, transcript_steps(entries), policy=str(name), limit=limit)
        )

    return tallies


def replay_steps(
    session: Session, steps: Iterable[Utterance | ToolAnswer], *, policy: str, limit: int
) -> ReplayTally:
    """Run a transcript through a fresh session, and count what its requests come to."""
    tally = ReplayTally(policy)
    request_text = ""
    for event in steps:
        if isinstance(event, ToolAnswer):
            _answer(session, event)
            continue

        # Whoever speaks before a call was answered has given it up.
        _abandon_calls(session)
        try:
            if event.role == "user":
                if session.state.in_turn:
                    session.on_turn_end()
                session.on_turn_start(event.message)
            elif session.state.in_turn:
                request_text = _count_request(session, tally, request_text, limit)
                session.on_step(event.message)
        except ContextBudgetExhausted:
            tally.shut_out += 1

    log = session.events()
    tally.edits = sum(event.kind is EventKind.EDITED for event in log)
    standing = session.state.text
    # What an edit may lose: of all that was said the values that nobody can guess.
    names: set[str] = set()
    for unit in full_history(log).units:
        names.update(unit.identifiers)

    tally.facts_standing = 1000 * sum(name in standing for name in names) // max(1, len(names))
    return tally


def _abandon_calls(session: Session) -> None:
    """Give up all calls that wait."""
    while session.state.open_units:
        session.abandon(session.state.open_units[0].open_calls[0])


def _answer(session: Session, answer: ToolAnswer) -> None:
    """Hand in a result where a call waits for it; a result of no call has no place anywhere."""
    for unit in session.state.open_units:
        for call in unit.calls:
            same = call.content.call_id == answer.call_id or (
                not answer.call_id and call.content.name == answer.name
            )
            if same and call.content.call_id in unit.open_calls:
                session.on_tool_result(
                    call.content.call_id, answer.content, is_error=answer.is_error
                )
                return


def _count_request(session: Session, tally: ReplayTally, request_text: str, limit: int) -> str:
    state = session.state
    tally.requests += 1
    tally.tokens += state.tokens
    tally.largest = max(tally.largest, state.tokens)
    tally.oversized += state.tokens > limit
    faults = (check(native_messages(state, target)) for target, check in FAULTS.items())
    tally.faulty += any(faults)

    # The share of the text that begins like the last request is read from the provider's cache.
    text = state.text
    reads = state.tokens * _common_length(text, request_text) // max(1, len(text))
    row = capability(state.model)
    tally.cache_reads += reads
    tally.cost += reads * row.read_permille + (state.tokens - reads) * row.write_permille[0]
    return text


def _common_length(text: str, previous_text: str) -> int:
    pairs = zip(text, previous_text, strict=False)
    shorter = min(len(text), len(previous_text))
    return next((place for place, (left, right) in enumerate(pairs) if left != right), shorter)


def read_transcript(path: str | Path) -> list[Entry]:
    """The entries of a transcript: a JSON list, an object that holds one, or JSON Lines.

    Raises:
        InvalidInput: `bad_message`, for a file that holds no messages.
        NotFound: `unknown_file`.
        Unavailable: `file_unreadable`.
    """
    file = Path(path)
    try:
        content = file.read_bytes()
    except FileNotFoundError as error:
        raise NotFound(
            f"there is no file {file}; name one that holds the messages of a conversation, as JSON "
            "or JSON Lines",
            code="unknown_file",
        ) from error
    except OSError as error:
        raise Unavailable(
            f"{file} cannot be read: {error.strerror or error}", code="file_unreadable"
        ) from error

    text = utf8_of(content, str(file), code="bad_message")
    try:
        trees = [_tree(text)] if text.lstrip()[:1] == "[" else _lines(text)
    except InvalidInput as error:
        raise InvalidInput(
            f"{file} is no transcript, messages as JSON or JSON Lines: {error}", code="bad_message"
        ) from error

    entries: list[Entry] = []
    for tree in trees:
        entries += _entries(tree)

    if not entries:
        raise InvalidInput(f"{file} holds no messages", code="bad_message")

    return entries


def _lines(text: str) -> list[Any]:
    try:
        return [_tree(text)]
    except InvalidInput:
        return [_tree(line) for line in text.splitlines() if line.strip()]


def _tree(text: str) -> Any:
    return json_of(text, "it", code="bad_message")


def _entries(tree: Any) -> list[Entry]:
    if isinstance(tree, list):
        members: list[Any] = tree  # pyright: ignore[reportUnknownVariableType]
        return [cast("Entry", entry) for entry in members if isinstance(entry, dict)]

    if not isinstance(tree, dict):
        return []

    for name in _LISTS:
        if isinstance(tree.get(name), list):  # pyright: ignore[reportUnknownMemberType]
            return _entries(tree[name])

    return [cast("Entry", tree)]


def main() -> None:
    """Print one line a policy."""
    parser = parser_of(__doc__, model="generic", window=int, policy=[])
    parser.add_argument("file")
    arguments = parser.parse_args()
    entries = read_transcript(arguments.file)
    with connect(":memory:") as memory:
        tallies = compare_policies(
            memory, entries, arguments.policy, model=arguments.model, window=arguments.window
        )
    print(f"{'policy':16} {'mean':>7} {'largest':>7} {'over':>5} {'refused':>7} {'facts %':>7}")
    for tally in tallies:
        print(
            f"{tally.policy:16} {tally.mean:7} {tally.largest:7} {tally.oversized:5}"
            f" {tally.faulty:7} {tally.facts_standing / 10:7.1f}"
        )


if __name__ == "__main__":
    main()
