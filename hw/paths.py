"""Paths: the delays of a core that decide its clock, with the slot for units left open."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hw.area import bitblast
from hw.core import core_block
from hw.graph import Graph
from hw.memory import sram
from hw.synthesis import synthesise
from hw.technology import Technology
from hw.timing import estimated_arrivals, mapped_arrivals
from isa.core import Core
from isa.instruction_set import InstructionSet
from isa.timing import Latencies

__all__ = ["MEMORY_WORDS", "CorePaths", "core_paths"]

MEMORY_WORDS = 4096
"""Words of the instruction SRAM and of the data SRAM whose access time is in the paths: 16 KiB."""


@dataclass(frozen=True)
class CorePaths:
    """Delays in FO4 after the clock edge, without the flip-flop's own overhead.

    Attributes:
        core_fo4: Longest path that does not go through the slot.
        operands_fo4: When rs1 and rs2 are ready at the slot.
        writeback_fo4: From a unit's result to the end of the cycle.
        operands_move: In the second cycle of a longer instruction its operands come from elsewhere
            (the register file, after forwarding), so that its first cycle does not count.
        rung: "estimate" or "mapped".
    """

    core_fo4: float
    operands_fo4: float
    writeback_fo4: float
    operands_move: bool
    rung: str

    def period_fo4(self, unit_fo4: float = 0.0, latency: int = 1) -> float:
        """Shortest period with a unit of that delay in the slot, for `latency` cycles of EX.

        The overhead of the flip-flops (`Technology.sequential_fo4`) is not in it.
        """
        cycles = max(1, latency - 1) if self.operands_move else latency
        through = self.operands_fo4 + unit_fo4 + self.writeback_fo4
        return max(self.core_fo4, through / cycles if unit_fo4 else 0.0)


def core_paths(
    core: Core,
    instructions: InstructionSet,
    technology: Technology,
    latencies: Latencies | None = None,
    *,
    rung: str = "mapped",
) -> CorePaths:
    """Time the core that `hw.core.core_block` builds, its SRAMs included.

    Args:
        core: Pipeline parameters.
        instructions: The instruction set; what it needs units for makes the slot.
        technology: Delays of gates and memories.
        latencies: Cycles in EX of instructions that units execute.
        rung: "estimate", or "mapped" by yosys-abc.
    """
    graph = bitblast(core_block(core, instructions, latencies))
    access = sram(MEMORY_WORDS, 32, 1, technology).access_fo4
    sources = {port.name for port in graph.sources}
    slot = sources & {"unit_result", "unit_writes_rd"}
    plain = {"imem_word": access, "dmem_word": access, **dict.fromkeys(slot, -math.inf)}
    only_unit = {name: 0.0 if name in slot else -math.inf for name in sources}
    arrivals = _timed(graph, technology, rung, plain, only_unit)
    operands = [arrivals[0].get(name, 0.0) for name in ("unit_rs1", "unit_rs2", "unit_pc")]
    return CorePaths(
        max(value for name, value in arrivals[0].items() if not name.startswith("unit_")),
        max(operands),
        max(0.0, *arrivals[1].values()) if slot else 0.0,
        core.pipeline == 3 and core.forwarding,
        rung,
    )


def _timed(
    graph: Graph, technology: Technology, rung: str, *starts: dict[str, float]
) -> list[dict[str, float]]:
    if rung == "estimate":
        return [estimated_arrivals(graph, technology, s) for s in starts]
    if rung != "mapped":
        raise ValueError(f"rung must be 'estimate' or 'mapped', not {rung!r}")
    netlist = synthesise(graph)
    return [mapped_arrivals(graph, netlist, technology, s) for s in starts]
