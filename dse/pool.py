"""`Pool`: tasks spread over worker processes, surviving workers that are killed."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict

from dse import worker
from dse.interrupt import POLL_SECONDS, heed
from dse.worker import Result, Setup, Task, Worker

LIMIT_SECONDS = 600.0
"""Time in which some task must finish, unless another limit is given."""
_Group = dict[int, Task]
_KILLED = "killed its worker process twice (out of memory?)"


class Pool:
    """Runs tasks in `jobs` processes, or in this one where `jobs` is 0.

    Processes are spawned when first needed. When one dies, or none finishes anything for
    `limit_seconds` and all are killed, what was running is tried again, one task at a time; a task
    that does so again fails with the reason. In this process there is no limit.
    """

    def __init__(self, setup: Setup, jobs: int, limit_seconds: float = LIMIT_SECONDS) -> None:
        self.setup = setup
        self.jobs = jobs
        self.limit_seconds = limit_seconds
        self._local: Worker | None = None
        self._executor: ProcessPoolExecutor | None = None
        self._count = 0
        self._waiting: deque[_Group] = deque()
        self._running: dict[Future[str], _Group] = {}
        self._done: dict[int, Result] = {}

    def put(self, tasks: Sequence[Task], *, chunk: int = 1) -> range:
        """Have tasks done, `chunk` of them travelling together; their tickets, in order.

        Processes begin at once; this one, where there is no other, when results are taken.
        """
        tickets = range(self._count, self._count + len(tasks))
        self._count += len(tasks)
        numbered = list(zip(tickets, tasks, strict=True))
        self._waiting += (dict(numbered[i : i + chunk]) for i in range(0, len(tasks), chunk))
        if self.jobs:
            self._retry(self._submit_waiting())
        return tickets

    def take(self, tickets: Iterable[int]) -> Iterator[tuple[int, Result]]:
        """Yield (ticket, result) of tasks that were put, as they finish."""
        wanted = set(tickets)
        while wanted:
            for ticket in sorted(wanted & self._done.keys()):
                wanted.remove(ticket)
                yield ticket, self._done.pop(ticket)
            if wanted:
                self._advance()

    def stream(self, tasks: Sequence[Task], *, chunk: int = 1) -> Iterator[tuple[int, Result]]:
        """Yield (index of the task, its result) as they finish; `chunk` tasks travel together."""
        tickets = self.put(tasks, chunk=chunk)
        for ticket, result in self.take(tickets):
            yield ticket - tickets.start, result

    def run(self, tasks: Sequence[Task], *, chunk: int = 1) -> list[Result]:
        """The results of all tasks, in their order."""
        found = dict(self.stream(tasks, chunk=chunk))
        return [found[index] for index in range(len(tasks))]

    def _advance(self) -> None:
        """Wait until something that was put is done."""
        if not self.jobs:
            self._local = self._local or Worker(self.setup)
            group = self._waiting[0]
            ticket = next(iter(group))
            result = self._local.perform(group[ticket])
            heed()  # first: Ctrl-C also ended the tools that were at work on it
            self._done[ticket] = result
            del group[ticket]
            if not group:
                self._waiting.popleft()
            return
        suspects = self._submit_waiting()
        finished = _finished(self._running, self.limit_seconds)
        is_dead = bool(self._running) and not finished
        for future, group in [(future, self._running.pop(future)) for future in finished]:
            try:
                self._done.update(zip(group, _results(future), strict=True))
            except BrokenProcessPool:
                is_dead = True
                suspects |= group
        self._retry(suspects | self._abandon() if is_dead else suspects)

    def _submit_waiting(self) -> _Group:
        """Keep the processes busy; what was running, where one of them is found dead."""
        try:
            while self._waiting and len(self._running) < 2 * self.jobs:
                self._running[self._submit(list(self._waiting[0].values()))] = self._waiting[0]
                self._waiting.popleft()
        except BrokenProcessPool:
            return self._abandon()
        return {}

    def _abandon(self) -> _Group:
        """Let go of all processes; what was running."""
        tasks = {ticket: task for group in self._running.values() for ticket, task in group.items()}
        self._running.clear()
        self._discard()
        return tasks

    def _retry(self, suspects: _Group) -> None:
        """Try what may have killed a process, one task at a time."""
        for ticket in sorted(suspects):
            self._done[ticket] = self._alone(suspects[ticket])

    def close(self) -> None:
        """End the worker processes at once and forget their tasks; a later one starts new ones."""
        self._waiting.clear()
        self._abandon()
        if self._local is not None:
            self._local.cache.close()
            self._local = None

    def _submit(self, tasks: Sequence[Task]) -> Future[str]:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self.jobs,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=worker.start,
                initargs=(self.setup.to_json(),),
            )
            for _ in range(self.jobs):  # it starts a process for each task while none is idle
                self._executor.submit(worker.work, "[]")
        return self._executor.submit(worker.work, json.dumps([asdict(task) for task in tasks]))

    def _alone(self, task: Task) -> Result:
        future = self._submit([task])
        try:
            if _finished([future], self.limit_seconds):
                return _results(future)[0]
            reason = f"took longer than {self.limit_seconds:g} s twice"
        except BrokenProcessPool:
            reason = _KILLED
        self._discard()
        return Result(None, reason)

    def _discard(self) -> None:
        """Let go of the processes, and kill those that are still at work."""
        if self._executor is not None:
            processes = list((self._executor._processes or {}).values())
            self._executor.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
            self._executor = None


def _finished(futures: Iterable[Future[str]], limit_seconds: float) -> set[Future[str]]:
    """Those that are finished as soon as one is, or none when the time is up."""
    deadline = time.monotonic() + limit_seconds
    finished: set[Future[str]] = set()
    while not finished and (left := deadline - time.monotonic()) > 0:
        heed()
        finished = wait(futures, min(left, POLL_SECONDS), return_when=FIRST_COMPLETED).done
    return finished


def _results(future: Future[str]) -> list[Result]:
    found = json.loads(future.result())
    return [Result(**{**data, "notes": tuple(data["notes"])}) for data in found]
