"""`Pool`: tasks spread over worker processes, surviving workers that are killed."""

from __future__ import annotations

import json
import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict

from dse import worker
from dse.worker import Result, Setup, Task, Worker

LIMIT_SECONDS = 600.0
"""Time in which some task must finish, unless another limit is given."""
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

    def stream(self, tasks: Sequence[Task], *, chunk: int = 1) -> Iterator[tuple[int, Result]]:
        """Yield (index of the task, its result) as they finish; `chunk` tasks travel together."""
        if self.jobs == 0:
            self._local = self._local or Worker(self.setup)
            for index, task in enumerate(tasks):
                yield index, self._local.perform(task)
            return
        indices = range(len(tasks))
        waiting = deque([*indices[i : i + chunk]] for i in range(0, len(tasks), chunk))
        running: dict[Future[str], list[int]] = {}
        while waiting or running:
            suspects: list[int] = []
            is_broken = False
            try:
                while waiting and len(running) < 2 * self.jobs:
                    running[self._submit([tasks[i] for i in waiting[0]])] = waiting[0]
                    waiting.popleft()
            except BrokenProcessPool:
                is_broken = True
                suspects = [i for group in running.values() for i in group]
            finished, _ = wait(running, self.limit_seconds, return_when=FIRST_COMPLETED)
            if running and not finished:
                is_broken = True
                suspects = [i for group in running.values() for i in group]
            for future in finished:
                group = running.pop(future)
                try:
                    results = _results(future)
                except BrokenProcessPool:
                    is_broken = True
                    suspects += [*group, *(i for other in running.values() for i in other)]
                    continue
                yield from zip(group, results, strict=True)
                suspects = [i for i in suspects if i not in group]
            if is_broken:
                running.clear()
                self._discard()
                for index in sorted(set(suspects)):
                    yield index, self._alone(tasks[index])

    def run(self, tasks: Sequence[Task], *, chunk: int = 1) -> list[Result]:
        """The results of all tasks, in their order."""
        found = dict(self.stream(tasks, chunk=chunk))
        return [found[index] for index in range(len(tasks))]

    def close(self) -> None:
        """End the worker processes at once; a later task starts new ones."""
        self._discard()
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
        return self._executor.submit(worker.work, json.dumps([asdict(task) for task in tasks]))

    def _alone(self, task: Task) -> Result:
        future = self._submit([task])
        try:
            return _results(future, self.limit_seconds)[0]
        except (BrokenProcessPool, TimeoutError) as error:
            self._discard()
            late = f"took longer than {self.limit_seconds:g} s twice"
            return Result(None, late if isinstance(error, TimeoutError) else _KILLED)

    def _discard(self) -> None:
        """Let go of the processes, and kill those that are still at work."""
        if self._executor is not None:
            processes = list((self._executor._processes or {}).values())
            self._executor.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.kill()
            self._executor = None


def _results(future: Future[str], limit_seconds: float | None = None) -> list[Result]:
    found = json.loads(future.result(limit_seconds))
    return [Result(**{**data, "notes": tuple(data["notes"])}) for data in found]
