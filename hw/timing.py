"""Timing: arrival times at every named output, on the gates of either rung."""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping

from hw.aiger import input_nodes, output_literals
from hw.graph import Graph, Kind
from hw.liberty import CELLS, TAU_PER_FO4
from hw.memory import memory_cost
from hw.synthesis import DRIVER, Netlist
from hw.technology import Technology

__all__ = ["estimated_arrivals", "mapped_arrivals"]

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


def mapped_arrivals(
    graph: Graph, netlist: Netlist, technology: Technology, starts: Starts
) -> dict[str, float]:
    """Return the latest arrival at each sink port, FO4, on the mapped gates of `graph`.

    The delay of a cell is its parasitic plus drive times the capacitance it drives, which is what
    the liberty tables hold, so with all starts 0 and no memory the latest equals ABC's `stime`.
    """
    load: dict[str, float] = {}
    for gate in netlist.gates:
        if gate.cell:
            for signal, (_, capacitance) in zip(gate.inputs, _CELL[gate.cell].pins, strict=True):
                load[signal] = load.get(signal, 0.0) + capacitance
    driver = _CELL[DRIVER]
    delay = []
    for gate in netlist.gates:
        cell = _CELL.get(gate.cell)
        driven = load.get(gate.output, 0.0)
        delay.append((cell.parasitic + cell.drive * driven) / TAU_PER_FO4 if cell else 0.0)
    sources = input_nodes(graph)
    start = _start_of_nodes(graph, starts)
    access = _accesses(graph, technology)
    signal_of = dict(zip(output_literals(graph), netlist.outputs, strict=True))
    reads = _reads(graph)
    memory_start: dict[int, float] = {}
    while True:
        node_start = {
            node: max(start.get(node, -math.inf), memory_start.get(node, -math.inf))
            for node in sources
        }
        # A netlist without gates has no inputs: its outputs are wires.
        arrival = {
            signal: ready + driver.drive * load.get(signal, 0.0) / TAU_PER_FO4
            for signal, ready in zip(netlist.inputs, node_start.values(), strict=False)
        }
        for gate, own in zip(netlist.gates, delay, strict=True):
            late = max((arrival[signal] for signal in gate.inputs), default=-math.inf)
            arrival[gate.output] = late + own
        result = {
            port.name: max(
                (
                    arrival[signal_of[x]] if x in signal_of else node_start.get(x >> 1, -math.inf)
                    for x in port.literals
                ),
                default=-math.inf,
            )
            for port in graph.sinks
        }
        following = {
            node: result[address] + access[graph.memory_of[node]]
            for address, nodes in reads
            for node in nodes
        }
        if following == memory_start:
            return result
        memory_start = following


def _reads(graph: Graph) -> list[tuple[str, list[int]]]:
    """Return (address sink, data nodes) of each memory read port."""
    sinks = {port.name for port in graph.sinks}
    result = []
    for port in graph.sources:
        address = port.name.removesuffix(".data") + ".address"
        if port.role == "read" and address in sinks:
            result.append((address, [literal >> 1 for literal in port.literals]))
    return result
