"""`Front`: the non-dominated designs of a search, with all that is known about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dse.design import Value, format_value
from dse.evaluation import Evaluation
from dse.measure.confirmation import Confirmation
from dse.metrics import METRICS
from dse.pareto import Loss, knee_index, ties
from dse.space import Space


@dataclass(frozen=True)
class FrontRow:
    """One design of the front.

    `ties` are the rows, from 1, that the stated errors cannot tell from it.
    """

    evaluation: Evaluation
    confirmation: Confirmation
    is_knee: bool
    ties: tuple[int, ...]


@dataclass(frozen=True)
class Front:
    """A search's result.

    Attributes:
        space: Name of the space.
        objectives: Metrics optimised.
        is_exact: Every design of the space was evaluated.
        baseline: What gains are counted against.
        rows: Best first objective first.
        history: (distinct designs, hypervolume) as the search went on.
    """

    space: str
    objectives: tuple[str, ...]
    is_exact: bool
    baseline: Evaluation
    rows: tuple[FrontRow, ...]
    history: tuple[tuple[int, float], ...] = ()

    @property
    def metric_names(self) -> list[str]:
        """Metrics that every row has, in the order of their table."""
        shared = (set(row.evaluation.metrics) for row in self.rows)
        names = set.intersection(*shared) if self.rows else set()
        return [name for name in METRICS if name in names]

    def to_json(self) -> dict[str, Any]:
        """The content of `front.json`."""
        return {
            "space": self.space,
            "objectives": list(self.objectives),
            "is_exact": self.is_exact,
            "baseline": self.baseline.to_json(),
            "rows": [
                {
                    **row.evaluation.to_json(),
                    "status": row.confirmation.status,
                    "confirmation": row.confirmation.to_json(),
                    "is_knee": row.is_knee,
                    "ties": list(row.ties),
                }
                for row in self.rows
            ],
            "history": [list(point) for point in self.history],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Front:
        """The inverse of `to_json`."""
        rows = (
            FrontRow(
                Evaluation.from_json(row),
                Confirmation.from_json(row["confirmation"]),
                row["is_knee"],
                tuple(row["ties"]),
            )
            for row in data["rows"]
        )
        return cls(
            data["space"],
            tuple(data["objectives"]),
            data["is_exact"],
            Evaluation.from_json(data["baseline"]),
            tuple(rows),
            tuple((count, volume) for count, volume in data["history"]),
        )


def make_front(
    space: Space,
    baseline: Evaluation,
    evaluations: Sequence[Evaluation],
    confirmations: Sequence[Confirmation],
    *,
    is_exact: bool,
    history: Sequence[tuple[int, float]] = (),
) -> Front:
    """Put a front together: find its knee, and the rows closer than their stated errors."""
    losses: list[Loss] = []
    errors: list[list[float]] = []
    for evaluation in evaluations:
        metrics = [evaluation.metrics[o.metric] for o in space.objectives]
        losses.append(
            tuple(o.loss(q.value) for o, q in zip(space.objectives, metrics, strict=True))
        )
        errors.append([quantity.error or 0.0 for quantity in metrics])
    knee = knee_index(losses) if losses else None
    tied = ties(losses, errors)
    rows = (
        FrontRow(evaluation, confirmation, index == knee, tuple(j + 1 for j in tied[index]))
        for index, (evaluation, confirmation) in enumerate(
            zip(evaluations, confirmations, strict=True)
        )
    )
    objectives = tuple(o.metric for o in space.objectives)
    return Front(space.name, objectives, is_exact, baseline, tuple(rows), tuple(history))


def short_design(space: Space, design: Mapping[str, Value], baseline: Mapping[str, Value]) -> str:
    """A design in a few words: its instructions, and the choices that differ from the baseline's.

    What makes no difference to it is left out.
    """
    chosen = [entry.name for entry in space.entries if design[entry.name]]
    words = ["+".join([space.base, *chosen])]
    names = {entry.name for entry in space.entries}
    for parameter in space.free:
        name, condition = parameter.name, parameter.condition
        is_active = condition is None or design[condition.parameter] in condition.values
        if name in names or not is_active:
            continue
        if (condition and condition.parameter in names) or design[name] != baseline.get(name):
            words.append(f"{_short_name(space, name)}={format_value(design[name])}")
    return " ".join(words)


def _short_name(space: Space, name: str) -> str:
    head, _, tail = name.partition(".")
    if head == "kernel":
        return "kernel" if len(space.workloads) == 1 else f"kernel.{tail}"
    return tail if head in ("core", "compiler", "units") else name
