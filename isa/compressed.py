"""Compressed: a 16-bit encoding of an instruction that has one of 32 bits too.

A compressed instruction has no meaning of its own: it expands to the longer one, from which
simulator, compiler and hardware take what it does. Lines are those of riscv-opcodes; bit layouts
of immediates are those of the RISC-V Unprivileged ISA 20240411, section 27.8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from isa.encoding import Encoding, EncodingError, Immediate, fixed_bits

Fields = Mapping[str, int]

SCALES = {"imm12": 0, "imm20": 12, "bimm12": 1, "jimm20": 1}
"""Zeros that stand below each signed immediate of 32-bit instructions in the value it means."""


@dataclass(frozen=True)
class RegisterField:
    """A register of a compressed instruction.

    Attributes:
        operands: What it is in the expansion, "rd" and "rs1" where source and result are the same.
        low: Lowest bit.
        width: 5 bits for any register, 3 for x8 to x15.
        excluded: Registers that encode something else.
    """

    operands: tuple[str, ...]
    low: int
    width: int
    excluded: tuple[int, ...] = ()

    def read(self, halfword: int) -> int:
        """The register's number."""
        number = halfword >> self.low & ((1 << self.width) - 1)
        return number + 8 if self.width == 3 else number

    def fits(self, number: int) -> bool:
        """Whether the field can name a register."""
        if self.width == 3 and not 8 <= number < 16:
            return False
        return number not in self.excluded

    def write(self, number: int) -> int:
        """The bits that name a register."""
        return (number - 8 if self.width == 3 else number) << self.low


@dataclass(frozen=True)
class Offset:
    """The immediate of a compressed instruction; its value has all bits, implied zeros too.

    Attributes:
        bits: Where they stand.
        signed: The highest is the sign.
        nonzero: 0 encodes something else.
    """

    bits: Immediate
    signed: bool = False
    nonzero: bool = False

    def read(self, halfword: int) -> int:
        """The value."""
        value = self.bits.extract(halfword)
        return value - (value >> self.bits.width - 1 << self.bits.width) if self.signed else value

    def fits(self, value: int) -> bool:
        """Whether the field holds `value`."""
        return self.read(self.bits.insert(value)) == value and bool(value or not self.nonzero)


REGISTER_FIELDS = {
    "rd_p": RegisterField(("rd",), 2, 3),
    "rs1_p": RegisterField(("rs1",), 7, 3),
    "rs2_p": RegisterField(("rs2",), 2, 3),
    "rd_rs1_p": RegisterField(("rd", "rs1"), 7, 3),
    "rd_rs1_n0": RegisterField(("rd", "rs1"), 7, 5, (0,)),
    "rd_n0": RegisterField(("rd",), 7, 5, (0,)),
    "rd_n2": RegisterField(("rd",), 7, 5, (0, 2)),
    "rs1_n0": RegisterField(("rs1",), 7, 5, (0,)),
    "c_rs1_n0": RegisterField(("rs1",), 7, 5, (0,)),
    "c_rs2_n0": RegisterField(("rs2",), 2, 5, (0,)),
    "c_rs2": RegisterField(("rs2",), 2, 5),
}
"""Register arguments of riscv-opcodes (arg_lut.csv)."""


def _offset(name: str, *places: tuple[int, str]) -> Offset:
    """Read a layout: for each field its highest bit, and the value's bits there, high to low."""
    pieces = []
    for position, text in places:
        for part in text.split():
            high, _, low = part.partition(":")
            length = int(high) - int(low or high) + 1
            position -= length
            pieces.append((position + 1, int(low or high), length))
    width = max(low + length for _, low, length in pieces)
    nonzero = "nz" in name
    return Offset(Immediate(name, width, tuple(pieces)), "uimm" not in name, nonzero)


OFFSETS = {
    layout.bits.name: layout
    for layout in (
        _offset("c_nzuimm10", (12, "5:4 9:6 2 3")),
        _offset("c_uimm7", (12, "5:3"), (6, "2 6")),
        _offset("c_uimm8", (12, "5:3"), (6, "7:6")),
        _offset("c_imm6", (12, "5"), (6, "4:0")),
        _offset("c_nzimm6", (12, "5"), (6, "4:0")),
        _offset("c_nzimm10", (12, "9"), (6, "4 6 8:7 5")),
        _offset("c_nzimm18", (12, "17"), (6, "16:12")),
        _offset("c_imm12", (12, "11 4 9:8 10 6 7 3:1 5")),
        _offset("c_bimm9", (12, "8 4:3"), (6, "7:6 2:1 5")),
        _offset("c_nzuimm5", (6, "4:0")),
        _offset("c_nzuimm6", (12, "5"), (6, "4:0")),
        _offset("c_uimm8sp", (12, "5"), (6, "4:2 7:6")),
        _offset("c_uimm8sp_s", (12, "5:2 7:6")),
        _offset("c_uimm9sp", (12, "5"), (6, "4:3 8:6")),
        _offset("c_uimm9sp_s", (12, "5:3 8:6")),
    )
}
"""Immediate arguments of riscv-opcodes, without the `hi` and `lo` of their halves."""


def meant(immediate: Immediate, field: int) -> int:
    """The value that a field of a 32-bit instruction means; `field` may be signed or not."""
    value = field & ((1 << immediate.width) - 1)
    if immediate.name in SCALES:
        value -= value >> immediate.width - 1 << immediate.width
        value <<= SCALES[immediate.name]
    return value


