"""Encodings: one riscv-opcodes line gives match, mask, registers and immediates.

Syntax of a line: mnemonic, argument names, then fixed fields `hi..lo=value` or `bit=value`, as in
https://github.com/riscv/riscv-opcodes. Split immediates are seen as one logical immediate: the
field value, most significant bit first, without the implied zero of branch and jump offsets.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

REGISTERS = {"rd": 7, "rs1": 15, "rs2": 20, "rs3": 27}
"""Lowest bit of each five-bit register field."""


class EncodingError(ValueError):
    """An encoding line is malformed, or a value does not fit its field."""


@dataclass(frozen=True)
class Immediate:
    """A logical immediate.

    Attributes:
        name: Parameter name in an instruction's meaning.
        width: Width in bits.
        pieces: (lowest bit in the word, lowest bit in the immediate, length) each.
        limit: Values from here on are reserved; a word that holds one is illegal.
    """

    name: str
    width: int
    pieces: tuple[tuple[int, int, int], ...]
    limit: int | None = None

    @property
    def values(self) -> range:
        """The unsigned field values that are not reserved."""
        return range(1 << self.width if self.limit is None else self.limit)

    def insert(self, value: int) -> int:
        """Place `value` (taken modulo 2^width) into the bits of an instruction word."""
        word = 0
        for word_low, low, length in self.pieces:
            word |= (value >> low & ((1 << length) - 1)) << word_low
        return word

    def extract(self, word: int) -> int:
        """Read the immediate, 0 to 2^width - 1, from an instruction word."""
        value = 0
        for word_low, low, length in self.pieces:
            value |= (word >> word_low & ((1 << length) - 1)) << low
        return value


def _plain(name: str, high: int, low: int) -> Immediate:
    return Immediate(name, high - low + 1, ((low, 0, high - low + 1),))


_BRANCH = Immediate("bimm12", 12, ((31, 11, 1), (7, 10, 1), (25, 4, 6), (8, 0, 4)))
_STORE = Immediate("imm12", 12, ((25, 5, 7), (7, 0, 5)))

IMMEDIATES: dict[str, Immediate] = {
    "imm12": _plain("imm12", 31, 20),
    "imm12hi": _STORE,
    "imm12lo": _STORE,
    "bimm12hi": _BRANCH,
    "bimm12lo": _BRANCH,
    "jimm20": Immediate("jimm20", 20, ((31, 19, 1), (12, 11, 8), (20, 10, 1), (21, 0, 10))),
    "imm20": _plain("imm20", 31, 12),
    "shamtw": _plain("shamtw", 24, 20),
    "shamtd": _plain("shamtd", 25, 20),
    "bs": _plain("bs", 31, 30),
    "rnum": replace(_plain("rnum", 23, 20), limit=11),
    "csr": _plain("csr", 31, 20),
    "zimm5": _plain("zimm5", 19, 15),
    "fm": _plain("fm", 31, 28),
    "pred": _plain("pred", 27, 24),
    "succ": _plain("succ", 23, 20),
}
"""Argument names of riscv-opcodes (arg_lut.csv) to the logical immediate they belong to."""

_FIXED = re.compile(r"(\d+)(?:\.\.(\d+))?=(0x[0-9a-fA-F]+|0b[01]+|\d+)")


def fixed_bits(name: str, part: str, highest: int = 31) -> tuple[int, int] | None:
    """Match and mask of a fixed field of the line of `name`; None for an argument.

    Raises:
        EncodingError: The value does not fit the field, or the field not the word.
    """
    fixed = _FIXED.fullmatch(part)
    if fixed is None:
        return None
    high = int(fixed[1])
    low = int(fixed[2]) if fixed[2] else high
    value = int(fixed[3], 0) << low
    bits = ((1 << (high - low + 1)) - 1) << low
    if high > highest or high < low or value & ~bits:
        raise EncodingError(f"{name}: value must fit its field, not {part}")
    return value, bits


@dataclass(frozen=True)
class Encoding:
    """A parsed line.

    Attributes:
        name: Mnemonic.
        match: Fixed bits.
        mask: Which bits are fixed.
        registers: Register operands in the order written.
        immediates: Logical immediates in the order written.
    """

    name: str
    match: int
    mask: int
    registers: tuple[str, ...]
    immediates: tuple[Immediate, ...]

    @classmethod
    def parse(cls, line: str, fields: Mapping[str, tuple[int, int]] | None = None) -> Encoding:
        """Read one line; `fields` gives (high, low) of immediates that riscv-opcodes lacks.

        Raises:
            EncodingError: Unknown argument, overlapping fields, or a value too wide.
        """
        name, *parts = line.split()
        match = mask = 0
        registers: list[str] = []
        immediates: dict[Immediate, None] = {}
        for part in parts:
            fixed = fixed_bits(name, part)
            if fixed is not None:
                value, bits = fixed
            elif part in REGISTERS:
                registers.append(part)
                bits, value = 31 << REGISTERS[part], 0
            elif fields and part in fields:
                immediate = _plain(part, *fields[part])
                immediates[immediate] = None
                bits, value = immediate.insert(-1), 0
            elif part in IMMEDIATES:
                immediate = IMMEDIATES[part]
                if immediate in immediates:  # the other half of a split immediate
                    continue
                immediates[immediate] = None
                bits, value = immediate.insert(-1), 0
            else:
                raise EncodingError(
                    f"{name}: argument must be a register or one of "
                    f"{sorted(IMMEDIATES)}, not {part!r}"
                )
            taken = mask | _occupied(registers[:-1] if part in REGISTERS else registers)
            if fixed and bits & taken:
                raise EncodingError(f"{name}: field {part} overlaps another")
            if fixed:
                mask |= bits
                match |= value
        for immediate in immediates:
            if immediate.insert(-1) & (mask | _occupied(registers)):
                raise EncodingError(f"{name}: immediate {immediate.name} overlaps another field")
        return cls(name, match, mask, tuple(registers), tuple(immediates))

    def encode(self, **values: int) -> int:
        """Assemble a word; registers 0 to 31, immediates as signed or unsigned field values.

        Raises:
            EncodingError: A value is missing, unknown or out of range.
        """
        expected = (*self.registers, *(i.name for i in self.immediates))
        if set(values) != set(expected):
            raise EncodingError(
                f"{self.name}: operands must be {list(expected)}, not {sorted(values)}"
            )
        word = self.match
        for register in self.registers:
            if not 0 <= values[register] < 32:
                raise EncodingError(
                    f"{self.name}: {register} must be 0 to 31, not {values[register]}"
                )
            word |= values[register] << REGISTERS[register]
        for immediate in self.immediates:
            value = values[immediate.name]
            if not -(1 << (immediate.width - 1)) <= value < 1 << immediate.width:
                raise EncodingError(
                    f"{self.name}: {immediate.name} must fit {immediate.width} bits, not {value}"
                )
            if immediate.limit is not None and value not in immediate.values:
                raise EncodingError(
                    f"{self.name}: {immediate.name} must be 0 to {immediate.limit - 1}, not {value}"
                )
            word |= immediate.insert(value)
        return word

    def admits(self, word: int) -> bool:
        """Whether `word`, whose fixed bits match, holds no reserved value."""
        return all(i.limit is None or i.extract(word) in i.values for i in self.immediates)

    def decode(self, word: int) -> dict[str, int]:
        """Operand fields of `word`; immediates as unsigned field values."""
        values = {r: word >> REGISTERS[r] & 31 for r in self.registers}
        values.update((i.name, i.extract(word)) for i in self.immediates)
        return values


def _occupied(registers: list[str]) -> int:
    return sum(31 << REGISTERS[r] for r in registers)
