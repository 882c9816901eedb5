"""Compile: a kernel function to a program of one instruction set."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import replace

from isa.compiler.allocate import Allocator
from isa.compiler.emit import Emitter
from isa.compiler.repertoire import Repertoire
from isa.compiler.schedule import max_pressure, schedule
from isa.compiler.select import Selector
from isa.compiler.waits import Waits
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, Kernel, trace
from isa.program import Program

MOST_REPERTOIRES = 64
"""Instruction sets whose patterns are kept; one takes some 100 KiB."""

_REPERTOIRES: dict[tuple[int, ...], tuple[InstructionSet, Repertoire]] = {}


def repertoire_of(instructions: InstructionSet) -> Repertoire:
    """Patterns of an instruction set, kept for the sets used last."""
    key = (instructions.xlen, *map(id, instructions.instructions))
    if key not in _REPERTOIRES:
        if len(_REPERTOIRES) == MOST_REPERTOIRES:
            del _REPERTOIRES[next(iter(_REPERTOIRES))]
        _REPERTOIRES[key] = (instructions, Repertoire(instructions))
    return _REPERTOIRES[key][1]


def compile_kernel(
    build: Callable[[Builder], None],
    instructions: InstructionSet,
    core: Core | None = None,
    *,
    unroll: int | str = 1,
    latencies: Mapping[str, int] | None = None,
) -> Program:
    """Compile a kernel function for an instruction set.

    Args:
        build: Traced with a `Builder`.
        instructions: Nothing else is used.
        core: The core to schedule for; by default one that waits once after a load.
        unroll: How often bodies of loops are repeated: 1, 2, 4, .. or "full".
        latencies: Cycles in execute by mnemonic, 1 where absent.

    Returns:
        A program whose `kernel` takes its arguments in a0, a1, .. Its report counts `spills` (loads
        and stores of values put aside), `saved_registers`, `stack_bytes` and `pressure` (most
        values live at once, constants included).

    Raises:
        UnsupportedKernel: The set lacks what the kernel needs.
    """
    collecting = gc.isenabled()
    gc.disable()  # what is built here is kept until the end; looking for garbage is a third of it
    try:
        return _compile(trace(build, instructions.xlen, unroll), instructions, core, latencies)
    finally:
        if collecting:
            gc.enable()


def _compile(
    kernel: Kernel,
    instructions: InstructionSet,
    core: Core | None,
    latencies: Mapping[str, int] | None,
) -> Program:
    repertoire = repertoire_of(instructions)
    selector = Selector(kernel, repertoire, dict(latencies or {}))
    selection = selector.run()
    schedule(selection.root, Waits.of(core))
    pressure = max_pressure(selection.root)
    allocation = Allocator(selection, selector.constants, instructions).run()
    emitter = Emitter(selection, allocation, repertoire, selector.constants, instructions)
    program = emitter.run()
    return replace(program, report={**program.report, "pressure": pressure})
