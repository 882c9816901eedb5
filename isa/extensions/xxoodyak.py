"""Xoodyak: the extension of the lwise project (RV32)."""

from __future__ import annotations

from isa.bits import Bits
from isa.instruction import Extension

EXTENSION = Extension(
    "xxoodyak",
    source="Cheng, Grossschaedl, Marshall, Page, Pham: RISC-V instruction set extensions for "
    "lightweight symmetric cryptography, TCHES 2023(1); scarv/lwise@1a16305 doc/xoodyak",
    xlens=(32,),
)


@EXTENSION.instruction("xoodyak.xorrol rd rs1 rs2 31..25=0x20 14..12=7 6..0=0x2b")
def xorrol(rs1: Bits, rs2: Bits) -> Bits:
    """Theta's sum of rs1 rotated left by 5 and rs2 rotated left by 14."""
    return rs1.rotl(5) ^ rs2.rotl(14)
