"""Energy: capacitance that a program switches in the netlist that runs it, for comparison only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyrtl

from hw.aiger import input_nodes, output_literals
from hw.bitblast import bitblast, source_wires
from hw.cosim import Netlist
from hw.graph import Graph
from hw.liberty import CELLS
from hw.memory import LARGEST_REGISTER_FILE
from hw.synthesis import synthesise
from hw.timing import GateTiming
from isa.program import Program

__all__ = ["Energy", "energy", "switched"]

FLIP_FLOP_TOGGLE = 8.0
"""Capacitance inside a flip-flop that changes its value: two latches of two inverters each with
their parasitics, in input capacitances of a unit inverter."""

FLIP_FLOP_CLOCK = 4.0
"""Capacitance that each clock edge switches in a flip-flop: four transmission gates."""

READ_LEVEL = 6.0
"""Capacitance of one multiplexer of a read port, its parasitic and its input (`hw.liberty`)."""


@dataclass(frozen=True)
class Energy:
    """Switched capacitance over some cycles, in input capacitances of a unit inverter.

    Proportional to dynamic energy at one supply voltage: 1 unit that rises and falls once counts
    2. Transitions are counted once a cycle, so glitches are not in it; wires, leakage, and the
    instruction and data memories are not either. Good for a ratio of two designs on one workload
    (`energy_rel`), not for joules.

    Attributes:
        cycles: Cycles that were looked at.
        logic: Gates and what they drive.
        flip_flops: Registers that change, without the clock.
        clock: Clock pins of the registers, never gated.
        register_file: Read ports and the words written, whose clock is taken to be gated.
    """

    cycles: int
    logic: float
    flip_flops: float
    clock: float
    register_file: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.logic + self.flip_flops + self.clock + self.register_file


Word = int
"""Values of one signal, bit i in cycle i."""

_FUNCTIONS: dict[str, Callable[..., Word]] = {
    "INV": lambda m, a: a ^ m,
    "INVX4": lambda m, a: a ^ m,
    "BUFX4": lambda m, a: a,
    "NAND2": lambda m, a, b: a & b ^ m,
    "NAND3": lambda m, a, b, c: a & b & c ^ m,
    "NOR2": lambda m, a, b: (a | b) ^ m,
    "NOR3": lambda m, a, b, c: (a | b | c) ^ m,
    "AND2": lambda m, a, b: a & b,
    "OR2": lambda m, a, b: a | b,
    "AOI21": lambda m, a, b, c: (a & b | c) ^ m,
    "OAI21": lambda m, a, b, c: (a | b) & c ^ m,
    "AOI22": lambda m, a, b, c, d: (a & b | c & d) ^ m,
    "OAI22": lambda m, a, b, c, d: (a | b) & (c | d) ^ m,
    "XOR2": lambda m, a, b: a ^ b,
    "XNOR2": lambda m, a, b: a ^ b ^ m,
    "MUX2": lambda m, a, b, s: s & b | (s ^ m) & a,
}
"""Each cell of `hw.liberty` on all cycles at once; `m` has a 1 for each cycle."""

_PARASITIC = {cell.name: cell.parasitic for cell in CELLS}


def _toggles(values: Word, cycles: int) -> int:
    """Return in how many cycles the value differs from the cycle before."""
    return ((values ^ values >> 1) & (1 << max(0, cycles - 1)) - 1).bit_count()


def _transposed(values: Sequence[int], width: int) -> list[Word]:
    """Return for each bit of a word its values over all cycles."""
    size = (width + 7) // 8
    data = np.frombuffer(b"".join(v.to_bytes(size, "little") for v in values), dtype=np.uint8)
    bits = np.unpackbits(data.reshape(len(values), size), axis=1, bitorder="little")
    packed = np.packbits(np.ascontiguousarray(bits.T), axis=1, bitorder="little")
    return [int.from_bytes(packed[i].tobytes(), "little") for i in range(width)]


def switched(graph: Graph, trace: Mapping[str, Sequence[int]]) -> Energy:
    """Return what the mapped gates of `graph` switch when its sources take these values.

    Args:
        graph: Logic, mapped by `hw.synthesis.synthesise`.
        trace: Values of each source port (input, register, memory read) by name, one a cycle.

    Raises:
        ValueError: when a source has no values, or ports have different numbers of them.
    """
    lengths = {len(values) for values in trace.values()}
    missing = sorted({p.name for p in graph.sources} - trace.keys())
    if missing or len(lengths) != 1:
        raise ValueError(
            "trace must have a value of every source in every cycle, "
            f"not {sorted(lengths)} cycles and none of {', '.join(missing) or 'no source'}"
        )
    (cycles,) = lengths
    of_node: dict[int, Word] = {0: 0}
    changes = 0
    file_energy = 0.0
    files = {m.name: m for m in graph.memories if m.words <= LARGEST_REGISTER_FILE}
    for port in graph.sources:
        words = _transposed(trace[port.name], len(port.literals))
        of_node.update(zip((x >> 1 for x in port.literals), words, strict=True))
        toggles = sum(_toggles(word, cycles) for word in words)
        memory = files.get(port.name.split(".")[0])
        if port.role == "register":
            changes += toggles
        elif port.role == "read" and memory:
            file_energy += toggles * READ_LEVEL * (memory.words - 1).bit_length()
    netlist = synthesise(graph)
    load = GateTiming(netlist.gates).load
    ones = (1 << cycles) - 1
    inputs = zip(netlist.inputs, input_nodes(graph), strict=False)
    values = {signal: of_node.get(node, 0) for signal, node in inputs}
    logic = sum(_toggles(word, cycles) * load.get(s, 0.0) for s, word in values.items())
    for gate in netlist.gates:
        operands = (values[signal] for signal in gate.inputs)
        if not gate.cell:
            values[gate.output] = next(operands, 0)
            continue
        word = values[gate.output] = _FUNCTIONS[gate.cell](ones, *operands)
        own = _PARASITIC[gate.cell] + load.get(gate.output, 0.0)
        logic += _toggles(word, cycles) * own
    signal_of = dict(zip(output_literals(graph), netlist.outputs, strict=True))
    for port in graph.sinks:
        name, _, part = port.name.partition(".")
        if port.role == "write" and name in files and part.endswith(".enable"):
            (x,) = port.literals
            known = values[signal_of[x]] if x in signal_of else of_node[x >> 1] ^ ones * (x & 1)
            # All flip-flops of the word are clocked, half of them change.
            word_energy = files[name].width * (FLIP_FLOP_TOGGLE / 2 + 2 * FLIP_FLOP_CLOCK)
            file_energy += known.bit_count() * word_energy
    clock = 2.0 * FLIP_FLOP_CLOCK * graph.flip_flops * cycles
    return Energy(cycles, logic, changes * FLIP_FLOP_TOGGLE, clock, file_energy)


def energy(
    netlist: Netlist,
    program: Program,
    args: Sequence[int] = (),
    memory: Mapping[int, bytes] | None = None,
    *,
    limit: int = 20_000,
) -> Energy:
    """Run a kernel on a core's netlist and return what one call of it switches.

    From the retirement of the call to that of the return, units included. About 10,000 cycles a
    second.

    Args:
        netlist: The core with its units.
        program: A program with a calling stub, see `isa.program`.
        args: Values of a0, a1, ...
        memory: Bytes to place into data memory, by address.
        limit: Cycles after which the run is refused as endless.
    """
    block = netlist.built.block
    graph = bitblast(block)
    every = source_wires(block)
    wires = {port.name: every[port.name] for port in graph.sources}
    tracer = pyrtl.SimulationTrace(list(wires.values()), block=block)
    run = netlist.run(program, args, memory, limit=limit, tracer=tracer)
    inside = [i for i, (_, pc) in enumerate(run.retirements) if pc >= program.entry]
    first = run.retirements[inside[0] - 1][0] if inside[0] else 0
    last = run.retirements[inside[-1]][0] + 1
    trace = {name: tracer.trace[wire.name][first:last] for name, wire in wires.items()}
    return switched(graph, trace)
