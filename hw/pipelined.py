"""Pipelined: units of a core that take an instruction each cycle and answer stages later.

EX is the first stage of each. Their instructions leave EX after a cycle like any other and pass the
following stages while they move on behind EX, where nothing waits; so nothing in a unit ever does,
and what was fetched on a wrong path leaves nothing behind: `Moving` notes only what commits. Their
timing is that of `isa.pipelined`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeAlias

import pyrtl

from hw.bypass import Underway
from hw.decoder import Decoder, any_wire
from hw.extension import build_datapath, matches
from hw.retired import Retired
from hw.stages import Staged, staged
from isa.core import PIPELINED, Core
from isa.instruction import Instruction
from isa.pipelined import delay_of

__all__ = ["Late", "Moving", "PipelinedUnit", "pipelined_units"]

Wire: TypeAlias = pyrtl.WireVector

OPERANDS_FO4 = {2: 11.0, 3: 14.0, 5: 0.0}
"""Path in EX before operands are there, by the length of the pipeline: with five stages they come
from registers, else from the register file. Of the default cores, mapped; see docs/models.md."""
BYPASS_FO4 = 6.0
"""Path from a result to the operand register or to the register file."""
CORE_FO4 = {2: 42.0, 3: 41.0, 5: 28.0}
"""Longest path of those cores without the unit."""


@dataclass(frozen=True)
class PipelinedUnit:
    """One unit.

    Attributes:
        name: The parameter of the core that asks for it.
        instructions: What it executes.
        stages: Cycles from operands to result, that of EX included.
        delay: Cycles by which its instructions retire after others that leave EX with them.
        pipeline: Stages of the core.
    """

    name: str
    instructions: tuple[Instruction, ...]
    stages: int
    delay: int
    pipeline: int

    def build(self, word: Wire, rs1: Wire, rs2: Wire) -> Wire:
        """Build it in the working block.

        Args:
            word: The instruction in EX, 32 bits.
            rs1: Its operands, xlen bits.
            rs2: The second.

        Returns:
            The result of what was in EX `stages` - 1 cycles before.
        """
        inputs = {"rs1": rs1, "rs2": rs2}
        selected = matches(word, self.instructions)
        inputs.update((f"op_{name}", wire) for name, wire in selected.items())
        return self.datapath(len(rs1)).build(self.name, inputs)["result"]

    def datapath(self, xlen: int) -> Staged:
        """Its gates in stages."""
        return _datapath(self.instructions, xlen, self.stages, self.pipeline)


@cache
def _datapath(
    instructions: tuple[Instruction, ...], xlen: int, stages: int, pipeline: int
) -> Staged:
    block = build_datapath(instructions, xlen, {})
    return staged(block, stages, OPERANDS_FO4[pipeline], BYPASS_FO4, CORE_FO4[pipeline])


def pipelined_units(core: Core, decoder: Decoder) -> tuple[PipelinedUnit, ...]:
    """Those of a core that an instruction of its decoder goes to."""
    return tuple(
        PipelinedUnit(name, tuple(instructions), stages, delay_of(core, stages), core.pipeline)
        for name, instructions in decoder.pipelined.items()
        for stages in [PIPELINED[getattr(core, name)]]
    )


class Moving:
    """The instructions of pipelined units, from EX on, and the results they come to."""

    def __init__(self, units: Sequence[PipelinedUnit], chosen: Sequence[Wire], xlen: int) -> None:
        """Build the marks that move with the instructions.

        Args:
            units: The units.
            chosen: For each 1 bit, the instruction in EX is of it.
            xlen: Width of their results.
        """
        self.units = units
        self._enters = Wire(1) if units else None
        self._results = [Wire(xlen, f"{unit.name}_result") for unit in units]
        self._marks: list[list[Wire]] = []
        for unit, mine in zip(units, chosen, strict=True):
            assert self._enters is not None
            marks: list[Wire] = [mine & self._enters]
            for i in range(1, unit.stages):
                marks.append(pyrtl.Register(1, f"{unit.name}_in_{i}"))
                marks[i].next <<= marks[i - 1]
            self._marks.append(marks)

    def enter(self, valid: Wire) -> None:
        """Say whether what is in EX is on the right path and has its operands, 1 bit.

        What is of a pipelined unit then leaves EX at the end of the cycle.
        """
        if self._enters is not None:
            self._enters <<= valid

    def execute(self, word: Wire, rs1: Wire, rs2: Wire) -> None:
        """Build the units on the instruction in EX and its operands."""
        for unit, result in zip(self.units, self._results, strict=True):
            result <<= unit.build(word, rs1, rs2)

    def waits(self, chosen: Sequence[Wire], ahead: int) -> Wire | None:
        """Whether what is about to enter EX would retire no later than one before it.

        Args:
            chosen: For each unit 1 bit, it is of that unit.
            ahead: Cycles until it may enter EX: 0 or 1.
        """
        found = []
        for unit, marks in zip(self.units, self._marks, strict=True):
            for i in range(1 - ahead, unit.delay - ahead + 1):
                left = unit.delay - i - ahead
                as_late = [c for u, c in zip(self.units, chosen, strict=True) if u.delay > left]
                found.append(marks[i] & ~any_wire(as_late))
        return any_wire(found) if found else None

    def unready(self, behind: int, *, late: bool = False) -> Wire | None:
        """Whether what is `behind` stages behind EX has no result yet; None if all have.

        With `late`, one that comes only at the end of the cycle is none either.
        """
        return self._any(behind, [behind < unit.stages - 1 + late for unit in self.units])

    def delayed(self, behind: int) -> Wire | None:
        """Whether what is there retires later than others and not yet; None if nothing does."""
        return self._any(behind, [bool(u.delay) and behind < u.stages - 1 for u in self.units])

    def ready(self, behind: int) -> Wire | None:
        """Whether the result of what is there comes in this cycle; None if none ever does."""
        return self._any(behind, [behind == unit.stages - 1 for unit in self.units])

    def result(self, behind: int, otherwise: Wire) -> Wire:
        """The result of what is there, if it comes in this cycle."""
        for unit, marks, value in zip(self.units, self._marks, self._results, strict=True):
            if behind == unit.stages - 1:
                otherwise = pyrtl.select(marks[behind], value, otherwise)
        return otherwise

    def _any(self, behind: int, which: Sequence[bool]) -> Wire | None:
        found = [marks[behind] for marks, w in zip(self._marks, which, strict=True) if w]
        return any_wire(found) if found else None


class Late:
    """Stages behind the last, for instructions of units that are longer than the pipeline."""

    def __init__(self, moving: Moving, last: int) -> None:
        """Build the registers of the stages.

        Args:
            moving: The instructions.
            last: Stages behind EX of the pipeline itself.
        """
        self._moving, self._last = moving, last
        longest = max((unit.delay for unit in moving.units), default=0)
        self._places = range(last + 1, last + longest + 1)
        self._writes = [pyrtl.Register(1, f"late_{i}_writes") for i in self._places]
        self._rd = [pyrtl.Register(5, f"late_{i}_rd") for i in self._places]

    def underway(self, xlen: int, *, late: bool = False) -> list[Underway]:
        """Their results, the latest instruction first; with `late` there only when written."""
        found = []
        for i, writes, rd in zip(self._places, self._writes, self._rd, strict=True):
            if late:
                found.append(Underway(writes, rd, None, pyrtl.Const(1, 1)))
            else:
                value = self._moving.result(i, pyrtl.Const(0, xlen))
                found.append(Underway(writes, rd, value, self._moving.unready(i)))
        return found

    def retired(self, last: Retired) -> Retired:
        """What retires, from what is in the last stage of the pipeline itself."""
        moving, behind, found = self._moving, last, last
        delayed = moving.delayed(self._last)
        if delayed is not None:
            found = replace(last, valid=last.valid & ~delayed, writes=last.writes & ~delayed)
        for i, writes, rd in zip(self._places, self._writes, self._rd, strict=True):
            pc = pyrtl.Register(len(last.pc), f"late_{i}_pc")
            pc.next <<= behind.pc
            rd.next <<= behind.rd
            still, ready = moving.delayed(i - 1), moving.ready(i)
            assert still is not None
            writes.next <<= behind.writes & still
            behind = replace(behind, pc=pc, rd=rd, writes=writes)
            if ready is not None:
                found = Retired(
                    found.valid | ready,
                    pyrtl.select(ready, pc, found.pc),
                    pyrtl.select(ready, writes, found.writes),
                    pyrtl.select(ready, rd, found.rd),
                    moving.result(i, found.value),
                )
        return found
