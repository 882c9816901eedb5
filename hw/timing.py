"""Timing: arrival times at every named output, on the gates of either rung."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence

from hw.abc import DRIVER
from hw.aiger import input_nodes, output_literals
from hw.cells import Cells
from hw.graph import Graph, Kind, Memory
from hw.liberty import CELLS, TAU_PER_FO4
from hw.lut_timing import LutTiming
from hw.memory import memory_cost
from hw.synthesis import Gate, Netlist
from hw.technology import Technology
from hw.verilog import Verilog

__all__ = ["GateTiming", "cell_arrivals", "estimated_arrivals", "mapped_arrivals"]

Starts = Mapping[str, float]
"""When each source port is valid, FO4 after the clock edge; ports not named are valid at 0.

-inf takes a port out of consideration, so the delay from `rs1` alone has every other port there.
"""


def _start_of_nodes(graph: Graph, starts: Starts) -> dict[int, float]:
    known = {port.name for port in graph.sources}
    for name in starts:
        if name not in known:
            names = ", ".join(sorted(known)) or "none"
            raise ValueError(f"start must name one of the sources {names}, not {name!r}")
    return {
        literal >> 1: starts.get(port.name, 0.0)
        for port in graph.sources
        for literal in port.literals
    }


def _accesses(graph: Graph, technology: Technology) -> list[float]:
    return [memory_cost(memory, technology).access_fo4 for memory in graph.memories]


def estimated_arrivals(graph: Graph, technology: Technology, starts: Starts) -> dict[str, float]:
    """Return the latest arrival at each sink port, FO4, by weighted depth.

    A tree of XOR (or AND) nodes that nothing else reads is timed as a synthesiser would balance
    it, latest operand last; all nodes add a term for the logarithm of their fan-out. A memory
    read arrives its access time after its address.
    """
    kind, fanin = graph.kind, graph.fanin
    fanout = [0] * len(kind)
    parent = [0] * len(kind)
    for node, literals in enumerate(fanin):
        for literal in literals:
            fanout[literal >> 1] += 1
            parent[literal >> 1] = node if not literal & 1 or kind[node] is Kind.XOR else 0
    gates_driven = list(fanout)
    for port in graph.sinks:
        for literal in port.literals:
            fanout[literal >> 1] += 1
            parent[literal >> 1] = 0
    own = {
        Kind.AND: technology.and_fo4,
        Kind.XOR: technology.xor_fo4,
        Kind.MUX: technology.mux_fo4,
    }
    access = _accesses(graph, technology)
    start = _start_of_nodes(graph, starts)
    arrival = [-math.inf] * len(kind)
    # Leaves of the balanced tree that ends in a node, for nodes that are read by one equal node.
    leaves: dict[int, list[float]] = {}
    for node in range(1, len(kind)):
        k = kind[node]
        if k is Kind.INPUT:
            arrival[node] = start[node] + technology.load_fo4 * math.log2(1 + gates_driven[node])
            continue
        if k is Kind.MEMORY:
            late = max(arrival[f >> 1] for f in fanin[node])
            arrival[node] = max(late + access[graph.memory_of[node]], start.get(node, -math.inf))
            continue
        if k is Kind.MUX:
            late = max(arrival[f >> 1] for f in fanin[node]) + own[k]
        else:
            operands: list[float] = []
            for f in fanin[node]:
                operands.extend(leaves.pop(f >> 1, [arrival[f >> 1]]))
            if fanout[node] == 1 and parent[node] and kind[parent[node]] is k:
                leaves[node] = operands
                continue
            heapq.heapify(operands)
            while len(operands) > 1:
                heapq.heappop(operands)
                heapq.heapreplace(operands, operands[0] + own[k])
            late = operands[0]
        arrival[node] = late + technology.load_fo4 * math.log2(1 + fanout[node])
    return {
        port.name: max((arrival[x >> 1] for x in port.literals), default=-math.inf)
        for port in graph.sinks
    }


_CELL = {cell.name: cell for cell in CELLS}


class GateTiming:
    """Mapped gates with their delays, fan-in first.

    The delay of a cell is its parasitic plus drive times the capacitance it drives, which is what
    the liberty tables hold; every source has the driver that ABC is told of.
    """

    def __init__(self, gates: Sequence[Gate]) -> None:
        self.gates = gates
        load: dict[str, float] = {}
        for gate in gates:
            if gate.cell:
                for signal, (_, cap) in zip(gate.inputs, _CELL[gate.cell].pins, strict=True):
                    load[signal] = load.get(signal, 0.0) + cap
        self.load = load
        self.delay = []
        for gate in gates:
            cell = _CELL.get(gate.cell)
            driven = load.get(gate.output, 0.0)
            self.delay.append((cell.parasitic + cell.drive * driven) / TAU_PER_FO4 if cell else 0.0)

    def arrivals(self, ready: Mapping[str, float]) -> dict[str, float]:
        """Return the arrival of every signal, FO4, for sources that are ready at these times.

        A signal that depends on no source, a constant, is not waited for: -inf.
        """
        drive = _CELL[DRIVER].drive
        arrival = {
            signal: start + drive * self.load.get(signal, 0.0) / TAU_PER_FO4
            for signal, start in ready.items()
        }
        for gate, own in zip(self.gates, self.delay, strict=True):
            late = max((arrival.get(s, -math.inf) for s in gate.inputs), default=-math.inf)
            arrival[gate.output] = late + own
        return arrival


class MappedTiming:
    """The mapped gates or LUTs of a graph, to be timed from any starts.

    With all starts 0 and no memory the latest arrival equals what ABC reports, but that with
    `has_luts` ABC knows no carry chains.
    """

    def __init__(self, graph: Graph, netlist: Netlist, technology: Technology) -> None:
        self._graph = graph
        self._sources = input_nodes(graph)
        self._access = _accesses(graph, technology)
        engine = _lut_arrivals if technology.has_luts else _gate_arrivals
        self._arrivals = engine(graph, netlist, technology)
        self._reads = _reads(graph)

    def arrivals(self, starts: Starts) -> dict[str, float]:
        """Return the latest arrival at each sink port, FO4."""
        graph, start = self._graph, _start_of_nodes(self._graph, starts)
        memory_start: dict[int, float] = {}
        while True:
            node_start = {
                node: max(start.get(node, -math.inf), memory_start.get(node, -math.inf))
                for node in self._sources
            }
            arrival = self._arrivals(node_start)
            result = {
                port.name: max(
                    (arrival.get(x, node_start.get(x >> 1, -math.inf)) for x in port.literals),
                    default=-math.inf,
                )
                for port in graph.sinks
            }
            following = {
                node: result[address] + self._access[graph.memory_of[node]]
                for address, nodes in self._reads
                for node in nodes
            }
            if following == memory_start:
                return result
            memory_start = following


def mapped_arrivals(
    graph: Graph, netlist: Netlist, technology: Technology, starts: Starts
) -> dict[str, float]:
    """Return the latest arrival at each sink port, FO4, see `MappedTiming`."""
    return MappedTiming(graph, netlist, technology).arrivals(starts)


def _gate_arrivals(
    graph: Graph, netlist: Netlist, technology: Technology
) -> Callable[[Mapping[int, float]], Mapping[int, float]]:
    """Return a function from the arrivals of source nodes to those of output literals."""
    timed = GateTiming(netlist.gates)
    signal_of = dict(zip(output_literals(graph), netlist.outputs, strict=True))

    def arrivals(start: Mapping[int, float]) -> Mapping[int, float]:
        # A netlist without gates has no inputs: its outputs are wires.
        found = timed.arrivals(dict(zip(netlist.inputs, start.values(), strict=False)))
        return {x: found[signal] for x, signal in signal_of.items()}

    return arrivals


def _lut_arrivals(
    graph: Graph, netlist: Netlist, technology: Technology
) -> Callable[[Mapping[int, float]], Mapping[int, float]]:
    """Return the same for LUTs, whose picoseconds become FO4."""
    timed, unit = LutTiming(graph, netlist.luts), technology.fo4_ps

    def arrivals(start: Mapping[int, float]) -> Mapping[int, float]:
        found = timed.arrivals({node: time * unit for node, time in start.items()})
        return {x: time / unit for x, time in found.items()}

    return arrivals


def cell_arrivals(
    module: Verilog,
    netlist: Cells,
    memories: Sequence[Memory],
    technology: Technology,
    starts: Starts,
) -> dict[str, float]:
    """Return the latest arrival at each output, register and open memory port of `module`, FO4.

    Names are those of the PyRTL block. With all starts 0 and no memory the latest equals ABC's.
    """
    timed = GateTiming(netlist.gates)
    name_of = _names(module, netlist)
    ports: dict[str, list[str]] = {}
    for signal in netlist.sources:
        ports.setdefault(name_of(signal), []).append(signal)
    for name in starts:
        # A port that no gate reads and a register that yosys removed start nothing.
        if name not in module.names:
            names = ", ".join(sorted(ports.keys() - {"clk"})) or "none"
            raise ValueError(f"start must name one of the sources {names}, not {name!r}")
    ready = {s: starts.get(name, 0.0) for name, signals in ports.items() for s in signals}
    sinks: dict[str, list[str]] = {}
    for signal in netlist.outputs:
        sinks.setdefault(name_of(signal), []).append(signal)
    for held, following in netlist.following:
        sinks.setdefault(name_of(held), []).append(following)
    access = {m.name: memory_cost(m, technology).access_fo4 for m in memories}
    while True:
        arrival = timed.arrivals(ready)
        result = {
            name: max(arrival.get(signal, -math.inf) for signal in signals)
            for name, signals in sinks.items()
        }
        later = dict(ready)
        for name, signals in ports.items():
            address = name.removesuffix(".data") + ".address"
            if address in result and address != name + ".address":
                read = result[address] + access[name.rsplit(".", 2)[0]]
                later |= {s: max(starts.get(name, -math.inf), read) for s in signals}
        if later == ready:
            return result
        ready = later


def _names(module: Verilog, netlist: Cells) -> Callable[[str], str]:
    """Return a function from a signal to the PyRTL name of its port or register.

    Yosys calls a register by the output that it drives, and keeps its name as a second one.
    """
    given = {verilog_name: name for name, verilog_name in module.names.items()}
    outputs = {name for name, _ in module.outputs}
    second: dict[str, list[str]] = {}
    for gate in netlist.gates:
        if not gate.cell and len(gate.inputs) == 1:
            second.setdefault(gate.inputs[0], []).append(gate.output)
    held = {signal for signal, _ in netlist.following}

    def name_of(signal: str) -> str:
        bases = [s.partition("[")[0] for s in [signal, *second.get(signal, [])]]
        base = bases[0]
        if signal in held:
            base = next((b for b in bases if b in given and b not in outputs), base)
        return given.get(base, base)

    return name_of


def _reads(graph: Graph) -> list[tuple[str, list[int]]]:
    """Return (address sink, data nodes) of each memory read port."""
    sinks = {port.name for port in graph.sinks}
    result = []
    for port in graph.sources:
        address = port.name.removesuffix(".data") + ".address"
        if port.role == "read" and address in sinks:
            result.append((address, [literal >> 1 for literal in port.literals]))
    return result
