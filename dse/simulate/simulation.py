"""Simulation: a whole program on a core, by whichever tier of the simulator is quicker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from isa.core import Core
from isa.disassembler import disassemble_word
from isa.instruction_set import InstructionSet, extension_names, load_extension
from isa.machine import EndlessError, Machine, SimulationError, default_host
from isa.native import NativeMachine, is_available
from isa.outcome import Outcome
from isa.program import Program, fetch
from isa.timing import automaton, clock, price

SHORT = 300_000
"""Instructions up to which translated Python answers sooner than machine code is made."""
LONGEST_TRACKED = 200_000_000
"""Instructions that are followed for secrets, some ten million a second."""


@dataclass(frozen=True)
class Simulation:
    """A program's run and its time on a core.

    Attributes:
        outcome: What it did.
        cycles: From the first EX to the last retirement.
    """

    outcome: Outcome
    cycles: int

    @property
    def exit_code(self) -> int:
        """The low 8 bits of what the program gave the exit call; 0 after `ebreak`."""
        return (self.outcome.exit_code or 0) & 0xFF

    @property
    def cycles_per_instruction(self) -> float:
        """CPI."""
        return self.cycles / self.outcome.instructions


@dataclass(frozen=True)
class LeakLine:
    """An instruction by which a secret shows in time.

    Attributes:
        pc: Its address.
        kind: "branch", "address" or "latency".
        count: Executions with a secret operand.
        text: Disassembly.
    """

    pc: int
    kind: str
    count: int
    text: str


class Trap(Exception):
    """A program was stopped; the message says where and why.

    Attributes:
        output: What it had written.
    """

    def __init__(self, message: str, output: bytes) -> None:
        super().__init__(message)
        self.output = output


def simulate(
    instructions: InstructionSet, program: Program, core: Core, args: Sequence[int], limit: int
) -> Simulation:
    """Run a program from its start to its end.

    It begins in translated Python. If that takes too many instructions, it begins again as machine
    code, where llvmlite is installed; the result is the same.

    Raises:
        Trap: Illegal instruction, bad access, jump out of the code, unknown host call, or more
            than `limit` instructions.
    """
    output = bytearray()
    host = default_host(output, program)
    short = min(limit, SHORT) if is_available() else limit
    try:
        try:
            run = Machine(instructions, program).run(
                args, limit=short, host=host, clock=clock(core)
            )
        except EndlessError:
            if short == limit:
                raise
        else:
            cycles = price(run.blocks, run.trace, core)
            return Simulation(replace(run, output=bytes(output)), cycles)
        output.clear()
        native = NativeMachine(instructions, program, automaton(core))
        done = native.run(args, limit=limit, host=host)
        assert done.cycles is not None
        return Simulation(replace(done, output=bytes(output)), done.cycles)
    except SimulationError as error:
        hint = _hint(error.word, instructions)
        raise Trap(f"{error}{hint}", bytes(output)) from None


def leaks(
    instructions: InstructionSet,
    program: Program,
    args: Sequence[int],
    secret: Sequence[tuple[int, int]],
    limit: int,
) -> list[LeakLine]:
    """Run again, following the secret bytes of memory at (address, size).

    Raises:
        Trap: As `simulate`; or `limit` is beyond what is followed in a reasonable time.
        ValueError: Secret bytes are not in data memory.
    """
    try:
        found = Machine(instructions, program).run_tracked(
            args, None, secret, limit=min(limit, LONGEST_TRACKED)
        )
    except SimulationError as error:
        raise Trap(str(error), b"") from None
    lines = []
    for leak in found:
        word = fetch(program, instructions, leak.pc)
        assert word is not None
        lines.append(LeakLine(leak.pc, leak.kind, leak.count, disassemble_word(word, instructions)))
    return lines


def _hint(word: int | None, instructions: InstructionSet) -> str:
    """Which extension has an instruction that the set lacks."""
    if word is None or instructions.decode(word) is not None:
        return ""
    xlen = instructions.xlen
    loaded = [load_extension(name) for name in extension_names()]
    for extension in sorted(loaded, key=lambda e: len(e.instructions)):  # bundles last
        if xlen in extension.xlens:
            alone = InstructionSet.of(xlen, extension)
            if alone.decode(word) is not None:
                return f": in {extension.name} it is {disassemble_word(word, alone)}"
    return ""
