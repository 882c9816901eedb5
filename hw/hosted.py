"""Hosted: a core with its extension and the co-processor beside it, as one design."""

from __future__ import annotations

from dataclasses import dataclass

from hw.composition import COMMAND_INPUTS, Hardware, core_cost
from hw.coprocessors.area import CoprocessorCost
from hw.technology import Technology
from isa.core import Core
from isa.instruction_set import InstructionSet

__all__ = ["Hosted", "PortPaths", "hosted", "port_paths"]


@dataclass(frozen=True)
class PortPaths:
    """Delays around the port of a co-processor in its host, FO4, without flip-flop overhead.

    Attributes:
        arrival_fo4: When what the host says is at the port, after the clock edge.
        after_fo4: From the answer at the port to a register of the host.
    """

    arrival_fo4: float
    after_fo4: float


@dataclass(frozen=True)
class Hosted:
    """A design with a co-processor.

    Attributes:
        hardware: Core and extension, the port included.
        coprocessor: What stands beside them.
        period_fo4: Shortest clock period, flip-flop overhead included.
        period_ns: The same in nanoseconds.
    """

    hardware: Hardware
    coprocessor: CoprocessorCost
    period_fo4: float
    period_ns: float

    @property
    def area_ge(self) -> float:
        """Everything, in gate equivalents."""
        return self.hardware.area_ge + self.coprocessor.area_ge

    @property
    def area_error(self) -> float:
        """Relative error of `area_ge`, should both parts err to the same side."""
        parts = (self.hardware, self.coprocessor)
        return sum(part.area_ge * part.area_error for part in parts) / self.area_ge

    @property
    def ffs(self) -> int:
        """Flip-flops outside the register file."""
        return self.hardware.ffs + self.coprocessor.ffs

    @property
    def luts(self) -> int | None:
        """6-input LUTs; None where they are not counted."""
        parts = (self.hardware.luts, self.coprocessor.luts)
        return None if None in parts else sum(n for n in parts if n is not None)


def port_paths(
    core: Core,
    instructions: InstructionSet,
    latencies: tuple[tuple[str, int], ...],
    technology: Technology,
    rung: str = "mapped",
    *,
    is_mapped: bool = False,
    held: bool = False,
) -> PortPaths:
    """Delays around the port in a core.

    Args:
        core: Host core.
        instructions: All instructions, commands among them unless the port is a window.
        latencies: (mnemonic, cycles) of units that take more than one.
        technology: Technology.
        rung: "estimate", "mapped" or "synthesised".
        is_mapped: The port is a window of the address space.
        held: Loads and stores can be held.
    """
    core = core.canonical()
    cost = core_cost(core, instructions, latencies, technology, rung, held=held)
    heads = ("dmem_",) if is_mapped else ("command_",)
    arrival = max(at for name, at in cost.arrivals if name.startswith(heads))
    rest = core_cost(
        core, instructions, latencies, technology, rung, after=COMMAND_INPUTS, held=held
    )
    return PortPaths(arrival, rest.delay_fo4)


def hosted(
    hardware: Hardware, coprocessor: CoprocessorCost, paths: PortPaths, technology: Technology
) -> Hosted:
    """Put a core with its extension and a co-processor together.

    The period is the longest of those of both, of the way from host to co-processor, of the way
    back, and of the way there and back, which a command takes that is held.
    """
    path = max(
        coprocessor.delay_fo4,
        paths.arrival_fo4 + coprocessor.host_fo4,
        coprocessor.answer_fo4 + paths.after_fo4,
        paths.arrival_fo4 + coprocessor.through_fo4 + paths.after_fo4,
    )
    period = max(hardware.period_fo4, path + technology.sequential_fo4)
    return Hosted(hardware, coprocessor, period, period * technology.fo4_ps / 1000)
