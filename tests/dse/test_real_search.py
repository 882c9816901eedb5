"""Whole searches on the real compiler, cores and netlists."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dse.run import TRIALS

pytestmark = pytest.mark.slow

SPACE = """
name: small
workloads: [aes128-encrypt]
core: {pipeline: 3, forwarding: true}
instructions: {base: rv32i, choose: [zkne]}
units: {aes_sbox: table}
compiler: {unroll: [1, full]}
objectives: [time_ns, area_ge]
CONSTRAINTS
search: {sampler: estimator, trials: 40, seed: 3}
"""


def command(out: Path, cache: Path, constraints: str, *options: str) -> list[str]:
    file = out.parent / f"{out.name}.yaml"
    file.write_text(SPACE.replace("CONSTRAINTS", constraints))
    return [
        *(sys.executable, "-m", "dse", "search", str(file), "--out", str(out)),
        *("--cache", str(cache), "--exact-seconds", "0", *options),
    ]


def search(out: Path, cache: Path, constraints: str, *options: str) -> list[dict[str, str]]:
    """Search the whole space; its front."""
    done = subprocess.run(
        command(out, cache, constraints, *options), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with (out / "front.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("searches")


@pytest.fixture(scope="module")
def free(folder: Path) -> list[dict[str, str]]:
    """The front without constraints, by one worker and from an empty cache."""
    return search(folder / "free", folder / "cache", "", "--jobs", "1")


def test_constant_time_changes_the_front(folder: Path, free: list[dict[str, str]]) -> None:
    """Tables leak: without an instruction only the bitsliced kernel is left."""
    constraint = "constraints: {constant_time: true}"
    held = search(folder / "held", folder / "cache", constraint, "--jobs", "1")
    assert all(row["status"] == "confirmed" for row in free + held)
    assert any(float(row["leaks"]) > 0 for row in free)
    assert all(float(row["leaks"]) == 0 for row in held)
    plain = [row for row in held if row["zkne"] == "false"]
    assert {row["kernel.aes128-encrypt"] for row in plain} == {"bitsliced"}
    assert any(row["kernel.aes128-encrypt"] == "ttable" for row in free if row["zkne"] == "false")


def test_zkne_beats_t_tables_at_small_area(free: list[dict[str, str]]) -> None:
    fastest = min(free, key=lambda row: float(row["time_ns"]))
    smallest = min(free, key=lambda row: float(row["area_ge"]))
    assert fastest["zkne"] == "true"
    assert smallest["zkne"] == "false"
    assert float(fastest["time_ns"]) < 0.5 * float(smallest["time_ns"])
    assert float(fastest["extension_area_ge"]) < 0.1 * float(fastest["core_area_ge"])


def test_front_of_the_model_holds_the_exact_front(folder: Path, free: list[dict[str, str]]) -> None:
    """Fitted to half of the designs, it is right about the best of the others."""
    pytest.importorskip("ortools", reason="OR-Tools is absent (pip install 'riscv-dse[exact]')")
    out = folder / "proved"
    found = search(out, folder / "cache", "", "--jobs", "1", "--trials", "7", "--prove")
    proof = json.loads((out / "manifest.json").read_text())["result"]["proof"]
    assert proof["status"] == "optimal"
    assert proof["new"] > 0
    assert found == free
    assert proof["errors"]["fitted"]["designs"] < 14
    assert proof["errors"]["fitted"]["time_ns"]["median"] < 0.1
    last = proof["caps"][-1]
    assert last["best"] == pytest.approx(float(free[0]["time_ns"]))  # a table has 12 digits
    assert abs(last["gap"]) < 0.1


@pytest.mark.usefixtures("free")
def test_two_workers_killed_twice_write_the_same_bytes_as_one(folder: Path) -> None:
    """As the first designs are evaluated, and after some were logged; each from what is left."""
    out = folder / "killed"
    for lines in (0, 4):
        options = ["--jobs", "2", *(["--resume"] if out.exists() else [])]
        with subprocess.Popen(
            command(out, folder / "other-cache", "", *options),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            log = out / TRIALS
            while process.poll() is None and (
                not log.exists() or log.read_bytes().count(b"\n") < lines
            ):
                time.sleep(0.01)
            time.sleep(0.2)
            assert process.poll() is None
            os.killpg(process.pid, signal.SIGKILL)
    search(out, folder / "other-cache", "", "--jobs", "2", "--resume")
    for name in ("front.csv", "trials.csv"):
        assert (out / name).read_bytes() == (folder / "free" / name).read_bytes()
