"""`tenure session …`: the windows of agents, looked into and tidied from outside."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...schema.values import moment
from ...service.visual.text import counted, opening
from .commands import CallAnswer, Display, call_command, command
from .frame import Columns, Screen, answer, columns, confirm, open_memory

if TYPE_CHECKING:
    from ...service.client.memory import Memory
    from ...service.sessions.decision import HealthReading, Pressure, WindowDecision
    from ...service.sessions.session import Session

app = typer.Typer()
session = typer.Typer(help="Sessions: the context windows of agents.", no_args_is_help=True)
app.add_typer(session, name="session")


_NO_SESSION = "there is nothing to free: the window is below its target, or all of it must stay"

_MARK = re.compile(r"\A\[From turn [^\]]*\]\s*")
_OPENING = 40
"""Characters of a unit's words: the table stands within eighty columns."""

_CHANGES = columns(
    "unit form frees=savings why=reason facts_left",
    unit=lambda change: f"window://{change.unit}",
    facts_left=lambda change: f"{change.fidelity / 10:.0f} %",
)
_UNITS = columns(
    "unit turn form tokens begins",
    unit=lambda unit: f"window://{unit.number}",
    # Of a summary without its heading.
    begins=lambda unit: opening(_MARK.sub("", unit.text) or unit.text, _OPENING),
)
_HEALTH: Columns = {"health": itemgetter(0), "value": itemgetter(1), "what it is": itemgetter(2)}


@contextmanager
def _opened(context: typer.Context, name: str, policy: Path | None = None) -> Generator[Session]:
    """A session that is there; a misspelt name must not begin another one."""
    # A session begins when it is first named, so that only the list tells whether it is there.
    with open_memory(context) as memory:
        _event_count(memory, name)
        yield memory.session(name, policy=policy)


def _event_count(memory: Memory, name: str) -> int:
    """How many events a session has.

    Raises:
        NotFound: `unknown_session`.
    """
    from ...schema.errors import NotFound

    for summary in memory.sessions.list():
        if summary.session == name:
            return summary.seq
    raise NotFound(
        f"there is no session {name!r}; tenure session list names them", code="unknown_session"
    )


@call_command(
    session, "sessions.list", "tenure --user ann session list", name="list", empty="no sessions"
)
def list_sessions(page: CallAnswer) -> Display:
    """List your own sessions, by name."""
    listing: list[dict[str, Any]] = []
    for summary in page.value:
        recorded = moment(summary.recorded_us)
        listing.append({"session": summary.session, "seq": summary.seq, "recorded_at": recorded})
    return listing, {
        "session": itemgetter("session"),
        "events": itemgetter("seq"),
        "last event": itemgetter("recorded_at"),
    }


@command(session, "tenure session show trip-1")
def show(context: typer.Context, name: str) -> None:
    """Show the content of the window, unit by unit.

    Options:
        name (NAME): One of your own sessions.
    """
    with _opened(context, name) as opened:
        units = opened.state.units
    answer(context, units, _UNITS, placeholder="the window is empty")


@command(session, "tenure session preview trip-1 --focus fees")
def preview(
    context: typer.Context,
    name: str,
    *,
    focus: str = "",
    keep: list[str] | None = None,
    policy: Path | None = None,
) -> None:
    """Say what `compact` would do now; change nothing.

    Options:
        name (NAME): One of your own sessions.
        focus: The topic to keep.
        keep (ADDRESS): Leave this unit alone; repeat it.
        policy (--window-policy FILE): Tunables, TOML or YAML.
    """
    with _opened(context, name, policy) as opened:
        plan = opened.preview(focus=focus, keep=keep or ())
        reading = opened.report().pressure
    changes = plan.changes if plan else ()

    def show_plan(screen: Screen) -> None:
        screen.table(changes, _CHANGES, placeholder=_NO_SESSION)
        screen.line(_fill(reading))

    answer(context, changes, show_plan)


@command(session, "tenure session compact trip-1 --keep window://12")
def compact(
    context: typer.Context,
    name: str,
    *,
    focus: str = "",
    keep: list[str] | None = None,
    policy: Path | None = None,
) -> None:
    """Shorten the window to its target now.

    Options:
        name (NAME): One of your own sessions.
        focus: The topic to keep.
        keep (ADDRESS): Leave this unit alone; repeat it.
        policy (--window-policy FILE): Tunables, TOML or YAML.
    """
    with _opened(context, name, policy) as opened:
        decision = opened.compact(focus=focus, keep=keep or ())
    answer(context, decision, lambda screen: _show_decision(screen, name, decision))


@call_command(session, "sessions.undo", "tenure session undo trip-1 57")
def undo(page: CallAnswer) -> Display:
    """Restore what an edit removed, if the window has room."""
    return lambda screen: _show_decision(screen, page.arguments["name"], page.value, undone=True)


def _show_decision(
    screen: Screen, name: str, decision: WindowDecision, *, undone: bool = False
) -> None:
    # An undo has no edit of its own; a compact without one found nothing.
    if decision.actions or not undone:
        screen.table(decision.actions, _CHANGES, placeholder=_NO_SESSION)
    if decision.edit is not None:
        screen.line(f"undo it with: tenure session undo {name} {decision.edit}")
    screen.line(_fill(decision.reading))


