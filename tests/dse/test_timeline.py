"""Timelines of co-processors: what is drawn, and that double buffering shows in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.backend import Backend
from dse.cache import Cache
from dse.cli import run
from dse.measure.timeline import Phase, Timeline, timelines
from dse.space import Space, parse_space
from hw.coprocessors.parameters import Coprocessor
from hw.coprocessors.schedule import schedule

TEXT = """
name: x
workloads: [{workload: sha256, bytes: 1024, kernel: coprocessor}]
coprocessor: {mover: dma, bus_width: 64, burst_length: 8, double_buffer: [true, false]}
"""


@pytest.fixture(scope="module")
def space() -> Space:
    return parse_space(TEXT, Path("x.yaml"))


def timeline(space: Space, *, is_double: bool) -> Timeline:
    design = space.reduce(space.neutral.replace({"coprocessor.double_buffer": is_double}))
    (found,) = timelines(space, design, Cache(None))
    return found


def test_double_buffering_loads_while_it_computes(space: Space) -> None:
    """17 blocks of 64 + 2 cycles fill all but the first load and the last store of the run."""
    double, single = (timeline(space, is_double=d) for d in (True, False))
    overlaps = [
        {
            (a.what, b.what)
            for a in found.phases
            for b in found.phases
            if a.what < b.what and a.start < b.end and b.start < a.end
        }
        for found in (double, single)
    ]
    assert overlaps == [{("compute", "load")}, set()]
    computes = [phase for phase in double.phases if phase.what == "compute"]
    assert len(computes) == 17
    assert sum(c.end - c.start for c in computes) / double.cycles > 0.9
    assert double.cycles < single.cycles


def test_phases_are_those_of_the_schedule(space: Space) -> None:
    p = Coprocessor(("sha256",), mover="dma", bus_width=64, burst_length=8, double_buffer=True)
    theirs = schedule(p, "sha256", 1024).phases
    ours = timeline(space, is_double=True).phases
    shift = ours[0].start - theirs[0].start
    assert [(p.what, p.start - shift, p.end - shift) for p in ours] == [
        (n.what, n.start, n.end) for n in theirs
    ]


def test_lanes_are_drawn() -> None:
    phases = (Phase("load", 0, 0, 4), Phase("compute", 0, 4, 100), Phase("compute", 11, 100, 160))
    lines = list(Timeline("w", 64, 160, phases).lines())
    assert lines[0] == "Timeline w, 64 bytes: 160 cycles, 2 a column"
    assert lines[1] == "  load    |00" + " " * 78 + "| 4 cycles, 2%"
    assert lines[2] == "  compute |  " + "0" * 48 + "1" * 30 + "| 156 cycles, 98%"
    assert lines[3] == "  store   |" + " " * 80 + "| 0 cycles, 0%"


def test_command_prints_and_lists_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(TEXT.replace("kernel: coprocessor", "kernel: [rolling, coprocessor]"))
    chosen = ["--set", "kernel.sha256=coprocessor", "--set", "coprocessor=true"]
    common = ["evaluate", str(path), "--cache", str(tmp_path), "--timeline"]
    assert run([*common, *chosen, "--json"], Backend()) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["timeline"]["sha256"]["cycles"] == data["workloads"]["sha256"]["cycles"]
    parts = data["coprocessor"]["parts"]
    assert list(parts) == ["hash", "buffer", "control"]
    area = sum(part["area_ge"] for part in parts.values())
    assert area == pytest.approx(data["metrics"]["coprocessor_area_ge"]["value"])
    assert run([*common, *chosen], Backend()) == 0
    printed = capsys.readouterr().out
    assert "\nTimeline sha256, 1,024 bytes: " in printed
    ffs = f"{parts['hash']['ffs']:,}"
    assert f"\n  hash        {parts['hash']['area_ge']:>12,.1f}{ffs:>9}" in printed
    assert "\n  paths in FO4: inside " in printed
    assert run([*common, "--set", "kernel.sha256=rolling"], Backend()) == 2
    assert "--timeline needs a feasible design that uses a co-pro" in capsys.readouterr().err
