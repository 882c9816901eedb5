"""Icicle: the timing of NLU-V's host core, as measured on the published RTL.

Icicle (five stages, no bypassing, no branch prediction) shares one memory port, whose `ready`
toggles, between instructions and data, so its cycle counts follow the port and not the hazards.
The rules meet 46 micro-benchmarks of the RTL published with Uzuner and Kavun 2024
(github.com/UzunerH/MasterThesisCode, 2cc3fdf; parameters as instantiated there), which stand in
tests/isa/test_icicle.py: an instruction that writes a register takes 4 cycles, one that writes
none 2, a load 6, a taken branch or jump 6. Stores take 4 and 6 in turn; after a store of 4, the
port is half a turn ahead: what comes next is 2 cycles sooner if it uses no port and takes more
than 2, and a store takes 6. That a 2-cycle instruction keeps the port ahead is an assumption, as
no measurement has one after a store.
"""

from __future__ import annotations

from collections.abc import Mapping

from isa.core import NO_COMPRESSED
from isa.translate import Placed


class Icicle:
    """The automaton; its state says whether the port is ahead."""

    start = False

    def __init__(self, latencies: Mapping[str, int] | None = None) -> None:
        """Fix the rules; a unit's cycles beyond the first are added to its 4 or 2."""
        self.latencies = dict(latencies or {})

    def step(self, ahead: bool, placed: Placed, taken: bool) -> tuple[int, bool]:
        """See `isa.timing.Automaton.step`.

        Raises:
            ValueError: The instruction is compressed; the published core has none.
        """
        if placed.size == 2:
            raise ValueError(NO_COMPRESSED)
        kind = placed.instruction.kind
        if kind == "store":
            return (6, False) if ahead else (4, True)
        if kind == "load":
            return 6, False
        cycles = 6 if taken else 4 if placed.rd else 2
        if kind == "alu":
            cycles += self.latencies.get(placed.instruction.name, 1) - 1
        if ahead and cycles == 2:
            return 2, True
        return (cycles - 2 if ahead else cycles), False
