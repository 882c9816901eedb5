"""Points: designs that a space names, such as one of a paper, beside those of a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dse.evaluation import Evaluation
from dse.evaluator import Evaluator
from dse.front import short_design
from dse.metrics import METRICS
from dse.pareto import Loss
from dse.space import Space


def place(
    evaluator: Evaluator, trials: Iterable[Mapping[str, Any]], baseline: Evaluation
) -> list[dict[str, Any]]:
    """Evaluate the points of a space, and compare them with every design of a search.

    Args:
        evaluator: Of the space.
        trials: Logged trials.
        baseline: For the words of designs.

    Returns:
        For each point its name, design, metrics of the objectives, whether it is feasible or why
        not, and the designs that dominate it: no worse in any objective, better in at least one.
    """
    space = evaluator.space
    if not space.points:
        return []
    searched = [Evaluation.from_json(trial) for trial in trials]
    named = list(space.points)
    designs = [space.reduce(space.neutral.replace(space.points[name])) for name in named]
    evaluations = evaluator.evaluate(designs)
    found = []
    for name, evaluation in zip(named, evaluations, strict=True):
        losses = evaluator.losses(evaluation) if evaluation.feasible else None
        better: list[dict[str, Any]] = []
        if losses is not None:
            better = [
                _row(space, other, baseline)
                for other in searched
                if other.feasible and _dominates(evaluator.losses(other), losses)
            ]
        first = space.objectives[0].metric
        better.sort(key=lambda row: row["objectives"][first])
        found.append(
            {
                "name": name,
                "feasible": evaluation.feasible,
                "reason": evaluation.reason,
                **_row(space, evaluation, baseline),
                "designs": len(searched),
                "dominated_by": better,
            }
        )
    return found


def _dominates(ours: Loss | None, theirs: Loss) -> bool:
    if ours is None:
        return False
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


def _row(space: Space, evaluation: Evaluation, baseline: Evaluation) -> dict[str, Any]:
    metrics = [objective.metric for objective in space.objectives]
    return {
        "design": short_design(space, evaluation.canonical, baseline.canonical),
        "digest": evaluation.canonical.digest,
        "objectives": {m: evaluation.metrics[m].value for m in metrics if m in evaluation.metrics},
    }


def point_lines(points: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Text: where each point falls, and every design that dominates it."""
    for point in points:
        if not point["feasible"]:
            yield f"Point {point['name']}: infeasible: {point['reason']}"
            continue
        better = point["dominated_by"]
        verdict = f"dominated by {len(better)} of the {point['designs']} designs, all named here:"
        if not better:
            verdict = f"dominated by none of the {point['designs']} designs"
        yield f"Point {point['name']} ({_figures(point)}), {verdict}"
        for row in better:
            yield f"  {_figures(row)}: {row['design']}"


def _figures(row: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {METRICS[name].format(value)}" for name, value in row["objectives"].items()
    )
