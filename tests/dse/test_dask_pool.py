"""Tasks on a Dask scheduler with two workers on loopback, one of them killed in the middle."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dse.cli import run
from dse.dask_pool import ClusterError, DaskPool
from dse.pool import Pool
from dse.space import Space
from tests.dse.synthetic import BACKEND, SPACES
from tests.dse.test_pool import setup_of, tasks_of

pytest.importorskip("distributed", reason="distributed is absent")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.tool,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ROOT = Path(__file__).parent.parent.parent


def start(*words: str, **environment: str) -> subprocess.Popen[bytes]:
    paths = {"PYTHONPATH": str(ROOT), "DASK_DISTRIBUTED__WORKER__DAEMON": "False"}
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + words[0], *words[1:]],
        env={**os.environ, **paths, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.fixture
def cluster() -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    quiet = ("--no-dashboard",)
    processes = [start("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), *quiet)]
    for _ in range(2):
        alone = ("--no-nanny", "--nthreads", "1", *quiet)
        processes.append(start("dask_worker", address, *alone, SYNTHETIC_SECONDS="0.2"))
    yield address, processes
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_results_are_those_of_one_process_though_a_worker_is_killed(
    aes: Space, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = cluster
    tasks = tasks_of(aes, 40)
    expected = [result.data for result in Pool(setup_of(aes), 0).run(tasks)]
    pool = DaskPool(setup_of(aes), address)
    pool._client.wait_for_workers(2, timeout=120)
    found = {}
    try:
        for index, result in pool.stream(tasks):
            found[index] = result.data
            if len(found) == 6:
                os.kill(processes[1].pid, signal.SIGKILL)
    finally:
        pool.close()
    assert [found[index] for index in range(40)] == expected


def test_absent_scheduler_is_said(aes: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dse.dask_pool._CONNECT_SECONDS", 1)
    with pytest.raises(ClusterError, match=r"^no Dask scheduler answers at tcp://127\.0\.0\.1:1 "):
        DaskPool(setup_of(aes), "tcp://127.0.0.1:1")


def test_search_on_a_cluster_finds_the_same_front(
    tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    words = ["search", str(SPACES / "aes-ctr-small.yaml"), "--no-cache", "--exact-seconds", "0"]
    assert run([*words, "--jobs", "0", "--out", str(tmp_path / "here")], BACKEND) == 0
    assert run([*words, "--dask", cluster[0], "--out", str(tmp_path / "there")], BACKEND) == 0
    fronts = [(tmp_path / name / "front.csv").read_bytes() for name in ("here", "there")]
    assert fronts[0] == fronts[1]
