"""Levels: arrivals through mapped gates from many origins at once, level by level."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hw.abc import DRIVER
from hw.aiger import input_nodes, output_literals
from hw.graph import Graph
from hw.liberty import CELLS, TAU_PER_FO4
from hw.synthesis import Netlist
from hw.timing import GateTiming

__all__ = ["arrivals"]

_DRIVE = next(cell.drive for cell in CELLS if cell.name == DRIVER)


def arrivals(
    graph: Graph, netlist: Netlist, origins: Sequence[frozenset[str]]
) -> list[dict[str, float]]:
    """Return the latest arrival at each sink port from each origin, FO4; -inf where there is none.

    What `hw.timing.MappedTiming` says of each origin by itself, in a fraction of the time.

    Args:
        graph: Logic without memories.
        netlist: Its mapped gates.
        origins: Names of the source ports that start at 0; the others never do.
    """
    nodes = input_nodes(graph)
    port_of = {literal >> 1: port.name for port in graph.sources for literal in port.literals}
    starts = np.array(
        [[0.0 if port_of[node] in origin else -math.inf for origin in origins] for node in nodes]
    ).reshape(len(nodes), len(origins))
    timed = GateTiming(netlist.gates)
    # Rows: that of a constant, the sources as they start, then signals: driven sources and gates.
    row_of = {signal: 1 + len(nodes) + i for i, signal in enumerate(netlist.inputs)}
    first = 1 + len(nodes) + len(netlist.inputs)
    row_of.update((gate.output, first + i) for i, gate in enumerate(netlist.gates))
    found = np.full((first + len(netlist.gates), len(origins)), -math.inf)
    found[1 : 1 + len(nodes)] = starts
    driven = np.array([_DRIVE * timed.load.get(s, 0.0) / TAU_PER_FO4 for s in netlist.inputs])
    found[1 + len(nodes) : first] = starts[: len(driven)] + driven.reshape(-1, 1)
    level = [0] * len(found)
    inputs = np.zeros((len(netlist.gates), max((len(g.inputs) for g in netlist.gates), default=1)))
    inputs = inputs.astype(np.intp)
    for i, gate in enumerate(netlist.gates):
        rows = [row_of[signal] for signal in gate.inputs]
        inputs[i, : len(rows)] = rows
        level[first + i] = 1 + max((level[row] for row in rows), default=0)
    depth = np.array(level[first:], dtype=np.intp)
    order = np.argsort(depth, kind="stable")
    own = np.array(timed.delay).reshape(-1, 1)
    for gates in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        found[first + gates] = found[inputs[gates]].max(axis=1) + own[gates]
    row_of_literal = {2 * node: 1 + i for i, node in enumerate(nodes)}
    for literal, signal in zip(output_literals(graph), netlist.outputs, strict=True):
        row_of_literal[literal] = row_of[signal]
    latest = [
        found[[row_of_literal.get(x, 0) for x in port.literals]].max(axis=0, initial=-math.inf)
        for port in graph.sinks
    ]
    return [
        {port.name: float(at[i]) for port, at in zip(graph.sinks, latest, strict=True)}
        for i in range(len(origins))
    ]
