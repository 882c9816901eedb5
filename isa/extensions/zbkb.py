"""Zbkb: bit manipulation for cryptography (RV32)."""

from __future__ import annotations

from isa.bits import Bits, concat
from isa.instruction import Extension

EXTENSION = Extension(
    "zbkb",
    source="RISC-V Cryptography Extensions Volume I, Scalar & Entropy Source 1.0.1, 2.1",
    xlens=(32,),
)
_instruction = EXTENSION.instruction


@_instruction("rol rd rs1 rs2 31..25=0x30 14..12=1 6..2=0x0C 1..0=3")
def rol(rs1: Bits, rs2: Bits) -> Bits:
    """Rotate left."""
    amount = rs2.slice(0, rs1.width.bit_length() - 1)
    return rs1.rotr_var(~amount + 1)


@_instruction("ror rd rs1 rs2 31..25=0x30 14..12=5 6..2=0x0C 1..0=3")
def ror(rs1: Bits, rs2: Bits) -> Bits:
    """Rotate right."""
    return rs1.rotr_var(rs2.slice(0, rs1.width.bit_length() - 1))


@_instruction("rori rd rs1 31..25=0x30 shamtw 14..12=5 6..2=0x04 1..0=3")
def rori(rs1: Bits, shamtw: Bits) -> Bits:
    """Rotate right by immediate."""
    return rs1.rotr_var(shamtw)


@_instruction("andn rd rs1 rs2 31..25=32 14..12=7 6..2=0x0C 1..0=3")
def andn(rs1: Bits, rs2: Bits) -> Bits:
    """And with inverted operand."""
    return rs1 & ~rs2


@_instruction("orn rd rs1 rs2 31..25=32 14..12=6 6..2=0x0C 1..0=3")
def orn(rs1: Bits, rs2: Bits) -> Bits:
    """Or with inverted operand."""
    return rs1 | ~rs2


@_instruction("xnor rd rs1 rs2 31..25=32 14..12=4 6..2=0x0C 1..0=3")
def xnor(rs1: Bits, rs2: Bits) -> Bits:
    """Exclusive nor."""
    return ~(rs1 ^ rs2)


@_instruction("pack rd rs1 rs2 31..25=4 14..12=4 6..2=0x0C 1..0=3")
def pack(rs1: Bits, rs2: Bits) -> Bits:
    """Pack the low halves of two registers, rs1 below."""
    half = rs1.width // 2
    return concat(rs2.slice(0, half), rs1.slice(0, half))


@_instruction("packh rd rs1 rs2 31..25=4 14..12=7 6..2=0x0C 1..0=3")
def packh(rs1: Bits, rs2: Bits) -> Bits:
    """Pack the low bytes of two registers, rs1 below."""
    return concat(rs2.byte(0), rs1.byte(0)).zext(rs1.width)


@_instruction("brev8 rd rs1 31..20=0x687 14..12=5 6..0=0x13")
def brev8(rs1: Bits) -> Bits:
    """Reverse the bits in each byte."""
    return concat(*(rs1.bit(i & ~7 | 7 - i & 7) for i in reversed(range(rs1.width))))


@_instruction("rev8 rd rs1 31..20=0x698 14..12=5 6..0=0x13")
def rev8(rs1: Bits) -> Bits:
    """Reverse the bytes."""
    return concat(*(rs1.byte(i) for i in range(rs1.width // 8)))


@_instruction("zip rd rs1 31..25=4 24..20=15 14..12=1 6..2=4 1..0=3")
def zip_(rs1: Bits) -> Bits:
    """Interleave: low half to even bits, high half to odd bits."""
    half = rs1.width // 2
    return concat(*(rs1.bit(i // 2 + half * (i & 1)) for i in reversed(range(rs1.width))))


@_instruction("unzip rd rs1 31..25=4 24..20=15 14..12=5 6..2=4 1..0=3")
def unzip(rs1: Bits) -> Bits:
    """Deinterleave: even bits to the low half, odd bits to the high half."""
    half = rs1.width // 2
    return concat(*(rs1.bit(2 * (i % half) + i // half) for i in reversed(range(rs1.width))))
