"""Arcs: what a block costs, and how long signals take through it, each origin by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyrtl

from hw.area import bitblast, estimate, synthesised
from hw.coprocessors import levels
from hw.graph import Graph
from hw.synthesis import synthesise
from hw.technology import Technology
from hw.timing import MappedTiming

__all__ = ["CLOCK", "STATE", "Arcs", "measure"]

CLOCK, STATE = "clock", "state"
"""The origin of what registers hold, and the end of what they take."""

RUNGS = ("estimate", "mapped", "synthesised")


@dataclass(frozen=True)
class Arcs:
    """A block by itself.

    Attributes:
        area_ge: Gates and flip-flops in gate equivalents.
        ffs: Flip-flops.
        luts: LUTs; None on the estimate rung, and on the synthesised one but for `xc7`.
        delays: (origin, end, FO4), where an arc is: from `CLOCK` or a group of inputs to `STATE`
            or an output. Flip-flop overhead is not in it.
    """

    area_ge: float
    ffs: int
    luts: int | None
    delays: tuple[tuple[str, str, float], ...]

    def arrivals(self, starts: Mapping[str, float]) -> dict[str, float]:
        """Return when each end is reached if signals start then; an origin left out never does."""
        found: dict[str, float] = {}
        for origin, end, delay in self.delays:
            at = starts.get(origin, -math.inf) + delay
            found[end] = max(at, found.get(end, -math.inf))
        return found


def measure(
    block: pyrtl.Block,
    technology: Technology,
    rung: str,
    groups: Mapping[str, tuple[str, ...]],
) -> Arcs:
    """Measure a block without memories.

    Args:
        block: An unoptimised PyRTL block.
        technology: Technology.
        rung: "estimate", "mapped" or "synthesised".
        groups: Names of the inputs of each origin.

    Raises:
        ValueError: There is no such rung.
    """
    if rung not in RUNGS:
        raise ValueError(f"rung must be one of {', '.join(RUNGS)}, not {rung!r}")
    graph = bitblast(block)
    ends = {port.name: port.role for port in graph.sinks}
    registers = frozenset(port.name for port in graph.sources if port.role == "register")
    origins = {CLOCK: registers, **{name: frozenset(names) for name, names in groups.items()}}
    area, ffs, luts, arrivals = _measured(block, graph, technology, rung, list(origins.values()))
    delays: dict[tuple[str, str], float] = {}
    for origin, found in zip(origins, arrivals, strict=True):
        for sink, at in found.items():
            if at > -math.inf:
                arc = origin, sink if ends[sink] == "output" else STATE
                delays[arc] = max(at, delays.get(arc, -math.inf))
    return Arcs(area, ffs, luts, tuple((a, b, d) for (a, b), d in delays.items()))


def _measured(
    block: pyrtl.Block,
    graph: Graph,
    technology: Technology,
    rung: str,
    origins: Sequence[frozenset[str]],
) -> tuple[float, int, int | None, list[dict[str, float]]]:
    """Return area, flip-flops, LUTs, and the arrivals at the sinks from each set of sources."""
    starts = [
        {port.name: 0.0 if port.name in names else -math.inf for port in graph.sources}
        for names in origins
    ]
    if rung == "mapped":  # one mapping, timed from each origin
        netlist = synthesise(graph)
        if technology.has_luts:
            timing = MappedTiming(graph, netlist, technology)
            arrivals = [timing.arrivals(start) for start in starts]
        else:
            arrivals = levels.arrivals(graph, netlist, origins)
        ffs = graph.flip_flops
        return netlist.area_ge + technology.ff_ge * ffs, ffs, netlist.luts.count, arrivals
    price, seen = (estimate, graph) if rung == "estimate" else (synthesised, block)
    costs = [price(seen, technology, starts=start) for start in starts]
    cost = costs[0]
    return cost.area_ge, cost.ffs, cost.luts, [dict(c.arrivals) for c in costs]
