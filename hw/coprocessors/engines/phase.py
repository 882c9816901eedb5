"""Phase: counters of an engine, such as that of the cycle within a group of rounds."""

from __future__ import annotations

import pyrtl

from hw.coprocessors.engines.wiring import Wire, incremented

__all__ = ["counted", "phase_end"]


def counted(number: pyrtl.Register, counts: Wire) -> Wire:
    """Count in a register while `counts` is 1, else begin at 0; returns the next number."""
    following = pyrtl.select(counts, incremented(number), pyrtl.Const(0, len(number)))
    number.next <<= following
    return following


def phase_end(running: Wire, cycles: int) -> Wire:
    """Return whether a group ends in this cycle, while groups follow each other in `running`."""
    if cycles == 1:
        return pyrtl.Const(1, 1)
    phase = pyrtl.Register((cycles - 1).bit_length())
    end = phase == cycles - 1
    counted(phase, running & ~end)
    return end
