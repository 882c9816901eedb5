"""Zbc: carry-less multiplication."""

from __future__ import annotations

from isa.bits import Bits
from isa.instruction import Extension

EXTENSION = Extension("zbc", source="RISC-V Unprivileged ISA 20240411, 28.4.3 (Zbc 1.0.0)")
_instruction = EXTENSION.instruction


@_instruction("clmul rd rs1 rs2 31..25=5 14..12=1 6..2=0x0C 1..0=3")
def clmul(rs1: Bits, rs2: Bits) -> Bits:
    """Low half of the carry-less product."""
    return rs1.clmul(rs2).slice(0, rs1.width)


@_instruction("clmulr rd rs1 rs2 31..25=5 14..12=2 6..2=0x0C 1..0=3")
def clmulr(rs1: Bits, rs2: Bits) -> Bits:
    """Bits 2 * xlen - 2 to xlen - 1 of the carry-less product."""
    return rs1.clmul(rs2).slice(rs1.width - 1, rs1.width)


@_instruction("clmulh rd rs1 rs2 31..25=5 14..12=3 6..2=0x0C 1..0=3")
def clmulh(rs1: Bits, rs2: Bits) -> Bits:
    """High half of the carry-less product."""
    return rs1.clmul(rs2).slice(rs1.width, rs1.width)
