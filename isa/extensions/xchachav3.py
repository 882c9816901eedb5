"""ChaCha by pairs of words of a row: variant V3 of the ASAP 2021 extension (RV64)."""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "xchachav3",
    source="Marshall, Page, Pham: A lightweight ISE for ChaCha on RISC-V, ASAP 2021, ISE V3; "
    "encodings of scarv/chacha-ise@46bdaa4, where the four rotations are instructions",
    xlens=(64,),
    requires=("xchachapack",),
)
_instruction = EXTENSION.instruction


@_instruction("chacha.v3.add rd rs1 rs2 31..25=24 14..12=7 6..0=0xb")
def add(rs1: Bits, rs2: Bits) -> Bits:
    """Add words in pairs."""
    return concat(rs1.slice(32, 32) + rs2.slice(32, 32), rs1.slice(0, 32) + rs2.slice(0, 32))


def _rotated(rs1: Bits, rs2: Bits, rotation: int) -> Bits:
    """Exclusive or, then each word rotated left."""
    x = rs1 ^ rs2
    return concat(x.slice(32, 32).rotl(rotation), x.slice(0, 32).rotl(rotation))


@_instruction("chacha.v3.xorrol16 rd rs1 rs2 31..25=25 14..12=7 6..0=0xb")
def xorrol16(rs1: Bits, rs2: Bits) -> Bits:
    """Exclusive or, then rotate words left by 16."""
    return _rotated(rs1, rs2, 16)


@_instruction("chacha.v3.xorrol12 rd rs1 rs2 31..25=26 14..12=7 6..0=0xb")
def xorrol12(rs1: Bits, rs2: Bits) -> Bits:
    """Exclusive or, then rotate words left by 12."""
    return _rotated(rs1, rs2, 12)


@_instruction("chacha.v3.xorrol08 rd rs1 rs2 31..25=27 14..12=7 6..0=0xb")
def xorrol08(rs1: Bits, rs2: Bits) -> Bits:
    """Exclusive or, then rotate words left by 8."""
    return _rotated(rs1, rs2, 8)


@_instruction("chacha.v3.xorrol07 rd rs1 rs2 31..25=28 14..12=7 6..0=0xb")
def xorrol07(rs1: Bits, rs2: Bits) -> Bits:
    """Exclusive or, then rotate words left by 7."""
    return _rotated(rs1, rs2, 7)
