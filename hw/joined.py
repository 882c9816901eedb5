"""Joined: core and units in one netlist, to check that the sum of the parts is the whole."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hw.area import Cost, synthesised
from hw.composition import Hardware, circuit_map, memory_starts
from hw.core import core_block
from hw.memory import memory_cost
from hw.technology import Technology
from isa.core import Core
from isa.instruction_set import InstructionSet

__all__ = ["Joined", "join"]


@dataclass(frozen=True)
class Joined:
    """A design synthesised as one netlist, beside its composition.

    Attributes:
        cost: What synthesis says of core and units together.
        luts: LUTs of a 7-series part, as logic or memory, with `xc7`; otherwise None.
        luts_error: Composed LUTs over `luts`, less 1.
        area_ge: The same with the register file, in gate equivalents.
        area_error: Composed area over `area_ge`, less 1.
        period_fo4: Shortest period of the netlist, flip-flop overhead included; None where an
            instruction takes several cycles, for its path is then not one of a single cycle, and
            with `xc7`, where yosys starts every path at the clock.
        period_error: Composed period over `period_fo4`, less 1.
    """

    cost: Cost
    area_ge: float
    area_error: float
    period_fo4: float | None
    period_error: float | None
    luts: int | None = None
    luts_error: float | None = None


def join(
    hardware: Hardware,
    core: Core,
    instructions: InstructionSet,
    circuits: tuple[tuple[str, str], ...] = (),
    technology: Technology | None = None,
    liberty: Path | None = None,
    *,
    held: bool = False,
) -> Joined:
    """Synthesise the design that `hw.composition.compose` priced as `hardware`, as one netlist.

    Args:
        hardware: The composition, of any rung.
        core: Its core.
        instructions: Its instructions.
        circuits: Its (table, circuit name) pairs.
        technology: Default `ge`.
        liberty: A cell library of the user's, see `hw.area.synthesised`; the access times of the
            memories are not in the period then.
        held: As of the composition.
    """
    technology = technology or Technology("ge")
    block = core_block(
        core.canonical(),
        instructions,
        hardware.latencies,
        circuit_map(circuits),
        joined=True,
        held=held,
    )
    starts = None if liberty else memory_starts(technology, core.canonical())
    cost = synthesised(block, technology, liberty, starts=starts)
    area = cost.area_ge + sum(memory_cost(m, technology).area_ge for m in cost.memories)
    period = None
    if not hardware.latencies and not technology.has_luts:
        period = cost.delay_fo4 + technology.sequential_fo4
    luts = cost.fabric.luts + cost.fabric.memory_luts if cost.fabric else None
    return Joined(
        cost,
        area,
        hardware.area_ge / area - 1,
        period,
        hardware.period_fo4 / period - 1 if period else None,
        luts,
        hardware.luts / luts - 1 if hardware.luts and luts else None,
    )
