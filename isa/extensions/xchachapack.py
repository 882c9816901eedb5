"""Packing of 32-bit halves for the ChaCha extensions V1 to V3 (RV64)."""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xchachapack",
    source="Marshall, Page, Pham: A lightweight ISE for ChaCha on RISC-V, ASAP 2021, packing "
    "instructions; encodings of scarv/chacha-ise@46bdaa4",
    xlens=(64,),
)
_instruction = EXTENSION.instruction


@_instruction("chacha.pack rd rs1 rs2 31..25=4 14..12=7 6..0=0xb")
def pack(rs1: Bits, rs2: Bits) -> Bits:
    """Low half of rs2 above low half of rs1."""
    return concat(rs2.slice(0, 32), rs1.slice(0, 32))


@_instruction("chacha.packh rd rs1 rs2 31..25=5 14..12=7 6..0=0xb")
def packh(rs1: Bits, rs2: Bits) -> Bits:
    """High half of rs2 above high half of rs1."""
    return concat(rs2.slice(32, 32), rs1.slice(32, 32))


@_instruction("chacha.packhl rd rs1 rs2 31..25=6 14..12=7 6..0=0xb")
def packhl(rs1: Bits, rs2: Bits) -> Bits:
    """High half of rs2 above low half of rs1."""
    return concat(rs2.slice(32, 32), rs1.slice(0, 32))


@_instruction("chacha.packlh rd rs1 rs2 31..25=7 14..12=7 6..0=0xb")
def packlh(rs1: Bits, rs2: Bits) -> Bits:
    """Low half of rs2 above high half of rs1."""
    return concat(rs2.slice(0, 32), rs1.slice(32, 32))
