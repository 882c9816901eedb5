"""Phase: the cycle within a group of rounds."""

from __future__ import annotations

import pyrtl

from hw.coprocessors.engines.wiring import Wire, incremented

__all__ = ["phase_end"]


def phase_end(running: Wire, cycles: int) -> Wire:
    """Return whether a group ends in this cycle, while groups follow each other in `running`."""
    if cycles == 1:
        return pyrtl.Const(1, 1)
    phase = pyrtl.Register((cycles - 1).bit_length())
    end = phase == cycles - 1
    zero = pyrtl.Const(0, len(phase))
    phase.next <<= pyrtl.select(running & ~end, incremented(phase), zero)
    return end
