"""Evaluate one design: compile, run, check, time and price; everything memoised by content."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import workloads
from dse.cache import Cache
from dse.coprocessor import CoprocessorError
from dse.design import Design
from dse.evaluation import Evaluation
from dse.measure.context_metrics import context_metrics
from dse.measure.hardware_metrics import hardware_metrics
from dse.measure.measurement import Measurement, WrongAnswer, compiled, measure, mnemonics
from dse.measure.switching import CannotSimulate, switched
from dse.measure.target import Target, served, target_of, without_unused
from dse.metrics import METRICS, ON_REQUEST, Quantity
from dse.space import Space, WorkloadUse
from hw.composition import Hardware
from hw.hosted import Hosted
from isa.encoding import EncodingError
from isa.kernel import KernelError, UnsupportedKernel
from isa.program import Program

_INFEASIBLE = (
    UnsupportedKernel,
    KernelError,
    EncodingError,
    WrongAnswer,
    CoprocessorError,
    CannotSimulate,
)


def evaluate(*, space: Space, design: Design, cache: Cache) -> Evaluation:
    """Evaluate `design`, reduced to what its programs use.

    An infeasible design (an instruction is missing, encodings clash, a known answer is wrong) is a
    result with its reason, not an error.
    """
    design = space.reduce(design)
    try:
        target = target_of(space, design)
        used = _used(space, design, target, cache)
        reduced = without_unused(space, design, used)
        if reduced != design:
            return evaluate(space=space, design=reduced, cache=cache)
        hardware = target.hardware(cache)
        beside = target.hosted(hardware, cache)
        measured = {
            use.workload: measure(
                workloads.get(use.workload, use.bytes),
                str(design[f"kernel.{use.workload}"]),
                target,
                hardware.latencies,
                cache,
            )
            for use in space.workloads
        }
        drawn = {}
        if space.asks_for(ON_REQUEST):
            drawn["switched"] = switched(space, design, target, hardware, cache)
    except _INFEASIBLE as error:
        return Evaluation(design, feasible=False, reason=str(error))
    return Evaluation(
        design,
        feasible=True,
        metrics=_metrics(space, target, hardware, beside, measured)
        | context_metrics(target, hardware.latencies, cache)
        | drawn,
        workloads={u.workload: _described(u, measured[u.workload]) for u in space.workloads},
    )


def _used(space: Space, design: Design, target: Target, cache: Cache) -> frozenset[str]:
    """Instructions that the programs contain, and those without which a kernel is not offered."""
    used: set[str] = set()
    for use in space.workloads:
        program = _compiled(use, design, target, {}, cache)
        used |= mnemonics(program, target.host_instructions)
        used.update(use.requires.get(str(design[f"kernel.{use.workload}"]), ()))
    return served(space, design, frozenset(used))


def _compiled(
    use: WorkloadUse,
    design: Design,
    target: Target,
    latencies: Mapping[str, int],
    cache: Cache,
) -> Program:
    workload = workloads.get(use.workload, use.bytes)
    return compiled(workload, str(design[f"kernel.{use.workload}"]), target, latencies, cache)


def _described(use: WorkloadUse, result: Measurement) -> dict[str, Any]:
    described = {**result.to_json(), "blocks": workloads.get(use.workload, use.bytes).units}
    return {**described, **_utilisation(result)}


def _utilisation(result: Measurement) -> dict[str, float]:
    """Shares of the time from the co-processor's start to its last output; empty without one."""
    active = result.device.get("active")
    if not active:
        return {}
    return {
        "bus_utilisation": result.device["beats"] / active,
        "unit_utilisation": result.device["busy"] / active,
    }


def _metrics(
    space: Space,
    target: Target,
    hardware: Hardware,
    beside: Hosted | None,
    measured: dict[str, Measurement],
) -> dict[str, Quantity]:
    """The metrics of design page section 5, each with unit, rung and relative error."""
    found: dict[str, Quantity] = {}

    def put(name: str, value: float, rung: str, error: float | None = None) -> None:
        found[name] = Quantity(value, METRICS[name].unit, rung, error)

    def total(values: dict[str, float]) -> float:
        return math.fsum(use.weight * values[use.workload] for use in space.workloads)

    cycles = total({name: m.cycles for name, m in measured.items()})
    put("cycles", cycles, "modelled")
    put("instructions", total({n: m.instructions for n, m in measured.items()}), "measured")
    sizes = {
        use.workload: workloads.get(use.workload, use.bytes).message_bytes
        for use in space.workloads
    }
    if all(sizes.values()):
        put(
            "cycles_per_byte",
            total({n: m.cycles / sizes[n] for n, m in measured.items()}),
            "modelled",
        )
    put("code_bytes", sum(m.code_bytes for m in measured.values()), "measured")
    put("data_bytes", sum(m.data_bytes for m in measured.values()), "measured")
    put("stack_bytes", max(m.stack_bytes for m in measured.values()), "measured")
    put("leaks", sum(m.leaks for m in measured.values()), "measured")
    found |= hardware_metrics(hardware, beside, target.technology, cycles)
    size = found["code_bytes"].value + found["data_bytes"].value
    put("tap_code", cycles * size, "modelled")
    shares = {name: _utilisation(result) for name, result in measured.items()}
    for name in ("bus_utilisation", "unit_utilisation"):
        uses = [use for use in space.workloads if shares[use.workload]]
        weight = math.fsum(use.weight for use in uses)
        if uses:
            total_share = math.fsum(use.weight * shares[use.workload][name] for use in uses)
            put(name, total_share / weight, "modelled")
    return found
