"""ChaCha by half quarter rounds: variant V2 of the ASAP 2021 extension (RV64).

A register holds two words of a column: a above d, and b above c.
"""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xchachav2",
    source="Marshall, Page, Pham: A lightweight ISE for ChaCha on RISC-V, ASAP 2021, ISE V2; "
    "encodings of scarv/chacha-ise@46bdaa4",
    xlens=(64,),
    requires=("xchachapack",),
)
_instruction = EXTENSION.instruction


def _ad(rs1: Bits, rs2: Bits, rotation: int) -> Bits:
    """A step a += b, d = (d ^ a) <<< rotation."""
    a = rs1.slice(32, 32) + rs2.slice(32, 32)
    return concat(a, (rs1.slice(0, 32) ^ a).rotl(rotation))


def _bc(rs1: Bits, rs2: Bits, rotation: int) -> Bits:
    """A step c += d, b = (b ^ c) <<< rotation."""
    c = rs2.slice(0, 32) + rs1.slice(0, 32)
    return concat((rs2.slice(32, 32) ^ c).rotl(rotation), c)


@_instruction("chacha.v2.ad0 rd rs1 rs2 31..25=16 14..12=7 6..0=0xb")
def ad0(rs1: Bits, rs2: Bits) -> Bits:
    """First step of a quarter round."""
    return _ad(rs1, rs2, 16)


@_instruction("chacha.v2.bc0 rd rs1 rs2 31..25=17 14..12=7 6..0=0xb")
def bc0(rs1: Bits, rs2: Bits) -> Bits:
    """Second step of a quarter round."""
    return _bc(rs1, rs2, 12)


@_instruction("chacha.v2.ad1 rd rs1 rs2 31..25=18 14..12=7 6..0=0xb")
def ad1(rs1: Bits, rs2: Bits) -> Bits:
    """Third step of a quarter round."""
    return _ad(rs1, rs2, 8)


@_instruction("chacha.v2.bc1 rd rs1 rs2 31..25=19 14..12=7 6..0=0xb")
def bc1(rs1: Bits, rs2: Bits) -> Bits:
    """Fourth step of a quarter round."""
    return _bc(rs1, rs2, 7)
