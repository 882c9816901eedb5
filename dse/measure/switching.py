"""Switching: capacitance that the programs of a design switch on its netlist, for `energy_rel`."""

from __future__ import annotations

import math

import workloads
from dse.cache import Cache, digest_of
from dse.design import Design
from dse.measure.measurement import cases, compiled
from dse.measure.target import Target
from dse.metrics import METRICS, Quantity
from dse.space import Space, WorkloadUse
from hw.composition import Hardware, circuit_map
from hw.coprocessors.beside import Beside
from hw.cosim import Netlist
from hw.energy import energy

__all__ = ["LIMIT_CYCLES", "CannotSimulate", "switched"]

LIMIT_CYCLES = 50_000
"""Cycles of the netlist that are simulated at most: 10,000 a second."""

ERROR = 0.2
"""Relative error of a ratio of two designs on one workload: an assumption, measured against
nothing. What it leaves out is said in docs/models.md."""


class CannotSimulate(ValueError):
    """A design whose programs cannot be run on a netlist."""


def switched(
    space: Space, design: Design, target: Target, hardware: Hardware, cache: Cache
) -> Quantity:
    """Return what one block of every workload switches on the first known answer, weighted sum.

    A co-processor and its bus switch too: their clock also where a program leaves them idle.

    Raises:
        CannotSimulate: when the run is too long.
    """
    p = target.coprocessor
    key = digest_of(
        repr(target.core.canonical()),
        target.host_instructions.digest,
        repr(p and p.canonical()),
        repr(target.circuits),
        repr(sorted(hardware.latencies.items())),
    )

    def run(use: WorkloadUse) -> float:
        workload = workloads.get(use.workload, use.bytes)
        kernel = str(design[f"kernel.{use.workload}"])
        program = compiled(workload, kernel, target, hardware.latencies, cache)
        case = cases(workload, program, kernel)[0]
        identity = (workload.name, str(workload.message_bytes), program.digest)

        def compute() -> float:
            netlist = Netlist(
                target.core,
                target.host_instructions,
                hardware.latencies,
                circuit_map(target.circuits),
                None if p is None else Beside(p, target.core.xlen),
            )
            try:
                found = energy(netlist, program, case.arguments, case.memory, limit=LIMIT_CYCLES)
            except RuntimeError as error:
                raise CannotSimulate(f"energy of {use.workload}: {error}") from None
            return found.total / workload.units

        return float(cache.memo("switched", digest_of(key, *identity), compute))

    total = math.fsum(use.weight * run(use) for use in space.workloads)
    return Quantity(total, METRICS["switched"].unit, "mapped", ERROR)
