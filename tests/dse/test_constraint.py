from __future__ import annotations

import pytest

from dse.constraint import Constraint, judge, parse_constraint
from dse.design import Design
from dse.evaluation import Evaluation
from dse.metrics import METRICS, Quantity


def evaluation(**values: float) -> Evaluation:
    metrics = {name: Quantity(value, METRICS[name].unit, "exact") for name, value in values.items()}
    return Evaluation(Design({"a": 1}), feasible=True, metrics=metrics)


def test_parsed() -> None:
    assert parse_constraint("area_ge", "<= 60000") == Constraint("area_ge", "<=", 60000.0)
    assert parse_constraint("gain", ">=0.5") == Constraint("gain", ">=", 0.5)
    assert parse_constraint("constant_time", True) == Constraint("leaks", "<=", 0)
    assert parse_constraint("constant_time", False) is None


def test_violation_is_relative_to_the_bound() -> None:
    constraint = Constraint("area_ge", "<=", 1000.0)
    assert constraint.violation(evaluation(area_ge=1500.0).metrics) == pytest.approx(0.5)
    assert constraint.violation(evaluation(area_ge=900.0).metrics) == pytest.approx(-0.1)
    assert Constraint("gain", ">=", 0.5).violation(evaluation(gain=0.2).metrics) > 0


def test_judged() -> None:
    constraints = [Constraint("leaks", "<=", 0), Constraint("area_ge", "<=", 1000.0)]
    assert judge(evaluation(leaks=0, area_ge=1000.0), constraints).feasible
    judged = judge(evaluation(leaks=160, area_ge=10.0), constraints)
    assert (judged.feasible, judged.reason) == (False, "leaks must be <= 0, not 160")


def test_metric_that_was_not_measured() -> None:
    with pytest.raises(ValueError, match=r"^constraint area_ge <= 5 needs metric area_ge, which"):
        Constraint("area_ge", "<=", 5.0).violation({})


def test_evaluation_survives_json() -> None:
    before = evaluation(area_ge=12.5)
    assert Evaluation.from_json(before.to_json()) == before
