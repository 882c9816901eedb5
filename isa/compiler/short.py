"""Short: which registers let an operation be a compressed instruction.

Most compressed instructions name x8 to x15 only, and many write the register they read. A value is
worth such a register as often as it stands in an operation that asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from isa.compiler.operations import FIRST_VALUE, STACK, ZERO, Loop, Operation, Region
from isa.compressed import Compressed, Form, meant
from isa.instruction_set import InstructionSet

LOW = range(8, 16)
"""Registers that three bits name."""
LIFE = 4
"""Instructions for which a value may occupy one of them for each time that it needs it; 4 gives
the shortest code: 11 kernels take 0.3 % less than with 16 and 0.5 % less than without limit."""
_FIXED = {0: ZERO, 2: STACK}


@dataclass(frozen=True)
class Wish:
    """What makes one operation short.

    Attributes:
        low: Operands that must be in x8 to x15.
        tied: Source that must be in the register of the result; "" if there is none.
    """

    low: frozenset[str]
    tied: str


class Shortness:
    """The wishes of all operations of a kernel; without compressed instructions there are none."""

    def __init__(self, instructions: InstructionSet, root: Region) -> None:
        """Collect the wishes of the operations in `root`."""
        self._instructions = instructions
        self._mask = (1 << instructions.xlen) - 1
        self._forms: dict[str, list[tuple[Compressed, Form]]] = {}
        for c in instructions.compressed:
            for form in c.forms:
                self._forms.setdefault(form.name, []).append((c, form))
        self._weight: dict[int, int] = {}
        self._same: dict[int, int] = {}
        if self._forms:
            self._visit(root)

    def order(self, pool: Sequence[int], value: int, life: int) -> Sequence[int]:
        """Registers of a pool, those first that suit a value with `life` best."""
        if not self._forms:
            return pool
        wanted = self._weight.get(self._first(value), 0) * LIFE >= max(life, 1)
        return sorted(pool, key=lambda r: (r in LOW) != wanted)

    def ties(self, operation: Operation) -> list[tuple[str, bool]]:
        """Sources whose register the result should take if free, and whether it must be low."""
        return [(w.tied, bool(w.low)) for w in self.wishes(operation) if w.tied]

    def wishes(self, operation: Operation) -> Iterator[Wish]:
        """Each way in which an operation can be short."""
        assert operation.instruction is not None
        for c, form in self._forms.get(operation.instruction.name, ()):
            wish = self._wish(c, form, operation)
            if wish is not None:
                yield wish

    def _wish(self, c: Compressed, form: Form, operation: Operation) -> Wish | None:
        assert operation.instruction is not None
        encoding = operation.instruction.encoding
        given, values = dict(form.given), dict(operation.sources)
        field_of = {operand: r for r in c.registers for operand in r.operands}
        low, tied = set(), ""
        for operand in encoding.registers:
            source = given.get(operand, operand if operand in field_of else 0)
            if isinstance(source, int):
                if operand == "rd" or values.get(operand, ZERO) != _FIXED[source]:
                    return None
                continue
            if operand != "rd" and values.get(operand, ZERO) < FIRST_VALUE:
                return None
            field = field_of[source]
            if field.width == 3:
                low.add(operand)
            if operand != "rd" and "rd" in field.operands:
                tied = operand
        for immediate in encoding.immediates:
            value = self._immediate(operation, immediate.name)
            if value is None or (immediate.name in given and given[immediate.name] != value):
                return None
            if immediate.name in given or c.offset is None:
                continue
            if not c.offset.fits(meant(immediate, value)):
                return None
        return Wish(frozenset(low), tied)

    def _immediate(self, operation: Operation, name: str) -> int | None:
        """An immediate field of an operation, None if it is known after layout only."""
        solver = operation.solver
        if solver is None or solver.name != name:
            return operation.fixed.get(name, 0)
        if not isinstance(operation.immediate, int):
            return None
        return solver.solve(operation.immediate & self._mask)

    # Weights.

    def _visit(self, root: Region) -> None:
        regions = [root]
        while regions:
            for item in regions.pop().items:
                if isinstance(item, Loop):
                    regions.append(item.body)
                    for c in item.carried:  # one register, if all goes well
                        for value in (c.initial, c.result, c.output):
                            self._join(c.parameter, value)
                    if item.branch is not None:
                        self._count(item.branch)
                elif item.instruction is not None:
                    self._count(item)
        weights: dict[int, int] = {}
        for value, weight in self._weight.items():
            first = self._first(value)
            weights[first] = weights.get(first, 0) + weight
        self._weight = weights

    def _count(self, operation: Operation) -> None:
        wish = next(self.wishes(operation), None)
        for operand in sorted(wish.low) if wish is not None else ():
            value = operation.result if operand == "rd" else dict(operation.sources)[operand]
            if value is not None:
                self._weight[value] = self._weight.get(value, 0) + 1

    def _first(self, value: int) -> int:
        while value in self._same:
            value = self._same[value]
        return value

    def _join(self, a: int, b: int) -> None:
        a, b = self._first(a), self._first(b)
        if a != b and min(a, b) >= FIRST_VALUE:
            self._same[max(a, b)] = min(a, b)
