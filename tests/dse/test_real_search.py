"""Whole searches on the real compiler, cores and netlists."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SPACE = """
name: small
workloads: [aes128-encrypt]
core: {pipeline: [3, 5], forwarding: true}
instructions: {base: rv32i, choose: [zbkb, zkne]}
units: {aes_sbox: [table, low_depth]}
compiler: {unroll: [1, full]}
objectives: [time_ns, area_ge]
CONSTRAINTS
search: {trials: 40, seed: 3}
"""


def space(folder: Path, constraints: str = "") -> Path:
    file = folder / "small.yaml"
    file.write_text(SPACE.replace("CONSTRAINTS", constraints))
    return file


def command(folder: Path, out: str, *options: str) -> list[str]:
    cache = str(folder / f"cache-{out}")
    file = str(folder / "small.yaml")
    return [
        *(sys.executable, "-m", "dse", "search", file, "--out", str(folder / out)),
        *("--cache", cache, *options),
    ]


def search(folder: Path, out: str, *options: str) -> list[dict[str, str]]:
    done = subprocess.run(
        command(folder, out, *options), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with (folder / out / "front.csv").open() as file:
        return list(csv.DictReader(file))


def test_constant_time_changes_the_front(tmp_path: Path) -> None:
    """Tables leak: without an instruction only the bitsliced kernel is left."""
    space(tmp_path)
    free = search(tmp_path, "free", "--exhaustive")
    space(tmp_path, "constraints: {constant_time: true}")
    held = search(tmp_path, "held", "--exhaustive")
    assert all(row["status"] == "confirmed" for row in free + held)
    assert any(float(row["leaks"]) > 0 for row in free)
    assert all(float(row["leaks"]) == 0 for row in held)
    plain = [row for row in held if row["zkne"] == "false"]
    assert {row["kernel.aes128-encrypt"] for row in plain} == {"bitsliced"}
    assert any(row["kernel.aes128-encrypt"] == "ttable" for row in free if row["zkne"] == "false")


def test_zkne_beats_t_tables_at_small_area(tmp_path: Path) -> None:
    space(tmp_path)
    front = search(tmp_path, "front", "--exhaustive")
    fastest = min(front, key=lambda row: float(row["time_ns"]))
    smallest = min(front, key=lambda row: float(row["area_ge"]))
    assert fastest["zkne"] == "true"
    assert smallest["zkne"] == "false"
    assert float(fastest["time_ns"]) < 0.5 * float(smallest["time_ns"])
    assert float(fastest["extension_area_ge"]) < 0.1 * float(fastest["core_area_ge"])


def test_same_bytes_for_one_job_two_jobs_and_after_kills(tmp_path: Path) -> None:
    space(tmp_path)
    search(tmp_path, "one", "--jobs", "1")
    search(tmp_path, "two", "--jobs", "2")
    for seconds in (1.5, 3.0):
        options = ["--resume"] if (tmp_path / "killed").exists() else []
        with subprocess.Popen(
            command(tmp_path, "killed", *options),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            time.sleep(seconds)
            os.killpg(process.pid, signal.SIGKILL)
    search(tmp_path, "killed", "--resume")
    first = (tmp_path / "one" / "front.csv").read_bytes()
    assert first == (tmp_path / "two" / "front.csv").read_bytes()
    assert first == (tmp_path / "killed" / "front.csv").read_bytes()
