"""Evaluate one design: compile, run, check, time and price; everything memoised by content."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import workloads
from dse.cache import Cache
from dse.design import Design
from dse.evaluation import Evaluation
from dse.measurement import Measurement, WrongAnswer, compiled, measure, mnemonics
from dse.metrics import METRICS, Quantity
from dse.space import Space, WorkloadUse
from dse.target import Target, target_of, without_unused
from hw.composition import Hardware
from isa.encoding import EncodingError
from isa.kernel import KernelError, UnsupportedKernel
from isa.program import Program


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
    except (UnsupportedKernel, KernelError, EncodingError, WrongAnswer) as error:
        return Evaluation(design, feasible=False, reason=str(error))
    return Evaluation(
        design,
        feasible=True,
        metrics=_metrics(space, target, hardware, measured),
        workloads={u.workload: _described(u, measured[u.workload]) for u in space.workloads},
    )


def _used(space: Space, design: Design, target: Target, cache: Cache) -> frozenset[str]:
    """Instructions that the programs contain, and those without which a kernel is not offered."""
    used: set[str] = set()
    for use in space.workloads:
        program = _compiled(use, design, target, {}, cache)
        used |= mnemonics(program, target.instructions)
        used.update(use.requires.get(str(design[f"kernel.{use.workload}"]), ()))
    return frozenset(used)


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
    return {**result.to_json(), "blocks": workloads.get(use.workload, use.bytes).units}


def _metrics(
    space: Space, target: Target, hardware: Hardware, measured: dict[str, Measurement]
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
    put("state_bits", sum(width for _, width in target.instructions.state), "exact")

    rung, area_error, delay_error = hardware.rung, hardware.area_error, hardware.delay_error
    put("area_ge", hardware.area_ge, rung, area_error)
    put("core_area_ge", hardware.core_area_ge, rung, area_error)
    put("extension_area_ge", hardware.extension_area_ge, rung, area_error)
    put("ffs", hardware.ffs, "exact")
    put("core_ffs", hardware.core_ffs, "exact")
    put("extension_ffs", hardware.extension_ffs, "exact")
    put("critical_path_fo4", hardware.period_fo4, rung, delay_error)
    period_ns = hardware.period_ns
    put("period_ns", period_ns, rung, delay_error)
    put("time_ns", cycles * period_ns, rung, delay_error)
    put("tap_silicon_ge", cycles * period_ns * hardware.area_ge, rung, area_error + delay_error)
    put("tap_ise", cycles * hardware.extension_area_ge, rung, area_error)
    size = found["code_bytes"].value + found["data_bytes"].value
    put("tap_code", cycles * size, "modelled")
    return found
