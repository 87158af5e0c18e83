"""The group-commit queue: order, sharing, errors, and nobody left waiting."""

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from tenure.schema.errors import Conflict, Fault, Unavailable
from tenure.store.commit.queue import CommitQueue, _Ticket, attempts
from tenure.tests.support.refusals import refused


def together(count: int, work: Callable[[int], None]) -> list[BaseException]:
    """Run work in threads that start at once, and return what they raised."""
    start, raised = threading.Barrier(count), []

    def one(number: int) -> None:
        start.wait()
        try:
            work(number)
        except (RuntimeError, ValueError, Conflict, Unavailable) as error:
            raised.append(error)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    return raised


class Recorder:
    """A run that doubles numbers, remembers its groups and never runs twice at once."""

    def __init__(self, pause_s: float = 0.0) -> None:
        self.groups: list[list[int]] = []
        self.pause_s = pause_s
        self._running = threading.Lock()

    def __call__(self, jobs: Sequence[int]) -> Sequence[int | Exception]:
        assert self._running.acquire(blocking=False)
        try:
            time.sleep(self.pause_s)
            self.groups.append(list(jobs))
            return [job * 2 for job in jobs]
        finally:
            self._running.release()


def test_a_single_job_is_a_group_of_its_own() -> None:
    run = Recorder()
    queue: CommitQueue[int, int] = CommitQueue(run)
    assert [queue.submit(n) for n in (1, 2)] == [2, 4]
    assert run.groups == [[1], [2]]


def test_sixteen_threads_each_get_their_own_result_and_share_groups() -> None:
    run = Recorder(0.001)
    queue: CommitQueue[int, int] = CommitQueue(run)
    results: dict[int, int] = {}

    def work(number: int) -> None:
        for step in range(40):
            job = number * 1000 + step
            results[job] = queue.submit(job)

    assert together(16, work) == []
    assert results == {n * 1000 + s: 2 * (n * 1000 + s) for n in range(16) for s in range(40)}
    assert sum(map(len, run.groups)) == 640
    assert len(run.groups) < 320
    for number in range(16):  # the jobs of one thread stay in order
        mine = [job for group in run.groups for job in group if job // 1000 == number]
        assert mine == sorted(mine)


def test_those_who_were_just_answered_join_the_next_group() -> None:
    run = Recorder(0.2)
    queue: CommitQueue[int, int] = CommitQueue(run)

    def work(number: int) -> None:
        for step in range(6):
            queue.submit(number * 100 + step)

    assert together(8, work) == []
    # without waiting for them the eight would split, and take turns to the end
    assert max(map(len, run.groups[2:])) == 8
    assert len(run.groups) <= 9


def test_nobody_waits_long_for_those_who_do_not_come_back() -> None:
    run = Recorder(0.1)
    queue: CommitQueue[int, int] = CommitQueue(run)
    began = time.perf_counter()
    assert together(8, lambda number: queue.submit(number) and None) == []
    assert sum(map(len, run.groups)) == 8
    assert time.perf_counter() - began < 0.1 * len(run.groups) + 0.1


def test_a_group_is_never_larger_than_allowed() -> None:
    run = Recorder(0.002)
    queue: CommitQueue[int, int] = CommitQueue(run, largest=3)
    assert together(16, lambda n: [queue.submit(n) for _ in range(5)] and None) == []
    assert max(map(len, run.groups)) == 3


def test_a_job_s_own_error_reaches_only_its_caller() -> None:
    def run(jobs: Sequence[int]) -> Sequence[int | Exception]:
        time.sleep(0.002)
        return [Conflict("odd", code="odd", job=j) if j % 2 else j for j in jobs]

    queue: CommitQueue[int, int] = CommitQueue(run)
    raised = together(16, lambda n: [queue.submit(n) for _ in range(10)] and None)
    assert len(raised) == 8
    assert all(isinstance(e, Conflict) and e.code == "odd" for e in raised)
    assert len({id(e) for e in raised}) == 8


def test_every_member_of_a_failed_group_gets_the_error_and_the_queue_goes_on() -> None:
    failing = threading.Event()
    entered = threading.Event()

    def run(jobs: Sequence[int]) -> Sequence[int | Exception]:
        entered.set()
        time.sleep(0.01)
        if failing.is_set():
            raise ValueError("the disk is gone")
        return list(jobs)

    queue: CommitQueue[int, int] = CommitQueue(run)
    failing.set()
    raised = together(16, lambda n: queue.submit(n) and None)
    assert len(raised) == 16
    assert {str(e) for e in raised} == {"the disk is gone"}
    failing.clear()
    assert queue.submit(7) == 7


def answers_of(
    run: Callable[[Sequence[int]], Sequence[int]], jobs: Sequence[int]
) -> list[int | Exception]:
    answers: list[int | Exception] = []
    for attempt in attempts(jobs):
        with attempt:
            attempt.answers = run(attempt.jobs)
        answers += [answer for _, answer in attempt.answered()]
    return answers


def test_one_job_that_breaks_a_group_breaks_only_itself() -> None:
    groups: list[list[int]] = []

    def run(jobs: Sequence[int]) -> Sequence[int]:
        groups.append(list(jobs))
        if 3 in jobs:
            raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")
        return [10 * job for job in jobs]

    first, second, broken, last = answers_of(run, [1, 2, 3, 4])
    assert (first, second, last) == (10, 20, 40)
    assert isinstance(broken, UnicodeEncodeError)
    assert groups == [[1, 2, 3, 4], [1], [2], [3], [4]]


def test_a_store_that_is_gone_is_gone_for_the_whole_group() -> None:
    calls: list[int] = []

    def run(jobs: Sequence[int]) -> Sequence[int]:
        calls.append(len(jobs))
        raise Unavailable("the store is busy", code="store_busy")

    with pytest.raises(Unavailable):
        answers_of(run, [1, 2, 3])
    assert calls == [3]


def test_a_wrong_number_of_answers_is_a_fault_for_all() -> None:
    queue: CommitQueue[int, int] = CommitQueue(lambda jobs: [])
    with refused(Fault, "invariant_broken"):
        queue.submit(1)


def test_an_exclusive_job_runs_alone() -> None:
    run = Recorder(0.002)
    queue: CommitQueue[int, int] = CommitQueue(run)
    assert (
        together(16, lambda n: [queue.submit(n, exclusive=n == 5) for _ in range(10)] and None)
        == []
    )
    assert all(group == [5] for group in run.groups if 5 in group)
    assert any(len(group) > 1 for group in run.groups)


def test_close_refuses_later_jobs_and_runs_those_that_wait() -> None:
    release, entered = threading.Event(), threading.Event()

    def run(jobs: Sequence[int]) -> Sequence[int | Exception]:
        entered.set()
        release.wait(10)
        return list(jobs)

    queue: CommitQueue[int, int] = CommitQueue(run)
    results: list[int] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(queue.submit(n))) for n in range(4)
    ]
    threads[0].start()
    assert entered.wait(10)
    for thread in threads[1:]:
        thread.start()
    while len(queue._waiting) < 3:
        time.sleep(0.001)
    queue.close()
    with refused(Unavailable, "store_closed"):
        queue.submit(9)
    release.set()
    for thread in threads:
        thread.join(10)
    assert sorted(results) == [0, 1, 2, 3]


