"""Pipelined: the units of a core that take a new instruction each cycle and answer some later.

A core has them where its parameters name stages (`isa.core.PIPELINED`). An instruction of a unit
of S stages is in EX for one cycle, in which it takes its operands and passes the first stage; the
others it passes as it moves on, and what follows does not wait unless

- it reads the result, which comes out at the end of the S-th cycle; or
- it would retire before: all retire in order, one a cycle. A core with n stages behind EX has n of
  the S cycles there anyway, so only S > n + 1 makes others wait, for S - n - 1 cycles, and never
  one of the same unit.
"""

from __future__ import annotations

from isa.core import PIPELINED, Core
from isa.instruction import Instruction
from isa.iterative import operation

__all__ = ["delay_of", "longest_delay", "pipelines", "stages_of", "unit_of"]

_BEHIND_EX = {2: 0, 3: 1, 5: 2}
"""Stages behind EX by the length of the pipeline."""


def pipelines(core: Core) -> bool:
    """Whether a core has pipelined units."""
    return core.multiplier in PIPELINED or core.carryless in PIPELINED


def unit_of(core: Core, instruction: Instruction) -> str | None:
    """The pipelined unit of a core that executes an instruction, if one does."""
    if not pipelines(core):
        return None
    found = operation(instruction, core.xlen)
    return found[0] if found and getattr(core, found[0]) in PIPELINED else None


def stages_of(core: Core, instruction: Instruction) -> int:
    """Stages of the pipelined unit that executes an instruction; 1 if none does."""
    unit = unit_of(core, instruction)
    return 1 if unit is None else PIPELINED[getattr(core, unit)]


def delay_of(core: Core, stages: int) -> int:
    """Cycles by which what has passed so many stages retires after what has not."""
    return max(0, stages - 1 - _BEHIND_EX[core.pipeline])


def longest_delay(core: Core) -> int:
    """The longest of the units of a core."""
    asked = (PIPELINED[u] for u in (core.multiplier, core.carryless) if isinstance(u, str))
    return max((delay_of(core, stages) for stages in asked), default=0)
