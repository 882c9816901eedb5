"""Stages: a datapath cut into a pipeline, with registers on the signals that cross each cut.

The cut is through the gates (`hw.bitblast`), chains of equal gates balanced first: each gate stands
in the stage that its arrival, by the weights of the estimate, falls into. The stages get equal
shares of the path, what the core puts before the first and behind the last included; then each cut
is moved to where the fewest signals cross it nearby, a little if that makes a stage the longest
path there is, and further if it does not.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyrtl

from hw.bitblast import bitblast
from hw.graph import Graph, Kind, Port
from hw.technology import Technology

__all__ = ["Staged", "staged"]

Wire: TypeAlias = pyrtl.WireVector

NEARBY, FURTHER = 0.03, 0.4
"""How far a cut may be moved to save registers: at the cost of the longest stage, as a share of
the path; and while no stage gets longer than what is allowed, from where the gates alone would be
cut, as a share of their path in a stage. Each stage keeps some of them."""


@dataclass(frozen=True)
class Staged:
    """Gates of a datapath, each in a stage.

    Attributes:
        graph: The gates; no registers.
        stage: Of each node, from 0.
        stages: How many there are.
    """

    graph: Graph
    stage: tuple[int, ...]
    stages: int

    def crossing(self) -> list[list[int]]:
        """Nodes that are handed from each stage to the next."""
        last = list(self.stage)
        for node, fanin in enumerate(self.graph.fanin):
            for f in fanin:
                last[f >> 1] = max(last[f >> 1], self.stage[node])
        for port in self.graph.sinks:
            for f in port.literals:
                last[f >> 1] = self.stages - 1
        return [
            [n for n in range(1, len(last)) if self.stage[n] <= s < last[n]]
            for s in range(self.stages - 1)
        ]

    def build(self, name: str, inputs: Mapping[str, Wire]) -> dict[str, Wire]:
        """Build the pipeline in the working block; nothing in it ever waits.

        Args:
            name: Of its registers, before "_stage_1" and so on.
            inputs: What enters the first stage, by the name of the graph's source.

        Returns:
            The outputs by name, `stages` - 1 cycles after the inputs they belong to.
        """
        graph, crossing = self.graph, self.crossing()
        at: dict[int, Wire] = {}  # nodes as they are in the stage at hand
        inverted: dict[int, Wire] = {}
        for port in graph.sources:
            at.update((f >> 1, inputs[port.name][i]) for i, f in enumerate(port.literals))

        def bit(literal: int) -> Wire:
            if literal < 2:
                return pyrtl.Const(literal, 1)
            if not literal & 1:
                return at[literal >> 1]
            if literal not in inverted:
                inverted[literal] = ~at[literal >> 1]
            return inverted[literal]

        for s in range(self.stages):
            for node, kind in enumerate(graph.kind):
                if self.stage[node] == s and kind in _BUILD:
                    at[node] = _BUILD[kind](*map(bit, graph.fanin[node]))
            if s < self.stages - 1:
                register = pyrtl.Register(len(crossing[s]), f"{name}_stage_{s + 1}")
                register.next <<= pyrtl.concat_list([at[n] for n in crossing[s]])
                at = {n: register[i] for i, n in enumerate(crossing[s])}
                inverted = {}
        return {p.name: pyrtl.concat_list([bit(f) for f in p.literals]) for p in graph.sinks}


_BUILD: dict[Kind, Callable[..., Wire]] = {
    Kind.AND: lambda a, b: a & b,
    Kind.XOR: lambda a, b: a ^ b,
    Kind.MUX: lambda select, one, zero: pyrtl.select(select, one, zero),
}


def staged(
    block: pyrtl.Block,
    stages: int,
    before_fo4: float = 0.0,
    behind_fo4: float = 0.0,
    allowed_fo4: float = 0.0,
) -> Staged:
    """Cut the datapath of `block`, which has neither registers nor memories.

    Args:
        block: From inputs to outputs.
        stages: At least 1.
        before_fo4: Path to its inputs within the first stage.
        behind_fo4: Path from its outputs within the last.
        allowed_fo4: Path of a stage that matters to nobody.
    """
    graph, arrival = _balanced(bitblast(block), Technology("ge"))
    sinks = [f >> 1 for port in graph.sinks for f in port.literals]
    path = max(arrival[node] for node in sinks)
    last_use = list(arrival)
    for node, fanin in enumerate(graph.fanin):
        for f in fanin:
            last_use[f >> 1] = max(last_use[f >> 1], arrival[node])
    for node in sinks:
        last_use[node] = math.inf
    made, dropped = sorted(arrival[1:]), sorted(last_use[1:])

    def crossing(at: float) -> int:
        return bisect_right(made, at) - bisect_right(dropped, at)

    share = (before_fo4 + path + behind_fo4) / stages
    longest = max(share + NEARBY * path, allowed_fo4)
    cuts: list[float] = []
    cut = -before_fo4
    for k in range(1, stages):
        ideal = min(max(k * share - before_fo4, 0.0), path)
        near = [
            t
            for t in made
            if abs(t / path * stages - k) <= FURTHER
            and t - cut <= longest
            and (path + behind_fo4 - t) / (stages - k) <= longest
        ]
        cut = min(near or [ideal], key=lambda t: (crossing(t), abs(t - ideal), t))
        cuts.append(cut)
    stage = [0] * len(arrival)
    for node, fanin in enumerate(graph.fanin):
        if fanin:
            own = sum(arrival[node] > cut for cut in cuts)
            stage[node] = max(own, *(stage[f >> 1] for f in fanin))
    return Staged(graph, tuple(stage), stages)


def _balanced(graph: Graph, technology: Technology) -> tuple[Graph, list[float]]:
    """The same gates, chains of equal ones as trees with the latest operand last; arrivals, FO4.

    As `hw.timing.estimated_arrivals` takes them to be.
    """
    own = {
        Kind.AND: technology.and_fo4,
        Kind.XOR: technology.xor_fo4,
        Kind.MUX: technology.mux_fo4,
    }
    fanout = [0] * len(graph.kind)
    parent = [0] * len(graph.kind)
    for node, literals in enumerate(graph.fanin):
        for f in literals:
            fanout[f >> 1] += 1
            parent[f >> 1] = node if not f & 1 or graph.kind[node] is Kind.XOR else 0
    for port in graph.sinks:
        for f in port.literals:
            fanout[f >> 1] += 1
            parent[f >> 1] = 0
    found = Graph()
    new = [0] * len(graph.kind)
    arrival = [0.0]

    def timed(literal: int, at: float) -> int:
        if literal >> 1 == len(arrival):
            arrival.append(at)
        return literal

    leaves: dict[int, list[tuple[float, int]]] = {}
    for node, kind in enumerate(graph.kind):
        fanin = [new[f >> 1] ^ (f & 1) for f in graph.fanin[node]]
        load = technology.load_fo4 * math.log2(1 + fanout[node])
        if kind is Kind.INPUT:
            new[node] = timed(found.input(), load)
        elif kind is Kind.MUX:
            late = max(arrival[f >> 1] for f in fanin)
            new[node] = timed(found.mux(*fanin), late + own[kind] + load)
        elif kind in (Kind.AND, Kind.XOR):
            operands: list[tuple[float, int]] = []
            for old, f in zip(graph.fanin[node], fanin, strict=True):
                operands.extend(leaves.pop(old >> 1, [(arrival[f >> 1], f)]))
            if fanout[node] == 1 and parent[node] and graph.kind[parent[node]] is kind:
                leaves[node] = operands
                continue
            join = found.and_ if kind is Kind.AND else found.xor
            heapq.heapify(operands)
            while len(operands) > 1:
                _, a = heapq.heappop(operands)
                at, b = operands[0]
                at += own[kind] + (load if len(operands) == 1 else 0.0)
                joined = timed(join(a, b), at)
                heapq.heapreplace(operands, (arrival[joined >> 1], joined))
            new[node] = operands[0][1]
    for ports, renamed in ((graph.sources, found.sources), (graph.sinks, found.sinks)):
        for p in ports:
            renamed.append(Port(p.name, p.role, tuple(new[f >> 1] ^ (f & 1) for f in p.literals)))
    return found, arrival
