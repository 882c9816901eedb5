"""Arcs: what a block costs, and how long signals take through it, each origin by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyrtl

from hw.area import Cost, bitblast, estimate, mapped, synthesised
from hw.synthesis import synthesise
from hw.technology import Technology
from hw.timing import MappedTiming

__all__ = ["CLOCK", "STATE", "Arcs", "measure"]

CLOCK, STATE = "clock", "state"
"""The origin of what registers hold, and the end of what they take."""

RUNGS: Mapping[str, Callable[..., Cost]] = {
    "estimate": estimate,
    "mapped": mapped,
    "synthesised": synthesised,
}


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
    seen = graph if rung != "synthesised" else block
    sources = {port.name: port.role for port in graph.sources}
    ends = {port.name: port.role for port in graph.sinks}
    delays: dict[tuple[str, str], float] = {}
    cost = RUNGS[rung](seen, technology)
    timing = MappedTiming(graph, synthesise(graph), technology) if rung == "mapped" else None
    for origin, names in {CLOCK: (), **groups}.items():
        starts = {
            name: 0.0 if name in names or (origin == CLOCK and role == "register") else -math.inf
            for name, role in sources.items()
        }
        if timing is not None:  # one mapping, timed from each origin
            arrivals = tuple(timing.arrivals(starts).items())
        else:
            arrivals = RUNGS[rung](seen, technology, starts=starts).arrivals
        for sink, at in arrivals:
            if at > -math.inf:
                arc = origin, sink if ends[sink] == "output" else STATE
                delays[arc] = max(at, delays.get(arc, -math.inf))
    return Arcs(cost.area_ge, cost.ffs, cost.luts, tuple((a, b, d) for (a, b), d in delays.items()))
