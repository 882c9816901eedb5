"""Area: what a PyRTL block costs, by a fast estimate, technology mapping or full synthesis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyrtl

from hw import cells
from hw.bitblast import bitblast
from hw.fabric import Fabric, fabric
from hw.graph import Graph, Kind, Memory, sweep
from hw.synthesis import synthesise
from hw.technology import Technology
from hw.timing import cell_arrivals, estimated_arrivals, mapped_arrivals
from hw.verilog import verilog

__all__ = ["Cost", "bitblast", "estimate", "mapped", "synthesised"]


@dataclass(frozen=True)
class Cost:
    """What one block costs, and how well that is known.

    Attributes:
        rung: "estimate", "mapped" or "synthesised".
        area_ge: gates and flip-flops in gate equivalents; memories are not in it.
        delay_fo4: latest arrival at any output, register or memory input, FO4 after the clock
            edge, without the flip-flop's own clock-to-output and set-up; with `xc7` through LUTs
            and carry chains, but on the estimate rung, which has gates alone.
        ffs: flip-flops.
        arrivals: (name, FO4) of each sink port, in the order of the graph; empty on the
            synthesised rung with `xc7` or a library of the user's, where only the longest path is
            known.
        luts: LUTs of a Xilinx 7-series part beside its carry chains, on the mapped rung, where
            multipliers are LUTs too, and on the synthesised rung of `xc7`, where they are DSP
            slices; otherwise None. Memories are not in it.
        fabric: everything the block takes of the part, on the synthesised rung of `xc7`.
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
    luts_error: float | None = None
    fabric: Fabric | None = None

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
        """Return the shortest clock period of this block alone, flip-flop overhead included."""
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
    """Map `block` to cells and to LUTs with yosys-abc and return its cost; 3 to 400 ms.

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
        (rung.lut_delay_error if technology.has_luts else None) or rung.delay_error,
        netlist.luts.count,
        rung.luts_error,
    )


def synthesised(
    block: pyrtl.Block,
    technology: Technology,
    liberty: Path | None = None,
    *,
    starts: Mapping[str, float] | None = None,
) -> Cost:
    """Synthesise `block` with yosys and return its cost; 0.3 to 5 s, with `xc7` 3 to 20 s more.

    The block goes to yosys as Verilog, memories left outside; with `xc7` it is synthesised for
    the part too, memories inside. This rung is what the errors of the others are measured
    against; its own is the noise of the tool (see the technology's `synthesised` rung).

    Args:
        block: An unoptimised PyRTL block; not a graph, since yosys is to see the arithmetic.
        technology: Technology; its flip-flops are those of the library.
        liberty: A cell library of the user's instead of ours. Areas are divided by its NAND2, and
            delays by `technology.fo4_ps`, which should be its FO4 then.
        starts: As for `estimate`; not with `liberty`.

    Raises:
        hw.yosys.YosysError: when yosys is missing or fails.
        ValueError: when `starts` are given with `liberty`, or name no source.
    """
    memories = bitblast(block).memories
    rung = technology.synthesised
    part = None
    if technology.has_luts:
        # An initial value of an address register would keep a memory out of block RAM.
        inside = verilog(block, initial=False)
        part = fabric(inside.text, inside.module)
    module = verilog(block, initial=False, open_memories=True)
    if liberty is None:
        netlist = cells.cells(module.text, module.module)
        arrivals = cell_arrivals(module, netlist, memories, technology, starts or {})
        area, ffs = netlist.area_ge, netlist.flip_flops
        delay = max(0.0, *arrivals.values()) if arrivals else 0.0
    else:
        if starts:
            raise ValueError(
                "starts must be left out with a liberty file, whose cells we cannot time"
            )
        measured = cells.library(module.text, module.module, liberty.read_text(encoding="utf-8"))
        arrivals, area, ffs = {}, measured.area_ge, measured.flip_flops
        delay = measured.delay_ps / technology.fo4_ps
    if part:
        arrivals, delay = {}, part.delay_ps / technology.fo4_ps
    return Cost(
        rung.name,
        area,
        delay,
        ffs,
        tuple(arrivals.items()),
        tuple(memories),
        rung.area_error,
        rung.delay_error,
        luts=part.luts if part else None,
        luts_error=rung.luts_error if part else None,
        fabric=part,
    )
