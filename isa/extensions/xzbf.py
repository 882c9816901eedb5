"""Zbf of the withdrawn draft: placing of a bit field.

The name is the one Spike used for it.
"""

from __future__ import annotations

from isa.bits import Bits, concat, const, mux
from isa.extensions.rv64i import on_words
from isa.instruction import Extension

EXTENSION = Extension(
    "xzbf",
    source="RISC-V Bitmanip Extension draft 0.94 (2021), chapter 2, Zbf; encodings as in "
    "riscv/riscv-opcodes@24677d7 opcodes-rv32b and opcodes-rv64b",
)


@EXTENSION.instruction("bfp rd rs1 rs2 31..25=36 14..12=7 6..2=0x0C 1..0=3")
def bfp(rs1: Bits, rs2: Bits) -> Bits:
    """Place the low bits of rs2 into rs1.

    The upper half of rs2 says where: length in the log2(xlen) - 1 bits from bit 8, 0 meaning
    xlen / 2, place below. With 64-bit registers that control word may stand 16 bits higher,
    marked by 2 in its top two bits.
    """
    width = rs1.width
    levels = width.bit_length() - 1
    control = rs2.slice(width // 2, width // 2)
    if width == 64:
        high = control.slice(16, 16).zext(32)
        control = mux(control.slice(30, 2).eq(2), high, control)
    length = control.slice(8, levels - 1)
    ones = ~const(-1, width).shl_var(concat(length.eq(0), length))
    place = control.slice(0, levels)
    mask = ones.shl_var(place)
    return rs2.shl_var(place) & mask | rs1 & ~mask


@EXTENSION.instruction("bfpw rd rs1 rs2 31..25=36 14..12=7 6..2=0x0E 1..0=3", xlens=(64,))
def bfpw(rs1: Bits, rs2: Bits) -> Bits:
    """Place the low bits of a word into a word, sign-extended."""
    return on_words(bfp, rs1, rs2)
