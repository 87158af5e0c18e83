"""How full a window is, what takes it, how well it is kept, and what to do about it.

Pressure: utilisation is the upper bound of the next request over L, velocity the mean growth of
the last turns, and a spike a growth of more than three times its exponential mean. Budget: six
components with their usual shares, which only warn, because a request is refused as a whole.
Health: six metrics, and alerts after the third reading out of range. Advice: evict, compress or
delegate. All of it is whole numbers, so that a replay on another machine takes the same decisions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from ..schema.errors import InvalidInput
from ..schema.records import short_repr
from ..schema.window_policy import BudgetShares, WindowPolicy, Zones
from .ledger import UnitChange, savings_of
from .state import WindowState
from .units import StandingForm, WindowUnit, tokens_in

READINGS: Final = 10
"""Loads and metrics kept, at the ends of the last turns."""
_GROWTHS: Final = 5
EVICTION_TURNS: Final = 20
"""Turns over which evictions are counted: edits are rare and large, so over fewer each would be
an alarm, and over a whole session none."""
_SPIKE_FACTOR: Final = 3
_ALPHA: Final = 300
"""Permille that the newest growth has in the exponential mean."""


class Zone(StrEnum):
    """Pressure zones, rising."""

    GREEN = "green"
    YELLOW = "yellow"
    ORANGE = "orange"
    RED = "red"


class WindowStatus(StrEnum):
    """Status shown to monitoring, one per zone."""

    HEALTHY = "healthy"
    PREPARING = "preparing"
    ACTIVE = "active"
    EMERGENCY = "emergency"


class VelocityClass(StrEnum):
    """How fast a window fills; the bands are the customary ones, the gaps go to the nearer band."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Pressure:
    """One reading of a window."""

    __repr__ = short_repr

    tokens: int
    limit: int
    """L: tokens that a request may take."""
    utilisation: int
    """Permille of L."""
    zone: Zone
    velocity: int
    """Mean growth a turn over the last five, in tokens; negative after an edit."""
    velocity_class: VelocityClass
    turns_until_red: int | None
    """None while nothing grows."""
    spike: bool
    """Whether the last turn grew more than three times as much as turns do on average."""
    rollover: bool
    """Whether the window is so full, or fills so fast, that the next turn needs a new one."""
    source: str = "own"
    """Who counted: our counter alone (`own`), or with the provider's reports (`provider`)."""

    @property
    def status(self) -> WindowStatus:
        """The status of its zone."""
        return tuple(WindowStatus)[tuple(Zone).index(self.zone)]


def pressure(tokens: int, limit: int, loads: tuple[int, ...], mean: int, zones: Zones) -> Pressure:
    """The reading of a window that holds so many tokens.

    `loads` are the loads at the end of the last turns, oldest first, and `mean` the exponential
    mean of their growths.

    >>> pressure(7_600, 10_000, (6_000, 6_800), 500, Zones()).zone
    <Zone.ORANGE: 'orange'>
    """
    # Permille in whole numbers: a float at a boundary would decide differently elsewhere.
    utilisation = tokens * 1000 // limit
    history = (*loads, tokens)[-_GROWTHS - 1 :]
    growths = [following - preceding for preceding, following in itertools.pairwise(history)]
    velocity = sum(growths) // len(growths) if growths else 0

    red = zones.red * limit // 1000
    turns = max(0, red - tokens) // velocity if velocity > 0 else None

    return Pressure(
        tokens=tokens,
        limit=limit,
        utilisation=utilisation,
        zone=zone_of(utilisation, zones),
        velocity=velocity,
        velocity_class=_class_of(velocity),
        turns_until_red=turns,
        spike=bool(growths) and mean > 0 and growths[-1] > _SPIKE_FACTOR * mean,
        rollover=utilisation >= zones.rollover or tokens + velocity > limit,
    )


def read_pressure(state: WindowState, policy: WindowPolicy) -> Pressure:
    """The pressure of a window now."""
    zones = policy.zones_of(state.window)
    reading = pressure(state.tokens, state.limit, state.loads, state.mean_growth, zones)
    return replace(reading, source=state.correction.source)


