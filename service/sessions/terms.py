"""Opening a session: the first event, or the fold of those that are there, under a policy.

What is stated again and differs takes effect from the next request on, as one event; what is not
stated stays, the policy included. The name of an erased session can be used again, and so can that
of a closed one with `renew=True`: the new session has an internal name of its own. W is the model's
window, L what of it a request may take: the rest is kept for the answer. A policy may be a file:
TOML, or YAML with the extra `tenure[yaml]`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypedDict, cast

from ...compiler.tokens.capabilities import capability, compile_budget
from ...schema.errors import Conflict, InvalidInput
from ...schema.limits import check_text, toml_of, utf8_of
from ...schema.principal import Principal, Scope
from ...schema.window_policy import WindowPolicy, policy_from
from ...window.events import EventKind, WindowEvent
from ...window.state import EMPTY_STATE, WindowState, tools_text
from ...window.step import step
from ...window.subsystems import BUILT_IN, Subsystems
from ..backend.backend import Backend
from ..backend.caller import check_fields
from ..backend.files import needs_extra
from .core import EventDraft, SessionCore, further_log, newest_log, policy_body

_MOST_BYTES: Final = 1024 * 1024
"""A policy is a page; a larger file is another one by mistake, or a bomb."""
_ADVICE: Final = "`tenure session config` prints every tunable with its default"


def window_policy(path: str | Path) -> WindowPolicy:
    """The policy that a file states; what it leaves out keeps its default.

    Raises:
        InvalidInput: `bad_policy`, for a file that cannot be read, is broken or repeats a key;
            `unknown_vocabulary`, for a name that no tunable has.
        Unavailable: `extra_missing`, for YAML without the extra.
    """
    check_text(str(path), "policy")
    file = Path(path)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise _bad(file, "is larger than a megabyte; a policy is a page of tunables")
        content = file.read_bytes()
    except OSError as error:
        raise _bad(file, f"cannot be read: {error.strerror or error}") from error

    place = f"the window policy {file}"
    text = utf8_of(content, place, code="bad_policy")
    if not text.strip():
        raise _bad(file, f"is empty; {_ADVICE}")

    is_toml = file.suffix == ".toml"
    values = toml_of(text, place, code="bad_policy") if is_toml else _yaml(file, text)
    if not isinstance(values, dict):
        raise _bad(file, f"has no names with values; {_ADVICE}")

    return policy_from(cast("dict[str, Any]", values))


def _yaml(file: Path, text: str) -> Any:
    with needs_extra("yaml"):
        import yaml

    try:
        # Composed first: loading would already have dropped the earlier of two equal keys.
        _refuse_repeats(file, yaml.compose(text, Loader=yaml.SafeLoader))
        return yaml.safe_load(text)
    except InvalidInput:
        raise
    except yaml.YAMLError as error:
        raise _bad(file, f"is no YAML: {_in_one_line(error)}") from error
    except RecursionError as error:
        raise _bad(file, "is nested too deeply") from error
    except ValueError as error:
        # PyYAML hands numbers and days on to Python unread.
        raise _bad(file, "holds a day that does not exist, or too long a number") from error


def _in_one_line(error: Exception) -> str:
    """What a parser says, with the place; PyYAML draws a picture of it over several lines."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None)
    if mark is None or not problem:
        return " ".join(str(error).split())

    return f"{problem} (at line {mark.line + 1}, column {mark.column + 1})"


def _refuse_repeats(file: Path, node: Any) -> None:
    """Refuse what YAML allows and nobody means: a key stated twice, and an alias.

    An alias makes a few lines grow without bound, and of two equal keys the last one wins unseen.
    """
    known_nodes: set[int] = set()
    nodes = [node] if node is not None else []
    while nodes:
        current = nodes.pop()
        if id(current) in known_nodes:
            raise _bad(file, "uses an alias; write the value out")
        known_nodes.add(id(current))

        if current.id == "mapping":
            names = [str(key.value) for key, _ in current.value]
            double_name = next((name for name in names if names.count(name) > 1), None)
            if double_name is not None:
                raise _bad(file, f"states {double_name} twice; keep one of them")
            nodes += [value for _, value in current.value]
        elif current.id == "sequence":
            nodes += current.value


def _bad(file: Path, reason: str) -> InvalidInput:
    return InvalidInput(f"the window policy {file} {reason}", code="bad_policy")


_AMPLE: Final = 1 << 40
"""A budget that no window reaches: what is left of it is the window's own limit."""

_TEXTS: Final[tuple[Literal["task", "goal", "system"], ...]] = ("task", "goal", "system")


class SessionTerms(TypedDict, total=False):
    """What a session is opened with."""

    task: str
    goal: str
    acceptance: Sequence[str]
    system: str
    """The agent's own instruction; it is first in every request."""
    tools: Sequence[Any]
    """The tools' schemas in the provider's form; they are passed on and counted."""
    model: str
    window: int | None
    """Tokens of the window, for a model whose window is not known, or a smaller one."""
    reserve_tokens: int | None
    """The longest answer that is asked for."""
    mask: bool
    """False for an agent that must see secrets; by default they are masked."""
    resume: bool
    """True to take over a turn that another process has left open."""
    renew: bool
    """True to begin again under the name of a closed session."""


