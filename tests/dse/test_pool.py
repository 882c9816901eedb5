from __future__ import annotations

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from dse.pool import Pool
from dse.space import Space
from dse.worker import Setup, Task
from tests.dse.synthetic import BACKEND


def setup_of(space: Space, cache: Path | None = None) -> Setup:
    folder = None if cache is None else str(cache)
    return Setup(space.text, str(space.file), BACKEND, folder, "v")


def tasks_of(space: Space, count: int) -> list[Task]:
    return [
        Task("evaluate", design.to_json())
        for design, _ in zip(space.designs(), range(count), strict=False)
    ]


def test_results_are_those_of_this_process_in_order(aes: Space) -> None:
    tasks = tasks_of(aes, 20)
    here = Pool(setup_of(aes), 0)
    there = Pool(setup_of(aes), 2)
    try:
        expected = [result.data for result in here.run(tasks)]
        assert [result.data for result in there.run(tasks, chunk=3)] == expected
    finally:
        there.close()
    assert all(data and data["feasible"] is not None for data in expected)


def test_tasks_are_put_while_others_are_under_way_and_taken_in_any_order(aes: Space) -> None:
    tasks = tasks_of(aes, 9)
    for jobs in (0, 2):
        pool = Pool(setup_of(aes), jobs)
        try:
            first, second = pool.put(tasks[:5], chunk=2), pool.put(tasks[5:])
            found = dict(pool.take(second)) | dict(pool.take(first))
        finally:
            pool.close()
        assert [*first, *second] == list(range(9))
        designs = [found[ticket].data["design"] for ticket in range(9)]  # type: ignore[index]
        assert designs == [result.data["design"] for result in Pool(setup_of(aes), 0).run(tasks)]  # type: ignore[index]


def test_all_workers_start_with_the_first_task(aes: Space) -> None:
    pool = Pool(setup_of(aes), 3)
    before = set(multiprocessing.active_children())
    try:
        pool.put(tasks_of(aes, 1))
        assert len(set(multiprocessing.active_children()) - before) == 3
    finally:
        pool.close()


def test_design_that_kills_its_worker_fails_alone(
    aes: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = tasks_of(aes, 12)
    deadly = aes.neutral.replace({"zbkb": True, "zbkx": True, "compiler.unroll": "full"})
    tasks.insert(5, Task("evaluate", deadly.to_json()))
    monkeypatch.setenv("SYNTHETIC_KILL", '"zbkb":true')
    pool = Pool(setup_of(aes), 2)
    try:
        results = pool.run(tasks)
        assert results[5].data is None
        assert results[5].error == "killed its worker process twice (out of memory?)"
        others = [result for index, result in enumerate(results) if index != 5]
        assert all(result.data is not None for result in others)
        assert pool.run(tasks[:2])[0].data is not None
    finally:
        pool.close()


@pytest.mark.slow
def test_design_that_hangs_is_killed_tried_again_and_fails_alone(
    aes: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = tasks_of(aes, 6)
    endless = aes.neutral.replace({"zbkb": True, "zbkx": True, "compiler.unroll": "full"})
    tasks.insert(2, Task("evaluate", endless.to_json()))
    monkeypatch.setenv("SYNTHETIC_HANG", '"zbkb":true')
    pool = Pool(setup_of(aes), 2, limit_seconds=8)
    try:
        results = pool.run(tasks)
        assert results[2].data is None
        assert results[2].error == "took longer than 8 s twice"
        assert all(result.data for index, result in enumerate(results) if index != 2)
    finally:
        pool.close()


def test_exception_of_the_evaluator_is_the_result(aes: Space) -> None:
    broken = aes.neutral.replace({"core.pipeline": 7})
    result = Pool(setup_of(aes), 0).run([Task("evaluate", broken.to_json())])[0]
    assert result.data is None
    assert result.error == "KeyError: 7"
    assert "synthetic.py" in result.details


def test_closing_ends_the_workers_at_once(aes: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTHETIC_SECONDS", "60")
    pool = Pool(setup_of(aes), 1)
    pool._submit(tasks_of(aes, 1))
    pids = [child.pid for child in multiprocessing.active_children() if child.pid]
    assert pids
    pool.close()
    deadline = time.monotonic() + 10
    while any(is_alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
