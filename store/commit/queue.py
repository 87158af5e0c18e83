"""The group-commit queue: concurrent writers share one transaction.

A caller that finds no leader becomes it: it runs all waiting jobs as one group, hands each member
its result or its error, and passes the lead to the oldest caller that still waits. The queue has no
thread of its own. The next leader waits briefly for the callers that are just being answered, at
most a share of the time that their group took; otherwise two halves of the writers would take
turns.

Guarantees: jobs run in the order of arrival, and an exclusive job runs alone. If a group fails as a
whole, every member gets the error; a failing leader never blocks the others. A job that returns an
exception raises it in its own caller only. After `close`, new jobs are refused and waiting ones
still run. The queue knows threads only; the store knows what a job does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Condition, Lock
from time import perf_counter
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

from ...schema.errors import Fault, InvalidInput, TenureError, Unavailable

LARGEST: Final = 256
"""Jobs in one group: enough to share an fsync, few enough to keep a writer's wait short."""

_PATIENCE: Final = 0.25
"""How long a new leader waits for company, as a share of the time of the last group."""

Job = TypeVar("Job")
Result = TypeVar("Result")


class _Ticket(Generic[Job, Result]):
    """A job that waits, and what became of it."""

    __slots__ = ("answer", "error", "exclusive", "gate", "job", "leads")

    def __init__(self, job: Job, *, exclusive: bool) -> None:
        self.job = job
        self.exclusive = exclusive
        self.leads = False
        self.answer: tuple[Result, ...] = ()
        """The result, once there is one."""
        self.error: BaseException | None = None
        self.gate = Lock()
        """Held until the ticket is answered or leads."""
        self.gate.acquire()


class CommitQueue(Generic[Job, Result]):
    """A queue in front of one tenant's writer."""

    def __init__(
        self,
        run: Callable[[Sequence[Job]], Sequence[Result | Exception]],
        *,
        largest: int = LARGEST,
    ) -> None:
        """Make a queue; `run` executes a group and answers each job, in order."""
        self._run = run
        self._largest = largest
        self._waiting: deque[_Ticket[Job, Result]] = deque()
        self._guard = Lock()
        self._arrival = Condition(self._guard)
        self._has_leader = False
        self._company = 1
        """How many jobs the next group may have when all who were just answered come back."""
        self._until = 0.0
        """Until when the next leader waits for them."""
        self._group_s = 0.0
        """Seconds that the last group took."""
        self._is_closed = False

    def submit(self, job: Job, *, exclusive: bool = False) -> Result:
        """Run a job in a group, or alone, and return its result.

        Raises:
            Unavailable: `store_closed`.
            Exception: What the job was handed, or what its group failed with.
        """
        ticket: _Ticket[Job, Result] = _Ticket(job, exclusive=exclusive)
        with self._guard:
            if self._is_closed:
                raise Unavailable("the store was closed; connect again", code="store_closed")
            self._waiting.append(ticket)
            self._arrival.notify()
            if not self._has_leader:
                self._has_leader = True
                self._hand_over(ticket)

        self._wait(ticket)
        if ticket.leads:
            self._lead(ticket)
        if ticket.error is not None:
            raise _copy_of(ticket.error)

        (result,) = ticket.answer

        return result

    def close(self) -> None:
        """Refuse later jobs; those that wait are still run by their own callers."""
        with self._guard:
            self._is_closed = True

    def _wait(self, ticket: _Ticket[Job, Result]) -> None:
        is_awake = False
        try:
            is_awake = ticket.gate.acquire()
        finally:
            if not is_awake:  # the waiting thread was interrupted: nobody must wait for it
                self._leave(ticket)

    def _leave(self, ticket: _Ticket[Job, Result]) -> None:
        with self._guard:
            if ticket in self._waiting:
                self._waiting.remove(ticket)
            if ticket.leads:
                self._pass_on()

    def _lead(self, ticket: _Ticket[Job, Result]) -> None:
        """Run the group at the head of the queue; the leader itself is its first member."""
        group = self._gather(ticket)
        start_s = perf_counter()
        with _Settling(self, group) as settling:
            settling.settle(self._run([member.job for member in group]))
            self._group_s = perf_counter() - start_s

    def _gather(self, ticket: _Ticket[Job, Result]) -> list[_Ticket[Job, Result]]:
        group: list[_Ticket[Job, Result]] = []
        try:
            with self._arrival:
                if not ticket.exclusive:
                    patience = max(0.0, self._until - perf_counter())
                    self._arrival.wait_for(self._complete, timeout=patience)
                group = self._take()
        finally:
            if not group:  # the leading thread was interrupted: another one must lead
                self._leave(ticket)

        return group

    def _complete(self) -> bool:
        return self._is_closed or len(self._waiting) >= min(self._company, self._largest)

    def _take(self) -> list[_Ticket[Job, Result]]:
        group = [self._waiting.popleft()]
        while (
            self._waiting
            and len(group) < self._largest
            and not (group[0].exclusive or self._waiting[0].exclusive)
        ):
            group.append(self._waiting.popleft())

        return group

    def _pass_on(self) -> None:
        """Give the lead to the oldest job that waits; the guard is held."""
        if self._waiting:
            self._hand_over(self._waiting[0])
        else:
            self._has_leader = False

    def _hand_over(self, ticket: _Ticket[Job, Result]) -> None:
        ticket.leads = True
        ticket.gate.release()

    def release_group(self, group: Sequence[_Ticket[Job, Result]]) -> None:
        """Wake the members of a group, and let the next group begin."""
        with self._guard:
            self._company = len(self._waiting) + len(group)
            self._until = perf_counter() + _PATIENCE * self._group_s
            self._pass_on()

        for ticket in group[1:]:
            ticket.gate.release()


