"""LUT timing: arrival times at every named output through LUTs and carry chains of 7 series."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hw.aiger import input_nodes, output_literals
from hw.fabric import LUT_LIBRARY, ROUTING_PS
from hw.graph import Adder, Graph
from hw.luts import Lut, LutNetwork

__all__ = ["LutTiming"]

_PIN_PS = {
    size: tuple(delays)
    for size, _, *delays in (map(int, line.split()) for line in LUT_LIBRARY.splitlines())
}
"""Delay of a function from each of its inputs by their number; the latest takes the fastest."""

CARRY_BITS = 4
"""Bits of a CARRY4."""
_S_TO_O = ((223, 400, 523, 582), (0, 205, 558, 618), (0, 0, 226, 330), (0, 0, 0, 227))
_S_TO_CARRY = (508, 528, 378, 380)
_CARRY_TO_O = (222, 334, 239, 313)
_CARRY_TO_CARRY = 114
"""Delays of a CARRY4 in ps: from propagate bit to sum bits of its block and to the carry out, and
from carry in. Those that yosys 0.70 gives abc9 (cells_sim.v of its Xilinx library, there from the
timings of the prjxray database for Artix-7)."""


class LutTiming:
    """The LUTs of a mapped graph with its carry chains.

    A LUT adds its routing, a chain does not: it stands beside the LUTs that feed it.
    """

    def __init__(self, graph: Graph, network: LutNetwork) -> None:
        self.adders = graph.adders
        self.sources = input_nodes(graph)
        inputs = input_nodes(graph, carry_chains=True)
        self.variable = {node: v for v, node in enumerate(inputs, start=1)}
        outputs = output_literals(graph, carry_chains=True)
        self.output = {x: literal >> 1 for x, literal in zip(outputs, network.outputs, strict=True)}
        self.lut = {lut.output: lut for lut in network.luts}

    def arrivals(self, ready: Mapping[int, float]) -> dict[int, float]:
        """Return the arrival in ps at every output literal and source of the graph.

        `ready` gives that of each source node; a constant is not waited for: -inf.
        """
        arrival: dict[int, float] = {0: -math.inf}
        arrival.update((self.variable[node], start) for node, start in ready.items())
        for adder in self.adders:
            self._chain(adder, arrival)
        found = {x: self._arrival(v, arrival) for x, v in self.output.items()}
        for adder in self.adders:
            for x in adder.results:
                if x:
                    found[x] = found[x ^ 1] = arrival[self.variable[x >> 1]]
        return found

    def _chain(self, adder: Adder, arrival: dict[int, float]) -> None:
        """Time the results of an adder, whose operands come from sources and earlier adders."""
        late = [self._of_literal(x, arrival) for x in adder.propagate]
        carry = -math.inf
        for low in range(0, len(late), CARRY_BITS):
            block = late[low : low + CARRY_BITS]
            for i in range(len(block)):
                through = (p + _S_TO_O[j][i] for j, p in enumerate(block[: i + 1]))
                self._set(adder.results[low + i], max(carry + _CARRY_TO_O[i], *through), arrival)
            entered = (p + own for p, own in zip(block, _S_TO_CARRY, strict=False))
            carry = max(carry + _CARRY_TO_CARRY, *entered)
        if len(adder.results) > len(late):
            self._set(adder.results[-1], carry, arrival)

    def _set(self, result: int, value: float, arrival: dict[int, float]) -> None:
        if result:
            arrival.setdefault(self.variable[result >> 1], value)

    def _of_literal(self, x: int, arrival: dict[int, float]) -> float:
        if x in self.output:
            return self._arrival(self.output[x], arrival)
        return arrival.get(self.variable.get(x >> 1, 0), -math.inf)

    def _arrival(self, variable: int, arrival: dict[int, float]) -> float:
        """Return the arrival of a variable, after that of all LUTs that it depends on."""
        stack = [variable]
        while stack:
            top = stack[-1]
            if top in arrival:
                stack.pop()
                continue
            lut = self.lut[top]
            missing = [v for v in lut.inputs if v not in arrival]
            if missing:
                stack.extend(missing)
            else:
                arrival[top] = _through(lut, arrival)
                stack.pop()
        return arrival[variable]


def _through(lut: Lut, arrival: Mapping[int, float]) -> float:
    """Return when a LUT has its result: its latest input takes the fastest pin."""
    late: Sequence[float] = sorted((arrival[v] for v in lut.inputs), reverse=True)
    return ROUTING_PS + max(t + own for t, own in zip(late, _PIN_PS[len(late)], strict=True))
