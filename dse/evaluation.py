"""`Evaluation`: what is known about one design once it has been compiled, run and priced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dse.design import Design
from dse.metrics import Quantity


@dataclass(frozen=True)
class Evaluation:
    """The result of evaluating a design.

    Attributes:
        canonical: The design with every parameter that made no difference at its neutral choice.
        feasible: The programs compiled, fit and gave the published answers.
        reason: Why not, where it is not feasible; empty otherwise.
        metrics: By the names of `dse.metrics`; may be empty where infeasible.
        workloads: By workload name: kernel, instructions, cycles, code_bytes, data_bytes, leaks,
            known_answers and whatever explains them; plain JSON values.
    """

    canonical: Design
    feasible: bool
    reason: str = ""
    metrics: Mapping[str, Quantity] = field(default_factory=dict)
    workloads: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain data, for the cache, the trial log and `--json`."""
        return {
            "design": self.canonical.to_json(),
            "feasible": self.feasible,
            "reason": self.reason,
            "workloads": {name: dict(data) for name, data in self.workloads.items()},
            "metrics": {name: quantity.to_json() for name, quantity in self.metrics.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Evaluation:
        """The inverse of `to_json`."""
        return cls(
            Design(data["design"]),
            data["feasible"],
            data["reason"],
            {name: Quantity.from_json(quantity) for name, quantity in data["metrics"].items()},
            data["workloads"],
        )
