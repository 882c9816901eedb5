"""`DaskPool`: tasks spread over the workers of an existing Dask cluster; the parent proposes."""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dse.interrupt import POLL_SECONDS, heed
from dse.worker import Result, Setup, Task, Worker

_CONNECT_SECONDS = 30
_here = threading.local()


class ClusterError(ValueError):
    """A cluster that cannot be used; the message says why."""


class DaskPool:
    """Runs tasks on a cluster; Dask gives those of a lost worker to another.

    A task that has cost Dask's number of workers (three unless configured) fails with the reason.
    """

    def __init__(self, setup: Setup, address: str) -> None:
        """Connect to a scheduler.

        Raises:
            ClusterError: distributed is not installed, or no scheduler answers.
        """
        try:
            client = _distributed().Client
        except ImportError:
            raise ClusterError(
                "--dask needs distributed, which is not installed; install it with "
                "`pip install distributed`"
            ) from None
        self._setup_text = setup.to_json()
        self._count = 0
        self._running: dict[Any, range] = {}
        self._done: dict[int, Result] = {}
        try:
            self._client = client(address, timeout=_CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise ClusterError(f"no Dask scheduler answers at {address} ({error})") from None

    def put(self, tasks: Sequence[Task], *, chunk: int = 1) -> range:
        """Send tasks off, `chunk` of them travelling together; their tickets, in order."""
        tickets = range(self._count, self._count + len(tasks))
        self._count += len(tasks)
        for start in range(0, len(tasks), chunk):
            text = json.dumps([asdict(task) for task in tasks[start : start + chunk]])
            future = self._client.submit(perform, self._setup_text, text, pure=False)
            self._running[future] = tickets[start : start + chunk]
        return tickets

    def take(self, tickets: Iterable[int]) -> Iterator[tuple[int, Result]]:
        """Yield (ticket, result) of tasks that were put, as they finish."""
        wanted = set(tickets)
        while wanted:
            for ticket in sorted(wanted & self._done.keys()):
                wanted.remove(ticket)
                yield ticket, self._done.pop(ticket)
            if wanted:
                for future in self._finished():
                    group = self._running.pop(future)
                    self._done.update(zip(group, _results(future, len(group)), strict=True))

    def _finished(self) -> set[Any]:
        """Wait until some of what runs are finished; those."""
        futures = list(self._running)
        while True:
            heed()
            try:
                waited = _distributed().wait(futures, POLL_SECONDS, "FIRST_COMPLETED")
            except TimeoutError:
                continue
            return set(waited.done)

    def stream(self, tasks: Sequence[Task], *, chunk: int = 1) -> Iterator[tuple[int, Result]]:
        """Yield (index of the task, its result) as they finish; `chunk` tasks travel together."""
        tickets = self.put(tasks, chunk=chunk)
        for ticket, result in self.take(tickets):
            yield ticket - tickets.start, result

    def run(self, tasks: Sequence[Task], *, chunk: int = 1) -> list[Result]:
        """The results of all tasks, in their order."""
        found = dict(self.stream(tasks, chunk=chunk))
        return [found[index] for index in range(len(tasks))]

    def close(self) -> None:
        """Leave the cluster as it is, without this client."""
        self._client.close()


def _results(future: Any, count: int) -> list[Result]:
    """Of a finished future with so many tasks."""
    if future.status != "finished":
        return [Result(None, f"lost with its Dask workers: {future.exception()}")] * count
    found = json.loads(future.result())
    return [Result(**{**data, "notes": tuple(data["notes"])}) for data in found]


def _distributed() -> Any:
    return importlib.import_module("distributed")


def perform(setup_text: str, tasks_text: str) -> str:
    """What a worker does: a list of tasks given as JSON; their results, as JSON."""
    if getattr(_here, "setup_text", None) != setup_text:
        _here.worker = Worker(Setup.from_json(setup_text))
        _here.setup_text = setup_text
    worker: Worker = _here.worker
    tasks = [Task(**data) for data in json.loads(tasks_text)]
    return json.dumps([asdict(worker.perform(task)) for task in tasks])
