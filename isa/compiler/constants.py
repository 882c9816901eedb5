"""Constants: how a value known at compile time gets into a register, in one step or two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from isa.compiler.repertoire import Pattern, Repertoire


@dataclass(frozen=True, slots=True)
class Step:
    """One instruction; it reads the step before in register operand `source`, or none."""

    pattern: Pattern
    source: str | None
    field: int


class Constants:
    """Finds the steps of constants for one instruction set."""

    def __init__(self, repertoire: Repertoire, latencies: Mapping[str, int]) -> None:
        self._repertoire = repertoire
        self._latencies = latencies
        self._mask = (1 << repertoire.xlen) - 1
        self._known: dict[int, tuple[Step, ...] | None] = {}

    def steps(self, value: int) -> tuple[Step, ...] | None:
        """The cheapest steps to `value`; None where neither one nor two suffice."""
        value &= self._mask
        if value not in self._known:
            self._known[value] = self._one(value) or self._two(value)
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
