"""Confirm a design on the PyRTL netlist: same outputs, same cycle of every retirement."""

from __future__ import annotations

import workloads
from dse.cache import Cache
from dse.confirmation import Confirmation
from dse.design import Design
from dse.measurement import cases, compiled
from dse.space import Space
from dse.target import target_of
from hw.composition import circuit_map
from hw.cosim import Netlist, compare
from hw.joined import join


def confirm(*, space: Space, design: Design, cache: Cache | None = None) -> Confirmation:
    """Run the first known answer of every workload on the netlist of core and units.

    The netlist's outputs are compared with the known answer, and its registers, state, memory and
    the cycle of every retirement with the fast simulator and its timing automaton. Area and period
    are compared with core and units synthesised as one netlist.
    """
    cache = cache or Cache(None)
    target = target_of(space, design)
    hardware = target.hardware(cache)
    if not target.core.has_netlist:
        reason = f"core {target.core.name} has no netlist, only its timing"
        return Confirmation(False, 0, 0, reason, was_run=False)
    netlist = Netlist(
        target.core, target.instructions, hardware.latencies, circuit_map(target.circuits)
    )
    total = 0
    for use in space.workloads:
        workload = workloads.get(use.workload, use.bytes)
        kernel = str(design[f"kernel.{use.workload}"])
        program = compiled(workload, kernel, target, hardware.latencies, cache)
        case = cases(workload, program)[0]
        result = compare(netlist, program, case.arguments, case.memory)
        if not result.equal:
            return Confirmation(
                False, result.cycles, result.cycles, f"{use.workload}: {result.difference}"
            )
        total += result.cycles
    whole = join(hardware, target.core, target.instructions, target.circuits, target.technology)
    return Confirmation(
        True,
        total,
        total,
        synthesised_area_ge=whole.area_ge,
        area_error=whole.area_error,
        period_error=whole.period_error,
    )
