"""Zbm of the withdrawn draft: 8 x 8 bit matrices (RV64).

The name is the one Spike uses for it. Byte r of a register is row r, its bit c column c.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import or_, xor

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xzbm",
    source="RISC-V Bitmanip Extension draft 0.94 (2021), chapter 2, Zbm; encodings as in "
    "riscv/riscv-opcodes@24677d7 opcodes-rv64b",
    xlens=(64,),
)
_instruction = EXTENSION.instruction


@_instruction("bmatflip rd rs1 31..20=0x603 14..12=1 6..2=0x04 1..0=3")
def bmatflip(rs1: Bits) -> Bits:
    """Transpose."""
    return concat(*(rs1.bit(8 * (i % 8) + i // 8) for i in reversed(range(64))))


def _product(a: Bits, b: Bits, add: Callable[[Bits, Bits], Bits]) -> Bits:
    """Row r of the result: the rows k of b for which a has a one in row r, column k, added up."""
    rows = [reduce(add, (a.bit(8 * r + k).sext(8) & b.byte(k) for k in range(8))) for r in range(8)]
    return concat(*reversed(rows))


@_instruction("bmator rd rs1 rs2 31..25=4 14..12=3 6..2=0x0C 1..0=3")
def bmator(rs1: Bits, rs2: Bits) -> Bits:
    """Matrix product with or for addition."""
    return _product(rs1, rs2, or_)


@_instruction("bmatxor rd rs1 rs2 31..25=36 14..12=3 6..2=0x0C 1..0=3")
def bmatxor(rs1: Bits, rs2: Bits) -> Bits:
    """Matrix product over GF(2)."""
    return _product(rs1, rs2, xor)
