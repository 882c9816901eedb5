"""Workload card: an algorithm, its kernels, and how fast it runs on plain and extended cores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import workloads
from dse.cache import Cache
from dse.measure.lower_bounds import bounds_of
from dse.measure.measurement import Measurement, compiled, measure
from dse.measure.target import PREFERRED_CIRCUIT, Target
from dse.simulate.profile import profile
from hw import units
from hw.technology import Technology
from isa.isa_string import instruction_set
from isa.kernel import UnsupportedKernel
from isa.machine import Machine
from isa.timing import Core
from workloads import Workload

SETS = {
    "plain": "rv{xlen}i",
    "with Zb*": "rv{xlen}i_zba_zbb_zbc_zbs_zbkb",
    "with Zk*": "rv{xlen}i_zkn_zks",
}
"""Instruction sets that are compared."""
WITH_M = {"with M": "rv{xlen}im", "with M and Zb*": "rv{xlen}im_zba_zbb_zbc_zbs_zbkb"}
"""The same for workloads of which a kernel multiplies; no cryptographic instruction serves them."""
BEST = 2
"""Kernels of a set that are unrolled as well, those with the fewest cycles as loops."""
LONGEST_LOOP = 40
"""Instructions of the hottest block beyond which it is cut."""


def workload_card(workload: Workload, cache: Cache, effort: str = "default") -> dict[str, Any]:
    """The card; what it takes to measure is remembered in `cache`.

    Args:
        workload: What is shown.
        cache: Remembers programs and what they took.
        effort: Of the compiler, see `isa.compiler.compile_kernel`.
    """
    card: dict[str, Any] = {
        "source": workload.source,
        "a run": f"{workload.message_bytes} bytes, {workload.units} block(s)",
        "buffers": [_buffer(b) for b in workload.buffers],
        "vectors": [vector.source for vector in workload.vectors],
        "kernels": {name: kernel.summary for name, kernel in workload.kernels.items()},
    }
    fastest: tuple[Target, Measurement] | None = None
    best: dict[str, dict[str, str]] = {}
    for xlen in (32, 64):
        for title, text in _sets(workload).items():
            target = _target(text.format(xlen=xlen), xlen, effort)
            found = _best(workload, target, cache)
            if found is not None:
                best.setdefault(f"fewest cycles on RV{xlen}, default core", {})[title] = _line(
                    workload, *found, cache
                )
                if xlen == 32:
                    fastest = found
    card |= best
    if fastest is not None:
        card["hottest block of the last line of RV32"] = _hottest(workload, *fastest, cache)
    return card


def _buffer(buffer: workloads.Buffer) -> str:
    notes = [buffer.direction]
    if buffer.secret:
        notes.append("secret")
    if buffer.declassified:
        notes.append("public in the end")
    return f"{buffer.name}: {buffer.size_bytes} bytes, {', '.join(notes)}"


def _sets(workload: Workload) -> Mapping[str, str]:
    multiplies = any("mul" in kernel.requires for kernel in workload.kernels.values())
    return {"plain": SETS["plain"], **WITH_M} if multiplies else SETS


def _target(isa: str, xlen: int, effort: str) -> Target:
    circuits = tuple(
        (table, PREFERRED_CIRCUIT)
        for table in units.table_names()
        if PREFERRED_CIRCUIT in units.circuits_for(table)
    )
    return Target(
        instruction_set(isa), Core(xlen=xlen), circuits, (), 1, Technology("ge"), effort=effort
    )


def _best(workload: Workload, target: Target, cache: Cache) -> tuple[Target, Measurement] | None:
    """The fewest cycles, then bytes, of all kernels as loops and of the best ones unrolled."""
    loops = sorted(_measured(workload, list(workload.kernels), target, cache), key=_order)
    if not loops:
        return None
    unrolled = Target(**{**vars(target), "unroll": "full"})
    names = [m.kernel for _, m in loops[:BEST]]
    return min([loops[0], *_measured(workload, names, unrolled, cache)], key=_order)


def _measured(
    workload: Workload, kernels: list[str], target: Target, cache: Cache
) -> Iterator[tuple[Target, Measurement]]:
    latencies = target.hardware(cache).latencies
    for name in kernels:
        if all(m in target.instructions for m in workload.kernels[name].requires):
            try:
                yield target, measure(workload, name, target, latencies, cache)
            except UnsupportedKernel:
                continue  # it needs registers of the other width


def _order(found: tuple[Target, Measurement]) -> tuple[int, int]:
    return found[1].cycles, found[1].code_bytes + found[1].data_bytes


def _line(workload: Workload, target: Target, m: Measurement, cache: Cache) -> str:
    per_byte = (
        f" ({m.cycles / workload.message_bytes:.1f} a byte)" if workload.message_bytes else ""
    )
    form = "unrolled" if target.unroll == "full" else "loops"
    least = bounds_of(workload, m.kernel, target, cache)
    return (
        f"{m.cycles} cycles{per_byte}, {m.instructions} instructions, {m.code_bytes} + "
        f"{m.data_bytes} bytes of code and tables, {m.leaks} leaks ({m.kernel}, {form}); of what "
        f"the compiler selected, {least.instructions} must execute, the longest chain takes "
        f"{least.path}"
    )


def _hottest(workload: Workload, target: Target, m: Measurement, cache: Cache) -> Mapping[str, Any]:
    """Its most executed block, annotated."""
    from dse.measure.known_answers import cases

    latencies = target.hardware(cache).latencies
    program = compiled(workload, m.kernel, target, latencies, cache)
    case = cases(workload, program)[0]
    run = Machine(target.instructions, program).run(case.arguments, case.memory)
    lines = profile(run, program, target.instructions).hottest
    shown = [f"{line.text:<32} # {line.comment}".rstrip(" #") for line in lines[:LONGEST_LOOP]]
    cut = [f"... {len(lines) - LONGEST_LOOP} more"] if len(lines) > LONGEST_LOOP else []
    return {f"executed {lines[0].executions} times": shown + cut}
