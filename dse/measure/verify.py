"""Confirm a design on the PyRTL netlist: same outputs, same cycle of every retirement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache as remembered

import workloads
from dse.cache import Cache, digest_of
from dse.design import Design
from dse.measure.confirmation import Confirmation
from dse.measure.measurement import cases, compiled
from dse.measure.target import Target, target_of
from dse.space import Space
from hw.composition import circuit_map
from hw.coprocessors.beside import Beside
from hw.coprocessors.model import Model
from hw.cosim import Comparison, Netlist, compare
from hw.joined import join
from workloads import Workload, coprocessor_driver

LONGEST = 512
"""Bytes of a message up to which it runs on the netlist as it is."""
REMAINDER = 256
"""Of a longer one, a message of this size and of its remainder runs."""


def confirm(*, space: Space, design: Design, cache: Cache | None = None) -> Confirmation:
    """Run the first known answer of every workload on the netlist of core and units.

    The netlist's registers, state, memory and the cycle of every retirement are compared with the
    fast simulator and its timing automaton. Area and period are compared with core and units
    synthesised as one netlist.

    Programs that drive a co-processor run on the netlist of core, bus and co-processor; the others,
    which leave it idle, on that of the core. A long message is confirmed by a shorter one, see
    `LONGEST`.
    """
    cache = cache or Cache(None)
    target = target_of(space, design)
    hardware = target.hardware(cache)
    total = 0
    netlist = remembered(lambda is_driver: _netlist(target, hardware.latencies, is_driver))
    shortened = {}
    for use in space.workloads:
        kernel = str(design[f"kernel.{use.workload}"])
        workload = workloads.get(use.workload, use.bytes)
        shorter = _short(workload)
        if shorter is not workload:
            shortened[use.workload] = shorter.message_bytes
        result = _run(shorter, kernel, target, hardware.latencies, netlist, cache)
        if not result.equal:
            return Confirmation(
                False, result.cycles, result.cycles, f"{use.workload}: {result.difference}"
            )
        total += result.cycles
    whole = join(
        hardware,
        target.core,
        target.host_instructions,
        target.circuits,
        target.technology,
        held=target.is_held,
    )
    return Confirmation(
        True,
        total,
        total,
        synthesised_area_ge=whole.area_ge,
        area_error=whole.area_error,
        period_error=whole.period_error,
        synthesised_luts=whole.luts,
        luts_error=whole.luts_error,
        shortened=shortened,
    )


def _netlist(target: Target, latencies: Mapping[str, int], is_driver: bool) -> Netlist:
    """The core with its units, and the co-processor if programs drive it."""
    p = target.coprocessor if is_driver else None
    return Netlist(
        target.core,
        target.host_instructions if is_driver else target.instructions,
        latencies,
        circuit_map(target.circuits),
        None if p is None else Beside(p, target.core.xlen),
    )


def _run(
    workload: Workload,
    kernel: str,
    target: Target,
    latencies: Mapping[str, int],
    netlist: Callable[[bool], Netlist],
    cache: Cache,
) -> Comparison:
    """Run a workload's program on the netlist; what agreed is remembered."""
    is_driver = kernel in coprocessor_driver.drivers(workload.name)
    program = compiled(workload, kernel, target, latencies, cache)
    key = digest_of(
        repr(target.core.canonical()),
        (target.host_instructions if is_driver else target.instructions).digest,
        repr(sorted(latencies.items())),
        repr(target.circuits),
        repr(target.coprocessor and target.coprocessor.canonical()) if is_driver else "",
        workload.name,
        program.digest,
    )
    found = cache.get("netlist", key)
    if found is not None:
        return Comparison(**found)
    case = cases(workload, program, kernel)[0]
    p = target.coprocessor if is_driver else None
    device = None if p is None else Model(p, target.core.xlen)
    result = compare(netlist(is_driver), program, case.arguments, case.memory, device)
    if result.equal:
        cache.put("netlist", key, asdict(result))
    return result


def _short(workload: Workload) -> Workload:
    """The workload, or one of a shorter message that leaves the same remainder."""
    if workload.message_bytes <= LONGEST or not workloads.is_sized(workload.name):
        return workload
    return workloads.get(workload.name, REMAINDER + workload.message_bytes % REMAINDER)
