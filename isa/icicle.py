"""Icicle: the timing of NLU-V's host core, as measured on the published RTL.

Icicle (five stages, no bypassing, no branch prediction) shares one memory port, whose `ready`
toggles, between instructions and data, so its cycle counts follow the port and not the hazards.
The rules meet 46 micro-benchmarks of the RTL published with Uzuner and Kavun 2024
(github.com/UzunerH/MasterThesisCode, 2cc3fdf; parameters as instantiated there), which stand in
tests/isa/test_icicle.py: an instruction that writes a register takes 4 cycles, one that writes
none 2, a load 6, a taken branch or jump 6. Stores take 4 and 6 in turn; after a store of 4, the
port is half a turn ahead: what comes next is 2 cycles sooner if it uses no port and takes more
than 2, and a store takes 6. That a 2-cycle instruction keeps the port ahead is an assumption, as
no measurement has one after a store; so is that what comes 2 cycles after a result can use it.

The netlist (`hw.icicle`) is the five-stage core with one memory port, whose ID waits as these rules
say; why the published port takes its turns is not modelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from isa.core import NO_COMPRESSED
from isa.translate import Placed


class State(NamedTuple):
    """What the past still means for the next instruction.

    Attributes:
        cycles: From the last retirement to the next.
        ahead: The port is half a turn ahead.
    """

    cycles: int = 1
    ahead: bool = False


class Icicle:
    """The automaton. The cycles of an instruction come after it, before the next retires."""

    start = State()

    def __init__(self, latencies: Mapping[str, int] | None = None) -> None:
        """Fix the rules; the cycles of a unit beyond the first come before it retires."""
        self.latencies = dict(latencies or {})

    def step(self, state: State, placed: Placed, taken: bool) -> tuple[int, State]:
        """See `isa.timing.Automaton.step`.

        Raises:
            ValueError: The instruction is compressed; the published core has none.
        """
        if placed.size == 2:
            raise ValueError(NO_COMPRESSED)
        cycles, ahead = state
        kind = placed.instruction.kind
        if kind == "alu":
            cycles += self.latencies.get(placed.instruction.name, 1) - 1
        if kind == "store":
            return cycles, State(6 if ahead else 4, not ahead)
        if kind == "load":
            return cycles, State(6)
        own = 6 if taken else 4 if placed.rd else 2
        if ahead and own == 2:
            return cycles, State(2, ahead=True)
        return cycles, State(own - 2 if ahead else own)
