"""Compile: a kernel function to a program of one instruction set."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from isa.compiler.allocate import Allocator
from isa.compiler.emit import Emitter
from isa.compiler.repertoire import Repertoire
from isa.compiler.schedule import max_pressure, schedule
from isa.compiler.select import Selector
from isa.instruction_set import InstructionSet
from isa.kernel import Builder, trace
from isa.program import Program

_REPERTOIRES: dict[tuple[int, ...], tuple[InstructionSet, Repertoire]] = {}


def repertoire_of(instructions: InstructionSet) -> Repertoire:
    """Patterns of an instruction set, derived once a process."""
    key = (instructions.xlen, *map(id, instructions.instructions))
    if key not in _REPERTOIRES:
        _REPERTOIRES[key] = (instructions, Repertoire(instructions))
    return _REPERTOIRES[key][1]


def compile_kernel(
    build: Callable[[Builder], None],
    instructions: InstructionSet,
    core: object = None,
    *,
    unroll: int | str = 1,
    latencies: Mapping[str, int] | None = None,
) -> Program:
    """Compile a kernel function for an instruction set.

    Args:
        build: Traced with a `Builder`.
        instructions: Nothing else is used.
        core: Timing parameters; None schedules for one wait after a load.
        unroll: How often bodies of loops are repeated: 1, 2, 4, .. or "full".
        latencies: Cycles in execute by mnemonic, 1 where absent.

    Returns:
        A program whose `kernel` takes its arguments in a0, a1, ..

    Raises:
        UnsupportedKernel: The set lacks what the kernel needs.
    """
    latencies = dict(latencies or {})
    kernel = trace(build, instructions.xlen, unroll)
    repertoire = repertoire_of(instructions)
    selector = Selector(kernel, repertoire, latencies)
    selection = selector.run()
    schedule(selection.root)
    pressure = max_pressure(selection.root)
    allocation = Allocator(selection, selector.constants).run()
    program = Emitter(selection, allocation, repertoire, selector.constants).run()
    return Program(
        program.words,
        program.data,
        program.symbols,
        program.comments,
        program.stack_bytes,
        {**program.report, "pressure": pressure},
    )
