"""Zbt of the withdrawn draft: instructions with three sources.

The name is the one Spike uses for it.
"""

from __future__ import annotations

from isa.bits import Bits, concat, mux
from isa.instruction import Extension

EXTENSION = Extension(
    "xzbt",
    source="RISC-V Bitmanip Extension draft 0.94 (2021), chapter 2, Zbt; encodings as in "
    "riscv/riscv-opcodes@24677d7 opcodes-rv32b and opcodes-rv64b",
)
_instruction = EXTENSION.instruction


@_instruction("cmix rd rs1 rs2 rs3 26..25=3 14..12=1 6..2=0x0C 1..0=3")
def cmix(rs1: Bits, rs2: Bits, rs3: Bits) -> Bits:
    """Bits of rs1 where rs2 is 1, of rs3 where it is 0."""
    return rs1 & rs2 | rs3 & ~rs2


@_instruction("cmov rd rs1 rs2 rs3 26..25=3 14..12=5 6..2=0x0C 1..0=3")
def cmov(rs1: Bits, rs2: Bits, rs3: Bits) -> Bits:
    """rs1 unless rs2 is zero, else rs3."""
    return mux(rs2.eq(0), rs3, rs1)


def _amount(rs2: Bits, width: int) -> Bits:
    """Shift amount of a pair of registers: log2(2 * width) bits."""
    return rs2.slice(0, width.bit_length())


@_instruction("fsl rd rs1 rs2 rs3 26..25=2 14..12=1 6..2=0x0C 1..0=3")
def fsl(rs1: Bits, rs2: Bits, rs3: Bits) -> Bits:
    """High half of rs1:rs3 rotated left."""
    width = rs1.width
    amount = _amount(rs2, width)
    return concat(rs1, rs3).rotr_var(~amount + 1).slice(width, width)


@_instruction("fsr rd rs1 rs2 rs3 26..25=2 14..12=5 6..2=0x0C 1..0=3")
def fsr(rs1: Bits, rs2: Bits, rs3: Bits) -> Bits:
    """Low half of rs3:rs1 rotated right."""
    return concat(rs3, rs1).rotr_var(_amount(rs2, rs1.width)).slice(0, rs1.width)


@_instruction("fsri rd rs1 shamtd rs3 26=1 14..12=5 6..2=0x04 1..0=3")
def fsri(rs1: Bits, shamtd: Bits, rs3: Bits) -> Bits:
    """Low half of rs3:rs1 rotated right by immediate."""
    amount = shamtd.zext(rs1.width.bit_length())
    return concat(rs3, rs1).rotr_var(amount).slice(0, rs1.width)


@_instruction("fslw rd rs1 rs2 rs3 26..25=2 14..12=1 6..2=0x0E 1..0=3", xlens=(64,))
def fslw(rs1: Bits, rs2: Bits, rs3: Bits) -> Bits:
    """Funnel shift of words to the left, sign-extended."""
    return fsl(rs1.slice(0, 32), rs2, rs3.slice(0, 32)).sext(64)


@_instruction("fsrw rd rs1 rs2 rs3 26..25=2 14..12=5 6..2=0x0E 1..0=3", xlens=(64,))
def fsrw(rs1: Bits, rs2: Bits, rs3: Bits) -> Bits:
    """Funnel shift of words to the right, sign-extended."""
    return fsr(rs1.slice(0, 32), rs2, rs3.slice(0, 32)).sext(64)


@_instruction("fsriw rd rs1 shamtw rs3 26..25=2 14..12=5 6..2=0x06 1..0=3", xlens=(64,))
def fsriw(rs1: Bits, shamtw: Bits, rs3: Bits) -> Bits:
    """Funnel shift of words to the right by immediate, sign-extended."""
    return fsri(rs1.slice(0, 32), shamtw.zext(6), rs3.slice(0, 32)).sext(64)
