"""`--prove`: the front of the model, its designs evaluated, and how far from it the search is.

What is proven is proven of the model; the errors stated beside say how far that is from the truth.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dse.evaluation import Evaluation
from dse.evaluator import Evaluator, SearchError
from dse.learn.model import Model
from dse.learn.model_front import LIBRARY, ModelFront, model_front
from dse.learn.structure import Floats, Structure
from dse.metrics import METRICS
from dse.pareto import Loss
from dse.search import Found, Log, Observer, Progress, extend
from dse.space import Space

LIMIT_SECONDS = 60
_ROUNDS = 4  # fitted again while its own designs are news to it
_SHARES = (0.25, 0.5, 0.75)


def check_provable(space: Space) -> None:
    """Refuse what cannot be proven, before anything is evaluated.

    Raises:
        SearchError: The solver is not installed, or there are not two objectives.
    """
    if importlib.util.find_spec(LIBRARY) is None:
        raise SearchError(
            f"--prove needs {LIBRARY}, which is not installed; install it with "
            "`pip install 'riscv-dse[exact]'`"
        )
    names = ", ".join(objective.metric for objective in space.objectives)
    if len(space.objectives) != 2:
        raise SearchError(
            f"--prove must have two objectives, not {len(space.objectives)} ({names}); it bounds "
            "one at caps of the other"
        )


def prove(
    evaluator: Evaluator,
    structure: Structure,
    found: Found,
    evaluations: Iterable[Evaluation],
    log: Log | None,
    observer: Observer,
    limit_seconds: float,
) -> dict[str, Any]:
    """Solve the model of what was evaluated, evaluate its front, and say how far off that is.

    The new designs count as found. Returns plain data: `proof_lines` puts it into words.
    """
    order = objective_order(evaluator.space)
    known = {e.canonical.digest: e for e in evaluations if e.metrics}
    before = set(found.front)
    told: list[tuple[Floats, Floats]] = []
    new = solves = 0
    seconds = 0.0
    for _ in range(_ROUNDS):
        model, rows, losses = _fit(evaluator, structure, list(known.values()), order)

        def on_point(count: int) -> None:
            observer(Progress("model front", count, count))

        front = model_front(model, limit_seconds, on_point)
        solves, seconds = solves + front.solves, seconds + front.seconds
        designs = [structure.encoding.design(point.row) for point in front.points]
        done = extend(evaluator, found, designs, log, observer, phase="proof")
        fresh = [e for e in done if e.canonical.digest not in known]
        pairs = zip(front.points, done, strict=True)
        for point, evaluation in pairs:
            values = evaluator.losses(evaluation)
            if evaluation.canonical.digest not in known and values is not None:
                predicted = model.predict(point.row[None])[0]
                told.append((predicted, np.array(values)[order]))
        known |= {e.canonical.digest: e for e in fresh if e.metrics}
        new += len({e.canonical.digest for e in fresh})
        if not fresh:
            break
    feasible = [
        tuple(np.array(loss)[order].tolist())
        for loss in map(evaluator.losses, (e for e in known.values() if e.feasible))
        if loss is not None
    ]
    metrics = [evaluator.space.objectives[k].metric for k in order]
    return {
        "solver": front.solver,
        "status": "optimal" if front.is_complete else "feasible",
        "limit_seconds": limit_seconds,
        "seconds": round(seconds, 1),
        "solves": solves,
        "points": len(front.points),
        "new": new,
        "joined": len(set(found.front) - before),
        "least": metrics[0],
        "capped": metrics[1],
        "caps": gaps(evaluator.space, order, front, [r.unit for r in model.objectives], feasible),
        "errors": {
            "fitted": _errors(metrics, model.predict(rows), losses),
            "proposed": _errors(
                metrics, np.array([p for p, _ in told]), np.array([t for _, t in told])
            ),
        },
    }


def objective_order(space: Space) -> list[int]:
    """The objective that is minimised, then the one that is capped: an area, or else the second."""
    metrics = [objective.metric for objective in space.objectives]
    is_first_area = any(word in metrics[0] for word in ("area", "luts"))
    return [1, 0] if is_first_area else [0, 1]


def _fit(
    evaluator: Evaluator, structure: Structure, known: Sequence[Evaluation], order: Sequence[int]
) -> tuple[Model, Any, Floats]:
    space = evaluator.space
    usable = [e for e in known if evaluator.losses(e) is not None]
    rows = np.array([structure.encoding.row(e.canonical) for e in usable])
    losses = np.array([evaluator.losses(e) for e in usable], dtype=float)[:, order]
    violations = [[c.violation(e.metrics) for c in space.constraints] for e in usable]
    metrics = [space.objectives[k].metric for k in order]
    model = Model(structure, metrics, rows, losses, np.array(violations).reshape(len(usable), -1))
    return model, rows, losses


def gaps(
    space: Space,
    order: Sequence[int],
    front: ModelFront,
    units: Sequence[float],
    losses: Sequence[Loss],
) -> list[dict[str, Any]]:
    """The best evaluated and the model's bound, at caps over the range of the evaluated front.

    `losses` are those evaluated that are feasible and `units` those of the model's integers, both
    as `order` has the objectives.
    """
    if not losses:
        return []
    least, capped = (space.objectives[k] for k in order)
    low = min(loss[1] for loss in losses)
    high = min(losses)[1]
    caps: list[float | None] = [low + share * (high - low) for share in _SHARES]
    found = []
    for cap in [*(caps if high > low else []), None]:
        bound = front.bound(None if cap is None else int(cap // units[1]))
        best = min(loss[0] for loss in losses if cap is None or loss[1] <= cap)
        entry: dict[str, Any] = {
            "cap": None if cap is None else capped.loss(cap),
            "best": least.loss(best),
            "bound": None,
            "gap": None,
            "is_empty": bound is None and front.is_complete,
        }
        if bound is not None:
            bounded = bound * units[0]
            entry |= {
                "bound": least.loss(bounded),
                "gap": (best - bounded) / max(abs(bounded), 1e-12),
            }
        found.append(entry)
    return found


def _errors(metrics: Sequence[str], predicted: Floats, true: Floats) -> dict[str, Any]:
    """Median and largest relative error of each objective."""
    if not len(true):
        return {"designs": 0}
    errors = np.abs(predicted - true) / np.maximum(np.abs(true), 1e-12)
    return {
        "designs": len(true),
        **{
            metric: {"median": float(np.median(column)), "worst": float(column.max())}
            for metric, column in zip(metrics, errors.T, strict=True)
        },
    }


def proof_lines(proof: Mapping[str, Any]) -> list[str]:
    """What was proven, of what, and how far that is from what was evaluated."""
    least, capped = METRICS[proof["least"]], METRICS[proof["capped"]]
    is_optimal = proof["status"] == "optimal"
    complete = "complete, each point proven optimal" if is_optimal else "as far as time allowed"
    lines = [
        f"Front of the model ({proof['solver']}; status {proof['status']}; {proof['solves']} "
        f"solves in {proof['seconds']:g} s, limit {proof['limit_seconds']:g} s a pass): "
        f"{proof['points']} designs, {complete}.",
        f"{proof['new']} of its designs were new and were evaluated; {proof['joined']} of them are "
        "on the front.",
    ]
    word = "least" if least.is_minimised else "most"
    lines.append(f"Best {least.name} evaluated, beside the model's {word} (a bound of the model):")
    for entry in proof["caps"]:
        relation = "<=" if capped.is_minimised else ">="
        where = "no cap"
        if entry["cap"] is not None:
            where = f"{capped.name} {relation} {capped.format(entry['cap'])}"
        lines.append(f"  {where}: {least.format(entry['best'])}, {_beside(least, entry)}")
    lines += [_error_line(proof, "fitted"), _error_line(proof, "proposed")]
    lines.append(
        "The bounds hold for the model alone: a design may be better than they say by as much as "
        "the model errs on it."
    )
    return [line for line in lines if line]


def _beside(least: Any, entry: Mapping[str, Any]) -> str:
    if entry["bound"] is None:
        return "no design of the model" if entry["is_empty"] else "no bound in the time given"
    beyond = "above" if least.is_minimised == (entry["gap"] >= 0) else "below"
    return f"{abs(entry['gap']):.1%} {beyond} the model's {least.format(entry['bound'])}"


def _error_line(proof: Mapping[str, Any], kind: str) -> str:
    errors = proof["errors"][kind]
    if not errors["designs"]:
        return ""
    what = {
        "fitted": "designs that the model was fitted to",
        "proposed": "designs that it proposed, before they were evaluated",
    }[kind]
    shown = "; ".join(
        f"{name} {errors[name]['median']:.1%} at the median, {errors[name]['worst']:.1%} at most"
        for name in (proof["least"], proof["capped"])
    )
    return f"Error of the model on the {errors['designs']} {what}: {shown}."
