"""`Constraint`: a bound on a metric that decides whether a design is feasible."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dse.evaluation import Evaluation
from dse.metrics import METRICS, Quantity
from dse.suggestion import one_of, suggest

RELATIONS = ("<=", ">=")


@dataclass(frozen=True)
class Constraint:
    """`metric relation bound`, the relation `<=` or `>=`."""

    metric: str
    relation: str
    bound: float

    @property
    def is_relative(self) -> bool:
        """Whether the metric is known only beside a baseline."""
        return METRICS[self.metric].is_relative

    @property
    def text(self) -> str:
        """As written: `area_ge <= 60000`."""
        return f"{self.metric} {self.relation} {self.bound:g}"

    def violation(self, metrics: Mapping[str, Quantity]) -> float:
        """How far the metric is beyond the bound, relative to it; at most 0 where it holds."""
        if self.metric not in metrics:
            raise ValueError(
                f"constraint {self.text} needs metric {self.metric}, which was not measured"
            )
        excess = metrics[self.metric].value - self.bound
        return (excess if self.relation == "<=" else -excess) / max(abs(self.bound), 1.0)


def parse_constraint(name: str, value: object) -> Constraint | None:
    """The constraint that `name: value` writes; None for `constant_time: false`.

    Raises:
        ValueError: saying what is accepted.
    """
    if name == "constant_time":
        if not isinstance(value, bool):
            raise ValueError(f"must be true or false, not {value!r}")
        return Constraint("leaks", "<=", 0) if value else None
    if name not in METRICS:
        accepted = ["constant_time", *METRICS]
        raise ValueError(
            f"unknown constraint {name!r}; must be {one_of(accepted)}{suggest(name, accepted)}"
        )
    text = str(value).strip()
    relation, number = text[:2], text[2:].strip()
    try:
        bound = float(number)
    except ValueError:
        bound = math.nan
    if relation not in RELATIONS or not math.isfinite(bound) or not isinstance(value, str):
        raise ValueError(f"must be '<= number' or '>= number', not {text[:60]!r}")
    return Constraint(name, relation, bound)


def judge(evaluation: Evaluation, constraints: Sequence[Constraint]) -> Evaluation:
    """`evaluation`, infeasible with the reason where a constraint does not hold."""
    if not evaluation.feasible:
        return evaluation
    for constraint in constraints:
        if constraint.violation(evaluation.metrics) > 0:
            value = METRICS[constraint.metric].format(evaluation.metrics[constraint.metric].value)
            bound = f"{constraint.relation} {constraint.bound:g}"
            return replace(
                evaluation,
                feasible=False,
                reason=f"{constraint.metric} must be {bound}, not {value}",
            )
    return evaluation