def zone_of(utilisation: int, zones: Zones) -> Zone:
    """The zone of a utilisation in permille."""
    if utilisation >= zones.red:
        return Zone.RED
    if utilisation >= zones.orange:
        return Zone.ORANGE
    return Zone.YELLOW if utilisation >= zones.yellow else Zone.GREEN


def next_mean(mean: int, growth: int) -> int:
    """The exponential mean of growths after another one; the first growth starts it."""
    if mean == 0:
        return max(growth, 0)
    return (_ALPHA * max(growth, 0) + (1000 - _ALPHA) * mean) // 1000


def _class_of(velocity: int) -> VelocityClass:
    # Between the bands 200-500, 1K-3K and 5K-20K the nearer one counts.
    if velocity < 750:
        return VelocityClass.LOW
    return VelocityClass.MEDIUM if velocity < 4_000 else VelocityClass.HIGH


class WindowComponent(StrEnum):
    """What takes tokens of a window, beside the reserve for the answer."""

    SYSTEM_PROMPT = "system_prompt"
    TOOL_DEFINITIONS = "tool_definitions"
    MESSAGE_HISTORY = "message_history"
    TOOL_RESULTS = "tool_results"
    MEMORY_INJECTION = "memory_injection"


_SOFT: Final = 800
"""Permille of its share from which a component warns."""
_BURN_TURNS: Final = 5
_CRITICAL_TURNS: Final = 3
_WARNING_TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class ComponentUse:
    """What one component takes."""

    component: WindowComponent
    tokens: int
    share: int
    """Tokens that it usually takes at most."""
    warns: bool
    burn: int = 0
    """Tokens that it grew by a turn, over the last five turns."""


def component_uses(state: WindowState, shares: BudgetShares) -> tuple[ComponentUse, ...]:
    """What each component takes of a window now, beside its usual share."""
    results, history = _loads(state.units)
    young_units = [unit for unit in state.units if unit.turn > state.turn - _BURN_TURNS]
    young_results, young_history = _loads(young_units)
    turns = max(1, min(_BURN_TURNS, state.turn))
    burns = {
        WindowComponent.MESSAGE_HISTORY: young_history // turns,
        WindowComponent.TOOL_RESULTS: young_results // turns,
    }
    tools = state.count(state.tools) if state.tools else 0
    tokens = {
        WindowComponent.SYSTEM_PROMPT: state.fixed_tokens - tools,
        WindowComponent.TOOL_DEFINITIONS: tools,
        WindowComponent.MESSAGE_HISTORY: history + state.ledger.tokens,
        WindowComponent.TOOL_RESULTS: results,
        WindowComponent.MEMORY_INJECTION: state.memory_tokens,
    }

    uses: list[ComponentUse] = []
    for component, load in tokens.items():
        share = shares.tokens(component.value, state.limit)
        warns = load * 1000 >= _SOFT * share
        # The other components are stated once: they do not grow from turn to turn.
        uses.append(ComponentUse(component, load, share, warns, burns.get(component, 0)))
    return tuple(uses)


def _loads(units: Iterable[WindowUnit]) -> tuple[int, int]:
    """Tokens of results, and of everything else that stands in units."""
    results = history = 0
    for unit in units:
        share = tokens_in(unit.results)
        results += share
        history += unit.tokens - share
    return results, history


def urgency_of(turns: int | None) -> AlertLevel | None:
    """How urgent it is that a window will be full in so many turns; None where it is not."""
    if turns is None or turns >= _WARNING_TURNS:
        return None
    return AlertLevel.CRITICAL if turns < _CRITICAL_TURNS else AlertLevel.WARNING


def full_turns(budget: int, mean_turn: int) -> int:
    """k*: how many of the newest turns of a mean size a budget holds in full.

    >>> full_turns(81_000, 600)
    135
    """
    return budget // max(1, mean_turn)