def _fill(reading: Pressure) -> str:
    return f"{reading.tokens:,} of {reading.limit:,} tokens"


@call_command(
    session,
    "sessions.rehydrate",
    "tenure session rehydrate trip-1 window://57",
    "tenure session rehydrate trip-1 turn:12",
)
def rehydrate(page: CallAnswer) -> Display:
    """Read originals, a page at a time."""
    cursor = page.value.cursor
    tail = f"\nread on with: {cursor}" if cursor else ""
    return f"{page.value.text}{tail}"


@command(session, "tenure session checkpoint trip-1")
def checkpoint(context: typer.Context, name: str) -> None:
    """Save the state of the task in the session, and print it.

    Options:
        name (NAME): One of your own sessions.
    """
    with _opened(context, name) as opened:
        task = opened.checkpoint()
    answer(context, task.to_json(), task.to_markdown())


@command(session, "tenure session resume trip-1")
def resume(context: typer.Context, name: str) -> None:
    """Print the five steps by which a new window resumes the task.

    Options:
        name (NAME): One of your own sessions.
    """
    with _opened(context, name) as opened:
        task = opened.bootstrap()
    steps = "\n".join(f"{entry.step.value}: {entry.text}" for entry in task.entries)
    answer(context, task, f"{task.text}\n{steps}\n")


@command(session, "tenure --user ann session erase trip-1 --reason 'case 17'")
def erase(context: typer.Context, name: str, *, reason: str = "", yes: bool = False) -> None:
    """Empty every text of a session, and close it. It cannot be undone.

    It also empties its checkpoints and envelopes. Name another user's session with --user.


    Options:
        name (NAME): One of your own sessions.
        reason: Why; it stays in the tombstone.
        yes: Do not ask.
    """
    with open_memory(context) as memory:
        events = counted(_event_count(memory, name), "event")
        confirm(context, f"Erase all {events} of session {name} for ever?", reason, yes=yes)
        object_ids = memory.erase_session(name, reason=reason)

    def show_erasure(screen: Screen) -> None:
        screen.line(f"emptied all {events} of session {name}, and closed it: {reason}")
        for object_id in object_ids:
            screen.line(f"  checkpoint: {object_id}")

    answer(context, {"session": name, "object_ids": object_ids}, show_erasure)


@command(session, "tenure session report trip-1")
def report(context: typer.Context, name: str) -> None:
    """Show pressure, tokens by component, and health.

    Options:
        name (NAME): One of your own sessions.
    """
    from ...service.sessions.decision import alert_text

    with _opened(context, name) as opened:
        status = opened.report()

    def show_report(screen: Screen) -> None:
        reading = status.pressure
        screen.line(f"{reading.status.value}: {_fill(reading)}, {status.trend.direction.value}")
        screen.line(
            f"turn {status.turn}, step {status.step}, {counted(status.edits, 'edit')}, "
            f"{counted(status.evictions, 'unit')} shortened, window {status.windows}"
        )
        screen.table(status.components, columns("component tokens a_turn=burn"))
        screen.line()
        screen.table(_health_rows(status.health), _HEALTH)
        for alert in status.alerts:
            screen.line(f"alert: {alert_text(alert)}")
        if status.urgency is not None:
            screen.line(f"{status.urgency.value}: full in {status.turns_left} turns at this rate")
        for line in status.advice:
            screen.line(f"advice: {line}")

    answer(context, status, show_report)


def _health_rows(health: HealthReading) -> list[tuple[str, str, str]]:
    """The six metrics with what is meant by each."""
    return [
        ("utilisation", _percent(health.utilisation), "of the limit, at the upper bound"),
        ("evictions a turn", _tenths(health.evictions_per_turn), "shortened, in twenty turns"),
        ("compression", f"{_tenths(health.compression)} times", "shorter, what was edited"),
        ("burn rate", f"{health.burn_rate:,}", "tokens a turn"),
        ("fidelity", _percent(health.fidelity), "facts left by the last edit"),
        ("tool bloat", _percent(health.tool_bloat), "of the limit, schemas and results"),
    ]


def _percent(permille: int) -> str:
    return f"{permille / 10:.1f} %"


def _tenths(thousandths: int) -> str:
    return f"{thousandths / 1000:.1f}"


@command(session, "tenure session config", "tenure session config window.toml")
def config(context: typer.Context, file: Path | None = None, *, profile: str | None = None) -> None:
    """Print every tunable of a window, with the reason of its default.

    Options:
        file ([FILE]): A policy in TOML or YAML.
        profile: Where to start: chat, exploration, mixed, repetitive, critical.
    """
    from ...schema.errors import InvalidInput
    from ...schema.vocabulary import parse
    from ...schema.window_policy import AGENT_POLICIES, DEFAULT_WINDOW, AgentProfile, tunables
    from ...service.sessions.terms import window_policy

    if file is not None and profile is not None:
        raise InvalidInput("state a file or a profile, not both", code="bad_policy")
    policy = DEFAULT_WINDOW if file is None else window_policy(file)
    if profile is not None:
        policy = AGENT_POLICIES[parse(AgentProfile, profile)]
    rows = tunables(policy)
    answer(context, list(rows), columns("tunable=name value reason_of_the_default=reason"))
