"""Opening a session: the first event, or the fold of those that are there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from ...schema.errors import Conflict, InvalidInput
from ...schema.principal import Principal, Scope
from ...schema.window_policy import WindowPolicy, policy_from
from ...window.events import EventKind, WindowEvent
from ...window.state import EMPTY_STATE, tools_text
from ...window.step import step
from ...window.subsystems import BUILT_IN, Subsystems
from ..backend.arguments import check_fields
from ..backend.backend import Backend
from .core import SessionCore, policy_body
from .limits import window_limit
from .listening import Listening
from .log import SessionLog, session_scope
from .session import Session


class SessionTerms(TypedDict, total=False):
    """What a session is opened with; one that is there keeps its own."""

    task: str
    goal: str
    acceptance: Sequence[str]
    system: str
    """The agent's own instruction; it stands first in every request."""
    tools: Sequence[Any]
    """The tools' schemas in the provider's form; they are passed on and counted."""
    model: str
    window: int | None
    """Tokens of the window, for a model whose window is not known, or a smaller one."""
    reserve_tokens: int | None
    """The longest answer that is asked for."""


class SessionRules(NamedTuple):
    """By what a session is run; another value than before takes effect with the next edit."""

    policy: WindowPolicy | str | Path | None = None
    """A policy, or the path of one; without any the pack's."""
    subsystems: Subsystems | None = None
    """Parts of the caller's own; without any tenure's."""


def open_session(
    backend: Backend,
    principal: Principal,
    name: str,
    rules: SessionRules,
    terms: SessionTerms,
) -> Session:
    """The session of a name: resumed when it is there, else begun.

    Raises:
        InvalidInput: `bad_scope`, `unknown_window`, `window_too_small`, `bad_policy`;
            `unknown_vocabulary`, for a term that no session has; `bad_field`.
    """
    check_fields(SessionTerms, terms, "term of a session")
    log = SessionLog(backend, principal, session_scope(principal, name))
    policy = _policy_of(rules.policy, backend)
    listening = Listening(log.session)
    core = SessionCore(log, policy, listening, rules.subsystems or BUILT_IN)
    core.resume()
    if core.state.seq == 0:
        _begin(core, terms)

    return Session(backend, principal, core)


def _policy_of(policy: WindowPolicy | str | Path | None, backend: Backend) -> WindowPolicy:
    if isinstance(policy, str | Path):
        from .policy_file import window_policy

        return window_policy(policy)
    if not isinstance(policy, WindowPolicy | None):
        raise InvalidInput(
            f"the policy of a session is a WindowPolicy or the path of a file that states one, "
            f"not {type(policy).__name__}",
            code="bad_policy",
        )

    # Made anew of its values: what a caller built by hand is read as strictly as a file.
    return policy_from((policy or backend.policy.window).to_plain())


def _begin(core: SessionCore, terms: SessionTerms) -> None:
    model = terms.get("model", "generic")
    window, limit = window_limit(model, terms.get("window"), terms.get("reserve_tokens"))
    body = {
        "model": model,
        "window": window,
        "limit": limit,
        **policy_body(core.policy, core.subsystems),
        "root": Scope.parse(core.log.session).session,
    }
    texts = (
        terms.get("task", ""),
        terms.get("goal", ""),
        terms.get("system", ""),
        tools_text(terms.get("tools")),
        *terms.get("acceptance", ()),
    )
    event = WindowEvent(seq=1, kind=EventKind.OPENED, body=body, texts=texts)

    # Folded before it is appended: terms that leave no room are refused, and nothing is kept.
    state = step(EMPTY_STATE, event)
    if state.tokens > limit // 2:
        raise InvalidInput(
            f"system, tools and task take {state.tokens} of {limit} tokens; nothing would be left "
            "to talk in: use a larger window, or state less",
            code="window_too_small",
        )
    try:
        core.log.append(0, [event])
        core.state = state
    except Conflict:
        # Another process began it in the same moment: its terms are the session's.
        core.catch_up()
