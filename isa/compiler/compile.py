"""Compile: a kernel function to a program of one instruction set."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import replace

from isa.compiler.allocate import Allocator
from isa.compiler.bounds import least_instructions
from isa.compiler.emit import Emitter
from isa.compiler.repertoire import repertoire_of
from isa.compiler.schedule import EFFORTS, Effort, max_pressure, schedule
from isa.compiler.select import Selector
from isa.compiler.waits import Waits
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, Kernel, UnsupportedKernel, trace
from isa.program import DATA_BASE, Program


def compile_kernel(
    build: Callable[[Builder], None],
    instructions: InstructionSet,
    core: Core | None = None,
    *,
    unroll: int | str = 1,
    latencies: Mapping[str, int] | None = None,
    effort: str = "default",
) -> Program:
    """Compile a kernel function for an instruction set.

    Args:
        build: Traced with a `Builder`.
        instructions: Nothing else is used.
        core: The core to schedule for; by default one that waits once after a load.
        unroll: How often bodies of loops are repeated: 1, 2, 4, .. or "full".
        latencies: Cycles in execute by mnemonic, 1 where absent.
        effort: "default"; "search", which takes several times as long and tries more orders; or
            "exact", which moreover orders small regions by a constraint solver (OR-Tools).

    Returns:
        A program whose `kernel` takes its arguments in a0, a1, .. Its report counts `spills` (loads
        and stores of values put aside), `saved_registers`, `stack_bytes`, `pressure` (most values
        live at once, constants included), `executed` (instructions from entry to return), `least`
        (below which no order and no allocation of what was selected can get that), `waits` (how
        often an instruction reads what the load just before it brings), `regions`
        (pieces of straight code) and `proven` (those whose order provably needs fewest registers).

    Raises:
        ValueError: No such effort, or the solver is not installed.
        UnsupportedKernel: The set lacks what the kernel needs, or the code is too long.
    """
    if effort not in EFFORTS:
        raise ValueError(f"effort must be one of {', '.join(EFFORTS)}, not {effort!r}")
    collecting = gc.isenabled()
    gc.disable()  # what is built here is kept until the end; looking for garbage is a third of it
    try:
        kernel = trace(build, instructions.xlen, unroll)
        found = (_compile(kernel, instructions, core, latencies, e) for e in EFFORTS[effort])
        return min(found, key=_rank)
    finally:
        if collecting:
            gc.enable()


def _rank(program: Program) -> tuple[int, int, int]:
    """Of several programs the one with the least is taken."""
    report = program.report
    return report["executed"] + report["waits"], program.code_bytes, -report["proven"]


def _compile(
    kernel: Kernel,
    instructions: InstructionSet,
    core: Core | None,
    latencies: Mapping[str, int] | None,
    effort: Effort,
) -> Program:
    repertoire = repertoire_of(instructions)
    selector = Selector(kernel, repertoire, dict(latencies or {}))
    selection = selector.run()
    regions, proven = schedule(selection.root, Waits.of(core), effort)
    figures = {
        "regions": regions,
        "proven": proven,
        "pressure": max_pressure(selection.root),
        "least": least_instructions(selection.root, selector.constants),
    }
    allocation = Allocator(selection, selector.constants, instructions).run()
    emitter = Emitter(selection, allocation, repertoire, selector.constants, instructions)
    program = emitter.run()
    if program.code_bytes > DATA_BASE:
        raise UnsupportedKernel(
            f"code must fit the {DATA_BASE:,} bytes below data memory, not take "
            f"{program.code_bytes:,}; unroll less"
        )
    return replace(program, report={**program.report, **figures})
