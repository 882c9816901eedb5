"""Zbkb: bit manipulation for cryptography."""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.extensions import zbb
from isa.instruction import Extension

EXTENSION = Extension(
    "zbkb", source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.1"
)
_instruction = EXTENSION.instruction

EXTENSION.adopt(zbb.EXTENSION, "rol", "ror", "rori", "andn", "orn", "xnor", "rev8")
EXTENSION.adopt(zbb.EXTENSION, "rolw", "rorw", "roriw")


@_instruction("pack rd rs1 rs2 31..25=4 14..12=4 6..2=0x0C 1..0=3")
def pack(rs1: Bits, rs2: Bits) -> Bits:
    """Pack the low halves of two registers, rs1 below."""
    half = rs1.width // 2
    return concat(rs2.slice(0, half), rs1.slice(0, half))


@_instruction("packh rd rs1 rs2 31..25=4 14..12=7 6..2=0x0C 1..0=3")
def packh(rs1: Bits, rs2: Bits) -> Bits:
    """Pack the low bytes of two registers, rs1 below."""
    return concat(rs2.byte(0), rs1.byte(0)).zext(rs1.width)


@_instruction("packw rd rs1 rs2 31..25=4 14..12=4 6..2=0x0E 1..0=3", xlens=(64,))
def packw(rs1: Bits, rs2: Bits) -> Bits:
    """Pack the low halfwords of two registers, rs1 below, sign-extended."""
    return concat(rs2.slice(0, 16), rs1.slice(0, 16)).sext(64)


def _exchanged(x: Bits, mask: int, distance: int) -> Bits:
    """The bits under a mask of 32 bits, repeated, exchanged with those `distance` above them."""
    ones = (1 << x.width) - 1
    lower = mask * (ones // 0xFFFFFFFF)
    both = lower | lower << distance
    moved = (x >> distance) & lower | (x & lower) << distance
    return moved if both == ones else x & ~both | moved


@_instruction("brev8 rd rs1 31..20=0x687 14..12=5 6..0=0x13")
def brev8(rs1: Bits) -> Bits:
    """Reverse the bits in each byte."""
    for mask, distance in ((0x55555555, 1), (0x33333333, 2), (0x0F0F0F0F, 4)):
        rs1 = _exchanged(rs1, mask, distance)
    return rs1


_INTERLEAVE = ((0x0000FF00, 8), (0x00F000F0, 4), (0x0C0C0C0C, 2), (0x22222222, 1))


@_instruction("zip rd rs1 31..25=4 24..20=15 14..12=1 6..2=4 1..0=3", xlens=(32,))
def zip_(rs1: Bits) -> Bits:
    """Interleave: low half to even bits, high half to odd bits."""
    for mask, distance in _INTERLEAVE:
        rs1 = _exchanged(rs1, mask, distance)
    return rs1


@_instruction("unzip rd rs1 31..25=4 24..20=15 14..12=5 6..2=4 1..0=3", xlens=(32,))
def unzip(rs1: Bits) -> Bits:
    """Deinterleave: even bits to the low half, odd bits to the high half."""
    for mask, distance in reversed(_INTERLEAVE):
        rs1 = _exchanged(rs1, mask, distance)
    return rs1