class _Settling(Generic[Job, Result]):
    """Whatever happens while a group runs, every member is answered and the lead passes on."""

    def __init__(
        self, queue: CommitQueue[Job, Result], group: Sequence[_Ticket[Job, Result]]
    ) -> None:
        self._queue = queue
        self._group = group

    def __enter__(self) -> Self:
        return self

    def settle(self, answers: Sequence[Result | Exception]) -> None:
        """Hand each member its answer."""
        if len(answers) != len(self._group):
            raise Fault(
                f"a group of {len(self._group)} writes got {len(answers)} answers",
                code="invariant_broken",
            )

        for ticket, answer in zip(self._group, answers, strict=True):
            if isinstance(answer, Exception):
                ticket.error = answer
            else:
                ticket.answer = (answer,)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            for ticket in self._group[1:]:
                ticket.error = error if isinstance(error, Exception) else _interruption()

        self._queue.release_group(self._group)


class Attempt(Generic[Job, Result]):
    """A run of a group whose unforeseen error may be the fault of one of its jobs.

    The run must leave no trace when it raises.
    """

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.answers: Sequence[Result | Exception] = ()
        """One a job, in order; none where the group must be run one by one."""
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        # A store that is busy, full or gone is so for every job; a `Fault` is a statement that
        # it refused, and bad input is somebody's: one job alone may have caused either.
        foreseen = isinstance(error, TenureError) and not isinstance(error, Fault | InvalidInput)
        if not isinstance(error, Exception) or foreseen:
            return False

        self.error = error
        if len(self.jobs) == 1:
            self.answers = (error,)
        return True

    def answered(self) -> Iterable[tuple[Job, Result | Exception]]:
        """Each job with its answer; nothing after an error that was not one job's alone."""
        return zip(self.jobs, self.answers, strict=True) if self.answers else ()


def attempts(jobs: Sequence[Job]) -> Iterator[Attempt[Job, Any]]:
    """Attempts at jobs: as one group, and after an unforeseen error one by one.

    So no job fails another's. Each is to be entered, run, and left with its answers.
    """
    group: Attempt[Job, Any] = Attempt(jobs)
    yield group

    if group.error is not None and len(jobs) > 1:
        for job in jobs:
            yield Attempt([job])


def _interruption() -> Unavailable:
    return Unavailable(
        "the thread that wrote this group was interrupted; nothing was kept: try again",
        code="store_busy",
    )


def _copy_of(error: BaseException) -> BaseException:
    """Return an error of the caller's own, since one object raised in many threads is muddled."""
    if isinstance(error, TenureError):
        return type(error)(str(error), code=error.code, **error.data).with_traceback(
            error.__traceback__
        )

    return error
