"""Replaying a transcript through window policies: what the requests of each come to.

Nothing is asked of a model: the answers stand in the transcript. So policies are compared on one
conversation, in seconds, before one of them runs an agent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ...compiler.tokens.capabilities import capability
from ...schema.errors import ContextBudgetExhausted
from ...schema.vocabulary import parse
from ...schema.window_policy import EvictionPolicy, WindowPolicy
from ...window.checkers import FAULTS
from ...window.events import EventKind
from ...window.layout import native_messages
from ..backend.caller import Caller, backend_of
from .limits import window_limit
from .opening import SessionRules, SessionTerms, open_session
from .originals import full_history
from .session import Session
from .transcript import Entry, ToolAnswer, Utterance, transcript_steps

_NO_EDITS: Final = "none"
_ENDLESS: Final = 1 << 40
"""A window in which nothing is ever edited, to compare with."""
_USUAL: Final = (_NO_EDITS, EvictionPolicy.HYBRID, EvictionPolicy.FIFO, EvictionPolicy.LRU)


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

    @property
    def cached_share(self) -> int:
        """Permille of all tokens that a cached prefix would serve."""
        return 1000 * self.cache_reads // max(1, self.tokens)


def compare_policies(
    caller: Caller,
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

        terms = SessionTerms(model=model, window=room)
        backend, principal = backend_of(caller), caller.principal
        session = open_session(backend, principal, f"replay {name}", SessionRules(policy), terms)
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
