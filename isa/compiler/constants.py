"""Constants: how a value known at compile time gets into a register, one step or more.

Two steps make any value of 32 bits. Wider ones are made from the top: a shorter constant is shifted
up and the next bits are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa.canonical import labels
from isa.compiler.patterns import Pattern
from isa.compiler.repertoire import Repertoire


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction; it reads the step before in register operand `source`, or none."""

    pattern: Pattern
    source: str | None
    field: int | None


class Constants:
    """Finds the steps of constants for one instruction set."""

    def __init__(self, repertoire: Repertoire, latencies: Mapping[str, int]) -> None:
        self._repertoire = repertoire
        self._latencies = latencies
        self._mask = (1 << repertoire.xlen) - 1
        self._known: dict[int, tuple[Step, ...] | None] = {}

    def steps(self, value: int) -> tuple[Step, ...] | None:
        """The fewest steps to `value`; None where the instruction set has none."""
        value &= self._mask
        if value not in self._known:
            self._known[value] = self._one(value) or self._two(value) or self._more(value)
        return self._known[value]

    def cycles(self, value: int) -> float:
        """Cycles the steps take; infinite where there are none."""
        steps = self.steps(value)
        if steps is None:
            return float("inf")
        return sum(self._latencies.get(s.pattern.instruction.name, 1) for s in steps)

    def _one(self, value: int) -> tuple[Step, ...] | None:
        for pattern in self._repertoire.constants:
            assert pattern.immediate is not None
            found = pattern.immediate.solve(value)
            if found is not None:
                return (Step(pattern, None, found),)
        return None

    def _two(self, value: int) -> tuple[Step, ...] | None:
        """Another constant of one step, and an immediate added: the longest that is encodable."""
        for accumulate in self._repertoire.accumulate_immediate["add"]:
            pattern = accumulate.pattern
            assert pattern.immediate is not None
            for length in range(self._repertoire.xlen - 1, 0, -1):
                low = value & (1 << length) - 1
                low -= (low >> length - 1) << length
                found = pattern.immediate.solve(low & self._mask)
                if found is not None:
                    base = self._one(value - low & self._mask)
                    if base is not None:
                        return (*base, Step(pattern, accumulate.acc, found))
                    break
        return None

    def _more(self, value: int) -> tuple[Step, ...] | None:
        """A shorter constant shifted up, and the low bits added."""
        width = self._repertoire.xlen
        for accumulate in self._repertoire.accumulate_immediate["add"]:
            pattern = accumulate.pattern
            assert pattern.immediate is not None
            for length in range(width - 1, 0, -1):
                low = value & (1 << length) - 1
                low -= (low >> length - 1) << length
                found = pattern.immediate.solve(low & self._mask)
                if found is not None:
                    break
            else:
                continue
            rest = value - low & self._mask
            count = (rest & -rest).bit_length() - 1
            if count < 1:
                continue
            shorter = rest - (rest >> width - 1 << width) >> count
            algebra = labels(width)
            shifts = self._repertoire.unary.get(
                algebra.move(algebra.identity, 0, width - count, count)
            )
            inner = self.steps(shorter)
            if inner is None or not shifts:
                continue
            steps = (*inner, Step(shifts[0], shifts[0].holes[0], None))
            return (*steps, Step(pattern, accumulate.acc, found)) if low else steps
        return None