_HALF = re.compile(r"(hi|lo)$")


@dataclass(frozen=True)
class Form:
    """A 32-bit instruction with some operands given.

    Attributes:
        name: Mnemonic.
        given: Operands that are a number, or another operand of the compressed instruction.
    """

    name: str
    given: tuple[tuple[str, int | str], ...]

    @classmethod
    def parse(cls, text: str) -> Form:
        """Read a form such as `addi rs1=rs2 imm12=0`."""
        name, *parts = text.split()
        pairs = [part.split("=") for part in parts]
        return cls(name, tuple((k, int(v) if v.isdecimal() else v) for k, v in pairs))


@dataclass(frozen=True)
class Compressed:
    """One compressed instruction.

    Attributes:
        name: Mnemonic.
        line: Encoding in riscv-opcodes syntax.
        match: Fixed bits of the halfword.
        mask: Which bits are fixed.
        registers: Its register fields.
        offset: Its immediate, None if it has none.
        forms: What it expands to, then other instructions that do the same. Registers that a form
            does not name are those of the same name, x0 where there is none.
        hints: Operands whose excluded values are legal, and change nothing.
        xlens: Register widths for which it exists.
        extension: Name of the extension that declares it.
        source: Document that defines it.
    """

    name: str
    line: str
    match: int
    mask: int
    registers: tuple[RegisterField, ...]
    offset: Offset | None
    forms: tuple[Form, ...]
    hints: tuple[str, ...]
    xlens: tuple[int, ...]
    extension: str
    source: str

    @classmethod
    def parse(
        cls,
        line: str,
        forms: tuple[str, ...],
        hints: tuple[str, ...],
        xlens: tuple[int, ...],
        extension: str,
        source: str,
    ) -> Compressed:
        """Read a line of riscv-opcodes.

        Raises:
            EncodingError: Unknown argument.
        """
        name, *parts = line.split()
        match = mask = 0
        registers: list[RegisterField] = []
        offset = None
        for part in parts:
            fixed = fixed_bits(name, part, 15)
            if fixed is not None:
                match, mask = match | fixed[0], mask | fixed[1]
            elif part in REGISTER_FIELDS:
                registers.append(REGISTER_FIELDS[part])
            elif _HALF.sub("", part) in OFFSETS:
                offset = OFFSETS[_HALF.sub("", part)]
            else:
                raise EncodingError(
                    f"{name}: argument must be one of {sorted(REGISTER_FIELDS)} or "
                    f"{sorted(OFFSETS)}, not {part!r}"
                )
        parsed = tuple(Form.parse(f) for f in forms)
        return cls(
            name, line, match, mask, tuple(registers), offset, parsed, hints, xlens, extension,
            source,
        )  # fmt: skip

    @property
    def expansion(self) -> str:
        """Mnemonic of the instruction that it stands for."""
        return self.forms[0].name

    def expand(self, halfword: int, encoding: Encoding) -> dict[str, int] | None:
        """Operand fields of what `halfword` stands for; None where it is reserved.

        Args:
            halfword: Matches the fixed bits.
            encoding: That of the `expansion`.
        """
        values: dict[str, int] = {}
        for register in self.registers:
            number = register.read(halfword)
            if number in register.excluded and register.operands[0] not in self.hints:
                return None
            values.update(dict.fromkeys(register.operands, number))
        value = 0
        if self.offset is not None:
            value = self.offset.read(halfword)
            if not value and self.offset.nonzero and "imm" not in self.hints:
                return None
        given = dict(self.forms[0].given)
        fields = {}
        for operand in encoding.registers:
            source = given.get(operand, operand)
            fields[operand] = source if isinstance(source, int) else values.get(source, 0)
        for immediate in encoding.immediates:
            stated = int(given.get(immediate.name, value))
            scaled = stated >> SCALES.get(immediate.name, 0)
            fields[immediate.name] = scaled & ((1 << immediate.width) - 1)
        return fields

    def compress(self, encoding: Encoding, fields: Fields) -> int | None:
        """The halfword that stands for an instruction; None if it does not fit."""
        for form in self.forms:
            if form.name == encoding.name:
                found = self._encode(form, encoding, fields)
                if found is not None:
                    return found
        return None

    def _encode(self, form: Form, encoding: Encoding, fields: Fields) -> int | None:
        given = dict(form.given)
        own = {operand for register in self.registers for operand in register.operands}
        values: dict[str, int] = {}
        for operand in encoding.registers:
            source = given.get(operand, operand if operand in own else 0)
            if isinstance(source, int):
                if fields[operand] != source:
                    return None
            elif values.setdefault(source, fields[operand]) != fields[operand]:
                return None
        halfword = self.match
        for register in self.registers:
            numbers = {values[operand] for operand in register.operands}
            number = numbers.pop()
            if numbers or not register.fits(number):
                return None
            halfword |= register.write(number)
        for immediate in encoding.immediates:
            value = meant(immediate, fields[immediate.name])
            if immediate.name in given or self.offset is None:
                if value != given.get(immediate.name, 0):
                    return None
            elif not self.offset.fits(value):
                return None
            else:
                halfword |= self.offset.bits.insert(value)
        return halfword
