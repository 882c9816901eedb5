"""Co-simulation: a program on the netlist of a core, and the comparison with the fast simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyrtl

from hw.core import CoreBlock, build_core
from hw.lower import Circuits
from hw.slot import Coprocessor
from isa.core import Core
from isa.device import Device
from isa.device_timing import device_retirements
from isa.disassembler import disassemble_word
from isa.instruction_set import InstructionSet
from isa.machine import DATA_END, Machine, place
from isa.program import DATA_BASE, DATA_SIZE, TEXT_BASE, Program, fetch, walk
from isa.timing import Latencies, automaton, retirements

__all__ = ["Comparison", "Netlist", "NetlistRun", "compare", "run_netlist"]


@dataclass(frozen=True)
class NetlistRun:
    """What the netlist did, up to the retirement of a host call.

    Attributes:
        retirements: (cycle, pc) of each instruction, cycles counted from 0 at reset.
        registers: x0 to x31 at the end.
        state: Other architectural state at the end, by name.
        memory: Data memory at the end, from `DATA_BASE`.
    """

    retirements: tuple[tuple[int, int], ...]
    registers: tuple[int, ...]
    state: Mapping[str, int]
    memory: bytes

    def cycles(self, entry: int) -> int:
        """Retirement of the kernel's return minus that of the call into it.

        Args:
            entry: Address of the kernel; what is retired below it is the calling stub.
        """
        inside = [i for i, (_, pc) in enumerate(self.retirements) if pc >= entry]
        first = self.retirements[inside[0] - 1][0] if inside[0] else self.retirements[0][0] - 1
        return self.retirements[inside[-1]][0] - first


class Netlist:
    """A core built once, on which any number of programs can run."""

    def __init__(
        self,
        core: Core,
        instructions: InstructionSet,
        latencies: Latencies | None = None,
        circuits: Circuits | None = None,
        coprocessor: Coprocessor | None = None,
    ) -> None:
        """Build the core and the co-processor beside it; see `hw.core.build_core`."""
        self.core = core
        self.instructions = instructions
        self.latencies = dict(latencies or {})
        self.built: CoreBlock = build_core(core, instructions, latencies, circuits, coprocessor)
        self._simulation: pyrtl.FastSimulation | None = None
        self._at_reset: dict[str, int] = {}

    def run(
        self,
        program: Program,
        args: Sequence[int] = (),
        memory: Mapping[int, bytes] | None = None,
        *,
        limit: int = 1_000_000,
        tracer: pyrtl.SimulationTrace | None = None,
    ) -> NetlistRun:
        """Simulate from reset until a host call retires.

        Args:
            program: What to run, at most 64 KiB of code.
            args: Values of a0, a1, ...
            memory: Bytes to place into data memory, by address.
            limit: Cycles after which the run is refused as endless.
            tracer: Takes down the values of its wires in each cycle, if given.

        Raises:
            RuntimeError: No host call retires within `limit` cycles.
        """
        built = self.built
        contents = self.contents(program, args, memory)
        rests = {pc for pc, word in walk(program, self.instructions) if self._rests(word)}
        simulation = self._reset(contents, tracer)
        retired: list[tuple[int, int]] = []
        for cycle in range(limit):
            simulation.step({})
            if simulation.inspect("retire_valid"):
                pc = simulation.inspect("retire_pc")
                retired.append((cycle, pc))
                if pc in rests:
                    break
        else:
            last = retired[-1][1] if retired else 0
            raise RuntimeError(
                f"netlist must reach a host call within {limit} cycles, "
                f"not retire pc {last:#x} as the last; raise the limit"
            )
        after = bytearray(DATA_SIZE)
        count = len(built.data_lanes)
        first = DATA_BASE // count
        for i, lane in enumerate(built.data_lanes):
            for address, byte in simulation.inspect_mem(lane).items():
                if 0 <= (position := count * (address - first) + i) < DATA_SIZE:
                    after[position] = byte
        final = simulation.inspect_mem(built.register_file)
        return NetlistRun(
            tuple(retired),
            tuple(final.get(i, 0) for i in range(32)),
            {name: simulation.regs[r.name] for name, r in sorted(built.state.items())},
            bytes(after),
        )

    def _reset(
        self,
        contents: Mapping[pyrtl.MemBlock, dict[int, int]],
        tracer: pyrtl.SimulationTrace | None,
    ) -> pyrtl.FastSimulation:
        """A simulation at reset. It is compiled once, for all runs without a tracer."""
        if self._simulation is None or tracer is not None:
            simulation = pyrtl.FastSimulation(
                memory_value_map=contents, tracer=tracer, block=self.built.block
            )
            if tracer is None:
                self._simulation, self._at_reset = simulation, dict(simulation.regs)
            return simulation
        self._simulation.regs = dict(self._at_reset)
        for net in self.built.block.logic_subset("m@"):
            memory = net.op_param[1]
            if not isinstance(memory, pyrtl.RomBlock):
                words = self._simulation.inspect_mem(memory)
                words.clear()
                words.update(contents.get(memory, {}))
        return self._simulation

    def contents(
        self,
        program: Program,
        args: Sequence[int] = (),
        memory: Mapping[int, bytes] | None = None,
    ) -> dict[pyrtl.MemBlock, dict[int, int]]:
        """What the memories and registers of the netlist hold at reset; arguments as for `run`."""
        built = self.built
        mask = (1 << self.core.xlen) - 1
        registers = {2: DATA_END, **{10 + i: v & mask for i, v in enumerate(args)}}
        image = bytearray(program.data + bytes(DATA_SIZE - len(program.data)))
        place(image, memory or {})
        found = {built.register_file: registers, **self._code(program)}
        count = len(built.data_lanes)
        for i, lane in enumerate(built.data_lanes):
            bytes_ = enumerate(image[i::count], DATA_BASE // count)
            found[lane] = {**found.get(lane, {}), **{at: byte for at, byte in bytes_ if byte}}
        return found

    def _code(self, program: Program) -> dict[pyrtl.MemBlock, dict[int, int]]:
        """The words of a program in the memory that instructions come from."""
        built = self.built
        if built.instruction_memory is not None:
            words = {(TEXT_BASE >> 2) + i: word for i, word in enumerate(program.words)}
            return {built.instruction_memory: words}
        code = bytes(TEXT_BASE) + b"".join(word.to_bytes(4, "little") for word in program.words)
        lanes = built.data_lanes
        return {lane: dict(enumerate(code[i :: len(lanes)])) for i, lane in enumerate(lanes)}

    def _rests(self, word: int) -> bool:
        """Whether execution rests at an instruction: a host call."""
        found = self.instructions.decode(word)
        return found is not None and found[0].effects(self.core.xlen).host is not None


def run_netlist(
    core: Core,
    instructions: InstructionSet,
    program: Program,
    args: Sequence[int] = (),
    memory: Mapping[int, bytes] | None = None,
    latencies: Latencies | None = None,
    circuits: Circuits | None = None,
) -> NetlistRun:
    """Build a core and run one program on it; see `Netlist`."""
    return Netlist(core, instructions, latencies, circuits).run(program, args, memory)


@dataclass(frozen=True)
class Comparison:
    """Netlist against simulator and automaton.

    Attributes:
        equal: They agree in every retirement, register, state element and memory byte.
        difference: The first disagreement, "" if there is none.
        instructions: Instructions compared.
        cycles: Cycles of the kernel on the netlist.
    """

    equal: bool
    difference: str
    instructions: int
    cycles: int


def compare(
    netlist: Netlist,
    program: Program,
    args: Sequence[int] = (),
    memory: Mapping[int, bytes] | None = None,
    device: Device | None = None,
) -> Comparison:
    """Run a program on the netlist and on the fast simulator, and compare everything they say.

    `device` is the model of the co-processor of the netlist, if it has one.
    """
    machine = Machine(netlist.instructions, program, device)
    run = machine.run(args, memory)
    core, latencies = netlist.core, netlist.latencies
    if device is None:
        timed = retirements(run.blocks, run.trace, automaton(core, latencies))
    else:
        timed = device_retirements(run.blocks, run.trace, run.log, device, core, latencies)
    expected = [(d, p.pc) for d, p in timed]
    actual = netlist.run(program, args, memory, limit=expected[-1][0] + 100)
    offset = actual.retirements[0][0] - expected[0][0]
    difference = ""
    for i, ((cycle, pc), (d, expected_pc)) in enumerate(
        zip(actual.retirements, expected, strict=False)
    ):
        if (cycle - offset, pc) != (d, expected_pc):
            word = fetch(program, netlist.instructions, expected_pc)
            text = "" if word is None else disassemble_word(word, netlist.instructions)
            difference = (
                f"retirement {i} of the netlist must be pc {expected_pc:#x} ({text}) in cycle {d}, "
                f"not pc {pc:#x} in cycle {cycle - offset}"
            )
            break
    else:
        difference = _state_difference(actual, run.registers, run.state, run.memory)
        if len(actual.retirements) != len(expected):
            difference = (
                f"netlist must retire {len(expected)} instructions, not {len(actual.retirements)}"
            )
    return Comparison(not difference, difference, len(expected), actual.cycles(program.entry))


def _state_difference(
    actual: NetlistRun, registers: Sequence[int], state: Mapping[str, int], memory: bytes
) -> str:
    for i, (a, b) in enumerate(zip(actual.registers, registers, strict=True)):
        if a != b:
            return f"x{i} of the netlist must be {b:#x}, not {a:#x}"
    for name, b in state.items():
        if name in actual.state and actual.state[name] != b:
            return f"{name} of the netlist must be {b:#x}, not {actual.state[name]:#x}"
    if actual.memory != memory:
        at = next(i for i in range(len(memory)) if actual.memory[i] != memory[i])
        return (
            f"byte {DATA_BASE + at:#x} of the netlist's memory must be {memory[at]:#x}, "
            f"not {actual.memory[at]:#x}"
        )
    return ""
