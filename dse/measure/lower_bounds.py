"""Lower bounds of a workload's cycles, beside what a program of it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import workloads
from dse.cache import Cache
from dse.evaluation import Evaluation
from dse.measure.measurement import compiled
from dse.measure.target import Target, target_of
from dse.space import Space
from isa.compiler.bounds import Bounds, bounds
from workloads import Workload


def bounds_of(workload: Workload, kernel: str, target: Target, cache: Cache) -> Bounds:
    """Bounds of a kernel as the target's compiler covers it."""
    return bounds(
        workload.kernel(kernel).build,
        target.instructions,
        unroll=target.unroll,
        latencies=target.hardware(cache).latencies,
    )


def bounds_card(
    workload: Workload, kernel: str, cycles: int, target: Target, cache: Cache
) -> dict[str, Any]:
    """What the operations selected take at least, and by how much the program takes more.

    Returns:
        `issue_width` and `critical_path` in cycles, `gap` of the achieved cycles to the larger of
        them, as a share of it, `spills` (loads and stores of values put aside) and `orders`: of
        how many pieces of straight code the order provably needs fewest registers.
    """
    least = bounds_of(workload, kernel, target, cache)
    report = compiled(workload, kernel, target, target.hardware(cache).latencies, cache).report
    return {
        "issue_width": least.instructions,
        "critical_path": least.path,
        "gap": cycles / least.cycles - 1,
        "spills": report["spills"],
        "orders": f"{report['proven']} of {report['regions']} proven",
    }


def with_bounds(space: Space, evaluation: Evaluation, cache: Cache) -> Evaluation:
    """The evaluation with `bounds` in each workload that runs a compiled kernel."""
    if not evaluation.feasible:
        return evaluation
    target = target_of(space, evaluation.canonical)
    described = {}
    for use in space.workloads:
        data = evaluation.workloads[use.workload]
        workload, kernel = workloads.get(use.workload, use.bytes), str(data["kernel"])
        if kernel in workload.kernels:
            card = bounds_card(workload, kernel, int(data["cycles"]), target, cache)
            data = {**data, "bounds": card}
        described[use.workload] = data
    return replace(evaluation, workloads=described)
