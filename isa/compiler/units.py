"""Units: stateful instructions that a kernel may ask for, found by what they do.

A matrix unit multiplies a word with a 32 x 32 matrix over GF(2) held in a bank of state, a mask
unit substitutes nibbles by an algebraic normal form held in state; both are filled by pushing bits
of an immediate or of a register. Instructions are identified by evaluating their meanings on random
state.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from isa.bits import Bits, evaluate
from isa.instruction import Instruction
from isa.instruction_set import InstructionSet

IMMEDIATE_BITS, REGISTER_BITS = 16, 32
"""Bits that one push brings in, from an immediate or from rs1."""


@dataclass(frozen=True)
class StateUse:
    """An instruction on a state element.

    Attributes:
        instruction: The instruction.
        fixed: Its immediates; of a push without the data.
        data: Immediate whose low bits are the data of a push; empty where they come from rs1.
    """

    instruction: Instruction
    fixed: Mapping[str, int]
    data: str = ""


@dataclass(frozen=True)
class Unit:
    """One kind of state, in one or several banks.

    Attributes:
        banks: Names of the state elements.
        width: Bits of one.
        pushes: How to shift bits into each bank, the most significant first.
        chunk: How many a push brings in.
        uses: How to apply each bank to rs1.
        accumulates: The same, with the result of the use before it added.
        history: State elements that remember results.
    """

    banks: tuple[str, ...]
    width: int
    pushes: tuple[StateUse, ...]
    chunk: int
    uses: tuple[StateUse, ...]
    accumulates: tuple[StateUse, ...]
    history: tuple[str, ...]

    def chunks(self, value: int, bits: int) -> list[int]:
        """What to push so that the low `bits` of a bank are those of `value`."""
        places = range(bits - self.chunk, -1, -self.chunk)
        return [value >> p & (1 << self.chunk) - 1 for p in places]


def product(matrix: int, x: int) -> int:
    """Bit i is the parity of x and row i, row 31 on top of the matrix."""
    return sum(((matrix >> 32 * i & x).bit_count() & 1) << i for i in range(32))


def substitution(mask: int, x: int) -> int:
    """Eight nibbles through four algebraic normal forms, see `isa.kernel.Builder.anf`."""
    result = 0
    for n, j in itertools.product(range(8), range(4)):
        nibble = x >> 4 * n & 15
        terms = (mask >> 16 * j + 15 - k & 1 for k in range(16) if k & nibble == k)
        result |= (sum(terms) & 1) << 4 * n + j
    return result


def find_matrix_unit(instructions: InstructionSet) -> Unit | None:
    """The unit that multiplies with matrices; None where the set has none."""
    return _Finder(instructions, 1024, product).unit()


def find_mask_unit(instructions: InstructionSet) -> Unit | None:
    """The unit that substitutes nibbles; None where the set has none."""
    return _Finder(instructions, 64, substitution).unit()


class _Finder:
    """Looks for a unit whose state has a given width and function."""

    def __init__(self, instructions: InstructionSet, width: int, function) -> None:  # type: ignore[no-untyped-def]
        generator = random.Random(width)
        self.instructions = instructions
        self.width = width
        self.function = function
        self.state = {n: generator.getrandbits(w) for n, w in instructions.state}
        self.x = generator.getrandbits(32)
        self.data = generator.getrandbits(REGISTER_BITS)
        self.banks = tuple(sorted(n for n, w in instructions.state if w == width))

    def unit(self) -> Unit | None:
        if not self.banks or self.instructions.xlen != 32:
            return None
        chunk = IMMEDIATE_BITS
        pushes = [self._push(b) for b in self.banks]
        if not all(pushes):
            chunk = REGISTER_BITS
            pushes = [self._push_of_register(b) for b in self.banks]
        uses = [self._use(b, accumulate=False) for b in self.banks]
        sums = [self._use(b, accumulate=True) for b in self.banks]
        if not all(pushes) or not all(uses):
            return None
        first = uses[0]
        assert first is not None
        history = tuple(n for n, _ in first.instruction.effects(32).state)
        return Unit(
            self.banks,
            self.width,
            tuple(p for p in pushes if p),
            chunk,
            tuple(u for u in uses if u),
            tuple(s for s in sums if s),
            history,
        )

    def _value(self, root: Bits, immediates: Mapping[str, int]) -> int:
        return evaluate(root, {**self.state, **immediates, "rs1": self.x})

    def _use(self, bank: str, *, accumulate: bool) -> StateUse | None:
        wanted = self.function(self.state[bank], self.x)
        for instruction in self.instructions.instructions:
            rd = instruction.effects(32).rd
            if rd is None or bank not in instruction.reads_state or instruction.sources != ("rs1",):
                continue
            ranges = [range(1 << i.width) for i in instruction.encoding.immediates]
            for values in itertools.product(*ranges):
                fixed = dict(zip(instruction.immediates, values, strict=True))
                found = self._value(rd, fixed)
                if accumulate:
                    latest = self._latest(instruction, fixed, found)
                    if any(found ^ wanted == self.state[n] for n in latest):
                        return StateUse(instruction, fixed)
                elif found == wanted:
                    return StateUse(instruction, fixed)
        return None

    def _latest(self, instruction: Instruction, fixed: Mapping[str, int], result: int) -> list[str]:
        """State elements that receive the result: what the next use may add."""
        return [n for n, v in instruction.effects(32).state if self._value(v, fixed) == result]

    def _push(self, bank: str) -> StateUse | None:
        """A push of the low bits of an immediate."""
        for instruction in self._pushing(bank):
            if instruction.sources:
                continue
            for data, fixed in self._push_fields(instruction):
                chunk = self.data & (1 << IMMEDIATE_BITS) - 1
                values = {**fixed, data: fixed[data] | chunk}
                if self._is_pushed(instruction, bank, values, chunk, IMMEDIATE_BITS):
                    return StateUse(instruction, fixed, data)
        return None

    def _push_of_register(self, bank: str) -> StateUse | None:
        for instruction in self._pushing(bank):
            if instruction.sources != ("rs1",):
                continue
            ranges = [range(1 << i.width) for i in instruction.encoding.immediates]
            for chosen in itertools.product(*ranges):
                fixed = dict(zip(instruction.immediates, chosen, strict=True))
                values = {**fixed, "rs1": self.data}
                if self._is_pushed(instruction, bank, values, self.data, REGISTER_BITS):
                    return StateUse(instruction, fixed)
        return None

    def _pushing(self, bank: str) -> Iterator[Instruction]:
        """Instructions that write the bank and no register."""
        for instruction in self.instructions.instructions:
            effects = instruction.effects(32)
            if effects.rd is None and bank in dict(effects.state):
                yield instruction

    def _is_pushed(
        self, instruction: Instruction, bank: str, values: Mapping[str, int], data: int, bits: int
    ) -> bool:
        """Whether it pushes the data into the bank and leaves all other state."""
        wanted = {**self.state, bank: (self.state[bank] << bits | data) & (1 << self.width) - 1}
        state = instruction.effects(32).state
        return all(evaluate(v, {**self.state, **values}) == wanted[n] for n, v in state)

    def _push_fields(self, instruction: Instruction) -> Iterator[tuple[str, dict[str, int]]]:
        """Ways to set the immediates around the data."""
        for data in instruction.encoding.immediates:
            if data.width < IMMEDIATE_BITS:
                continue
            others = [i for i in instruction.encoding.immediates if i is not data]
            for high in range(1 << data.width - IMMEDIATE_BITS):
                for values in itertools.product(*(range(1 << i.width) for i in others)):
                    fixed = {i.name: v for i, v in zip(others, values, strict=True)}
                    yield data.name, {**fixed, data.name: high << IMMEDIATE_BITS}