def newest_full_turns(state: WindowState, policy: WindowPolicy) -> int:
    """How many turns of the session's mean size an edit leaves room for."""
    target = policy.zones_of(state.window).target * state.limit // 1000
    stated = state.fixed_tokens + state.memory_tokens + state.ledger.tokens
    return full_turns(max(0, target - stated), state.history_tokens // max(1, state.turn))


def exhaustion_turns(reading: Pressure) -> int | None:
    """Turns until the window is full at the present velocity; None while nothing grows."""
    if reading.velocity <= 0:
        return None
    return max(0, reading.limit - reading.tokens) // reading.velocity


_ALERT_READINGS: Final = 3
"""Readings in a row from which a metric out of its range is an alert."""


class AlertLevel(StrEnum):
    """How urgent an alert is."""

    INFO = "INFO"
    WARNING = "WARNING"
    CRITICAL = "CRITICAL"


class WindowTrend(StrEnum):
    """Where the utilisation of the last ten turns goes."""

    RISING = "rising"
    FALLING = "falling"
    STABLE = "stable"


@dataclass(frozen=True, slots=True)
class HealthReading:
    """The six metrics at the end of a turn; shares in permille."""

    utilisation: int
    evictions_per_turn: int
    """Times a thousand, over the last turns: a mean of a long session's life never moves."""
    compression: int
    """How many times shorter the edited units stand than they were, times a thousand."""
    burn_rate: int
    """Tokens a turn."""
    fidelity: int
    """Share of the facts of the edited units that still stand, mean over the last edit."""
    tool_bloat: int
    """Share of L that the tools' schemas and results take."""


@dataclass(frozen=True, slots=True)
class WindowAlert:
    """A metric that stayed out of its range."""

    __repr__ = short_repr

    level: AlertLevel
    metric: str
    value: int
    bound: int


_CEILINGS: Final = (
    ("utilisation", 900, AlertLevel.CRITICAL),
    ("utilisation", 600, AlertLevel.INFO),
    ("evictions_per_turn", 5_000, AlertLevel.WARNING),
    ("evictions_per_turn", 2_000, AlertLevel.INFO),
    ("tool_bloat", 300, AlertLevel.WARNING),
    ("tool_bloat", 150, AlertLevel.INFO),
)
"""Metric, the value from which it is out of its range, and how much that matters (C-282)."""
_FLOORS: Final = (
    ("fidelity", 750, AlertLevel.WARNING),
    ("fidelity", 850, AlertLevel.INFO),
    ("compression", 2_000, AlertLevel.WARNING),
)
"""The same below a value."""
_UNEDITED: Final = 1_000
"""The compression of a window in which nothing stands shorter: no edit has failed at it."""


def stated_readings(state: WindowState) -> tuple[HealthReading, ...]:
    """The metrics at the ends of the last turns, as the log states them."""
    return tuple(HealthReading(*reading) for reading in state.readings)


def health_reading(state: WindowState, reading: Pressure) -> HealthReading:
    """The metrics of a window at a reading of its pressure."""
    tools = state.count(state.tools) if state.tools else 0
    for unit in state.units:
        tools += tokens_in(unit.results)
    standing = state.standing_tokens
    return HealthReading(
        utilisation=reading.utilisation,
        evictions_per_turn=_eviction_rate(state),
        compression=1000 * state.original_tokens // standing if standing else 1000,
        burn_rate=max(0, reading.velocity),
        fidelity=state.fidelity,
        tool_bloat=1000 * tools // state.limit,
    )


def _eviction_rate(state: WindowState) -> int:
    marks = state.eviction_marks
    base = marks[0] if len(marks) > EVICTION_TURNS else 0
    turns = min(len(marks), EVICTION_TURNS) + state.in_turn
    return 1000 * (state.evictions - base) // max(1, turns)


def window_alerts(readings: Sequence[HealthReading]) -> tuple[WindowAlert, ...]:
    """The alerts of the last readings, oldest first: a metric out of range three times in a row.

    Of several bounds of one metric the most urgent counts.
    """
    latest = readings[-_ALERT_READINGS:]
    if len(latest) < _ALERT_READINGS:
        return ()

    # The tables list the more urgent bound of a metric first, and the first one that holds wins.
    alerts: dict[str, WindowAlert] = {}
    for metric, bound, level in _CEILINGS:
        values = [getattr(reading, metric) for reading in latest]
        if min(values) >= bound and metric not in alerts:
            alerts[metric] = WindowAlert(level, metric, values[-1], bound)

    for metric, bound, level in _FLOORS:
        values = [getattr(reading, metric) for reading in latest]
        is_unedited = metric == "compression" and _UNEDITED in values
        if max(values) < bound and not is_unedited and metric not in alerts:
            alerts[metric] = WindowAlert(level, metric, values[-1], bound)
    return tuple(alerts.values())


class TrendReport(NamedTuple):
    """Where the load of the last ten turns goes."""

    direction: WindowTrend
    deltas: tuple[int, ...]
    """The growth of each of these turns, in tokens, oldest first."""


def window_trend(loads: Sequence[int]) -> TrendReport:
    """The trend of the last ten loads; a tenth up or down still counts as stable.

    >>> window_trend((1_000, 1_300, 1_200))
    TrendReport(direction=<WindowTrend.RISING: 'rising'>, deltas=(300, -100))
    """
    latest = loads[-READINGS:]
    deltas = tuple(later - before for before, later in itertools.pairwise(latest))
    direction = WindowTrend.STABLE
    if deltas and abs(sum(deltas)) * 10 > latest[0]:
        direction = WindowTrend.RISING if sum(deltas) > 0 else WindowTrend.FALLING
    return TrendReport(direction, deltas)


DELEGATE_FROM: Final = 50_000
"""Tokens of one turn's work from which a window of its own is the cheaper place for it."""
SESSIONS_FOR_ADVICE: Final = 10
_COMPRESSED_FORMS: Final = frozenset({StandingForm.SHORT, StandingForm.SUMMARY})
_LEAST_RESERVE: Final = 4_096


class WindowAxis(StrEnum):
    """What keeps a window small."""

    NONE = "none"
    """There is nothing to do."""
    EVICT = "evict"
    """Units leave, under their addresses."""
    COMPRESS = "compress"
    """Results become excerpts, or units a summary."""
    DELEGATE = "delegate"
    """The work of this turn would fit better into a window of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """What one edit came to, over all units that it changed."""

    __repr__ = short_repr

    strategy: StandingForm
    """The form that freed most."""
    original: int
    """Tokens of the changed units before."""
    compressed: int
    """Tokens of what stands for them."""
    fidelity: int
    """Permille of their facts that still stand, weighed by what each change freed."""
    calls: int
    """Calls of a model whose answers were used; all other forms need none."""


def axis_of(state: WindowState, changes: Iterable[UnitChange]) -> WindowAxis:
    """The axis of a decision, by the table: first the work that belongs elsewhere."""
    if turn_work(state) > DELEGATE_FROM:
        return WindowAxis.DELEGATE

    forms = {change.form for change in changes}
    if forms & _COMPRESSED_FORMS:
        return WindowAxis.COMPRESS
    return WindowAxis.EVICT if forms else WindowAxis.NONE


def turn_work(state: WindowState) -> int:
    """Tokens of the calls and results of the turn that runs."""
    tokens = 0
    for unit in reversed(state.units):
        if unit.turn < state.turn:
            break
        if unit.calls:
            tokens += unit.full_tokens or unit.tokens
    return tokens


def compression_result(
    before: WindowState, changes: Sequence[UnitChange]
) -> CompressionResult | None:
    """What an edit came to; None for one that changed nothing."""
    if not changes:
        return None

    # A long session has thousands of units and an edit hundreds of changes: each is walked once.
    changed_numbers = {change.unit for change in changes}
    original = tokens_in(unit for unit in before.units if unit.number in changed_numbers)
    savings = savings_of(changes)

    # A change that frees nothing counts too: the weights must not sum to nothing.
    total_weight = total_fidelity = calls = 0
    for change in changes:
        weight = max(1, change.savings)
        total_weight += weight
        total_fidelity += weight * change.fidelity
        calls += change.form is StandingForm.SUMMARY
    return CompressionResult(
        strategy=max(changes, key=lambda change: change.savings).form,
        original=original,
        compressed=max(0, original - savings),
        fidelity=total_fidelity // total_weight,
        calls=calls,
    )


def tuning_advice(
    uses: Iterable[ComponentUse], state: WindowState, sessions: int
) -> tuple[str, ...]:
    """What to change in the policy by what this session shows; nothing before ten sessions."""
    if sessions < SESSIONS_FOR_ADVICE:
        return ()

    advice: list[str] = []
    if state.window - state.limit < _LEAST_RESERVE:
        advice.append("reserve 4096 tokens for the answer at least: reserve_tokens=4096")
    for use in uses:
        if use.warns and use.component in _ADVICE:
            advice.append(_ADVICE[use.component])
    return tuple(advice)


_ADVICE: Final = {
    WindowComponent.TOOL_RESULTS: "results fill their share: give them 15 to 20 per cent "
    "(profile code_review), or lower result_tokens",
    WindowComponent.TOOL_DEFINITIONS: "tools fill their share: offer fewer of them to one agent",
    WindowComponent.MESSAGE_HISTORY: "talk fills its share: give it 70 per cent (profile support), "
    "or conclude finished work",
    WindowComponent.MEMORY_INJECTION: "what the store brings fills its share: lower memory_share, "
    "or take the profile research",
    WindowComponent.SYSTEM_PROMPT: "the instructions fill their share: shorten them",
}
"""What helps where a component stands at four fifths of its share."""


QUESTIONS: Final = 40
_ABOUT: Final = "What does the conversation say about "
_TARGET: Final = 850
"""Permille from which fidelity is as it should be."""
_LEAST_SHARE: Final = 750


class FidelityJudge(Protocol):
    """Answers a question from a context, and from nothing else."""

    def answer(self, question: str, context: str) -> str:
        """The answer, empty where the context has none; equal answers are equal texts."""
        ...


class VerbatimJudge:
    """Finds the identifier of a question where a context repeats it letter by letter."""

    def answer(self, question: str, context: str) -> str:
        """The identifier itself, empty where the context lacks it."""
        word = question.rpartition(_ABOUT)[2].rstrip("?")
        return word if word in context else ""


@dataclass(frozen=True, slots=True)
class JudgedFidelity:
    """What a judge said."""

    questions: int
    """How many the whole conversation answers."""
    agreements: int
    """How many of those the window answers alike."""

    @property
    def share(self) -> int:
        """Permille that is kept; 1000 where nothing was asked."""
        return 1000 * self.agreements // self.questions if self.questions else 1000

    @property
    def alert(self) -> AlertLevel | None:
        """A warning below 750 permille, a hint below 850."""
        if self.share < _LEAST_SHARE:
            return AlertLevel.WARNING
        return AlertLevel.INFO if self.share < _TARGET else None


def judged_fidelity(
    history: WindowState, state: WindowState, judge: FidelityJudge
) -> JudgedFidelity:
    """Ask a judge what a window still answers; `history` is the log folded without its edits.

    Raises:
        InvalidInput: `bad_field`, for a judge that cannot be asked.
    """
    if not callable(getattr(judge, "answer", None)):
        raise InvalidInput(
            "a judge has a method answer(question, context)", code="bad_field", field="judge"
        )
    history_text, standing = history.text, state.text

    answerable = agreements = 0
    for question in fidelity_questions(history):
        answer = judge.answer(question, history_text)
        if not answer:
            continue
        answerable += 1
        agreements += judge.answer(question, standing) == answer
    return JudgedFidelity(answerable, agreements)


def fidelity_questions(history: WindowState) -> tuple[str, ...]:
    """At most forty questions, one for an identifier, spread evenly over all that was named."""
    names: dict[str, None] = {}
    for unit in history.units:
        names.update(dict.fromkeys(unit.identifiers))
    distinct = list(names)
    # Taken at even distances: neither the oldest nor the newest are asked for more often.
    stride = max(1, -(-len(distinct) // QUESTIONS))
    return tuple(f"{_ABOUT}{name}?" for name in distinct[::stride])


class NoticeKind(StrEnum):
    """What a notice tells."""

    ZONE_CHANGED = "zone_changed"
    SPIKE = "spike"
    """A turn grew more than three times as much as turns do on average."""
    EDIT_DUE = "edit_due"
    """An edit comes; its text names the units."""
    EDITED = "edited"
    DELEGATION_ADVISED = "delegation_advised"
    ALERT = "alert"
    """A metric of health was out of its range for three turns in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowNotice:
    """Something that happened in a window, for whoever watches it."""

    kind: NoticeKind
    session: str
    """The session's scope: `user=u,session=s`."""
    seq: int
    """The number of the last event; all up to it is durable."""
    zone: Zone
    text: str
    """One line for a person."""


class NoticeLine(NamedTuple):
    """What one notice tells."""

    kind: NoticeKind
    text: str
    is_new: bool = True
    """False for what lasts since an earlier hook, which a listener has heard of."""


def notice_lines(
    before: WindowState | None,
    state: WindowState,
    earlier: Pressure | None,
    reading: Pressure,
    changes: Sequence[UnitChange],
) -> tuple[NoticeLine, ...]:
    """What a hook's answer tells, at most one line a kind, in the order of the kinds.

    `before` is the state before the hook and `earlier` its reading, None where nothing was
    appended.
    """
    lines: list[NoticeLine] = []
    if earlier is not None and earlier.zone is not reading.zone:
        text = f"zone changed from {earlier.zone.value} to {reading.zone.value}"
        lines.append(NoticeLine(NoticeKind.ZONE_CHANGED, text))

    if reading.spike:
        text = "the last turn grew more than three times as much as usual"
        is_new = earlier is None or not earlier.spike
        lines.append(NoticeLine(NoticeKind.SPIKE, text, is_new))

    if changes:
        lines.append(NoticeLine(NoticeKind.EDITED, edit_text(changes)))

    work = turn_work(state)
    if work > DELEGATE_FROM:
        text = (
            f"the work of this turn takes {work} tokens; delegate keeps such work in a window of "
            "its own"
        )
        is_new = before is None or turn_work(before) <= DELEGATE_FROM
        lines.append(NoticeLine(NoticeKind.DELEGATION_ADVISED, text, is_new))
    return tuple(lines)


def alert_lines(before: WindowState, state: WindowState) -> Iterator[NoticeLine]:
    """The alerts of metrics that had none before."""
    metrics = {alert.metric for alert in window_alerts(stated_readings(before))}
    for alert in window_alerts(stated_readings(state)):
        if alert.metric not in metrics:
            yield NoticeLine(NoticeKind.ALERT, alert_text(alert))


def edit_text(changes: Sequence[UnitChange]) -> str:
    """What an edit did, and to which units for which reason."""
    by_cause: dict[tuple[str, str], list[int]] = {}
    for change in changes:
        by_cause.setdefault((change.form.value, change.reason), []).append(change.unit)

    parts: list[str] = []
    for (form, reason), units in by_cause.items():
        span = f"{units[0]} to {units[-1]}" if len(units) > 1 else f"{units[0]}"
        parts.append(f"{len(units)} into {form} ({reason}, window://{span})")
    return f"{len(changes)} changes freed {savings_of(changes)} tokens: {'; '.join(parts)}"


def alert_text(alert: WindowAlert) -> str:
    """An alert as one line."""
    return f"{alert.level.value}: {alert.metric} is {alert.value}, its bound {alert.bound}"
