"""Points that a space names: where they fall, and which designs dominate them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dse.cli import run
from dse.show.points import point_lines
from tests.dse.synthetic import BACKEND, SPACES

POINTS = """
points:
  good: {kernel: {aes128-encrypt: zkne}, zkne: true}
  plain: {core: {pipeline: 5}}
"""


@pytest.fixture
def space(tmp_path: Path) -> Path:
    file = tmp_path / "aes.yaml"
    file.write_text((SPACES / "aes.yaml").read_text() + POINTS)
    return file


def test_a_search_says_where_points_fall(
    space: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert (
        run(["search", str(space), "--trials", "40", "--out", str(out), "--no-cache"], BACKEND) == 0
    )
    printed = capsys.readouterr().out
    result = json.loads((out / "manifest.json").read_text())["result"]
    points = {point["name"]: point for point in result["points"]}
    assert list(points) == ["good", "plain"]
    trials = [json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()]
    for point in points.values():
        mine = point["objectives"]
        better = {
            trial["design"]["core.pipeline"]
            for trial in trials
            if "trial" in trial
            and trial["feasible"]
            and all(trial["metrics"][m]["value"] <= v for m, v in mine.items())
            and any(trial["metrics"][m]["value"] < v for m, v in mine.items())
        }
        assert bool(better) == bool(point["dominated_by"])
        assert f"Point {point['name']} (" in printed
        for row in point["dominated_by"]:
            assert row["design"].split()[0] in printed


def test_lines_name_every_design_that_dominates() -> None:
    row = {"design": "rv32i pipeline=3", "objectives": {"time_ns": 5.0, "area_ge": 10.0}}
    point = {
        "name": "paper",
        "feasible": True,
        "objectives": {"time_ns": 6.0, "area_ge": 11.0},
        "designs": 40,
        "dominated_by": [row],
    }
    assert list(point_lines([point])) == [
        "Point paper (time_ns 6, area_ge 11), dominated by 1 of the 40 designs, all named here:",
        "  time_ns 5, area_ge 10: rv32i pipeline=3",
    ]
    assert list(point_lines([{**point, "dominated_by": []}])) == [
        "Point paper (time_ns 6, area_ge 11), dominated by none of the 40 designs"
    ]
    bad = {"name": "paper", "feasible": False, "reason": "too small"}
    assert list(point_lines([bad])) == ["Point paper: infeasible: too small"]