def test_an_interrupted_leader_hands_the_lead_on() -> None:
    interrupted = threading.Event()
    waiting = threading.Event()

    def run(jobs: Sequence[int]) -> Sequence[int | Exception]:
        if not interrupted.is_set():
            interrupted.set()
            waiting.wait(10)
            raise KeyboardInterrupt
        return list(jobs)

    queue: CommitQueue[int, int] = CommitQueue(run)
    results: list[int] = []

    def leader() -> None:
        with pytest.raises(KeyboardInterrupt):
            queue.submit(1)

    first = threading.Thread(target=leader)
    first.start()
    assert interrupted.wait(10)
    second = threading.Thread(target=lambda: results.append(queue.submit(2)))
    second.start()
    while not queue._waiting:
        time.sleep(0.001)
    waiting.set()
    first.join(10)
    second.join(10)
    assert results == [2]


def test_members_of_an_interrupted_group_may_try_again() -> None:
    groups: list[list[int]] = []
    release = threading.Event()

    def run(jobs: Sequence[int]) -> Sequence[int | Exception]:
        groups.append(list(jobs))
        if jobs[0] == 0:
            release.wait(10)
            return list(jobs)
        raise SystemExit(1)

    queue: CommitQueue[int, int] = CommitQueue(run)
    caught: list[str] = []

    def work(number: int) -> None:
        try:
            queue.submit(number)
        except Unavailable as error:
            caught.append(error.code)
        except SystemExit:
            caught.append("exit")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for count, thread in enumerate(threads):
        thread.start()
        while len(queue._waiting) + sum(map(len, groups)) < count + 1:
            time.sleep(0.001)
    release.set()
    for thread in threads:
        thread.join(10)
    assert sorted(caught) == ["exit", "store_busy"]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let an interrupt be seen also where the shell started this in the background, deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_waiting_thread_that_is_interrupted_strands_nobody() -> None:
    release, entered = threading.Event(), threading.Event()
    groups: list[list[int]] = []

    def run(jobs: Sequence[int]) -> Sequence[int | Exception]:
        groups.append(list(jobs))
        entered.set()
        release.wait(10)
        return list(jobs)

    queue: CommitQueue[int, int] = CommitQueue(run)
    results: list[int] = []
    first, third = (
        threading.Thread(target=lambda n=n: results.append(queue.submit(n))) for n in (1, 3)
    )
    first.start()
    assert entered.wait(10)

    def interrupt() -> None:
        while not queue._waiting:
            time.sleep(0.001)
        third.start()
        while len(queue._waiting) < 2:
            time.sleep(0.001)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    with pytest.raises(KeyboardInterrupt):
        queue.submit(2)
    watcher.join(10)
    release.set()
    first.join(10)
    third.join(10)
    assert sorted(results) == [1, 3]
    assert groups == [[1], [3]]


def test_an_interrupted_thread_that_was_given_the_lead_gives_it_on() -> None:
    queue: CommitQueue[int, int] = CommitQueue(Recorder())
    ticket = _Ticket[int, int](1, exclusive=False)
    waiting = _Ticket[int, int](2, exclusive=False)
    queue._waiting.extend((ticket, waiting))
    queue._has_leader = ticket.leads = True
    queue._leave(ticket)
    assert waiting.leads
    queue._leave(waiting)
    assert not queue._has_leader
    assert queue.submit(3) == 6
