"""Commands end to end, on the synthetic backend."""

from __future__ import annotations

import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from dse.cli import run
from dse.run import TRIALS
from tests.dse.synthetic import BACKEND, SPACES

AES, SMALL = SPACES / "aes.yaml", SPACES / "aes-ctr-small.yaml"
ROOT = Path(__file__).parent.parent.parent
HEAVY = ("numpy", "pydantic", "optuna", "networkx", "matplotlib", "pyrtl", "rich", "yaml")

Capture = pytest.CaptureFixture[str]


def dse(*words: object) -> int:
    return run([str(word) for word in words], BACKEND)


def spawn(*words: object, **environment: str) -> subprocess.Popen[str]:
    """Start the real command line, on the synthetic backend, in a process of its own.

    It heeds Ctrl-C even where the tests run in the background of a shell, which ignores it.
    """
    start = "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
    start += "runpy.run_module('tests.dse.synthetic', run_name='__main__', alter_sys=True)"
    return subprocess.Popen(
        [sys.executable, "-c", start, *map(str, words)], cwd=ROOT, text=True,
        env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for_trials(folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        log = folder / TRIALS
        if log.exists() and len(log.read_bytes().splitlines()) >= count:
            return
        time.sleep(0.005)
    raise AssertionError(f"no {count} trials in {folder} after a minute")


def test_help_imports_nothing_heavy_and_is_fast() -> None:
    code = (
        "import sys; from dse.cli import run; code = run(['--help'])\n"
        f"sys.exit(repr([m for m in {HEAVY} if m in sys.modules]) if code == 0 else 'failed')"
    )
    seconds = []
    for _ in range(5):
        before = os.times()
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
        )
        after = os.times()
        seconds.append(
            after.children_user + after.children_system
            - before.children_user - before.children_system
        )  # fmt: skip
        assert done.stderr == "[]\n"
    for name in ("search", "evaluate", "plot", "export", "verify", "list", "show"):
        assert re.search(rf"^  {name}  +\S", done.stdout, re.M)
    assert min(seconds) < 0.2  # processor time: other work on the machine does not count


def test_search_reports_and_writes_everything(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "run"
    assert dse("search", AES, "--trials", 60, "--jobs", 0, "--out", out, "--profile") == 0
    text = capsys.readouterr().out
    for name in ("front.csv", "front.json", "trials.csv", "pareto.png", "pareto.svg"):
        assert (out / name).stat().st_size > 0
        assert f"{out / name}\n" in text
    assert "Pareto front of aes: time_ns x area_ge" in text
    assert re.search(r"^ +\*\d+ .* confirmed", text, re.M)
    assert re.search(r"^Knee: row \d+, rv32i", text, re.M)
    assert re.search(r"random search with as many designs: 0\.\d+ \(60 designs", text)
    assert re.search(r"Exact front \(\d+ distinct designs enumerated\): \d+ points, \d+%", text)
    assert "Where the time went" in text
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["seed"] == 1
    assert manifest["result"]["designs"] == 60
    assert manifest["versions"]["optuna"]
    assert 0 < manifest["result"]["exact"]["hypervolume_ratio"] <= 1
    with (out / "front.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"confirmed"}
    assert {"core.pipeline", "zkne", "nluv.banks", "time_ns", "area_ge", "gain"} <= set(rows[0])
    times = [float(row["time_ns"]) for row in rows]
    areas = [float(row["area_ge"]) for row in rows]
    assert times == sorted(times)
    assert areas == sorted(areas, reverse=True)
    with (out / "trials.csv").open() as file:
        assert [row["trial"] for row in csv.DictReader(file)] == [str(i) for i in range(60)]


def test_front_is_the_same_for_one_job_and_two_and_without_cache(tmp_path: Path) -> None:
    quick = ("--trials", 40, "--exact-seconds", 0)
    assert dse("search", AES, *quick, "--jobs", 1, "--out", tmp_path / "1") == 0
    assert dse("search", AES, *quick, "--jobs", 2, "--out", tmp_path / "2", "--no-cache") == 0
    warm = ("--jobs", 0, "--out", tmp_path / "3")
    assert dse("search", AES, *quick, *warm) == 0
    for name in ("front.csv", "front.json", "trials.csv", "pareto.svg", TRIALS):
        contents = {(tmp_path / folder / name).read_bytes() for folder in "123"}
        assert len(contents) == 1, name


def test_front_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    fronts = []
    for seed in ("0", "1"):
        out = tmp_path / seed
        words = ("search", AES, "--trials", 24, "--exact-seconds", 0, "--jobs", 0, "--out", out)
        process = spawn(*words, "--no-cache", PYTHONHASHSEED=seed)
        assert process.wait(60) == 0
        process.communicate()
        fronts.append((out / "front.csv").read_bytes())
    assert fronts[0] == fronts[1]


def test_exhaustive_front_is_called_exact(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "run"
    words = ("search", SMALL, "--exhaustive", "--jobs", 0, "--out", out, "--json")
    assert dse(*words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["front"]["is_exact"] is True
    searched = (
        "search",
        SMALL,
        "--trials",
        500,
        "--jobs",
        0,
        "--out",
        tmp_path / "other",
        "--json",
    )
    assert dse(*searched) == 0
    assert json.loads(capsys.readouterr().out)["front"] == {**data["front"], "history": ANY}
    stopped = ("search", SMALL, "--trials", 4, "--jobs", 0, "--out", tmp_path / "short", "--json")
    assert dse(*stopped) == 0
    assert json.loads(capsys.readouterr().out)["front"]["is_exact"] is False
    assert data["result"]["designs"] == len((out / "trials.csv").read_text().splitlines()) - 1


def test_front_row_that_is_not_confirmed_fails(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYNTHETIC_DIFFERS", '"zkne":true')
    out = tmp_path / "run"
    quick = ("--trials", 24, "--exact-seconds", 0, "--jobs", 0)
    assert dse("search", AES, *quick, "--out", out) == 1
    text = capsys.readouterr().out
    assert re.search(r"Row \d+ FAILED: aes128-encrypt: 101 cycles on the netlist, not 100", text)
    assert "FAILED" in (out / "front.csv").read_text()
    assert dse("verify", out, "--jobs", 0) == 1
    monkeypatch.delenv("SYNTHETIC_DIFFERS")
    assert dse("verify", out, "--jobs", 0) == 0
    assert "FAILED" not in (out / "front.csv").read_text()


def test_existing_run_is_refused(tmp_path: Path, capsys: Capture) -> None:
    words = ("search", SMALL, "--trials", 8, "--jobs", 0, "--out", tmp_path / "run")
    assert dse(*words) == 0
    capsys.readouterr()
    assert dse(*words) == 2
    assert "already holds a run; continue it with --resume" in capsys.readouterr().err
    assert dse(*words, "--resume") == 0


def test_resume_may_ask_for_more_trials(tmp_path: Path) -> None:
    quick = ("--exact-seconds", 0, "--jobs", 0)
    assert dse("search", AES, *quick, "--trials", 30, "--out", tmp_path / "a") == 0
    assert dse("search", AES, *quick, "--trials", 56, "--out", tmp_path / "a", "--resume") == 0
    assert dse("search", AES, *quick, "--trials", 56, "--out", tmp_path / "b") == 0
    assert (tmp_path / "a" / "front.csv").read_bytes() == (tmp_path / "b/front.csv").read_bytes()


@pytest.mark.parametrize("kind", ["with cache", "without cache"])
def test_killed_search_resumes_to_the_same_front(tmp_path: Path, kind: str) -> None:
    """Kill -9 twice in the middle; the resumed run ends as an undisturbed one."""
    out = tmp_path / "killed"
    counted = tmp_path / "evaluated"
    cache = ("--cache", tmp_path / "cache") if kind == "with cache" else ("--no-cache",)
    base = ("search", AES, "--trials", 48, "--exact-seconds", 0, "--jobs", 2, *cache)
    slow = {"SYNTHETIC_SECONDS": "0.01", "SYNTHETIC_COUNT": str(counted)}
    generator = random.Random(7)
    resume: tuple[str, ...] = ()
    for _ in range(2):
        process = spawn(*base, "--out", out, *resume, **slow)
        seen = len((out / TRIALS).read_bytes().splitlines()) if resume else 0
        wait_for_trials(out, seen + 8)
        time.sleep(generator.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        assert process.returncode == -signal.SIGKILL
        resume = ("--resume",)
    process = spawn(*base, "--out", out, "--resume", **slow)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "confirmed" in output
    undisturbed = tmp_path / "undisturbed"
    words = ("search", AES, "--trials", 48, "--exact-seconds", 0, "--jobs", 0, "--no-cache")
    assert dse(*words, "--out", undisturbed) == 0
    for name in ("front.csv", "trials.csv", TRIALS, "pareto.svg"):
        assert (out / name).read_bytes() == (undisturbed / name).read_bytes(), name
    numbers = [json.loads(line).get("trial") for line in (out / TRIALS).read_text().splitlines()]
    trials = [number for number in numbers if number is not None]
    assert trials == list(range(48))
    if kind == "with cache":
        # a design is evaluated again only where a kill caught it in flight: at most one a worker
        evaluated = counted.read_text().split()
        assert len(evaluated) - len(set(evaluated)) <= 2 * 2


def test_ctrl_c_ends_with_the_front_so_far(tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ("search", AES, "--trials", 2000, "--jobs", 2, "--no-cache", "--out", out)
    process = spawn(*words, SYNTHETIC_SECONDS="0.01")
    wait_for_trials(out, 16)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "Interrupted: the front so far; continue with --resume." in output
    assert "Traceback" not in errors
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"
    assert len(json.loads((out / "front.json").read_text())["rows"]) > 0


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=pytest.mark.slow if seed < 5 else pytest.mark.full)
        for seed in range(30)
    ],
)
def test_ctrl_c_is_heeded_at_any_moment(tmp_path: Path, seed: int) -> None:
    out = tmp_path / "run"
    generator = random.Random(seed)
    words = ("search", AES, "--trials", 2000, "--jobs", seed % 3, "--no-cache", "--out", out)
    process = spawn(*words, SYNTHETIC_SECONDS="0.02")
    wait_for_trials(out, 1)
    time.sleep(generator.random() * 0.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=15)
    assert process.returncode == 1
    assert "Interrupted: the front so far; continue with --resume." in output
    assert errors == ""
    assert json.loads((out / "manifest.json").read_text())["status"] == "interrupted"


def test_evaluate_prints_the_keys_scripts_rely_on(capsys: Capture) -> None:
    words = ("evaluate", AES, "--set", "zkne=true", "--set", "core.pipeline=3", "--json")
    assert dse(*words) == 0
    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(data) == ["design", "feasible", "reason", "workloads", "metrics"]
    assert data["design"]["kernel.aes128-encrypt"] == "zkne"  # of fewest cycles
    assert data["design"]["core.pipeline"] == 3
    assert set(data["metrics"]["area_ge"]) == {"value", "unit", "rung", "error"}
    assert data["workloads"]["aes128-encrypt"]["kernel"] == "zkne"


def test_evaluate_of_several_workloads_chooses_each_kernel(tmp_path: Path, capsys: Capture) -> None:
    space = tmp_path / "two.yaml"
    space.write_text(
        "name: two\nworkloads: [{workload: aes128-encrypt, kernel: bitsliced}, aes128-decrypt]\n"
        "instructions: {choose: [nluv]}\n"
    )
    assert dse("evaluate", space, "--set", "nluv=true", "--json") == 0
    design = json.loads(capsys.readouterr().out)["design"]
    assert design["kernel.aes128-encrypt"] == "bitsliced"
    assert design["kernel.aes128-decrypt"] == "nluv"


def test_plot_and_export_of_a_run(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "run"
    quick = ("--trials", 16, "--exact-seconds", 0, "--jobs", 0)
    assert dse("search", AES, *quick, "--out", out) == 0
    before = {name: (out / name).read_bytes() for name in ("front.csv", "pareto.svg", "pareto.png")}
    for name in before:
        (out / name).unlink()
    capsys.readouterr()
    assert dse("plot", out) == 0
    assert dse("export", out, "--format", "csv,json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [Path(line).name for line in lines] == [
        "pareto.png", "pareto.svg", "front.csv", "trials.csv", "front.json",
    ]  # fmt: skip
    assert {name: (out / name).read_bytes() for name in before} == before
    assert dse("export", out, "--format", "cvs") == 2
    assert "pyrtl or verilog, not 'cvs'; did you mean 'csv'?" in (capsys.readouterr().err)


def test_list_and_show(capsys: Capture) -> None:
    assert dse("list", "metrics") == 0
    assert "tap_code" in capsys.readouterr().out.splitlines()
    assert dse("list", "--json") == 0
    assert json.loads(capsys.readouterr().out)["units"] == ["aes_sbox"]
    assert dse("show", "tap_code") == 0
    assert "cycles x (code_bytes + data_bytes) (NLU-V 2024)" in capsys.readouterr().out
    assert dse("show", "aes-ctr-small", "--json") == 0
    assert "spaces" in json.loads(capsys.readouterr().out)


def test_internal_error_is_one_line_without_debug(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dse.show.catalog.KINDS", None)
    assert dse("list") == 1
    assert capsys.readouterr().err == (
        "dse: error: internal error: TypeError: 'NoneType' object is not iterable "
        "(dse --debug shows where)\n"
    )
    assert dse("--debug", "list") == 1
    assert "Traceback" in capsys.readouterr().err