def changed_terms(state: WindowState, terms: SessionTerms) -> list[EventDraft]:
    """The event of terms that are stated and differ from those of a session; none for none."""
    stated = {"system": terms.get("system"), "goal": terms.get("goal"), "task": terms.get("task")}
    if "tools" in terms:
        stated["tools"] = tools_text(terms["tools"])
    texts: dict[str, str] = {}
    for field, text in stated.items():
        if text is not None and text != getattr(state, field):
            texts[field] = text

    model = terms.get("model", state.model)
    window, limit = state.window, state.limit
    if model != state.model or terms.get("window") or terms.get("reserve_tokens"):
        window, limit = window_limit(model, terms.get("window"), terms.get("reserve_tokens"))
    if not texts and (model, window, limit) == (state.model, state.window, state.limit):
        return []
    body = {"model": model, "window": window, "limit": limit, "terms": list(texts)}
    return [EventDraft(EventKind.TERMS_CHANGED, body, tuple(texts.values()))]


def masked_terms(core: SessionCore, terms: SessionTerms) -> SessionTerms:
    """Terms without secrets in their texts."""
    masked = terms.copy()
    for field in _TEXTS:
        text = masked.get(field)
        if text is not None:
            masked[field] = core.masked(text)[0]
    if "acceptance" in masked:
        masked["acceptance"] = [core.masked(line)[0] for line in masked["acceptance"]]
    return masked


def window_limit(model: str, window: int | None, reserve: int | None) -> tuple[int, int]:
    """W and L of a model: the window, and what of it a request may take.

    Raises:
        InvalidInput: `unknown_window`, `window_too_small`.
    """
    row = capability(model)
    if window is None and row.window is None:
        raise InvalidInput(
            f"the window of the model {model!r} is not known; state window= in tokens",
            code="unknown_window",
        )

    size = row.window if window is None else window
    if size is None or type(size) is not int or size < 2_048:
        raise InvalidInput(
            f"a window has at least 2048 tokens, not {window!r}", code="window_too_small"
        )

    return size, compile_budget(_AMPLE, reserve, replace(row, window=size)).tokens


def opening_event(
    core: SessionCore,
    model: str,
    size: tuple[int, int],
    texts: tuple[str, ...],
    origin: dict[str, Any],
) -> WindowEvent:
    """The first event of a session of W and L, and where it comes from."""
    window, limit = size
    body = {"model": model, "window": window, "limit": limit, **origin}
    body |= policy_body(core.policy, core.subsystems)
    body["root"] = Scope.parse(core.log.session).session
    return WindowEvent(seq=1, kind=EventKind.OPENED, body=body, texts=texts)


def opened_state(event: WindowEvent) -> WindowState:
    """The state of a session that begins with an event.

    Raises:
        InvalidInput: `window_too_small`, where its terms leave no room to talk in.
    """
    state = step(EMPTY_STATE, event)
    if state.tokens > state.limit // 2:
        raise InvalidInput(
            f"system, tools and task take {state.tokens} of {state.limit} tokens; nothing would be "
            "left to talk in: use a larger window, or state less",
            code="window_too_small",
        )
    return state


class SessionRules(NamedTuple):
    """By what a session is run; another value than before takes effect with the next edit."""

    policy: WindowPolicy | str | Path | None = None
    """A policy, or the path of one; without any the one that the log states, else the pack's."""
    subsystems: Subsystems | None = None
    """Parts of the caller's own; without any tenure's."""


def opened_core(
    backend: Backend,
    principal: Principal,
    name: str,
    rules: SessionRules,
    terms: SessionTerms,
) -> SessionCore:
    """The state of a session by its name: resumed when it is there, else begun.

    Raises:
        InvalidInput: `bad_scope`, `unknown_window`, `window_too_small`, `bad_policy`;
            `unknown_vocabulary`, for a term that no session has; `bad_field`; `old_session`, for
            one that an earlier build has written.
    """
    check_fields(SessionTerms, terms, "term of a session")
    log, generation = newest_log(backend, principal, name)
    policy = _policy_of(rules.policy, backend)
    core = SessionCore(log, policy, rules.subsystems or BUILT_IN, terms.get("mask", True))
    core.resume()
    terms = masked_terms(core, terms)

    # Without a model or a window nothing can begin: then the erased session is read.
    begins = "model" in terms or "window" in terms
    if (core.state.erased and begins) or (core.state.closed and terms.get("renew")):
        core.log = further_log(log, name, generation + 1)
        core.state, core.snapshot_seq = EMPTY_STATE, 0
    if core.state.seq == 0:
        _begin(core, terms)
    else:
        if rules.policy is None and core.state.policy:
            core.policy = policy_from(json.loads(core.state.policy))
        drafts = changed_terms(core.state, terms)
        if drafts and not core.state.closed:
            core.act(drafts)
    if terms.get("resume"):
        core.own_turn = core.state.turn
    return core


def _policy_of(policy: WindowPolicy | str | Path | None, backend: Backend) -> WindowPolicy:
    if isinstance(policy, str | Path):
        return window_policy(policy)
    if not isinstance(policy, WindowPolicy | None):
        raise InvalidInput(
            f"the policy of a session is a WindowPolicy or the path of a file that states one, "
            f"not {type(policy).__name__}",
            code="bad_policy",
        )
    # Made again of its values: what a caller built by hand is read as strictly as a file.
    return policy_from((policy or backend.policy.window).to_plain())


def _begin(core: SessionCore, terms: SessionTerms) -> None:
    model = terms.get("model", "generic")
    size = window_limit(model, terms.get("window"), terms.get("reserve_tokens"))
    texts = (
        terms.get("task", ""),
        terms.get("goal", ""),
        terms.get("system", ""),
        tools_text(terms.get("tools")),
        *terms.get("acceptance", ()),
    )
    event = opening_event(core, model, size, texts, {})
    # Folded before it is appended: terms that leave no room are refused, and nothing is kept.
    state = opened_state(event)
    try:
        core.log.append(0, [event])
        core.state = state
    except Conflict:
        # Another process began it in the same moment: its terms are the session's.
        core.catch_up()
