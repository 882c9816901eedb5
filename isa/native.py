"""Native: runs a program as machine code, for runs too long for translated Python.

The whole program is translated to LLVM IR (`isa.llvm_program`) and compiled in this process by
llvmlite. Results are those of `isa.machine.Machine`, but that no trace is recorded: executions are
counted by block, and cycles by timing state.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from isa.instruction_set import InstructionSet
from isa.llvm_program import ACCESS, BASES, BUDGET, JUMP, NUMBER, PC, LlvmProgram
from isa.machine import HostCall, Machine, SimulationError, default_host
from isa.outcome import Outcome
from isa.program import Program
from isa.translate import Block

if TYPE_CHECKING:
    from isa.timing import Automaton

DEFAULT_LIMIT = 1_000_000_000_000
"""Executed instructions after which a run is taken to be endless."""
PASSES = ("sroa", "sccp", "instruction_combine", "simplify_cfg", "sinking")
"""What LLVM does before it generates code; its own level 1 takes ten times as long for the same
speed."""


@dataclass(frozen=True)
class NativeRun(Outcome):
    """What a native run did.

    Attributes:
        executed: Executions of each block, by its index.
        cycles: Cycles of the whole run, as `isa.timing.price` counts them with entry 0; None
            without a timing automaton.
        kernel_cycles: Those of the kernel.
    """

    executed: Mapping[int, int] = field(repr=False)
    cycles: int | None
    kernel_cycles: int | None

    @cached_property
    def times(self) -> Mapping[int, int]:
        """Executions of each block, by its index."""
        return self.executed


def is_available() -> bool:
    """Whether llvmlite is installed."""
    return find_spec("llvmlite") is not None


class NativeMachine:
    """A program as machine code, and the memory it runs in; compiled at the first run.

    Runs start from the same memory image, as those of `Machine`.
    """

    def __init__(
        self, instructions: InstructionSet, program: Program, rules: Automaton | None = None
    ) -> None:
        """Prepare a program; `rules` make its runs count cycles.

        Raises:
            ImportError: llvmlite is absent.
        """
        if not is_available():
            raise ImportError("native runs need llvmlite; install it, or use isa.machine")
        self.instructions = instructions
        self.program = program
        self.rules = rules
        self.machine = Machine(instructions, program)
        self._entries: set[int] = set()
        if program.text_base > 0:  # else small numbers would pass for addresses
            self._entries.update(filter(self._is_code, program.symbols.values()), self._pointers())
        self._code: _Code | None = None

    def _is_code(self, address: int) -> bool:
        return self.machine.translation.decode(address) is not None

    def _pointers(self) -> set[int]:
        """Words of the data that may be addresses of code, as in tables of functions."""
        data, size = self.program.data, self.instructions.xlen // 8
        found = {int.from_bytes(data[k : k + size], "little") for k in range(0, len(data), size)}
        first, end = self.program.text_base, self.program.text_end
        return {a for a in found if first <= a < end and self._is_code(a)}

    def translate(self) -> None:
        """Compile now rather than at the first run."""
        if self._code is None:
            self._code = _Code(self)

    def run(
        self,
        args: Sequence[int] = (),
        memory: Mapping[int, bytes] | None = None,
        *,
        limit: int = DEFAULT_LIMIT,
        state: Mapping[str, int] | None = None,
        host: HostCall | None = None,
    ) -> NativeRun:
        """Execute as `Machine.run` does; `rules` answer reads of the `cycle` register.

        Raises:
            SimulationError: As `Machine.run`.
            ValueError: Arguments or buffers that do not fit.
        """
        machine = self.machine
        x = machine.prepare(args, memory, state)
        output = bytearray()
        serve = host or default_host(output, self.program)
        self.translate()
        assert self._code is not None
        code, tally = self._code, _Tally(self)
        code.start(limit)
        while True:
            status = code.enter(x)
            if status == ACCESS:
                raise code.access_fault(machine)
            pc = code.control[PC] % (1 << self.instructions.xlen)
            if code.control[BUDGET] < 0:
                raise machine.limit_fault(pc, limit)
            if not self._is_code(pc):
                machine.fault(pc)
            placed = machine.translation.decode(pc)
            assert placed is not None
            if status == JUMP:
                tally.add(code)
                code = self._code = self._with_entry(code, pc)
                continue
            exit_code = None
            match placed.instruction.effects(self.instructions.xlen).host:
                case "ebreak":
                    break
                case "csr":
                    tally.add(code)
                    value = machine.counter(placed, tally.instructions, tally.cycles)
                    if placed.fields["rd"]:
                        x[placed.fields["rd"]] = value
                case _:
                    exit_code = machine.serve(serve, placed, x)
                    if exit_code is not None:
                        break
        tally.add(code)
        machine.refuse_changed_code()
        return tally.run(x, exit_code, bytes(output))

    def _with_entry(self, code: _Code, pc: int) -> _Code:
        """The program again, with a block at `pc`, about to go on there."""
        state = list(code.program.dispatches)[code.control[NUMBER]]
        self._entries.add(pc)
        new = _Code(self, (pc, state))
        new.start(code.control[BUDGET])
        new.control[NUMBER] = new.program.resumes.index((pc, state))
        return new


class _Code:
    """Machine code and what it shares with its caller."""

    def __init__(self, owner: NativeMachine, *entered: tuple[int, Hashable]) -> None:
        decode = owner.machine.translation.decode
        self.program = LlvmProgram(
            owner.instructions, owner.program, decode, owner.rules, owner._entries
        )
        self._engine, address = machine_code(self.program.text(*entered))
        layout = self.program.layout
        self._names = [(n, layout.places[n], -(-layout.widths[n] // 8)) for n in layout.names]
        self._numbers = {n: int(n[1:]) for n in layout.names if n[0] == "r"}
        for name, number in owner.machine.translation.state.items():
            self._numbers[f"s_{name}"] = number
        self._x = bytearray(layout.size)
        self._counts = (ctypes.c_uint64 * self.program.counters)()
        self.control = (ctypes.c_int64 * (BASES + 32))()
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 4)
        self._function: Callable[..., int] = prototype(address)
        self._shared = [
            (ctypes.c_char * len(b)).from_buffer(b) for b in (self._x, owner.machine.memory)
        ]

    def start(self, budget: int) -> None:
        """Forget all counts and stand at the start."""
        ctypes.memset(self._counts, 0, ctypes.sizeof(self._counts))
        self.control[BUDGET] = budget
        self.control[NUMBER] = 0

    def enter(self, x: list[int]) -> int:
        """Run on from where the code stands, on registers and state `x`; returns why it left."""
        for name, place, size in self._names:
            self._x[place : place + size] = x[self._numbers[name]].to_bytes(size, "little")
        registers, memory = self._shared
        status = self._function(
            ctypes.addressof(registers),
            ctypes.addressof(memory),
            ctypes.addressof(self._counts),
            ctypes.addressof(self.control),
        )
        for name, place, size in self._names:
            x[self._numbers[name]] = int.from_bytes(self._x[place : place + size], "little")
        return status

    def access_fault(self, machine: Machine) -> SimulationError:
        """The error of the first bad access of the stretch whose check failed."""
        stretch = self.program.stretches[self.control[NUMBER]]
        bases = dict(zip(stretch.bases, self.control[BASES:], strict=False))
        program = machine.program
        for access in stretch.accesses:
            address = (bases[access.base] + access.distance) % (1 << machine.instructions.xlen)
            is_inside = program.data_base <= address <= program.data_end - access.size
            if address % access.size or not is_inside:
                return machine.access_fault(access.pc, address, access.size)
        raise RuntimeError("a failed check must be due to a bad access")

    def counts(self) -> list[tuple[int, int, int]]:
        """(block, executions, cycles) of each version since the last time."""
        found = []
        for version in self.program.versions:
            times = self._counts[version.index]
            cycles = times * version.cycles
            if version.taken_counter is not None:
                jumps = self._counts[version.taken_counter]
                cycles += jumps * (version.taken_cycles - version.cycles)
            if times:
                found.append((version.block, times, cycles))
        ctypes.memset(self._counts, 0, ctypes.sizeof(self._counts))
        return found


class _Tally:
    """Sums up what native code did, over all its translations."""

    def __init__(self, owner: NativeMachine) -> None:
        self.owner = owner
        self.instructions = self.kernel_instructions = 0
        self.cycles: int | None = None if owner.rules is None else 0
        self.kernel_cycles = self.cycles
        self._blocks: dict[tuple[int, int], tuple[Block, int]] = {}

    def add(self, code: _Code) -> None:
        """Take the counts that code has kept since the last time."""
        entry = self.owner.program.entry
        for index, times, cycles in code.counts():
            block = code.program.blocks[index]
            executed = times * len(block.instructions)
            self.instructions += executed
            if self.cycles is not None:
                self.cycles += cycles
            if block.pc >= entry:
                self.kernel_instructions += executed
                if self.kernel_cycles is not None:
                    self.kernel_cycles += cycles
            key = (block.pc, block.next_pc)
            self._blocks[key] = (block, times + self._blocks.get(key, (block, 0))[1])

    def run(self, x: list[int], exit_code: int | None, output: bytes) -> NativeRun:
        """The result."""
        machine = self.owner.machine
        ordered = [self._blocks[key] for key in sorted(self._blocks)]
        return NativeRun(
            self.instructions,
            self.kernel_instructions,
            tuple(x[:32]),
            {name: x[i] for name, i in machine.translation.state.items()},
            bytes(machine.memory),
            self.owner.program.data_base,
            [block for block, _ in ordered],
            exit_code,
            output,
            dict(enumerate(times for _, times in ordered)),
            self.cycles,
            self.kernel_cycles,
        )


def _target_machine() -> Any:
    """This processor; each engine takes its own."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=1, jit=True
    )


def machine_code(text: str) -> tuple[Any, int]:
    """Machine code of a module; returns what keeps it alive and the address of `run`."""
    import llvmlite.binding as llvm

    machine = _target_machine()
    module = llvm.parse_assembly(text)
    passes = llvm.create_new_module_pass_manager()
    for name in PASSES:
        getattr(passes, f"add_{name}_pass")()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    return engine, engine.get_function_address("run")
