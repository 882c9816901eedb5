"""What a worker process does: evaluate or confirm designs of one space, told in plain JSON."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import traceback
from dataclasses import asdict, dataclass
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from dse.backend import Backend
from dse.cache import Cache
from dse.design import Design, Value
from dse.evaluation import Evaluation
from dse.measure.confirmation import Confirmation
from dse.space import Space, parse_space


@dataclass(frozen=True)
class Setup:
    """All that a worker must know before its first task."""

    space_text: str
    space_file: str
    backend: Backend
    cache_folder: str | None
    version: str

    def to_json(self) -> str:
        """Text for a new process."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Setup:
        """The inverse of `to_json`."""
        data = json.loads(text)
        return cls(**{**data, "backend": Backend(**data["backend"])})


@dataclass(frozen=True)
class Task:
    """One design to `evaluate`, to `confirm` or to take `segments` of.

    `workload` restricts the space to one.

    `is_fresh` asks for a confirmation that is not taken from the cache.
    """

    do: str
    design: dict[str, Value]
    workload: str | None = None
    is_fresh: bool = False


@dataclass(frozen=True)
class Result:
    """What came of a task: an evaluation or confirmation as data, or the error."""

    data: dict[str, Any] | None
    error: str = ""
    details: str = ""
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


class Worker:
    """Performs tasks; lives once in each worker process, or in this one where there is no pool."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        vocabulary = Backend.load(setup.backend.vocabulary)
        self.space = parse_space(setup.space_text, Path(setup.space_file), vocabulary)
        folder = Path(setup.cache_folder) if setup.cache_folder is not None else None
        self.cache = Cache(folder, setup.version)

    def perform(self, task: Task) -> Result:
        """Do one task; an exception of the backend becomes the result's `error`."""
        start = time.perf_counter()
        space = self.space.for_workload(task.workload) if task.workload else self.space
        try:
            design = Design(task.design)
            if task.do == "evaluate":
                data = self._evaluate(space, design)
            elif task.do == "segments":
                data = self._segments(space, design)
            else:
                data = self._confirm(space, design, is_fresh=task.is_fresh)
        except Exception as error:
            name = type(error).__name__
            return Result(None, f"{name}: {error}", traceback.format_exc(), notes=self._notes())
        return Result(data, seconds=time.perf_counter() - start, notes=self._notes())

    def _evaluate(self, space: Space, design: Design) -> dict[str, Any]:
        key = evaluation_key(space, design)
        found = self.cache.get("evaluation", key)
        if found is None:
            evaluate = Backend.load(self.setup.backend.evaluate)
            evaluation: Evaluation = evaluate(space=space, design=design, cache=self.cache)
            found = evaluation.to_json()
            self.cache.put("evaluation", key, found)
            if evaluation.canonical != design:
                self.cache.put("evaluation", evaluation_key(space, evaluation.canonical), found)
        return dict(found)

    def _confirm(self, space: Space, design: Design, *, is_fresh: bool) -> dict[str, Any]:
        key = evaluation_key(space, design)
        found = None if is_fresh else self.cache.get("confirmation", key)
        if found is None:
            confirm = Backend.load(self.setup.backend.confirm)
            cache = Cache(None) if is_fresh else self.cache  # it holds what ran on netlists, too
            confirmation: Confirmation = confirm(space=space, design=design, cache=cache)
            found = confirmation.to_json()
            if confirmation.ok:
                self.cache.put("confirmation", key, found)
        return dict(found)

    def _segments(self, space: Space, design: Design) -> dict[str, Any]:
        key = evaluation_key(space, design)
        found = self.cache.get("segments", key)
        if found is None:
            segments = Backend.load(self.setup.backend.segments)
            found = {"segments": segments(space=space, design=design, cache=self.cache)}
            self.cache.put("segments", key, found)
        return dict(found)

    def _notes(self) -> tuple[str, ...]:
        notes = tuple(self.cache.notes)
        self.cache.notes.clear()
        return notes


def evaluation_key(space: Space, design: Design) -> str:
    """The key under which a whole evaluation is cached."""
    return space.evaluation_digest + design.digest


_worker: Worker | None = None


def start(setup_text: str) -> None:
    """Make this process a worker: it leaves Ctrl-C to its parent and dies with it."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    _worker = Worker(Setup.from_json(setup_text))
    Backend.load(_worker.setup.backend.evaluate)  # imported now, not with the first task


def work(tasks_text: str) -> str:
    """Perform a list of tasks given as JSON; their results, as JSON."""
    assert _worker is not None
    tasks = [Task(**data) for data in json.loads(tasks_text)]
    return json.dumps([asdict(_worker.perform(task)) for task in tasks])


def _die_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
