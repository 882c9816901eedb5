"""Kill -9 of a search or of one of its workers, at random moments: nothing is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dse.cli import run
from dse.run import TRIALS
from tests.dse.synthetic import BACKEND, SPACES

ROOT = Path(__file__).parent.parent.parent
COUNT = 32
SEARCH = ["search", str(SPACES / "aes.yaml"), "--trials", str(COUNT), "--exact-seconds", "0"]
COMPARED = ("front.csv", "front.json", "trials.csv", TRIALS)
MOST_IN_A_ROW = 4


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "run"
    assert run([*SEARCH, "--jobs", "0", "--no-cache", "--out", str(out)], BACKEND) == 0
    return out


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.dse.synthetic", *SEARCH, "--jobs", "2"]
    command += ["--cache", str(folder / "cache"), "--out", str(folder / "run")]
    if (folder / "run" / "manifest.json").exists():
        command.append("--resume")
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "SYNTHETIC_SECONDS": "0.01"},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def lines(folder: Path) -> int:
    log = folder / "run" / TRIALS
    return log.read_bytes().count(b"\n") if log.exists() else 0


def workers(pid: int) -> list[int]:
    """Processes that evaluate for this one."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        commands = {int(c): Path(f"/proc/{c}/cmdline").read_bytes() for c in children}
    except FileNotFoundError:
        return []
    return [child for child, command in commands.items() if b"spawn_main" in command]


def wait_for_moment(
    process: subprocess.Popen[bytes], folder: Path, draw: random.Random, *, of_worker: bool
) -> None:
    """Let a search run for a while: as it starts, between two trials, or after the last."""
    wanted = draw.choice([0, draw.randrange(1, COUNT), draw.randrange(1, COUNT), COUNT])
    if of_worker:
        wanted = draw.randrange(1, COUNT - 8)
    pause = draw.uniform(0, 0.8 if wanted in (0, COUNT) else 0.05)
    while process.poll() is None and lines(folder) < wanted:
        time.sleep(0.002)
    while of_worker and process.poll() is None and not workers(process.pid):
        time.sleep(0.002)
    deadline = time.monotonic() + pause
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)


def disturb(folder: Path, draw: random.Random, most: int) -> int:
    """Search to the end, killed up to so many times on the way; how many kills there were.

    One worker at most is killed in the life of a search: a design that is caught twice counts as
    one that kills, and is given up.
    """
    kills = 0
    while True:
        process = start(folder)
        assert process.stderr is not None
        if kills < most:
            of_worker = draw.random() < 0.3
            wait_for_moment(process, folder, draw, of_worker=of_worker)
            victims = workers(process.pid) if of_worker else [process.pid]
            if process.poll() is None and victims:
                os.kill(draw.choice(victims), signal.SIGKILL)
                kills += 1
            if not of_worker:
                process.wait(60)
        errors = process.communicate(timeout=120)[1].decode()
        if process.returncode == 0:
            return kills
        assert process.returncode == -signal.SIGKILL, errors


def check(tmp_path: Path, undisturbed: Path, wanted: int, seed: int) -> None:
    draw = random.Random(seed)
    made = runs = 0
    while made < wanted:
        runs += 1
        folder = tmp_path / str(runs)
        folder.mkdir()
        made += disturb(folder, draw, min(MOST_IN_A_ROW, wanted - made))
        for name in COMPARED:
            same = (folder / "run" / name).read_bytes() == (undisturbed / name).read_bytes()
            assert same, (folder, name)
        assert runs < 4 * wanted


@pytest.mark.slow
def test_killed_now_and_then_it_ends_the_same(tmp_path: Path, undisturbed: Path) -> None:
    check(tmp_path, undisturbed, 6, 1)


@pytest.mark.full
def test_killed_fifty_times_it_ends_the_same(tmp_path: Path, undisturbed: Path) -> None:
    check(tmp_path, undisturbed, 50, 2)
