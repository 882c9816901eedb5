"""Area: what a PyRTL block costs, by a fast estimate or by technology mapping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyrtl

from hw.bitblast import bitblast
from hw.graph import Graph, Kind, Memory, sweep
from hw.synthesis import synthesise
from hw.technology import Technology
from hw.timing import estimated_arrivals, mapped_arrivals

__all__ = ["Cost", "bitblast", "estimate", "mapped"]


@dataclass(frozen=True)
class Cost:
    """What one block costs, and how well that is known.

    Attributes:
        rung: "estimate" or "mapped".
        area_ge: gates and flip-flops in gate equivalents; memories are not in it.
        delay_fo4: latest arrival at any output, register or memory input, FO4 after the clock
            edge, without the flip-flop's own clock-to-output and set-up.
        ffs: flip-flops.
        arrivals: (name, FO4) of each sink port, in the order of the graph.
        luts: 6-input LUTs; None on the estimate rung.
        lut_levels: LUTs on the longest path; None on the estimate rung.
        memories: memories beside the logic, for `hw/memory.py`.
        area_error: relative error of `area_ge`, 90th percentile; likewise the other two.
    """

    rung: str
    area_ge: float
    delay_fo4: float
    ffs: int
    arrivals: tuple[tuple[str, float], ...]
    memories: tuple[Memory, ...]
    area_error: float
    delay_error: float
    luts: int | None = None
    lut_levels: int | None = None
    luts_error: float | None = None

    @property
    def error(self) -> float:
        """Relative error of the area, the headline figure."""
        return self.area_error

    def arrival(self, sink: str) -> float:
        """Return the arrival at the sink port called `sink`, FO4."""
        for name, value in self.arrivals:
            if name == sink:
                return value
        names = ", ".join(name for name, _ in self.arrivals) or "none"
        raise ValueError(f"sink must be one of {names}, not {sink!r}")

    def period_ps(self, technology: Technology) -> float:
        """Return the shortest clock period of this block alone, flip-flop overhead included.

        With a LUT technology it is LUT levels times the level's delay, else FO4.
        """
        if technology.lut_level_ns is not None and self.lut_levels is not None:
            return 1000 * technology.lut_level_ns * (self.lut_levels + 1)
        return technology.fo4_ps * (self.delay_fo4 + technology.sequential_fo4)


def _graph(block: pyrtl.Block | Graph, sinks: tuple[str, ...] | None) -> Graph:
    graph = block if isinstance(block, Graph) else bitblast(block)
    return graph if sinks is None else sweep(graph, sinks)


def estimate(
    block: pyrtl.Block | Graph,
    technology: Technology,
    *,
    starts: Mapping[str, float] | None = None,
    sinks: tuple[str, ...] | None = None,
) -> Cost:
    """Estimate the cost of `block` from its gate counts; milliseconds, no external program.

    `starts` gives the arrival (FO4) of input, register or memory-read ports by name, 0 if absent
    and -inf to leave one out; `sinks` restricts the block to the cones of these outputs. Errors
    against synthesis are the technology's `estimate` rung; routing, clock tree and memories are
    in none of the figures.
    """
    graph = _graph(block, sinks)
    area = (
        technology.and_ge * graph.count(Kind.AND)
        + technology.xor_ge * graph.count(Kind.XOR)
        + technology.mux_ge * graph.count(Kind.MUX)
        + technology.buffer_ge * graph.buffers()
        + technology.ff_ge * graph.flip_flops
    )
    arrivals = estimated_arrivals(graph, technology, starts or {})
    rung = technology.estimate
    return Cost(
        rung.name,
        area,
        max(arrivals.values(), default=0.0),
        graph.flip_flops,
        tuple(arrivals.items()),
        tuple(graph.memories),
        rung.area_error,
        rung.delay_error,
    )


def mapped(
    block: pyrtl.Block | Graph,
    technology: Technology,
    *,
    starts: Mapping[str, float] | None = None,
    sinks: tuple[str, ...] | None = None,
) -> Cost:
    """Map `block` to cells and to LUTs with yosys-abc and return its cost; 30 to 400 ms.

    Arguments as for `estimate`. One mapping serves any `starts`: they move the arrivals, not the
    gates. Errors are the technology's `mapped` rung.

    Raises:
        hw.synthesis.SynthesisError: when yosys-abc is missing or fails.
    """
    graph = _graph(block, sinks)
    netlist = synthesise(graph)
    arrivals = mapped_arrivals(graph, netlist, technology, starts or {})
    rung = technology.mapped
    return Cost(
        rung.name,
        netlist.area_ge + technology.ff_ge * graph.flip_flops,
        max(arrivals.values(), default=0.0),
        graph.flip_flops,
        tuple(arrivals.items()),
        tuple(graph.memories),
        rung.area_error,
        rung.delay_error,
        netlist.luts,
        netlist.lut_levels,
        rung.luts_error,
    )
