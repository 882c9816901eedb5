"""The front of the model against enumeration of the same model, and what is said of it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks import selection
from dse.cli import run
from dse.evaluator import Evaluator
from dse.learn.discovery import discover
from dse.learn.encoding import Encoding, Rows
from dse.learn.model import Model
from dse.learn.model_front import ModelFront, Point, model_front
from dse.learn.prove import gaps, objective_order, proof_lines
from dse.learn.regression import fit
from dse.learn.structure import Structure
from dse.pareto import front_indices
from dse.random_search import random_designs
from dse.run import TRIALS
from dse.space import Space
from tests.dse.synthetic import BACKEND, SPACES

pytest.importorskip("ortools", reason="OR-Tools is absent (pip install 'riscv-dse[exact]')")

AES = SPACES / "aes.yaml"
QUICK = ("--trials", 40, "--exact-seconds", 0, "--jobs", 0)
Parse = Callable[[str], Space]


def dse(*words: object) -> int:
    return run([str(word) for word in words], BACKEND)


def fitted(evaluator: Evaluator, structure: Structure, count: int) -> Model:
    """A model of designs drawn at random."""
    space = evaluator.space
    designs = [design for design, _ in zip(random_designs(space, 1), range(count), strict=False)]
    evaluations = [e for e in evaluator.evaluate(designs) if e.metrics]
    rows = np.array([structure.encoding.row(e.canonical) for e in evaluations])
    losses = np.array([evaluator.losses(e) for e in evaluations])
    violations = np.array(
        [[c.violation(e.metrics) for c in space.constraints] for e in evaluations]
    ).reshape(len(rows), -1)
    metrics = [objective.metric for objective in space.objectives]
    return Model(structure, metrics, rows, losses, violations)


def enumerated(model: Model) -> list[tuple[int, ...]]:
    rows = model.encoding.every()
    losses = [tuple(loss) for loss in model.losses(rows[model.admits(rows)]).tolist()]
    return [losses[index] for index in front_indices(losses)]


@pytest.mark.slow
def test_solver_finds_the_front_that_enumeration_finds() -> None:
    space = selection.space_of(5, 4, 3, ["time_ns", "area_ge"])
    evaluator = Evaluator(space, selection.BACKEND, None, 0)
    evaluator.set_baseline()
    model = fitted(evaluator, discover(evaluator, 60, lambda progress: None)[0], 60)
    assert len(model.objectives[0].settings) == 6  # cycles count by pipeline and forwarding
    assert sum(len(ways) > 2 for p in model.programs for ways in p.segments) > 4
    found = model_front(model, 60)
    assert found.is_complete
    assert [point.losses for point in found.points] == enumerated(model)
    assert len(found.points) > 5
    assert all(point.bound == point.losses[0] for point in found.points)


@pytest.mark.parametrize("constraint", ["{}", "{constant_time: true, area_ge: '<= 14000'}"])
def test_kernels_neutral_choices_and_constraints_are_as_in_the_space(
    parse: Parse, evaluator_of: Callable[..., Evaluator], constraint: str
) -> None:
    """Without segments; what cannot be compiled or cannot matter is no design of the model."""
    space = parse(
        "instructions: {choose: [zkne, zbkb, {nluv: {banks: [1, 2, 4]}}]}\n"
        "core: {pipeline: [2, 3, 5]}\ncompiler: {unroll: [1, full]}\n"
        f"constraints: {constraint}"
    )
    evaluator = evaluator_of(space)
    evaluator.set_baseline()
    model = fitted(evaluator, Structure(Encoding(space)), 100)
    assert len(model.limits) == len(space.constraints)
    found = model_front(model, 60)
    assert [point.losses for point in found.points] == enumerated(model)
    assert len(found.points) > 3
    rows = np.array([point.row for point in found.points])
    assert (model.encoding.reduce(rows) == rows).all()


def test_sums_with_shared_parts_are_fitted_exactly() -> None:
    """Two instructions share 300 of their 500 and 400; nothing else is joint."""
    draw = np.random.default_rng(1)
    x = draw.integers(0, 2, size=(60, 6)).astype(float)
    values = 1000 + x @ [500, 400, 70, 20, 0, 10] - 300 * x[:, 0] * x[:, 1]
    always = {"one": np.ones(60), **{str(i): x[:, i] for i in range(6)}}
    pairs = {f"{i}{j}": x[:, i] * x[:, j] for i in range(6) for j in range(i)}
    found = fit(always, pairs, values)
    assert found["10"] == pytest.approx(-300, rel=0.01)
    assert found["0"] == pytest.approx(500, rel=0.01)
    assert found["one"] == pytest.approx(1000, rel=0.001)
    assert all(abs(value) < 5 for name, value in found.items() if name in pairs and name != "10")


def test_bound_is_that_of_the_solve_whose_cap_is_next() -> None:
    row: Rows = np.zeros(1, dtype=np.int16)
    points = (Point(row, (10, 90), 10, None), Point(row, (20, 50), 17, 89))
    front = ModelFront(points, False, 3, 1.0, "x")
    assert [front.bound(cap) for cap in (None, 95, 90, 89, 50)] == [10, 10, 10, 17, 17]
    assert front.bound(30) == 17  # no design with less of the second has less of the first
    assert ModelFront(points, True, 3, 1.0, "x").bound(30) is None
    assert ModelFront((), False, 1, 1.0, "x").bound(None) is None


def test_gaps_are_at_quarters_of_the_range_of_area(parse: Parse) -> None:
    """Worked by hand: units of 0.5 ns and 2 GE; the front evaluated spans 100 to 300 GE."""
    space = parse("objectives: [area_ge, time_ns]")
    order = objective_order(space)
    assert order == [1, 0]
    row: Rows = np.zeros(1, dtype=np.int16)
    points = (Point(row, (80, 150), 80, None), Point(row, (160, 60), 160, 149))
    front = ModelFront(points, True, 4, 1.0, "x")
    losses = [(44.0, 300.0), (60.0, 200.0), (88.0, 120.0), (90.0, 100.0)]
    found = gaps(space, order, front, [0.5, 2.0], losses)
    assert [entry["cap"] for entry in found] == [150.0, 200.0, 250.0, None]
    assert [entry["best"] for entry in found] == [88.0, 60.0, 60.0, 44.0]
    assert [entry["bound"] for entry in found] == [80.0, 80.0, 80.0, 40.0]
    assert [round(entry["gap"], 3) for entry in found] == [0.1, -0.25, -0.25, 0.1]


@pytest.mark.slow
def test_proof_after_a_search_and_in_one_go_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    assert dse("search", AES, *QUICK, "--prove", "--out", one) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "status optimal" in text
    assert "limit 60 s a pass" in text
    assert "beside the model's least (a bound of the model): area_ge <= " in text
    assert "designs that it proposed, before they were evaluated: time_ns " in text
    assert "The bounds hold for the model alone" in text
    assert dse("search", AES, *QUICK, "--out", two) == 0
    assert (one / "front.csv").read_bytes() != (two / "front.csv").read_bytes()
    assert dse("search", AES, *QUICK, "--prove", "--resume", "--out", two) == 0
    assert dse("search", AES, *QUICK, "--prove", "--resume", "--out", one) == 0  # nothing twice
    for name in ("front.csv", TRIALS, "trials.csv"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    with (one / "trials.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["trial"] for row in rows] == [str(i) for i in range(len(rows))]
    assert {row["origin"] for row in rows[40:]} == {"proved"}
    # a longer search after it meets its own trials, not those of the proof
    longer = ("--trials", 56, "--exact-seconds", 0, "--jobs", 0, "--resume")
    assert dse("search", AES, *longer, "--out", one) == 0
    numbers = [json.loads(line).get("trial") for line in (one / TRIALS).read_text().splitlines()]
    assert [number for number in numbers if number is not None] == list(range(56))


def test_time_that_ends_is_said() -> None:
    proof = {
        "solver": "s", "status": "feasible", "limit_seconds": 1, "seconds": 1.0, "solves": 3,
        "points": 2, "new": 1, "joined": 0, "least": "time_ns", "capped": "area_ge",
        "caps": [
            {"cap": 900.0, "best": 110.0, "bound": 100.0, "gap": 0.1, "is_empty": False},
            {"cap": 800.0, "best": 90.0, "bound": 100.0, "gap": -0.1, "is_empty": False},
            {"cap": None, "best": 90.0, "bound": None, "gap": None, "is_empty": False},
        ],
        "errors": {"fitted": {"designs": 0}, "proposed": {"designs": 0}},
    }  # fmt: skip
    lines = proof_lines(proof)
    assert "status feasible; 3 solves in 1 s, limit 1 s a pass): 2 designs, as far as" in lines[0]
    assert lines[3:6] == [
        "  area_ge <= 900: 110, 10.0% above the model's 100",
        "  area_ge <= 800: 90, 10.0% below the model's 100",
        "  no cap: 90, no bound in the time given",
    ]


def test_three_objectives_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    space = tmp_path / "three.yaml"
    space.write_text(AES.read_text().replace("area_ge]", "area_ge, code_bytes]"))
    assert dse("search", space, "--prove", "--out", tmp_path / "run") == 2
    assert "--prove must have two objectives, not 3 (time_ns, area_ge, code_bytes)" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "run").exists()


def test_missing_solver_is_one_line_that_names_the_extra(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dse.learn.prove.LIBRARY", "no_such_solver")
    assert dse("search", AES, "--prove", "--out", tmp_path / "run") == 2
    errors = capsys.readouterr().err
    assert "--prove needs no_such_solver, which is not installed" in errors
    assert "pip install 'riscv-dse[exact]'" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / "run").exists()


def test_search_alone_leaves_the_solver_out() -> None:
    code = "import sys, dse.explore, dse.show.report; sys.exit('ortools' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
